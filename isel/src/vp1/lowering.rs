//! From a packed kernel to instructions on virtual registers.
//!
//! The program does the groups of a tile one after another: what is the same for all of them comes first, then a loop around
//! the kernel's blocks. Blocks are taken in postorder and their instructions backwards, so that every use is seen before its
//! definition: what the rules folded into its users is never emitted. A rule's instructions are in forward order among
//! themselves.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap};
use halfbyte_ir::{Attr, Block, BlockCall, Flow, Inst, Kernel, Op, Span, Type, Value};
use halfbyte_isa::abi::Signature;
use halfbyte_isa::object::Loc;
use halfbyte_isa::stream::{M_FIRST_ITEM, M_TILE_ITEMS, Tiles};
use halfbyte_isa::vp1::TARGET;
use halfbyte_isa::vp1::fields::*;
use halfbyte_isa::vp1::{Inst as Word, Opcode};

use super::builder::Builder;
use super::constants::Constants;
use super::context;
use super::intrinsic;
use super::needed::{needed, operands};
use super::operands::{Alu, Flag, Reg, Src};
use super::streams::Streams;
use super::uniform::Uniform;
use super::wide::{Copied, FactorWord, Uses, is_wide};
use super::{Class, Extra};
use crate::mach::BlockIndex;
use crate::machine::Vp1;
use crate::trace::Trace;
use crate::vcode::{Access, Edge, Operand, Terminator, VBlock, VCode, VInst, VReg};
use crate::{Refusal, Selected};

pub(super) struct Lowering<'k> {
    pub kernel: &'k Kernel,
    pub out: Builder,
    pub constants: Constants,
    pub streams: Streams,
    pub fired: Vec<u32>,
    pub trace: Option<&'k mut Trace>,
    /// How many ops the operand at hand has folded.
    pub depth: u32,
    /// Words of vectors that the instruction at hand has taken.
    words_here: Vec<(Value, Reg)>,
    /// The block at hand; none before the loop over groups.
    block: Option<Block>,
    /// Where instructions are that are not before that loop.
    blocks: SecondaryMap<Inst, PackedOption<Block>>,
    locate: &'k dyn Fn(Span) -> Loc,
    /// Work items in a group.
    items: u32,
    pub uniform: Uniform,
    pub uses: Uses,
    /// Factors that are put together before the loop over groups.
    pub factor_words: Vec<FactorWord>,
    /// Vectors that are copied before it; none once that is reached, where nothing needs a copy.
    pub copies: Option<Vec<Copied>>,
    needed: EntitySet<Value>,
    /// The register that uses of a value name, from its first use on.
    value_regs: SecondaryMap<Value, Option<VReg>>,
    /// Where a value's register turned out to be, as the rules had it.
    aliases: Vec<Option<VReg>>,
    /// The number of the group, in the block that begins it, where something asks for it.
    group_number: Option<VReg>,
    refusals: Vec<Refusal>,
}

/// A point in the program that control goes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Point {
    /// A block of the kernel.
    Block(Block),
    /// The end of a group.
    Latch,
    /// From there to the next group.
    Back,
    /// The end of the tile.
    Done,
}

/// A block's instructions while they are taken backwards.
struct Draft {
    at: Option<Point>,
    /// Its instructions, last first.
    reversed: Vec<VInst<Vp1>>,
    params: Vec<VReg>,
    terminator: DraftTerminator,
    loc: Loc,
}

enum DraftTerminator {
    Exit,
    Jump(DraftEdge),
    Branch { inst: VInst<Vp1>, then: DraftEdge, otherwise: DraftEdge },
}

struct DraftEdge {
    to: Point,
    args: Vec<VReg>,
}

