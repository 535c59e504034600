//! Arithmetic on byte planes: sums, products, shifts, comparisons and narrowings.

use halfbyte_ir::{Attr, IntCC, Op, Type, Value};
use smallvec::{SmallVec, smallvec};

use super::sums::Draft;
use super::{BITS, COLUMN, Columns, Maker, Plane, Planes, bits_everywhere, everywhere};

impl Maker<'_, '_, '_, '_> {
    // Sums and products ---------------------------------------------------------------------------------------------

    /// Adds the bytes of each column to the carry from the column below. Returns the planes of the sum.
    pub(super) fn total(&mut self, columns: &Columns) -> Option<Planes> {
        let mut planes = Planes::new();
        let mut carried: Plane = None;
        for (place, column) in columns.iter().enumerate() {
            let addends: SmallVec<[Value; COLUMN]> = column.iter().copied().chain(carried).collect();
            let (&first, others) = match addends.split_first() {
                Some(split) => split,
                None => {
                    planes.push(None);
                    continue;
                }
            };
            carried = None;
            if others.is_empty() {
                planes.push(Some(first));
                continue;
            }
            if addends.len() > COLUMN + 1 {
                return None;
            }
            let wide = Type::I16X16;
            let mut draft = Draft::new();
            let mut sum = self.draft(&mut draft, Op::Zext, wide, Attr::None, &[first]);
            for &other in others {
                let other = self.draft(&mut draft, Op::Zext, wide, Attr::None, &[other]);
                sum = self.draft(&mut draft, Op::Add, wide, Attr::None, &[sum, other]);
            }
            let low = self.draft(&mut draft, Op::Trunc, Type::I8X16, Attr::None, &[sum]);
            if place + 1 < columns.len() {
                let count = self.legaliser.constant_attr(wide, bits_everywhere(wide, BITS as u64));
                let count = self.draft(&mut draft, Op::Const, wide, count, &[]);
                let up = self.draft(&mut draft, Op::ShrU, wide, Attr::None, &[sum, count]);
                carried = Some(self.draft(&mut draft, Op::Trunc, Type::I8X16, Attr::None, &[up]));
            }
            let narrowings = draft.iter().filter(|&&inst| self.kernel().insts[inst].op == Op::Trunc);
            if !narrowings.clone().all(|&inst| self.legaliser.narrows(inst)) {
                return None;
            }
            self.legaliser.place_drafted(&draft);
            planes.push(Some(low));
        }
        Some(planes)
    }

    /// Adds each plane to the addends of a column. The lowest plane goes to column `from`.
    pub(super) fn put(columns: &mut Columns, planes: &[Plane], from: usize) {
        for (column, plane) in columns.iter_mut().skip(from).zip(planes) {
            column.extend(*plane);
        }
    }

    /// Adds each byte of a constant to the addends of its column.
    pub(super) fn put_number(&mut self, columns: &mut Columns, number: u64) -> Option<()> {
        for (column, byte) in columns.iter_mut().zip(number.to_le_bytes()) {
            if byte != 0 {
                column.push(self.byte(byte)?);
            }
        }
        Some(())
    }

    pub(super) fn complement(&mut self, planes: &Planes) -> Option<Planes> {
        let complement = |&plane: &Plane| match plane {
            Some(value) => self.op(Op::Not, &[value]).map(Some),
            None => self.byte(0xff).map(Some),
        };
        planes.iter().map(complement).collect()
    }

    pub(super) fn negated(&mut self, planes: &Planes) -> Option<Planes> {
        let mut columns: Columns = smallvec![SmallVec::new(); planes.len()];
        let complement = self.complement(planes)?;
        Self::put(&mut columns, &complement, 0);
        self.put_number(&mut columns, 1)?;
        self.total(&columns)
    }

    pub(super) fn added(&mut self, a: &Planes, b: &Planes) -> Option<Planes> {
        let mut columns: Columns = smallvec![SmallVec::new(); a.len()];
        Self::put(&mut columns, a, 0);
        Self::put(&mut columns, b, 0);
        self.total(&columns)
    }

