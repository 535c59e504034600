//! PTX kernels: their parameters, and their launches by direct execution or after import into the IR.

use std::sync::{Arc, Mutex, PoisonError};

use halfbyte::abi::ParamKind;
use halfbyte::import_ptx::{self, Globals, Options, ParameterRange, import_one, signature};
use halfbyte::ir::diag::Lines;
use halfbyte::ir::{Diagnostic, Span};
use halfbyte::isa::ptx::module::Param as Declared;
use halfbyte::isa::ptx::text::{Error, ParsedFile, RejectedKernel};
use halfbyte::launch::{RaceCheck, given, span_of};
use halfbyte::pipeline;
use halfbyte::runtime::ptx as machine;
use halfbyte::runtime::{self, Trap};
use halfbyte::target::Platform;
use halfbyte::{Module, Report, Shape, Target};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt};
use smallvec::SmallVec;

use crate::array::Array;
use crate::bind::{BoundArguments, Signature, Value};
use crate::error::{self, Launched};
use crate::kernel::{LaunchFailure, Run, compile};
use crate::launch::{Launch, arguments, is_shared, machine_arguments};
use crate::memory::{Memory, MemoryPlacement, Overlap, place};
use crate::params::{ParamClass, Parameter};
use crate::scalar;
use crate::watch::{limits, watched};

/// A parsed PTX text, with the state that its kernels share.
pub(crate) struct PtxText {
    pub file: String,
    pub text: String,
    pub read: ParsedFile,
    /// Contents of the module-scope variables, which persist between launches.
    pub globals: Globals,
}

/// A kernel of a PTX text.
pub(crate) struct PtxKernel {
    pub text: Arc<PtxText>,
    number: usize,
    kernel: machine::Kernel,
    /// Cached imports of the kernel with their compiled programs.
    imports: Mutex<Vec<(Import, Arc<Imported>)>>,
}

/// Key of a cached import: the target (`None` for the evaluator), the launch shape, and `true` if arguments overlap.
type Import = (Option<Target>, Shape, bool);

struct Imported {
    module: Module,
    parts: Vec<ParameterRange>,
    program: Option<runtime::Program>,
}

/// A parameter of a PTX kernel. A pointer parameter has no element type, so an array may have any dtype.
#[derive(Clone, Debug)]
pub(crate) struct PtxParam {
    /// Declared PTX type of the parameter, such as `u32`.
    pub declared: String,
    pub bytes: u32,
    pub holds: ParamContents,
    /// The kind of the parameter that was inferred from its uses, or `None` if it could not be inferred.
    pub used: Option<ParamKind>,
}

/// The kind of data that a PTX parameter holds, according to its declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ParamContents {
    Integer,
    Float,
    /// The bytes of a structure or an array.
    Bytes,
}

/// Size in bytes of an address in PTX.
const ADDRESS: u32 = 8;

/// Maximum number of cached imports of a kernel. Beyond this number the oldest import is evicted.
const MOST_IMPORTS: usize = 16;

impl PtxText {
    /// Parses a PTX text. The result contains the errors of single kernels.
    pub(crate) fn read(file: &str, text: &str) -> Result<PtxText, Report> {
        let read = import_ptx::read_each(file, text)?;
        let (file, text, globals) = (file.to_owned(), text.to_owned(), Globals::default());
        Ok(PtxText { file, text, read, globals })
    }

    /// Creates the report for an unsupported kernel.
    pub(crate) fn report(&self, refused: &RejectedKernel) -> Report {
        let lines = Lines::new(&self.text);
        let wrong = |error: &Error| Diagnostic::new(span_of(&lines, error.at), error.kind.to_string());
        Report::new(&*self.file, &*self.text, refused.errors.iter().map(wrong).collect::<Vec<_>>())
    }

    /// Creates the report for a text without kernels.
    pub(crate) fn without_kernel(&self) -> Report {
        let wrong = Diagnostic::new(Span::default(), "the text has no kernels").expected("`.entry`");
        Report::new(&*self.file, &*self.text, vec![wrong])
    }
}

impl PtxKernel {
    /// Creates kernel `number` of a text.
    pub(crate) fn new(text: &Arc<PtxText>, number: usize) -> Result<PtxKernel, String> {
        let name = text.read.module.entries.get(number).map_or("", |entry| entry.name.as_str());
        let kernel = machine::Kernel::load_with(&text.read, name, text.file.as_str(), &text.globals)
            .map_err(|error| error.to_string())?;
        Ok(PtxKernel { text: text.clone(), number, kernel, imports: Mutex::default() })
    }

