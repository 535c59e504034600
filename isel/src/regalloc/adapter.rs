//! The code as regalloc2 sees it, and one run of regalloc2.

use regalloc2::checker::Checker;
use regalloc2::{
    Block, Ctx, Edit, Function, Inst, InstRange, MachineEnv, Operand, OperandConstraint, OperandKind, OperandPos,
    Output, PReg, PRegSet, RegAllocError, RegClass, RegallocOptions,
};

use super::banks::{Assignment, Banks, Slot};
use super::flow::{Flow, edges, insts};
use super::ragged::Ragged;
use super::{AllocError, Options};
use crate::vcode::{Access, Terminator, VCode, VInst, VReg};

/// regalloc2's name for each bank.
const CLASSES: [RegClass; 3] = [RegClass::Int, RegClass::Float, RegClass::Vector];

/// A run of regalloc2, with its buffers and its result.
#[derive(Default)]
pub(super) struct Run {
    lists: Lists,
    ctx: Ctx,
}

/// Those virtual registers of the code that have part in the run, in regalloc2's terms.
#[derive(Default)]
struct Lists {
    /// By instruction. A replaced register is two operands: the old one's use, then the definition in the same place.
    operands: Ragged<Operand>,
    /// By block.
    params: Ragged<regalloc2::VReg>,
    /// By edge.
    args: Ragged<regalloc2::VReg>,
    banks: [Option<Slot>; 3],
}

impl Run {
    /// Allocates the virtual registers that have a bank.
    pub(super) fn allocate(
        &mut self,
        code: &VCode,
        flow: &Flow,
        assignment: &Assignment,
        options: &Options,
    ) -> Result<(), AllocError> {
        self.lists.read(code, flow, assignment)?;
        let view = View { code, flow, lists: &self.lists };
        let env = environment(&assignment.banks);
        let run_options = RegallocOptions { validate_ssa: options.check, ..RegallocOptions::default() };
        regalloc2::run_with_ctx(&view, &env, &run_options, &mut self.ctx).map_err(refusal)?;
        if options.check {
            let mut checker = Checker::new(&view, &env);
            checker.prepare(&self.ctx.output);
            checker.run().map_err(|errors| AllocError::Unsound(format!("{errors:?}")))?;
        }
        Ok(())
    }

    pub(super) fn output(&self) -> &Output {
        &self.ctx.output
    }

    /// What a slot of a register's bank is.
    pub(super) fn slot(&self, reg: PReg) -> Option<Slot> {
        self.lists.banks[reg.class() as usize]
    }

    /// Whether general registers were too few.
    pub(super) fn spills_registers(&self) -> bool {
        self.output().edits.iter().any(|(_, Edit::Move { from, to })| {
            to.is_stack() && from.as_reg().and_then(|reg| self.slot(reg)).is_some_and(|slot| slot != Slot::Pred)
        })
    }
}

impl Lists {
    fn read(&mut self, code: &VCode, flow: &Flow, assignment: &Assignment) -> Result<(), AllocError> {
        self.banks = assignment.banks.map(|bank| bank.map(|bank| bank.slot));
        self.operands.clear();
        self.params.clear();
        self.args.clear();
        let part = |reg: VReg| assignment.bank_of(reg).map(|bank| regalloc2::VReg::new(reg.0 as usize, CLASSES[bank]));
        for (_, block) in flow.blocks(code) {
            for inst in insts(code, block) {
                self.read_inst(code, inst, part)?;
                self.operands.close();
            }
            if let Terminator::Branch { cond, .. } = block.terminator
                && let Some(cond) = part(cond)
            {
                self.operands.push(Operand::reg_use(cond));
            }
            self.operands.close();
            code.list(&block.params).iter().filter_map(|&reg| part(reg)).for_each(|reg| self.params.push(reg));
            self.params.close();
            for edge in edges(&block.terminator) {
                code.list(&edge.args).iter().filter_map(|&reg| part(reg)).for_each(|reg| self.args.push(reg));
                self.args.close();
            }
        }
        Ok(())
    }

