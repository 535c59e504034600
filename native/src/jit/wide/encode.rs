//! The code of a loop: registers, and instructions with VEX prefixes.

use halfbyte_isa::half::Compare;
use smallvec::SmallVec;

use super::{HELD_WORDS, Loop, MOST_ROWS, Place, Shift, Step, Vector, Width};
use crate::jit::context::CHUNK;
use crate::jit::vector::video::LaneOp;

/// Bytes of a vector.
const VECTOR: u8 = 32;

const RDI: u8 = 7;
/// What holds the addresses of rows; those that a function has to leave as they are last.
const POINTERS: [u8; MOST_ROWS] = [1, 2, 8, 9, 10, 11, 3, 12, 13, 14, 15];
const KEPT: [u8; 5] = [3, 12, 13, 14, 15];
/// Registers of vectors.
const VECTORS: u8 = 16;

/// Steps of a loop whose iterations do a chunk, with code for each of its vectors; those of a longer one do a vector.
const MOST_TWICE: usize = 48;

/// What a loop's code is called with: eight bytes for the address of each row, then for each word, then room for the vectors that are spilled.
#[derive(Clone, Copy, Debug)]
pub(in crate::jit) struct Table {
    pub rows: u8,
    pub words: u8,
}

impl Table {
    /// Where the address of a row is.
    pub fn row(&self, row: u8) -> i32 {
        8 * i32::from(row)
    }

    /// Where a word is.
    pub fn word(&self, word: u8) -> i32 {
        8 * i32::from(self.rows + word)
    }

    /// Where a vector is spilled to.
    fn spill(&self, slot: u8) -> i32 {
        self.word(self.words) + i32::from(VECTOR) * i32::from(slot)
    }
}

/// The maps of opcodes.
pub(in crate::jit) const MAP_0F: u8 = 1;
pub(in crate::jit) const MAP_0F38: u8 = 2;
pub(in crate::jit) const MAP_0F3A: u8 = 3;
/// With the map of an opcode on elements of 64 bits.
const WIDE: u8 = 1 << 7;
/// Prefixes as VEX has them.
pub(in crate::jit) const NO_PREFIX: u8 = 0;
pub(in crate::jit) const PREFIX_66: u8 = 1;
pub(in crate::jit) const PREFIX_F3: u8 = 2;
pub(in crate::jit) const PREFIX_F2: u8 = 3;

/// An instruction on two vectors, of which the second may be in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::jit) struct Opcode {
    pub map: u8,
    pub prefix: u8,
    pub byte: u8,
}

impl Opcode {
    pub const AND: Opcode = Opcode::of_0f(0xDB);
    pub const OR: Opcode = Opcode::of_0f(0xEB);
    pub const XOR: Opcode = Opcode::of_0f(0xEF);
    /// Words shifted by words below 32.
    pub const SHL: Opcode = Opcode { map: MAP_0F38, prefix: PREFIX_66, byte: 0x47 };
    pub const SHR: Opcode = Opcode { map: MAP_0F38, prefix: PREFIX_66, byte: 0x45 };
    pub const SAR: Opcode = Opcode { map: MAP_0F38, prefix: PREFIX_66, byte: 0x46 };
    /// The low halves of products of lanes of 16 bits.
    pub const MUL_16: Opcode = Opcode::of_0f(0xD5);
    /// The low halves of products of words.
    pub const MUL: Opcode = Opcode { map: MAP_0F38, prefix: PREFIX_66, byte: 0x40 };
    /// Of words, all ones where it holds.
    pub const EQUAL: Opcode = Opcode::of_0f(0x76);
    /// The greater of two unsigned words.
    pub const MAX_UNSIGNED: Opcode = Opcode { map: MAP_0F38, prefix: PREFIX_66, byte: 0x3F };
    /// The first of two signed words is greater.
    pub const GREATER: Opcode = Opcode::of_0f(0x66);
    /// Of floats.
    pub const FLOAT_ADD: Opcode = Opcode { map: MAP_0F, prefix: NO_PREFIX, byte: 0x58 };
    pub const FLOAT_MUL: Opcode = Opcode { map: MAP_0F, prefix: NO_PREFIX, byte: 0x59 };
    pub const FLOAT_DIV: Opcode = Opcode { map: MAP_0F, prefix: NO_PREFIX, byte: 0x5E };

