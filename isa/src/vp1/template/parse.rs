//! Parses templates and checks that a template only computes a result from operands.

use arrayvec::ArrayVec;

use super::{Placeholder, RegisterSlot, Template, TemplateError, TemplateErrorKind, TemplateItem, Words};
use crate::row::{LAST_FLAGS, Operand, OperandKind, OperandRole, ROTATE, RegFile};
use crate::text::{AsmErrorKind, Fragment, Names, split, tuple};
use crate::vp1::domain::{Logic, Unknown};
use crate::vp1::footprint::{Footprint, Locations, Profile};
use crate::vp1::text::{read_named, read_sharing};
use crate::vp1::{Bundle, Inst, Opcode, Unit, fields as f};

use TemplateErrorKind as Wrong;

/// The flags, `$va` and `$vx`. A template must write these registers before it reads them.
const STATE_REGISTERS: [(RegFile, u8); 10] = [
    (RegFile::Vx, 0),
    (RegFile::C, 0),
    (RegFile::C, 1),
    (RegFile::C, 2),
    (RegFile::C, 3),
    (RegFile::Vc, 0),
    (RegFile::Vc, 1),
    (RegFile::Vc, 2),
    (RegFile::Vc, 3),
    (RegFile::Va, 0),
];

/// The state of a result, operand or temporary during parsing.
#[derive(Clone, Copy, Default)]
struct Value {
    /// The register file. The file of a temporary is `None` before its first write.
    file: Option<RegFile>,
    /// `true` if an instruction has written the value.
    written: bool,
    /// `true` if an instruction reads the value.
    read: bool,
    /// The flags that had been written at the time of the copy, if the value is a copy of all `$vc` registers.
    copied: Option<Locations>,
}

struct Parser<'a> {
    text: &'a str,
    operands: usize,
    /// The result, the operands and the temporaries. During parsing, a value's index serves as its register number.
    values: Vec<Value>,
    /// The locations that previous bundles have written.
    written: Locations,
    /// `true` if the previous bundle writes `$va`.
    accumulated: bool,
}

pub(super) fn parse(text: &str, result: RegFile, operands: &[RegFile]) -> Result<Template, TemplateError> {
    let operand = |&file| Value { file: Some(file), written: true, ..Value::default() };
    let values = std::iter::once(Value { file: Some(result), ..Value::default() });
    let mut parser = Parser {
        text,
        operands: operands.len(),
        values: values.chain(operands.iter().map(operand)).collect(),
        written: Locations::EMPTY,
        accumulated: false,
    };
    parser.names()?;
    let whole = Fragment { text, start: 0 };
    let mut bundles: Vec<Fragment<'_>> = split(whole, ';').map(Fragment::trim).collect();
    // The `;` after the last bundle is optional.
    if bundles.len() > 1 && bundles.last().is_some_and(|last| last.text.is_empty()) {
        bundles.pop();
    }
    let steps = bundles.into_iter().map(|bundle| parser.step(bundle)).collect::<Result<Vec<_>, _>>()?;
    if !parser.values.first().is_some_and(|result| result.written) {
        return Err(Wrong::NoResult.at(Fragment { text: "", start: text.len() }));
    }
    if let Some(unused) = parser.values.iter().skip(1).take(operands.len()).position(|operand| !operand.read) {
        return Err(Wrong::Unused(unused).at(whole));
    }
    Ok(Template { steps, temporaries: (parser.values.len() - 1 - operands.len()) as u8 })
}

/// Returns every name in a text that begins with `$`, with the position of the `$`.
fn placeholders(text: &str) -> impl Iterator<Item = Fragment<'_>> {
    text.match_indices('$').map(|(start, _)| {
        let rest = text.get(start + 1..).unwrap_or("");
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        Fragment { text: text.get(start..start + 1 + len).unwrap_or(""), start }
    })
}

