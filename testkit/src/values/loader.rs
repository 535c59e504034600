//! Which files values may be read from, and how much they may take.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use halfbyte_abi::{Limits, Watchdog};

use super::brief;

/// No file of more bytes is read, whatever the limits: 1 GiB.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// Reads the files that values name.
///
/// A text of a stranger names what it likes, so what it names is a regular file inside the text's own folder, after links are
/// followed, or inside one that the caller has allowed.
#[derive(Clone, Debug)]
pub struct Loader {
    /// What names are relative to.
    folder: PathBuf,
    allowed: Vec<PathBuf>,
    confined: bool,
    watchdog: Option<Watchdog>,
}

impl Loader {
    /// For names in a text that lies in this folder.
    pub fn within(folder: &Path) -> Loader {
        // The folder of a file name alone is where the call is made.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Loader { folder: folder.to_owned(), allowed: Vec::new(), confined: true, watchdog: None }
    }

    /// For names that the caller has given: any file will do. They are relative to this folder.
    pub fn anywhere(folder: &Path) -> Loader {
        Loader { confined: false, ..Loader::within(folder) }
    }

    /// Allows files of other folders too.
    #[must_use]
    pub fn allow(mut self, folders: &[PathBuf]) -> Loader {
        self.allowed.extend_from_slice(folders);
        self
    }

    /// Bounds files and buffers.
    #[must_use]
    pub fn watched(mut self, watchdog: Option<&Watchdog>) -> Loader {
        self.watchdog = watchdog.cloned();
        self
    }

    /// The limits; those of nothing where there is no watchdog.
    pub fn limits(&self) -> &Limits {
        self.watchdog.as_ref().map_or(&Limits::NONE, Watchdog::limits)
    }

    /// What bounds files and buffers.
    pub(crate) fn watchdog(&self) -> Option<&Watchdog> {
        self.watchdog.as_ref()
    }

    /// Whether a limit has been met.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.watchdog.as_ref().is_some_and(|watchdog| watchdog.exceeded().is_some())
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// Why it is not read: it is not there, or not where files may lie, or no regular file, or too large.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.folder.join(name);
        let outside = || {
            let folders: Vec<String> =
                self.roots().map(|folder| format!("`{}`", brief(&folder.display().to_string()))).collect();
            format!("it lies outside {}; `--allow` lets it be read", folders.join(" and "))
        };
        let path = match path.canonicalize() {
            Ok(path) => path,
            // Nothing is said of what there is outside.
            Err(_) if self.confined && leads_out(Path::new(name)) => return Err(outside()),
            Err(error) => return Err(error.to_string()),
        };
        let is_inside = |root: &Path| root.canonicalize().is_ok_and(|root| path.starts_with(root));
        if self.confined && !self.roots().any(is_inside) {
            return Err(outside());
        }
        let most = MAX_FILE_BYTES.min(self.limits().file_bytes);
        // A pipe or a device is not even opened, for that may take for ever.
        let metadata = path.metadata().map_err(|error| error.to_string())?;
        if self.confined && !metadata.is_file() {
            return Err("it is no regular file".into());
        }
        let large = |bytes: u64| format!("it has {bytes} bytes or more; at most {most} are read");
        if metadata.len() > most {
            return Err(large(metadata.len()));
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(|error| error.to_string())?;
        file.take(most + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        if bytes.len() as u64 > most { Err(large(bytes.len() as u64)) } else { Ok(bytes) }
    }

    fn roots(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.folder.as_path()).chain(self.allowed.iter().map(PathBuf::as_path))
    }
}

/// Whether a name may be of something that is not below where it is looked for.
fn leads_out(name: &Path) -> bool {
    !name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A folder with a file `in/x` of three bytes and a file `secret` beside `in`.
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
        assert_eq!(loader.read("x"), Ok(vec![1, 2, 3]));
        assert_eq!(loader.read("./../in/x"), Ok(vec![1, 2, 3]));
        let absolute = folder.path().join("in/x").display().to_string();
        assert_eq!(loader.read(&absolute), Ok(vec![1, 2, 3]));
        let secret = folder.path().join("secret").display().to_string();
        for name in ["../secret", "../nothing", secret.as_str(), "/nothing/at/all", ".."] {
            let error = loader.read(name).unwrap_err();
            assert!(error.starts_with("it lies outside `") && error.ends_with("`--allow` lets it be read"), "{error}");
        }
        assert!(!loader.read("nothing").unwrap_err().contains("outside"));
        let allowed = loader.allow(&[folder.path().to_owned()]);
        assert_eq!(allowed.read("../secret"), Ok(vec![9]));
        assert_eq!(Loader::anywhere(Path::new("")).read(&secret), Ok(vec![9]));
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
        assert_eq!(loader.read("same"), Ok(vec![1, 2, 3]));
        assert!(loader.read("out").unwrap_err().contains("outside"));
        assert!(loader.read("zero").unwrap_err().contains("outside"));
        assert!(loader.read("loop").is_err());
        assert_eq!(loader.read("."), Err("it is no regular file".into()));
        let devices = loader.allow(&["/dev".into()]);
        assert_eq!(devices.read("zero"), Err("it is no regular file".into()));
    }

    #[test]
    fn a_file_has_so_many_bytes_at_most() {
        let folder = folder();
        let limited = |file_bytes| {
            let watchdog = Watchdog::new(Limits { file_bytes, ..Limits::NONE });
            Loader::within(&folder.path().join("in")).watched(Some(&watchdog)).read("x")
        };
        assert_eq!(limited(3), Ok(vec![1, 2, 3]));
        assert_eq!(limited(2), Err("it has 3 bytes or more; at most 2 are read".into()));
    }
}
