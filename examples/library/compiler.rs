//! Example: random tests of a third-party compiler. The code that it generates must leave the same memory as the
//! kernel. The compiler of this example generates a list of steps for a machine with 32-bit registers.

use std::collections::HashMap;
use std::error::Error;

use halfbyte::abi::Axis;
use halfbyte::ir::generate::{Cooperation, Palette, Shape, arguments};
use halfbyte::ir::witness::Random;
use halfbyte::ir::{Attr, Inst, Kernel, Op, ParamKind, Type, Value};
use halfbyte::launch::evaluate;

/// Number of a register of the machine, or of a kernel parameter.
type RegisterNumber = usize;

enum Step {
    Item,
    Constant(u32),
    Binary(Op, [RegisterNumber; 2]),
    Load { buffer: RegisterNumber, address: Address },
    Store { value: RegisterNumber, buffer: RegisterNumber, address: Address },
}

struct Address {
    index: Option<RegisterNumber>,
    scale: u32,
    offset: i32,
}

/// The compiler under test, which generates one step for each value. Returns `None` for a kernel
/// that it does not support.
fn compile(kernel: &Kernel) -> Option<Vec<Step>> {
    let [block] = kernel.layout[..] else { return None };
    let param = |value: Value| kernel.params.iter().position(|param| param.value == value);
    let mut registers = HashMap::new();
    let mut steps = Vec::new();
    for &inst in &kernel.blocks[block].insts {
        let data = &kernel.insts[inst];
        let register = |value: Value| registers.get(&value).copied();
        let address = |inst: Inst, index: Option<&Value>| {
            let Attr::Mem(mem) = kernel.insts[inst].attr else { return None };
            let index = index.map(|&index| register(index).ok_or(()));
            Some(Address { index: index.transpose().ok()?, scale: mem.scale, offset: mem.offset })
        };
        let step = match (data.op, kernel.args(inst)) {
            (Op::ItemId, _) if !matches!(data.attr, Attr::Axis(Axis::Y | Axis::Z)) => Step::Item,
            (Op::Const, _) if data.ty == Type::I32 => Step::Constant(kernel.const_bits(inst)?[0] as u32),
            (Op::Add | Op::Sub | Op::Mul | Op::Xor, &[a, b]) if data.ty == Type::I32 => {
                Step::Binary(data.op, [register(a)?, register(b)?])
            }
            (Op::Load, [base, index @ ..]) if data.ty == Type::I32 => {
                Step::Load { buffer: param(*base)?, address: address(inst, index.first())? }
            }
            (Op::Store, [value, base, index @ ..]) if data.ty == Type::I32 => {
                Step::Store { value: register(*value)?, buffer: param(*base)?, address: address(inst, index.first())? }
            }
            (Op::Ret, _) => continue,
            _ => return None,
        };
        registers.extend(kernel.result(inst).map(|value| (value, steps.len())));
        steps.push(step);
    }
    Some(steps)
}

/// Interpreter of the machine. `subtract` computes the result of a subtraction, so that tests can introduce a bug.
fn run(steps: &[Step], items: u32, buffers: &mut [Vec<u8>], subtract: fn(u32, u32) -> u32) -> Option<()> {
    for item in 0..items {
        let mut registers = vec![0; steps.len()];
        let place = |registers: &[u32], address: &Address| {
            let index = address.index.map_or(0, |index| registers[index]);
            let start = index.wrapping_mul(address.scale).wrapping_add_signed(address.offset) as usize;
            start..start + 4
        };
        for (number, step) in steps.iter().enumerate() {
            registers[number] = match step {
                Step::Item => item,
                Step::Constant(value) => *value,
                Step::Binary(op, operands) => {
                    let [a, b] = operands.map(|operand| registers[operand]);
                    match op {
                        Op::Add => a.wrapping_add(b),
                        Op::Sub => subtract(a, b),
                        Op::Mul => a.wrapping_mul(b),
                        _ => a ^ b,
                    }
                }
                Step::Load { buffer, address } => {
                    let bytes = buffers.get(*buffer)?.get(place(&registers, address))?;
                    u32::from_le_bytes(bytes.try_into().ok()?)
                }
                Step::Store { value, buffer, address } => {
                    let bytes = registers[*value].to_le_bytes();
                    buffers.get_mut(*buffer)?.get_mut(place(&registers, address))?.copy_from_slice(&bytes);
                    0
                }
            };
        }
    }
    Some(())
}

/// Generates `kernels` random kernels. Returns the first kernel whose steps do not leave the same
/// memory as the evaluator.
fn first_difference(kernels: u64, subtract: fn(u32, u32) -> u32) -> Result<Option<Kernel>, Box<dyn Error>> {
    // The generator of kernels calls the compiler to find out which ops, types and operands it supports.
    let mut palette = Palette::new(|kernel| compile(kernel).is_some()).with_types(&[Type::I32]);
    for seed in 0..kernels {
        let mut random = Random(seed);
        let kernel = palette.kernel(
            "k",
            &Shape { ops: 12, depth: 0, live: 0, traps: false, cooperation: Cooperation::Never },
            &mut random,
        );
        let Some(steps) = compile(&kernel) else { continue };
        let mut found = arguments(&kernel, 8, &mut random);
        let mut expected = found.clone();
        evaluate(&kernel, 8, &mut expected)?;
        run(&steps, 8, &mut found, subtract).ok_or_else(|| format!("an access out of bounds in\n{kernel}"))?;
        let is_buffer = |param: &halfbyte::ir::Param| matches!(param.kind, ParamKind::Buffer { .. });
        let differ = kernel.params.iter().zip(found.iter().zip(&expected));
        if differ.into_iter().any(|(param, (found, expected))| is_buffer(param) && found != expected) {
            return Ok(Some(kernel));
        }
    }
    Ok(None)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let none = first_difference(300, u32::wrapping_sub)?;
    assert!(none.is_none(), "{none:?}");

    // A machine that subtracts in the wrong order must be detected.
    let found = first_difference(300, |a, b| b.wrapping_sub(a))?.ok_or("the defect was not found")?;
    println!("the first kernel that shows it:\n{found}");
    assert!(found.to_string().contains("sub.i32"));
    Ok(())
}
