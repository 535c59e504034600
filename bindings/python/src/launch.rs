//! Options of a launch: shape, engine and limits, from the keyword arguments of a call.

use std::num::NonZero;

use halfbyte::abi::{DEFAULT_BUDGET, Limits, Watchdog};
use halfbyte::launch::Engine;
use halfbyte::runtime::ptx as machine;
use halfbyte::runtime::{self, Arg};
use halfbyte::target::Platform;
use halfbyte::{Shape, TARGETS, Target};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use smallvec::SmallVec;

use crate::bind::{BoundArguments, Signature, Value};
use crate::keyword::{self, count};
use crate::memory::{MemoryPlacement, Overlap, place};
use crate::params::ParamClass;
use crate::watch::limits;

/// Options of a launch.
#[derive(Debug)]
pub(crate) struct Launch {
    pub shape: Shape,
    /// `true` if the call gives the shape as a number of work items.
    pub is_items: bool,
    pub items: u32,
    pub engine: Option<EngineName>,
    pub threads: Option<NonZero<u16>>,
    pub budget: u64,
    pub limits: Limits,
    /// `true` for a cooperative launch of PTX.
    pub cooperative: bool,
}

/// The engine that a call names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EngineName {
    Interp,
    Jit,
    Cuda,
}

/// Keyword arguments of a launch as Python objects.
pub(crate) struct Keywords<'a, 'py> {
    pub items: Option<&'a Bound<'py, PyAny>>,
    pub grid: Option<&'a Bound<'py, PyAny>>,
    pub block: Option<&'a Bound<'py, PyAny>>,
    pub shared: Option<&'a Bound<'py, PyAny>>,
    pub engine: Option<&'a str>,
    pub threads: Option<&'a Bound<'py, PyAny>>,
    pub budget: Option<&'a Bound<'py, PyAny>>,
    pub timeout: Option<&'a Bound<'py, PyAny>>,
}

impl Keywords<'_, '_> {
    /// Converts the keyword arguments to launch options.
    ///
    /// # Errors
    /// Fails if a keyword argument is invalid.
    pub(crate) fn launch(&self) -> PyResult<Launch> {
        let shape = match (self.items, self.grid, self.block) {
            (Some(items), None, None) => Shape::from(count(items, "items")?),
            (None, Some(grid), Some(block)) => Shape::from((counts(grid, "grid")?, counts(block, "block")?)),
            (Some(_), ..) => {
                return Err(PyTypeError::new_err("items cannot be combined with grid and block"));
            }
            (None, ..) => return Err(PyTypeError::new_err("give items=N, or grid= and block=")),
        };
        let shared = self.shared.map(|bytes| count(bytes, "shared")).transpose()?.unwrap_or_default();
        let shape = Shape { shared, ..shape };
        let items = shape.items().map_err(|error| PyValueError::new_err(error.to_string()))?;
        if self.grid.is_some() && shape.block.contains(&0) {
            return Err(PyValueError::new_err("a block has at least one item along each axis"));
        }
        let (engine, threads) = engine(self.engine, self.threads)?;
        let budget = self.budget.map(|budget| keyword::integer(budget, "budget", 0, u64::MAX)).transpose()?;
        let budget = budget.unwrap_or(DEFAULT_BUDGET);
        let (is_items, limits) = (self.items.is_some(), limits(self.timeout)?);
        Ok(Launch { shape, is_items, items, engine, threads, budget, limits, cooperative: false })
    }
}

/// Converts the keyword arguments `engine` and `threads`. Returns the engine and the number of threads.
pub(crate) fn engine(
    name: Option<&str>,
    count: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Option<EngineName>, Option<NonZero<u16>>)> {
    Ok((name.map(EngineName::of).transpose()?, count.map(threads).transpose()?))
}

impl EngineName {
    fn of(name: &str) -> PyResult<EngineName> {
        match name {
            "interp" => Ok(EngineName::Interp),
            "jit" => Ok(EngineName::Jit),
            "cuda" => Ok(EngineName::Cuda),
            _ => {
                Err(PyValueError::new_err(format!("unknown engine {name:?}; expected \"interp\", \"jit\" or \"cuda\"")))
            }
        }
    }
}

impl Launch {
    /// Returns the engine that the call names, or native code if the call names none.
    pub(crate) fn engine(&self) -> Engine {
        match self.engine {
            Some(EngineName::Interp) => Engine::Interp,
            Some(EngineName::Cuda) => Engine::Cuda,
            None | Some(EngineName::Jit) => Engine::Jit { threads: self.threads.unwrap_or(NonZero::<u16>::MIN) },
        }
    }

    /// Returns the engine that the call names. If the call names no engine, returns native code if
    /// the target supports it, otherwise the interpreter.
    pub(crate) fn engine_for(&self, target: Target) -> Engine {
        let engine = self.engine();
        if self.engine.is_none() && !TARGETS.runs(engine, target) { Engine::Interp } else { engine }
    }
}

/// Returns `true` if the engine runs a launch on several threads.
pub(crate) fn is_shared(engine: Engine) -> bool {
    matches!(engine, Engine::Jit { threads } if threads.get() > 1)
}

/// Converts the keyword argument `target` to a platform: a target or the evaluator.
pub(crate) fn target(name: &str, sm: Option<&Bound<'_, PyAny>>) -> PyResult<Platform> {
    let unknown = || PyValueError::new_err(format!("unknown target {name:?}; expected one of {}", Platform::names()));
    let on = Platform::from_name(name).ok_or_else(unknown)?;
    let Some(sm) = sm else { return Ok(on) };
    let sm = keyword::sm(sm)?;
    let without = || PyValueError::new_err(format!("sm is only valid for PTX, not for target {name:?}"));
    match on {
        Platform::Target(target) => TARGETS.for_sm(target, sm).map(Platform::Target).ok_or_else(without),
        Platform::Ir => Err(without()),
    }
}

