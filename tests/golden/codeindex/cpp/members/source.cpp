class C { int a_; void f(); std::string b = "x"; };
