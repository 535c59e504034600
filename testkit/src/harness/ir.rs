//! Kernels of the IR, written so or imported, on the evaluator and as words.

use halfbyte_abi::{Shape, Sm, Target, buffer_base};
use halfbyte_ir::{Direction, ParamKind, Type};
use halfbyte_runtime::Program;

use super::failure::{Failure, Kind};
use super::{Arg, How, Request, Size, Via, address, bytes_of, check_count, choose};
use halfbyte::launch::{Engine, How as Order, evaluate_watched, execute};
use halfbyte::{Module, pipeline};

impl Via {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Via::Ptx => "ptx",
            Via::Ir => "ir",
            Via::Halu => "halu",
            Via::Recompiled => "recompiled",
        }
    }
}

pub(super) fn launch(request: &mut Request, how: &How<'_>) -> Result<(), Failure> {
    let module = Module::named(&request.file, &*request.text)
        .map_err(|report| Failure::of_report(Kind::Parse, &report, &request.text))?;
    let names: Vec<&str> = module.ir().kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let (number, _) = choose(&names, request.entry.as_deref())?;
    let Some(kernel) = module.ir().kernels.get(number) else {
        return Err(Failure::arguments("the text has no kernel"));
    };
    how.note_approximate(kernel.is_approximate());
    if request.shared != 0 {
        return Err(Failure::arguments("kernels of the IR have no shared memory; `shared` is 0"));
    }
    let shape = match request.size {
        Size::Items(items) => Shape::from(items),
        Size::Blocks { grid, block } => Shape::from((grid, block)),
    };
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
            (ParamKind::Scalar(_), Arg::Value(bytes)) => given.push(Given::Value(bytes.clone())),
            (ParamKind::Scalar(ty), _) => {
                let message = format!("argument {number} is an address; `{}` is {ty}, give `value`", param.name);
                return Err(Failure::arguments(message));
            }
            (ParamKind::Buffer { .. }, Arg::Value(bytes)) => given.push(Given::Value(bytes.clone())),
            (ParamKind::Buffer { .. }, _) => given.push(Given::Address(number)),
        }
    }
    let via = how.via.unwrap_or(if how.engine == Engine::Interp { Via::Ir } else { Via::Halu });
    let run = Run { module: &module, kernel: number, given: &given, shape, via, is_imported: false };
    run.launch(request, how)
}

/// What a parameter of the kernel is given.
pub(super) enum Given {
    /// Bytes.
    Value(Vec<u8>),
    /// The address that the argument of that number is.
    Address(usize),
}

/// A kernel to run, and what its parameters are given.
pub(super) struct Run<'a> {
    pub module: &'a Module,
    /// By number.
    pub kernel: usize,
    pub given: &'a [Given],
    pub shape: Shape,
    pub via: Via,
    /// Whether the text says less of its parameters than the kernel.
    pub is_imported: bool,
}

