//! Vectors of sixteen integers in native code. The semantics define 32-bit components. The value
//! ranges of the components show where 8 or 16 bits suffice.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I8X16, I16};
use cranelift_codegen::ir::{InstBuilder, Type, Value};

use super::masks::Mask;
use super::words::Word;
use super::{Bytes, Emitter, HALVES, WORDS};

/// A vector of sixteen integers modulo 2^32. Each integer is a lane shifted left by `shift`. `low`
/// and `high` bound the lanes before the shift.
#[derive(Clone, Copy, Debug)]
pub(in crate::vp1::jit) struct Wide {
    lanes: Lanes,
    low: i64,
    high: i64,
    shift: u32,
}

#[derive(Clone, Copy, Debug)]
enum Lanes {
    /// The same 32-bit word in every lane.
    Splat(Word),
    /// Sixteen lanes as one `i8x16`, signed if `low` is negative.
    Bytes(Value),
    /// Sixteen lanes as two `i16x8`, signed if `low` is negative.
    Halves([Value; 2]),
    /// Sixteen lanes as four `i32x4`.
    Words([Value; 4]),
    /// Sixteen lanes as four `i32x4`, which must still be shifted right (arithmetic shift) by the number.
    Shifted([Value; 4], u32),
    /// The product of two vectors, which is not computed yet.
    Product(Narrow, Narrow),
    /// A deferred sum of `i32x4` vectors and at most one product.
    Sum(Sum),
    /// The maximum of lanes and a constant, which is not computed yet. The lanes are two `i16x8`
    /// (signed if `low` is negative), or four `i32x4` in `FloorWords`.
    FloorHalves([Value; 2], i32),
    FloorWords([Value; 4], i32),
}

/// Lanes whose values fit in signed 16-bit integers.
#[derive(Clone, Copy, Debug)]
enum Narrow {
    /// An `i8x16`; the flag is `true` if the bytes are signed.
    Bytes(Value, bool),
    /// Two `i16x8`.
    Halves([Value; 2]),
}

/// The sum `base + ((sum + product) << scale)`.
#[derive(Clone, Copy, Debug)]
struct Sum {
    base: [Value; 4],
    sum: Option<[Value; 4]>,
    /// A product that is not added yet, because one instruction can add two products.
    product: Option<(Narrow, Narrow)>,
    scale: u32,
}

/// The value `base + (product << scale)`, where `product` is the product of two vectors of bytes.
pub(in crate::vp1::jit) struct ProductAdded {
    /// The vector to which the product is added, as four `i32x4`.
    pub base: [Value; 4],
    /// The two factors of the product, as `i8x16`.
    pub bytes: [Value; 2],
    pub signed: [bool; 2],
    pub scale: u32,
}

/// Component width of a vector operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Byte,
    Half,
    Word,
}

fn fits_signed_half((low, high): (i64, i64)) -> bool {
    low >= i16::MIN.into() && high <= i16::MAX.into()
}

fn fits_unsigned_half((low, high): (i64, i64)) -> bool {
    low >= 0 && high <= u16::MAX.into()
}

fn fits_half(bounds: (i64, i64)) -> bool {
    fits_signed_half(bounds) || fits_unsigned_half(bounds)
}

fn union((a, b): (i64, i64), (c, d): (i64, i64)) -> (i64, i64) {
    (a.min(c), b.max(d))
}

impl Wide {
    fn new(lanes: Lanes, (low, high): (i64, i64)) -> Wide {
        Wide { lanes, low, high, shift: 0 }
    }

    /// Creates a vector from four `i32x4` whose value range is unknown.
    pub(crate) fn of_words(words: [Value; 4]) -> Wide {
        Wide::words_within(words, (i64::MIN, i64::MAX))
    }

    /// Creates a vector from four `i32x4` with a value range. If the range exceeds 32 bits, the
    /// lanes may have wrapped, and the range becomes that of all 32-bit integers.
    fn words_within(words: [Value; 4], (low, high): (i64, i64)) -> Wide {
        let all = (i32::MIN.into(), i32::MAX.into());
        let bounds = if low < all.0 || high > all.1 { all } else { (low, high) };
        Wide::new(Lanes::Words(words), bounds)
    }

    fn constant(value: i32) -> Wide {
        Wide::new(Lanes::Splat(Word::Const(value as u32)), (value.into(), value.into()))
    }

    /// Returns the constant that all sixteen integers equal, or `None` if they are not known to be constant.
    fn constant_value(self) -> Option<i32> {
        match self.lanes {
            Lanes::Splat(Word::Const(value)) => Some((value << self.shift) as i32),
            _ => None,
        }
    }

    fn lane_bounds(self) -> (i64, i64) {
        (self.low, self.high)
    }

    fn bounds(self) -> (i64, i64) {
        (self.low << self.shift, self.high << self.shift)
    }

    /// Returns `true` if the left shift cannot overflow 32 bits.
    fn is_exact(self) -> bool {
        let (low, high) = self.bounds();
        low >= i32::MIN.into() && high <= i32::MAX.into()
    }

