//! Instruction selection for HALU: from the IR to instructions on virtual registers.

mod collective;
pub(crate) mod context;
pub(crate) mod intrinsic;
mod memory;
pub(crate) mod opcode_of_type;
mod shared;
mod sums;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_abi::{self as abi, Poll};
use halfbyte_ir::flow::Flow;
use halfbyte_ir::{AllKnown, Attr, Block, BlockCall, Inst, Kernel, Reason, Span, Type, Value};
use halfbyte_isa::halu::TARGET;
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst as Word, Opcode};
use halfbyte_isa::object::Loc;

use super::builder::{Builder, choice};
use super::combine::combine;
use super::hoist::hoist;
use super::in_place::write_in_place;
use super::machine::{Halu, HaluExtra, RegClass};
use super::operands::{Index, Pred, Reg, SourceLocation, Src};
use super::predicate::predicate;
use crate::driver::{BlockDraft, Condition, InstDraft, Selector};
use crate::trace::Trace;
use crate::vcode::{Access, Machine, Operand, VCode, VInst, VReg};
use crate::{Refusal, Request, Selected, reasons};
use sums::SumUses;

pub(super) struct Lowering<'k> {
    pub kernel: &'k Kernel,
    pub known: AllKnown<'k>,
    pub out: Builder,
    pub fired: Vec<u32>,
    pub trace: Option<&'k mut Trace>,
    /// Number of operand folds in progress that are nested in each other.
    pub depth: u32,
    locate: &'k dyn Fn(Span) -> Loc,
    /// Offset of each kernel parameter in the constant bank.
    offsets: Vec<u16>,
    /// Start of each array in shared or scratch memory.
    starts: Vec<u64>,
    extra: HaluExtra,
    /// Register of each value, created at the first visited use. The definition is visited later.
    value_regs: SecondaryMap<Value, Option<VReg>>,
    /// For each virtual register of a value, the register of a rule's result that holds the same value.
    aliases: Vec<Option<Reg>>,
    /// `true` for each register that an instruction must write, because a block argument or a block
    /// parameter names it. Such a register cannot be an alias.
    must_be_written: Vec<bool>,
    /// Byte offsets to compute from each index value: the bytes per step, and the register of the product.
    scaled: SecondaryMap<Value, Vec<(u32, VReg)>>,
    /// Parameters whose addresses are in uniform register pairs, in the order of the pairs.
    uniform: Vec<u32>,
    sum_uses: SumUses,
    /// Load or store that replaces several source accesses, until its instruction is emitted.
    wide: PackedOption<Inst>,
    refusals: Vec<Refusal>,
    poll: Poll<'k>,
}

/// Position in the emitted code.
#[derive(Clone, Copy)]
struct CodePosition {
    vregs: u32,
    operands: usize,
}

/// Buffers of the selector that are reused from one kernel to the next.
#[derive(Default)]
pub(crate) struct Scratch {
    operands: Vec<Operand<Halu>>,
    insts: Vec<InstDraft<Halu>>,
    value_regs: SecondaryMap<Value, Option<VReg>>,
    aliases: Vec<Option<Reg>>,
    own: Vec<bool>,
}

impl Scratch {
    fn take(&mut self) -> Scratch {
        let mut empty = std::mem::take(self);
        empty.operands.clear();
        empty.insts.clear();
        empty.value_regs.clear();
        empty.aliases.clear();
        empty.own.clear();
        empty
    }
}

/// Selects the HALU instructions of a kernel.
pub(crate) fn select(request: Request<'_>, scratch: &mut Scratch) -> Result<Selected, Vec<Refusal>> {
    let Request { kernel, locate, trace, poll, .. } = request;
    let signature = crate::signature::signature(kernel, TARGET.name()).map_err(|refusal| vec![refusal])?;
    let ops = kernel.insts.len();
    let (starts, extra) = memory::arrays(kernel);
    let Scratch { operands, insts, mut value_regs, aliases, own } = scratch.take();
    value_regs.resize(kernel.values.len());
    let lowering = Lowering {
        kernel,
        known: AllKnown::new(kernel),
        out: Builder::new(Vec::with_capacity(2 * ops), operands, insts),
        fired: Vec::with_capacity(2 * ops),
        trace,
        depth: 0,
        locate,
        offsets: signature.offsets().to_vec(),
        starts,
        extra,
        value_regs,
        aliases,
        must_be_written: own,
        scaled: SecondaryMap::new(),
        uniform: Vec::new(),
        sum_uses: SumUses::default(),
        wide: None.into(),
        refusals: Vec::new(),
        poll,
    };
    let (selected, left) = lowering.run(signature)?;
    *scratch = left;
    Ok(selected)
}

