//! Driver of instruction selection, which is the same for all targets.
//!
//! The driver visits blocks in postorder and the instructions of a block backwards, so that it sees
//! every use before the definition. A definition that rules folded into all its users is never
//! emitted. The instructions that one rule emits are in forward order.

use std::collections::HashSet;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use halfbyte_abi::Poll;
use halfbyte_ir::{Block, BlockCall, Flow, Inst, Kernel, Op, Reason, Refusal, Span, Value};
use halfbyte_isa::object::{Loc, PartialAccess};

use crate::reasons;
use crate::vcode::{BlockIndex, Edge, Machine, Terminator, VCode, VInst, VReg};

/// Selected instruction that is not yet part of the `VCode`.
#[derive(Clone, Debug)]
pub(crate) struct InstDraft<M: Machine> {
    /// The instruction. Its operands are in the selector's own list. Its registers are replaced by
    /// final registers when the `VCode` is built.
    pub inst: VInst<M>,
    /// The load or store of the kernel that the instruction performs, if it replaces several accesses of the source.
    pub access: PackedOption<Inst>,
}

impl<M: Machine> From<VInst<M>> for InstDraft<M> {
    fn from(inst: VInst<M>) -> InstDraft<M> {
        InstDraft { inst, access: None.into() }
    }
}

/// Selected block that is not yet part of the `VCode`.
pub(crate) struct BlockDraft<M: Machine> {
    /// Block of the kernel. A block that the selector adds has a number above those of the kernel.
    pub block: Block,
    /// Instructions in reverse order.
    pub reversed: Vec<InstDraft<M>>,
    pub params: Vec<VReg>,
    pub end: TerminatorDraft<M>,
    pub loc: Loc,
}

/// Terminator of a block draft.
pub(crate) enum TerminatorDraft<M: Machine> {
    Exit,
    Jump(EdgeDraft),
    Branch { inst: VInst<M>, then: EdgeDraft, otherwise: EdgeDraft },
}

/// Control-flow edge to a block, with the registers that it passes as block arguments.
pub(crate) struct EdgeDraft {
    pub to: Block,
    pub args: Vec<VReg>,
}

/// Condition of a conditional branch: a constant, or a branch instruction.
pub(crate) enum Condition<M: Machine> {
    /// Constant condition: the branch is always or never taken.
    Constant(bool),
    /// Branch instruction that tests the condition at run time.
    Branch(VInst<M>),
}

