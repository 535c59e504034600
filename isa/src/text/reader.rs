//! Parses a statement by matching it against the rows of its mnemonic.

use super::number::{FloatFormat, Number, NumberError};
use super::syntax::{Arg, Body, Fragment, Statement, Terms};
use super::{AsmError, AsmErrorKind};
use crate::row::{
    Address, Alias, EncodeError, LAST_FLAGS, Modifier, ModifierOrder, Operand, OperandKind, OperandRole, ROTATE,
    RegFile, Row, Suffix, WORDS_PER_GROUP,
};
use crate::word::Field;
use smallvec::SmallVec;
use std::fmt;

/// A row or alias against which the parser matches a statement.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<T> {
    /// The value that the parser returns if this row matches.
    pub key: T,
    /// The description of the instruction.
    pub row: &'static Row,
    /// The mask of all bits that belong to a field of the row.
    pub named: u128,
    /// The alias of the row to match, if any.
    pub alias: Option<&'static Alias>,
}

/// The position of a statement in its program, by which branch targets are resolved.
#[derive(Clone, Copy)]
pub struct Position<'a> {
    /// The index of the instruction word from which branch distances are counted.
    pub base: i64,
    /// Resolves a label to the index of its instruction word.
    pub label: &'a dyn Fn(&str) -> Option<i64>,
}

impl Position<'_> {
    /// The position of a statement outside a program: instruction word 0, without labels.
    pub const SINGLE_LINE: Position<'static> = Position { base: 0, label: &|_| None };
}

/// Parses a statement as the first of the candidates that matches. The candidates are the rows and
/// aliases of the statement's mnemonic. Returns the candidate's key and the instruction word.
///
/// If no candidate matches, the error comes from the candidates that match the longest part of the
/// statement. The alternatives that these candidates accept are merged.
pub fn read<T>(
    statement: &Statement<'_>,
    candidates: impl Iterator<Item = Candidate<T>>,
    place: Position<'_>,
) -> Result<(T, u128), AsmError> {
    let mut best: Option<Failure> = None;
    for Candidate { key, row, named, alias } in candidates {
        let operands = alias.map_or(row.operands, |a| a.operands);
        let given = alias.map_or(&[][..], |a| a.implied_fields);
        let word = given.iter().fold(row.template(), |w, (f, v)| f.set(w, *v));
        let fit = RowMatcher { statement, row, operands, place, word, assignments: SmallVec::new() };
        match fit.run(named) {
            Ok(word) => return Ok((key, word)),
            Err(failure) => match &mut best {
                Some(best) if best.progress > failure.progress => {}
                Some(best) if best.progress == failure.progress => best.error.kind.merge(failure.error.kind),
                _ => best = Some(failure),
            },
        }
    }
    Err(best.map_or_else(|| statement.mnemonic.error(AsmErrorKind::UnknownMnemonic), |f| f.error))
}

impl AsmErrorKind {
    /// Adds the alternatives of `other`, an error of another row at the same position.
    fn merge(&mut self, other: AsmErrorKind) {
        use AsmErrorKind::{MissingModifier, Operand, UnknownModifier};
        let (all, more) = match (self, other) {
            (Operand { allowed: all, .. }, Operand { allowed: more, .. })
            | (UnknownModifier { allowed: all, .. }, UnknownModifier { allowed: more, .. })
            | (MissingModifier { allowed: all, .. }, MissingModifier { allowed: more, .. }) => (all, more),
            _ => return,
        };
        for item in more {
            if !all.contains(&item) {
                all.push(item);
            }
        }
    }
}

/// The progress of a failed match: the stage, the index within the stage, and whether the operand
/// has the right kind. A greater value means a longer match.
type Progress = (Stage, usize, bool);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Modifier,
    Operand,
    Whole,
}

struct Failure {
    progress: Progress,
    error: AsmError,
}

/// The error for an operand that does not match. `kind_fits` is `true` if the operand has the right
/// kind but an invalid value.
struct Mismatch {
    kind_fits: bool,
    error: AsmError,
}

