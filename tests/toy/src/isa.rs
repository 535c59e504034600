//! The instructions: a row each, and from the rows words, text and back.
//!
//! A word has 32 bits: the opcode in 31:24, the register that is written in 23:20, those that are read in 19:16 and 15:12, an
//! immediate in 15:0. Bits that a row does not name are zero.

use std::ops::Range;

use halfbyte_abi::{Descriptor, Form, Target};
use halfbyte_isa::isa::{Isa, MachineCode, Words};
use halfbyte_isa::row::Class;

/// The target.
pub const TARGET: Target =
    Target::new(&Descriptor { name: "toy", summary: "eight instructions", code: 0x70, form: Form::Threads, sm: None });

/// How many registers there are.
pub const REGISTERS: u8 = 16;
/// The register that nobody reads.
pub const SINK: u8 = REGISTERS - 1;

/// An operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opcode {
    /// The item's number.
    Item,
    /// A constant, sign-extended.
    Const,
    /// A scalar parameter, by its number.
    Arg,
    /// The sum, wrapping.
    Add,
    /// The product, wrapping.
    Mul,
    /// The word of a buffer, by the number of its parameter, at an index.
    Load,
    /// Writes it.
    Store,
    /// The item is done.
    Exit,
}

/// What an instruction is made of, in the order of its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// The register that is written.
    Def,
    /// The first that is read.
    A,
    /// The second.
    B,
    /// The immediate.
    Imm,
}

impl Operand {
    /// The lowest bit and the number of bits.
    const fn bits(self) -> (u32, u32) {
        match self {
            Operand::Def => (20, 4),
            Operand::A => (16, 4),
            Operand::B => (12, 4),
            Operand::Imm => (0, 16),
        }
    }

    const fn get(self, word: u32) -> u32 {
        let (low, count) = self.bits();
        word >> low & ((1 << count) - 1)
    }

    /// The bits of a value that fits.
    const fn put(self, value: u32) -> u32 {
        value << self.bits().0
    }
}

/// An instruction's description.
#[derive(Debug)]
pub struct Row {
    /// The operation.
    pub opcode: Opcode,
    /// How it is written.
    pub name: &'static str,
    /// What sort of instruction it is.
    pub class: Class,
    /// Its operands, as they stand in the text.
    pub operands: &'static [Operand],
}

/// Every instruction, by its opcode's number.
#[rustfmt::skip]
pub const ROWS: [Row; 8] = [
    Row { opcode: Opcode::Item,  name: "item",  class: Class::Compute, operands: &[Operand::Def] },
    Row { opcode: Opcode::Const, name: "const", class: Class::Compute, operands: &[Operand::Def, Operand::Imm] },
    Row { opcode: Opcode::Arg,   name: "arg",   class: Class::Memory,  operands: &[Operand::Def, Operand::Imm] },
    Row { opcode: Opcode::Add,   name: "add",   class: Class::Compute, operands: &[Operand::Def, Operand::A, Operand::B] },
    Row { opcode: Opcode::Mul,   name: "mul",   class: Class::Compute, operands: &[Operand::Def, Operand::A, Operand::B] },
    Row { opcode: Opcode::Load,  name: "load",  class: Class::Memory,  operands: &[Operand::Def, Operand::Imm, Operand::A] },
    Row { opcode: Opcode::Store, name: "store", class: Class::Memory,  operands: &[Operand::Imm, Operand::A, Operand::Def] },
    Row { opcode: Opcode::Exit,  name: "exit",  class: Class::Control, operands: &[] },
];

/// An instruction. What its row does not name is zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inst {
    /// The operation.
    pub opcode: Opcode,
    /// The register that is written; of a store, the one whose value is.
    pub def: u8,
    /// The first that is read.
    pub a: u8,
    /// The second.
    pub b: u8,
    /// The immediate.
    pub imm: u16,
}

impl Inst {
    /// An instruction whose operands are all zero.
    pub const fn new(opcode: Opcode) -> Inst {
        Inst { opcode, def: 0, a: 0, b: 0, imm: 0 }
    }

