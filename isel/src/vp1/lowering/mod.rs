//! Instruction selection for VP1: from a packed kernel to instructions on virtual registers.
//!
//! The program processes the groups of items in a tile one after another. Code whose result is the
//! same for all groups comes first. A loop around the kernel's blocks follows.

pub(crate) mod context;
pub(crate) mod intrinsic;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use halfbyte_abi::{Poll, Signature};
use halfbyte_ir::{Attr, Block, BlockCall, Flow, Inst, Kernel, Reason, Span, Type, Value};
use halfbyte_isa::object::Loc;
use halfbyte_isa::stream::{M_FIRST_ITEM, M_TILE_ITEMS, Tiles, WINDOW_MARGIN};
use halfbyte_isa::vp1::TARGET;
use halfbyte_isa::vp1::fields::*;
use halfbyte_isa::vp1::{Inst as Word, Opcode};

use super::builder::Builder;
use super::constants::Constants;
use super::demand::{needed, operands};
use super::machine::Vp1;
use super::operands::{Alu, Flag, Reg, Src};
use super::streams::Streams;
use super::uniform::Uniform;
use super::{Class, Extra};
use crate::driver::{BlockDraft, Condition, EdgeDraft, InstDraft, Selector, TerminatorDraft};
use crate::trace::Trace;
use crate::vcode::{Access, Operand, VCode, VInst, VReg};
use crate::{Refusal, Request, Selected, reasons};
use context::wide::{Copied, FactorWord, Uses};

pub(super) struct Lowering<'k> {
    pub kernel: &'k Kernel,
    pub out: Builder,
    pub constants: Constants,
    pub streams: Streams,
    pub fired: Vec<u32>,
    pub trace: Option<&'k mut Trace>,
    /// Number of operand folds in progress that are nested in each other.
    pub depth: u32,
    /// Words of vectors that were extracted for the current instruction, with their registers.
    words_here: Vec<(Value, Reg)>,
    /// Block whose code is being selected, or `None` for the code before the loop over groups.
    block: Option<Block>,
    /// Block of each instruction. `None` if the instruction is hoisted before the loop over groups.
    blocks: SecondaryMap<Inst, PackedOption<Block>>,
    locate: &'k dyn Fn(Span) -> Loc,
    /// Number of work items in a group.
    items: u32,
    pub uniform: Uniform,
    pub uses: Uses,
    /// Registers with two factors, which are computed before the loop over groups.
    pub factor_words: Vec<FactorWord>,
    /// Vectors that are copied before the loop over groups. `None` once selection has reached the
    /// code before the loop, which needs no copies.
    pub copies: Option<Vec<Copied>>,
    needed: EntitySet<Value>,
    /// Windows that the kernel accesses. Their registers are set before the loop over groups.
    windows: Vec<WindowRegs>,
    /// Register of each value, created at the first visited use. The definition is visited later.
    value_regs: SecondaryMap<Value, Option<VReg>>,
    /// For each virtual register of a value, the register of a rule's result that holds the same value.
    aliases: Vec<Option<VReg>>,
    /// Register with the number of the current group, if any code reads it. The register is a
    /// parameter of the first block in the loop.
    group_number: Option<VReg>,
    around: GroupLoopBlocks,
    refusals: Vec<Refusal>,
    poll: Poll<'k>,
}

/// Registers with the address and the bound of a window.
#[derive(Clone, Copy)]
struct WindowRegs {
    stream: u32,
    /// Contents of the stream's `$m`. The lower half is the address of the first byte of the buffer.
    start: VReg,
    /// Offset past the end of the buffer, to which out-of-bounds stores are redirected. `None` if
    /// the kernel does not store to the window.
    bound: Option<VReg>,
}

/// Blocks that selection adds around those of the kernel. Their numbers follow those of the kernel.
#[derive(Clone, Copy)]
struct GroupLoopBlocks {
    /// Block before the loop over groups.
    before: Block,
    /// Block at the end of a group, which tests whether groups are left.
    latch: Block,
    /// Block on the back edge from the latch to the next group.
    back: Block,
    /// Block at the end of the tile.
    done: Block,
}

