//! Instruction selection for PTX.

mod builder;
pub mod expand;
mod lowering;
pub(crate) mod machine;
mod operands;

use std::convert::Infallible;

use halfbyte_abi::{Sm, Target};
use halfbyte_ir::{Attr, Axes, FloatFlags, Kernel, Legality, Op, Reason, Rounding, Type};
use halfbyte_isa::ptx::{self, NAME, Opcode};
use halfbyte_isa::row::OperandRole;

use crate::rules::{PTX_NATIVE, PTX_RULES, Rule};
use crate::vcode::{Access, Machine, Operand, VCode, VReg};
use crate::{Backend, Ptx, PtxExtra, Refusal, Request, Scratch, Selected, reasons};

const NO_FLUSHED_BF16: Reason = Reason::with_help("bfloat16 has no `ftz`", "leave out `ftz`: subnormals are kept");

fn is_bf16(ty: Type) -> bool {
    lowering::context::opcode_of_type::is_bf16(ty)
}

/// Returns the reason why PTX does not support an op on a type, if the type explains it.
fn reason_for_type(op: Op, ty: Type) -> Option<Reason> {
    Some(match op {
        Op::Load | Op::Store if ty.is_mask() => reasons::MASK_IN_MEMORY,
        _ if ty.bits() > 128 => reasons::WIDER_THAN_REGISTERS,
        op if reasons::is_upper_half(op) => return reasons::upper_half(ty),
        _ => return None,
    })
}

/// Returns the reason why PTX does not support an op, if one is known.
fn reason(op: Op, ty: Type, attr: &Attr) -> Option<Reason> {
    match attr {
        Attr::Float(FloatFlags { rounding, .. }) if ty.is_half() && *rounding != Rounding::Rn => Some(match op {
            Op::Fcvt => Reason::with_help(
                "f32 rounds to bfloat16 to nearest even or toward zero",
                "write `fcvt.bf16` or `fcvt.rz.bf16`",
            ),
            Op::FcvtFromS | Op::FcvtFromU => Reason::with_help(
                "before sm_90 integers round to bfloat16 to nearest even",
                "leave out the rounding mode, or compile with `--sm 90`",
            ),
            _ => Reason::with_help(
                "bfloat16 rounds to nearest even",
                "leave out the rounding mode; `--target halu` has all four rounding modes",
            ),
        }),
        Attr::Float(flags) if is_bf16(ty) && flags.ftz => Some(NO_FLUSHED_BF16),
        Attr::FloatCC { ftz: true, .. } if is_bf16(ty) => Some(NO_FLUSHED_BF16),
        Attr::Mem(mem) => reasons::alignment(mem, ty).or_else(|| reason_for_type(op, ty)),
        _ => reason_for_type(op, ty),
    }
}

impl Backend for Ptx {
    fn legality(&self, target: Target) -> Legality {
        let legality = Legality::new(NAME, PTX_NATIVE.iter().copied(), reason_for_type)
            .with_free_parts(4)
            .with_constant_counts()
            .with_access_alignment(4)
            .with_wide_indices()
            // NVIDIA's assembler unrolls loops of this size, too, but then folds fewer common parts
            // of addresses.
            .with_unrolled(160)
            .with_axes(Axes::Each { several: false });
        let adds_half_words = Opcode::ADD_X2.row().since.is_supported_by(target.sm().unwrap_or(Sm::DEFAULT));
        if adds_half_words { legality.with_word_sums() } else { legality }
    }

    fn rules(&self) -> &'static [Rule] {
        PTX_RULES
    }

    fn check_intrinsics(&self, kernel: &Kernel, _: Target) -> Vec<Refusal> {
        lowering::intrinsic::check(kernel)
    }

    fn select(&self, request: Request<'_>, _: &mut Scratch) -> Result<Selected, Vec<Refusal>> {
        lowering::select(request)
    }

    fn has_pseudo_instructions(&self) -> bool {
        true
    }
}

impl Machine for Ptx {
    type Inst = ptx::Inst;
    type RegisterPosition = Infallible;
    type Class = ptx::types::Type;
    type Extra = PtxExtra;

    fn jump() -> ptx::Inst {
        let operands = [ptx::Operand::Label(ptx::Label(0))].into_iter().collect();
        ptx::Inst { opcode: ptx::Opcode::BRA, modifiers: Default::default(), guard: None, operands }
    }

    fn exit() -> ptx::Inst {
        ptx::Inst { opcode: ptx::Opcode::RET, modifiers: Default::default(), guard: None, operands: Default::default() }
    }

    fn invert(branch: &mut ptx::Inst) {
        branch.guard.iter_mut().for_each(|guard| guard.not = !guard.not);
    }

    fn set(_: &mut ptx::Inst, place: Infallible, _: u64) {
        match place {}
    }

    fn visit(inst: &ptx::Inst, _: &[Operand<Ptx>], mut each: impl FnMut(Access, VReg)) {
        inst.visit_registers(|role, reg| match role {
            OperandRole::Def => each(Access::Def, reg.into()),
            OperandRole::Use => each(Access::Use, reg.into()),
            OperandRole::Update => {
                each(Access::Use, reg.into());
                each(Access::Def, reg.into());
            }
        });
    }

    fn expand(code: &mut VCode<Ptx>) -> Result<(), String> {
        expand::expand(code).map_err(|error| error.to_string())
    }

    fn holds(param: ptx::types::Type, arg: ptx::types::Type) -> bool {
        param.bits() == arg.bits()
    }
}