    /// Its row.
    pub const fn row(self) -> &'static Row {
        &ROWS[self.opcode as usize]
    }

    const fn get(self, operand: Operand) -> u32 {
        match operand {
            Operand::Def => self.def as u32,
            Operand::A => self.a as u32,
            Operand::B => self.b as u32,
            Operand::Imm => self.imm as u32,
        }
    }

    fn set(&mut self, operand: Operand, value: u32) {
        match operand {
            Operand::Def => self.def = value as u8,
            Operand::A => self.a = value as u8,
            Operand::B => self.b = value as u8,
            Operand::Imm => self.imm = value as u16,
        }
    }

    /// The word.
    pub fn encode(self) -> u32 {
        let operands = self.row().operands.iter().map(|&operand| operand.put(self.get(operand)));
        operands.fold((self.opcode as u32) << 24, |word, bits| word | bits)
    }

    /// The instruction that a word is.
    pub fn decode(word: u32) -> Option<Inst> {
        let row = ROWS.get((word >> 24) as usize)?;
        let mut inst = Inst::new(row.opcode);
        for &operand in row.operands {
            inst.set(operand, operand.get(word));
        }
        (inst.encode() == word).then_some(inst)
    }

    /// The instruction that a line of assembly is.
    pub fn parse(line: &str) -> Option<Inst> {
        let (name, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let row = ROWS.iter().find(|row| row.name == name)?;
        let mut inst = Inst::new(row.opcode);
        let mut texts = rest.split(',').map(str::trim).filter(|text| !text.is_empty());
        for &operand in row.operands {
            let (prefix, limit) = match operand {
                Operand::Imm => ("#", u32::from(u16::MAX)),
                _ => ("r", u32::from(REGISTERS) - 1),
            };
            let value: u32 = texts.next()?.strip_prefix(prefix)?.parse().ok()?;
            (value <= limit).then(|| inst.set(operand, value))?;
        }
        texts.next().is_none().then_some(inst)
    }
}

impl std::fmt::Display for Inst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.row().name)?;
        for (n, &operand) in self.row().operands.iter().enumerate() {
            let prefix = if operand == Operand::Imm { '#' } else { 'r' };
            write!(f, "{} {prefix}{}", if n == 0 { "" } else { "," }, self.get(operand))?;
        }
        Ok(())
    }
}

/// The instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Toy;

impl Isa for Toy {
    fn targets(&self) -> &'static [Target] {
        &[TARGET]
    }

    fn default_target(&self) -> Target {
        TARGET
    }

    fn mnemonics(&self) -> Vec<&'static str> {
        ROWS.iter().map(|row| row.name).collect()
    }

    fn machine_code(&self, _: Target, bytes: &[u8]) -> Option<Words> {
        let (words, rest) = bytes.as_chunks();
        rest.is_empty().then(|| Code(words.iter().map(|&word| u32::from_le_bytes(word)).collect()).into())
    }
}

/// Words in order, instructions or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code(pub Vec<u32>);

impl MachineCode for Code {
    fn target(&self) -> Target {
        TARGET
    }

    fn word_bytes(&self) -> usize {
        size_of::<u32>()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, address: usize) -> Option<u128> {
        self.0.get(address).map(|&word| word.into())
    }

    fn text(&self, address: usize) -> String {
        let text = |&word: &u32| Inst::decode(word).map_or(format!(".word {word:#010x}"), |inst| inst.to_string());
        self.0.get(address).map_or(String::new(), text)
    }

    fn class(&self, address: usize) -> Option<Class> {
        Some(Inst::decode(*self.0.get(address)?)?.row().class)
    }

    fn idle(&self, addresses: Range<usize>) -> Words {
        let mut words = self.0.clone();
        let idle = Inst { def: SINK, ..Inst::new(Opcode::Const) }.encode();
        words.iter_mut().skip(addresses.start).take(addresses.len()).for_each(|word| *word = idle);
        Code(words).into()
    }

    fn disassemble(&self) -> String {
        (0..self.len()).map(|address| format!("    {}\n", self.text(address))).collect()
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}
