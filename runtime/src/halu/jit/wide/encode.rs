//! The code of a loop: registers, and instructions with VEX prefixes.

use super::{HELD_WORDS, Loop, MOST_ROWS, Shift, Step, Vector, Width};
use crate::halu::jit::context::CHUNK;
use crate::halu::jit::vector::video::LaneOp;

/// Bytes of a vector.
const VECTOR: u8 = 32;
/// Bytes of a chunk's row.
const ROW_OF_CHUNK: u8 = 4 * CHUNK as u8;

const RDI: u8 = 7;
/// What holds the address of each row. That of the table is needed no more once the last one is loaded, where registers hold all words.
const ROWS: [u8; MOST_ROWS] = [1, 2, 8, 9, 10, 11, RDI];
/// Registers of vectors.
const VECTORS: u8 = 16;

/// What a loop's code is called with: eight bytes for the address of each row, then for each word.
#[derive(Clone, Copy, Debug)]
pub(in crate::halu::jit) struct Table {
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

    pub fn bytes(&self) -> u32 {
        8 * u32::from(self.rows + self.words)
    }
}

/// The maps of opcodes.
const MAP_0F: u8 = 1;
const MAP_0F38: u8 = 2;
const MAP_0F3A: u8 = 3;
/// Prefixes as VEX has them.
const NO_PREFIX: u8 = 0;
const PREFIX_66: u8 = 1;
const PREFIX_F3: u8 = 2;

/// An instruction on two vectors, of which the second may be in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::halu::jit) struct Opcode {
    map: u8,
    prefix: u8,
    byte: u8,
}

impl Opcode {
    pub const AND: Opcode = Opcode::of_0f(0xDB);
    pub const OR: Opcode = Opcode::of_0f(0xEB);
    pub const XOR: Opcode = Opcode::of_0f(0xEF);
    /// The low halves of products of words.
    pub const MUL: Opcode = Opcode { map: MAP_0F38, prefix: PREFIX_66, byte: 0x40 };
    /// Of words, all ones where it holds.
    pub const EQUAL: Opcode = Opcode::of_0f(0x76);
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

/// The last operand of an instruction.
#[derive(Clone, Copy)]
enum Operand {
    Register(u8),
    /// In a row, so many bytes after where the iteration is.
    Row(u8, u8),
    /// In the table.
    Table(i32),
}

#[derive(Default)]
struct Code(Vec<u8>);

impl Code {
    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// An instruction on vectors of 256 bits, but for an immediate.
    fn vex(&mut self, (map, prefix, byte): (u8, u8, u8), result: u8, second: u8, last: Operand) {
        let base = match last {
            Operand::Register(register) => register,
            Operand::Row(row, _) => gpr(row),
            Operand::Table(_) => RDI,
        };
        // Bits of registers are inverted here; the index, which is `rax`, has none.
        let high = |register: u8| (!register >> 3 & 1) << 7;
        self.put(&[0xC4, high(result) | 1 << 6 | high(base) >> 2 | map, (!second & 0xF) << 3 | 1 << 2 | prefix, byte]);
        let fields = (result & 7) << 3;
        match last {
            Operand::Register(register) => self.put(&[0b11 << 6 | fields | register & 7]),
            // A base, an index and a byte.
            Operand::Row(_, after) => self.put(&[0b01 << 6 | fields | 0b100, base & 7, after]),
            Operand::Table(at) => {
                self.put(&[0b10 << 6 | fields | RDI]);
                self.put(&at.to_le_bytes());
            }
        }
    }
}

/// What holds the address of a row.
fn gpr(row: u8) -> u8 {
    ROWS.get(usize::from(row)).copied().unwrap_or(RDI)
}

/// Which registers hold values, and which are free.
struct Registers<'a> {
    of: &'a Loop,
    /// The last step that reads each value, by number; those that are stored are read after all.
    last: Vec<usize>,
    /// Loads that are operands of the only instruction that reads them.
    is_folded: Vec<bool>,
    held: Vec<Option<u8>>,
    free: Vec<u8>,
}

