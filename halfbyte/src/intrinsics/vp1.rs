//! Semantics of VP1 intrinsics. An intrinsic has the semantics of the bundles in its text, executed on the processor
//! state.
//!
//! A vector of sixteen lanes takes a `$v`; a value of at most 32 bits takes a `$r`. A mask operand consists of one byte
//! for each lane, and an `i1` of one 32-bit word. All bits of the byte or word are set for true and clear for false. In
//! a mask result, only the sign bit of each byte or of the 32-bit word counts.

use std::cell::RefCell;

use halfbyte_ir::eval::{IntrinsicFn, Operand, pack, unpack};
use halfbyte_ir::{Elem, Type};
use halfbyte_isa::row::{OperandRole, RegFile};
use halfbyte_isa::vp1::Bundle;
use halfbyte_isa::vp1::state::State;
use halfbyte_isa::vp1::template::{Placeholder, Template, TemplateItem, Words};

/// Returns the semantics of an intrinsic, given its instruction text and the types of its operands
/// and result. Returns an error message for an invalid text.
pub(crate) fn resolve<'a>(text: &str, args: &[Type], result: Type) -> Result<IntrinsicFn<'a>, String> {
    let files = args.iter().map(|&ty| file(ty)).collect::<Result<Vec<_>, _>>()?;
    let template = Template::parse(text, file(result)?, &files).map_err(|error| error.to_string())?;
    let run = |step: &TemplateItem| TemplateStep::new(step, files.len());
    let runs = template.steps.iter().map(run).collect::<Result<Vec<_>, _>>()?;
    let values = vec![0; 1 + files.len() + usize::from(template.temporaries)];
    // All calls may share the processor state, because each call reads only registers that it has written itself.
    let machine = RefCell::new((State::default(), values));
    Ok(Box::new(move |operands, out| {
        let (state, values) = &mut *machine.borrow_mut();
        for (value, operand) in values.iter_mut().skip(1).zip(operands) {
            *value = to_register(operand);
        }
        for run in &runs {
            run.step(state, values);
        }
        from_register(result, values.first().copied().unwrap_or(0), out);
    }))
}

/// Returns the register file for values of a type.
fn file(ty: Type) -> Result<RegFile, String> {
    match (ty, ty.elem()) {
        (Type::I8X16 | Type::I1X16, _) => Ok(RegFile::V),
        (Type::I1X2, _) => Err(format!("no register holds {ty}")),
        _ if ty.bits() <= 32 => Ok(RegFile::R),
        _ => Err(format!("no register holds {ty}")),
    }
}

/// The value of a register. A `$r` uses the low 32 bits.
type Value = u128;

/// Returns the number of register bits that hold one lane of a mask.
fn mask_lane(ty: Type) -> u32 {
    if ty == Type::I1 { 32 } else { 8 }
}

fn to_register(operand: &Operand<'_>) -> Value {
    let &Operand { ty, lanes } = operand;
    if ty.elem() == Elem::I1 {
        let bits = mask_lane(ty);
        let ones = (1 << bits) - 1;
        return lanes.iter().rev().fold(0, |mask, &lane| mask << bits | if lane & 1 == 1 { ones } else { 0 });
    }
    let words = pack(ty, lanes);
    u128::from(words[1]) << 64 | u128::from(words[0])
}

fn from_register(ty: Type, value: Value, lanes: &mut [u64]) {
    if ty.elem() == Elem::I1 {
        let bits = mask_lane(ty);
        for (i, lane) in (1..).zip(lanes) {
            *lane = (value >> (bits * i - 1)) as u64 & 1;
        }
        return;
    }
    unpack(ty, &[value as u64, (value >> 64) as u64, 0, 0, 0, 0, 0, 0], lanes);
}

/// A step of a template.
enum TemplateStep {
    Bundle(BundleStep),
    /// Sets `$vx` to the operand or result with this index.
    Extra(usize),
}

