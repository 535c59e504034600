//! Execution of PTX instructions on many values of each register at once.

use halfbyte_isa::approx::Function;
use halfbyte_isa::half::{Compare, Format, Rounding};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Domain, HalfCompare, HalfMinMax, HalfOp};
use halfbyte_isa::ptx::meaning::{Reader, Write, meaning};
use halfbyte_isa::ptx::types::Special;
use halfbyte_isa::ptx::{Inst, Reg, Var};

/// `N` values of a 32-bit register.
pub type Row<const N: usize> = [u32; N];

/// Executes PTX instructions that compute data, in order. `registers` holds the values of the
/// 32-bit registers by number, and must contain every register that an instruction uses.
pub fn execute<'a, const N: usize>(insts: impl IntoIterator<Item = &'a Inst>, registers: &mut [Row<N>]) {
    let mut rows = Rows(Vec::new());
    for inst in insts {
        rows.0.clear();
        for write in meaning(inst, &mut rows, &mut PtxRegisters(registers)).writes {
            if let Write::Register(reg, [low, _]) = write {
                registers[reg.0 as usize] = *rows.row(low);
            }
        }
    }
}

/// The values of all registers, as the sources of one instruction.
struct PtxRegisters<'a, const N: usize>(&'a [Row<N>]);

impl<const N: usize> Reader<Rows<N>> for PtxRegisters<'_, N> {
    fn register(&mut self, rows: &mut Rows<N>, reg: Reg) -> [Number; 2] {
        let low = rows.push(self.0[reg.0 as usize]);
        [low, rows.word(0)]
    }

    fn predicate(&mut self, rows: &mut Rows<N>, _: Reg) -> Number {
        rows.truth(false)
    }

    fn special(&mut self, rows: &mut Rows<N>, _: Special) -> [Number; 2] {
        [rows.word(0); 2]
    }

    fn variable(&mut self, rows: &mut Rows<N>, _: Var) -> [Number; 2] {
        [rows.word(0); 2]
    }
}

/// The index of a computed row in [`Rows`].
type Number = usize;

/// A domain for the semantics of instructions whose values are rows. In a predicate, all bits of a
/// true value are set, and no bit of a false value.
struct Rows<const N: usize>(Vec<Row<N>>);

fn mask(truth: bool) -> u32 {
    if truth { u32::MAX } else { 0 }
}

impl<const N: usize> Rows<N> {
    fn row(&self, number: Number) -> &Row<N> {
        &self.0[number]
    }

    fn push(&mut self, row: Row<N>) -> Number {
        self.0.push(row);
        self.0.len() - 1
    }

    fn map<const M: usize>(&mut self, sources: [Number; M], f: impl Fn([u32; M]) -> u32) -> Number {
        let rows = sources.map(|number| *self.row(number));
        let row = std::array::from_fn(|i| f(rows.each_ref().map(|row| row[i])));
        self.push(row)
    }
}

#[rustfmt::skip]
impl<const N: usize> Domain for Rows<N> {
    type Word = Number;
    type Pred = Number;

    fn word(&mut self, value: u32) -> Number { self.push([value; N]) }
    fn truth(&mut self, value: bool) -> Number { self.push([mask(value); N]) }

    fn and(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| a & b) }
    fn or(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| a | b) }
    fn xor(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| a ^ b) }
    fn not(&mut self, a: Number) -> Number { self.map([a], |[a]| !a) }
    fn shl(&mut self, a: Number, count: Number) -> Number { self.map([a, count], |[a, n]| a.wrapping_shl(n)) }
    fn shr(&mut self, a: Number, count: Number) -> Number { self.map([a, count], |[a, n]| a.wrapping_shr(n)) }
    fn sar(&mut self, a: Number, count: Number) -> Number {
        self.map([a, count], |[a, n]| (a as i32).wrapping_shr(n) as u32)
    }
    fn add(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| a.wrapping_add(b)) }
    fn sub(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| a.wrapping_sub(b)) }
    fn mul(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| a.wrapping_mul(b)) }
    fn mul_high(&mut self, signed: bool, a: Number, b: Number) -> Number {
        self.map([a, b], |[a, b]| Concrete.mul_high(signed, a, b))
    }
    fn equal(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| mask(a == b)) }
    fn less(&mut self, signed: bool, a: Number, b: Number) -> Number {
        let flip = if signed { 1 << 31 } else { 0 };
        self.map([a, b], |[a, b]| mask(a ^ flip < b ^ flip))
    }
    fn both(&mut self, p: Number, q: Number) -> Number { self.and(p, q) }
    fn either(&mut self, p: Number, q: Number) -> Number { self.or(p, q) }
    fn differ(&mut self, p: Number, q: Number) -> Number { self.xor(p, q) }
    fn negate(&mut self, p: Number) -> Number { self.not(p) }
    fn select(&mut self, p: Number, a: Number, b: Number) -> Number {
        self.map([p, a, b], |[p, a, b]| p & a | !p & b)
    }

    fn fadd(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| Concrete.fadd(a, b)) }
    fn fmul(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| Concrete.fmul(a, b)) }
    fn fma(&mut self, a: Number, b: Number, c: Number) -> Number {
        self.map([a, b, c], |[a, b, c]| Concrete.fma(a, b, c))
    }
    fn fdiv(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| Concrete.fdiv(a, b)) }
    fn fsqrt(&mut self, a: Number) -> Number { self.map([a], |[a]| Concrete.fsqrt(a)) }
    fn elementary(&mut self, function: Function, a: Number) -> Number {
        self.map([a], |[a]| Concrete.elementary(function, a))
    }
    fn fcompare(&mut self, compare: Compare, a: Number, b: Number) -> Number {
        self.map([a, b], |[a, b]| mask(Concrete.fcompare(compare, a, b)))
    }
    fn int_to_float(&mut self, signed: bool, a: Number) -> Number {
        self.map([a], |[a]| Concrete.int_to_float(signed, a))
    }
    fn float_to_int(&mut self, signed: bool, a: Number) -> Number {
        self.map([a], |[a]| Concrete.float_to_int(signed, a))
    }
    fn narrow(&mut self, format: Format, rounding: Rounding, a: Number) -> Number {
        self.map([a], |[a]| Concrete.narrow(format, rounding, a))
    }
    fn widen(&mut self, format: Format, a: Number) -> Number { self.map([a], |[a]| Concrete.widen(format, a)) }
    fn half(&mut self, op: &HalfOp, a: Number, b: Number, c: Number) -> Number {
        self.map([a, b, c], |[a, b, c]| Concrete.half(op, a, b, c))
    }
    fn half_elementary(&mut self, function: Function, format: Format, a: Number) -> Number {
        self.map([a], |[a]| Concrete.half_elementary(function, format, a))
    }
    fn half_minmax(&mut self, op: &HalfMinMax, min: Number, a: Number, b: Number) -> Number {
        self.map([min, a, b], |[min, a, b]| Concrete.half_minmax(op, min != 0, a, b))
    }
    fn half_compare(&mut self, op: &HalfCompare, a: Number, b: Number) -> [Number; 2] {
        [0, 1].map(|lane: usize| self.map([a, b], |[a, b]| mask(Concrete.half_compare(op, a, b)[lane])))
    }
    fn permute(&mut self, a: Number, b: Number, selector: Number) -> Number {
        self.map([a, b, selector], |[a, b, selector]| Concrete.permute(a, b, selector))
    }
    fn lop3(&mut self, lut: u8, a: Number, b: Number, c: Number) -> Number {
        self.map([a, b, c], |[a, b, c]| Concrete.lop3(lut, a, b, c))
    }
}
