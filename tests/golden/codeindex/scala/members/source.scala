class A(val x: Int) { val y = 1; var z = 2 }
enum E { case X, Y }
