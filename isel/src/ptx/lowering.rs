//! From IR to PTX on virtual registers.
//!
//! Blocks are taken in postorder and their instructions backwards, so that every use is seen before its definition: what the
//! rules folded into its users is never emitted. A rule's instructions are in forward order among themselves. What assembling
//! folds (signs, constants, halves of words) is left to it.

use std::collections::BTreeMap;

use arrayvec::ArrayVec;
use cranelift_entity::SecondaryMap;
use halfbyte_ir::flow::Flow;
use halfbyte_ir::{Attr, Block, BlockCall, Inst, Kernel, Op, Span, Type, Value, ValueDef};
use halfbyte_isa::abi;
use halfbyte_isa::object::{Loc, Part};
use halfbyte_isa::ptx;
use halfbyte_isa::ptx::Guard;
use halfbyte_isa::ptx::NAME;
use halfbyte_isa::ptx::row::Class;

use super::builder::Builder;
use super::code::{self, Code, Edge, Placed, Terminator};
use super::context;
use super::memory::Addresses;
use super::operands::{Pred, Reg};
use crate::threads::register_bits;
use crate::trace::Trace;
use crate::{Refusal, Selected};

pub(super) struct Lowering<'k> {
    pub kernel: &'k Kernel,
    pub out: Builder,
    pub fired: Vec<u32>,
    pub trace: Option<&'k mut Trace>,
    pub sm: u16,
    /// How many ops the operand at hand has folded.
    pub depth: u32,
    pub addresses: Addresses,
    locate: &'k dyn Fn(Span) -> Loc,
    signature: abi::Signature,
    /// The registers that uses of a value name, from its first use on.
    value_regs: SecondaryMap<Value, Option<Reg>>,
    /// The registers for zero less a value, of those of which it is asked for.
    opposites: SecondaryMap<Value, Option<ptx::Reg>>,
    /// Where such a register's value turned out to be.
    aliases: Vec<Option<ptx::Reg>>,
    refusals: Vec<Refusal>,
}

/// A block's instructions while blocks are taken backwards.
struct Draft {
    block: Block,
    /// Its instructions, last first.
    reversed: Vec<Placed>,
    terminator: DraftTerminator,
    loc: Loc,
}

enum DraftTerminator {
    Exit,
    Jump(DraftEdge),
    Branch { guard: Guard, then: DraftEdge, otherwise: DraftEdge },
}

struct DraftEdge {
    block: Block,
    args: Vec<ptx::Reg>,
}

/// How many registers hold a type, where some do, and of which type they are.
pub(super) fn registers_of(ty: Type) -> Option<(usize, ptx::types::Type)> {
    match ty {
        Type::I1 => Some((1, ptx::types::Type::Pred)),
        Type::I1X16 => None,
        _ => match ty.bits() {
            0..=32 => Some((1, ptx::types::Type::B32)),
            64 => Some((2, ptx::types::Type::B32)),
            128 => Some((4, ptx::types::Type::B32)),
            _ => None,
        },
    }
}

/// Selects a kernel's instructions for a machine of that SM version.
pub(crate) fn select<'k>(
    kernel: &'k Kernel,
    sm: u16,
    locate: &'k dyn Fn(Span) -> Loc,
    trace: Option<&'k mut Trace>,
) -> Result<Selected, Vec<Refusal>> {
    let signature = crate::signature::signature(kernel, NAME).map_err(|refusal| vec![refusal])?;
    let ops = kernel.insts.len();
    let lowering = Lowering {
        kernel,
        out: Builder::with_capacity(ops),
        fired: Vec::with_capacity(2 * ops),
        trace,
        sm,
        depth: 0,
        addresses: Addresses::default(),
        locate,
        signature,
        value_regs: SecondaryMap::with_capacity(kernel.values.len()),
        opposites: SecondaryMap::new(),
        aliases: Vec::with_capacity(2 * ops),
        refusals: Vec::new(),
    };
    lowering.run()
}

