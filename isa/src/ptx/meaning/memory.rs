//! Semantics of loads, stores, stack operations and address conversions.

use arrayvec::ArrayVec;

use super::effects::{PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES, function_address};
use super::{Access, CONST_SPACE, Context, LOCAL_WINDOW, Location, Reader, wide};
use crate::halu::domain::Domain;
use crate::ptx::Vector;
use crate::ptx::operand::{Base, Operand};
use crate::ptx::row::{MAX_ELEMENTS, named_space};
use crate::ptx::types::{Space, Token, Type};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn load(&mut self) {
        let Some(place) = self.place(1) else { return };
        let into = match self.operand(0) {
            Some(&Operand::Register(reg)) => Vector::from_iter([Some(reg)]),
            Some(Operand::Vector(regs)) => regs.clone(),
            _ => return,
        };
        self.effects.access = Some(Access::Load { place, element: self.inst.element(), into });
    }

    pub(super) fn store(&mut self) {
        let Some(place) = self.place(0) else { return };
        let inst = self.inst;
        let data = match inst.operands.get(1) {
            Some(Operand::Vector(regs)) => {
                let regs = regs.iter().flatten().take(MAX_ELEMENTS);
                regs.map(|reg| self.read.register(self.d, reg)).collect()
            }
            _ => ArrayVec::from_iter([self.value(1)]),
        };
        self.effects.access = Some(Access::Store { place, element: self.inst.element(), data });
    }

    pub(super) fn place(&mut self, i: usize) -> Option<Location<D::Word>> {
        self.place_in(i, self.space())
    }

    /// Returns the location of the address operand with index `i`. The address is in `space`, or
    /// generic if `space` is `None`.
    pub(super) fn place_in(&mut self, i: usize, space: Option<Space>) -> Option<Location<D::Word>> {
        let Some(&Operand::Memory(address)) = self.operand(i) else { return None };
        let offset = address.offset;
        let base = match address.base {
            Base::Parameter(number) => return Some(Location::Parameter { number, offset }),
            Base::Frame(var) => return Some(Location::Frame { number: var.number, offset }),
            Base::Register(reg) => self.read.register(self.d, reg),
            Base::Variable(var) => {
                let base = self.read.variable(self.d, var);
                self.in_space(var.space, base)
            }
        };
        Some(match space {
            Some(Space::Global) => Location::Global { base, offset },
            Some(Space::Const) => Location::Constant { base, offset },
            Some(Space::Local) => Location::Local { base, offset },
            Some(Space::Param) => Location::Param { base, offset },
            Some(Space::Shared) => Location::Shared { base, offset },
            None => Location::Flat { base, offset },
        })
    }

    /// Returns the state space that the modifiers name, if any.
    fn space(&self) -> Option<Space> {
        named_space(&self.inst.modifiers)
    }

    /// Converts a generic address to an address in a state space.
    fn in_space(&mut self, space: Space, [low, high]: [D::Word; 2]) -> [D::Word; 2] {
        let mut to_window = |window: u64| {
            let start = wide::constant(self.d, window);
            wide::sub(self.d, [low, high], start)
        };
        match space {
            Space::Global => [low, high],
            Space::Const => {
                let differs = self.d.word((CONST_SPACE >> 32) as u32);
                [low, self.d.xor(high, differs)]
            }
            Space::Local => to_window(LOCAL_WINDOW),
            Space::Param => to_window(PARAM_WINDOW),
            Space::Shared => to_window(SHARED_WINDOW),
        }
    }

    /// Converts an address in a state space to a generic address.
    fn without_space(&mut self, space: Space, address: [D::Word; 2]) -> [D::Word; 2] {
        let mut from_window = |window: u64| {
            let start = wide::constant(self.d, window);
            wide::add(self.d, address, start)
        };
        match space {
            Space::Global | Space::Const => self.in_space(space, address),
            Space::Local => from_window(LOCAL_WINDOW),
            Space::Param => from_window(PARAM_WINDOW),
            Space::Shared => from_window(SHARED_WINDOW),
        }
    }

    /// Writes the address of a symbol: an address in its state space if `in_space` is set, otherwise a generic address.
    pub(super) fn address_of(&mut self, in_space: bool) {
        let (base, space, offset) = match self.operand(1) {
            Some(&Operand::Variable { var, offset }) => {
                let base = self.read.variable(self.d, var);
                (self.in_space(var.space, base), var.space, offset)
            }
            // The `.param` variables of a body are stored in local memory.
            Some(&Operand::Frame { var, offset }) => (self.read.frame(self.d, var), Space::Local, offset),
            Some(&Operand::Parameter { number, offset }) => (self.read.parameter(self.d, number), Space::Param, offset),
            Some(&Operand::Function(number)) => {
                let address = wide::constant(self.d, function_address(number));
                return self.define(address);
            }
            _ => return,
        };
        let base = if in_space { base } else { self.without_space(space, base) };
        let offset = wide::constant(self.d, i64::from(offset).cast_unsigned());
        let address = wide::add(self.d, base, offset);
        self.define(address);
    }

    /// Executes `cvta`: converts an address to a generic address, or with `.to` in the other direction.
    pub(super) fn convert_address(&mut self) {
        let address = self.value(1);
        let space = self.space().unwrap_or(Space::Global);
        let address =
            if self.has(Token::To) { self.in_space(space, address) } else { self.without_space(space, address) };
        self.define(address);
    }

    /// Executes `isspacep`: tests whether a generic address is in a state space.
    pub(super) fn is_in_space(&mut self) {
        let address = self.value(1);
        let window = match self.space() {
            Some(Space::Local) => Some(LOCAL_WINDOW),
            Some(Space::Param) => Some(PARAM_WINDOW),
            Some(Space::Shared) => Some(SHARED_WINDOW),
            _ => None,
        };
        let is_in = match (window, self.space()) {
            (Some(window), _) => {
                let [start, bytes] = [window, WINDOW_BYTES].map(|number| wide::constant(self.d, number));
                let offset = wide::sub(self.d, address, start);
                wide::less(self.d, false, offset, bytes)
            }
            (None, Some(Space::Const)) => self.read.is_constant(self.d, address),
            (None, Some(_)) => {
                let windows = wide::constant(self.d, SHARED_WINDOW + WINDOW_BYTES);
                let [is_constant, is_window] =
                    [self.read.is_constant(self.d, address), wide::less(self.d, false, address, windows)];
                let is_other = self.d.either(is_constant, is_window);
                self.d.negate(is_other)
            }
            // An `isspacep` without a state space is false for every address.
            (None, None) => self.d.truth(false),
        };
        self.define_predicate(is_in);
    }

    pub(super) fn allocate(&mut self, aligned: bool) {
        let Some(&Operand::Register(into)) = self.operand(0) else { return };
        let align = match self.operand(2) {
            Some(&Operand::Number(align)) if aligned => align as u32,
            _ => 8,
        };
        let bytes = self.value(1);
        self.effects.access = Some(Access::Allocate { into, bytes, align });
    }

    pub(super) fn save_stack(&mut self) {
        let Some(&Operand::Register(into)) = self.operand(0) else { return };
        self.effects.access = Some(Access::SaveStack { into });
    }

    pub(super) fn restore_stack(&mut self) {
        let to = self.value(0);
        self.effects.access = Some(Access::RestoreStack { to });
    }

    /// Executes `createpolicy` as a move of 0, because a cache policy has no effect here.
    pub(super) fn no_policy(&mut self) {
        let none = wide::constant(self.d, 0);
        self.define(none);
    }
}

