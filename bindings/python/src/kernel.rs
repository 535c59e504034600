//! Kernels that Python can call: from the IR, from PTX, or from an object file.

use std::sync::{Arc, Mutex, PoisonError};

use halfbyte::abi::Watchdog;
use halfbyte::ir::eval::{Fault, Race};
use halfbyte::ir::{self, Space};
use halfbyte::launch::{Engine, Evaluation, RaceCheck, evaluate_on};
use halfbyte::pipeline::{self, Options};
use halfbyte::runtime::{self, Arg, LaunchError};
use halfbyte::target::Platform;
use halfbyte::{CompileError, HALU, Module, TARGETS, Target, VP1};
use halfbyte_inspect::explain::{Question, Text, explain};
use halfbyte_inspect::view::page;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::bind::Signature;
use crate::compiled::{self, Compiled};
use crate::error::{self, Launched};
use crate::keyword::{self, Races};
use crate::launch::{EngineName, Keywords, Launch, arguments, is_shared, machine, placed, run_words, target};
use crate::params::Param;
use crate::ptx::PtxKernel;
use crate::variables::Variables;
use crate::watch::{limits, watched};

/// Kernel. A call runs the kernel on arrays for its buffers and numbers for its scalars.
///
/// ``k(items=512, a=2.0, x=x, y=y)`` runs 512 work items. ``k(grid=(4, 2), block=(32, 4), ...)`` runs 8 groups of 128,
/// for kernels whose work items synchronise and for PTX. Arguments are given by name, or by position in the order of
/// ``params``.
///
/// A buffer takes a C-contiguous array, which is used in place. Its elements are lanes, with a last axis of as many as
/// an element has (``(n, 2)`` float16 for ``f16x2``, ``(n, 4)`` uint8 or int8 for ``i8x4``); lanes without that axis
/// (``(n*2,)``); or words (uint32). An ``out`` buffer that is not given is created, with one element per work item. The
/// result maps the names of ``out`` and ``inout`` parameters to their arrays.
///
/// >>> import numpy as np
/// >>> import halfbyte as hb
/// >>> k = hb.parse("kernel @fill(%a: f16x2, %y: out f16x2) {\n^entry:\n  %i = item_id\n  store %a, %y[%i]\n  ret\n}")["fill"]
/// >>> k(items=2, a=[1.5, -2.0])["y"]
/// array([[ 1.5, -2. ],
///        [ 1.5, -2. ]], dtype=float16)
/// >>> y = np.zeros(4, np.float16)
/// >>> k(3, y, items=1)["y"] is y, y
/// (True, array([3., 3., 0., 0.], dtype=float16))
///
/// Keywords of the launch:
///
/// * ``target``: ``"halu"``, ``"vp1"``, ``"ptx"``, or ``"ir"`` for the evaluator. The default is HALU, or the evaluator
///   if HALU does not support the kernel or its work items synchronise. PTX kernels are executed directly by default
///   and with ``"ptx"``.
/// * ``engine``: ``"jit"``, ``"interp"`` or ``"cuda"``; ``threads``: maximum number of host threads of native code.
/// * ``budget``: maximum number of backward branches per item (2**20), beyond which ``Budget`` is raised; ``timeout``:
///   seconds, after which ``Cancelled`` is raised.
/// * ``races``: check for races first; the evaluator always does. Two stores of the same value by the same instruction
///   give a ``RaceWarning``; with ``"strict"``, they raise ``Race``. ``shared``: bytes of dynamic shared memory.
/// * ``cooperative``: a cooperative launch of PTX that is executed directly. All blocks are resident, so that blocks can
///   wait for each other, as a barrier of the grid does.
/// * ``sm``: SM version of PTX.
#[pyclass(frozen, module = "halfbyte")]
pub(crate) struct Kernel {
    source: KernelOrigin,
    signature: Arc<Signature>,
    params: Vec<Param>,
    /// Value of the keyword `cooperative` for calls without it, if the call executes PTX directly.
    is_cooperative: bool,
    /// Programs that were compiled for calls, with their target and `true` if they support several axes.
    programs: Mutex<Vec<(Target, bool, Arc<runtime::Program>)>>,
}

