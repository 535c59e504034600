//! Semantics of PTX intrinsics. An intrinsic has the semantics of its single PTX instruction, with the operands in
//! registers.
//!
//! An operand or result takes a register of its type's width. An `i1` takes a predicate register.

use halfbyte_ir::Type;
use halfbyte_ir::eval::{IntrinsicFn, Operand, pack, unpack};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::ptx::meaning::{Reader, Write, meaning};
use halfbyte_isa::ptx::template::{self, MAX_OPERANDS, RESULT};
use halfbyte_isa::ptx::types::{Special, Type as PtxType};
use halfbyte_isa::ptx::{Reg, Var};

/// Returns the semantics of an intrinsic, given its instruction text and the types of its operands
/// and result. Returns an error message for an invalid text.
pub(crate) fn resolve<'a>(text: &str, args: &[Type], result: Type) -> Result<IntrinsicFn<'a>, String> {
    let operands = args.iter().map(|&ty| register(ty)).collect::<Result<Vec<_>, _>>()?;
    let inst = template::parse(text, register(result)?, &operands).map_err(|error| error.to_string())?;
    Ok(Box::new(move |operands, out| {
        let mut registers = Registers([0; MAX_OPERANDS]);
        for (register, operand) in registers.0.iter_mut().zip(operands) {
            *register = bits(operand);
        }
        let written = meaning(&inst, &mut Concrete, &mut registers).writes.into_iter().find_map(|write| match write {
            Write::Register(RESULT, [low, high]) => Some(u64::from(high) << 32 | u64::from(low)),
            Write::Predicate(RESULT, truth) => Some(truth.into()),
            _ => None,
        });
        unpack(result, &[written.unwrap_or_default(), 0, 0, 0, 0, 0, 0, 0], out);
    }))
}

/// Returns the type of the PTX register that holds values of a type. Of the mask types, only `i1` has a register.
fn register(ty: Type) -> Result<PtxType, String> {
    let found = template::register_of(ty.bits()).filter(|_| ty == Type::I1 || !ty.is_mask());
    found.ok_or_else(|| format!("no register holds {ty}"))
}

fn bits(operand: &Operand<'_>) -> u64 {
    let [bits, ..] = pack(operand.ty, operand.lanes);
    bits
}

/// The values of the operands' registers.
struct Registers([u64; MAX_OPERANDS]);

impl Registers {
    fn get(&self, reg: Reg) -> u64 {
        let number = reg.0.checked_sub(1).map(|number| number as usize);
        number.and_then(|number| self.0.get(number)).copied().unwrap_or_default()
    }
}

impl Reader<Concrete> for Registers {
    fn register(&mut self, _: &mut Concrete, reg: Reg) -> [u32; 2] {
        let bits = self.get(reg);
        [bits as u32, (bits >> 32) as u32]
    }
    fn predicate(&mut self, _: &mut Concrete, reg: Reg) -> bool {
        self.get(reg) & 1 != 0
    }
    // A template cannot contain special registers or variables.
    fn special(&mut self, _: &mut Concrete, _: Special) -> [u32; 2] {
        [0; 2]
    }
    fn variable(&mut self, _: &mut Concrete, _: Var) -> [u32; 2] {
        [0; 2]
    }
}
