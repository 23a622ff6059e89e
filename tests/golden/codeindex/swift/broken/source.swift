func before(a: Int) -> Int {
    return a
}

func broken(a: Int, b: Int) -> Int {
    return a + (
}

func after(a: Int) -> Int {
    return a * 2
}
