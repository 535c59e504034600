//! Results of collective operations of a subgroup.

use super::{BarrierOp, Reduce, SUBGROUP, Shuffle, SubgroupOp, Vote};

/// Operation and operands of each lane of a subgroup; `None` for a lane that does not participate.
pub(super) type Lanes = [Option<SubgroupOp<u32, bool>>; SUBGROUP as usize];

/// Returns `true` if two lanes execute the same collective operation.
pub(super) fn is_alike(a: SubgroupOp<u32, bool>, b: SubgroupOp<u32, bool>) -> bool {
    match (a, b) {
        (SubgroupOp::Shuffle { mode: a, .. }, SubgroupOp::Shuffle { mode: b, .. }) => a == b,
        (SubgroupOp::Vote(a, _), SubgroupOp::Vote(b, _)) => a == b,
        (SubgroupOp::Match { all: a, .. }, SubgroupOp::Match { all: b, .. }) => a == b,
        (SubgroupOp::Reduce(a, _), SubgroupOp::Reduce(b, _)) => a == b,
        (a, b) => a == b,
    }
}

/// Returns the mask of the lanes whose operation satisfies a predicate.
fn mask_of(lanes: &Lanes, is: impl Fn(SubgroupOp<u32, bool>) -> bool) -> u32 {
    let holds = lanes.iter().enumerate().filter(|(_, of)| of.is_some_and(&is));
    holds.fold(0, |mask, (lane, _)| mask | 1 << lane)
}

impl Shuffle {
    /// Returns the lane from which a shuffle reads the value for `lane`, and `true` if that lane is
    /// in the segment. If it is not, `lane` reads its own value.
    pub const fn source(self, lane: u32, by: u32, segment: u32) -> (u32, bool) {
        let (by, clamp, kept) = (by & 31, segment & 31, segment >> 8 & 31);
        let (least, most) = (lane & kept, lane & kept | clamp & !kept & 31);
        let (from, is_within) = match self {
            Shuffle::Up => (lane.wrapping_sub(by), lane as i32 - by as i32 >= most as i32),
            Shuffle::Down => (lane + by, lane + by <= most),
            Shuffle::Xor => (lane ^ by, (lane ^ by) <= most),
            Shuffle::Index => (least | by & !kept & 31, (least | by & !kept & 31) <= most),
        };
        (if is_within { from } else { lane }, is_within)
    }
}

impl Vote {
    /// Returns the result of a vote. `every` is the mask of the participating lanes, and `yes` is
    /// the mask of the lanes whose predicate is true.
    pub const fn answer(self, yes: u32, every: u32) -> u32 {
        match self {
            Vote::All => (yes == every) as u32,
            Vote::Any => (yes != 0) as u32,
            Vote::Uniform => (yes == every || yes == 0) as u32,
            Vote::Ballot => yes,
        }
    }
}

/// Returns the result of a match for a lane. `same` is the mask of the lanes with the same value as
/// this lane, and `every` is the mask of the participating lanes. If `all` is set, the result is
/// `same` and 1 if all participating lanes have the value, and zeros otherwise.
pub const fn matched(all: bool, same: u32, every: u32) -> [u64; 2] {
    match (all, same == every) {
        (false, _) => [same as u64, 0],
        (true, true) => [same as u64, 1],
        (true, false) => [0, 0],
    }
}

/// Returns the result of an election for a lane: the number of the lowest lane of `mask`, and 1 if
/// `lane` is this lowest lane.
pub const fn elected(lane: u32, mask: u32) -> [u64; 2] {
    let leader = mask.trailing_zeros();
    [leader as u64, (lane == leader) as u64]
}

impl BarrierOp<bool> {
    /// Returns the result of a barrier. `yes` is the number of arrived items whose predicate is
    /// true, and `no` the number of those whose predicate is false.
    pub const fn answer(self, yes: u32, no: u32) -> u32 {
        match self {
            BarrierOp::Count(_) => yes,
            BarrierOp::All(_) => (no == 0) as u32,
            BarrierOp::Any(_) => (yes != 0) as u32,
            BarrierOp::Sync | BarrierOp::Arrive => 0,
        }
    }
}

/// Returns the result of a collective operation for a lane: a number, and a predicate. Fails with
/// the number of the source lane if a shuffle reads a lane that does not participate.
pub(super) fn result(lane: u32, exchange: SubgroupOp<u32, bool>, mask: u32, lanes: &Lanes) -> Result<[u64; 2], u32> {
    let every = || mask_of(lanes, |_| true);
    Ok(match exchange {
        // `None` and `Collective` have no result here. The caller computes the result of `Active`,
        // whose lanes do not wait for each other.
        SubgroupOp::None | SubgroupOp::Active | SubgroupOp::Collective => [0; 2],
        SubgroupOp::Shuffle { mode, by, segment, .. } => {
            let (from, is_within) = mode.source(lane, by, segment);
            match lanes.get(from as usize) {
                Some(Some(SubgroupOp::Shuffle { value, .. })) => [(*value).into(), is_within.into()],
                _ => return Err(from),
            }
        }
        SubgroupOp::Vote(vote, _) => {
            let yes = mask_of(lanes, |of| matches!(of, SubgroupOp::Vote(_, true)));
            [vote.answer(yes, every()).into(), 0]
        }
        SubgroupOp::Match { all, value } => {
            let same = mask_of(lanes, |of| matches!(of, SubgroupOp::Match { value: other, .. } if other == value));
            matched(all, same, every())
        }
        SubgroupOp::Reduce(reduce, _) => {
            let values = lanes.iter().filter_map(|of| match of {
                Some(SubgroupOp::Reduce(_, value)) => Some(reduce.of_single_value(*value)),
                _ => None,
            });
            [values.reduce(|a, b| reduce.of(a, b)).unwrap_or_default().into(), 0]
        }
        SubgroupOp::Elect => elected(lane, mask),
    })
}

