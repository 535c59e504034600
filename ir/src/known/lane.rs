//! Facts about a lane: a signed range, an unsigned range, and known bits.

/// Set of the numbers that a lane can hold. The set is an intersection of a signed range, an
/// unsigned range, and the numbers with certain bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lane {
    width: u32,
    zeros: u64,
    ones: u64,
    signed: (i64, i64),
    unsigned: (u64, u64),
}

impl Lane {
    /// Returns the set of all numbers of `width` bits.
    pub const fn any(width: u32) -> Lane {
        let mask = u64::MAX >> (64 - width);
        let least = i64::MIN >> (64 - width);
        Lane { width, zeros: 0, ones: 0, signed: (least, !least), unsigned: (0, mask) }
    }

    /// Returns the set with one number. Bits above `width` are ignored.
    pub fn constant(width: u32, number: u64) -> Lane {
        let any = Lane::any(width);
        let (number, signed) = (number & any.mask(), any.signed_number(number));
        let (zeros, ones) = (!number & any.mask(), number);
        Lane { width, zeros, ones, signed: (signed, signed), unsigned: (number, number) }
    }

    /// Returns the set of the numbers whose bits in `zeros` are 0 and whose bits in `ones` are 1.
    pub fn of_bits(width: u32, zeros: u64, ones: u64) -> Lane {
        let any = Lane::any(width);
        let (zeros, ones) = (zeros & any.mask(), ones & any.mask());
        if zeros | ones == 0 { any } else { Lane { zeros, ones, ..any }.refined() }
    }

    /// Returns a set that contains the integers from `low` to `high`, modulo `2^width`.
    pub fn wrapping(width: u32, low: i128, high: i128) -> Lane {
        let mut lane = Lane::any(width);
        if high - low >= 1 << width {
            return lane;
        }
        if low >> width == high >> width {
            lane.unsigned = (low as u64 & lane.mask(), high as u64 & lane.mask());
        }
        // If only one of the two sums wraps, the windows differ, and the signed range stays unrestricted.
        let window = |number: i128| number.wrapping_add(1 << (width - 1)) >> width;
        if window(low) == window(high) {
            lane.signed = (lane.signed_number(low as u64), lane.signed_number(high as u64));
        }
        lane.refined()
    }

    /// Returns the set of the numbers from `low` to `high` as signed numbers.
    pub(super) fn of_signed(width: u32, low: i64, high: i64) -> Lane {
        Lane { signed: (low, high), ..Lane::any(width) }.refined()
    }

    /// Returns the set of the numbers from `low` to `high` as unsigned numbers.
    pub(super) fn of_unsigned(width: u32, low: u64, high: u64) -> Lane {
        Lane { unsigned: (low, high), ..Lane::any(width) }.refined()
    }

    /// Returns the width of the lane in bits.
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Returns the bits that are 0 in every number of the set.
    pub const fn zeros(&self) -> u64 {
        self.zeros
    }

    /// Returns the bits that are 1 in every number of the set.
    pub const fn ones(&self) -> u64 {
        self.ones
    }

    /// Returns the least and the greatest signed number of the set.
    pub const fn signed(&self) -> (i64, i64) {
        self.signed
    }

    /// Returns the least and the greatest unsigned number of the set.
    pub const fn unsigned(&self) -> (u64, u64) {
        self.unsigned
    }

    /// Returns the number, if the set has only one.
    pub fn number(&self) -> Option<u64> {
        (self.zeros | self.ones == self.mask()).then_some(self.ones)
    }

    /// Returns `true` if the set contains a number.
    pub fn contains(&self, number: u64) -> bool {
        let signed = self.signed_number(number);
        number & self.zeros == 0
            && !number & self.ones == 0
            && (self.unsigned.0..=self.unsigned.1).contains(&number)
            && (self.signed.0..=self.signed.1).contains(&signed)
    }

    /// Returns the intersection of two sets.
    #[must_use]
    pub fn and(self, other: Lane) -> Lane {
        let any = Lane::any(self.width);
        if self == other || other == any {
            return self;
        }
        if self == any {
            return other;
        }
        Lane {
            width: self.width,
            zeros: self.zeros | other.zeros,
            ones: self.ones | other.ones,
            signed: (self.signed.0.max(other.signed.0), self.signed.1.min(other.signed.1)),
            unsigned: (self.unsigned.0.max(other.unsigned.0), self.unsigned.1.min(other.unsigned.1)),
        }
        .refined()
    }

    /// Returns a set that contains the union of two sets.
    #[must_use]
    pub fn or(self, other: Lane) -> Lane {
        Lane {
            width: self.width,
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
            signed: (self.signed.0.min(other.signed.0), self.signed.1.max(other.signed.1)),
            unsigned: (self.unsigned.0.min(other.unsigned.0), self.unsigned.1.max(other.unsigned.1)),
        }
    }

    pub(super) const fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    pub(super) const fn sign(&self) -> u64 {
        1 << (self.width - 1)
    }

    pub(super) fn signed_number(&self, bits: u64) -> i64 {
        let unused = 64 - self.width;
        (bits << unused).cast_signed() >> unused
    }

    /// Applies each of the three facts to the other two. If the facts contradict each other, which
    /// only happens in code that never runs, the result is the set of all numbers.
    fn refined(self) -> Lane {
        let Some(once) = self.refined_once() else { return Lane::any(self.width) };
        if once == self { once } else { once.refined_once().unwrap_or(Lane::any(self.width)) }
    }

    fn refined_once(mut self) -> Option<Lane> {
        let (mask, sign) = (self.mask(), self.sign());
        let (least, greatest) = (self.ones, mask & !self.zeros);
        self.unsigned = (self.unsigned.0.max(least), self.unsigned.1.min(greatest));
        let lowest = if self.zeros & sign != 0 { least } else { least | sign };
        let highest = if self.ones & sign != 0 { greatest } else { greatest & !sign };
        let (lowest, highest) = (self.signed_number(lowest), self.signed_number(highest));
        self.signed = (self.signed.0.max(lowest), self.signed.1.min(highest));
        let (low, high) = self.signed;
        if low >= 0 || high < 0 {
            let (low, high) = (low.cast_unsigned() & mask, high.cast_unsigned() & mask);
            self.unsigned = (self.unsigned.0.max(low), self.unsigned.1.min(high));
        }
        let (low, high) = self.unsigned;
        if high < sign || low >= sign {
            let (low, high) = (self.signed_number(low), self.signed_number(high));
            self.signed = (self.signed.0.max(low), self.signed.1.min(high));
        }
        if low > high || self.signed.0 > self.signed.1 {
            return None;
        }
        // All numbers between the bounds have the leading bits that both bounds share.
        let varying = u64::MAX.checked_shr((low ^ high).leading_zeros()).unwrap_or(0);
        self.zeros |= mask & !low & !varying;
        self.ones |= low & !varying;
        (self.zeros & self.ones == 0).then_some(self)
    }
}
