//! Instructions as values.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use super::Opcode;
use super::operand::{Operand, Reg};
use super::row::{self, Carry, MAX_WORDS, OperandRow, Role, Row, Shape};
use super::types::{Since, Token, Type};

/// An instruction: the opcode says which row it is of, the rest what stands in the row's places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    /// The form.
    pub opcode: Opcode,
    /// The words after the mnemonic, as written.
    pub words: ArrayVec<Token, MAX_WORDS>,
    /// The guard, if there is one.
    pub guard: Option<Guard>,
    /// The operands.
    pub operands: SmallVec<[Operand; 4]>,
}

/// The instruction acts where a predicate is true, or where it is false.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Guard {
    /// The predicate.
    pub reg: Reg,
    /// It acts where the predicate is false.
    pub not: bool,
}

impl Inst {
    /// The row.
    pub fn row(&self) -> &'static Row {
        self.opcode.row()
    }

    /// Whether a word stands after the mnemonic.
    pub fn has(&self, token: Token) -> bool {
        self.words.contains(&token)
    }

    /// The type that the mnemonic names `n`th, from 0.
    pub fn ty(&self, n: u8) -> Type {
        row::Ty::Named(n).resolve(&self.words).0
    }

    /// The type of each element that it accesses in memory: what is of 128 bits is two elements of 64.
    pub fn element(&self) -> Type {
        match self.ty(0) {
            Type::B128 => Type::B64,
            ty => ty,
        }
    }

    /// How many elements it accesses.
    pub fn elements(&self) -> usize {
        if self.ty(0) == Type::B128 { 2 } else { row::elements(&self.words) }
    }

    /// Whether it reads the carry flag.
    pub fn reads_carry(&self) -> bool {
        self.row().carry == Carry::In
    }

    /// Whether it writes the carry flag.
    pub fn writes_carry(&self) -> bool {
        match self.row().carry {
            Carry::None => false,
            Carry::Out => true,
            Carry::In => self.has(Token::Cc),
        }
    }

    /// Whether it works on several numbers in a register: halves, bytes or half-words side by side.
    pub fn is_packed(&self) -> bool {
        let lanes = |o: &OperandRow| matches!(o.shape, Shape::Masked(_) | Shape::Selected(..));
        // `f16x2`, `u8x4`: no other type has such a name.
        let packed = |word: &Token| matches!(word, Token::Type(ty) if ty.name().contains('x'));
        matches!(self.opcode, Opcode::DP4A | Opcode::DP2A)
            || self.row().operands.iter().any(lanes)
            || self.words.iter().any(packed)
    }

    /// Whether items meet in it: a barrier, or an exchange within a warp.
    pub fn meets(&self) -> bool {
        matches!(self.row().mnemonic, "bar" | "barrier" | "shfl" | "vote" | "match" | "redux" | "activemask" | "elect")
            || self.is_warp_level()
    }

    /// Returns `true` if it is a barrier of a block or of a warp. The carry flag is not kept over one.
    pub fn is_barrier(&self) -> bool {
        matches!(self.row().mnemonic, "bar" | "barrier")
    }

    /// Whether it is a warp-level matrix instruction, which all threads of a warp execute as a whole.
    pub fn is_warp_level(&self) -> bool {
        matches!(self.row().mnemonic, "mma" | "ldmatrix" | "stmatrix" | "movmatrix" | "wmma")
            || self.has(Token::MmaAsync)
    }

    /// Whether it multiplies matrices.
    pub fn multiplies_matrices(&self) -> bool {
        self.row().mnemonic == "mma" || self.has(Token::Mma) || self.has(Token::MmaAsync)
    }

    /// Whether it is an exchange of lanes that does not say which: among those that execute it together, whichever they are.
    pub fn is_unsaid(&self) -> bool {
        use Opcode::{SHFL_UNSAID, SHFL_UNSAID_ALONE, VOTE_UNSAID, VOTE_UNSAID_BALLOT};
        matches!(self.opcode, SHFL_UNSAID | SHFL_UNSAID_ALONE | VOTE_UNSAID | VOTE_UNSAID_BALLOT)
    }

    /// Shows each register that the instruction reads or writes, its guard first and the carry flag last.
    #[inline]
    pub fn visit_registers(&self, mut each: impl FnMut(Role, Reg)) {
        if let Some(guard) = self.guard {
            each(Role::Use, guard.reg);
        }
        for (o, operand) in self.places() {
            operand.visit_registers(|reg| each(o.role, reg));
        }
        if self.reads_carry() {
            each(Role::Use, Reg::CARRY);
        }
        if self.writes_carry() {
            each(Role::Def, Reg::CARRY);
        }
    }

    /// The same as a list.
    pub fn registers(&self) -> impl Iterator<Item = (Role, Reg)> {
        let mut all: SmallVec<[(Role, Reg); 8]> = SmallVec::new();
        self.visit_registers(|role, reg| all.push((role, reg)));
        all.into_iter()
    }

    /// Replaces each register that the instruction reads or writes.
    pub fn rename(&mut self, mut to: impl FnMut(Role, Reg) -> Reg) {
        if let Some(guard) = &mut self.guard {
            guard.reg = to(Role::Use, guard.reg);
        }
        let results = self.results();
        let mut rows = Places { rows: self.opcode.row().operands_with(&self.words).peekable(), results };
        for operand in &mut self.operands {
            let Some(o) = rows.next() else { break };
            operand.registers_mut(|reg| *reg = to(o.role, *reg));
        }
    }

    /// What the instruction needs of assembler and machine.
    pub fn since(&self) -> Since {
        self.row().since(&self.words)
    }

    /// Whether words, guard and operands are what the row has places for; `types` gives the type of a register.
    pub fn is_valid(&self, types: impl Fn(Reg) -> Option<Type>) -> bool {
        let row = self.row();
        let guard = self.guard.is_none_or(|g| types(g.reg) == Some(Type::Pred));
        let mut places = Places { rows: row.operands_with(&self.words).peekable(), results: self.results() };
        let mut is_admitted =
            |operand: &Operand| places.next().is_some_and(|o| o.shape.admits(o.role, &self.words, operand, &types));
        guard && row.fit(&self.words).is_ok() && self.operands.iter().all(&mut is_admitted) && places.are_filled()
    }

    /// The results that it passes, of a call.
    fn results(&self) -> u8 {
        match self.operands.first() {
            Some(&Operand::Call { results, .. }) => results,
            _ => 0,
        }
    }

    /// Each operand with the place that it stands in: several results and arguments of a call stand in one.
    #[inline]
    pub fn places(&self) -> impl Iterator<Item = (&'static OperandRow, &Operand)> {
        let rows = self.row().operands_with(&self.words).peekable();
        Places { rows, results: self.results() }.zip(&self.operands)
    }
}

/// The places of an instruction's operands: those of results and arguments as often as there are such.
struct Places<I: Iterator<Item = &'static OperandRow>> {
    rows: std::iter::Peekable<I>,
    /// How many results are to come.
    results: u8,
}

impl<I: Iterator<Item = &'static OperandRow>> Places<I> {
    /// Whether no operand is missing.
    fn are_filled(&mut self) -> bool {
        self.rows.peek().is_none_or(|o| match o.shape {
            Shape::Results => self.results == 0,
            shape => shape == Shape::Arguments,
        })
    }
}

impl<I: Iterator<Item = &'static OperandRow>> Iterator for Places<I> {
    type Item = &'static OperandRow;

    #[inline]
    fn next(&mut self) -> Option<&'static OperandRow> {
        match self.rows.peek()?.shape {
            Shape::Results if self.results != 0 => {
                self.results -= 1;
                self.rows.peek().copied()
            }
            Shape::Results => {
                self.rows.next();
                self.rows.peek().copied()
            }
            Shape::Arguments => self.rows.peek().copied(),
            _ => self.rows.next(),
        }
    }
}