/// Canonical NaN of f32 operations.
const NAN: u32 = 0x7fff_ffff;

/// Returns `true` for the bits of an f32 NaN.
const fn is_nan(value: u32) -> bool {
    value & 0x7fff_ffff > 0x7f80_0000
}

/// Maps the bits of an f32 to an integer, so that integers compare like the f32 values, with -0 before +0.
const fn order_key(value: u32) -> u32 {
    if value >> 31 == 0 { value | 1 << 31 } else { !value }
}

impl Reduce {
    /// Returns the reduction of a single f32 or integer value.
    pub const fn of_single_value(self, value: u32) -> u32 {
        match self {
            Reduce::Extremum { .. } if is_nan(value) => NAN,
            Reduce::Extremum { abs: true, .. } => value & 0x7fff_ffff,
            _ => value,
        }
    }

    /// Applies the operator of the reduction to two values.
    pub const fn of(self, a: u32, b: u32) -> u32 {
        let signed = (a as i32) < (b as i32);
        match self {
            Reduce::Add => a.wrapping_add(b),
            Reduce::Min { signed: true } => {
                if signed {
                    a
                } else {
                    b
                }
            }
            Reduce::Max { signed: true } => {
                if signed {
                    b
                } else {
                    a
                }
            }
            Reduce::Min { signed: false } => {
                if a < b {
                    a
                } else {
                    b
                }
            }
            Reduce::Max { signed: false } => {
                if a < b {
                    b
                } else {
                    a
                }
            }
            Reduce::And => a & b,
            Reduce::Or => a | b,
            Reduce::Xor => a ^ b,
            Reduce::Extremum { nan, .. } if is_nan(a) || is_nan(b) => {
                if nan || is_nan(a) && is_nan(b) {
                    NAN
                } else if is_nan(a) {
                    b
                } else {
                    a
                }
            }
            Reduce::Extremum { min, .. } => {
                if (order_key(a) < order_key(b)) == min {
                    a
                } else {
                    b
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_in_segments_like_cuda() {
        for width in [1, 2, 4, 8, 16, 32u32] {
            for lane in 0..SUBGROUP {
                let base = lane / width * width;
                for by in 0..SUBGROUP {
                    let down = (lane % width + by < width).then_some(lane + by);
                    let up = (lane % width >= by).then(|| lane - by);
                    let at = Some(base + by % width);
                    let segment = (SUBGROUP - width) << 8;
                    for (mode, segment, expected) in [
                        (Shuffle::Down, segment | 31, down),
                        (Shuffle::Up, segment, up),
                        (Shuffle::Index, segment | 31, at),
                    ] {
                        let expected = (expected.unwrap_or(lane), expected.is_some());
                        assert_eq!(mode.source(lane, by, segment), expected, "{mode:?} {width} {lane} {by}");
                    }
                }
            }
        }
    }

    #[test]
    fn rejects_a_shuffle_from_an_inactive_lane() {
        let give = |value| SubgroupOp::Shuffle { mode: Shuffle::Xor, value, by: 1, segment: 31 };
        let mut lanes = [None; SUBGROUP as usize];
        (lanes[4], lanes[5], lanes[6]) = (Some(give(40)), Some(give(50)), Some(give(60)));
        assert_eq!(result(4, give(40), !0, &lanes), Ok([50, 1]));
        assert_eq!(result(6, give(60), !0, &lanes), Err(7));
    }

    #[test]
    fn reduces_floats_to_their_minimum_and_maximum() {
        let of = |min, abs, nan, values: &[f32]| {
            let reduce = Reduce::Extremum { min, abs, nan };
            let values = values.iter().map(|value| reduce.of_single_value(value.to_bits()));
            values.reduce(|a, b| reduce.of(a, b)).unwrap_or_default()
        };
        let all = [2.0, -3.0, 0.0, -0.0, f32::INFINITY];
        assert_eq!(of(true, false, false, &all), (-3.0f32).to_bits());
        assert_eq!(of(false, false, false, &all), f32::INFINITY.to_bits());
        assert_eq!(of(true, true, false, &all), 0);
        for zeros in [[0.0, -0.0], [-0.0, 0.0]] {
            assert_eq!(of(true, false, false, &zeros), 1 << 31);
            assert_eq!(of(false, false, false, &zeros), 0);
        }
        for min in [false, true] {
            assert_eq!(of(min, false, false, &[f32::NAN, -1.0, f32::NAN]), (-1.0f32).to_bits());
            assert_eq!(of(min, false, true, &[f32::NAN, -1.0]), NAN);
            for nan in [false, true] {
                assert_eq!(of(min, true, nan, &[-f32::NAN]), NAN);
            }
        }
        assert_eq!(of(true, true, true, &[-7.0]), 7.0f32.to_bits());
    }

    #[test]
    fn lanes_of_equal_values_match() {
        let value = |value| SubgroupOp::Match { all: false, value: [value, 0] };
        let mut lanes = [None; SUBGROUP as usize];
        (lanes[0], lanes[1], lanes[9]) = (Some(value(3)), Some(value(4)), Some(value(3)));
        assert_eq!(result(9, value(3), !0, &lanes), Ok([0x201, 0]));
        let all = SubgroupOp::Match { all: true, value: [3, 0] };
        assert_eq!(result(9, all, !0, &lanes), Ok([0, 0]));
    }
}
