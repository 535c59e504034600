//! Kinds and types of the operands of PTX instructions: which operands are valid for a row and its modifiers.

use arrayvec::ArrayVec;

use super::matrix::{MatrixOperand, ProductShape};
use super::operand::{Base, Callee, FrameVar, Operand, Part, Reg, Vector};
use super::types::{Space, SpecialGroup, Token, Type, TypeKind};
use crate::row::OperandRole;

/// Maximum number of elements of a memory access.
pub const MAX_ELEMENTS: usize = 8;

/// The type of an operand: a fixed type, or one that the modifiers determine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ty {
    /// A fixed type.
    Is(Type),
    /// A register of any type with the width of this type, or an immediate. Integers are printed in this type.
    Untyped(Type),
    /// The type modifier with this index, counted from 0 among the types of the instruction.
    Named(u8),
    /// Like [`Named`](Ty::Named), but the register must not have the type `.f16x2`.
    Integer(u8),
    /// A type of twice the width of the first type modifier.
    Wide,
    /// The type modifier with this index, counted from 0. The register may be wider than the type.
    Within(u8),
}

/// The kinds of operands of PTX instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandKind {
    /// A register of this type.
    Register(Ty),
    /// A register or an immediate of this type.
    Value(Ty),
    /// A predicate `p`, or a pair of predicates `p|q`. At most one predicate of the pair is `_`.
    Predicates,
    /// A register and a predicate: `d|p`.
    WithPredicate {
        /// The register's type.
        ty: Ty,
        /// `true` if the register may be `_`, which discards the value.
        blank: bool,
        /// `true` if the predicate may be `_`, which discards the predicate.
        silent: bool,
    },
    /// A predicate or its negation: `p`, `!p`.
    Condition,
    /// A register with a mask of the lanes that are written: `r.b320`, `r.h1`.
    Masked(Lanes),
    /// A register with a selector that names the source element of each lane: `r.b3210`, `r.h32`.
    /// The number is the selector of a register that is written without a selector.
    Selected(Lanes, u16),
    /// A register of this type, or a part of it. An operand that is only read may be an immediate.
    Part {
        /// The operand's type.
        ty: Ty,
        /// `true` if a selector may name a part of the register: `r.b0`, `r.h1`.
        takes_selector: bool,
        /// `true` if the register or its part may be negated: `-r`, `-r.b0`.
        takes_sign: bool,
    },
    /// A vector of this type and number of registers: `{a, b}`. In a written vector, a register may be `_`.
    Vector(Ty, u8),
    /// A register; with the modifier `.v2`, `.v4` or `.v8`, a vector of that many registers: `{a, b}`. In a written
    /// operand, a register may be `_`. An operand that is only read may be an immediate.
    Elements(Ty),
    /// A vector of the registers that hold a fragment of this matrix: `{a, b}`. The modifiers
    /// determine the number of registers. In a written vector, a register may be `_`.
    Fragment(MatrixOperand),
    /// A vector with one register for each matrix that `ldmatrix` or `stmatrix` moves.
    Matrices,
    /// A vector of two or four registers that together hold one value of this type, lowest bits first.
    Parts(Ty),
    /// A memory address: `[register+offset]` or `[variable+offset]`. The register is an integer,
    /// which is zero-extended to 64 bits. A register with a generic address or an address in
    /// `.global` must not have 32 bits. The modifiers name the state space of the variable; the
    /// default is `.global`. In `.param`, the variable is a kernel parameter, or a variable that
    /// passes an argument or result of a call.
    Memory,
    /// A memory address like [`Memory`](OperandKind::Memory), but always in this state space.
    MemoryIn(Space),
    /// `[variable+offset]` with a `.param` variable that passes an argument or result of a call.
    CallMemory,
    /// The address `variable+offset`. If the modifiers name a state space, the symbol is a variable
    /// or parameter in that space. Otherwise, the symbol may also be a function.
    Variable,
    /// A special register.
    Special,
    /// An 8-bit immediate.
    Byte,
    /// A 4-bit immediate: the index of a performance event.
    Event,
    /// An immediate of 16 bits: a set of event numbers.
    EventMask,
    /// The immediate `cp-size` of `cp.async`: 4, 8 or 16 bytes; only 16 with the cache operator `.cg`.
    CopySize,
    /// The operand `src-size` of `cp.async`, the number of bytes that are read: a 32-bit register,
    /// or an immediate of at most `cp-size`.
    SourceSize,
    /// An unsigned 32-bit immediate.
    Count,
    /// The number of a barrier of a block: a 32-bit register, or an immediate. In a text, the immediate is at most 15;
    /// the engines trap at a larger number.
    BarrierId,
    /// The number of threads that take part in a barrier: a 32-bit register, or an immediate. In a text, the immediate
    /// is a multiple of the warp size; the engines trap at another number.
    ThreadCount {
        /// `true` if the immediate may be 0, which stands for all threads of the block.
        zero: bool,
    },
    /// A fraction of the accesses to a cache line: an f32 register, or an immediate above 0 and up to 1.
    Fraction,
    /// An immediate alignment: a power of two below 2^32.
    Alignment,
    /// The immediate 128, the size of a cache line in bytes.
    LineSize,
    /// The immediate 1 or -1.
    Sign,
    /// The immediate 0 or 1, a flag.
    Flag,
    /// A 32-bit register or an 8-bit immediate, used as a bit position or length.
    BitPosition,
    /// A label.
    Label,
    /// The target list or prototype of an indirect branch or call.
    Table,
    /// The callee: a function, or a register with the address of a function.
    Call,
    /// The results of a call: registers, `.param` variables or `_`.
    Results,
    /// The arguments of a call: registers, `.param` variables or immediates.
    Arguments,
}

