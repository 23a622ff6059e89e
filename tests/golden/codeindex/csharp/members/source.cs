class A { public int F { get; set; } = 3; int g = 2; public event Action E; }
enum E { X, Y = 2 }
