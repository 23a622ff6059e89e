class A(val x: Int, y: Int) { val z = 1
 private var w: Int = 2
}
enum class E { X, Y }
