//! Instruction selection for PTX: from the IR to PTX on virtual registers. Signs, constants and
//! halves of words are not folded into operands, because NVIDIA's assembler does this.

mod collective;
pub(crate) mod context;
pub(crate) mod intrinsic;
pub(crate) mod memory;
mod scratch;

use std::collections::BTreeMap;

use arrayvec::ArrayVec;
use cranelift_entity::SecondaryMap;
use halfbyte_abi::{self as abi, Poll, Sm};
use halfbyte_ir::flow::Flow;
use halfbyte_ir::{AllKnown, Attr, Block, BlockCall, Inst, Kernel, Op, Reason, Span, Type, Value, ValueDef};
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx;
use halfbyte_isa::ptx::Guard;
use halfbyte_isa::ptx::NAME;
use halfbyte_isa::ptx::row::InstClass;

use super::builder::Builder;
use super::machine::{PtxArray, PtxExtra};
use super::operands::{Pred, Reg};
use crate::driver::{BlockDraft, Condition, InstDraft, Selector};
use crate::simt::register_bits;
use crate::trace::Trace;
use crate::vcode::{Machine, VCode, VInst, VReg};
use crate::{Ptx, Refusal, Request, Selected, reasons};
use memory::Addresses;

pub(super) struct Lowering<'k> {
    pub kernel: &'k Kernel,
    pub known: AllKnown<'k>,
    pub out: Builder,
    pub fired: Vec<u32>,
    pub trace: Option<&'k mut Trace>,
    pub sm: Sm,
    /// Number of operand folds in progress that are nested in each other.
    pub depth: u32,
    /// Block of the kernel whose instructions are being selected.
    pub block_of_kernel: Option<Block>,
    pub addresses: Addresses,
    /// `true` if the code reads the x index as the index over all axes, so that launches must be one-dimensional.
    pub along_x: bool,
    /// Group size along x, y and z, if the kernel is compiled for exactly this size.
    pub block: Option<[u32; 3]>,
    locate: &'k dyn Fn(Span) -> Loc,
    signature: abi::Signature,
    /// Registers of each value, created at the first visited use. The definition is visited later.
    value_regs: SecondaryMap<Value, Option<Reg>>,
    /// Register of each value's negated half-words, if a use requested them.
    opposites: SecondaryMap<Value, Option<ptx::Reg>>,
    /// For each register of a value, the register of a rule's result that holds the same value.
    aliases: Vec<Option<ptx::Reg>>,
    /// Final register of each virtual register that is used. Final registers are numbered in code order.
    names: Vec<Option<ptx::Reg>>,
    /// Type of each final register.
    types: Vec<ptx::types::Type>,
    refusals: Vec<Refusal>,
    poll: Poll<'k>,
}

/// Returns the number and the type of the registers that hold a value of type `ty`, or `None` if no registers can.
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

/// Returns the PTX declaration of an array of the kernel.
fn declared(array: &halfbyte_ir::Array) -> PtxArray {
    let space = match array.space {
        halfbyte_ir::Space::Shared => ptx::types::Space::Shared,
        halfbyte_ir::Space::Scratch => ptx::types::Space::Local,
    };
    let bytes = array.count.map(|_| array.bytes() as u32);
    PtxArray { name: array.name.clone(), space, bytes, align: array.align }
}

/// Selects the PTX instructions of a kernel for the SM version of the target.
pub(crate) fn select(request: Request<'_>) -> Result<Selected, Vec<Refusal>> {
    let Request { kernel, target, block, locate, trace, poll } = request;
    let sm = target.sm().unwrap_or(Sm::DEFAULT);
    let signature = crate::signature::signature(kernel, NAME).map_err(|refusal| vec![refusal])?;
    let ops = kernel.insts.len();
    let lowering = Lowering {
        kernel,
        known: AllKnown::new(kernel),
        out: Builder::with_capacity(ops),
        fired: Vec::with_capacity(2 * ops),
        trace,
        sm,
        depth: 0,
        block_of_kernel: None,
        addresses: Addresses::default(),
        along_x: false,
        block,
        locate,
        signature,
        value_regs: SecondaryMap::with_capacity(kernel.values.len()),
        opposites: SecondaryMap::new(),
        aliases: Vec::with_capacity(2 * ops),
        names: Vec::new(),
        types: Vec::new(),
        refusals: Vec::new(),
        poll,
    };
    lowering.run()
}

