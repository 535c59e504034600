//! Launches: arguments are checked against the kernel's signature, then every work item runs.

use halfbyte_isa::abi::{DEFAULT_BUDGET, Direction, ElemType, ITEM_COUNT_OFFSET, Param, ParamKind, buffer_base};
use thiserror::Error;

use crate::interp::{Fault, run_item};
use crate::load::{Kernel, Word};
use crate::memory::{Buffer, Bytes, Memory};
use crate::state::Registers;
use crate::trap::Trap;

/// An argument of a launch.
#[derive(Debug)]
pub enum Arg<'a> {
    /// A scalar, by its bits; those beyond its type are zero.
    Scalar(u128),
    /// An `in` buffer.
    In(&'a [u8]),
    /// A buffer of any direction. A launch starts by making an `out` buffer all zero.
    Buffer(&'a mut [u8]),
}

/// How a kernel is launched.
#[derive(Debug)]
pub struct Launch<'a, 'b> {
    /// The number of work items, from item 0 up. None is allowed.
    pub items: u32,
    /// The arguments, in the order of the parameters.
    pub args: &'a mut [Arg<'b>],
    /// Backward branches that an item may take.
    pub budget: u64,
}

impl<'a, 'b> Launch<'a, 'b> {
    /// A launch with the default budget.
    pub fn new(items: u32, args: &'a mut [Arg<'b>]) -> Launch<'a, 'b> {
        Launch { items, args, budget: DEFAULT_BUDGET }
    }
}

/// What a launch did, over all items.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Instructions executed, those with a false guard included.
    pub instructions: u64,
    /// Backward branches taken.
    pub backward_branches: u64,
}

/// Why a launch gave no result.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LaunchError {
    /// Not as many arguments as parameters.
    #[error("kernel `{kernel}` takes {expected} arguments; found {found}")]
    Count {
        /// The kernel.
        kernel: String,
        /// Its parameters.
        expected: usize,
        /// The arguments.
        found: usize,
    },
    /// A scalar for a buffer, or a buffer for a scalar.
    #[error("argument `{param}` of kernel `{kernel}` must be {expected}; found {found}")]
    Kind {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
        /// What the parameter is.
        expected: String,
        /// What the argument is.
        found: &'static str,
    },
    /// A scalar with bits beyond its type.
    #[error("argument `{param}` of kernel `{kernel}`: {bits:#x} does not fit {ty}")]
    Scalar {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
        /// The parameter's type.
        ty: ElemType,
        /// The argument.
        bits: u128,
    },
    /// A buffer that is not a whole number of elements.
    #[error("argument `{param}` of kernel `{kernel}` has {found} bytes; expected a multiple of {} for {elem}", elem.bytes())]
    Size {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
        /// The type of its elements.
        elem: ElemType,
        /// Bytes of the argument.
        found: usize,
    },
    /// A work item trapped.
    #[error(transparent)]
    Trap(#[from] Box<Trap>),
}

impl Kernel {
    /// Runs the kernel's work items.
    ///
    /// Buffers lie at addresses of their own ([`buffer_base`]), which meet every alignment that a parameter may ask for,
    /// wherever the slices are.
    ///
    /// # Errors
    /// Arguments that do not fit the signature: then nothing was run or written. A trap: then the buffers hold no result.
    pub fn launch(&self, launch: Launch<'_, '_>) -> Result<Stats, LaunchError> {
        let Launch { items, args, budget } = launch;
        let mut memory = self.memory(items, args)?;
        let mut registers = Registers::new();
        let mut stats = Stats::default();
        for item in 0..items {
            registers.start(item, self.gprs);
            memory.local.fill(0);
            let done = run_item(&self.words, &mut registers, &mut memory, budget);
            let done = done.map_err(|fault| Box::new(self.trap(item, fault)))?;
            stats.instructions += done.instructions;
            stats.backward_branches += done.backward;
        }
        Ok(stats)
    }

