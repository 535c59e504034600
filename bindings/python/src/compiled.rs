//! Compiled kernels: their code, their statistics, and programs for repeated launches.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use halfbyte::abi::{KernelFormat, Limits, Watchdog};
use halfbyte::emit::{BlockStats, ptx_text};
use halfbyte::isa::row::InstClass;
use halfbyte::pipeline::{Options, compile_kernels, count_rules};
use halfbyte::runtime;
use halfbyte::{CompileError, Module, TARGETS, Target};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::bind::{BoundArguments, Signature};
use crate::error::{self, Launched};
use crate::kernel::{self, LaunchFailure};
use crate::launch::{EngineName, Keywords, Launch, arguments, is_shared, placed, run_words};
use crate::params::Param;
use crate::watch::{limits, watched};

/// Compiled kernel.
///
/// ``text`` is PTX or assembly. ``words`` is the machine code as bytes (for PTX, the text). ``listing`` shows the
/// instructions next to their source lines. ``stats`` has the counts of ops, words, registers and more that ``halfbyte
/// compile --stats`` prints. ``object`` is the object file.
#[pyclass(frozen, module = "halfbyte")]
pub(crate) struct Compiled {
    target: Target,
    text: String,
    listing: String,
    words: Vec<u8>,
    object: Vec<u8>,
    stats: Counts,
    origin: Arc<Origin>,
}

/// The source from which a kernel was compiled.
pub(crate) struct Origin {
    module: Arc<Module>,
    number: usize,
    options: Options,
    signature: Arc<Signature>,
}