impl Lowering<'_> {
    fn run(mut self) -> Result<Selected, Vec<Refusal>> {
        let kernel = self.kernel;
        let flow = Flow::new(kernel);
        let postorder: Vec<Block> = flow.reverse_postorder().rev().collect();
        let mut drafts: SecondaryMap<Block, Option<usize>> = SecondaryMap::new();
        let mut blocks = Vec::with_capacity(postorder.len());
        for block in postorder {
            drafts[block] = Some(blocks.len());
            let draft = self.block(block);
            blocks.push(draft);
        }
        if let Some(entry) = blocks.last_mut() {
            self.prologue(entry);
        }
        if !self.refusals.is_empty() {
            self.refusals.sort_by_key(|refusal| refusal.span.start);
            return Err(self.refusals);
        }
        let in_layout: Vec<usize> = kernel.layout.iter().filter_map(|&block| drafts[block]).collect();
        Ok(self.finish(blocks, &in_layout, &flow))
    }

    // Values ------------------------------------------------------------------------------------------------------------

    /// The registers of a value, which its definition will write.
    pub fn value_reg(&mut self, value: Value) -> Reg {
        if let Some(reg) = self.value_regs[value] {
            return reg;
        }
        // A constant is written again where it is used, where the entry writes many.
        if self.out.is_crowded()
            && let ValueDef::Result(inst) = self.kernel.values[value].def
            && self.kernel.insts[inst].op == Op::Const
            && self.kernel.ty(value) != Type::I1
        {
            return self.constant_words(inst);
        }
        let (count, ty) = registers_of(self.kernel.ty(value)).unwrap_or((1, ptx::types::Type::B32));
        let words: ArrayVec<ptx::Reg, { Reg::MOST }> = (0..count).map(|_| self.out.reg(ty)).collect();
        let reg = Reg::of_words(&words);
        self.value_regs[value] = Some(reg);
        reg
    }

    /// The numbers of a constant in registers.
    pub fn constant_words(&mut self, inst: Inst) -> Reg {
        let bits = register_bits(self.kernel, inst).unwrap_or_default();
        let count = self.kernel.insts[inst].ty.bits().div_ceil(32);
        let word = |k: u32| (bits[(k / 2) as usize % 8] >> (32 * (k % 2))) as u32;
        let words: ArrayVec<ptx::Reg, { Reg::MOST }> =
            (0..count).take(Reg::MOST).map(|k| self.out.number(word(k))).collect();
        Reg::of_words(&words)
    }

    /// Says where the value of a register is.
    pub fn define(&mut self, reg: ptx::Reg, at: ptx::Reg) {
        let index = reg.0 as usize;
        if self.aliases.len() <= index {
            self.aliases.resize(index + 1, None);
        }
        // A value that is asked for where it is defined already is no alias of itself.
        self.aliases[index] = (reg != at).then_some(at);
    }

    fn define_value(&mut self, value: Value, wanted: Reg, at: Reg) {
        let (count, _) = registers_of(self.kernel.ty(value)).unwrap_or((1, ptx::types::Type::B32));
        for k in 0..count as u8 {
            self.define(wanted.word(k), at.word(k));
        }
    }

    /// The register types' words of a value.
    fn words(&mut self, value: Value) -> Vec<ptx::Reg> {
        let reg = self.value_reg(value);
        let (count, _) = registers_of(self.kernel.ty(value)).unwrap_or((1, ptx::types::Type::B32));
        (0..count as u8).map(|k| reg.word(k)).collect()
    }

    /// Zero less a value, made where that is defined.
    pub fn opposite_of(&mut self, value: Value) -> Reg {
        let reg = self.opposites[value].unwrap_or_else(|| self.out.reg(ptx::types::Type::B32));
        self.opposites[value] = Some(reg);
        Reg::new(reg)
    }

    /// What stands right after a value's definition and is made of it alone.
    fn derived(&mut self, value: Value) {
        self.addresses_of(value);
        if let Some(wanted) = self.opposites.get_mut(value).and_then(Option::take) {
            let reg = context::opposite(self, value);
            self.define(wanted, reg.word(0));
        }
    }

    // Blocks ------------------------------------------------------------------------------------------------------------

    fn block(&mut self, block: Block) -> Draft {
        // Every edge hands on all arguments, so that a parameter has a register though nothing reads it.
        for &param in self.kernel.block_params(block) {
            self.value_reg(param);
        }
        let kernel = self.kernel;
        let insts = kernel.blocks[block].insts.as_slice();
        let (terminator, body) = match insts.split_last() {
            Some((&last, body)) => (Some(last), body),
            None => (None, insts),
        };
        let mut reversed = Vec::with_capacity(2 * body.len());
        let loc = terminator.map_or(Loc::default(), |inst| (self.locate)(kernel.insts[inst].span));
        self.out.loc = loc;
        let end = terminator.map_or(DraftTerminator::Exit, |inst| self.terminator(inst));
        reversed.extend(self.out.insts.drain(..).rev());
        for &inst in body.iter().rev() {
            self.instruction(inst);
            reversed.extend(self.out.insts.drain(..).rev());
        }
        for &param in kernel.block_params(block) {
            self.derived(param);
        }
        let numbers = std::mem::take(&mut self.out.numbers_here);
        self.numbers(numbers);
        reversed.extend(self.out.insts.drain(..).rev());
        Draft { block, reversed, terminator: end, loc }
    }

    fn instruction(&mut self, inst: Inst) {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        self.out.loc = (self.locate)(data.span);
        let result = data.result.expand();
        if let Some(value) = result {
            self.derived(value);
        }
        // That uses the result, so it is made first and stands last.
        let after = self.out.insts.len();
        let wanted = result.and_then(|value| self.value_regs[value]);
        if wanted.is_some() || !data.op.is_pure() {
            self.begin(inst);
            self.out.take_since();
            let reg = self.checked(inst).and_then(|()| context::lower(self, inst).ok_or(None));
            let since = self.out.take_since();
            let reg = reg.and_then(|reg| match since.sm <= self.sm {
                true => Ok(reg),
                false => Err(Some(format!("it needs sm_{} or above", since.sm))),
            });
            self.name_parts(inst, after);
            match (reg, result.zip(wanted)) {
                (Ok(reg), Some((value, wanted))) => self.define_value(value, wanted, reg),
                (Ok(_), None) => {}
                (Err(reason), _) => self.refuse(inst, reason),
            }
        }
        self.out.insts.rotate_left(after);
    }

    /// Tells an access that stands for several which these are. It is aligned to its size, and so is one instruction.
    fn name_parts(&mut self, inst: Inst, since: usize) {
        let parts = self.kernel.parts(inst);
        if parts.len() == 0 {
            return;
        }
        let parts = parts.map(|part| Part {
            word: 0,
            offset: part.offset as u16,
            bytes: part.bytes as u16,
            loc: (self.locate)(part.span),
        });
        let parts: Vec<Part> = parts.collect();
        let made = self.out.insts.iter_mut().skip(since);
        made.filter(|placed| placed.inst.row().class == Class::Memory).for_each(|placed| placed.parts = parts.clone());
    }

    /// Whether all values of an instruction have registers to be in, and the machine is new enough.
    fn checked(&self, inst: Inst) -> Result<(), Option<String>> {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        if let Attr::Intrinsic(_) = data.attr {
            return Err(Some("it has no intrinsics".to_owned()));
        }
        let values = kernel.args(inst).iter().copied().chain(kernel.result(inst));
        for ty in values.map(|value| kernel.ty(value)) {
            if registers_of(ty).is_none() {
                return Err(Some(format!("no register holds {ty}")));
            }
        }
        Ok(())
    }

    fn refuse(&mut self, inst: Inst, reason: Option<String>) {
        let data = &self.kernel.insts[inst];
        let reason = reason.or_else(|| super::reason(data.op, data.ty, &data.attr).map(str::to_string));
        let target = NAME;
        self.refusals.push(Refusal { op: Some((data.op, data.ty)), span: data.span, target, reason });
    }

    fn edge(&mut self, call: &BlockCall) -> DraftEdge {
        let args = self.kernel.call_args(call);
        DraftEdge { block: call.block, args: args.iter().flat_map(|&arg| self.words(arg)).collect() }
    }

    fn terminator(&mut self, inst: Inst) -> DraftTerminator {
        self.begin(inst);
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        match (data.op, kernel.targets(inst), kernel.args(inst)) {
            (Op::Br, [call], _) => DraftTerminator::Jump(self.edge(call)),
            (Op::BrIf, [then, otherwise], &[cond]) => match context::pred(self, cond) {
                Pred { reg: Some(reg), not } => DraftTerminator::Branch {
                    guard: Guard { reg, not },
                    then: self.edge(then),
                    otherwise: self.edge(otherwise),
                },
                Pred { reg: None, not } => DraftTerminator::Jump(self.edge(if not { otherwise } else { then })),
            },
            (Op::Ret, ..) => DraftTerminator::Exit,
            _ => {
                self.refuse(inst, None);
                DraftTerminator::Exit
            }
        }
    }

    /// What stands before the entry's first instruction: numbers and parameters in registers, and what is computed of
    /// parameters alone.
    fn prologue(&mut self, entry: &mut Draft) {
        let kernel = self.kernel;
        self.out.loc = (self.locate)(kernel.span);
        for param in &kernel.params {
            self.derived(param.value);
        }
        let after = std::mem::take(&mut self.out.insts);
        for (number, param) in (0..).zip(&kernel.params) {
            let Some(wanted) = self.value_regs[param.value] else { continue };
            match self.parameter(number, kernel.ty(param.value)) {
                Ok(reg) => self.define_value(param.value, wanted, reg),
                Err(reason) => self.refusals.push(Refusal {
                    op: None,
                    span: param.span,
                    target: NAME,
                    reason: Some(reason.to_string()),
                }),
            }
        }
        self.bases();
        let here = std::mem::take(&mut self.out.numbers_here);
        self.numbers(here);
        let numbers = std::mem::take(&mut self.out.numbers);
        self.numbers(numbers);
        self.out.insts.extend(after);
        entry.reversed.extend(self.out.insts.drain(..).rev());
    }

    /// Writes numbers to their registers, before what has been made.
    fn numbers(&mut self, numbers: BTreeMap<u32, ptx::Reg>) {
        if numbers.is_empty() {
            return;
        }
        let after = std::mem::take(&mut self.out.insts);
        for (bits, reg) in numbers {
            let operands = [ptx::Operand::Register(reg), ptx::Operand::Number(bits.into())];
            self.out.push(ptx::Opcode::MOV, &[ptx::types::Token::Type(ptx::types::Type::B32)], &operands);
        }
        self.out.insts.extend(after);
    }

    // The result --------------------------------------------------------------------------------------------------------

    /// Where a register's value is.
    fn resolve(&self, mut reg: ptx::Reg) -> ptx::Reg {
        while let Some(&Some(at)) = self.aliases.get(reg.0 as usize) {
            reg = at;
        }
        reg
    }

    fn finish(mut self, mut drafts: Vec<Draft>, in_layout: &[usize], flow: &Flow) -> Selected {
        let kernel = self.kernel;
        // Edges between a branch and a block with several ways in get a block of their own, right after the branch.
        let mut index = SecondaryMap::<Block, u32>::new();
        let is_split = |edge: &DraftEdge| flow.predecessors(edge.block).len() > 1;
        let mut next = 0;
        for &number in in_layout {
            let draft = &drafts[number];
            index[draft.block] = next;
            next += 1;
            if let DraftTerminator::Branch { then, otherwise, .. } = &draft.terminator {
                next += u32::from(is_split(then)) + u32::from(is_split(otherwise));
            }
        }
        let mut names = Names { lowering: &self, numbers: vec![None; self.out.types.len()], types: Vec::new() };
        let mut blocks: Vec<code::Block> = Vec::with_capacity(next as usize);
        for &number in in_layout {
            let reversed = std::mem::take(&mut drafts[number].reversed);
            let draft = &drafts[number];
            let params = kernel.block_params(draft.block).iter();
            let params = params.filter_map(|&param| Some((param, self.value_regs[param]?)));
            let params = params.flat_map(|(param, reg)| {
                let (count, _) = registers_of(kernel.ty(param)).unwrap_or((1, ptx::types::Type::B32));
                (0..count as u8).map(move |k| reg.word(k))
            });
            let params: Vec<ptx::Reg> = params.map(|reg| names.rename(reg)).collect();
            let mut insts: Vec<Placed> = reversed.into_iter().rev().collect();
            insts.iter_mut().for_each(|placed| names.rename_all(&mut placed.inst));
            let place = blocks.len() as u32;
            let mut extra = Vec::new();
            let mut edge = |edge: &DraftEdge, branch: bool| {
                let args = edge.args.iter().map(|&reg| names.rename(reg)).collect();
                let target = Edge { block: index[edge.block], args };
                if branch && is_split(edge) {
                    let block = place + 1 + extra.len() as u32;
                    extra.push(target);
                    Edge { block, args: Vec::new() }
                } else {
                    target
                }
            };
            let terminator = match &draft.terminator {
                DraftTerminator::Exit => Terminator::Exit,
                DraftTerminator::Jump(to) => Terminator::Jump(edge(to, false)),
                DraftTerminator::Branch { guard, then, otherwise } => {
                    let (then, otherwise) = (edge(then, true), edge(otherwise, true));
                    let guard = Guard { reg: names.rename(guard.reg), not: guard.not };
                    Terminator::Branch { guard, then, otherwise }
                }
            };
            blocks.push(code::Block { params, insts, terminator, loc: draft.loc });
            for target in extra {
                let terminator = Terminator::Jump(target);
                blocks.push(code::Block { params: Vec::new(), insts: Vec::new(), terminator, loc: draft.loc });
            }
        }
        let registers = names.types;
        let code = Code {
            signature: self.signature.clone(),
            sm: self.sm,
            registers,
            blocks,
            max_items: self.addresses.max_items,
        };
        Selected { code: Box::new(code), fired: std::mem::take(&mut self.fired) }
    }
}

