//! Instructions of groups of one size: on sixteen lanes of 32 bits, and on general registers with a
//! fixed purpose.

use super::graph::Words;
use crate::x86::register::{RAX, RBX, RCX, RDI, RDX, RSI};
use crate::x86::{Row, VectorWidth};

pub use crate::x86::register::{R8, R9, R12 as CONSTANTS, R13 as SHARED};
pub use crate::x86::vector::*;
pub use crate::x86::{Alu, Assembler, Condition, Label, Memory as Address, Size};

/// General registers. A call preserves `FRAME`, `CONSTANTS` and `SHARED`.
pub const AX: u8 = RAX;
pub const CX: u8 = RCX;
pub const DX: u8 = RDX;
pub const SI: u8 = RSI;
pub const DI: u8 = RDI;
/// Address of the frame.
pub const FRAME: u8 = RBX;

/// Mask register of predicated instructions.
const MASK: u8 = 1;

/// Last operand of an instruction on vectors.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    Register(u8),
    /// Memory at a base register and a displacement.
    Memory(u8, i32),
    /// Word in memory that is broadcast to all lanes.
    Word(u8, i32),
    /// Constant vector.
    Pool(Words),
    /// Constant word that is broadcast to all lanes.
    PoolWord(u32),
    /// Constant word, for an instruction that reads one word.
    PoolScalar(u32),
}

/// Returns a general register as an operand.
pub const fn general(register: u8) -> crate::x86::Operand {
    crate::x86::Operand::Register(register)
}

/// Returns the memory operand `base + displacement`.
pub const fn memory(base: u8, displacement: i32) -> crate::x86::Operand {
    crate::x86::Operand::Memory(Address::at(base, displacement))
}

impl Assembler {
    /// Returns an operand of the assembler, and `true` if it is broadcast.
    fn lane_operand(&mut self, operand: Operand) -> (crate::x86::Operand, bool) {
        use crate::x86::Operand::Constant;
        match operand {
            Operand::Register(register) => (general(register), false),
            Operand::Memory(base, at) => (memory(base, at), false),
            Operand::Word(base, at) => (memory(base, at), true),
            Operand::Pool(words) => (Constant(self.constant(&words)), false),
            Operand::PoolWord(word) => (Constant(self.constant(&[word])), true),
            Operand::PoolScalar(word) => (Constant(self.constant(&[word])), false),
        }
    }

    fn lane_inst(&mut self, row: &'static Row, first: u8, second: u8, last: Operand) -> VectorInst {
        let (last, is_broadcast) = self.lane_operand(last);
        let inst = VectorInst::new(row, VectorWidth::B512, [first, second], last);
        if is_broadcast { inst.broadcast() } else { inst }
    }

    /// Appends an instruction on sixteen lanes. `second` is 0 if the instruction has two operands.
    pub fn lanes(&mut self, row: &'static Row, first: u8, second: u8, last: Operand) {
        let inst = self.lane_inst(row, first, second, last);
        self.vector(inst);
    }

    /// Appends an instruction with an immediate.
    pub fn lanes_with(&mut self, row: &'static Row, first: u8, second: u8, last: Operand, immediate: u8) {
        let inst = self.lane_inst(row, first, second, last).with_immediate(immediate);
        self.vector(inst);
    }

    /// Loads the lanes that the mask selects. The others become zero.
    pub fn load_masked(&mut self, row: &'static Row, result: u8, from: Operand) {
        let inst = self.lane_inst(row, result, 0, from).zero_masked(MASK);
        self.vector(inst);
    }

    /// Stores the lanes that the mask selects.
    pub fn store_masked(&mut self, row: &'static Row, register: u8, to: Operand) {
        let inst = self.lane_inst(row, register, 0, to).masked(MASK);
        self.vector(inst);
    }

    /// Selects the lanes of `last` where the mask is set, and of `second` elsewhere.
    pub fn blend(&mut self, result: u8, second: u8, last: Operand) {
        let inst = self.lane_inst(&VPBLENDMD, result, second, last).masked(MASK);
        self.vector(inst);
    }

    /// Copies the first lane to a general register.
    pub fn first_lane(&mut self, register: u8, vector: u8) {
        self.vector(VectorInst::new(&VMOVD_TO_GENERAL, VectorWidth::B128, [vector, 0], general(register)));
    }

    /// Sets one of the first four lanes. Setting lane 0 zeroes the others.
    pub fn insert_lane(&mut self, vector: u8, lane: u8, from: Operand) {
        let (from, _) = self.lane_operand(from);
        self.vector(match lane {
            0 => VectorInst::new(&VMOVD_FROM_GENERAL, VectorWidth::B128, [vector, 0], from),
            lane => VectorInst::new(&VPINSRD, VectorWidth::B128, [vector, vector], from).with_immediate(lane),
        });
    }

    /// Replaces one of the four quarters of a vector by the first four lanes of another vector.
    pub fn insert_quarter(&mut self, vector: u8, from: u8, quarter: u8) {
        let inst = VectorInst::new(&VINSERTI32X4, VectorWidth::B512, [vector, vector], general(from));
        self.vector(inst.with_immediate(quarter));
    }

    /// Sets the mask to a constant.
    pub fn set_mask(&mut self, mask: u16) {
        self.set(CX, mask.into());
        self.vector(VectorInst::new(&KMOVW_FROM_GENERAL, VectorWidth::B128, [MASK, 0], general(CX)));
    }

    /// Copies the mask to a general register.
    pub fn get_mask(&mut self, register: u8) {
        self.vector(VectorInst::new(&KMOVW_TO_GENERAL, VectorWidth::B128, [register, 0], general(MASK)));
    }

    /// Calls a function that may use SSE instructions.
    pub fn call_function(&mut self, register: u8) {
        self.zero_upper();
        self.call(register);
    }

    /// Appends the prologue of a function whose argument is the address of a frame.
    pub fn enter(&mut self) {
        [FRAME, CONSTANTS, SHARED].into_iter().for_each(|register| self.push(register));
        self.load(Size::Qword, FRAME, general(DI));
    }

    /// Appends the epilogue, which returns `answer`.
    pub fn leave(&mut self, answer: u32) {
        self.set(AX, answer);
        self.zero_upper();
        [SHARED, CONSTANTS, FRAME].into_iter().for_each(|register| self.pop(register));
        self.ret();
    }

    /// Continues at the address in a register, unless the address is zero.
    pub fn jump_to_unless_zero(&mut self, register: u8) {
        let on = self.label();
        self.test(Size::Qword, register, register);
        self.jump_if(Condition::Equal, on);
        self.jump_to_address(register);
        self.bind(on);
    }
}
