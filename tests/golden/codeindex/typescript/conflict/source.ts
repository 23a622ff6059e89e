function before(a: number) {
  return a;
}

<<<<<<< HEAD
function ours() {
  return 1;
}
=======
function theirs() {
  return 2;
}
>>>>>>> branch

function after(a: number) {
  return a * 2;
}