    /// Checks all arguments, then makes the memories at the start of the launch.
    fn memory<'a>(&'a self, items: u32, args: &'a mut [Arg<'_>]) -> Result<Memory<'a>, LaunchError> {
        let signature = self.signature();
        let (params, found) = (signature.params(), args.len());
        if params.len() != found {
            let kernel = signature.name().to_owned();
            return Err(LaunchError::Count { kernel, expected: params.len(), found });
        }
        params.iter().zip(args.iter()).try_for_each(|(param, arg)| self.check(param, arg))?;

        // Bank 0 is read in words, up to the one that holds the last parameter's end.
        let mut constants = vec![0; usize::from(signature.constant_bytes()).next_multiple_of(16)];
        let mut put = |offset: u16, bytes: &[u8]| {
            let place = constants.iter_mut().skip(offset.into());
            place.zip(bytes).for_each(|(place, byte)| *place = *byte);
        };
        put(ITEM_COUNT_OFFSET, &items.to_le_bytes());
        let mut buffers = Vec::with_capacity(params.len());
        for (k, ((param, &offset), arg)) in params.iter().zip(signature.offsets()).zip(args).enumerate() {
            let bytes = match (param.kind, arg) {
                (_, Arg::Scalar(bits)) => {
                    put(offset, bits.to_le_bytes().split_at(param.kind.bytes().into()).0);
                    buffers.push(None);
                    continue;
                }
                (_, Arg::In(bytes)) => Bytes::ReadOnly(bytes),
                (ParamKind::Buffer { direction: Direction::In, .. }, Arg::Buffer(bytes)) => Bytes::ReadOnly(bytes),
                (ParamKind::Buffer { direction: Direction::Out, .. }, Arg::Buffer(bytes)) => {
                    bytes.fill(0);
                    Bytes::Mutable(bytes)
                }
                (_, Arg::Buffer(bytes)) => Bytes::Mutable(bytes),
            };
            put(offset, &buffer_base(k).to_le_bytes());
            buffers.push(Some(Buffer { name: &param.name, bytes }));
        }
        Ok(Memory { constants, buffers, local: vec![0; self.info.local_bytes as usize] })
    }

    fn check(&self, param: &Param, arg: &Arg<'_>) -> Result<(), LaunchError> {
        let names = || (self.signature().name().to_owned(), param.name.clone());
        let size = |elem: ElemType, found: usize| {
            if found.is_multiple_of(elem.bytes().into()) {
                return Ok(());
            }
            let (kernel, param) = names();
            Err(LaunchError::Size { kernel, param, elem, found })
        };
        match (param.kind, arg) {
            (ParamKind::Scalar(ty), &Arg::Scalar(bits)) if ty.bits() < 128 && bits >> ty.bits() != 0 => {
                let (kernel, param) = names();
                Err(LaunchError::Scalar { kernel, param, ty, bits })
            }
            (ParamKind::Scalar(_), Arg::Scalar(_)) => Ok(()),
            (ParamKind::Buffer { elem, .. }, Arg::Buffer(bytes)) => size(elem, bytes.len()),
            (ParamKind::Buffer { elem, direction: Direction::In, .. }, Arg::In(bytes)) => size(elem, bytes.len()),
            (kind, arg) => {
                let (kernel, param) = names();
                let expected = match kind {
                    ParamKind::Scalar(ty) => format!("a scalar {ty}"),
                    ParamKind::Buffer { elem, direction, .. } => {
                        format!("an `{}` buffer of {elem}", direction.name())
                    }
                };
                let found = match arg {
                    Arg::Scalar(_) => "a scalar",
                    Arg::In(_) => "a read-only buffer",
                    Arg::Buffer(_) => "a buffer",
                };
                Err(LaunchError::Kind { kernel, param, expected, found })
            }
        }
    }

    /// The trap of a fault: what is known of the word it happened at.
    fn trap(&self, item: u32, fault: Fault) -> Trap {
        let Fault { address, kind } = fault;
        let instruction = match self.words.get(address) {
            Some(Word::Inst(inst)) => inst.to_string(),
            Some(Word::Undefined(word)) => format!(".word {word:#034x}"),
            None => String::new(),
        };
        Trap {
            kernel: self.signature().name().to_owned(),
            item,
            address: address as u32,
            instruction,
            source: self.source.to_string(),
            loc: self.locs.get(address).copied().unwrap_or_default(),
            kind,
        }
    }
}