    /// Returns the lanes without the left shift.
    fn unshifted(self) -> Wide {
        Wide { shift: 0, ..self }
    }

    /// Returns the vector with the amount of the left shift reduced by `by`.
    fn shifted_less(self, by: u32) -> Wide {
        Wide { shift: self.shift - by, ..self }
    }

    fn is_signed(self) -> bool {
        self.low < 0
    }

    /// Returns `true` if the lanes fit in 16 bits, and need at most a sign or zero extension to become `i16x8`.
    fn is_narrow(self) -> bool {
        let lanes = matches!(self.lanes, Lanes::Splat(_) | Lanes::Bytes(_) | Lanes::Halves(_));
        lanes && fits_half(self.lane_bounds())
    }

    /// Returns the operands if the vector is the sum of four `i32x4` and one product of bytes.
    pub(crate) fn as_product_added(self) -> Option<ProductAdded> {
        match self {
            Wide { lanes: Lanes::Sum(Sum { base, sum: None, product: Some((a, b)), scale }), shift: 0, .. } => {
                let (Narrow::Bytes(a, x), Narrow::Bytes(b, y)) = (a, b) else { return None };
                Some(ProductAdded { base, bytes: [a, b], signed: [x, y], scale })
            }
            _ => None,
        }
    }

    /// Returns the lanes as an `i8x16`, if they are bytes without a left shift.
    fn as_bytes(self) -> Option<Value> {
        match self {
            Wide { lanes: Lanes::Bytes(value), shift: 0, .. } => Some(value),
            _ => None,
        }
    }
}

/// Applies a function to each of the vectors.
fn map<const N: usize>(
    e: &mut Emitter<'_, '_>,
    a: [Value; N],
    f: impl Fn(&mut Emitter<'_, '_>, Value) -> Value,
) -> [Value; N] {
    a.map(|x| f(e, x))
}

/// Applies a function to each pair of vectors.
fn zip<const N: usize>(
    e: &mut Emitter<'_, '_>,
    a: [Value; N],
    b: [Value; N],
    mut f: impl FnMut(&mut Emitter<'_, '_>, Value, Value) -> Value,
) -> [Value; N] {
    let mut b = b.into_iter();
    a.map(|x| b.next().map_or(x, |y| f(e, x, y)))
}

impl Emitter<'_, '_> {
    pub(crate) fn wide_splat(&mut self, word: Word) -> Wide {
        Wide::new(Lanes::Splat(word), self.range_of(word))
    }

    pub(crate) fn wide_of_bytes(&mut self, signed: bool, bytes: Bytes) -> Wide {
        if let Bytes::Const(bytes) = bytes
            && let [first, ..] = bytes
            && bytes == [first; 16]
        {
            return Wide::constant(if signed { (first as i8).into() } else { first.into() });
        }
        let bounds = if signed { (i8::MIN.into(), i8::MAX.into()) } else { (0, u8::MAX.into()) };
        Wide::new(Lanes::Bytes(self.bytes_value(bytes)), bounds)
    }

    fn splat_of(&mut self, ty: Type, word: Word) -> Value {
        if let Word::Const(value) = word {
            return self.vector_of(ty, i64::from(value as i32));
        }
        let value = self.value(word);
        let value = match ty {
            HALVES => self.b.ins().ireduce(I16, value),
            I8X16 => self.b.ins().ireduce(I8, value),
            _ => value,
        };
        self.b.ins().splat(ty, value)
    }

    /// Returns the sixteen integers modulo 2^16 as two `i16x8`. Returns `None` if the lanes are not narrow.
    fn halves(&mut self, wide: Wide) -> Option<[Value; 2]> {
        let lanes = match wide.lanes {
            Lanes::Splat(Word::Const(value)) => {
                return Some([self.vector_of(HALVES, i64::from((value << wide.shift) as i32)); 2]);
            }
            Lanes::Splat(word) => [self.splat_of(HALVES, word); 2],
            Lanes::Bytes(bytes) if wide.is_signed() => self.widened(true, bytes),
            Lanes::Bytes(bytes) => self.widened(false, bytes),
            Lanes::Halves(halves) => halves,
            _ => return None,
        };
        Some(self.shl_lanes(lanes, wide.shift))
    }

    /// Sign-extends or zero-extends the components of a vector to twice their width.
    fn widened(&mut self, signed: bool, lanes: Value) -> [Value; 2] {
        if !signed {
            return [self.b.ins().uwiden_low(lanes), self.b.ins().uwiden_high(lanes)];
        }
        // One comparison gives the upper parts of both results. Separate extensions of the two
        // halves take more shuffles.
        let ty = self.b.func.dfg.value_type(lanes);
        let (wide, bytes) = if ty == I8X16 { (HALVES, 1) } else { (WORDS, 2) };
        let zero = self.vector_of(ty, 0);
        let sign = self.b.ins().icmp(IntCC::SignedLessThan, lanes, zero);
        [0, 8].map(|first| {
            let extended = self.shuffle(lanes, sign, interleaved(first, bytes));
            self.cast(wide, extended)
        })
    }

