//! Tests of VP1 assembly: the test vectors, the spellings of the VP1 reference, lines that must be
//! rejected, and round trips.

use crate::random::Random;
use halfbyte_isa::vp1::{Inst, Opcode, assemble, disassemble, read_word, word_text};

struct Vector {
    word: u32,
    at: u32,
    text: String,
    unclaimed: u32,
}

fn vectors() -> Vec<Vector> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/vp1-disasm.jsonl");
    let number = |v: &serde_json::Value| {
        v.as_str().map_or(0, |s| u32::from_str_radix(s.strip_prefix("0x").unwrap(), 16).unwrap())
    };
    let vector = |line: &str| {
        let v: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = v["text"].as_str().unwrap();
        Vector {
            word: number(&v["word"]),
            at: number(&v["pos"]),
            // The disassembly of an instruction does not include the bits that belong to no field.
            text: text.split(" [unknown").next().unwrap().to_owned(),
            unclaimed: number(&v["unclaimed"]),
        }
    };
    std::fs::read_to_string(path).expect(path).lines().map(vector).collect()
}

#[test]
fn every_vector_disassembles() {
    let vectors = vectors();
    assert!(vectors.len() > 5900);
    for v in vectors {
        let expected = if v.text == "???" { format!(".word {:#010x}", v.word) } else { v.text };
        assert_eq!(word_text(v.word, v.at), expected, "{:#010x}", v.word);
    }
}

/// The reference decoder must ignore exactly the bits that no field of the row covers. Ignored bits
/// must not change the disassembly.
#[test]
fn ignored_bits_belong_to_no_field() {
    for v in vectors() {
        let Some(op) = Opcode::of_word(v.word).filter(|op| op.is_named()) else { continue };
        let named = op.row().fields().fold(0, |m, f| m | f.mask()) as u32;
        assert_eq!(v.word & !named & !v.unclaimed, 0, "{:#010x} {}", v.word, op.name());
        for bit in (0..32).filter(|b| v.unclaimed >> b & 1 == 1) {
            assert_eq!(word_text(v.word ^ 1 << bit, v.at), v.text, "{:#010x} bit {bit}", v.word);
        }
    }
}

/// Assembles the disassembly of an instruction word. Checks that the resulting word has the same
/// disassembly, and returns it.
fn read_back(word: u32, at: u32) -> u32 {
    let text = word_text(word, at);
    let read = read_word(&text, at).unwrap_or_else(|e| panic!("{word:#010x} {text}: {e}"));
    assert_eq!(word_text(read, at), text, "{word:#010x} read as {read:#010x}");
    read
}

#[test]
fn every_vector_reads_back() {
    for v in vectors() {
        let read = read_back(v.word, v.at);
        assert_eq!(read_back(read, v.at), read, "{}", v.text);
    }
}

#[test]
fn every_example_of_a_row_is_canonical() {
    for op in Opcode::ALL {
        for line in op.row().examples {
            let word = read_word(line, 0).unwrap_or_else(|e| panic!("{line}: {e}"));
            assert_eq!(word_text(word, 0), *line);
            assert_eq!(Opcode::of_word(word), Some(*op), "{line}");
        }
    }
}

/// The bits of an opcode's instruction words that the disassembly does not determine.
#[derive(Default, Clone, Copy)]
struct UndeterminedBits {
    /// Bits that never change the disassembly.
    always: u32,
    /// Bits that change the disassembly of some instruction words but not of others.
    sometimes: u32,
}

/// Finds the bits of an opcode that the disassembly does not determine, by flipping each bit of
/// random instruction words.
fn undetermined_bits(op: Opcode, random: &mut Random) -> UndeterminedBits {
    let mut changes = 0;
    let mut untold = UndeterminedBits::default();
    for _ in 0..200 {
        let word = Inst::random(op, &mut || random.next()).word();
        let text = word_text(word, 0);
        for bit in (0..24).map(|b| 1 << b) {
            let same = word_text(word ^ bit, 0) == text && Opcode::of_word(word ^ bit) == Some(op);
            *(if same { &mut untold.always } else { &mut changes }) |= bit;
        }
    }
    UndeterminedBits { always: untold.always & !changes, sometimes: untold.always & changes }
}