/// Parses the number after a prefix. Returns `None` if other text follows.
fn number(name: &str, prefix: &str) -> Option<usize> {
    let digits = name.strip_prefix(prefix)?;
    // A number that overflows is never valid in a placeholder.
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}

impl Parser<'_> {
    /// Checks all placeholders and register names in the text, and determines the number of temporaries.
    fn names(&mut self) -> Result<(), TemplateError> {
        let first = self.values.len();
        let mut end = first;
        for piece in placeholders(self.text) {
            let (name, count) = tuple(piece.text);
            let placeholder = || Wrong::Placeholder(piece.text.to_owned(), self.operands).at(piece);
            if let Some(n) = number(name, "$") {
                if n.saturating_add(count.into()) > self.operands {
                    return Err(placeholder());
                }
            } else if let Some(n) = number(name, "$t") {
                end = end.max(n.saturating_add(first + usize::from(count)));
                if end > Template::MAX_VALUES {
                    return Err(Wrong::TooMany.at(piece));
                }
            } else if piece.text == "$t" {
                return Err(placeholder());
            } else if ["$r", "$v"].iter().any(|prefix| number(name, prefix).is_some()) {
                return Err(Wrong::Register(piece.text.to_owned()).at(piece));
            }
        }
        if end > Template::MAX_VALUES {
            return Err(Wrong::TooMany.at(Fragment { text: self.text, start: 0 }));
        }
        self.values.resize(end, Value::default());
        Ok(())
    }

    /// Returns the index of a value by its name, such as `$d`, `$2` or `$t0`.
    fn value(&self, name: &str) -> Option<usize> {
        if name == "$d" {
            return Some(0);
        }
        let temporary = || Some(number(name, "$t")? + 1 + self.operands);
        number(name, "$").map(|operand| operand + 1).or_else(temporary).filter(|&value| value < self.values.len())
    }

    fn placeholder(&self, value: usize) -> Placeholder {
        match (value, value.checked_sub(1 + self.operands)) {
            (0, _) => Placeholder::Result,
            (_, None) => Placeholder::Operand(value as u8 - 1),
            (_, Some(temporary)) => Placeholder::Temporary(temporary as u8),
        }
    }

    fn name(&self, value: usize) -> String {
        match self.placeholder(value) {
            Placeholder::Operand(n) => format!("${n}"),
            Placeholder::Temporary(n) => format!("$t{n}"),
            _ => String::from("$d"),
        }
    }

    /// Parses an instruction. A temporary that has not been written is assumed to be in the
    /// register file to which the instruction can write.
    fn word(&self, piece: Fragment<'_>) -> Result<Inst, TemplateError> {
        if piece.text.is_empty() {
            return Err(Wrong::Empty.at(piece));
        }
        let read = |new: RegFile| {
            let names: Names<'_> = &|name| {
                let value = self.value(name)?;
                Some((self.values.get(value)?.file.unwrap_or(new), value as u8))
            };
            read_named(piece, names).or_else(|error| match error.kind {
                // Other fields share bits with the register number, and these bits differ from the value's index.
                AsmErrorKind::Conflict { .. } => read_sharing(piece, names).ok_or(error),
                _ => Err(error),
            })
        };
        let inst = read(RegFile::R).or_else(|error| match read(RegFile::V) {
            Ok(inst) => Ok(inst),
            // The text is parsed first with new temporaries in `$r` and then with new temporaries
            // in `$v`. The error farther right in the text is the relevant one.
            Err(other) if other.span.start > error.span.start => Err(other),
            Err(_) => Err(error),
        })?;
        let mnemonic = inst.row().mnemonic;
        if !matches!(inst.unit(), Unit::Scalar | Unit::Vector) {
            return Err(Wrong::Unit(mnemonic).at(piece));
        }
        if let Some(file) = inst.row().operands.iter().find_map(unsupported_file) {
            return Err(Wrong::UnsupportedFile { mnemonic, file: file.prefix() }.at(piece));
        }
        // The effect is known because all registers that the instruction uses are allowed.
        match Profile::of(inst) {
            Ok(profile) if !profile.footprint().writes.is_empty() || profile.forwards_values() => Ok(inst),
            _ => Err(Wrong::NoEffect(mnemonic).at(piece)),
        }
    }

    fn step(&mut self, text: Fragment<'_>) -> Result<TemplateItem, TemplateError> {
        match move_to_vx_source(text).filter(|value| !value.text.contains('&')) {
            Some(value) => self.extra(value).map(TemplateItem::MoveToVx),
            None => self.bundle(text).map(TemplateItem::Bundle),
        }
    }

    /// Parses the source of `mov $vx`.
    fn extra(&mut self, name: Fragment<'_>) -> Result<Placeholder, TemplateError> {
        let Some(index) = self.value(name.text) else { return Err(Wrong::InvalidMoveToVx.at(name)) };
        self.read_as(index, RegFile::V, None).map_err(|wrong| wrong.at(name))?;
        self.written = self.written.union(Locations::register(RegFile::Vx, 0));
        // `mov $vx` stands for a store and a load, so the next bundle does not directly follow a write of `$va`.
        self.accumulated = false;
        Ok(self.placeholder(index))
    }

    fn bundle(&mut self, bundle: Fragment<'_>) -> Result<Words, TemplateError> {
        let mut insts: ArrayVec<Inst, 2> = ArrayVec::new();
        let mut words: ArrayVec<Fragment<'_>, 2> = ArrayVec::new();
        for piece in split(bundle, '&').map(Fragment::trim) {
            if move_to_vx_source(piece).is_some() {
                return Err(Wrong::InvalidMoveToVx.at(piece));
            }
            let inst = self.word(piece)?;
            if insts.last().is_some_and(|before| before.unit() >= inst.unit()) {
                return Err(Wrong::Order.at(piece));
            }
            // The units are in ascending order, and only two units are allowed. So the bundle has
            // at most two instructions.
            insts.push(inst);
            words.push(piece);
        }
        let (reads, writes) = self.locals(bundle, &insts)?;
        let mut template = Words { insts: insts.clone(), slots: Vec::new() };
        for (i, (inst, &piece)) in (0..).zip(insts.iter().zip(&words)) {
            self.slots(&mut template.slots, i, inst, piece, reads)?;
        }
        for slot in &template.slots {
            if let (Some(_), Some(inst)) = (self.index(slot.value), template.insts.get_mut(usize::from(slot.inst)))
                && !inst.shares(slot.field)
            {
                inst.set(slot.field, 0);
            }
        }
        self.write(&template, bundle)?;
        self.written = self.written.union(writes);
        self.accumulated = writes.intersects(Locations::register(RegFile::Va, 0));
        Ok(template)
    }

    /// Returns the locations that a bundle reads, and those that it writes. Returns an error if the
    /// bundle reads one of the [`STATE_REGISTERS`] that no previous bundle has written, or needs
    /// values that its scalar instruction does not forward.
    fn locals(&self, bundle: Fragment<'_>, insts: &[Inst]) -> Result<(Locations, Locations), TemplateError> {
        // The effect of every instruction is known, so this error does not occur.
        let unknown = |_| Wrong::Empty.at(bundle);
        let footprint = footprint(insts).map_err(unknown)?;
        let mut reads = footprint.reads;
        let profiles = insts.iter().map(|&inst| Profile::of(inst)).collect::<Result<ArrayVec<_, 2>, _>>();
        let profiles = profiles.map_err(unknown)?;
        if let Some(vector) = profiles.last().filter(|last| last.inst().unit() == Unit::Vector) {
            let inst = vector.inst();
            let forwarded = profiles.first().is_some_and(Profile::forwards_values);
            if !forwarded && (vector.uses_forwarded_factors() || vector.uses_forwarded_flags() && !ignores_flags(&inst))
            {
                return Err(Wrong::Factors(inst.row().mnemonic).at(bundle));
            }
            // A copy of all `$vc` registers is valid even if some of them have not been written.
            if inst.opcode() == Opcode::MOV_VC || !forwarded && ignores_flags(&inst) {
                reads = (0..4).fold(reads, |reads, n| reads.minus(Locations::register(RegFile::Vc, n)));
            }
        }
        for (file, n) in STATE_REGISTERS {
            let register = Locations::register(file, n);
            let missing = reads.intersection(register).minus(self.written);
            let name = || match file {
                RegFile::Vx => file.prefix().to_owned(),
                _ => format!("{}{n}", file.prefix()),
            };
            let wrong = match file {
                RegFile::Va if reads.intersects(register) && !self.accumulated => {
                    Wrong::Accumulator(insts.last().map_or("", |inst| inst.row().mnemonic))
                }
                RegFile::Va => continue,
                _ if missing.is_empty() => continue,
                RegFile::C if !missing.is_subset(Locations::flags(n, SCALAR_FLAGS)) => Wrong::Flags(name()),
                _ => Wrong::Unwritten(name()),
            };
            return Err(wrong.at(mention(bundle, |piece| piece == name())));
        }
        Ok((reads, footprint.writes))
    }

    /// Adds the register operands of an instruction to `slots`. `reads` holds the flags that the bundle reads.
    fn slots(
        &mut self,
        slots: &mut Vec<RegisterSlot>,
        number: u8,
        inst: &Inst,
        word: Fragment<'_>,
        reads: Locations,
    ) -> Result<(), TemplateError> {
        let own = footprint(&[*inst]).map_or(Locations::EMPTY, |footprint| footprint.reads);
        let place =
            |field, file, role| RegisterSlot { inst: number, field, part: 0, file, role, value: Placeholder::Result };
        for operand in inst.row().operands {
            let role = operand.role;
            let chosen = |bit, index| match bit {
                ROTATE => 4,
                f::ALWAYS => 2,
                // A selection by a bit that is always false reads no `$c` register and has one candidate register.
                _ if !own.intersects(Locations::register(RegFile::C, inst.get(index) as u8)) => 1,
                _ => 2,
            };
            let (field, file, parts) = match operand.kind {
                OperandKind::Reg { file, field, .. } => (field, file, 1),
                OperandKind::Tuple { file, field, count } => {
                    // The text `$0q` names four registers even if the instruction reads fewer of them.
                    let named = inst.get(field) as usize..inst.get(field) as usize + usize::from(count);
                    named.into_iter().try_for_each(|value| self.read(value, file, inst, word))?;
                    (field, file, inst.quad_condition().map_or(count, |(bit, index)| chosen(bit, index)))
                }
                OperandKind::Selected { file, field, index, bit } => (field, file, chosen(inst.get(bit.field), index)),
                OperandKind::FlagDef { file, field } if inst.get(field) <= LAST_FLAGS => (field, file, 1),
                OperandKind::Condition { index, .. } => (index, RegFile::C, 1),
                _ => continue,
            };
            let first = inst.get(field) as u8;
            match file {
                RegFile::C | RegFile::Vc => {
                    let spread = file == RegFile::Vc && is_pair_spread(inst);
                    for part in 0..=u8::from(spread) {
                        let n = first | part;
                        let known = if file == RegFile::C { own } else { reads };
                        let slot = RegisterSlot { part, value: Placeholder::Flags(n), ..place(field, file, role) };
                        // `vlrp4b` has its `$c` register twice among its operands.
                        if (role == OperandRole::Def || known.intersects(Locations::register(file, n)))
                            && !slots.contains(&slot)
                        {
                            slots.push(slot);
                        }
                    }
                }
                _ if file.constant().is_some_and(|(zero, _)| zero == first) => {}
                // The bits of the register number belong to other fields, so the number is not a
                // value's index. The operand is the last name in the text.
                _ if inst.shares(field) => {
                    if let Some(value) = placeholders(word.text).last().and_then(|last| self.value(last.text)) {
                        self.read(value, file, inst, word)?;
                        slots.push(RegisterSlot { value: self.placeholder(value), ..place(field, file, role) });
                    }
                }
                _ => {
                    for part in 0..parts {
                        let value = usize::from(first + part);
                        if role != OperandRole::Def {
                            self.read(value, file, inst, word)?;
                        }
                        slots.push(RegisterSlot { part, value: self.placeholder(value), ..place(field, file, role) });
                    }
                    if let Some(flags) = self.copied_flags(usize::from(first), inst, word)? {
                        slots.push(RegisterSlot { value: flags, ..place(f::VWORD, RegFile::Vc, OperandRole::Use) });
                    }
                }
            }
            if let OperandKind::Selected { index, .. } = operand.kind {
                let n = inst.get(index) as u8;
                if own.intersects(Locations::register(RegFile::C, n)) {
                    slots.push(RegisterSlot {
                        value: Placeholder::Flags(n),
                        ..place(index, RegFile::C, OperandRole::Use)
                    });
                }
            }
        }
        Ok(())
    }

    /// Records that an instruction reads a value from a register of the given file.
    fn read(&mut self, index: usize, file: RegFile, inst: &Inst, word: Fragment<'_>) -> Result<(), TemplateError> {
        self.read_as(index, file, Some(inst.opcode())).map_err(|wrong| wrong.at(self.mention(word, index)))
    }

    /// Records that an instruction reads a value from a register of the given file. `by` is `None`
    /// for the pseudo-instruction `mov $vx`.
    fn read_as(&mut self, index: usize, file: RegFile, by: Option<Opcode>) -> Result<(), TemplateErrorKind> {
        let name = self.name(index);
        let Some(value) = self.values.get_mut(index) else { return Ok(()) };
        value.read = true;
        Err(match *value {
            Value { written: false, .. } => Wrong::Unwritten(name),
            Value { copied: Some(_), .. } if by != Some(Opcode::MOV_R_V) => Wrong::AllFlags(name),
            Value { file: Some(other), .. } if other != file => Wrong::File(name),
            _ => return Ok(()),
        })
    }

    /// If the value is a copy of all `$vc` registers, returns the flags in the word that the instruction reads.
    fn copied_flags(
        &self,
        index: usize,
        inst: &Inst,
        word: Fragment<'_>,
    ) -> Result<Option<Placeholder>, TemplateError> {
        let copied = self.values.get(index).and_then(|value| value.copied);
        let (Some(copied), Opcode::MOV_R_V) = (copied, inst.opcode()) else { return Ok(None) };
        let flags = inst.get(f::VWORD) as u8;
        if !copied.intersects(Locations::register(RegFile::Vc, flags)) {
            let name = format!("{}{flags}", RegFile::Vc.prefix());
            return Err(Wrong::Unwritten(name).at(self.mention(word, index)));
        }
        Ok(match self.placeholder(index) {
            Placeholder::Temporary(copy) => Some(Placeholder::CopiedFlags { flags, copy }),
            _ => None,
        })
    }

    /// Records and checks the values that a bundle writes.
    fn write(&mut self, words: &Words, bundle: Fragment<'_>) -> Result<(), TemplateError> {
        let mut before: Option<usize> = None;
        for slot in words.slots.iter().filter(|slot| slot.role != OperandRole::Use) {
            let Some(index) = self.index(slot.value) else { continue };
            let copies = words.insts.get(usize::from(slot.inst)).is_some_and(|inst| inst.opcode() == Opcode::MOV_VC);
            let wrong = match slot.value {
                Placeholder::Operand(_) => Some(Wrong::Written(self.name(index))),
                _ if before == Some(index) => Some(Wrong::WrittenTwice(self.name(index))),
                Placeholder::Result if copies => Some(Wrong::AllFlags(self.name(index))),
                _ => None,
            };
            if let Some(wrong) = wrong {
                return Err(wrong.at(self.mention(bundle, index)));
            }
            before = Some(index);
            if let Some(value) = self.values.get_mut(index) {
                let copied = copies.then_some(self.written);
                *value = Value { file: Some(slot.file), written: true, read: value.read, copied };
            }
        }
        Ok(())
    }

    /// Returns the index in `values` of a placeholder, or `None` for flags.
    fn index(&self, placeholder: Placeholder) -> Option<usize> {
        match placeholder {
            Placeholder::Result => Some(0),
            Placeholder::Operand(n) => Some(1 + usize::from(n)),
            Placeholder::Temporary(n) => Some(1 + self.operands + usize::from(n)),
            Placeholder::Flags(_) | Placeholder::CopiedFlags { .. } => None,
        }
    }

    /// Returns the first name of a value in a text, or the whole text if the value is not named.
    fn mention<'t>(&self, within: Fragment<'t>, index: usize) -> Fragment<'t> {
        mention(within, |name| {
            let (name, count) = tuple(name);
            self.value(name).is_some_and(|first| (first..first + usize::from(count)).contains(&index))
        })
    }
}

