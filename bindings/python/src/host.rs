//! PTX kernels on the memory of the process: their pointers are addresses, as a framework passes them to a GPU.

use std::sync::{Mutex, PoisonError};

use halfbyte::import_ptx::{Globals, load_of};
use halfbyte::isa::ptx::resources::Resources;
use halfbyte::isa::ptx::text::Approximation;
use halfbyte::runtime::Trap;
use halfbyte::runtime::ptx::{Allocation, HostLaunch, HostMemory, Kernel, Print, Warn};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{self, Launched};
use crate::keyword::Races;
use crate::launch::{Keywords, Launch, is_shared};
use crate::ptx::{PtxText, write};
use crate::watch::{limits, watched};

/// PTX kernel whose pointers are addresses in this process. Its variables, and the memory that it allocates with
/// ``malloc``, live as long as this object.
#[pyclass(frozen, module = "halfbyte")]
pub(crate) struct HostKernel {
    text: PtxText,
    kernel: Kernel,
    resources: Resources,
    /// Size of each parameter in bytes.
    params: Vec<usize>,
}

/// Ranges of addresses that a launch may access, in ascending order of their starts.
struct Ranges(Vec<Allocation>);

#[pymethods]
impl HostKernel {
    /// Loads the kernel ``entry`` of a PTX text. ``file`` is the name of the text in messages.
    #[new]
    #[pyo3(signature = (text, entry, file="<ptx>"))]
    fn new(py: Python<'_>, text: &str, entry: &str, file: &str) -> PyResult<HostKernel> {
        let read = watched(py, limits(None)?, false, |_| PtxText::read(file, text))?;
        let text = read.map_err(|report| error::of_report(py, &report))?;
        let globals = Globals::on_host(&text.read);
        let kernel = load_of(&text.file, &text.text, &text.read, Some(entry), &globals)
            .map_err(|report| error::of_report(py, &report))?;
        let resources = kernel.entry().resources();
        let params = kernel.entry().params.iter().map(|param| param.bytes() as usize).collect();
        Ok(HostKernel { text, kernel, resources, params })
    }

    /// Name of the kernel.
    #[getter]
    fn name(&self) -> &str {
        &self.kernel.entry().name
    }

    /// Size of each parameter in bytes.
    #[getter]
    fn params(&self) -> Vec<usize> {
        self.params.clone()
    }

    /// Static shared memory of a block in bytes.
    #[getter]
    fn shared(&self) -> u64 {
        self.resources.shared
    }

    /// Estimated number of 32-bit registers of a thread.
    #[getter]
    fn registers(&self) -> u32 {
        self.resources.registers
    }

    /// Instructions that a GPU approximates, each with the file and the line of its source.
    #[getter]
    fn approximations(&self) -> Vec<(String, String, u32)> {
        let PtxText { file, read, .. } = &self.text;
        let located = |of: Approximation| {
            let origin = read.source_of(of.at);
            let source = origin.as_ref().and_then(|origin| origin.0.first());
            let (file, line) = source.map_or((file.as_str(), of.at.line), |&(file, loc)| (file, loc.line));
            (of.instruction, file.to_owned(), line)
        };
        read.approximations(self.name()).into_iter().map(located).collect()
    }