const EQUAL_TEXTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vp1_equal_texts.txt");
const EQUAL_TEXTS_HEAD: &str = "\
# Words with the same assembly text. `HALFBYTE_BLESS=1 cargo test -p halfbyte-isa --test vp1_text` rewrites the list.
#
# opcode | bits that none of its texts shows | bits that some of its texts do not show | opcodes that some of its texts assemble to
# In addition, an opcode with several values of OP is assembled with the first value.
";

/// Tests that every disassembly assembles to an instruction word with the same disassembly. The
/// word must equal the original word, except for the cases in the file `vp1_equal_texts.txt`.
#[test]
fn lists_words_with_equal_texts() {
    let mut random = Random(4);
    let mut list = EQUAL_TEXTS_HEAD.to_owned();
    for &op in Opcode::ALL.iter().filter(|o| o.is_named()) {
        let untold = undetermined_bits(op, &mut random);
        let mut others: Vec<&str> = Vec::new();
        for _ in 0..500 {
            let word = Inst::random(op, &mut || random.next()).word();
            let read = Inst::decode(read_back(word, 0)).unwrap();
            if read.opcode() != op {
                others.push(read.opcode().name());
                continue;
            }
            let stray = (word ^ read.word()) & 0xff_ffff & !untold.always & !untold.sometimes;
            assert_eq!(stray, 0, "{word:#010x} and {:#010x} are both {read}", read.word());
        }
        others.sort_unstable();
        others.dedup();
        if untold.always | untold.sometimes != 0 || !others.is_empty() {
            let UndeterminedBits { always, sometimes } = untold;
            list += &format!("{} | {always:06x} | {sometimes:06x} | {}", op.name(), others.join(" "));
            list.truncate(list.trim_end().len());
            list.push('\n');
        }
    }
    if std::env::var_os("HALFBYTE_BLESS").is_some() {
        std::fs::write(EQUAL_TEXTS, &list).unwrap();
    }
    assert!(
        std::fs::read_to_string(EQUAL_TEXTS).unwrap() == list,
        "vp1_equal_texts.txt is stale: run again with HALFBYTE_BLESS=1"
    );
}

#[test]
fn random_instructions_come_back() {
    let mut random = Random(5);
    let named: Vec<Opcode> = Opcode::ALL.iter().copied().filter(|o| o.is_named()).collect();
    let mut same = 0;
    for i in 0..100_000 {
        let op = named[i % named.len()];
        let at = random.next() as u32 >> 8;
        let inst = Inst::random(op, &mut || random.next());
        assert_eq!(Inst::decode(inst.word()), Some(inst));
        let canonical = read_back(inst.word(), at);
        assert_eq!(read_back(canonical, at), canonical, "{inst}");
        same += u32::from(canonical == inst.word());
    }
    assert!(same > 40_000, "only {same} of 100,000 came back bit for bit");
}

#[test]
fn random_words_come_back() {
    let mut random = Random(6);
    for _ in 0..300_000 {
        let (word, at) = (random.next() as u32, random.next() as u32);
        let canonical = read_back(word, at);
        assert_eq!(read_back(canonical, at), canonical);
        if word >> 24 == 0xdb {
            assert_eq!(canonical, word);
        }
    }
}

#[test]
fn words_without_a_name_are_numbers() {
    let unnamed = Opcode::ALL.iter().filter(|o| !o.is_named());
    let words = unnamed.flat_map(|o| o.row().patterns()).map(|p| p.1 as u32).chain([0xdb00_0000, 0xdbff_ffff]);
    for word in words {
        let text = word_text(word, 0);
        assert_eq!(text, format!(".word {word:#010x}"));
        assert_eq!(read_word(&text, 0), Ok(word));
    }
}

