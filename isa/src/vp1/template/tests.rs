#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::vp1::{Opcode, fields as f};

use Placeholder::{CopiedFlags, Flags, Operand, Result as Whole, Temporary};
use RegFile::{C, R, V, Vc};

/// Parses a template and returns its bundles.
fn bundles(text: &str, result: RegFile, operands: &[RegFile]) -> Vec<Words> {
    let words = |step| match step {
        TemplateItem::Bundle(words) => Some(words),
        TemplateItem::MoveToVx(_) => None,
    };
    Template::parse(text, result, operands).unwrap().steps.into_iter().filter_map(words).collect()
}

fn slots(words: &Words) -> Vec<(u8, Field, u8, RegFile, OperandRole, Placeholder)> {
    words.slots.iter().map(|s| (s.inst, s.field, s.part, s.file, s.role, s.value)).collect()
}

#[test]
fn bundles_become_slots() {
    let text = "vmul s rn fract 0x0 hi # s $0 s $1; vmac s rn fract 0x0 hi $d s $2 s $0;";
    assert_eq!(Template::parse(text, V, &[V; 3]).unwrap().temporaries, 0);
    let bundles = bundles(text, V, &[V; 3]);
    let opcodes: Vec<_> = bundles.iter().map(|words| words.insts[0].opcode()).collect();
    assert_eq!(opcodes, [Opcode::VMUL_S_RR_VA, Opcode::VMAC_S_RR]);
    assert_eq!(
        slots(&bundles[1]),
        [
            (0, f::DST, 0, V, OperandRole::Def, Whole),
            (0, f::SRC1, 0, V, OperandRole::Use, Operand(2)),
            (0, f::SRC2, 0, V, OperandRole::Use, Operand(0)),
        ]
    );
}

#[test]
fn words_of_a_bundle_share_it() {
    let text = "vand $t0 $vc1 $1 0x0; bvec $0 $vc1 zf 0x0 & vmad2 u factor rd int -0x1 lo $d u $1d u $3";
    let bundles = bundles(text, V, &[R, V, V, V]);
    let [flags, both] = &bundles[..] else { panic!() };
    assert_eq!(slots(flags)[1], (0, f::CDST, 0, Vc, OperandRole::Def, Flags(1)));
    assert_eq!(both.insts.len(), 2);
    assert_eq!(
        slots(both),
        [
            (0, f::SRC1, 0, R, OperandRole::Use, Operand(0)),
            (0, f::VCIDX, 0, Vc, OperandRole::Use, Flags(1)),
            (1, f::DST, 0, V, OperandRole::Def, Whole),
            (1, f::SRC1, 0, V, OperandRole::Use, Operand(1)),
            (1, f::SRC1, 1, V, OperandRole::Use, Operand(2)),
            (1, f::SRC2, 0, V, OperandRole::Use, Operand(3)),
        ]
    );
}

#[test]
fn flags_that_are_not_read_are_no_slots() {
    // An instruction that uses masks reads no flags, and a selection by a bit that is always true
    // reads no `$c` register.
    let text = "vec 0x1e 0x0 $vc2 sf 0x0 & vmad2 u mask rd int 0x0 hi $d u $0d u $1";
    assert!(bundles(text, V, &[V, V])[0].slots.iter().all(|slot| slot.file == V));
    let chosen = bundles("add $d $0 (slct $c3 true $1d)", R, &[R; 3]);
    let parts: Vec<_> = chosen[0].slots.iter().map(|s| (s.field, s.part, s.value)).collect();
    assert_eq!(
        parts,
        [(f::DST, 0, Whole), (f::SRC1, 0, Operand(0)), (f::SRC2, 0, Operand(1)), (f::SRC2, 1, Operand(2))]
    );
    let compared = bundles("vcmpad 0xc $vc0 $0d $1; mov $t0 $vc; mov $d $t0 0x0", R, &[V, V]);
    assert_eq!(compared[0].slots[0].role, OperandRole::Def);
}

