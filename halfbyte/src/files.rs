//! Reading of files whose names come from an input, which may be untrusted.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use halfbyte_abi::{Exceeded, Limits, Watchdog};
use thiserror::Error;

/// Maximum size of a file in bytes, which applies in addition to all other limits.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// Number of bytes read between two checks of the limits.
const CHUNK: u64 = 1 << 20;

/// Reason why a file cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file lies outside the allowed folders.
    #[error("the file is outside of {}", list(.0))]
    Outside(Vec<PathBuf>),
    /// The path names a folder, a pipe, a socket or a device.
    #[error("not a regular file")]
    NotRegular,
    /// The file is larger than allowed.
    #[error("the file has at least {found} bytes; at most {most} are allowed")]
    TooLarge {
        /// Lower bound of the file's size in bytes.
        found: u64,
        /// Maximum permitted size in bytes.
        most: u64,
    },
    /// A limit of the watchdog was exceeded during the read.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// The operating system reported an error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn list(folders: &[PathBuf]) -> String {
    let folders: Vec<String> = folders.iter().map(|folder| format!("`{}`", folder.display())).collect();
    folders.join(" and ")
}

/// The set of files that a [`Loader`] may read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FilePermission {
    /// Regular files inside the loader's folder or inside an allowed folder. Symbolic links are resolved first.
    Inside,
    /// Regular files in any folder.
    Regular,
    /// All files, including pipes and devices.
    Any,
}

/// A reader of files whose names come from an input, such as the values of a run line.
///
/// Untrusted text may name any file. A file is therefore read only if it is a regular file inside the text's own
/// folder, or inside a folder that the caller allows. Symbolic links are resolved first.
#[derive(Clone, Debug)]
pub struct Loader {
    /// The folder that relative names refer to.
    folder: PathBuf,
    allowed: Vec<PathBuf>,
    reach: FilePermission,
    watchdog: Option<Watchdog>,
}

impl Loader {
    /// Creates a loader for the file names in a text that lies in `folder`.
    pub fn within(folder: &Path) -> Loader {
        // The parent of a file name without a folder is empty, and means the current folder.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Loader { folder: folder.to_owned(), allowed: Vec::new(), reach: FilePermission::Inside, watchdog: None }
    }

    /// Creates a loader for regular files in any folder. Names are relative to `folder`.
    pub fn regular(folder: &Path) -> Loader {
        Loader { reach: FilePermission::Regular, ..Loader::within(folder) }
    }

    /// Creates a loader for file names that the caller trusts, which may refer to any file. Names
    /// are relative to `folder`.
    pub fn unrestricted(folder: &Path) -> Loader {
        Loader { reach: FilePermission::Any, ..Loader::within(folder) }
    }

    /// Allows files in additional folders.
    #[must_use]
    pub fn allow(mut self, folders: &[PathBuf]) -> Loader {
        self.allowed.extend_from_slice(folders);
        self
    }

    /// Sets the watchdog, which limits the sizes of files and buffers.
    #[must_use]
    pub fn watched(mut self, watchdog: Option<&Watchdog>) -> Loader {
        self.watchdog = watchdog.cloned();
        self
    }

    /// Returns the limits of the watchdog, or [`Limits::NONE`] without a watchdog.
    pub fn limits(&self) -> &Limits {
        self.watchdog.as_ref().map_or(&Limits::NONE, Watchdog::limits)
    }

    /// Returns the watchdog, if any.
    pub fn watchdog(&self) -> Option<&Watchdog> {
        self.watchdog.as_ref()
    }

    /// Returns `true` if a limit of the watchdog has been exceeded.
    pub fn is_exceeded(&self) -> bool {
        self.watchdog.as_ref().is_some_and(|watchdog| watchdog.exceeded().is_some())
    }

