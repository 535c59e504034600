//! Transfer functions of lane-wise integer ops.

use super::lane::Lane;
use crate::attr::IntCC;
use crate::op::Op;

type Bounds = (i128, i128);

fn signed(lane: Lane) -> Bounds {
    (lane.signed().0.into(), lane.signed().1.into())
}

fn unsigned(lane: Lane) -> Bounds {
    (lane.unsigned().0.into(), lane.unsigned().1.into())
}

/// Returns the facts about the result of an op with one operand, with lanes of `width` bits.
pub(super) fn unary(op: Op, width: u32, a: Lane) -> Option<Lane> {
    let from = a.width();
    let mask = a.mask();
    let (unknown_high, ones) = (mask & !a.zeros(), a.ones());
    let zero = Lane::constant(width, 0);
    Some(match op {
        Op::Neg => binary(Op::Sub, width, zero, a)?,
        Op::Abs => {
            let (low, high) = signed(a);
            Lane::wrapping(width, if low <= 0 && high >= 0 { 0 } else { low.abs().min(high.abs()) }, high.max(-low))
        }
        Op::Not => {
            let ((low, high), (least, greatest)) = (a.signed(), a.unsigned());
            Lane::of_bits(width, a.ones(), a.zeros()).and(Lane::of_signed(width, !high, !low)).and(Lane::of_unsigned(
                width,
                mask & !greatest,
                mask & !least,
            ))
        }
        Op::Popcount => Lane::of_unsigned(width, ones.count_ones().into(), unknown_high.count_ones().into()),
        Op::Clz => {
            let (least, greatest) = a.unsigned();
            let count = |number: u64| u64::from(number.leading_zeros() - (64 - from));
            Lane::of_unsigned(width, count(greatest), count(least))
        }
        Op::Ctz => {
            let (least, most) = (unknown_high.trailing_zeros().min(from), ones.trailing_zeros().min(from));
            Lane::of_unsigned(width, least.into(), most.into())
        }
        Op::BitReverse => {
            let reversed = |bits: u64| bits.reverse_bits() >> (64 - from);
            Lane::of_bits(width, reversed(a.zeros()), reversed(a.ones()))
        }
        Op::Sext => {
            let sign = a.sign();
            let above = |bits: u64| if bits & sign != 0 { bits | !mask } else { bits };
            let (low, high) = a.signed();
            Lane::of_bits(width, above(a.zeros()), above(a.ones())).and(Lane::of_signed(width, low, high))
        }
        Op::Zext => {
            let (low, high) = a.unsigned();
            Lane::of_bits(width, a.zeros() | !mask, a.ones()).and(Lane::of_unsigned(width, low, high))
        }
        Op::Trunc => {
            let (s, u) = (signed(a), unsigned(a));
            Lane::of_bits(width, a.zeros(), a.ones())
                .and(Lane::wrapping(width, s.0, s.1))
                .and(Lane::wrapping(width, u.0, u.1))
        }
        Op::NarrowSatS => clamped_s(width, signed(a)),
        Op::NarrowSatU => clamped_u(width, signed(a)),
        Op::NarrowSatUU => clamped_u(width, unsigned(a)),
        Op::MaskExpand => {
            let all = |bits: u64| if bits & 1 == 1 { u64::MAX } else { 0 };
            Lane::of_bits(width, all(a.zeros()), all(a.ones())).and(Lane::of_signed(width, -1, 0))
        }
        _ => return None,
    })
}