#[test]
fn flags_choose_registers() {
    let text = "sub 0x0 $c2 $0 0x5; min $d $0 (slct $c2 b20 $0q); mov $t0 0x7; sethi $t0 0x10000; add $d $d $t0";
    let bundles = bundles(text, R, &[R; 4]);
    let chosen = &bundles[1];
    let quad: Vec<_> = chosen.slots.iter().filter(|s| s.field == f::SRC2).map(|s| (s.part, s.value)).collect();
    assert_eq!(quad, [0, 1, 2, 3].map(|n| (n, Operand(n))));
    assert_eq!(slots(chosen).last().unwrap(), &(0, f::COND, 0, C, OperandRole::Use, Flags(2)));
    assert_eq!(slots(&bundles[3]), [(0, f::DST, 0, R, OperandRole::Update, Temporary(0))]);
    // A write to `$r31` is discarded, so it needs no register slot.
    assert_eq!(bundles[0].slots[0].field, f::CDST);
    assert_eq!(bundles[0].insts[0].get(f::DST), 31);
}

#[test]
fn copied_flags_are_read_word_by_word() {
    let text = "vsub u $t1 $vc3 $0 $1; mov $t0 $vc; mov $d $t0 0x3";
    assert_eq!(Template::parse(text, R, &[V, V]).unwrap().temporaries, 2);
    let bundles = bundles(text, R, &[V, V]);
    let copied = CopiedFlags { flags: 3, copy: 0 };
    assert_eq!(slots(&bundles[2])[2], (0, f::VWORD, 0, Vc, OperandRole::Use, copied));
    assert_eq!(bundles[2].insts[0].get(f::VWORD), 3);
}

#[test]
fn spread_flags_may_be_of_a_pair() {
    let text = "vsub u $t0 $vc2 $0 $1; vsub u $t0 $vc3 $1 $0; \
                vec 0x10 0x20 $vc2 sf 0x7 & vmac2 u factor rn int 0x0 hi $d u $0d";
    let refused = Template::parse(text, V, &[V, V]).unwrap_err();
    assert_eq!(refused.kind, TemplateErrorKind::Accumulator("vmac2"));
    let text = text.replace("; vec", "; vmul u rn int 0x0 hi $t0 u $0 u $1; vec");
    let spread: Vec<_> = bundles(&text, V, &[V, V])[3].slots[..2].iter().map(|s| (s.field, s.part, s.value)).collect();
    assert_eq!(spread, [(f::VCIDX, 0, Flags(2)), (f::VCIDX, 1, Flags(3))]);
}

/// In `vmac2` with two registers, other fields share all bits of the second register's number and thus determine it.
#[test]
fn accepts_a_register_number_shared_with_other_fields() {
    for (text, number) in [("rd int 0x0 hi", 0), ("rd int 0x1 hi", 2), ("rn fract -0x2 lo", 29), ("rn int -0x1 lo", 31)]
    {
        let text = format!(
            "vmul s rn int 0x0 hi # s $0 s $1; vec 0x2 0x4 $vc0 sf 0x0 & vmac2 s mask {text} $d u $1 $0; vand $d $d 0x1"
        );
        let bundles = bundles(&text, V, &[V, V]);
        let inst = bundles[1].insts[1];
        assert_eq!((inst.opcode(), inst.get(f::SRC3)), (Opcode::VMAC2_S_RR, number), "{text}");
        assert!(inst.shares(f::SRC3) && !inst.shares(f::SRC1));
        let read: Vec<_> = slots(&bundles[1])[1..].iter().map(|slot| (slot.1, slot.5)).collect();
        assert_eq!(read, [(f::SRC1, Operand(1)), (f::SRC3, Operand(0))], "{text}");
    }
}

#[test]
fn a_value_goes_to_the_extra_register() {
    let text = "mov  $vx\t$4; vsub u $t0 $vc0 $0 $1; xor $t1 $c2 $5 $5; vmul s rn fract 0x0 hi # u $0 u $1; \
                bvec $5 $vc0 sf 0x0 & vlrp4b";
    for (bit, parts) in [("b20", 4), ("zf", 2), ("true", 2), ("false", 1)] {
        let text = format!("{text} u rn -0x2 $d $0q $c2 $c2 {bit} $vc0 zf");
        let template = Template::parse(&text, V, &[V, V, V, V, V, R]).unwrap();
        assert!(matches!(template.steps[0], TemplateItem::MoveToVx(Operand(4))), "{text}");
        let Some(TemplateItem::Bundle(words)) = template.steps.last() else { panic!() };
        let of_field = |field| words.slots.iter().filter(|slot| slot.inst == 1 && slot.field == field).count();
        assert_eq!(of_field(f::SRC1), parts, "{text}");
        assert_eq!(of_field(f::COND), usize::from(matches!(bit, "b20" | "zf")), "{text}");
    }
}

