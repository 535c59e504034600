//! Selection of intrinsics: an intrinsic, written as a line of HALU assembly, becomes this instruction.

use halfbyte_ir::{Inst, IntrinsicData, Kernel, Reason, Type, ValueDef};
use halfbyte_isa::halu::TARGET;
use halfbyte_isa::halu::template::{Placeholder, Template, Value};
use halfbyte_isa::row::RegFile;

use super::super::machine::RegClass;
use super::super::operands::Reg;
use super::context;
use super::{Lowering, class_of};
use crate::{Refusal, intrinsics, reasons};

/// Returns the instruction template of an intrinsic, and the register class of the result.
fn template(kernel: &Kernel, inst: Inst, data: &IntrinsicData) -> Result<(Template, RegClass), Reason> {
    let text = intrinsics::text_for(data, TARGET.name())?;
    let class = |ty: Type| match class_of(ty) {
        Some(class) if ty == Type::I1 || !ty.is_mask() => Ok(class),
        _ => Err(reasons::no_register(ty)),
    };
    let value = |class: RegClass| match class {
        RegClass::Pred => Value { file: RegFile::Pred, span: 1 },
        class => Value { file: RegFile::Gpr, span: class.words() as u8 },
    };
    let result = class(kernel.insts[inst].ty)?;
    let args = kernel.args(inst).iter();
    let operands: Vec<Value> = args.map(|&arg| class(kernel.ty(arg)).map(value)).collect::<Result<_, _>>()?;
    let template = Template::parse(text, value(result), &operands).map_err(intrinsics::malformed_text)?;
    if let Some((_, operand)) = template.constant
        && parameter(kernel, inst, operand).is_none()
    {
        let why = format!("`c[${operand}]` requires a 32-bit kernel parameter, but the operand is not one");
        return Err(Reason::from(why).help(format!(
            "write `${operand}` in place of `c[${operand}]`, or pass a 32-bit scalar parameter of the kernel as this operand"
        )));
    }
    Ok((template, result))
}

/// If operand number `operand` of an intrinsic is a 32-bit kernel parameter, returns the parameter's number.
fn parameter(kernel: &Kernel, inst: Inst, operand: u8) -> Option<u32> {
    let &value = kernel.args(inst).get(usize::from(operand))?;
    let ValueDef::Param(number) = kernel.values[value].def else { return None };
    (kernel.ty(value).bits() == 32).then_some(number)
}

/// Returns a refusal for each intrinsic of the kernel, used or unused, that is not a HALU instruction.
pub(crate) fn check(kernel: &Kernel) -> Vec<Refusal> {
    intrinsics::refused(kernel, TARGET.name(), template)
}

/// Selects the instruction of an intrinsic.
pub(super) fn lower(lowering: &mut Lowering<'_>, inst: Inst, data: &IntrinsicData) -> Result<Reg, Option<Reason>> {
    let kernel = lowering.kernel;
    let (template, result) = template(kernel, inst, data)?;
    let args = kernel.args(inst);
    // The upper bits of a narrow value's register are undefined, but the instruction reads them.
    let regs: Vec<Reg> = args.iter().map(|&arg| context::zero_extended(lowering, arg)).collect();
    let mut defined = None;
    for &(slot, placeholder) in &template.slots {
        match placeholder {
            Placeholder::Result => defined = Some(lowering.out.define(slot.field, result)),
            Placeholder::Operand(n) => {
                let reg = regs.get(usize::from(n)).copied();
                lowering.out.read(slot.field, reg.unwrap_or(Reg::ZERO));
            }
        }
    }
    let mut word = template.inst;
    if let Some((offset, operand)) = template.constant {
        let place = parameter(kernel, inst, operand).and_then(|number| lowering.param_offset(number));
        word.set(offset, place.unwrap_or(0).into());
    }
    lowering.out.push(word);
    Ok(defined.map_or(Reg::ZERO, Reg::new))
}
