int before(int a) {
  return a;
}

int broken(int a, int b {
  return a +
}

class After {
  int method(int a) { return a * 2; }
};
