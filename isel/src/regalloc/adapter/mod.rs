//! Interface to regalloc2: a view of the code as regalloc2 reads it, and a single run of regalloc2.

pub(crate) mod direct;
pub(crate) mod pressure;

use regalloc2::checker::Checker;
use regalloc2::{
    Algorithm, Allocation, Block, Ctx, Edit, Function, Inst, InstRange, MachineEnv, Operand, OperandConstraint,
    OperandKind, OperandPos, Output, PReg, PRegSet, ProgPoint, RegAllocError, RegClass, RegallocOptions,
};

use super::flow::Flow;
use super::list_of_lists::ListOfLists;
use super::liveness::Liveness;
use super::{AllocError, Options};
use crate::vcode::{Access, Machine, Terminator, VCode, VInst, VReg};
use direct::FastPath;
use pressure::PressureCounter;

/// Class of regalloc2 that stands for each register bank.
pub(super) const CLASSES: [RegClass; 3] = [RegClass::Int, RegClass::Float, RegClass::Vector];

/// Register bank for one run of regalloc2. Bank number i is the class `CLASSES[i]` of regalloc2.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterBank {
    /// Number of registers that the run may use, from register 0 on; at most 64.
    pub(super) registers: u32,
    /// Size and alignment of the spill slot of a register, in 32-bit words: 1, 2 or 4.
    pub(super) words: u32,
}

/// Register banks of one run of regalloc2, and the bank of each virtual register.
pub(super) trait BankAssignment {
    /// Returns the register banks, each at the index of its class.
    fn offers(&self) -> [Option<RegisterBank>; 3];

    /// Returns the bank of a virtual register, or `None` if this run does not allocate the register.
    fn bank_of(&self, reg: VReg) -> Option<usize>;

    /// Returns the hardware register that an operand must have, or `None` if any register is
    /// allowed. `operand` is an index into [`VCode::operands`].
    fn fixed(&self, operand: u32) -> Option<u8>;

    /// Returns the bytes of memory that are available for spill slots.
    fn memory(&self) -> u64;
}

/// Maximum excess of live values over registers, summed over all instructions, for regalloc2's
/// default algorithm. The algorithm splits the live ranges of these values, so its time grows with
/// the sum: to about 0.1 s at the limit. Above the limit, regalloc2's linear algorithm runs
/// instead, which keeps values that are live at the end of a block in memory.
const MOST_EXCESS: u64 = 1 << 19;

/// One run of regalloc2 or of the fast path, with its buffers and its result.
#[derive(Default)]
pub(super) struct AllocationRun {
    lists: OperandLists,
    direct: FastPath,
    /// `true` if the fast path computed the result.
    is_direct: bool,
    pressure: PressureCounter,
    /// `true` if the run always uses regalloc2's linear algorithm.
    pub(super) is_linear: bool,
    ctx: Ctx,
}

/// Operands, block parameters and block arguments of the code, in regalloc2's representation. Only
/// virtual registers that the run allocates are listed.
#[derive(Default)]
pub(super) struct OperandLists {
    /// Operands of each instruction. An in-place update has two operands: the use of the old
    /// register, and the definition that reuses the old register's hardware register.
    pub(super) operands: ListOfLists<Operand>,
    /// Parameters of each block.
    pub(super) params: ListOfLists<regalloc2::VReg>,
    /// Block arguments of each edge.
    pub(super) args: ListOfLists<regalloc2::VReg>,
    pub(super) offers: [Option<RegisterBank>; 3],
}

impl AllocationRun {
    /// Allocates the virtual registers that `assignment` maps to a bank.
    ///
    /// # Errors
    /// Fails if the spill slots need more memory than there is, or if regalloc2 refuses the code.
    pub(super) fn allocate<M: Machine>(
        &mut self,
        code: &VCode<M>,
        flow: &Flow,
        liveness: &Liveness,
        assignment: &impl BankAssignment,
        options: &Options,
    ) -> Result<(), AllocError> {
        self.lists.read(code, flow, assignment)?;
        let class_of = |reg: u32| assignment.bank_of(VReg(reg)).map(|bank| CLASSES[bank]);
        let direct = self.direct.allocate(&self.lists, flow, liveness, code.vregs.len(), class_of);
        self.is_direct = direct.is_some() && !self.is_linear;
        if self.is_direct && !options.check {
            return Ok(());
        }
        let bank_of = |reg: u32| assignment.bank_of(VReg(reg));
        let excess = self.pressure.excess(&self.lists, flow, liveness, code.vregs.len(), bank_of);
        let (bytes, most) = (4 * excess.words, assignment.memory());
        if bytes > most {
            return Err(AllocError::Pressure { live: excess.live, registers: excess.registers, bytes, most });
        }
        let is_linear = self.is_linear || excess.all > MOST_EXCESS;
        let algorithm = if is_linear { Algorithm::Fastalloc } else { Algorithm::Ion };
        let view = View { flow, lists: &self.lists, vregs: code.vregs.len() };
        let env = environment(&self.lists.offers);
        let run_options = RegallocOptions { validate_ssa: options.check, algorithm, verbose_log: false };
        regalloc2::run_with_ctx(&view, &env, &run_options, &mut self.ctx).map_err(refusal)?;
        if options.check {
            let mut checker = Checker::new(&view, &env);
            checker.prepare(&self.ctx.output);
            checker.run().map_err(|errors| AllocError::Unsound(format!("{errors:?}")))?;
        }
        if self.is_direct && !self.direct.agrees(&self.ctx.output) {
            return Err(AllocError::Unsound("the fast path and regalloc2 disagree".to_owned()));
        }
        Ok(())
    }