impl GroupLoopBlocks {
    fn of(kernel: &Kernel) -> GroupLoopBlocks {
        let block = |number: usize| Block::new(kernel.blocks.len() + number);
        GroupLoopBlocks { before: block(0), latch: block(1), back: block(2), done: block(3) }
    }
}

/// Selects the VP1 instructions of a packed kernel.
pub(crate) fn select(request: Request<'_>) -> Result<Selected, Vec<Refusal>> {
    let Request { kernel, locate, trace, poll, .. } = request;
    let signature = crate::signature::signature(kernel, TARGET.name()).map_err(|refusal| vec![refusal])?;
    let refuse = |why: &'static str| {
        vec![Refusal { op: None, span: kernel.span, target: TARGET.name(), reason: Some(Reason::new(why)) }]
    };
    let packing = kernel.packing.as_ref().ok_or_else(|| refuse("the work items are not packed"))?;
    if !packing.items.is_power_of_two() {
        return Err(refuse("the group size is not a power of two"));
    }
    let entry = kernel.entry().ok_or_else(|| refuse("the kernel has no blocks"))?;
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
        windows: Vec::new(),
        value_regs: SecondaryMap::new(),
        aliases: Vec::new(),
        group_number: None,
        around: GroupLoopBlocks::of(kernel),
        refusals: Vec::new(),
        poll,
    };
    lowering.run(signature, entry, &flow)
}