/// The origin of a kernel: IR, PTX text, or an object file.
#[derive(Clone)]
pub(crate) enum KernelOrigin {
    /// A kernel of the IR, given by its index in a module.
    Ir(Arc<Module>, usize),
    /// A kernel of a PTX text.
    Ptx(Arc<PtxKernel>),
    /// A compiled kernel, given by its index in a program.
    Object(Arc<runtime::Program>, usize),
}

/// Reason why a launch of an IR kernel failed.
pub(crate) enum LaunchFailure {
    Compile(Box<CompileError>),
    Load(String),
    /// The error of a launch of machine code, with the name of the target and the engine.
    Launch(Box<LaunchError>, String),
    Fault(Box<Fault>),
}

impl Kernel {
    pub(crate) fn new(source: KernelOrigin, signature: Signature) -> Kernel {
        let params = signature.params.iter().map(|param| param.shown()).collect();
        Kernel { source, signature: Arc::new(signature), params, is_cooperative: false, programs: Mutex::default() }
    }

    /// Returns the compiled program of an IR kernel. The kernel is compiled at the first call for a target.
    fn program(
        &self,
        module: &Module,
        number: usize,
        (target, several_axes): (Target, bool),
        watchdog: &Watchdog,
    ) -> Result<Arc<runtime::Program>, LaunchFailure> {
        let programs = || self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |(of, axes, _): &&(Target, bool, Arc<runtime::Program>)| (*of, *axes) == (target, several_axes);
        if let Some((.., program)) = programs().iter().find(is_same) {
            return Ok(program.clone());
        }
        let options = Options { several_axes, watchdog: Some(watchdog.clone()), ..Options::new(target) };
        let program = Arc::new(compile(module, number, &options)?);
        programs().push((target, several_axes, program.clone()));
        Ok(program)
    }
}

/// Compiles kernel `number` of a module, and loads the object.
pub(crate) fn compile(module: &Module, number: usize, options: &Options) -> Result<runtime::Program, LaunchFailure> {
    let kernels = module.ir().kernels.get(number..=number).unwrap_or_default();
    let binary = pipeline::compile(module, kernels, options, &mut |_| {})
        .map_err(|error| LaunchFailure::Compile(Box::new(error)))?;
    TARGETS.load(&binary.object).map_err(|error| LaunchFailure::Load(error.to_string()))
}

/// Returns `true` if the work items of a kernel synchronise or share memory. By default, a call
/// runs such a kernel on the evaluator, which also detects races.
fn is_cooperative(kernel: &ir::Kernel) -> bool {
    let insts = kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)).flat_map(|block| &block.insts);
    let orders = |inst: &ir::Inst| kernel.insts.get(*inst).is_some_and(|data| data.op.orders_memory());
    kernel.placement(Space::Shared).bytes > 0 || insts.into_iter().any(orders)
}

/// The target that a call selects for an IR kernel.
enum LaunchTarget {
    /// The target that the call names.
    Asked(Platform),
    /// No target is named: HALU, or the evaluator if HALU does not support the kernel.
    Any,
}

