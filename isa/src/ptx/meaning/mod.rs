//! Semantics of every PTX instruction, defined once over any [`Domain`].
//!
//! Each group of instructions has its own file. This file selects the method for an opcode, and
//! reads and writes operands.

mod approx;
mod atomic;
mod bits;
mod carry;
mod collective;
mod compare;
mod control;
mod convert;
mod copy;
mod double;
mod effects;
mod float;
mod half;
mod integer;
mod matrix;
mod memory;
mod mini;
mod scalar_video;
mod video;
mod warpgroup;

use super::opcodes::opcodes;
use arrayvec::ArrayVec;

use copy::CopiedBytes;
use float::Arith;

pub use atomic::{atomically, change};
pub use collective::{collective, fence, results, strength, written_registers, yields};
pub use control::arguments;
pub use effects::{
    Access, CONST_SPACE, Called, Effects, LOCAL_WINDOW, Location, Next, PARAM_WINDOW, Reader, SHARED_WINDOW, Value,
    WINDOW_BYTES, Write, function_address, function_at,
};
pub use matrix::{Warp, WarpInst};
pub use memory::{elements, words_of_elements};

use super::Opcode;
use super::inst::Inst;
use super::operand::{Operand, Reg};
use super::types::{Token, Type};
use crate::approx::Function;
use crate::half::Format;
use crate::halu::domain::{Domain, HalfKind, Lanes, VideoKind, exact, wide};

/// Returns the guard of an instruction as a predicate, or `None` if the instruction has no guard. If the predicate is
/// false, the engine commits no effects and continues with the next instruction.
pub fn guard<D: Domain>(inst: &Inst, domain: &mut D, read: &mut impl Reader<D>) -> Option<D::Pred> {
    let guard = inst.guard?;
    let p = read.predicate(domain, guard.reg);
    Some(if guard.not { domain.negate(p) } else { p })
}

/// Returns the effects of a valid instruction whose guard is true. The inputs are read through
/// `read` before any effect is committed.
pub fn meaning<D: Domain>(inst: &Inst, domain: &mut D, read: &mut impl Reader<D>) -> Effects<D::Word, D::Pred> {
    let effects = Effects { writes: ArrayVec::new(), access: None, next: Next::Fall };
    let mut cx = Context { inst, d: domain, read, effects };
    cx.execute();
    cx.effects
}

/// State while the effects of one instruction are computed.
struct Context<'a, D: Domain, R: Reader<D>> {
    inst: &'a Inst,
    d: &'a mut D,
    read: &'a mut R,
    effects: Effects<D::Word, D::Pred>,
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Calls the method that implements the opcode.
    #[rustfmt::skip]
    fn execute(&mut self) {
        macro_rules! dispatch {
            ($m:ident: $($module:ident { $($($name:ident)+ => $meaning:expr;)* })*) => {{
                let $m = self;
                match $m.inst.opcode { $($($(Opcode::$name)|+ => $meaning,)*)* }
            }};
        }
        opcodes!(dispatch)
    }

    fn has(&self, token: Token) -> bool {
        self.inst.has(token)
    }

    fn ty(&self, n: u8) -> Type {
        self.inst.ty(n)
    }

    fn operand(&self, i: usize) -> Option<&Operand> {
        self.inst.operands.get(i)
    }

    /// Returns the value of the register or immediate operand `i` as 64 bits, low word first. Bits
    /// beyond the operand's width are zero.
    fn value(&mut self, i: usize) -> [D::Word; 2] {
        match self.operand(i) {
            Some(&Operand::Number(bits)) => wide::constant(self.d, bits),
            operand => match operand.and_then(Operand::register) {
                Some(reg) => self.read.register(self.d, reg),
                None => wide::constant(self.d, 0),
            },
        }
    }

    /// Returns the low 32-bit word of operand `i`, a register or an immediate.
    fn word(&mut self, i: usize) -> D::Word {
        let [low, _] = self.value(i);
        low
    }

    /// Returns the integer operand `i` of at most 32 bits, sign-extended or zero-extended to 32 bits.
    fn narrow_int(&mut self, i: usize, ty: Type) -> D::Word {
        let word = self.word(i);
        wide::extend_word(self.d, ty.bits(), ty.is_signed(), word)
    }

    /// Returns the integer operand `i`, sign-extended or zero-extended to 64 bits, low word first.
    fn wide_int(&mut self, i: usize, ty: Type) -> [D::Word; 2] {
        let value = self.value(i);
        wide::extend(self.d, ty.bits(), ty.is_signed(), value)
    }

    /// Returns the predicate `a < b` for integers of type `ty`, extended to 64 bits. For types of
    /// at most 32 bits, only the low words are compared.
    fn less(&mut self, ty: Type, a: [D::Word; 2], b: [D::Word; 2]) -> D::Pred {
        match ty.bits() {
            64 => wide::less(self.d, ty.is_signed(), a, b),
            _ => self.d.less(ty.is_signed(), a[0], b[0]),
        }
    }

    /// Returns the predicate `a == b` for integers of type `ty`, extended to 64 bits.
    fn equal(&mut self, ty: Type, a: [D::Word; 2], b: [D::Word; 2]) -> D::Pred {
        match ty.bits() {
            64 => wide::equal(self.d, a, b),
            _ => self.d.equal(a[0], b[0]),
        }
    }

    /// Returns the value of the predicate operand `i`, which may be negated.
    fn predicate(&mut self, i: usize) -> D::Pred {
        match self.operand(i) {
            Some(&Operand::Register(reg)) => self.read.predicate(self.d, reg),
            Some(&Operand::Not(reg)) => {
                let p = self.read.predicate(self.d, reg);
                self.d.negate(p)
            }
            Some(&Operand::Number(bits)) => self.d.truth(bits != 0),
            _ => self.d.truth(false),
        }
    }

    /// Returns the carry flag.
    fn carry(&mut self) -> D::Pred {
        self.read.predicate(self.d, Reg::CARRY)
    }

    /// Writes the carry flag if the row or the modifier `.cc` says that the instruction writes the flag.
    fn define_carry(&mut self, carry: D::Pred) {
        if self.inst.writes_carry() {
            self.effects.writes.push(Write::Predicate(Reg::CARRY, carry));
        }
    }

    fn define_reg(&mut self, reg: Reg, value: [D::Word; 2]) {
        self.effects.writes.push(Write::Register(reg, value));
    }

    /// Writes a 64-bit value to the first operand, a register.
    fn define(&mut self, value: [D::Word; 2]) {
        if let Some(reg) = self.operand(0).and_then(Operand::register) {
            self.define_reg(reg, value);
        }
    }

    /// Writes a 32-bit word to the first operand, a register.
    fn define_word(&mut self, word: D::Word) {
        let zero = self.d.word(0);
        self.define([word, zero]);
    }

    /// Writes a predicate to the first operand, a predicate register.
    fn define_predicate(&mut self, p: D::Pred) {
        if let Some(&Operand::Register(reg)) = self.operand(0) {
            self.effects.writes.push(Write::Predicate(reg, p));
        }
    }
}
