//! Rows of the instruction table: the fields from which VEX and EVEX encodings are made.

/// Opcode map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Map {
    M0F = 1,
    M0F38 = 2,
    M0F3A = 3,
    M5 = 5,
    M6 = 6,
}

/// Mandatory prefix, by its number in VEX and EVEX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prefix {
    None = 0,
    P66 = 1,
    PF3 = 2,
    PF2 = 3,
}

/// Width of a vector instruction, by its number in VEX and EVEX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VectorWidth {
    B128 = 0,
    B256 = 1,
    B512 = 2,
}

impl VectorWidth {
    /// Returns the number of bytes.
    pub const fn bytes(self) -> i32 {
        16 << self as u8
    }
}

/// Embedded rounding of an EVEX instruction, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    Nearest = 0,
    Down = 1,
    Up = 2,
    Zero = 3,
}

/// Encodings of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encodings {
    /// VEX only, because the EVEX instruction has other operands or does not exist.
    Vex,
    /// EVEX only.
    Evex,
    /// VEX and EVEX.
    Both,
}

/// Size of the memory operand, which scales 8-bit displacements of EVEX instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// The whole vector. A 32-bit element can be broadcast instead.
    FullOrBroadcast,
    /// The whole vector.
    Full,
    /// A part of the vector: its bytes divided by a power of two.
    Part(u8),
    /// A number of bytes that does not depend on the width.
    Bytes(u8),
}

/// Positions of the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// `reg = f(vvvv, rm)`. FMA instructions also read `reg`.
    Binary,
    /// `reg = f(rm)`.
    Unary,
    /// `rm = f(reg)`: stores, and extractions.
    Store,
    /// `reg = f(vvvv, rm)` with a memory operand whose index is a vector register. Writes `vvvv`, too.
    Gather,
    /// `vvvv = f(rm, immediate)`. The field `reg` extends the opcode.
    ShiftByImmediate(u8),
}

/// Register class of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Vector register.
    Vector,
    /// Mask register, k0 to k7.
    Mask,
    /// General register.
    General,
}

/// Vector instruction.
#[derive(PartialEq, Eq, Debug)]
pub struct Row {
    /// Mnemonic of the VEX encoding, or of the only encoding.
    pub name: &'static str,
    /// Mnemonic of the EVEX encoding if it differs.
    pub evex_name: Option<&'static str>,
    pub encodings: Encodings,
    pub map: Map,
    pub prefix: Prefix,
    pub opcode: u8,
    /// The bit W of the prefix.
    pub is_w: bool,
    pub access: Access,
    pub shape: Shape,
    /// Class of the operand in the field `reg`.
    pub reg: Class,
    /// Class of a register in the field `rm`.
    pub rm: Class,
    /// `true` if an 8-bit immediate follows. For `vpblendvb` the immediate is a register number times 16.
    pub has_immediate: bool,
    /// Smallest and largest width.
    pub widths: [VectorWidth; 2],
}

impl Row {
    /// Returns the number of bytes that the memory operand has.
    pub const fn access_bytes(&self, width: VectorWidth, is_broadcast: bool) -> i32 {
        match self.access {
            _ if is_broadcast => 4,
            Access::FullOrBroadcast | Access::Full => width.bytes(),
            Access::Part(log2) => width.bytes() >> log2,
            Access::Bytes(bytes) => bytes as i32,
        }
    }
}
