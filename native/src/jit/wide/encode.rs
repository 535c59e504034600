//! Machine code and register allocation of a loop.

use smallvec::SmallVec;

use super::{HELD_WORDS, Loop, MOST_ROWS, Place, Shift, Step, Vector, Width};
use crate::jit::context::CHUNK;
use crate::jit::vector::video::LaneOp;
use crate::x86::register::{R8, R9, R10, R11, R12, R13, R14, R15, RAX, RBX, RCX, RDI, RDX, RSI};
use crate::x86::vector::*;
use crate::x86::{Alu, Assembler, Condition, Memory, Operand, Row, Size, VectorWidth};

/// Size of a vector in bytes.
const VECTOR: u8 = 32;

/// Registers for the addresses of rows; callee-saved registers come last.
const POINTERS: [u8; MOST_ROWS] = [RCX, RDX, R8, R9, R10, R11, RBX, R12, R13, R14, R15];
const KEPT: [u8; 5] = [RBX, R12, R13, R14, R15];
/// Number of vector registers.
const VECTORS: u8 = 16;

/// Maximum number of steps of a loop whose iterations process a whole chunk. The iterations of longer loops process one
/// vector.
const MOST_TWICE: usize = 48;

/// Layout of the table argument: eight bytes for the address of each row and for each word, then the spill slots.
#[derive(Clone, Copy, Debug)]
pub(in crate::jit) struct Table {
    pub rows: u8,
    pub words: u8,
}

impl Table {
    /// Returns the offset of the address of a row.
    pub fn row(&self, row: u8) -> i32 {
        8 * i32::from(row)
    }

    /// Returns the offset of a word.
    pub fn word(&self, word: u8) -> i32 {
        8 * i32::from(self.rows + word)
    }

    /// Returns the offset of a spill slot.
    fn spill(&self, slot: u8) -> i32 {
        self.word(self.words) + i32::from(VECTOR) * i32::from(slot)
    }
}

/// Returns the instruction that computes an operation on lanes, if there is one.
pub(in crate::jit) fn lane_row(op: LaneOp, width: Width) -> Option<&'static Row> {
    use Width::{B8, B16, B32};
    Some(match (op, width) {
        (LaneOp::Add, B8) => &VPADDB,
        (LaneOp::Add, B16) => &VPADDW,
        (LaneOp::Add, B32) => &VPADDD,
        (LaneOp::Sub, B8) => &VPSUBB,
        (LaneOp::Sub, B16) => &VPSUBW,
        (LaneOp::Sub, B32) => &VPSUBD,
        (LaneOp::AddSat { signed: true }, B8) => &VPADDSB,
        (LaneOp::AddSat { signed: true }, B16) => &VPADDSW,
        (LaneOp::AddSat { signed: false }, B8) => &VPADDUSB,
        (LaneOp::AddSat { signed: false }, B16) => &VPADDUSW,
        (LaneOp::SubSat { signed: true }, B8) => &VPSUBSB,
        (LaneOp::SubSat { signed: true }, B16) => &VPSUBSW,
        (LaneOp::SubSat { signed: false }, B8) => &VPSUBUSB,
        (LaneOp::SubSat { signed: false }, B16) => &VPSUBUSW,
        (LaneOp::Min { signed: true }, B8) => &VPMINSB,
        (LaneOp::Min { signed: true }, B16) => &VPMINSW,
        (LaneOp::Min { signed: true }, B32) => &VPMINSD,
        (LaneOp::Min { signed: false }, B8) => &VPMINUB,
        (LaneOp::Min { signed: false }, B16) => &VPMINUW,
        (LaneOp::Min { signed: false }, B32) => &VPMINUD,
        (LaneOp::Max { signed: true }, B8) => &VPMAXSB,
        (LaneOp::Max { signed: true }, B16) => &VPMAXSW,
        (LaneOp::Max { signed: true }, B32) => &VPMAXSD,
        (LaneOp::Max { signed: false }, B8) => &VPMAXUB,
        (LaneOp::Max { signed: false }, B16) => &VPMAXUW,
        (LaneOp::Max { signed: false }, B32) => &VPMAXUD,
        (LaneOp::Average, B8) => &VPAVGB,
        (LaneOp::Average, B16) => &VPAVGW,
        (LaneOp::AddSat { .. } | LaneOp::SubSat { .. } | LaneOp::Average, B32) | (LaneOp::AbsDiff { .. }, _) => {
            return None;
        }
    })
}