/// Returns the register class that holds values of a type, or `None` if none does.
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
        // Block parameters get their registers before any instruction uses them.
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
        let mut drafts = self.drafts(flow);
        self.block = None;
        let (before, image, around) = self.around_groups(entry, drafts[entry].as_mut());
        let mut blocks = vec![before];
        blocks.extend(kernel.layout.iter().filter_map(|&block| drafts[block].take()));
        blocks.extend(around);
        end_in_latch(&mut blocks, self.around.latch);
        self.refused()?;
        Ok(self.finish(signature, image, blocks, flow))
    }

    // Values ------------------------------------------------------------------------------------------------------------

    /// Returns the register of a value. The definition of the value, which is visited later, writes it.
    pub(super) fn value_reg(&mut self, value: Value) -> Reg {
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

    /// Records that register `at` holds the value of register `vreg`.
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

    /// Returns the register with the contents of a window's `$m`, whose lower half is the address of the buffer.
    pub(super) fn window_start(&mut self, stream: u32) -> Reg {
        Reg::new(self.window(stream).start)
    }

    /// Returns the register with the offset past the end of a window's buffer, to which
    /// out-of-bounds stores are redirected.
    pub(super) fn window_bound(&mut self, stream: u32) -> Reg {
        let at = self.window(stream);
        let bound = at.bound.unwrap_or_else(|| self.out.vreg(Class::R));
        self.windows.iter_mut().filter(|of| of.stream == stream).for_each(|of| of.bound = Some(bound));
        Reg::new(bound)
    }

    fn window(&mut self, stream: u32) -> WindowRegs {
        if let Some(&known) = self.windows.iter().find(|of| of.stream == stream) {
            return known;
        }
        let new = WindowRegs { stream, start: self.out.vreg(Class::R), bound: None };
        self.windows.push(new);
        new
    }

    /// Emits the code that sets the registers of all windows.
    fn define_windows(&mut self) {
        for WindowRegs { stream, start, bound } in std::mem::take(&mut self.windows) {
            let word = self.out.method_register(self.streams.method_register(stream));
            self.define(start, word);
            let Some(bound) = bound else { continue };
            let end = self.alu(Alu::Shr, word, 16);
            let first = self.scalar_table(0x8, Src::Reg(word), Src::Word(0xffff));
            let first = self.out.word(first);
            let size = self.scalar_alu(Alu::Sub, Src::Reg(end), Src::Reg(first));
            let size = self.out.word(size);
            // The margin is large enough that no access at this offset, with any alignment, reaches
            // back into the buffer.
            let behind = self.alu(Alu::Add, size, WINDOW_MARGIN - 1);
            self.define(bound, behind);
        }
    }

    /// Returns `true` if the value has a single use and is defined in the current block.
    pub(super) fn is_for_here(&self, value: Value) -> bool {
        let made = self.kernel.def_inst(value).map(|inst| self.blocks[inst].expand());
        self.uses.is_single(value) && made == Some(self.block)
    }

    /// Extracts word number `word` of a vector, which is `value`, for the current instruction, and
    /// returns its register.
    pub(super) fn word_here(&mut self, value: Value, vector: Value, word: u8) -> Reg {
        if let Some(&(_, reg)) = self.words_here.iter().find(|known| known.0 == value) {
            return reg;
        }
        let vector = self.value_reg(vector);
        let reg = self.word_from(vector, word);
        self.words_here.push((value, reg));
        reg
    }

    /// Returns the register with the number of the current group.
    pub(super) fn group_number(&mut self) -> VReg {
        match self.group_number {
            Some(vreg) => vreg,
            None => *self.group_number.insert(self.out.vreg(Class::R)),
        }
    }

    /// Returns an error if a value of the instruction has a type that no register holds.
    fn checked(&self, inst: Inst) -> Result<(), Option<Reason>> {
        let kernel = self.kernel;
        // Operands with wide lanes are left to the rules that fold them.
        let operands = operands(kernel, inst).filter(|&value| !kernel.ty(value).is_wide());
        for value in operands.chain(kernel.result(inst)) {
            let ty = kernel.ty(value);
            if class_of(ty).is_none() {
                let is_passed = ty.is_wide() && self.is_passed(value);
                return Err(Some(if is_passed { super::NO_WIDE_PARAMETER } else { super::reason_for_value(ty) }));
            }
        }
        Ok(())
    }

    /// Returns `true` if a branch passes the value to a block. Scans all branches, so it is called
    /// only to explain a refusal.
    fn is_passed(&self, value: Value) -> bool {
        let kernel = self.kernel;
        let branches = kernel.layout.iter().filter_map(|&block| kernel.terminator(block));
        let mut calls = branches.flat_map(|branch| kernel.targets(branch));
        calls.any(|call| kernel.call_args(call).contains(&value))
    }

    fn branch(&mut self, c: VReg, bit: u8, not: bool) -> VInst<Vp1> {
        self.out.read(COND, Reg::new(c));
        let opcode = if not { Opcode::BRA_NOT } else { Opcode::BRA };
        self.out.branch(Word::new(opcode).with(SLCT, bit.into()))
    }

    /// Emits the code that computes the registers with two factors.
    fn factor_words(&mut self, reversed: &mut Vec<InstDraft<Vp1>>) {
        for word in std::mem::take(&mut self.factor_words) {
            let (vreg, at) = self.compute_factor_word(&word);
            self.define(vreg, at);
            self.drain(reversed);
        }
    }

    // Code around the groups
    // --------------------------------------------------------------------------------------------

    /// Builds the block before the loop over groups, the data image, and the blocks at the end of a
    /// group. Adds the parameters of `entry`, the first block of a group.
    fn around_groups(
        &mut self,
        entry_block: Block,
        entry: Option<&mut BlockDraft<Vp1>>,
    ) -> (BlockDraft<Vp1>, Vec<u8>, [BlockDraft<Vp1>; 3]) {
        let kernel = self.kernel;
        // Code is selected backwards, so the uniform instructions, which are last in the block
        // before the loop, are selected first.
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
        self.define_windows();
        self.drain(&mut reversed);

        let count = self.out.vreg(Class::R);
        let group = self.group_number;
        let first_args: Vec<VReg> = std::iter::once(self.group_count())
            .chain(group.map(|_| self.first_group()))
            .filter_map(|reg| reg.vreg)
            .collect();
        self.drain(&mut reversed);
        let mut restarts = Vec::new();
        for stream in (0..self.streams.count()).filter(|&stream| self.streams.has_cursor(stream)).collect::<Vec<u32>>()
        {
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
        let empty = |block, end| BlockDraft { block, reversed: Vec::new(), params: Vec::new(), end, loc };
        let back = empty(self.around.back, TerminatorDraft::Jump(EdgeDraft { to: entry_block, args: next_args }));
        let done = empty(self.around.done, TerminatorDraft::Exit);

        let image = match std::mem::take(&mut self.constants).load(&mut self.out) {
            Ok(image) => image,
            Err(reason) => {
                self.refuse_at(kernel.span, reason);
                Vec::new()
            }
        };
        self.drain(&mut reversed);
        let end = TerminatorDraft::Jump(EdgeDraft { to: entry_block, args: first_args });
        let before = BlockDraft { block: self.around.before, reversed, params: Vec::new(), end, loc };
        (before, image, [latch, back, done])
    }

    /// Returns the register with the number of groups in the tile.
    fn group_count(&mut self) -> Reg {
        let items = self.out.method_register(M_TILE_ITEMS);
        if self.items == 1 {
            return items;
        }
        let rounded = self.alu(Alu::Add, items, self.items - 1);
        self.alu(Alu::Shr, rounded, self.items.trailing_zeros())
    }

    /// Returns the register with the number of the first group in the tile.
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
        self.out.push(Word::new(Opcode::MOV_A_R).with(DST, self.streams.region(stream).into()));
    }

    /// Builds the latch, which decrements the number of remaining groups. Also returns the block
    /// arguments that the back edge passes to the next group.
    fn latch(&mut self, count: VReg, group: Option<VReg>, loc: Loc) -> (BlockDraft<Vp1>, Vec<VReg>) {
        let GroupLoopBlocks { latch, back, done, .. } = self.around;
        let mut next = Vec::new();
        if let Some(group) = group {
            next.extend(self.alu(Alu::Add, Reg::new(group), 1).vreg);
        }
        self.out.read(SRC1, Reg::new(count));
        let left = self.out.define(DST, Class::R);
        let c = self.out.define(CDST, Class::C);
        self.out.push(Word::new(Opcode::SUB_RI).with(IMM, 1));
        next.insert(0, left);
        let way = |to| EdgeDraft { to, args: Vec::new() };
        let end = match Self::zero_flag(c) {
            Flag::Bit { c, bit, .. } => {
                TerminatorDraft::Branch { inst: self.branch(c, bit, true), then: way(back), otherwise: way(done) }
            }
            Flag::Known(_) => TerminatorDraft::Exit,
        };
        let mut reversed = Vec::new();
        self.drain(&mut reversed);
        (BlockDraft { block: latch, reversed, params: Vec::new(), end, loc }, next)
    }

    /// Loads a scalar parameter into the register that represents it.
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
                let reason = if ty.is_mask() { reasons::MASK_PARAMETER } else { super::reason_for_value(ty) };
                let why = format!("parameter `%{}`: {reason}", param.name).into();
                self.refuse_at(param.span, Reason { why, ..reason });
                return;
            }
        };
        self.define(vreg, reg);
    }
}