struct Counts {
    ops: usize,
    lowered: usize,
    words: usize,
    compute: usize,
    registers: u32,
    spills: u32,
    local_bytes: u32,
    /// The number of bundles, and the lower bound of this number. `None` for targets without bundles.
    bundles: Option<(u64, u64)>,
    rules: Vec<(&'static str, usize)>,
}

impl Compiled {
    pub(crate) fn new(
        py: Python<'_>,
        module: Arc<Module>,
        number: usize,
        options: Options,
        signature: Arc<Signature>,
    ) -> PyResult<Compiled> {
        let origin = Arc::new(Origin { module, number, options, signature });
        let of = origin.clone();
        let made = watched(py, limits(None)?, false, move |watchdog| {
            let options = Options { watchdog: Some(watchdog.clone()), ..of.options.clone() };
            of.compile(options)
        })?;
        let made = made.map_err(|error| error::of_compile(py, &origin.module, error))?;
        let (text, listing, words, object, stats) = made;
        Ok(Compiled { target: origin.options.target, text, listing, words, object, stats, origin })
    }
}

type CompiledParts = (String, String, Vec<u8>, Vec<u8>, Counts);

impl Origin {
    fn compile(&self, options: Options) -> Result<CompiledParts, CompileError> {
        let (module, target) = (&*self.module, options.target);
        let kernels = module.ir().kernels.get(self.number..=self.number).unwrap_or_default();
        let compiled = compile_kernels(module, kernels, &options, &mut |_| {})?;
        let object = compiled.object(module.file(), &options)?;
        let (Some(code), Some(stats)) = (compiled.code.first(), compiled.stats.first()) else {
            return Err(CompileError::Refused(Vec::new()));
        };
        let text = match target.sm().filter(|_| target.form() == KernelFormat::Text) {
            Some(sm) => ptx_text(vec![code.clone()], sm, None),
            None => code.words.disassemble(),
        };
        let words = match target.form() {
            KernelFormat::Text => text.clone().into_bytes(),
            _ => {
                let bytes = code.words.word_bytes();
                code.words.iter().flat_map(|word| word.to_le_bytes().into_iter().take(bytes)).collect()
            }
        };
        let count = |of: fn(&BlockStats) -> u64| stats.blocks.iter().map(of).sum::<u64>();
        let bundles = (count(|of| of.bundles as u64), count(|of| of.bound as u64));
        let counts = Counts {
            ops: stats.ops,
            lowered: stats.lowered,
            words: stats.words,
            compute: code.words.count(InstClass::Compute),
            registers: stats.registers,
            spills: stats.spills,
            local_bytes: stats.local_bytes,
            bundles: (!stats.blocks.is_empty()).then_some(bundles),
            rules: count_rules(target, &stats.rules),
        };
        let listing = TARGETS.listing(code, module.file(), Some(module.text()));
        Ok((text, listing, words, object, counts))
    }
}

#[pymethods]
impl Compiled {
    /// PTX, or assembly of the target.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// Machine code, low byte first; for PTX, the text.
    #[getter]
    fn words<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.words)
    }

    /// Instructions next to the source lines.
    #[getter]
    fn listing(&self) -> &str {
        &self.listing
    }

    /// Object file.
    #[getter]
    fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.object)
    }

    /// Name of the target.
    #[getter]
    fn target(&self) -> &'static str {
        self.target.name()
    }

    /// SM version of PTX; ``None`` for other targets.
    #[getter]
    fn sm(&self) -> Option<u16> {
        self.target.sm().map(|sm| sm.number())
    }

    /// Name of the kernel, without ``@``.
    #[getter]
    fn name(&self) -> &str {
        &self.origin.signature.kernel
    }

    /// Parameters, in order.
    #[getter]
    fn params(&self) -> Vec<Param> {
        self.origin.signature.params.iter().map(|param| param.shown()).collect()
    }

    /// Statistics.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = PyDict::new(py);
        let of = &self.stats;
        stats.set_item("kernel", self.name())?;
        stats.set_item("ops", of.ops)?;
        stats.set_item("lowered", of.lowered)?;
        stats.set_item("words", of.words)?;
        stats.set_item("compute", of.compute)?;
        stats.set_item("registers", of.registers)?;
        stats.set_item("spills", of.spills)?;
        stats.set_item("local_bytes", of.local_bytes)?;
        if let Some((bundles, bound)) = of.bundles {
            stats.set_item("bundles", bundles)?;
            stats.set_item("bound", bound)?;
        }
        let rules = PyDict::new(py);
        for (rule, count) in &of.rules {
            rules.set_item(rule, count)?;
        }
        stats.set_item("rules", rules)?;
        Ok(stats)
    }

    /// Loads the kernel for repeated launches. ``engine`` and ``threads`` are the defaults of these launches.
    #[pyo3(signature = (engine=None, threads=None))]
    fn load(&self, py: Python<'_>, engine: Option<&str>, threads: Option<&Bound<'_, PyAny>>) -> PyResult<Program> {
        let (engine, threads) = crate::launch::engine(engine, threads)?;
        let program = py.detach(|| TARGETS.load(&self.object)).map_err(|error| error::of_load(py, error))?;
        let origin = self.origin.clone();
        Ok(Program { program, several_axes: Mutex::default(), origin, engine, threads })
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Compiled>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("halfbyte._html")?.getattr("of_compiled")?.call1((slf,))
    }

    fn __repr__(&self) -> String {
        let (words, registers) = (self.stats.words, self.stats.registers);
        let target = self.target.to_string();
        format!("<halfbyte compiled @{} for {target}: {words} words, {registers} registers>", self.name())
    }
}

/// Compiled kernel for repeated launches. It is called like the kernel, without ``target``.
#[pyclass(frozen, module = "halfbyte")]
pub(crate) struct Program {
    program: runtime::Program,
    /// The program for launches along several axes, if such launches need different code. The
    /// program is compiled on first use.
    several_axes: Mutex<Option<Arc<runtime::Program>>>,
    origin: Arc<Origin>,
    engine: Option<EngineName>,
    threads: Option<std::num::NonZero<u16>>,
}

#[pymethods]
impl Program {
    /// Name of the kernel, without ``@``.
    #[getter]
    fn name(&self) -> &str {
        &self.origin.signature.kernel
    }

    /// Parameters, in order.
    #[getter]
    fn params(&self) -> Vec<Param> {
        self.origin.signature.params.iter().map(|param| param.shown()).collect()
    }