impl Lowering<'_> {
    fn run(mut self) -> Result<Selected, Vec<Refusal>> {
        let kernel = self.kernel;
        let flow = Flow::new(kernel);
        let mut drafts = self.drafts(&flow);
        if let Some(entry) = kernel.entry().and_then(|entry| drafts[entry].as_mut()) {
            self.prologue(entry, &flow);
        }
        self.refused()?;
        let drafts = kernel.layout.iter().filter_map(|&block| drafts[block].take()).collect();
        Ok(self.finish(drafts, &flow))
    }

    // Values ------------------------------------------------------------------------------------------------------------

    /// Returns the registers of a value. The definition of the value, which is visited later, writes them.
    pub(super) fn value_reg(&mut self, value: Value) -> Reg {
        if let Some(reg) = self.value_regs[value] {
            return reg;
        }
        // If the entry block already loads many constants, each using block loads the constant again.
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

    /// Returns registers with the words of a constant.
    pub(super) fn constant_words(&mut self, inst: Inst) -> Reg {
        let bits = register_bits(self.kernel, inst).unwrap_or_default();
        let count = self.kernel.insts[inst].ty.bits().div_ceil(32);
        let word = |k: u32| (bits[(k / 2) as usize % 8] >> (32 * (k % 2))) as u32;
        let words: ArrayVec<ptx::Reg, { Reg::MOST }> =
            (0..count).take(Reg::MOST).map(|k| self.out.constant_reg(word(k))).collect();
        Reg::of_words(&words)
    }

    /// Records that register `at` holds the value of register `reg`.
    pub(super) fn define(&mut self, reg: ptx::Reg, at: ptx::Reg) {
        let index = reg.0 as usize;
        if self.aliases.len() <= index {
            self.aliases.resize(index + 1, None);
        }
        // If the definition writes `reg` itself, there is no alias.
        self.aliases[index] = (reg != at).then_some(at);
    }

    fn define_value(&mut self, value: Value, wanted: Reg, at: Reg) {
        let (count, _) = registers_of(self.kernel.ty(value)).unwrap_or((1, ptx::types::Type::B32));
        for k in 0..count as u8 {
            self.define(wanted.word(k), at.word(k));
        }
    }

    /// Returns the registers of all words of a value, lowest word first.
    fn words(&mut self, value: Value) -> Vec<ptx::Reg> {
        let reg = self.value_reg(value);
        let (count, _) = registers_of(self.kernel.ty(value)).unwrap_or((1, ptx::types::Type::B32));
        (0..count as u8).map(|k| reg.word(k)).collect()
    }

    /// Returns the register of a value's negated half-words, which are computed where the value is defined.
    pub(super) fn opposite_of(&mut self, value: Value) -> Reg {
        let reg = self.opposites[value].unwrap_or_else(|| self.out.reg(ptx::types::Type::B32));
        self.opposites[value] = Some(reg);
        Reg::new(reg)
    }

    /// Emits the addresses and the negation that uses requested for a value, directly after its definition.
    fn derived(&mut self, value: Value) {
        self.addresses_of(value);
        if let Some(wanted) = self.opposites.get_mut(value).and_then(Option::take) {
            let reg = context::opposite(self, value);
            self.define(wanted, reg.word(0));
        }
    }

    /// Records the load or store that an instruction performs, if it replaces several source
    /// accesses. Such an access is aligned to its size, so it is one instruction.
    fn mark_access(&mut self, inst: Inst, since: usize) {
        if self.kernel.parts(inst).len() == 0 {
            return;
        }
        let made = self.out.insts.iter_mut().skip(since);
        made.filter(|made| made.inst.inst.row().class == InstClass::Memory).for_each(|made| made.access = inst.into());
    }

    /// Returns an error if a value of the instruction has a type that no register holds.
    fn checked(&self, inst: Inst) -> Result<(), Option<Reason>> {
        let kernel = self.kernel;
        let values = kernel.args(inst).iter().copied().chain(kernel.result(inst));
        for ty in values.map(|value| kernel.ty(value)) {
            if registers_of(ty).is_none() {
                return Err(Some(reasons::no_register(ty)));
            }
        }
        Ok(())
    }

    /// Emits the start of the entry block: loads of constants and parameters, and values that
    /// depend only on parameters.
    fn prologue(&mut self, entry: &mut BlockDraft<Ptx>, flow: &Flow<Block>) {
        let kernel = self.kernel;
        self.out.loc = (self.locate)(kernel.span);
        for value in kernel.params.iter().map(|param| param.value).chain(kernel.arrays.iter().map(|array| array.value))
        {
            self.derived(value);
        }
        let after = std::mem::take(&mut self.out.insts);
        for (number, param) in (0..).zip(&kernel.params) {
            let Some(wanted) = self.value_regs[param.value] else { continue };
            match self.parameter(number, kernel.ty(param.value)) {
                Ok(reg) => self.define_value(param.value, wanted, reg),
                Err(reason) => self.refuse_at(param.span, reason),
            }
        }
        for (number, array) in kernel.arrays.iter().enumerate() {
            if let Some(wanted) = self.value_regs[array.value] {
                let reg = self.generic(number);
                self.define_value(array.value, wanted, reg);
            }
        }
        self.bases();
        self.clear_scratch(flow);
        let here = std::mem::take(&mut self.out.block_constants);
        self.numbers(here);
        let numbers = std::mem::take(&mut self.out.numbers);
        self.numbers(numbers);
        self.out.insts.extend(after);
        self.drain(&mut entry.reversed);
    }

    /// Emits the loads of constants into their registers, before the instructions emitted so far.
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

    // Assembly
    // ----------------------------------------------------------------------------------------------------------

    /// Returns the register that holds the value of `reg`, following all aliases.
    fn follow(&self, mut reg: ptx::Reg) -> ptx::Reg {
        while let Some(&Some(at)) = self.aliases.get(reg.0 as usize) {
            reg = at;
        }
        reg
    }

    fn finish(mut self, drafts: Vec<BlockDraft<Ptx>>, flow: &Flow) -> Selected {
        let extra = PtxExtra {
            sm: self.sm,
            max_items: self.addresses.max_items,
            along_x: self.along_x,
            block: self.block,
            types: Vec::new(),
            arrays: self.kernel.arrays.iter().map(declared).collect(),
        };
        let mut code = VCode::new(self.signature.clone(), extra);
        self.names = vec![None; self.out.types.len()];
        self.assemble(&mut code, drafts, flow);
        code.vregs = self.types;
        Selected { code: Box::new(code), fired: self.fired }
    }

    /// Returns the final register of a virtual register, and creates it at the first call.
    fn rename(&mut self, reg: ptx::Reg) -> ptx::Reg {
        let at = self.follow(reg);
        let ty = self.out.ty(at);
        let Some(name) = self.names.get_mut(at.0 as usize) else { return at };
        *name.get_or_insert_with(|| {
            self.types.push(ty);
            ptx::Reg(self.types.len() as u32 - 1)
        })
    }
}