/// Merges the latch into its predecessor if there is only one, so that a kernel of one block
/// becomes a loop of one block.
fn end_in_latch(blocks: &mut Vec<BlockDraft<Vp1>>, latch: Block) {
    let goes = |draft: &BlockDraft<Vp1>| matches!(&draft.end, TerminatorDraft::Jump(way) if way.to == latch);
    let mut ends = (0..).zip(blocks.iter()).filter(|(_, draft)| goes(draft)).map(|(index, _)| index);
    let (Some(end), None) = (ends.next(), ends.next()) else { return };
    let Some(latch) = blocks.iter().position(|draft| draft.block == latch) else { return };
    let mut latch = blocks.remove(latch);
    if let Some(draft) = blocks.get_mut::<usize>(end) {
        latch.reversed.append(&mut draft.reversed);
        draft.reversed = latch.reversed;
        draft.end = latch.end;
    }
}

// Assembly
// ----------------------------------------------------------------------------------------------------------------

impl Lowering<'_> {
    /// Returns the register that holds the value of `vreg`, following all aliases.
    fn follow(&self, mut vreg: VReg) -> VReg {
        while let Some(&Some(at)) = self.aliases.get(vreg.0 as usize) {
            vreg = at;
        }
        vreg
    }

    fn finish(mut self, signature: Signature, image: Vec<u8>, blocks: Vec<BlockDraft<Vp1>>, flow: &Flow) -> Selected {
        let streams = std::mem::take(&mut self.streams.of_tiles);
        let tiles = Tiles { items: self.items, group_branch: None, image, streams };
        let mut code = VCode::new(signature, Extra { tiles, group_latch: None });
        code.vregs = std::mem::take(&mut self.out.vregs);
        code.operands.reserve(self.out.operands.len());
        let places = self.assemble(&mut code, blocks, flow);
        code.extra.group_latch = Some(places[self.around.back]);
        Selected { code: Box::new(code), fired: self.fired }
    }
}

