//! Sources from which HALU instructions are generated: witnesses of rules, text tests and examples.
//! For all other instructions, the source is a random intrinsic.

use std::fmt::Write;
use std::path::Path;

use halfbyte::Target;
use halfbyte::ir::witness::Random;
use halfbyte::isa::halu::{Inst, Opcode};
use halfbyte::isa::isa::SharedCode;
use halfbyte::isa::row::{OperandKind, OperandRole, RegFile, Row};
use halfbyte::launch::Engine;
use halfbyte_testkit::check::check;

use super::{Isa, Reach, SourceOption, Unreached, compiled, halu_groups};
use crate::support::{with_passes, without_passes};

/// HALU, as an instruction set of this test.
pub struct Halu;

impl Isa for Halu {
    type Opcode = Opcode;
    const TARGET: Target = halfbyte::HALU;
    const NAME: &str = "HALU";

    fn opcodes() -> impl Iterator<Item = Opcode> {
        Opcode::ALL.iter().copied()
    }
    fn name(op: Opcode) -> &'static str {
        op.name()
    }
    fn row(op: Opcode) -> &'static Row {
        op.row()
    }
    fn opcode(word: u128) -> Option<Opcode> {
        Inst::decode(word).map(|inst| inst.opcode())
    }
    fn words(words: &SharedCode) -> Vec<u128> {
        words.downcast_ref::<halfbyte::isa::halu::HaluCode>().unwrap().0.clone()
    }
}

/// Instructions that no source generates, with the reasons.
const UNREACHED: &[Unreached] = &[
    ("LDC_32", "the IR has no tables in constant memory; parameters are read as `c[...]` operands"),
    ("LDC_64", "the same"),
    ("NOP", "it has no effect"),
    ("P2R", "predicates are values of their own; none is packed into a register"),
    ("R2P", "the same"),
    ("R2UR", "uniform registers hold the addresses of buffers, which are parameters"),
    ("ULDC_32", "the same"),
];

/// Returns a kernel with accesses at computed addresses and with narrow parameters. No witness has
/// either of these.
fn pointers(ty: &str) -> String {
    format!(
        "kernel @k(%x: in {ty}, %m: i16, %n: i16, %y: out {ty}) {{\n^entry:\n  %i = item_id\n  %s = const.i32 16\n  \
         %d = mul_wide_u.i32 %i, %s\n  %p = ptr_add %x, %d\n  %q = ptr_add %y, %d\n  %w = zext.i32 %n\n  \
         %a = load.{ty} %p[%w]\n  store.{ty} %a, %q\n  ret\n}}\n; run: halu: @k items=4 m=2 n=1 x=random(80, 1) y=zeros(80)\n"
    )
}

/// Returns a kernel with a narrow load at a computed address, whose result is sign-extended.
fn signed(ty: &str) -> String {
    format!(
        "kernel @k(%x: in {ty}, %y: out i32) {{\n^entry:\n  %i = item_id\n  %s = const.i32 4\n  %d = mul_wide_u.i32 %i, %s\n  \
         %p = ptr_add %x, %d\n  %a = load.{ty} %p\n  %b = sext.i32 %a\n  store %b, %y[%i]\n  ret\n}}\n\
         ; run: halu: @k items=4 x=random(80, 1) y=zeros(4)\n"
    )
}

/// Returns a kernel with more live values of a type than there are registers.
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

/// Records kernels whose instructions neither witnesses nor files generate.
fn more(reach: &mut Reach<Halu>) {
    let more = ["i8", "i16", "i32", "i64", "i8x16"].map(pointers).into_iter();
    let more = more.chain(["i8", "i16"].map(signed));
    let more = more.chain(halu_groups::kernels());
    for text in more.chain([spilling("i32", 300), spilling("i64", 150), spilling("i8x16", 80)]) {
        let binary = compiled(&text, &with_passes(halfbyte::HALU)).unwrap();
        let outcome = check("k.hb", &text, Path::new("."), &Engine::ALL);
        assert!(outcome.failures.is_none(), "{}", outcome.failures.unwrap());
        reach.note_all(&binary, &text, "here");
    }
}

/// An instruction as an intrinsic: the template, the types of its operands, and the type of its result.
struct Template {
    text: String,
    operands: Vec<&'static str>,
    result: &'static str,
}

/// Returns the template of an intrinsic for an instruction, with placeholders in place of registers.
fn template(mut inst: Inst) -> Template {
    let (mut names, mut operands, mut result) = (Vec::new(), Vec::new(), None);
    let scalar = inst.row().operands.iter().find_map(|operand| match operand.kind {
        OperandKind::Const { bank, offset, align: 4 } => Some((bank, offset)),
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
            OperandRole::Def if result.is_some() => {
                inst.set(slot.field, constant.into());
                continue;
            }
            OperandRole::Def => {
                result = Some(ty);
                names.push((format!("{prefix}{number}"), "$d".to_string()));
            }
            OperandRole::Use | OperandRole::Update => {
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

/// Returns a kernel that stores the result of an intrinsic on loaded operands.
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

/// Records intrinsics for the instructions that no rule generates, and compares the result of each
/// intrinsic with the evaluator.
fn intrinsics(reach: &mut Reach<Halu>) {
    let mut random = Random(1);
    for &op in Opcode::ALL {
        for _ in 0..4000 {
            let (form, modifiers) = reach.missing_of(op);
            if !form && modifiers.is_empty() {
                break;
            }
            let mut inst = Inst::random(op, &mut || random.bits());
            if !modifiers.is_empty()
                && let Some((field, value)) = modifiers[random.bits() as usize % modifiers.len()].set()
            {
                inst.set(field, value);
            }
            if !inst.is_unconditional() || !inst.is_valid() || !form && !modifiers.iter().any(|m| m.is_in(inst.word()))
            {
                continue;
            }
            let template = template(inst);
            let text = kernel(&template);
            let Some(binary) = compiled(&text, &without_passes(halfbyte::HALU)) else { continue };
            let outcome = check("k.hb", &text, Path::new("."), &Engine::ALL);
            assert!(outcome.failures.is_none(), "{}", outcome.failures.unwrap());
            for word in Halu::words(&binary.code[0].words).into_iter().filter(|&word| Halu::opcode(word) == Some(op)) {
                reach.note(word, || SourceOption {
                    text: format!("intrinsic `{}`", template.text),
                    test: "here".to_string(),
                });
            }
        }
    }
}

#[test]
fn every_instruction_of_halu_is_reached() {
    let mut reach = Reach::<Halu>::new();
    reach.idioms(more);
    intrinsics(&mut reach);
    reach.is_complete(UNREACHED, "reach/halu.md");
}
