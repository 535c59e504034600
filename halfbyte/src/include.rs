//! Include files of a source text. They must lie in the folder of the text.

use std::path::{Component, Path, PathBuf};

use halfbyte_abi::Watchdog;
use halfbyte_lang::{Included, Includes};

use crate::files::{FileError, Loader};
#[cfg(feature = "import-ptx")]
use crate::import_ptx;
use crate::{Module, Report};

/// Maximum size of an include file in bytes.
const MOST: u64 = 16 << 20;

/// A reader of a source text and its include files. Include files are regular files in the folder of the text, after
/// symbolic links are resolved. The path of an include file is relative to the folder of the file that includes it.
#[derive(Clone, Debug)]
pub struct ModuleReader {
    file: String,
    loader: Loader,
}

impl ModuleReader {
    /// Creates a reader for the text of the given file.
    pub fn of(file: &str) -> ModuleReader {
        let loader = Loader::within(Path::new(file).parent().unwrap_or(Path::new("")));
        ModuleReader { file: file.to_owned(), loader }
    }

    /// Also allows files in `folders`, to which symbolic links may point.
    #[must_use]
    pub fn allow(self, folders: &[PathBuf]) -> ModuleReader {
        ModuleReader { loader: self.loader.allow(folders), ..self }
    }

    /// Sets the watchdog that limits file reads.
    #[must_use]
    pub fn watched(self, watchdog: Option<&Watchdog>) -> ModuleReader {
        ModuleReader { loader: self.loader.watched(watchdog), ..self }
    }

    /// Parses a text in plain IR or in the kernel language.
    ///
    /// # Errors
    /// Returns all errors of the text.
    pub fn read(&self, text: impl Into<String>) -> Result<Module, Report> {
        Module::including(&self.file, text, self)
    }

    /// Parses a text that may be PTX, as [`Module::open_each`] does.
    ///
    /// # Errors
    /// Returns the errors of [`Module::open_each`].
    #[cfg(feature = "import-ptx")]
    pub fn read_each(
        &self,
        text: impl Into<String>,
        options: impl Into<import_ptx::Options>,
    ) -> Result<Module, Report> {
        if import_ptx::is_ptx(&self.file) { Module::open_each(&self.file, text, options) } else { self.read(text) }
    }
}

impl Includes for ModuleReader {
    fn open(&self, path: &str, from: &str) -> Result<Included, String> {
        let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !plain {
            return Err("a path relative to the folder of this file, without `..`".into());
        }
        let file = Path::new(from).parent().unwrap_or(Path::new("")).join(path);
        let most = MOST.min(self.loader.limits().text_bytes);
        let bytes = self.loader.read_path(&file, most).map_err(|error| match error {
            FileError::Outside(_) => "a file in the folder of this text, after symbolic links are resolved".into(),
            FileError::NotRegular => "a regular file, not a folder, pipe or device".into(),
            FileError::TooLarge { most, .. } => format!("a file of at most {most} bytes"),
            error => format!("a file that can be read: {error}"),
        })?;
        let text = String::from_utf8(bytes).map_err(|_| "a file of UTF-8 text")?;
        Ok(Included { name: file.display().to_string(), text })
    }
}

/// Parses the text of a file in plain IR or in the kernel language. The text may include other
/// files in the folder of the file.
///
/// # Errors
/// Returns all errors of the text.
pub fn named(file: &str, text: impl Into<String>) -> Result<Module, Report> {
    ModuleReader::of(file).read(text)
}

