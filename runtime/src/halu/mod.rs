//! Execution of HALU kernels. Each work item has its own registers and local memory.

mod group;
mod interp;
#[cfg(not(feature = "jit"))]
#[path = "no_jit.rs"]
mod jit;
mod launch_cache;
mod memory;
mod state;

use std::mem::take;
use std::sync::{Arc, OnceLock};

use halfbyte_abi::{GROUP_SIZE_OFFSET, ParamKind, Shape, ShapeError};
use halfbyte_isa::halu::domain::SpecialReg;
use halfbyte_isa::halu::fields::IMM32;
use halfbyte_isa::halu::meaning::{has_strong_result, may_access_scratch, needs_group_execution};
use halfbyte_isa::halu::{self as isa, Inst, Opcode, Word};
use halfbyte_isa::isa::{Isa, SharedCode};
use halfbyte_isa::object::{KernelInfo, Loc};
use halfbyte_isa::row::{Address, OperandKind};

use crate::arguments::Arguments;
use crate::error::LaunchError;
use crate::kernel::Kernel;
use crate::kernel::{Executable, Machine, OTHER_CODE};
use group::run_group;
use halfbyte_abi::Engine;
use halfbyte_abi::Stats;
use halfbyte_isa::trap::Halt;
#[cfg(feature = "aot")]
use halfbyte_native::aot::{self, Kernel as _};
use halfbyte_native::clif::Translation;
#[cfg(feature = "jit")]
use halfbyte_native::halu as jit;
#[cfg(feature = "jit")]
use halfbyte_native::jit::{Repeat, Stop};
use halfbyte_native::launch::LaunchOptions;
use halfbyte_native::launch::Pointer;
use interp::{Progress, run};
use jit::Jit;
#[cfg(not(feature = "jit"))]
use jit::{Repeat, Stop};
use launch_cache::LaunchCache;
use memory::Memory;
use state::Registers;

#[cfg(feature = "jit")]
pub use halfbyte_native::jit::native_effects;
#[cfg(not(feature = "jit"))]
pub use jit::native_effects;

/// The HALU machine.
#[derive(Clone, Copy, Debug)]
pub struct Halu;

impl Machine for Halu {
    fn isa(&self) -> &'static dyn Isa {
        &isa::Halu
    }

    fn runs(&self, engine: Engine) -> bool {
        !matches!(engine, Engine::Cuda)
    }

    fn prepare(&self, info: &KernelInfo, words: &SharedCode, _: &[Loc]) -> Result<Arc<dyn Executable>, String> {
        let words = words.downcast_ref::<isa::HaluCode>().ok_or(OTHER_CODE)?;
        Ok(Arc::new(DecodedKernel::new(&words.0, info)))
    }
}

/// Maximum number of bytes that a launch may add to the shared memory that a kernel declares.
const MAX_LAUNCHED_SHARED: u32 = 1 << 20;

/// The decoded instructions of a kernel, with facts about its code.
#[derive(Clone, Debug)]
pub(crate) struct DecodedKernel {
    words: Vec<Word>,
    /// Number of general registers that the code uses: the highest register number plus one, RZ excluded.
    gprs: usize,
    /// `true` if the kernel must run group by group: its items synchronise, share memory, or read
    /// memory that other items may write at the same time.
    is_of_groups: bool,
    /// `true` if the kernel declares shared memory.
    has_shared: bool,
    /// `true` if native code supports all instructions of the kernel.
    is_native: bool,
    /// The special registers that the code reads.
    specials: Vec<SpecialReg>,
    /// The buffer addresses that constant bank 0 contains, computed on first use.
    pointers: OnceLock<Vec<Pointer>>,
    /// Constant bank 0 of a launch before the arguments are written, built on first use.
    blank: OnceLock<Vec<u8>>,
    jit: Jit,
}

impl DecodedKernel {
    pub(crate) fn new(words: &[u128], info: &KernelInfo) -> DecodedKernel {
        let has_shared = info.shared_bytes.is_some();
        let words: Vec<Word> = words.iter().copied().map(Word::decode).collect();
        let special = |word: &Word| match word {
            Word::Inst(inst) if inst.opcode() == Opcode::S2R => Some(SpecialReg::read_by(inst)),
            _ => None,
        };
        let mut specials = Vec::new();
        for register in words.iter().filter_map(special) {
            if !specials.contains(&register) {
                specials.push(register);
            }
        }
        let any = |holds: fn(&Inst) -> bool| words.iter().any(|word| matches!(word, Word::Inst(inst) if holds(inst)));
        let is_of_groups = has_shared || any(needs_group_execution);
        DecodedKernel {
            is_of_groups,
            has_shared,
            is_native: !(may_poll(&words)
                || any(may_access_scratch) && mixes_constant_and_computed_addresses(&words, info.scratch_bytes)),
            gprs: words.iter().map(Word::gprs).max().unwrap_or(0),
            words,
            specials,
            pointers: OnceLock::new(),
            blank: OnceLock::new(),
            jit: Jit::default(),
        }
    }
}