impl<'a> Registers<'a> {
    fn new(of: &'a Loop) -> Registers<'a> {
        let count = of.steps.len();
        let (mut last, mut reads) = (vec![0; count], vec![0; count]);
        let mut is_folded = vec![false; count];
        for (at, step) in of.steps.iter().enumerate() {
            for arg in step.args() {
                let arg = arg.0 as usize;
                last[arg] = at;
                reads[arg] += 1;
            }
            if let Vector::Binary(_, [_, second]) = step {
                is_folded[second.0 as usize] = true;
            }
        }
        for (_, value) in &of.stores {
            last[value.0 as usize] = count;
            reads[value.0 as usize] += 1;
        }
        for ((folded, reads), step) in is_folded.iter_mut().zip(reads).zip(&of.steps) {
            *folded &= reads == 1 && matches!(step, Vector::Row(_));
        }
        Registers { of, last, is_folded, held: vec![None; count], free: (0..VECTORS).rev().collect() }
    }

    fn get(&self, step: Step) -> Option<u8> {
        self.held.get(step.0 as usize).copied().flatten()
    }

    /// A register for a value; none where all are taken.
    fn take(&mut self, step: usize) -> Option<u8> {
        let register = self.free.pop()?;
        *self.held.get_mut(step)? = Some(register);
        Some(register)
    }

    /// The register of a value that is read no more, as that of another.
    fn pass(&mut self, step: usize, register: u8) -> Option<()> {
        self.free.retain(|&free| free != register);
        *self.held.get_mut(step)? = Some(register);
        Some(())
    }

    /// Whether a value is read for the last time at a step. Words that are held stay, for the next iteration.
    fn ends(&self, value: Step, at: usize) -> bool {
        let value = value.0 as usize;
        self.last.get(value) == Some(&at) && !self.of.steps.get(value).is_some_and(|step| self.of.is_held(step))
    }

    /// Frees the registers of what is read for the last time at a step.
    fn release(&mut self, at: usize) {
        let Some(step) = self.of.steps.get(at) else { return };
        for arg in step.args() {
            if self.ends(arg, at)
                && let Some(register) = self.held.get_mut(arg.0 as usize).and_then(Option::take)
            {
                self.free.push(register);
            }
        }
    }
}

impl Loop {
    /// Whether it is a word that a register holds all the time.
    fn is_held(&self, step: &Vector) -> bool {
        matches!(step, Vector::Word(_)) && self.words <= HELD_WORDS
    }
}

impl Code {
    /// vpbroadcastd
    fn word(&mut self, register: u8, table: Table, word: u8) {
        self.vex((MAP_0F38, PREFIX_66, 0x58), register, 0, Operand::Table(table.word(word)));
    }
}

/// The code of a loop; none where there are too few registers.
pub(super) fn encode(of: &Loop) -> Option<Vec<u8>> {
    let mut code = Code::default();
    let mut registers = Registers::new(of);
    let table = of.table();
    if table.words > HELD_WORDS && usize::from(table.rows) == MOST_ROWS {
        return None;
    }
    for (at, step) in of.steps.iter().enumerate() {
        if let &Vector::Word(word) = step
            && of.is_held(step)
        {
            code.word(registers.take(at)?, table, word);
        }
    }
    for row in 0..of.rows {
        let register = gpr(row);
        // mov
        code.put(&[0x48 | register >> 3 << 2, 0x8B, 0b10 << 6 | (register & 7) << 3 | RDI]);
        code.put(&table.row(row).to_le_bytes());
    }
    // xor eax, eax
    code.put(&[0x31, 0xC0]);
    let start = code.0.len();
    for after in (0..ROW_OF_CHUNK).step_by(VECTOR.into()) {
        iteration(of, &mut code, &mut registers, after)?;
    }
    // add rax, the bytes of a chunk; cmp rax, rsi
    code.put(&[0x48, 0x83, 0xC0, ROW_OF_CHUNK, 0x48, 0x39, 0xF0]);
    // jb start, from the instruction's end
    let back = i32::try_from(start).ok()? - i32::try_from(code.0.len() + 6).ok()?;
    code.put(&[0x0F, 0x82]);
    code.put(&back.to_le_bytes());
    // vzeroupper; ret
    code.put(&[0xC5, 0xF8, 0x77, 0xC3]);
    Some(code.0)
}

/// Eight items, so many bytes after where the iteration is.
fn iteration(of: &Loop, code: &mut Code, registers: &mut Registers<'_>, after: u8) -> Option<()> {
    for (at, step) in of.steps.iter().enumerate() {
        match *step {
            Vector::Word(_) if of.is_held(step) => {}
            Vector::Word(word) => code.word(registers.take(at)?, of.table(), word),
            Vector::Row(_) if registers.is_folded.get(at) == Some(&true) => {}
            Vector::Row(row) => {
                let register = registers.take(at)?;
                // vmovdqu
                code.vex((MAP_0F, PREFIX_F3, 0x6F), register, 0, Operand::Row(row, after));
            }
            Vector::Binary(op, [a, b]) => {
                let first = registers.get(a)?;
                let last = match (registers.get(b), of.steps.get(b.0 as usize)) {
                    (Some(register), _) => Operand::Register(register),
                    (None, Some(&Vector::Row(row))) => Operand::Row(row, after),
                    (None, _) => return None,
                };
                registers.release(at);
                let result = registers.take(at)?;
                code.vex((op.map, op.prefix, op.byte), result, first, last);
            }
            Vector::MultiplyAdd(args) => {
                let [a, b, c] = args;
                let [x, y, z] = [registers.get(a)?, registers.get(b)?, registers.get(c)?];
                // vfmadd231ps adds to its result, vfmadd213ps multiplies it.
                let (byte, result, second, last) = match args.map(|arg| registers.ends(arg, at)) {
                    [.., true] => (0xB8, z, x, y),
                    [true, ..] => (0xA8, x, y, z),
                    [_, true, _] => (0xA8, y, x, z),
                    _ => {
                        let result = registers.take(at)?;
                        // vmovaps
                        code.vex((MAP_0F, NO_PREFIX, 0x28), result, 0, Operand::Register(z));
                        (0xB8, result, x, y)
                    }
                };
                registers.release(at);
                registers.pass(at, result)?;
                code.vex((MAP_0F38, PREFIX_66, byte), result, second, Operand::Register(last));
            }
            Vector::Float(a) => {
                let from = registers.get(a)?;
                registers.release(at);
                // vcvtdq2ps
                code.vex((MAP_0F, NO_PREFIX, 0x5B), registers.take(at)?, 0, Operand::Register(from));
            }
            Vector::IsNan(a) => {
                let from = registers.get(a)?;
                registers.release(at);
                // vcmpunordps
                code.vex((MAP_0F, NO_PREFIX, 0xC2), registers.take(at)?, from, Operand::Register(from));
                code.put(&[3]);
            }
            Vector::Shift(shift, a, count) => {
                let from = registers.get(a)?;
                registers.release(at);
                let result = registers.take(at)?;
                let digit = match shift {
                    Shift::Left => 6,
                    Shift::Right => 2,
                    Shift::Arithmetic => 4,
                };
                // vpslld, vpsrld, vpsrad: the result is where others have an operand.
                code.vex((MAP_0F, PREFIX_66, 0x72), digit, result, Operand::Register(from));
                code.put(&[count]);
            }
            Vector::Select([holds, yes, no]) => {
                let [holds, yes, no] = [registers.get(holds)?, registers.get(yes)?, registers.get(no)?];
                registers.release(at);
                let result = registers.take(at)?;
                // vpblendvb
                code.vex((MAP_0F3A, PREFIX_66, 0x4C), result, no, Operand::Register(yes));
                code.put(&[holds << 4]);
            }
        }
    }
    for &(row, value) in &of.stores {
        let register = registers.get(value)?;
        // vmovdqu
        code.vex((MAP_0F, PREFIX_F3, 0x7F), register, 0, Operand::Row(row, after));
    }
    // What was stored is read no more.
    for (held, step) in registers.held.iter_mut().zip(&of.steps) {
        if !of.is_held(step)
            && let Some(register) = held.take()
        {
            registers.free.push(register);
        }
    }
    Some(())
}