    fn narrow_halves(&mut self, narrow: Narrow) -> [Value; 2] {
        match narrow {
            Narrow::Bytes(bytes, signed) => self.widened(signed, bytes),
            Narrow::Halves(halves) => halves,
        }
    }

    /// Returns the lanes as a factor of a product, if they fit in signed 16-bit integers.
    fn narrow_of(&mut self, wide: Wide) -> Option<Narrow> {
        if !wide.is_narrow() || !fits_signed_half(wide.lane_bounds()) {
            return None;
        }
        match wide.lanes {
            Lanes::Bytes(bytes) => Some(Narrow::Bytes(bytes, wide.is_signed())),
            _ => self.halves(wide).map(Narrow::Halves),
        }
    }

    fn shl_lanes<const N: usize>(&mut self, lanes: [Value; N], count: u32) -> [Value; N] {
        if count == 0 { lanes } else { map(self, lanes, |e, x| e.b.ins().ishl_imm_u(x, i64::from(count))) }
    }

    /// Computes the vector as four `i32x4`, including all deferred operations.
    pub(crate) fn words(&mut self, wide: Wide) -> [Value; 4] {
        let lanes = match wide.lanes {
            Lanes::Splat(Word::Const(value)) => {
                return [self.vector_of(WORDS, i64::from((value << wide.shift) as i32)); 4];
            }
            Lanes::Splat(word) => [self.splat_of(WORDS, word); 4],
            Lanes::Words(words) => words,
            Lanes::Shifted(words, count) => map(self, words, |e, x| e.b.ins().sshr_imm_u(x, i64::from(count))),
            Lanes::Product(a, b) if fits_half(wide.lane_bounds()) => {
                let halves = Lanes::Halves(self.halves_of_product(a, b));
                self.words(Wide { lanes: halves, ..wide.unshifted() })
            }
            Lanes::Product(a, b) => {
                let zero = Narrow::Halves([self.vector_of(HALVES, 0); 2]);
                self.dot((a, b), (zero, zero))
            }
            Lanes::Sum(sum) => self.compute_sum(sum),
            Lanes::FloorWords(words, floor) => {
                let floor = self.vector_of(WORDS, floor.into());
                map(self, words, |e, x| e.b.ins().smax(x, floor))
            }
            Lanes::Bytes(_) | Lanes::Halves(_) | Lanes::FloorHalves(..) => {
                let [a, b] = match wide.lanes {
                    Lanes::FloorHalves(halves, floor) => self.floored(halves, floor, wide),
                    _ => match self.halves(wide.unshifted()) {
                        Some(halves) => halves,
                        None => return [self.vector_of(WORDS, 0); 4],
                    },
                };
                let ([a, b], [c, d]) = (self.widened(wide.is_signed(), a), self.widened(wide.is_signed(), b));
                [a, b, c, d]
            }
        };
        self.shl_lanes(lanes, wide.shift)
    }

    fn floored(&mut self, halves: [Value; 2], floor: i32, wide: Wide) -> [Value; 2] {
        let floor = self.vector_of(HALVES, floor.into());
        let signed = fits_signed_half(wide.lane_bounds());
        map(self, halves, |e, x| if signed { e.b.ins().smax(x, floor) } else { e.b.ins().umax(x, floor) })
    }

    /// Computes all deferred operations except the left shift.
    fn without_deferred(&mut self, wide: Wide) -> Wide {
        match wide.lanes {
            Lanes::FloorHalves(halves, floor) => {
                Wide { lanes: Lanes::Halves(self.floored(halves, floor, wide)), ..wide }
            }
            Lanes::Product(a, b) if fits_half(wide.lane_bounds()) => {
                Wide { lanes: Lanes::Halves(self.halves_of_product(a, b)), ..wide }
            }
            Lanes::FloorWords(..) | Lanes::Shifted(..) | Lanes::Product(..) | Lanes::Sum(_) => {
                Wide { lanes: Lanes::Words(self.words(wide.unshifted())), ..wide }
            }
            _ => wide,
        }
    }

    /// Computes a product that is deferred, alone or in a sum.
    fn settled_product(&mut self, wide: Wide) -> Wide {
        if let Lanes::Product(..) | Lanes::Sum(_) = wide.lanes { self.without_deferred(wide) } else { wide }
    }

    fn halves_of_product(&mut self, a: Narrow, b: Narrow) -> [Value; 2] {
        let (a, b) = (self.narrow_halves(a), self.narrow_halves(b));
        zip(self, a, b, |e, x, y| e.b.ins().imul(x, y))
    }

    /// Interleaves the components of two vectors. Returns four `i16x8`.
    fn interleave_lanes(&mut self, a: Narrow, b: Narrow) -> [Value; 4] {
        match (a, b) {
            (Narrow::Bytes(a, signed), Narrow::Bytes(b, other)) if signed == other => {
                let [low, high] = [0, 8].map(|first| self.shuffle(a, b, interleaved(first, 1)));
                let ([a, b], [c, d]) = (self.widened(signed, low), self.widened(signed, high));
                [a, b, c, d]
            }
            (a, b) => {
                let ([a, b], [c, d]) = (self.narrow_halves(a), self.narrow_halves(b));
                [(a, c, 0), (a, c, 8), (b, d, 0), (b, d, 8)].map(|(x, y, first)| {
                    let mixed = self.shuffle(x, y, interleaved(first, 2));
                    self.cast(HALVES, mixed)
                })
            }
        }
    }

