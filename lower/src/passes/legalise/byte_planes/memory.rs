//! Conversion between byte planes and the memory layout, in which all bytes of a lane are adjacent.

use halfbyte_ir::{Attr, LaneMap, Op, Type, Value};
use smallvec::{SmallVec, smallvec};

use super::{LANES, Maker, Plane, Planes};

impl Maker<'_, '_, '_, '_> {
    pub(super) fn shuffled(&mut self, a: Value, b: Value, lanes: &[u8; LANES]) -> Option<Value> {
        self.legaliser.place(Op::Shuffle, Type::I8X16, Attr::Lanes(LaneMap::new(lanes)), &[a, b])
    }

    /// Interleaves the lower or the upper halves of two vectors, in units of `bytes` bytes.
    pub(super) fn interleave(&mut self, a: Value, b: Value, bytes: usize, upper: bool) -> Option<Value> {
        let from = if upper { LANES / 2 } else { 0 };
        let lanes = std::array::from_fn(|i| {
            let (part, at) = (i / bytes, i % bytes);
            (part % 2 * LANES + from + part / 2 * bytes + at) as u8
        });
        self.shuffled(a, b, &lanes)
    }

    /// Returns every second byte of two concatenated vectors, beginning with byte `first` (0 or 1).
    pub(super) fn deinterleave(&mut self, a: Value, b: Value, first: usize) -> Option<Value> {
        let lanes = std::array::from_fn(|i| (2 * i + first) as u8);
        self.shuffled(a, b, &lanes)
    }

    /// Rotates the order of the lanes of a plane by `distance` lanes.
    pub(super) fn rotate_lanes(&mut self, plane: Plane, distance: usize) -> Option<Plane> {
        let Some(value) = plane else { return Some(None) };
        let lanes = std::array::from_fn(|i| ((i + distance) % LANES) as u8);
        self.shuffled(value, value, &lanes).map(Some)
    }

    /// Returns a wide value as vectors of 16 bytes in memory layout.
    pub(super) fn in_memory(&mut self, value: Value) -> Option<SmallVec<[Value; 4]>> {
        let planes = self.planes(value)?;
        let planes: SmallVec<[Value; 4]> = planes.iter().map(|&plane| self.vector(plane)).collect::<Option<_>>()?;
        let halves = |maker: &mut Self, a, b, bytes| {
            Some([maker.interleave(a, b, bytes, false)?, maker.interleave(a, b, bytes, true)?])
        };
        match *planes.as_slice() {
            [a, b] => Some(halves(self, a, b, 1)?.into_iter().collect()),
            [a, b, c, d] => {
                let ([low, high], [above_low, above_high]) = (halves(self, a, b, 1)?, halves(self, c, d, 1)?);
                let (first, last) = (halves(self, low, above_low, 2)?, halves(self, high, above_high, 2)?);
                Some(first.into_iter().chain(last).collect())
            }
            _ => None,
        }
    }

    /// Returns the byte planes of a wide value from its vectors of 16 bytes in memory layout.
    pub(super) fn of_memory(&mut self, vectors: &[Value]) -> Option<Planes> {
        match *vectors {
            [a, b] => Some(smallvec![self.deinterleave(a, b, 0), self.deinterleave(a, b, 1)]),
            [a, b, c, d] => {
                let (even, other_even) = (self.deinterleave(a, b, 0)?, self.deinterleave(c, d, 0)?);
                let (odd, other_odd) = (self.deinterleave(a, b, 1)?, self.deinterleave(c, d, 1)?);
                let planes = [(even, other_even, 0), (odd, other_odd, 0), (even, other_even, 1), (odd, other_odd, 1)];
                planes.into_iter().map(|(a, b, first)| self.deinterleave(a, b, first).map(Some)).collect()
            }
            _ => None,
        }
    }

    /// Returns the `places` byte planes of a wide value that consists of parts of any one size.
    pub(super) fn put_together(&mut self, parts: &[Value], places: usize) -> Option<Planes> {
        let ty = self.ty(*parts.first()?);
        let mut vectors: SmallVec<[Value; 4]> = SmallVec::new();
        match ty.bits() {
            _ if ty == Type::I8X16 => vectors.extend_from_slice(parts),
            _ if ty.is_wide() => {
                for &part in parts {
                    vectors.extend(self.in_memory(part)?);
                }
            }
            bits @ (8 | 16 | 32) => {
                let mut word = |parts: &[Value]| match *parts {
                    [only] => Some(only),
                    _ => self.legaliser.place(Op::Concat, Type::I32, Attr::None, parts),
                };
                let words: SmallVec<[Value; LANES]> =
                    parts.chunks(32 / bits as usize).map(&mut word).collect::<Option<_>>()?;
                for words in words.chunks(4) {
                    vectors.push(self.legaliser.place(Op::Concat, Type::I8X16, Attr::None, words)?);
                }
            }
            _ => return None,
        }
        if vectors.len() == places { self.of_memory(&vectors) } else { None }
    }
}