pub use crate::halu::domain::Lanes;

impl Lanes {
    /// Returns the letter before the digits of a mask or a selector.
    pub const fn letter(self) -> char {
        match self {
            Lanes::Two => 'h',
            Lanes::Four => 'b',
        }
    }

    /// Returns the number of bits of an element's index in a selector.
    pub const fn index_bits(self) -> u32 {
        match self {
            Lanes::Two => 2,
            Lanes::Four => 3,
        }
    }

    /// Returns the lane mask in which all lanes are set.
    pub const fn all(self) -> u16 {
        (1 << self.count()) - 1
    }
}

impl Ty {
    /// Returns the operand's type in an instruction with the modifiers `words`. The second value is
    /// `true` if the register may be wider.
    pub fn resolve(self, words: &[Token]) -> (Type, bool) {
        let named = |n: u8| {
            let mut types = words.iter().filter_map(|t| if let Token::Type(ty) = t { Some(*ty) } else { None });
            types.nth(n.into()).unwrap_or(Type::B32)
        };
        match self {
            Ty::Is(ty) | Ty::Untyped(ty) => (ty, false),
            Ty::Named(n) | Ty::Integer(n) => (named(n), false),
            Ty::Within(n) => (named(n), true),
            Ty::Wide => {
                let wide = match named(0) {
                    Type::U16 => Type::U32,
                    Type::S16 => Type::S32,
                    Type::U32 => Type::U64,
                    _ => Type::S64,
                };
                (wide, false)
            }
        }
    }

    /// Returns the type in which an immediate of this operand is read, in an instruction with the modifiers `words`.
    pub fn of_immediate(self, words: &[Token]) -> Type {
        match self {
            Ty::Untyped(ty) => ty.untyped(),
            ty => ty.resolve(words).0,
        }
    }

    /// Returns `true` if a register of type `register` is valid for an operand of this type, in an
    /// instruction with the modifiers `words`.
    pub fn admits(self, words: &[Token], register: Type) -> bool {
        if let Ty::Untyped(ty) = self {
            return register != Type::Pred && register.bits() == ty.bits();
        }
        let (ty, may_be_wider) = self.resolve(words);
        // The type that an instruction names may also be an integer for a register of type `.f16x2`.
        let is_pair_of_named = register == Type::F16x2
            && !matches!(self, Ty::Is(_) | Ty::Integer(_))
            && ty.holds_integers()
            && (ty.bits() == 32 || may_be_wider && ty.bits() < 32);
        is_pair_of_named || if may_be_wider { ty.fits_in(register) } else { ty.accepts(register) }
    }
}