    const fn of_0f(byte: u8) -> Opcode {
        Opcode { map: MAP_0F, prefix: PREFIX_66, byte }
    }

    /// That of an operation on lanes, if it is one instruction.
    pub fn of_lanes(op: LaneOp, width: Width) -> Option<Opcode> {
        use Width::{B8, B16, B32};
        let (map, byte) = match (op, width) {
            (LaneOp::Add, B8) => (MAP_0F, 0xFC),
            (LaneOp::Add, B16) => (MAP_0F, 0xFD),
            (LaneOp::Add, B32) => (MAP_0F, 0xFE),
            (LaneOp::Sub, B8) => (MAP_0F, 0xF8),
            (LaneOp::Sub, B16) => (MAP_0F, 0xF9),
            (LaneOp::Sub, B32) => (MAP_0F, 0xFA),
            (LaneOp::AddSat { signed: true }, B8) => (MAP_0F, 0xEC),
            (LaneOp::AddSat { signed: true }, B16) => (MAP_0F, 0xED),
            (LaneOp::AddSat { signed: false }, B8) => (MAP_0F, 0xDC),
            (LaneOp::AddSat { signed: false }, B16) => (MAP_0F, 0xDD),
            (LaneOp::SubSat { signed: true }, B8) => (MAP_0F, 0xE8),
            (LaneOp::SubSat { signed: true }, B16) => (MAP_0F, 0xE9),
            (LaneOp::SubSat { signed: false }, B8) => (MAP_0F, 0xD8),
            (LaneOp::SubSat { signed: false }, B16) => (MAP_0F, 0xD9),
            (LaneOp::Min { signed: true }, B8) => (MAP_0F38, 0x38),
            (LaneOp::Min { signed: true }, B16) => (MAP_0F, 0xEA),
            (LaneOp::Min { signed: true }, B32) => (MAP_0F38, 0x39),
            (LaneOp::Min { signed: false }, B8) => (MAP_0F, 0xDA),
            (LaneOp::Min { signed: false }, B16) => (MAP_0F38, 0x3A),
            (LaneOp::Min { signed: false }, B32) => (MAP_0F38, 0x3B),
            (LaneOp::Max { signed: true }, B8) => (MAP_0F38, 0x3C),
            (LaneOp::Max { signed: true }, B16) => (MAP_0F, 0xEE),
            (LaneOp::Max { signed: true }, B32) => (MAP_0F38, 0x3D),
            (LaneOp::Max { signed: false }, B8) => (MAP_0F, 0xDE),
            (LaneOp::Max { signed: false }, B16) => (MAP_0F38, 0x3E),
            (LaneOp::Max { signed: false }, B32) => (MAP_0F38, 0x3F),
            (LaneOp::Average, B8) => (MAP_0F, 0xE0),
            (LaneOp::Average, B16) => (MAP_0F, 0xE3),
            (LaneOp::AddSat { .. } | LaneOp::SubSat { .. } | LaneOp::Average, B32) | (LaneOp::AbsDiff { .. }, _) => {
                return None;
            }
        };
        Some(Opcode { map, prefix: PREFIX_66, byte })
    }
}

/// A compare of floats, by the number that `vcmpps` has for it; all are quiet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::jit) struct Predicate(u8);

impl Predicate {
    pub const NAN: Predicate = Predicate(3);

    pub fn number(self) -> u8 {
        self.0
    }

    /// By the code of a compare, whose bits are less, equal, greater and unordered.
    const ALL: [u8; 16] =
        [0x0B, 0x11, 0x00, 0x12, 0x1E, 0x0C, 0x1D, 0x07, 0x03, 0x19, 0x08, 0x1A, 0x16, 0x04, 0x15, 0x0F];