impl Executable for DecodedKernel {
    fn translation(&self) -> Option<Translation> {
        self.jit.translation()
    }

    fn takes_shared(&self) -> bool {
        self.has_shared
    }

    fn is_interpreted(&self) -> bool {
        !self.is_native
    }

    #[cfg(feature = "aot")]
    fn native(&self, kernel: &Kernel, into: &mut aot::Emit<'_, '_>) -> Result<(), aot::NotMade> {
        if !self.is_native {
            return Err(aot::Refusal::Waits.into());
        }
        let bytes = u32::from(kernel.signature().constant_bytes()).next_multiple_of(16);
        jit::native(&self.described(kernel, bytes), self.has_shared, kernel.described(), into)
    }

    fn launch(
        &self,
        kernel: &Kernel,
        order: LaunchOptions<'_>,
        args: &mut Arguments<'_>,
    ) -> Result<Stats, LaunchError> {
        let is_last = args.scratch.is_last();
        let before = if is_last { LaunchCache::of_thread(&self.jit) } else { args.scratch.take() };
        let mut kept = before.unwrap_or_default();
        if is_last || kept.constants.is_empty() {
            self.fill(&mut kept.constants, kernel, &args.scalars);
        }
        kept.launch(order.items, &order.shape);
        let LaunchCache { constants, local, repeat, .. } = &mut *kept;
        let mut memory = Memory {
            constants: take(constants),
            buffers: take(&mut args.buffers),
            local: take(local),
            scratch_bytes: kernel.info.scratch_bytes as usize,
            shared: Vec::new(),
            is_changed: false,
        };
        let done = self.run(kernel, order, &mut memory, repeat);
        args.buffers = memory.buffers;
        (kept.constants, kept.local) = (memory.constants, memory.local);
        match is_last {
            true => kept.leave_to_thread(),
            false => args.scratch.keep(kept),
        }
        done
    }
}

impl DecodedKernel {
    /// Returns the description of the kernel for the native engine. `constant_bytes` is the size in
    /// bytes of constant bank 0.
    fn described<'a>(&'a self, kernel: &Kernel, constant_bytes: u32) -> jit::Kernel<'a> {
        jit::Kernel {
            words: &self.words,
            constant_bytes,
            local_bytes: kernel.info.local_bytes,
            scratch_bytes: kernel.info.scratch_bytes,
            pointers: self.pointers.get_or_init(|| kernel.pointers().collect()),
            specials: &self.specials,
        }
    }

    /// Fills constant bank 0 with the arguments in `scalars`. The numbers of items and groups are written later. The
    /// size of the bank is rounded up, because code reads constants as 32-bit words.
    fn fill(&self, constants: &mut Vec<u8>, kernel: &Kernel, scalars: &[u128]) {
        let signature = kernel.signature();
        if constants.is_empty() {
            // Copying an existing blank bank is faster than a zeroed allocation, because allocators
            // rarely cache small zeroed blocks.
            let bytes = usize::from(signature.constant_bytes()).next_multiple_of(16);
            constants.clone_from(self.blank.get_or_init(|| vec![0; bytes]));
        }
        for ((param, &offset), bits) in signature.params().iter().zip(signature.offsets()).zip(scalars) {
            put(constants, offset, bits.to_le_bytes().split_at(param.kind.bytes().into()).0);
        }
    }

    fn run(
        &self,
        kernel: &Kernel,
        order: LaunchOptions<'_>,
        memory: &mut Memory<'_>,
        repeat: &mut Option<Box<Repeat>>,
    ) -> Result<Stats, LaunchError> {
        let LaunchOptions { items, shape, budget, engine, .. } = order;
        if self.is_of_groups {
            let refused = |error| LaunchError::Shape { kernel: kernel.signature().name().to_owned(), error };
            shape.check_gpu().map_err(refused)?;
            if shape.shared > MAX_LAUNCHED_SHARED {
                return Err(refused(ShapeError::Shared(shape.shared)));
            }
        }
        let size = shape.block.into_iter().product::<u32>().max(1);
        let bytes = kernel.info.shared_bytes.unwrap_or(0) as usize + shape.shared as usize;
        if let (Engine::Jit { threads }, true) = (engine, self.is_native) {
            let stopped = |stop, memory: &Memory<'_>| match stop {
                Stop::Fault(item, fault) => Box::new(kernel.trap_of(&shape, item, fault, &memory.buffers)).into(),
                Stop::Native(error) => kernel.native_error(error),
            };
            if let Some(repeat) = repeat
                && repeat.is(memory, &order, threads)
            {
                return repeat.run(memory, &order).map_err(|stop| stopped(stop, memory));
            }
            let [x, y, z] = shape.block;
            let offset = u32::from(GROUP_SIZE_OFFSET);
            let sizes = [(offset, x), (offset + 4, y), (offset + 8, z), (offset + 12, size)];
            let groups = jit::Groups { items: self.is_of_groups.then_some(size), shared_bytes: bytes, sizes: &sizes };
            let code = self.described(kernel, memory.constants.len() as u32);
            if let Some(ran) = self.jit.launch(&code, groups, memory, order, threads, repeat) {
                return ran.map_err(|stop| stopped(stop, memory));
            }
        }
        memory.buffers.zero_out_buffers();
        if self.is_of_groups {
            return self.run_groups(kernel, order, memory, (size, bytes));
        }
        let mut registers = Registers::new(shape);
        let mut stats = Stats::default();
        let mut work = order.work();
        memory.local.resize(kernel.info.local_bytes as usize, 0);
        for item in 0..items {
            registers.start(item, self.gprs);
            memory.local.fill(0);
            let mut progress = Progress::default();
            let done = run::<false>(&self.words, &mut progress, &mut registers, memory, budget, &mut work);
            done.map_err(|halt| kernel.halted(&shape, item, halt, memory))?;
            stats.issued += progress.stats.instructions;
            stats.backward_branches += progress.stats.backward;
            order.advance(1);
        }
        work.poll().map_err(|exceeded| kernel.exceeded(exceeded))?;
        Ok(stats)
    }

    /// Runs the groups of a launch in order. Each group has `size` items and `bytes` bytes of shared memory.
    fn run_groups(
        &self,
        kernel: &Kernel,
        order: LaunchOptions<'_>,
        memory: &mut Memory<'_>,
        (size, bytes): (u32, usize),
    ) -> Result<Stats, LaunchError> {
        let LaunchOptions { items, shape, budget, .. } = order;
        let (mut stats, mut work, mut slots) = (Stats::default(), order.work(), Vec::new());
        memory.local.resize(kernel.info.local_bytes as usize, 0);
        for first in (0..items).step_by(size as usize) {
            memory.shared.clear();
            memory.shared.resize(bytes, 0);
            let done = run_group(self, &shape, first, &mut slots, memory, budget, &mut work);
            let done = done.map_err(|(item, halt)| kernel.halted(&shape, item, halt, memory))?;
            stats.issued += done.instructions;
            stats.backward_branches += done.backward;
            order.advance(size);
        }
        work.poll().map_err(|exceeded| kernel.exceeded(exceeded))?;
        Ok(stats)
    }
}

