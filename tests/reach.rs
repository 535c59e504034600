//! Every instruction and every modifier can be had from text: by an idiom that a rule selects, or by an intrinsic.
//! `docs/reach.md` says which; `HALFBYTE_BLESS=1 cargo test --test reach` writes it anew.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use halfbyte::check::check;
use halfbyte::ir::witness::{Random, witnesses};
use halfbyte::isa::halu::{Inst, Opcode};
use halfbyte::isa::object::Words;
use halfbyte::isa::row::{Kind, Modifier, RegFile, Role, Row, Suffix};
use halfbyte::isa::word::Field;
use halfbyte::launch::Engine;
use halfbyte::pipeline::{Binary, Options, compile};
use halfbyte::{Module, Target};
use support::{with_passes, without_passes};

/// Something that a word can say beside its instruction.
#[derive(Clone, Debug)]
struct Feature {
    /// How text says it.
    text: String,
    /// A field, and whether it holds the value or any other.
    holds: (Field, bool, u64),
}

impl Feature {
    fn is_in(&self, word: u128) -> bool {
        let (field, equal, value) = self.holds;
        (field.get(word) == value) == equal
    }
}

/// What words of a row can say.
fn features(row: &Row) -> Vec<Feature> {
    let mut all = Vec::new();
    let mut add = |text: String, holds| all.push(Feature { text, holds });
    let is = |field: Field, value: u64| (field, true, value);
    let is_not = |field: Field, value: u64| (field, false, value);
    let choices = |m: &Modifier| -> Vec<(&'static str, u64)> {
        m.choices.iter().copied().filter(|&(_, value)| m.default != Some(value)).collect()
    };
    for m in row.modifiers {
        for (text, value) in choices(m) {
            add(format!(".{text}"), is(m.field, value));
        }
    }
    for operand in row.operands {
        let name = operand.name;
        for (field, text) in
            [(operand.neg, format!("-{name}")), (operand.abs, format!("|{name}|")), (operand.not, format!("!{name}"))]
        {
            if let Some(field) = field {
                add(text, is(field, 1));
            }
        }
        if let Kind::Name(m) = operand.kind {
            choices(&m).into_iter().for_each(|(text, value)| add(text.to_string(), is(m.field, value)));
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
    all
}

/// Where a feature can be had from.
#[derive(Clone, Debug)]
struct Source {
    /// Ops of the IR, or an intrinsic.
    text: String,
    /// What runs it on both sides.
    test: String,
}

/// The sources of everything that HALU can do: of each form of a mnemonic, and of each modifier of it in any form.
struct Reach {
    forms: Vec<(Opcode, Option<Source>)>,
    modifiers: BTreeMap<(&'static str, String), Option<Source>>,
}

impl Reach {
    fn new() -> Reach {
        let modifiers = Opcode::ALL.iter().flat_map(|op| {
            let row = op.row();
            features(row).into_iter().map(|feature| ((row.mnemonic, feature.text), None))
        });
        Reach { forms: Opcode::ALL.iter().map(|&op| (op, None)).collect(), modifiers: modifiers.collect() }
    }

    /// What a word has that none before had gets this source.
    fn note(&mut self, word: u128, source: impl Fn() -> Source) {
        let Some(inst) = Inst::decode(word) else { return };
        if let Some((_, form)) = self.forms.iter_mut().find(|(op, _)| *op == inst.opcode()) {
            form.get_or_insert_with(&source);
        }
        let row = inst.row();
        for feature in features(row).into_iter().filter(|feature| feature.is_in(word)) {
            self.modifiers.entry((row.mnemonic, feature.text)).or_default().get_or_insert_with(&source);
        }
    }

    fn note_all(&mut self, binary: &Binary, text: &str, test: &str) {
        for code in &binary.code {
            let Words::Halu(words) = &code.words else { panic!("words of another machine") };
            for (&word, loc) in words.iter().zip(&code.locs) {
                self.note(word, || {
                    let line = text.lines().nth((loc.line as usize).wrapping_sub(1)).unwrap_or("").trim();
                    let op = line.split_once(" = ").map_or(line, |(_, op)| op);
                    Source { text: format!("`{op}`"), test: test.to_string() }
                });
            }
        }
    }
}

/// Instructions that no text reaches, and why.
const UNREACHED: &[(&str, &str)] = &[
    ("LDC_32", "the IR has no tables in constant memory; parameters are read as `c[...]` operands"),
    ("LDC_64", "the same"),
    ("LDC_S16", "a narrow parameter is read zero-extended, and extended again where its sign is asked for"),
    ("LDC_S8", "the same"),
    ("LDG_U_S16", "a narrow load is zero-extended, and extended again where its sign is asked for"),
    ("LDG_U_S8", "the same"),
    ("LDG_W_S16", "the same"),
    ("LDG_W_S8", "the same"),
    ("NOP", "it has no effect"),
    ("P2R", "predicates are values of their own; none is packed into a register"),
    ("R2P", "the same"),
    ("R2UR", "uniform registers hold the addresses of buffers, which are parameters"),
    ("ULDC_32", "the same"),
];

/// What no rule's witness has: accesses by computed addresses, and narrow parameters.
fn pointers(ty: &str) -> String {
    format!(
        "kernel @k(%x: in {ty}, %m: i16, %n: i16, %y: out {ty}) {{\n^entry:\n  %i = item_id\n  %s = const.i32 16\n  \
         %d = mul_wide_u.i32 %i, %s\n  %p = ptr_add %x, %d\n  %q = ptr_add %y, %d\n  %w = zext.i32 %n\n  \
         %a = load.{ty} %p[%w]\n  store.{ty} %a, %q\n  ret\n}}\n; run: halu: @k items=4 m=2 n=1 x=random(80, 1) y=zeros(80)\n"
    )
}

/// Values of a type, more of them alive at once than there are registers.
fn spilling(ty: &str, count: usize) -> String {
    let mut text = format!("kernel @k(%x: in {ty}, %y: out {ty}) {{\n^entry:\n  %i = item_id\n");
    for k in 0..count {
        let _ = writeln!(text, "  %v{k} = load %x[%i + {k}]");
    }
    let _ = writeln!(text, "  %s{} = xor.{ty} %v{}, %v{}", count - 1, count - 1, count - 2);
    for k in (0..count - 1).rev() {
        let _ = writeln!(text, "  %s{k} = xor.{ty} %v{k}, %s{}", k + 1);
    }
    let _ =
        write!(text, "  store %s0, %y[%i]\n  ret\n}}\n; run: halu: @k items=2 x=random({}, 1) y=zeros(2)\n", count + 2);
    text
}

fn compiled(text: &str, options: &Options) -> Option<Binary> {
    let module = Module::parse(text).ok()?;
    compile(&module, &module.ir().kernels, options, &mut |_| {}).ok()
}

/// Idioms: the kernels that stand beside the rules, then the text tests and the examples.
fn idioms(reach: &mut Reach) {
    for rule in halfbyte_isel::rules(Target::Halu) {
        for witness in rule.checks.iter().flat_map(|check| witnesses(check).unwrap()) {
            if let Some(binary) = compiled(&witness.text, &without_passes(Target::Halu)) {
                reach.note_all(&binary, &witness.text, &format!("`prove halu::{}`", rule.name));
            }
        }
    }
    let more = ["i8", "i16", "i32", "i64", "i8x16"].map(pointers).into_iter();
    for text in more.chain([spilling("i32", 300), spilling("i64", 150), spilling("i8x16", 80)]) {
        let binary = compiled(&text, &with_passes(Target::Halu)).unwrap();
        let outcome = check("k.hb", &text, Path::new("."), &Engine::ALL);
        assert!(outcome.failures.is_none(), "{}", outcome.failures.unwrap());
        reach.note_all(&binary, &text, "here");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
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
                if let Ok(binary) = compile(&module, kernels, &with_passes(Target::Halu), &mut |_| {}) {
                    reach.note_all(&binary, &text, &format!("`{name}`"));
                }
            }
        }
    }
}

/// An instruction as an intrinsic: the template, the types of its operands, and that of its result.
struct Template {
    text: String,
    operands: Vec<&'static str>,
    result: &'static str,
}

/// What stands for an instruction with placeholders in place of its registers.
fn template(mut inst: Inst) -> Template {
    let (mut names, mut operands, mut result) = (Vec::new(), Vec::new(), None);
    let scalar = inst.row().operands.iter().find_map(|operand| match operand.kind {
        Kind::Const { bank, offset, align: 4 } => Some((bank, offset)),
        _ => None,
    });
    for (k, slot) in inst.row().operands.iter().flat_map(|operand| operand.registers()).enumerate() {
        let constant = slot.file.constant().unwrap().0;
        let (prefix, ty) = match (slot.file, slot.span) {
            (RegFile::Gpr, 1) => ("R", "i32"),
            (RegFile::Gpr, 2) => ("R", "i64"),
            (RegFile::Pred, _) => ("P", "i1"),
            _ => {
                inst.set(slot.field, constant.into());
                continue;
            }
        };
        let number = if prefix == "R" { 16 + 4 * k as u64 } else { k as u64 % 7 };
        match slot.role {
            Role::Def if result.is_some() => {
                inst.set(slot.field, constant.into());
                continue;
            }
            Role::Def => {
                result = Some(ty);
                names.push((format!("{prefix}{number}"), "$d".to_string()));
            }
            Role::Use | Role::Update => {
                names.push((format!("{prefix}{number}"), format!("${}", operands.len())));
                operands.push(ty);
            }
        }
        inst.set(slot.field, number);
    }
    let is_name = |c: char| c.is_ascii_alphanumeric();
    let mut place = None;
    if let Some((bank, offset)) = scalar {
        inst.set(bank, 0);
        inst.set(offset, 0);
        place = Some(format!("c[${}]", operands.len()));
        operands.push("scalar");
    }
    let mut text = String::new();
    let mut rest = inst.to_string();
    rest = rest.trim_end_matches([' ', ';']).to_string();
    if let Some(place) = place {
        rest = rest.replace("c[0x0][0x0]", &place);
    }
    while !rest.is_empty() {
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len()).max(1);
        let word = &rest[..length];
        text += names.iter().find(|(name, _)| name == word).map_or(word, |(_, place)| place);
        rest = rest[length..].to_string();
    }
    Template { text, operands, result: result.unwrap_or("i32") }
}

