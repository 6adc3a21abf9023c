//! Foreign machine code called as our own is: by its address, in this process, on memory both can see.
//!
//! A rival that is started as a program, or called through an interpreter, is timed together with what starts it. So its
//! shared library is loaded here and its entry point called in a plain loop, on the very [`Memory`] that our code reads and
//! writes, by a thread that [`priority`] keeps on one processor. Nothing can check what such code does: whoever makes an
//! [`Entry`] vouches for it, and everything after that is safe to write.
//!
//! For measuring only. No crate that ships code to users uses this one.

#![allow(
    unsafe_code,
    reason = "this crate loads shared libraries and calls them by address, and asks the system for a processor"
)]

mod entry;
mod memory;
pub mod priority;

pub use entry::{Entry, EntryError, Library, MOST_POINTERS};
pub use memory::Memory;