/// Numbers the registers that are used, each where its value is, in the order in which they come.
struct Names<'l, 'k> {
    lowering: &'l Lowering<'k>,
    numbers: Vec<Option<ptx::Reg>>,
    types: Vec<ptx::types::Type>,
}

impl Names<'_, '_> {
    fn rename(&mut self, reg: ptx::Reg) -> ptx::Reg {
        let at = self.lowering.resolve(reg);
        let Some(slot) = self.numbers.get_mut(at.0 as usize) else { return at };
        *slot.get_or_insert_with(|| {
            self.types.push(self.lowering.out.ty(at));
            ptx::Reg(self.types.len() as u32 - 1)
        })
    }

    fn rename_all(&mut self, inst: &mut ptx::Inst) {
        use ptx::{Base, Operand};
        for operand in &mut inst.operands {
            match operand {
                Operand::Register(reg) | Operand::Not(reg) | Operand::Lanes { reg, .. } => *reg = self.rename(*reg),
                Operand::Pair(both) => both.iter_mut().flatten().for_each(|reg| *reg = self.rename(*reg)),
                Operand::Vector(regs) => regs.registers_mut(|reg| *reg = self.rename(*reg)),
                Operand::Memory(address) => {
                    if let Base::Register(reg) = &mut address.base {
                        *reg = self.rename(*reg);
                    }
                }
                Operand::Number(_) | Operand::Variable { .. } | Operand::Special(_) | Operand::Label(_) => {}
            }
        }
    }
}
