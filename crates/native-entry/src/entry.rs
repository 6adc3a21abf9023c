//! Shared libraries and the functions in them.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libloading::os::unix::{self, RTLD_GLOBAL, RTLD_LAZY, RTLD_LOCAL};

/// How many pointers an entry may take.
pub const MOST_POINTERS: usize = 12;

/// A function that takes up to [`MOST_POINTERS`] pointers: whatever it doesn't take lies in registers or stack slots that
/// it doesn't read, by the calling conventions of x86-64 and aarch64 systems.
type Function = unsafe extern "C" fn(
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
);

/// Why code can't be called.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// The library can't be loaded.
    #[error("{} can't be loaded: {source}", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// What the loader said.
        source: libloading::Error,
    },
    /// It has no such symbol.
    #[error("{} has no function `{symbol}`: {source}", path.display())]
    Symbol {
        /// The library.
        path: PathBuf,
        /// The function asked for.
        symbol: String,
        /// What the loader said.
        source: libloading::Error,
    },
    /// More pointers than can be passed.
    #[error("`{symbol}` takes {given} pointers; at most {MOST_POINTERS} can be passed")]
    TooMany {
        /// The function.
        symbol: String,
        /// How many it takes.
        given: usize,
    },
}

/// A loaded shared library. It stays loaded as long as a handle or an entry of it exists.
#[derive(Clone, Debug)]
pub struct Library {
    library: Arc<unix::Library>,
    path: PathBuf,
}

impl Library {
    /// Loads a library; what it offers is seen by itself only.
    ///
    /// # Errors
    /// [`EntryError::Load`].
    ///
    /// # Safety
    /// The library's initialisers run: it has to be one that may be loaded into this process.
    pub unsafe fn open(path: &Path) -> Result<Library, EntryError> {
        // SAFETY: the caller vouches for the library.
        unsafe { Library::with_flags(path, RTLD_LAZY | RTLD_LOCAL) }
    }

    /// Loads a library and offers its symbols to those loaded later.
    ///
    /// # Errors
    /// [`EntryError::Load`].
    ///
    /// # Safety
    /// As [`Library::open`].
    pub unsafe fn open_for_all(path: &Path) -> Result<Library, EntryError> {
        // SAFETY: the caller vouches for the library.
        unsafe { Library::with_flags(path, RTLD_LAZY | RTLD_GLOBAL) }
    }

    /// # Safety
    /// As [`Library::open`].
    unsafe fn with_flags(path: &Path, flags: i32) -> Result<Library, EntryError> {
        // SAFETY: the caller vouches for the library.
        let library = unsafe { unix::Library::open(Some(path), flags) };
        let library = library.map_err(|source| EntryError::Load {
            path: path.to_owned(),
            source,
        })?;
        Ok(Library {
            library: Arc::new(library),
            path: path.to_owned(),
        })
    }

    /// A function of the library with the pointers it will be called with.
    ///
    /// # Errors
    /// [`EntryError::Symbol`], [`EntryError::TooMany`].
    ///
    /// # Safety
    /// The function takes these pointers in this order and nothing else, returns nothing, and keeps to memory that stays
    /// valid for it as long as the entry is called.
    pub unsafe fn entry(&self, symbol: &str, pointers: &[*mut u8]) -> Result<Entry, EntryError> {
        if pointers.len() > MOST_POINTERS {
            return Err(EntryError::TooMany {
                symbol: symbol.to_owned(),
                given: pointers.len(),
            });
        }
        let mut all = [std::ptr::null_mut(); MOST_POINTERS];
        for (to, &from) in all.iter_mut().zip(pointers) {
            *to = from.cast::<c_void>();
        }
        // SAFETY: the caller vouches for the function's type.
        let function = unsafe { self.library.get::<Function>(symbol.as_bytes()) };
        let function = function.map_err(|source| EntryError::Symbol {
            path: self.path.clone(),
            symbol: symbol.to_owned(),
            source,
        })?;
        Ok(Entry {
            function: *function,
            pointers: all,
            _library: self.clone(),
        })
    }
}

/// A function of a library, ready to be called again and again.
#[derive(Debug)]
pub struct Entry {
    function: Function,
    pointers: [*mut c_void; MOST_POINTERS],
    _library: Library,
}

impl Entry {
    /// Calls it once.
    #[inline]
    pub fn call(&mut self) {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = self.pointers;
        // SAFETY: whoever made this entry vouched for the function and for the pointers.
        unsafe { (self.function)(a, b, c, d, e, f, g, h, i, j, k, l) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;
    use std::process::Command;

    /// A library with one function, or nothing where no C compiler is.
    fn built(directory: &Path) -> Option<PathBuf> {
        let source = directory.join("twice.c");
        let library = directory.join("twice.so");
        std::fs::write(
            &source,
            "void twice(const float *x, float *y) { *y = 2 * *x; }\n",
        )
        .expect("a temporary file");
        let status = Command::new("gcc")
            .args(["-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .status();
        match status {
            Ok(status) => {
                assert!(status.success());
                Some(library)
            }
            Err(_) => None,
        }
    }

    #[test]
    fn a_function_is_called_on_shared_memory() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let Some(path) = built(directory.path()) else {
            eprintln!("SKIPPED: no gcc to build a library with");
            return;
        };
        let (x, y) = (Memory::of_f32(&[21.0], 0), Memory::zeroed(4, 1));
        // SAFETY: the library was built from the text above, and `twice` takes these two pointers.
        let library = unsafe { Library::open(&path) }.expect("it loads");
        // SAFETY: as above.
        let entry = unsafe { library.entry("twice", &[x.pointer(), y.pointer()]) };
        entry.expect("it is there").call();
        assert_eq!(y.to_f32(), [42.0]);
        // SAFETY: nothing of that name is ever called.
        let error = unsafe { library.entry("thrice", &[]) }.expect_err("it is not there");
        assert!(
            error.to_string().contains("no function `thrice`"),
            "{error}"
        );
        // SAFETY: too many pointers are refused before anything is looked up.
        let error = unsafe { library.entry("twice", &[std::ptr::null_mut(); 13]) };
        assert!(
            error
                .expect_err("too many")
                .to_string()
                .contains("at most 12")
        );
    }

    #[test]
    fn a_library_that_is_not_there_is_an_error() {
        let path = Path::new("no-such-library.so");
        // SAFETY: there is nothing to load.
        let error = unsafe { Library::open(path) }.expect_err("it is not there");
        assert!(
            error
                .to_string()
                .starts_with("no-such-library.so can't be loaded"),
            "{error}"
        );
    }
}
