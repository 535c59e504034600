//! Propagation of undefined bits: the bits of values that depend on uninitialised data. The
//! analysis works with or without concrete values.
//!
//! The rules are those of a memory checker. Moves, shifts, bitwise operations, selects and lane
//! operations are exact to the bit. In a sum or product, each bit depends on the operand bits at
//! the same and lower positions. Every other result depends as a whole on all operands.

use std::fmt;

use smallvec::SmallVec;

use super::inst::Inst;
use super::meaning::{Access, Called, Next, Reader, Write, fence, guard, meaning};
use super::operand::{Address, Base, Operand, Reg};
use super::types::{Token, Type};
use crate::approx::Function;
use crate::half::{Compare, Format, Rounding};
use crate::halu::concrete::Concrete;
use crate::halu::domain::{
    Conversion, Divide, Domain, FloatKind, FloatOp, HalfCompare, HalfKind, HalfMinMax, HalfOp, NumberFormat,
};
use crate::row::{InstClass, OperandRole};

/// Domain of the analysis of undefined bits. The domain also computes the values of known words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Definedness;

/// A 32-bit word with a mask of its undefined bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word {
    /// The value of the word, if the analysis knows it. The undefined bits of a known value hold 0 or 1 like other
    /// bits.
    pub value: Option<u32>,
    /// Mask of the undefined bits of the word.
    pub undefined: u32,
}

/// A truth value that may be undefined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Truth {
    /// The truth value, if the analysis knows it.
    pub value: Option<bool>,
    /// `true` if the truth value is undefined.
    pub undefined: bool,
}

impl Word {
    /// Returns the mask of the bits whose value is known and defined: the one bits if `ones` is
    /// set, otherwise the zero bits.
    fn known(self, ones: bool) -> u32 {
        self.value.map_or(0, |value| if ones { value } else { !value }) & !self.undefined
    }

    /// Returns the minimum and the maximum unsigned value of the word over all values of its
    /// undefined bits. Returns `None` if the value of the word is unknown.
    fn range(self) -> Option<[u32; 2]> {
        self.value.map(|value| [value & !self.undefined, value | self.undefined])
    }
}

/// Returns the bitwise OR of the undefined-bit masks of the words.
fn union(words: &[Word]) -> u32 {
    words.iter().fold(0, |undefined, word| undefined | word.undefined)
}

/// Returns `bits` if any bit of any word is undefined, otherwise 0.
fn all_of(bits: u32, words: &[Word]) -> u32 {
    if union(words) == 0 { 0 } else { bits }
}

/// Returns the mask of the bits of a sum that can be undefined: all bits from the lowest set bit of
/// `undefined` upward, because of carries.
fn upward(undefined: u32) -> u32 {
    undefined | undefined.wrapping_neg()
}

/// Returns a mask with all bits set in each 16-bit half of `undefined` that is not zero.
fn halves(undefined: u32) -> u32 {
    [0xFFFF, 0xFFFF_0000].into_iter().filter(|half| undefined & half != 0).fold(0, |all, half| all | half)
}

fn values<const N: usize>(words: [Word; N]) -> Option<[u32; N]> {
    let mut found = [0; N];
    for (found, word) in found.iter_mut().zip(words) {
        *found = word.value?;
    }
    Some(found)
}

fn word<const N: usize>(words: [Word; N], undefined: u32, value: impl FnOnce([u32; N]) -> u32) -> Word {
    Word { value: values(words).map(value), undefined }
}

fn truth<const N: usize>(words: [Word; N], undefined: bool, value: impl FnOnce([u32; N]) -> bool) -> Truth {
    Truth { value: values(words).map(value), undefined }
}

/// Computes a 64-bit value as two words. If any operand bit is undefined, the result bits in `mask` are undefined.
fn pair<const N: usize>(
    operands: [[Word; 2]; N],
    mask: u64,
    value: impl FnOnce([[u32; 2]; N]) -> [u32; 2],
) -> [Word; 2] {
    let mask = if operands.iter().all(|words| union(words) == 0) { 0 } else { mask };
    let mut found = [[0; 2]; N];
    let mut is_known = true;
    for (found, words) in found.iter_mut().zip(operands) {
        match values(words) {
            Some(words) => *found = words,
            None => is_known = false,
        }
    }
    let value = is_known.then(|| value(found));
    [(0, mask as u32), (1, (mask >> 32) as u32)]
        .map(|(half, undefined)| Word { value: value.map(|value: [u32; 2]| value[half]), undefined })
}

