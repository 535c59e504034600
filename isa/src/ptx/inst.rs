//! PTX instructions as data structures.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use super::Opcode;
use super::operand::{Operand, Reg};
use super::row::{self, Carry, MAX_MODIFIERS, OperandKind, OperandRole, OperandRow, Row};
use super::types::{Requirements, Special, Token, Type};

/// A PTX instruction: the opcode selects the row, and the other fields hold the modifiers and
/// operands that the row describes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    /// The instruction variant.
    pub opcode: Opcode,
    /// The modifiers after the mnemonic, in canonical order.
    pub modifiers: ArrayVec<Token, MAX_MODIFIERS>,
    /// The guard predicate, if any.
    pub guard: Option<Guard>,
    /// The operands.
    pub operands: SmallVec<[Operand; 4]>,
}

/// A guard predicate: the instruction executes only if the predicate is true, or only if it is false.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Guard {
    /// The predicate register.
    pub reg: Reg,
    /// `true` if the instruction executes when the predicate is false.
    pub not: bool,
}

impl Inst {
    /// Returns the row that describes the instruction.
    pub fn row(&self) -> &'static Row {
        self.opcode.row()
    }

    /// Returns `true` if the instruction has the modifier.
    pub fn has(&self, token: Token) -> bool {
        self.modifiers.contains(&token)
    }

    /// Returns the type modifier with index `n`, counted from 0 among the types of the instruction.
    pub fn ty(&self, n: u8) -> Type {
        row::Ty::Named(n).resolve(&self.modifiers).0
    }

    /// Returns the type of each element of a memory access. A 128-bit value counts as two 64-bit elements.
    pub fn element(&self) -> Type {
        match self.ty(0) {
            Type::B128 => Type::B64,
            ty => ty,
        }
    }

    /// Returns the number of elements of a memory access.
    pub fn elements(&self) -> usize {
        if self.ty(0) == Type::B128 { 2 } else { row::elements(&self.modifiers) }
    }

    /// Returns `true` if the instruction reads the carry flag.
    pub fn reads_carry(&self) -> bool {
        self.row().carry == Carry::In
    }

    /// Returns `true` if the instruction writes the carry flag.
    pub fn writes_carry(&self) -> bool {
        match self.row().carry {
            Carry::None => false,
            Carry::Out => true,
            Carry::In => self.has(Token::Cc),
        }
    }

    /// Returns `true` if the instruction is packed: it computes on several halves, bytes or half-words in a register.
    pub fn is_packed(&self) -> bool {
        let lanes = |o: &OperandRow| matches!(o.shape, OperandKind::Masked(_) | OperandKind::Selected(..));
        // Only the names of packed types, such as `f16x2` and `u8x4`, contain an `x`.
        let packed = |word: &Token| matches!(word, Token::Type(ty) if ty.name().contains('x'));
        matches!(self.opcode, Opcode::DP4A | Opcode::DP2A)
            || self.row().operands.iter().any(lanes)
            || self.modifiers.iter().any(packed)
    }

    /// Returns `true` if the instruction is collective: a barrier, or an exchange of values within a warp.
    pub fn is_collective(&self) -> bool {
        matches!(self.row().mnemonic, "bar" | "barrier" | "shfl" | "vote" | "match" | "redux" | "activemask" | "elect")
            || self.is_warp_level()
    }

    /// Returns `true` if the instruction is a barrier of a block or of a warp. A barrier does not
    /// preserve the carry flag.
    pub fn is_barrier(&self) -> bool {
        matches!(self.row().mnemonic, "bar" | "barrier")
    }

    /// Returns `true` if the instruction is a warp-level matrix instruction, which all threads of a
    /// warp execute together.
    pub fn is_warp_level(&self) -> bool {
        matches!(self.row().mnemonic, "mma" | "ldmatrix" | "stmatrix" | "movmatrix" | "wmma")
            || self.has(Token::MmaAsync)
    }

    /// Returns `true` if the instruction multiplies matrices.
    pub fn multiplies_matrices(&self) -> bool {
        self.row().mnemonic == "mma" || self.has(Token::Mma) || self.has(Token::MmaAsync)
    }

    /// Returns `true` if the instruction is a lane exchange without a member mask: the participants
    /// are the lanes that execute it together.
    pub fn has_no_member_mask(&self) -> bool {
        use Opcode::{SHFL_UNSAID, SHFL_UNSAID_ALONE, VOTE_UNSAID, VOTE_UNSAID_BALLOT};
        matches!(self.opcode, SHFL_UNSAID | SHFL_UNSAID_ALONE | VOTE_UNSAID | VOTE_UNSAID_BALLOT)
    }

    /// Calls `each` with every register that the instruction reads or writes, the guard first and the carry flag last.
    #[inline]
    pub fn visit_registers(&self, mut each: impl FnMut(OperandRole, Reg)) {
        if let Some(guard) = self.guard {
            each(OperandRole::Use, guard.reg);
        }
        for (o, operand) in self.operands_with_rows() {
            operand.visit_registers(|reg| each(o.role, reg));
        }
        if self.reads_carry() {
            each(OperandRole::Use, Reg::CARRY);
        }
        if self.writes_carry() {
            each(OperandRole::Def, Reg::CARRY);
        }
    }

    /// Returns the registers that the instruction reads or writes, with their roles.
    pub fn registers(&self) -> impl Iterator<Item = (OperandRole, Reg)> {
        let mut all: SmallVec<[(OperandRole, Reg); 8]> = SmallVec::new();
        self.visit_registers(|role, reg| all.push((role, reg)));
        all.into_iter()
    }

    /// Replaces each register that the instruction reads or writes by the result of `to`.
    pub fn rename(&mut self, mut to: impl FnMut(OperandRole, Reg) -> Reg) {
        if let Some(guard) = &mut self.guard {
            guard.reg = to(OperandRole::Use, guard.reg);
        }
        let results = self.results();
        let mut rows = OperandRows { rows: self.opcode.row().operands_with(&self.modifiers).peekable(), results };
        for operand in &mut self.operands {
            let Some(o) = rows.next() else { break };
            operand.registers_mut(|reg| *reg = to(o.role, *reg));
        }
    }

    /// Returns the target requirements of the instruction.
    pub fn since(&self) -> Requirements {
        self.specials().map(Special::since).fold(self.row().since(&self.modifiers), Requirements::and)
    }

    /// Returns the special registers that the instruction reads.
    pub fn specials(&self) -> impl Iterator<Item = Special> {
        self.operands.iter().filter_map(|operand| match *operand {
            Operand::Special(special) => Some(special),
            _ => None,
        })
    }

    /// Returns `true` if modifiers, guard and operands match the row of the opcode. `types` returns
    /// the type of a register.
    pub fn is_valid(&self, types: impl Fn(Reg) -> Option<Type>) -> bool {
        let row = self.row();
        let guard = self.guard.is_none_or(|g| types(g.reg) == Some(Type::Pred));
        let mut places = OperandRows { rows: row.operands_with(&self.modifiers).peekable(), results: self.results() };
        let mut is_admitted =
            |operand: &Operand| places.next().is_some_and(|o| o.shape.admits(o.role, &self.modifiers, operand, &types));
        guard
            && row.fit(&self.modifiers).is_ok()
            && self.operands.iter().all(&mut is_admitted)
            && places.are_filled()
            && permits_signs(&self.modifiers, &self.operands)
    }

    /// Returns the number of result operands if the instruction is a call, otherwise 0.
    fn results(&self) -> u8 {
        match self.operands.first() {
            Some(&Operand::Call { results, .. }) => results,
            _ => 0,
        }
    }

    /// Returns each operand with its description. All results of a call share one description, and so do its arguments.
    #[inline]
    pub fn operands_with_rows(&self) -> impl Iterator<Item = (&'static OperandRow, &Operand)> {
        let rows = self.row().operands_with(&self.modifiers).peekable();
        OperandRows { rows, results: self.results() }.zip(&self.operands)
    }
}