struct RowMatcher<'s, 'a> {
    statement: &'s Statement<'a>,
    row: &'static Row,
    operands: &'static [Operand],
    place: Position<'s>,
    word: u128,
    /// The fields that the text sets, each with its value and the text of that value.
    assignments: SmallVec<[(Field, u64, Fragment<'a>); 16]>,
}

impl<'a> RowMatcher<'_, 'a> {
    fn run(mut self, named: u128) -> Result<u128, Failure> {
        if let (Some((pred, not)), Some(guard)) = (self.statement.guard, self.row.guard) {
            self.word = guard.not.set(guard.pred.set(self.word, pred.into()), not.into());
        }
        self.modifiers().map_err(|(at, error)| Failure { progress: (Stage::Modifier, at, true), error })?;
        self.operands()?;
        if let Some((field, _, piece)) = self.assignments.iter().find(|(f, v, _)| f.get(self.word) != v & f.max()) {
            let error = piece.error(AsmErrorKind::Conflict { field: field.name });
            return Err(Failure { progress: (Stage::Whole, 0, true), error });
        }
        self.row.validate(self.word, named).map_err(|e| {
            let place = |f: Field| self.assignments.iter().find(|p| p.0 == f).map(|p| p.2);
            let piece = match e {
                EncodeError::Forbidden(forbid) => forbid.all.iter().find_map(|t| place(t.0)),
                EncodeError::Value { field, .. }
                | EncodeError::EmptyMask(field)
                | EncodeError::Misaligned { field, .. }
                | EncodeError::Offset { field, .. } => place(field),
                EncodeError::Reserved(_) => None,
            };
            let piece = piece.unwrap_or(self.statement.mnemonic);
            Failure { progress: (Stage::Whole, 0, true), error: piece.error(AsmErrorKind::Encode(e)) }
        })?;
        Ok(self.word)
    }

    fn put(&mut self, field: Field, value: u64, piece: Fragment<'a>) {
        self.word = field.set(self.word, value);
        self.assignments.push((field, value, piece));
    }

    fn modifiers(&mut self) -> Result<(), (usize, AsmError)> {
        let row = self.row;
        let given = &self.statement.modifiers;
        let mnemonic = row.mnemonic;
        for (at, &tag) in row.tags.iter().enumerate() {
            match given.get(at) {
                Some(piece) if piece.text == tag => {}
                Some(piece) => {
                    return Err((at, piece.error(AsmErrorKind::UnknownModifier { mnemonic, allowed: vec![tag] })));
                }
                None => return Err((at, self.missing(vec![tag]))),
            }
        }
        let mut at = row.tags.len();
        // In the fixed order, the text begins with one modifier for each mandatory field.
        let (leading, loose) = match row.order {
            ModifierOrder::Free => row.modifiers.split_at(0),
            ModifierOrder::Fixed => {
                row.modifiers.split_at(row.modifiers.iter().take_while(|m| m.default.is_none()).count())
            }
        };
        for m in leading {
            match given.get(at).map(|piece| (piece, m.value(piece.text))) {
                Some((&piece, Some(value))) => self.put(m.field, value, piece),
                Some((piece, None)) => {
                    let kind = AsmErrorKind::MissingModifier { mnemonic, allowed: spellings(m) };
                    return Err((at, piece.error(kind)));
                }
                None => return Err((at, self.missing(spellings(m)))),
            }
            at += 1;
        }
        for (at, &piece) in given.iter().enumerate().skip(at) {
            let Some((m, value)) = loose.iter().find_map(|m| Some((m, m.value(piece.text)?))) else {
                let allowed = loose.iter().flat_map(spellings).collect();
                return Err((at, piece.error(AsmErrorKind::UnknownModifier { mnemonic, allowed })));
            };
            if self.assignments.iter().any(|p| p.0 == m.field) {
                return Err((at, piece.error(AsmErrorKind::RepeatedModifier { allowed: spellings(m) })));
            }
            self.put(m.field, value, piece);
        }
        match loose.iter().find(|m| m.default.is_none() && self.assignments.iter().all(|p| p.0 != m.field)) {
            None => Ok(()),
            Some(m) => Err((given.len(), self.missing(spellings(m)))),
        }
    }

    /// Creates the error for a missing modifier. Its position is the end of the last modifier.
    fn missing(&self, allowed: Vec<&'static str>) -> AsmError {
        let last = self.statement.modifiers.last().unwrap_or(&self.statement.mnemonic);
        let piece = Fragment { text: "", start: last.span().end };
        piece.error(AsmErrorKind::MissingModifier { mnemonic: self.row.mnemonic, allowed })
    }

    fn operands(&mut self) -> Result<(), Failure> {
        let statement = self.statement;
        let mut at = 0;
        // Error of an optional operand that did not match the current argument. The error is
        // reported if no later operand matches the argument.
        let mut passed: Option<Failure> = None;
        let mut flags_read = false;
        for (i, op) in self.operands.iter().enumerate() {
            if op.silent || std::mem::take(&mut flags_read) {
                continue;
            }
            let args = statement.args.get(at..).unwrap_or(&[]);
            if args.is_empty() {
                if op.optional {
                    continue;
                }
                let piece = Fragment { text: "", start: statement.line.span().end };
                let error = piece.error(AsmErrorKind::TooFew { operand: op.name });
                return Err(Failure { progress: (Stage::Operand, at, true), error });
            }
            let earlier = self.operands.get(..i).unwrap_or(&[]);
            let taken = match self.flags_first(i, args) {
                Some(flags) => {
                    flags_read = true;
                    let (first, rest) = args.split_at(1);
                    self.operand(flags, earlier, first).and_then(|f| Ok(f + self.operand(op, earlier, rest)?))
                }
                None => self.operand(op, earlier, args),
            };
            match taken {
                Ok(taken) => at += taken,
                Err(Mismatch { kind_fits, error }) => {
                    // An operand that takes two arguments may fail at the second argument.
                    let behind = args.iter().position(|a| a.piece.span() == error.span).unwrap_or(0);
                    let failure = Failure { progress: (Stage::Operand, at + behind, kind_fits), error };
                    if kind_fits || !op.optional {
                        return Err(failure);
                    }
                    passed = Some(failure);
                }
            }
        }
        match statement.args.get(at) {
            None => Ok(()),
            Some(extra) => Err(match passed {
                Some(failure) if failure.progress.1 == at => failure,
                _ => Failure {
                    progress: (Stage::Operand, at, true),
                    error: extra.piece.error(AsmErrorKind::TooMany { mnemonic: self.row.mnemonic }),
                },
            }),
        }
    }

    /// Returns the flag operand that follows operand `i` in the row, if the text puts the flags in
    /// front of operand `i`. Both orders occur in the VP1 reference (seed 004).
    fn flags_first(&self, i: usize, args: &[Arg<'_>]) -> Option<&'static Operand> {
        let flags = self.operands.get(i + 1).filter(|o| !o.silent)?;
        let given = |arg: &Arg<'_>| matches!((flags.kind, arg.body), (OperandKind::FlagDef { file, .. }, Body::Reg(f, _)) if f == file);
        (args.len() > 1 && args.first().is_some_and(given)).then_some(flags)
    }

    /// Parses an operand from the front of the non-empty `args`. Returns the number of arguments consumed.
    fn operand(&mut self, op: &Operand, earlier: &[Operand], args: &[Arg<'a>]) -> Result<usize, Mismatch> {
        let Some((arg, rest)) = args.split_first() else {
            return Ok(0);
        };
        let taken = self.body(op, earlier, arg, rest.first())?;
        for (given, place) in [(arg.minus, op.neg), (arg.bars, op.abs), (arg.bang, op.not)] {
            match place {
                // The value must be written even if it is 0, because the row's default may be 1, as
                // for the negation of a carry source.
                Some(field) => self.put(field, given.into(), arg.piece),
                None if given => {
                    return Err(Mismatch { kind_fits: true, ..Mismatch::kind(op, arg) });
                }
                None => {}
            }
        }
        let Some(suffix) = arg.suffix else {
            return Ok(taken);
        };
        let (field, value) = match op.suffix {
            Suffix::None => {
                return Err(Mismatch { kind_fits: true, ..Mismatch::kind(op, arg) });
            }
            Suffix::Choice(m) => (m.field, m.value(suffix.text)),
            Suffix::Lanes { field, letter, lanes, bits, .. } => (field, lane_list(suffix.text, letter, lanes, bits)),
            Suffix::Mask { field, letter, lanes } => (field, lane_mask(suffix.text, letter, lanes)),
        };
        let kind = || AsmErrorKind::Suffix { operand: op.name, allowed: suffixes(&op.suffix) };
        let value = value.ok_or_else(|| Mismatch::detail(suffix, kind()))?;
        self.put(field, value, suffix);
        Ok(taken)
    }

    /// Parses an operand without its prefixes and its suffix. `second` is the next argument.
    /// Returns the number of arguments consumed.
    fn body(
        &mut self,
        op: &Operand,
        earlier: &[Operand],
        arg: &Arg<'a>,
        second: Option<&Arg<'a>>,
    ) -> Result<usize, Mismatch> {
        let piece = arg.piece;
        let mismatch = || Mismatch::kind(op, arg);
        match (op.kind, arg.body) {
            (OperandKind::Reg { file, field, .. }, Body::Reg(given, n)) if file == given => {
                self.register(file, field, n, piece)?;
            }
            (
                OperandKind::Reg { file: RegFile::Gpr, .. },
                Body::Reg(RegFile::Ur, _) | Body::Const(..) | Body::Number(_),
            ) if earlier.iter().any(is_non_gpr_source) => {
                return Err(Mismatch::detail(piece, AsmErrorKind::TooManyNonGprSources));
            }
            (OperandKind::AllPreds, Body::AllPreds) => {}
            (
                OperandKind::Const { bank, offset, .. },
                Body::Const(number, Terms { gpr: None, ur: None, imm: Some(imm) }),
            ) => {
                self.put(bank, unsigned(op, arg, "constant bank", number, bank)?, piece);
                self.put(offset, unsigned(op, arg, "constant offset", imm, offset)?, piece);
            }
            (OperandKind::HalfPair { field, format }, Body::Number(high)) => {
                let format = if format.get(self.word) == 0 { FloatFormat::F16 } else { FloatFormat::BF16 };
                let Some(second) = second else {
                    let end = Fragment { text: "", start: self.statement.line.span().end };
                    let operand = "the second number of the pair";
                    return Err(Mismatch::detail(end, AsmErrorKind::TooFew { operand }));
                };
                let Body::Number(low) = second.body else {
                    return Err(Mismatch::kind(op, second));
                };
                let (high, low) = (float(arg, high, format)?, float(second, low, format)?);
                self.put(field, u64::from(high) << 16 | u64::from(low), piece);
                return Ok(2);
            }
            (OperandKind::F32(field), Body::Number(number)) => {
                self.put(field, float(arg, number, FloatFormat::F32)?.into(), piece);
            }
            (OperandKind::Bits(field), Body::Number(number)) => {
                // A 32-bit field may also be written as a signed integer.
                let value = if field.width == 32 {
                    integer(op, arg, "integer", number, field_min(field), field.max().into())?
                } else {
                    unsigned(op, arg, "integer", number, field)?
                };
                self.put(field, value, piece);
            }
            (OperandKind::Name(m), Body::Name(name)) => {
                self.put(m.field, m.value(name).ok_or_else(mismatch)?, piece);
            }
            (OperandKind::Memory { address, .. }, body) => self.address(op, arg, address, body)?,
            (OperandKind::Target(field), Body::Relative(number)) => {
                self.put(field, signed(op, arg, "distance", number, field)?, piece);
            }
            (OperandKind::Target(field), Body::Name(label)) => {
                let distance = self.label(label, piece)? - i128::from(self.place.base);
                if distance < field_min(field) || distance > field_max(field) {
                    return Err(out_of_range(piece, "distance", field_min(field), field_max(field)));
                }
                self.put(field, distance as u64, piece);
            }
            _ => return self.vp1_operand(op, arg, second),
        }
        Ok(1)
    }

    /// Resolves a label to the index of its instruction word.
    fn label(&self, label: &str, piece: Fragment<'_>) -> Result<i128, Mismatch> {
        let word = (self.place.label)(label).map(i128::from);
        word.ok_or_else(|| Mismatch::detail(piece, AsmErrorKind::UndefinedLabel))
    }

    /// Writes a register number to its field.
    fn register(&mut self, file: RegFile, field: Field, number: u8, piece: Fragment<'a>) -> Result<(), Mismatch> {
        self.put(field, register_number(file, number, field.max(), piece)?, piece);
        Ok(())
    }

    /// Parses the operand kinds that only VP1 has. Returns the number of arguments consumed.
    fn vp1_operand(&mut self, op: &Operand, arg: &Arg<'a>, second: Option<&Arg<'a>>) -> Result<usize, Mismatch> {
        let piece = arg.piece;
        let mismatch = || Mismatch::kind(op, arg);
        match (op.kind, arg.body) {
            // `$r31` always holds 0 and is written as the number 0.
            (OperandKind::Reg { file: file @ RegFile::R, field, .. }, Body::Number(number))
            | (OperandKind::Selected { file: file @ RegFile::R, field, .. }, Body::Number(number))
                if number.integer() == Ok(0) =>
            {
                let (zero, _) = file.constant().ok_or_else(mismatch)?;
                self.put(field, zero.into(), piece);
            }
            (OperandKind::Tuple { file, field, count }, Body::Tuple(given, n, c)) if (file, count) == (given, c) => {
                self.register(file, field, n, piece)?;
            }
            (OperandKind::SplitReg { file, low, high }, Body::Reg(given, n)) if file == given => {
                let number = register_number(file, n, joined_max(low, high), piece)?;
                self.put(low, number & low.max(), piece);
                self.put(high, number >> low.width, piece);
            }
            (OperandKind::Whole(file), Body::Whole(given)) if file == given => {}
            (OperandKind::FlagDef { file, field }, Body::Reg(given, n)) if file == given => {
                // A `$c` register followed by the name of a bit is a condition, such as `$c1 zf`.
                let is_bit = |name: &str| {
                    let bits =
                        |o: &Operand| matches!(o.kind, OperandKind::Condition { bit, .. } if bit.value(name).is_some());
                    self.operands.iter().any(bits)
                };
                if second.is_some_and(|s| matches!(s.body, Body::Name(name) if is_bit(name))) {
                    return Err(mismatch());
                }
                self.put(field, register_number(file, n, LAST_FLAGS, piece)?, piece);
            }
            (OperandKind::Condition { index, bit }, Body::Reg(RegFile::C, n)) => {
                let Some(second) = second else { return Err(mismatch()) };
                let Body::Name(name) = second.body else { return Err(Mismatch::kind(op, second)) };
                let value = bit.value(name).ok_or_else(|| Mismatch::kind(op, second))?;
                self.register(RegFile::C, index, n, piece)?;
                self.put(bit.field, value, second.piece);
                return Ok(2);
            }
            (OperandKind::Selected { file, field, .. }, Body::Reg(given, n)) if file == given => {
                self.register(file, field, n, piece)?;
            }
            (OperandKind::Selected { file, field, index, bit }, Body::Selected(given)) if file == given.file => {
                let value = bit.value(given.bit).filter(|v| bit.default != Some(*v)).ok_or_else(mismatch)?;
                if (given.count == 4) != (value == ROTATE) {
                    return Err(mismatch());
                }
                self.register(RegFile::C, index, given.index, piece)?;
                self.put(bit.field, value, piece);
                self.register(file, field, given.number, piece)?;
            }
            (OperandKind::Number { field, signed, shift }, Body::Number(number)) => {
                let (least, most) = if signed { (field_min(field), field_max(field)) } else { (0, field.max().into()) };
                self.put(field, scaled(op, arg, number, least, most, shift)?, piece);
            }
            (OperandKind::SplitNumber { low, high, shift }, Body::Number(number)) => {
                let value = scaled(op, arg, number, 0, joined_max(low, high).into(), shift)?;
                self.put(low, value & low.max(), piece);
                self.put(high, value >> low.width, piece);
            }
            (OperandKind::Word(text), Body::Name(name)) if text == name => {}
            (OperandKind::Group { field, relative }, body) => {
                let target = match body {
                    Body::Name(label) => self.label(label, piece)?,
                    // An address before word 0 is printed as an unsigned 64-bit number.
                    Body::Number(number) => match number.integer() {
                        Ok(n) if n > i64::MAX.into() && n <= u64::MAX.into() => n - (1 << 64),
                        Ok(n) => n,
                        Err(NumberError::Sort) => return Err(mismatch()),
                        Err(NumberError::Range) => i128::MAX >> 1,
                    },
                    _ => return Err(mismatch()),
                };
                let (base, least, most) = if relative {
                    (self.place.base.into(), field_min(field), field_max(field))
                } else {
                    (0, 0, field.max().into())
                };
                let (distance, group) = (target - base, i128::from(WORDS_PER_GROUP));
                if distance % group != 0 || distance / group < least || distance / group > most {
                    let (first, last) = (base + group * least, base + group * most);
                    let allowed = format!("a multiple of {group}, {:#x} to {:#x}", Signed(first), Signed(last));
                    return Err(Mismatch::detail(piece, AsmErrorKind::Range { what: "branch target", allowed }));
                }
                self.put(field, (distance / group) as u64, piece);
            }
            _ => return Err(mismatch()),
        }
        Ok(1)
    }

    fn address(&mut self, op: &Operand, arg: &Arg<'a>, address: Address, body: Body<'a>) -> Result<(), Mismatch> {
        const WHAT: &str = "displacement";
        let piece = arg.piece;
        match (address, body) {
            (
                Address::Uniform { offset, base, imm },
                Body::Memory(Terms { gpr: Some((n, Some(Fragment { text: "U32", .. }))), ur: Some(ur), imm: number }),
            ) => {
                self.put(imm, number.map_or(Ok(0), |number| signed(op, arg, WHAT, number, imm))?, piece);
                self.put(offset, n.into(), piece);
                self.put(base, ur.into(), piece);
            }
            (
                Address::Wide { base, imm } | Address::Flat { base, imm },
                Body::Memory(Terms { gpr: Some((n, Some(Fragment { text: "64", .. }))), ur: None, imm: number }),
            ) => {
                self.put(imm, number.map_or(Ok(0), |number| signed(op, arg, WHAT, number, imm))?, piece);
                self.put(base, n.into(), piece);
            }
            (
                Address::Shared { offset, imm } | Address::Scratch { offset, imm },
                Body::Memory(Terms { gpr: Some((n, None)), ur: None, imm: number }),
            ) => {
                self.put(imm, number.map_or(Ok(0), |number| signed(op, arg, WHAT, number, imm))?, piece);
                self.put(offset, n.into(), piece);
            }
            (Address::Local { imm }, Body::Memory(Terms { gpr: None, ur: None, imm: Some(number) })) => {
                self.put(imm, unsigned(op, arg, "address", number, imm)?, piece);
            }
            (
                Address::Constant { bank, index, imm },
                Body::Const(bank_number, Terms { gpr: gpr @ (None | Some((_, None))), ur: None, imm: number }),
            ) => {
                self.put(bank, unsigned(op, arg, "constant bank", bank_number, bank)?, piece);
                self.put(imm, number.map_or(Ok(0), |number| unsigned(op, arg, WHAT, number, imm))?, piece);
                if let Some((n, _)) = gpr {
                    self.put(index, n.into(), piece);
                }
            }
            _ => return Err(Mismatch::kind(op, arg)),
        }
        Ok(())
    }
}

impl Mismatch {
    /// Creates the error for an argument of the wrong kind. The error lists the kind that the operand accepts.
    fn kind(op: &Operand, arg: &Arg<'_>) -> Mismatch {
        let allowed = match op.kind {
            OperandKind::Name(m) => spellings(&m),
            _ => vec![describe(op)],
        };
        let kind = AsmErrorKind::Operand { operand: op.name, allowed };
        Mismatch { kind_fits: false, error: arg.piece.error(kind) }
    }

    /// Creates an error for an argument of the right kind with an invalid value.
    fn detail(piece: Fragment<'_>, kind: AsmErrorKind) -> Mismatch {
        Mismatch { kind_fits: true, error: piece.error(kind) }
    }
}

/// Returns the minimum of a two's complement field.
fn field_min(field: Field) -> i128 {
    -1 << (field.width - 1)
}

/// Returns the maximum of a two's complement field.
fn field_max(field: Field) -> i128 {
    (field.max() >> 1).into()
}

/// Returns the maximum of a number that is split between two fields.
fn joined_max(low: Field, high: Field) -> u64 {
    high.max() << low.width | low.max()
}

fn out_of_range(piece: Fragment<'_>, what: &'static str, least: i128, most: i128) -> Mismatch {
    Mismatch::detail(piece, AsmErrorKind::Range { what, allowed: format!("{least} to {most}") })
}

/// Returns an integer's low bits, which the field stores, after checking the integer's range.
fn integer(
    op: &Operand,
    arg: &Arg<'_>,
    what: &'static str,
    number: Number<'_>,
    least: i128,
    most: i128,
) -> Result<u64, Mismatch> {
    match number.integer() {
        Ok(n) if (least..=most).contains(&n) => Ok(n as u64),
        Err(NumberError::Sort) => Err(Mismatch::kind(op, arg)),
        Ok(_) | Err(NumberError::Range) => Err(out_of_range(arg.piece, what, least, most)),
    }
}

/// Checks that a register number is at most `last`.
fn register_number(file: RegFile, number: u8, last: u64, piece: Fragment<'_>) -> Result<u64, Mismatch> {
    let number = u64::from(number);
    if number > last {
        let allowed = format!("{0}0 to {0}{last}", file.prefix());
        return Err(Mismatch::detail(piece, AsmErrorKind::Range { what: "register number", allowed }));
    }
    Ok(number)
}

/// Returns an integer divided by `1 << shift`. The division must be exact and the quotient in range.
fn scaled(
    op: &Operand,
    arg: &Arg<'_>,
    number: Number<'_>,
    least: i128,
    most: i128,
    shift: u8,
) -> Result<u64, Mismatch> {
    match number.integer() {
        Ok(n) if n % (1 << shift) == 0 && (least..=most).contains(&(n >> shift)) => Ok((n >> shift) as u64),
        Err(NumberError::Sort) => Err(Mismatch::kind(op, arg)),
        Ok(_) | Err(NumberError::Range) => {
            let range = format!("{:#x} to {:#x}", Signed(least << shift), Signed(most << shift));
            let allowed = if shift == 0 { range } else { format!("a multiple of {:#x}, {range}", 1 << shift) };
            Err(Mismatch::detail(arg.piece, AsmErrorKind::Range { what: "immediate", allowed }))
        }
    }
}

/// Formats an integer as a sign and hexadecimal digits.
struct Signed(i128);

impl fmt::LowerHex for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 < 0 { "-" } else { "" })?;
        fmt::LowerHex::fmt(&self.0.unsigned_abs(), f)
    }
}

fn unsigned(
    op: &Operand,
    arg: &Arg<'_>,
    what: &'static str,
    number: Number<'_>,
    field: Field,
) -> Result<u64, Mismatch> {
    integer(op, arg, what, number, 0, field.max().into())
}

fn signed(op: &Operand, arg: &Arg<'_>, what: &'static str, number: Number<'_>, field: Field) -> Result<u64, Mismatch> {
    integer(op, arg, what, number, field_min(field), field_max(field))
}

fn float(arg: &Arg<'_>, number: Number<'_>, format: FloatFormat) -> Result<u32, Mismatch> {
    number.float(format).map_err(|_| {
        let (name, width) = (format.name, format.width());
        let allowed = format!("a number that {name} can round to, +INF, -INF, +QNAN, -QNAN, or {width} bits after 0x");
        Mismatch::detail(arg.piece, AsmErrorKind::Range { what: "immediate", allowed })
    })
}

fn spellings(m: &Modifier) -> Vec<&'static str> {
    m.choices.iter().map(|c| c.0).collect()
}