impl OperandKind {
    /// Returns the type of the values in the registers of an operand, in an instruction with the modifiers `words`.
    /// Returns `None` if the kind of operand does not determine it. A register of a fragment holds packed elements.
    pub fn value_type(self, words: &[Token]) -> Option<Type> {
        match self {
            OperandKind::Register(ty)
            | OperandKind::Value(ty)
            | OperandKind::WithPredicate { ty, .. }
            | OperandKind::Vector(ty, _)
            | OperandKind::Elements(ty)
            | OperandKind::Part { ty, .. }
            | OperandKind::Parts(ty) => Some(ty.resolve(words).0),
            OperandKind::Fragment(_) => Some(match Ty::Named(0).resolve(words).0 {
                Type::F16 => Type::F16x2,
                Type::Bf16 => Type::Bf16x2,
                Type::U8 => Type::U8x4,
                Type::S8 => Type::S8x4,
                Type::E4m3 => Type::E4m3x4,
                Type::E5m2 => Type::E5m2x4,
                ty => ty,
            }),
            _ => None,
        }
    }

    /// Returns `true` if `operand` is valid for this kind, in an instruction with the modifiers
    /// `words`. `types` returns the type of a register.
    pub fn admits(
        self,
        role: OperandRole,
        words: &[Token],
        operand: &Operand,
        types: &impl Fn(Reg) -> Option<Type>,
    ) -> bool {
        // A 128-bit register is valid only as a 128-bit operand, which appears as the vector of the
        // register's two halves.
        let is = |reg: Reg, ty: Ty| types(reg).is_some_and(|found| found != Type::B128 && ty.admits(words, found));
        let is_half = |reg: &Reg| types(*reg) == Some(Type::B128);
        let predicate = |reg: Reg| is(reg, Ty::Is(Type::Pred));
        let word = |reg: Reg| is(reg, Ty::Is(Type::U32));
        let lanes_word = |reg: Reg| word(reg) || types(reg) == Some(Type::F16x2);
        let element = |reg: Option<Reg>, ty| reg.map_or(role == OperandRole::Def, |reg| is(reg, ty));
        // All registers of a vector must have the same width and compatible types.
        let agree = |regs: &Vector| {
            let found = || regs.iter().flatten().filter_map(types);
            found().all(|a| found().all(|b| a.accepts(b)))
        };
        match (self, operand) {
            (OperandKind::Register(ty) | OperandKind::Value(ty) | OperandKind::Elements(ty), Operand::Vector(regs))
                if ty.resolve(words).0 == Type::B128 =>
            {
                elements(words) == 1 && regs.pair().is_some_and(|[low, high]| is_half(&low) && is_half(&high))
            }
            (OperandKind::Register(ty), &Operand::Register(reg)) => is(reg, ty),
            (OperandKind::Value(ty), &Operand::Register(reg)) => is(reg, ty),
            (OperandKind::Value(ty), &Operand::Number(bits)) => {
                let (ty, _) = ty.resolve(words);
                ty.has_immediates() && ty.truncate(bits) == bits
            }
            (OperandKind::Predicates | OperandKind::Condition, &Operand::Register(reg)) => predicate(reg),
            (OperandKind::Condition, &Operand::Not(reg)) => predicate(reg),
            (OperandKind::Predicates, Operand::Pair(both)) => {
                both.iter().flatten().all(|&reg| predicate(reg)) && both.iter().any(Option::is_some)
            }
            (OperandKind::WithPredicate { ty, blank, silent }, &Operand::Pair([d, p])) => {
                let has_any = d.is_some() || p.is_some();
                has_any && p.map_or(silent, predicate) && d.map_or(blank, |reg| is(reg, ty))
            }
            (OperandKind::Masked(_) | OperandKind::Selected(..), &Operand::Register(reg)) => lanes_word(reg),
            (OperandKind::Masked(lanes), &Operand::Lanes { reg, digits }) => {
                lanes_word(reg) && digits != 0 && digits < lanes.all()
            }
            (OperandKind::Selected(lanes, default), &Operand::Lanes { reg, digits }) => {
                lanes_word(reg)
                    && digits != default
                    && digits != NO_SELECTOR
                    && u32::from(digits) >> (lanes.count() * lanes.index_bits()) == 0
            }
            (OperandKind::Part { ty, .. }, &Operand::Register(reg)) => is(reg, ty),
            (OperandKind::Part { ty, .. }, Operand::Number(_)) => {
                role == OperandRole::Use && OperandKind::Value(ty).admits(role, words, operand, types)
            }
            (OperandKind::Part { ty, takes_selector, takes_sign }, &Operand::Part { reg, part, negated }) => {
                let is_plain = part == Part::Whole && !negated;
                let may_be_negated = takes_sign && types(reg) != Some(Type::F16x2);
                is(reg, ty) && !is_plain && (takes_selector || part == Part::Whole) && (may_be_negated || !negated)
            }
            (OperandKind::Vector(ty, count), Operand::Vector(regs)) => {
                regs.len() == count.into() && regs.iter().all(|reg| element(reg, ty))
            }
            (OperandKind::Fragment(_) | OperandKind::Matrices, Operand::Vector(regs)) => {
                let (ty, count) = self.vector(words).unwrap_or((Type::B32, 0));
                regs.len() == count && regs.iter().all(|reg| element(reg, Ty::Is(ty)))
            }
            (OperandKind::Elements(ty), Operand::Vector(regs)) => {
                let found: ArrayVec<Type, MAX_ELEMENTS> = regs.iter().flatten().filter_map(types).collect();
                elements(words) == regs.len()
                    && regs.len() > 1
                    && agree(regs)
                    && (role == OperandRole::Def || found.len() == regs.len())
                    && vector_type(&found).is_none_or(|found| {
                        // A vector of integers may hold floats of the same width; a single integer must not.
                        let (of, _) = ty.resolve(words);
                        let holds_floats = found.holds_integers() && of.kind() == TypeKind::Float;
                        found != Type::B128 && (ty.admits(words, found) || holds_floats && of.bits() == found.bits())
                    })
            }
            (OperandKind::Elements(ty), operand) => {
                let one = if role == OperandRole::Def { OperandKind::Register(ty) } else { OperandKind::Value(ty) };
                elements(words) == 1 && one.admits(role, words, operand, types)
            }
            (OperandKind::Parts(ty), Operand::Vector(regs)) => {
                let part = part_of(ty.resolve(words).0, regs.len());
                let is_any = regs.iter().any(|reg| reg.is_some());
                is_any && agree(regs) && part.is_some_and(|part| regs.iter().all(|reg| element(reg, Ty::Is(part))))
            }
            (OperandKind::Memory | OperandKind::MemoryIn(_), Operand::Memory(address)) => {
                let space = self.space(words).unwrap_or(Space::Global);
                match address.base {
                    Base::Register(reg) => types(reg).is_some_and(|ty| {
                        let fits = match ty.bits() {
                            8 | 16 => !moves_matrices(words),
                            32 => space != Space::Global || moves_matrices(words),
                            bits => bits == 64,
                        };
                        fits && matches!(ty.kind(), TypeKind::Bits | TypeKind::Integer)
                    }),
                    Base::Variable(var) => var.space == space,
                    Base::Frame(var) => var.space == space,
                    Base::Parameter(_) => space == Space::Param,
                }
            }
            (OperandKind::CallMemory, Operand::Memory(address)) => {
                matches!(address.base, Base::Frame(FrameVar { space: Space::Param, .. }))
            }
            (OperandKind::Variable, operand) => {
                let named = named_space(words);
                let is_in = |space| named.is_none_or(|named| named == space);
                match operand {
                    Operand::Variable { var, .. } => {
                        is_in(var.space) && (var.space != Space::Global || Ty::Named(0).resolve(words).0.bits() == 64)
                    }
                    Operand::Frame { var, .. } => is_in(var.space),
                    Operand::Parameter { .. } => is_in(Space::Param),
                    Operand::Function(_) => named.is_none(),
                    _ => false,
                }
            }
            (OperandKind::Special, Operand::Special(special)) => {
                let (ty, _) = Ty::Named(0).resolve(words);
                match ty.bits() {
                    16 => special.is_along_axes() || special.group == SpecialGroup::Grid,
                    bits => bits == special.bits() || special.group == SpecialGroup::Grid,
                }
            }
            (OperandKind::Label, Operand::Label(_)) | (OperandKind::Table, Operand::Table(_)) => true,
            (OperandKind::Call, &Operand::Call { callee, .. }) => match callee {
                Callee::Function(_) => true,
                Callee::Register(reg) => is(reg, Ty::Is(Type::U64)),
            },
            (OperandKind::Arguments, Operand::Number(_)) => true,
            (OperandKind::Results | OperandKind::Arguments, &Operand::Register(reg)) => {
                types(reg).is_some_and(|ty| ty != Type::B128)
            }
            (OperandKind::Results | OperandKind::Arguments, &Operand::Frame { var, offset: 0 }) => {
                var.space == Space::Param
            }
            (OperandKind::Byte | OperandKind::BitPosition, &Operand::Number(bits)) => bits < 256,
            (OperandKind::Event, &Operand::Number(bits)) => bits < 16,
            (OperandKind::EventMask, &Operand::Number(bits)) => bits < 1 << 16,
            (OperandKind::CopySize, &Operand::Number(bits)) => copy_sizes(words).contains(&bits),
            // `src-size` must not exceed `cp-size`, but `cp-size` is another operand. Only the
            // largest valid value is checked here.
            (OperandKind::SourceSize, &Operand::Number(bits)) => bits <= 16,
            (OperandKind::SourceSize, &Operand::Register(reg)) => word(reg),
            (OperandKind::Count, &Operand::Number(bits)) => bits <= u32::MAX.into(),
            (OperandKind::BarrierId | OperandKind::ThreadCount { .. }, &Operand::Number(bits)) => {
                bits <= u32::MAX.into()
            }
            (OperandKind::BarrierId | OperandKind::ThreadCount { .. }, &Operand::Register(reg)) => word(reg),
            (OperandKind::Fraction, &Operand::Number(bits)) => {
                u32::try_from(bits).is_ok_and(|bits| (0.0..=1.0).contains(&f32::from_bits(bits)) && bits << 1 != 0)
            }
            (OperandKind::Fraction, &Operand::Register(reg)) => is(reg, Ty::Is(Type::F32)),
            (OperandKind::Alignment, &Operand::Number(bits)) => bits.is_power_of_two() && bits <= u32::MAX.into(),
            (OperandKind::LineSize, &Operand::Number(bits)) => bits == LINE_SIZE,
            (OperandKind::Sign, &Operand::Number(bits)) => bits == 1 || bits == MINUS_ONE,
            (OperandKind::Flag, &Operand::Number(bits)) => bits <= 1,
            (OperandKind::BitPosition, &Operand::Register(reg)) => word(reg),
            _ => false,
        }
    }
}