/// Returns the register class that holds values of a type, or `None` if none does.
pub(super) fn class_of(ty: Type) -> Option<RegClass> {
    match ty {
        Type::I1 => Some(RegClass::Pred),
        Type::I1X16 => None,
        _ => match ty.bits() {
            0..=32 => Some(RegClass::Word),
            64 => Some(RegClass::Pair),
            128 => Some(RegClass::Quad),
            _ => None,
        },
    }
}

impl Lowering<'_> {
    fn run(mut self, signature: abi::Signature) -> Result<(Selected, Scratch), Vec<Refusal>> {
        let kernel = self.kernel;
        let flow = Flow::new(kernel);
        // Block parameters get their registers before any instruction uses them.
        for block in flow.reverse_postorder() {
            for &param in kernel.block_params(block) {
                self.written_reg(param);
            }
        }
        let mut drafts = self.drafts(&flow);
        if let Some(entry) = kernel.entry().and_then(|entry| drafts[entry].as_mut()) {
            self.prologue(entry);
        }
        self.refused()?;
        let drafts = kernel.layout.iter().filter_map(|&block| drafts[block].take()).collect();
        Ok(self.finish(signature, drafts, &flow))
    }

    // Values ------------------------------------------------------------------------------------------------------------

    fn class(&self, vreg: VReg) -> RegClass {
        self.out.vregs.get(vreg.0 as usize).copied().unwrap_or(RegClass::Word)
    }

    /// Returns the register of a value. The definition of the value, which is visited later, writes it.
    pub(super) fn value_reg(&mut self, value: Value) -> Reg {
        if let Some(vreg) = self.value_regs[value] {
            return Reg::new(vreg);
        }
        let class = class_of(self.kernel.ty(value)).unwrap_or(RegClass::Word);
        let vreg = self.out.vreg(class);
        self.value_regs[value] = Some(vreg);
        Reg::new(vreg)
    }

    /// Returns the register of a value, and marks that an instruction must write this register.
    fn written_reg(&mut self, value: Value) -> VReg {
        let vreg = self.value_reg(value).vreg.unwrap_or(VReg(0));
        let index = vreg.0 as usize;
        if self.must_be_written.len() <= index {
            self.must_be_written.resize(index + 1, false);
        }
        self.must_be_written[index] = true;
        vreg
    }

    /// Returns the current position in the emitted code.
    fn code_position(&self) -> CodePosition {
        CodePosition { vregs: self.out.vregs.len() as u32, operands: self.out.operands.len() }
    }

    /// Records that the code emitted since position `since` leaves the value of `vreg` in `at`.
    fn define(&mut self, vreg: VReg, at: Reg, since: CodePosition) {
        if self.must_be_written.get(vreg.0 as usize) == Some(&true) {
            let class = self.class(vreg);
            let whole = |made: &VReg| at.part == 0 && made.0 >= since.vregs && self.class(*made) == class;
            let made = at.vreg.filter(whole);
            let operands = self.out.operands.get_mut(since.operands..).unwrap_or(&mut []);
            let writes = |operand: &Operand<Halu>| Some(operand.reg) == made && operand.access != Access::Use;
            // If the code since `since` defines `at`, it is changed to define `vreg` instead.
            // Otherwise `at` belongs to another value and is copied to `vreg`.
            if operands.iter().any(writes) {
                operands.iter_mut().filter(|operand| Some(operand.reg) == made).for_each(|operand| operand.reg = vreg);
            } else {
                self.copy(vreg, at);
            }
            return;
        }
        let index = vreg.0 as usize;
        if self.aliases.len() <= index {
            self.aliases.resize(index + 1, None);
        }
        self.aliases[index] = Some(at);
    }

    /// Emits a copy from register `from` to register `vreg`.
    fn copy(&mut self, vreg: VReg, from: Reg) {
        let whole = Reg::new(vreg);
        let operand =
            |field, reg: Reg, access| Operand { place: field, reg: reg.vreg.unwrap_or(vreg), part: reg.part, access };
        match self.class(vreg) {
            RegClass::Pred => {
                let mut inst = Word::new(Opcode::PLOP3).with(LUT, 0xf0);
                self.out.read_pred(&mut inst, PP, PP_NOT, Pred { vreg: from.vreg, not: false });
                self.out.operands.push(operand(PU, whole, Access::Def));
                self.out.push(inst);
            }
            class => {
                let mut so_far = None;
                for part in 0..class.words() as u8 {
                    self.out.read(R32, from.part(part));
                    let last = u32::from(part) + 1 == class.words();
                    let next = if last { vreg } else { self.out.vreg(class) };
                    let access = so_far.map_or(Access::Def, Access::UpdateInPlace);
                    self.out.operands.push(operand(RD, Reg { vreg: Some(next), part }, access));
                    self.out.push(Word::new(Opcode::MOV_R));
                    so_far = Some(next);
                }
            }
        }
    }

    pub(super) fn param_offset(&self, number: u32) -> Option<u16> {
        self.offsets.get(number as usize).copied()
    }

    /// Returns a register with the byte offset `index * scale` modulo 2^32. The offset is computed
    /// once, where the index is defined.
    fn scaled(&mut self, index: Index, scale: u32) -> Reg {
        let Index { value, factor } = index;
        let scale = scale.wrapping_mul(factor);
        match scale {
            0 => return Reg::ZERO,
            1 => return self.value_reg(value),
            _ => {}
        }
        if let Some(&(_, vreg)) = self.scaled[value].iter().find(|known| known.0 == scale) {
            return Reg::new(vreg);
        }
        let vreg = self.out.vreg(RegClass::Word);
        self.scaled[value].push((scale, vreg));
        Reg::new(vreg)
    }

    /// Emits the byte offsets that were requested for an index value, directly after its definition.
    fn scale(&mut self, value: Value) {
        if self.scaled[value].is_empty() {
            return;
        }
        for (scale, vreg) in std::mem::take(&mut self.scaled[value]) {
            let index = self.value_reg(value);
            let here = self.code_position();
            let result = self.product(index, scale);
            self.define(vreg, result, here);
        }
    }

    /// Multiplies a register by a constant other than 0 and 1, with one or two LEA if possible.
    fn product(&mut self, reg: Reg, factor: u32) -> Reg {
        let twice = factor.trailing_zeros();
        let odd = factor >> twice;
        let mut reg = reg;
        if odd != 1 {
            if !(odd - 1).is_power_of_two() {
                self.out.read(RA, reg);
                return self.out.word(Word::new(Opcode::IMAD_RIR).with(IMM32, factor.into()));
            }
            self.out.read(RA, reg);
            self.out.read(R32, reg);
            reg = self.out.word(Word::new(Opcode::LEA).with(SHIFT, (odd - 1).trailing_zeros().into()));
        }
        if twice > 0 {
            self.out.read(RA, reg);
            reg = self.out.word(Word::new(Opcode::LEA).with(SHIFT, twice.into()));
        }
        reg
    }

    /// Returns an error if a value of the instruction has a type that no register holds.
    fn checked(&self, inst: Inst) -> Result<(), Option<Reason>> {
        let kernel = self.kernel;
        let values = kernel.args(inst).iter().copied().chain(kernel.result(inst));
        for ty in values.map(|value| kernel.ty(value)) {
            if class_of(ty).is_none() {
                return Err(Some(reasons::no_register(ty)));
            }
        }
        Ok(())
    }

    /// Emits the start of the entry block, which loads the addresses of buffers and the used scalar parameters.
    fn prologue(&mut self, entry: &mut BlockDraft<Halu>) {
        let kernel = self.kernel;
        self.out.loc = (self.locate)(kernel.span);
        let mut after = Vec::new();
        for (number, param) in kernel.params.iter().enumerate() {
            // Byte offsets that are computed from parameters come after the loads of all parameters.
            let before = std::mem::take(&mut self.out.insts);
            self.scale(param.value);
            after.append(&mut self.out.insts);
            self.out.insts = before;
            let Some(vreg) = self.value_regs[param.value] else { continue };
            let here = self.code_position();
            match self.parameter(number as u32, self.kernel.ty(param.value)) {
                Ok(reg) => self.define(vreg, reg, here),
                Err(reason) => self.refuse_at(param.span, reason),
            }
        }
        for (number, array) in kernel.arrays.iter().enumerate() {
            let Some(vreg) = self.value_regs[array.value] else { continue };
            let here = self.code_position();
            let reg = self.array_address(number);
            self.define(vreg, reg, here);
        }
        for (pair, &number) in self.uniform.clone().iter().enumerate() {
            let offset = self.param_offset(number).unwrap_or(0);
            let inst = Word::new(Opcode::ULDC_64).with(URD, 2 * pair as u64).with(CMEM_OFFSET, offset.into());
            self.out.push(inst);
        }
        self.out.insts.append(&mut after);
        self.drain(&mut entry.reversed);
    }

    /// Loads a kernel parameter from the constant bank into a register.
    fn parameter(&mut self, number: u32, ty: Type) -> Result<Reg, Reason> {
        let offset = self.param_offset(number).unwrap_or(0);
        let word = |k: u16| Src::plain(SourceLocation::Const(offset + 4 * k));
        Ok(match (ty, ty.bits()) {
            (Type::I1, _) => {
                let byte = self.out.word(Word::new(Opcode::LDC_U8).with(CMEM_OFFSET, offset.into()));
                self.out.read(RA, byte);
                let bit = self.out.word(Word::new(Opcode::LOP3_RIR).with(IMM32, 1).with(LUT, 0xc0));
                self.out.read(RA, bit);
                let set = Word::new(Opcode::ISETP_RR).with(ICMP, choice!(M_ICMP, "NE"));
                Reg { vreg: self.out.pred(set, PU).vreg, part: 0 }
            }
            _ if ty.is_mask() => return Err(reasons::MASK_PARAMETER),
            (_, 8) => self.out.word(Word::new(Opcode::LDC_U8).with(CMEM_OFFSET, offset.into())),
            (_, 16) => self.out.word(Word::new(Opcode::LDC_U16).with(CMEM_OFFSET, offset.into())),
            (_, 32) => self.out.reg(word(0)),
            (_, 64) => self.out.wide(RegClass::Pair, &[word(0), word(1)]),
            (_, 128) => self.out.wide(RegClass::Quad, &[word(0), word(1), word(2), word(3)]),
            _ => return Err(reasons::WIDER_THAN_REGISTERS),
        })
    }

    // Assembly
    // ----------------------------------------------------------------------------------------------------------

    /// Returns the register that holds the value of `reg`, following all aliases.
    fn follow(&self, mut reg: Reg) -> Reg {
        while let Some(vreg) = reg.vreg
            && let Some(&Some(at)) = self.aliases.get(vreg.0 as usize)
        {
            reg = at.part(reg.part);
        }
        reg
    }

    fn finish(mut self, signature: abi::Signature, drafts: Vec<BlockDraft<Halu>>, flow: &Flow) -> (Selected, Scratch) {
        let mut code = VCode::new(signature, self.extra);
        code.vregs = std::mem::take(&mut self.out.vregs);
        code.operands.reserve(self.out.operands.len());
        self.assemble(&mut code, drafts, flow);
        combine(&mut code, self.poll);
        hoist(&mut code);
        predicate(&mut code);
        if self.out.joins_words {
            write_in_place(&mut code);
        }
        let Builder { operands, insts, .. } = self.out;
        let Lowering { value_regs, aliases, must_be_written: own, .. } = self;
        (Selected { code: Box::new(code), fired: self.fired }, Scratch { operands, insts, value_regs, aliases, own })
    }
}