    /// Computes the sum `a * b + c * d` as four `i32x4`.
    fn dot(&mut self, (a, b): (Narrow, Narrow), (c, d): (Narrow, Narrow)) -> [Value; 4] {
        let (x, y) = (self.interleave_lanes(a, c), self.interleave_lanes(b, d));
        self.dot_of_mixed(x, y)
    }

    /// Computes the sum `(a * b + c * d) << 8` of two products of bytes. The factors `a` and `c` are signed.
    fn shifted_dot(&mut self, (a, b): (Value, Narrow), (c, d): (Value, Narrow)) -> [Value; 4] {
        // Interleaving with zeros below each byte gives 16-bit components that are the bytes shifted left by 8.
        let zero = self.vector_of(I8X16, 0);
        let mut above = |first: u8| {
            let mixed = self.shuffle(a, c, interleaved(first, 1));
            [0, 8].map(|first| {
                let shifted = self.shuffle(zero, mixed, interleaved(first, 1));
                self.cast(HALVES, shifted)
            })
        };
        let ([p, q], [r, s]) = (above(0), above(8));
        let y = self.interleave_lanes(b, d);
        self.dot_of_mixed([p, q, r, s], y)
    }

    fn dot_of_mixed(&mut self, x: [Value; 4], y: [Value; 4]) -> [Value; 4] {
        zip(self, x, y, |e, x, y| {
            let (x_low, x_high) = (e.b.ins().swiden_low(x), e.b.ins().swiden_high(x));
            let (y_low, y_high) = (e.b.ins().swiden_low(y), e.b.ins().swiden_high(y));
            let (low, high) = (e.b.ins().imul(x_low, y_low), e.b.ins().imul(x_high, y_high));
            e.b.ins().iadd_pairwise(low, high)
        })
    }

    /// Computes a deferred sum as four `i32x4`.
    fn compute_sum(&mut self, Sum { base, sum, product, scale }: Sum) -> [Value; 4] {
        let product = product.map(|(a, b)| {
            // The value range of a deferred product is known only if both factors are bytes.
            let fits = |narrow: Narrow| matches!(narrow, Narrow::Bytes(..));
            let bounds = if fits(a) && fits(b) { product_of_bytes(a, b) } else { (i64::MIN, i64::MAX) };
            self.words(Wide { lanes: Lanes::Product(a, b), low: bounds.0, high: bounds.1, shift: 0 })
        });
        let added = match (sum, product) {
            (Some(sum), Some(product)) => zip(self, sum, product, |e, x, y| e.b.ins().iadd(x, y)),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return base,
        };
        let added = self.shl_lanes(added, scale);
        zip(self, base, added, |e, x, y| e.b.ins().iadd(x, y))
    }

    /// Returns a vector for the accumulator `$va`. Its sum may stay deferred after the end of the bundle.
    pub(crate) fn sums(&mut self, wide: Wide) -> Wide {
        match wide {
            Wide { lanes: Lanes::Sum(_), shift: 0, .. } => wide,
            wide => Wide::of_words(self.words(wide)),
        }
    }

    /// Adds a deferred product to a sum without computing both. Returns `None` if this is not possible.
    fn with_product(&mut self, sum: Wide, product: Wide) -> Option<Wide> {
        let Lanes::Product(a, b) = product.lanes else { return None };
        let sum = match sum {
            Wide { lanes: Lanes::Words(base), shift: 0, .. } => {
                Sum { base, sum: None, product: Some((a, b)), scale: product.shift }
            }
            Wide { lanes: Lanes::Sum(sum), shift: 0, .. } if sum.scale == product.shift => match sum.product {
                None => Sum { product: Some((a, b)), ..sum },
                Some((Narrow::Bytes(c, true), d))
                    if sum.scale == 8
                        && let Narrow::Bytes(a, true) = a =>
                {
                    let both = self.shifted_dot((a, b), (c, d));
                    let base = zip(self, sum.base, both, |e, x, y| e.b.ins().iadd(x, y));
                    Sum { base, product: None, ..sum }
                }
                Some(other) => {
                    let mut both = self.dot(other, (a, b));
                    if let Some(before) = sum.sum {
                        both = zip(self, before, both, |e, x, y| e.b.ins().iadd(x, y));
                    }
                    Sum { sum: Some(both), product: None, ..sum }
                }
            },
            _ => return None,
        };
        Some(Wide::new(Lanes::Sum(sum), (i32::MIN.into(), i32::MAX.into())))
    }