/// Returns `true` for a source operand that is not a GPR.
fn is_non_gpr_source(op: &Operand) -> bool {
    op.role == OperandRole::Use
        && match op.kind {
            OperandKind::Reg { file, .. } => file == RegFile::Ur,
            OperandKind::Const { .. } | OperandKind::HalfPair { .. } | OperandKind::F32(_) | OperandKind::Bits(_) => {
                true
            }
            _ => false,
        }
}

/// Describes the kind of an operand, for errors and documentation.
pub(crate) fn describe(op: &Operand) -> &'static str {
    let bare = op.neg.is_none() && op.abs.is_none() && matches!(op.suffix, Suffix::None);
    match op.kind {
        OperandKind::Reg { file: RegFile::Gpr, .. } if bare || op.role == OperandRole::Def => "a plain GPR",
        OperandKind::Reg { file: RegFile::Gpr, .. } => "a GPR",
        OperandKind::Reg { file: RegFile::Ur, .. } => "a UR",
        OperandKind::Reg { file: RegFile::Pred, .. } if op.not.is_none() => "a predicate without `!`",
        OperandKind::Reg { file: RegFile::Pred, .. } => "a predicate",
        OperandKind::AllPreds => "PR",
        OperandKind::Const { .. } => "c[bank][offset]",
        OperandKind::HalfPair { .. } => "two numbers",
        OperandKind::F32(_) => "a number",
        OperandKind::Bits(_) => "an integer",
        OperandKind::Name(_) => "a special register",
        OperandKind::Memory { address: Address::Uniform { .. }, .. } => "[Ra.U32+URb+imm]",
        OperandKind::Memory { address: Address::Wide { .. } | Address::Flat { .. }, .. } => "[Ra.64+imm]",
        OperandKind::Memory { address: Address::Shared { .. } | Address::Scratch { .. }, .. } => "[Ra+imm]",
        OperandKind::Memory { address: Address::Local { .. }, .. } => "[imm]",
        OperandKind::Memory { address: Address::Constant { .. }, .. } => "c[bank][Ra+imm]",
        OperandKind::Target(_) => "a label or `.+N`",
        OperandKind::Reg { file, .. } | OperandKind::SplitReg { file, .. } | OperandKind::FlagDef { file, .. } => {
            vp1_register(file)
        }
        OperandKind::Whole(file) => file.prefix(),
        OperandKind::Tuple { count: 4, .. } => "a quad",
        OperandKind::Tuple { .. } => "a pair",
        OperandKind::Condition { .. } => "a `$c` and the name of a bit",
        OperandKind::Selected { file: RegFile::V, .. } => "a `$v`, or `(slct $cN bit $vNd)`",
        OperandKind::Selected { file: RegFile::A, .. } => "a `$a`, or `(slct $cN bit $aNd)`",
        OperandKind::Selected { .. } => "a `$r`, or `(slct $cN bit $rNd)`",
        OperandKind::Number { .. } | OperandKind::SplitNumber { .. } => "an integer",
        OperandKind::Word(text) => text,
        OperandKind::Group { .. } => "a label or the address of a word",
    }
}

