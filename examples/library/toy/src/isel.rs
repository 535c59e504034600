//! Instruction selection for the toy target, with one instruction for each op.

use halfbyte_abi::{ParamKind, Target, Type};
use halfbyte_ir::{Attr, Inst, Kernel, Legality, Op, Refusal, Value};
use halfbyte_isel::straight::{Selection, SingleBlockMachine};
use halfbyte_isel::{Backend, Request, Scratch, Selected};

use crate::isa::{ADD, ARG, CONST, EXIT, ISA, ITEM, LOAD, MUL, REGISTERS, STORE, TARGET};

/// The backend of the toy target.
#[derive(Clone, Copy, Debug)]
pub struct Toy;

/// Ops that the toy target supports, all of them on `i32`.
const NATIVE: [Op; 7] = [Op::Const, Op::Add, Op::Mul, Op::Load, Op::Store, Op::ItemId, Op::Ret];

impl Backend for Toy {
    fn legality(&self, _: Target) -> Legality {
        Legality::new(TARGET.name(), NATIVE.map(|op| (op, Type::I32)), |_, _| None)
    }

    fn select(&self, request: Request<'_>, _: &mut Scratch) -> Result<Selected, Vec<Refusal>> {
        SingleBlockMachine { isa: &ISA, registers: REGISTERS - 1 }.select(request, lower)
    }
}

/// Appends the instruction for an op. Returns `None` if the target does not support the op.
fn lower(code: &mut Selection<'_>, inst: Inst) -> Option<()> {
    let kernel = code.kernel();
    let data = &kernel.insts[inst];
    let is_word = data.ty == Type::I32;
    let made = match (data.op, kernel.args(inst)) {
        (Op::Const, []) if is_word => {
            let [bits, ..] = kernel.const_bits(inst)?;
            let number = i16::try_from(bits as u32 as i32).ok()?;
            code.push(CONST, &[u32::from(number.cast_unsigned())])
        }
        (Op::ItemId, []) => code.push(ITEM, &[]),
        (Op::Add | Op::Mul, &[a, b]) if is_word => {
            let operands = [used(code, a)?, used(code, b)?];
            code.push(if data.op == Op::Add { ADD } else { MUL }, &operands)
        }
        (Op::Load, &[base, index]) if is_word => {
            let operands = [plain_buffer(kernel, inst, base)?, used(code, index)?];
            code.push(LOAD, &operands)
        }
        (Op::Store, &[value, base, index]) if kernel.ty(value) == Type::I32 => {
            let operands = [plain_buffer(kernel, inst, base)?, used(code, index)?, used(code, value)?];
            code.push(STORE, &operands)
        }
        (Op::Ret, []) => code.push(EXIT, &[]),
        _ => return None,
    };
    made.into_iter().for_each(|register| code.define(inst, register));
    Some(())
}

/// Returns the register that holds an operand. For a parameter, appends an instruction that reads it.
fn used(code: &mut Selection<'_>, value: Value) -> Option<u32> {
    let kernel = code.kernel();
    match kernel.param(value).filter(|param| param.kind == ParamKind::Scalar(Type::I32)) {
        Some(param) => code.push(ARG, &[number(kernel, &param.name)?]).map(|register| register.as_u32()),
        None => code.register(value),
    }
}

/// Returns the parameter number of the accessed buffer, if its elements are `i32` and the access has no offset.
fn plain_buffer(kernel: &Kernel, access: Inst, base: Value) -> Option<u32> {
    let param = kernel.param(base)?;
    let is_plain = kernel.insts[access].attr == Attr::Mem(kernel.default_mem(base, Type::I32));
    let is_words = matches!(param.kind, ParamKind::Buffer { elem: Type::I32, .. });
    (is_plain && is_words).then(|| number(kernel, &param.name))?
}

fn number(kernel: &Kernel, name: &str) -> Option<u32> {
    u16::try_from(kernel.params.iter().position(|param| param.name == name)?).ok().map(u32::from)
}
