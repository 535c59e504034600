//! Code for x86-64 with AVX-512: instructions with EVEX prefixes, and what they need beside them.

use super::graph::Words;
use crate::jit::wide::{MAP_0F, MAP_0F3A, MAP_0F38, NO_PREFIX, Opcode, PREFIX_66, PREFIX_F2, PREFIX_F3};

/// General registers that code uses. Those that calls keep hold what lasts.
pub const AX: u8 = 0;
pub const CX: u8 = 1;
pub const DX: u8 = 2;
pub const FRAME: u8 = 3;
pub const SI: u8 = 6;
pub const DI: u8 = 7;
pub const R8: u8 = 8;
pub const R9: u8 = 9;
pub const CONSTANTS: u8 = 12;
pub const SHARED: u8 = 13;

/// An instruction on vectors.
const fn of(map: u8, prefix: u8, byte: u8) -> Opcode {
    Opcode { map, prefix, byte }
}

pub const AND: Opcode = Opcode::AND;
pub const OR: Opcode = Opcode::OR;
pub const XOR: Opcode = Opcode::XOR;
pub const ADD: Opcode = of(MAP_0F, PREFIX_66, 0xFE);
pub const SUB: Opcode = of(MAP_0F, PREFIX_66, 0xFA);
pub const MUL: Opcode = Opcode::MUL;
/// By words below 32.
pub const SHL: Opcode = Opcode::SHL;
pub const SHR: Opcode = Opcode::SHR;
pub const SAR: Opcode = Opcode::SAR;
pub const FLOAT_ADD: Opcode = Opcode::FLOAT_ADD;
pub const FLOAT_MUL: Opcode = Opcode::FLOAT_MUL;
pub const FLOAT_DIV: Opcode = Opcode::FLOAT_DIV;
pub const FLOAT_SQRT: Opcode = of(MAP_0F, NO_PREFIX, 0x51);
/// To the result is added the product of the others.
pub const MULTIPLY_ADD: Opcode = of(MAP_0F38, PREFIX_66, 0xB8);
pub const FLOAT_OF_SIGNED: Opcode = of(MAP_0F, NO_PREFIX, 0x5B);
pub const FLOAT_OF_UNSIGNED: Opcode = of(MAP_0F, PREFIX_F2, 0x7A);
/// Of halves in half of a register.
pub const FLOAT_OF_HALF: Opcode = of(MAP_0F38, PREFIX_66, 0x13);
/// By any three operands, of which the immediate says it.
pub const TERNARY: Opcode = of(MAP_0F3A, PREFIX_66, 0x25);
pub const COMPARE_SIGNED: Opcode = of(MAP_0F3A, PREFIX_66, 0x1F);
pub const COMPARE_UNSIGNED: Opcode = of(MAP_0F3A, PREFIX_66, 0x1E);
pub const COMPARE_FLOAT: Opcode = of(MAP_0F, NO_PREFIX, 0xC2);
/// Lanes that are not zero, in a mask.
pub const TEST: Opcode = of(MAP_0F38, PREFIX_66, 0x27);
/// All ones of the bits of a mask, and the contrary.
pub const OF_MASK: Opcode = of(MAP_0F38, PREFIX_F3, 0x38);
pub const TO_MASK: Opcode = of(MAP_0F38, PREFIX_F3, 0x39);
/// Lanes of the last where the mask has bits.
pub const BLEND: Opcode = of(MAP_0F38, PREFIX_66, 0x64);
pub const PERMUTE: Opcode = of(MAP_0F38, PREFIX_66, 0x36);
/// Of the result and the last.
pub const PERMUTE_TWO: Opcode = of(MAP_0F38, PREFIX_66, 0x7E);
pub const SHUFFLE_BYTES: Opcode = of(MAP_0F38, PREFIX_66, 0x00);
pub const LOAD: Opcode = of(MAP_0F, PREFIX_F3, 0x6F);
pub const STORE: Opcode = of(MAP_0F, PREFIX_F3, 0x7F);
/// Loads that extend bytes or halves with zeros; those with the sign have other opcodes.
pub const LOAD_BYTES: Opcode = of(MAP_0F38, PREFIX_66, 0x31);
pub const LOAD_HALVES: Opcode = of(MAP_0F38, PREFIX_66, 0x33);
pub const LOAD_SIGNED_BYTES: Opcode = of(MAP_0F38, PREFIX_66, 0x21);
pub const LOAD_SIGNED_HALVES: Opcode = of(MAP_0F38, PREFIX_66, 0x23);
/// The low byte or half of each lane, to memory or half of a register.
pub const STORE_BYTES: Opcode = of(MAP_0F38, PREFIX_F3, 0x31);
pub const STORE_HALVES: Opcode = of(MAP_0F38, PREFIX_F3, 0x33);
/// The same word in all lanes: from memory, or a general register.
pub const SPREAD: Opcode = of(MAP_0F38, PREFIX_66, 0x58);
pub const SPREAD_GENERAL: Opcode = of(MAP_0F38, PREFIX_66, 0x7C);
/// A word to the first lane of four, and to the one of the immediate; four lanes to those of the immediate of sixteen.
const FIRST_FROM: Opcode = of(MAP_0F, PREFIX_66, 0x6E);
const INSERT: Opcode = of(MAP_0F3A, PREFIX_66, 0x22);
const INSERT_FOUR: Opcode = of(MAP_0F3A, PREFIX_66, 0x38);
/// The first lane, to a general register.
const FIRST: Opcode = of(MAP_0F, PREFIX_66, 0x7E);