/// Returns the facts about the result of an op with two operands, with lanes of `width` bits.
pub(super) fn binary(op: Op, width: u32, a: Lane, b: Lane) -> Option<Lane> {
    let (sa, sb, ua, ub) = (signed(a), signed(b), unsigned(a), unsigned(b));
    let of = |bounds: Bounds| Lane::wrapping(width, bounds.0, bounds.1);
    let shared = |lane: Lane| lane.and(a.or(b));
    Some(match op {
        Op::Add => of(sum(sa, sb)).and(of(sum(ua, ub))).and(carried(a, b.zeros(), b.ones(), 0)),
        Op::Sub => of(difference(sa, sb)).and(of(difference(ua, ub))).and(carried(a, b.ones(), b.zeros(), 1)),
        Op::Mul => {
            let product_u = product_u(a, b).map_or(Lane::any(width), of);
            of(product(sa, sb)).and(product_u).and(low_zeros(width, a, b))
        }
        Op::MulHiS => {
            let (low, high) = product(sa, sb);
            of((low >> width, high >> width))
        }
        Op::MulHiU => {
            let of_halves = |x: u64, y: u64| ((u128::from(x) * u128::from(y)) >> width) as u64;
            Lane::of_unsigned(
                width,
                of_halves(a.unsigned().0, b.unsigned().0),
                of_halves(a.unsigned().1, b.unsigned().1),
            )
        }
        Op::MulWideS => of(product(sa, sb)).and(low_zeros(width, a, b)),
        Op::MulWideU => of(product_u(a, b)?).and(low_zeros(width, a, b)),
        Op::DivU if ub.0 > 0 => of((ua.0 / ub.1, ua.1 / ub.0)),
        Op::RemU if ub.0 > ua.1 => a,
        Op::RemU if ub.0 > 0 => of((0, ua.1.min(ub.1 - 1))),
        Op::DivS if sb.0 > 0 || sb.1 < 0 => of(hull([sa.0 / sb.0, sa.0 / sb.1, sa.1 / sb.0, sa.1 / sb.1])),
        Op::RemS if sb.0 > 0 || sb.1 < 0 => {
            let most = sb.0.abs().max(sb.1.abs()) - 1;
            of((sa.0.min(0).max(-most), sa.1.max(0).min(most)))
        }
        Op::AddSatS => clamped_s(width, sum(sa, sb)),
        Op::AddSatU => clamped_u(width, sum(ua, ub)),
        Op::SubSatS => clamped_s(width, difference(sa, sb)),
        Op::SubSatU => clamped_u(width, difference(ua, ub)),
        Op::AvgS => {
            let rounded = |sum: i128| (sum + i128::from(sum >= 0)) >> 1;
            let (low, high) = sum(sa, sb);
            of((rounded(low), rounded(high)))
        }
        Op::AvgU => {
            let (low, high) = sum(ua, ub);
            of(((low + 1) >> 1, (high + 1) >> 1))
        }
        Op::AbsDiffS => of(distance(sa, sb)),
        Op::AbsDiffU => of(distance(ua, ub)),
        Op::MinS => shared(of((sa.0.min(sb.0), sa.1.min(sb.1)))),
        Op::MaxS => shared(of((sa.0.max(sb.0), sa.1.max(sb.1)))),
        Op::MinU => shared(of((ua.0.min(ub.0), ua.1.min(ub.1)))),
        Op::MaxU => shared(of((ua.0.max(ub.0), ua.1.max(ub.1)))),
        Op::Shl | Op::ShrS | Op::ShrU | Op::RoundShrS | Op::RoundShrU | Op::Rotl | Op::Rotr => {
            return shift(op, width, a, b);
        }
        Op::And => Lane::of_bits(width, a.zeros() | b.zeros(), a.ones() & b.ones()).and(of((0, ua.1.min(ub.1)))),
        Op::Or => Lane::of_bits(width, a.zeros() & b.zeros(), a.ones() | b.ones()).and(Lane::of_unsigned(
            width,
            a.unsigned().0.max(b.unsigned().0),
            a.mask(),
        )),
        Op::Xor => Lane::of_bits(
            width,
            a.zeros() & b.zeros() | a.ones() & b.ones(),
            a.zeros() & b.ones() | a.ones() & b.zeros(),
        ),
        _ => return None,
    })
}

/// Returns the truth value of a comparison, if the facts about the operands determine it.
pub(super) fn compared(cc: IntCC, a: Lane, b: Lane) -> Option<bool> {
    let below = |(_, most): Bounds, (least, _): Bounds| most < least;
    let (sa, sb, ua, ub) = (signed(a), signed(b), unsigned(a), unsigned(b));
    // `Some(true)` if every number of `x` is less than every number of `y`; `Some(false)` if no number of `x` is.
    let less = |x: Bounds, y: Bounds| if below(x, y) { Some(true) } else { (x.0 >= y.1).then_some(false) };
    match cc {
        IntCC::Eq | IntCC::Ne => {
            let differ = a.ones() & b.zeros() | a.zeros() & b.ones() != 0;
            let differ = differ || below(sa, sb) || below(sb, sa) || below(ua, ub) || below(ub, ua);
            let equal = !differ && a.number()? == b.number()?;
            Some(equal == (cc == IntCC::Eq))
        }
        IntCC::LtS => less(sa, sb),
        IntCC::GeS => less(sa, sb).map(|less| !less),
        IntCC::GtS => less(sb, sa),
        IntCC::LeS => less(sb, sa).map(|less| !less),
        IntCC::LtU => less(ua, ub),
        IntCC::GeU => less(ua, ub).map(|less| !less),
        IntCC::GtU => less(ub, ua),
        IntCC::LeU => less(ub, ua).map(|less| !less),
    }
}

/// Returns the known bits of `a + b + carry`. A bit of the sum is known if the bits of both
/// operands and the carry into the bit are known. The carry into a bit is 0 if the sum of the greatest numbers has no
/// carry there. The carry is 1 if the sum of the least numbers has a carry there.
fn carried(a: Lane, b_zeros: u64, b_ones: u64, carry: u64) -> Lane {
    let mask = a.mask();
    let greatest = (mask & !a.zeros()).wrapping_add(mask & !b_zeros).wrapping_add(carry);
    let least = a.ones().wrapping_add(b_ones).wrapping_add(carry);
    let no_carry = !(greatest ^ a.zeros() ^ b_zeros);
    let carries = least ^ a.ones() ^ b_ones;
    let known = (a.zeros() | a.ones()) & (b_zeros | b_ones) & (no_carry | carries);
    Lane::of_bits(a.width(), !greatest & known, least & known)
}