/// A bundle of the text, with registers assigned to its placeholders.
struct BundleStep {
    bundle: Bundle,
    /// The register of each operand or result in the bundle, and whether the bundle reads or writes it.
    slots: Vec<(HeldValue, OperandRole)>,
}

/// A register, and the index of the operand or result that it holds.
struct HeldValue {
    file: RegFile,
    number: u8,
    value: usize,
}

/// Distance between the numbers of the registers of consecutive operands. Each operand may take four registers.
const REGISTER_STRIDE: u8 = 4;

/// Returns the index of the value that replaces a placeholder: the result, an operand or a
/// temporary. Returns `None` for flags, whose register numbers are already assigned.
fn index(placeholder: Placeholder, operands: usize) -> Option<usize> {
    match placeholder {
        Placeholder::Result => Some(0),
        Placeholder::Operand(n) => Some(1 + usize::from(n)),
        Placeholder::Temporary(n) => Some(1 + operands + usize::from(n)),
        Placeholder::Flags(_) | Placeholder::CopiedFlags { .. } => None,
    }
}

impl TemplateStep {
    fn new(step: &TemplateItem, operands: usize) -> Result<TemplateStep, String> {
        match step {
            TemplateItem::Bundle(words) => BundleStep::new(words, operands).map(TemplateStep::Bundle),
            TemplateItem::MoveToVx(value) => Ok(TemplateStep::Extra(index(*value, operands).unwrap_or_default())),
        }
    }

    fn step(&self, state: &mut State, values: &mut [Value]) {
        match self {
            TemplateStep::Bundle(placed) => placed.step(state, values),
            TemplateStep::Extra(value) => state.vx = values.get(*value).copied().unwrap_or(0).to_le_bytes(),
        }
    }
}

impl BundleStep {
    fn new(words: &Words, operands: usize) -> Result<BundleStep, String> {
        let mut insts = words.insts.clone();
        let mut slots = Vec::new();
        // A register number that the text itself contains. Operands are not assigned to the same
        // group of four registers.
        let given = words.slots.iter().find_map(|slot| {
            let inst = words.insts.get(usize::from(slot.inst))?;
            inst.shares(slot.field).then(|| inst.get(slot.field) as u8)
        });
        let mut first = 0;
        for slot in &words.slots {
            let Some(value) = index(slot.value, operands) else { continue };
            let Some(inst) = insts.get_mut(usize::from(slot.inst)) else { continue };
            let mut number = first + slot.part;
            if inst.shares(slot.field) {
                number = given.unwrap_or_default();
            } else if slot.part == 0 {
                first += REGISTER_STRIDE;
                if given.is_some_and(|given| given / REGISTER_STRIDE == first / REGISTER_STRIDE) {
                    first += REGISTER_STRIDE;
                }
                inst.set(slot.field, u64::from(first));
                number = first;
            }
            slots.push((HeldValue { file: slot.file, number, value }, slot.role));
        }
        let words: Vec<u32> = insts.iter().map(|inst| inst.word()).collect();
        let bundle = Bundle::new(&words).map_err(|error| error.to_string())?;
        Ok(BundleStep { bundle, slots })
    }

    fn step(&self, state: &mut State, values: &mut [Value]) {
        for (place, _) in self.slots.iter().filter(|slot| slot.1 != OperandRole::Def) {
            let value = values.get(place.value).copied().unwrap_or(0);
            match place.file {
                RegFile::R => state.r.get_mut(usize::from(place.number)).into_iter().for_each(|r| *r = value as u32),
                _ => state.v.get_mut(usize::from(place.number)).into_iter().for_each(|v| *v = value.to_le_bytes()),
            }
        }
        state.step(&self.bundle, |_| {});
        for (place, _) in self.slots.iter().filter(|slot| slot.1 != OperandRole::Use) {
            let register = match place.file {
                RegFile::R => state.r.get(usize::from(place.number)).copied().map(u128::from),
                _ => state.v.get(usize::from(place.number)).copied().map(u128::from_le_bytes),
            };
            if let (Some(value), Some(register)) = (values.get_mut(place.value), register) {
                *value = register;
            }
        }
    }
}
