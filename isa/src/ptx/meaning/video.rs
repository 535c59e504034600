//! Semantics of video instructions: arithmetic and comparisons on the half-words or bytes of a register.

use super::{Context, Reader, wide};
use crate::halu::domain::{Domain, Lanes, VideoKind, VideoMerge, VideoOp};
use crate::ptx::operand::Operand;
use crate::ptx::row::OperandKind;
use crate::ptx::types::{Token, Type};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn video(&mut self, kind: VideoKind, lanes: Lanes) {
        let op = VideoOp {
            kind,
            lanes,
            d_signed: self.ty(0).is_signed(),
            a_signed: self.ty(1).is_signed(),
            b_signed: self.ty(2).is_signed(),
            a_select: self.elements(1, lanes),
            b_select: self.elements(2, lanes),
            mask: self.mask(lanes),
            merge: match () {
                () if self.has(Token::Add) => VideoMerge::Accumulate,
                () if self.has(Token::Sat) => VideoMerge::Saturate,
                () => VideoMerge::Wrap,
            },
        };
        let (a, b, c) = (self.word(1), self.word(2), self.word(3));
        let result = self.d.video(&op, a, b, c);
        self.define_word(result);
    }

    /// Returns the index of the source element for each lane, from the selector of operand `i` or its default selector.
    fn elements(&self, i: usize, lanes: Lanes) -> [u8; 4] {
        let default = match self.inst.row().operands.get(i).map(|o| o.shape) {
            Some(OperandKind::Selected(_, default)) => default,
            _ => 0,
        };
        let selector = match self.operand(i) {
            Some(&Operand::Lanes { digits, .. }) => digits,
            _ => default,
        };
        let bits = lanes.index_bits();
        [0, 1, 2, 3].map(|lane| (selector >> (lane * bits)) as u8 & ((1 << bits) - 1))
    }

    /// Returns the mask of the lanes that the instruction writes or accumulates.
    fn mask(&self, lanes: Lanes) -> u8 {
        match self.operand(0) {
            Some(&Operand::Lanes { digits, .. }) => digits as u8,
            _ => lanes.all() as u8,
        }
    }

    /// Executes `vset2` or `vset4`: compares the lanes and writes 1 or 0 to each lane.
    pub(super) fn video_set(&mut self, lanes: Lanes) {
        let bits = 32 / lanes.count();
        let sources = [self.word(1), self.word(2)];
        let [of_a, of_b] = [1, 2].map(|i| self.elements(i, lanes));
        let [a_signed, b_signed] = [0, 1].map(|n| self.ty(n).is_signed());
        let (mask, counts) = (self.mask(lanes), self.has(Token::Add));
        let (one, zero) = (self.d.word(1), self.d.word(0));
        let mut result = self.word(3);
        if !counts {
            let kept = (0..lanes.count()).filter(|lane| mask >> lane & 1 == 0);
            let kept = kept.fold(0, |kept, lane| kept | u32::MAX >> (32 - bits) << (lane * bits));
            let kept = self.d.word(kept);
            result = self.d.and(result, kept);
        }
        for (lane, (a, b)) in
            (0..lanes.count()).zip(of_a.into_iter().zip(of_b)).filter(|(lane, _)| mask >> lane & 1 != 0)
        {
            let a = self.element(sources, a, bits, a_signed);
            let b = self.element(sources, b, bits, b_signed);
            let holds = self.compare_ints(Type::S32, [a, zero], [b, zero]);
            let truth = self.d.select(holds, one, zero);
            result = if counts {
                self.d.add(result, truth)
            } else {
                let place = self.d.word(lane * bits);
                let placed = self.d.shl(truth, place);
                self.d.or(result, placed)
            };
        }
        self.define_word(result);
    }

    /// Returns an element of two registers, extended to 32 bits. After the extension, signed and
    /// unsigned elements compare as s32.
    fn element(&mut self, sources: [D::Word; 2], number: u8, bits: u32, signed: bool) -> D::Word {
        let number = u32::from(number) * bits;
        let word = if number < 32 { sources[0] } else { sources[1] };
        let place = self.d.word(number % 32);
        let shifted = self.d.shr(word, place);
        wide::extend_word(self.d, bits, signed, shifted)
    }
}
