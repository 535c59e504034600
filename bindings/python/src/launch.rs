//! How a launch is made: its shape, its engine and its limits, as keywords of a call say them.

use std::num::NonZero;

use halfbyte::abi::{DEFAULT_BUDGET, Limits, Watchdog};
use halfbyte::launch::Engine;
use halfbyte::runtime::ptx as machine;
use halfbyte::runtime::{self, Arg};
use halfbyte::target::On;
use halfbyte::{Shape, TARGETS, Target};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use smallvec::SmallVec;

use crate::bind::{Given, Signature, Value};
use crate::keyword::{self, count};
use crate::memory::{Overlap, Placed, place};
use crate::params::Kind;
use crate::watch::limits;

/// The keywords of a call that are no parameters'.
#[derive(Debug)]
pub(crate) struct Launch {
    pub shape: Shape,
    /// Whether it was said as a number of items.
    pub is_items: bool,
    pub items: u32,
    pub engine: Option<EngineName>,
    pub threads: Option<NonZero<u16>>,
    pub budget: u64,
    pub limits: Limits,
}

/// An engine that was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EngineName {
    Interp,
    Jit,
    Cuda,
}

/// The same, as they come.
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
    /// The launch that they ask for.
    ///
    /// # Errors
    /// What is none.
    pub fn launch(&self) -> PyResult<Launch> {
        let shape = match (self.items, self.grid, self.block) {
            (Some(items), None, None) => Shape::from(count(items, "items")?),
            (None, Some(grid), Some(block)) => Shape::from((counts(grid, "grid")?, counts(block, "block")?)),
            (Some(_), ..) => {
                return Err(PyTypeError::new_err("items stands in place of grid and block, not beside them"));
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
        Ok(Launch { shape, is_items, items, engine, threads, budget, limits })
    }
}

/// The engine that is asked for, and on how many threads.
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
                Err(PyValueError::new_err(format!("there is no engine {name:?}; give \"interp\", \"jit\" or \"cuda\"")))
            }
        }
    }
}

impl Launch {
    /// The engine that is asked for, else native code.
    pub fn engine(&self) -> Engine {
        match self.engine {
            Some(EngineName::Interp) => Engine::Interp,
            Some(EngineName::Cuda) => Engine::Cuda,
            None | Some(EngineName::Jit) => Engine::Jit { threads: self.threads.unwrap_or(NonZero::<u16>::MIN) },
        }
    }

    /// The engine that runs words for a target: the one asked for, else native code where the target has it.
    pub fn engine_for(&self, target: Target) -> Engine {
        let engine = self.engine();
        if self.engine.is_none() && !TARGETS.runs(engine, target) { Engine::Interp } else { engine }
    }
}

/// Whether an engine has several threads at work.
pub(crate) fn is_shared(engine: Engine) -> bool {
    matches!(engine, Engine::Jit { threads } if threads.get() > 1)
}

/// What a kernel is to run on, by name.
pub(crate) fn target(name: &str, sm: Option<&Bound<'_, PyAny>>) -> PyResult<On> {
    let unknown = || PyValueError::new_err(format!("there is no target {name:?}; give one of {}", On::names()));
    let on = On::from_name(name).ok_or_else(unknown)?;
    let Some(sm) = sm else { return Ok(on) };
    let sm = keyword::sm(sm)?;
    let without = || PyValueError::new_err(format!("sm says which GPU PTX is for; target {name:?} has none"));
    match on {
        On::Words(target) => TARGETS.for_sm(target, sm).map(On::Words).ok_or_else(without),
        On::Ir => Err(without()),
    }
}

/// The same of a machine with code.
pub(crate) fn machine(name: &str, sm: Option<&Bound<'_, PyAny>>) -> PyResult<Target> {
    match target(name, sm)? {
        On::Words(target) => Ok(target),
        On::Ir => Err(PyValueError::new_err("target \"ir\" is the evaluator, which nothing is compiled for")),
    }
}

fn threads(value: &Bound<'_, PyAny>) -> PyResult<NonZero<u16>> {
    let found = keyword::integer(value, "threads", 1, u16::MAX.into())?;
    Ok(u16::try_from(found).ok().and_then(NonZero::new).unwrap_or(NonZero::<u16>::MAX))
}

/// Counts along x, y and z; a number alone is along x.
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

/// The places of the memory of arguments.
///
/// # Errors
/// Arguments that overlap where the parameter of one does not allow it.
pub(crate) fn placed(signature: &Signature, given: &Given<'_>) -> PyResult<SmallVec<[Option<Placed>; 8]>> {
    let is_unique = |number: usize| {
        signature.params.get(number).is_some_and(|param| match param.kind {
            Kind::Declared(kind) => kind.is_unique(),
            Kind::Ptx(_) => false,
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

/// The arguments of a launch of words or of the evaluator.
///
/// # Safety
/// Python keeps the arrays of `given` until the arguments are dropped. `places` are those of `given`, so that no two slices overlap of which
/// one is written. Other threads of Python may write them meanwhile, as with any work that NumPy does without the GIL.
pub(crate) unsafe fn arguments<'a>(
    values: &SmallVec<[Value; 8]>,
    places: &SmallVec<[Option<Placed>; 8]>,
) -> Vec<Arg<'a>> {
    let argument = |(value, place): (&Value, &Option<Placed>)| match (value, *place) {
        (_, Some(Placed::In { of, offset })) => Arg::Alias { of, offset },
        // SAFETY: the caller's.
        (_, Some(Placed::Own(memory))) if memory.written => Arg::Buffer(unsafe { memory.write() }),
        // SAFETY: the caller's.
        (_, Some(Placed::Own(memory))) => Arg::In(unsafe { memory.read() }),
        (Value::Bits(bits), None) => Arg::Scalar(*bits),
        (Value::Bytes(_) | Value::Memory(_), None) => Arg::Scalar(0),
    };
    values.iter().zip(places).map(argument).collect()
}

/// The arguments of a launch of PTX as it stands.
///
/// # Safety
/// As of [`arguments`].
pub(crate) unsafe fn machine_arguments<'a>(
    bytes: &'a [Vec<u8>],
    places: &SmallVec<[Option<Placed>; 8]>,
) -> Vec<machine::Arg<'a>> {
    let null: &'static [u8] = &[0; 8];
    let argument = |(bytes, place): (&'a Vec<u8>, &Option<Placed>)| match *place {
        Some(Placed::In { of, offset }) => machine::Arg::Alias { of, offset },
        // What has no bytes is null.
        Some(Placed::Own(memory)) if memory.is_null() => machine::Arg::Value(null),
        // SAFETY: the caller's.
        Some(Placed::Own(memory)) if memory.written => machine::Arg::Buffer(unsafe { memory.write() }),
        // SAFETY: the caller's.
        Some(Placed::Own(memory)) => machine::Arg::In(unsafe { memory.read() }),
        None => machine::Arg::Value(bytes),
    };
    bytes.iter().zip(places).map(argument).collect()
}

/// Runs a kernel's words.
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