    fn read_inst(
        &mut self,
        code: &VCode,
        inst: &VInst,
        part: impl Fn(VReg) -> Option<regalloc2::VReg>,
    ) -> Result<(), AllocError> {
        // regalloc2 keeps only the first replaced register apart from what the instruction's other operands read; with
        // several, the plain uses must hold until the end.
        let replaced =
            code.operands(inst).iter().filter(|operand| matches!(operand.access, Access::Replace(_))).count();
        let use_pos = if replaced > 1 { OperandPos::Late } else { OperandPos::Early };
        for operand in code.operands(inst) {
            let Some(reg) = part(operand.reg) else { continue };
            let operand = match operand.access {
                Access::Use => Operand::new(reg, OperandConstraint::Reg, OperandKind::Use, use_pos),
                Access::Def => Operand::reg_def(reg),
                Access::Replace(old) => {
                    let index = self.operands.open_len();
                    // An operand has five bits for the index of another.
                    let (Some(old), true) = (part(old), index < 32) else {
                        return Err(AllocError::Replace(operand.reg));
                    };
                    self.operands.push(Operand::reg_use(old));
                    Operand::reg_reuse_def(reg, index)
                }
            };
            self.operands.push(operand);
        }
        Ok(())
    }
}

/// The slots that are offered. None is kept aside for cycles of moves: regalloc2 finds a free one, or spills.
fn environment(banks: &Banks) -> MachineEnv {
    let preferred_regs_by_class = std::array::from_fn(|class| {
        let mut set = PRegSet::empty();
        let offer = banks[class].map_or(0, |bank| bank.offer as usize);
        // Beyond its 64 the number would name a register of the next class.
        (0..offer.min(PReg::MAX + 1)).for_each(|slot| set.add(PReg::new(slot, CLASSES[class])));
        set
    });
    MachineEnv {
        preferred_regs_by_class,
        non_preferred_regs_by_class: [PRegSet::empty(); 3],
        scratch_by_class: [None; 3],
        fixed_stack_slots: Vec::new(),
    }
}

/// What is left for regalloc2 to refuse after [`super::verify`].
fn refusal(error: RegAllocError) -> AllocError {
    match error {
        RegAllocError::TooManyLiveRegs | RegAllocError::TooManyOperands => AllocError::TooLarge,
        error => AllocError::Unsound(error.to_string()),
    }
}

/// The code as it is in [`Lists`].
struct View<'a> {
    code: &'a VCode,
    flow: &'a Flow,
    lists: &'a Lists,
}

impl Function for View<'_> {
    fn num_insts(&self) -> usize {
        self.flow.insts()
    }

    fn num_blocks(&self) -> usize {
        self.flow.len()
    }

    fn entry_block(&self) -> Block {
        Block(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        self.flow.range(block.index())
    }

    fn block_succs(&self, block: Block) -> &[Block] {
        self.flow.succs(block.index())
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        self.flow.preds(block.index())
    }

    fn block_params(&self, block: Block) -> &[regalloc2::VReg] {
        self.lists.params.get(block.index())
    }

    fn is_ret(&self, inst: Inst) -> bool {
        self.flow.ends(inst).is_some_and(|block| self.flow.succs(block).is_empty())
    }

    fn is_branch(&self, inst: Inst) -> bool {
        self.flow.ends(inst).is_some_and(|block| !self.flow.succs(block).is_empty())
    }

    fn branch_blockparams(&self, block: Block, _: Inst, succ: usize) -> &[regalloc2::VReg] {
        self.lists.args.get(self.flow.first_edge(block.index()) + succ)
    }

    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        self.lists.operands.get(inst.index())
    }

    fn inst_clobbers(&self, _: Inst) -> PRegSet {
        PRegSet::empty()
    }

    fn num_vregs(&self) -> usize {
        self.code.vregs.len()
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        self.lists.banks[class as usize].map_or(1, Slot::words) as usize
    }
}