/// Location of a vector or a word in memory.
#[derive(Clone, Copy)]
enum Location {
    /// Row, a number of items after the position of the iteration.
    Row(Place, u8),
    /// Start of a row, independent of the iteration.
    Fixed(Place),
    /// Offset in the table.
    Table(i32),
    /// Constant word.
    Constant(u32),
    /// Numbers of the items of a vector, from the given number on.
    Numbers(u8),
}

#[derive(Default)]
pub(super) struct Code {
    pub(super) assembler: Assembler,
}

impl Code {
    fn location(&mut self, location: Location) -> Operand {
        match location {
            Location::Row(place, after) => Operand::Memory(Memory {
                base: pointer(place.row),
                index: Some((RAX, place.item.log2())),
                displacement: place.at + i32::from(after) * i32::from(place.item.bytes()),
            }),
            Location::Fixed(place) => Operand::Memory(Memory::at(pointer(place.row), place.at)),
            Location::Table(at) => Operand::Memory(Memory::at(RDI, at)),
            Location::Constant(word) => Operand::Constant(self.assembler.constant(&[word])),
            Location::Numbers(first) => {
                let numbers: [u32; 8] = std::array::from_fn(|lane| u32::from(first) + lane as u32);
                Operand::Constant(self.assembler.constant(&numbers))
            }
        }
    }

    /// Appends an instruction on vectors of 256 bits.
    fn binary(&mut self, row: &'static Row, result: u8, second: u8, last: Operand) {
        self.assembler.vector(VectorInst::new(row, VectorWidth::B256, [result, second], last));
    }

    fn unary(&mut self, row: &'static Row, result: u8, last: Operand) {
        self.assembler.vector(VectorInst::new(row, VectorWidth::B256, [result, 0], last));
    }

    fn load(&mut self, register: u8, from: Location) {
        let from = self.location(from);
        self.unary(&VMOVDQU_LOAD, register, from);
    }

    /// Loads the lanes of a row, extended to the lane width.
    fn load_row(&mut self, register: u8, lane: Width, (place, signed): (Place, bool), after: u8) {
        use Width::{B8, B16, B32};
        let row = match (place.item, lane, signed) {
            (B8, B16, false) => &VPMOVZXBW,
            (B8, B16, true) => &VPMOVSXBW,
            (B8, B32, false) => &VPMOVZXBD,
            (B8, B32, true) => &VPMOVSXBD,
            (B16, B32, false) => &VPMOVZXWD,
            (B16, B32, true) => &VPMOVSXWD,
            _ => &VMOVDQU_LOAD,
        };
        let from = self.location(Location::Row(place, after));
        self.unary(row, register, from);
    }

    fn store(&mut self, register: u8, to: Location) {
        let to = self.location(to);
        self.unary(&VMOVDQU_STORE, register, to);
    }

    /// Stores lanes to a row. Narrower items are the first bytes of the register.
    fn store_row(&mut self, register: u8, lane: Width, place: Place, after: u8) {
        let to = self.location(Location::Row(place, after));
        let (row, width) = match lane.log2() - place.item.log2() {
            0 => (&VMOVDQU_STORE, VectorWidth::B256),
            1 => (&VMOVDQU_STORE, VectorWidth::B128),
            _ => (&VMOVQ_STORE, VectorWidth::B128),
        };
        self.assembler.vector(VectorInst::new(row, width, [register, 0], to));
    }