/// Part of instruction selection that each target implements.
pub(crate) trait Selector<'k>: Sized {
    /// Machine for which instructions are selected.
    type Machine: Machine;

    /// Name of the target.
    const TARGET: &'static str;

    /// `true` if the target supports arrays in shared or scratch memory.
    const HAS_ARRAYS: bool = false;

    fn kernel(&self) -> &'k Kernel;

    /// Returns the line and column of a span of the source.
    fn locate(&self, span: Span) -> Loc;

    /// Sets the source location of the instructions emitted from now on.
    fn set_loc(&mut self, loc: Loc);

    /// Returns the emitted instructions that were not moved to a block draft yet, in forward order.
    fn emitted(&mut self) -> &mut Vec<InstDraft<Self::Machine>>;

    fn refusals(&mut self) -> &mut Vec<Refusal>;

    /// Returns the poll for cancellation.
    fn poll(&mut self) -> &mut Poll<'k>;

    /// Attributes the rules that fire from now on to this instruction of the kernel.
    fn begin_inst(&mut self, inst: Inst);

    /// Selects machine instructions for an instruction that is not a terminator.
    fn instruction(&mut self, inst: Inst);

    /// Selects the branch instruction for a condition, or returns that the condition is constant.
    fn condition(&mut self, cond: Value) -> Condition<Self::Machine>;

    /// Returns the registers that an edge passes as block arguments.
    fn args(&mut self, call: &BlockCall) -> Vec<VReg>;

    /// Returns the registers of a block's parameters.
    fn params(&mut self, block: Block) -> Vec<VReg>;

    /// Returns a specific reason why the target does not support this instruction, if one is known.
    fn reason(&self, inst: Inst) -> Option<Reason>;

    /// Returns the terminator that ends a work item.
    fn exit_terminator(&mut self) -> TerminatorDraft<Self::Machine> {
        TerminatorDraft::Exit
    }

    /// Called before a block's terminator is selected.
    fn begin_block(&mut self, block: Block) {
        let _ = block;
    }

    /// Called after a block's first instruction is selected. Emits the instructions at the start of the block.
    fn end_block(&mut self, block: Block) {
        let _ = block;
    }

    /// Records that the target does not support this instruction, with the reason if one is known.
    fn refuse(&mut self, inst: Inst, reason: Option<Reason>) {
        let data = &self.kernel().insts[inst];
        let reason = reason.or_else(|| self.reason(inst));
        let refusal = Refusal { op: Some((data.op, data.ty)), span: data.span, target: Self::TARGET, reason };
        self.refused_args(inst);
        self.refusals().push(refusal);
    }

    /// Selects the operands of a refused instruction too, so that their refusals are also reported.
    fn refused_args(&mut self, inst: Inst) {
        let _ = inst;
    }

    /// Records an error at a span that is not an instruction.
    fn refuse_at(&mut self, span: Span, reason: impl Into<Reason>) {
        let reason = Some(reason.into());
        self.refusals().push(Refusal { op: None, span, target: Self::TARGET, reason });
    }

    /// Returns the recorded refusals without duplicates, in source order, as an error.
    ///
    /// # Errors
    /// Returns the refusals if there are any, and an empty list if selection was cancelled.
    fn refused(&mut self) -> Result<(), Vec<Refusal>> {
        if self.poll().is_stopped_after(usize::MAX) {
            return Err(Vec::new());
        }
        let mut refusals = std::mem::take(self.refusals());
        // An op that a pass split into several ops is refused once for each of these ops.
        let mut seen = HashSet::with_capacity(refusals.len());
        refusals.retain(|refusal| seen.insert(refusal.clone()));
        refusals.sort_by_key(|refusal| refusal.span.start);
        if refusals.is_empty() { Ok(()) } else { Err(refusals) }
    }

    /// Moves the emitted instructions to the end of `reversed`, in reverse order.
    fn drain(&mut self, reversed: &mut Vec<InstDraft<Self::Machine>>) {
        reversed.extend(self.emitted().drain(..).rev());
    }

    /// Selects all reachable blocks and returns their drafts, indexed by block.
    fn drafts(&mut self, flow: &Flow) -> PrimaryMap<Block, Option<BlockDraft<Self::Machine>>> {
        if !Self::HAS_ARRAYS {
            for array in &self.kernel().arrays {
                self.refuse_at(array.span, reasons::no_array(array));
            }
        }
        let mut drafts: PrimaryMap<Block, _> = self.kernel().blocks.keys().map(|_| None).collect();
        for block in flow.reverse_postorder().rev() {
            self.begin_block(block);
            drafts[block] = Some(self.draft(block));
        }
        drafts
    }

    fn draft(&mut self, block: Block) -> BlockDraft<Self::Machine> {
        let kernel = self.kernel();
        let (terminator, body) = match kernel.blocks[block].insts.split_last() {
            Some((&last, body)) => (Some(last), body),
            None => (None, [].as_slice()),
        };
        let mut reversed = Vec::with_capacity(2 * body.len());
        let loc = terminator.map_or(Loc::default(), |inst| self.locate(kernel.insts[inst].span));
        self.set_loc(loc);
        let end = terminator.map_or(TerminatorDraft::Exit, |inst| self.terminator(inst));
        self.drain(&mut reversed);
        for &inst in body.iter().rev() {
            if self.poll().is_stopped() {
                break;
            }
            self.instruction(inst);
            self.drain(&mut reversed);
        }
        self.end_block(block);
        self.drain(&mut reversed);
        BlockDraft { block, reversed, params: self.params(block), end, loc }
    }

    fn terminator(&mut self, inst: Inst) -> TerminatorDraft<Self::Machine> {
        self.begin_inst(inst);
        let kernel = self.kernel();
        match (kernel.insts[inst].op, kernel.targets(inst), kernel.args(inst)) {
            (Op::Br, [call], _) => TerminatorDraft::Jump(self.way(call)),
            (Op::BrIf, [then, otherwise], &[cond]) => match self.condition(cond) {
                Condition::Constant(taken) => TerminatorDraft::Jump(self.way(if taken { then } else { otherwise })),
                Condition::Branch(inst) => {
                    TerminatorDraft::Branch { inst, then: self.way(then), otherwise: self.way(otherwise) }
                }
            },
            (Op::Ret, ..) => self.exit_terminator(),
            _ => {
                self.refuse(inst, None);
                TerminatorDraft::Exit
            }
        }
    }

    fn way(&mut self, call: &BlockCall) -> EdgeDraft {
        EdgeDraft { to: call.block, args: self.args(call) }
    }

    // Assembly of the drafts
    // -----------------------------------------------------------------------------------------------

    /// Returns the final register of a block parameter or a block argument.
    fn resolve_reg(&mut self, reg: VReg) -> VReg;

    /// Replaces the registers of an instruction by final registers, and appends its operands to the
    /// operand list of `code`.
    fn resolve(&mut self, code: &mut VCode<Self::Machine>, inst: VInst<Self::Machine>) -> VInst<Self::Machine>;

    /// Returns `Some(true)` if a branch is always taken, `Some(false)` if it is never taken, and
    /// `None` if its condition is not constant.
    fn constant_branch(&self, branch: &VInst<Self::Machine>) -> Option<bool> {
        let _ = branch;
        None
    }

    /// Builds the `VCode` from block drafts in layout order. Also returns the index in the code of
    /// each block of the kernel.
    fn assemble(
        &mut self,
        code: &mut VCode<Self::Machine>,
        drafts: Vec<BlockDraft<Self::Machine>>,
        flow: &Flow,
    ) -> SecondaryMap<Block, BlockIndex> {
        // Critical edges are split: an edge from a conditional branch to a block with several
        // predecessors gets a block of its own, directly after the branch.
        let is_split = |way: &EdgeDraft| flow.predecessors(way.to).len() > 1;
        let mut index = SecondaryMap::<Block, BlockIndex>::new();
        let mut next = 0;
        for draft in &drafts {
            index[draft.block] = next;
            next += 1;
            if let TerminatorDraft::Branch { then, otherwise, .. } = &draft.end {
                next += u32::from(is_split(then)) + u32::from(is_split(otherwise));
            }
        }
        code.blocks.reserve(next as usize);
        code.insts.reserve(drafts.iter().map(|draft| draft.reversed.len()).sum());
        for draft in drafts {
            let BlockDraft { reversed, params, end, loc, .. } = draft;
            let params: Vec<VReg> = params.into_iter().map(|reg| self.resolve_reg(reg)).collect();
            let start = code.insts.len() as u32;
            for InstDraft { inst, access } in reversed.into_iter().rev() {
                let word = code.insts.len() as u32;
                let inst = self.resolve(code, inst);
                code.insts.push(inst);
                for part in access.expand().into_iter().flat_map(|access| self.kernel().parts(access)) {
                    let loc = self.locate(part.span);
                    code.parts.push(PartialAccess { word, offset: part.offset as u16, bytes: part.bytes as u16, loc });
                }
            }
            let insts = start..code.insts.len() as u32;
            let place = code.blocks.len() as BlockIndex;
            let mut split = Vec::new();
            let mut edge = |selector: &mut Self, code: &mut VCode<Self::Machine>, way: EdgeDraft, is_branch: bool| {
                let is_split = is_branch && is_split(&way);
                let args = way.args.into_iter().map(|reg| selector.resolve_reg(reg));
                let edge = Edge { block: index[way.to], args: code.add_list(args) };
                if is_split {
                    split.push(edge);
                    Edge { block: place + split.len() as u32, args: 0..0 }
                } else {
                    edge
                }
            };
            let params = code.add_list(params);
            let terminator = match end {
                TerminatorDraft::Exit => Terminator::Exit,
                TerminatorDraft::Jump(to) => Terminator::Jump(edge(self, code, to, false)),
                TerminatorDraft::Branch { inst, then, otherwise } => {
                    let (then, otherwise) = (edge(self, code, then, true), edge(self, code, otherwise, true));
                    match self.constant_branch(&inst) {
                        Some(taken) => Terminator::Jump(if taken { then } else { otherwise }),
                        None => Terminator::Branch { inst: self.resolve(code, inst), then, otherwise },
                    }
                }
            };
            code.blocks.push(crate::vcode::VBlock { params, insts, terminator, loc });
            for edge in split {
                code.add_block([], [], Terminator::Jump(edge), loc);
            }
        }
        index
    }
}