/// A kernel that stores what an intrinsic makes of loaded operands.
fn kernel(template: &Template) -> String {
    let Template { text, operands, result } = template;
    let (mut params, mut body, mut values, mut run) = (String::new(), String::new(), Vec::new(), String::new());
    for (n, &ty) in operands.iter().enumerate() {
        if ty == "scalar" {
            params += &format!("%a{n}: i32, ");
            run += &format!(" a{n}={:#x}", 0x8765_4321_u32.rotate_left(n as u32));
            values.push(format!(", %a{n}"));
            continue;
        }
        let loaded = if ty == "i1" { "i32" } else { ty };
        params += &format!("%a{n}s: in {loaded}, ");
        body += &format!("  %a{n} = load %a{n}s[%i]\n");
        run += &format!(" a{n}s=random(64, {})", n + 1);
        if ty == "i1" {
            body += &format!("  %m{n} = icmp.lt_s.i32 %a{n}, %zero\n");
            values.push(format!(", %m{n}"));
        } else {
            values.push(format!(", %a{n}"));
        }
    }
    body += &format!("  %r = intrinsic.{result} halu \"{text}\"{}\n", values.concat());
    let (stored, out) = if *result == "i1" { ("i32", "w") } else { (*result, "r") };
    if out == "w" {
        body += "  %w = mask_expand.i32 %r\n";
    }
    format!(
        "kernel @k({params}%y: out {stored}) {{\n^entry:\n  %i = item_id\n  %zero = const.i32 0\n{body}  store %{out}, %y[%i]\n  ret\n}}\n\
         ; run: halu: @k items=64{run} y=zeros(64)\n"
    )
}