/// Returns the register values of a load of `count` elements, in the order of their addresses. The words in memory are
/// given lowest address first. A single element narrower than a word is already extended to a word.
pub fn elements<D: Domain>(
    d: &mut D,
    element: Type,
    count: usize,
    words: &[D::Word],
) -> ArrayVec<[D::Word; 2], MAX_ELEMENTS> {
    let (bits, signed) = (element.bits(), element.is_signed());
    let zero = d.word(0);
    let word = |place: usize| words.get(place).copied().unwrap_or(zero);
    let element = |place: usize| match bits {
        64 => [word(2 * place), word(2 * place + 1)],
        _ if count == 1 || bits == 32 => wide::extend(d, 32, signed, [word(place), zero]),
        _ => {
            let at = place as u32 * bits;
            let by = d.word(at % 32);
            let shifted = d.shr(word(at as usize / 32), by);
            wide::extend(d, bits, signed, [shifted, zero])
        }
    };
    (0..count.min(MAX_ELEMENTS)).map(element).collect()
}

/// Returns the 32-bit words that the elements occupy in memory, lowest address first. If the
/// elements occupy only part of a word, the other bits of the word are unspecified.
pub fn words_of_elements<D: Domain>(
    d: &mut D,
    element: Type,
    data: &[[D::Word; 2]],
) -> ArrayVec<D::Word, { 2 * MAX_ELEMENTS }> {
    let bits = element.bits();
    let mut words = ArrayVec::new();
    for (place, &[low, high]) in (0..).zip(data.iter().take(MAX_ELEMENTS)) {
        match bits {
            64 => words.extend([low, high]),
            32 => words.push(low),
            _ => {
                let cut = wide::extend_word(d, bits, false, low);
                let at = d.word(place * bits % 32);
                let placed = d.shl(cut, at);
                match words.last_mut() {
                    None => words.push(placed),
                    _ if (place * bits).is_multiple_of(32) => words.push(placed),
                    Some(word) => *word = d.or(*word, placed),
                }
            }
        }
    }
    words
}
