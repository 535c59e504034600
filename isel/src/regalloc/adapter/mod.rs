//! The code as regalloc2 sees it, and one run of regalloc2.

pub(crate) mod direct;
pub(crate) mod pressure;

use regalloc2::checker::Checker;
use regalloc2::{
    Algorithm, Allocation, Block, Ctx, Edit, Function, Inst, InstRange, MachineEnv, Operand, OperandConstraint,
    OperandKind, OperandPos, Output, PReg, PRegSet, ProgPoint, RegAllocError, RegClass, RegallocOptions,
};

use super::flow::Flow;
use super::liveness::Liveness;
use super::ragged::Ragged;
use super::{AllocError, Options};
use crate::vcode::{Access, Machine, Terminator, VCode, VInst, VReg};
use direct::Direct;
use pressure::Pressure;

/// regalloc2's name for each bank of registers.
pub(super) const CLASSES: [RegClass; 3] = [RegClass::Int, RegClass::Float, RegClass::Vector];

/// A bank of registers as a run of regalloc2 has it: its number is its place in [`CLASSES`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    /// How many registers may be used, from 0 on; at most 64.
    pub(super) registers: u32,
    /// Words of a spilled one: 1, 2 or 4. It is aligned to as many.
    pub(super) words: u32,
}

/// What a run is to place, and where.
pub(super) trait Assignment {
    /// The banks that there are.
    fn offers(&self) -> [Option<Offer>; 3];

    /// The bank of a virtual register, if it has part in the run.
    fn bank_of(&self, reg: VReg) -> Option<usize>;

    /// The register that an operand must be in, by the operand's index in [`VCode::operands`]; `None` where any will do.
    fn fixed(&self, operand: u32) -> Option<u8>;

    /// The bytes of memory that there are for spilled registers.
    fn memory(&self) -> u64;
}

/// The most values that regalloc2 is to find other places for, over all instructions: by splitting their live ranges at one
/// another it takes as many steps, and 0.1 s for about so many. Beyond, it goes through the code once and lets what is live
/// at the end of a block lie in memory.
const MOST_EXCESS: u64 = 1 << 19;

/// A run of regalloc2, with its buffers and its result.
#[derive(Default)]
pub(super) struct Run {
    lists: Lists,
    direct: Direct,
    /// Whether the result is that of the short way.
    is_direct: bool,
    pressure: Pressure,
    /// Goes through the code once, however little there is to do.
    pub(super) is_linear: bool,
    ctx: Ctx,
}

/// Those virtual registers of the code that have part in the run, in regalloc2's terms.
#[derive(Default)]
pub(super) struct Lists {
    /// By instruction. A replaced register is two operands: the old one's use, then the definition in the same place.
    pub(super) operands: Ragged<Operand>,
    /// By block.
    pub(super) params: Ragged<regalloc2::VReg>,
    /// By edge.
    pub(super) args: Ragged<regalloc2::VReg>,
    pub(super) offers: [Option<Offer>; 3],
}

impl Run {
    /// Allocates the virtual registers that have a bank.
    ///
    /// # Errors
    /// More that must lie in memory than there is room for; what regalloc2 refuses.
    pub(super) fn allocate<M: Machine>(
        &mut self,
        code: &VCode<M>,
        flow: &Flow,
        liveness: &Liveness,
        assignment: &impl Assignment,
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
            return Err(AllocError::Unsound("the short way led elsewhere".to_owned()));
        }
        Ok(())
    }

    pub(super) fn output(&self) -> &Output {
        if self.is_direct { &self.direct.output } else { &self.ctx.output }
    }

    /// The registers that something is in.
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

    /// Whether the short way led to the result.
    #[cfg(test)]
    pub(super) fn is_direct(&self) -> bool {
        self.is_direct
    }

    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor { edits: &self.output().edits, allocs: &self.output().allocs }
    }
}

/// A run's result in the order of the code, as far as it has not been read.
pub(super) struct Cursor<'a> {
    edits: &'a [(ProgPoint, Edit)],
    allocs: &'a [Allocation],
}