/// Intrinsics for what no idiom has, run on both sides.
fn intrinsics(reach: &mut Reach) {
    let mut random = Random(1);
    let missing = |reach: &Reach, op: Opcode| {
        let of = |feature: &Feature| {
            reach.modifiers.get(&(op.row().mnemonic, feature.text.clone())).is_some_and(Option::is_none)
        };
        let modifiers: Vec<Feature> = features(op.row()).into_iter().filter(of).collect();
        (reach.forms.iter().any(|(form, source)| *form == op && source.is_none()), modifiers)
    };
    for &op in Opcode::ALL {
        for _ in 0..4000 {
            let (form, modifiers) = missing(reach, op);
            if !form && modifiers.is_empty() {
                break;
            }
            let mut inst = Inst::random(op, &mut || random.bits());
            if !modifiers.is_empty() {
                let (field, equal, value) = modifiers[random.bits() as usize % modifiers.len()].holds;
                if equal {
                    inst.set(field, value);
                }
            }
            if !inst.is_unconditional() || !inst.is_valid() || !form && !modifiers.iter().any(|m| m.is_in(inst.word()))
            {
                continue;
            }
            let template = template(inst);
            let text = kernel(&template);
            let Some(binary) = compiled(&text, &without_passes(Target::Halu)) else { continue };
            let outcome = check("k.hb", &text, Path::new("."), &Engine::ALL);
            assert!(outcome.failures.is_none(), "{}", outcome.failures.unwrap());
            let Words::Halu(words) = &binary.code[0].words else { panic!("words of another machine") };
            for &word in words.iter().filter(|&&word| Inst::decode(word).is_some_and(|inst| inst.opcode() == op)) {
                reach
                    .note(word, || Source { text: format!("intrinsic `{}`", template.text), test: "here".to_string() });
            }
        }
    }
}