    pub(super) fn subtracted(&mut self, a: &Planes, b: &Planes) -> Option<Planes> {
        let mut columns: Columns = smallvec![SmallVec::new(); a.len()];
        Self::put(&mut columns, a, 0);
        let b = self.complement(b)?;
        Self::put(&mut columns, &b, 0);
        self.put_number(&mut columns, 1)?;
        self.total(&columns)
    }

    /// Returns the low `places` bytes of a product of unsigned numbers.
    pub(super) fn product(&mut self, a: &Planes, b: &Planes, places: usize) -> Option<Planes> {
        let mut columns: Columns = smallvec![SmallVec::new(); places];
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate().take(places.saturating_sub(i)) {
                let (&Some(a), &Some(b)) = (a, b) else { continue };
                let at = i + j;
                let [low, high] = self.product_of_bytes(a, b, at + 1 < places)?;
                columns.get_mut(at)?.extend(low);
                if let Some(column) = columns.get_mut(at + 1) {
                    column.extend(high);
                }
            }
        }
        self.total(&columns)
    }

    pub(super) fn product_of_bytes(&mut self, a: Value, b: Value, with_high: bool) -> Option<[Plane; 2]> {
        for (a, b) in [(a, b), (b, a)] {
            if everywhere(self.kernel(), b) == Some(1) {
                return Some([Some(a), None]);
            }
        }
        let low = self.op(Op::Mul, &[a, b])?;
        let high = if with_high { Some(self.op(Op::MulHiU, &[a, b])?) } else { None };
        Some([Some(low), high])
    }

    // Shifts ------------------------------------------------------------------------------------------------------------

    /// Shifts each lane to the left by `count` bits.
    pub(super) fn up(&mut self, planes: &Planes, count: usize) -> Option<Planes> {
        let (whole, bits) = (count / BITS, count % BITS);
        let at = |place: Option<usize>| place.and_then(|place| planes.get(place).copied().flatten());
        (0..planes.len())
            .map(|place| {
                let (here, below) = (at(place.checked_sub(whole)), at(place.checked_sub(whole + 1)));
                self.joined(here, Op::Shl, bits, below, Op::ShrU)
            })
            .collect()
    }

    /// Shifts each lane to the right by `count` bits and returns its low `places` bytes. `fill` is
    /// the plane of bytes that are shifted in from above.
    pub(super) fn down(&mut self, planes: &Planes, count: usize, fill: Plane, places: usize) -> Option<Planes> {
        let (whole, bits) = (count / BITS, count % BITS);
        let at = |place: usize| planes.get(place).copied().unwrap_or(fill);
        (0..places)
            .map(|place| {
                let (here, above) = (place + whole, place + whole + 1);
                match at(here) {
                    // An arithmetic shift of the highest byte shifts in copies of the sign.
                    Some(last) if fill.is_some() && above == planes.len() => {
                        self.shifted(Op::ShrS, last, bits).map(Some)
                    }
                    here_bytes if here >= planes.len() => Some(here_bytes),
                    here_bytes => self.joined(here_bytes, Op::ShrU, bits, at(above), Op::Shl),
                }
            })
            .collect()
    }

    /// Shifts the bytes `here` by `bits` (0 to 7) with `op`. The vacated bits come from the
    /// neighbouring bytes `next`, shifted in the opposite direction by `other`.
    pub(super) fn joined(&mut self, here: Plane, op: Op, bits: usize, next: Plane, other: Op) -> Option<Plane> {
        let here = match here {
            Some(here) => Some(self.shifted(op, here, bits)?),
            None => None,
        };
        match next.filter(|_| bits > 0) {
            Some(next) => {
                let next = self.shifted(other, next, BITS - bits)?;
                self.either(here, Some(next))
            }
            None => Some(here),
        }
    }

    pub(super) fn shifted_by(&mut self, op: Op, planes: &Planes, count: usize) -> Option<Planes> {
        let signed = matches!(op, Op::ShrS | Op::RoundShrS);
        let fill = match planes.last() {
            Some(&last) if signed => self.sign(last)?,
            _ => None,
        };
        match op {
            _ if count == 0 => Some(planes.clone()),
            Op::Shl => self.up(planes, count),
            Op::ShrU | Op::ShrS => self.down(planes, count, fill, planes.len()),
            Op::RoundShrU | Op::RoundShrS => {
                let mut columns: Columns = smallvec![SmallVec::new(); planes.len() + 1];
                Self::put(&mut columns, planes, 0);
                Self::put(&mut columns, &[fill], planes.len());
                self.put_number(&mut columns, 1 << (count - 1))?;
                let sum = self.total(&columns)?;
                let fill = sum.last().copied().flatten().filter(|_| signed);
                self.down(&sum, count, fill, planes.len())
            }
            Op::Rotl | Op::Rotr => {
                let count = if op == Op::Rotl { count } else { planes.len() * BITS - count };
                let up = self.up(planes, count)?;
                let down = self.down(planes, planes.len() * BITS - count, None, planes.len())?;
                up.iter().zip(&down).map(|(&a, &b)| self.either(a, b)).collect()
            }
            _ => None,
        }
    }

    /// Shifts each lane by its own count, by one conditional shift for each bit of the counts.
    pub(super) fn shifted_by_lanes(&mut self, op: Op, planes: &Planes, counts: Plane) -> Option<Planes> {
        let Some(counts) = counts else { return Some(planes.clone()) };
        let mut shifted = planes.clone();
        for bit in 0..(planes.len() * BITS).ilog2() {
            let mask = self.byte(1 << bit)?;
            let set = self.op(Op::And, &[counts, mask])?;
            let is_set = self.compared(IntCC::Ne, Some(set), None)?;
            let by = self.shifted_by(op, &shifted, 1 << bit)?;
            shifted = self.each_chosen(is_set, &by, &shifted)?;
        }
        Some(shifted)
    }

    // Comparisons -------------------------------------------------------------------------------------------------------

    pub(super) fn compare(&mut self, cc: IntCC, a: &Planes, b: &Planes) -> Option<Value> {
        match cc {
            IntCC::Eq => {
                let mut all = None;
                for (place, (&a, &b)) in a.iter().zip(b).enumerate() {
                    if a == b && place > 0 {
                        continue;
                    }
                    let equal = self.compared(IntCC::Eq, a, b)?;
                    all = Some(match all {
                        Some(all) => self.mask(Op::And, &[all, equal])?,
                        None => equal,
                    });
                }
                all
            }
            IntCC::LtU | IntCC::LtS => {
                let mut less: Option<Value> = None;
                for (place, (&x, &y)) in a.iter().zip(b).enumerate() {
                    let is_top = place + 1 == a.len();
                    let cc = if is_top { cc } else { IntCC::LtU };
                    let here = self.compared(cc, x, y)?;
                    less = Some(match less {
                        Some(below) => {
                            let equal = self.compared(IntCC::Eq, x, y)?;
                            let below = self.mask(Op::And, &[equal, below])?;
                            self.mask(Op::Or, &[here, below])?
                        }
                        None => here,
                    });
                }
                less
            }
            IntCC::GtU => self.compare(IntCC::LtU, b, a),
            IntCC::GtS => self.compare(IntCC::LtS, b, a),
            IntCC::Ne => self.not(IntCC::Eq, a, b),
            IntCC::GeU => self.not(IntCC::LtU, a, b),
            IntCC::GeS => self.not(IntCC::LtS, a, b),
            IntCC::LeU => self.not(IntCC::LtU, b, a),
            IntCC::LeS => self.not(IntCC::LtS, b, a),
        }
    }

    pub(super) fn not(&mut self, cc: IntCC, a: &Planes, b: &Planes) -> Option<Value> {
        let mask = self.compare(cc, a, b)?;
        self.mask(Op::Not, &[mask])
    }

    /// Selects the lanes of `a` for which `a cc b` is true, otherwise the lanes of `b`.
    pub(super) fn extreme(&mut self, cc: IntCC, a: &Planes, b: &Planes) -> Option<Planes> {
        let is_first = self.compare(cc, a, b)?;
        self.each_chosen(is_first, a, b)
    }

    pub(super) fn is_negative(&mut self, planes: &Planes) -> Option<Value> {
        self.compared(IntCC::LtS, *planes.last()?, None)
    }

    /// Returns the signed number of `places` bytes to which an overflow saturates: the largest one,
    /// or the smallest one where `sign` is negative.
    pub(super) fn bound(&mut self, sign: Plane, places: usize) -> Option<Planes> {
        let sign = self.vector(sign)?;
        let below = self.op(Op::Not, &[sign])?;
        let others = self.byte(0x7f)?;
        let top = self.op(Op::Xor, &[sign, others])?;
        let mut planes: Planes = smallvec![Some(below); places];
        if let Some(last) = planes.last_mut() {
            *last = Some(top);
        }
        Some(planes)
    }

    /// Narrows each lane to half its bytes, by truncation or saturation.
    pub(super) fn narrowed(&mut self, op: Op, wide: &Planes) -> Option<Planes> {
        let (low, high) = wide.split_at(wide.len() / 2);
        let low = Planes::from_slice(low);
        let mut above = None;
        let top = self.sign(*wide.last()?)?;
        match op {
            Op::Trunc => Some(low),
            Op::NarrowSatU | Op::NarrowSatUU => {
                for &plane in high {
                    above = self.either(above, plane)?;
                }
                let bound = match top {
                    Some(sign) if op == Op::NarrowSatU => Some(self.op(Op::Not, &[sign])?),
                    _ => Some(self.byte(0xff)?),
                };
                let fits = self.compared(IntCC::Eq, above, None)?;
                self.each_chosen(fits, &low, &smallvec![bound; low.len()])
            }
            Op::NarrowSatS => {
                // The number fits if each dropped byte equals the sign of the low bytes.
                let sign = self.sign(*low.last()?)?;
                for &plane in high {
                    let (plane, sign) = (self.vector(plane)?, self.vector(sign)?);
                    let differs = self.op(Op::Xor, &[plane, sign])?;
                    above = self.either(above, Some(differs))?;
                }
                let fits = self.compared(IntCC::Eq, above, None)?;
                let bound = self.bound(top, low.len())?;
                self.each_chosen(fits, &low, &bound)
            }
            _ => None,
        }
    }
}

