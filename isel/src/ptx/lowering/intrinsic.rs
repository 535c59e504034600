//! Selection of intrinsics: an intrinsic, written as a PTX instruction, becomes this instruction on
//! the registers of its operands.

use halfbyte_ir::{Inst, IntrinsicData, Kernel, Reason, Type};
use halfbyte_isa::ptx;
use halfbyte_isa::ptx::types::Type as RegType;
use halfbyte_isa::ptx::{NAME, template};
use smallvec::SmallVec;

use super::Lowering;
use crate::ptx::operands::Reg;
use crate::{Refusal, intrinsics, reasons};

/// Returns the type of the register in which a PTX instruction reads a value. `i1` is the only mask
/// type that has a register type.
fn register(ty: Type) -> Result<RegType, Reason> {
    let found = template::register_of(ty.bits()).filter(|_| ty == Type::I1 || !ty.is_mask());
    found.ok_or_else(|| reasons::no_register(ty))
}

/// Returns the PTX instruction of an intrinsic, whose registers stand for the operands, and the
/// types of these registers.
fn template(kernel: &Kernel, inst: Inst, data: &IntrinsicData) -> Result<(ptx::Inst, Vec<RegType>), Reason> {
    let text = intrinsics::text_for(data, NAME)?;
    let result = register(kernel.insts[inst].ty)?;
    let args = kernel.args(inst).iter();
    let operands = args.map(|&arg| register(kernel.ty(arg))).collect::<Result<Vec<_>, _>>()?;
    let inst = template::parse(text, result, &operands).map_err(intrinsics::malformed_text)?;
    Ok((inst, [&[result], operands.as_slice()].concat()))
}

/// Returns a refusal for each intrinsic of the kernel, used or unused, that is not a PTX instruction.
pub(crate) fn check(kernel: &Kernel) -> Vec<Refusal> {
    intrinsics::refused(kernel, NAME, template)
}

/// Selects the instruction of an intrinsic.
pub(super) fn lower(lowering: &mut Lowering<'_>, inst: Inst, data: &IntrinsicData) -> Result<Reg, Option<Reason>> {
    let kernel = lowering.kernel;
    let (mut made, types) = template(kernel, inst, data)?;
    let mut registers: SmallVec<[ptx::Reg; 8]> = SmallVec::new();
    let result = types.first().copied().unwrap_or(RegType::B32);
    registers.push(lowering.out.reg(result));
    for (&arg, &ty) in kernel.args(inst).iter().zip(types.iter().skip(1)) {
        let value = lowering.value_reg(arg);
        registers.push(match ty {
            RegType::B16 => lowering.out.half(0, value.word(0)),
            RegType::B64 => lowering.out.pair(value.word(0), value.word(1)),
            _ => value.word(0),
        });
    }
    made.rename(|_, reg| registers.get(reg.0 as usize).copied().unwrap_or(reg));
    lowering.out.push(made.opcode, &made.modifiers, &made.operands);
    let defined = made.registers().find(|(role, _)| *role == halfbyte_isa::row::OperandRole::Def).map(|(_, reg)| reg);
    let Some(defined) = defined else { return Err(None) };
    Ok(match result {
        RegType::B16 => Reg::new(lowering.out.pack(RegType::B32, &[defined, defined])),
        RegType::B64 => Reg::of_words(&lowering.out.unpack(RegType::B64, [true; 2], defined)),
        _ => Reg::new(defined),
    })
}
