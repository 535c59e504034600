//! Compilation of kernels to native functions of a Rust crate, for build scripts.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), halfbyte_build::Error> {
//!     halfbyte_build::compile("kernels")
//! }
//! ```
//!
//! This compiles the files `*.hb` and `*.ptx` of the folder `kernels`, links the native code into
//! the crate, and writes `kernels.rs`, which the crate includes:
//!
//! ```ignore
//! mod kernels {
//!     include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
//! }
//! ```
//!
//! The module has a safe function on slices for each kernel, and an unsafe one on pointers in its
//! submodule `raw`. See [`Build`] for options.

mod archive;

use std::collections::BTreeMap;
use std::env::{self, VarError};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use halfbyte::files::{FileError, Loader, MAX_FILE_BYTES};
use halfbyte::import_ptx::Options as ImportOptions;
use halfbyte::native::{self, About, Function, Language, Machine, MachineError, Options, header, object, symbols};
use halfbyte::{HALU, Program, include};
use thiserror::Error;

/// Reason why a build failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A folder or file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The path of the folder or file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A kernel file cannot be read. It must be a regular file within the folder, after symbolic links are resolved.
    #[error("{}: {error}", path.display())]
    Input {
        /// The path of the file.
        path: PathBuf,
        /// Reason why the file cannot be read.
        error: FileError,
    },
    /// A kernel file is not valid UTF-8.
    #[error("{}: the file is not valid UTF-8", .0.display())]
    Text(PathBuf),
    /// An environment variable that Cargo sets for build scripts is missing.
    #[error("${name}: {error}")]
    Variable {
        /// The name of the variable.
        name: &'static str,
        /// Reason why the variable cannot be read.
        error: VarError,
    },
    /// A folder contains no kernel files.
    #[error("{}: the folder has no *.hb or *.ptx files", .0.display())]
    Empty(PathBuf),
    /// A source text has errors, or a kernel cannot be compiled. The string is a report that quotes the source lines.
    #[error("{0}")]
    Report(String),
    /// Two kernels have the same name.
    #[error("kernel `{kernel}` is defined in {first} and in {second}")]
    Twice {
        /// The common name of the two kernels.
        kernel: String,
        /// The file of the first kernel.
        first: String,
        /// The file of the second kernel.
        second: String,
    },
    /// The build's target is not supported by native code generation.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A kernel cannot be compiled to native code.
    #[error("{file}: {error}")]
    Native {
        /// The file that contains the kernel.
        file: String,
        /// Reason why the kernel cannot be compiled.
        error: native::Error,
    },
}

/// Compiles the kernels of a folder for the build's target. Writes `$OUT_DIR/FOLDER.rs`, and a
/// static library that Cargo links.
///
/// # Errors
/// Fails if a kernel, the folder, or the target is invalid.
pub fn compile(folder: impl AsRef<Path>) -> Result<(), Error> {
    Build::new(folder).run()
}

/// Options for the compilation of a folder of kernels.
#[derive(Clone, Debug)]
pub struct Build {
    folder: PathBuf,
    cpu: Option<String>,
    options: Options,
}

/// The output of a compilation: a static library and its Rust bindings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildOutput {
    /// The bytes of the static library.
    pub library: Vec<u8>,
    /// The source text of the Rust bindings.
    pub bindings: String,
}

impl Build {
    /// Creates options for the compilation of the files `*.hb` and `*.ptx` in a folder.
    pub fn new(folder: impl AsRef<Path>) -> Build {
        Build { folder: folder.as_ref().to_owned(), cpu: None, options: Options::default() }
    }

    /// Sets the minimum CPU that the code runs on, by Cranelift's name, such as `x86-64-v3`. The command `halfbyte
    /// compile --cpu` takes the same names. By default the code runs on every CPU of the target.
    #[must_use]
    pub fn cpu(mut self, cpu: impl Into<String>) -> Build {
        self.cpu = Some(cpu.into());
        self
    }

    /// Sets the maximum number of backward branches that one work item may take. The default is 2^20.
    #[must_use]
    pub fn budget(mut self, branches: u64) -> Build {
        self.options.budget = branches;
        self
    }

