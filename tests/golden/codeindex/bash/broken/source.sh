before() {
  echo "$1"
}

broken() {
  echo $(
}

after() {
  echo "$1" twice
}