// Ops computed by the arithmetic above
// ----------------------------------------------------------------------------------

impl Maker<'_, '_, '_, '_> {
    pub(super) fn bits(&mut self, op: Op, a: Plane, b: Plane) -> Option<Plane> {
        match (a, b) {
            (Some(a), Some(b)) => self.op(op, &[a, b]).map(Some),
            _ if op == Op::And => Some(None),
            (one, other) => Some(one.or(other)),
        }
    }

    pub(super) fn wide_product(&mut self, a: &Planes, b: &Planes, signed: bool) -> Option<Planes> {
        let places = a.len();
        let product = self.product(a, b, 2 * places)?;
        if !signed {
            return Some(product);
        }
        // If one factor is negative, the high half of the unsigned product is too large by the
        // other factor.
        let mut columns: Columns = smallvec![SmallVec::new(); places];
        Self::put(&mut columns, product.get(places..)?, 0);
        for (of, other) in [(a, b), (b, a)] {
            let Some(sign) = self.sign(*of.last()?)? else { continue };
            let much: Planes =
                other.iter().map(|&other| self.bits(Op::And, Some(sign), other)).collect::<Option<_>>()?;
            let complement = self.complement(&much)?;
            Self::put(&mut columns, &complement, 0);
            self.put_number(&mut columns, 1)?;
        }
        let high = self.total(&columns)?;
        Some(product.iter().take(places).copied().chain(high).collect())
    }