/// The bytes that an instruction accesses in memory, in which short distances count.
fn unit(opcode: Opcode) -> i32 {
    match opcode {
        SPREAD | FIRST_FROM | INSERT => 4,
        LOAD_BYTES | LOAD_SIGNED_BYTES | STORE_BYTES => 16,
        LOAD_HALVES | LOAD_SIGNED_HALVES | STORE_HALVES => 32,
        _ => 64,
    }
}

/// The last operand of an instruction on vectors.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    Register(u8),
    /// At a base and a distance.
    Memory(u8, i32),
    /// The word there, for all lanes.
    Word(u8, i32),
    /// Words beside the code.
    Pool(Words),
    /// A word beside the code, for all lanes.
    PoolWord(u32),
    /// The same, of an instruction that reads one word.
    PoolScalar(u32),
}

/// A condition of a jump.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    Below = 2,
    Equal = 4,
    NotEqual = 5,
    Above = 7,
}

/// A place in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(usize);

/// What is beside the code.
#[derive(Clone, Copy, PartialEq)]
enum Pooled {
    Word(u32),
    Words(Words),
}

/// Code on its way.
#[derive(Default)]
pub struct Assembler {
    bytes: Vec<u8>,
    /// Where code has the distance to what is beside it, and how many bytes the instruction has after that.
    pooled: Vec<(usize, usize, Pooled)>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// An instruction on sixteen lanes.
    pub fn vector(&mut self, opcode: Opcode, result: u8, second: u8, last: Operand) {
        self.evex(opcode, result, second, last, (0, false), None);
    }

    pub fn vector_with(&mut self, opcode: Opcode, result: u8, second: u8, last: Operand, immediate: u8) {
        self.evex(opcode, result, second, last, (0, false), Some(immediate));
    }

    /// One of which lanes outside mask 1 stay, in memory, or become zero, in a register.
    pub fn masked(&mut self, opcode: Opcode, result: u8, last: Operand, is_zeroed: bool) {
        self.evex(opcode, result, 0, last, (1, is_zeroed), None);
    }

    /// Lanes of the second where mask 1 has no bits, of the last elsewhere.
    pub fn blend(&mut self, result: u8, second: u8, last: Operand) {
        self.evex(BLEND, result, second, last, (1, false), None);
    }

    fn evex(
        &mut self,
        opcode: Opcode,
        result: u8,
        second: u8,
        last: Operand,
        (mask, is_zeroed): (u8, bool),
        immediate: Option<u8>,
    ) {
        let Opcode { map, prefix, byte } = opcode;
        let base = match last {
            Operand::Register(register) => register,
            Operand::Memory(base, _) | Operand::Word(base, _) => base,
            Operand::Pool(_) | Operand::PoolWord(_) | Operand::PoolScalar(_) => 0,
        };
        // Without an index its bit is as if there were none.
        let fourth = if let Operand::Register(register) = last { register >> 4 & 1 } else { 0 };
        let is_word = matches!(last, Operand::Word(..) | Operand::PoolWord(_));
        let bit = |register: u8, bit: u8, at: u8| (!register >> bit & 1) << at;
        self.put(&[
            0x62,
            bit(result, 3, 7) | (fourth ^ 1) << 6 | bit(base, 3, 5) | bit(result, 4, 4) | map,
            (!second & 0xF) << 3 | 1 << 2 | prefix,
            u8::from(is_zeroed) << 7 | 2 << 5 | u8::from(is_word) << 4 | bit(second, 4, 3) | mask,
            byte,
        ]);
        let after = usize::from(immediate.is_some());
        match last {
            Operand::Register(register) => self.put(&[0b11 << 6 | (result & 7) << 3 | register & 7]),
            Operand::Memory(base, at) => self.based(result, base, at, unit(opcode)),
            Operand::Word(base, at) => self.based(result, base, at, 4),
            Operand::Pool(words) => self.beside(result, after, Pooled::Words(words)),
            Operand::PoolWord(word) | Operand::PoolScalar(word) => self.beside(result, after, Pooled::Word(word)),
        }
        self.put(immediate.as_slice());
    }