const HEAD: &str = "\
# Where every instruction of HALU can be had from

An instruction is selected from ops of the IR, or stands in an `intrinsic`. This page, which `cargo test --test reach` keeps complete, has for each form of each
mnemonic, and for each modifier of a mnemonic in any of its forms, one way to get it, and what runs it on both sides: `prove NAME` is `halfbyte prove NAME`, a file is one of
the kernels that `halfbyte check` or the text tests take, and \"here\" is the test that keeps this page.

";

fn page(reach: &Reach) -> String {
    let mut page = HEAD.to_string();
    let _ = writeln!(page, "## Forms\n\n| instruction | from | run by |\n|---|---|---|");
    let mut line = |name: &str, Source { text, test }: &Source| {
        let _ = writeln!(page, "| {name} | {} | {test} |", text.replace('|', "\\|"));
    };
    for (op, source) in &reach.forms {
        if let Some(source) = source {
            line(op.name(), source);
        }
    }
    let _ = writeln!(page, "\n## Modifiers\n\n| mnemonic | modifier | from | run by |\n|---|---|---|---|");
    let mut line = |(mnemonic, text): &(&str, String), source: &Source| {
        let [modifier, from] = [text, &source.text].map(|text| text.replace('|', "\\|"));
        let _ = writeln!(page, "| {mnemonic} | `{modifier}` | {from} | {} |", source.test);
    };
    for (key, source) in &reach.modifiers {
        if let Some(source) = source {
            line(key, source);
        }
    }
    let _ = writeln!(page, "\n## Not from text\n\n| instruction | why |\n|---|---|");
    for (name, why) in UNREACHED {
        let _ = writeln!(page, "| {name} | {why} |");
    }
    page
}

#[test]
fn every_instruction_of_halu_is_reached() {
    let mut reach = Reach::new();
    idioms(&mut reach);
    intrinsics(&mut reach);
    let forms = reach.forms.iter().filter(|(_, source)| source.is_none()).map(|(op, _)| op.name().to_string());
    let unknown = |(key, _): (&(&str, String), &Option<Source>)| format!("{} {}", key.0, key.1);
    let modifiers = reach.modifiers.iter().filter(|(_, source)| source.is_none()).map(unknown);
    let mut missing: Vec<String> = forms.chain(modifiers).collect();
    missing.sort();
    let expected: Vec<&str> = UNREACHED.iter().map(|(name, _)| *name).collect();
    assert_eq!(missing, expected);
    let (page, path) = (page(&reach), Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reach.md"));
    if std::env::var_os("HALFBYTE_BLESS").is_some() {
        fs::write(path, page).unwrap();
    } else {
        assert_eq!(fs::read_to_string(path).unwrap_or_default(), page, "docs/reach.md");
    }
}
