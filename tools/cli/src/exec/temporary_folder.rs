//! Temporary folders.

use std::fs::{DirBuilder, remove_dir_all};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::{env, process};

/// Maximum number of names that are tried for a folder.
const MAX_NAMES: u32 = 1000;

/// A temporary folder of this user. It is removed, with its contents, when it is dropped.
pub(super) struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// Creates a folder with a new name.
    pub(super) fn new() -> io::Result<TemporaryFolder> {
        let parent = std::path::absolute(env::temp_dir())?;
        let mut number = 0;
        loop {
            let path = parent.join(format!("halfbyte-exec-{}-{number}", process::id()));
            match builder().create(&path) {
                // The folder may be left over from an earlier process with the same number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < MAX_NAMES => number += 1,
                created => return created.map(|()| TemporaryFolder { path }),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = remove_dir_all(&self.path);
    }
}

/// Returns a builder of folders that only this user can access.
fn builder() -> DirBuilder {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_is_new_and_is_removed_with_its_contents() {
        let [a, b] = [TemporaryFolder::new().unwrap(), TemporaryFolder::new().unwrap()];
        assert_ne!(a.path(), b.path());
        std::fs::write(a.path().join("file"), "").unwrap();
        let paths = [a.path().to_owned(), b.path().to_owned()];
        assert!(paths.iter().all(|path| path.is_absolute() && path.is_dir()));
        drop((a, b));
        assert!(!paths.iter().any(|path| path.exists()));
    }
}
