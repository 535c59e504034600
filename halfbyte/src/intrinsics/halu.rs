//! Semantics of HALU intrinsics. An intrinsic has the semantics of its single machine instruction, with the operands in
//! registers.
//!
//! An operand or result takes as many 32-bit registers as it needs, suitably aligned. An `i1` takes a predicate
//! register. Lanes have the same order in registers as in memory.

use halfbyte_ir::eval::{IntrinsicFn, Operand, pack, unpack};
use halfbyte_ir::{Elem, Type};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Reader, SpecialReg, Write};
use halfbyte_isa::halu::meaning::meaning;
use halfbyte_isa::halu::template::{Placeholder, Template, Value};
use halfbyte_isa::row::RegFile;

/// Returns the semantics of an intrinsic, given its instruction text and the types of its operands
/// and result. Returns an error message for an invalid text.
pub(crate) fn resolve<'a>(text: &str, args: &[Type], result: Type) -> Result<IntrinsicFn<'a>, String> {
    let values = args.iter().map(|&ty| value(ty)).collect::<Result<Vec<_>, _>>()?;
    let template = Template::parse(text, value(result)?, &values).map_err(|error| error.to_string())?;
    let mut inst = template.inst;
    for &(slot, placeholder) in &template.slots {
        let number = placeholder_number(placeholder);
        inst.set(slot.field, if slot.file == RegFile::Pred { number } else { number * REGISTER_STRIDE }.into());
    }
    let constant = template.constant.map(|(_, operand)| usize::from(1 + operand) * usize::from(REGISTER_STRIDE));
    Ok(Box::new(move |operands, out| {
        let mut registers = Registers { gpr: [0; 256], pred: [false; 8], constant };
        for (number, operand) in operands.iter().enumerate() {
            registers.set(1 + number, operand);
        }
        for write in meaning(&inst, &mut Concrete, &mut registers).writes {
            match write {
                Write::Gpr(n, word) => registers.gpr[usize::from(n)] = word,
                Write::Pred(n, truth) => registers.pred[usize::from(n % 8)] = truth,
                Write::Ur(..) => {}
            }
        }
        registers.get(result, out);
    }))
}

/// Distance between the numbers of the general registers of consecutive operands. Each operand may
/// take four registers. Predicate registers have consecutive numbers.
const REGISTER_STRIDE: u8 = 4;

/// Returns the index of the value that replaces a placeholder: 0 for the result, then the operands.
/// A template has at most six operands.
fn placeholder_number(placeholder: Placeholder) -> u8 {
    match placeholder {
        Placeholder::Result => 0,
        Placeholder::Operand(number) => number + 1,
    }
}

/// Returns the register file for values of a type, and the number of registers that a value takes.
fn value(ty: Type) -> Result<Value, String> {
    if ty == Type::I1 {
        return Ok(Value { file: RegFile::Pred, span: 1 });
    }
    match ty.bits().div_ceil(32) {
        span @ (1 | 2 | 4) if ty.elem() != Elem::I1 => Ok(Value { file: RegFile::Gpr, span: span as u8 }),
        _ => Err(format!("no register holds {ty}")),
    }
}

struct Registers {
    gpr: [u32; 256],
    pred: [bool; 8],
    /// Number of the first register of the operand that replaces the instruction's constant.
    constant: Option<usize>,
}

impl Registers {
    fn set(&mut self, number: usize, value: &Operand<'_>) {
        let words = pack(value.ty, value.lanes);
        if value.ty == Type::I1 {
            self.pred[number % 8] = words[0] & 1 == 1;
            return;
        }
        let halves = words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]);
        let registers = self.gpr.iter_mut().skip(number * usize::from(REGISTER_STRIDE));
        for (register, half) in registers.zip(halves).take(REGISTER_STRIDE.into()) {
            *register = half;
        }
    }

    fn get(&self, ty: Type, lanes: &mut [u64]) {
        let mut words = [0; 8];
        if ty == Type::I1 {
            words[0] = self.pred[0].into();
        } else {
            for (i, &register) in self.gpr.iter().take(REGISTER_STRIDE.into()).enumerate() {
                words[i / 2] |= u64::from(register) << (i % 2 * 32);
            }
        }
        unpack(ty, &words, lanes);
    }
}

impl Reader<Concrete> for Registers {
    fn gpr(&mut self, _: &mut Concrete, n: u8) -> u32 {
        self.gpr[usize::from(n)]
    }
    fn pred(&mut self, _: &mut Concrete, n: u8) -> bool {
        self.pred[usize::from(n % 8)]
    }
    fn constant(&mut self, _: &mut Concrete, _: u8, _: u16) -> u32 {
        self.constant.and_then(|n| self.gpr.get(n)).copied().unwrap_or(0)
    }
    // The text of an intrinsic cannot contain uniform registers or special registers.
    fn ur(&mut self, _: &mut Concrete, _: u8) -> u32 {
        0
    }
    fn special(&mut self, _: &mut Concrete, _: SpecialReg) -> u32 {
        0
    }
}