    /// Returns the name and parameters of the kernel, with the inferred kinds of the parameters.
    pub(crate) fn signature(&self, py: Python<'_>) -> Signature {
        let entry = self.kernel.entry();
        let (params, parts) = match signature(&self.text.text, &self.text.read, &entry.name) {
            Ok(known) => (given(&known.kernel), known.parts),
            // Direct execution does not need the inferred kinds of parameters.
            Err(_) => (Vec::new(), Vec::new()),
        };
        let used = |number: usize, declared: &Declared| {
            let is_whole =
                |part: &ParameterRange| part.param as usize == number && u64::from(part.bytes) == declared.bytes();
            let found = parts.iter().position(is_whole)?;
            params.get(found).map(|param| param.kind)
        };
        let param = |(number, declared): (usize, &Declared)| {
            let name = declared.ty.name();
            let holds = match declared.count {
                Some(_) => ParamContents::Bytes,
                None if name.starts_with('f') => ParamContents::Float,
                None => ParamContents::Integer,
            };
            let shown = match declared.count {
                Some(count) => format!("{name}[{count}]"),
                None => name.to_owned(),
            };
            let (bytes, used) = (declared.bytes() as u32, used(number, declared));
            Parameter::of(py, &declared.name, ParamClass::Ptx(PtxParam { declared: shown, bytes, holds, used }))
        };
        Signature::new(entry.name.clone(), entry.params.iter().enumerate().map(param).collect())
    }

    /// Imports the kernel into the IR. The result is valid for all launches.
    pub(crate) fn imported(&self, py: Python<'_>) -> PyResult<Module> {
        let PtxText { file, text, read, .. } = &*self.text;
        let made =
            watched(py, limits(None)?, false, |_| import_one(file, text, read, self.number, Options::default()))?;
        made.map(|(module, _)| module).map_err(|report| error::of_report(py, &report))
    }

    /// Launches the kernel, by direct execution or after import.
    pub(crate) fn call(
        &self,
        py: Python<'_>,
        signature: &Signature,
        given: &BoundArguments<'_>,
        launch: &Launch,
        (on, races): (Option<Platform>, RaceCheck),
    ) -> PyResult<()> {
        if launch.is_items {
            return Err(PyTypeError::new_err(
                "a PTX kernel needs a number of blocks and of threads per block; give grid= and block=",
            ));
        }
        let on = match on {
            Some(Platform::Ir) => None,
            Some(Platform::Target(target)) if target.sm().is_none() => Some(target),
            None | Some(Platform::Target(_)) => return self.run(py, signature, given, launch, races),
        };
        self.run_imported(py, signature, given, launch, (on, races))
    }

    /// Launches the kernel by direct execution.
    pub(crate) fn run(
        &self,
        py: Python<'_>,
        signature: &Signature,
        given: &BoundArguments<'_>,
        launch: &Launch,
        races: RaceCheck,
    ) -> PyResult<()> {
        let engine = launch.engine();
        let places = place(&given.memory(), |_| false).map_err(|_| error::defect("PTX lets all arguments overlap"))?;
        let bytes = bytes_of(signature, &given.values);
        // SAFETY: `given` outlives the launch, and `places` belong to it.
        let mut args = unsafe { machine_arguments(&bytes, &places) };
        let print = |text: &str| write(text);
        let same_value = Mutex::new(Vec::new());
        let warn = |race: &Trap| same_value.lock().unwrap_or_else(PoisonError::into_inner).push(race.clone());
        let ran = watched(py, launch.limits.clone(), is_shared(engine), |watchdog| {
            let (budget, watchdog, print) = (launch.budget, Some(watchdog), Some(machine::Print(&print)));
            let order = machine::Launch::new(launch.shape, &mut args);
            let (cooperative, warn) = (launch.cooperative, Some(machine::Warn(&warn)));
            self.kernel.launch(machine::Launch { engine, budget, watchdog, races, warn, cooperative, print, ..order })
        })?;
        let describer = given.describer(signature);
        let launched = self.launched(format!("ptx ({engine})"), launch, signature, &describer);
        ran.map_err(|error| launched.error(py, &error))?;
        let same_value = same_value.into_inner().unwrap_or_else(PoisonError::into_inner);
        same_value.iter().try_for_each(|race| launched.warn_of_trap(py, race))
    }