    /// Packs lanes whose values fit the item width into contiguous items.
    fn narrow(&mut self, result: u8, from: u8, lane: Width, item: Width) {
        let mut from = from;
        if lane == Width::B32 {
            self.binary(&VPACKUSDW, result, from, Operand::Register(from));
            from = result;
        }
        if item == Width::B8 {
            self.binary(&VPACKUSWB, result, from, Operand::Register(from));
        }
        // The pack instructions work on each 128-bit half separately.
        let low = |row| {
            VectorInst::new(row, VectorWidth::B256, [result, 0], Operand::Register(result)).with_immediate(0b10_00)
        };
        self.assembler.vector(low(&VPERMQ));
        if (lane, item) == (Width::B32, Width::B8) {
            self.assembler.vector(low(&VPSHUFD));
        }
    }

    /// Broadcasts a word to all lanes.
    fn word(&mut self, register: u8, from: Location) {
        let from = self.location(from);
        self.unary(&VPBROADCASTD, register, from);
    }

    fn ones(&mut self, register: u8) {
        self.binary(&VPCMPEQD, register, register, Operand::Register(register));
    }
}

/// Returns the register of the address of a row.
fn pointer(row: u8) -> u8 {
    POINTERS.get(usize::from(row)).copied().unwrap_or(RDI)
}

/// Register allocation of an iteration.
struct Registers<'a> {
    of: &'a Loop,
    /// Steps that read each value, in ascending order. The numbers of stores follow those of the steps.
    reads: Vec<SmallVec<[u32; 4]>>,
    /// Register and spill slot of each value.
    held: Vec<Option<u8>>,
    spilled: Vec<Option<u8>>,
    /// Value in each register; `None` if the register is free.
    values: [Option<Step>; VECTORS as usize],
    /// Values that stay in registers from one iteration to the next.
    words: SmallVec<[Step; HELD_WORDS]>,
    spills: u8,
}

impl<'a> Registers<'a> {
    fn new(of: &'a Loop) -> Registers<'a> {
        let count = of.steps.len();
        let mut reads = vec![SmallVec::new(); count];
        let mut read = |value: Step, at: usize| {
            if let Some(reads) = reads.get_mut(value.0 as usize) {
                reads.push(at as u32);
            }
        };
        for (at, step) in of.steps.iter().enumerate() {
            step.args().into_iter().for_each(|arg| read(arg, at));
        }
        for (at, &(_, value)) in (count..).zip(&of.stores) {
            read(value, at);
        }
        let [held, spilled] = [(); 2].map(|()| vec![None; count]);
        let words = SmallVec::new();
        Registers { of, reads, held, spilled, values: [None; VECTORS as usize], words, spills: 0 }
    }

    /// Returns the next step after `at` that reads a value.
    fn next_read(&self, value: Step, at: usize) -> Option<u32> {
        let reads = self.reads.get(value.0 as usize)?;
        reads.iter().copied().find(|&read| read as usize > at)
    }

    fn step(&self, value: Step) -> Option<&'a Vector> {
        self.of.steps.get(value.0 as usize)
    }

    /// Returns `true` if a value can be rematerialised. A row can be loaded again until the loop stores to rows.
    fn is_found_again(&self, value: Step) -> bool {
        match self.step(value) {
            Some(Vector::Word(_) | Vector::Same(_) | Vector::Constant(_) | Vector::Ones) => true,
            Some(Vector::Row(..)) => !self.is_stored(value),
            _ => false,
        }
    }

    fn is_stored(&self, value: Step) -> bool {
        let last = self.reads.get(value.0 as usize).and_then(|reads| reads.last());
        last.is_some_and(|&last| last as usize >= self.of.steps.len())
    }

    /// Returns `true` if a value stays in its register for the next iteration.
    fn stays(&self, value: Step) -> bool {
        self.words.contains(&value)
    }

    fn get(&self, value: Step) -> Option<u8> {
        self.held.get(value.0 as usize).copied().flatten()
    }