/// Selects a packed kernel's instructions.
pub(crate) fn select<'k>(
    kernel: &'k Kernel,
    locate: &'k dyn Fn(Span) -> Loc,
    trace: Option<&'k mut Trace>,
) -> Result<Selected, Vec<Refusal>> {
    let signature = crate::signature::signature(kernel, TARGET.name()).map_err(|refusal| vec![refusal])?;
    let refuse = |reason: &str| {
        vec![Refusal { op: None, span: kernel.span, target: TARGET.name(), reason: Some(reason.to_string()) }]
    };
    let packing = kernel.packing.as_ref().ok_or_else(|| refuse("its work items are not packed"))?;
    if !packing.items.is_power_of_two() {
        return Err(refuse("its groups are no power of two of work items"));
    }
    let entry = kernel.entry().ok_or_else(|| refuse("it has no blocks"))?;
    let streams = Streams::new(kernel, packing, &signature).map_err(|refusal| vec![refusal])?;
    let flow = Flow::new(kernel);
    let lowering = Lowering {
        kernel,
        out: Builder::new(),
        constants: Constants::default(),
        uniform: Uniform::new(kernel, &flow, &streams),
        uses: Uses::new(kernel),
        factor_words: Vec::new(),
        copies: Some(Vec::new()),
        streams,
        fired: Vec::new(),
        trace,
        depth: 0,
        words_here: Vec::new(),
        block: None,
        blocks: SecondaryMap::new(),
        locate,
        items: packing.items,
        needed: needed(kernel, &flow),
        value_regs: SecondaryMap::new(),
        aliases: Vec::new(),
        group_number: None,
        refusals: Vec::new(),
    };
    lowering.run(signature, entry, &flow)
}

/// The class of register that holds a type, where one does.
pub(super) fn class_of(ty: Type) -> Option<Class> {
    match ty {
        Type::I8X16 | Type::I1X16 => Some(Class::V),
        Type::PTR | Type::I1X2 => None,
        _ => (ty.bits() <= 32).then_some(Class::R),
    }
}