impl OperandKind {
    /// Returns `true` if a PTX text may contain the immediate `bits` as an operand of this kind. `bits` must be valid
    /// for the kind.
    pub fn is_allowed_in_text(self, bits: u64) -> bool {
        match self {
            OperandKind::BarrierId => bits < BARRIERS,
            OperandKind::ThreadCount { zero } => bits.is_multiple_of(WARP_SIZE) && (zero || bits != 0),
            _ => true,
        }
    }

    /// Returns the state space of an address operand, or `None` if neither the operand's kind nor
    /// the modifiers name one.
    pub fn space(self, words: &[Token]) -> Option<Space> {
        match self {
            OperandKind::MemoryIn(space) => Some(space),
            _ => named_space(words),
        }
    }

    /// Returns the element type and the number of registers of a vector operand that holds
    /// matrices, or `None` for another kind of operand.
    pub fn vector(self, words: &[Token]) -> Option<(Type, usize)> {
        match self {
            OperandKind::Fragment(part) => {
                let form = ProductShape::of(words)?;
                Some((form.held(part), form.registers(part)))
            }
            OperandKind::Matrices => Some((Type::B32, matrices(words))),
            _ => None,
        }
    }

    /// Describes the valid operands of this kind for error messages. The instruction has the modifiers `words`.
    pub fn describe(self, role: OperandRole, words: &[Token]) -> String {
        let of = |ty: Ty| match ty.resolve(words) {
            (ty, false) => format!("of type {ty}"),
            (ty, true) => format!("of type {ty} or wider"),
        };
        match self {
            OperandKind::Register(ty) => format!("a register {}", of(ty)),
            OperandKind::Value(ty) => format!("a register or a number {}", of(ty)),
            OperandKind::Predicates => "a predicate, or a pair of predicates such as `p|q`".to_owned(),
            OperandKind::WithPredicate { ty, .. } => format!("a register {} and a predicate, as in `d|p`", of(ty)),
            OperandKind::Condition => "a predicate such as `p`, or a negated predicate such as `!p`".to_owned(),
            OperandKind::Masked(lanes) | OperandKind::Selected(lanes, _) => {
                let example = match (self, lanes) {
                    (OperandKind::Masked(_), Lanes::Four) => ".b320",
                    (OperandKind::Masked(_), Lanes::Two) => ".h1",
                    (_, Lanes::Four) => ".b7650",
                    (_, Lanes::Two) => ".h32",
                };
                format!("a register of type .b32, which may have a suffix such as `{example}`")
            }
            OperandKind::Part { ty, takes_selector, takes_sign } => {
                let one = if role == OperandRole::Def { OperandKind::Register(ty) } else { OperandKind::Value(ty) };
                one.describe(role, words) + describe_part(takes_selector, takes_sign)
            }
            OperandKind::Vector(ty, count) => format!("{count} registers in braces, {}", of(ty)),
            OperandKind::Fragment(_) | OperandKind::Matrices => {
                let (ty, count) = self.vector(words).unwrap_or((Type::B32, 1));
                // If registers cannot be declared with the element type, `.b32` registers hold the fragment.
                let ty = if ty.is_of_registers() { ty } else { Type::B32 };
                let noun = if count == 1 { "register" } else { "registers" };
                format!("{count} {noun} in braces, {}", of(Ty::Is(ty)))
            }
            OperandKind::Elements(ty) => match elements(words) {
                1 if role == OperandRole::Def => format!("a register {}", of(ty)),
                1 => format!("a register or a number {}", of(ty)),
                count => format!("{count} registers in braces, {}", of(ty)),
            },
            OperandKind::Parts(ty) => {
                format!("2 or 4 registers in braces, with {} bits in total", ty.resolve(words).0.bits())
            }
            OperandKind::Memory | OperandKind::MemoryIn(_) => {
                let space = self.space(words).unwrap_or(Space::Global);
                let what = match space {
                    Space::Param => "`[parameter+number]`".to_owned(),
                    space => format!("`[variable+number]` of a `.{}` variable", space.name()),
                };
                let register = if space == Space::Global { "a 64-bit register" } else { "an integer register" };
                format!("an address `[register+number]` with {register}, or {what}")
            }
            OperandKind::CallMemory => "an address `[variable+number]` of a `.param` variable of this body".to_owned(),
            OperandKind::Variable => match named_space(words) {
                Some(Space::Param) => "the address `parameter+number` of a parameter".to_owned(),
                Some(space) => format!("the address `variable+number` of a `.{}` variable", space.name()),
                None => "the address `variable+number` of a variable, or a function".to_owned(),
            },
            OperandKind::Special => "a special register".to_owned(),
            OperandKind::Byte => "an 8-bit number".to_owned(),
            OperandKind::Event => "a 4-bit number".to_owned(),
            OperandKind::EventMask => "a 16-bit number".to_owned(),
            OperandKind::CopySize => match copy_sizes(words) {
                [only] => format!("the number {only}"),
                _ => "the number 4, 8 or 16".to_owned(),
            },
            OperandKind::SourceSize => "a register of type .u32 or a number up to the size of the copy".to_owned(),
            OperandKind::Count => "a 32-bit number".to_owned(),
            OperandKind::BarrierId => format!("a register of type .u32 or a number up to {}", BARRIERS - 1),
            OperandKind::ThreadCount { .. } => "a register of type .u32 or a multiple of the warp size, 32".to_owned(),
            OperandKind::Fraction => "a register of type .f32 or a number above 0 and up to 1".to_owned(),
            OperandKind::Alignment => "a power of two below 2^32".to_owned(),
            OperandKind::LineSize => "the number 128".to_owned(),
            OperandKind::Sign => "the number 1 or -1".to_owned(),
            OperandKind::Flag => "the number 0 or 1".to_owned(),
            OperandKind::BitPosition => "a register of type .u32 or an 8-bit number".to_owned(),
            OperandKind::Label => "a label".to_owned(),
            OperandKind::Table => "a target list, or a prototype".to_owned(),
            OperandKind::Call => "a function, or a 64-bit register with the address of a function".to_owned(),
            OperandKind::Results => "a register or a `.param` variable for each result".to_owned(),
            OperandKind::Arguments => "a register, a number or a `.param` variable for each parameter".to_owned(),
        }
    }
}

