//! The factors that the vector unit reads if the scalar instruction forwards none. These factors
//! are intermediate values of the scalar computation. No useful program depends on them.

use super::{Context, f};
use crate::vp1::Opcode;
use crate::vp1::domain::{Domain, Reader};
use crate::word::Field;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Returns the intermediate values of the scalar instruction that the vector unit reads as factors. An opcode
    /// without a mnemonic also has such values, so this function tests opcode bits.
    pub(super) fn leftover_factors(&mut self) -> [D::Word; 4] {
        let op = self.reg(f::OP);
        let (immediate, signed) = (op & 0x20 != 0, op & 0x10 == 0);
        match (op, op & 0xf) {
            (0..=0x3f, operation @ 0..=3) => self.multiplier_leftover(immediate, signed, operation),
            (0x25..=0x27, _) | (0..=0x3f, 8..=0xe) => [self.d.word(0); 4],
            (0..=0x3f, operation) => self.plain_leftover(immediate, operation),
            _ => {
                let field = if self.inst.opcode() == Opcode::SETHI { f::DST } else { f::SRC1 };
                let word = self.r(field);
                self.bit_factors(word)
            }
        }
    }

    /// Returns the intermediate values of `bmul`, `bmula` and the neighbouring opcodes 0 and 3: the
    /// products of the bytes. For opcodes 0 and 1, the low 8 bits of the products are dropped.
    fn multiplier_leftover(&mut self, immediate: bool, signed: bool, operation: u8) -> [D::Word; 4] {
        let b = match (immediate, operation) {
            (true, 1) => self.source_bytes(),
            (true, _) => self.constant_bytes(f::BIMMBAD),
            (false, _) => self.register_bytes(),
        };
        let a = self.r(f::SRC1);
        let product = self.exact_product(signed, operation != 0 && self.flag(f::RND), a, b);
        let product = if operation < 2 { self.d.wide_sar(product, 8) } else { product };
        self.low_ten_bits(product)
    }

    /// Returns the intermediate values of the opcodes below 0x40 that do not operate on bytes: the
    /// products of unsigned bytes.
    fn plain_leftover(&mut self, immediate: bool, operation: u8) -> [D::Word; 4] {
        let b = match (immediate, operation) {
            (true, 0xf) => self.constant_bytes(f::BIMM),
            (true, _) => self.constant_bytes(f::BIMMBAD),
            (false, _) => self.register_bytes(),
        };
        let a = self.r(f::SRC1);
        let a = self.low_bytes(a);
        let (a, b) = (self.d.widen(false, a), self.d.widen(false, b));
        let product = self.d.wide_mul(a, b);
        self.low_ten_bits(product)
    }

    fn register_bytes(&mut self) -> D::Bytes {
        let word = self.r(f::SRC2);
        self.low_bytes(word)
    }

    fn constant_bytes(&mut self, field: Field) -> D::Bytes {
        self.d.bytes([self.get(field) as u8; 16])
    }

    /// Returns the low 10 bits of components 0 to 3, sign-extended.
    fn low_ten_bits(&mut self, a: D::Wide) -> [D::Word; 4] {
        let high = self.d.wide_sar(a, 8);
        let [low, high] = [a, high].map(|wide| {
            let bytes = self.d.narrow(wide);
            self.d.word_of(bytes, 0)
        });
        [0, 1, 2, 3].map(|i| {
            let (low, high) = (self.bits(low, 8 * i, 0xff), self.bits(high, 8 * i, 0xff));
            let (unused, eight) = (self.d.word(32 - 10), self.d.word(8));
            let high = self.d.shl(high, eight);
            let factor = self.or(low, high);
            let factor = self.d.shl(factor, unused);
            self.d.sar(factor, unused)
        })
    }
}
