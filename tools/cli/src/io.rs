//! Files and standard streams.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::str::Utf8Error;

use halfbyte::abi::Limits;
use halfbyte::files::{FileError, Loader};
use halfbyte::ir::{Diagnostic, Span};
use halfbyte::report::Report;

use super::{Done, Failure};

/// Maximum number of bytes to read from a device or pipe, which may be endless.
const MAX_STREAM_BYTES: u64 = 1 << 28;

/// Input file that was read.
pub(super) struct Input {
    /// The file's name in messages.
    pub name: String,
    /// Folder to which file names in the input are relative.
    pub folder: PathBuf,
    /// The file's contents.
    pub bytes: Vec<u8>,
}

impl Input {
    /// Reads a file, or standard input for `-`.
    pub(super) fn read(path: &Path) -> Result<Input, Failure> {
        Input::read_at_most(path, Limits::generous().text_bytes)
    }

    /// Reads a file of at most `most` bytes.
    pub(super) fn read_at_most(path: &Path, most: u64) -> Result<Input, Failure> {
        let (mut bytes, mut most) = (Vec::new(), most);
        match std::fs::metadata(path).map(|file| (file.is_file(), file.len())) {
            // Reserving the expected size avoids copies, and twice the memory, while the buffer
            // grows.
            Ok((true, expected)) => bytes.reserve(usize::try_from(expected.min(most)).unwrap_or(0) + 1),
            _ => most = most.min(MAX_STREAM_BYTES),
        }
        let failed = |error| Failure::Call(format!("{}: {error}", name_of(path)));
        open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > most {
            return Err(Failure::input(format!("{}: it has more than {most} bytes", name_of(path))));
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Input { name: name_of(path), folder, bytes })
    }

    /// Returns the contents as text.
    pub(super) fn text(&self) -> Result<&str, Report> {
        str::from_utf8(&self.bytes).map_err(|error| no_text(&self.name, &self.bytes, error))
    }

    /// Converts the contents to text without a copy.
    pub(super) fn into_text(self) -> Result<String, Report> {
        String::from_utf8(self.bytes).map_err(|error| no_text(&self.name, error.as_bytes(), error.utf8_error()))
    }
}

fn no_text(name: &str, bytes: &[u8], error: Utf8Error) -> Report {
    let start = error.valid_up_to() as u32;
    let wrong = Diagnostic::new(Span { start, end: start + 1 }, "this is not UTF-8 text").expected("a text file");
    Report::new(name, String::from_utf8_lossy(bytes), vec![wrong])
}

fn name_of(path: &Path) -> String {
    if path == Path::new("-") { "<stdin>".into() } else { path.display().to_string() }
}

/// Opens a file, or standard input for `-`.
pub(super) fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(stdin())));
    }
    let file = File::open(path).map_err(|error| Failure::Call(format!("{}: {error}", path.display())))?;
    Ok(Box::new(BufReader::new(file)))
}

/// Kernel file that is given on the command line or was found in a given folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KernelFile {
    pub path: PathBuf,
    /// The given folder in which the file was found.
    folder: Option<PathBuf>,
}

impl KernelFile {
    /// Reads the file, of at most `most` bytes. A file found in a folder must be a regular file in
    /// that folder after links are resolved, because the user did not name it explicitly.
    pub(super) fn read(&self, most: u64) -> Result<Input, Failure> {
        let Some(folder) = &self.folder else { return Input::read_at_most(&self.path, most) };
        let name = name_of(&self.path);
        let bytes = Loader::within(folder).read_path(&self.path, most).map_err(|error| match error {
            FileError::Outside(_) => {
                Failure::input(format!("{name} is a link to a file outside the folder; pass it explicitly to read it"))
            }
            error => Failure::input(format!("{name}: {error}")),
        })?;
        Ok(Input { name, folder: self.path.parent().unwrap_or(Path::new("")).to_owned(), bytes })
    }
}