/// Replaces the operands beyond the operand count of `kind` by `none`, so that unused operands count as defined.
fn operands_of<T>(kind: FloatKind, operands: [T; 3], none: T) -> [T; 3]
where
    T: Copy,
{
    let count = kind.operands();
    let [a, b, c] = operands;
    [a, if count > 1 { b } else { none }, if count > 2 { c } else { none }]
}

/// Returns the mask of the result bits that a number of the format occupies.
fn bits(form: NumberFormat) -> u64 {
    match form {
        NumberFormat::Int { bits, .. } => u64::MAX >> (64 - bits.clamp(1, 64)),
        NumberFormat::F16 | NumberFormat::Bf16 => 0xFFFF,
        NumberFormat::F32 => u32::MAX.into(),
        NumberFormat::F64 => u64::MAX,
    }
}

const NONE: Word = Word { value: Some(0), undefined: 0 };

impl Domain for Definedness {
    type Word = Word;
    type Pred = Truth;

    fn word(&mut self, value: u32) -> Word {
        Word { value: Some(value), undefined: 0 }
    }

    fn truth(&mut self, value: bool) -> Truth {
        Truth { value: Some(value), undefined: false }
    }

    fn and(&mut self, a: Word, b: Word) -> Word {
        word([a, b], union(&[a, b]) & !a.known(false) & !b.known(false), |[a, b]| a & b)
    }

    fn or(&mut self, a: Word, b: Word) -> Word {
        word([a, b], union(&[a, b]) & !a.known(true) & !b.known(true), |[a, b]| a | b)
    }

    fn xor(&mut self, a: Word, b: Word) -> Word {
        word([a, b], union(&[a, b]), |[a, b]| a ^ b)
    }

    fn not(&mut self, a: Word) -> Word {
        word([a], a.undefined, |[a]| !a)
    }

    fn shl(&mut self, a: Word, count: Word) -> Word {
        word([a, count], shifted(a, count, u32::wrapping_shl), |[a, count]| a.wrapping_shl(count))
    }

    fn shr(&mut self, a: Word, count: Word) -> Word {
        word([a, count], shifted(a, count, u32::wrapping_shr), |[a, count]| a.wrapping_shr(count))
    }

    fn sar(&mut self, a: Word, count: Word) -> Word {
        let of_mask = |mask: u32, count: u32| (mask as i32).wrapping_shr(count) as u32;
        word([a, count], shifted(a, count, of_mask), |[a, count]| (a as i32).wrapping_shr(count) as u32)
    }

    fn add(&mut self, a: Word, b: Word) -> Word {
        word([a, b], upward(union(&[a, b])), |[a, b]| a.wrapping_add(b))
    }

    fn sub(&mut self, a: Word, b: Word) -> Word {
        word([a, b], upward(union(&[a, b])), |[a, b]| a.wrapping_sub(b))
    }

    fn mul(&mut self, a: Word, b: Word) -> Word {
        word([a, b], upward(union(&[a, b])), |[a, b]| a.wrapping_mul(b))
    }

    fn mul_high(&mut self, signed: bool, a: Word, b: Word) -> Word {
        word([a, b], all_of(u32::MAX, &[a, b]), |[a, b]| Concrete.mul_high(signed, a, b))
    }

    fn divide(&mut self, op: Divide, a: Word, b: Word) -> Word {
        word([a, b], all_of(u32::MAX, &[a, b]), |[a, b]| Concrete.divide(op, a, b))
    }

    fn divide_wide(&mut self, op: Divide, a: [Word; 2], b: [Word; 2]) -> [Word; 2] {
        pair([a, b], u64::MAX, |[a, b]| Concrete.divide_wide(op, a, b))
    }

