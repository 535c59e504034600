//! Temporary output files, which replace the real output file after success.

use std::fs::{File, Metadata, Permissions, rename, set_permissions, symlink_metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Temporary files that must be removed if the program is interrupted.
static LEFT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary file next to the output file. `keep` replaces the output file by the temporary file.
/// Otherwise the temporary file is removed, and the old output file stays unchanged.
pub(super) struct TemporaryFile {
    pub file: File,
    path: PathBuf,
    becomes: PathBuf,
    permissions: Option<Permissions>,
}

impl TemporaryFile {
    /// Creates a temporary file for the output file `becomes`. Returns `None` if the output file is
    /// a link, a device or read-only, because it must then be written in place.
    pub(super) fn new(becomes: &Path) -> Option<TemporaryFile> {
        let permissions = match symlink_metadata(becomes) {
            Ok(there) => Some(replaced(&there)?),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(_) => return None,
        };
        let mut name = becomes.file_name()?.to_owned();
        name.push(format!(".{}.draft", process::id()));
        let path = becomes.with_file_name(name);
        let file = File::create_new(&path).ok()?;
        lock_temporary_files().push(path.clone());
        Some(TemporaryFile { file, path, becomes: becomes.to_owned(), permissions })
    }

    /// Replaces the output file by the temporary file.
    pub(super) fn keep(mut self) -> io::Result<()> {
        if let Some(permissions) = self.permissions.take() {
            set_permissions(&self.path, permissions)?;
        }
        rename(&self.path, &self.becomes)
    }
}

/// Removes the temporary file, unless `keep` has renamed it.
impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        lock_temporary_files().retain(|path| *path != self.path);
    }
}

/// Returns the permissions of an existing output file, or `None` if it must be written in place
/// because it is a link, a device or read-only.
fn replaced(there: &Metadata) -> Option<Permissions> {
    let permissions = there.permissions();
    (there.is_file() && !permissions.readonly()).then_some(permissions)
}

/// Removes all temporary files before the program exits early.
pub(super) fn remove_all() {
    lock_temporary_files().drain(..).for_each(|path| {
        let _ = std::fs::remove_file(path);
    });
}

fn lock_temporary_files() -> MutexGuard<'static, Vec<PathBuf>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::{read, read_dir, write};
    use std::io::Write;

    use super::*;

    #[test]
    fn replaces_the_output_file_only_when_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.o");
        let draft = |text: &[u8]| {
            let mut draft = TemporaryFile::new(&path).unwrap();
            draft.file.write_all(text).unwrap();
            draft
        };
        draft(b"first").keep().unwrap();
        assert_eq!(read(&path).unwrap(), b"first");
        drop(draft(b"second"));
        assert_eq!(read(&path).unwrap(), b"first");
        draft(b"third").keep().unwrap();
        assert_eq!(read(&path).unwrap(), b"third");
        assert_eq!(read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn creates_no_temporary_file_for_folders_and_read_only_files() {
        let folder = tempfile::tempdir().unwrap();
        assert!(TemporaryFile::new(folder.path()).is_none());
        let path = folder.path().join("k.o");
        write(&path, "kept").unwrap();
        let mut permissions = symlink_metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        set_permissions(&path, permissions).unwrap();
        assert!(TemporaryFile::new(&path).is_none());
    }
}
