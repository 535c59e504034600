//! Detection of registers that an item reads before it writes them.
//!
//! For each register the launch tracks the set of bits that are undefined, because no instruction
//! has written them. Each instruction propagates these sets by its own semantics, evaluated on
//! [`Definedness`]. A store, an address or a branch that depends on an undefined bit is an error. A
//! value counts as defined after a shuffle between threads, a matrix product, or a load.

use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::ptx::definedness::{self, Definedness, Truth, Word, whole};
use halfbyte_isa::ptx::meaning::{Reader, Value, arguments};
use halfbyte_isa::ptx::module::{Body, FormalLocation};
use halfbyte_isa::ptx::types::{Special, Type};
use halfbyte_isa::ptx::{FrameVar, Inst, Reg, Var};
use halfbyte_isa::row::OperandRole;
use smallvec::SmallVec;

use super::interp::{Registers, View};
use halfbyte_isa::trap::{TrapKind, Unwritten};

/// The first read of an unwritten register or carry flag, from which undefined bits were propagated.
#[derive(Clone)]
struct Origin {
    /// Address of the reading instruction in the program.
    inst: usize,
    of: Unwritten,
}

/// The undefined bits of a register.
#[derive(Clone)]
pub(super) struct UndefinedBits {
    bits: u64,
    /// The read of another register from which the undefined bits were propagated. `None` if this
    /// register was never written.
    origin: Option<Origin>,
}

/// The entry of a register without undefined bits.
static NONE: UndefinedBits = UndefinedBits { bits: 0, origin: None };

/// The undefined bits of the registers and of the carry flag in a body.
pub(super) struct Undefined {
    registers: Vec<UndefinedBits>,
    carry: UndefinedBits,
}

/// The registers that receive undefined bits from an instruction, with these bits.
pub(super) type UndefinedWrites = SmallVec<[(Reg, UndefinedBits); 2]>;

impl Undefined {
    /// Creates the state at the start of a body, with all registers undefined.
    pub(super) fn new(types: &[Type]) -> Undefined {
        let whole = |ty: &Type| UndefinedBits { bits: ty.truncate(u64::MAX), origin: None };
        Undefined { registers: types.iter().map(whole).collect(), carry: UndefinedBits { bits: 1, origin: None } }
    }

    fn get(&self, reg: Reg) -> &UndefinedBits {
        if reg == Reg::CARRY {
            return &self.carry;
        }
        self.registers.get(reg.0 as usize).unwrap_or(&NONE)
    }

    /// Returns the origin of the undefined bits in `reg`, which the instruction at address `number` reads.
    fn origin(&self, reg: Reg, body: &Body, number: usize) -> Origin {
        let own = || match reg {
            Reg::CARRY => Unwritten::Carry,
            reg => Unwritten::Register(body.registers.name(reg).unwrap_or_default()),
        };
        self.get(reg).origin.clone().unwrap_or_else(|| Origin { inst: number, of: own() })
    }

    /// Marks a register as fully defined.
    pub(super) fn define(&mut self, reg: Reg) {
        self.set(reg, NONE.clone());
    }

    fn set(&mut self, reg: Reg, bits: UndefinedBits) {
        if reg == Reg::CARRY {
            self.carry = bits;
        } else if let Some(held) = self.registers.get_mut(reg.0 as usize) {
            *held = bits;
        }
    }
}

impl Registers {
    /// Sets the undefined bits of the registers that an instruction wrote.
    pub(super) fn spread(&mut self, spread: UndefinedWrites) {
        if let Some(undefined) = &mut self.undefined {
            spread.into_iter().for_each(|(reg, bits)| undefined.set(reg, bits));
        }
    }

    /// Marks the carry flag as undefined.
    pub(super) fn lose_carry(&mut self) {
        if let Some(undefined) = &mut self.undefined {
            undefined.carry = UndefinedBits { bits: 1, origin: None };
        }
    }

    /// Copies the undefined bits of register `reg` of another body to register `to`.
    pub(super) fn inherit(&mut self, to: Reg, from: &Registers, reg: Reg) {
        if let (Some(undefined), Some(from)) = (&mut self.undefined, &from.undefined) {
            undefined.set(to, from.get(reg).clone());
        }
    }
}

