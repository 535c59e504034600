//! `halfbyte exec`

mod environment;
mod forwarding;
mod python;
mod report;

use std::ffi::{OsStr, OsString};
use std::fs::{OpenOptions, create_dir, metadata};
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use clap::ValueHint;
use halfbyte::Sm;

use forwarding::Forwarding;
use report::Report;

use super::io::{to_stdout, unwritable, write};
use super::output::say;
use super::races::Strictness;
use super::{Done, Failure, complain, interrupt, limits};

/// Runs a program with halfbyte in place of the GPU
///
/// The program loads the CUDA driver library of halfbyte instead of NVIDIA's. This library executes kernels on the CPU,
/// bit for bit, and reports invalid memory accesses.
///
/// The program also finds the libraries and headers of NVIDIA's wheels in its Python environment, such as NVRTC. Its
/// frameworks get empty cache folders, so that they use no kernels that were compiled for a GPU.
///
/// If a Python program imports Triton, the plug-in of the package `halfbyte` launches the kernels.
///
/// At the end, a summary on standard error lists the errors and warnings of all processes of the program.
///
/// The exit code is that of the program. If the program succeeds but a kernel had an error, the exit code is 1.
/// Warnings do not change the exit code. After a signal, it is 128 plus the number of the signal. SIGTERM and SIGHUP are
/// forwarded to the program.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "halfbyte exec [OPTIONS] -- PROGRAM [ARGS]...")]
pub(super) struct Exec {
    /// Detect races, and reads of uninitialised memory and registers
    ///
    /// Memory of the device is uninitialised until a kernel, a fill or a copy writes it.
    ///
    /// Two stores of the same value by the same instruction are a warning; with --races=strict, they are an error.
    #[arg(long, value_enum, require_equals = true, value_name = "MODE")]
    races: Option<Option<Strictness>>,
    /// SM version of the device, such as 80
    #[arg(long, value_name = "N", value_parser = super::sm_version)]
    sm: Option<Sm>,
    /// Number of multiprocessors of the device; with fewer, some programs launch fewer blocks
    #[arg(long, value_name = "N")]
    sms: Option<NonZero<u32>>,
    /// Memory of the device, such as 512M or 2G
    #[arg(long, value_name = "BYTES", value_parser = limits::bytes)]
    max_memory: Option<u64>,
    /// Continue after an error in a kernel, as if the launch had succeeded
    ///
    /// By default, all later calls of the driver fail, as on a GPU.
    #[arg(long)]
    keep_going: bool,
    /// Make loads past the end of an allocation an error
    ///
    /// By default, a load before the next multiple of 256 bytes is permitted, because some programs rely on it. Such a
    /// load is a warning. A store past the end is always an error.
    #[arg(long)]
    strict: bool,
    /// Write the report as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Exit code if the program succeeds but a kernel had an error
    #[arg(long, value_name = "N", default_value_t = 1)]
    error_exitcode: u8,
    /// Folder of the driver library, libcuda.so.1
    ///
    /// The default is the folder in the variable HALFBYTE_DRIVER, or else a folder near this program.
    #[arg(long, value_name = "DIR")]
    library: Option<PathBuf>,
    /// Program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        value_name = "PROGRAM",
        value_hint = ValueHint::CommandWithArguments
    )]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte exec -- python -m pytest tests
  halfbyte exec --races --keep-going --report report.json -- ./saxpy 1000";

