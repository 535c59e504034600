//! HALU: work items one after another, each with registers and local memory of its own.

mod group;
mod interp;
#[cfg_attr(not(feature = "jit"), path = "no_jit.rs")]
pub(crate) mod jit;
mod kept;
mod memory;
pub mod rows;
mod special;
mod state;

use std::mem::take;
use std::sync::{Arc, OnceLock};

#[cfg(feature = "aot")]
use halfbyte_abi::{Axis, GROUP_COUNT_OFFSET, ITEM_COUNT_OFFSET};
use halfbyte_abi::{GROUP_SIZE_OFFSET, ParamKind, Shape, ShapeError};
use halfbyte_isa::halu::domain::SpecialReg;
use halfbyte_isa::halu::fields::{IMM32, RZ};
use halfbyte_isa::halu::meaning::{asks, is_of_groups, reaches_scratch};
use halfbyte_isa::halu::{self as isa, Inst, Opcode};
use halfbyte_isa::isa::{Isa, Words};
use halfbyte_isa::object::{KernelInfo, Loc};
use halfbyte_isa::row::{Address, Kind, RegFile};

#[cfg(feature = "aot")]
use crate::aot;
use crate::arguments::Arguments;
use crate::engine::Engine;
use crate::error::LaunchError;
use crate::kernel::Kernel;
use crate::kernel::{Executable, Machine, OTHER_CODE};
use crate::launch::{Order, Stats};
use crate::native::Translation;
use crate::trap::Halt;
use group::run_group;
use interp::{Progress, run};
use jit::{Jit, Repeat, Stop};
use kept::Kept;
use memory::Memory;
use state::Registers;

pub use jit::native_effects;

/// The machine.
#[derive(Clone, Copy, Debug)]
pub struct Halu;

impl Machine for Halu {
    fn isa(&self) -> &'static dyn Isa {
        &isa::Halu
    }

    fn runs(&self, engine: Engine) -> bool {
        !matches!(engine, Engine::Cuda)
    }

    fn prepare(&self, info: &KernelInfo, words: &Words, _: &[Loc]) -> Result<Arc<dyn Executable>, String> {
        let words = words.downcast_ref::<isa::Code>().ok_or(OTHER_CODE)?;
        Ok(Arc::new(Code::new(&words.0, info)))
    }
}

/// Bytes of shared memory that a launch may ask for.
const MAX_LAUNCHED_SHARED: u32 = 1 << 20;

/// Words, decoded once.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    words: Vec<Word>,
    /// The highest general register named, plus one; RZ does not count.
    gprs: usize,
    /// Whether items meet, have memory together, or read what others may write meanwhile.
    is_of_groups: bool,
    /// Whether the kernel declares shared memory.
    has_shared: bool,
    /// Whether there is native code for all words.
    is_native: bool,
    /// The special registers that words read.
    specials: Vec<SpecialReg>,
    /// The addresses of buffers in constant bank 0, once they have been asked for.
    pointers: OnceLock<Vec<Pointer>>,
    /// Constant bank 0 without arguments, once it has been asked for.
    blank: OnceLock<Vec<u8>>,
    jit: Jit,
}

/// The address of a buffer in constant bank 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pointer {
    offset: u32,
    /// No other parameter's address leads into the buffer.
    is_unique: bool,
}

#[derive(Clone, Copy, Debug)]
enum Word {
    Inst(Inst),
    Undefined(u128),
}

impl Word {
    fn decode(word: u128) -> Word {
        Inst::decode(word).map_or(Word::Undefined(word), Word::Inst)
    }

    /// The highest general register named, plus one.
    fn gprs(&self) -> usize {
        let Word::Inst(inst) = self else { return 0 };
        let slots = inst.registers().iter().filter(|slot| slot.file == RegFile::Gpr);
        slots
            .map(|slot| (inst.get(slot.field) as usize, usize::from(slot.span)))
            .filter(|&(first, _)| first != usize::from(RZ))
            .map(|(first, span)| first + span)
            .max()
            .unwrap_or(0)
    }
}

impl Code {
    pub fn new(words: &[u128], info: &KernelInfo) -> Code {
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
        let is_of_groups = has_shared || any(is_of_groups);
        Code {
            is_of_groups,
            has_shared,
            is_native: !(may_wait(&words) || any(reaches_scratch) && has_two_names(&words, info.scratch_bytes)),
            gprs: words.iter().map(Word::gprs).max().unwrap_or(0),
            words,
            specials,
            pointers: OnceLock::new(),
            blank: OnceLock::new(),
            jit: Jit::default(),
        }
    }
}