/// Returns the type of a vector of registers: their common type, or `.bN` with the same width N if
/// the types differ. Returns `None` for an empty vector.
fn vector_type(found: &[Type]) -> Option<Type> {
    let first = *found.first()?;
    let untyped = || Type::ALL.iter().copied().find(|ty| ty.kind() == TypeKind::Bits && ty.bits() == first.bits());
    if found.iter().all(|&ty| ty == first) { Some(first) } else { untyped() }
}

/// Returns `true` if the modifiers are those of a load or store of a matrix.
fn moves_matrices(words: &[Token]) -> bool {
    words.iter().any(|word| matches!(word, Token::M8n8 | Token::Load | Token::Store))
}

/// Describes the selector and the sign that a register of kind [`OperandKind::Part`] may have, for error messages.
pub(super) fn describe_part(takes_selector: bool, takes_sign: bool) -> &'static str {
    match (takes_selector, takes_sign) {
        (true, true) => "; a register may have a selector such as `.b0` and a minus sign",
        (true, false) => "; a register may have a selector such as `.b0`",
        (false, true) => "; a register may have a minus sign",
        (false, false) => "",
    }
}

/// Size of a cache line in bytes.
pub(super) const LINE_SIZE: u64 = 128;

/// Number of barriers of a block.
pub(super) const BARRIERS: u64 = 16;