/// The operands that an instruction may read, with their undefined bits.
struct Watched<'v, 'a> {
    view: &'v mut View<'a>,
    undefined: &'a Undefined,
}

impl Watched<'_, '_> {
    fn defined(words: [u32; 2]) -> [Word; 2] {
        words.map(|value| Word { value: Some(value), undefined: 0 })
    }
}

impl Reader<Definedness> for Watched<'_, '_> {
    fn register(&mut self, _: &mut Definedness, reg: Reg) -> [Word; 2] {
        let bits = self.undefined.get(reg).bits;
        let [low, high] = self.view.register(&mut Concrete, reg);
        [(low, bits as u32), (high, (bits >> 32) as u32)]
            .map(|(value, undefined)| Word { value: Some(value), undefined })
    }

    fn predicate(&mut self, _: &mut Definedness, reg: Reg) -> Truth {
        let undefined = self.undefined.get(reg).bits != 0;
        Truth { value: Some(self.view.predicate(&mut Concrete, reg)), undefined }
    }

    fn special(&mut self, _: &mut Definedness, special: Special) -> [Word; 2] {
        Self::defined(self.view.special(&mut Concrete, special))
    }

    fn variable(&mut self, _: &mut Definedness, var: Var) -> [Word; 2] {
        Self::defined(self.view.variable(&mut Concrete, var))
    }

    fn is_constant(&mut self, _: &mut Definedness, address: [Word; 2]) -> Truth {
        let value = self.view.is_constant(&mut Concrete, address.map(|word| word.value.unwrap_or_default()));
        Truth { value: Some(value), undefined: address.iter().any(|word| word.undefined != 0) }
    }

    fn frame(&mut self, _: &mut Definedness, var: FrameVar) -> [Word; 2] {
        Self::defined(self.view.frame(&mut Concrete, var))
    }

    fn parameter(&mut self, _: &mut Definedness, number: u32) -> [Word; 2] {
        Self::defined(self.view.parameter(&mut Concrete, number))
    }
}

/// Returns the registers that receive undefined bits from an instruction, because the instruction
/// reads undefined bits. `number` is the address of the instruction.
///
/// # Errors
/// Returns an error if a store, an address or a branch depends on undefined bits.
pub(super) fn propagate(inst: &Inst, number: usize, view: &View<'_>) -> Result<UndefinedWrites, TrapKind> {
    let Some(undefined) = view.registers().undefined.as_ref() else { return Ok(UndefinedWrites::new()) };
    let origin = |reg: Reg| undefined.origin(reg, view.body(), number);
    let registers = &view.body().registers;
    let mut watched = Watched { undefined, view: &mut view.clone() };
    let found = definedness::propagate(inst, |reg| undefined.get(reg).bits, &mut watched);
    let found = found.map_err(|(reg, reaches)| {
        let Origin { inst: read, of } = origin(reg);
        TrapKind::Unwritten { of, read, reaches, loc: None }
    })?;
    let of_width = |(reg, bits, from): (Reg, u64, Reg)| {
        let bits = registers.held(reg).unwrap_or(Type::B64).truncate(bits);
        (reg, UndefinedBits { bits, origin: Some(origin(from)) })
    };
    Ok(found.into_iter().map(of_width).collect())
}

/// Returns the undefined bits of a call's arguments, keyed by the parameter registers of the called function.
pub(super) fn passed(inst: &Inst, number: usize, view: &View<'_>, params: &[FormalLocation]) -> UndefinedWrites {
    let Some(undefined) = view.registers().undefined.as_ref() else { return UndefinedWrites::new() };
    let operands = inst.registers().filter(|(role, reg)| *role != OperandRole::Def && undefined.get(*reg).bits != 0);
    let Some((_, first)) = operands.into_iter().next() else { return UndefinedWrites::new() };
    let origin = undefined.origin(first, view.body(), number);
    let mut watched = Watched { undefined, view: &mut view.clone() };
    let values = arguments(inst, &mut Definedness, &mut watched);
    let passed = values.iter().zip(params).filter_map(|(value, &to)| match (value, to) {
        (&Value::Bits(words), FormalLocation::Register(reg)) => Some((reg, whole(words))),
        _ => None,
    });
    let passed = passed.filter(|(_, bits)| *bits != 0);
    passed.map(|(reg, bits)| (reg, UndefinedBits { bits, origin: Some(origin.clone()) })).collect()
}
