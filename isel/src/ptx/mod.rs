//! Selection for PTX.

mod builder;
pub mod expand;
mod lowering;
pub(crate) mod machine;
mod operands;

use std::convert::Infallible;

use halfbyte_abi::{Sm, Target};
use halfbyte_ir::{Attr, FloatFlags, Kernel, Legality, Op, Rounding, Type};
use halfbyte_isa::ptx::{self, NAME};
use halfbyte_isa::row::Role;

use crate::rules::{PTX_NATIVE, PTX_RULES, Rule};
use crate::vcode::{Access, Machine, Operand, VCode, VReg};
use crate::{Backend, Ptx, PtxExtra, Refusal, Request, Scratch, Selected};

fn is_bf16(ty: Type) -> bool {
    lowering::context::families::is_bf16(ty)
}

/// Why PTX has no such op on the type, where more can be said.
fn reason_for_type(op: Op, ty: Type) -> Option<&'static str> {
    Some(match op {
        Op::Swizzle => "it has no shuffle by lanes chosen at run time",
        Op::Shl | Op::ShrS | Op::ShrU if !ty.is_scalar() => "packed lanes shift by one constant for all",
        Op::Load | Op::Store if ty.is_mask() => "masks have no place in memory; expand them with `mask_expand`",
        _ if ty.bits() > 128 => "its registers hold at most 128 bits",
        _ => return None,
    })
}

/// Why PTX cannot do this op, where more can be said than that.
fn reason(op: Op, ty: Type, attr: &Attr) -> Option<&'static str> {
    match attr {
        Attr::Float(FloatFlags { rounding, .. }) if ty.is_half() && *rounding != Rounding::Rn => Some(match op {
            Op::Fcvt => "f32 rounds to bfloat16 to nearest even or toward zero",
            Op::FcvtFromS | Op::FcvtFromU => "before sm_90 integers round to bfloat16 to nearest even",
            _ => "halves round to nearest even",
        }),
        Attr::Float(flags) if is_bf16(ty) && flags.ftz => Some("bfloat16 has no `ftz`"),
        Attr::FloatCC { ftz: true, .. } if is_bf16(ty) => Some("bfloat16 has no `ftz`"),
        Attr::Mem(mem) if mem.align > ty.bytes() => {
            Some("an access is checked for alignment to its own size, not to more")
        }
        Attr::Mem(mem) if mem.align < ty.bytes().min(4) => {
            Some("an access needs the alignment of its size, or of 4 where it is larger")
        }
        _ => reason_for_type(op, ty),
    }
}

/// The intrinsics, used or not: there are none of PTX.
fn check_intrinsics(kernel: &Kernel) -> Vec<Refusal> {
    let insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    let refused = insts.filter_map(|&inst| {
        let data = &kernel.insts[inst];
        let Attr::Intrinsic(text) = data.attr else { return None };
        let of = &kernel.intrinsics[text].target;
        Some(Refusal {
            op: Some((data.op, data.ty)),
            span: data.span,
            target: NAME,
            reason: Some(match of.as_str() {
                "ptx" => "instructions of PTX cannot be named yet; write the ops that they stand for".to_owned(),
                _ => format!("it is an instruction of `{of}`"),
            }),
        })
    });
    refused.collect()
}

impl Backend for Ptx {
    fn legality(&self, _: Target) -> Legality {
        Legality::new(NAME, PTX_NATIVE.iter().copied(), reason_for_type).with_free_parts(4)
    }

    fn rules(&self) -> &'static [Rule] {
        PTX_RULES
    }

    fn check_intrinsics(&self, kernel: &Kernel, _: Target) -> Vec<Refusal> {
        check_intrinsics(kernel)
    }

    fn select(&self, request: Request<'_>, _: &mut Scratch) -> Result<Selected, Vec<Refusal>> {
        let sm = request.target.sm().unwrap_or(Sm::DEFAULT);
        lowering::select(request.kernel, sm, request.locate, request.trace)
    }

    fn expands(&self) -> bool {
        true
    }
}

impl Machine for Ptx {
    type Inst = ptx::Inst;
    type Place = Infallible;
    type Class = ptx::types::Type;
    type Extra = PtxExtra;

    fn jump() -> ptx::Inst {
        let operands = [ptx::Operand::Label(ptx::Label(0))].into_iter().collect();
        ptx::Inst { opcode: ptx::Opcode::BRA, words: Default::default(), guard: None, operands }
    }

    fn exit() -> ptx::Inst {
        ptx::Inst { opcode: ptx::Opcode::RET, words: Default::default(), guard: None, operands: Default::default() }
    }

    fn invert(branch: &mut ptx::Inst) {
        branch.guard.iter_mut().for_each(|guard| guard.not = !guard.not);
    }

    fn set(_: &mut ptx::Inst, place: Infallible, _: u64) {
        match place {}
    }

    fn visit(inst: &ptx::Inst, _: &[Operand<Ptx>], mut each: impl FnMut(Access, VReg)) {
        inst.visit_registers(|role, reg| match role {
            Role::Def => each(Access::Def, reg.into()),
            Role::Use | Role::Update => each(Access::Use, reg.into()),
        });
    }

    fn expand(code: &mut VCode<Ptx>) -> Result<(), String> {
        expand::expand(code).map_err(|error| error.to_string())
    }

    fn holds(param: ptx::types::Type, arg: ptx::types::Type) -> bool {
        param.bits() == arg.bits()
    }
}
