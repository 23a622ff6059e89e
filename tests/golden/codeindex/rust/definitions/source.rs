//! Definitions of every kind.

pub const MAX: usize = 3;
static mut COUNT: u8 = 2;
type Alias<T> = Vec<T>;

/// A pair.
#[derive(Debug, Clone)]
// between
#[serde(default)]
pub struct Pair<T: Clone>
where
    T: Send,
{
    pub left: T,
    right: u8,
}
struct Unit;
struct Tuple(u8, pub u16);
union Bits {
    a: u8,
}

enum Shape {
    Empty,
    Circle(u8),
    Square { side: u8 },
}

pub trait Area: Sized {
    const SIDES: u8 = 1;
    type Output;
    fn area(&self) -> u8;
    fn double(&self) -> u8 {
        self.area() * 2
    }
}

impl<T: Clone> Pair<T> {
    pub const fn new(left: T, (right, _): (u8, u8)) -> Self {
        fn nested() {}
        Pair { left, right }
    }
}
impl<T> Area for Pair<T> {
    type Output = T;
    fn area(&self) -> u8 {
        1
    }
}
impl<'a> Area for &'a Pair<u8> {
    fn area(&self) -> u8 {
        2
    }
}
impl fmt::Display for shapes::Shape {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}
impl From<[u8; 2]> for [u8] {
    fn from(pair: [u8; 2]) {}
}

mod inner {
    pub fn within() {}
}

macro_rules! square {
    ($x:expr) => {
        $x * $x
    };
}

async unsafe extern "C" fn modified(r#type: u8) {}
extern "C" {
    fn foreign(a: u8) -> u8;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works() {
        assert_eq!(square!(2), 4);
    }
}