    /// Launches the kernel. ``args`` has the bits of each parameter as an integer, or its bytes. The kernel may access
    /// the addresses in ``memory``, pairs of an address and a size in bytes. ``find`` is called for an address outside
    /// ``memory``, and returns the pair of the allocation that has it, or ``None``.
    ///
    /// Until the launch ends, the memory must stay valid.
    #[pyo3(
        signature = (args, grid, block, *, shared=None, memory=Vec::new(), find=None, races=Races::OFF, cooperative=false, engine=None, threads=None, budget=None, timeout=None),
        text_signature = "($self, args, grid, block, *, shared=None, memory=(), find=None, races=False, cooperative=False, engine=None, threads=None, budget=None, timeout=None)"
    )]
    #[allow(clippy::too_many_arguments)]
    fn launch(
        &self,
        py: Python<'_>,
        args: Vec<Bound<'_, PyAny>>,
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        shared: Option<&Bound<'_, PyAny>>,
        memory: Vec<(u64, u64)>,
        find: Option<Py<PyAny>>,
        races: Races,
        cooperative: bool,
        engine: Option<&str>,
        threads: Option<&Bound<'_, PyAny>>,
        budget: Option<&Bound<'_, PyAny>>,
        timeout: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (grid, block) = (Some(grid), Some(block));
        let launch = Keywords { items: None, grid, block, shared, engine, threads, budget, timeout }.launch()?;
        let args = self.arguments(&args)?;
        let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        let ranges = Ranges::new(memory);
        let raised = Mutex::new(None);
        let ask = |address: u64| {
            let asked =
                |py: Python<'_>| find.as_ref()?.call1(py, (address,)).and_then(|found| found.extract(py)).transpose();
            match Python::attach(asked) {
                Some(Ok((start, bytes))) => Some(Allocation::new(start, bytes)),
                Some(Err(error)) => {
                    raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    None
                }
                None => None,
            }
        };
        let around = |address| ranges.around(address).or_else(|| ask(address));
        let memory = HostMemory::bounded(&around);
        let same_value = Mutex::new(Vec::new());
        let warn = |race: &Trap| same_value.lock().unwrap_or_else(PoisonError::into_inner).push(race.clone());
        let print = |text: &str| write(text);
        let engine = launch.engine();
        let ran = watched(py, launch.limits.clone(), is_shared(engine), |watchdog| {
            let order = HostLaunch {
                budget: launch.budget,
                engine,
                watchdog: Some(watchdog),
                races: races.0,
                warn: Some(Warn(&warn)),
                cooperative,
                print: Some(Print(&print)),
                ..HostLaunch::new(launch.shape, &args, &memory)
            };
            // SAFETY: the caller keeps the memory valid until the launch ends. Other Python threads may access it
            // meanwhile, as with any NumPy operation without the GIL.
            unsafe { self.kernel.launch_on_host(order) }
        })?;
        if let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let launched = self.launched(format!("ptx ({engine})"), &launch);
        ran.map_err(|error| launched.error(py, &error))?;
        let same_value = same_value.into_inner().unwrap_or_else(PoisonError::into_inner);
        same_value.iter().try_for_each(|race| launched.warn_of_trap(py, race))
    }
}

impl HostKernel {
    /// Returns the bytes of each argument.
    fn arguments(&self, args: &[Bound<'_, PyAny>]) -> PyResult<Vec<Vec<u8>>> {
        let name = self.name();
        if args.len() != self.params.len() {
            let (needs, given) = (self.params.len(), args.len());
            return Err(PyTypeError::new_err(format!("@{name} has {needs} parameters; {given} arguments were given")));
        }
        let argument = |(number, (given, &bytes)): (usize, (&Bound<'_, PyAny>, &usize))| {
            let does_not_fit =
                || PyValueError::new_err(format!("argument {number} of @{name} does not fit {bytes} bytes"));
            let contents = match given.cast::<PyBytes>() {
                Ok(contents) => contents.as_bytes().to_vec(),
                Err(_) => {
                    let all = given.extract::<u64>()?.to_le_bytes();
                    let (low, high) = all.split_at_checked(bytes).unwrap_or((&all, &[]));
                    if high.iter().any(|&byte| byte != 0) {
                        return Err(does_not_fit());
                    }
                    low.to_vec()
                }
            };
            if contents.len() == bytes { Ok(contents) } else { Err(does_not_fit()) }
        };
        args.iter().zip(&self.params).enumerate().map(argument).collect()
    }

    fn launched<'a>(&'a self, on: String, launch: &Launch) -> Launched<'a> {
        let PtxText { file, text, read, .. } = &self.text;
        let given = &error::nothing_given;
        Launched { file, text, on, shape: launch.shape, read: Some(read), signature: None, given }
    }
}

impl Ranges {
    fn new(memory: Vec<(u64, u64)>) -> Ranges {
        let mut ranges: Vec<Allocation> =
            memory.into_iter().map(|(start, bytes)| Allocation::new(start, bytes)).collect();
        ranges.sort_by_key(|range| range.start);
        Ranges(ranges)
    }

    /// Returns the range that contains an address. If several ranges contain it, returns the one
    /// that ends last.
    fn around(&self, address: u64) -> Option<Allocation> {
        let before = self.0.partition_point(|range| range.start <= address);
        let has_it = |range: &&Allocation| address - range.start < range.bytes;
        let found = self.0.get(..before)?.iter().filter(has_it);
        found.max_by_key(|range| range.start.saturating_add(range.bytes)).copied()
    }
}