impl Run<'_> {
    /// Runs it on the request's arguments.
    pub fn launch(&self, request: &mut Request, how: &How<'_>) -> Result<(), Failure> {
        let Some(kernel) = self.module.ir().kernels.get(self.kernel) else {
            return Err(Failure::arguments("the text has no kernel"));
        };
        let mut args = self.bind(kernel, &request.args)?;
        let program = match self.target(request)? {
            None => None,
            Some(target) => Some(self.compile(target, how)?),
        };
        let budget = u32::try_from(request.budget).unwrap_or(u32::MAX);
        let evaluate = |args: &mut [Vec<u8>]| {
            let fault = evaluate_watched(kernel, self.shape, budget, how.watchdog, args).err();
            fault.map_or(Ok(()), |fault| Err(Failure::of_fault(&fault, kernel, &self.shape, &request.text)))
        };
        match &program {
            None => evaluate(&mut args)?,
            Some(program) => {
                if how.races {
                    evaluate(&mut args.clone())?;
                }
                let Some(words) = program.kernels().first() else {
                    return Err(Failure::new(Kind::Refused, "the kernel has no words"));
                };
                let order = Order { budget: request.budget, watchdog: how.watchdog, ..Order::from(how.engine) };
                execute(words, order, self.shape, &mut args).map_err(|error| Failure::of_launch(&error))?;
            }
        }
        for ((param, given), result) in kernel.given_params().iter().zip(self.given).zip(args) {
            if let (true, &Given::Address(number)) = (is_written(param.kind), given)
                && let Some(Arg::Buffer { bytes, .. }) = request.args.get_mut(number)
            {
                *bytes = result;
            }
        }
        Ok(())
    }

    /// What the kernel is compiled for; none where it is evaluated.
    fn target(&self, request: &Request) -> Result<Option<Target>, Failure> {
        match self.via {
            Via::Ir => Ok(None),
            Via::Halu => Ok(Some(halfbyte::HALU)),
            Via::Ptx | Via::Recompiled => {
                let number = request.machine.map_or(Sm::DEFAULT.number(), |machine| machine.sm);
                if let Some(sm) = Sm::new(number) {
                    return Ok(Some(halfbyte::ptx(sm)));
                }
                let known = Sm::names();
                Err(Failure::arguments(format!("PTX is not made for sm_{number}; `sm` is one of {known}")))
            }
        }
    }

    fn compile(&self, target: Target, how: &How<'_>) -> Result<Program, Failure> {
        let kernels = self.module.ir().kernels.get(self.kernel..=self.kernel).unwrap_or_default();
        let (watchdog, several_axes) = (how.watchdog.cloned(), !self.shape.is_along_x());
        let options = pipeline::Options { watchdog, several_axes, ..pipeline::Options::new(target) };
        let compiled = pipeline::compile(self.module, kernels, &options, &mut |_| {});
        let binary = compiled.map_err(|error| {
            let kind = if error.exceeded().is_some() { Kind::Limit } else { Kind::Refused };
            match error.diagnostics().first() {
                Some(first) => Failure::of_diagnostic(kind, first, self.module.text()),
                None => Failure::new(kind, error.to_string()),
            }
        })?;
        halfbyte::TARGETS.load(&binary.object).map_err(|error| Failure::new(Kind::Refused, error.to_string()))
    }

    /// The bytes of each parameter.
    fn bind(&self, kernel: &halfbyte_ir::Kernel, args: &[Arg]) -> Result<Vec<Vec<u8>>, Failure> {
        let params = kernel.given_params().iter().zip(self.given);
        params.map(|(param, given)| self.bytes(kernel, param, given, args)).collect()
    }

    fn bytes(
        &self,
        kernel: &halfbyte_ir::Kernel,
        param: &halfbyte_ir::Param,
        given: &Given,
        args: &[Arg],
    ) -> Result<Vec<u8>, Failure> {
        let (via, name) = (self.via.name(), &param.name);
        let number = match (param.kind, given) {
            (ParamKind::Scalar(_), Given::Value(bytes)) => return Ok(bytes.clone()),
            (ParamKind::Scalar(ty), &Given::Address(number)) => {
                // The kernel reaches no memory by it.
                let address = match args.get(number) {
                    Some(&Arg::Alias { arg, offset }) => address(args, arg, offset, &format!("argument {number}"))?,
                    _ => buffer_base(number),
                };
                return Ok(address.to_le_bytes().get(..ty.bytes() as usize).unwrap_or_default().to_vec());
            }
            // Null is the address of a buffer without bytes.
            (ParamKind::Buffer { .. }, Given::Value(bytes))
                if self.is_imported && bytes.iter().all(|&byte| byte == 0) =>
            {
                return Ok(Vec::new());
            }
            (ParamKind::Buffer { .. }, Given::Value(_)) => {
                // Of a text in PTX an address may be a value too, such as null or within a structure.
                let kind = if self.is_imported { Kind::Unsupported } else { Kind::Arguments };
                let message = format!("via {via} `{name}` is the address of memory; give `buffer`, `zeros` or `alias`");
                return Err(Failure::new(kind, message));
            }
            (ParamKind::Buffer { .. }, &Given::Address(number)) => number,
        };
        let bytes = match args.get(number) {
            Some(&Arg::Alias { arg, offset }) => self.alias(kernel, number, (arg, offset), args)?,
            _ => bytes_of(args, number).unwrap_or_default(),
        };
        let size = ty(param.kind).bytes() as usize;
        if !bytes.len().is_multiple_of(size) {
            let found = bytes.len();
            let message =
                format!("via {via} `{name}` is elements of {size} bytes; argument {number} has {found} bytes");
            return Err(Failure::new(if self.is_imported { Kind::Unsupported } else { Kind::Arguments }, message));
        }
        Ok(bytes.to_vec())
    }

    /// What an alias points to: a copy will do where neither is written.
    fn alias<'a>(
        &self,
        kernel: &halfbyte_ir::Kernel,
        number: usize,
        (arg, offset): (usize, u64),
        args: &'a [Arg],
    ) -> Result<&'a [u8], Failure> {
        address(args, arg, offset, &format!("argument {number}"))?;
        let given = kernel.given_params().iter().zip(self.given);
        let points_there = |given: &Given| {
            let &Given::Address(other) = given else { return false };
            other == arg || matches!(args.get(other), Some(Arg::Alias { arg: of, .. }) if *of == arg)
        };
        let mut written = given.filter(|(param, given)| points_there(given) && is_written(param.kind));
        let via = self.via.name();
        if let Some((param, _)) = written.next() {
            let message = format!(
                "argument {number} points into the buffer of argument {arg}, which the kernel writes (`{}`); via {via} an alias is only read",
                param.name
            );
            return Err(Failure::arguments(message));
        }
        if offset % ALIAS != 0 {
            let message =
                format!("argument {number} points to byte {offset}; via {via} an alias is a multiple of {ALIAS}");
            return Err(Failure::arguments(message));
        }
        let bytes = bytes_of(args, arg).unwrap_or_default();
        Ok(bytes.get(offset as usize..).unwrap_or_default())
    }
}

/// What the place of an alias is a multiple of, so that what is aligned there is aligned in the copy, and the other way round:
/// the widest access.
const ALIAS: u64 = 16;

/// The type of a scalar or of a buffer's elements.
fn ty(kind: ParamKind) -> Type {
    match kind {
        ParamKind::Scalar(ty) | ParamKind::Buffer { elem: ty, .. } => ty,
    }
}

fn is_written(kind: ParamKind) -> bool {
    matches!(kind, ParamKind::Buffer { direction: Direction::Out | Direction::InOut, .. })
}
