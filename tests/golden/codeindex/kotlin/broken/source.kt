fun before(a: Int): Int {
    return a
}

fun broken(a: Int, b: Int): Int {
    return a + (
}

fun after(a: Int): Int {
    return a * 2
}