fn shift(op: Op, width: u32, a: Lane, count: Lane) -> Option<Lane> {
    let (least, most) = match count.number() {
        Some(number) => (number as u32 & (width - 1), number as u32 & (width - 1)),
        None if count.unsigned().1 < width.into() => (count.unsigned().0 as u32, count.unsigned().1 as u32),
        None => (0, width - 1),
    };
    let (sa, ua) = (signed(a), unsigned(a));
    let of = |bounds: Bounds| Lane::wrapping(width, bounds.0, bounds.1);
    let fixed = (least == most).then_some(least);
    let mask = a.mask();
    let ends = |(low, high): Bounds, f: fn(i128, u32) -> i128| {
        hull([f(low, least), f(low, most), f(high, least), f(high, most)])
    };
    Some(match op {
        Op::Shl => {
            let bits = match fixed {
                Some(n) => Lane::of_bits(width, a.zeros() << n | !(u64::MAX << n), a.ones() << n),
                None => {
                    let zeros = (mask & !a.zeros()).trailing_zeros().min(width) + least;
                    Lane::of_bits(width, u64::MAX.checked_shl(zeros).map_or(u64::MAX, |above| !above), 0)
                }
            };
            // A lane of 64 bits, shifted by less than 64, has less than 128 bits.
            let shifted = |bounds| ends(bounds, |number, n| number.checked_mul(1 << n).unwrap_or(i128::MAX));
            let (s, u) = (shifted(sa), shifted(ua));
            let of = |bounds: Bounds| if bounds.1 == i128::MAX { Lane::any(width) } else { of(bounds) };
            bits.and(of(s)).and(of(u))
        }
        Op::ShrU => {
            let range = of(ends(ua, |number, n| number >> n));
            match fixed {
                Some(n) => range.and(Lane::of_bits(width, a.zeros() >> n | !(mask >> n), a.ones() >> n)),
                None => range,
            }
        }
        Op::ShrS => {
            let range = of(ends(sa, |number, n| number >> n));
            let filled = |bits: u64, n: u32| (a.signed_number(bits) >> n).cast_unsigned();
            match fixed {
                Some(n) => range.and(Lane::of_bits(width, filled(a.zeros(), n), filled(a.ones(), n))),
                None => range,
            }
        }
        Op::RoundShrS => of(ends(sa, rounded)),
        Op::RoundShrU => of(ends(ua, rounded)),
        Op::Rotl | Op::Rotr => {
            let n = fixed?;
            let n = if op == Op::Rotl { n } else { (width - n) % width };
            let turned = |bits: u64| bits << n | bits.checked_shr(width - n).unwrap_or(0);
            Lane::of_bits(width, turned(a.zeros()), turned(a.ones()))
        }
        _ => return None,
    })
}

fn rounded(number: i128, n: u32) -> i128 {
    if n == 0 { number } else { (number + (1 << (n - 1))) >> n }
}

fn clamped_s(width: u32, (low, high): Bounds) -> Lane {
    let least = i128::from(i64::MIN >> (64 - width));
    let clamp = |number: i128| number.clamp(least, !least) as i64;
    Lane::of_signed(width, clamp(low), clamp(high))
}

fn clamped_u(width: u32, (low, high): Bounds) -> Lane {
    let clamp = |number: i128| number.clamp(0, (u64::MAX >> (64 - width)).into()) as u64;
    Lane::of_unsigned(width, clamp(low), clamp(high))
}

/// Returns the bounds of a sum.
pub(super) fn sum(a: Bounds, b: Bounds) -> Bounds {
    (a.0 + b.0, a.1 + b.1)
}

fn difference(a: Bounds, b: Bounds) -> Bounds {
    (a.0 - b.1, a.1 - b.0)
}

/// Returns the bounds of an absolute difference.
pub(super) fn distance(a: Bounds, b: Bounds) -> Bounds {
    ((a.0 - b.1).max(b.0 - a.1).max(0), (a.1 - b.0).max(b.1 - a.0))
}

/// Returns the bounds of a product of numbers of at most 64 bits, which are signed or have at most 63 bits.
pub(super) fn product(a: Bounds, b: Bounds) -> Bounds {
    hull([a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1])
}

/// Returns a set that contains all products. A product has at least as many trailing zero bits as both operands
/// together.
fn low_zeros(width: u32, a: Lane, b: Lane) -> Lane {
    let [a, b] = [a, b].map(|lane| (lane.mask() & !lane.zeros()).trailing_zeros());
    Lane::of_bits(width, u64::MAX.checked_shl(a + b).map_or(u64::MAX, |above| !above), 0)
}

fn product_u(a: Lane, b: Lane) -> Option<Bounds> {
    let (a, b) = (unsigned(a), unsigned(b));
    Some((a.0.checked_mul(b.0)?, a.1.checked_mul(b.1)?))
}

fn hull(ends: [i128; 4]) -> Bounds {
    let [a, b, c, d] = ends;
    (a.min(b).min(c).min(d), a.max(b).max(c).max(d))
}