    pub fn of(compare: Compare) -> Predicate {
        Predicate(Self::ALL[usize::from(compare.code() & 15)])
    }
}

/// The last operand of an instruction.
#[derive(Clone, Copy)]
enum Operand {
    Register(u8),
    /// In a row, so many items after where the iteration is.
    Row(Place, u8),
    /// In what a row is in, wherever the iteration is.
    Fixed(Place),
    /// In the table.
    Table(i32),
    /// In the constant pool after the code.
    Pool(Pooled),
}

/// What is in the constant pool.
#[derive(Clone, Copy)]
enum Pooled {
    Constant(u32),
    /// The numbers of the items of a chunk, of which a vector's are so many items on.
    Numbers(u8),
}

/// The length of vectors.
#[derive(Clone, Copy)]
enum Length {
    L128,
    L256,
}

#[derive(Default)]
pub(super) struct Code {
    bytes: Vec<u8>,
    /// Where code has to know where something in the pool is.
    pooled: Vec<(usize, Pooled)>,
}

impl Code {
    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// An instruction on vectors of 256 bits, but for an immediate.
    fn vex(&mut self, opcode: (u8, u8, u8), result: u8, second: u8, last: Operand) {
        self.vex_of(Length::L256, opcode, result, second, last);
    }

    fn vex_of(&mut self, length: Length, (map, prefix, byte): (u8, u8, u8), result: u8, second: u8, last: Operand) {
        let base = match last {
            Operand::Register(register) => register,
            Operand::Row(place, _) | Operand::Fixed(place) => pointer(place.row),
            Operand::Table(_) | Operand::Pool(_) => RDI,
        };
        // Bits of registers are inverted here; the index, which is `rax`, has none.
        let high = |register: u8| (!register >> 3 & 1) << 7;
        let length = match length {
            Length::L128 => 0,
            Length::L256 => 1,
        };
        // Opcodes with this bit are of quadwords.
        let (is_wide, map) = (map & WIDE, map & !WIDE);
        let fields = is_wide | (!second & 0xF) << 3 | length << 2 | prefix;
        self.put(&[0xC4, high(result) | 1 << 6 | high(base) >> 2 | map, fields, byte]);
        let fields = (result & 7) << 3;
        match last {
            Operand::Register(register) => self.put(&[0b11 << 6 | fields | register & 7]),
            // A base, an index and a number.
            Operand::Row(place, after) => {
                self.put(&[0b10 << 6 | fields | 0b100, place.item.log2() << 6 | base & 7]);
                self.put(&(place.at + i32::from(after) * i32::from(place.item.bytes())).to_le_bytes());
            }
            Operand::Table(at) => {
                self.put(&[0b10 << 6 | fields | RDI]);
                self.put(&at.to_le_bytes());
            }
            Operand::Fixed(place) => {
                // A base with this number needs the byte that has an index, here none.
                match base & 7 {
                    0b100 => self.put(&[0b10 << 6 | fields | 0b100, 0b100 << 3 | 0b100]),
                    base => self.put(&[0b10 << 6 | fields | base]),
                }
                self.put(&place.at.to_le_bytes());
            }
            // It is counted from the end of the instruction.
            Operand::Pool(of) => {
                self.put(&[fields | 0b101]);
                self.pooled.push((self.bytes.len(), of));
                self.put(&[0; 4]);
            }
        }
    }

