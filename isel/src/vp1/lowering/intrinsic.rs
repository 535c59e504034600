//! Selection of intrinsics: an intrinsic, written as bundles of VP1 assembly, becomes these
//! instructions on virtual registers.

use halfbyte_ir::{Inst, IntrinsicData, Kernel, Reason, Type, Value};
use halfbyte_isa::row::{OperandRole, RegFile};
use halfbyte_isa::vp1::TARGET;
use halfbyte_isa::vp1::fields::{BIMM, DST, IMM, SRC1, SRC2};
use halfbyte_isa::vp1::template::{Placeholder, Template, TemplateItem, Words};
use halfbyte_isa::vp1::{Inst as Word, Opcode};

use super::super::builder::Builder;
use super::super::constants::{A_FRAME, A_PASSED, PASSED_AT};
use super::super::operands::{Reg, Sign, Src};
use super::super::{Class, Group, GroupRegisterPosition, reason_for_value};
use super::context::rules::Context;
use super::{Lowering, class_of};
use crate::vcode::{Access, Operand, VReg};
use crate::{Refusal, intrinsics};

/// Returns the template of an intrinsic: its instructions with placeholders for registers.
fn template(kernel: &Kernel, inst: Inst, data: &IntrinsicData) -> Result<Template, Reason> {
    let text = intrinsics::text_for(data, TARGET.name())?;
    let file = |ty: Type| match class_of(ty) {
        Some(Class::V) => Ok(RegFile::V),
        Some(_) => Ok(RegFile::R),
        None => Err(reason_for_value(ty)),
    };
    let result = file(kernel.insts[inst].ty)?;
    let operands = kernel.args(inst).iter().map(|&arg| file(kernel.ty(arg))).collect::<Result<Vec<_>, _>>()?;
    Template::parse(text, result, &operands).map_err(intrinsics::malformed_text)
}

/// Returns a refusal for each intrinsic of the kernel, used or unused, that is not valid VP1 assembly.
pub(crate) fn check(kernel: &Kernel) -> Vec<Refusal> {
    intrinsics::refused(kernel, TARGET.name(), template)
}

/// Selects the instructions of an intrinsic.
pub(super) fn lower(lowering: &mut Lowering<'_>, inst: Inst, data: &IntrinsicData) -> Result<Reg, Option<Reason>> {
    let kernel = lowering.kernel;
    let template = template(kernel, inst, data)?;
    let operands = kernel.args(inst).iter().map(|&arg| operand(lowering, arg)).collect();
    let mut values = Values {
        operands,
        temporaries: vec![None; template.temporaries.into()],
        copies: vec![[None; 4]; template.temporaries.into()],
        ..Values::default()
    };
    for step in &template.steps {
        match step {
            TemplateItem::Bundle(words) => values.bundle(&mut lowering.out, words),
            TemplateItem::MoveToVx(value) => {
                lowering.constants.pass_through_memory();
                lowering.out.extra(values.get(RegFile::V, *value));
            }
        }
    }
    Ok(match kernel.insts[inst].ty {
        // A lane of the result mask is true if the sign bit of its byte is set. A shift copies the
        // sign to all bits of the byte.
        Type::I1X16 => lowering.out.sign_mask(Opcode::VSHR_S_RI, values.result),
        Type::I1X4 => lowering.out.sign_mask(Opcode::BSHR_S_RI, values.result),
        Type::I1 => lowering.out.sign_mask(Opcode::SAR_RI, values.result),
        _ => values.result.map_or(Reg::ZERO, Reg::new),
    })
}

/// Returns the register of an operand. The unspecified upper bits of a narrow value are cleared,
/// because the instructions of the intrinsic could read them.
fn operand(lowering: &mut Lowering<'_>, value: Value) -> Option<VReg> {
    let (ty, reg) = (lowering.kernel.ty(value), lowering.value_reg(value));
    if ty.is_mask() {
        return reg.vreg;
    }
    let extended = lowering.extend(&Sign::U, ty, Src::Reg(reg));
    lowering.in_register(extended).vreg
}

impl Builder {
    /// Emits a shift that copies the sign of each byte, or of the whole register, to all its bits.
    fn sign_mask(&mut self, shift: Opcode, signs: Option<VReg>) -> Reg {
        self.read(SRC1, signs.map_or(Reg::ZERO, Reg::new));
        match shift {
            Opcode::SAR_RI => self.word(Word::new(shift).with(IMM, 31)),
            Opcode::BSHR_S_RI => self.word(Word::new(shift).with(BIMM, 7)),
            _ => self.vector(Word::new(shift).with(BIMM, 7)),
        }
    }

