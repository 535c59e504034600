//! Semantics of the video instructions `vop2` and `vop4`, as in the listings of the video
//! references (seeds 000 and 002).

use super::{Context, f};
use crate::halu::domain::{Domain, Lanes, Reader, VideoKind, VideoMerge, VideoOp};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Evaluates a `vop2` or `vop4`.
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
