//! Side effects of PTX instructions, and uses of their results.

use halfbyte_isa::ptx::row::{InstClass, OperandRole};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use rustc_hash::FxHashSet;

use crate::Ptx;
use crate::vcode::{Access, VCode, VReg};

/// Returns the first operand of an instruction if it is a register.
fn result(inst: &Inst) -> Option<Reg> {
    match inst.operands.first() {
        Some(&Operand::Register(d)) => Some(d),
        _ => None,
    }
}

/// Returns the only register that an instruction writes, if the instruction has no other effect and
/// depends only on its operands.
pub(super) fn pure(inst: &Inst) -> Option<Reg> {
    let row = inst.row();
    let computes = match inst.opcode {
        Opcode::LD_PARAM => true,
        _ => !matches!(row.class, InstClass::Memory | InstClass::Control),
    };
    if !computes || inst.guard.is_some() {
        return None;
    }
    let written = row.operands.iter().filter(|operand| operand.role != OperandRole::Use);
    result(inst).filter(|_| written.count() == 1)
}

/// Returns the number of reads of each register.
pub(super) fn uses(code: &VCode<Ptx>) -> Vec<u32> {
    let mut uses = vec![0; code.vregs.len()];
    let mut count = |reg: VReg| uses.get_mut(reg.0 as usize).into_iter().for_each(|n| *n += 1);
    for inst in &code.insts {
        code.visit(inst, |access, reg| {
            if access == Access::Use {
                count(reg);
            }
        });
    }
    code.blocks.iter().for_each(|block| code.visit_end(&block.terminator, &mut count));
    uses
}

/// Returns the registers that an instruction reads.
pub(super) fn read(inst: &Inst) -> impl Iterator<Item = Reg> {
    inst.registers().filter(|&(role, _)| role != OperandRole::Def).map(|(_, reg)| reg)
}

/// Removes computations whose result is unused.
pub(super) fn remove_unused(code: &mut VCode<Ptx>) {
    let mut uses = uses(code);
    let mut unused = FxHashSet::default();
    loop {
        unused.clear();
        for inst in code.insts.iter().rev() {
            let is_unused = |d: &Reg| uses.get(d.0 as usize) == Some(&0);
            if let Some(d) = result(&inst.inst).filter(is_unused).and_then(|_| pure(&inst.inst)) {
                for reg in read(&inst.inst) {
                    if let Some(n) = uses.get_mut(reg.0 as usize) {
                        *n = n.saturating_sub(1);
                    }
                }
                unused.insert(d);
            }
        }
        if unused.is_empty() {
            return;
        }
        code.retain(|_, inst| result(&inst.inst).is_none_or(|d| !unused.contains(&d)));
    }
}