impl<'k> Selector<'k> for Lowering<'k> {
    type Machine = Vp1;

    const TARGET: &'static str = TARGET.name();

    fn kernel(&self) -> &'k Kernel {
        self.kernel
    }

    fn locate(&self, span: Span) -> Loc {
        (self.locate)(span)
    }

    fn set_loc(&mut self, loc: Loc) {
        self.out.loc = loc;
    }

    fn emitted(&mut self) -> &mut Vec<InstDraft<Vp1>> {
        &mut self.out.insts
    }

    fn refusals(&mut self) -> &mut Vec<Refusal> {
        &mut self.refusals
    }

    fn poll(&mut self) -> &mut Poll<'k> {
        &mut self.poll
    }

    fn begin_inst(&mut self, inst: Inst) {
        self.begin(inst);
    }

    fn instruction(&mut self, inst: Inst) {
        if self.block.is_some() && self.uniform.contains(inst) {
            return;
        }
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
            (Err(reason), _) => {
                let wide = reason.is_none().then(|| self.refusal_of_narrowing(inst)).flatten();
                match wide {
                    Some((blamed, reason)) => self.refuse(blamed, Some(reason)),
                    None => self.refuse(inst, reason),
                }
            }
        }
    }

    fn condition(&mut self, cond: Value) -> Condition<Vp1> {
        match context::flag(self, cond) {
            Flag::Known(taken) => Condition::Constant(taken),
            Flag::Bit { c, bit, not } => Condition::Branch(self.branch(c, bit, not)),
        }
    }

    fn args(&mut self, call: &BlockCall) -> Vec<VReg> {
        let kernel = self.kernel;
        let params = kernel.block_params(call.block).iter();
        let wanted = params.zip(kernel.call_args(call)).filter(|(param, _)| self.needed.contains(**param));
        let args: Vec<Value> = wanted.map(|(_, &arg)| arg).collect();
        args.into_iter().filter_map(|arg| self.value_reg(arg).vreg).collect()
    }

    fn params(&mut self, block: Block) -> Vec<VReg> {
        let params = self.kernel.block_params(block).iter().filter(|&&param| self.needed.contains(param));
        params.filter_map(|&param| self.value_regs[param]).collect()
    }

    fn reason(&self, inst: Inst) -> Option<Reason> {
        let data = &self.kernel.insts[inst];
        super::reason_for_type(data.op, data.ty)
    }

    /// Returns a jump to the latch, because the work items of a group end together.
    fn exit_terminator(&mut self) -> TerminatorDraft<Vp1> {
        TerminatorDraft::Jump(EdgeDraft { to: self.around.latch, args: Vec::new() })
    }

    fn begin_block(&mut self, block: Block) {
        self.block = Some(block);
        self.words_here.clear();
    }

    fn refused_args(&mut self, inst: Inst) {
        let kernel = self.kernel;
        let operands = operands(kernel, inst);
        for arg in operands.filter(|&arg| kernel.def_inst(arg).is_some() && !kernel.ty(arg).is_wide()) {
            self.value_reg(arg);
        }
    }

    fn resolve_reg(&mut self, reg: VReg) -> VReg {
        self.follow(reg)
    }

    fn resolve(&mut self, code: &mut VCode<Vp1>, mut inst: VInst<Vp1>) -> VInst<Vp1> {
        let start = code.operands.len() as u32;
        let range = inst.operands.start as usize..inst.operands.end as usize;
        for &operand in self.out.operands.get(range).unwrap_or(&[]) {
            code.operands.push(match operand.access {
                Access::Use => Operand { reg: self.follow(operand.reg), ..operand },
                Access::Def => operand,
                Access::UpdateInPlace(old) => Operand { access: Access::UpdateInPlace(self.follow(old)), ..operand },
            });
        }
        inst.operands = start..code.operands.len() as u32;
        inst
    }
}
