//! Byte planes of wide lanes, for targets whose vectors consist of bytes. Plane 0 is a vector of the lowest bytes of
//! all lanes, plane 1 holds the bytes above them, and so on.
//!
//! A target may have single instructions that narrow certain sums of products to bytes. [`Narrowings`] tells which
//! narrowings the target has; these stay unchanged. All other ops are computed on planes: a sum column by column with
//! carries, a product from products of bytes, a comparison from the lowest byte up. If the target computes a part of a
//! sum with one instruction, this part becomes one addend.
//!
//! [`Narrowings`]: halfbyte_ir::Narrowings

mod bytes;
mod memory;
mod sums;

use halfbyte_ir::{Attr, Inst, IntCC, Kernel, Op, Span, Type, Value};
use smallvec::{SmallVec, smallvec};

use super::Legaliser;
use super::pairs::Range;
use crate::rewrite::{constant_lanes, signed_lane};

/// Maximum nesting of the ops that one legalisation follows.
const DEPTH: u32 = 40;
/// Maximum number of bytes in one column of a sum. A target can add at most this number of bytes and a carry in one
/// instruction.
const COLUMN: usize = 12;
/// Number of bits in a byte.
const BITS: usize = 8;
/// Number of lanes in a vector.
const LANES: usize = 16;

/// Vector of the bytes at one position of all lanes; `None` if all these bytes are 0.
type Plane = Option<Value>;
/// Byte planes of a wide value, those of the lowest bytes first.
pub(super) type Planes = SmallVec<[Plane; 4]>;
/// Columns of a sum: the addends at each byte position, lowest position first.
type Columns = SmallVec<[SmallVec<[Value; COLUMN]>; 8]>;

