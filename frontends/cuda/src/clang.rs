//! Compilation by clang.
//!
//! Clang needs the headers of a CUDA toolkit of a version that it supports. Without a toolkit,
//! `headers/clang.h` declares the language: built-in variables, vector types, mathematical
//! functions, atomics, shuffles and `printf`.

use std::fs;
use std::path::Path;

use crate::compile::{Compiled, Job};
use crate::error::{Error, Rejection};
use crate::nvcc::failed;
use crate::tool::{has_architecture, include_options, result, run, text_for_program};

/// Declarations of CUDA C++ without the headers of a toolkit.
const PRELUDE: &str = include_str!("headers/clang.h");

/// Header of a toolkit that clang's own headers include. Without a toolkit, an empty file takes the
/// place of the header.
const EMPTY_HEADER: &str = "crt/sm_70_rt.hpp";

/// Declaration of a constant in host code, up to its name. Clang also emits the value of the
/// constant in device code.
const DECLARATION: &str = "__attribute__((used)) static const void *const";

/// Texts in a log that show that the toolkit does not suit clang.
const UNSUITABLE: [&str; 3] =
    ["__clang_cuda_runtime_wrapper.h", "cannot find CUDA installation", "cannot find libdevice"];

/// Compiles a source text with the headers of a toolkit, or with the prelude if there is no
/// suitable toolkit.
pub(crate) fn compile(clang: &Path, job: &Job<'_>) -> Result<Compiled, Error> {
    let temporary = tempfile::tempdir().map_err(failed(&std::env::temp_dir()))?;
    let folder = temporary.path();
    let (input, output) = (folder.join("kernel.cu"), folder.join("kernel.ptx"));
    fs::write(&input, text_for_program(job, DECLARATION)).map_err(failed(&input))?;
    let mut options: Vec<String> =
        ["-x", "cuda", "--cuda-device-only", "-S", "-O3", "-gline-directives-only"].map(str::to_owned).into();
    if !has_architecture(job.options) {
        options.push(format!("--cuda-gpu-arch=sm_{}", job.sm));
    }
    options.extend(["-o".to_owned(), output.display().to_string()]);
    options.push(format!("-I{}", job.folder.display()));
    options.extend(include_options(&job.include));
    options.extend_from_slice(job.options);
    let with = |mode: Vec<String>| -> Result<Compiled, Error> {
        let options: Vec<String> = options.iter().cloned().chain(mode).chain([input.display().to_string()]).collect();
        let log = run(clang, &options, job)?;
        let text = fs::read_to_string(&output).map_err(failed(&output))?;
        require_functions(&text)?;
        result(job, &text, log)
    };
    if let Some(toolkit) = &job.toolkit {
        let mut mode = vec![format!("--cuda-path={}", toolkit.display())];
        mode.extend(include_options(&job.headers));
        match with(mode) {
            Err(Error::Rejected(Rejection { log, .. })) if UNSUITABLE.iter().any(|text| log.contains(text)) => {}
            done => return done,
        }
    }
    let prelude = folder.join("halfbyte_cuda.h");
    let empty = folder.join(EMPTY_HEADER);
    fs::create_dir_all(empty.parent().unwrap_or(folder)).map_err(failed(&empty))?;
    fs::write(&empty, "").map_err(failed(&empty))?;
    fs::write(&prelude, PRELUDE).map_err(failed(&prelude))?;
    let mut mode: Vec<String> = ["-nocudainc", "-nocudalib", "-isystem"].map(str::to_owned).into();
    mode.extend([folder.display().to_string(), "-include".to_owned(), prelude.display().to_string()]);
    // The headers of clang need a newer PTX version than the default for the SM version.
    mode.push(format!("--cuda-feature=+ptx{}", if job.sm <= 90 { 78 } else { 88 }));
    if let Some(libdevice) = &job.libdevice {
        mode.extend(["-Xclang", "-mlink-builtin-bitcode", "-Xclang"].map(str::to_owned));
        mode.push(libdevice.display().to_string());
    }
    with(mode)
}

/// Fails if a PTX text calls mathematical functions that it does not define.
fn require_functions(ptx: &str) -> Result<(), Error> {
    if !ptx.lines().any(|line| line.starts_with(".extern .func") && line.contains("__nv_")) {
        return Ok(());
    }
    let log = "the mathematical functions of CUDA are missing: libdevice.10.bc is not found".to_owned();
    let help = Some("`pip install nvidia-nvvm` installs libdevice".to_owned());
    Err(Error::Rejected(Rejection { diagnostics: Vec::new(), log, help }))
}
