//! Instruction sets that are described by rows alone, with one 32-bit word per instruction. A small
//! custom target can be built on this module.
//!
//! Bits 31:24 of an instruction word hold the opcode, which is the row's index. The row defines the
//! bit positions of the operands. All other bits are zero.

use std::fmt::Write;
use std::ops::Range;

use halfbyte_abi::Target;

use crate::isa::{Isa, MachineCode, SharedCode};
use crate::row::InstClass;

/// Maximum number of operands of an instruction.
pub const MAX_OPERANDS: usize = 4;

/// Lowest bit of the opcode.
const OPCODE: u32 = 24;

/// The role of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A destination register; an instruction has at most one.
    Def,
    /// A source register.
    Use,
    /// An unsigned immediate.
    Imm,
}

/// The bit field of an operand in the instruction word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The role of the operand.
    pub role: Role,
    /// The lowest bit of the field.
    pub low: u32,
    /// The width of the field in bits, from 1 to 24; the field lies below the opcode.
    pub bits: u32,
}

impl Field {
    const fn limit(self) -> u32 {
        (1 << self.bits) - 1
    }

    const fn prefix(self) -> char {
        match self.role {
            Role::Imm => '#',
            Role::Def | Role::Use => 'r',
        }
    }
}

/// An instruction's description.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The mnemonic.
    pub name: &'static str,
    /// The class of the instruction.
    pub class: InstClass,
    /// The operands, at most [`MAX_OPERANDS`], in the order of the assembly text.
    pub fields: &'static [Field],
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inst {
    /// The index of the instruction's row.
    pub opcode: u8,
    /// The operands in the order of the assembly text, padded with zeros.
    pub operands: [u32; MAX_OPERANDS],
}

/// An instruction set of one target.
#[derive(Clone, Copy, Debug)]
pub struct RowIsa {
    /// The target.
    pub target: Target,
    /// The instructions, indexed by opcode; at most 256.
    pub rows: &'static [Row],
    /// The instruction word of a no-op.
    pub nop: u32,
}

impl RowIsa {
    /// Returns the row of an opcode.
    pub fn row(&self, opcode: u8) -> Option<&'static Row> {
        self.rows.get(usize::from(opcode))
    }

    /// Encodes an instruction. Returns `None` if the opcode is unknown or an operand does not fit its field.
    pub fn encode(&self, inst: Inst) -> Option<u32> {
        let fields = self.row(inst.opcode)?.fields;
        let mut operands = inst.operands.iter().copied();
        let mut word = u32::from(inst.opcode) << OPCODE;
        for field in fields {
            word |= operands.next().filter(|&value| value <= field.limit())? << field.low;
        }
        operands.all(|rest| rest == 0).then_some(word)
    }

    /// Decodes an instruction word. Returns `None` if the opcode is unknown or a bit outside all fields is set.
    pub fn decode(&self, word: u32) -> Option<Inst> {
        let opcode = (word >> OPCODE) as u8;
        let mut inst = Inst { opcode, operands: [0; MAX_OPERANDS] };
        for (field, operand) in self.row(opcode)?.fields.iter().zip(&mut inst.operands) {
            *operand = word >> field.low & field.limit();
        }
        (self.encode(inst) == Some(word)).then_some(inst)
    }

    /// Parses a line of assembly: `add r1, r2, r3`, `const r1, #7`, `.word 0xff000000`.
    pub fn parse(&self, line: &str) -> Option<u32> {
        let (name, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        if name == ".word" {
            return u32::from_str_radix(rest.trim().strip_prefix("0x")?, 16).ok();
        }
        let opcode = self.rows.iter().position(|row| row.name == name)?;
        let mut inst = Inst { opcode: u8::try_from(opcode).ok()?, operands: [0; MAX_OPERANDS] };
        let mut texts = rest.split(',').map(str::trim).filter(|text| !text.is_empty());
        for (field, operand) in self.row(inst.opcode)?.fields.iter().zip(&mut inst.operands) {
            *operand = texts.next()?.strip_prefix(field.prefix())?.parse().ok()?;
        }
        texts.next().is_none().then(|| self.encode(inst))?
    }

    /// Disassembles an instruction word to a line of assembly that [`RowIsa::parse`] accepts.
    pub fn text(&self, word: u32) -> String {
        let described = self.decode(word).and_then(|inst| Some((inst, self.row(inst.opcode)?)));
        let Some((inst, row)) = described else { return format!(".word {word:#010x}") };
        let mut text = row.name.to_owned();
        for (n, (field, operand)) in row.fields.iter().zip(inst.operands).enumerate() {
            // Writing to a string does not fail.
            let _ = write!(text, "{} {}{operand}", if n == 0 { "" } else { "," }, field.prefix());
        }
        text
    }

    /// Creates machine code of this instruction set from instruction words.
    pub const fn code(&self, words: Vec<u32>) -> RowCode {
        RowCode { isa: *self, words }
    }
}

impl Isa for RowIsa {
    fn targets(&self) -> &[Target] {
        std::slice::from_ref(&self.target)
    }

    fn default_target(&self) -> Target {
        self.target
    }

    fn mnemonics(&self) -> Vec<&'static str> {
        self.rows.iter().map(|row| row.name).collect()
    }

    fn machine_code(&self, _: Target, bytes: &[u8]) -> Option<SharedCode> {
        let (words, rest) = bytes.as_chunks();
        rest.is_empty().then(|| self.code(words.iter().map(|&word| u32::from_le_bytes(word)).collect()).into())
    }
}

/// Machine code: instruction words in order, each a valid instruction or not.
#[derive(Clone, Debug)]
pub struct RowCode {
    isa: RowIsa,
    words: Vec<u32>,
}

impl RowCode {
    /// Returns the instruction words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

impl MachineCode for RowCode {
    fn target(&self) -> Target {
        self.isa.target
    }

    fn word_bytes(&self) -> usize {
        size_of::<u32>()
    }

    fn len(&self) -> usize {
        self.words.len()
    }

    fn get(&self, address: usize) -> Option<u128> {
        self.words.get(address).map(|&word| word.into())
    }

    fn text(&self, address: usize) -> String {
        self.words.get(address).map_or(String::new(), |&word| self.isa.text(word))
    }

    fn class(&self, address: usize) -> Option<InstClass> {
        let inst = self.isa.decode(*self.words.get(address)?)?;
        Some(self.isa.row(inst.opcode)?.class)
    }

    fn replace_with_nops(&self, addresses: Range<usize>) -> SharedCode {
        let mut words = self.words.clone();
        words.iter_mut().skip(addresses.start).take(addresses.len()).for_each(|word| *word = self.isa.nop);
        self.isa.code(words).into()
    }

    fn disassemble(&self) -> String {
        self.words.iter().map(|&word| format!("    {}\n", self.isa.text(word))).collect()
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}