    /// Returns the contents of the file with the given name.
    ///
    /// # Errors
    /// Returns an error if the file does not exist, is not permitted, is not a regular file, or exceeds a limit.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, FileError> {
        self.read_at_most(name, self.limits().file_bytes)
    }

    /// Returns the contents of the file with the given name, of at most `most` bytes.
    ///
    /// # Errors
    /// Returns the errors of [`Loader::read`].
    pub fn read_at_most(&self, name: &str, most: u64) -> Result<Vec<u8>, FileError> {
        match self.read_path(&self.folder.join(name), most) {
            // The error must not reveal which files exist outside the allowed folders.
            Err(FileError::Io(_)) if self.reach == FilePermission::Inside && leads_out(Path::new(name)) => {
                Err(self.outside())
            }
            read => read,
        }
    }

    /// Returns the contents of the file at a path, of at most `most` bytes.
    ///
    /// # Errors
    /// Returns the errors of [`Loader::read`].
    pub fn read_path(&self, path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
        let path = path.canonicalize()?;
        let is_inside = |root: &Path| root.canonicalize().is_ok_and(|root| path.starts_with(root));
        if self.reach == FilePermission::Inside && !self.roots().any(is_inside) {
            return Err(self.outside());
        }
        let most = most.min(MAX_FILE_BYTES);
        // Opening a pipe or a device may block forever, so these are rejected before.
        let metadata = path.metadata()?;
        if self.reach != FilePermission::Any && !metadata.is_file() {
            return Err(FileError::NotRegular);
        }
        if metadata.len() > most {
            return Err(FileError::TooLarge { found: metadata.len(), most });
        }
        let (mut bytes, mut file) = (Vec::new(), File::open(&path)?);
        loop {
            self.watchdog.as_ref().map_or(Ok(()), Watchdog::poll)?;
            if file.by_ref().take(CHUNK).read_to_end(&mut bytes)? == 0 {
                return Ok(bytes);
            }
            let found = bytes.len() as u64;
            if found > most {
                return Err(FileError::TooLarge { found, most });
            }
        }
    }

    fn outside(&self) -> FileError {
        FileError::Outside(self.roots().map(Path::to_owned).collect())
    }

    fn roots(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.folder.as_path()).chain(self.allowed.iter().map(PathBuf::as_path))
    }
}

/// Returns `true` if a file name may refer to a file outside the folder to which it is relative.
fn leads_out(name: &Path) -> bool {
    !name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Creates a folder with a file `in/x` of three bytes, and a file `secret` outside of `in`.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("in")).unwrap();
        std::fs::write(folder.path().join("in/x"), [1, 2, 3]).unwrap();
        std::fs::write(folder.path().join("secret"), [9]).unwrap();
        folder
    }

    #[test]
    fn files_lie_in_the_folder_or_in_one_that_is_allowed() {
        let folder = folder();
        let loader = Loader::within(&folder.path().join("in"));
        assert_eq!(loader.read("x").unwrap(), [1, 2, 3]);
        assert_eq!(loader.read("./../in/x").unwrap(), [1, 2, 3]);
        let absolute = folder.path().join("in/x").display().to_string();
        assert_eq!(loader.read(&absolute).unwrap(), [1, 2, 3]);
        let secret = folder.path().join("secret").display().to_string();
        for name in ["../secret", "../nothing", secret.as_str(), "/nothing/at/all", ".."] {
            let error = loader.read(name).unwrap_err();
            assert!(matches!(&error, FileError::Outside(folders) if folders.len() == 1), "{name}: {error}");
            assert!(error.to_string().starts_with("the file is outside of `"), "{error}");
        }
        assert!(matches!(loader.read("nothing"), Err(FileError::Io(_))));
        let allowed = loader.allow(&[folder.path().to_owned()]);
        assert_eq!(allowed.read("../secret").unwrap(), [9]);
        assert_eq!(Loader::unrestricted(Path::new("")).read(&secret).unwrap(), [9]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_nothing_but_files_is_read() {
        use std::os::unix::fs::symlink;
        let folder = folder();
        let inside = folder.path().join("in");
        symlink("../secret", inside.join("out")).unwrap();
        symlink("x", inside.join("same")).unwrap();
        symlink("/dev/zero", inside.join("zero")).unwrap();
        symlink("loop", inside.join("loop")).unwrap();
        let loader = Loader::within(&inside);
        assert_eq!(loader.read("same").unwrap(), [1, 2, 3]);
        assert!(matches!(loader.read("out"), Err(FileError::Outside(_))));
        assert!(matches!(loader.read("zero"), Err(FileError::Outside(_))));
        assert!(matches!(loader.read("loop"), Err(FileError::Io(_))));
        assert!(matches!(loader.read("."), Err(FileError::NotRegular)));
        let devices = loader.allow(&["/dev".into()]);
        assert!(matches!(devices.read("zero"), Err(FileError::NotRegular)));
        assert!(matches!(Loader::regular(&inside).read("/dev/zero"), Err(FileError::NotRegular)));
        assert_eq!(Loader::regular(&inside).read("out").unwrap(), [9]);
    }

    #[test]
    fn a_file_has_so_many_bytes_at_most() {
        let folder = folder();
        let limited = |file_bytes| {
            let watchdog = Watchdog::new(Limits { file_bytes, ..Limits::NONE });
            Loader::within(&folder.path().join("in")).watched(Some(&watchdog)).read("x")
        };
        assert_eq!(limited(3).unwrap(), [1, 2, 3]);
        assert_eq!(limited(2).unwrap_err().to_string(), "the file has at least 3 bytes; at most 2 are allowed");
        let late = Watchdog::new(Limits { time: Some(std::time::Duration::ZERO), ..Limits::NONE });
        let found = Loader::within(&folder.path().join("in")).watched(Some(&late)).read("x");
        assert!(matches!(found, Err(FileError::Exceeded(Exceeded::Time { .. }))));
    }
}