/// Parses the text of a file that may be PTX, as [`Module::open_each`] does.
///
/// # Errors
/// Returns the errors of [`Module::open_each`].
#[cfg(feature = "import-ptx")]
pub fn open_each(
    file: &str,
    text: impl Into<String>,
    options: impl Into<import_ptx::Options>,
) -> Result<Module, Report> {
    ModuleReader::of(file).read_each(text, options)
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::time::Duration;

    use halfbyte_abi::Limits;

    use super::*;

    const LIB: &str = "fn one() -> i32 { 1 }\n";

    /// Creates a folder that contains `in/lib.hb` and `lib.hb`.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("in/below")).unwrap();
        fs::write(folder.path().join("in/lib.hb"), LIB).unwrap();
        fs::write(folder.path().join("lib.hb"), LIB).unwrap();
        folder
    }

    /// Returns the `expected` part of the error for a text that includes `path`, or `None` if the text has no error.
    fn including(folder: &Path, path: &str) -> Option<String> {
        of(ModuleReader::of(&folder.join("in/k.hb").display().to_string()), path)
    }

    fn of(reader: ModuleReader, path: &str) -> Option<String> {
        let text = format!("include \"{path}\"\nkernel k(y: out i32) {{ y[0] = one() }}\n");
        let report = reader.read(text).err()?;
        let first = report.diagnostics().first().unwrap();
        assert_eq!((first.span.start, first.message.as_str()), (0, format!("`{path}` cannot be included").as_str()));
        first.expected.clone()
    }

    #[test]
    fn links_are_followed_within_the_folder_of_the_text() {
        let folder = folder();
        let inside = folder.path().join("in");
        symlink("lib.hb", inside.join("same.hb")).unwrap();
        symlink("../lib.hb", inside.join("below/up.hb")).unwrap();
        symlink("../lib.hb", inside.join("out.hb")).unwrap();
        symlink("/etc/passwd", inside.join("passwd.hb")).unwrap();
        symlink("..", inside.join("folder")).unwrap();
        for path in ["lib.hb", "same.hb", "below/up.hb", "folder/in/lib.hb"] {
            assert_eq!(including(folder.path(), path), None, "{path}");
        }
        for path in ["out.hb", "passwd.hb", "folder/lib.hb"] {
            let expected = "a file in the folder of this text, after symbolic links are resolved";
            assert_eq!(including(folder.path(), path).as_deref(), Some(expected), "{path}");
        }
        let reader = ModuleReader::of(&inside.join("k.hb").display().to_string()).allow(&[folder.path().to_owned()]);
        assert_eq!(of(reader, "out.hb"), None);
    }

    #[test]
    fn nothing_but_regular_files_is_opened() {
        let folder = folder();
        let inside = folder.path().join("in");
        symlink("loop.hb", inside.join("loop.hb")).unwrap();
        symlink("nothing.hb", inside.join("dangling.hb")).unwrap();
        let _socket = UnixListener::bind(inside.join("socket.hb")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(inside.join("pipe.hb")).status().unwrap();
        assert!(made.success());
        fs::create_dir(inside.join("folder.hb")).unwrap();
        fs::write(inside.join("bytes.hb"), [0xff, 0xfe]).unwrap();
        fs::File::create(inside.join("sparse.hb")).unwrap().set_len(1 << 40).unwrap();
        let kinds = "a regular file, not a folder, pipe or device";
        for (path, expected) in [
            ("pipe.hb", kinds),
            ("socket.hb", kinds),
            ("folder.hb", kinds),
            ("bytes.hb", "a file of UTF-8 text"),
            ("sparse.hb", "a file of at most 16777216 bytes"),
            ("loop.hb", "a file that can be read: "),
            ("dangling.hb", "a file that can be read: "),
            ("lib.hb/", "a file that can be read: "),
        ] {
            let found = including(folder.path(), path).unwrap();
            assert!(found.starts_with(expected), "{path}: {found}");
        }
    }

    #[test]
    fn limits_hold_for_included_files() {
        let folder = folder();
        let reader = |limits| {
            let reader = ModuleReader::of(&folder.path().join("in/k.hb").display().to_string());
            reader.watched(Some(&Watchdog::new(limits)))
        };
        let short = Limits { text_bytes: 5, ..Limits::NONE };
        assert_eq!(of(reader(short), "lib.hb").as_deref(), Some("a file of at most 5 bytes"));
        let late = Limits { time: Some(Duration::ZERO), ..Limits::NONE };
        assert_eq!(of(reader(late), "lib.hb").as_deref(), Some("a file that can be read: not done after 0 s"));
    }
}