    pub(super) fn output(&self) -> &Output {
        if self.is_direct { &self.direct.output } else { &self.ctx.output }
    }

    /// Returns the hardware registers that the code uses.
    pub(super) fn used(&self) -> PRegSet {
        if self.is_direct {
            return self.direct.used();
        }
        let Output { allocs, edits, .. } = &self.ctx.output;
        let moved = edits.iter().flat_map(|(_, Edit::Move { from, to })| [from, to]);
        let mut used = PRegSet::empty();
        allocs.iter().chain(moved).filter_map(|place| place.as_reg()).for_each(|reg| used.add(reg));
        used
    }

    /// Returns `true` if the fast path computed the result.
    pub(super) fn is_direct(&self) -> bool {
        self.is_direct
    }

    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor { edits: &self.output().edits, allocs: &self.output().allocs }
    }
}

/// Position in the result of a run. The result is read in code order.
pub(super) struct Cursor<'a> {
    edits: &'a [(ProgPoint, Edit)],
    allocs: &'a [Allocation],
}

impl Cursor<'_> {
    /// Returns the allocated location of the next operand. For an in-place update, the old register
    /// comes before the new one.
    pub(super) fn next_place(&mut self) -> Option<Allocation> {
        let (first, rest) = self.allocs.split_first()?;
        self.allocs = rest;
        Some(*first)
    }

    /// Returns the program point of the next inserted move, if any.
    pub(super) fn next_point(&self) -> Option<ProgPoint> {
        self.edits.first().map(|(at, _)| *at)
    }

    /// If the next inserted move is at or before `point`, returns its source and its destination.
    pub(super) fn next_move(&mut self, point: ProgPoint) -> Option<(Allocation, Allocation)> {
        let ((at, Edit::Move { from, to }), rest) = self.edits.split_first()?;
        (*at <= point).then(|| {
            self.edits = rest;
            (*from, *to)
        })
    }
}

impl OperandLists {
    fn read<M: Machine>(
        &mut self,
        code: &VCode<M>,
        flow: &Flow,
        assignment: &impl BankAssignment,
    ) -> Result<(), AllocError> {
        self.offers = assignment.offers();
        self.operands.clear();
        self.params.clear();
        self.args.clear();
        let part = |reg: VReg| assignment.bank_of(reg).map(|bank| regalloc2::VReg::new(reg.0 as usize, CLASSES[bank]));
        for (_, block) in flow.blocks(code) {
            for inst in code.insts_of(block) {
                self.read_inst(code, inst, part, assignment)?;
            }
            match &block.terminator {
                Terminator::Branch { inst, .. } => self.read_inst(code, inst, part, assignment)?,
                Terminator::Exit | Terminator::Jump(_) => self.operands.close(),
            }
            code.list(&block.params).iter().filter_map(|&reg| part(reg)).for_each(|reg| self.params.push(reg));
            self.params.close();
            for edge in block.terminator.edges() {
                code.list(&edge.args).iter().filter_map(|&reg| part(reg)).for_each(|reg| self.args.push(reg));
                self.args.close();
            }
        }
        Ok(())
    }

