//! The address unit: accesses to the data store, and address arithmetic.

use super::{Bit, Context, Outcome, f};
use crate::vp1::domain::{Domain, Index, Logic, Reader, Shape, Write};
use crate::vp1::{Opcode, Unit};
use crate::word::Field;

/// The low half of an address register, to which address arithmetic is limited.
const LOW: u32 = 0xffff;
/// Mask of the flags asf and azf, which a result that fills a whole register sets.
const REGISTER_FLAGS: u32 = 3 << 8;
/// Mask of the flag aef, which a result that is an address sets.
const ADDRESS_FLAG: u32 = 1 << 10;

/// The change of the address register by an access.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressUpdate {
    /// Adds the last source to the address register.
    Step,
    /// Leaves the address register unchanged. The address of the access is the register ORed with the last source.
    Stay,
}

/// Returns `true` if an instruction stores an `$r` register.
pub(super) fn stores_word(op: Opcode) -> bool {
    matches!(op, Opcode::STAS_R | Opcode::STAS_I | Opcode::STS)
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Returns the address of an access, and the outcome that updates the address register and the flag aef.
    fn access(&mut self, register: Field, then: AddressUpdate) -> (D::Word, Outcome<D>) {
        let (base, offset) = (self.a(register), self.source_word());
        let (next, flags) = self.stepped(base, offset);
        let (address, write) = match then {
            AddressUpdate::Step => (base, Some(Write::A(self.reg(register), next))),
            AddressUpdate::Stay => (self.or(base, offset), None),
        };
        (address, Outcome::writes(write).with_flags(self.flags(ADDRESS_FLAG, flags)))
    }

    /// Returns the address register with an offset added to its low half, and the flag aef. The
    /// flag is set if the new address reaches the limit.
    fn stepped(&mut self, base: D::Word, offset: D::Word) -> (D::Word, D::Word) {
        let sum = self.d.add(base, offset);
        let low = self.and(sum, LOW);
        let limit = self.bits(base, 16, 0x3fff);
        let below = self.d.less(false, low, limit);
        let (reached, inside) = (self.d.word(ADDRESS_FLAG), self.d.word(0));
        let flags = self.d.select(below, inside, reached);
        let high = self.and(base, !LOW);
        (self.or(high, low), flags)
    }

    /// Returns the vector that the address unit reads. If the scalar unit moves from a vector in
    /// the same bundle, the shared read port returns that vector.
    fn vector_port(&mut self, field: Field) -> D::Bytes {
        let n = match self.bundle.inst(Unit::Scalar) {
            Some(scalar) if scalar.opcode() == Opcode::MOV_R_V => scalar.get(f::SRC1) as u8,
            _ => self.reg(field),
        };
        self.read.v(self.d, Index::Fixed(n))
    }

    /// Returns the `$r` register to store. If the scalar unit executes `bvecmad` or `bvecmadsel` in
    /// the same bundle, the shared read port returns the last register that this instruction reads.
    fn word_port(&mut self) -> D::Word {
        match self.bundle.inst(Unit::Scalar) {
            Some(inst) if matches!(inst.opcode(), Opcode::BVECMAD | Opcode::BVECMADSEL) => {
                let n = self.for_unit(inst).second_of_quad(2);
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

    /// Loads a vector to `$vx`, and also to a register of a quad if the condition is true.
    pub(super) fn load_extra(&mut self, shape: Shape) -> Outcome<D> {
        let (address, mut outcome) = self.access(f::SRC1, AddressUpdate::Step);
        let value = self.read.load(self.d, shape, address);
        outcome.writes.push(Write::Vx(value));
        let condition = self.condition();
        // If the condition is the constant false, no register of the quad is written. The flags
        // that would rotate the quad then do not count as read.
        if !matches!(condition, Bit::Known(false)) {
            let (index, when) = (self.quad(f::DST, 0), self.word_of_bit(condition));
            outcome.writes.push(Write::ConditionalV { when, index, value });
        }
        outcome
    }

    /// Evaluates `ldr`, a load whose row differs for each bank.
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

    /// Evaluates `star`, which stores a vector and writes no flags.
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

    /// Returns the outcome that writes a result to a whole address register, with the flags asf and azf.
    fn long_result(&mut self, result: D::Word) -> Outcome<D> {
        let sign = self.bits(result, 31 - 8, 1 << 8);
        let zero = self.d.word(0);
        let equal = self.d.equal(result, zero);
        let nine = self.d.word(9);
        let equal = self.d.shl(equal, nine);
        let flags = self.or(sign, equal);
        Outcome::writes([Write::A(self.reg(f::DST), result)]).with_flags(self.flags(REGISTER_FLAGS, flags))
    }

    /// Evaluates `setlo` and `sethi`: replaces the bits in the mask `half` by bits of the constant.
    pub(super) fn set_half(&mut self, half: u32) -> Outcome<D> {
        let (old, new) = (self.a(f::DST), self.source_word());
        let kept = self.and(old, !half);
        Outcome::writes([Write::A(self.reg(f::DST), self.or(kept, new))])
    }
}
