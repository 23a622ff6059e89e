struct s { int a; char *b; };
enum e { X, Y = 2 };