#[test]
fn fields_are_where_the_seed_puts_them() {
    let word = |line| read_word(line, 0).unwrap();
    assert_eq!(word("vadd s $v7 $vc3 $v19 $v0"), 0x8c << 24 | 7 << 19 | 19 << 14 | 3);
    assert_eq!(
        word("vmul u rn int -0x1 lo $v1 s $v2 u 0x84"),
        0xb1 << 24 | 1 << 19 | 2 << 14 | 1 << 9 | 1 << 8 | 7 << 5 | 1 << 4 | 1 << 3 | 1 << 2 | 1
    );
    assert_eq!(word("vswz $v1 $v2 $v3 hi $v4"), 0x9b << 24 | 1 << 19 | 2 << 14 | 3 << 9 | 4 << 4 | 1 << 3);
    assert_eq!(
        word("vlrp2 s va rn 0x3 $v1 s xor $v4q $c2 $vc3 zf"),
        0xb3 << 24 | 1 << 19 | 4 << 14 | 1 << 12 | 1 << 11 | 1 << 10 | 1 << 9 | 1 << 8 | 3 << 5 | 2 << 3 | 1 << 2 | 3
    );
    assert_eq!(
        word("vlrp4b s rn -0x4 $v1 $v4q $c2 $c2 lzf $vc1 sf"),
        0xb7 << 24 | 1 << 19 | 4 << 14 | 4 << 11 | 1 << 9 | 13 << 5 | 2 << 3 | 1
    );
    // This instruction writes no flags, and its source is a plain register.
    assert_eq!(word("add $r1 $r2 $r3"), 0x4c << 24 | 1 << 19 | 2 << 14 | 3 << 9 | 14 << 5 | 7);
    assert_eq!(word("bra 0x8"), 0xe0 << 24 | 2 << 9 | 15 << 5 | 7);
    assert_eq!(word("vnop"), 0xbfff_ffff);
}

#[test]
fn the_seeds_spellings_are_read() {
    let canonical = [
        ("vadd s $vc3 $v7 $v19 $v0", "vadd s $v7 $vc3 $v19 $v0"),
        ("vsar $v1 $v2 $v3", "vshr s $v1 $v2 $v3"),
        ("vsar $vc1 $v1 $v2 0x4", "vshr s $v1 $vc1 $v2 0x4"),
        ("vshr $v1 $v2 $v3", "vshr u $v1 $v2 $v3"),
        ("vshr $v1 $v2 0xfc", "vshr u $v1 $v2 0xfc"),
        ("vbitop 0x6 $vc2 $v1 $v2 $v3", "vxor $v1 $vc2 $v2 $v3"),
        ("vswz hi $v1 $v2 $v3 $v4", "vswz $v1 $v2 $v3 hi $v4"),
        ("vcmppad 0xc $vc0 $v2d $v3", "vcmpad 0xc $vc0 $v2d $v3"),
        ("vlrp4b u rn 0x0 $v1 $v4q $c2 lzf $vc1 sf", "vlrp4b u rn 0x0 $v1 $v4q $c2 $c2 lzf $vc1 sf"),
        ("mov $vc1 $v1 $v2", "mov $v1 $vc1 $v2"),
        ("vmov $vc0 $v1 0x80", "vmov $v1 $vc0 0x80"),
        // The assembler also accepts decimal numbers, `$r31` by its name, names of special
        // registers, blanks and comments.
        ("  add  $r1 $r31   -1 // decrement", "add $r1 0x0 -0x1"),
        ("mov $r1 $sr30", "mov $r1 $tick"),
        ("mov $uc16 $r31", "mov $uccfg 0x0"),
        ("bra $c2 true 4", "bra $c2 true 0x4"),
        ("bra $c0 true 4 ;", "bra 0x4"),
    ];
    for (line, text) in canonical {
        let word = read_word(line, 0).unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(word_text(word, 0), text);
    }
}

#[test]
fn branches_are_relative_to_the_group() {
    for at in [0, 1, 3, 4, 0x10003] {
        let target = at - at % 4 + 0x20;
        let text = format!("bra {target:#x}");
        let word = read_word(&text, at).unwrap();
        assert_eq!(word, 0xe0 << 24 | 8 << 9 | 15 << 5 | 7);
        assert_eq!(word_text(word, at), text);
    }
    let back = read_word("bra 0xfffffffffffffffc", 2).unwrap();
    assert_eq!(back, 0xe0 << 24 | 0x7fff << 9 | 15 << 5 | 7);
    assert_eq!(read_word("abra 0x9438", 77), Ok(0xea << 24 | 0x250e));
}