    /// Compiles the kernels in a build script, for Cargo's target. Writes the output to `$OUT_DIR`.
    /// All symbols have the package's name as their prefix.
    ///
    /// # Errors
    /// Fails if a kernel, the folder, or the target is invalid.
    pub fn run(&self) -> Result<(), Error> {
        let package = identifier(&variable("CARGO_PKG_NAME")?);
        let out = PathBuf::from(variable("OUT_DIR")?);
        let made = self.make(&variable("TARGET")?, &format!("{package}_"))?;
        let name = self.folder.file_name().and_then(OsStr::to_str).unwrap_or("kernels");
        let library = format!("{package}_{}", identifier(name));
        write(&out.join(format!("lib{library}.a")), &made.library)?;
        write(&out.join(format!("{name}.rs")), made.bindings.as_bytes())?;
        println!("cargo::rerun-if-changed={}", self.folder.display());
        println!("cargo::rustc-link-search=native={}", out.display());
        println!("cargo::rustc-link-lib=static={library}");
        Ok(())
    }

    /// Compiles the kernels for a target triple. All symbols have the given prefix.
    ///
    /// # Errors
    /// Fails if a kernel, the folder, or the triple is invalid.
    pub fn make(&self, triple: &str, prefix: &str) -> Result<BuildOutput, Error> {
        let machine = Machine::new(triple, self.cpu.as_deref())?;
        let mut programs = Vec::new();
        let mut homes: BTreeMap<String, String> = BTreeMap::new();
        for path in self.files()? {
            let file = path.display().to_string();
            let program = program(&path, &file)?;
            for kernel in program.kernels() {
                let (kernel, second) = (kernel.name().to_owned(), file.clone());
                if let Some(first) = homes.insert(kernel.clone(), second.clone()) {
                    return Err(Error::Twice { kernel, first, second });
                }
            }
            programs.push(program);
        }
        let kernels: Vec<_> = programs.iter().flat_map(Program::kernels).collect();
        let names = symbols(kernels.iter().map(|kernel| kernel.name()));
        let names: Vec<String> = names.into_iter().map(|name| format!("{prefix}{name}")).collect();
        let named: Vec<_> = names.iter().map(String::as_str).zip(kernels).collect();
        let made = object(&named, &machine, &self.options);
        let made = made.map_err(|error| Error::Native { file: self.folder.display().to_string(), error })?;
        let source = self.folder.display().to_string();
        let about = About { name: "kernels.rs", source: &source, machine: &machine };
        let symbols = made.functions.iter().map(|function: &Function| function.symbol.as_str());
        let bindings = header(Language::Rust, &about, &made.functions);
        Ok(BuildOutput { library: archive::archive(&made.bytes, symbols), bindings })
    }

    /// Returns the kernel files, sorted by name.
    fn files(&self) -> Result<Vec<PathBuf>, Error> {
        let at = |error| Error::File { path: self.folder.clone(), error };
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(at)? {
            let path = entry.map_err(at)?.path();
            if path.extension().is_some_and(|end| end == "hb" || end == "ptx") {
                files.push(path);
            }
        }
        files.sort();
        if files.is_empty() { Err(Error::Empty(self.folder.clone())) } else { Ok(files) }
    }
}

/// Compiles the kernels of the file at `path`. `file` is the name of the file in messages.
fn program(path: &Path, file: &str) -> Result<Program, Error> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let bytes = Loader::within(folder).read_path(path, MAX_FILE_BYTES);
    let bytes = bytes.map_err(|error| Error::Input { path: path.to_owned(), error })?;
    let text = String::from_utf8(bytes).map_err(|_| Error::Text(path.to_owned()))?;
    let module = include::open_each(file, text, ImportOptions::default());
    let module = module.map_err(|report| Error::Report(report.to_string()))?;
    if let Some(refused) = module.refused_kernels().first() {
        return Err(Error::Report(module.report(refused.errors.clone()).to_string()));
    }
    let binary = module.compile(HALU).map_err(|error| Error::Report(module.report(error).to_string()))?;
    Program::load(&binary.object).map_err(|error| Error::Report(format!("{file}: {error}")))
}

fn variable(name: &'static str) -> Result<String, Error> {
    env::var(name).map_err(|error| Error::Variable { name, error })
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    fs::write(path, bytes).map_err(|error| Error::File { path: path.to_owned(), error })
}

/// Replaces the characters of a name that a symbol cannot contain.
fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
