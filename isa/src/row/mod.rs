//! Descriptions of instructions. A [`Row`] is `const` data from which encoding, decoding, assembly
//! text, register roles, documentation and random instructions are derived.

mod check;
mod modifier;
mod operand;
mod registers;

pub use modifier::{Modifier, ModifierOrder};
pub use operand::{Address, LAST_FLAGS, Operand, OperandKind, ROTATE, Suffix, WORDS_PER_GROUP};
pub use registers::{InstClass, OperandRole, RegFile, RegSlot};

use std::borrow::Borrow;

use crate::word::Field;
pub(crate) use check::Constraint;
use thiserror::Error;

/// Defines the enum `Opcode` of a target and the lookup of each opcode's row. The arguments are the
/// modules under `rows` and the names of the rows in each of them.
macro_rules! opcode_enum {
    ($(#[$about:meta])* $($module:ident { $($name:ident)+ })*) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        #[allow(non_camel_case_types, missing_docs)]
        pub enum Opcode { $($($name,)+)* }

        impl Opcode {
            /// All opcodes, in order.
            pub const ALL: &'static [Opcode] = &[$($(Opcode::$name,)+)*];

            /// Returns the opcode's name.
            pub const fn name(self) -> &'static str {
                const NAMES: &[&str] = &[$($(stringify!($name),)+)*];
                NAMES[self as usize]
            }

            /// Returns the opcode's row.
            #[inline]
            pub const fn row(self) -> &'static Row {
                static ROWS: &[Row] = &[$($(rows::$module::$name,)+)*];
                &ROWS[self as usize]
            }
        }
    };
}

pub(crate) use opcode_enum;

/// A test of one field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldTest {
    /// The field equals this value.
    Eq(u64),
    /// The field differs from this value.
    Not(u64),
    /// The field equals this other field.
    Same(Field),
}

/// A forbidden combination of field values: the instruction word is invalid if all tests hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidCombination {
    /// The tests. An error points at the first of the tested fields that the text sets.
    pub all: &'static [(Field, FieldTest)],
    /// The error message.
    pub why: &'static str,
}

/// The guard predicate of an instruction: `@P0`, `@!P0`. The instruction has an effect only if the guard holds.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    /// Predicate number; PT is always true.
    pub pred: Field,
    /// Negation of the predicate: the instruction executes if the predicate is false.
    pub not: Field,
}

/// An alternative spelling of an instruction, or of an instruction with certain field values.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The alias's mnemonic.
    pub mnemonic: &'static str,
    /// The field values that the alias implies. The printer uses the alias for an instruction word
    /// with these values. An alias without values is accepted as input but never printed.
    pub implied_fields: &'static [(Field, u64)],
    /// Operands, in the order of the assembly text.
    pub operands: &'static [Operand],
}

/// One encoding form of an instruction. Each row has exactly one bit layout.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The mnemonic, which several rows may share. Empty if the assembly syntax has no name for the instruction.
    pub mnemonic: &'static str,
    /// Fixed modifiers after the mnemonic, which distinguish this row from others with the same
    /// mnemonic: `U8` in `LDG.U8`.
    pub tags: &'static [&'static str],
    /// The guard, if the instruction set has guards.
    pub guard: Option<Guard>,
    /// The field values that identify the instruction.
    pub fixed: &'static [(Field, u64)],
    /// Alternative values of the last field in `fixed` that encode the same instruction.
    pub alternative_opcodes: &'static [u64],
    /// Modifiers, in the order in which they are printed.
    pub modifiers: &'static [Modifier],
    /// The order in which the parser accepts modifiers.
    pub order: ModifierOrder,
    /// Operands, in the order of the assembly text.
    pub operands: &'static [Operand],
    /// Fields that share bits with other fields. Each shared bit has the meanings of both fields.
    pub overlaps: &'static [Field],
    /// Alternative spellings of the instruction.
    pub aliases: &'static [Alias],
    /// Default values of fields. A field that is not listed has the usual default: the constant register, PT or 0.
    pub defaults: &'static [(Field, u64)],
    /// Invalid combinations of field values.
    pub forbids: &'static [InvalidCombination],
    /// The class of the instruction.
    pub class: InstClass,
    /// A description of what the instruction does, in Markdown.
    pub doc: &'static str,
    /// Example lines of assembly.
    pub examples: &'static [&'static str],
}