fn vp1_register(file: RegFile) -> &'static str {
    match file {
        RegFile::R => "a `$r`",
        RegFile::V => "a `$v`",
        RegFile::Vc => "a `$vc`",
        RegFile::A => "a `$a`",
        RegFile::C => "a `$c`",
        RegFile::L => "a `$l`",
        RegFile::M => "a `$m`",
        RegFile::X => "a `$x`",
        RegFile::D => "a `$d`",
        RegFile::F => "a `$f`",
        RegFile::Sr => "a `$sr`",
        RegFile::Mi => "a `$mi`",
        RegFile::Uc => "a `$uc`",
        _ => file.prefix(),
    }
}

/// Describes the suffixes that an operand accepts.
fn suffixes(suffix: &Suffix) -> String {
    match suffix {
        Suffix::None => "none".to_owned(),
        Suffix::Choice(m) => m.choices.iter().map(|c| format!(".{}", c.0)).collect::<Vec<_>>().join(", "),
        Suffix::Lanes { letter, lanes, bits, .. } => {
            format!(".{letter} and {lanes} digits from 0 to {}", (1 << bits) - 1)
        }
        Suffix::Mask { letter, lanes, .. } => {
            format!(".{letter} and digits from {} to 0, descending", lanes - 1)
        }
    }
}

/// Parses a lane selector such as `b7654`: one digit per lane, lane 0 last.
fn lane_list(text: &str, letter: char, lanes: u8, bits: u8) -> Option<u64> {
    let digits = text.strip_prefix(letter)?;
    if digits.len() != usize::from(lanes) {
        return None;
    }
    digits.chars().try_fold(0, |value, c| {
        let digit = c.to_digit(1 << bits)?;
        Some(value << bits | u64::from(digit))
    })
}

/// Parses a lane mask such as `b320`: a set of lanes in descending order.
fn lane_mask(text: &str, letter: char, lanes: u8) -> Option<u64> {
    let digits = text.strip_prefix(letter).filter(|d| !d.is_empty())?;
    let mut above = u32::from(lanes);
    digits.chars().try_fold(0, |mask, c| {
        let digit = c.to_digit(10).filter(|&d| d < above)?;
        above = digit;
        Some(mask | 1 << digit)
    })
}