/// Returns `true` if the negated operands are a combination that `vmad` permits. The product is
/// negated if one of its factors is. Either the product or the third source may be negated, and
/// neither of them with `.po`.
pub(super) fn permits_signs(words: &[Token], operands: &[Operand]) -> bool {
    let is_negated = |i: usize| matches!(operands.get(i), Some(Operand::Part { negated: true, .. }));
    let [product, addend] = [is_negated(1) != is_negated(2), is_negated(3)];
    !(product && addend || (product || addend) && words.contains(&Token::PlusOne))
}

/// Iterator over the operand descriptions of an instruction. The description of a call's results is
/// repeated for each result, and that of the arguments for each argument.
struct OperandRows<I: Iterator<Item = &'static OperandRow>> {
    rows: std::iter::Peekable<I>,
    /// The number of results of a call for which the iterator still returns a description.
    results: u8,
}

impl<I: Iterator<Item = &'static OperandRow>> OperandRows<I> {
    /// Returns `true` if the instruction has at least as many operands as its row describes.
    fn are_filled(&mut self) -> bool {
        self.rows.peek().is_none_or(|o| match o.shape {
            OperandKind::Results => self.results == 0,
            shape => shape == OperandKind::Arguments,
        })
    }
}

impl<I: Iterator<Item = &'static OperandRow>> Iterator for OperandRows<I> {
    type Item = &'static OperandRow;

    #[inline]
    fn next(&mut self) -> Option<&'static OperandRow> {
        match self.rows.peek()?.shape {
            OperandKind::Results if self.results != 0 => {
                self.results -= 1;
                self.rows.peek().copied()
            }
            OperandKind::Results => {
                self.rows.next();
                self.rows.peek().copied()
            }
            OperandKind::Arguments => self.rows.peek().copied(),
            _ => self.rows.next(),
        }
    }
}