/// Tests every branch and call with every predicate, flag register and counter, at several addresses and with the
/// largest distances. The disassembly must omit the predicate `$c0 true`, but never after `not`.
#[test]
fn omits_only_true_predicates_of_branches() {
    let bits = [
        "sf", "zf", "b19", "b20d", "b20", "b21", "b19a", "b18", "asf", "azf", "aef", "unk11", "unk12", "lzf", "false",
        "true",
    ];
    let places = [0, 1, 3, 4, 0x1_0003, 0x2_269a, u32::MAX - 3, u32::MAX];
    for (op, place) in (0xe0..0xe8u32).flat_map(|op| places.map(|at| (op, at))) {
        let (is_call, is_not, is_loop) = (op & 4 != 0, op & 2 != 0, op & 1 != 0);
        for (distance, low) in
            [0, 1, -1, 0x3fff, -0x4000].into_iter().flat_map(|d: i64| (0..1u32 << 9).map(move |w| (d, w)))
        {
            let word = op << 24 | (distance as u32 & 0x7fff) << 9 | low;
            let (flags, source, bit) = (low & 7, low >> 3 & 3, bits[low as usize >> 5]);
            let mut text = if is_call { "call" } else { "bra" }.to_owned();
            if is_loop {
                text += &format!(" loop $l{}", low & 3);
            }
            if flags < 4 {
                text += &format!(" $c{flags}");
            }
            if is_loop {
                text += &format!(" $l{source}");
            }
            if is_not {
                text += " not";
            }
            if is_not || source != 0 || bit != "true" {
                text += &format!(" $c{source} {bit}");
            }
            text += &format!(" {:#x}", i64::from(place) / 4 * 4 + 4 * distance);
            assert_eq!(word_text(word, place), text, "{word:#010x} at {place:#x}");
            let read = read_word(&text, place).unwrap_or_else(|error| panic!("{text}: {error}"));
            // An instruction that writes no flags can encode any of four flag register numbers.
            let is_same = read == word || flags >= 4 && read | 7 == word | 7 && read & 4 != 0;
            assert!(is_same, "{text} at {place:#x} read as {read:#010x}, not {word:#010x}");
        }
    }
}

/// The disassembly must name three registers that are outside the processor. Neither the direction
/// of the move nor unused bits change the names.
#[test]
fn moves_name_special_registers() {
    for (file, prefix) in [(8, "$sr"), (9, "$mi"), (10, "$uc")] {
        for (number, unclaimed) in (0..32u32).flat_map(|n| (0..1u32 << 9).map(move |bits| (n, bits))) {
            let name = match (prefix, number) {
                ("$sr", 30) => "$tick".to_owned(),
                ("$sr", 31) => "$csreq".to_owned(),
                ("$uc", 16) => "$uccfg".to_owned(),
                _ => format!("{prefix}{number}"),
            };
            let rest = (unclaimed >> 3) << 8 | file << 3 | unclaimed & 7;
            for (op, high, low, text) in
                [(0x6a, number, 5, format!("mov {name} $r5")), (0x6b, 5, number, format!("mov $r5 {name}"))]
            {
                let word = op << 24 | high << 19 | low << 14 | rest;
                assert_eq!(word_text(word, 0), text, "{word:#010x}");
                assert_eq!(read_word(&text, 0).map(|read| read | 0x3f07), Ok(word | 0x3f07), "{text}");
            }
        }
    }
}

/// The bits outside the row's fields must not change the disassembly of any opcode.
#[test]
fn bits_outside_fields_do_not_change_the_text() {
    const PATTERNS: u32 = 1 << 10;
    let mut random = Random(8);
    let mut changed = 0;
    for &op in Opcode::ALL.iter().filter(|op| op.is_named()) {
        let claimed = op.row().fields().fold(0xff << 24, |mask, field| mask | field.mask() as u32);
        let word = Inst::random(op, &mut || random.next()).word();
        let text = word_text(word, 0x2_269a);
        // Tests all patterns of the bits outside the fields if there are at most 1,024 patterns,
        // otherwise random patterns.
        let bits: Vec<u32> = (0..32).map(|bit| 1 << bit).filter(|bit| claimed & bit == 0).collect();
        for pattern in 0..PATTERNS.min(1u32.checked_shl(bits.len() as u32).unwrap_or(PATTERNS)) {
            let pattern = if 1 << bits.len() <= PATTERNS { pattern } else { random.next() as u32 };
            let flipped =
                bits.iter().zip(0..).filter(|&(_, n)| pattern >> n & 1 == 1).fold(word, |w, (bit, _)| w ^ bit);
            assert_eq!(word_text(flipped, 0x2_269a), text, "{word:#010x}, {flipped:#010x}");
            changed += u32::from(flipped != word);
        }
    }
    assert!(changed > 5_000, "only {changed} words differ in what is not claimed");
}

