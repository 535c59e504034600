//! A HALU machine with one work item over the concrete domain. The machine executes single
//! instructions and straight-line code.

use std::collections::BTreeMap;

use halfbyte_isa::halu::Inst;
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{ControlFlow, Effects, Reader, SpecialReg, Write};
use halfbyte_isa::halu::meaning::{guard, meaning};

/// The registers, predicates and constants that an instruction can read or write.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub gpr: [u32; 255],
    pub ur: [u32; 63],
    pub pred: [bool; 7],
    pub constants: BTreeMap<(u8, u16), u32>,
    pub item: u32,
}

impl Default for Machine {
    fn default() -> Self {
        Self { gpr: [0; 255], ur: [0; 63], pred: [false; 7], constants: BTreeMap::new(), item: 0 }
    }
}

impl Reader<Concrete> for Machine {
    fn gpr(&mut self, _: &mut Concrete, n: u8) -> u32 {
        self.gpr[usize::from(n)]
    }
    fn ur(&mut self, _: &mut Concrete, n: u8) -> u32 {
        self.ur[usize::from(n)]
    }
    fn pred(&mut self, _: &mut Concrete, n: u8) -> bool {
        self.pred[usize::from(n)]
    }
    fn constant(&mut self, _: &mut Concrete, bank: u8, offset: u16) -> u32 {
        self.constants.get(&(bank, offset)).copied().unwrap_or(0)
    }
    fn special(&mut self, _: &mut Concrete, register: SpecialReg) -> u32 {
        assert_eq!(register, SpecialReg::ITEM);
        self.item
    }
}

impl Machine {
    /// Returns the effects of an instruction, or `None` if its guard is false.
    pub fn effects(&mut self, inst: &Inst) -> Option<Effects<u32, bool>> {
        let acts = guard(inst, &mut Concrete, self).unwrap_or(true);
        acts.then(|| meaning(inst, &mut Concrete, self))
    }

    /// Executes one instruction whose only effects are register writes.
    pub fn step(&mut self, inst: &Inst) {
        let Some(effects) = self.effects(inst) else {
            return;
        };
        assert_eq!((effects.next, effects.access), (ControlFlow::Fall, None));
        for write in effects.writes {
            match write {
                Write::Gpr(n, w) => self.gpr[usize::from(n)] = w,
                Write::Ur(n, w) => self.ur[usize::from(n)] = w,
                Write::Pred(n, p) => self.pred[usize::from(n)] = p,
            }
        }
    }
}