    /// Appends what is in the pool to the code, and tells it where that is.
    fn link(&mut self) -> Option<()> {
        let pooled = std::mem::take(&mut self.pooled);
        let start = self.bytes.len();
        let has_numbers = pooled.iter().any(|(_, of)| matches!(of, Pooled::Numbers(_)));
        if has_numbers {
            self.bytes.extend((0..CHUNK).flat_map(u32::to_le_bytes));
        }
        let mut constants: Vec<(u32, usize)> = Vec::new();
        for (at, of) in pooled {
            let to = match of {
                Pooled::Numbers(after) => start + 4 * usize::from(after),
                Pooled::Constant(word) => match constants.iter().find(|(other, _)| *other == word) {
                    Some(&(_, to)) => to,
                    None => {
                        constants.push((word, self.bytes.len()));
                        self.put(&word.to_le_bytes());
                        self.bytes.len() - 4
                    }
                },
            };
            let far = i32::try_from(to - at - 4).ok()?;
            self.bytes.get_mut(at..at + 4)?.copy_from_slice(&far.to_le_bytes());
        }
        Some(())
    }

    fn load(&mut self, register: u8, from: Operand) {
        // vmovdqu
        self.vex((MAP_0F, PREFIX_F3, 0x6F), register, 0, from);
    }

    /// Loads lanes from a row.
    fn load_row(&mut self, register: u8, lane: Width, (place, signed): (Place, bool), after: u8) {
        use Width::{B8, B16, B32};
        // vpmovzx, of which vpmovsx has other opcodes
        let byte = match (place.item, lane) {
            (B8, B16) => 0x30,
            (B8, B32) => 0x31,
            (B16, B32) => 0x33,
            _ => return self.load(register, Operand::Row(place, after)),
        };
        let byte = if signed { byte - 0x10 } else { byte };
        self.vex((MAP_0F38, PREFIX_66, byte), register, 0, Operand::Row(place, after));
    }

    fn store(&mut self, register: u8, to: Operand) {
        // vmovdqu
        self.vex((MAP_0F, PREFIX_F3, 0x7F), register, 0, to);
    }

    /// Stores what lanes hold to a row, where it is the register's first bytes.
    fn store_row(&mut self, register: u8, lane: Width, place: Place, after: u8) {
        let to = Operand::Row(place, after);
        match lane.log2() - place.item.log2() {
            0 => self.store(register, to),
            1 => self.vex_of(Length::L128, (MAP_0F, PREFIX_F3, 0x7F), register, 0, to),
            // vmovq
            _ => self.vex_of(Length::L128, (MAP_0F, PREFIX_66, 0xD6), register, 0, to),
        }
    }

    /// Makes items of lanes that are no greater, side by side.
    fn narrow(&mut self, result: u8, from: u8, lane: Width, item: Width) {
        let mut from = from;
        if lane == Width::B32 {
            // vpackusdw
            self.vex((MAP_0F38, PREFIX_66, 0x2B), result, from, Operand::Register(from));
            from = result;
        }
        if item == Width::B8 {
            // vpackuswb
            self.vex((MAP_0F, PREFIX_66, 0x67), result, from, Operand::Register(from));
        }
        // Each half of the register was packed by itself. vpermq
        self.vex((MAP_0F3A | WIDE, PREFIX_66, 0x00), result, 0, Operand::Register(result));
        self.put(&[0b10_00]);
        if (lane, item) == (Width::B32, Width::B8) {
            // vpshufd
            self.vex((MAP_0F, PREFIX_66, 0x70), result, 0, Operand::Register(result));
            self.put(&[0b10_00]);
        }
    }

    /// Loads a word for all lanes.
    fn word(&mut self, register: u8, from: Operand) {
        // vpbroadcastd
        self.vex((MAP_0F38, PREFIX_66, 0x58), register, 0, from);
    }

    fn ones(&mut self, register: u8) {
        // vpcmpeqd
        self.vex((MAP_0F, PREFIX_66, 0x76), register, register, Operand::Register(register));
    }

    /// push or pop, by its opcode, of those of the registers for addresses that the caller keeps.
    fn keep(&mut self, opcode: u8, register: u8) {
        if register >= 8 {
            self.put(&[0x41]);
        }
        self.put(&[opcode | register & 7]);
    }
}

/// What holds the address of a row.
fn pointer(row: u8) -> u8 {
    POINTERS.get(usize::from(row)).copied().unwrap_or(RDI)
}

