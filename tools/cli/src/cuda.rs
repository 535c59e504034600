//! CUDA C++ files as inputs of commands.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use halfbyte::Sm;
use halfbyte::ir::{Diagnostic, Span};
use halfbyte::report::Report;
use halfbyte_cuda_cpp::{
    Cache, Compiled, CompilerKind, Error, Rejection, Request, SearchPath, Severity, Source, compile, entries,
    is_expression, module_folders_of_path, plain_name, with_parameter_names,
};

use super::Failure;
use super::io::Input;
use super::names::suggestion_and_names;
use super::output::mention;

/// Options for the compilation of CUDA C++ files.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "CUDA C++")]
pub(super) struct CudaArgs {
    /// Compiler of CUDA C++ files (*.cu) [default: the first one that is installed]
    #[arg(long, value_enum, value_name = "NAME")]
    compiler: Option<CompilerName>,
    /// Option for the compiler of CUDA C++ files, such as -DN=4; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    compiler_option: Vec<String>,
    /// Folder with headers for CUDA C++ files; may be repeated. The CUDA headers are found without this option
    #[arg(short = 'I', long, value_name = "DIR")]
    include: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CompilerName {
    /// NVIDIA's library for compilation at run time
    Nvrtc,
    /// NVIDIA's compiler of a CUDA toolkit
    Nvcc,
    /// Clang
    Clang,
}

impl CompilerName {
    fn kind(self) -> CompilerKind {
        match self {
            CompilerName::Nvrtc => CompilerKind::Nvrtc,
            CompilerName::Nvcc => CompilerKind::Nvcc,
            CompilerName::Clang => CompilerKind::Clang,
        }
    }
}

/// Compiles a CUDA C++ file to PTX. Returns the PTX text as an input, and the PTX name of the requested kernel.
pub(super) fn compile_to_ptx(
    input: Input,
    kernel: Option<&str>,
    sm: Sm,
    args: &CudaArgs,
) -> Result<(Input, Option<String>), Failure> {
    let text = input.text()?;
    let kernel = kernel.map(|name| name.strip_prefix('@').unwrap_or(name));
    let names: Vec<String> = kernel.into_iter().filter(|name| is_expression(name)).map(str::to_owned).collect();
    let request = Request {
        source: Source { text, file: &input.name, line: 1 },
        sm: sm.number(),
        options: &args.compiler_option,
        names: &names,
        include: &args.include,
        compiler: args.compiler.map(CompilerName::kind),
        search: &SearchPath::of_computer(&module_folders_of_path()),
        cache: &Cache::of_environment(),
    };
    let Compiled { ptx, names, log, .. } = compile(&request).map_err(|error| failure(&input.name, text, error))?;
    if !log.trim().is_empty() {
        mention(log.trim_end());
    }
    let kernels = entries(&ptx);
    let kernel = match (kernel, names.into_iter().next()) {
        (Some(_), Some(lowered)) => Some(lowered),
        (Some(name), None) => Some(ptx_name(&input.name, text, name, &kernels)?),
        (None, _) if kernels.is_empty() => return Err(without_kernels(&input.name, text)),
        (None, _) => None,
    };
    let ptx = with_parameter_names(&ptx, text, &kernels);
    let Input { name, folder, .. } = input;
    Ok((Input { name: format!("{name}.ptx"), folder, bytes: ptx.into_bytes() }, kernel))
}

/// Returns the PTX name of the kernel with a C++ name, such as `_Z4axpyPf` for `axpy`.
fn ptx_name(file: &str, text: &str, name: &str, kernels: &[&str]) -> Result<String, Failure> {
    let fitting: Vec<&str> =
        kernels.iter().copied().filter(|kernel| *kernel == name || plain_name(kernel) == name).collect();
    match fitting.as_slice() {
        [kernel] => Ok((*kernel).to_owned()),
        [] => {
            let names: Vec<String> = kernels.iter().map(|kernel| plain_name(kernel)).collect();
            let mut message = format!("{file} has no kernel `{name}`");
            message += &suggestion_and_names(name, "", names.iter().map(String::as_str));
            if text.contains("template") {
                message += &format!("; a template needs its arguments, such as `{name}<float>`");
            }
            Err(Failure::Call(message))
        }
        several => Err(Failure::Call(format!(
            "{file} has several kernels `{name}`; give the parameters, such as `{name}(float *)`, or one of {}",
            several.join(", ")
        ))),
    }
}

/// Returns the failure for a text that has no kernels, or only templates of kernels.
fn without_kernels(file: &str, text: &str) -> Failure {
    let template =
        if text.contains("template") { "; a template needs its arguments, such as --entry 'scale<float>'" } else { "" };
    Failure::input(format!("{file} has no kernels{template}"))
}

/// Returns the failure for an error of a compilation.
fn failure(file: &str, text: &str, error: Error) -> Failure {
    match error {
        Error::Rejected(rejection) => rejected(file, text, &rejection),
        error => Failure::Call(error.to_string()),
    }
}

/// Returns the failure for a rejected text: a report with the lines of the file, or else the log of the compiler.
fn rejected(file: &str, text: &str, rejection: &Rejection) -> Failure {
    let errors = rejection.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    if errors.clone().any(|error| error.file != file) || errors.clone().next().is_none() {
        return Failure::input(rejection);
    }
    let mut diagnostics: Vec<Diagnostic> =
        errors.map(|error| Diagnostic::new(span(text, error.line, error.column), error.message.clone())).collect();
    if let Some(help) = &rejection.help
        && let Some(last) = diagnostics.pop()
    {
        diagnostics.push(last.help(help.clone()));
    }
    Report::new(file, text, diagnostics).into()
}

/// Returns the span of the character at a column, or of the first character of the line that is not a space.
fn span(text: &str, line: u32, column: Option<u32>) -> Span {
    let before = usize::try_from(line).unwrap_or(1).saturating_sub(1);
    let start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
    let content = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let column = match column.and_then(|column| usize::try_from(column).ok()) {
        Some(column) => column.saturating_sub(1).min(content.len()),
        None => content.len() - content.trim_start().len(),
    };
    let start = u32::try_from(start + column).unwrap_or(u32::MAX - 1);
    Span { start, end: start + 1 }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_at_lines_and_columns() {
        let text = "ab\n  cd\n";
        for ((line, column), start) in
            [((1, Some(1)), 0), ((1, Some(2)), 1), ((2, None), 5), ((2, Some(4)), 6), ((9, None), 8), ((1, Some(9)), 2)]
        {
            assert_eq!(span(text, line, column).start, start, "{line}:{column:?}");
        }
    }

    #[test]
    fn kernels_are_found_by_their_names() {
        let kernels = ["_Z4axpyPf", "_Z1aPi", "_Z1aPf", "c", "_ZN2of1bEv"];
        let found = |name| match ptx_name("k.cu", "template", name, &kernels) {
            Ok(found) => found,
            Err(Failure::Call(message)) => message,
            Err(_) => String::new(),
        };
        assert_eq!(found("axpy"), "_Z4axpyPf");
        assert_eq!(found("_Z1aPi"), "_Z1aPi");
        assert_eq!(found("c"), "c");
        assert_eq!(found("of::b"), "_ZN2of1bEv");
        assert!(found("a").contains("several kernels `a`") && found("a").contains("_Z1aPi, _Z1aPf"));
        assert!(found("axpi").contains("did you mean `axpy`") && found("axpi").contains("`axpi<float>`"));
    }
}
