class A { private final int size = 1; int a, b; int size() { return 1; } }
enum E { X, Y(2) { int f() { return 1; } } }