/// Checks that the assembler rejects a line with the expected message and span. In `marked`, `^`
/// marks the span, and the message follows.
fn refused(line: &str, marked: &str) {
    let start = marked.find('^').unwrap();
    let marks = marked[start..].find(|c| c != '^').unwrap();
    let message = marked[start + marks..].trim_start();
    let error = read_word(line, 0).expect_err(line);
    let place = if error.span.is_empty() { error.span.start..error.span.start + 1 } else { error.span.clone() };
    assert_eq!((place, error.to_string().as_str()), (start..start + marks, message), "{line}");
}

#[test]
#[rustfmt::skip]
fn errors_have_a_span_and_a_suggestion() {
    refused("vfoo $v0 $v1",
            "^^^^ `vfoo`: unknown instruction");
    refused("",
            "^ malformed line, expected an instruction");
    refused("vadd $v0 $v1 $v2",
            "     ^^^ `$v0`: this word must be s or u");
    refused("vadd s $v0 $v1",
            "              ^ too few operands: v2 is missing");
    refused("vadd s $v0 $v1 $v2 $v3",
            "                   ^^^ `$v3`: too many operands for vadd");
    refused("vadd s $v32 $v1 $v2",
            "       ^^^^ `$v32`: register number is out of range, expected $v0 to $v31");
    refused("vadd s $v0 $vc4 $v1 $v2",
            "           ^^^^ `$vc4`: register number is out of range, expected $vc0 to $vc3");
    refused("vadd s $v0 $r1 $v2",
            "           ^^^ `$r1`: v1 must be a `$v`");
    refused("vadd s $v0 $v1 0x100",
            "               ^^^^^ `0x100`: immediate is out of range, expected 0x0 to 0xff");
    refused("add $r1 $r2 -0x401",
            "            ^^^^^^ `-0x401`: immediate is out of range, expected -0x400 to 0x3ff");
    refused("add $r1 $r2 (slct $c0 foo $r3d)",
            "            ^^^^^^^^^^^^^^^^^^^ `(slct $c0 foo $r3d)`: r2 must be a `$r`, or `(slct $cN bit $rNd)` or an integer");
    refused("vcmpad 0xc $v2d (slct $c0 b20 $v3d)",
            "                ^^^^^^^^^^^^^^^^^^^ `(slct $c0 b20 $v3d)`: v2 must be a `$v`, or `(slct $cN bit $vNd)`");
    refused("add $r1 $r2 (slct $c0 sf $r3",
            "            ^^^^^ `(slct`: malformed operand, expected `(slct $cN bit $rNd)`");
    refused("add $r1 $r2 (slct $c4 sf $r3d)",
            "            ^^^^^^^^^^^^^^^^^^ `(slct $c4 sf $r3d)`: register number is out of range, expected $c0 to $c3");
    refused("vmul s rn int 0x0 hi $v0 u $v1 u 0x5",
            "                                 ^^^ `0x5`: immediate is out of range, expected a multiple of 0x4, 0x0 to 0xfc");
    refused("vmul s rx int 0x0 hi $v0 u $v1 u 0x4",
            "       ^^ `rx`: rnd must be rd or rn");
    refused("bra 0x6",
            "    ^^^ `0x6`: branch target is out of range, expected a multiple of 4, -0x10000 to 0xfffc");
    refused("bra 0xffffffffffffffffffffffffffffffffffff",
            "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `0xffffffffffffffffffffffffffffffffffff`: branch target is out of range, expected a multiple of 4, -0x10000 to 0xfffc");
    refused("bra not 0x8",
            "        ^^^ `0x8`: pred must be a `$c` and the name of a bit");
    refused("bra nowhere",
            "    ^^^^^^^ `nowhere`: undefined label");
    refused("mov $q1 $r2",
            "    ^^^ `$q1`: malformed register, expected `$`, the name of a file, a number, and `d` of a pair or `q` of a quad");
    refused("mov $m999 $r2",
            "    ^^^^^ `$m999`: register number is out of range, expected $m0 to $m63");
    refused("mov $l0 $c1 0x0",
            "    ^^^ `$l0`: another part of the line sets LC to a different value");
    refused("vlrp4b u rn 0x0 $v1 $v4q $c1 $c2 lzf $vc1 sf",
            "                         ^^^ `$c1`: another part of the line sets COND to a different value");
    refused("vmul u rd fract 0x0 hi # s $v1 u 0x0",
            "                         ^ `s`: another part of the line sets SIGN1 to a different value");
    refused("bra loop $l1 $c2 $l0 0x0",
            "         ^^^ `$l1`: another part of the line sets LDST to a different value");
    refused("xdld $a13 $a0d 0x2000",
            "               ^^^^^^ `0x2000`: immediate is out of range, expected 0x0 to 0x1fff");
    refused(".word 0x100000000",
            "      ^^^^^^^^^^^ `0x100000000`: malformed word, expected 0x and at most 8 hexadecimal digits");
    refused("$v1: vnop",
            "^^^ `$v1`: malformed label, expected letters, digits, `_` and `$`, not beginning with a digit, and no register");
    refused("lbl: vnop",
            "^^^ `lbl`: malformed line, expected an instruction, and no label");
    refused("vabs s $v0 $v1 ; vnop",
            "                 ^^^^ `vnop`: malformed line, expected nothing after the `;`");
}

