//! Compilation by nvcc.

use std::fs;
use std::path::{Path, PathBuf};

use crate::compile::{Compiled, Job};
use crate::error::Error;
use crate::tool::{has_architecture, include_options, result, run, text_for_program};

/// Declaration of a variable in device code, up to its name.
const DECLARATION: &str = "__device__ const void *const volatile";

/// Compiles a source text.
pub(crate) fn compile(nvcc: &Path, job: &Job<'_>) -> Result<Compiled, Error> {
    let temporary = tempfile::tempdir().map_err(failed(&std::env::temp_dir()))?;
    let (input, output) = (temporary.path().join("kernel.cu"), temporary.path().join("kernel.ptx"));
    fs::write(&input, text_for_program(job, DECLARATION)).map_err(failed(&input))?;
    let mut options = vec!["-ptx".to_owned(), "-lineinfo".to_owned()];
    if !has_architecture(job.options) {
        options.push(format!("-arch=compute_{}", job.sm));
    }
    options.extend(["-o".to_owned(), output.display().to_string()]);
    // The compiler would search for quoted includes in the temporary folder.
    options.push(format!("-I{}", job.folder.display()));
    options.extend(include_options(&job.include));
    options.extend(job.headers.iter().flat_map(|folder| ["-isystem".to_owned(), folder.display().to_string()]));
    options.extend_from_slice(job.options);
    options.push(input.display().to_string());
    let log = run(nvcc, &options, job)?;
    let text = fs::read_to_string(&output).map_err(failed(&output))?;
    result(job, &text, log)
}

/// Returns a function that adds a path to an error.
pub(crate) fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = PathBuf::from(path);
    move |error| Error::Io { path, error }
}