/// Parses an invalid template. Returns the error message, and the part of the text to which the error points.
fn refused(text: &str, result: RegFile, operands: &[RegFile]) -> (String, String) {
    let error = Template::parse(text, result, operands).unwrap_err();
    let found = text[error.span.clone()].to_string();
    if let TemplateErrorKind::Asm(asm) = &error.kind {
        assert!(found.contains(&asm.found), "{error}");
    }
    (error.to_string(), found)
}

#[test]
fn what_does_not_fit_is_refused() {
    let vector = |text: &str| refused(text, V, &[V, V]);
    let with = |text: &str, message: &str, found: &str| {
        assert_eq!(vector(text), (message.to_string(), found.to_string()), "{text}");
    };
    with("vadd s $d $0 $v7", "register `$v7` is not allowed: use `$d`, `$0`, `$1`, ... and `$t0`, `$t1`, ...", "$v7");
    with(
        "add $r31 $r2d 0x0",
        "register `$r31` is not allowed: use `$d`, `$0`, `$1`, ... and `$t0`, `$t1`, ...",
        "$r31",
    );
    let operands = "`$d` is the result, `$0` to `$1` the operands, `$t0`, `$t1`, ... are temporary";
    with("vadd s $d $0 $2", &format!("`$2` is not a valid placeholder: {operands}"), "$2");
    with("vlrp rn 0x0 $d $1d $0", &format!("`$1d` is not a valid placeholder: {operands}"), "$1d");
    with("vadd s $d $0 $t", &format!("`$t` is not a valid placeholder: {operands}"), "$t");
    with("vadd s $d $0 $0", "operand `$1` is not used", "vadd s $d $0 $0");
    with("vadd s $t0 $0 $1", "the result `$d` is not written", "");
    with("vadd s $0 $0 $1", "cannot write operand `$0`; copy it to a temporary", "$0");
    with("vadd s $d $0 $t1", "`$t1` is read before it is written", "$t1");
    with("vadd s $d $d $1", "`$d` is read before it is written", "$d");
    with("mov $d 0x0 $t0", "`$d` is read before it is written", "$d");
    with("vadd s $d $0", "too few operands: v2 is missing", "");
    with("vadd9 $d $0 $1 0x1", "`0x1`: v3 must be a `$v`", "0x1");
    with("vadx s $d $0 $1", "`vadx`: unknown instruction", "vadx");
    with(".word 0xbfffffff", "`.word`: unknown instruction", ".word");
    with(
        "vadd s $dd $0 $1",
        "`$dd`: malformed register, expected `$`, the name of a file, a number, and `d` of a pair or `q` of a quad",
        "$dd",
    );
    with("vcmpad 0x3 $0d $1; vadd s $d $0 $1", "`vcmpad` has no effect", "vcmpad 0x3 $0d $1");
    with("mov 0x0 0x5; vadd s $d $0 $1", "`mov` has no effect", "mov 0x0 0x5");
    let missing = "missing instruction: `;` separates bundles and `&` separates the instructions of a bundle";
    with("", missing, "");
    with("vadd s $d $0 $1; ; vadd s $d $0 $1", missing, "");
    with("vadd s $d $0 $1 &", missing, "");
    let order = "a bundle has at most one instruction of the scalar unit and one of the vector unit, in this order";
    with("vadd s $d $0 $1 & vadd s $t0 $0 $1", order, "vadd s $t0 $0 $1");
    with("vadd s $d $0 $1 & mov $t0 0x0", order, "mov $t0 0x0");
    with(
        "ldvh $d $a0 0x0",
        "`ldvh` is an instruction of the address or branch unit: an intrinsic may use only the scalar and vector units",
        "ldvh $d $a0 0x0",
    );
    with(
        "exit 0x0",
        "`exit` is an instruction of the address or branch unit: an intrinsic may use only the scalar and vector units",
        "exit 0x0",
    );
    with("snop & vadd s $d $0 $1", "`snop` has no effect", "snop");
    with("vadd s $d $0 $1; vnop", "`vnop` has no effect", "vnop");
    with(
        "mov $t0 $m3; mov $t1 $0 0x0",
        "`mov` accesses `$m`: an intrinsic may use `$r`, `$v`, `$c`, `$vc` and `$va` only",
        "mov $t0 $m3",
    );
    with(
        "mov $uccfg 0x0",
        "`mov` accesses `$uc`: an intrinsic may use `$r`, `$v`, `$c`, `$vc` and `$va` only",
        "mov $uccfg 0x0",
    );
    with(
        "vmac s rn int 0x0 hi $d s $0 s $1",
        "`vmac` reads `$va`, which the previous bundle does not write",
        "vmac s rn int 0x0 hi $d s $0 s $1",
    );
    let late = "vmul s rn int 0x0 hi # s $0 s $1; mov $t0 0x1; vmac s rn int 0x0 hi $d s $0 s $1";
    assert_eq!(vector(late).0, "`vmac` reads `$va`, which the previous bundle does not write");
    with("vmul s rn int 0x0 hi # s $0 s $1", "the result `$d` is not written", "");
    with(
        "bvec 0x0 $vc1 sf 0x0 & vmad2 s factor rn int 0x0 hi $d s $0d s $0",
        "`$vc1` is read before it is written",
        "$vc1",
    );
    let forwarded = "needs factors or flags from a scalar instruction in the same bundle";
    assert_eq!(vector("vmad2 s factor rn int 0x0 hi $d s $0d s $0").0, format!("`vmad2` {forwarded}"));
    assert_eq!(vector("mov $t0 0x0 & vmad2 s mask rn int 0x0 hi $d s $0d s $0").0, format!("`vmad2` {forwarded}"));
    assert_eq!(vector("vcmpad 0x2 $vc0 $0d $0; vand $d $0 0x0").0, format!("`vcmpad` {forwarded}"));
    let chosen = "vand $d $vc0 $0 0x0; vec 0x0 0x0 $vc0 sf 0x0 & vlrp2 u rn 0x0 $d u $0q $c1 $vc0 sf";
    let quad = || refused(chosen, V, &[V; 4]);
    assert_eq!(quad(), ("`$c1` is read before it is written".to_string(), "$c1".to_string()));
    let last = "vec 0x0 0x0 $vc0 sf 0x0 & vlrp4b u rd 0x0 $d $0q $c0 $c0 false $vc0 zf";
    assert_eq!(refused(last, V, &[V; 4]).0, "`$vx` is read before it is written");
    let summed = format!("vmul s rn int 0x0 hi # s $0 s $1; mov $vx $2; {last}");
    let flagged = format!("vsub u $t0 $vc0 $0 $1; {summed}");
    assert_eq!(refused(&flagged, V, &[V; 4]).0, "`vlrp4b` reads `$va`, which the previous bundle does not write");
    let summed = format!("mov $vx $2; vmul s rn int 0x0 hi # s $0 s $1; {last}");
    assert_eq!(refused(&summed, V, &[V; 4]).0, "`$vc0` is read before it is written");
    let conditions = summed.replace("$c0 $c0 false", "$c0 $c1 false");
    assert_eq!(refused(&conditions, V, &[V; 4]).0, "`$c0`: another part of the line sets COND to a different value");
    let extra = "`mov $vx` takes one vector and must be alone in its bundle";
    with("mov $vx $0 & vadd s $d $0 $1", extra, "mov $vx $0");
    with("mov $t0 0x1 & mov $vx $0; vadd s $d $0 $1", extra, "mov $vx $0");
    with("mov $vx 0x0; vadd s $d $0 $1", extra, "0x0");
    with("mov $vx; vadd s $d $0 $1", extra, "");
    with("mov $vx $0d; vadd s $d $0 $1", extra, "$0d");
    with("mov $vx $0 $1; vadd s $d $0 $1", extra, "$0 $1");
    with("mov $vx $t0; vadd s $t0 $0 $1", "`$t0` is read before it is written", "$t0");
    with(
        "mov $t0 0x1; mov $vx $t0; vadd s $d $0 $1",
        "`$t0` is in a register file that this instruction does not accept",
        "$t0",
    );
    let copied = "`$t0` holds a copy of all `$vc` registers: read its 32-bit words with `mov`";
    with("mov $t0 $vc; mov $vx $t0; vadd s $d $0 $1", copied, "$t0");
    with(
        "mov $t0 $vc; vadd s $d $t0 $0",
        "`$t0` holds a copy of all `$vc` registers: read its 32-bit words with `mov`",
        "$t0",
    );
    with("mov $d $vc", "`$d` holds a copy of all `$vc` registers: read its 32-bit words with `mov`", "$d");
    with("mov $t0 $vc; mov $t1 $t0 0x2", "`$vc2` is read before it is written", "$t0");
    with("vmov $t0 0x1; mov $t0 0x1 0x0 & vmov $t0 0x1", "`$t0` is written twice in one bundle", "$t0");
    let sums = "vmul s rn int 0x0 hi # s $0 s $1; vec 0x2 0x4 $vc0 sf 0x0 & vmac2 s mask rn int -0x2 hi $d u";
    with(&format!("{sums} $0 $t0"), "`$t0` is read before it is written", "$t0");
    with(
        &format!("{sums} $0 $v28"),
        "register `$v28` is not allowed: use `$d`, `$0`, `$1`, ... and `$t0`, `$t1`, ...",
        "$v28",
    );
    with(
        "vec 0x2 0x4 $vc0 sf 0x0 & vmac2 s mask rn int -0x2 hi $d u $0 $1",
        "`vmac2` reads `$va`, which the previous bundle does not write",
        "vec 0x2 0x4 $vc0 sf 0x0 & vmac2 s mask rn int -0x2 hi $d u $0 $1",
    );
    with("vadd s $d $0 $t31", "more than 31 values: the result, the operands and `$t0` to the last temporary", "$t31");

    let scalar = |text: &str| refused(text, R, &[R, V]);
    assert_eq!(
        scalar("add $d $0 $1"),
        ("`$1`: r2 must be a `$r`, or `(slct $cN bit $rNd)` or an integer".into(), "$1".into())
    );
    assert_eq!(
        scalar("add $d $0 (slct $c0 true $0d)").0,
        "`$1` is in a register file that this instruction does not accept"
    );
    assert_eq!(
        scalar("add $t0 $c1 $0 0x1; mov $d $c1").0,
        "this instruction reads flags of `$c1` that the scalar unit does not write"
    );
    assert_eq!(
        scalar("add $t0 $c1 $0 0x1; add $d $0 (slct $c1 lzf $t0d)").0,
        "this instruction reads flags of `$c1` that the scalar unit does not write"
    );
    assert_eq!(scalar("add $d $0 (slct $c1 sf $t0d)"), ("`$c1` is read before it is written".into(), "$c1".into()));
    assert_eq!(refused("mov $d 0x5", R, &[R]).0, "operand `$0` is not used");
    assert_eq!(
        refused("mov $d $1", R, &[]).0,
        "`$1` is not a valid placeholder: `$d` is the result, there are no operands, `$t0`, `$t1`, ... are temporary"
    );
    assert!(refused("mov $d 0x5", R, &[R; 31]).0.starts_with("more than 31 values: the result, the operands"));
    assert!(Template::parse("mov $d 0x5", R, &[]).is_ok());
}