#[test]
fn programs_round_trip() {
    let text = "\
// Counts down from 3.
    mov $l0 $c0 0x0303
    snop ; vnop
loop:
    ldavh $v0 $a0 0x10  // one bundle
    vadd u $v1 $v1 $v0
    .word 0xdb000000
    vnop
    bra loop $l0 $c0 $l0 not $c0 lzf loop
    vnop
    abra done
    bnop
done: exit 0x7
";
    let text = text.replace("snop ; vnop", "snop\n    vnop\n    bnop");
    let program = assemble(&text).unwrap();
    let listing = disassemble(&program.words);
    assert_eq!(program.lines, [2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    assert_eq!(word_text(program.words[8], 8), "bra loop $l0 $c0 $l0 not $c0 lzf 0x4");
    assert_eq!(word_text(program.words[10], 10), "abra 0xc");
    assert_eq!(listing.lines().count(), program.words.len());
    assert_eq!(assemble(&listing).unwrap().words, program.words);
}

#[test]
fn every_error_of_a_program_is_reported() {
    let text = "one:\n  vadd s $v0\none: vnop\nbra two\n  .word 1\ntwo: vfoo\n snop\nthree: bra three\n";
    let errors = assemble(text).unwrap_err();
    let summary: Vec<_> = errors.iter().map(|e| (e.line, e.span.start, e.found.as_str())).collect();
    assert_eq!(summary, [(2, 12, ""), (3, 0, "one"), (4, 4, "two"), (5, 8, "1"), (6, 5, "vfoo"), (8, 11, "three")]);
}

#[test]
fn no_text_makes_the_reader_panic() {
    let mut random = Random(7);
    let alphabet: Vec<char> = "$vrcadq0123x-()# .;:é\u{0}/ns".chars().collect();
    let named: Vec<Opcode> = Opcode::ALL.iter().copied().filter(|o| o.is_named()).collect();
    for i in 0..40_000 {
        let inst = Inst::random(named[i % named.len()], &mut || random.next());
        let mut line: Vec<char> = inst.to_string().chars().collect();
        for _ in 0..=random.next() % 3 {
            let at = random.next() as usize % line.len();
            let c = alphabet[random.next() as usize % alphabet.len()];
            match random.next() % 3 {
                0 => line[at] = c,
                1 => line.insert(at, c),
                _ => line.truncate(at + 1),
            }
        }
        let line: String = line.into_iter().collect();
        match read_word(&line, 0) {
            Ok(word) => assert_eq!(word_text(read_back(word, 0), 0), word_text(word, 0), "{line}"),
            Err(e) => assert_eq!(line.get(e.span.clone()), Some(e.found.as_str()), "{line}: {e:?}"),
        }
    }
    for long in ["(", "$", "$v0 ", "9", "é"].map(|piece| piece.repeat(100_000)) {
        assert!(read_word(&long, 0).is_err());
        assert!(read_word(&format!("vadd s {long}"), u32::MAX).is_err());
        assert!(read_word(&format!("bra {long}"), u32::MAX).is_err());
    }
}