/// Number of threads in a warp.
pub(super) const WARP_SIZE: u64 = 32;

/// The bits of -1 as an 8-bit integer.
pub(super) const MINUS_ONE: u64 = 0xFF;

/// Returns the valid values of the operand `cp-size` of a `cp.async` with the modifiers `words`.
fn copy_sizes(words: &[Token]) -> &'static [u64] {
    if words.contains(&Token::CacheGlobal) { &[16] } else { &[4, 8, 16] }
}

/// The selector `.b1024`. The parser rejects this selector, because `ptxas` reads it as a type name.
pub(super) const NO_SELECTOR: u16 = 0o1024;

/// Returns the type of each part if a value of type `whole` is split into `parts` equal parts.
pub fn part_of(whole: Type, parts: usize) -> Option<Type> {
    match (whole.bits(), parts) {
        (32, 4) | (16, 2) => Some(Type::B8),
        (32, 2) | (64, 4) => Some(Type::B16),
        (64, 2) | (128, 4) => Some(Type::B32),
        (128, 2) => Some(Type::B64),
        _ => None,
    }
}

/// Returns the number of elements of a memory access with the modifiers `words`.
pub fn elements(words: &[Token]) -> usize {
    let count = |word: &Token| match word {
        Token::V2 => Some(2),
        Token::V4 => Some(4),
        Token::V8 => Some(8),
        _ => None,
    };
    words.iter().find_map(count).unwrap_or(1)
}

/// Returns the number of matrices that `ldmatrix` or `stmatrix` with the modifiers `words` moves.
pub fn matrices(words: &[Token]) -> usize {
    let count = |word: &Token| match word {
        Token::Two => Some(2),
        Token::Four => Some(4),
        _ => None,
    };
    words.iter().find_map(count).unwrap_or(1)
}

/// Returns the state space that the modifiers name, if any.
pub fn named_space(words: &[Token]) -> Option<Space> {
    words.iter().find_map(|word| match word {
        Token::Global => Some(Space::Global),
        Token::Const => Some(Space::Const),
        Token::Local => Some(Space::Local),
        Token::Param => Some(Space::Param),
        Token::Shared | Token::SharedCta => Some(Space::Shared),
        _ => None,
    })
}
