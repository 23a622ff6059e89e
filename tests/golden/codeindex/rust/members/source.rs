struct S { pub a: u8, b: Vec<u8> }
enum E { X, Y(u8), Z { a: u8 } }