    /// An operand at a base. A distance of one byte counts in units.
    fn based(&mut self, register: u8, base: u8, at: i32, unit: i32) {
        let short = i8::try_from(at / unit).ok().filter(|short| i32::from(*short) * unit == at);
        self.put(&[if short.is_some() { 0b01 } else { 0b10 } << 6 | (register & 7) << 3 | base & 7]);
        // A base with this number needs the byte that has an index, here none.
        if base & 7 == 0b100 {
            self.put(&[0b100 << 3 | 0b100]);
        }
        match short {
            Some(short) => self.put(&short.to_le_bytes()),
            None => self.put(&at.to_le_bytes()),
        }
    }

    /// An operand beside the code, whose distance is counted from the end of the instruction.
    fn beside(&mut self, register: u8, after: usize, pooled: Pooled) {
        self.put(&[(register & 7) << 3 | 0b101]);
        self.pooled.push((self.bytes.len(), after, pooled));
        self.put(&[0; 4]);
    }

    /// The prefix of an instruction on general registers.
    fn rex(&mut self, is_wide: bool, register: u8, base: u8) {
        let rex = u8::from(is_wide) << 3 | (register >> 3 & 1) << 2 | base >> 3 & 1;
        if rex != 0 {
            self.put(&[0x40 | rex]);
        }
    }

    /// An instruction on a general register and memory at a base.
    fn general(&mut self, is_wide: bool, opcode: &[u8], register: u8, base: u8, at: i32) {
        self.rex(is_wide, register, base);
        self.put(opcode);
        self.based(register, base, at, 1);
    }

    /// An instruction on two general registers.
    fn registers(&mut self, is_wide: bool, opcode: &[u8], register: u8, other: u8) {
        self.rex(is_wide, register, other);
        self.put(opcode);
        self.put(&[0b11 << 6 | (register & 7) << 3 | other & 7]);
    }

    /// An instruction on a general register and a number.
    fn with_number(&mut self, is_wide: bool, opcode: u8, which: u8, register: u8, number: i32) {
        self.registers(is_wide, &[opcode], which, register);
        self.put(&number.to_le_bytes());
    }

    pub fn load_word(&mut self, register: u8, base: u8, at: i32) {
        self.general(false, &[0x8B], register, base, at);
    }

    pub fn load_address(&mut self, register: u8, base: u8, at: i32) {
        self.general(true, &[0x8B], register, base, at);
    }

    /// Loads a byte or a half, extended with its sign or without.
    pub fn load_narrow(&mut self, register: u8, base: u8, at: i32, is_half: bool, is_signed: bool) {
        let opcode = 0xB6 | u8::from(is_half) | u8::from(is_signed) << 3;
        self.general(false, &[0x0F, opcode], register, base, at);
    }

    pub fn store_word(&mut self, register: u8, base: u8, at: i32) {
        self.general(false, &[0x89], register, base, at);
    }

    pub fn store_address(&mut self, register: u8, base: u8, at: i32) {
        self.general(true, &[0x89], register, base, at);
    }

    pub fn store_half(&mut self, register: u8, base: u8, at: i32) {
        self.put(&[0x66]);
        self.general(false, &[0x89], register, base, at);
    }

    /// Of one of the first four registers.
    pub fn store_byte(&mut self, register: u8, base: u8, at: i32) {
        self.general(false, &[0x88], register, base, at);
    }

    pub fn set(&mut self, register: u8, number: u32) {
        self.rex(false, 0, register);
        self.put(&[0xB8 | register & 7]);
        self.put(&number.to_le_bytes());
    }

    pub fn set_address(&mut self, register: u8, number: u64) {
        self.rex(true, 0, register);
        self.put(&[0xB8 | register & 7]);
        self.put(&number.to_le_bytes());
    }