/// The reason why an instruction word is not a valid instruction of its row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A bit outside all fields is set.
    #[error("bit {0} is reserved and must be 0")]
    Reserved(u8),
    /// A field holds a value that has no meaning.
    #[error("{} has the invalid value {value}", field.name)]
    Value {
        /// The field.
        field: Field,
        /// The value of the field.
        value: u64,
    },
    /// A mask selects no lane.
    #[error("{} selects no lane", .0.name)]
    EmptyMask(Field),
    /// The first register of a range is not a multiple of the number of registers, or the range
    /// includes the constant register.
    #[error("{} is the first of {span} registers: its number must be a multiple of {span}, and no register may be the constant one", field.name)]
    Misaligned {
        /// The register field.
        field: Field,
        /// The number of registers.
        span: u8,
    },
    /// A constant offset is not a multiple of its alignment.
    #[error("{} must be a multiple of {align}", field.name)]
    Offset {
        /// The offset field.
        field: Field,
        /// The alignment.
        align: u8,
    },
    /// A combination of values that the row forbids.
    #[error("{}", .0.why)]
    Forbidden(&'static InvalidCombination),
}

impl Row {
    /// Returns every field of the row: fixed fields, guard, modifiers, operands. A field that two
    /// operands share occurs twice.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        self.fixed
            .iter()
            .map(|f| f.0)
            .chain(self.guard.into_iter().flat_map(|g| [g.pred, g.not]))
            .chain(self.modifiers.iter().map(|m| m.field))
            .chain(self.operands.iter().flat_map(Operand::fields))
    }

    /// Returns pairs of a mask and a value. An instruction word belongs to the row if its masked
    /// bits equal the value of one pair. There is one pair for the fixed fields and one for each
    /// alternative opcode.
    pub fn patterns(&self) -> impl Iterator<Item = (u128, u128)> {
        let set =
            |(mask, word): (u128, u128), &(field, value): &(Field, u64)| (mask | field.mask(), field.set(word, value));
        let first = self.fixed.iter().fold((0, 0), set);
        let last = self.fixed.last().map(|f| f.0);
        let twin = move |&value: &u64| Some(set(first, &(last?, value)));
        std::iter::once(first).chain(self.alternative_opcodes.iter().filter_map(twin))
    }

    /// Returns every register operand of the row, the guard first.
    pub fn registers(&self) -> impl Iterator<Item = RegSlot> {
        let guard = self.guard.map(|g| RegSlot { field: g.pred, file: RegFile::Pred, role: OperandRole::Use, span: 1 });
        guard.into_iter().chain(self.operands.iter().flat_map(Operand::registers))
    }

    /// Returns the instruction word with the fixed bits of the row and the defaults of all other
    /// fields: constant registers, default modifiers, and 0.
    pub fn template(&self) -> u128 {
        let mut word = 0;
        for slot in self.registers() {
            word = slot.field.set(word, slot.file.constant().map_or(0, |c| c.0).into());
        }
        for m in self.modifiers {
            word = m.field.set(word, m.initial());
        }
        for op in self.operands {
            match op.kind {
                OperandKind::Name(m) | OperandKind::Condition { bit: m, .. } | OperandKind::Selected { bit: m, .. } => {
                    word = m.field.set(word, m.initial());
                }
                OperandKind::FlagDef { field, .. } => word = field.set(word, field.max()),
                _ => {}
            }
            word = match op.suffix {
                Suffix::None => word,
                Suffix::Choice(m) => m.field.set(word, m.initial()),
                Suffix::Lanes { field, default, .. } => field.set(word, default),
                Suffix::Mask { field, .. } => field.set(word, field.max()),
            };
        }
        for &(field, value) in self.fixed.iter().chain(self.defaults) {
            word = field.set(word, value);
        }
        word
    }

    /// Returns the constraints on the instruction words of the row, in the order in which errors are reported.
    pub(crate) fn checks(&self) -> impl Iterator<Item = Constraint> {
        let of_operand = |op: &'static Operand| {
            let kind = match op.kind {
                OperandKind::Name(m) => Some(Constraint::Value(m)),
                OperandKind::Const { offset, align, .. } => Some(Constraint::Offset { field: offset, align }),
                _ => None,
            };
            let suffix = match op.suffix {
                Suffix::Choice(m) => Some(Constraint::Value(m)),
                Suffix::Mask { field, .. } => Some(Constraint::Mask(field)),
                _ => None,
            };
            let spans = op.registers().filter_map(|RegSlot { field, file, span, .. }| {
                let end = file.constant().filter(|_| file.is_aligned() && span > 1)?;
                Some(Constraint::Span { field, span, end: end.0.into() })
            });
            kind.into_iter().chain(suffix).chain(spans)
        };
        self.modifiers.iter().copied().map(Constraint::Value).chain(self.operands.iter().flat_map(of_operand))
    }

    /// Checks that `word` is a valid instruction of the row. `word` must match the row's fixed
    /// bits; `named` is the mask of all bits that belong to a field of the row.
    pub fn validate(&self, word: u128, named: u128) -> Result<(), EncodeError> {
        self.validate_by(self.checks(), word, named)
    }

    /// Checks an instruction word like [`Row::validate`]. `checks` holds those constraints of the
    /// row that an instruction word can violate.
    pub(crate) fn validate_by(
        &self,
        mut checks: impl Iterator<Item = impl Borrow<Constraint>>,
        word: u128,
        named: u128,
    ) -> Result<(), EncodeError> {
        let stray = word & !named;
        if stray != 0 {
            return Err(EncodeError::Reserved(stray.trailing_zeros() as u8));
        }
        checks.try_for_each(|check| check.borrow().check(word))?;
        let broken = |f: &&InvalidCombination| {
            f.all.iter().all(|&(field, is)| match is {
                FieldTest::Eq(v) => field.get(word) == v,
                FieldTest::Not(v) => field.get(word) != v,
                FieldTest::Same(other) => field.get(word) == other.get(word),
            })
        };
        match self.forbids.iter().find(broken) {
            None => Ok(()),
            Some(forbid) => Err(EncodeError::Forbidden(forbid)),
        }
    }
}