#[test]
fn any_text_is_read_or_refused() {
    let texts = [
        "vand $t0 $vc1 $1 0x0; bvec $0 $vc1 zf 0x0 & vmad2 u factor rd int -0x1 lo $d u $1d u $3",
        "sub 0x0 $c2 $0 0x5; min $t4 $0 (slct $c2 b20 $0q); mov $t0 $vc; mov $t9 $t0 0x1; vmov $d 0x1",
    ];
    let pieces = [
        "$",
        "$d",
        "$t",
        "$0q",
        "$4294967296",
        "$t99999999999999999999",
        "é",
        ";",
        "&",
        "(",
        ")",
        " ",
        "0x",
        "vc",
        "#",
        "$vc7",
    ];
    let mut seed = 1u64;
    for _ in 0..20_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = |n: u64, range: usize| (seed >> (7 * n + 5)) as usize % range;
        let mut text = texts[at(0, texts.len())].to_string();
        let (from, count) = (at(1, text.len()), at(2, 4));
        text.replace_range(from..(from + count).min(text.len()), pieces[at(3, pieces.len())]);
        if let Err(error) = Template::parse(&text, V, &[R, V, V, V]) {
            assert!(text.get(error.span.clone()).is_some(), "{text}: {error:?}");
        }
    }
}
