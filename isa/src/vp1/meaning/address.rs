//! The address unit: accesses to the data store, and address arithmetic.

use super::{Bit, Context, Outcome, f};
use crate::vp1::domain::{Domain, Index, Logic, Reader, Shape, Write};
use crate::vp1::{Opcode, Unit};
use crate::word::Field;

/// The low half of an address register, which holds the address for arithmetic.
const LOW: u32 = 0xffff;
/// The flags asf and azf, for results that are whole registers.
const LONG: u32 = 3 << 8;
/// The flag aef, for results that are addresses.
const SHORT: u32 = 1 << 10;

/// The update of the address register after an access.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressUpdate {
    /// Adds the last source to the register.
    Step,
    /// Leaves the register unchanged; the last source is or-ed with the address.
    Stay,
}

/// Returns `true` if an instruction stores an `$r`.
pub(super) fn stores_word(op: Opcode) -> bool {
    matches!(op, Opcode::STAS_R | Opcode::STAS_I | Opcode::STS)
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Returns the address of an access, and the outcome with the update of the address register.
    fn access(&mut self, register: Field, then: AddressUpdate) -> (D::Word, Outcome<D>) {
        let (base, offset) = (self.a(register), self.source_word());
        let (next, flags) = self.stepped(base, offset);
        let (address, write) = match then {
            AddressUpdate::Step => (base, Some(Write::A(self.reg(register), next))),
            AddressUpdate::Stay => (self.or(base, offset), None),
        };
        (address, Outcome::writes(write).with_flags(self.flags(SHORT, flags)))
    }

    /// Adds an offset to the low half of an address register. Also returns aef, which is set if the
    /// new address reaches the limit.
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

    /// Returns the vector that the address unit reads. A scalar move from a vector takes precedence
    /// on this read port.
    fn vector_port(&mut self, field: Field) -> D::Bytes {
        let n = match self.bundle.inst(Unit::Scalar) {
            Some(scalar) if scalar.opcode() == Opcode::MOV_R_V => scalar.get(f::SRC1) as u8,
            _ => self.reg(field),
        };
        self.read.v(self.d, Index::Fixed(n))
    }

    /// Returns the `$r` to store. `bvecmad` and `bvecmadsel` take precedence on this read port,
    /// with the last register that they read.
    fn word_port(&mut self) -> D::Word {
        match self.bundle.inst(Unit::Scalar) {
            Some(inst) if matches!(inst.opcode(), Opcode::BVECMAD | Opcode::BVECMADSEL) => {
                let n = self.beside(inst).second_of_quad(2);
                self.read.r(self.d, n)
            }
            _ => self.r(f::SRC1),
        }
    }

    /// Loads to `$v[DST]`.
    pub(super) fn load(&mut self, shape: Shape, then: AddressUpdate) -> Outcome<D> {
        let (address, mut outcome) = self.access(f::SRC1, then);
        outcome.writes.push(Write::V(self.reg(f::DST), self.read.load(self.d, shape, address)));
        outcome
    }

    /// Loads to `$r[DST]`.
    pub(super) fn load_word(&mut self, then: AddressUpdate) -> Outcome<D> {
        let (address, mut outcome) = self.access(f::SRC1, then);
        let word = self.read.load_word(self.d, address);
        outcome.writes.extend(self.define(f::DST, word));
        outcome
    }

    /// Loads to `$vx`, and if the condition is true also to a register of a quad.
    pub(super) fn load_extra(&mut self, shape: Shape) -> Outcome<D> {
        let (address, mut outcome) = self.access(f::SRC1, AddressUpdate::Step);
        let value = self.read.load(self.d, shape, address);
        outcome.writes.push(Write::Vx(value));
        let condition = self.condition();
        // With a constant false condition nothing is written, so the flags that would rotate the
        // quad are not read.
        if !matches!(condition, Bit::Known(false)) {
            let (index, when) = (self.quad(f::DST, 0), self.word_of_bit(condition));
            outcome.writes.push(Write::VWhere { when, index, value });
        }
        outcome
    }

    /// Evaluates `ldr`.
    pub(super) fn gather(&mut self) -> Outcome<D> {
        let (address, rows) = (self.a(f::SRC1), self.vector_port(f::SRC2));
        Outcome::writes([Write::V(self.reg(f::DST), self.read.gather(self.d, address, rows))])
    }

    /// Stores `$v[SRC1]`.
    pub(super) fn store(&mut self, shape: Shape, then: AddressUpdate) -> Outcome<D> {
        let (address, mut outcome) = self.access(f::DST, then);
        outcome.writes.push(Write::Store(shape, address, self.vector_port(f::SRC1)));
        outcome
    }

    /// Stores `$r[SRC1]`.
    pub(super) fn store_word(&mut self, then: AddressUpdate) -> Outcome<D> {
        let (address, mut outcome) = self.access(f::DST, then);
        outcome.writes.push(Write::StoreWord(address, self.word_port()));
        outcome
    }

    /// Evaluates `star`, which writes no flags.
    pub(super) fn store_banks(&mut self) -> Outcome<D> {
        self.store(Shape::Banks, AddressUpdate::Step).with_flags(None)
    }

    /// Evaluates `aadd`.
    pub(super) fn step(&mut self) -> Outcome<D> {
        self.access(f::DST, AddressUpdate::Step).1
    }

    /// Evaluates `add`.
    pub(super) fn add_addresses(&mut self) -> Outcome<D> {
        let (a, b) = (self.a(f::SRC1), self.source_word());
        let sum = self.d.add(a, b);
        self.long_result(sum)
    }

    /// Evaluates `bitop`.
    pub(super) fn combine_addresses(&mut self) -> Outcome<D> {
        let (a, b) = (self.a(f::SRC1), self.source_word());
        let result = self.d.logic(Logic::of_table(self.reg(f::BITOP)), a, b);
        self.long_result(result)
    }

    /// Returns the outcome of a result that is a whole register, with its flags.
    fn long_result(&mut self, result: D::Word) -> Outcome<D> {
        let sign = self.bits(result, 31 - 8, 1 << 8);
        let zero = self.d.word(0);
        let equal = self.d.equal(result, zero);
        let nine = self.d.word(9);
        let equal = self.d.shl(equal, nine);
        let flags = self.or(sign, equal);
        Outcome::writes([Write::A(self.reg(f::DST), result)]).with_flags(self.flags(LONG, flags))
    }

    /// Evaluates `setlo` and `sethi`: replaces the bits in `half` by those of the constant.
    pub(super) fn set_half(&mut self, half: u32) -> Outcome<D> {
        let (old, new) = (self.a(f::DST), self.source_word());
        let kept = self.and(old, !half);
        Outcome::writes([Write::A(self.reg(f::DST), self.or(kept, new))])
    }
}
