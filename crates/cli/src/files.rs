//! Files: opened with care, written whole or not at all.
//!
//! A result that is half written looks like a result. So a file is written under another name in the same directory, forced
//! to the disk, and renamed over its target; before that instant the target is as it was. Several results are all staged
//! before the first is renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use diagnostics::Diagnostic;
use tempfile::NamedTempFile;

/// Whether a path means stdin or stdout.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Opens a file to read it. A directory, which some systems open and then refuse to read, is refused here.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(file)
}

/// The diagnostic for a file that can't be read.
pub(crate) fn cannot_read(path: &Path, error: &io::Error) -> Diagnostic {
    let what = if is_dash(path) {
        "stdin".to_owned()
    } else {
        format!("`{}`", path.display())
    };
    Diagnostic::error("cannot-read", format!("cannot read {what}: {error}"))
}

/// The diagnostic for a file that can't be written.
pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Diagnostic {
    let what = if is_dash(path) {
        "stdout".to_owned()
    } else {
        format!("`{}`", path.display())
    };
    Diagnostic::error("cannot-write", format!("cannot write {what}: {error}"))
}

/// Writes to stdout. A reader that has gone away has had enough.
pub(crate) fn write_stdout(fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match fill(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // What is still buffered has nowhere to go.
            let _ = out.into_parts();
            Ok(())
        }
        result => result,
    }
}

/// A file that is written but not yet seen under its name; dropped, it is gone.
#[derive(Debug)]
pub(crate) struct Staged {
    content: NamedTempFile,
    target: PathBuf,
}

/// Writes a file beside its target. A target that is no regular file, a device or a pipe, can't be replaced and is written
/// at once: there is nothing to publish then.
pub(crate) fn stage(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<Option<Staged>> {
    // Through a symbolic link it is the file behind it that is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let existing = match fs::metadata(&target) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let permissions = match existing {
        Some(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Some(metadata) if !metadata.is_file() => {
            let mut out = BufWriter::new(File::options().write(true).open(&target)?);
            fill(&mut out)?;
            out.flush()?;
            return Ok(None);
        }
        Some(metadata) if metadata.permissions().readonly() => {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Some(metadata) => Some(metadata.permissions()),
        None => None,
    };
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    // Asked first, since a missing directory is the likeliest mistake and the system says it best.
    fs::metadata(directory)?;
    let content = temporary_in(directory).map_err(without_path)?;
    // From here on one file has one name, however it was spelt.
    let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let target = fs::canonicalize(directory)?.join(name);
    let mut out = BufWriter::new(content.as_file());
    fill(&mut out)?;
    out.flush()?;
    drop(out);
    if let Some(permissions) = permissions {
        content.as_file().set_permissions(permissions)?;
    }
    content.as_file().sync_all()?;
    Ok(Some(Staged { content, target }))
}

fn temporary_in(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tilewright-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // What a new file has by default; the umask still applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(directory)
}

/// The bare error: the diagnostic names the path that was asked for, not the temporary one.
fn without_path(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error.kind().into(),
    }
}

impl Staged {
    /// Whether both would be given the same name.
    pub(crate) fn same_target(&self, other: &Staged) -> bool {
        self.target == other.target
    }

    /// Gives the file its name.
    pub(crate) fn publish(self) -> io::Result<()> {
        let Staged { content, target } = self;
        let directory = target.parent().map(Path::to_owned);
        content.persist(&target).map_err(|error| error.error)?;
        // The name is on the disk once the directory is. Where directories can't be synced, the rename must do.
        if let Some(directory) = directory
            && let Ok(directory) = File::open(directory)
        {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) -> io::Result<()> {
        if let Some(staged) = stage(path, |out| out.write_all(text.as_bytes()))? {
            staged.publish()?;
        }
        Ok(())
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("y.npy");
        write(&path, "old").unwrap();
        let failed = stage(&path, |out| {
            out.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(directory.path()), ["y.npy"]);

        let staged = stage(&path, |out| out.write_all(b"new")).unwrap().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        staged.publish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(directory.path()), ["y.npy"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_survive() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().join("real.npy");
        let link = directory.path().join("link.npy");
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, "new").unwrap();
        assert!(
            fs::symlink_metadata(&link)
                .unwrap()
                .file_type()
                .is_symlink()
        );
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(
            fs::metadata(&real).unwrap().permissions().mode() & 0o777,
            0o640
        );

        fs::set_permissions(&real, fs::Permissions::from_mode(0o440)).unwrap();
        assert_eq!(
            write(&real, "newer").unwrap_err().kind(),
            io::ErrorKind::PermissionDenied
        );
        assert_eq!(
            write(directory.path(), "x").unwrap_err().kind(),
            io::ErrorKind::IsADirectory
        );
        write(Path::new("/dev/null"), "x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