impl Exec {
    pub(super) fn run(self) -> Done {
        if !cfg!(unix) {
            return Err(Failure::Call("`halfbyte exec` is only available on Unix systems".into()));
        }
        let (program, args) = self.command.split_first().ok_or_else(|| Failure::Call("no program is given".into()))?;
        let driver = environment::driver_folder(self.library.as_deref())?;
        if let Some(path) = self.report.as_deref() {
            check_writable(path)?;
        }
        let failed = |error: io::Error| Failure::Call(format!("cannot create a temporary folder: {error}"));
        let folder = tempfile::tempdir().map_err(failed)?;
        let reports = folder.path().join("reports");
        create_dir(&reports).map_err(failed)?;
        let names = environment::other_names(&driver, folder.path()).map_err(failed)?;
        let mut command = Command::new(program);
        command
            .args(args)
            .envs(environment::search_paths(&driver, names, &python::wheels(program))?)
            .envs(environment::caches(folder.path()).map_err(failed)?)
            .envs(self.settings())
            .env("HALFBYTE_REPORT_DIR", &reports);
        let status = run_to_end(&mut command).map_err(|error| cannot_start(program, &error))?;
        let report = Report::read(&reports);
        drop(folder);
        report.print();
        self.finish(status, &report)
    }

    /// Returns the variables with the settings of the driver library.
    fn settings(&self) -> Vec<(&'static str, String)> {
        let races = self.races.map(|mode| match mode {
            None => "on".to_owned(),
            Some(Strictness::Strict) => "strict".to_owned(),
        });
        let flag = |is_set: bool| is_set.then(|| "1".to_owned());
        let settings = [
            ("HALFBYTE_RACES", races),
            ("HALFBYTE_SM", self.sm.map(|sm| sm.number().to_string())),
            ("HALFBYTE_SMS", self.sms.map(|sms| sms.to_string())),
            ("HALFBYTE_MAX_MEMORY", self.max_memory.map(|bytes| bytes.to_string())),
            ("HALFBYTE_KEEP_GOING", flag(self.keep_going)),
            ("HALFBYTE_STRICT", flag(self.strict)),
        ];
        settings.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Writes the report file, and returns the result of the command.
    fn finish(&self, status: ExitStatus, report: &Report) -> Done {
        if let Some(signal) = signal_of(status) {
            match signal {
                SIGINT => say(interrupt::MESSAGE),
                _ => say(&format!("error: signal {signal} ended the program")),
            }
        }
        let written = match self.report.as_deref() {
            Some(path) => report.json().and_then(|text| write(Some(path), text.as_bytes())),
            None => Ok(()),
        };
        let code = match exit_code(status) {
            0 if report.has_errors() => self.error_exitcode,
            code => code,
        };
        if code == 0 {
            return written;
        }
        if let Err(failure) = written {
            // The exit code says that the program failed, not that its report cannot be written.
            complain(failure);
        }
        Err(Failure::Program(code))
    }
}

/// Runs a program to its end, and forwards termination signals to the program.
fn run_to_end(command: &mut Command) -> io::Result<ExitStatus> {
    let forwarding = Forwarding::start();
    let mut program = command.spawn()?;
    forwarding.send_to(&program);
    program.wait()
}

/// Fails if the report file cannot be written, before the program runs.
fn check_writable(path: &Path) -> Done {
    // A pipe can only be opened once.
    let is_special = metadata(path).is_ok_and(|file| !file.is_file() && !file.is_dir());
    if to_stdout(Some(path)) || is_special {
        return Ok(());
    }
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.map(drop).map_err(|error| unwritable(path, &error))
}

/// Returns the error for a program that cannot be started.
fn cannot_start(program: &OsStr, error: &io::Error) -> Failure {
    let program = program.display();
    let advice = match error.kind() {
        io::ErrorKind::NotFound => "; give the path of the program, or a program in PATH",
        io::ErrorKind::PermissionDenied => "; it must be an executable file",
        _ => "",
    };
    Failure::Call(format!("cannot start `{program}`: {error}{advice}"))
}

/// Number of the signal of Ctrl-C.
const SIGINT: i32 = 2;

/// Returns the exit code for the end of a program: its own exit code, or 128 plus the number of the signal that ended
/// the program.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + signal_of(status)?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Returns the number of the signal that ended a program, if any.
#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// Returns the number of the signal that ended a program, if any.
#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}
