func before(a: Int) -> Int {
    return a
}

<<<<<<< HEAD
func ours() -> Int {
    return 1
}
=======
func theirs() -> Int {
    return 2
}
>>>>>>> branch

func after(a: Int) -> Int {
    return a * 2
}