    fn launched<'a>(
        &'a self,
        on: String,
        launch: &Launch,
        signature: &'a Signature,
        given: &'a dyn Fn(usize, &str) -> Option<String>,
    ) -> Launched<'a> {
        let PtxText { file, text, read, .. } = &*self.text;
        Launched { file, text, on, shape: launch.shape, read: Some(read), signature: Some(signature), given }
    }

    /// Returns the import of the kernel for a launch, with a compiled program if a target is given.
    fn import(&self, import: Import, watchdog: &halfbyte::abi::Watchdog) -> Result<Arc<Imported>, ImportError> {
        let imports = || self.imports.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, imported)) = imports().iter().find(|(of, _)| *of == import) {
            return Ok(imported.clone());
        }
        let PtxText { file, text, read, .. } = &*self.text;
        let (target, shape, may_alias) = import;
        let known = import_ptx::Shape { grid: Some(shape.grid), block: Some(shape.block) };
        let options = Options { shape: known, may_alias, ..Options::default() };
        let (module, parts) = import_one(file, text, read, self.number, options).map_err(ImportError::Report)?;
        let compiled = target.map(|target| {
            let (watchdog, several_axes) = (Some(watchdog.clone()), !shape.is_along_x());
            let options = pipeline::Options { watchdog, several_axes, ..pipeline::Options::new(target) };
            compile(&module, 0, &options)
        });
        let program = match compiled.transpose() {
            Ok(program) => program,
            Err(failed) => return Err(ImportError::Failed(failed, Box::new(module))),
        };
        let imported = Arc::new(Imported { module, parts, program });
        let mut kept = imports();
        if kept.len() == MOST_IMPORTS {
            kept.remove(0);
        }
        kept.push((import, imported.clone()));
        Ok(imported)
    }

    fn run_imported(
        &self,
        py: Python<'_>,
        signature: &Signature,
        given: &BoundArguments<'_>,
        launch: &Launch,
        (target, races): (Option<Target>, RaceCheck),
    ) -> PyResult<()> {
        if self.text.globals.are_written(&self.text.read) {
            return Err(PyValueError::new_err(
                "the variables of the text were written, but an import has their initial contents; omit target to \
                 execute the PTX directly",
            ));
        }
        // The closure returns `true` for every parameter, so `place` fails for any overlap with written memory.
        let may_alias = place(&given.memory(), |_| true).is_err();
        let shape = Shape { shared: 0, ..launch.shape };
        let imported =
            watched(py, launch.limits.clone(), false, |watchdog| self.import((target, shape, may_alias), watchdog))?;
        let imported = imported.map_err(|failed| match failed {
            ImportError::Report(report) => error::of_report(py, &report),
            ImportError::Failed(failed, module) => match module.ir().kernels.first() {
                Some(kernel) => failed.raise(py, &module, kernel, launch, &error::nothing_given),
                None => error::defect("the import has no kernel"),
            },
        })?;
        let Some(kernel) = imported.module.ir().kernels.first() else {
            return Err(error::defect("the import has no kernel"));
        };
        let bytes = bytes_of(signature, &given.values);
        let whole = given.memory();
        let memory: SmallVec<[Option<Memory>; 8]> = (imported.parts.iter())
            .map(|part| if part.is_buffer { whole.get(part.param as usize).copied().flatten() } else { None })
            .collect();
        let params = kernel.given_params();
        let is_unique = |number: usize| params.get(number).is_some_and(|param| param.kind.is_unique());
        let places = place(&memory, is_unique).map_err(|Overlap { unique, other }| {
            let name = |number: usize| params.get(number).map_or("", |param| param.name.as_str());
            PyValueError::new_err(format!("arguments `{}` and `{}` overlap", name(unique), name(other)))
        })?;
        let value = |part: &ParameterRange| {
            let bytes = bytes.get(part.param as usize).map_or(&[][..], Vec::as_slice);
            let range = part.offset as usize..(part.offset + part.bytes) as usize;
            let bytes = bytes.get(range).unwrap_or_default();
            Value::Bits(bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte)))
        };
        let values: SmallVec<[Value; 8]> = (imported.parts.iter().zip(&memory))
            .map(|(part, memory)| match memory {
                Some(memory) => Value::Memory(*memory),
                None if part.is_buffer => Value::Memory(Memory::none()),
                None => value(part),
            })
            .collect();
        let places = places.iter().zip(&values).map(|(place, value)| match (place, value) {
            // A null pointer becomes a buffer of zero bytes.
            (None, Value::Memory(memory)) => Some(MemoryPlacement::Own(*memory)),
            (place, _) => *place,
        });
        let places = places.collect();
        // SAFETY: `given` outlives the launch, and `places` belong to it.
        let mut args = unsafe { arguments(&values, &places) };
        let run = Run::new(kernel, launch, races);
        let engine = target.map(|target| launch.engine_for(target));
        let ran = watched(py, launch.limits.clone(), engine.is_some_and(is_shared), |watchdog| {
            match (engine, imported.program.as_ref().and_then(|program| program.kernels().first())) {
                (Some(engine), Some(words)) => run.execute(words, engine, args, watchdog),
                _ => run.evaluate(&mut args, watchdog),
            }
        })?;
        ran.map_err(|failed| match failed {
            LaunchFailure::Launch(wrong, on) => {
                self.launched(on, launch, signature, &error::nothing_given).error(py, &wrong)
            }
            LaunchFailure::Fault(fault) => {
                self.launched("ir".to_owned(), launch, signature, &error::nothing_given).fault(py, &fault, kernel)
            }
            failed => failed.raise(py, &imported.module, kernel, launch, &error::nothing_given),
        })?;
        run.warn(py, &self.launched("ir".to_owned(), launch, signature, &error::nothing_given))
    }
}