/// The parameters of a launch of an IR kernel.
pub(crate) struct Run<'a> {
    pub kernel: &'a ir::Kernel,
    pub launch: &'a Launch,
    pub races: RaceCheck,
    /// Same-value races that the evaluator has found.
    same_value: Mutex<Vec<Race>>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(kernel: &'a ir::Kernel, launch: &'a Launch, races: RaceCheck) -> Run<'a> {
        Run { kernel, launch, races, same_value: Mutex::default() }
    }

    fn evaluation<'w>(&self, watchdog: &'w Watchdog) -> Evaluation<'w> {
        let (budget, races) = (u32::try_from(self.launch.budget).unwrap_or(u32::MAX), self.races.max(RaceCheck::On));
        Evaluation { budget, watchdog: Some(watchdog), races, ..Evaluation::from(self.launch.shape) }
    }

    /// Runs the launch on the evaluator.
    pub(crate) fn evaluate(&self, args: &mut [Arg<'_>], watchdog: &Watchdog) -> Result<(), LaunchFailure> {
        let evaluated = evaluate_on(self.kernel, self.evaluation(watchdog), args)
            .map_err(|fault| LaunchFailure::Fault(Box::new(fault)))?;
        let mut same_value = self.same_value.lock().unwrap_or_else(PoisonError::into_inner);
        same_value.extend_from_slice(evaluated.same_value_races());
        Ok(())
    }

    /// Issues the warnings about same-value races.
    pub(crate) fn warn(&self, py: Python<'_>, launched: &Launched<'_>) -> PyResult<()> {
        let same_value = std::mem::take(&mut *self.same_value.lock().unwrap_or_else(PoisonError::into_inner));
        same_value.iter().try_for_each(|race| launched.warn_of_race(py, race, self.kernel))
    }

    /// Runs the launch in machine code. If races must be detected, the evaluator runs the launch first.
    pub(crate) fn execute(
        &self,
        words: &runtime::Kernel,
        engine: Engine,
        mut args: Vec<Arg<'_>>,
        watchdog: &Watchdog,
    ) -> Result<(), LaunchFailure> {
        if self.races.is_on() {
            self.look_for_races(&mut args, watchdog)?;
        }
        let on = format!("{} ({engine})", words.words().target().name());
        run_words(words, self.launch, engine, watchdog, args)
            .map_err(|error| LaunchFailure::Launch(Box::new(error), on))
    }

    /// Runs the launch on the evaluator with copies of the buffers, to detect races.
    fn look_for_races(&self, args: &mut [Arg<'_>], watchdog: &Watchdog) -> Result<(), LaunchFailure> {
        let bytes = |arg: &Arg<'_>| if let Arg::Buffer(bytes) = arg { bytes.to_vec() } else { Vec::new() };
        let mut copies: Vec<Vec<u8>> = args.iter().map(bytes).collect();
        let mut copied: Vec<Arg<'_>> = (args.iter_mut().zip(&mut copies))
            .map(|(arg, copy)| match arg {
                Arg::Buffer(_) => Arg::Buffer(copy),
                arg => arg.reborrow(),
            })
            .collect();
        self.evaluate(&mut copied, watchdog)
    }
}

#[pymethods]
impl Kernel {
    /// Name of the kernel, without ``@``.
    #[getter]
    fn name(&self) -> &str {
        &self.signature.kernel
    }

    /// Parameters, in order.
    #[getter]
    fn params(&self) -> Vec<Param> {
        self.params.clone()
    }

    /// Global and constant variables of the kernel's PTX text, which can be read and written between launches.
    #[getter]
    fn variables(&self) -> PyResult<Variables> {
        match &self.source {
            KernelOrigin::Ptx(kernel) => Ok(Variables(kernel.text.clone())),
            KernelOrigin::Ir(..) | KernelOrigin::Object(..) => Err(PyAttributeError::new_err(format!(
                "@{} has no variables; only kernels in PTX have variables",
                self.signature.kernel
            ))),
        }
    }

    /// Language of the kernel: ``"ir"``, ``"ptx"``, or ``"object"`` for a compiled one.
    #[getter]
    fn language(&self) -> &'static str {
        match self.source {
            KernelOrigin::Ir(..) => "ir",
            KernelOrigin::Ptx(_) => "ptx",
            KernelOrigin::Object(..) => "object",
        }
    }

    /// Text of the kernel in the IR; for PTX the text of the file, for an object its disassembly.
    #[getter]
    fn text(&self) -> String {
        match &self.source {
            KernelOrigin::Ir(module, number) => {
                module.ir().kernels.get(*number).map_or_else(String::new, ToString::to_string)
            }
            KernelOrigin::Ptx(kernel) => kernel.text.text.clone(),
            KernelOrigin::Object(program, number) => {
                program.kernels().get(*number).map_or_else(String::new, |kernel| kernel.words().disassemble())
            }
        }
    }

    #[pyo3(signature = (*args, items=None, grid=None, block=None, shared=None, target=None, engine=None, threads=None, budget=None, timeout=None, races=Races::OFF, cooperative=None, sm=None, **kwargs))]
    #[allow(clippy::too_many_arguments)]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        items: Option<&Bound<'py, PyAny>>,
        grid: Option<&Bound<'py, PyAny>>,
        block: Option<&Bound<'py, PyAny>>,
        shared: Option<&Bound<'_, PyAny>>,
        target: Option<&str>,
        engine: Option<&str>,
        threads: Option<&Bound<'py, PyAny>>,
        budget: Option<&Bound<'_, PyAny>>,
        timeout: Option<&Bound<'_, PyAny>>,
        races: Races,
        cooperative: Option<bool>,
        sm: Option<&Bound<'py, PyAny>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Races(races) = races;
        let launch = Keywords { items, grid, block, shared, engine, threads, budget, timeout }.launch()?;
        let on = target.map(|name| self::target(name, sm)).transpose()?;
        if let (None, Some(sm)) = (on, sm) {
            keyword::sm(sm)?;
            if launch.engine != Some(EngineName::Cuda) {
                return Err(PyValueError::new_err("sm is only valid for PTX; add target=\"ptx\""));
            }
        }
        let is_direct = match on {
            None => true,
            Some(Platform::Target(target)) => target.sm().is_some(),
            Some(Platform::Ir) => false,
        };
        let is_direct = is_direct && matches!(self.source, KernelOrigin::Ptx(_));
        if cooperative == Some(true) && !is_direct {
            return Err(PyValueError::new_err("cooperative is only valid for PTX that is executed directly"));
        }
        let launch = Launch { cooperative: cooperative.unwrap_or(self.is_cooperative && is_direct), ..launch };
        let given = self.signature.bind(args, kwargs, launch.items)?;
        match &self.source {
            KernelOrigin::Ir(module, number) => {
                let Some(kernel) = module.ir().kernels.get(*number) else {
                    return Err(error::defect("the module has lost a kernel"));
                };
                let run = Run::new(kernel, &launch, races);
                let place = match on {
                    Some(on) => LaunchTarget::Asked(on),
                    None if launch.engine.is_none() && is_cooperative(kernel) => LaunchTarget::Asked(Platform::Ir),
                    None if launch.engine == Some(EngineName::Cuda) => LaunchTarget::Asked(self::target("ptx", sm)?),
                    None => LaunchTarget::Any,
                };
                if let (LaunchTarget::Asked(Platform::Ir), Some(EngineName::Jit | EngineName::Cuda)) =
                    (&place, launch.engine)
                {
                    return Err(PyValueError::new_err(
                        "target \"ir\" is the evaluator, which has no engines; omit engine",
                    ));
                }
                let places = placed(&self.signature, &given)?;
                // SAFETY: `given` outlives the launch, and `places` belong to it.
                let args = unsafe { arguments(&given.values, &places) };
                let done = self.run(py, (module, *number), &run, place, args)?;
                let given = &given.describer(&self.signature);
                done.map_err(|failed| failed.raise(py, module, kernel, &launch, given))?;
                run.warn(py, &Launched::of_module(module, "ir".to_owned(), &launch, given))?;
            }
            KernelOrigin::Ptx(kernel) => kernel.call(py, &self.signature, &given, &launch, (on, races))?,
            KernelOrigin::Object(program, number) => {
                let Some(kernel) = program.kernels().get(*number) else {
                    return Err(error::defect("the object has lost a kernel"));
                };
                let made_for = kernel.words().target();
                if let Some(on) = on
                    && on.name() != made_for.name()
                {
                    let wrong = format!("@{} was compiled for {made_for}, not for {on}", self.signature.kernel);
                    return Err(PyValueError::new_err(wrong));
                }
                if races.is_on() {
                    return Err(PyValueError::new_err("race detection needs a source text; an object file has none"));
                }
                compiled::call(py, kernel, &self.signature, &given, &launch, ("", ""))?;
            }
        }
        given.finish(py, &self.signature.params)
    }

    /// Compiles the kernel. The result has ``text``, ``words``, ``listing``, ``stats`` and ``object``, and ``load()``
    /// for repeated launches.
    ///
    /// ``passes`` are the names of the IR passes in order, as a list or separated by commas; by default all passes run.
    /// ``sm`` is the SM version of PTX. Raises ``Refused`` if the target cannot compute the kernel exactly.
    #[pyo3(signature = (target="halu", sm=None, passes=None))]
    fn compile(
        &self,
        py: Python<'_>,
        target: &str,
        sm: Option<&Bound<'_, PyAny>>,
        passes: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Compiled> {
        let target = machine(target, sm)?;
        let options = with_passes(Options::new(target), passes)?;
        let (module, number) = self.module(py, "compile")?;
        Compiled::new(py, module, number, options, self.signature.clone())
    }

    /// Explains which rules selected the instructions of the value ``"%r"``, or of the op at ``"LINE"`` or
    /// ``"LINE:COLUMN"``, and which rules nearly matched. With ``all``, lists every rule that was tried.
    #[pyo3(signature = (at, target="halu", sm=None, passes=None, all=false))]
    fn explain(
        &self,
        py: Python<'_>,
        at: &str,
        target: &str,
        sm: Option<&Bound<'_, PyAny>>,
        passes: Option<&Bound<'_, PyAny>>,
        all: bool,
    ) -> PyResult<String> {
        let options = with_passes(Options::new(machine(target, sm)?), passes)?;
        let (module, _) = self.module(py, "explain")?;
        let name = self.signature.kernel.clone();
        let at = at.to_owned();
        let explained = watched(py, limits(None)?, false, move |_| {
            let question = Question { at: &at, kernel: Some(&name), options: &options };
            explain(&module, question).map(|explanation| Text { explanation: &explanation, all }.to_string())
        })?;
        explained.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Returns the HTML page of the compiler stages.
    #[pyo3(signature = (target=None, sm=None))]
    fn _page(&self, py: Python<'_>, target: Option<&str>, sm: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        let targets = match target {
            Some(name) => vec![machine(name, sm)?],
            None => vec![HALU, VP1, machine("ptx", sm)?],
        };
        let (module, number) = self.module(py, "view")?;
        let shown = module.clone();
        let made = watched(py, limits(None)?, false, move |_| {
            let kernels = module.ir().kernels.get(number..=number).unwrap_or_default();
            page(&module, kernels, &targets)
        })?;
        made.map_err(|errors| error::plain(py, "Refused", &shown.report(errors).to_string()))
    }

    /// Returns the page of the compiler stages: source, passes, selected instructions, registers
    /// and machine code side by side, for one target or for all that accept the kernel. Notebooks
    /// display it; ``.html`` is its text, and ``.save(path)`` writes it to a file.
    #[pyo3(signature = (target=None, sm=None))]
    fn view<'py>(
        slf: &Bound<'py, Kernel>,
        target: Option<&str>,
        sm: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("halfbyte._html")?.getattr("of_view")?.call1((slf, target, sm))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Kernel>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("halfbyte._html")?.getattr("of_kernel")?.call1((slf,))
    }

    /// Returns the kernel with other names for itself and its first parameters in messages. These
    /// names are also valid keywords. With ``cooperative``, launches are cooperative by default.
    #[pyo3(signature = (name, params, cooperative=false))]
    fn _labelled(&self, py: Python<'_>, name: String, params: Vec<String>, cooperative: bool) -> Kernel {
        let kernel = Kernel::new(self.source.clone(), self.signature.labelled(py, name, params));
        Kernel { is_cooperative: cooperative, ..kernel }
    }

    fn __repr__(&self) -> String {
        let params: Vec<String> = self.params.iter().map(Param::declaration).collect();
        format!("<halfbyte kernel @{}({})>", self.signature.kernel, params.join(", "))
    }
}

