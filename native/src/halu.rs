//! Native code for kernels of HALU.

use std::num::NonZero;

use halfbyte_abi::Stats;
#[cfg(feature = "aot")]
use halfbyte_abi::{Axis, GROUP_COUNT_OFFSET, GROUP_SIZE_OFFSET, ITEM_COUNT_OFFSET};
use halfbyte_isa::halu::Word;
use halfbyte_isa::halu::domain::SpecialReg;

#[cfg(feature = "aot")]
use crate::aot::{Bank, Count, Described, Emit, NotMade, Source};
use crate::clif::Translation;
use crate::jit::{self, Reached, Repeat, Stop, Words};
use crate::launch::{LaunchOptions, Pointer};

/// Machine code of a kernel, with the facts that the engine needs.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'a> {
    /// Instruction words of the kernel.
    pub words: &'a [Word],
    /// Number of bytes of constant bank 0.
    pub constant_bytes: u32,
    /// Number of bytes of local memory of an item.
    pub local_bytes: u32,
    /// Number of bytes of local memory that the kernel declares.
    pub scratch_bytes: u32,
    /// The addresses of buffers in constant bank 0.
    pub pointers: &'a [Pointer],
    /// Special registers that the instructions read.
    pub specials: &'a [SpecialReg],
}

/// The groups of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a> {
    /// Number of items of a group, or `None` if the kernel does not synchronise its items.
    pub items: Option<u32>,
    /// Number of bytes of shared memory.
    pub shared_bytes: usize,
    /// Words of constant bank 0 that depend on the size of a group, each with its offset.
    pub sizes: &'a [(u32, u32)],
}

/// Native code of a kernel, compiled at the first launch.
#[derive(Clone, Debug, Default)]
pub struct Jit(jit::Jit);

impl Jit {
    /// Runs all items of a launch. Returns `None` if the kernel is too large for native code.
    pub fn launch<'m>(
        &self,
        kernel: &Kernel<'_>,
        groups: Groups<'_>,
        memory: &mut impl Reached<'m>,
        order: LaunchOptions<'_>,
        threads: NonZero<u16>,
        repeat: &mut Option<Box<Repeat>>,
    ) -> Option<Result<Stats, Stop>> {
        let &Kernel { words, constant_bytes, local_bytes, scratch_bytes, pointers, specials } = kernel;
        let words = jit::Kernel {
            front: &Words { words, constant_bytes, local_bytes },
            sizes: groups.sizes,
            pointers,
            specials,
            groups: groups.items,
            shared_bytes: groups.shared_bytes,
            scratch_bytes: scratch_bytes as usize,
            scratch_start: 0,
        };
        self.0.launch(&words, memory, order, threads, Some(repeat))
    }

    /// Returns the cost of the translation, or `None` before the first launch.
    pub fn translation(&self) -> Option<Translation> {
        self.0.translation()
    }

    /// Returns `true` if a launch that can be repeated runs this code.
    pub fn is_of(&self, repeat: &Repeat) -> bool {
        repeat.is_of(&self.0)
    }
}

/// Adds a kernel's function to a native object.
///
/// # Errors
/// The kernel does something that no function of an object supports.
#[cfg(feature = "aot")]
pub fn native(
    kernel: &Kernel<'_>,
    has_shared: bool,
    described: Described<'_>,
    into: &mut Emit<'_, '_>,
) -> Result<(), NotMade> {
    let &Kernel { words, constant_bytes, local_bytes, scratch_bytes, pointers, specials } = kernel;
    let axes = || Axis::ALL.map(Some).into_iter().chain([None]);
    let groups = [(GROUP_SIZE_OFFSET, Count::Block as fn(_) -> _), (GROUP_COUNT_OFFSET, Count::Grid)];
    let of_groups = groups.into_iter().flat_map(|(start, count)| {
        (u32::from(start)..).step_by(4).zip(axes()).map(move |(at, axis)| (at, count(axis)))
    });
    let bank = Bank {
        bytes: constant_bytes,
        params: described.signature().offsets().iter().map(|&offset| offset.into()).collect(),
        launch: of_groups.chain([(ITEM_COUNT_OFFSET.into(), Count::Items)]).collect(),
        parts: vec![[0, constant_bytes]],
    };
    let front = &Words { words, constant_bytes, local_bytes };
    into.add(described, &Source { front, pointers, specials, bank, scratch_bytes, scratch_start: 0, has_shared })
}