/// Returns the source of `mov $vx`, if the text is that pseudo-instruction.
fn move_to_vx_source(text: Fragment<'_>) -> Option<Fragment<'_>> {
    let mut words = text.text.split_whitespace();
    let (mov, vx) = (words.next()?, words.next()?);
    let end = text.text.find(vx)? + vx.len();
    let rest = Fragment { text: text.text.get(end..)?, start: text.start + end };
    (mov == "mov" && vx == RegFile::Vx.prefix()).then_some(rest.trim())
}

/// The mask of the flags in a `$c` register that the scalar unit writes.
const SCALAR_FLAGS: u32 = 0xff;

/// Returns the register file of an operand if intrinsics must not use that file.
fn unsupported_file(operand: &Operand) -> Option<RegFile> {
    match operand.kind {
        OperandKind::Reg { file, .. } | OperandKind::SplitReg { file, .. } => {
            (!matches!(file, RegFile::R | RegFile::V | RegFile::C | RegFile::Vc)).then_some(file)
        }
        _ => None,
    }
}

fn footprint(insts: &[Inst]) -> Result<Footprint, Unknown> {
    let words: ArrayVec<u32, 2> = insts.iter().map(Inst::word).take(2).collect();
    // Instructions in ascending unit order always form a bundle.
    Bundle::new(&words).map_or(Ok(Footprint::NONE), |bundle| Footprint::of(&bundle, None))
}

/// Returns `true` if the instruction is a `vcmpad` whose result does not depend on flags: its truth
/// table has the same result for both values of the flag.
fn ignores_flags(inst: &Inst) -> bool {
    let table = Logic::of_table(inst.get(f::CMPOP) as u8).table();
    inst.opcode() == Opcode::VCMPAD && table & 0b0101 == table >> 1 & 0b0101
}

/// Returns `true` if the instruction forwards flags from a pair of `$vc` registers.
fn is_pair_spread(inst: &Inst) -> bool {
    const PAIR: u64 = 7;
    let (low, high) = (f::VCXFRM_LOW, f::VCXFRM_HIGH);
    inst.row().fields().any(|field| field == low) && inst.get(high) << low.width | inst.get(low) == PAIR
}

/// Returns the first name in a text that satisfies `is`, or the whole text if there is none.
fn mention<'t>(within: Fragment<'t>, is: impl Fn(&str) -> bool) -> Fragment<'t> {
    let found = placeholders(within.text).find(|piece| is(piece.text));
    found.map_or(within, |piece| Fragment { start: within.start + piece.start, ..piece })
}