/// Returns `true` if an item may poll memory: a loop contains a load whose value another item's store can change.
fn may_poll(words: &[Word]) -> bool {
    // A loop that contains an instruction has a backward branch. This branch starts at or after the
    // instruction, and its target is at or before the instruction.
    let mut loops = Vec::new();
    for (address, word) in (0i64..).zip(words) {
        if let Word::Inst(inst) = word
            && inst.opcode() == Opcode::BRA
        {
            let target = address + inst.get_signed(IMM32);
            if target <= address {
                loops.push(target..=address);
            }
        }
    }
    let polls = |word: &Word| matches!(word, Word::Inst(inst) if has_strong_result(inst));
    (0i64..).zip(words).any(|(address, word)| polls(word) && loops.iter().any(|around| around.contains(&address)))
}

/// Returns `true` if one instruction accesses scratch memory at a constant offset, and another
/// instruction accesses it at a computed address.
fn mixes_constant_and_computed_addresses(words: &[Word], scratch_bytes: u32) -> bool {
    let names = |word: &Word| {
        let Word::Inst(inst) = word else { return false };
        inst.row().operands.iter().any(|operand| match operand.kind {
            OperandKind::Memory { address: Address::Local { imm }, .. } => imm.get(inst.word()) < scratch_bytes.into(),
            _ => false,
        })
    };
    words.iter().any(names)
}

impl Kernel {
    /// Converts the trap or limit that ended a launch early to a launch error.
    fn halted(&self, shape: &Shape, item: u32, halt: Halt, memory: &Memory<'_>) -> LaunchError {
        match halt {
            Halt::Fault(fault) => Box::new(self.trap_of(shape, item, fault, &memory.buffers)).into(),
            Halt::Exceeded(exceeded) => self.exceeded(exceeded),
        }
    }

    /// Returns the parameters that hold buffer addresses.
    fn pointers(&self) -> impl Iterator<Item = Pointer> {
        let params = self.signature().params().iter().zip(self.signature().offsets());
        let buffers = params.filter(|(param, _)| matches!(param.kind, ParamKind::Buffer { .. }));
        buffers.map(|(param, &offset)| Pointer { offset: offset.into(), is_unique: param.kind.is_unique() })
    }
}

fn put(constants: &mut [u8], offset: u16, bytes: &[u8]) {
    let start = usize::from(offset);
    if let Some(place) = constants.get_mut(start..start + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}