/// A mistake in the description of an instruction set.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{row}: {mistake}")]
pub struct RowError {
    /// The row's name.
    pub row: String,
    /// The description of the mistake.
    pub mistake: String,
}

/// Checks the description of an instruction set of `width`-bit words whose `reserved` bits must be
/// 0. These rules are checked:
///
/// * No two fields of a row share a bit unless the overlap is declared.
/// * No field includes reserved bits or bits past the end of the word.
/// * No word matches two rows, and every template is a valid instruction.
/// * No two modifiers of a row share a spelling unless their order is fixed.
/// * Forbidden combinations and aliases refer to fields of the row.
/// * Every row has a description, and every row with a mnemonic has an example.
pub fn self_check<'a>(
    rows: impl Iterator<Item = (&'a str, &'static Row)> + Clone,
    width: u8,
    reserved: u128,
) -> Result<(), Vec<RowError>> {
    let mut errors = Vec::new();
    let mut wrong = |row: &str, mistake: String| errors.push(RowError { row: row.to_owned(), mistake });
    for (name, row) in rows.clone() {
        let mut named = 0;
        for field in row.fields() {
            if field.width == 0 || u16::from(field.lo) + u16::from(field.width) > u16::from(width) {
                wrong(name, format!("{field:?} does not lie in the word"));
                continue;
            }
            if named & field.mask() != 0 && !row.overlaps.contains(&field) {
                wrong(name, format!("{field:?} overlaps another field"));
            }
            if reserved & field.mask() != 0 {
                wrong(name, format!("{field:?} reaches into reserved bits"));
            }
            named |= field.mask();
        }
        if let Err(e) = row.validate(row.template(), named) {
            wrong(name, format!("its template is not a valid instruction: {e}"));
        }
        let tested = row.forbids.iter().flat_map(|f| f.all);
        for &(field, is) in tested {
            let other = if let FieldTest::Same(o) = is { o } else { field };
            if row.fields().all(|f| f != field) || row.fields().all(|f| f != other) {
                wrong(name, format!("a forbidden combination tests {field:?}, which the row does not have"));
            }
        }
        for alias in row.aliases {
            let given = alias.implied_fields.iter().map(|w| w.0).chain(alias.operands.iter().flat_map(Operand::fields));
            for field in given.filter(|&f| row.fields().all(|g| g != f)) {
                wrong(name, format!("its alias {} has {field:?}, which the row does not have", alias.mnemonic));
            }
        }
        if row.order == ModifierOrder::Free {
            let mut texts: Vec<_> = row.modifiers.iter().flat_map(|m| m.choices).map(|c| c.0).collect();
            texts.extend(row.tags);
            texts.sort_unstable();
            if let Some(pair) = texts.windows(2).find(|p| p[0] == p[1]) {
                wrong(name, format!(".{} is spelled twice", pair[0]));
            }
        }
        if row.doc.is_empty() || row.examples.is_empty() && !row.mnemonic.is_empty() {
            wrong(name, "it has no meaning text or no example".to_owned());
        }
    }
    for (i, (name, row)) in rows.clone().enumerate() {
        for (other, second) in rows.clone().skip(i + 1) {
            let meet = |a: (u128, u128)| second.patterns().any(|b| (a.1 ^ b.1) & a.0 & b.0 == 0);
            if row.patterns().any(meet) {
                wrong(name, format!("its words are {other}'s too"));
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const CODE: Field = Field::new(0, 4, "code");
    const D: Field = Field::new(4, 8, "rd");
    const GOOD: Row = Row {
        mnemonic: "OP",
        tags: &[],
        guard: None,
        fixed: &[(CODE, 1)],
        alternative_opcodes: &[],
        modifiers: &[Modifier { field: Field::new(12, 1, "m"), choices: &[("M", 1)], default: Some(0) }],
        order: ModifierOrder::Free,
        operands: &[Operand::reg("rd", OperandRole::Def, RegFile::Gpr, D)],
        overlaps: &[],
        aliases: &[],
        defaults: &[],
        forbids: &[],
        class: InstClass::Compute,
        doc: "Does.",
        examples: &["OP R0"],
    };

    fn mistakes(rows: &[(&'static str, &'static Row)]) -> Vec<String> {
        let errors = self_check(rows.iter().copied(), 16, 1 << 15).err().unwrap_or_default();
        errors.into_iter().map(|e| e.to_string()).collect()
    }

    #[test]
    fn mistakes_in_a_description_are_found() {
        const OTHER: Row = Row { fixed: &[(CODE, 2)], ..GOOD };
        assert_eq!(mistakes(&[("A", &GOOD), ("B", &OTHER)]), [""; 0]);
        assert_eq!(mistakes(&[("A", &GOOD), ("B", &GOOD)]), ["A: its words are B's too"]);
        const OVERLAP: Row = Row {
            operands: &[
                GOOD.operands[0],
                Operand::new("i", OperandRole::Use, OperandKind::Bits(Field::new(11, 1, "i"))),
            ],
            ..GOOD
        };
        assert_eq!(mistakes(&[("A", &OVERLAP)]), ["A: i@11+1 overlaps another field"]);
        const RESERVED: Row =
            Row { operands: &[Operand::new("i", OperandRole::Use, OperandKind::Bits(Field::new(14, 2, "i")))], ..GOOD };
        assert_eq!(mistakes(&[("A", &RESERVED)]), ["A: i@14+2 reaches into reserved bits"]);
        const OUTSIDE: Row =
            Row { operands: &[Operand::new("i", OperandRole::Use, OperandKind::Bits(Field::new(13, 8, "i")))], ..GOOD };
        assert!(mistakes(&[("A", &OUTSIDE)])[0].ends_with("does not lie in the word"));
        const UNDEFINED: Row = Row {
            defaults: &[(D, 0)],
            forbids: &[InvalidCombination { all: &[(D, FieldTest::Eq(0))], why: "zero" }],
            ..GOOD
        };
        assert_eq!(mistakes(&[("A", &UNDEFINED)]), ["A: its template is not a valid instruction: zero"]);
        const STRAY: Row = Row {
            forbids: &[InvalidCombination { all: &[(Field::new(13, 1, "x"), FieldTest::Eq(1))], why: "x" }],
            ..GOOD
        };
        assert_eq!(
            mistakes(&[("A", &STRAY)]),
            ["A: a forbidden combination tests x@13+1, which the row does not have"]
        );
        const ALIAS: Row = Row {
            aliases: &[Alias { mnemonic: "ALSO", implied_fields: &[(Field::new(13, 1, "x"), 1)], operands: &[] }],
            ..GOOD
        };
        assert_eq!(mistakes(&[("A", &ALIAS)]), ["A: its alias ALSO has x@13+1, which the row does not have"]);
        const TWIN: Row = Row { alternative_opcodes: &[3, 2], ..GOOD };
        assert_eq!(mistakes(&[("A", &TWIN), ("B", &OTHER)]), ["A: its words are B's too"]);
        const OVER: Row = Row { overlaps: &[Field::new(11, 1, "i")], ..OVERLAP };
        assert_eq!(mistakes(&[("A", &OVER)]), [""; 0]);
        const TWICE: Row = Row { tags: &["M"], ..GOOD };
        assert_eq!(mistakes(&[("A", &TWICE)]), ["A: .M is spelled twice"]);
    }
}
