//! Tests that the compiler can generate every instruction and every modifier, by a selection rule or by an intrinsic.
//! `docs/reach/` lists a source for each of them, and `HALFBYTE_BLESS=1 cargo test reach` updates these pages.

mod halu;
mod halu_groups;
mod vp1;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use halfbyte::ir::witness::witnesses;
use halfbyte::isa::isa::SharedCode;
use halfbyte::isa::row::{Modifier, Operand, OperandKind, Row, Suffix};
use halfbyte::isa::vp1::fields::NO_FLAGS;
use halfbyte::isa::word::Field;
use halfbyte::pipeline::{Binary, Options, compile};
use halfbyte::{Module, Target};

use crate::common::root;
use crate::support::{with_passes, without_passes};

/// An instruction set with a page in `docs/reach/`.
trait Isa {
    type Opcode: Copy + PartialEq + 'static;
    const TARGET: Target;
    const NAME: &str;

    /// Returns the opcodes that the page lists.
    fn opcodes() -> impl Iterator<Item = Self::Opcode>;
    fn name(op: Self::Opcode) -> &'static str;
    fn row(op: Self::Opcode) -> &'static Row;
    fn opcode(word: u128) -> Option<Self::Opcode>;
    fn words(words: &SharedCode) -> Vec<u128>;
}

/// A modifier of an instruction.
#[derive(Clone, Debug)]
struct Feature {
    /// Text of the modifier in assembly.
    text: String,
    /// Conditions on the instruction word that hold if the modifier is set. Each condition has a
    /// field, `true` if the field must equal the value or `false` if it must differ, and the value.
    holds: Vec<(Field, bool, u64)>,
}

impl Feature {
    fn is_in(&self, word: u128) -> bool {
        self.holds.iter().all(|&(field, equal, value)| (field.get(word) == value) == equal)
    }

    /// Returns the field and the value of a modifier that is set by one value of one field.
    fn set(&self) -> Option<(Field, u64)> {
        match self.holds[..] {
            [(field, true, value)] => Some((field, value)),
            _ => None,
        }
    }
}

/// Returns all modifiers of the instruction that a row describes.
fn features(row: &Row) -> Vec<Feature> {
    let mut all = Vec::new();
    let mut add = |text: String, holds| all.push(Feature { text, holds: vec![holds] });
    let is = |field: Field, value: u64| (field, true, value);
    let is_not = |field: Field, value: u64| (field, false, value);
    let choices = |m: &Modifier| -> Vec<(&'static str, u64)> {
        m.choices.iter().copied().filter(|&(_, value)| m.default != Some(value)).collect()
    };
    let names = |m: &Modifier| {
        let same = |o: &&Operand| matches!(o.kind, OperandKind::Name(of) if choices(&of).first().map(|c| c.0) == choices(m).first().map(|c| c.0));
        row.operands.iter().filter(same).count()
    };
    for m in row.modifiers {
        for (text, value) in choices(m) {
            add(format!(".{text}"), is(m.field, value));
        }
    }
    for operand in row.operands.iter().filter(|operand| !operand.silent) {
        let name = operand.name;
        for (field, text) in
            [(operand.neg, format!("-{name}")), (operand.abs, format!("|{name}|")), (operand.not, format!("!{name}"))]
        {
            if let Some(field) = field {
                add(text, is(field, 1));
            }
        }
        match operand.kind {
            // Adds the name of the operand if several operands have the same modifiers.
            OperandKind::Name(m) => choices(&m).into_iter().for_each(|(text, value)| {
                let of = if names(&m) > 1 { format!("{name}: ") } else { String::new() };
                add(format!("{of}{text}"), is(m.field, value));
            }),
            OperandKind::FlagDef { field, .. } => add(name.to_string(), is_not(field, NO_FLAGS)),
            OperandKind::Condition { bit, .. } => {
                choices(&bit).into_iter().for_each(|(text, value)| add(format!("{name}: {text}"), is(bit.field, value)))
            }
            OperandKind::Selected { bit, .. } => {
                choices(&bit).into_iter().for_each(|(text, value)| add(format!("slct {text}"), is(bit.field, value)))
            }
            _ => {}
        }
        match operand.suffix {
            Suffix::None => {}
            Suffix::Choice(m) => {
                choices(&m).into_iter().for_each(|(text, value)| add(format!("{name}.{text}"), is(m.field, value)))
            }
            Suffix::Lanes { field, letter, default, .. } => add(format!("{name}.{letter}..."), is_not(field, default)),
            Suffix::Mask { field, letter, .. } => add(format!("{name}.{letter}..."), is_not(field, field.max())),
        }
    }
    for alias in row.aliases.iter().filter(|alias| !alias.implied_fields.is_empty()) {
        let operands = alias.operands.iter().filter(|operand| !operand.optional);
        let words = operands.map(|operand| match operand.kind {
            OperandKind::Word(word) => word,
            _ => operand.name,
        });
        let text = std::iter::once(alias.mnemonic).chain(words).collect::<Vec<_>>().join(" ");
        all.push(Feature {
            text,
            holds: alias.implied_fields.iter().map(|&(field, value)| is(field, value)).collect(),
        });
    }
    all
}

