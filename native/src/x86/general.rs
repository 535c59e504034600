//! Instructions on general registers, and control flow.

use super::{Assembler, Label, Memory, Operand};

/// Size of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    Byte,
    Word,
    Dword,
    Qword,
}

/// Condition of a jump after a comparison of unsigned numbers, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    Below = 2,
    NotBelow = 3,
    Equal = 4,
    NotEqual = 5,
    Above = 7,
}

/// Arithmetic and logical operation, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alu {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    Compare = 7,
}

impl Assembler {
    /// Appends the prefixes of an instruction on a register and an operand, and its opcode. A byte
    /// register from 4 on needs a REX prefix.
    fn opcode(&mut self, size: Size, opcode: &[u8], register: u8, operand: Operand) {
        let (base, index) = match operand {
            Operand::Register(register) => (register, 0),
            Operand::Memory(Memory { base, index, .. }) => (base, index.map_or(0, |(index, _)| index)),
            Operand::Constant(_) => (0, 0),
        };
        let is_wide = size == Size::Qword;
        let rex = u8::from(is_wide) << 3 | (register >> 3 & 1) << 2 | (index >> 3 & 1) << 1 | base >> 3 & 1;
        if size == Size::Word {
            self.put(&[0x66]);
        }
        if rex != 0 || size == Size::Byte && register >= 4 {
            self.put(&[0x40 | rex]);
        }
        self.put(opcode);
    }

    fn general(&mut self, size: Size, opcode: &[u8], register: u8, operand: Operand, immediate: &[u8]) {
        self.opcode(size, opcode, register, operand);
        self.operand(register, operand, 1, immediate.len());
        self.put(immediate);
    }

    /// Loads a dword or qword, or copies a register.
    pub fn load(&mut self, size: Size, register: u8, from: Operand) {
        self.general(size, &[0x8B], register, from, &[]);
    }

    /// Loads a byte or word, and extends it to 32 bits.
    pub fn load_extended(&mut self, size: Size, is_signed: bool, register: u8, from: Memory) {
        let opcode = 0xB6 | u8::from(size == Size::Word) | u8::from(is_signed) << 3;
        self.general(Size::Dword, &[0x0F, opcode], register, Operand::Memory(from), &[]);
    }

    /// Stores the low bytes of a register.
    pub fn store(&mut self, size: Size, register: u8, to: Memory) {
        let opcode = if size == Size::Byte { 0x88 } else { 0x89 };
        self.general(size, &[opcode], register, Operand::Memory(to), &[]);
    }

    /// Sets a register to a constant. The high half becomes zero.
    pub fn set(&mut self, register: u8, number: u32) {
        self.opcode(Size::Dword, &[0xB8 | register & 7], 0, Operand::Register(register));
        self.put(&number.to_le_bytes());
    }

    /// Sets a register to a 64-bit constant.
    pub fn set_address(&mut self, register: u8, number: u64) {
        self.opcode(Size::Qword, &[0xB8 | register & 7], 0, Operand::Register(register));
        self.put(&number.to_le_bytes());
    }

    /// Appends `register = register op operand`. A comparison only sets the flags.
    pub fn alu(&mut self, op: Alu, size: Size, register: u8, operand: Operand) {
        self.general(size, &[(op as u8) << 3 | 3], register, operand, &[]);
    }

    /// Appends `operand = operand op number`, on a dword or qword. The number is sign-extended.
    pub fn alu_immediate(&mut self, op: Alu, size: Size, operand: Operand, number: i32) {
        match i8::try_from(number) {
            Ok(number) => self.general(size, &[0x83], op as u8, operand, &number.to_le_bytes()),
            Err(_) => self.general(size, &[0x81], op as u8, operand, &number.to_le_bytes()),
        }
    }

    /// Compares the bitwise conjunction of a register and a number with zero.
    pub fn test_bits(&mut self, register: u8, bits: u32) {
        self.general(Size::Dword, &[0xF7], 0, Operand::Register(register), &bits.to_le_bytes());
    }

    /// Compares the bitwise conjunction of two registers with zero.
    pub fn test(&mut self, size: Size, register: u8, other: u8) {
        self.general(size, &[0x85], register, Operand::Register(other), &[]);
    }

    /// Multiplies a 64-bit register by a constant.
    pub fn multiply(&mut self, register: u8, by: i32) {
        self.general(Size::Qword, &[0x69], register, Operand::Register(register), &by.to_le_bytes());
    }

    /// Extends the sign of the low half of a register.
    pub fn extend_sign(&mut self, register: u8) {
        self.general(Size::Qword, &[0x63], register, Operand::Register(register), &[]);
    }

    /// Counts the set bits of a 32-bit register.
    pub fn count_ones(&mut self, register: u8, of: u8) {
        self.put(&[0xF3]);
        self.general(Size::Dword, &[0x0F, 0xB8], register, Operand::Register(of), &[]);
    }

    /// Finds the lowest set bit of a 32-bit register that is not 0.
    pub fn lowest_bit(&mut self, register: u8, of: u8) {
        self.general(Size::Dword, &[0x0F, 0xBC], register, Operand::Register(of), &[]);
    }

    /// Shifts a 64-bit register to the left.
    pub fn shift_left(&mut self, register: u8, by: u8) {
        self.general(Size::Qword, &[0xC1], 4, Operand::Register(register), &[by]);
    }

    /// Shifts a 64-bit register to the right, without its sign.
    pub fn shift_right(&mut self, register: u8, by: u8) {
        self.general(Size::Qword, &[0xC1], 5, Operand::Register(register), &[by]);
    }

    /// Sets a register to the address of a memory operand.
    pub fn address(&mut self, register: u8, of: Memory) {
        self.general(Size::Qword, &[0x8D], register, Operand::Memory(of), &[]);
    }

    /// Sets a register to the address of a label.
    pub fn address_of(&mut self, register: u8, of: Label) {
        self.opcode(Size::Qword, &[0x8D], register, Operand::Register(0));
        self.put(&[(register & 7) << 3 | 0b101]);
        self.distance_to(of);
    }

    /// Pushes a register onto the stack.
    pub fn push(&mut self, register: u8) {
        self.opcode(Size::Dword, &[0x50 | register & 7], 0, Operand::Register(register));
    }

    /// Pops a register from the stack.
    pub fn pop(&mut self, register: u8) {
        self.opcode(Size::Dword, &[0x58 | register & 7], 0, Operand::Register(register));
    }

    /// Calls the function at the address in a register.
    pub fn call(&mut self, register: u8) {
        self.general(Size::Dword, &[0xFF], 2, Operand::Register(register), &[]);
    }

    /// Returns from the function.
    pub fn ret(&mut self) {
        self.put(&[0xC3]);
    }

    /// Zeroes the high parts of all vector registers. Without this instruction, later SSE code is slow.
    pub fn zero_upper(&mut self) {
        self.put(&[0xC5, 0xF8, 0x77]);
    }

    /// Jumps to a label.
    pub fn jump(&mut self, to: Label) {
        self.put(&[0xE9]);
        self.distance_to(to);
    }

    /// Jumps to a label if a condition holds.
    pub fn jump_if(&mut self, condition: Condition, to: Label) {
        self.put(&[0x0F, 0x80 | condition as u8]);
        self.distance_to(to);
    }

    /// Jumps to the address in a register.
    pub fn jump_to_address(&mut self, register: u8) {
        self.general(Size::Dword, &[0xFF], 4, Operand::Register(register), &[]);
    }
}