    /// Computes a sum or a difference, with the operation `f` on the vectors and `bounds` on the value ranges.
    fn combine(
        &mut self,
        a: Wide,
        b: Wide,
        bounds: impl Fn((i64, i64), (i64, i64)) -> (i64, i64),
        f: impl Fn(&mut Emitter<'_, '_>, Value, Value) -> Value,
    ) -> Wide {
        let (a, b) = (self.settled_product(a), self.settled_product(b));
        // The left shift that both operands have in common stays deferred. A constant counts as
        // shifted left by the number of its trailing zeros.
        let (a, b) = match (a.constant_value(), b.constant_value()) {
            (Some(value), None) => (constant_shifted(value, b.shift), b),
            (None, Some(value)) => (a, constant_shifted(value, a.shift)),
            _ => (a, b),
        };
        let shift = a.shift.min(b.shift);
        let (a, b) = (a.shifted_less(shift), b.shifted_less(shift));
        let within = bounds(a.bounds(), b.bounds());
        let is_narrow = a.is_narrow() && b.is_narrow() && fits_half(within);
        if is_narrow && let (Some(x), Some(y)) = (self.halves(a), self.halves(b)) {
            return Wide { shift, ..Wide::new(Lanes::Halves(zip(self, x, y, f)), within) };
        }
        let (x, y) = (self.words(a), self.words(b));
        Wide { shift, ..Wide::words_within(zip(self, x, y, f), within) }
    }

    pub(crate) fn add_wide(&mut self, a: Wide, b: Wide) -> Wide {
        match (a.constant_value(), b.constant_value()) {
            (Some(0), _) => return b,
            (_, Some(0)) => return a,
            (Some(a), Some(b)) => return Wide::constant(a.wrapping_add(b)),
            _ => {}
        }
        if let (Lanes::Product(x, y), Lanes::Product(z, w)) = (a.lanes, b.lanes)
            && a.shift == b.shift
        {
            let within = (a.low + b.low, a.high + b.high);
            if !fits_half(within) {
                return Wide { shift: a.shift, ..Wide::words_within(self.dot((x, y), (z, w)), within) };
            }
        }
        if let Some(sum) = self.with_product(a, b) {
            return sum;
        }
        self.combine(a, b, |a, b| (a.0 + b.0, a.1 + b.1), |e, x, y| e.b.ins().iadd(x, y))
    }

    pub(crate) fn sub_wide(&mut self, a: Wide, b: Wide) -> Wide {
        match (a.constant_value(), b.constant_value()) {
            (_, Some(0)) => return a,
            (Some(a), Some(b)) => return Wide::constant(a.wrapping_sub(b)),
            _ => {}
        }
        self.combine(a, b, |a, b| (a.0 - b.1, a.1 - b.0), |e, x, y| e.b.ins().isub(x, y))
    }

    pub(crate) fn mul_wide(&mut self, a: Wide, b: Wide) -> Wide {
        for (wide, factor) in [(a, b.constant_value()), (b, a.constant_value())] {
            match factor {
                Some(0) => return Wide::constant(0),
                Some(factor) if factor > 0 && (factor as u32).is_power_of_two() => {
                    return self.shl_wide(wide, factor.trailing_zeros());
                }
                _ => {}
            }
        }
        let shift = a.shift + b.shift;
        if shift > 31 {
            return Wide::constant(0);
        }
        let (a, b) = (a.unshifted(), b.unshifted());
        let corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
        let within = corners.iter().fold((i64::MAX, i64::MIN), |bounds, &corner| union(bounds, (corner, corner)));
        let (a, b) = (self.without_deferred(a), self.without_deferred(b));
        if let (Some(x), Some(y)) = (self.narrow_of(a), self.narrow_of(b)) {
            return Wide { shift, ..Wide::new(Lanes::Product(x, y), within) };
        }
        if a.is_narrow()
            && b.is_narrow()
            && fits_half(within)
            && let (Some(x), Some(y)) = (self.halves(a), self.halves(b))
        {
            let products = zip(self, x, y, |e, x, y| e.b.ins().imul(x, y));
            return Wide { shift, ..Wide::new(Lanes::Halves(products), within) };
        }
        let (x, y) = (self.words(a), self.words(b));
        Wide { shift, ..Wide::words_within(zip(self, x, y, |e, x, y| e.b.ins().imul(x, y)), within) }
    }

    pub(crate) fn shl_wide(&mut self, wide: Wide, count: u32) -> Wide {
        let wide = if let Lanes::Product(..) = wide.lanes { wide } else { self.without_deferred(wide) };
        match wide.shift + count {
            32.. => Wide::constant(0),
            shift => Wide { shift, ..wide },
        }
    }

