//! Execution of IR kernels, including imported PTX kernels, on the evaluator or as machine code.

use halfbyte_abi::{Alias, Shape, Sm, Target, buffer_base};
use halfbyte_ir::{ParamKind, Type};
use halfbyte_isa::ptx::text::ParsedFile;
use halfbyte_runtime::Program;

use super::failure::{Failure, FailureKind};
use super::{Arg, Execution, LaunchOptions, Request, Size, Warn, address, bytes_of, check_count, choose};
use crate::approximate::is_approximate;
#[cfg(feature = "aot")]
use crate::native_object::NativeKernel;
#[cfg(feature = "aot")]
use crate::trial::Launch;
use halfbyte::include::ModuleReader;
use halfbyte::launch::{Engine, Evaluation, LaunchOptions as Order, RaceCheck, evaluate as evaluated, execute};
use halfbyte::{Module, pipeline};

impl Execution {
    /// Returns the name of this form of execution on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Execution::Ptx => "ptx",
            Execution::Ir => "ir",
            Execution::Halu => "halu",
            #[cfg(feature = "aot")]
            Execution::Object => "object",
            Execution::Recompiled => "recompiled",
        }
    }
}

pub(super) fn launch(request: &mut Request, how: &LaunchOptions<'_>) -> Result<(), Failure> {
    let module = ModuleReader::of(&request.file)
        .watched(how.watchdog)
        .read(&*request.text)
        .map_err(|report| Failure::of_report(FailureKind::Parse, &report, &request.text))?;
    let names: Vec<&str> = module.ir().kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let (number, _) = choose(&names, request.entry.as_deref())?;
    let Some(kernel) = module.ir().kernels.get(number) else {
        return Err(Failure::arguments("the text has no kernel"));
    };
    how.note_approximate(is_approximate(kernel));
    let shape = match request.size {
        Size::Items(items) => Shape::from(items),
        Size::Blocks { grid, block } => Shape::from((grid, block)),
    };
    let shape = Shape { shared: request.shared as u32, ..shape };
    let params = kernel.given_params();
    check_count(params.len(), request.args.len())?;
    let mut given = Vec::new();
    for (number, (param, arg)) in params.iter().zip(&request.args).enumerate() {
        let size = ty(param.kind).bytes() as usize;
        match (param.kind, arg) {
            (ParamKind::Scalar(ty), Arg::Value(bytes)) if bytes.len() != size => {
                let found = bytes.len();
                let message = format!("argument {number} gives {found} bytes; `{}` is {ty}, {size} bytes", param.name);
                return Err(Failure::arguments(message));
            }
            (ParamKind::Scalar(_), Arg::Value(bytes)) => given.push(ParamValue::Value(bytes.clone())),
            (ParamKind::Scalar(ty), _) => {
                let message = format!("argument {number} is an address; `{}` is {ty}, give `value`", param.name);
                return Err(Failure::arguments(message));
            }
            (ParamKind::Buffer { .. }, Arg::Value(bytes)) => given.push(ParamValue::Value(bytes.clone())),
            (ParamKind::Buffer { .. }, _) => given.push(ParamValue::Address(number)),
        }
    }
    let via = how.via.unwrap_or(match how.engine {
        None | Some(Engine::Interp) => Execution::Ir,
        Some(Engine::Jit { .. }) => Execution::Halu,
        Some(Engine::Cuda) => Execution::Ptx,
    });
    let run = Run { module: &module, kernel: number, given: &given, shape, via, imported: None };
    run.launch(request, how)
}

/// A request's value for a parameter of the kernel.
pub(super) enum ParamValue {
    /// The little-endian bytes of a scalar.
    Value(Vec<u8>),
    /// The address of the buffer of the argument with this index.
    Address(usize),
}

/// An IR kernel to launch, with the values of its parameters.
pub(super) struct Run<'a> {
    pub module: &'a Module,
    /// The kernel's index in the module.
    pub kernel: usize,
    pub given: &'a [ParamValue],
    pub shape: Shape,
    pub via: Execution,
    /// The parsed text of a kernel that is imported from PTX. An imported kernel restricts its
    /// arguments more than the PTX text does.
    pub imported: Option<&'a ParsedFile>,
}

