fun before(a: Int): Int {
    return a
}

<<<<<<< HEAD
fun ours(): Int {
    return 1
}
=======
fun theirs(): Int {
    return 2
}
>>>>>>> branch

fun after(a: Int): Int {
    return a * 2
}
