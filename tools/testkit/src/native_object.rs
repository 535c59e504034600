//! Launches of kernels that are compiled ahead of time to native objects and loaded into this process.

use std::ops::Range;

use halfbyte_abi::{Alias, ParamKind, buffer_base};
use halfbyte_ir::eval;
use halfbyte_runtime::aot::{Error, Loaded, Options, Status, Trapped, load};
use halfbyte_runtime::{Arg, Kernel};

use crate::trial::Launch;
use memmap2::{MmapMut, MmapOptions};

/// A kernel's native function, loaded from an object.
pub(crate) struct NativeKernel(Loaded);

/// The result of a call of a native function.
pub(crate) struct LaunchResult {
    /// The trap that stopped the launch, if any.
    pub stopped: Option<Trapped>,
    /// The contents of the arguments after the launch.
    pub args: Vec<Vec<u8>>,
    /// The address of each parameter's buffer; `None` for a scalar.
    bases: Vec<Option<u64>>,
}

impl NativeKernel {
    /// Compiles a kernel to a native object and loads its function. Returns `None` if native
    /// objects do not support the kernel.
    ///
    /// # Errors
    /// Fails if the native engine has a defect.
    pub(crate) fn new(kernel: &Kernel, budget: u32) -> Result<Option<NativeKernel>, Error> {
        match NativeKernel::load(kernel, budget.into()) {
            Ok(ahead) => Ok(Some(ahead)),
            Err(Error::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Compiles a kernel to a native object and loads its function.
    ///
    /// # Errors
    /// Fails if native objects do not support the kernel, or if the native engine has a defect.
    pub(crate) fn load(kernel: &Kernel, budget: u64) -> Result<NativeKernel, Error> {
        let mut options = Options::default();
        options.budget = budget;
        Ok(NativeKernel(load(&[("kernel", kernel)], &options)?))
    }

    /// Returns `true` if the function takes the sizes of a grid and a block. Any other function
    /// takes only a number of items along x.
    pub(crate) fn takes_grid(&self) -> bool {
        self.0.functions.first().is_some_and(|function| function.takes_grid)
    }

    /// Calls the function. To find wrong assumptions on alignment, each buffer's address is a
    /// multiple of its parameter's alignment, but not of a larger power of two.
    pub(crate) fn call(&self, launch: &Launch) -> LaunchResult {
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
        LaunchResult { stopped, args, bases }
    }
}

/// The memory of a launch's arguments. The address of each argument is a multiple of its alignment,
/// but not of twice its alignment. The distance between arguments is so large that an out-of-bounds
/// access to one of them cannot reach another.
struct Memory {
    bytes: Bytes,
    /// The byte range of each argument.
    places: Vec<Range<usize>>,
}

enum Bytes {
    /// Reserved address space; pages that are never touched take no memory.
    Mapped(MmapMut),
    /// Heap memory, if the address space cannot be reserved.
    Allocated(Vec<u8>),
}

/// Distance in bytes between the addresses of two arguments: twice the range of a 32-bit index of 64-byte elements
/// (2^38 bytes). The factor of 2 leaves room for an offset.
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

impl LaunchResult {
    /// Returns `true` if the function's trap is the one that the evaluator found. Native code may split an access into
    /// parts, so any address within the access matches. If `is_own` is set, the access is to an array that the kernel
    /// declares; its address differs in native code and is not compared.
    pub(crate) fn has_same_trap(&self, found: &Trapped, trap: &eval::Trap, line: u32, is_own: bool) -> bool {
        if found.item != trap.item {
            return false;
        }
        let (status, at, bytes) = match trap.kind {
            // The evaluator and the function may exceed the budget at different branches, so the line is not compared.
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