    #[pyo3(signature = (*args, items=None, grid=None, block=None, shared=None, engine=None, threads=None, budget=None, timeout=None, **kwargs))]
    #[allow(clippy::too_many_arguments)]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        items: Option<&Bound<'py, PyAny>>,
        grid: Option<&Bound<'py, PyAny>>,
        block: Option<&Bound<'py, PyAny>>,
        shared: Option<&Bound<'_, PyAny>>,
        engine: Option<&str>,
        threads: Option<&Bound<'py, PyAny>>,
        budget: Option<&Bound<'_, PyAny>>,
        timeout: Option<&Bound<'_, PyAny>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut launch = Keywords { items, grid, block, shared, engine, threads, budget, timeout }.launch()?;
        launch.engine = launch.engine.or(self.engine);
        launch.threads = launch.threads.or(self.threads);
        let signature = &self.origin.signature;
        let given = signature.bind(args, kwargs, launch.items)?;
        let place = (self.origin.module.file(), self.origin.module.text());
        let Some(kernel) = self.program.kernels().first() else { return Err(error::defect("the object is empty")) };
        if launch.shape.is_along_x() || !kernel.info().along_x {
            call(py, kernel, signature, &given, &launch, place)?;
        } else {
            let program = self.along_several_axes(py)?;
            let Some(kernel) = program.kernels().first() else { return Err(error::defect("the object is empty")) };
            call(py, kernel, signature, &given, &launch, place)?;
        }
        given.finish(py, &signature.params)
    }

    /// Returns the seconds that the library itself takes for a call, from the binding of arguments
    /// on: the minimum of ``repeat`` calls. Benchmarks compare it with calls from Python.
    #[pyo3(signature = (*args, items, repeat, engine=None))]
    fn _library_seconds(
        &self,
        args: &Bound<'_, PyTuple>,
        items: &Bound<'_, PyAny>,
        repeat: usize,
        engine: Option<&str>,
    ) -> PyResult<f64> {
        let items = Some(items);
        let (grid, block, shared, threads, budget, timeout) = (None, None, None, None, None, None);
        let launch = Keywords { items, grid, block, shared, engine, threads, budget, timeout }.launch()?;
        let signature = &self.origin.signature;
        let given = signature.bind(args, None, launch.items)?;
        let places = placed(signature, &given)?;
        let Some(kernel) = self.program.kernels().first() else { return Err(error::defect("the object is empty")) };
        let engine = launch.engine_for(kernel.words().target());
        let mut least = f64::INFINITY;
        for _ in 0..repeat {
            let watchdog = Watchdog::new(Limits::NONE);
            let start = Instant::now();
            // SAFETY: `given` outlives the launch, `places` belong to it, and the arguments of the
            // previous launch no longer exist.
            let args = unsafe { arguments(&given.values, &places) };
            run_words(kernel, &launch, engine, &watchdog, args)
                .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?;
            least = least.min(start.elapsed().as_secs_f64());
        }
        Ok(least)
    }

    fn __repr__(&self) -> String {
        format!("<halfbyte program @{} for {}>", self.name(), self.origin.options.target)
    }
}

impl Program {
    /// Returns the program for launches along several axes, which is compiled on the first call.
    fn along_several_axes(&self, py: Python<'_>) -> PyResult<Arc<runtime::Program>> {
        let kept = || self.several_axes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = &*kept() {
            return Ok(program.clone());
        }
        let origin = &*self.origin;
        let made = watched(py, limits(None)?, false, |watchdog| {
            let watchdog = Some(watchdog.clone());
            let options = Options { several_axes: true, watchdog, ..origin.options.clone() };
            kernel::compile(&origin.module, origin.number, &options)
        })?;
        let program = Arc::new(made.map_err(|failed| match failed {
            LaunchFailure::Compile(error) => error::of_compile(py, &origin.module, *error),
            LaunchFailure::Load(error) => error::of_load(py, error),
            LaunchFailure::Launch(..) | LaunchFailure::Fault(_) => error::defect("nothing was launched"),
        })?);
        *kept() = Some(program.clone());
        Ok(program)
    }
}

/// Launches a kernel in machine code with the arguments of a Python call.
pub(crate) fn call(
    py: Python<'_>,
    kernel: &runtime::Kernel,
    signature: &Signature,
    given: &BoundArguments<'_>,
    launch: &Launch,
    (file, text): (&str, &str),
) -> PyResult<()> {
    let engine = launch.engine_for(kernel.words().target());
    let places = placed(signature, given)?;
    // SAFETY: `given` outlives the launch, and `places` belong to it.
    let args = unsafe { arguments(&given.values, &places) };
    let ran = watched(py, launch.limits.clone(), is_shared(engine), |watchdog| {
        run_words(kernel, launch, engine, watchdog, args)
    })?;
    ran.map_err(|error| {
        let on = format!("{} ({engine})", kernel.words().target().name());
        let given = &given.describer(signature);
        Launched { file, text, on, shape: launch.shape, read: None, signature: None, given }.error(py, &error)
    })
}
