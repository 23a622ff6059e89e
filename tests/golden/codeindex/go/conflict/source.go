package shop

func before(a int) int {
	return a
}

<<<<<<< HEAD
func ours() int {
	return 1
}
=======
func theirs() int {
	return 2
}
>>>>>>> branch

func after(a int) int {
	return a * 2
}