    fn hold(&mut self, value: Step, register: u8) {
        if let (Some(held), Some(here)) =
            (self.held.get_mut(value.0 as usize), self.values.get_mut(usize::from(register)))
        {
            *held = Some(register);
            *here = Some(value);
        }
    }

    fn free(&mut self, value: Step) {
        if let Some(register) = self.held.get_mut(value.0 as usize).and_then(Option::take)
            && let Some(here) = self.values.get_mut(usize::from(register))
        {
            *here = None;
        }
    }

    /// Allocates a register for a value. If no register is free, evicts the value with the furthest next read, except
    /// the values in `kept`.
    fn take(&mut self, value: Step, at: usize, kept: &[Step], code: &mut Code) -> Option<u8> {
        if let Some(free) = self.values.iter().position(Option::is_none) {
            self.hold(value, free as u8);
            return Some(free as u8);
        }
        let others = self.values.iter().flatten().filter(|&&other| !self.stays(other) && !kept.contains(&other));
        // The operands of this step are read before its result is written.
        let far = |other: &&Step| self.next_read(**other, at).unwrap_or(u32::MAX);
        let &other = others.max_by_key(far)?;
        let register = self.get(other)?;
        let is_read = self.next_read(other, at).is_some();
        if is_read && !self.is_found_again(other) && self.spilled.get(other.0 as usize)?.is_none() {
            let slot = self.spills;
            self.spills = slot.checked_add(1)?;
            *self.spilled.get_mut(other.0 as usize)? = Some(slot);
            code.store(register, Location::Table(self.of.table().spill(slot)));
        }
        self.free(other);
        self.hold(value, register);
        Some(register)
    }

    /// Returns the register of an operand. Loads the operand if necessary.
    fn fetch(&mut self, value: Step, at: usize, kept: &[Step], after: u8, code: &mut Code) -> Option<u8> {
        if let Some(register) = self.get(value) {
            return Some(register);
        }
        // The value is read at this step itself.
        let register = self.take(value, at.wrapping_sub(1), kept, code)?;
        let table = self.of.table();
        match (self.spilled.get(value.0 as usize).copied().flatten(), self.step(value)?) {
            (Some(slot), _) => code.load(register, Location::Table(table.spill(slot))),
            (None, &Vector::Row(place, signed)) => code.load_row(register, self.of.lane, (place, signed), after),
            (None, Vector::Ones) => code.ones(register),
            (None, step) => code.word(register, self.of.place_of_word(step)?),
        }
        Some(register)
    }

    /// Returns the registers of all operands.
    fn fetch_all<const N: usize>(&mut self, args: [Step; N], at: usize, after: u8, code: &mut Code) -> Option<[u8; N]> {
        let mut registers = [0; N];
        for (register, arg) in registers.iter_mut().zip(args) {
            *register = self.fetch(arg, at, &args, after, code)?;
        }
        Some(registers)
    }

    /// Frees the registers of operands whose last read is this step.
    fn release(&mut self, args: &[Step], at: usize) {
        for &arg in args {
            if self.ends(arg, at) {
                self.free(arg);
            }
        }
    }

    /// Returns `true` if a value is not read after this step.
    fn ends(&self, value: Step, at: usize) -> bool {
        self.next_read(value, at).is_none() && !self.stays(value)
    }
}

impl Loop {
    /// Returns the location of a uniform word.
    fn place_of_word(&self, step: &Vector) -> Option<Location> {
        Some(match *step {
            Vector::Word(word) => Location::Table(self.table().word(word)),
            Vector::Same(place) => Location::Fixed(place),
            Vector::Constant(word) => Location::Constant(word),
            _ => return None,
        })
    }

    /// Returns the uniform words that stay in registers in all iterations.
    fn held_words(&self) -> Vec<(Step, Location)> {
        let words = (0..).zip(&self.steps).filter_map(|(value, step)| Some((Step(value), self.place_of_word(step)?)));
        let words: Vec<_> = words.take(HELD_WORDS + 1).collect();
        if words.len() <= HELD_WORDS { words } else { Vec::new() }
    }
}