/// Where the values of an iteration are.
struct Registers<'a> {
    of: &'a Loop,
    /// The steps that read each value, in order; stores come after all.
    reads: Vec<SmallVec<[u32; 4]>>,
    /// By value.
    held: Vec<Option<u8>>,
    spilled: Vec<Option<u8>>,
    /// By register; what is not in a register by number is free.
    values: [Option<Step>; VECTORS as usize],
    /// What is held from one iteration to the next.
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

    /// The next step after one that reads a value.
    fn next_read(&self, value: Step, at: usize) -> Option<u32> {
        let reads = self.reads.get(value.0 as usize)?;
        reads.iter().copied().find(|&read| read as usize > at)
    }

    fn step(&self, value: Step) -> Option<&'a Vector> {
        self.of.steps.get(value.0 as usize)
    }

    /// Whether a value is found again where it came from: a row is until the loop writes rows.
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

    /// Words that are held stay, for the next iteration.
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

    /// A register for a value at a step: one that is free, or that of the value which is read last of all but some.
    fn take(&mut self, value: Step, at: usize, kept: &[Step], code: &mut Code) -> Option<u8> {
        if let Some(free) = self.values.iter().position(Option::is_none) {
            self.hold(value, free as u8);
            return Some(free as u8);
        }
        let others = self.values.iter().flatten().filter(|&&other| !self.stays(other) && !kept.contains(&other));
        // What is read at this step is read before its result is there.
        let far = |other: &&Step| self.next_read(**other, at).unwrap_or(u32::MAX);
        let &other = others.max_by_key(far)?;
        let register = self.get(other)?;
        let is_read = self.next_read(other, at).is_some();
        if is_read && !self.is_found_again(other) && self.spilled.get(other.0 as usize)?.is_none() {
            let slot = self.spills;
            self.spills = slot.checked_add(1)?;
            *self.spilled.get_mut(other.0 as usize)? = Some(slot);
            code.store(register, Operand::Table(self.of.table().spill(slot)));
        }
        self.free(other);
        self.hold(value, register);
        Some(register)
    }

    /// The register of what a step reads.
    fn fetch(&mut self, value: Step, at: usize, kept: &[Step], after: u8, code: &mut Code) -> Option<u8> {
        if let Some(register) = self.get(value) {
            return Some(register);
        }
        // It is read at this very step, too.
        let register = self.take(value, at.wrapping_sub(1), kept, code)?;
        let table = self.of.table();
        match (self.spilled.get(value.0 as usize).copied().flatten(), self.step(value)?) {
            (Some(slot), _) => code.load(register, Operand::Table(table.spill(slot))),
            (None, &Vector::Row(place, signed)) => code.load_row(register, self.of.lane, (place, signed), after),
            (None, Vector::Ones) => code.ones(register),
            (None, step) => code.word(register, self.of.place_of_word(step)?),
        }
        Some(register)
    }

    /// The registers of what a step reads.
    fn fetch_all<const N: usize>(&mut self, args: [Step; N], at: usize, after: u8, code: &mut Code) -> Option<[u8; N]> {
        let mut registers = [0; N];
        for (register, arg) in registers.iter_mut().zip(args) {
            *register = self.fetch(arg, at, &args, after, code)?;
        }
        Some(registers)
    }

    /// Frees the registers of what is read for the last time at a step.
    fn release(&mut self, args: &[Step], at: usize) {
        for &arg in args {
            if self.ends(arg, at) {
                self.free(arg);
            }
        }
    }

    /// Whether a value is read for the last time at a step.
    fn ends(&self, value: Step, at: usize) -> bool {
        self.next_read(value, at).is_none() && !self.stays(value)
    }
}

impl Loop {
    /// Where a word is that is the same for all items.
    fn place_of_word(&self, step: &Vector) -> Option<Operand> {
        Some(match *step {
            Vector::Word(word) => Operand::Table(self.table().word(word)),
            Vector::Same(place) => Operand::Fixed(place),
            Vector::Constant(word) => Operand::Pool(Pooled::Constant(word)),
            _ => return None,
        })
    }

