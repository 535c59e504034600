//! Intrinsics: a line of HALU assembly becomes that instruction.

use halfbyte_ir::{Inst, IntrinsicData, Type};
use halfbyte_isa::halu::template::{Placeholder, Template, Value};
use halfbyte_isa::row::RegFile;
use halfbyte_isa::target::Target;

use super::context;
use super::lowering::{Lowering, class_of};
use super::operands::Reg;
use crate::vcode::RegClass;

/// The instruction of an intrinsic, or why there is none.
pub(super) fn lower(lowering: &mut Lowering<'_>, inst: Inst, data: &IntrinsicData) -> Result<Reg, Option<String>> {
    if data.target != Target::Halu.name() {
        return Err(Some(format!("it is an instruction of `{}`", data.target)));
    }
    let kernel = lowering.kernel;
    let class = |ty: Type| match class_of(ty) {
        Some(class) if ty == Type::I1 || !ty.is_mask() => Ok(class),
        _ => Err(Some(format!("no register holds {ty}"))),
    };
    let value = |class: RegClass| match class {
        RegClass::Pred => Value { file: RegFile::Pred, span: 1 },
        class => Value { file: RegFile::Gpr, span: class.words() as u8 },
    };
    let result = class(kernel.insts[inst].ty)?;
    let args = kernel.args(inst);
    let operands: Vec<Value> = args.iter().map(|&arg| class(kernel.ty(arg)).map(value)).collect::<Result<_, _>>()?;
    let template = Template::parse(&data.text, value(result), &operands).map_err(|error| Some(error.to_string()))?;
    // What a register holds above a narrow value is nobody's, but the instruction sees it.
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
    lowering.out.push(template.inst);
    Ok(defined.map_or(Reg::ZERO, Reg::new))
}