impl Kernel {
    /// Returns the module that contains the kernel in the IR, and the kernel's index in it. A PTX
    /// kernel is imported. `what` names the operation in the error.
    fn module(&self, py: Python<'_>, what: &str) -> PyResult<(Arc<Module>, usize)> {
        match &self.source {
            KernelOrigin::Ir(module, number) => Ok((module.clone(), *number)),
            KernelOrigin::Ptx(kernel) => Ok((Arc::new(kernel.imported(py)?), 0)),
            KernelOrigin::Object(..) => Err(PyTypeError::new_err(format!(
                "cannot {what} @{}: the kernel was loaded from an object file, which has no source text",
                self.signature.kernel
            ))),
        }
    }

    /// Runs an IR kernel while the GIL is released.
    fn run(
        &self,
        py: Python<'_>,
        (module, number): (&Arc<Module>, usize),
        run: &Run<'_>,
        place: LaunchTarget,
        mut args: Vec<Arg<'_>>,
    ) -> PyResult<Result<(), LaunchFailure>> {
        let several_axes = !run.launch.shape.is_along_x();
        let (target, or_evaluate) = match place {
            LaunchTarget::Asked(Platform::Ir) => (None, false),
            LaunchTarget::Asked(Platform::Target(target)) => (Some(target), false),
            LaunchTarget::Any => (Some(HALU), true),
        };
        let engine = target.map(|target| run.launch.engine_for(target));
        watched(py, run.launch.limits.clone(), engine.is_some_and(is_shared), |watchdog| {
            let (Some(target), Some(engine)) = (target, engine) else { return run.evaluate(&mut args, watchdog) };
            let program = match self.program(module, number, (target, several_axes), watchdog) {
                Err(LaunchFailure::Compile(error)) if or_evaluate && is_refusal(&error) => {
                    return run.evaluate(&mut args, watchdog);
                }
                program => program?,
            };
            let Some(words) = program.kernels().first() else {
                return Err(LaunchFailure::Load("no kernel".to_owned()));
            };
            run.execute(words, engine, args, watchdog)
        })
    }
}