    pub(crate) fn sar_wide(&mut self, wide: Wide, count: u32) -> Wide {
        if let Some(value) = wide.constant_value() {
            return Wide::constant(value >> count.min(31));
        }
        let wide = self.settled_product(wide);
        if wide.is_exact() {
            if count <= wide.shift {
                return wide.shifted_less(count);
            }
            let count = count - wide.shift;
            let wide = wide.unshifted();
            let bounds = (wide.low >> count, wide.high >> count);
            if let Lanes::Splat(word) = wide.lanes {
                let word = self.word_sar(word, Word::Const(count));
                return Wide::new(Lanes::Splat(word), bounds);
            }
            let settled = if let Lanes::FloorHalves(..) = wide.lanes { self.without_deferred(wide) } else { wide };
            if settled.is_narrow()
                && let Some(halves) = self.halves(settled)
            {
                let shifted = match (wide.is_signed(), i64::from(count)) {
                    (true, count) => map(self, halves, |e, x| e.b.ins().sshr_imm_u(x, count.min(15))),
                    (false, 16..) => return Wide::constant(0),
                    (false, count) => map(self, halves, |e, x| e.b.ins().ushr_imm_u(x, count)),
                };
                return Wide::new(Lanes::Halves(shifted), bounds);
            }
            if let Lanes::Shifted(words, before) = wide.lanes {
                return Wide::new(Lanes::Shifted(words, (before + count).min(31)), bounds);
            }
            return Wide::new(Lanes::Shifted(self.words(wide), count), bounds);
        }
        let bounds = (i64::from(i32::MIN >> count), i64::from(i32::MAX >> count));
        // After a left shift by at least 16, only the low 16 bits of a lane matter.
        if wide.is_narrow()
            && let (Some(up), Some(down)) = (wide.shift.checked_sub(16), count.checked_sub(16))
            && let Some(halves) = self.halves(wide.unshifted())
        {
            let halves = self.shl_lanes(halves, up);
            let halves = map(self, halves, |e, x| e.b.ins().sshr_imm_u(x, i64::from(down)));
            return Wide::new(Lanes::Halves(halves), bounds);
        }
        Wide::new(Lanes::Shifted(self.words(wide), count), bounds)
    }

    pub(crate) fn sar_wide_each(&mut self, wide: Wide, counts: Wide) -> Wide {
        if let Some(count) = counts.constant_value() {
            return self.sar_wide(wide, count as u32 & 15);
        }
        let (wide, counts) = (self.without_deferred(wide), self.without_deferred(counts));
        let (low, high) = wide.bounds();
        let is_narrow = wide.is_narrow() && counts.is_narrow() && fits_half((low, high));
        if is_narrow && let (Some(x), Some(n)) = (self.halves(wide), self.halves(counts)) {
            return Wide::new(Lanes::Halves(self.sar_lanes(HALVES, x, n, low < 0)), (low.min(0), high.max(0)));
        }
        let (x, n) = (self.words(wide), self.words(counts));
        Wide::of_words(self.sar_lanes(WORDS, x, n, true))
    }

    /// Shifts each lane right by its own count modulo 16. Each bit of the count selects one conditional shift.
    fn sar_lanes<const N: usize>(&mut self, ty: Type, x: [Value; N], n: [Value; N], signed: bool) -> [Value; N] {
        [8, 4, 2, 1].into_iter().fold(x, |x, bit| {
            zip(self, x, n, |e, x, n| {
                let bits = e.vector_of(ty, bit);
                let set = e.b.ins().band(n, bits);
                let set = e.b.ins().icmp(IntCC::Equal, set, bits);
                let shifted = if signed { e.b.ins().sshr_imm_u(x, bit) } else { e.b.ins().ushr_imm_u(x, bit) };
                e.b.ins().bitselect(set, shifted, x)
            })
        })
    }

    /// Returns the smallest component width that represents both operands exactly, and `true` if
    /// the components are signed.
    fn common_width(a: Wide, b: Wide) -> (Width, bool) {
        let both = union(a.bounds(), b.bounds());
        let byte = |wide: Wide| wide.as_bytes().is_some() || wide.constant_value().is_some();
        if byte(a) && byte(b) && both.0 >= i8::MIN.into() && both.1 <= i8::MAX.into() {
            return (Width::Byte, true);
        }
        if byte(a) && byte(b) && both.0 >= 0 && both.1 <= u8::MAX.into() {
            return (Width::Byte, false);
        }
        if a.is_narrow() && b.is_narrow() && fits_half(both) {
            return (Width::Half, fits_signed_half(both));
        }
        (Width::Word, true)
    }

    fn as_bytes(&mut self, wide: Wide) -> Value {
        match (wide.as_bytes(), wide.constant_value()) {
            (Some(bytes), _) => bytes,
            (None, known) => self.vector_of(I8X16, known.unwrap_or(0).into()),
        }
    }

    /// Computes the minimum or the maximum of two vectors.
    fn choose(
        &mut self,
        a: Wide,
        b: Wide,
        bounds: (i64, i64),
        f: impl Fn(&mut Emitter<'_, '_>, bool, Value, Value) -> Value,
    ) -> Wide {
        let (a, b) = (self.without_deferred(a), self.without_deferred(b));
        match Self::common_width(a, b) {
            (Width::Byte, signed) => {
                let (x, y) = (self.as_bytes(a), self.as_bytes(b));
                Wide::new(Lanes::Bytes(f(self, signed, x, y)), bounds)
            }
            (Width::Half, signed) if let (Some(x), Some(y)) = (self.halves(a), self.halves(b)) => {
                Wide::new(Lanes::Halves(zip(self, x, y, |e, x, y| f(e, signed, x, y))), bounds)
            }
            _ => {
                let (x, y) = (self.words(a), self.words(b));
                Wide::words_within(zip(self, x, y, |e, x, y| f(e, true, x, y)), bounds)
            }
        }
    }

