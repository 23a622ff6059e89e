extern crate serde;
mod child;
pub mod other {}
use std::fmt;
use crate::a::b as c;
use super::*;
use crate::{
    one,
    two::{self, Three as Drei},
};
pub use self::child::Item;

fn late() {
    use std::io;
}