impl Cursor<'_> {
    /// The place of the next operand; a replaced register comes before what replaces it.
    pub(super) fn next_place(&mut self) -> Option<Allocation> {
        let (first, rest) = self.allocs.split_first()?;
        self.allocs = rest;
        Some(*first)
    }

    /// Where the next move is, if there is one left.
    pub(super) fn next_point(&self) -> Option<ProgPoint> {
        self.edits.first().map(|(at, _)| *at)
    }

    /// The next move up to a point: from where to where.
    pub(super) fn next_move(&mut self, point: ProgPoint) -> Option<(Allocation, Allocation)> {
        let ((at, Edit::Move { from, to }), rest) = self.edits.split_first()?;
        (*at <= point).then(|| {
            self.edits = rest;
            (*from, *to)
        })
    }
}

impl Lists {
    fn read<M: Machine>(
        &mut self,
        code: &VCode<M>,
        flow: &Flow,
        assignment: &impl Assignment,
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
        assignment: &impl Assignment,
    ) -> Result<(), AllocError> {
        // regalloc2 keeps only the first replaced register apart from what the instruction's other operands read; with
        // several, the plain uses must hold until the end.
        let operands = || inst.operands.clone().zip(code.operands(inst));
        let tied = |i: u32, access: Access| matches!(access, Access::Replace(_)) && assignment.fixed(i).is_none();
        let several = operands().filter(|&(i, operand)| tied(i, operand.access)).count() > 1;
        let use_pos = if several { OperandPos::Late } else { OperandPos::Early };
        for (i, operand) in operands() {
            let Some(reg) = part(operand.reg) else { continue };
            if is_repeated(code, inst, i, assignment) {
                continue;
            }
            let place = assignment.fixed(i).map(|number| preg(number.into(), reg.class()));
            // Most operands may be anywhere, and what they are is known before they are looked at.
            let anywhere = match operand.access {
                Access::Use => Some(Operand::new(reg, OperandConstraint::Reg, OperandKind::Use, use_pos)),
                Access::Def => Some(Operand::reg_def(reg)),
                Access::Replace(_) => None,
            };
            if let (Some(operand), None) = (anywhere, place) {
                self.operands.push(operand);
                continue;
            }
            let constraint = place.map_or(OperandConstraint::Reg, OperandConstraint::FixedReg);
            let definition = Operand::new(reg, constraint, OperandKind::Def, OperandPos::Late);
            let operand = match operand.access {
                Access::Use => {
                    // A register that must be somewhere is read before anything is written.
                    let pos = if place.is_some() { OperandPos::Early } else { use_pos };
                    Operand::new(reg, constraint, OperandKind::Use, pos)
                }
                Access::Def => definition,
                Access::Replace(old) => {
                    let index = self.operands.open_len();
                    // An operand has five bits for the index of another.
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

/// Whether an operand reads a register that an earlier one of the instruction reads in the same fixed place, which regalloc2 does
/// not bear to be told twice. It is not told, and gives no place.
pub(super) fn is_repeated<M: Machine>(
    code: &VCode<M>,
    inst: &VInst<M>,
    operand: u32,
    assignment: &impl Assignment,
) -> bool {
    let Some(fixed) = assignment.fixed(operand) else { return false };
    let uses = || inst.operands.clone().zip(code.operands(inst)).filter(|(_, operand)| operand.access == Access::Use);
    let Some((_, this)) = uses().find(|&(i, _)| i == operand) else { return false };
    let mut before = uses().take_while(|&(i, _)| i < operand);
    before.any(|(i, other)| other.reg == this.reg && assignment.fixed(i) == Some(fixed))
}

/// A register of regalloc2. Beyond the 64 of its class a number would name one of the next class, and debug assertions alone
/// say so.
fn preg(number: usize, class: RegClass) -> PReg {
    assert!(number <= PReg::MAX, "no class has a register {number}");
    PReg::new(number, class)
}

/// The registers that are offered. None is kept aside for cycles of moves: regalloc2 finds a free one, or spills.
fn environment(offers: &[Option<Offer>; 3]) -> MachineEnv {
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

/// What is left for regalloc2 to refuse after [`super::verify`].
fn refusal(error: RegAllocError) -> AllocError {
    match error {
        RegAllocError::TooManyLiveRegs | RegAllocError::TooManyOperands => AllocError::TooLarge,
        error => AllocError::Unsound(error.to_string()),
    }
}

/// The code as it is in [`Lists`].
struct View<'a> {
    flow: &'a Flow,
    lists: &'a Lists,
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
