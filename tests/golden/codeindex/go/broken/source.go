package shop

func before(a int) int {
	return a
}

func broken(a int, b {
	return a +
}

func after(a int) int {
	return a * 2
}
