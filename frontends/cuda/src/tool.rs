//! The installed compilers.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

use crate::compile::{Compiled, CompilerKind, Job};
use crate::error::{Error, Rejection};
use crate::log::{Severity, diagnostics, missing_header};
use crate::search::{NvrtcLibrary, SearchPath};
use crate::{clang, nvcc, nvrtc, packages, ptx};

/// Prefix of the names of the variables through which a compiler program reports the PTX names of kernels.
const NAME_VARIABLE: &str = "halfbyte_name_";

/// File name in messages about the C++ names of kernels.
pub(crate) const NAME_FILE: &str = "__halfbyte_name";

/// An installed compiler.
#[derive(Debug)]
pub(crate) enum Tool {
    Nvrtc(NvrtcLibrary),
    Nvcc(PathBuf),
    Clang(PathBuf),
}

impl Tool {
    /// Returns the requested compiler, or the first one that is installed.
    pub(crate) fn find(kind: Option<CompilerKind>, search: &SearchPath) -> Result<Tool, Error> {
        match kind {
            Some(kind) => Tool::of(kind, search).ok_or(Error::Missing { compiler: kind }),
            None => CompilerKind::ALL.into_iter().find_map(|kind| Tool::of(kind, search)).ok_or(Error::NoCompiler),
        }
    }

    fn of(kind: CompilerKind, search: &SearchPath) -> Option<Tool> {
        match kind {
            CompilerKind::Nvrtc => {
                // A library without an absolute path is loaded here, because only the loader of the
                // system can find it.
                let is_present = |library: &NvrtcLibrary| library.path.is_absolute() || nvrtc::load(library).is_ok();
                search.nvrtc().into_iter().find(is_present).map(Tool::Nvrtc)
            }
            CompilerKind::Nvcc => search.nvcc().map(Tool::Nvcc),
            CompilerKind::Clang => search.clang().map(Tool::Clang),
        }
    }

    pub(crate) fn kind(&self) -> CompilerKind {
        match self {
            Tool::Nvrtc(_) => CompilerKind::Nvrtc,
            Tool::Nvcc(_) => CompilerKind::Nvcc,
            Tool::Clang(_) => CompilerKind::Clang,
        }
    }

    /// Returns the path of the library or the program.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Tool::Nvrtc(library) => &library.path,
            Tool::Nvcc(path) | Tool::Clang(path) => path,
        }
    }

    /// Returns a text that differs between versions of the compiler.
    pub(crate) fn identity(&self) -> Result<String, Error> {
        match self {
            Tool::Nvrtc(library) if !library.path.is_absolute() => nvrtc::version(nvrtc::load(library)?),
            _ => Ok(stamp(self.path())),
        }
    }

    /// Compiles a source text.
    pub(crate) fn compile(&self, job: &Job<'_>) -> Result<Compiled, Error> {
        match self {
            Tool::Nvrtc(library) => nvrtc::compile(nvrtc::load(library)?, job),
            Tool::Nvcc(path) => nvcc::compile(path, job),
            Tool::Clang(path) => clang::compile(path, job),
        }
    }
}

/// Returns a text that identifies the version of a file or a folder by its path, size and modification time.
pub(crate) fn stamp(path: &Path) -> String {
    let data = std::fs::metadata(path).ok();
    let time = data.as_ref().and_then(|data| data.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    let bytes = data.map_or(0, |data| data.len());
    format!("{} {bytes} {}", path.display(), time.map_or(0, |time| time.as_nanos()))
}

/// Returns `true` if the user's options select the architecture.
pub(crate) fn has_architecture(options: &[String]) -> bool {
    let names = ["-arch", "--gpu-architecture", "--cuda-gpu-arch", "--offload-arch"];
    options.iter().any(|option| names.iter().any(|name| option.starts_with(name)))
}

/// Returns the options for folders with headers.
pub(crate) fn include_options(folders: &[PathBuf]) -> impl Iterator<Item = String> {
    folders.iter().map(|folder| format!("-I{}", folder.display()))
}

/// Returns the error for a source text that a compiler rejected. `name_file` is the file of messages about the names
/// of kernels.
pub(crate) fn rejected(job: &Job<'_>, log: String, name_file: &str) -> Error {
    let log = job.with_shown_names(&log);
    let diagnostics = diagnostics(&log);
    let mut errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    if let Some(first) = errors.clone().next()
        && errors.clone().all(|error| error.file == name_file)
    {
        return Error::Name { name: job.names.join("`, `"), reason: first.message.clone() };
    }
    let missing = errors.find_map(|error| packages::advice(missing_header(&error.message)?, job.compiler));
    let help = missing.or_else(|| host_code(job, &log));
    Error::Rejected(Rejection { diagnostics, log, help })
}

/// Returns the advice for a text with host code, which NVRTC rejects.
fn host_code(job: &Job<'_>, log: &str) -> Option<String> {
    let is_host_code = job.compiler == CompilerKind::Nvrtc && log.contains("host functions are not allowed");
    is_host_code.then(|| {
        "NVRTC compiles only device code; write host code between `#ifndef __CUDACC_RTC__` and `#endif`, or use the \
         compiler nvcc"
            .to_owned()
    })
}

/// Runs a compiler program. Returns its messages if it succeeds.
pub(crate) fn run(program: &Path, options: &[String], job: &Job<'_>) -> Result<String, Error> {
    let mut command = Command::new(program);
    let output = command.args(options).stdin(Stdio::null()).output();
    let output = output.map_err(|error| Error::Io { path: program.to_owned(), error })?;
    let log = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() { Ok(job.with_shown_names(&log)) } else { Err(rejected(job, log, NAME_FILE)) }
}

/// Returns the source text for a compiler program, with a variable for each name of a kernel. `declaration` is the
/// declaration of a variable up to its name.
pub(crate) fn text_for_program(job: &Job<'_>, declaration: &str) -> String {
    let file = job.file.replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = format!("#line {} \"{file}\"\n{}\n", job.source.line, job.source.text);
    for (number, name) in job.names.iter().enumerate() {
        text += &format!(
            "#line {} \"{NAME_FILE}\"\n{declaration} {NAME_VARIABLE}{number} = (const void *)({name});\n",
            number + 1
        );
    }
    text
}

/// Returns the result of a compiler program: the PTX text without the variables for names, and their values.
pub(crate) fn result(job: &Job<'_>, text: &str, log: String) -> Result<Compiled, Error> {
    let value = |(number, name): (usize, &String)| {
        let unknown = || Error::Name { name: name.clone(), reason: "the compiler made no kernel for it".to_owned() };
        ptx::value_of(text, &format!("{NAME_VARIABLE}{number}")).map(str::to_owned).ok_or_else(unknown)
    };
    let names = job.names.iter().enumerate().map(value).collect::<Result<Vec<_>, _>>()?;
    let ptx = if names.is_empty() { text.to_owned() } else { ptx::without_declarations(text, NAME_VARIABLE) };
    Ok(Compiled { ptx, names, log, is_cached: false })
}