/// A source from which an instruction or a modifier is generated.
#[derive(Clone, Debug)]
struct SourceOption {
    /// Text of the source: ops of the IR, or an intrinsic.
    text: String,
    /// Name of the test that compares the results of the source with the evaluator.
    test: String,
}

/// Name of an opcode that is not generated, or of a modifier that is not generated for any opcode, and the reason.
type Unreached = (&'static str, &'static str);

/// A source for each opcode, and a source for each modifier of each mnemonic.
struct Reach<I: Isa> {
    forms: Vec<(I::Opcode, Option<SourceOption>)>,
    modifiers: BTreeMap<(&'static str, String), Option<SourceOption>>,
    /// Instruction words that belong to no op, such as those of a prologue or of an edge, with their sources.
    put_off: Vec<(u128, SourceOption)>,
}

impl<I: Isa> Reach<I> {
    fn new() -> Reach<I> {
        let modifiers = I::opcodes().flat_map(|op| {
            let row = I::row(op);
            features(row).into_iter().map(|feature| ((row.mnemonic, feature.text), None))
        });
        let forms = I::opcodes().map(|op| (op, None)).collect();
        Reach { forms, modifiers: modifiers.collect(), put_off: Vec::new() }
    }

    /// Records a source for the opcode and the modifiers of an instruction word that have no source yet.
    fn note(&mut self, word: u128, source: impl Fn() -> SourceOption) {
        let Some(opcode) = I::opcode(word) else { return };
        let Some((_, form)) = self.forms.iter_mut().find(|(op, _)| *op == opcode) else { return };
        form.get_or_insert_with(&source);
        let row = I::row(opcode);
        for feature in features(row).into_iter().filter(|feature| feature.is_in(word)) {
            self.modifiers.entry((row.mnemonic, feature.text)).or_default().get_or_insert_with(&source);
        }
    }

    /// Returns `true` if the opcode or a modifier of an instruction word has no source yet.
    fn is_new(&self, word: u128) -> bool {
        I::opcode(word).is_some_and(|op| {
            let (form, modifiers) = self.missing_of(op);
            form || modifiers.iter().any(|modifier| modifier.is_in(word))
        })
    }

    /// Records the ops of a kernel as sources of its instruction words. Instruction words that
    /// belong to no op are recorded later.
    fn note_all(&mut self, binary: &Binary, text: &str, test: &str) {
        for code in &binary.code {
            for (word, loc) in I::words(&code.words).into_iter().zip(&code.locs) {
                if !self.is_new(word) {
                    continue;
                }
                let line = text.lines().nth((loc.line as usize).wrapping_sub(1)).unwrap_or("").trim();
                let op = line.split_once(" = ").map_or(line, |(_, op)| op);
                let op = op.split(';').next().unwrap_or_default().trim_end();
                match op.is_empty() || op.starts_with("kernel ") || op.starts_with('^') {
                    true => self
                        .put_off
                        .push((word, SourceOption { text: "a parameter or constant".into(), test: test.to_string() })),
                    false => self.note(word, || SourceOption { text: format!("`{op}`"), test: test.to_string() }),
                }
            }
        }
    }

    /// Returns `true` if an opcode has no source yet, and its modifiers without a source.
    fn missing_of(&self, op: I::Opcode) -> (bool, Vec<Feature>) {
        let row = I::row(op);
        let of =
            |feature: &Feature| self.modifiers.get(&(row.mnemonic, feature.text.clone())).is_some_and(Option::is_none);
        let modifiers: Vec<Feature> = features(row).into_iter().filter(of).collect();
        (self.forms.iter().any(|(form, source)| *form == op && source.is_none()), modifiers)
    }

