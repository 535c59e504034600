//! Launches of the functions that objects have of kernels, in the memory of this process.

use std::ops::Range;

use halfbyte_abi::{Alias, ParamKind, buffer_base};
use halfbyte_ir::eval;
use halfbyte_runtime::aot::{Error, Loaded, Options, Status, Trapped, load};
use halfbyte_runtime::{Arg, Kernel};

use crate::trial::Launch;
use memmap2::{MmapMut, MmapOptions};

/// The function of a kernel.
pub(crate) struct Ahead(Loaded);

/// What a launch came to.
pub(crate) struct Called {
    /// Why it stopped, if it did.
    pub stopped: Option<Trapped>,
    /// The arguments after it.
    pub args: Vec<Vec<u8>>,
    /// By parameter, where its buffer was.
    bases: Vec<Option<u64>>,
}

impl Ahead {
    /// The function of a kernel; none where kernels like it have none.
    ///
    /// # Errors
    /// A defect of the engine.
    pub fn new(kernel: &Kernel, budget: u32) -> Result<Option<Ahead>, Error> {
        match Ahead::load(kernel, budget.into()) {
            Ok(ahead) => Ok(Some(ahead)),
            Err(Error::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The function of a kernel.
    ///
    /// # Errors
    /// Kernels like it have none; a defect of the engine.
    pub fn load(kernel: &Kernel, budget: u64) -> Result<Ahead, Error> {
        let mut options = Options::default();
        options.budget = budget;
        Ok(Ahead(load(&[("kernel", kernel)], &options)?))
    }

    /// Whether the function takes grid and block. One that does not numbers its items along x alone.
    pub fn takes_grid(&self) -> bool {
        self.0.functions.first().is_some_and(|function| function.takes_grid)
    }

    /// Calls it. Buffers are aligned as their parameters say, and no more than that.
    pub fn call(&self, launch: &Launch) -> Called {
        let params = self.0.functions.first().map_or(&[][..], |function| &function.parameters);
        let alias_of = |number: usize| launch.aliases.iter().find(|alias| alias.param == number);
        let aligns = params.iter().map(|param| match param.kind {
            ParamKind::Buffer { align, .. } => align as usize,
            ParamKind::Scalar(_) => 1,
        });
        let mut memory = Memory::new(aligns.zip(&launch.args).map(|(align, bytes)| (bytes.as_slice(), align)));
        let mut memory = memory.places();
        let base = |memory: &&mut [u8]| memory.as_ptr().addr() as u64;
        let bases = (params.iter().enumerate())
            .map(|(number, param)| {
                let own = memory.get(number).filter(|_| matches!(param.kind, ParamKind::Buffer { .. }))?;
                alias_of(number)
                    .map_or_else(|| Some(base(own)), |alias| Some(base(memory.get(alias.of)?) + alias.offset))
            })
            .collect();
        let mut args: Vec<Arg<'_>> = (params.iter().zip(&mut memory).zip(&launch.args).enumerate())
            .map(|(number, ((param, memory), bytes))| match (param.kind, alias_of(number)) {
                (ParamKind::Scalar(_), _) => {
                    Arg::Scalar(bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte)))
                }
                (ParamKind::Buffer { .. }, Some(&Alias { of, offset, .. })) => Arg::Alias { of, offset },
                (ParamKind::Buffer { .. }, None) => Arg::Buffer(memory),
            })
            .collect();
        let stopped = self.0.call(0, &launch.shape, &mut args).err();
        drop(args);
        let mut args: Vec<Vec<u8>> = memory.iter().map(|memory| memory.to_vec()).collect();
        halfbyte::launch::show_aliases(params.iter().map(|param| param.kind), &launch.aliases, &mut args);
        Called { stopped, args, bases }
    }
}

/// The arguments of a launch in memory, each at a multiple of its alignment that is none of twice that. They are so far apart that no access of
/// a kernel to one, however wrong, is an access to another.
struct Memory {
    bytes: Bytes,
    /// Where each is in it.
    places: Vec<Range<usize>>,
}

enum Bytes {
    /// Of the address space; what is not touched takes none.
    Mapped(MmapMut),
    /// Where there is not so much of that.
    Allocated(Vec<u8>),
}

/// Bytes from an argument to the next: what 64 times an index and an offset reach.
const SPACING: usize = 1 << 39;

impl Memory {
    fn new<'a>(args: impl Iterator<Item = (&'a [u8], usize)> + Clone) -> Memory {
        let mapped = SPACING.checked_mul(args.clone().count().max(1));
        let mapped = mapped.and_then(|len| MmapOptions::new().len(len).no_reserve_swap().map_anon().ok());
        let (bytes, spacing) = match mapped {
            Some(mapped) => (Bytes::Mapped(mapped), SPACING),
            None => {
                let most = args.clone().map(|(bytes, align)| bytes.len() + 3 * align).max().unwrap_or(0);
                (Bytes::Allocated(vec![0xAA; most * args.clone().count()]), most)
            }
        };
        let mut memory = Memory { bytes, places: Vec::new() };
        let start = memory.all().as_ptr().addr();
        for (number, (bytes, align)) in args.enumerate() {
            let first = number * spacing;
            let misaligned = (start + first) % (2 * align);
            let first = first + (3 * align - misaligned) % (2 * align);
            if let Some(place) = memory.all().get_mut(first..first + bytes.len()) {
                place.copy_from_slice(bytes);
            }
            memory.places.push(first..first + bytes.len());
        }
        memory
    }

    fn all(&mut self) -> &mut [u8] {
        match &mut self.bytes {
            Bytes::Mapped(bytes) => bytes,
            Bytes::Allocated(bytes) => bytes,
        }
    }

    /// The arguments.
    fn places(&mut self) -> Vec<&mut [u8]> {
        let places = self.places.clone();
        let (mut rest, mut done) = (self.all(), 0);
        let mut all = Vec::with_capacity(places.len());
        for Range { start, end } in places {
            let (_, after) = rest.split_at_mut(start - done);
            let (place, after) = after.split_at_mut(end - start);
            all.push(place);
            (rest, done) = (after, end);
        }
        all
    }
}

impl Called {
    /// Whether it stopped where an item traps on the evaluator. An access may be made in parts; memory of an item has addresses of its own.
    pub fn is_stopped_by(&self, found: &Trapped, trap: &eval::Trap, line: u32, is_own: bool) -> bool {
        if found.item != trap.item {
            return false;
        }
        let (status, at, bytes) = match trap.kind {
            // The branch that is one too many may be another.
            eval::TrapKind::Budget { .. } => return found.status == Status::Budget,
            eval::TrapKind::OutOfBounds { address, bytes } => (Status::OutOfBounds, address, bytes.into()),
            eval::TrapKind::Misaligned { address, .. } => (Status::Misaligned, address, 1),
            eval::TrapKind::ReadOnly { address, .. } => (Status::ReadOnly, address, 1),
            _ => return false,
        };
        let is_there = |(number, base): (usize, &Option<u64>)| {
            let offset = at.wrapping_sub(buffer_base(number));
            base.is_some_and(|base| found.address.wrapping_sub(base).wrapping_sub(offset) < bytes)
        };
        found.status == status && found.line == line && (is_own || self.bases.iter().enumerate().any(is_there))
    }
}