impl Lowering<'_> {
    fn run(mut self, signature: Signature, entry: Block, flow: &Flow) -> Result<Selected, Vec<Refusal>> {
        let kernel = self.kernel;
        // Block parameters have registers before anything uses them.
        for block in flow.reverse_postorder() {
            for &param in kernel.block_params(block) {
                self.value_reg(param);
            }
        }
        let postorder: Vec<Block> = flow.reverse_postorder().rev().collect();
        for &block in &postorder {
            let insts = kernel.blocks[block].insts.iter().filter(|&&inst| !self.uniform.contains(inst));
            insts.for_each(|&inst| self.blocks[inst] = block.into());
        }
        let mut drafts: PrimaryMap<Block, Option<Draft>> = kernel.blocks.keys().map(|_| None).collect();
        for block in postorder {
            self.block = Some(block);
            drafts[block] = Some(self.draft(block));
        }
        self.block = None;
        let (prologue, around) = self.around_groups(entry, drafts[entry].as_mut());
        let mut blocks = vec![prologue.0];
        blocks.extend(kernel.layout.iter().filter_map(|&block| drafts[block].take()));
        blocks.extend(around);
        end_in_latch(&mut blocks);
        if !self.refusals.is_empty() {
            self.refusals.sort_by_key(|refusal| refusal.span.start);
            return Err(self.refusals);
        }
        Ok(self.finish(signature, prologue.1, blocks, flow))
    }

    // Values ------------------------------------------------------------------------------------------------------------

    /// The register of a value, which its definition will write.
    pub fn value_reg(&mut self, value: Value) -> Reg {
        let vreg = match self.value_regs[value] {
            Some(vreg) => vreg,
            None => {
                let class = class_of(self.kernel.ty(value)).unwrap_or(Class::R);
                let vreg = self.out.vreg(class);
                self.value_regs[value] = Some(vreg);
                vreg
            }
        };
        Reg::new(vreg)
    }

    /// Says where the value of a register is.
    fn define(&mut self, vreg: VReg, at: Reg) {
        let at = match at.vreg {
            Some(at) => Some(at),
            None => self.constants.word(&mut self.out, 0).vreg,
        };
        let index = vreg.0 as usize;
        if self.aliases.len() <= index {
            self.aliases.resize(index + 1, None);
        }
        self.aliases[index] = at;
    }

    /// Whether a value is used once, and made where code is selected now.
    pub fn is_for_here(&self, value: Value) -> bool {
        let made = self.kernel.def_inst(value).map(|inst| self.blocks[inst].expand());
        self.uses.is_single(value) && made == Some(self.block)
    }

    /// A word of a vector, which the value is.
    pub fn word_here(&mut self, value: Value, vector: Value, word: u8) -> Reg {
        if let Some(&(_, reg)) = self.words_here.iter().find(|known| known.0 == value) {
            return reg;
        }
        let vector = self.value_reg(vector);
        let reg = self.word_from(vector, word);
        self.words_here.push((value, reg));
        reg
    }

    /// The register that holds the number of the group.
    pub fn group_number(&mut self) -> VReg {
        match self.group_number {
            Some(vreg) => vreg,
            None => *self.group_number.insert(self.out.vreg(Class::R)),
        }
    }

    // Blocks ------------------------------------------------------------------------------------------------------------

    fn draft(&mut self, block: Block) -> Draft {
        let kernel = self.kernel;
        let (terminator, body) = match kernel.blocks[block].insts.split_last() {
            Some((&last, body)) => (Some(last), body),
            None => (None, [].as_slice()),
        };
        let mut reversed = Vec::with_capacity(body.len());
        self.out.loc = terminator.map_or(Loc::default(), |inst| (self.locate)(kernel.insts[inst].span));
        self.words_here.clear();
        let loc = self.out.loc;
        let end = terminator.map_or(DraftTerminator::Exit, |inst| self.terminator(inst));
        self.drain(&mut reversed);
        for &inst in body.iter().rev() {
            if !self.uniform.contains(inst) {
                self.instruction(inst);
                self.drain(&mut reversed);
            }
        }
        let params = kernel.block_params(block).iter().filter(|&&param| self.needed.contains(param));
        let params = params.filter_map(|&param| self.value_regs[param]).collect();
        Draft { at: Some(Point::Block(block)), reversed, params, terminator: end, loc }
    }

    fn drain(&mut self, reversed: &mut Vec<VInst<Vp1>>) {
        reversed.extend(self.out.insts.drain(..).rev());
    }

    fn instruction(&mut self, inst: Inst) {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        self.out.loc = (self.locate)(data.span);
        self.words_here.clear();
        let wanted = data.result.expand().and_then(|value| self.value_regs[value]);
        if wanted.is_none() && data.op.is_pure() {
            return;
        }
        self.begin(inst);
        let reg = match data.attr {
            Attr::Intrinsic(text) => intrinsic::lower(self, inst, &kernel.intrinsics[text]),
            _ => self.checked(inst).and_then(|()| context::lower(self, inst).ok_or(None)),
        };
        match (reg, wanted) {
            (Ok(reg), Some(vreg)) => self.define(vreg, reg),
            (Ok(_), None) => {}
            (Err(reason), _) => self.refuse(inst, reason),
        }
    }

    /// Whether all values of an instruction have a register to be in.
    fn checked(&self, inst: Inst) -> Result<(), Option<String>> {
        let kernel = self.kernel;
        // Operands of wide lanes are a matter of the rules that compute them at once.
        let operands = operands(kernel, inst).iter().copied().filter(|&value| !is_wide(kernel.ty(value)));
        for ty in operands.chain(kernel.result(inst)).map(|value| kernel.ty(value)) {
            if class_of(ty).is_none() {
                return Err(Some(super::reason_for_value(ty)));
            }
        }
        Ok(())
    }

    fn refuse(&mut self, inst: Inst, reason: Option<String>) {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        // What it would need may be refused too.
        let operands = operands(kernel, inst).iter().copied();
        for arg in operands.filter(|&arg| kernel.def_inst(arg).is_some() && !is_wide(kernel.ty(arg))) {
            self.value_reg(arg);
        }
        let reason = reason.or_else(|| super::reason_for_type(data.op, data.ty).map(str::to_string));
        self.refusals.push(Refusal { op: Some((data.op, data.ty)), span: data.span, target: TARGET.name(), reason });
    }

    fn edge(&mut self, call: &BlockCall) -> DraftEdge {
        let kernel = self.kernel;
        let params = kernel.block_params(call.block).iter();
        let wanted = params.zip(kernel.call_args(call)).filter(|(param, _)| self.needed.contains(**param));
        let args: Vec<Value> = wanted.map(|(_, &arg)| arg).collect();
        let args = args.into_iter().filter_map(|arg| self.value_reg(arg).vreg).collect();
        DraftEdge { to: Point::Block(call.block), args }
    }

    fn terminator(&mut self, inst: Inst) -> DraftTerminator {
        self.begin(inst);
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        match (data.op, kernel.targets(inst), kernel.args(inst)) {
            (Op::Br, [call], _) => DraftTerminator::Jump(self.edge(call)),
            (Op::BrIf, [then, otherwise], &[cond]) => match context::flag(self, cond) {
                Flag::Known(taken) => DraftTerminator::Jump(self.edge(if taken { then } else { otherwise })),
                Flag::Bit { c, bit, not } => {
                    let inst = self.branch(c, bit, not);
                    DraftTerminator::Branch { inst, then: self.edge(then), otherwise: self.edge(otherwise) }
                }
            },
            (Op::Ret, ..) => DraftTerminator::Jump(DraftEdge { to: Point::Latch, args: Vec::new() }),
            _ => {
                self.refuse(inst, None);
                DraftTerminator::Exit
            }
        }
    }

    fn branch(&mut self, c: VReg, bit: u8, not: bool) -> VInst<Vp1> {
        self.out.read(COND, Reg::new(c));
        let opcode = if not { Opcode::BRA_NOT } else { Opcode::BRA };
        self.out.branch(Word::new(opcode).with(SLCT, bit.into()))
    }

    /// Puts the words of factors together that were asked for.
    fn factor_words(&mut self, reversed: &mut Vec<VInst<Vp1>>) {
        for word in std::mem::take(&mut self.factor_words) {
            let (vreg, at) = self.put_together(&word);
            self.define(vreg, at);
            self.drain(reversed);
        }
    }

    // Around the groups -------------------------------------------------------------------------------------------------

    /// The block before the loop over groups, with the data image, and those that end a group; `entry`, which begins one, gets
    /// its parameters.
    fn around_groups(&mut self, entry_block: Block, entry: Option<&mut Draft>) -> ((Draft, Vec<u8>), [Draft; 3]) {
        let kernel = self.kernel;
        // Uniform instructions first, as the last of what comes before the loop.
        let mut reversed = Vec::new();
        for copy in self.copies.take().into_iter().flatten() {
            if let Some((vreg, at)) = self.copied(&copy) {
                self.define(vreg, at);
            }
            self.drain(&mut reversed);
        }
        self.factor_words(&mut reversed);
        for inst in std::mem::take(&mut self.uniform.insts).into_iter().rev() {
            self.instruction(inst);
            self.drain(&mut reversed);
            self.factor_words(&mut reversed);
        }
        let loc = (self.locate)(kernel.span);
        self.out.loc = loc;
        for number in 0..kernel.launch_params().len() {
            self.parameter(number);
            self.drain(&mut reversed);
        }

        let count = self.out.vreg(Class::R);
        let group = self.group_number;
        let first_args: Vec<VReg> = std::iter::once(self.group_count())
            .chain(group.map(|_| self.first_group()))
            .filter_map(|reg| reg.vreg)
            .collect();
        self.drain(&mut reversed);
        let mut restarts = Vec::new();
        for stream in 0..self.streams.count() {
            let start = self.out.method_register(self.streams.method_register(stream));
            if self.streams.starts_again(stream) {
                restarts.push((stream, start));
            } else {
                self.set_cursor(stream, start);
            }
        }
        self.drain(&mut reversed);

        let latch = self.latch(count, group, loc);
        if let Some(entry) = entry {
            entry.params = std::iter::once(count).chain(group).collect();
            for (stream, start) in restarts {
                self.set_cursor(stream, start);
            }
            self.drain(&mut entry.reversed);
        }
        let (latch, next_args) = latch;
        let back = DraftEdge { to: Point::Block(entry_block), args: next_args };
        let back = Draft {
            at: Some(Point::Back),
            reversed: Vec::new(),
            params: Vec::new(),
            terminator: DraftTerminator::Jump(back),
            loc,
        };

        let image = match std::mem::take(&mut self.constants).load(&mut self.out) {
            Ok(image) => image,
            Err(reason) => {
                let (span, target) = (kernel.span, TARGET.name());
                self.refusals.push(Refusal { op: None, span, target, reason: Some(reason) });
                Vec::new()
            }
        };
        self.drain(&mut reversed);
        let into = DraftEdge { to: Point::Block(entry_block), args: first_args };
        let prologue = Draft { at: None, reversed, params: Vec::new(), terminator: DraftTerminator::Jump(into), loc };
        ((prologue, image), [latch, back, Self::done(loc)])
    }

    fn done(loc: Loc) -> Draft {
        Draft {
            at: Some(Point::Done),
            reversed: Vec::new(),
            params: Vec::new(),
            terminator: DraftTerminator::Exit,
            loc,
        }
    }

    /// The number of groups of the tile.
    fn group_count(&mut self) -> Reg {
        let items = self.out.method_register(M_TILE_ITEMS);
        if self.items == 1 {
            return items;
        }
        let rounded = self.alu(Alu::Add, items, self.items - 1);
        self.alu(Alu::Shr, rounded, self.items.trailing_zeros())
    }

    /// The number of the tile's first group.
    fn first_group(&mut self) -> Reg {
        let item = self.out.method_register(M_FIRST_ITEM);
        if self.items == 1 { item } else { self.alu(Alu::Shr, item, self.items.trailing_zeros()) }
    }

    fn alu(&mut self, op: Alu, a: Reg, b: u32) -> Reg {
        let inst = self.scalar_alu(op, Src::Reg(a), Src::Word(b));
        self.out.word(inst)
    }

    fn set_cursor(&mut self, stream: u32, start: Reg) {
        self.out.read(SRC1, start);
        self.out.push(Word::new(Opcode::MOV_A_R).with(DST, stream.into()));
    }

    /// The end of a group: one less is left to do. With what the next one is told.
    fn latch(&mut self, count: VReg, group: Option<VReg>, loc: Loc) -> (Draft, Vec<VReg>) {
        let mut next = Vec::new();
        if let Some(group) = group {
            next.extend(self.alu(Alu::Add, Reg::new(group), 1).vreg);
        }
        self.out.read(SRC1, Reg::new(count));
        let left = self.out.define(DST, Class::R);
        let c = self.out.define(CDST, Class::C);
        self.out.push(Word::new(Opcode::SUB_RI).with(IMM, 1));
        next.insert(0, left);
        let Flag::Bit { c, bit, .. } = Self::zero_flag(c) else { return (Self::done(loc), next) };
        let inst = self.branch(c, bit, true);
        let mut reversed = Vec::new();
        self.drain(&mut reversed);
        let edge = |to| DraftEdge { to, args: Vec::new() };
        let terminator = DraftTerminator::Branch { inst, then: edge(Point::Back), otherwise: edge(Point::Done) };
        (Draft { at: Some(Point::Latch), reversed, params: Vec::new(), terminator, loc }, next)
    }

    /// A scalar parameter, in the register that uses of it name.
    fn parameter(&mut self, number: usize) {
        let Some(param) = self.kernel.params.get(number) else { return };
        let ty = self.kernel.ty(param.value);
        let (Some(vreg), Some(words)) = (self.value_regs[param.value], self.streams.param_words(number as u32, ty))
        else {
            return;
        };
        let words: Vec<Reg> = words.map(|word| self.out.method_register(word)).collect();
        let reg = match (ty, words.as_slice()) {
            (Type::I8X16, &[a, b, c, d]) => {
                self.words_into(None, &[(0, Src::Reg(a)), (1, Src::Reg(b)), (2, Src::Reg(c)), (3, Src::Reg(d))])
            }
            (Type::I1, &[word]) => {
                let top = self.alu(Alu::Shr, word, -31i32 as u32);
                self.alu(Alu::Sar, top, 31)
            }
            (_, &[word]) if !ty.is_mask() && class_of(ty).is_some() => word,
            _ => {
                let reason =
                    if ty.is_mask() { "a mask cannot be a parameter".into() } else { super::reason_for_value(ty) };
                let reason = Some(format!("parameter `%{}`: {reason}", param.name));
                self.refusals.push(Refusal { op: None, span: param.span, target: TARGET.name(), reason });
                return;
            }
        };
        self.define(vreg, reg);
    }
}

