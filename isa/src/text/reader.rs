//! Reads a statement as one of the rows of its mnemonic.

use super::number::{FloatFormat, Misfit, Number};
use super::syntax::{Arg, Body, Piece, Statement, Terms};
use super::{AsmError, AsmErrorKind};
use crate::row::{Address, EncodeError, Kind, Modifier, ModifierOrder, Operand, RegFile, Role, Row, Suffix};
use crate::word::Field;
use smallvec::SmallVec;

/// A row that a statement may turn out to be.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<T> {
    /// What the caller knows it by.
    pub key: T,
    /// The row.
    pub row: &'static Row,
    /// The union of its fields.
    pub named: u128,
}

/// Reads a statement as the candidate that it fits; the candidates are the rows of its mnemonic. `distance` gives the signed
/// distance in words from this statement to a label, if the label exists.
///
/// Where none fits, the error is that of the candidates that fit furthest, with all that they would have taken there.
pub fn read<T>(
    statement: &Statement<'_>,
    candidates: impl Iterator<Item = Candidate<T>>,
    distance: &dyn Fn(&str) -> Option<i64>,
) -> Result<(T, u128), AsmError> {
    let mut best: Option<Failure> = None;
    for Candidate { key, row, named } in candidates {
        let fit = Fit { statement, row, distance, word: row.template(), places: SmallVec::new() };
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
    /// Adds what another row would have taken at the same place.
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

/// How far a row fitted: guard and modifiers, operands, the whole; which of them; whether its kind was right.
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

/// An operand that does not fit: its kind was right and something else is wrong, or not.
struct Mismatch {
    kind_fits: bool,
    error: AsmError,
}

struct Fit<'s, 'a> {
    statement: &'s Statement<'a>,
    row: &'static Row,
    distance: &'s dyn Fn(&str) -> Option<i64>,
    word: u128,
    /// Where each field was written.
    places: SmallVec<[(Field, Piece<'a>); 16]>,
}

impl<'a> Fit<'_, 'a> {
    fn run(mut self, named: u128) -> Result<u128, Failure> {
        if let (Some((pred, not)), Some(guard)) = (self.statement.guard, self.row.guard) {
            self.word = guard.not.set(guard.pred.set(self.word, pred.into()), not.into());
        }
        self.modifiers().map_err(|(at, error)| Failure { progress: (Stage::Modifier, at, true), error })?;
        self.operands()?;
        self.row.validate(self.word, named).map_err(|e| {
            let place = |f: Field| self.places.iter().find(|p| p.0 == f).map(|p| p.1);
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

    fn put(&mut self, field: Field, value: u64, piece: Piece<'a>) {
        self.word = field.set(self.word, value);
        self.places.push((field, piece));
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
        // Under a fixed order, those that must be written come first and one by one.
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
            if self.places.iter().any(|p| p.0 == m.field) {
                return Err((at, piece.error(AsmErrorKind::RepeatedModifier { allowed: spellings(m) })));
            }
            self.put(m.field, value, piece);
        }
        match loose.iter().find(|m| m.default.is_none() && self.places.iter().all(|p| p.0 != m.field)) {
            None => Ok(()),
            Some(m) => Err((given.len(), self.missing(spellings(m)))),
        }
    }

    /// A modifier is missing: the place is where the last of them ends.
    fn missing(&self, allowed: Vec<&'static str>) -> AsmError {
        let last = self.statement.modifiers.last().unwrap_or(&self.statement.mnemonic);
        let piece = Piece { text: "", start: last.span().end };
        piece.error(AsmErrorKind::MissingModifier { mnemonic: self.row.mnemonic, allowed })
    }

    fn operands(&mut self) -> Result<(), Failure> {
        let statement = self.statement;
        let mut at = 0;
        // Why an optional operand did not take the argument that the next one may.
        let mut passed: Option<Failure> = None;
        for (i, op) in self.row.operands.iter().enumerate() {
            let args = statement.args.get(at..).unwrap_or(&[]);
            if args.is_empty() {
                if op.optional {
                    continue;
                }
                let piece = Piece { text: "", start: statement.line.span().end };
                let error = piece.error(AsmErrorKind::TooFew { operand: op.name });
                return Err(Failure { progress: (Stage::Operand, at, true), error });
            }
            let earlier = self.row.operands.get(..i).unwrap_or(&[]);
            match self.operand(op, earlier, args) {
                Ok(taken) => at += taken,
                Err(Mismatch { kind_fits, error }) => {
                    // A pair may fail at its second number.
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

    /// Reads an operand from the front of `args`, which is not empty, and gives the number of arguments that it took.
    fn operand(&mut self, op: &Operand, earlier: &[Operand], args: &[Arg<'a>]) -> Result<usize, Mismatch> {
        let Some((arg, rest)) = args.split_first() else {
            return Ok(0);
        };
        let taken = self.body(op, earlier, arg, rest.first())?;
        for (given, place) in [(arg.minus, op.neg), (arg.bars, op.abs), (arg.bang, op.not)] {
            match place {
                // The default may be 1, as that of a carry source is.
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

    /// Reads what stands between an operand's prefixes and suffix; `second` is the argument after it.
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
            (Kind::Reg { file, field, .. }, Body::Reg(given, n)) if file == given => {
                self.put(field, n.into(), piece);
            }
            (Kind::Reg { file: RegFile::Gpr, .. }, Body::Reg(RegFile::Ur, _) | Body::Const(..) | Body::Number(_))
                if earlier.iter().any(is_outside) =>
            {
                return Err(Mismatch::detail(piece, AsmErrorKind::OutsideSources));
            }
            (Kind::AllPreds, Body::AllPreds) => {}
            (Kind::Const { bank, offset, .. }, Body::Const(number, Terms { gpr: None, ur: None, imm: Some(imm) })) => {
                self.put(bank, unsigned(op, arg, "constant bank", number, bank)?, piece);
                self.put(offset, unsigned(op, arg, "constant offset", imm, offset)?, piece);
            }
            (Kind::HalfPair { field, format }, Body::Number(high)) => {
                let format = if format.get(self.word) == 0 { FloatFormat::F16 } else { FloatFormat::BF16 };
                let Some(second) = second else {
                    let end = Piece { text: "", start: self.statement.line.span().end };
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
            (Kind::F32(field), Body::Number(number)) => {
                self.put(field, float(arg, number, FloatFormat::F32)?.into(), piece);
            }
            (Kind::Bits(field), Body::Number(number)) => {
                // A full word may be written with its sign.
                let value = if field.width == 32 {
                    integer(op, arg, "integer", number, least(field), field.max().into())?
                } else {
                    unsigned(op, arg, "integer", number, field)?
                };
                self.put(field, value, piece);
            }
            (Kind::Name(m), Body::Name(name)) => {
                self.put(m.field, m.value(name).ok_or_else(mismatch)?, piece);
            }
            (Kind::Memory { address, .. }, body) => self.address(op, arg, address, body)?,
            (Kind::Target(field), Body::Relative(number)) => {
                self.put(field, signed(op, arg, "distance", number, field)?, piece);
            }
            (Kind::Target(field), Body::Name(label)) => {
                let distance = (self.distance)(label);
                let distance = distance.ok_or_else(|| Mismatch::detail(piece, AsmErrorKind::UndefinedLabel))?;
                if i128::from(distance) < least(field) || i128::from(distance) > most(field) {
                    return Err(out_of_range(piece, "distance", least(field), most(field)));
                }
                self.put(field, distance as u64, piece);
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
                Body::Memory(Terms { gpr: Some((n, Some(Piece { text: "U32", .. }))), ur: Some(ur), imm: number }),
            ) => {
                self.put(imm, number.map_or(Ok(0), |number| signed(op, arg, WHAT, number, imm))?, piece);
                self.put(offset, n.into(), piece);
                self.put(base, ur.into(), piece);
            }
            (
                Address::Wide { base, imm },
                Body::Memory(Terms { gpr: Some((n, Some(Piece { text: "64", .. }))), ur: None, imm: number }),
            ) => {
                self.put(imm, number.map_or(Ok(0), |number| signed(op, arg, WHAT, number, imm))?, piece);
                self.put(base, n.into(), piece);
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
    /// The argument is of another kind than the operand.
    fn kind(op: &Operand, arg: &Arg<'_>) -> Mismatch {
        let kind = AsmErrorKind::Operand { operand: op.name, allowed: vec![describe(op)] };
        Mismatch { kind_fits: false, error: arg.piece.error(kind) }
    }

    /// The kind is right and something else wrong.
    fn detail(piece: Piece<'_>, kind: AsmErrorKind) -> Mismatch {
        Mismatch { kind_fits: true, error: piece.error(kind) }
    }
}

/// The least number of a two's complement field.
fn least(field: Field) -> i128 {
    -1 << (field.width - 1)
}

/// The greatest number of a two's complement field.
fn most(field: Field) -> i128 {
    (field.max() >> 1).into()
}

fn out_of_range(piece: Piece<'_>, what: &'static str, least: i128, most: i128) -> Mismatch {
    Mismatch::detail(piece, AsmErrorKind::Range { what, allowed: format!("{least} to {most}") })
}

/// The low bits of an integer that may lie between two bounds.
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
        Err(Misfit::Sort) => Err(Mismatch::kind(op, arg)),
        Ok(_) | Err(Misfit::Range) => Err(out_of_range(arg.piece, what, least, most)),
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
    integer(op, arg, what, number, least(field), most(field))
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

/// A source from outside the GPRs.
fn is_outside(op: &Operand) -> bool {
    op.role == Role::Use
        && match op.kind {
            Kind::Reg { file, .. } => file == RegFile::Ur,
            Kind::Const { .. } | Kind::HalfPair { .. } | Kind::F32(_) | Kind::Bits(_) => true,
            _ => false,
        }
}

/// What an operand takes, for errors and documents.
pub(crate) fn describe(op: &Operand) -> &'static str {
    let bare = op.neg.is_none() && op.abs.is_none() && matches!(op.suffix, Suffix::None);
    match op.kind {
        Kind::Reg { file: RegFile::Gpr, .. } if bare || op.role == Role::Def => "a plain GPR",
        Kind::Reg { file: RegFile::Gpr, .. } => "a GPR",
        Kind::Reg { file: RegFile::Ur, .. } => "a UR",
        Kind::Reg { file: RegFile::Pred, .. } if op.not.is_none() => "a predicate without `!`",
        Kind::Reg { file: RegFile::Pred, .. } => "a predicate",
        Kind::AllPreds => "PR",
        Kind::Const { .. } => "c[bank][offset]",
        Kind::HalfPair { .. } => "two numbers",
        Kind::F32(_) => "a number",
        Kind::Bits(_) => "an integer",
        Kind::Name(_) => "a special register",
        Kind::Memory { address: Address::Uniform { .. }, .. } => "[Ra.U32+URb+imm]",
        Kind::Memory { address: Address::Wide { .. }, .. } => "[Ra.64+imm]",
        Kind::Memory { address: Address::Local { .. }, .. } => "[imm]",
        Kind::Memory { address: Address::Constant { .. }, .. } => "c[bank][Ra+imm]",
        Kind::Target(_) => "a label or `.+N`",
    }
}

/// The suffixes that an operand takes, in words.
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

/// `b7654`: a digit a lane, the last that of lane 0.
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

/// `b320`: a set of lanes, descending.
fn lane_mask(text: &str, letter: char, lanes: u8) -> Option<u64> {
    let digits = text.strip_prefix(letter).filter(|d| !d.is_empty())?;
    let mut above = u32::from(lanes);
    digits.chars().try_fold(0, |mask, c| {
        let digit = c.to_digit(10).filter(|&d| d < above)?;
        above = digit;
        Some(mask | 1 << digit)
    })
}
