//! Reading and writing of files and standard streams.

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

/// Maximum number of bytes that are read from a device or a pipe, which may never end.
const MAX_STREAM_BYTES: u64 = 1 << 28;

/// An input file in memory.
pub(super) struct Input {
    /// The file's name in messages.
    pub name: String,
    /// The folder to which relative file names in the input refer.
    pub folder: PathBuf,
    /// The file's contents.
    pub bytes: Vec<u8>,
}

impl Input {
    /// Reads a file, or standard input for `-`.
    pub(super) fn read(path: &Path) -> Result<Input, Failure> {
        Input::read_at_most(path, Limits::generous().text_bytes)
    }

    /// Reads a file. Fails if the file has more than `most` bytes.
    pub(super) fn read_at_most(path: &Path, most: u64) -> Result<Input, Failure> {
        let (mut bytes, mut most) = (Vec::new(), most);
        match std::fs::metadata(path).map(|file| (file.is_file(), file.len())) {
            // The buffer gets the size of the file, so that it does not grow by copying, which
            // would need twice the memory.
            Ok((true, expected)) => bytes.reserve(usize::try_from(expected.min(most)).unwrap_or(0) + 1),
            _ => most = most.min(MAX_STREAM_BYTES),
        }
        let failed = |error| Failure::Call(format!("{}: {error}", name_of(path)));
        open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > most {
            return Err(Failure::input(format!("{}: the file has more than {most} bytes", name_of(path))));
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Input { name: name_of(path), folder, bytes })
    }

    /// Returns the contents as text. Fails if the contents are not UTF-8.
    pub(super) fn text(&self) -> Result<&str, Report> {
        str::from_utf8(&self.bytes).map_err(|error| no_text(&self.name, &self.bytes, error))
    }

    /// Converts the contents to text without a copy. Fails if the contents are not UTF-8.
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

/// A kernel file that the command line names, or that was found in a folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KernelFile {
    pub path: PathBuf,
    /// The folder of the command line in which the file was found; `None` if the command line names the file.
    folder: Option<PathBuf>,
}

impl KernelFile {
    /// Reads the file. Fails if the file has more than `most` bytes. If the file was found in a
    /// folder, the user did not name it. Therefore the file must be a regular file in that folder,
    /// also after links are followed.
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

/// Returns the kernel files for paths of the command line. A path to a file is returned as it is. A
/// folder is searched for `*.hb` files, which are sorted by name.
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

/// Appends the kernel files of one path to `files`, sorted by name. A file that the command line
/// names may have any extension.
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

/// Fails if the output file is also an input file, even through links. Writing the output would destroy the input.
pub(super) fn refuse_input<'p>(output: Option<&Path>, inputs: impl IntoIterator<Item = &'p Path>) -> Done {
    let Some(output) = output.filter(|output| !to_stdout(Some(output))) else { return Ok(()) };
    let is_same = |input: &&Path| *input != Path::new("-") && is_same_file(output, input);
    match inputs.into_iter().find(is_same) {
        Some(input) => {
            let what = if input == output {
                "an input file".to_owned()
            } else {
                format!("the input file {}", input.display())
            };
            let output = output.display();
            Err(Failure::Call(format!("{output}: the output would overwrite {what}; write the output to another file")))
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

/// Returns `true` if the output is written to standard output: the path is `-`, or no path is
/// given.
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

/// Converts an error of writing to standard output. If the reader has closed the pipe, the program
/// ends without a message.
pub(super) fn unwritten(error: std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::Call(format!("standard output: {error}")),
    }
}

/// Writes `printf` output of a kernel to standard error. Errors of writing are ignored.
pub(super) fn print_of_kernel(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