    pub(super) fn shifted_in_lanes(&mut self, op: Op, planes: &Planes, counts: Plane) -> Option<Planes> {
        let (shift, signed) = match op {
            Op::RoundShrU => (Op::ShrU, false),
            Op::RoundShrS => (Op::ShrS, true),
            _ => return self.shifted_by_lanes(op, planes, counts),
        };
        let Some(counts) = counts else { return Some(planes.clone()) };
        // Rounding adds the last bit that a shift by n drops: bit n of the doubled number, which is 0 for n = 0.
        let mut longer = planes.clone();
        let fill = match planes.last() {
            Some(&last) if signed => self.sign(last)?,
            _ => None,
        };
        longer.resize(2 * planes.len(), fill);
        let doubled = self.up(&longer, 1)?;
        // The shift count is taken modulo the lane width before the widening.
        let width = self.byte((planes.len() * BITS - 1) as u8)?;
        let counts = self.op(Op::And, &[counts, width])?;
        let out = self.shifted_by_lanes(Op::ShrU, &doubled, Some(counts))?;
        let one = self.byte(1)?;
        let bit = self.bits(Op::And, *out.first()?, Some(one))?;
        let shifted = self.shifted_by_lanes(shift, planes, Some(counts))?;
        let mut columns: Columns = smallvec![SmallVec::new(); planes.len()];
        Self::put(&mut columns, &shifted, 0);
        Self::put(&mut columns, &[bit], 0);
        self.total(&columns)
    }