    /// The words that registers hold all the time.
    fn held_words(&self) -> Vec<(Step, Operand)> {
        let words = (0..).zip(&self.steps).filter_map(|(value, step)| Some((Step(value), self.place_of_word(step)?)));
        let words: Vec<_> = words.take(HELD_WORDS + 1).collect();
        if words.len() <= HELD_WORDS { words } else { Vec::new() }
    }
}

/// The code of a loop, and the bytes of the table that it is called with; none where something of it is too much.
pub(super) fn encode(of: &Loop) -> Option<(Vec<u8>, u32)> {
    let mut code = Code::default();
    let mut registers = Registers::new(of);
    let table = of.table();
    let pointers = POINTERS.get(..usize::from(of.rows))?;
    let kept = pointers.iter().filter(|register| KEPT.contains(register));
    kept.clone().for_each(|&register| code.keep(0x50, register));
    // Items are counted: mov rax, rsi; shr rax, 2; mov rsi, rdx; shr rsi, 2
    code.put(&[0x48, 0x89, 0xF0, 0x48, 0xC1, 0xE8, 2, 0x48, 0x89, 0xD6, 0x48, 0xC1, 0xEE, 2]);
    for (row, &register) in (0..).zip(pointers) {
        // mov
        code.put(&[0x48 | register >> 3 << 2, 0x8B, 0b10 << 6 | (register & 7) << 3 | RDI]);
        code.put(&table.row(row).to_le_bytes());
    }
    for (value, place) in of.held_words() {
        let register = registers.take(value, 0, &[], &mut code)?;
        code.word(register, place);
        registers.words.push(value);
    }
    let start = code.bytes.len();
    let items = VECTOR / of.lane.bytes();
    let vectors = if of.steps.len() > MOST_TWICE { 1 } else { CHUNK as u8 / items };
    for k in 0..vectors {
        iteration(of, &mut code, &mut registers, k * items)?;
    }
    // add rax, the items of an iteration; cmp rax, rsi
    code.put(&[0x48, 0x83, 0xC0, vectors * items, 0x48, 0x39, 0xF0]);
    // jb start, from the instruction's end
    let back = i32::try_from(start).ok()? - i32::try_from(code.bytes.len() + 6).ok()?;
    code.put(&[0x0F, 0x82]);
    code.put(&back.to_le_bytes());
    // vzeroupper
    code.put(&[0xC5, 0xF8, 0x77]);
    kept.rev().for_each(|&register| code.keep(0x58, register));
    // ret
    code.put(&[0xC3]);
    code.link()?;
    let bytes = u32::try_from(table.spill(registers.spills)).ok()?;
    Some((code.bytes, bytes))
}