/// Returns the code of a loop and the size of its table in bytes. Returns `None` if the loop exceeds a limit.
pub(super) fn encode(of: &Loop) -> Option<(Vec<u8>, u32)> {
    let mut code = Code::default();
    let mut registers = Registers::new(of);
    let table = of.table();
    let pointers = POINTERS.get(..usize::from(of.rows))?;
    let kept = pointers.iter().filter(|register| KEPT.contains(register));
    kept.clone().for_each(|&register| code.assembler.push(register));
    // Convert the offsets to numbers of items.
    for (count, bytes) in [(RAX, RSI), (RSI, RDX)] {
        code.assembler.load(Size::Qword, count, Operand::Register(bytes));
        code.assembler.shift_right(count, 2);
    }
    for (row, &register) in (0..).zip(pointers) {
        code.assembler.load(Size::Qword, register, Operand::Memory(Memory::at(RDI, table.row(row))));
    }
    for (value, place) in of.held_words() {
        let register = registers.take(value, 0, &[], &mut code)?;
        code.word(register, place);
        registers.words.push(value);
    }
    let start = code.assembler.label();
    code.assembler.bind(start);
    let items = VECTOR / of.lane.bytes();
    let vectors = if of.steps.len() > MOST_TWICE { 1 } else { CHUNK as u8 / items };
    for k in 0..vectors {
        iteration(of, &mut code, &mut registers, k * items)?;
    }
    let a = &mut code.assembler;
    a.alu_immediate(Alu::Add, Size::Qword, Operand::Register(RAX), (vectors * items).into());
    a.alu(Alu::Compare, Size::Qword, RAX, Operand::Register(RSI));
    a.jump_if(Condition::Below, start);
    a.zero_upper();
    kept.rev().for_each(|&register| a.pop(register));
    a.ret();
    let bytes = u32::try_from(table.spill(registers.spills)).ok()?;
    Some((code.assembler.finish()?, bytes))
}

