fn before(a: u8) -> u8 {
    a
}

<<<<<<< HEAD
fn ours() -> u8 {
    1
}
=======
fn theirs() -> u8 {
    2
}
>>>>>>> branch

fn after(a: u8) -> u8 {
    a * 2
}