impl Executable for Code {
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
        let signature = kernel.signature();
        let bytes = u32::from(signature.constant_bytes()).next_multiple_of(16);
        let words = jit::Words { words: &self.words, constant_bytes: bytes, local_bytes: kernel.info.local_bytes };
        let axes = || Axis::ALL.map(Some).into_iter().chain([None]);
        let groups = [(GROUP_SIZE_OFFSET, aot::Count::Block as fn(_) -> _), (GROUP_COUNT_OFFSET, aot::Count::Grid)];
        let of_groups = groups.into_iter().flat_map(|(start, count)| {
            (u32::from(start)..).step_by(4).zip(axes()).map(move |(at, axis)| (at, count(axis)))
        });
        let bank = aot::Bank {
            bytes,
            params: signature.offsets().iter().map(|&offset| offset.into()).collect(),
            launch: of_groups.chain([(ITEM_COUNT_OFFSET.into(), aot::Count::Items)]).collect(),
            parts: vec![[0, bytes]],
        };
        into.add(
            kernel,
            &aot::Source {
                front: &words,
                pointers: self.pointers.get_or_init(|| kernel.pointers().collect()),
                specials: &self.specials,
                bank,
                scratch_bytes: kernel.info.scratch_bytes,
                scratch_start: 0,
                has_shared: self.has_shared,
            },
        )
    }

    fn launch(&self, kernel: &Kernel, order: Order<'_>, args: &mut Arguments<'_>) -> Result<Stats, LaunchError> {
        let is_last = args.scratch.is_last();
        let before = if is_last { Kept::of_thread(&self.jit) } else { args.scratch.take() };
        let mut kept = before.unwrap_or_default();
        if is_last || kept.constants.is_empty() {
            self.fill(&mut kept.constants, kernel, &args.scalars);
        }
        kept.launch(order.items, &order.shape);
        let Kept { constants, local, repeat, .. } = &mut *kept;
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

impl Code {
    /// Makes constant bank 0 but for what is the launch's. It is read in words, up to the one that holds the last parameter's end.
    fn fill(&self, constants: &mut Vec<u8>, kernel: &Kernel, scalars: &[u128]) {
        let signature = kernel.signature();
        if constants.is_empty() {
            // An allocator has small pieces at hand, but hardly any that are zero: zeros are copied.
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
        order: Order<'_>,
        memory: &mut Memory<'_>,
        repeat: &mut Option<Box<Repeat>>,
    ) -> Result<Stats, LaunchError> {
        let Order { items, shape, budget, engine, .. } = order;
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
            let front = jit::Words {
                words: &self.words,
                constant_bytes: memory.constants.len() as u32,
                local_bytes: kernel.info.local_bytes,
            };
            let [x, y, z] = shape.block;
            let offset = u32::from(GROUP_SIZE_OFFSET);
            let sizes = [(offset, x), (offset + 4, y), (offset + 8, z), (offset + 12, size)];
            let words = jit::Kernel {
                front: &front,
                sizes: &sizes,
                pointers: self.pointers.get_or_init(|| kernel.pointers().collect()),
                specials: &self.specials,
                groups: self.is_of_groups.then_some(size),
                shared_bytes: bytes,
                scratch_bytes: kernel.info.scratch_bytes as usize,
                scratch_start: 0,
            };
            if let Some(ran) = self.jit.launch(&words, memory, order, threads, Some(repeat)) {
                return ran.map_err(|stop| stopped(stop, memory));
            }
        }
        memory.buffers.start();
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

    /// Runs group after group, each of so many items with so many bytes together.
    fn run_groups(
        &self,
        kernel: &Kernel,
        order: Order<'_>,
        memory: &mut Memory<'_>,
        (size, bytes): (u32, usize),
    ) -> Result<Stats, LaunchError> {
        let Order { items, shape, budget, .. } = order;
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

/// Whether an item may wait for others by asking again and again: it reads in a loop what they write.
fn may_wait(words: &[Word]) -> bool {
    // Every cycle through a word has a branch from that word, or from a later one, back to it or to an earlier one.
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
    let asks = |word: &Word| matches!(word, Word::Inst(inst) if asks(inst));
    (0i64..).zip(words).any(|(address, word)| asks(word) && loops.iter().any(|around| around.contains(&address)))
}

/// Whether instructions name by a constant what others of the kernel reach by addresses.
fn has_two_names(words: &[Word], scratch_bytes: u32) -> bool {
    let names = |word: &Word| {
        let Word::Inst(inst) = word else { return false };
        inst.row().operands.iter().any(|operand| match operand.kind {
            Kind::Memory { address: Address::Local { imm }, .. } => imm.get(inst.word()) < scratch_bytes.into(),
            _ => false,
        })
    };
    words.iter().any(names)
}

impl Kernel {
    /// Why a launch ends early.
    fn halted(&self, shape: &Shape, item: u32, halt: Halt, memory: &Memory<'_>) -> LaunchError {
        match halt {
            Halt::Fault(fault) => Box::new(self.trap_of(shape, item, fault, &memory.buffers)).into(),
            Halt::Exceeded(exceeded) => self.exceeded(exceeded),
        }
    }

    /// The parameters that are addresses of buffers.
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
