//! The address unit: the data store, and arithmetic on addresses.

use super::{Bit, Context, Outcome, f};
use crate::vp1::domain::{Domain, Index, Logic, Reader, Shape, Write};
use crate::vp1::{Opcode, Unit};
use crate::word::Field;

/// The low half of an address register: the address, as arithmetic sees it.
const LOW: u32 = 0xffff;
/// asf and azf, of results that are whole registers.
const LONG: u32 = 3 << 8;
/// aef, of those that are addresses.
const SHORT: u32 = 1 << 10;

/// What becomes of the address register of an access.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// The last source is added to it.
    Step,
    /// Nothing; the last source is or-ed with the address.
    Stay,
}

/// Whether an instruction stores a `$r`.
pub(super) fn stores_word(op: Opcode) -> bool {
    matches!(op, Opcode::STAS_R | Opcode::STAS_I | Opcode::STS)
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// The address of an access, and what becomes of its register.
    fn access(&mut self, register: Field, then: Then) -> (D::Word, Outcome<D>) {
        let (base, offset) = (self.a(register), self.source_word());
        let (next, flags) = self.stepped(base, offset);
        let (address, write) = match then {
            Then::Step => (base, Some(Write::A(self.reg(register), next))),
            Then::Stay => (self.or(base, offset), None),
        };
        (address, Outcome::writes(write).with_flags(self.flags(SHORT, flags)))
    }

    /// An address register whose low half an offset is added to, and aef: whether it then reaches the limit.
    fn stepped(&mut self, base: D::Word, offset: D::Word) -> (D::Word, D::Word) {
        let sum = self.d.add(base, offset);
        let low = self.and(sum, LOW);
        let limit = self.bits(base, 16, 0x3fff);
        let below = self.d.less(false, low, limit);
        let (reached, inside) = (self.d.word(SHORT), self.d.word(0));
        let flags = self.d.select(below, inside, reached);
        let high = self.and(base, !LOW);
        (self.or(high, low), flags)
    }

    /// The vector that the address unit reads. A scalar move from a vector has the port.
    fn vector_port(&mut self, field: Field) -> D::Bytes {
        let n = match self.bundle.inst(Unit::Scalar) {
            Some(scalar) if scalar.opcode() == Opcode::MOV_R_V => scalar.get(f::SRC1) as u8,
            _ => self.reg(field),
        };
        self.read.v(self.d, Index::Fixed(n))
    }

    /// The `$r` that is stored. `bvecmad` and `bvecmadsel` have the port, for the last register that they read.
    fn word_port(&mut self) -> D::Word {
        match self.bundle.inst(Unit::Scalar) {
            Some(inst) if matches!(inst.opcode(), Opcode::BVECMAD | Opcode::BVECMADSEL) => {
                let n = self.beside(inst).second_of_quad(2);
                self.read.r(self.d, n)
            }
            _ => self.r(f::SRC1),
        }
    }

    /// A load to `$v[DST]`.
    pub(super) fn load(&mut self, shape: Shape, then: Then) -> Outcome<D> {
        let (address, mut outcome) = self.access(f::SRC1, then);
        outcome.writes.push(Write::V(self.reg(f::DST), self.read.load(self.d, shape, address)));
        outcome
    }

    /// A load to `$r[DST]`.
    pub(super) fn load_word(&mut self, then: Then) -> Outcome<D> {
        let (address, mut outcome) = self.access(f::SRC1, then);
        let word = self.read.load_word(self.d, address);
        outcome.writes.extend(self.define(f::DST, word));
        outcome
    }

    /// A load to `$vx`, and where the condition is true to a register of a quad.
    pub(super) fn load_extra(&mut self, shape: Shape) -> Outcome<D> {
        let (address, mut outcome) = self.access(f::SRC1, Then::Step);
        let value = self.read.load(self.d, shape, address);
        outcome.writes.push(Write::Vx(value));
        let condition = self.condition();
        // What is never written has no number that flags rotate.
        if !matches!(condition, Bit::Known(false)) {
            let (index, when) = (self.quad(f::DST, 0), self.word_of_bit(condition));
            outcome.writes.push(Write::VWhere { when, index, value });
        }
        outcome
    }

    /// `ldr`.
    pub(super) fn gather(&mut self) -> Outcome<D> {
        let (address, rows) = (self.a(f::SRC1), self.vector_port(f::SRC2));
        Outcome::writes([Write::V(self.reg(f::DST), self.read.gather(self.d, address, rows))])
    }

    /// A store of `$v[SRC1]`.
    pub(super) fn store(&mut self, shape: Shape, then: Then) -> Outcome<D> {
        let (address, mut outcome) = self.access(f::DST, then);
        outcome.writes.push(Write::Store(shape, address, self.vector_port(f::SRC1)));
        outcome
    }

    /// A store of `$r[SRC1]`.
    pub(super) fn store_word(&mut self, then: Then) -> Outcome<D> {
        let (address, mut outcome) = self.access(f::DST, then);
        outcome.writes.push(Write::StoreWord(address, self.word_port()));
        outcome
    }

    /// `star`, which has no flags.
    pub(super) fn store_banks(&mut self) -> Outcome<D> {
        self.store(Shape::Banks, Then::Step).with_flags(None)
    }

    /// `aadd`.
    pub(super) fn step(&mut self) -> Outcome<D> {
        self.access(f::DST, Then::Step).1
    }

    /// `add`.
    pub(super) fn add_addresses(&mut self) -> Outcome<D> {
        let (a, b) = (self.a(f::SRC1), self.source_word());
        let sum = self.d.add(a, b);
        self.long_result(sum)
    }

    /// `bitop`.
    pub(super) fn combine_addresses(&mut self) -> Outcome<D> {
        let (a, b) = (self.a(f::SRC1), self.source_word());
        let result = self.d.logic(Logic::of_table(self.reg(f::BITOP)), a, b);
        self.long_result(result)
    }

    /// A whole register, with flags.
    fn long_result(&mut self, result: D::Word) -> Outcome<D> {
        let sign = self.bits(result, 31 - 8, 1 << 8);
        let zero = self.d.word(0);
        let equal = self.d.equal(result, zero);
        let nine = self.d.word(9);
        let equal = self.d.shl(equal, nine);
        let flags = self.or(sign, equal);
        Outcome::writes([Write::A(self.reg(f::DST), result)]).with_flags(self.flags(LONG, flags))
    }

    /// `setlo` and `sethi`: the bits of the register that `half` has become those of the constant.
    pub(super) fn set_half(&mut self, half: u32) -> Outcome<D> {
        let (old, new) = (self.a(f::DST), self.source_word());
        let kept = self.and(old, !half);
        Outcome::writes([Write::A(self.reg(f::DST), self.or(kept, new))])
    }
}