/// A vector's items, so many after where the iteration is.
fn iteration(of: &Loop, code: &mut Code, registers: &mut Registers<'_>, after: u8) -> Option<()> {
    // Nothing waits from one to the next.
    registers.spilled.fill(None);
    registers.spills = 0;
    for (at, step) in of.steps.iter().enumerate() {
        let value = Step(at as u32);
        let unary = |registers: &mut Registers<'_>, code: &mut Code, opcode: (u8, u8, u8), arg: Step| {
            let [from] = registers.fetch_all([arg], at, after, code)?;
            registers.release(&[arg], at);
            let result = registers.take(value, at, &[], code)?;
            code.vex(opcode, result, 0, Operand::Register(from));
            Some(())
        };
        match *step {
            // What is stored has to be there before rows are written.
            Vector::Row(..) if registers.is_stored(value) => {
                registers.fetch(value, at, &[], after, code)?;
            }
            Vector::Row(..) | Vector::Word(_) | Vector::Same(_) | Vector::Constant(_) | Vector::Ones => {}
            Vector::Binary(op, [a, b]) => {
                let first = registers.fetch(a, at, &[a, b], after, code)?;
                let last = match (registers.get(b), registers.step(b)) {
                    (None, Some(&Vector::Row(place, _))) if place.item == of.lane && registers.ends(b, at) => {
                        Operand::Row(place, after)
                    }
                    _ => Operand::Register(registers.fetch(b, at, &[a, b], after, code)?),
                };
                registers.release(&[a, b], at);
                let result = registers.take(value, at, &[], code)?;
                code.vex((op.map, op.prefix, op.byte), result, first, last);
            }
            Vector::MultiplyAdd(args) => {
                let [a, b, c] = args;
                let [x, y, z] = registers.fetch_all(args, at, after, code)?;
                // vfmadd231ps adds to its result, vfmadd213ps multiplies it.
                let (byte, result, second, last) = match args.map(|arg| registers.ends(arg, at)) {
                    [.., true] => (0xB8, z, x, y),
                    [true, ..] => (0xA8, x, y, z),
                    [_, true, _] => (0xA8, y, x, z),
                    _ => {
                        let result = registers.take(value, at, &args, code)?;
                        // vmovaps
                        code.vex((MAP_0F, NO_PREFIX, 0x28), result, 0, Operand::Register(z));
                        (0xB8, result, x, y)
                    }
                };
                registers.release(&[a, b, c], at);
                registers.hold(value, result);
                code.vex((MAP_0F38, PREFIX_66, byte), result, second, Operand::Register(last));
            }
            // vcvtdq2ps
            Vector::Float(a) => unary(registers, code, (MAP_0F, NO_PREFIX, 0x5B), a)?,
            // vsqrtps
            Vector::Root(a) => unary(registers, code, (MAP_0F, NO_PREFIX, 0x51), a)?,
            Vector::Compare(Predicate(predicate), args) => {
                let [first, last] = registers.fetch_all(args, at, after, code)?;
                registers.release(&args, at);
                let result = registers.take(value, at, &[], code)?;
                // vcmpps
                code.vex((MAP_0F, NO_PREFIX, 0xC2), result, first, Operand::Register(last));
                code.put(&[predicate]);
            }
            Vector::Shift(shift, a, count) => {
                let [from] = registers.fetch_all([a], at, after, code)?;
                registers.release(&[a], at);
                let result = registers.take(value, at, &[], code)?;
                let digit = match shift {
                    Shift::Left => 6,
                    Shift::Right => 2,
                    Shift::Arithmetic => 4,
                };
                // vpslld, vpsrld, vpsrad, or those of 16 bits: the result is where others have an operand.
                let byte = if of.lane == Width::B16 { 0x71 } else { 0x72 };
                code.vex((MAP_0F, PREFIX_66, byte), digit, result, Operand::Register(from));
                code.put(&[count]);
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
                // NaN is read when the result is there.
                let ends = [a, b, c].into_iter().filter(|&arg| arg != nan);
                ends.for_each(|arg| registers.release(&[arg], at));
                let result = registers.take(value, at, &args, code)?;
                registers.release(&[nan], at);
                code.half(op, result, from);
            }
            Vector::Numbers => {
                let result = registers.take(value, at, &[], code)?;
                // vmovd, vpbroadcastd, vpaddd
                code.put(&[0xC5, 0xF9 & !((result & 8) << 4), 0x6E, 0b11 << 6 | (result & 7) << 3]);
                code.vex((MAP_0F38, PREFIX_66, 0x58), result, 0, Operand::Register(result));
                code.vex((MAP_0F, PREFIX_66, 0xFE), result, result, Operand::Pool(Pooled::Numbers(after)));
            }
            Vector::Select(args) => {
                let [holds, yes, no] = registers.fetch_all(args, at, after, code)?;
                registers.release(&args, at);
                let result = registers.take(value, at, &[], code)?;
                // vpblendvb
                code.vex((MAP_0F3A, PREFIX_66, 0x4C), result, no, Operand::Register(yes));
                code.put(&[holds << 4]);
            }
        }
        // Nobody reads it.
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