/// Emits the code for one vector of items, which are `after` items from the position of the iteration.
fn iteration(of: &Loop, code: &mut Code, registers: &mut Registers<'_>, after: u8) -> Option<()> {
    // No spilled value is live across vectors.
    registers.spilled.fill(None);
    registers.spills = 0;
    for (at, step) in of.steps.iter().enumerate() {
        let value = Step(at as u32);
        let unary = |registers: &mut Registers<'_>, code: &mut Code, row: &'static Row, arg: Step| {
            let [from] = registers.fetch_all([arg], at, after, code)?;
            registers.release(&[arg], at);
            let result = registers.take(value, at, &[], code)?;
            code.unary(row, result, Operand::Register(from));
            Some(())
        };
        match *step {
            // A value that is stored must be loaded before the loop stores to rows.
            Vector::Row(..) if registers.is_stored(value) => {
                registers.fetch(value, at, &[], after, code)?;
            }
            Vector::Row(..) | Vector::Word(_) | Vector::Same(_) | Vector::Constant(_) | Vector::Ones => {}
            Vector::Binary(op, [a, b]) => {
                let first = registers.fetch(a, at, &[a, b], after, code)?;
                let last = match (registers.get(b), registers.step(b)) {
                    (None, Some(&Vector::Row(place, _))) if place.item == of.lane && registers.ends(b, at) => {
                        code.location(Location::Row(place, after))
                    }
                    _ => Operand::Register(registers.fetch(b, at, &[a, b], after, code)?),
                };
                registers.release(&[a, b], at);
                let result = registers.take(value, at, &[], code)?;
                code.binary(op, result, first, last);
            }
            Vector::MultiplyAdd(args) => {
                let [a, b, c] = args;
                let [x, y, z] = registers.fetch_all(args, at, after, code)?;
                // `vfmadd231ps` accumulates to its result; `vfmadd213ps` multiplies its result.
                let (row, result, second, last) = match args.map(|arg| registers.ends(arg, at)) {
                    [.., true] => (&VFMADD231PS, z, x, y),
                    [true, ..] => (&VFMADD213PS, x, y, z),
                    [_, true, _] => (&VFMADD213PS, y, x, z),
                    _ => {
                        let result = registers.take(value, at, &args, code)?;
                        code.unary(&VMOVAPS, result, Operand::Register(z));
                        (&VFMADD231PS, result, x, y)
                    }
                };
                registers.release(&[a, b, c], at);
                registers.hold(value, result);
                code.binary(row, result, second, Operand::Register(last));
            }
            Vector::Float(a) => unary(registers, code, &VCVTDQ2PS, a)?,
            Vector::Root(a) => unary(registers, code, &VSQRTPS, a)?,
            Vector::Compare(predicate, args) => {
                let [first, last] = registers.fetch_all(args, at, after, code)?;
                registers.release(&args, at);
                let result = registers.take(value, at, &[], code)?;
                let compare = VectorInst::new(&VCMPPS, VectorWidth::B256, [result, first], Operand::Register(last));
                code.assembler.vector(compare.with_immediate(predicate.number()));
            }
            Vector::Shift(shift, a, count) => {
                let [from] = registers.fetch_all([a], at, after, code)?;
                registers.release(&[a], at);
                let result = registers.take(value, at, &[], code)?;
                let row = match (shift, of.lane) {
                    (Shift::Left, Width::B16) => &VPSLLW_IMM,
                    (Shift::Right, Width::B16) => &VPSRLW_IMM,
                    (Shift::Arithmetic, Width::B16) => &VPSRAW_IMM,
                    (Shift::Left, _) => &VPSLLD_IMM,
                    (Shift::Right, _) => &VPSRLD_IMM,
                    (Shift::Arithmetic, _) => &VPSRAD_IMM,
                };
                let shift = VectorInst::shift(row, VectorWidth::B256, result, Operand::Register(from), count);
                code.assembler.vector(shift);
            }
            Vector::Narrow(a, item) => {
                let [from] = registers.fetch_all([a], at, after, code)?;
                registers.release(&[a], at);
                let result = registers.take(value, at, &[], code)?;
                code.narrow(result, from, of.lane, item);
            }
            Vector::Half(op, args) => {
                let from = registers.fetch_all(args, at, after, code)?;
                let [a, b, c, nan] = args;
                // `nan` is read after the result is written.
                let ends = [a, b, c].into_iter().filter(|&arg| arg != nan);
                ends.for_each(|arg| registers.release(&[arg], at));
                let result = registers.take(value, at, &args, code)?;
                registers.release(&[nan], at);
                code.half(op, result, from);
            }
            Vector::Numbers => {
                let result = registers.take(value, at, &[], code)?;
                let count = Operand::Register(RAX);
                code.assembler.vector(VectorInst::new(&VMOVD_FROM_GENERAL, VectorWidth::B128, [result, 0], count));
                code.unary(&VPBROADCASTD, result, Operand::Register(result));
                let numbers = code.location(Location::Numbers(after));
                code.binary(&VPADDD, result, result, numbers);
            }
            Vector::Select(args) => {
                let [holds, yes, no] = registers.fetch_all(args, at, after, code)?;
                registers.release(&args, at);
                let result = registers.take(value, at, &[], code)?;
                let select = VectorInst::new(&VPBLENDVB, VectorWidth::B256, [result, no], Operand::Register(yes));
                code.assembler.vector(select.with_immediate(holds << 4));
            }
        }
        // No step reads the value.
        if registers.ends(value, at) {
            registers.free(value);
        }
    }
    for (at, &(place, value)) in (of.steps.len()..).zip(&of.stores) {
        let register = registers.fetch(value, at, &[], after, code)?;
        code.store_row(register, of.lane, place, after);
        registers.release(&[value], at);
    }
    Some(())
}
