//! Video instructions and byte permutations.

use halfbyte_isa::halu::domain::{Lanes, VideoKind, VideoMerge, VideoOp};

use super::lower::Lower;
use super::{Binary, Half, Node, Shift, Value, Width};
use crate::jit::{LaneOp, picked, written};

impl Lower<'_> {
    /// Returns, for each word, bytes of a pair of words by number. Numbers from 4 on select bytes of the second word.
    pub(super) fn bytes(&mut self, select: [u8; 4], [a, b]: [Value; 2]) -> Value {
        let part = |of: u8| select.map(|byte| if byte / 4 == of { byte % 4 } else { 0x80 });
        match select {
            [0, 1, 2, 3] => a,
            [4, 5, 6, 7] => b,
            _ if a == b => self.b.push(Node::Bytes(select.map(|byte| byte % 4), a)),
            _ if select.iter().all(|&byte| byte < 4) => self.b.push(Node::Bytes(select, a)),
            _ if select.iter().all(|&byte| byte >= 4) => self.b.push(Node::Bytes(part(1), b)),
            _ => {
                let a = self.b.push(Node::Bytes(part(0), a));
                let b = self.b.push(Node::Bytes(part(1), b));
                self.b.or(a, b)
            }
        }
    }

    pub(super) fn video(&mut self, op: &VideoOp, [a, b, c]: [Value; 3]) -> Value {
        let [x, y] = picked(op).map(|select| self.bytes(select, [a, b]));
        let mask = written(op);
        if op.merge == VideoMerge::Accumulate {
            let sum = self.sum(op, [x, y], mask);
            return self.b.words(Binary::Add, sum, c);
        }
        let width = width_of(op.lanes);
        let result = match LaneOp::of_video(op) {
            Some(lanes) => self.lanes(lanes, width, [x, y]),
            None => {
                let [low, high] = self.exact(op, [x, y]);
                let wide = wider(width);
                let (of, signed) = match op.merge {
                    VideoMerge::Wrap => {
                        let kept = if op.lanes == Lanes::Four { 0x00FF_00FF } else { 0xFFFF };
                        ([low, high].map(|lanes| self.b.and_constant(lanes, kept)), false)
                    }
                    _ => ([low, high], op.d_signed),
                };
                self.b.push(Node::Pack { signed, width: wide, of })
            }
        };
        match mask {
            u32::MAX => result,
            mask => {
                let mask = self.b.constant(mask);
                self.b.select(mask, result, c)
            }
        }
    }

    /// Returns the results of an elementwise operation.
    fn lanes(&mut self, op: LaneOp, width: Width, [x, y]: [Value; 2]) -> Value {
        let binary = match op {
            LaneOp::Add => Binary::Add,
            LaneOp::Sub => Binary::Sub,
            LaneOp::AddSat { signed } => Binary::AddSat { signed },
            LaneOp::SubSat { signed } => Binary::SubSat { signed },
            LaneOp::Min { signed } => Binary::Min { signed },
            LaneOp::Max { signed } => Binary::Max { signed },
            LaneOp::Average => Binary::Average,
            LaneOp::AbsDiff { signed: false } => {
                let op = Binary::SubSat { signed: false };
                let (p, n) = (self.b.binary(op, width, x, y), self.b.binary(op, width, y, x));
                return self.b.or(p, n);
            }
            LaneOp::AbsDiff { signed: true } => {
                let most = self.b.binary(Binary::Max { signed: true }, width, x, y);
                let least = self.b.binary(Binary::Min { signed: true }, width, x, y);
                return self.b.binary(Binary::Sub, width, most, least);
            }
        };
        self.b.binary(binary, width, x, y)
    }

    /// Extends the elements of each half of 128 bits to twice their width.
    fn unpacked(&mut self, width: Width, signed: bool, x: Value) -> [Value; 2] {
        let zero = self.b.constant(0);
        let high = if signed { self.b.binary(Binary::Greater, width, zero, x) } else { zero };
        Half::BOTH.map(|half| self.b.push(Node::Unpack(half, width, [x, high])))
    }

    /// Returns the exact results in elements of twice the width.
    fn exact(&mut self, op: &VideoOp, [x, y]: [Value; 2]) -> [Value; 2] {
        let width = width_of(op.lanes);
        let (x, y) = (self.unpacked(width, op.a_signed, x), self.unpacked(width, op.b_signed, y));
        let wide = wider(width);
        [0, 1].map(|k| {
            let (x, y) = (x[k], y[k]);
            match op.kind {
                VideoKind::Add => self.b.binary(Binary::Add, wide, x, y),
                VideoKind::Sub => self.b.binary(Binary::Sub, wide, x, y),
                VideoKind::Min => self.b.binary(Binary::Min { signed: true }, wide, x, y),
                VideoKind::Max => self.b.binary(Binary::Max { signed: true }, wide, x, y),
                VideoKind::AbsDiff => self.lanes(LaneOp::AbsDiff { signed: true }, wide, [x, y]),
                VideoKind::Avrg => {
                    let sum = self.b.binary(Binary::Add, wide, x, y);
                    let ones = self.b.constant(u32::MAX);
                    // -1 for a negative sum, else 0. Therefore 1 is added to sums that are not negative.
                    let negative = self.b.shift(Shift::Arithmetic, wide, sum, bits(wide) - 1);
                    let one = self.b.binary(Binary::Sub, wide, negative, ones);
                    let sum = self.b.binary(Binary::Add, wide, sum, one);
                    self.b.shift(Shift::Arithmetic, wide, sum, 1)
                }
            }
        })
    }

    /// Returns, for each word, the sum of the exact results of the elements in the mask.
    fn sum(&mut self, op: &VideoOp, [x, y]: [Value; 2], mask: u32) -> Value {
        let width = width_of(op.lanes);
        let like = op.a_signed == op.b_signed;
        let unsigned = match op.kind {
            VideoKind::AbsDiff if like => Some(LaneOp::AbsDiff { signed: op.a_signed }),
            VideoKind::Min if like && !op.a_signed => Some(LaneOp::Min { signed: false }),
            VideoKind::Max if like && !op.a_signed => Some(LaneOp::Max { signed: false }),
            VideoKind::Avrg if like && !op.a_signed => Some(LaneOp::Average),
            _ => None,
        };
        if let Some(lanes) = unsigned {
            let mut lanes = self.lanes(lanes, width, [x, y]);
            if mask != u32::MAX {
                lanes = self.b.and_constant(lanes, mask);
            }
            if width == Width::B8 {
                let ones = self.b.constant(0x0101_0101);
                lanes = self.b.push(Node::MulAddBytes([lanes, ones]));
                let ones = self.b.constant(0x0001_0001);
                return self.b.push(Node::MulAddPairs([lanes, ones]));
            }
            let low = self.b.and_constant(lanes, 0xFFFF);
            let high = self.b.shift_words(Shift::Right, lanes, 16);
            return self.b.words(Binary::Add, low, high);
        }
        let exact = self.exact(op, [x, y]);
        let kept = self.b.constant(mask);
        let kept = self.unpacked(width, true, kept);
        let kept = [0, 1].map(|k| self.b.and(exact[k], kept[k]));
        if width == Width::B8 {
            let ones = self.b.constant(0x0001_0001);
            // Each word of four elements has two sums.
            let sums = kept.map(|lanes| self.b.push(Node::MulAddPairs([lanes, ones])));
            return self.pairwise(sums);
        }
        self.pairwise(kept)
    }

    /// Returns the sums of adjacent words, in the order of [`Unpack`](Node::Unpack).
    fn pairwise(&mut self, [low, high]: [Value; 2]) -> Value {
        let even = self.b.push(Node::Every2nd { odd: false, split: true, of: [low, high] });
        let odd = self.b.push(Node::Every2nd { odd: true, split: true, of: [low, high] });
        self.b.words(Binary::Add, even, odd)
    }
}

fn width_of(lanes: Lanes) -> Width {
    if lanes == Lanes::Four { Width::B8 } else { Width::B16 }
}

fn wider(width: Width) -> Width {
    if width == Width::B8 { Width::B16 } else { Width::B32 }
}

fn bits(width: Width) -> u8 {
    8 << width as u8
}