enum ImportError {
    Report(Report),
    Failed(LaunchFailure, Box<Module>),
}

/// Writes the output of `vprintf` in a kernel to Python's standard output.
pub(crate) fn write(text: &str) {
    let _ = Python::try_attach(|py| -> PyResult<()> {
        py.import("sys")?.getattr("stdout")?.call_method1("write", (text,))?;
        Ok(())
    });
}

/// Returns the bytes of each scalar or structure parameter; a buffer parameter has no bytes.
fn bytes_of(signature: &Signature, values: &SmallVec<[Value; 8]>) -> Vec<Vec<u8>> {
    let bytes = |(param, value): (&Parameter, &Value)| match (value, &param.kind) {
        (Value::Bits(bits), ParamClass::Ptx(param)) => {
            bits.to_le_bytes().get(..param.bytes as usize).unwrap_or_default().to_vec()
        }
        (Value::Bytes(bytes), _) => bytes.clone(),
        _ => Vec::new(),
    };
    signature.params.iter().zip(values).map(bytes).collect()
}

impl PtxParam {
    /// Converts an argument: an array to memory, and a number to a value.
    pub(crate) fn take<'py>(
        &self,
        given: &mut BoundArguments<'py>,
        object: &Bound<'py, PyAny>,
        what: &dyn Fn() -> String,
    ) -> PyResult<(Value, Option<Array<'py>>)> {
        let is_plain = object.is_exact_instance_of::<PyInt>() || object.is_exact_instance_of::<PyFloat>();
        let is_bytes = self.holds == ParamContents::Bytes && object.is_instance_of::<PyBytes>();
        let array = if is_plain || is_bytes { None } else { given.array(object)? };
        match array {
            Some(array) if self.holds == ParamContents::Bytes && array.byte_count() == self.bytes as usize => {
                Ok((Value::Bytes(array.contents(what)?), None))
            }
            Some(array) if !array.is_number() => {
                if self.bytes != ADDRESS {
                    let wrong = format!("{}; a {} was given", what(), array.named());
                    return Err(PyTypeError::new_err(wrong));
                }
                let memory = array.memory(array.is_writable(), what)?;
                Ok((Value::Memory(memory), Some(array)))
            }
            // A NumPy float for an untyped parameter of the same size is passed as its bits.
            Some(array) if self.is_bits_of(&array) => Ok((Value::Bits(array.bits()), None)),
            _ => Ok((self.value(object, what)?, None)),
        }
    }

    /// Returns `true` if an argument is a NumPy scalar other than an integer, and the parameter has an integer or
    /// untyped type of the same size.
    fn is_bits_of(&self, array: &Array<'_>) -> bool {
        let (kind, bytes) = array.dtype();
        self.holds == ParamContents::Integer && !b"iub".contains(&kind) && bytes == self.bytes as usize
    }

    fn value(&self, object: &Bound<'_, PyAny>, what: &dyn Fn() -> String) -> PyResult<Value> {
        match (self.holds, self.bytes) {
            (ParamContents::Integer, bytes) => Ok(Value::Bits(scalar::integer(object, bytes * 8, what)?)),
            (ParamContents::Float, bytes) => Ok(Value::Bits(scalar::float(object, bytes, what)?)),
            (ParamContents::Bytes, bytes) => Ok(Value::Bytes(structure(object, bytes, what)?)),
        }
    }
}

/// Returns the bytes of an argument for a structure parameter of `bytes` bytes.
fn structure(object: &Bound<'_, PyAny>, bytes: u32, what: &dyn Fn() -> String) -> PyResult<Vec<u8>> {
    let Ok(found) = object.cast::<PyBytes>() else {
        return Err(PyTypeError::new_err(format!("{}; {} was given", what(), scalar::described(object))));
    };
    let found = found.as_bytes();
    if found.len() != bytes as usize {
        return Err(PyValueError::new_err(format!("{}; {} bytes were given", what(), found.len())));
    }
    Ok(found.to_vec())
}