/// Lets the only block that goes to the latch be it, so that a kernel of one block is a loop of one.
fn end_in_latch(blocks: &mut Vec<Draft>) {
    let goes = |draft: &Draft| matches!(&draft.terminator, DraftTerminator::Jump(edge) if edge.to == Point::Latch);
    let mut ends = (0..).zip(blocks.iter()).filter(|(_, draft)| goes(draft)).map(|(index, _)| index);
    let (Some(end), None) = (ends.next(), ends.next()) else { return };
    let Some(latch) = blocks.iter().position(|draft| draft.at == Some(Point::Latch)) else { return };
    let mut latch = blocks.remove(latch);
    if let Some(draft) = blocks.get_mut::<usize>(end) {
        latch.reversed.append(&mut draft.reversed);
        draft.reversed = latch.reversed;
        draft.terminator = latch.terminator;
    }
}

// The result --------------------------------------------------------------------------------------------------------------

impl Lowering<'_> {
    /// Where a register's value is, all aliases followed.
    fn resolve(&self, mut vreg: VReg) -> VReg {
        while let Some(&Some(at)) = self.aliases.get(vreg.0 as usize) {
            vreg = at;
        }
        vreg
    }

    fn finish(mut self, signature: Signature, image: Vec<u8>, blocks: Vec<Draft>, flow: &Flow) -> Selected {
        let streams = std::mem::take(&mut self.streams.of_tiles);
        let mut code = VCode {
            signature,
            vregs: std::mem::take(&mut self.out.vregs),
            blocks: Vec::with_capacity(blocks.len()),
            insts: Vec::new(),
            operands: Vec::with_capacity(self.out.operands.len()),
            pool: Vec::new(),
            parts: Vec::new(),
            extra: Extra { tiles: Tiles { items: self.items, group_branch: None, image, streams }, group_latch: None },
        };
        // Edges between a branch and a block with several ways in get a block of their own, right after the branch.
        let is_split = |edge: &DraftEdge| match edge.to {
            Point::Block(block) => flow.predecessors(block).len() > 1,
            _ => false,
        };
        let mut places = Places::default();
        let mut next = 0;
        for draft in &blocks {
            places.set(draft.at, next);
            next += 1;
            if let DraftTerminator::Branch { then, otherwise, .. } = &draft.terminator {
                next += u32::from(is_split(then)) + u32::from(is_split(otherwise));
            }
        }
        for draft in blocks {
            let start = code.insts.len() as u32;
            for inst in draft.reversed.into_iter().rev() {
                let inst = self.resolved(&mut code, inst);
                code.insts.push(inst);
            }
            let insts = start..code.insts.len() as u32;
            let params = push_list(&mut code.pool, draft.params.into_iter());
            let place = code.blocks.len() as u32;
            if draft.at == Some(Point::Back) {
                code.extra.group_latch = Some(place);
            }
            let mut extra = Vec::new();
            let mut edge = |edge: DraftEdge, pool: &mut Vec<VReg>, branch: bool| {
                let split = branch && is_split(&edge);
                let args = push_list(pool, edge.args.iter().map(|&arg| self.resolve(arg)));
                let target = Edge { block: places.get(edge.to), args };
                if split {
                    let block = place + 1 + extra.len() as u32;
                    extra.push(target);
                    Edge { block, args: 0..0 }
                } else {
                    target
                }
            };
            let terminator = match draft.terminator {
                DraftTerminator::Exit => Terminator::Exit,
                DraftTerminator::Jump(to) => Terminator::Jump(edge(to, &mut code.pool, false)),
                DraftTerminator::Branch { inst, then, otherwise } => {
                    let then = edge(then, &mut code.pool, true);
                    let otherwise = edge(otherwise, &mut code.pool, true);
                    Terminator::Branch { inst: self.resolved(&mut code, inst), then, otherwise }
                }
            };
            code.blocks.push(VBlock { params, insts, terminator, loc: draft.loc });
            let end = code.insts.len() as u32;
            for target in extra {
                let terminator = Terminator::Jump(target);
                code.blocks.push(VBlock { params: 0..0, insts: end..end, terminator, loc: draft.loc });
            }
        }
        Selected { code: Box::new(code), fired: self.fired }
    }

    /// An instruction with its registers where their values are.
    fn resolved(&self, code: &mut VCode<Vp1>, mut inst: VInst<Vp1>) -> VInst<Vp1> {
        let start = code.operands.len() as u32;
        let range = inst.operands.start as usize..inst.operands.end as usize;
        for &operand in self.out.operands.get(range).unwrap_or(&[]) {
            code.operands.push(match operand.access {
                Access::Use => Operand { reg: self.resolve(operand.reg), ..operand },
                Access::Def => operand,
                Access::Replace(old) => Operand { access: Access::Replace(self.resolve(old)), ..operand },
            });
        }
        inst.operands = start..code.operands.len() as u32;
        inst
    }
}

/// The blocks of the result that points of the program are.
#[derive(Default)]
struct Places {
    blocks: SecondaryMap<Block, BlockIndex>,
    latch: BlockIndex,
    back: BlockIndex,
    done: BlockIndex,
}

impl Places {
    fn set(&mut self, point: Option<Point>, index: BlockIndex) {
        match point {
            Some(Point::Block(block)) => self.blocks[block] = index,
            Some(Point::Latch) => self.latch = index,
            Some(Point::Back) => self.back = index,
            Some(Point::Done) => self.done = index,
            None => {}
        }
    }

    fn get(&self, point: Point) -> BlockIndex {
        match point {
            Point::Block(block) => self.blocks[block],
            Point::Latch => self.latch,
            Point::Back => self.back,
            Point::Done => self.done,
        }
    }
}

fn push_list(pool: &mut Vec<VReg>, list: impl Iterator<Item = VReg>) -> std::ops::Range<u32> {
    let start = pool.len() as u32;
    pool.extend(list);
    start..pool.len() as u32
}
