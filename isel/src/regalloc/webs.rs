//! Webs: sets of virtual registers that are connected by block parameters or in-place updates. The
//! registers of a web should share one hardware register.

use super::flow::Flow;
use crate::vcode::{Access, Machine, VCode};

/// Webs as a union-find forest of virtual registers.
pub(super) struct Webs(Vec<u32>);

impl Webs {
    pub(super) fn of<M: Machine>(code: &VCode<M>, flow: &Flow) -> Webs {
        let mut webs = Webs((0..code.vregs.len() as u32).collect());
        for (_, block) in flow.blocks(code) {
            for edge in block.terminator.edges() {
                let params = code.list(&code.blocks[edge.block as usize].params);
                code.list(&edge.args).iter().zip(params).for_each(|(arg, param)| webs.join(arg.0, param.0));
            }
            for operand in code.insts_of(block).iter().flat_map(|inst| code.operands(inst)) {
                if let Access::UpdateInPlace(old) = operand.access {
                    webs.join(old.0, operand.reg.0);
                }
            }
        }
        webs
    }

    /// Returns the register that represents the web of a register.
    pub(super) fn find(&mut self, mut reg: u32) -> u32 {
        while self.0[reg as usize] != reg {
            let above = self.0[self.0[reg as usize] as usize];
            self.0[reg as usize] = above;
            reg = above;
        }
        reg
    }

    /// Joins the webs of two registers. The lower representative represents the joined web, so the
    /// first register of a chain of in-place updates stays the representative.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
