//! NumPy's `.npy` files, versions 1.0, 2.0 and 3.0: read with distrust, written whole.
//!
//! A file says how long its header is and how large its array is, and may lie about both. So each number is held against
//! the size of the file before memory is asked for; what the numbers don't cover is refused too. The header is a Python
//! dictionary of three known entries and is read by hand ([`header`]): nothing of it is evaluated, and pickled objects are
//! never opened.

mod descr;
mod header;
mod read;
mod write;

pub(crate) use read::{NpyError, read};
pub(crate) use write::{can_hold, write};

#[cfg(test)]
mod tests;
