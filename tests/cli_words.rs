//! Tests of the commands `asm`, `disasm`, `step` and `isa`, as other programs call them.

use serde_json::Value;

use crate::common::{halfbyte, halfbyte_on};

const VECTORS: [&str; 2] = [include_str!("../isa/vectors/halu.jsonl"), include_str!("../isa/vectors/video.jsonl")];

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_vector_steps_to_its_post_state() {
    for (vectors, engine) in VECTORS.iter().flat_map(|vectors| [(vectors, "interp"), (vectors, "jit")]) {
        let called = halfbyte_on(&["step", "--target", "halu", "--engine", engine, "--json"], vectors.as_bytes());
        let (asked, answers) = (lines(vectors), lines(called.output()));
        assert_eq!(asked.len(), answers.len());
        for (asked, answer) in asked.iter().zip(answers) {
            let after = |name: &str| answer["post"].get(name).or(asked["pre"].get(name)).cloned();
            for (name, value) in asked["post"].as_object().unwrap() {
                assert_eq!(after(name).as_ref(), Some(value), "{name} after {asked}");
            }
        }
    }
}

#[test]
fn every_vector_assembles_and_comes_back() {
    for vectors in VECTORS {
        let called = halfbyte_on(&["asm", "--target", "halu", "--json"], vectors.as_bytes());
        let words = lines(called.output());
        let asked: String = words.iter().map(|answer| format!("{{\"word\":{}}}\n", answer["words"][0])).collect();
        let called = halfbyte_on(&["disasm", "--target", "halu", "--json", "-"], asked.as_bytes());
        let texts: String =
            lines(called.output()).iter().map(|answer| format!("{{\"asm\":{}}}\n", answer["text"])).collect();
        let again = halfbyte_on(&["asm", "--target", "halu", "--json"], texts.as_bytes());
        assert_eq!(lines(again.output()), words);
    }
}

#[test]
fn lines_that_must_not_assemble_do_not() {
    let vectors = include_str!("../isa/vectors/asm-errors.jsonl");
    let asked = lines(vectors);
    assert!(!asked.is_empty());
    let text: String = asked.iter().map(|line| format!("{line}\n")).collect();
    let called = halfbyte_on(&["asm", "--target", "halu", "--json"], text.as_bytes());
    let answers = lines(called.output());
    assert_eq!(answers.len(), asked.len());
    for (asked, answer) in asked.iter().zip(answers) {
        assert!(answer["error"].is_string() && answer.get("words").is_none(), "{asked} gives {answer}");
    }
}

#[test]
fn json_answers_every_line_with_one_and_goes_on() {
    let deep = "[".repeat(100_000);
    let input = format!(
        "{{\"asm\":\"EXIT\"}}\n\nnot json\n{{\"asm\":1}}\n{{}}\n{deep}\n\u{0}\n{{\"asm\":\"FROB\"}}\n{{\"asm\":\"EXIT ;\",\"more\":[1]}}"
    );
    let called = halfbyte_on(&["asm", "--target", "halu", "--json"], input.as_bytes());
    // Four of the invalid input lines are not JSON objects.
    called.fails(
        1,
        "error: line 2: not a JSON object: EOF while parsing a value at line 1 column 0; 3 more lines are bad\n",
    );
    let answers = lines(&called.out);
    let errors: Vec<bool> = answers.iter().map(|answer| answer.get("error").is_some()).collect();
    assert_eq!(errors, [false, true, true, true, true, true, true, true, false]);
    assert_eq!(answers[0], answers[8]);

    let input = b"{\"word\":\"0x0\"}\n\xff\xfe\n{\"word\":\"0xg\"}\n{\"word\":7}\n{\"word\":\"0x100000000000000000000000000000000\"}\n";
    let called = halfbyte_on(&["disasm", "--target", "halu", "--json"], input);
    called.fails(1, "error: line 2: not a JSON object: ");
    let answers = lines(&called.out);
    assert_eq!(answers[0]["text"], ".word 0x00000000000000000000000000000000");
    assert_eq!(answers.len(), 5);
    assert!(answers[1..].iter().all(|answer| answer["error"].is_string()), "{answers:?}");

    let input = concat!(
        "{\"asm\":\"HADD2 R0, R1, R2\",\"pre\":{\"R1\":\"0x3c003c00\",\"R2\":\"0x40003c00\"}}\n",
        "{\"asm\":\"@P0 HADD2 R0, R1, R2\"}\n",
        "{\"asm\":\"EXIT\",\"pre\":{\"R255\":\"0x0\"}}\n",
        "{\"asm\":\"EXIT\",\"pre\":{\"R0\":5}}\n",
        "{\"asm\":\"EXIT\",\"pre\":[]}\n",
        "{\"words\":[\"0x0\"]}\n",
        "{\"words\":[]}\n",
        "{\"asm\":\"LDG R0, [R0.U32+UR0]\"}\n",
        "{\"asm\":\"EXIT\",\"pre\":{}}\n",
    );
    // `step` always uses JSON, so `--json` is optional.
    let called = halfbyte_on(&["step", "--target", "halu"], input.as_bytes());
    assert_eq!(called.out, halfbyte_on(&["step", "--target", "halu", "--json"], input.as_bytes()).output());
    let answers: Vec<&str> = called.output().lines().collect();
    assert_eq!(answers[0], "{\"post\":{\"R0\":\"0x42004000\"}}");
    assert_eq!((answers[1], answers[8]), ("{\"post\":{}}", "{\"post\":{}}"));
    assert!(answers[2..8].iter().all(|answer| answer.starts_with("{\"error\":")), "{answers:#?}");
}

