class A { var x = 1
 let y: Int }
enum E { case a, b }