impl Run<'_> {
    /// Launches the kernel on the request's arguments.
    pub(super) fn launch(&self, request: &mut Request, how: &LaunchOptions<'_>) -> Result<(), Failure> {
        let Some(kernel) = self.module.ir().kernels.get(self.kernel) else {
            return Err(Failure::arguments("the text has no kernel"));
        };
        let (mut args, aliases) = self.bind(kernel, &request.args)?;
        let program = match self.target(request)? {
            None => None,
            Some(target) => Some(self.compile(target, how)?),
        };
        let budget = u32::try_from(request.budget).unwrap_or(u32::MAX);
        let evaluate = |args: &mut [Vec<u8>]| {
            let (shape, aliases) = (self.shape, &aliases);
            let LaunchOptions { watchdog, schedule, warn, .. } = *how;
            let races = how.races.max(RaceCheck::On);
            let how = Evaluation { shape, budget, watchdog, aliases, schedule, races };
            let failure = |fault| Failure::of_fault(&fault, kernel, &shape, &request.text, self.imported);
            let evaluated = evaluated(kernel, how, args).map_err(failure)?;
            if let Some(Warn(warn)) = warn {
                evaluated.same_value_races().iter().for_each(|race| warn(failure(race.clone().into())));
            }
            Ok(())
        };
        match &program {
            None => evaluate(&mut args)?,
            Some(program) => {
                if how.races.is_on() {
                    evaluate(&mut args.clone())?;
                }
                let Some(words) = program.kernels().first() else {
                    return Err(Failure::new(FailureKind::Refused, "the kernel has no machine code"));
                };
                match self.via {
                    #[cfg(feature = "aot")]
                    Execution::Object => {
                        args = self.call(words, (kernel, &request.text), request.budget, (args, aliases.clone()))?
                    }
                    _ => {
                        let (budget, watchdog) = (request.budget, how.watchdog);
                        let engine = how.engine.unwrap_or(Engine::Interp);
                        let order = Order { budget, watchdog, aliases: &aliases, ..Order::from(engine) };
                        execute(words, order, self.shape, &mut args)
                            .map_err(|error| Failure::of_launch(&error, kernel, &request.text, self.imported))?;
                    }
                }
            }
        }
        for (number, ((param, given), result)) in kernel.given_params().iter().zip(self.given).zip(args).enumerate() {
            if !aliases.iter().any(|alias| alias.param == number)
                && let Some((arg, offset)) = self.place(param, given, &request.args)?
                && let Some(Arg::Buffer { bytes, .. }) = request.args.get_mut(arg)
                && let Some(bytes) = bytes.get_mut(offset as usize..)
            {
                bytes.iter_mut().zip(result).for_each(|(before, after)| *before = after);
            }
        }
        Ok(())
    }

    /// Compiles a kernel to a native object and calls its function. Returns the contents of the
    /// arguments after the call.
    #[cfg(feature = "aot")]
    fn call(
        &self,
        words: &halfbyte_runtime::Kernel,
        (kernel, text): (&halfbyte_ir::Kernel, &str),
        budget: u64,
        (args, aliases): (Vec<Vec<u8>>, Vec<Alias>),
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let ahead = NativeKernel::load(words, budget).map_err(|error| Failure::of_object(&error))?;
        let called = ahead.call(&Launch { shape: self.shape, args, aliases });
        match called.stopped {
            Some(stopped) => Err(Failure::of_stop(&stopped, &self.shape, kernel, text)),
            None => Ok(called.args),
        }
    }

    /// Returns the target for which the kernel is compiled, or `None` if the evaluator executes it.
    fn target(&self, request: &Request) -> Result<Option<Target>, Failure> {
        match self.via {
            Execution::Ir => Ok(None),
            Execution::Halu => Ok(Some(halfbyte::HALU)),
            #[cfg(feature = "aot")]
            Execution::Object => Ok(Some(halfbyte::HALU)),
            Execution::Ptx | Execution::Recompiled => {
                let number = request.machine.map_or(Sm::DEFAULT.number(), |machine| machine.sm);
                if let Some(sm) = Sm::new(number) {
                    return Ok(Some(halfbyte::ptx(sm)));
                }
                let known = Sm::names();
                Err(Failure::arguments(format!("PTX cannot be generated for sm_{number}; `sm` is one of {known}")))
            }
        }
    }

    fn compile(&self, target: Target, how: &LaunchOptions<'_>) -> Result<Program, Failure> {
        let kernels = self.module.ir().kernels.get(self.kernel..=self.kernel).unwrap_or_default();
        let (watchdog, several_axes) = (how.watchdog.cloned(), !self.shape.is_along_x());
        let options = pipeline::Options { watchdog, several_axes, ..pipeline::Options::new(target) };
        let compiled = pipeline::compile(self.module, kernels, &options, &mut |_| {});
        let binary = compiled.map_err(|error| {
            let kind = if error.exceeded().is_some() { FailureKind::Limit } else { FailureKind::Refused };
            match error.diagnostics().first() {
                Some(first) => Failure::of_diagnostic(kind, first, self.module.text()),
                None => Failure::new(kind, error.to_string()),
            }
        })?;
        halfbyte::TARGETS.load(&binary.object).map_err(|error| Failure::new(FailureKind::Refused, error.to_string()))
    }

    /// Returns the bytes of each parameter, and the aliases among the parameters.
    fn bind(&self, kernel: &halfbyte_ir::Kernel, args: &[Arg]) -> Result<(Vec<Vec<u8>>, Vec<Alias>), Failure> {
        let params = kernel.given_params();
        let mut places = Vec::with_capacity(params.len());
        for (param, given) in params.iter().zip(self.given) {
            places.push(self.place(param, given, args)?);
        }
        // If several parameters point into one argument, the first parameter with the lowest
        // address holds the memory. All other parameters become aliases of that parameter.
        let first = |arg: usize| {
            let there =
                places.iter().enumerate().filter_map(|(param, place)| place.map(|(of, offset)| (param, of, offset)));
            there.filter(|(_, of, _)| *of == arg).min_by_key(|(_, _, offset)| *offset)
        };
        let (mut bytes, mut aliases) = (Vec::with_capacity(params.len()), Vec::new());
        for (number, ((param, given), place)) in params.iter().zip(self.given).zip(&places).enumerate() {
            match place.and_then(|(arg, offset)| Some((first(arg)?, arg, offset))) {
                Some(((of, _, start), arg, offset)) if of != number => {
                    self.check_aligned(param, offset)?;
                    self.check_shared(params, &places, arg)?;
                    aliases.push(Alias { param: number, of, offset: offset - start });
                    bytes.push(Vec::new());
                }
                Some((_, arg, offset)) => bytes.push(self.buffer(param, args, (arg, offset))?),
                None => bytes.push(self.value(param, given, args)?),
            }
        }
        Ok((bytes, aliases))
    }

    /// Fails if a byte offset in an argument is not a multiple of the parameter's required alignment.
    fn check_aligned(&self, param: &halfbyte_ir::Param, offset: u64) -> Result<(), Failure> {
        let ParamKind::Buffer { align, .. } = param.kind else { return Ok(()) };
        if offset.is_multiple_of(align.into()) {
            return Ok(());
        }
        let (via, name) = (self.via.name(), &param.name);
        Err(self.unsupported_argument(format!(
            "via {via} `{name}` must be aligned to {align} bytes, but byte {offset} is not"
        )))
    }

    /// Fails if several parameters point into one argument, and the kernel writes one of them that
    /// is not declared `may_alias`.
    fn check_shared(
        &self,
        params: &[halfbyte_ir::Param],
        places: &[Option<(usize, u64)>],
        arg: usize,
    ) -> Result<(), Failure> {
        let mut there = params.iter().zip(places).filter(|(_, place)| place.is_some_and(|(of, _)| of == arg));
        let Some((unique, _)) = there.find(|(param, _)| param.kind.is_unique()) else { return Ok(()) };
        let via = self.via.name();
        let help =
            if self.imported.is_some() { "import it with `--alias`" } else { "declare the parameter `may_alias`" };
        let name = &unique.name;
        Err(Failure::arguments(format!(
            "several parameters point into argument {arg}, and the kernel writes `{name}`; via {via}, `{name}` must not overlap other parameters: {help}"
        )))
    }

    /// Returns the index of the argument into which a parameter points, and the byte offset there.
    /// Returns `None` for a scalar.
    fn place(
        &self,
        param: &halfbyte_ir::Param,
        given: &ParamValue,
        args: &[Arg],
    ) -> Result<Option<(usize, u64)>, Failure> {
        let (ParamKind::Buffer { .. }, &ParamValue::Address(number)) = (param.kind, given) else { return Ok(None) };
        match args.get(number) {
            Some(&Arg::Alias { arg, offset }) => {
                address(args, arg, offset, &format!("argument {number}"))?;
                Ok(Some((arg, offset)))
            }
            _ => Ok(Some((number, 0))),
        }
    }

    /// Returns the bytes of a scalar, or no bytes for a null pointer.
    fn value(&self, param: &halfbyte_ir::Param, given: &ParamValue, args: &[Arg]) -> Result<Vec<u8>, Failure> {
        match (param.kind, given) {
            (ParamKind::Scalar(_), ParamValue::Value(bytes)) => Ok(bytes.clone()),
            (ParamKind::Scalar(ty), &ParamValue::Address(number)) => {
                // The kernel uses the address as an integer and accesses no memory through it.
                let address = match args.get(number) {
                    Some(&Arg::Alias { arg, offset }) => address(args, arg, offset, &format!("argument {number}"))?,
                    _ => buffer_base(number),
                };
                Ok(address.to_le_bytes().get(..ty.bytes() as usize).unwrap_or_default().to_vec())
            }
            // A null pointer becomes an empty buffer.
            (ParamKind::Buffer { .. }, ParamValue::Value(bytes))
                if self.imported.is_some() && bytes.iter().all(|&byte| byte == 0) =>
            {
                Ok(Vec::new())
            }
            // PTX also accepts a pointer as a value, such as null or a member of a structure.
            (ParamKind::Buffer { .. }, _) => {
                let (via, name) = (self.via.name(), &param.name);
                Err(self.unsupported_argument(format!(
                    "via {via} `{name}` is the address of memory; give `buffer`, `zeros` or `alias`"
                )))
            }
        }
    }

    /// Returns the bytes of an argument's buffer from `offset` to the end.
    fn buffer(
        &self,
        param: &halfbyte_ir::Param,
        args: &[Arg],
        (arg, offset): (usize, u64),
    ) -> Result<Vec<u8>, Failure> {
        self.check_aligned(param, offset)?;
        if !offset.is_multiple_of(WIDEST) {
            let (via, name) = (self.via.name(), &param.name);
            let message = format!(
                "via {via} `{name}`, the only parameter that points into its argument, must be aligned to {WIDEST} bytes, but byte {offset} is not"
            );
            return Err(self.unsupported_argument(message));
        }
        let bytes = bytes_of(args, arg).unwrap_or_default().get(offset as usize..).unwrap_or_default();
        let size = ty(param.kind).bytes() as usize;
        if !bytes.len().is_multiple_of(size) {
            let (via, name, found) = (self.via.name(), &param.name, bytes.len());
            let message =
                format!("via {via} `{name}` has elements of {size} bytes, but argument {arg} has {found} bytes");
            return Err(self.unsupported_argument(message));
        }
        Ok(bytes.to_vec())
    }

    /// Creates a failure for an argument that the PTX kernel accepts but the imported kernel does not.
    fn unsupported_argument(&self, message: String) -> Failure {
        Failure::new(if self.imported.is_some() { FailureKind::Unsupported } else { FailureKind::Arguments }, message)
    }
}

/// Size in bytes of the widest access. If every parameter points past the start of an argument, the
/// kernel gets a copy of the argument's last bytes. The copy starts at a multiple of this size, so
/// that its addresses have the same alignment as in the original.
const WIDEST: u64 = 16;

/// Returns the type of a scalar parameter, or of the elements of a buffer parameter.
fn ty(kind: ParamKind) -> Type {
    match kind {
        ParamKind::Scalar(ty) | ParamKind::Buffer { elem: ty, .. } => ty,
    }
}