    /// Records the sources that rules translate: first the witnesses of rules, then those of
    /// `more`, then text tests and examples.
    fn idioms(&mut self, more: impl FnOnce(&mut Reach<I>)) {
        for rule in halfbyte::TARGETS.rules(I::TARGET) {
            for witness in rule.checks.iter().flat_map(|check| witnesses(check).unwrap()) {
                if let Some(binary) = compiled(&witness.text, &without_passes(I::TARGET)) {
                    self.note_all(&binary, &witness.text, &format!("`prove {}::{}`", I::TARGET.name(), rule.name));
                }
            }
        }
        more(self);
        let root = root();
        for folder in ["tests/files/asm", "examples"] {
            let mut files: Vec<_> =
                fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            files.sort();
            for file in files {
                let name = format!("{folder}/{}", file.to_str().unwrap());
                let Ok(text) = fs::read_to_string(root.join(&name)) else { continue };
                let Ok(module) = Module::parse(&text) else { continue };
                for kernel in &module.ir().kernels {
                    let kernels = std::slice::from_ref(kernel);
                    if let Ok(binary) = compile(&module, kernels, &with_passes(I::TARGET), &mut |_| {}) {
                        self.note_all(&binary, &text, &format!("`{name}`"));
                    }
                }
            }
        }
        for (word, source) in std::mem::take(&mut self.put_off) {
            self.note(word, || source.clone());
        }
    }

    /// Asserts that everything has a source except the listed exceptions, and that the page is up to date.
    fn is_complete(&self, unreached: &[Unreached], page: &str) {
        let forms = self.forms.iter().filter(|(_, source)| source.is_none()).map(|(op, _)| I::name(*op).to_string());
        let modifiers = self.modifiers.iter().filter(|(_, source)| source.is_none());
        let mut missing: Vec<String> =
            forms.chain(modifiers.map(|((mnemonic, text), _)| format!("{mnemonic} {text}"))).collect();
        missing.sort();
        let is_listed = |missing: &String, name: &str| missing == name || missing.ends_with(&format!(" {name}"));
        let unexplained: Vec<&String> =
            missing.iter().filter(|&missing| !unreached.iter().any(|(name, _)| is_listed(missing, name))).collect();
        assert!(unexplained.is_empty(), "{unexplained:#?}");
        let reached: Vec<&str> = unreached.iter().map(|(name, _)| *name).collect();
        let reached: Vec<&str> =
            reached.into_iter().filter(|name| !missing.iter().any(|missing| is_listed(missing, name))).collect();
        assert!(reached.is_empty(), "these are reached: {reached:?}");
        let text = self.page(unreached);
        assert!(text.starts_with("# ") && text.contains("## Modifiers"), "{text}");
        if let Some(folder) = std::env::var_os("HALFBYTE_PAGES") {
            let path = Path::new(&folder).join(page);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn page(&self, unreached: &[Unreached]) -> String {
        let mut page = format!("# Where each instruction of {} comes from\n{HEAD}", I::NAME);
        let _ = writeln!(page, "## Forms\n\n| instruction | from | run by |\n|---|---|---|");
        for (op, source) in &self.forms {
            if let Some(SourceOption { text, test }) = source {
                let _ = writeln!(page, "| {} | {} | {test} |", I::name(*op), text.replace('|', "\\|"));
            }
        }
        let _ = writeln!(page, "\n## Modifiers\n\n| mnemonic | modifier | from | run by |\n|---|---|---|---|");
        for ((mnemonic, text), source) in &self.modifiers {
            if let Some(source) = source {
                let [modifier, from] = [text, &source.text].map(|text| text.replace('|', "\\|"));
                let _ = writeln!(page, "| {mnemonic} | `{modifier}` | {from} | {} |", source.test);
            }
        }
        let _ = writeln!(page, "\n## Not from text\n\n| instruction or modifier | why |\n|---|---|");
        for (name, why) in unreached {
            let _ = writeln!(page, "| {name} | {why} |");
        }
        page
    }
}

const HEAD: &str = "
Each form of each mnemonic, and each modifier of a mnemonic in one of its forms: one source that becomes it, an op that a rule selects or an `intrinsic`, and what runs both and
compares them. `prove NAME` is `halfbyte prove NAME`; a file is a kernel that `halfbyte check` or a text test takes; \"here\" is the test that makes this
page. An intrinsic \"with\" a line has further lines, which give it its operands or store its result.

";

fn compiled(text: &str, options: &Options) -> Option<Binary> {
    let module = Module::parse(text).ok()?;
    compile(&module, &module.ir().kernels, options, &mut |_| {}).ok()
}