impl<'k> Selector<'k> for Lowering<'k> {
    type Machine = Ptx;

    const TARGET: &'static str = NAME;

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

    fn emitted(&mut self) -> &mut Vec<InstDraft<Ptx>> {
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
            self.derived(value);
        }
        // Addresses and negations of the result were requested by uses, which are visited before
        // the definition. They are emitted first and then moved after the definition.
        let after = self.out.insts.len();
        let wanted = result.and_then(|value| self.value_regs[value]);
        if wanted.is_some() || !data.op.is_pure() {
            self.begin(inst);
            self.out.take_since();
            let reg = match data.attr {
                Attr::Intrinsic(text) => intrinsic::lower(self, inst, &kernel.intrinsics[text]),
                _ => self.checked(inst).and_then(|()| context::lower(self, inst).ok_or(None)),
            };
            let since = self.out.take_since();
            let reg = reg.and_then(|reg| match since.is_supported_by(self.sm) {
                true => Ok(reg),
                false => Err(Some(
                    Reason::from(format!("the instruction needs sm_{} or above", since.sm))
                        .help(format!("compile with `--sm {}`", since.sm)),
                )),
            });
            self.mark_access(inst, after);
            match (reg, result.zip(wanted)) {
                (Ok(reg), Some((value, wanted))) => self.define_value(value, wanted, reg),
                (Ok(_), None) => {}
                (Err(reason), _) => self.refuse(inst, reason),
            }
        }
        self.out.insts.rotate_left(after);
    }

    fn condition(&mut self, cond: Value) -> Condition<Ptx> {
        match context::pred(self, cond) {
            Pred { reg: None, not } => Condition::Constant(!not),
            Pred { reg: Some(reg), not } => {
                let inst = ptx::Inst { guard: Some(Guard { reg, not }), ..Ptx::jump() };
                Condition::Branch(VInst::alone(inst, self.out.loc))
            }
        }
    }

    fn args(&mut self, call: &BlockCall) -> Vec<VReg> {
        let args = self.kernel.call_args(call);
        args.iter().flat_map(|&arg| self.words(arg)).map(VReg::from).collect()
    }

    fn params(&mut self, block: Block) -> Vec<VReg> {
        let params = self.kernel.block_params(block);
        params.iter().flat_map(|&param| self.words(param)).map(VReg::from).collect()
    }

    fn reason(&self, inst: Inst) -> Option<Reason> {
        let data = &self.kernel.insts[inst];
        super::reason(data.op, data.ty, &data.attr)
    }

    /// Creates registers for all parameters of a block, even unused ones, because every edge to the
    /// block passes all arguments.
    fn begin_block(&mut self, block: Block) {
        self.block_of_kernel = Some(block);
        for &param in self.kernel.block_params(block) {
            self.value_reg(param);
        }
    }

    fn end_block(&mut self, block: Block) {
        for &param in self.kernel.block_params(block) {
            self.derived(param);
        }
        let numbers = std::mem::take(&mut self.out.block_constants);
        self.numbers(numbers);
    }

    fn resolve_reg(&mut self, reg: VReg) -> VReg {
        self.rename(reg.into()).into()
    }

    fn resolve(&mut self, _: &mut VCode<Ptx>, mut inst: VInst<Ptx>) -> VInst<Ptx> {
        inst.inst.rename(|_, reg| self.rename(reg));
        inst
    }
}