    pub(super) fn saturated(&mut self, op: Op, a: &Planes, b: &Planes) -> Option<Planes> {
        match op {
            Op::AddSatU => {
                let sum = self.added(a, b)?;
                let wraps = self.compare(IntCC::LtU, &sum, a)?;
                let most = Some(self.byte(0xff)?);
                self.each_chosen(wraps, &smallvec![most; a.len()], &sum)
            }
            Op::SubSatU => {
                let most = self.extreme(IntCC::GtU, a, b)?;
                self.subtracted(&most, b)
            }
            _ => {
                // A sum overflows if its sign differs from the signs of both operands. A difference overflows if the
                // operands' signs differ and the sign of the difference is not that of the first operand.
                let result = if op == Op::AddSatS { self.added(a, b)? } else { self.subtracted(a, b)? };
                let [x, y, r] = [a, b, &result].map(|planes| planes.last().copied().flatten());
                let [x, y, r] = [self.vector(x)?, self.vector(y)?, self.vector(r)?];
                let first = self.op(Op::Xor, &[x, r])?;
                let second = self.op(Op::Xor, &if op == Op::AddSatS { [y, r] } else { [x, y] })?;
                let over = self.op(Op::And, &[first, second])?;
                let is_over = self.compared(IntCC::LtS, Some(over), None)?;
                let sign = self.sign(Some(x))?;
                let bound = self.bound(sign, a.len())?;
                self.each_chosen(is_over, &bound, &result)
            }
        }
    }

    pub(super) fn average(&mut self, signed: bool, a: &Planes, b: &Planes) -> Option<Planes> {
        let mut columns: Columns = smallvec![SmallVec::new(); a.len() + 1];
        for planes in [a, b] {
            let fill = if signed { self.sign(*planes.last()?)? } else { None };
            Self::put(&mut columns, planes, 0);
            Self::put(&mut columns, &[fill], a.len());
        }
        if !signed {
            self.put_number(&mut columns, 1)?;
            let sum = self.total(&columns)?;
            return self.down(&sum, 1, None, a.len());
        }
        // A signed average rounds away from zero if the sum is odd, so 1 is added only to a sum that is not negative.
        let sum = self.total(&columns)?;
        let top = self.vector(*sum.last()?)?;
        let rising = self.op(Op::Not, &[top])?;
        let one = self.byte(1)?;
        let more = self.op(Op::And, &[rising, one])?;
        let mut columns: Columns = smallvec![SmallVec::new(); a.len() + 1];
        Self::put(&mut columns, &sum, 0);
        Self::put(&mut columns, &[Some(more)], 0);
        let sum = self.total(&columns)?;
        let fill = sum.last().copied().flatten();
        self.down(&sum, 1, fill, a.len())
    }

    /// Returns planes in which every lane holds the scalar: plane n is its byte n, broadcast to all lanes.
    pub(super) fn splat(&mut self, scalar: Value, places: usize) -> Option<Planes> {
        // The bytes are extracted from a 32-bit word.
        let word = match self.ty(scalar) {
            Type::I32 => scalar,
            _ => self.legaliser.place(Op::Zext, Type::I32, Attr::None, &[scalar])?,
        };
        let bytes = (0..places as u8).map(|place| {
            let byte = self.legaliser.place(Op::Split, Type::I8, Attr::Lane(place), &[word])?;
            self.op(Op::Splat, &[byte]).map(Some)
        });
        bytes.collect()
    }
}
