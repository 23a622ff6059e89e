import scala.math.Pi
import com.foo._
import com.bar.{Baz => Other, Second}
import a.b, c.d.{e, f}
import later.*

object Inside {
  import inner.Thing
}