impl<'k> Selector<'k> for Lowering<'k> {
    type Machine = Halu;

    const TARGET: &'static str = TARGET.name();

    const HAS_ARRAYS: bool = true;

    fn kernel(&self) -> &'k Kernel {
        self.kernel
    }

    fn locate(&self, span: Span) -> Loc {
        (self.locate)(span)
    }

    fn set_loc(&mut self, loc: Loc) {
        self.out.loc = loc;
    }

    fn emitted(&mut self) -> &mut Vec<InstDraft<Halu>> {
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
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        self.out.loc = (self.locate)(data.span);
        let result = data.result.expand();
        if let Some(value) = result {
            self.scale(value);
        }
        // The byte offsets computed from the result were requested by uses, which are visited
        // before the definition. They are emitted first and then moved after the definition.
        let after = self.out.insts.len();
        let wanted = result.and_then(|value| self.value_regs[value]);
        if wanted.is_some() || !data.op.is_pure() {
            let here = self.code_position();
            self.begin(inst);
            let is_wide = !data.op.is_pure() && kernel.parts(inst).len() > 0;
            self.wide = is_wide.then_some(inst).into();
            let reg = match data.attr {
                Attr::Intrinsic(text) => intrinsic::lower(self, inst, &kernel.intrinsics[text]),
                _ => self.checked(inst).and_then(|()| context::lower(self, inst).ok_or(None)),
            };
            match (reg, wanted) {
                (Ok(reg), Some(vreg)) => self.define(vreg, reg, here),
                (Ok(_), None) => {}
                (Err(reason), _) => self.refuse(inst, reason),
            }
        }
        self.out.insts.rotate_left(after);
    }

    fn condition(&mut self, cond: Value) -> Condition<Halu> {
        match context::pred(self, cond) {
            Pred { vreg: None, not } => Condition::Constant(!not),
            Pred { vreg: Some(reg), not } => {
                self.out.read(GUARD, Reg::new(reg));
                Condition::Branch(self.out.branch(Halu::jump().with(GUARD_NOT, not.into())))
            }
        }
    }

    fn args(&mut self, call: &BlockCall) -> Vec<VReg> {
        let args = self.kernel.call_args(call);
        args.iter().map(|&arg| self.written_reg(arg)).collect()
    }

    fn params(&mut self, block: Block) -> Vec<VReg> {
        self.kernel.block_params(block).iter().filter_map(|&param| self.value_regs[param]).collect()
    }

    fn reason(&self, inst: Inst) -> Option<Reason> {
        let data = &self.kernel.insts[inst];
        super::reason(data.op, data.ty, &data.attr)
    }

    fn end_block(&mut self, block: Block) {
        for &param in self.kernel.block_params(block) {
            self.scale(param);
        }
    }

    /// Returns the register unchanged, because block parameters and arguments have no aliases.
    fn resolve_reg(&mut self, reg: VReg) -> VReg {
        reg
    }

    fn resolve(&mut self, code: &mut VCode<Halu>, mut inst: VInst<Halu>) -> VInst<Halu> {
        let start = code.operands.len() as u32;
        let range = inst.operands.start as usize..inst.operands.end as usize;
        for &operand in self.out.operands.get(range).unwrap_or(&[]) {
            match operand.access {
                Access::Use => {
                    let at = self.follow(Reg { vreg: Some(operand.reg), part: operand.part });
                    // RZ and PT are not virtual registers, and their field is already set.
                    if let Some(reg) = at.vreg {
                        code.operands.push(Operand { reg, part: at.part, ..operand });
                    }
                }
                _ => code.operands.push(operand),
            }
        }
        inst.operands = start..code.operands.len() as u32;
        inst
    }

    fn constant_branch(&self, branch: &VInst<Halu>) -> Option<bool> {
        let guard = self.out.operands.get(branch.operands.start as usize)?;
        let is_true = self.follow(Reg::new(guard.reg)).vreg.is_none();
        is_true.then(|| branch.inst.get(GUARD_NOT) == 0)
    }
}
