//! Tests of scalar video instructions. Valid and invalid texts are compared with `ptxas`, and
//! results are tested at the edges of the ranges. The vectors in `tests/vectors/ptx-video.jsonl.gz`
//! test all forms.

use std::collections::HashSet;

use halfbyte_isa::ptx::text::read;

use crate::ptx_meaning::same;
use crate::ptx_text::{SM_90, kernel};
use crate::random::Random;

const REGISTERS: &str = ".reg .b32 %r<4>; .reg .u32 %u<2>; .reg .s32 %s<2>; .reg .f32 %f<2>; .reg .b16 %h<2>; .reg .b64 %d<2>; .reg .pred %p<2>;\n";

/// Returns the printed form of an instruction, or the first error.
fn printed(line: &str) -> Result<String, String> {
    let text = read(&kernel(&format!("{REGISTERS}{line}"))).map_err(|errors| errors[0].to_string())?.module.to_string();
    Ok(text.lines().rev().nth(1).unwrap_or_default().trim().to_owned())
}

#[test]
fn parts_and_signs_are_read_and_printed() {
    for (line, expected) in [
        ("vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h0;", ""),
        ("vadd.sat.s32.u32.s32 %r1, %r2.b0, %r3.h0;", "vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h0;"),
        ("vadd.min.s32.u32.s32 %s1, %u0, %r3 .h1, -1;", "vadd.s32.u32.s32.min %s1, %u0, %r3.h1, -1;"),
        ("vadd.u32.u32.u32 %r1, %r2, %r3, %r0;", ""),
        ("vsub.u32.s32.u32 %r1.b3, 7, -1, %r0;", "vsub.u32.s32.u32 %r1.b3, 7, 4294967295, %r0;"),
        ("vabsdiff.s32.s32.s32.sat %r1.h0, %r2.b0, %r3.b2, 0;", ""),
        ("@!%p1 vmax.u32.u32.u32.max %r1, %r2.b1, 1+2, WARP_SZ;", "@!%p1 vmax.u32.u32.u32.max %r1, %r2.b1, 3, 32;"),
        ("vshl.clamp.u32.u32.u32.add %r1, %r2, %r3, %r0;", "vshl.u32.u32.u32.clamp.add %r1, %r2, %r3, %r0;"),
        ("vshr.s32.s32.u32.wrap.sat %r1.h1, %r2, 4, %r0;", "vshr.s32.s32.u32.sat.wrap %r1.h1, %r2, 4, %r0;"),
        ("vset.ge.u32.s32.max %r1, %r2.b3, %r3.b3, 1;", "vset.u32.s32.ge.max %r1, %r2.b3, %r3.b3, 1;"),
        ("vset.u32.s32.ne %r1.b2, %r2, %r3, %r0;", ""),
        ("vmad.s32.u32.u32 %r1, -%r2.h0, %r3, %r0;", ""),
        ("vmad.s32.u32.u32 %r1, - %r2, -%r3.b1, - %r0;", "vmad.s32.u32.u32 %r1, -%r2, -%r3.b1, -%r0;"),
        ("vmad.shr7.sat.po.u32.u32.u32 %r1, -%r2, -%r3, %r0;", "vmad.u32.u32.u32.po.sat.shr7 %r1, -%r2, -%r3, %r0;"),
        ("vmad.u32.u32.u32 %r1, %r2, -3, -%r0;", "vmad.u32.u32.u32 %r1, %r2, 4294967293, -%r0;"),
    ] {
        let once = printed(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(once, if expected.is_empty() { line } else { expected });
        assert_eq!(printed(&once), Ok(once.clone()));
    }
}

#[test]
fn invalid_parts_and_signs_are_errors() {
    const A: &str = "operand `a` of `vadd` must be a register or a number of type .u32; a register may have a selector such as `.b0`";
    const SIGNS: &str =
        "must be without a minus sign: either the product or `c` can be negated, and neither of them with `.po`";
    for (line, expected) in [
        ("vadd.u32.u32.u32 %r1, %r2.b4, %r3;", format!("7:23: {A}")),
        ("vadd.u32.u32.u32 %r1, %r2.b10, %r3;", format!("7:23: {A}")),
        ("vadd.u32.u32.u32 %r1, %h1, %r3;", format!("7:23: {A}")),
        ("vadd.u32.u32.u32 %r1, -%r2, %r3;", format!("7:23: {A}")),
        ("vadd.u32.u32.u32 %r1, -%r2.b0, %r3;", format!("7:23: {A}")),
        ("vadd.u32.u32.u32 %f1, %r2, %r3;", "7:18: operand `d` of `vadd` must be a register of type .u32".into()),
        (
            "vadd.u32.u32.u32 %r1.b5, %r2, %r3, %r0;",
            "7:18: operand `d` of `vadd` must be a register of type .u32; a register may have a selector such as `.b0`"
                .into(),
        ),
        ("vadd.u32.u32.u32 %r1.b0, %r2, %r3;", "7:18: operand `d` of `vadd` must be a register of type .u32".into()),
        ("vadd.u32.u32.u32.add %r1, %r2, %r3;", "7:35: `vadd` takes 4 operands; found 3".into()),
        (
            "vadd.u32.u32.u32.add %r1.b0, %r2, %r3, %r0;",
            "7:22: operand `d` of `vadd` must be a register of type .u32".into(),
        ),
        (
            "vadd.u32.u32.u32.add %r1, %r2, %r3, %r0.b0;",
            "7:37: operand `c` of `vadd` must be a register or a number of type .u32".into(),
        ),
        ("vadd.u32.u32.u32.add.min %r1, %r2, %r3, %r0;", "7:21: modifier `.min` is not allowed here in `vadd`".into()),
        ("vadd.u32.u32.b32 %r1, %r2, %r3;", "7:13: modifier `.b32` is not allowed here in `vadd`".into()),
        ("vadd.u32.u32 %r1, %r2, %r3;", "7:13: `vadd` is missing a modifier for the type of b here".into()),
        ("vadd.u32.u32.u32.po %r1, %r2, %r3;", "7:17: modifier `.po` is not allowed here in `vadd`".into()),
        ("vshl.u32.u32.u32 %r1, %r2, %r3;", "7:17: `vshl` is missing a modifier for the shift count here".into()),
        ("vshr.u32.u32.s32.wrap %r1, %r2, %r3;", "7:13: modifier `.s32` is not allowed here in `vshr`".into()),
        ("vset.u32.u32.lo %r1, %r2, %r3;", "7:13: modifier `.lo` is not allowed here in `vset`".into()),
        ("vset.u32.u32.lt.sat %r1, %r2, %r3;", "7:16: modifier `.sat` is not allowed here in `vset`".into()),
        (
            "vmad.u32.u32.u32 %r1.h0, %r2, %r3, %r0;",
            "7:18: operand `d` of `vmad` must be a register of type .u32".into(),
        ),
        (
            "vmad.u32.u32.u32 %r1, %r2, %r3, -%r0.b0;",
            "7:33: operand `c` of `vmad` must be a register or a number of type .u32; a register may have a minus sign"
                .into(),
        ),
        ("vmad.u32.u32.u32 %r1, %r2, %r3, -%p1;", "operand `c` of `vmad`".into()),
        ("vmad.u32.u32.u32 %r1, -%r2, %r3, -%r0;", format!("7:34: operand `c` of `vmad` {SIGNS}")),
        ("vmad.u32.u32.u32.po %r1, %r2, -%r3.b0, %r0;", format!("7:31: operand `b` of `vmad` {SIGNS}")),
        ("vmad.u32.u32.u32.po %r1, -%r2, -%r3, -%r0;", format!("7:38: operand `c` of `vmad` {SIGNS}")),
        ("vmad.u32.u32.u32.add %r1, %r2, %r3, %r0;", "7:17: modifier `.add` is not allowed here in `vmad`".into()),
        ("vmad.u32.u32.u32 %r1, --%r2, %r3, %r0;", "expected a number; found `%r2`".into()),
        ("vmad.u32.u32.u32 %r1, -p0, %r3, %r0;", "7:24: expected a register or a number; found `p0`".into()),
        ("vmad.u32.u32.u32 %r1, -%r9, %r3, %r0;", "7:24: expected a register or a number; found `%r9`".into()),
        ("add.s32 %r1, -%r2, %r3;", "7:14: operand `a` of `add` must be a register or a number of type .s32".into()),
        ("vadd4.u32.u32.u32 %r1, -%r2.b3210, %r3, %r0;", "operand `a` of `vadd4`".into()),
    ] {
        let found = printed(line).expect_err(line);
        assert!(found.contains(&expected), "{line}: {found}");
    }
}

/// Returns a random scalar video instruction, some of whose modifiers and operands are invalid.
fn random_line(random: &mut Random) -> String {
    let one_of = |random: &mut Random, all: &[&'static str]| all[random.next() as usize % all.len()];
    // Returns an entry of `valid`, or with a probability of 1/12 an entry of `others`.
    let mostly = |random: &mut Random, valid: &[&'static str], others: &[&'static str]| match random.next() % 12 {
        0 => one_of(random, others),
        _ => one_of(random, valid),
    };
    const SELECTORS: &[&str] = &["", "", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"];
    const NO_SELECTORS: &[&str] = &[".h2", ".b4", ".b10", ".h10", ".x"];
    let mnemonics = ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset", "vmad", "vmad"];
    let mnemonic = one_of(random, &mnemonics);
    let (is_shift, is_mad) = (mnemonic.starts_with("vsh"), mnemonic == "vmad");
    let types = [".u32", ".s32"];
    let mut words = vec![mostly(random, &types, &["", ".b32"]), one_of(random, &types)];
    if mnemonic != "vset" {
        words.push(if is_shift { mostly(random, &[".u32"], &[".s32"]) } else { mostly(random, &types, &[""]) });
    }
    let second =
        if is_mad { mostly(random, &[""], &[".add"]) } else { one_of(random, &["", "", ".add", ".min", ".max"]) };
    let sat = if mnemonic == "vset" { mostly(random, &[""], &[".sat"]) } else { one_of(random, &["", ".sat"]) };
    let special = match mnemonic {
        _ if is_shift => mostly(random, &[".clamp", ".wrap"], &["", ".po"]),
        "vset" => mostly(random, &[".lt", ".ne", ".ge"], &[""]),
        _ if is_mad => one_of(random, &["", ".po", ".shr7", ".shr15"]),
        _ => mostly(random, &[""], &[".clamp", ".shr7", ".lt"]),
    };
    words.extend([second, sat, special]);
    let merges = if is_mad || !second.is_empty() {
        mostly(random, &[""], SELECTORS)
    } else {
        mostly(random, SELECTORS, NO_SELECTORS)
    };
    let mut operands = vec![mostly(random, &["%r1", "%u1", "%s1"], &["%f1", "%r0"]).to_owned() + merges];
    for i in 0..2 {
        // `ptxas` accepts two negated sources in every instruction. Therefore, both sources are
        // negated only in `vmad`.
        let sign = match i {
            _ if is_mad => one_of(random, &["", "", "-"]),
            0 => mostly(random, &[""], &["-"]),
            _ => "",
        };
        operands.push(match mostly(random, &["%r2", "%u0", "%s0", "7", "-5"], &["%h0", "%f0", "%d0"]) {
            // These operands get no selector, because a selector would be a syntax error. After a
            // syntax error, `ptxas` reports no other error.
            plain @ ("7" | "-5" | "%h0" | "%d0") => plain.to_owned(),
            reg => [sign, reg, mostly(random, SELECTORS, NO_SELECTORS)].concat(),
        });
    }
    let has_third = is_mad || !second.is_empty() || !merges.is_empty();
    if has_third != (random.next().is_multiple_of(12)) {
        let sign = if is_mad { one_of(random, &["", "", "-"]) } else { mostly(random, &[""], &["-"]) };
        let selector = mostly(random, &[""], &[".b0"]);
        operands.push(match one_of(random, &["%r3", "%u1", "-5"]) {
            "-5" => "-5".to_owned(),
            reg => [sign, reg, selector].concat(),
        });
    }
    format!("{mnemonic}{} {};", words.concat(), operands.join(", "))
}

/// The parser accepts exactly those scalar video instructions that `ptxas` accepts.
#[test]
fn accepts_the_scalar_video_instructions_of_ptxas() {
    let Some(ptxas) = crate::ptx::ptxas() else { return };
    let mut random = Random(11);
    let (mut accepted, mut differ) = (0, Vec::new());
    for _ in 0..8 {
        let lines: Vec<String> = (0..500).map(|_| random_line(&mut random)).collect();
        let text = kernel(&format!("{REGISTERS}{}", lines.join("\n"))).replace("sm_120f", "sm_90");
        let said = crate::ptx::assemble(&ptxas, SM_90, &text).expect_err("most lines are invalid");
        let number = |line: &str| line.split("line ").nth(1)?.split(';').next()?.parse::<usize>().ok();
        let refused: HashSet<usize> = said.lines().filter(|line| line.contains("error")).filter_map(number).collect();
        for (number, line) in (7..).zip(&lines) {
            let is_read = printed(line).is_ok();
            accepted += usize::from(is_read);
            if is_read == refused.contains(&number) {
                differ.push(format!("{line} ({})", if is_read { "read here" } else { "taken there" }));
            }
        }
    }
    assert!((1000..3000).contains(&accepted), "{accepted}");
    assert!(differ.is_empty(), "{}\n{}", differ.len(), differ.join("\n"));
}

#[test]
fn results_are_exact_at_the_edges() {
    const MIN: u64 = 0x8000_0000;
    const MAX: u64 = 0xFFFF_FFFF;
    for (inst, [a, b, c], d) in [
        // The types of a and b determine the extension of the sources. The type and the selector of
        // d determine the range of `.sat`.
        ("vadd.u32.u32.u32.sat %d, %a, %b", [MAX, 1, 0], MAX),
        ("vadd.s32.u32.u32.sat %d, %a, %b", [MAX, 1, 0], 0x7FFF_FFFF),
        ("vadd.u32.s32.u32.sat %d, %a, %b", [MIN, 1, 0], 0),
        ("vsub.u32.u32.u32.sat %d, %a, %b", [1, 2, 0], 0),
        ("vsub.s32.s32.u32.sat %d, %a, %b", [MIN, MAX, 0], MIN),
        ("vadd.s32.s32.s32.sat %d.b1, %a.b0, %b.b3, %c", [0x80, 0xFF00_0000, 0x1122_3344], 0x1122_8044),
        ("vadd.u32.s32.s32.sat %d.h1, %a.h0, %b.h1, %c", [0x7FFF, 0x7FFF_0000, 0x1122_3344], 0xFFFE_3344),
        ("vadd.u32.u32.u32 %d.b3, %a, %b, %c", [0x1234, 0x5678, 0x1122_3344], 0xAC22_3344),
        ("vabsdiff.u32.u32.s32 %d, %a, %b", [MAX, MIN, 0], 0x7FFF_FFFF),
        ("vabsdiff.u32.u32.s32.sat %d, %a, %b", [MAX, MIN, 0], MAX),
        ("vmin.s32.u32.s32 %d, %a, %b", [MAX, 5, 0], 5),
        ("vmax.u32.s32.u32 %d, %a.b0, %b", [0xFF, 3, 0], 3),
        // The first operand of the second operation is the exact intermediate result. The second
        // operand is c, in the type of d.
        ("vadd.u32.u32.u32.min %d, %a, %b, %c", [MAX, 2, 7], 7),
        ("vadd.s32.s32.s32.max %d, %a, %b, %c", [MIN, MAX, 7], 7),
        ("vsub.u32.u32.u32.min %d, %a, %b, %c", [1, 2, 7], MAX),
        ("vadd.s32.u32.u32.max %d, %a, %b, %c", [1, 2, MAX], 3),
        ("vadd.u32.u32.u32.max %d, %a, %b, %c", [1, 2, MAX], MAX),
        ("vadd.u32.u32.u32.add %d, %a, %b, %c", [MAX, MAX, MAX], MAX - 2),
        // If d has no selector and the instruction has no second operation, c is ignored.
        ("vadd.u32.u32.u32 %d, %a, %b, %c", [1, 2, MAX], 3),
        ("vshl.u32.u32.u32.clamp %d, %a, %b", [MAX, 200, 0], 0),
        ("vshl.u32.u32.u32.wrap %d, %a, %b", [1, 33, 0], 2),
        ("vshl.u32.u32.u32.sat.clamp %d, %a, %b", [MAX, 200, 0], MAX),
        ("vshl.s32.s32.u32.sat.clamp %d, %a, %b", [MIN, 200, 0], MIN),
        ("vshl.s32.u32.u32.clamp.min %d, %a, %b, %c", [MAX, 32, MAX], MAX),
        ("vshl.s32.u32.u32.clamp.max %d, %a, %b, %c", [MAX, 32, 5], 0),
        ("vshr.s32.s32.u32.clamp %d, %a, %b", [MIN, MAX, 0], MAX),
        ("vshr.u32.u32.u32.clamp %d, %a, %b", [MIN, 32, 0], 0),
        ("vshr.u32.s32.u32.wrap %d, %a.b1, %b.h1", [0x8000, 0x24_0000, 0], 0xFFFF_FFF8),
        ("vset.u32.s32.gt %d, %a, %b", [MAX, MAX, 0], 1),
        ("vset.s32.s32.gt.add %d, %a.b0, %b.h1, %c", [0xFF, 0xFFFE_0000, 9], 10),
        ("vset.s32.s32.eq.max %d, %a, %b, %c", [1, 2, MAX], MAX),
        ("vset.s32.s32.eq %d.h1, %a, %b, %c", [7, 7, 0x1234_5678], 0x0001_5678),
        // The types of a and b and the negations determine the signedness of the intermediate
        // result. The type of d does not matter.
        ("vmad.s32.u32.u32.sat %d, %a, %b, %c", [MAX, MAX, MAX], MAX),
        ("vmad.u32.s32.u32.sat %d, %a, %b, %c", [MAX, MAX, 0], MIN),
        ("vmad.u32.u32.u32.po.shr15 %d, %a.h0, %b.h0, %c", [0x8000, 0x8000, 0x7FFF], 0x8001),
        ("vmad.u32.u32.u32.sat %d, -%a, %b, %c", [MAX, MAX, 0], MIN),
        ("vmad.u32.u32.u32.sat %d, %a, %b, -%c", [MAX, MAX, MAX], 0x7FFF_FFFF),
        ("vmad.u32.u32.u32.sat %d, %a, %b, -%c", [0, 0, MIN], 0x7FFF_FFFF),
        ("vmad.u32.u32.u32.shr7 %d, -%a, %b, %c", [1, 1, 0], MAX),
        ("vmad.s32.s32.s32 %d, -%a.b0, -%b.h1, %c", [0x80, 2 << 16, 1], 0xFFFF_FF01),
    ] {
        assert_eq!(same("b32", inst).d(&[("%a", a), ("%b", b), ("%c", c)]), d, "{inst}");
    }
}