    fn equal(&mut self, a: Word, b: Word) -> Truth {
        let undefined = union(&[a, b]);
        let differ = values([a, b]).is_some_and(|[a, b]| (a ^ b) & !undefined != 0);
        truth([a, b], undefined != 0 && !differ, |[a, b]| a == b)
    }

    fn less(&mut self, signed: bool, a: Word, b: Word) -> Truth {
        // A signed comparison is an unsigned comparison of the operands with inverted sign bits.
        let flipped = |x: Word| Word { value: x.value.map(|value| value ^ (u32::from(signed) << 31)), ..x };
        let is_certain = match (flipped(a).range(), flipped(b).range()) {
            (Some([least_a, most_a]), Some([least_b, most_b])) => most_a < least_b || least_a >= most_b,
            _ => false,
        };
        truth([a, b], union(&[a, b]) != 0 && !is_certain, |[a, b]| Concrete.less(signed, a, b))
    }

    fn both(&mut self, p: Truth, q: Truth) -> Truth {
        let is_false = |p: Truth| p.value == Some(false) && !p.undefined;
        let undefined = (p.undefined || q.undefined) && !is_false(p) && !is_false(q);
        let value = match (p.value, q.value) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (p, q) => p.and(q),
        };
        Truth { value, undefined }
    }

    fn either(&mut self, p: Truth, q: Truth) -> Truth {
        let (p, q) = (self.negate(p), self.negate(q));
        let neither = self.both(p, q);
        self.negate(neither)
    }

    fn differ(&mut self, p: Truth, q: Truth) -> Truth {
        let value = p.value.zip(q.value).map(|(p, q)| p != q);
        Truth { value, undefined: p.undefined || q.undefined }
    }

    fn negate(&mut self, p: Truth) -> Truth {
        Truth { value: p.value.map(|value| !value), ..p }
    }

    fn select(&mut self, p: Truth, a: Word, b: Word) -> Word {
        match p.value {
            Some(true) if !p.undefined => a,
            Some(false) if !p.undefined => b,
            _ => {
                let unlike = values([a, b]).map_or(u32::MAX, |[a, b]| a ^ b);
                let unlike = if p.undefined { unlike } else { 0 };
                let value = p.value.and_then(|p| if p { a.value } else { b.value });
                Word { value, undefined: union(&[a, b]) | unlike }
            }
        }
    }

    fn fadd(&mut self, a: Word, b: Word) -> Word {
        word([a, b], all_of(u32::MAX, &[a, b]), |[a, b]| Concrete.fadd(a, b))
    }

    fn fmul(&mut self, a: Word, b: Word) -> Word {
        word([a, b], all_of(u32::MAX, &[a, b]), |[a, b]| Concrete.fmul(a, b))
    }

    fn fma(&mut self, a: Word, b: Word, c: Word) -> Word {
        word([a, b, c], all_of(u32::MAX, &[a, b, c]), |[a, b, c]| Concrete.fma(a, b, c))
    }

    fn fdiv(&mut self, a: Word, b: Word) -> Word {
        word([a, b], all_of(u32::MAX, &[a, b]), |[a, b]| Concrete.fdiv(a, b))
    }

    fn fsqrt(&mut self, a: Word) -> Word {
        word([a], all_of(u32::MAX, &[a]), |[a]| Concrete.fsqrt(a))
    }

    fn elementary(&mut self, function: Function, a: Word) -> Word {
        word([a], all_of(u32::MAX, &[a]), |[a]| Concrete.elementary(function, a))
    }

    fn fcompare(&mut self, compare: Compare, a: Word, b: Word) -> Truth {
        truth([a, b], union(&[a, b]) != 0, |[a, b]| Concrete.fcompare(compare, a, b))
    }

    fn int_to_float(&mut self, signed: bool, a: Word) -> Word {
        word([a], all_of(u32::MAX, &[a]), |[a]| Concrete.int_to_float(signed, a))
    }

    fn float_to_int(&mut self, signed: bool, a: Word) -> Word {
        word([a], all_of(u32::MAX, &[a]), |[a]| Concrete.float_to_int(signed, a))
    }

    fn narrow(&mut self, format: Format, rounding: Rounding, a: Word) -> Word {
        word([a], all_of(0xFFFF, &[a]), |[a]| Concrete.narrow(format, rounding, a))
    }

    fn widen(&mut self, format: Format, a: Word) -> Word {
        let low = Word { undefined: a.undefined & 0xFFFF, ..a };
        word([a], all_of(u32::MAX, &[low]), |[a]| Concrete.widen(format, a))
    }

    fn single(&mut self, op: &FloatOp, operands: [Word; 3]) -> Word {
        let operands = operands_of(op.kind, operands, NONE);
        word(operands, all_of(u32::MAX, &operands), |operands| Concrete.single(op, operands))
    }

    fn double(&mut self, op: &FloatOp, operands: [[Word; 2]; 3]) -> [Word; 2] {
        let operands = operands_of(op.kind, operands, [NONE; 2]);
        pair(operands, u64::MAX, |operands| Concrete.double(op, operands))
    }

    fn double_compare(&mut self, compare: Compare, a: [Word; 2], b: [Word; 2]) -> Truth {
        let [[a0, a1], [b0, b1]] = [a, b];
        let all = [a0, a1, b0, b1];
        truth(all, union(&all) != 0, |[a0, a1, b0, b1]| Concrete.double_compare(compare, [a0, a1], [b0, b1]))
    }

    fn convert(&mut self, op: &Conversion, a: [Word; 2]) -> [Word; 2] {
        let read = bits(op.from);
        let [low, high] = a;
        let a = [(low, read as u32), (high, (read >> 32) as u32)]
            .map(|(word, read)| Word { undefined: word.undefined & read, ..word });
        pair([a], bits(op.to), |[a]| Concrete.convert(op, a))
    }

    fn half(&mut self, op: &HalfOp, a: Word, b: Word, c: Word) -> Word {
        let c = if op.kind == HalfKind::Fma { c } else { NONE };
        word([a, b, c], halves(union(&[a, b, c])), |[a, b, c]| Concrete.half(op, a, b, c))
    }

    fn half_elementary(&mut self, function: Function, format: Format, a: Word) -> Word {
        word([a], halves(a.undefined), |[a]| Concrete.half_elementary(function, format, a))
    }

    fn half_minmax(&mut self, op: &HalfMinMax, min: Truth, a: Word, b: Word) -> Word {
        let undefined = if min.undefined { u32::MAX } else { halves(union(&[a, b])) };
        let value = values([a, b]).zip(min.value).map(|([a, b], min)| Concrete.half_minmax(op, min, a, b));
        Word { value, undefined }
    }

    fn half_compare(&mut self, op: &HalfCompare, a: Word, b: Word) -> [Truth; 2] {
        let undefined = union(&[a, b]);
        let value = values([a, b]).map(|[a, b]| Concrete.half_compare(op, a, b));
        [(0, 0xFFFF), (1, 0xFFFF_0000)]
            .map(|(lane, mask)| Truth { value: value.map(|value| value[lane]), undefined: undefined & mask != 0 })
    }

    fn count_ones(&mut self, a: Word) -> Word {
        word([a], all_of(0x3F, &[a]), |[a]| a.count_ones())
    }

    fn leading_zeros(&mut self, a: Word) -> Word {
        word([a], all_of(0x3F, &[a]), |[a]| a.leading_zeros())
    }

    fn reverse_bits(&mut self, a: Word) -> Word {
        word([a], a.undefined.reverse_bits(), |[a]| a.reverse_bits())
    }
}