#[test]
fn words_and_assembly_by_lines() {
    let text = "// a loop\nloop:\n  HADD2 R0, R1, R2 ;\n  BRA loop\n  .word 0x1\n";
    let words = halfbyte_on(&["asm", "--target", "halu"], text.as_bytes());
    let words: Vec<&str> = words.output().lines().collect();
    assert_eq!(words.len(), 3);
    assert!(words.iter().all(|word| word.len() == 34 && word.starts_with("0x")));
    assert_eq!(words[2], "0x00000000000000000000000000000001");
    let back = halfbyte_on(&["disasm", "--target", "halu", "-"], words.join("\n").as_bytes());
    let assembly = back.output().to_owned();
    assert_eq!(assembly.lines().count(), 3);
    assert!(assembly.contains(".word 0x00000000000000000000000000000001"));
    let again = halfbyte_on(&["asm", "--target", "halu", "-"], assembly.as_bytes());
    assert_eq!(again.output().lines().collect::<Vec<_>>(), words);
}

#[test]
fn errors_show_the_place() {
    let called = halfbyte_on(&["asm", "--target", "halu"], b"EXIT\n  HADD2 R0, R1, R256\nFROB\n");
    called.fails(1, "<stdin>:2:17");
    called.fails(1, "2 |   HADD2 R0, R1, R256\n  |                 ^^^^");
    called.fails(1, "<stdin>:3:1");
    assert_eq!(called.out, "");
    let called = halfbyte_on(&["disasm", "--target", "halu"], b"0x0\n 0xyz\n");
    called.fails(1, "<stdin>:2:2");
    halfbyte_on(&["asm", "--target", "halu"], b"EXIT\n\xff").fails(1, "this is not UTF-8 text");
    halfbyte(&["asm"]).fails(2, "--target");
    halfbyte(&["asm", "--target", "halu", "no/such/file"]).fails(2, "no/such/file");
}

#[test]
fn instructions_have_pages() {
    let list = halfbyte(&["isa"]).output().to_owned();
    for name in ["HFMA2", "hfma2", "vadd4", "VADD4"] {
        let page = halfbyte(&["isa", name]).output().to_owned();
        assert!(page.starts_with("# ") && page.to_lowercase().contains(&name.to_lowercase()), "{page}");
    }
    assert!(list.contains("HFMA2") && list.contains("vadd4"));
    halfbyte(&["isa", "frob"]).fails(2, "there is no instruction `frob`");
    let fma = halfbyte(&["isa", "fma.rn.f16x2"]);
    assert!(fma.output().starts_with("# fma\n") && fma.out.contains(".f16x2"), "{}", fma.out);
    assert_eq!(halfbyte(&["isa", "--target", "ptx", "FMA"]).output(), fma.out);
    for target in ["halu", "vp1", "ptx"] {
        let only = halfbyte(&["isa", "--target", target]).output().to_owned();
        assert!(only.starts_with(&format!("# {} instructions\n", target.to_uppercase())), "{only}");
        assert!(list.contains(&only) && only.len() < list.len());
    }
    let both = halfbyte(&["isa", "vadd4"]).output().to_owned();
    assert_eq!(both.matches("# vadd4\n").count(), 2, "of halu and of ptx");
    assert!(both.contains(halfbyte(&["isa", "vadd4", "--target", "ptx"]).output()));
}

#[test]
fn an_instruction_that_there_is_not_may_be_another() {
    halfbyte(&["isa", "HFMAA"]).fails(2, "; did you mean `HFMA2` of halu?");
    halfbyte(&["isa", "hfmaa.f32"]).fails(2, "; did you mean `HFMA2` of halu?");
    let elsewhere = halfbyte(&["isa", "--target", "ptx", "hfma2"]);
    elsewhere.fails(2, "unknown instruction `hfma2` of ptx; halu has it: halfbyte isa hfma2 --target halu");
    let nothing = halfbyte(&["isa", "qqqqqqqqqqqq"]);
    assert_eq!(nothing.err, "error: unknown instruction `qqqqqqqqqqqq`; `halfbyte isa` lists all instructions\n");

    let asm = |target: &str, text: &str| halfbyte_on(&["asm", "--target", target], text.as_bytes());
    asm("halu", "hadd2 R0, R1, R2 ;\n").fails(1, "`hadd2`: unknown instruction; did you mean `HADD2`?");
    asm("halu", "HADD R0, R1, R2 ;\n").fails(1, "; did you mean `HADD2`?");
    asm("vp1", "vand4 $v1 $v2 $v3\n").fails(1, "; did you mean `vand`?");
    asm("vp1", "qqqqqqqqqqqq\n").fails(1, "unknown instruction\n");
    let json = halfbyte_on(&["asm", "--target", "halu", "--json"], b"{\"asm\": \"hadd2 R0, R1, R2\"}");
    assert!(json.output().contains("did you mean `HADD2`?"), "{}", json.out);
}