    fn read_inst<M: Machine>(
        &mut self,
        code: &VCode<M>,
        inst: &VInst<M>,
        part: impl Fn(VReg) -> Option<regalloc2::VReg>,
        assignment: &impl BankAssignment,
    ) -> Result<(), AllocError> {
        // regalloc2 keeps the other inputs apart only from the first register that is updated in
        // place. If an instruction updates several registers, all its uses must last until its end.
        let operands = || inst.operands.clone().zip(code.operands(inst));
        let tied = |i: u32, access: Access| matches!(access, Access::UpdateInPlace(_)) && assignment.fixed(i).is_none();
        let several = operands().filter(|&(i, operand)| tied(i, operand.access)).count() > 1;
        let use_pos = if several { OperandPos::Late } else { OperandPos::Early };
        for (i, operand) in operands() {
            let Some(reg) = part(operand.reg) else { continue };
            if is_repeated(code, inst, i, assignment) {
                continue;
            }
            let place = assignment.fixed(i).map(|number| preg(number.into(), reg.class()));
            // Most operands accept any register, so this case comes first.
            let anywhere = match operand.access {
                Access::Use => Some(Operand::new(reg, OperandConstraint::Reg, OperandKind::Use, use_pos)),
                Access::Def => Some(Operand::reg_def(reg)),
                Access::UpdateInPlace(_) => None,
            };
            if let (Some(operand), None) = (anywhere, place) {
                self.operands.push(operand);
                continue;
            }
            let constraint = place.map_or(OperandConstraint::Reg, OperandConstraint::FixedReg);
            let definition = Operand::new(reg, constraint, OperandKind::Def, OperandPos::Late);
            let operand = match operand.access {
                Access::Use => {
                    // An operand with a fixed register is read before the instruction writes any register.
                    let pos = if place.is_some() { OperandPos::Early } else { use_pos };
                    Operand::new(reg, constraint, OperandKind::Use, pos)
                }
                Access::Def => definition,
                Access::UpdateInPlace(old) => {
                    let index = self.operands.open_len();
                    // regalloc2 has five bits for the index of the operand whose register is reused.
                    let (Some(old), true) = (part(old), index < 32) else {
                        return Err(AllocError::Replace(operand.reg));
                    };
                    self.operands.push(Operand::new(old, constraint, OperandKind::Use, OperandPos::Early));
                    if place.is_some() { definition } else { Operand::reg_reuse_def(reg, index) }
                }
            };
            self.operands.push(operand);
        }
        self.operands.close();
        Ok(())
    }
}

/// Returns `true` if an earlier operand of the instruction reads the same virtual register in the
/// same fixed hardware register. regalloc2 does not accept such repetitions. The repeated operand
/// is left out and has no allocation of its own.
pub(super) fn is_repeated<M: Machine>(
    code: &VCode<M>,
    inst: &VInst<M>,
    operand: u32,
    assignment: &impl BankAssignment,
) -> bool {
    let Some(fixed) = assignment.fixed(operand) else { return false };
    let uses = || inst.operands.clone().zip(code.operands(inst)).filter(|(_, operand)| operand.access == Access::Use);
    let Some((_, this)) = uses().find(|&(i, _)| i == operand) else { return false };
    let mut before = uses().take_while(|&(i, _)| i < operand);
    before.any(|(i, other)| other.reg == this.reg && assignment.fixed(i) == Some(fixed))
}

/// Returns register `number` of a class as regalloc2's physical register. `number` must be below 64: a higher one would
/// denote a register of the next class, which regalloc2 checks only in debug builds.
fn preg(number: usize, class: RegClass) -> PReg {
    assert!(number <= PReg::MAX, "no class has a register {number}");
    PReg::new(number, class)
}

/// Returns the registers of the banks as regalloc2's machine environment. No scratch register is
/// reserved for cyclic moves, because regalloc2 finds a free register or spills one.
fn environment(offers: &[Option<RegisterBank>; 3]) -> MachineEnv {
    let preferred_regs_by_class = std::array::from_fn(|bank| {
        let mut set = PRegSet::empty();
        let registers = offers[bank].map_or(0, |offer| offer.registers as usize);
        (0..registers).for_each(|number| set.add(preg(number, CLASSES[bank])));
        set
    });
    MachineEnv {
        preferred_regs_by_class,
        non_preferred_regs_by_class: [PRegSet::empty(); 3],
        scratch_by_class: [None; 3],
        fixed_stack_slots: Vec::new(),
    }
}

/// Converts an error of regalloc2. Only errors that [`super::verify`] does not detect can occur.
fn refusal(error: RegAllocError) -> AllocError {
    match error {
        RegAllocError::TooManyLiveRegs | RegAllocError::TooManyOperands => AllocError::TooLarge,
        error => AllocError::Unsound(error.to_string()),
    }
}

/// View of [`OperandLists`] and the control-flow graph as a function of regalloc2.
struct View<'a> {
    flow: &'a Flow,
    lists: &'a OperandLists,
    vregs: usize,
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
        self.vregs
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        self.lists.offers[class as usize].map_or(1, |offer| offer.words) as usize
    }
}
