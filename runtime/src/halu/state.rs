//! The registers of a HALU work item.

use halfbyte_abi::Shape;
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Reader, SpecialReg};

use super::memory::{Memory, MemorySpace};
use halfbyte_isa::halu::special::Special;
use halfbyte_isa::trap::TrapKind;

/// All register files of one work item. All registers are zero when the item starts. The entries of constant registers
/// (RZ, URZ, PT) are unused, because instructions neither read nor write these entries.
#[derive(Clone, PartialEq)]
pub(super) struct Registers {
    gprs: [u32; 256],
    urs: [u32; 64],
    preds: [bool; 8],
    item: u32,
    shape: Shape,
}

impl Registers {
    /// Creates the registers for a launch of the given shape.
    pub(super) fn new(shape: Shape) -> Registers {
        Registers { gprs: [0; 256], urs: [0; 64], preds: [false; 8], item: 0, shape }
    }

    /// Resets the registers for the start of work item `item`. The kernel uses only general
    /// registers with numbers below `gprs`.
    pub(super) fn start(&mut self, item: u32, gprs: usize) {
        self.gprs.iter_mut().take(gprs).for_each(|gpr| *gpr = 0);
        self.urs = [0; 64];
        self.preds = [false; 8];
        self.item = item;
    }

    pub(super) fn set_gpr(&mut self, n: u8, word: u32) {
        self.gprs[usize::from(n)] = word;
    }

    pub(super) fn set_ur(&mut self, n: u8, word: u32) {
        self.urs[usize::from(n & 63)] = word;
    }

    pub(super) fn set_pred(&mut self, n: u8, truth: bool) {
        self.preds[usize::from(n & 7)] = truth;
    }
}

/// The operands that an instruction may read: registers and constants. A read outside a constant
/// bank returns zero and records a fault.
pub(super) struct View<'a, 'b> {
    pub registers: &'a Registers,
    pub memory: &'a Memory<'b>,
    pub fault: Option<TrapKind>,
}

impl Reader<Concrete> for View<'_, '_> {
    fn gpr(&mut self, _: &mut Concrete, n: u8) -> u32 {
        self.registers.gprs[usize::from(n)]
    }

    fn ur(&mut self, _: &mut Concrete, n: u8) -> u32 {
        self.registers.urs[usize::from(n & 63)]
    }

    fn pred(&mut self, _: &mut Concrete, n: u8) -> bool {
        self.registers.preds[usize::from(n & 7)]
    }

    fn constant(&mut self, _: &mut Concrete, bank: u8, offset: u16) -> u32 {
        let mut bytes = [0; 4];
        if let Err(kind) = self.memory.load(MemorySpace::Constant(bank), offset.into(), &mut bytes) {
            self.fault.get_or_insert(kind);
        }
        u32::from_le_bytes(bytes)
    }

    fn special(&mut self, _: &mut Concrete, register: SpecialReg) -> u32 {
        let Registers { item, ref shape, .. } = *self.registers;
        if register == SpecialReg::ITEM && shape.is_along_x() {
            return item;
        }
        Special::new(register, shape).at(&shape.place(item))
    }
}
