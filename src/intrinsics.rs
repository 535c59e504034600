//! What targets' instructions mean in a kernel: the machine's own meaning of the one word, on registers that hold the
//! operands.
//!
//! An operand or result takes as many 32-bit registers as it needs, from an aligned one; an `i1` takes a predicate. Lanes
//! lie in the registers as in memory.

use halfbyte_ir::eval::{IntrinsicFn, Intrinsics, Operand, pack, unpack};
use halfbyte_ir::{Elem, IntrinsicData, Type};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Reader, SpecialReg, Write};
use halfbyte_isa::halu::meaning::meaning;
use halfbyte_isa::halu::template::{Placeholder, Template, Value};
use halfbyte_isa::row::RegFile;
use halfbyte_isa::target::Target;

/// The meanings of all instructions that a word of a target stands for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meanings;

impl Intrinsics for Meanings {
    fn resolve<'a>(
        &'a self,
        intrinsic: &'a IntrinsicData,
        args: &[Type],
        result: Type,
    ) -> Result<IntrinsicFn<'a>, String> {
        if intrinsic.target != Target::Halu.name() {
            return Err(format!("instructions of `{}` have no meaning here", intrinsic.target));
        }
        let values = args.iter().map(|&ty| value(ty)).collect::<Result<Vec<_>, _>>()?;
        let template = Template::parse(&intrinsic.text, value(result)?, &values).map_err(|error| error.to_string())?;
        let mut inst = template.inst;
        for &(slot, placeholder) in &template.slots {
            let number = placeholder_number(placeholder);
            inst.set(slot.field, if slot.file == RegFile::Pred { number } else { number * APART }.into());
        }
        Ok(Box::new(move |operands, out| {
            let mut registers = Registers { gpr: [0; 256], pred: [false; 8] };
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
}

/// Registers stand four apart, so that each may be a quad; predicates next to each other.
const APART: u8 = 4;

/// A template has at most six operands.
fn placeholder_number(placeholder: Placeholder) -> u8 {
    match placeholder {
        Placeholder::Result => 0,
        Placeholder::Operand(number) => number + 1,
    }
}

/// Where a value of a type lies.
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
}

impl Registers {
    fn set(&mut self, number: usize, value: &Operand<'_>) {
        let words = pack(value.ty, value.lanes);
        if value.ty == Type::I1 {
            self.pred[number % 8] = words[0] & 1 == 1;
            return;
        }
        let halves = words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]);
        let registers = self.gpr.iter_mut().skip(number * usize::from(APART));
        for (register, half) in registers.zip(halves).take(APART.into()) {
            *register = half;
        }
    }

    fn get(&self, ty: Type, lanes: &mut [u64]) {
        let mut words = [0; 8];
        if ty == Type::I1 {
            words[0] = self.pred[0].into();
        } else {
            for (i, &register) in self.gpr.iter().take(APART.into()).enumerate() {
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
    // What an intrinsic's text can't name is never asked for.
    fn ur(&mut self, _: &mut Concrete, _: u8) -> u32 {
        0
    }
    fn constant(&mut self, _: &mut Concrete, _: u8, _: u16) -> u32 {
        0
    }
    fn special(&mut self, _: &mut Concrete, _: SpecialReg) -> u32 {
        0
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn run(text: &str, args: &[(Type, &[u64])], result: Type) -> Result<Vec<u64>, String> {
        let intrinsic = IntrinsicData { target: "halu".into(), text: text.into() };
        let types: Vec<Type> = args.iter().map(|(ty, _)| *ty).collect();
        let operands: Vec<Operand<'_>> = args.iter().map(|&(ty, lanes)| Operand { ty, lanes }).collect();
        let mut out = vec![0; result.lanes()];
        Meanings.resolve(&intrinsic, &types, result)?(&operands, &mut out);
        Ok(out)
    }

    #[test]
    fn a_word_computes_on_lanes() {
        let (a, b, c) = ([1, 2, 250, 255], [1, 2, 10, 1], [9, 9, 9, 9]);
        fn bytes(lanes: &[u64]) -> (Type, &[u64]) {
            (Type::I8X4, lanes)
        }
        let sum = run("vadd4.u32.u32.u32.sat $d.b10, $0, $1, $2", &[bytes(&a), bytes(&b), bytes(&c)], Type::I8X4);
        assert_eq!(sum, Ok(vec![2, 4, 9, 9]));
        let halves: (Type, &[u64]) = (Type::F16X2, &[0x3c00, 0x4000]);
        assert_eq!(run("HADD2 $d, $0, $0", &[halves], Type::F16X2), Ok(vec![0x4000, 0x4400]));
        let truth: (Type, &[u64]) = (Type::I1, &[1]);
        let word: (Type, &[u64]) = (Type::I32, &[7]);
        assert_eq!(run("SEL $d, $1, RZ, $0", &[truth, word], Type::I32), Ok(vec![7]));
        assert_eq!(run("SEL $d, $1, RZ, !$0", &[truth, word], Type::I32), Ok(vec![0]));
        assert_eq!(
            run("IMAD.WIDE.U32 $d, $0, $0, RZ", &[(Type::I32, &[0xffff_ffff])], Type::I64),
            Ok(vec![0xffff_fffe_0000_0001])
        );
    }

    #[test]
    fn what_is_no_intrinsic_says_why() {
        let a: (Type, &[u64]) = (Type::I32, &[1]);
        for (text, reason) in [
            ("HADD2 $d, R7, $0", "register `R7` cannot be named"),
            ("HADD2 $d, $1, $0", "`$1` is no placeholder"),
            ("FROB $d, $0", "unknown instruction"),
            ("EXIT", "an intrinsic only computes"),
        ] {
            let error = run(text, &[a], Type::I32).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(
            run("MOV $d, $0", &[(Type::I16X16, &[0; 16])], Type::I32).unwrap_err().contains("no register holds i16x16")
        );
    }
}
