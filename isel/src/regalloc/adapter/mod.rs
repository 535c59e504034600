//! View of the code for regalloc2, and a single run of regalloc2.

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

/// regalloc2's class for each bank of registers.
pub(super) const CLASSES: [RegClass; 3] = [RegClass::Int, RegClass::Float, RegClass::Vector];

/// Bank of registers for one run of regalloc2. Its index is that of its class in [`CLASSES`].
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterBank {
    /// Number of usable registers, from 0 on; at most 64.
    pub(super) registers: u32,
    /// Size and alignment of a spilled register in words: 1, 2 or 4.
    pub(super) words: u32,
}

/// Mapping of virtual registers to banks for one run.
pub(super) trait BankAssignment {
    /// Returns the banks.
    fn offers(&self) -> [Option<RegisterBank>; 3];

    /// Returns the bank of a virtual register, or `None` if this run does not allocate the
    /// register.
    fn bank_of(&self, reg: VReg) -> Option<usize>;

    /// Returns the fixed register of an operand, if any, by the operand's index in
    /// [`VCode::operands`].
    fn fixed(&self, operand: u32) -> Option<u8>;

    /// Returns the bytes of memory available for spilled registers.
    fn memory(&self) -> u64;
}

/// Maximum excess of live values over registers, summed over all instructions, for regalloc2's
/// default algorithm. Its cost grows with this sum, because it splits the live ranges of these
/// values: about 0.1 s at the limit. Above the limit a single linear pass runs, which keeps values
/// that are live at block ends in memory.
const MOST_EXCESS: u64 = 1 << 19;

/// One run of regalloc2, with its buffers and its result.
#[derive(Default)]
pub(super) struct AllocationRun {
    lists: OperandLists,
    direct: FastPath,
    /// `true` if the result is that of the fast path.
    is_direct: bool,
    pressure: PressureCounter,
    /// Always uses the single linear pass.
    pub(super) is_linear: bool,
    ctx: Ctx,
}

/// Virtual registers that take part in the run, as regalloc2 operands.
#[derive(Default)]
pub(super) struct OperandLists {
    /// Operands by instruction. A replacing operand becomes two: the use of the old register, then
    /// the definition that reuses its register.
    pub(super) operands: ListOfLists<Operand>,
    /// Parameters by block.
    pub(super) params: ListOfLists<regalloc2::VReg>,
    /// Arguments by edge.
    pub(super) args: ListOfLists<regalloc2::VReg>,
    pub(super) offers: [Option<RegisterBank>; 3],
}

impl AllocationRun {
    /// Allocates the virtual registers that have a bank.
    ///
    /// # Errors
    /// Fails if spills need more memory than there is, or if regalloc2 refuses the code.
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

    /// Returns `true` if the result is that of the fast path.
    pub(super) fn is_direct(&self) -> bool {
        self.is_direct
    }

    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor { edits: &self.output().edits, allocs: &self.output().allocs }
    }
}

/// Unread rest of a run's result, in code order.
pub(super) struct Cursor<'a> {
    edits: &'a [(ProgPoint, Edit)],
    allocs: &'a [Allocation],
}

impl Cursor<'_> {
    /// Returns the location of the next operand. A replaced register comes before its replacement.
    pub(super) fn next_place(&mut self) -> Option<Allocation> {
        let (first, rest) = self.allocs.split_first()?;
        self.allocs = rest;
        Some(*first)
    }

    /// Returns the program point of the next move, if any.
    pub(super) fn next_point(&self) -> Option<ProgPoint> {
        self.edits.first().map(|(at, _)| *at)
    }

    /// Returns source and destination of the next move at or before a point.
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
        // regalloc2 separates only the first replaced register from the other inputs of the
        // instruction. With several replaced registers, all plain uses must last until the end.
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
            // Fast case: most operands accept any register.
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
                    // An operand in a fixed register is read before anything is written.
                    let pos = if place.is_some() { OperandPos::Early } else { use_pos };
                    Operand::new(reg, constraint, OperandKind::Use, pos)
                }
                Access::Def => definition,
                Access::UpdateInPlace(old) => {
                    let index = self.operands.open_len();
                    // regalloc2 stores the index of a reused operand in five bits.
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

/// Returns `true` if an earlier operand of the instruction reads the same register in the same
/// fixed location. regalloc2 does not accept such repetitions, so the operand is left out and has
/// no allocation.
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

/// Returns regalloc2's physical register. A number above 63 would denote a register of the next
/// class, and regalloc2 itself only checks this with debug assertions.
fn preg(number: usize, class: RegClass) -> PReg {
    assert!(number <= PReg::MAX, "no class has a register {number}");
    PReg::new(number, class)
}

/// Returns the machine environment. No scratch register is reserved for cyclic moves: regalloc2
/// finds a free register or spills one.
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

/// Converts an error of regalloc2, which can only be one that [`super::verify`] does not find.
fn refusal(error: RegAllocError) -> AllocError {
    match error {
        RegAllocError::TooManyLiveRegs | RegAllocError::TooManyOperands => AllocError::TooLarge,
        error => AllocError::Unsound(error.to_string()),
    }
}

/// View of [`Lists`] as a function of regalloc2.
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