    pub(crate) fn max_wide(&mut self, a: Wide, b: Wide) -> Wide {
        let (a, b) = (self.settled_product(a), self.settled_product(b));
        let (a, b) = if a.constant_value().is_some() { (b, a) } else { (a, b) };
        if let (Some(a), Some(b)) = (a.constant_value(), b.constant_value()) {
            return Wide::constant(a.max(b));
        }
        let (x, y) = (exact_bounds(a), exact_bounds(b));
        let bounds = (x.0.max(y.0), x.1.max(y.1));
        if let Some(floor) = b.constant_value() {
            if x.0 >= floor.into() {
                return a;
            }
            if x.1 <= floor.into() {
                return b;
            }
            let a = self.without_deferred(a);
            if a.as_bytes().is_none()
                && a.is_narrow()
                && fits_half(union(x, y))
                && let Some(halves) = self.halves(a)
            {
                return Wide::new(Lanes::FloorHalves(halves, floor), bounds);
            }
            if !a.is_narrow() {
                return Wide::new(Lanes::FloorWords(self.words(a), floor), bounds);
            }
        }
        self.choose(a, b, bounds, |e, signed, x, y| if signed { e.b.ins().smax(x, y) } else { e.b.ins().umax(x, y) })
    }

    pub(crate) fn min_wide(&mut self, a: Wide, b: Wide) -> Wide {
        let (a, b) = (self.settled_product(a), self.settled_product(b));
        let (a, b) = if a.constant_value().is_some() { (b, a) } else { (a, b) };
        if let (Some(a), Some(b)) = (a.constant_value(), b.constant_value()) {
            return Wide::constant(a.min(b));
        }
        let (x, y) = (exact_bounds(a), exact_bounds(b));
        let bounds = (x.0.min(y.0), x.1.min(y.1));
        if let Some(ceiling) = b.constant_value() {
            if x.1 <= ceiling.into() {
                return a;
            }
            if x.0 >= ceiling.into() {
                return b;
            }
            if let Some(clamped) = self.saturated(a, ceiling, bounds) {
                return clamped;
            }
        }
        self.choose(a, b, bounds, |e, signed, x, y| if signed { e.b.ins().smin(x, y) } else { e.b.ins().umin(x, y) })
    }

    /// Computes a clamp to the range of a narrower type by a saturating narrowing instruction.
    /// Returns `None` if no such instruction fits.
    fn saturated(&mut self, wide: Wide, ceiling: i32, bounds: (i64, i64)) -> Option<Wide> {
        if wide.shift != 0 {
            return None;
        }
        let floor_is = |least: i32| match wide.lanes {
            Lanes::FloorHalves(_, floor) | Lanes::FloorWords(_, floor) => floor == least,
            _ => wide.low >= least.into(),
        };
        let signed = match ceiling {
            0xff | 0xffff if floor_is(0) => false,
            0x7f if floor_is(-0x80) => true,
            0x7fff if floor_is(-0x8000) => true,
            _ => return None,
        };
        let [low, high] = match wide.lanes {
            Lanes::Words(_) | Lanes::Shifted(..) | Lanes::FloorWords(..) => {
                let [a, b, c, d] = match wide.lanes {
                    Lanes::FloorWords(words, _) => words,
                    _ => self.words(wide),
                };
                if ceiling == 0xffff {
                    let halves = [self.b.ins().unarrow(a, b), self.b.ins().unarrow(c, d)];
                    return Some(Wide::new(Lanes::Halves(halves), bounds));
                }
                let halves = [self.b.ins().snarrow(a, b), self.b.ins().snarrow(c, d)];
                if ceiling == 0x7fff {
                    return Some(Wide::new(Lanes::Halves(halves), bounds));
                }
                halves
            }
            Lanes::Halves(halves) | Lanes::FloorHalves(halves, _)
                if ceiling <= 0xff && fits_signed_half(wide.lane_bounds()) =>
            {
                halves
            }
            _ => return None,
        };
        let bytes = if signed { self.b.ins().snarrow(low, high) } else { self.b.ins().unarrow(low, high) };
        Some(Wide::new(Lanes::Bytes(bytes), bounds))
    }

