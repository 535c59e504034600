//! vop2 and vop4, as the listings of seeds 000 and 002 have them.

use super::{Context, f};
use crate::halu::domain::{Domain, Lanes, Reader, VideoKind, VideoMerge, VideoOp};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Every vop2 and vop4.
    pub(super) fn video(&mut self, kind: VideoKind, lanes: Lanes) {
        let (a_select, b_select, mask) = match lanes {
            Lanes::Two => (f::ASEL2, f::BSEL2, f::MASK2),
            Lanes::Four => (f::ASEL4, f::BSEL4, f::MASK4),
        };
        let elements = |selector: u64| match lanes {
            Lanes::Two => [0, 2, 4, 6].map(|lane| (selector >> lane) as u8 & 3),
            Lanes::Four => [0, 3, 6, 9].map(|lane| (selector >> lane) as u8 & 7),
        };
        let op = VideoOp {
            kind,
            lanes,
            d_signed: self.flag(f::DTYPE),
            a_signed: self.flag(f::ATYPE),
            b_signed: self.flag(f::BTYPE),
            a_select: elements(self.get(a_select)),
            b_select: elements(self.get(b_select)),
            mask: self.get(mask) as u8,
            merge: match () {
                () if self.flag(f::VADD) => VideoMerge::Accumulate,
                () if self.flag(f::VSAT) => VideoMerge::Saturate,
                () => VideoMerge::Wrap,
            },
        };
        let (a, b, c) = (self.word(0), self.word(1), self.word(2));
        let result = self.d.video(&op, a, b, c);
        self.define(f::RD, [result]);
    }
}

/// A video instruction in 32-bit operations. A lane's exact result fits 18 bits, so words carry it as signed integers.
pub fn lanes<D: Domain>(d: &mut D, op: &VideoOp, a: D::Word, b: D::Word, c: D::Word) -> D::Word {
    let (lanes, bits) = (op.lanes.count(), op.lanes.bits());
    let lane_mask = u32::MAX >> (32 - bits);
    let mut result = if op.merge == VideoMerge::Accumulate {
        c
    } else {
        let kept = (0..lanes).filter(|i| op.mask >> i & 1 == 0).fold(0, |m, i| m | lane_mask << (i * bits));
        let kept = d.word(kept);
        d.and(c, kept)
    };
    for (i, (&x, &y)) in (0..lanes).zip(op.a_select.iter().zip(&op.b_select)) {
        if op.mask >> i & 1 == 0 {
            continue;
        }
        let x = element(d, [a, b], x.into(), bits, op.a_signed);
        let y = element(d, [a, b], y.into(), bits, op.b_signed);
        let mut t = lane(d, op.kind, x, y);
        if op.merge == VideoMerge::Accumulate {
            result = d.add(result, t);
            continue;
        }
        if op.merge == VideoMerge::Saturate {
            let (low, high) = if op.d_signed { (!(lane_mask >> 1), lane_mask >> 1) } else { (0, lane_mask) };
            let (low, high) = (d.word(low), d.word(high));
            t = min(d, t, high);
            t = max(d, t, low);
        }
        let (lane_mask, position) = (d.word(lane_mask), d.word(i * bits));
        let t = d.and(t, lane_mask);
        let t = d.shl(t, position);
        result = d.or(result, t);
    }
    result
}

/// Element `index` of the pair, of which the first register holds the lower ones, extended to a word.
fn element<D: Domain>(d: &mut D, pair: [D::Word; 2], index: u32, bits: u32, signed: bool) -> D::Word {
    let [low, high] = pair;
    let lanes = 32 / bits;
    let word = if index < lanes { low } else { high };
    let left = d.word(32 - bits * (index % lanes + 1));
    let right = d.word(32 - bits);
    let top = d.shl(word, left);
    if signed { d.sar(top, right) } else { d.shr(top, right) }
}

fn lane<D: Domain>(d: &mut D, kind: VideoKind, x: D::Word, y: D::Word) -> D::Word {
    match kind {
        VideoKind::Add => d.add(x, y),
        VideoKind::Sub => d.sub(x, y),
        VideoKind::Avrg => {
            let (one, sign_bit) = (d.word(1), d.word(31));
            let s = d.add(x, y);
            let borrow = d.sar(s, sign_bit);
            let s = d.add(s, borrow);
            let s = d.add(s, one);
            d.sar(s, one)
        }
        VideoKind::AbsDiff => {
            let (p, n) = (d.sub(x, y), d.sub(y, x));
            max(d, p, n)
        }
        VideoKind::Min => min(d, x, y),
        VideoKind::Max => max(d, x, y),
    }
}

fn min<D: Domain>(d: &mut D, x: D::Word, y: D::Word) -> D::Word {
    let p = d.less(true, x, y);
    d.select(p, x, y)
}

fn max<D: Domain>(d: &mut D, x: D::Word, y: D::Word) -> D::Word {
    let p = d.less(true, x, y);
    d.select(p, y, x)
}
