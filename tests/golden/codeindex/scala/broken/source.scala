object Sums {
  def before(a: Int): Int = {
    a
  }

  def broken(a: Int, b: Int): Int = {
    a + (
  }

  def after(a: Int): Int = {
    a * 2
  }
}