/// Expands paths to kernel files: a file as it is, a folder to all `*.hb` files below it, sorted by
/// name.
pub(super) fn kernel_files(paths: &[PathBuf]) -> Result<Vec<KernelFile>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let before = files.len();
        find(path, &mut files)?;
        if files.len() == before {
            return Err(Failure::input(format!("{}: the folder has no *.hb files", path.display())));
        }
    }
    Ok(files)
}

/// Appends the kernel files of a path, sorted by name. A named file may have any extension.
fn find(path: &Path, files: &mut Vec<KernelFile>) -> Done {
    let unreadable = |error: std::io::Error| Failure::Call(format!("{}: {error}", path.display()));
    if path == Path::new("-") || !std::fs::metadata(path).map_err(unreadable)?.is_dir() {
        files.push(KernelFile { path: path.to_owned(), folder: None });
        return Ok(());
    }
    let mut folders = vec![path.to_owned()];
    let first = files.len();
    while let Some(folder) = folders.pop() {
        let unreadable = |error: std::io::Error| Failure::Call(format!("{}: {error}", folder.display()));
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            // Links to folders are not followed, to avoid cycles.
            if entry.file_type().map_err(unreadable)?.is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|extension| extension == "hb") {
                files.push(KernelFile { path: entry.path(), folder: Some(path.to_owned()) });
            }
        }
    }
    if let Some(found) = files.get_mut(first..) {
        found.sort();
    }
    Ok(())
}

/// Rejects an output file that is an input file, also through links, because writing it would
/// destroy the input.
pub(super) fn refuse_input<'p>(output: Option<&Path>, inputs: impl IntoIterator<Item = &'p Path>) -> Done {
    let Some(output) = output.filter(|output| !to_stdout(Some(output))) else { return Ok(()) };
    let is_same = |input: &&Path| *input != Path::new("-") && is_same_file(output, input);
    match inputs.into_iter().find(is_same) {
        Some(input) => {
            let what =
                if input == output { "a file".to_owned() } else { format!("the same file as {}", input.display()) };
            let output = output.display();
            Err(Failure::Call(format!("{output}: {what} which this call reads; name another file for the output")))
        }
        None => Ok(()),
    }
}

/// Returns `true` if both paths refer to the same regular file.
#[cfg(unix)]
fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(a), Ok(b)) = (std::fs::metadata(a), std::fs::metadata(b)) else { return false };
    a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Returns `true` if both paths refer to the same regular file.
#[cfg(not(unix))]
fn is_same_file(a: &Path, b: &Path) -> bool {
    let (Ok(a), Ok(b)) = (a.canonicalize(), b.canonicalize()) else { return false };
    a.is_file() && a == b
}

/// Returns `true` if the path means standard output: `-` or no path.
pub(super) fn to_stdout(path: Option<&Path>) -> bool {
    path.is_none_or(|path| path == Path::new("-"))
}

/// Writes to a file, or to standard output for `-` or no path.
pub(super) fn write(path: Option<&Path>, bytes: &[u8]) -> Done {
    match path.filter(|&path| !to_stdout(Some(path))) {
        Some(path) => std::fs::write(path, bytes).map_err(|error| unwritable(path, &error)),
        None => print(bytes),
    }
}

/// Returns the error for a file that cannot be written.
pub(super) fn unwritable(path: &Path, error: &dyn Error) -> Failure {
    Failure::Call(format!("{}: {error}", path.display()))
}

/// Writes to standard output.
pub(super) fn print(bytes: &[u8]) -> Done {
    let mut out = stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(unwritten)
}

/// Converts an error of writing to standard output. A closed pipe ends the program silently.
pub(super) fn unwritten(error: std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::Call(format!("standard output: {error}")),
    }
}

/// Writes the output of a kernel's `printf` to standard error, and ignores errors.
pub(super) fn print_of_kernel(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
