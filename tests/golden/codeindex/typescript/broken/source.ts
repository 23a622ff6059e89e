function before(a: number): number {
  return a;
}

function broken(a: number, b {
  return a +
}

class After {
  method(a: number): number {
    return a * 2;
  }
}