    /// Adds to a word; what is beyond it becomes zero.
    pub fn add_to_word(&mut self, register: u8, number: u32) {
        self.with_number(false, 0x81, 0, register, number.cast_signed());
    }

    pub fn add(&mut self, register: u8, number: i32) {
        self.with_number(true, 0x81, 0, register, number);
    }

    pub fn sub(&mut self, register: u8, number: i32) {
        self.with_number(true, 0x81, 5, register, number);
    }

    pub fn compare_with(&mut self, register: u8, number: i32) {
        self.with_number(true, 0x81, 7, register, number);
    }

    pub fn and_word(&mut self, register: u8, number: u32) {
        self.with_number(false, 0x81, 4, register, number.cast_signed());
    }

    pub fn xor_word(&mut self, register: u8, number: u32) {
        self.with_number(false, 0x81, 6, register, number.cast_signed());
    }

    pub fn compare_word_with(&mut self, register: u8, number: u32) {
        self.with_number(false, 0x81, 7, register, number.cast_signed());
    }

    pub fn test_bits(&mut self, register: u8, bits: u32) {
        self.with_number(false, 0xF7, 0, register, bits.cast_signed());
    }

    pub fn multiply(&mut self, register: u8, by: i32) {
        self.registers(true, &[0x69], register, register);
        self.put(&by.to_le_bytes());
    }

    pub fn extend_sign(&mut self, register: u8) {
        self.registers(true, &[0x63], register, register);
    }

    pub fn compare(&mut self, register: u8, other: u8) {
        self.registers(true, &[0x3B], register, other);
    }

    pub fn add_register(&mut self, register: u8, other: u8) {
        self.registers(true, &[0x03], register, other);
    }

    pub fn or_register(&mut self, register: u8, other: u8) {
        self.registers(false, &[0x0B], register, other);
    }

    pub fn count_ones(&mut self, register: u8, of: u8) {
        self.put(&[0xF3]);
        self.registers(false, &[0x0F, 0xB8], register, of);
    }

    pub fn test_registers(&mut self, register: u8, other: u8) {
        self.registers(false, &[0x85], register, other);
    }

    pub fn compare_memory(&mut self, register: u8, base: u8, at: i32) {
        self.general(true, &[0x3B], register, base, at);
    }

    pub fn add_memory(&mut self, register: u8, base: u8, at: i32) {
        self.general(true, &[0x03], register, base, at);
    }

    pub fn shift_left(&mut self, register: u8, by: u8) {
        self.registers(true, &[0xC1], 4, register);
        self.put(&[by]);
    }

    pub fn address(&mut self, register: u8, base: u8, at: i32) {
        self.general(true, &[0x8D], register, base, at);
    }

    /// Adds to eight bytes in memory.
    pub fn add_in_memory(&mut self, base: u8, at: i32, number: i32) {
        self.general(true, &[0x81], 0, base, at);
        self.put(&number.to_le_bytes());
    }

    pub fn sub_in_memory(&mut self, base: u8, at: i32, number: i32) {
        self.general(true, &[0x81], 5, base, at);
        self.put(&number.to_le_bytes());
    }

    /// An instruction on vectors of 128 bits: that on those of 512 bits, but for the length.
    fn short(&mut self, opcode: Opcode, result: u8, second: u8, last: Operand, immediate: Option<u8>) {
        let start = self.bytes.len();
        self.evex(opcode, result, second, last, (0, false), immediate);
        if let Some(length) = self.bytes.get_mut(start + 3) {
            *length &= !(0b11 << 5);
        }
    }

    /// The first lane of a vector, in a general register.
    pub fn first(&mut self, register: u8, vector: u8) {
        self.short(FIRST, vector, 0, Operand::Register(register), None);
    }

    /// A lane of four becomes a word; the first makes the others zero.
    pub fn insert(&mut self, vector: u8, lane: u8, from: Operand) {
        match lane {
            0 => self.short(FIRST_FROM, vector, 0, from, None),
            lane => self.short(INSERT, vector, vector, from, Some(lane)),
        }
    }

    /// Four lanes of sixteen become those of another vector.
    pub fn insert_four(&mut self, vector: u8, from: u8, which: u8) {
        self.evex(INSERT_FOUR, vector, vector, Operand::Register(from), (0, false), Some(which));
    }

    /// Mask 1 becomes a register's low half.
    pub fn set_mask(&mut self, register: u8) {
        self.put(&[0xC5, 0xF8, 0x92, 0b11 << 6 | 1 << 3 | register]);
    }

