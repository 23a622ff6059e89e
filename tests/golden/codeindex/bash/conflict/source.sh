before() {
  echo "$1"
}

<<<<<<< HEAD
ours() {
  echo 1
}
=======
theirs() {
  echo 2
}
>>>>>>> branch

after() {
  echo "$1" twice
}