impl LaunchFailure {
    /// Converts the reason of a failed launch to a Python exception.
    pub(crate) fn raise(
        self,
        py: Python<'_>,
        module: &Module,
        kernel: &ir::Kernel,
        launch: &Launch,
        given: &dyn Fn(usize, &str) -> Option<String>,
    ) -> PyErr {
        let launched = |on| Launched::of_module(module, on, launch, given);
        match self {
            LaunchFailure::Compile(error) => error::of_compile(py, module, *error),
            LaunchFailure::Load(error) => error::of_load(py, error),
            LaunchFailure::Launch(error, on) => launched(on).error(py, &error),
            LaunchFailure::Fault(fault) => launched("ir".to_owned()).fault(py, &fault, kernel),
        }
    }
}

/// Returns `true` if the error means that the target does not support the kernel.
fn is_refusal(error: &CompileError) -> bool {
    matches!(error, CompileError::Refused(_) | CompileError::TooLarge(_))
}

/// Sets the passes of the options from a list of names, or from a string of names separated by commas.
fn with_passes(options: Options, passes: Option<&Bound<'_, PyAny>>) -> PyResult<Options> {
    let Some(passes) = passes else { return Ok(options) };
    let names: Vec<String> = match passes.extract::<String>() {
        Ok(text) => text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect(),
        Err(_) => passes.extract()?,
    };
    options.with_passes(names.iter().map(String::as_str)).map_err(|error| PyValueError::new_err(error.to_string()))
}