    /// A register becomes mask 1.
    pub fn get_mask(&mut self, register: u8) {
        self.put(&[0xC5, 0xF8, 0x93, 0b11 << 6 | register << 3 | 1]);
    }

    /// A mask by what it is.
    pub fn known_mask(&mut self, mask: u16) {
        self.set(CX, mask.into());
        self.set_mask(CX);
    }

    pub fn call(&mut self, register: u8) {
        // Code elsewhere has instructions that wait for what is above their vectors.
        self.zero_upper();
        self.put(&[0xFF, 0b11 << 6 | 2 << 3 | register]);
    }

    fn zero_upper(&mut self) {
        self.put(&[0xC5, 0xF8, 0x77]);
    }

    /// The start of a function of the address of a frame.
    pub fn enter(&mut self) {
        // push rbx, r12, r13; mov rbx, rdi
        self.put(&[0x53, 0x41, 0x54, 0x41, 0x55]);
        self.registers(true, &[0x8B], FRAME, DI);
    }

    /// Its end, with what it returns.
    pub fn leave(&mut self, answer: u32) {
        self.set(AX, answer);
        self.zero_upper();
        // pop r13, r12, rbx; ret
        self.put(&[0x41, 0x5D, 0x41, 0x5C, 0x5B, 0xC3]);
    }

    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// A label is here.
    pub fn here(&mut self, Label(number): Label) {
        let at = self.bytes.len();
        if let Some(label) = self.labels.get_mut(number) {
            *label = Some(at);
        }
    }

    pub fn jump(&mut self, to: Label) {
        self.put(&[0xE9]);
        self.jumps.push((self.bytes.len(), to));
        self.put(&[0; 4]);
    }

    pub fn jump_if(&mut self, condition: Condition, to: Label) {
        self.put(&[0x0F, 0x80 | condition as u8]);
        self.jumps.push((self.bytes.len(), to));
        self.put(&[0; 4]);
    }

    /// The address of a place in the code.
    pub fn address_of(&mut self, register: u8, of: Label) {
        self.rex(true, register, 0);
        self.put(&[0x8D, (register & 7) << 3 | 0b101]);
        self.jumps.push((self.bytes.len(), of));
        self.put(&[0; 4]);
    }

    /// Goes on at the address that a register holds, unless that is zero.
    pub fn jump_to_unless_zero(&mut self, register: u8) {
        let on = self.label();
        self.registers(true, &[0x85], register, register);
        self.jump_if(Condition::Equal, on);
        self.put(&[0xFF, 0b11 << 6 | 4 << 3 | register]);
        self.here(on);
    }

    /// The code, with what is beside it; none where it is too long.
    pub fn finish(mut self) -> Option<Vec<u8>> {
        for (at, Label(number)) in std::mem::take(&mut self.jumps) {
            let to = self.labels.get(number).copied().flatten()?;
            self.write(at, to as i64 - (at as i64 + 4))?;
        }
        let mut placed: Vec<(Pooled, usize)> = Vec::new();
        let mut by_first: rustc_hash::FxHashMap<(bool, u32, u32), Vec<usize>> = rustc_hash::FxHashMap::default();
        for (at, after, pooled) in std::mem::take(&mut self.pooled) {
            let key = match pooled {
                Pooled::Word(word) => (false, word, 0),
                Pooled::Words(words) => (true, words[0], words[1]),
            };
            let found = by_first.entry(key).or_default();
            let is_it = |&&number: &&usize| placed.get(number).is_some_and(|(other, _)| *other == pooled);
            let to = match found.iter().find(is_it).and_then(|&number| placed.get(number)) {
                Some(&(_, to)) => to,
                None => {
                    let to = self.bytes.len();
                    match pooled {
                        Pooled::Word(word) => self.put(&word.to_le_bytes()),
                        Pooled::Words(words) => words.iter().for_each(|word| self.put(&word.to_le_bytes())),
                    }
                    found.push(placed.len());
                    placed.push((pooled, to));
                    to
                }
            };
            self.write(at, to as i64 - (at + 4 + after) as i64)?;
        }
        Some(self.bytes)
    }

    fn write(&mut self, at: usize, distance: i64) -> Option<()> {
        let distance = i32::try_from(distance).ok()?;
        self.bytes.get_mut(at..at + 4)?.copy_from_slice(&distance.to_le_bytes());
        Some(())
    }
}
