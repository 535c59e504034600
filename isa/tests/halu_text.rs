//! Tests of HALU assembly: the test vectors, the examples of the HALU references, lines that must
//! be rejected, and round trips.

use crate::random::Random;
use halfbyte_isa::halu::{self, Inst, Opcode, assemble, disassemble, read_word, word_text};
use halfbyte_isa::row::EncodeError;
use halfbyte_isa::text::{AsmError, AsmErrorKind as Kind};

fn vectors(name: &str) -> Vec<serde_json::Value> {
    let path = format!("{}/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect(&path);
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// Assembles a line. Checks that the instruction word decodes, and that its disassembly assembles
/// to the same word. Returns the word.
fn round_trip(line: &str) -> u128 {
    let word = read_word(line).unwrap_or_else(|e| panic!("{line}: {e}"));
    let inst = Inst::decode(word).unwrap_or_else(|| panic!("{line}: {word:#034x} does not decode"));
    let text = inst.to_string();
    assert_eq!(read_word(&text), Ok(word), "{line} printed as {text}");
    assert_eq!(read_word(&text).map(word_text), Ok(text), "{line}");
    word
}

#[test]
fn every_vector_assembles() {
    for name in ["halu.jsonl", "video.jsonl"] {
        let lines = vectors(name);
        assert!(lines.len() > 3000);
        for line in lines {
            round_trip(line["asm"].as_str().unwrap());
        }
    }
}

#[test]
fn every_example_of_a_row_reads_back() {
    for op in Opcode::ALL {
        for line in op.row().examples {
            let word = round_trip(line);
            assert_eq!(word_text(word), *line, "an example is not in canonical form");
        }
    }
}

#[test]
fn the_seeds_examples_assemble() {
    let lines = [
        "HADD2        R0, R1.H0_H0,    R2 ; // {R0.H1,R0.H0} = {R1.H0,R1.H0} + {R2.H1,R2.H0}",
        "HADD2.SAT    R3,       R6,   -R7 ; // {R3.H1,R3.H0} = {R6.H1,R6.H0} - {R7.H1,R7.H0}",
        "HADD2.RN.FTZ R1,    -|R4|, -1, 1 ; // {R1.H1,R1.H0} = -|{R4.H1,R4.H0}| + {-1, 1}",
        "HMUL2        R0,    R1,        R2 ;",
        "HMUL2.SAT    R3,    R6, -R7.H0_H0 ;",
        "HMUL2.RN.FTZ R1, -|R4|,     0, -1 ;",
        "HFMA2 R0, R1, R2.H1_H1, RZ;",
        "HMNMX2 R0, -|R1|,    -|R2|, !PT ;",
        "HMNMX2 R0,    R1,     1,-4,  P0 ;",
        "HMNMX2 R0,    R1, 0.125,-2, !P1 ;",
        "HSETP2.LE.AND     P0, P1,    R4,     R6,  PT;",
        "HSETP2.FTZ.GTU.OR P0, P1, -|R5|,  -1, 0, !PT;",
        "HSET2.LE.AND        R1,    R4,     R6,  PT;",
        "HSET2.FTZ.GTU.OR.BF R0, -|R5|,  -1, 0, !PT;",
        "vadd2.s32.s32.u32.sat r1, r2, r3, r1;",
        "vsub2.s32.s32.s32.sat r1.h0, r2.h10, r3.h32, r1;",
        "vmin2.s32.u32.u32.add r1.h10, r2.h00, r3.h22, r1;",
        "vadd4.s32.s32.u32.sat  r1, r2, r3, r1;",
        "vsub4.s32.s32.s32.sat  r1.b0, r2.b3210, r3.b7654, r1;",
    ];
    for line in lines {
        round_trip(line);
    }
    // Seed 002 (the video reference) has this mistake: a mask that names lane 0 twice.
    let slip = read_word("vmin4.s32.u32.u32.add  r1.b00, r2.b0000, r3.b2222, r1;").unwrap_err();
    assert!(matches!(slip.kind, Kind::Suffix { operand: "rd", .. }), "{slip}");
}

#[test]
fn words_are_where_the_seeds_put_their_fields() {
    let word = |line| read_word(line).unwrap();
    // The fields from bit 0 upward: optype (8 bits), stype (4), guard (4), rd (8), ra (8), rb.
    assert_eq!(word("HADD2 R1, R2, R3 ;"), 0x0003_0201_7230);
    assert_eq!(word("@!P2 HADD2 R1, R2, R3 ;"), 0x0003_0201_a230);
    assert_eq!(word("HFMA2 R1, R2, 1, 2, R4 ;"), 0x0004_3c00_4000_0201_7831);
    assert_eq!(word("HMUL2.RZ R1, R2, UR5 ;"), 3 << 78 | 0x0005_0201_7c32);
    let a = 1 << 72 | 1 << 73 | 3 << 80;
    assert_eq!(word("HMUL2 R1, -|R2.H1_H1|, c[0x3][0x1a4] ;"), a | 0x0003_01a4_0201_7a32);
    let predicates = 7 << 98 | 1 << 109 | 3 << 86 | 1 << 84;
    assert_eq!(word("HSETP2.LE.OR P0, P1, R4, R6 ;"), predicates | 0x0006_0400_7234);
    let video = 1 << 72 | 1 << 77 | 0b011_010_001_000 << 80 | 0b111_110_101_100 << 92 | 0b0101 << 104;
    assert_eq!(word("vadd4.s32.u32.u32.sat R1.b20, R2, R3, R4;"), video | 4 << 64 | 0x0003_0201_7258);
}

#[test]
fn text_is_canonical() {
    let canonical = [
        ("hADD2 R0, R1, R2", None),
        ("HADD2.RN.F16_V2 r0, r1.H1_H0, |r2|.H0_H0", Some("HADD2 R0, R1, |R2.H0_H0| ;")),
        ("HFMA2.RZ.SAT.FTZ R0, -|R1.H1_H1|, R2, R3", Some("HFMA2.FTZ.SAT.RZ R0, -|R1.H1_H1|, R2, R3 ;")),
        ("HSET2.AND.LE.BM R0, R1, -0, +INF, PT ;", Some("HSET2.LE.AND R0, R1, -0, +INF ;")),
        ("HSET2.LE.AND R0, R1, 0x7e01, -QNAN, !P3 ;", Some("HSET2.LE.AND R0, R1, 0x7e01, -QNAN, !P3 ;")),
        ("vadd4.s32.s32.u32.sat r1.b3210, r2.b3210, r3.b7654, rz", Some("vadd4.s32.s32.u32.sat R1, R2, R3, RZ;")),
        ("vadd4.s32.s32.u32 R1.b210, R2.b3211, R3, URZ", None),
        ("@PT EXIT", Some("EXIT ;")),
        ("@!PT EXIT", Some("@!PT EXIT ;")),
        ("IADD3 R0, PT, R1, -1, R2, !PT", Some("IADD3 R0, R1, 0xffffffff, R2 ;")),
        ("ISETP.EX.AND.LT.S32 P0, PT, R1, R2, PT, !P1", Some("ISETP.LT.S32.AND.EX P0, PT, R1, R2, PT, !P1 ;")),
        ("LDG.U8 R0, [ R1.U32 + UR4 + -16 ]", Some("LDG.U8 R0, [R1.U32+UR4-0x10] ;")),
        ("LDC R0, c[3][0x10]", Some("LDC R0, c[0x3][RZ+0x10] ;")),
        ("BRA .+0x10", Some("BRA .+16 ;")),
        (".word 0xff", Some(".word 0x000000000000000000000000000000ff")),
    ];
    for (line, text) in canonical {
        assert_eq!(read_word(line).ok().map(word_text).as_deref(), text, "{line}");
    }
}

/// Returns `true` if the kind of the error corresponds to the reason that the test vectors state.
fn same_cause(reason: &str, found: &str, kind: &Kind) -> bool {
    let about = reason.split(": ").next().unwrap_or("");
    let says = |part: &str| reason.contains(part);
    match kind {
        Kind::Encode(EncodeError::Forbidden(forbid)) => match forbid.why {
            "BF16_V2 does not support .FTZ or .SAT" => says("BF16_V2 does not support"),
            why => why == reason,
        },
        Kind::Encode(EncodeError::Offset { .. }) => says("unaligned"),
        Kind::UnknownModifier { mnemonic, .. } => {
            reason == format!("{mnemonic} has no modifier .{found}")
                || says("at most one of .sat/.add may follow the types")
        }
        Kind::RepeatedModifier { .. } => reason == format!(".{found}: modifier kind given twice"),
        Kind::MissingModifier { mnemonic, allowed } => {
            reason == format!("{mnemonic} needs a compare and a logic op")
                || says("needs .dtype.atype.btype") && allowed == &["u32", "s32"]
        }
        Kind::TooFew { .. } => says("too few operands") || says("needs d, a, b, c"),
        Kind::TooMany { .. } => says("too many operands") || says("needs d, a, b, c"),
        Kind::Suffix { .. } => about == format!(".{found}") && (says("selector") || says("not a mask")),
        Kind::Malformed { .. } => says("malformed operand") && about == found,
        Kind::Operand { operand: "ra", allowed } if says("Ra must") => allowed == &["a GPR"],
        Kind::Operand { operand: "rd", allowed } if says("destination must") => allowed == &["a plain GPR"],
        Kind::Operand { operand: "rc", allowed } if says("c takes no selector") => allowed == &["a plain GPR"],
        Kind::Operand { operand: "pu" | "pv", .. } if says("! on a destination") => found.starts_with('!'),
        Kind::Operand { allowed, .. } if says("not a predicate") => {
            about == found && allowed[0].starts_with("a predicate")
        }
        Kind::Operand { .. } if says("operand must be a plain register") => about == found,
        Kind::TooManyNonGprSources => says("at most one source may come from outside"),
        Kind::Register { allowed } => about == found && allowed.starts_with(reason.rsplit(": ").next().unwrap()),
        Kind::Range { what, .. } => says(&format!("{what} out of range")) || says(&format!("{what} above")),
        Kind::UnknownMnemonic => reason == format!("{found}: unknown instruction"),
        _ => false,
    }
}

#[test]
fn rejects_invalid_lines_with_the_expected_reason() {
    let lines = vectors("asm-errors.jsonl");
    assert!(lines.len() > 70);
    for line in lines {
        let (asm, reason) = (line["asm"].as_str().unwrap(), line["reason"].as_str().unwrap());
        let error = read_word(asm).expect_err(asm);
        assert_eq!(&asm[error.span.clone()], error.found, "{asm}");
        assert!(same_cause(reason, &error.found, &error.kind), "{asm}\n  {reason}\n  {error}\n  {error:?}");
    }
}

/// Checks that the assembler rejects a line with the expected message and span. In `marked`, `^`
/// marks the span, and the message follows.
fn refused(line: &str, marked: &str) {
    let start = marked.find('^').unwrap();
    let marks = marked[start..].find(|c| c != '^').unwrap();
    let message = marked[start + marks..].trim_start();
    let error = read_word(line).expect_err(line);
    let place = if error.span.is_empty() { error.span.start..error.span.start + 1 } else { error.span.clone() };
    assert_eq!((place, error.to_string().as_str()), (start..start + marks, message), "{line}");
}

#[test]
#[rustfmt::skip]
fn errors_have_a_span_and_a_suggestion() {
    refused("HADD3 R0, R1, R2 ;",
            "^^^^^ `HADD3`: unknown instruction");
    refused("HADD2.RELU R0, R1, R2 ;",
            "      ^^^^ `RELU`: HADD2 does not accept this modifier here; it accepts .F16_V2, .BF16_V2, .FTZ, .SAT, .RN, .RM, .RP, .RZ or .F32");
    refused("HADD2.RN.SAT.RP R0, R1, R2 ;",
            "             ^^ `RP`: this modifier conflicts with an earlier one: use only one of .RN, .RM, .RP or .RZ");
    refused("HSETP2.LT P0, P1, R1, R2 ;",
            "         ^ HSETP2 needs a modifier here: one of .AND, .OR or .XOR");
    refused("vadd4.u32.s16.u32 R0, R1, R2, R3;",
            "          ^^^ `s16`: vadd4 needs a modifier here: one of .u32 or .s32");
    refused("F2F.F32 R0, R1 ;",
            "       ^ F2F needs a modifier here: one of .F16, .BF16 or .F64");
    refused("LDG.32 R0, [R1.64] ;",
            "    ^^ `32`: LDG does not accept this modifier here; it accepts .U8, .S8, .U16, .S16, .STRONG, .ACQUIRE, .GPU, .CTA, .SYS, .64 or .128");
    refused("HADD2 R0, P1, R2 ;",
            "          ^^ `P1`: ra must be a GPR");
    refused("HADD2 R0, R1, [0x10] ;",
            "              ^^^^^^ `[0x10]`: rb must be a GPR, a UR, two numbers or c[bank][offset]");
    refused("HADD2 -R0, R1, R2 ;",
            "      ^^^ `-R0`: rd must be a plain GPR");
    refused("HADD2 R0, R1, 1, UR2 ;",
            "                 ^^^ `UR2`: vb must be two numbers");
    refused("HADD2 R0, R1, 1 ;",
            "               ^ too few operands: the second number of the pair is missing");
    refused("HADD2 R0, R1 ;",
            "            ^ too few operands: rb is missing");
    refused("EXIT R0 ;",
            "     ^^ `R0`: too many operands for EXIT");
    refused("HFMA2 R0, R1, UR2, UR3 ;",
            "                   ^^^ `UR3`: at most one source may be something other than a GPR");
    refused("HADD2 R0, R255, R1 ;",
            "          ^^^^ `R255`: register number above 254: R0 to R254, or RZ");
    refused("@R0 HADD2 R0, R1, R2 ;",
            " ^^ `R0`: malformed guard, expected a predicate");
    refused("HADD2 R0, R1.H0_H2, R2 ;",
            "             ^^^^^ `H0_H2`: ra does not accept this suffix, expected .H1_H0, .H0_H0, .H1_H1");
    refused("vadd4.u32.u32.u32 R0.b02, R1, R2, R3;",
            "                     ^^^ `b02`: rd does not accept this suffix, expected .b and digits from 3 to 0, descending");
    refused("vadd2.u32.u32.u32 R0, R1.h4, R2, R3;",
            "                         ^^ `h4`: ra does not accept this suffix, expected .h and 2 digits from 0 to 3");
    refused("HADD2 R0, R1, 1, 65520 ;",
            "                 ^^^^^ `65520`: immediate is out of range, expected a number that F16 can round to, +INF, -INF, +QNAN, -QNAN, or 16 bits after 0x");
    refused("HADD2 R0, R1, c[0x20][0x0] ;",
            "              ^^^^^^^^^^^^ `c[0x20][0x0]`: constant bank is out of range, expected 0 to 31");
    refused("HADD2 R0, R1, c[0x0][0x2] ;",
            "              ^^^^^^^^^^^ `c[0x0][0x2]`: offset must be a multiple of 4");
    refused("ULDC.64 UR4, c[0x0][0x164] ;",
            "             ^^^^^^^^^^^^^ `c[0x0][0x164]`: offset must be a multiple of 8");
    refused("HFMA2.RELU.SAT R0, R1, R2, R3 ;",
            "           ^^^ `SAT`: .SAT and .RELU exclude each other");
    refused("HADD2.FTZ.BF16_V2 R0, R1, R2 ;",
            "      ^^^ `FTZ`: BF16_V2 does not support .FTZ or .SAT");
    refused("HSETP2.LT.AND P1, P1, R1, R2 ;",
            "                  ^^ `P1`: the two destination predicates must differ unless both are PT");
    refused("IADD3 R0, R1, R2, R3, P0 ;",
            "                      ^^ `P0`: a carry source needs .X");
    refused("LDG.64 R3, [R1.U32+UR4] ;",
            "       ^^ `R3`: rd is the first of 2 registers: its number must be a multiple of 2, and no register may be the constant one");
    refused("LDG R0, [R1.U32+UR4+0x800000] ;",
            "        ^^^^^^^^^^^^^^^^^^^^^ `[R1.U32+UR4+0x800000]`: displacement is out of range, expected -8388608 to 8388607");
    refused("LDG R0, [R1+R2] ;",
            "         ^^^^^ `R1+R2`: malformed address, expected a GPR, a UR and a number, in this order, any of them left out");
    refused("LOP3 R0, R1, R2, R3, 0x100 ;",
            "                     ^^^^^ `0x100`: integer is out of range, expected 0 to 255");
    refused("BRA nowhere ;",
            "    ^^^^^^^ `nowhere`: undefined label");
    refused("EXIT ; EXIT ;",
            "       ^^^^^^ `EXIT ;`: malformed line, expected nothing after the `;`");
    refused(".word 0x1g",
            "      ^^^^ `0x1g`: malformed word, expected 0x and at most 32 hexadecimal digits");
    refused("// nothing",
            "          ^ malformed line, expected an instruction");
}

#[test]
fn the_description_is_consistent() {
    if let Err(mistakes) = halu::self_check() {
        panic!("{mistakes:#?}");
    }
}

#[test]
fn random_instructions_come_back() {
    let mut random = Random(1);
    for i in 0..100_000 {
        let op = Opcode::ALL[i % Opcode::ALL.len()];
        let inst = Inst::random(op, &mut || random.next());
        assert_eq!(Inst::decode(inst.word()), Some(inst), "{inst}");
        let text = inst.to_string();
        assert_eq!(text.parse(), Ok(inst), "{text}");
    }
}

#[test]
fn random_words_come_back() {
    let mut random = Random(2);
    let mut decoded = 0;
    for i in 0..200_000 {
        let bits = u128::from(random.next()) << 64 | u128::from(random.next());
        // Few random instruction words decode. Therefore, half of the tested words differ in one
        // bit from a valid instruction.
        let word = match i % 4 {
            0 => bits,
            1 => bits & u128::from(random.next()) << 64 | bits & 0xffff_ffff_ffff_ffff,
            _ => {
                let op = Opcode::ALL[random.next() as usize % Opcode::ALL.len()];
                Inst::random(op, &mut || random.next()).word() ^ 1 << (bits % 128)
            }
        };
        let text = word_text(word);
        assert_eq!(read_word(&text), Ok(word), "{text}");
        match Inst::decode(word) {
            Some(inst) => {
                decoded += 1;
                assert_eq!(inst.word(), word);
            }
            None => assert!(text.starts_with(".word 0x"), "{text}"),
        }
    }
    assert!(decoded > 10_000, "{decoded}");
}

#[test]
fn every_undefined_bit_makes_a_word_undefined() {
    for &op in Opcode::ALL {
        let word = Inst::new(op).word();
        assert_eq!(Inst::decode(word), Some(Inst::new(op)));
        let named = op.row().fields().fold(0, |m, f| m | f.mask());
        for bit in (0..128).filter(|b| named >> b & 1 == 0) {
            assert_eq!(Inst::decode(word | 1 << bit), None, "{} bit {bit}", op.name());
        }
        assert_eq!(op.registers(), op.row().registers().collect::<Vec<_>>());
    }
}

#[test]
fn undefined_values_do_not_decode() {
    use halfbyte_isa::halu::fields::*;
    let undefined = [
        (Opcode::HADD2_RR, RA_HALF, 1),
        (Opcode::HADD2_RR, B_HALF, 1),
        (Opcode::HFMA2_RRR, C_HALF, 1),
        (Opcode::HSETP2_RR, LOP, 3),
        (Opcode::HSET2_RI, CMP, 0),
        (Opcode::HSET2_RI, CMP, 15),
        (Opcode::VADD4, MASK4, 0),
        (Opcode::VADD2, MASK2, 0),
        (Opcode::ISETP_RR, ICMP, 7),
        (Opcode::S2R, SREG, 1),
        (Opcode::HADD2_RC, CMEM_OFFSET, 2),
        (Opcode::LDG_U_64, RD, 254),
        (Opcode::LDG_U_64, UR32, 62),
        (Opcode::STG_W_128, R64, 252),
    ];
    for (op, field, value) in undefined {
        assert_eq!(Inst::decode(Inst::new(op).with(field, value).word()), None, "{} {field:?}", op.name());
    }
    let both = |op, a, b| Inst::decode(Inst::new(op).with(a, 1).with(b, 1).word());
    assert_eq!(both(Opcode::HADD2_RR, HFMT, FTZ), None);
    assert_eq!(both(Opcode::HMUL2_RI, HFMT, SAT), None);
    assert_eq!(both(Opcode::HFMA2_RRR, RELU, SAT), None);
    assert_eq!(both(Opcode::VMIN2, VSAT, VADD), None);
    assert!(both(Opcode::HMNMX2_RR, HFMT, FTZ).is_some());
}

#[test]
fn programs_round_trip() {
    let text = "\
// A comment, an empty line, labels alone and before an instruction.

start:
    ISETP.LT.U32.AND P0, PT, R1, R2 ;  // the head
loop: @P0 BRA done
    .word 0x1
    BRA loop ;
    @!P0 BRA start ;
done:
    EXIT ;
    BRA end ;
end:
";
    let program = assemble(text).unwrap();
    assert_eq!(program.lines, [4, 5, 6, 7, 8, 10, 11]);
    assert_eq!(word_text(program.words[1]), "@P0 BRA .+4 ;");
    assert_eq!(word_text(program.words[3]), "BRA .-2 ;");
    let listing = disassemble(&program.words);
    assert_eq!(
        listing,
        "\
L0:
    ISETP.LT.U32.AND P0, PT, R1, R2 ;
L1:
    @P0 BRA L5 ;
    .word 0x00000000000000000000000000000001
    BRA L1 ;
    @!P0 BRA L0 ;
L5:
    EXIT ;
    BRA L7 ;
L7:
"
    );
    assert_eq!(assemble(&listing).unwrap().words, program.words);
    // If the target of a branch is outside the program, the disassembly contains the distance in
    // instruction words.
    assert_eq!(disassemble(&[read_word("BRA .-1").unwrap()]), "    BRA .-1 ;\n");
}

#[test]
fn every_error_of_a_program_is_reported() {
    let text =
        "one:\n  HADD2 R0, R1\none: EXIT ;\nR1: NOP\n two: BRA three ;\n .word 1 ;\n @P9 NOP\n bad: NOPE\n BRA bad ;\n";
    let errors = assemble(text).unwrap_err();
    let summary: Vec<_> = errors.iter().map(|e: &AsmError| (e.line, e.span.start, e.found.as_str())).collect();
    assert_eq!(
        summary,
        [(2, 14, ""), (3, 0, "one"), (4, 0, "R1"), (5, 10, "three"), (6, 7, "1"), (7, 2, "P9"), (8, 6, "NOPE")]
    );
}

#[test]
fn random_text_does_not_panic() {
    let mut random = Random(3);
    let alphabet: Vec<char> = "@!P0R1UZ.-|+[]c,;: xHAD2FTé\u{0}/eE9".chars().collect();
    for i in 0..40_000 {
        let op = Opcode::ALL[i % Opcode::ALL.len()];
        let mut line: Vec<char> = Inst::random(op, &mut || random.next()).to_string().chars().collect();
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
        match read_word(&line) {
            Ok(word) => assert_eq!(read_word(&word_text(word)), Ok(word), "{line}"),
            Err(e) => assert_eq!(line.get(e.span.clone()), Some(e.found.as_str()), "{line}: {e:?}"),
        }
    }
    let deep = "[".repeat(100_000);
    assert!(read_word(&deep).is_err());
    assert!(read_word(&format!("HADD2 R0, R1, {}, 1", "9".repeat(100_000))).is_err());
    assert!(read_word(&format!("HADD2 R0, R1, 0.{}1, 1", "0".repeat(100_000))).is_ok());
    assert!(read_word(&format!("HADD2 {}", "R0,".repeat(100_000))).is_err());
}
