object Sums {
  def before(a: Int): Int = {
    a
  }

<<<<<<< HEAD
  def ours(): Int = {
    1
  }
=======
  def theirs(): Int = {
    2
  }
>>>>>>> branch

  def after(a: Int): Int = {
    a * 2
  }
}