/// Converts the keyword argument `target` to a target. The evaluator is rejected.
pub(crate) fn machine(name: &str, sm: Option<&Bound<'_, PyAny>>) -> PyResult<Target> {
    match target(name, sm)? {
        Platform::Target(target) => Ok(target),
        Platform::Ir => Err(PyValueError::new_err("cannot compile for target \"ir\", which is the evaluator")),
    }
}

fn threads(value: &Bound<'_, PyAny>) -> PyResult<NonZero<u16>> {
    let found = keyword::integer(value, "threads", 1, u16::MAX.into())?;
    Ok(u16::try_from(found).ok().and_then(NonZero::new).unwrap_or(NonZero::<u16>::MAX))
}

/// Converts a keyword argument with up to three counts along x, y and z. A single number is the count along x.
pub(crate) fn counts(value: &Bound<'_, PyAny>, name: &str) -> PyResult<[u32; 3]> {
    let given: Vec<Bound<'_, PyAny>> = match value.try_iter() {
        Ok(given) if !value.is_instance_of::<PyString>() => given.collect::<PyResult<_>>()?,
        _ => return Ok([count(value, name)?, 1, 1]),
    };
    let found = given.len();
    if !(1..=3).contains(&found) {
        return Err(PyValueError::new_err(format!("{name} has {found} numbers; give one to three, along x, y and z")));
    }
    let mut counts = [1; 3];
    for (slot, given) in counts.iter_mut().zip(&given) {
        *slot = count(given, name)?;
    }
    Ok(counts)
}

/// Determines for each argument the memory slice that it uses, as [`place`] does.
///
/// # Errors
/// Fails if arguments overlap although a parameter does not permit it.
pub(crate) fn placed(
    signature: &Signature,
    given: &BoundArguments<'_>,
) -> PyResult<SmallVec<[Option<MemoryPlacement>; 8]>> {
    let is_unique = |number: usize| {
        signature.params.get(number).is_some_and(|param| match param.kind {
            ParamClass::Declared(kind) => kind.is_unique(),
            ParamClass::Ptx(_) => false,
        })
    };
    place(&given.memory(), is_unique).map_err(|Overlap { unique, other }| {
        let name = |number: usize| signature.params.get(number).map_or("", |param| param.shown_name());
        let [first, second] = [unique.min(other), unique.max(other)].map(name);
        let (kernel, unique) = (signature.shown(), name(unique));
        PyValueError::new_err(format!(
            "arguments `{first}` and `{second}` of @{kernel} overlap, and the kernel writes `{unique}`, which does not say `may_alias`"
        ))
    })
}

/// Creates the arguments of a launch in machine code or on the evaluator.
///
/// # Safety
/// Python keeps the arrays of `given` alive until the arguments are dropped. `places` are those of
/// `given`, so that no written slice overlaps another slice. Other Python threads may write the
/// arrays meanwhile, as with any NumPy operation without the GIL.
pub(crate) unsafe fn arguments<'a>(
    values: &SmallVec<[Value; 8]>,
    places: &SmallVec<[Option<MemoryPlacement>; 8]>,
) -> Vec<Arg<'a>> {
    let argument = |(value, place): (&Value, &Option<MemoryPlacement>)| match (value, *place) {
        (_, Some(MemoryPlacement::In { of, offset })) => Arg::Alias { of, offset },
        // SAFETY: the caller upholds this function's contract.
        (_, Some(MemoryPlacement::Own(memory))) if memory.written => Arg::Buffer(unsafe { memory.write() }),
        // SAFETY: the caller upholds this function's contract.
        (_, Some(MemoryPlacement::Own(memory))) => Arg::In(unsafe { memory.read() }),
        (Value::Bits(bits), None) => Arg::Scalar(*bits),
        (Value::Bytes(_) | Value::Memory(_), None) => Arg::Scalar(0),
    };
    values.iter().zip(places).map(argument).collect()
}

/// Creates the arguments of a PTX kernel that is executed directly.
///
/// # Safety
/// As [`arguments`].
pub(crate) unsafe fn machine_arguments<'a>(
    bytes: &'a [Vec<u8>],
    places: &SmallVec<[Option<MemoryPlacement>; 8]>,
) -> Vec<machine::Arg<'a>> {
    let null: &'static [u8] = &[0; 8];
    let argument = |(bytes, place): (&'a Vec<u8>, &Option<MemoryPlacement>)| match *place {
        Some(MemoryPlacement::In { of, offset }) => machine::Arg::Alias { of, offset },
        // An empty array is passed as a null pointer.
        Some(MemoryPlacement::Own(memory)) if memory.is_null() => machine::Arg::Value(null),
        // SAFETY: the caller upholds this function's contract.
        Some(MemoryPlacement::Own(memory)) if memory.written => machine::Arg::Buffer(unsafe { memory.write() }),
        // SAFETY: the caller upholds this function's contract.
        Some(MemoryPlacement::Own(memory)) => machine::Arg::In(unsafe { memory.read() }),
        None => machine::Arg::Value(bytes),
    };
    bytes.iter().zip(places).map(argument).collect()
}

/// Launches a kernel in machine code.
pub(crate) fn run_words<'a>(
    kernel: &'a runtime::Kernel,
    launch: &Launch,
    engine: Engine,
    watchdog: &'a Watchdog,
    args: Vec<Arg<'a>>,
) -> Result<(), runtime::LaunchError> {
    let mut bound = kernel.bind(args)?;
    bound.engine(engine).budget(launch.budget).watchdog(watchdog);
    bound.run(launch.shape).map(|_| ())
}