/// Legalises an instruction that has a wide operand and a result that is not wide, by byte planes.
/// Returns `false` if the target does not process wide lanes as byte planes.
pub(super) fn by_planes(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> bool {
    let kernel = legaliser.kernel();
    let Some(result) = kernel.result(inst).filter(|_| legaliser.has_planes()) else { return false };
    let takes_wide = kernel.args(inst).iter().any(|&arg| kernel.ty(arg).is_wide());
    if !takes_wide || kernel.ty(result).is_wide() {
        return false;
    }
    let done = legaliser.attempt(|legaliser| Maker { legaliser, depth: DEPTH }.of_bytes(inst));
    done.inspect(|&value| legaliser.replace(result, value)).is_some()
}

/// Returns the byte planes from which [`whole`] has assembled a value.
fn parts(kernel: &Kernel, value: Value) -> Option<Planes> {
    let inst_of = |value: Value, op: Op| kernel.def_inst(value).filter(|&inst| kernel.insts[inst].op == op);
    let bytes = |value: Value| match *kernel.args(inst_of(value, Op::Zext)?) {
        [bytes] if kernel.ty(bytes) == Type::I8X16 => Some(bytes),
        _ => None,
    };
    let mut planes = Planes::new();
    let mut rest = value;
    for place in (1..kernel.ty(value).elem().bits() as usize / BITS).rev() {
        let &[lower, upper] = kernel.args(inst_of(rest, Op::Add)?) else { return None };
        let &[upper, count] = kernel.args(inst_of(upper, Op::Shl)?) else { return None };
        if everywhere(kernel, count)? != (place * BITS) as u64 {
            return None;
        }
        planes.push(Some(bytes(upper)?));
        rest = lower;
    }
    planes.push(Some(bytes(rest)?));
    planes.reverse();
    Some(planes)
}

/// Matches a clamp to the range of a signed or an unsigned byte. Returns the saturating op for that
/// range, and the clamped value.
fn clamp(kernel: &Kernel, value: Value) -> Option<(Op, Value)> {
    let bounded = |value: Value| {
        let inst = kernel.def_inst(value)?;
        let &[a, b] = kernel.args(inst) else { return None };
        let (held, bound) = if everywhere(kernel, a).is_some() { (b, a) } else { (a, b) };
        let bound = signed_lane(kernel.ty(value).elem(), everywhere(kernel, bound)?);
        Some((kernel.insts[inst].op, held, bound))
    };
    let (outer, held, first) = bounded(value)?;
    let (inner, number, second) = bounded(held)?;
    let (least, most) = match (outer, inner) {
        (Op::MinS, Op::MaxS) => (second, first),
        (Op::MaxS, Op::MinS) => (first, second),
        _ => return None,
    };
    match (least, most) {
        (0, 0xff) => Some((Op::NarrowSatU, number)),
        (-0x80, 0x7f) => Some((Op::NarrowSatS, number)),
        _ => None,
    }
}

/// Returns `true` if a value was assembled from byte planes, or if it is a right shift of such a value by whole bytes.
pub(super) fn are_there(kernel: &Kernel, value: Value) -> bool {
    parts(kernel, value).is_some() || moved(kernel, value).is_some()
}

/// Matches a right shift by whole bytes of a value that was assembled from byte planes. Returns the
/// op, the planes and the count in bits.
fn moved(kernel: &Kernel, value: Value) -> Option<(Op, Planes, usize)> {
    let inst = kernel.def_inst(value)?;
    let op = kernel.insts[inst].op;
    let &[value, count] = kernel.args(inst) else { return None };
    let planes = parts(kernel, value).filter(|_| matches!(op, Op::ShrS | Op::ShrU))?;
    let count = everywhere(kernel, count)? as usize % (planes.len() * BITS);
    count.is_multiple_of(BITS).then_some((op, planes, count))
}

/// Assembles a wide value as the sum of its byte planes, each shifted to its position. A target may compute this sum as
/// a part of a longer sum.
pub(super) fn whole(
    kernel: &mut Kernel,
    ty: Type,
    planes: &[Value],
    span: Span,
    made: &mut Vec<Inst>,
) -> Option<Value> {
    let mut sum: Option<Value> = None;
    for (place, &plane) in planes.iter().enumerate() {
        let wide = make(kernel, (Op::Zext, ty, Attr::None), &[plane], span, made)?;
        sum = Some(match sum {
            None => wide,
            Some(sum) => {
                let count = count(kernel, ty, place, span, made)?;
                let up = make(kernel, (Op::Shl, ty, Attr::None), &[wide, count], span, made)?;
                make(kernel, (Op::Add, ty, Attr::None), &[sum, up], span, made)?
            }
        });
    }
    sum
}

/// Splits a wide value into its byte planes. The ops of the split are legalised later.
pub(super) fn apart(kernel: &mut Kernel, value: Value, span: Span, made: &mut Vec<Inst>) -> Vec<Value> {
    let ty = kernel.ty(value);
    let mut plane = |place: usize| {
        let mut lanes = value;
        if place > 0 {
            let count = count(kernel, ty, place, span, made)?;
            lanes = make(kernel, (Op::ShrU, ty, Attr::None), &[value, count], span, made)?;
        }
        make(kernel, (Op::Trunc, Type::I8X16, Attr::None), &[lanes], span, made)
    };
    (0..ty.elem().bits() as usize / BITS).filter_map(&mut plane).collect()
}

/// Creates the constant by which byte `place` of a lane is shifted, in bits.
fn count(kernel: &mut Kernel, ty: Type, place: usize, span: Span, made: &mut Vec<Inst>) -> Option<Value> {
    let count = kernel.const_attr(ty, bits_everywhere(ty, (place * BITS) as u64));
    make(kernel, (Op::Const, ty, count), &[], span, made)
}

fn make(
    kernel: &mut Kernel,
    (op, ty, attr): (Op, Type, Attr),
    args: &[Value],
    span: Span,
    made: &mut Vec<Inst>,
) -> Option<Value> {
    let inst = kernel.make_inst(op, ty, attr, args, Some(ty), span);
    made.push(inst);
    kernel.result(inst)
}

/// Returns the bits of a splat constant with sixteen lanes, each equal to `lane`.
fn bits_everywhere(ty: Type, lane: u64) -> [u64; 8] {
    let bits = ty.elem().bits();
    let word = (0..u64::BITS)
        .step_by(bits as usize)
        .fold(0, |word, at| word | (lane & (u64::MAX >> (u64::BITS - bits))) << at);
    let mut words = [0; 8];
    words.iter_mut().take((ty.bits() / u64::BITS) as usize).for_each(|other| *other = word);
    words
}

/// Returns the bits of the common lane of a splat constant.
fn everywhere(kernel: &Kernel, value: Value) -> Option<u64> {
    let (ty, lanes) = constant_lanes(kernel, value)?;
    let lanes = lanes.get(..ty.lanes())?;
    let &first = lanes.first()?;
    lanes.iter().all(|&lane| lane == first).then_some(first)
}

fn is_in(range: &Range, of: &Range) -> bool {
    of.contains(range.start()) && of.contains(range.end())
}

struct Maker<'m, 'k, 'c, 'l> {
    legaliser: &'m mut Legaliser<'k, 'c, 'l>,
    /// Number of nested ops that the traversal may still follow.
    depth: u32,
}

impl Maker<'_, '_, '_, '_> {
    fn kernel(&self) -> &Kernel {
        self.legaliser.kernel()
    }

    fn ty(&self, value: Value) -> Type {
        self.kernel().ty(value)
    }

    // Vectors of bytes --------------------------------------------------------------------------------------------------

    fn op(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        self.legaliser.place(op, Type::I8X16, Attr::None, args)
    }

    fn byte(&mut self, byte: u8) -> Option<Value> {
        let attr = self.legaliser.constant_attr(Type::I8X16, bits_everywhere(Type::I8X16, byte.into()));
        self.legaliser.place(Op::Const, Type::I8X16, attr, &[])
    }

    /// Returns a plane as a vector of bytes, also if all its bytes are 0.
    fn vector(&mut self, plane: Plane) -> Option<Value> {
        match plane {
            Some(value) => Some(value),
            None => self.byte(0),
        }
    }

    /// Returns a vector of bytes as a plane, which is `None` if the vector is the constant 0.
    fn plane(&self, value: Value) -> Plane {
        (everywhere(self.kernel(), value) != Some(0)).then_some(value)
    }

    fn shifted(&mut self, op: Op, value: Value, count: usize) -> Option<Value> {
        if count == 0 {
            return Some(value);
        }
        let count = self.byte(count as u8)?;
        self.op(op, &[value, count])
    }

    /// Returns a plane in which each byte is 0xff if the operand's byte is negative, otherwise 0.
    fn sign(&mut self, plane: Plane) -> Option<Plane> {
        Some(match plane {
            Some(value) => Some(self.shifted(Op::ShrS, value, BITS - 1)?),
            None => None,
        })
    }

    fn either(&mut self, a: Plane, b: Plane) -> Option<Plane> {
        Some(match (a, b) {
            (Some(a), Some(b)) => Some(self.op(Op::Or, &[a, b])?),
            (one, other) => one.or(other),
        })
    }

    fn compared(&mut self, cc: IntCC, a: Plane, b: Plane) -> Option<Value> {
        let (a, b) = (self.vector(a)?, self.vector(b)?);
        self.legaliser.place(Op::Icmp, Type::I8X16, Attr::IntCC(cc), &[a, b])
    }

    fn mask(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        self.legaliser.place(op, Type::I1X16, Attr::None, args)
    }

    fn chosen(&mut self, condition: Value, a: Plane, b: Plane) -> Option<Plane> {
        if a == b {
            return Some(a);
        }
        let (a, b) = (self.vector(a)?, self.vector(b)?);
        self.op(Op::Select, &[condition, a, b]).map(Some)
    }

    fn each_chosen(&mut self, condition: Value, a: &Planes, b: &Planes) -> Option<Planes> {
        a.iter().zip(b).map(|(&a, &b)| self.chosen(condition, a, b)).collect()
    }
}
// Ops ---------------------------------------------------------------------------------------------------------------------

impl Maker<'_, '_, '_, '_> {
    /// Computes the result of an instruction with wide operands, if it can be computed on byte planes.
    fn of_bytes(&mut self, inst: Inst) -> Option<Value> {
        let kernel = self.kernel();
        let data = kernel.insts[inst];
        let args: SmallVec<[Value; 4]> = kernel.args(inst).iter().map(|&arg| self.legaliser.current(arg)).collect();
        match (data.op, args.as_slice(), data.attr) {
            (Op::Trunc, &[value], _) => {
                if let Some(narrowed) = self.clamped(value) {
                    return Some(narrowed);
                }
                let planes = self.planes(value)?;
                self.vector(*planes.first()?)
            }
            (op @ (Op::NarrowSatS | Op::NarrowSatU | Op::NarrowSatUU), &[value], _) => {
                let planes = self.planes(value)?;
                let narrowed = self.narrowed(op, &planes)?;
                self.vector(*narrowed.first()?)
            }
            (Op::Icmp, &[a, b], Attr::IntCC(cc)) => {
                let (a, b) = (self.planes(a)?, self.planes(b)?);
                self.compare(cc, &a, &b)
            }
            (Op::ReduceAddU | Op::ReduceAddS, &[value], _) => {
                let planes = self.planes(value)?;
                let mut sum: Option<Value> = None;
                for (place, &plane) in planes.iter().enumerate() {
                    let Some(plane) = plane else { continue };
                    let op = if place + 1 == planes.len() { data.op } else { Op::ReduceAddU };
                    let mut part = self.legaliser.place(op, Type::I8X16, Attr::None, &[plane])?;
                    if place > 0 {
                        let count =
                            self.legaliser.place(Op::Const, Type::I32, Attr::Bits((place * BITS) as u64), &[])?;
                        part = self.legaliser.place(Op::Shl, Type::I32, Attr::None, &[part, count])?;
                    }
                    sum = Some(match sum {
                        Some(sum) => self.legaliser.place(Op::Add, Type::I32, Attr::None, &[sum, part])?,
                        None => part,
                    });
                }
                match sum {
                    Some(sum) => Some(sum),
                    None => self.legaliser.place(Op::Const, Type::I32, Attr::Bits(0), &[]),
                }
            }
            (op @ (Op::ReduceMinS | Op::ReduceMinU | Op::ReduceMaxS | Op::ReduceMaxU), &[value], _) => {
                self.reduced(op, value)
            }
            (Op::Extract | Op::Split, &[value], Attr::Lane(number)) => {
                let part = if data.op == Op::Extract { data.ty.lane_type() } else { data.ty };
                let bytes = part.bits() as usize / BITS;
                let at = usize::from(number) * bytes;
                let vectors = self.in_memory(value)?;
                let vector = *vectors.get(at / LANES)?;
                if part == Type::I8X16 {
                    return Some(vector);
                }
                let number = (at % LANES / bytes) as u8;
                self.legaliser.place(Op::Split, part, Attr::Lane(number), &[vector])
            }
            _ => None,
        }
    }

    /// Replaces a clamp to the range of a byte and the following truncation by a saturating
    /// narrowing (32-bit lanes take two). Returns `None` if `value` is not such a clamp.
    fn clamped(&mut self, value: Value) -> Option<Value> {
        let (op, number) = clamp(self.kernel(), value)?;
        let mut draft = Vec::new();
        let mut halves = number;
        if self.ty(number) == Type::I32X16 {
            halves = self.legaliser.draft(&mut draft, Op::NarrowSatS, Type::I16X16, Attr::None, &[number]);
        }
        let bytes = self.legaliser.draft(&mut draft, op, Type::I8X16, Attr::None, &[halves]);
        if draft.last().is_some_and(|&inst| self.legaliser.narrows(inst)) {
            self.legaliser.place_drafted(&draft);
            return Some(bytes);
        }
        let mut planes = self.planes(number)?;
        if planes.len() > 2 {
            planes = self.narrowed(Op::NarrowSatS, &planes)?;
        }
        let narrowed = self.narrowed(op, &planes)?;
        self.vector(*narrowed.first()?)
    }

    /// Computes the minimum or the maximum of all lanes of a wide value as a scalar.
    fn reduced(&mut self, op: Op, value: Value) -> Option<Value> {
        let cc = match op {
            Op::ReduceMinS => IntCC::LtS,
            Op::ReduceMinU => IntCC::LtU,
            Op::ReduceMaxS => IntCC::GtS,
            _ => IntCC::GtU,
        };
        let mut planes = self.planes(value)?;
        for distance in [8, 4, 2, 1] {
            let turned = planes.iter().map(|&plane| self.rotate_lanes(plane, distance)).collect::<Option<Planes>>()?;
            planes = self.extreme(cc, &planes, &turned)?;
        }
        let bytes: SmallVec<[Value; 4]> = planes
            .iter()
            .map(|&plane| {
                let vector = self.vector(plane)?;
                self.legaliser.place(Op::Extract, Type::I8X16, Attr::Lane(0), &[vector])
            })
            .collect::<Option<_>>()?;
        self.legaliser.place(Op::Concat, self.ty(value).lane_type(), Attr::None, &bytes)
    }

    /// Computes `popcount`, `clz`, `ctz` or `bit_reverse` in each lane.
    fn counted(&mut self, op: Op, planes: &Planes) -> Option<Planes> {
        if op == Op::BitReverse {
            let turned = planes.iter().rev().map(|&plane| match plane {
                Some(value) => self.op(op, &[value]).map(Some),
                None => Some(None),
            });
            return turned.collect();
        }
        let mut count: Plane = None;
        let width = planes.len() * BITS;
        if op == Op::Popcount {
            let mut columns: Columns = smallvec![SmallVec::new(); 1];
            for &plane in planes.iter().flatten() {
                let bits = self.op(op, &[plane])?;
                Self::put(&mut columns, &[Some(bits)], 0);
            }
            count = *self.total(&columns)?.first()?;
        } else {
            // A later selection overrides an earlier one, so the byte with precedence is tested
            // last. If all bytes are 0, the result is the lane width.
            let mut number = Some(self.byte(width as u8)?);
            let places: SmallVec<[usize; 4]> =
                if op == Op::Clz { (0..planes.len()).collect() } else { (0..planes.len()).rev().collect() };
            for place in places {
                let Some(plane) = *planes.get(place)? else { continue };
                let before = if op == Op::Clz { planes.len() - 1 - place } else { place };
                let bits = self.op(op, &[plane])?;
                let before = self.byte((before * BITS) as u8)?;
                let bits = self.op(Op::Add, &[bits, before])?;
                let is_empty = self.compared(IntCC::Eq, Some(plane), None)?;
                number = self.chosen(is_empty, number, Some(bits))?;
            }
            count = number.or(count);
        }
        let mut counts: Planes = smallvec![count];
        counts.resize(planes.len(), None);
        Some(counts)
    }

    /// Returns the byte planes of a wide value.
    fn planes(&mut self, value: Value) -> Option<Planes> {
        let value = self.legaliser.current(value);
        if let Some(known) = self.legaliser.planes_here.get(&value) {
            return known.clone();
        }
        self.depth = self.depth.checked_sub(1)?;
        let found = self.planes_of(value);
        self.depth += 1;
        self.legaliser.planes_here.insert(value, found.clone());
        found
    }

    fn planes_of(&mut self, value: Value) -> Option<Planes> {
        let kernel = self.kernel();
        if let Some(planes) = parts(kernel, value) {
            return Some(planes);
        }
        let ty = kernel.ty(value);
        let places = ty.elem().bits() as usize / BITS;
        if let Some((_, lanes)) = constant_lanes(kernel, value) {
            return (0..places).map(|place| self.constant(&lanes, place)).collect();
        }
        let inst = kernel.def_inst(value)?;
        let (op, attr) = (kernel.insts[inst].op, kernel.insts[inst].attr);
        let args: SmallVec<[Value; 4]> = kernel.args(inst).iter().map(|&arg| self.legaliser.current(arg)).collect();
        if let (Op::Zext | Op::Sext, &[narrow]) = (op, args.as_slice()) {
            return self.extended(op, narrow, places);
        }
        if let Some((op, planes, count)) = moved(self.kernel(), value) {
            return self.shifted_by(op, &planes, count);
        }
        if let Some(planes) = self.at_once(value, Vec::new()) {
            return Some(planes);
        }
        match (op, args.as_slice()) {
            (Op::Add | Op::Sub | Op::Neg, _) => self.sum(value, places),
            (Op::Mul, &[a, b]) => {
                let (a, b) = (self.planes(a)?, self.planes(b)?);
                self.product(&a, &b, places)
            }
            (Op::MulWideU | Op::MulWideS, &[a, b]) => {
                let (a, b) = (self.narrow_planes(a)?, self.narrow_planes(b)?);
                self.wide_product(&a, &b, op == Op::MulWideS)
            }
            (Op::MulHiU | Op::MulHiS, &[a, b]) => {
                let (a, b) = (self.planes(a)?, self.planes(b)?);
                let product = self.wide_product(&a, &b, op == Op::MulHiS)?;
                Some(Planes::from_slice(product.get(places..)?))
            }
            (Op::Shl | Op::ShrU | Op::ShrS | Op::RoundShrU | Op::RoundShrS | Op::Rotl | Op::Rotr, &[a, count]) => {
                let constant = everywhere(self.kernel(), count);
                let a = self.planes(a)?;
                match constant {
                    Some(count) => self.shifted_by(op, &a, count as usize % (places * BITS)),
                    None => {
                        let counts = self.planes(count)?;
                        self.shifted_in_lanes(op, &a, *counts.first()?)
                    }
                }
            }
            (Op::And | Op::Or | Op::Xor, &[a, b]) => {
                let (a, b) = (self.planes(a)?, self.planes(b)?);
                a.iter().zip(&b).map(|(&a, &b)| self.bits(op, a, b)).collect()
            }
            (Op::Not, &[a]) => {
                let a = self.planes(a)?;
                self.complement(&a)
            }
            (Op::Select, &[condition, a, b]) => {
                let (a, b) = (self.planes(a)?, self.planes(b)?);
                self.each_chosen(condition, &a, &b)
            }
            (Op::MinS | Op::MinU | Op::MaxS | Op::MaxU, &[a, b]) => {
                let (a, b) = (self.planes(a)?, self.planes(b)?);
                self.extreme(order(op)?, &a, &b)
            }
            (Op::Abs, &[a]) => {
                let a = self.planes(a)?;
                let negated = self.negated(&a)?;
                let is_negative = self.is_negative(&a)?;
                self.each_chosen(is_negative, &negated, &a)
            }
            (Op::AbsDiffS | Op::AbsDiffU, &[a, b]) => {
                let (a, b) = (self.planes(a)?, self.planes(b)?);
                let cc = if op == Op::AbsDiffS { IntCC::LtS } else { IntCC::LtU };
                let less = self.compare(cc, &a, &b)?;
                let (more, least) = (self.each_chosen(less, &b, &a)?, self.each_chosen(less, &a, &b)?);
                self.subtracted(&more, &least)
            }
            (Op::AddSatU | Op::SubSatU | Op::AddSatS | Op::SubSatS, &[a, b]) => {
                let (a, b) = (self.planes(a)?, self.planes(b)?);
                self.saturated(op, &a, &b)
            }
            (Op::AvgU | Op::AvgS, &[a, b]) => {
                let (a, b) = (self.planes(a)?, self.planes(b)?);
                self.average(op == Op::AvgS, &a, &b)
            }
            (Op::Trunc | Op::NarrowSatS | Op::NarrowSatU | Op::NarrowSatUU, &[wide]) => {
                let wide = self.planes(wide)?;
                self.narrowed(op, &wide)
            }
            (Op::MaskExpand, &[mask]) => {
                let bytes = self.op(Op::MaskExpand, &[mask])?;
                Some(smallvec![Some(bytes); places])
            }
            (Op::Splat, &[scalar]) => self.splat(scalar, places),
            (Op::Shuffle, &[a, b]) => {
                let (a, b) = (self.planes(a)?, self.planes(b)?);
                let shuffle = |(&a, &b): (&Plane, &Plane)| {
                    let (a, b) = (self.vector(a)?, self.vector(b)?);
                    self.legaliser.place(Op::Shuffle, Type::I8X16, attr, &[a, b]).map(Some)
                };
                a.iter().zip(&b).map(shuffle).collect()
            }
            (Op::Insert, &[vector, scalar]) => {
                let Attr::Lane(lane) = attr else { return None };
                let (vector, splat) = (self.planes(vector)?, self.splat(scalar, places)?);
                let from = |i: usize| if i == usize::from(lane) { LANES + i } else { i };
                let lanes: [u8; LANES] = std::array::from_fn(|i| from(i) as u8);
                let insert = |(&old, &new): (&Plane, &Plane)| {
                    let (old, new) = (self.vector(old)?, self.vector(new)?);
                    self.shuffled(old, new, &lanes).map(Some)
                };
                vector.iter().zip(&splat).map(insert).collect()
            }
            (Op::Popcount | Op::Clz | Op::Ctz | Op::BitReverse, &[a]) => {
                let a = self.planes(a)?;
                self.counted(op, &a)
            }
            (Op::Concat, parts) => self.put_together(parts, places),
            (Op::Split, &[wide]) => {
                let Attr::Lane(number) = attr else { return None };
                let vectors = self.in_memory(wide)?;
                let vectors = vectors.chunks(places).nth(usize::from(number))?;
                self.of_memory(vectors)
            }
            _ => None,
        }
    }

    fn constant(&mut self, lanes: &[u64], place: usize) -> Option<Plane> {
        let mut bits = [0; 8];
        for (lane, word) in lanes.iter().take(LANES).enumerate() {
            let byte = word >> (place * BITS) & 0xff;
            *bits.get_mut(lane * BITS / 64)? |= byte << (lane * BITS % 64);
        }
        if bits == [0; 8] {
            return Some(None);
        }
        let attr = self.legaliser.constant_attr(Type::I8X16, bits);
        self.legaliser.place(Op::Const, Type::I8X16, attr, &[]).map(Some)
    }

    /// Returns the byte planes of a wide value. A vector of bytes is its own only plane.
    fn narrow_planes(&mut self, value: Value) -> Option<Planes> {
        if self.ty(value) == Type::I8X16 { Some(smallvec![self.plane(value)]) } else { self.planes(value) }
    }

    fn extended(&mut self, op: Op, narrow: Value, places: usize) -> Option<Planes> {
        let mut planes = self.narrow_planes(narrow)?;
        let fill = match planes.last() {
            Some(&last) if op == Op::Sext => self.sign(last)?,
            _ => None,
        };
        planes.resize(places, fill);
        Some(planes)
    }
}

/// Returns the condition under which a minimum or a maximum selects its first operand.
const fn order(op: Op) -> Option<IntCC> {
    Some(match op {
        Op::MinS => IntCC::LtS,
        Op::MinU => IntCC::LtU,
        Op::MaxS => IntCC::GtS,
        Op::MaxU => IntCC::GtU,
        _ => return None,
    })
}
