fn before(a: u8) -> u8 {
    a
}

fn broken(a: u8, b {
    a +
}

fn after(a: u8) -> u8 {
    a * 2
}