/// Returns the mask of the undefined bits of a shift result. `shift` shifts the mask of `a` by a known count.
fn shifted(a: Word, count: Word, shift: impl FnOnce(u32, u32) -> u32) -> u32 {
    match count.value {
        Some(number) if count.undefined & 31 == 0 => shift(a.undefined, number),
        None if count.undefined & 31 == 0 => all_of(u32::MAX, &[a]),
        _ => u32::MAX,
    }
}

/// A use that makes an undefined value observable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Use {
    /// The value is stored to memory.
    Store,
    /// The value is a memory address.
    Address,
    /// The value is a guard, the index of an indirect branch or the address of an indirect call.
    Branch,
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Use::Store => "a stored value",
            Use::Address => "an address",
            Use::Branch => "a branch or a guard",
        })
    }
}

/// The registers with undefined bits that an instruction writes. Each entry holds the written
/// register, the mask of its undefined bits, and the register that was read with undefined bits.
pub type Spread = SmallVec<[(Reg, u64, Reg); 2]>;

/// Returns the registers to which an instruction propagates undefined bits. `undefined` returns the mask of the
/// undefined bits of a register. The caller handles arguments of calls and exchanges within a warp.
///
/// # Errors
/// Returns the register and its use if the instruction makes an undefined value observable.
pub fn propagate(
    inst: &Inst,
    undefined: impl Fn(Reg) -> u64,
    read: &mut impl Reader<Definedness>,
) -> Result<Spread, (Reg, Use)> {
    let mut regs: SmallVec<[Reg; 4]> = SmallVec::new();
    inst.visit_registers(|role, reg| {
        if role != OperandRole::Def && undefined(reg) != 0 {
            regs.push(reg);
        }
    });
    let Some(&first) = regs.first() else { return Ok(Spread::new()) };
    let is_memory = inst.row().class == InstClass::Memory;
    if let Some(guard) = inst.guard.filter(|guard| regs.contains(&guard.reg)) {
        if is_memory || inst.row().class == InstClass::Control || inst.is_collective() || fence(inst).is_some() {
            return Err((guard.reg, Use::Branch));
        }
        let written = inst.registers().filter(|(role, _)| *role != OperandRole::Use);
        return Ok(written.map(|(_, reg)| (reg, u64::MAX, guard.reg)).collect());
    }
    let domain = &mut Definedness;
    if guard(inst, domain, read).is_some_and(|holds| holds.value == Some(false)) {
        return Ok(Spread::new());
    }
    let base = inst.operands.iter().find_map(|operand| match operand {
        &Operand::Memory(Address { base: Base::Register(reg), .. }) => Some(reg).filter(|reg| regs.contains(reg)),
        _ => None,
    });
    if let Some(base) = base {
        return Err((base, Use::Address));
    }
    if is_memory && inst.is_warp_level() {
        return Err((first, Use::Store));
    }
    let effects = meaning(inst, domain, read);
    let any = |words: &[Word; 2], ty: Type| whole(*words) & ty.truncate(u64::MAX) != 0;
    let observed = match &effects.access {
        // Stores to `.param` pass arguments of a call, which is not an observable use.
        Some(Access::Store { data, element, .. }) if data.iter().any(|words| any(words, *element)) => {
            Some(Use::Store).filter(|_| !inst.has(Token::Param))
        }
        Some(Access::Atomic { operands, element, .. })
            if operands.iter().flatten().any(|words| any(words, *element)) =>
        {
            Some(Use::Store)
        }
        Some(Access::Copy { taken, .. }) if taken.undefined != 0 => Some(Use::Store),
        Some(Access::Allocate { bytes: words, .. } | Access::RestoreStack { to: words }) if whole(*words) != 0 => {
            Some(Use::Address)
        }
        _ => match effects.next {
            Next::Indexed { index, .. } if index.undefined != 0 => Some(Use::Branch),
            Next::Call(Called::At { address, .. }) if whole(address) != 0 => Some(Use::Branch),
            _ => None,
        },
    };
    if let Some(observed) = observed {
        return Err((first, observed));
    }
    let written = effects.writes.into_iter().map(|write| match write {
        Write::Register(reg, words) => (reg, whole(words), first),
        Write::Predicate(reg, p) => (reg, p.undefined.into(), first),
    });
    Ok(written.filter(|(_, bits, _)| *bits != 0).collect())
}

/// Returns the mask of the undefined bits of a 64-bit value, which is given as two words, low word first.
pub fn whole([low, high]: [Word; 2]) -> u64 {
    u64::from(high.undefined) << 32 | u64::from(low.undefined)
}