    pub(crate) fn select_wide(&mut self, p: Mask, a: Wide, b: Wide) -> Wide {
        match (p, a.lanes, b.lanes) {
            (Mask::Bits(Word::Const(0)), ..) => return b,
            (_, Lanes::Splat(x), Lanes::Splat(y)) if a.shift == b.shift && are_equal(x, y) => return a,
            _ => {}
        }
        let (a, b) = (self.without_deferred(a), self.without_deferred(b));
        let bounds = union(exact_bounds(a), exact_bounds(b));
        match Self::common_width(a, b) {
            (Width::Byte, _) => {
                let (x, y) = (self.as_bytes(a), self.as_bytes(b));
                let p = self.mask_bytes(p);
                Wide::new(Lanes::Bytes(self.b.ins().bitselect(p, x, y)), bounds)
            }
            (Width::Half, _) if let (Some([a, b]), Some([x, y])) = (self.halves(a), self.halves(b)) => {
                let [p, q] = self.mask_halves(p);
                let halves = [self.b.ins().bitselect(p, a, x), self.b.ins().bitselect(q, b, y)];
                Wide::new(Lanes::Halves(halves), bounds)
            }
            _ => {
                let (x, y) = (self.words(a), self.words(b));
                let mut masks = self.mask_words(p).into_iter();
                let words = zip(self, x, y, |e, x, y| {
                    let p = masks.next().unwrap_or(x);
                    e.b.ins().bitselect(p, x, y)
                });
                Wide::words_within(words, bounds)
            }
        }
    }

    /// Compares two vectors for equality or for the order of signed integers.
    pub(crate) fn compare_wide(&mut self, cond: IntCC, a: Wide, b: Wide) -> Mask {
        let (a, b) = (self.without_deferred(a), self.without_deferred(b));
        match Self::common_width(a, b) {
            (Width::Byte, signed) => {
                let (x, y) = (self.as_bytes(a), self.as_bytes(b));
                Mask::Bytes(self.b.ins().icmp(if signed { cond } else { cond.unsigned() }, x, y))
            }
            (Width::Half, signed) if let (Some(x), Some(y)) = (self.halves(a), self.halves(b)) => {
                let cond = if signed { cond } else { cond.unsigned() };
                Mask::Halves(zip(self, x, y, |e, x, y| e.b.ins().icmp(cond, x, y)))
            }
            _ => {
                let (x, y) = (self.words(a), self.words(b));
                Mask::Words(zip(self, x, y, |e, x, y| e.b.ins().icmp(cond, x, y)))
            }
        }
    }

    /// Truncates each of the sixteen integers to 8 bits.
    pub(crate) fn wide_narrow(&mut self, wide: Wide) -> Bytes {
        if let Some(value) = wide.constant_value() {
            return Bytes::Const([value as u8; 16]);
        }
        let wide = self.without_deferred(wide);
        if let Some(bytes) = wide.as_bytes() {
            return Bytes::Value(bytes);
        }
        let (low, high) = wide.bounds();
        let is_signed = low >= i8::MIN.into() && high <= i8::MAX.into();
        let fits = is_signed || low >= 0 && high <= u8::MAX.into();
        let [low, high] = match if wide.is_narrow() { self.halves(wide) } else { None } {
            Some(halves) if fits => halves,
            Some(halves) => {
                let byte = self.vector_of(HALVES, 0xff);
                map(self, halves, |e, x| e.b.ins().band(x, byte))
            }
            None => {
                let mut words = self.words(wide);
                if !fits {
                    let byte = self.vector_of(WORDS, 0xff);
                    words = map(self, words, |e, x| e.b.ins().band(x, byte));
                }
                let [a, b, c, d] = words;
                [self.b.ins().snarrow(a, b), self.b.ins().snarrow(c, d)]
            }
        };
        let signed = fits && is_signed;
        Bytes::Value(if signed { self.b.ins().snarrow(low, high) } else { self.b.ins().unarrow(low, high) })
    }
}

/// Returns the shuffle indices that interleave two vectors, from byte `first` of each vector on.
/// The unit of interleaving is `bytes` bytes.
fn interleaved(first: u8, bytes: u8) -> [u8; 16] {
    std::array::from_fn(|i| {
        let i = i as u8;
        first + i / (2 * bytes) * bytes + i % bytes + i / bytes % 2 * 16
    })
}

/// Returns the value range of a product of two vectors of bytes.
fn product_of_bytes(a: Narrow, b: Narrow) -> (i64, i64) {
    match (a, b) {
        (Narrow::Bytes(_, false), Narrow::Bytes(_, false)) => (0, 0xff * 0xff),
        (Narrow::Bytes(_, true), Narrow::Bytes(_, true)) => (-0x80 * 0x7f, 0x80 * 0x80),
        _ => (-0x80 * 0xff, 0x7f * 0xff),
    }
}

/// Returns `true` if two 32-bit words are known to be equal.
fn are_equal(a: Word, b: Word) -> bool {
    match (a, b) {
        (Word::Const(a), Word::Const(b)) => a == b,
        (Word::Value(a, _), Word::Value(b, _)) => a == b,
        _ => false,
    }
}

/// Returns the value range of the sixteen integers. The range is that of all 32-bit integers if the
/// left shift may overflow.
fn exact_bounds(wide: Wide) -> (i64, i64) {
    if wide.is_exact() { wide.bounds() } else { (i32::MIN.into(), i32::MAX.into()) }
}

/// Represents a constant as a smaller constant with a left shift of at most `most`.
fn constant_shifted(value: i32, most: u32) -> Wide {
    let shift = value.trailing_zeros().min(most);
    Wide { shift, ..Wide::constant(value >> shift.min(31)) }
}