    /// Sets `$vx` to a value, which is moved through the data image.
    fn extra(&mut self, value: Option<VReg>) {
        self.read(SRC1, value.map_or(Reg::ZERO, Reg::new));
        self.push(Word::new(Opcode::STVH).with(DST, A_FRAME.into()).with(IMM, PASSED_AT.into()));
        // Only LDAXH writes `$vx`. The instruction advances the address register by 0.
        self.push(Word::new(Opcode::LDAXH).with(SRC1, A_PASSED.into()).with(SRC2, A_FRAME.into()));
    }
}

/// Virtual register of each placeholder of a template, at the current instruction.
#[derive(Default)]
struct Values {
    result: Option<VReg>,
    operands: Vec<Option<VReg>>,
    temporaries: Vec<Option<VReg>>,
    c: [Option<VReg>; 4],
    vc: [Option<VReg>; 4],
    /// For each temporary, the registers of all `$vc` at the time when they were copied to it.
    copies: Vec<[Option<VReg>; 4]>,
}

impl Values {
    fn get(&self, file: RegFile, value: Placeholder) -> Option<VReg> {
        let flags = |all: &[Option<VReg>; 4], n: u8| all.get(usize::from(n)).copied().flatten();
        match value {
            Placeholder::Result => self.result,
            Placeholder::Operand(n) => self.operands.get(usize::from(n)).copied().flatten(),
            Placeholder::Temporary(n) => self.temporaries.get(usize::from(n)).copied().flatten(),
            Placeholder::Flags(n) if file == RegFile::C => flags(&self.c, n),
            Placeholder::Flags(n) => flags(&self.vc, n),
            Placeholder::CopiedFlags { flags: n, copy } => {
                self.copies.get(usize::from(copy)).and_then(|all| flags(all, n))
            }
        }
    }

    fn set(&mut self, file: RegFile, value: Placeholder, reg: VReg) {
        let place = match value {
            Placeholder::Result => Some(&mut self.result),
            Placeholder::Temporary(n) => self.temporaries.get_mut(usize::from(n)),
            Placeholder::Flags(n) if file == RegFile::C => self.c.get_mut(usize::from(n)),
            Placeholder::Flags(n) => self.vc.get_mut(usize::from(n)),
            // The instructions of a template do not write operands or copied flags.
            Placeholder::Operand(_) | Placeholder::CopiedFlags { .. } => None,
        };
        if let Some(place) = place {
            *place = Some(reg);
        }
    }

    /// Emits one bundle of a template. Its results are visible only to later bundles.
    fn bundle(&mut self, out: &mut Builder, words: &Words) {
        let before = out.operands.len();
        for slot in &words.slots {
            let held = self.get(slot.file, slot.value);
            let class = class_of_file(slot.file);
            let (reg, access) = match (slot.role, held) {
                (OperandRole::Use, Some(reg)) => (reg, Access::Use),
                // A template does not read a placeholder before it is written, so there is nothing to read.
                (OperandRole::Use, None) => continue,
                (OperandRole::Update, Some(old)) => (out.vreg(class), Access::UpdateInPlace(old)),
                (OperandRole::Update, None) | (OperandRole::Def, _) => (out.vreg(class), Access::Def),
            };
            out.operands.push(Operand {
                place: GroupRegisterPosition { inst: slot.inst, field: slot.field },
                reg,
                part: slot.part,
                access,
            });
        }
        let defined: Vec<VReg> =
            out.operands.iter().skip(before).filter(|o| o.access != Access::Use).map(|o| o.reg).collect();
        for (slot, reg) in words.slots.iter().filter(|slot| slot.role != OperandRole::Use).zip(defined) {
            self.set(slot.file, slot.value, reg);
            let copies = words.insts.get(usize::from(slot.inst)).is_some_and(|inst| inst.opcode() == Opcode::MOV_VC);
            if let (true, Placeholder::Temporary(n)) = (copies, slot.value)
                && let Some(copy) = self.copies.get_mut(usize::from(n))
            {
                *copy = self.vc;
            }
        }
        out.push(Group { insts: words.insts.clone(), stream: None });
    }
}

/// Returns the register class whose virtual registers are in a register file.
fn class_of_file(file: RegFile) -> Class {
    match file {
        RegFile::V => Class::V,
        RegFile::C => Class::C,
        RegFile::Vc => Class::Vc,
        _ => Class::R,
    }
}
