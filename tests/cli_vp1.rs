//! Tests of the commands `asm`, `disasm` and `step` for VP1, as other programs call them.

use serde_json::Value;

use crate::common::halfbyte_on;

const SEMANTICS: &str = include_str!("../isa/vectors/vp1-semantics.jsonl");
const DISASM: &str = include_str!("../isa/vectors/vp1-disasm.jsonl");

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the JSON objects that `COMMAND --target vp1 --json` prints, one for each input line.
fn answers(command: &str, asked: &str) -> Vec<Value> {
    let called = halfbyte_on(&[command, "--target", "vp1", "--json"], asked.as_bytes());
    let is_object = |line: &str| serde_json::from_str::<Value>(line).is_ok_and(|line| line.is_object());
    assert_eq!(called.code, i32::from(!asked.lines().all(is_object)), "{}", called.err);
    let answers = lines(&called.out);
    assert_eq!(answers.len(), asked.lines().count());
    answers
}

#[test]
fn every_vector_steps_to_its_post_state() {
    let asked = lines(SEMANTICS);
    assert_eq!(asked.len(), 15_524);
    for engine in ["interp", "jit"] {
        let called = halfbyte_on(&["step", "--target", "vp1", "--engine", engine, "--json"], SEMANTICS.as_bytes());
        let answers = lines(called.output());
        assert_eq!(answers.len(), asked.len());
        for (asked, answer) in asked.iter().zip(answers) {
            assert_eq!(answer["post"], asked["post"], "{answer} after {asked} on {engine}");
        }
    }
}

#[test]
fn every_vector_disassembles() {
    let asked = lines(DISASM);
    assert_eq!(asked.len(), 5_942);
    for (asked, answer) in asked.iter().zip(answers("disasm", DISASM)) {
        // If bits outside of all fields are set, the assembly does not contain them.
        let text = match asked["text"].as_str().unwrap().split(" [unknown").next().unwrap() {
            "???" => format!(".word {}", asked["word"].as_str().unwrap()),
            text => text.to_owned(),
        };
        assert_eq!(answer["text"], text, "{asked}");
    }
}

#[test]
fn every_vector_assembles_and_comes_back() {
    let words: String = lines(DISASM).iter().map(|asked| format!("{}\n", asked["word"].as_str().unwrap())).collect();
    let text = halfbyte_on(&["disasm", "--target", "vp1"], words.as_bytes()).output().to_owned();
    assert_eq!(text.lines().count(), 5_942);
    let again = halfbyte_on(&["asm", "--target", "vp1"], text.as_bytes()).output().to_owned();
    assert!(again.lines().all(|word| word.len() == 10 && word.starts_with("0x")));
    // The first round trip through assembly loses the bits that the assembly does not contain. The
    // second one loses nothing.
    assert_eq!(halfbyte_on(&["disasm", "--target", "vp1"], again.as_bytes()).output(), text);
    assert_eq!(halfbyte_on(&["asm", "--target", "vp1"], text.as_bytes()).output(), again);
}

#[test]
fn bundles_run_from_assembly() {
    // The store reads `$v1` before the bundle overwrites it, and increments its address register.
    let asm = "stavh $v1 $a2 0x10\\nmov $r1 0x7\\nvadd s $v1 $v1 $v1 ;";
    let words = answers("asm", &format!("{{\"asm\":\"{asm}\"}}\n"));
    assert_eq!(words[0]["words"].as_array().map(Vec::len), Some(3), "{words:?}");
    let ones = "01".repeat(16);
    let pre = format!("{{\"v\":{{\"1\":\"{ones}\"}},\"a\":{{\"2\":\"00000020\"}}}}");
    let asked = format!("{{\"asm\":\"{asm}\",\"pre\":{pre}}}\n{{\"words\":{},\"pre\":{pre}}}\n", words[0]["words"]);
    let answers = answers("step", &asked);
    assert_eq!(answers[0], answers[1]);
    let post = &answers[0]["post"];
    assert_eq!(post["v"]["1"], "02".repeat(16));
    assert_eq!((&post["r"]["1"], &post["a"]["2"]), (&"00000007".into(), &"00000030".into()));
    let stored = post["ds"].as_object().unwrap();
    assert!(stored.len() == 16 && stored.iter().all(|(key, byte)| key.starts_with("002") && byte == "01"), "{post}");
}

#[test]
fn what_cannot_run_is_an_error_and_the_next_line_is_answered() {
    let asked = concat!(
        "{\"words\":[\"0x65080007\"]}\n",
        "not json\n",
        "\n",
        "{}\n",
        "{\"words\":[]}\n",
        "{\"words\":[7]}\n",
        "{\"words\":[\"0x100000000\"]}\n",
        "{\"words\":[\"0x65080007\",\"0x65080007\"]}\n",
        "{\"words\":[\"0x65080007\",\"0xc0000000\"]}\n",
        "{\"words\":[\"0xdb000000\"]}\n",
        "{\"words\":[\"0xc3000000\"]}\n",
        "{\"asm\":\"mov $r1 0x7\\nfrob\"}\n",
        "{\"asm\":\"\"}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":[]}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{\"q\":1}}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{\"q\":{\"1\":\"00000000\"}}}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{\"r\":{\"31\":\"00000000\"}}}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{\"r\":{\"01\":\"00000000\"}}}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{\"r\":{\"1\":\"+0000000\"}}}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{\"r\":{\"1\":\"0000\"}}}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{\"r\":\"00000000\"}}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{\"ds\":{\"2000\":\"00\"}}}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{\"ds\":{\"10\":\"00\"}}}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{\"va\":[0]}}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{\"va\":[134217728,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{\"uc\":-1}}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{\"vx\":{\"0\":\"00\"}}}\n",
        "{\"asm\":\"mov $r1 0x7\",\"pre\":{},\"more\":[1]}\n",
    );
    let answers = answers("step", asked);
    let (first, rest) = answers.split_first().unwrap();
    let (last, bad) = rest.split_last().unwrap();
    assert_eq!(first.to_string(), "{\"post\":{\"r\":{\"1\":\"00000007\"}}}");
    assert_eq!(last, first);
    assert!(bad.iter().all(|answer| answer["error"].is_string()), "{bad:#?}");
}

#[test]
fn words_that_are_none_are_errors_and_the_next_line_is_answered() {
    let asked = concat!(
        "{\"word\":\"0xe0000000\",\"pos\":\"0x10003\"}\n",
        "{\"word\":\"0x100000000\"}\n",
        "{\"word\":\"0xe0000000\",\"pos\":\"0x100000000\"}\n",
        "{\"word\":\"0xe0000000\",\"pos\":[]}\n",
        "{\"word\":\"0xe0000000\",\"pos\":\"4\"}\n",
        "{\"word\":7}\n",
        "{\"word\":\"0xdb000000\",\"more\":1}\n",
    );
    let answers = answers("disasm", asked);
    assert_eq!(answers[0]["text"], "bra $c0 $c0 sf 0x10000");
    assert!(answers[1..6].iter().all(|answer| answer["error"].is_string()), "{answers:#?}");
    assert_eq!(answers[6]["text"], ".word 0xdb000000");
}

#[test]
fn programs_have_labels_and_errors_have_places() {
    // A branch with distance 0 targets the start of its own line of four instruction words. For a
    // branch in word 3, the target is word 0; for a branch in word 4, the target is word 4. Empty
    // input lines are not counted.
    for (nops, target) in
        [("0xdf000000\n0xdf000000\n\n0xdf000000\n", "0x0"), ("0xdf000000\n".repeat(4).as_str(), "0x4")]
    {
        let words = format!("{nops}0xe0000000\n");
        let text = halfbyte_on(&["disasm", "--target", "vp1", "-"], words.as_bytes()).output().to_owned();
        assert_eq!(text.lines().last(), Some(format!("bra $c0 $c0 sf {target}").as_str()), "{text}");
    }
    let program = "start:\n  mov $r1 0x7 // seven\n  bra start\n.word 0xdb000000\n";
    let words = halfbyte_on(&["asm", "--target", "vp1", "-"], program.as_bytes()).output().to_owned();
    assert_eq!(words.lines().collect::<Vec<_>>().len(), 3);
    assert!(words.ends_with("\n0xdb000000\n"), "{words}");

    let called = halfbyte_on(&["asm", "--target", "vp1"], b"mov $r1 0x7\n  mov $r32 0x7\nfrob\n");
    called.fails(1, "<stdin>:2:7");
    called.fails(1, "2 |   mov $r32 0x7\n  |       ^^^^");
    called.fails(1, "<stdin>:3:1");
    assert_eq!(called.out, "");
    let called = halfbyte_on(&["disasm", "--target", "vp1"], b"0x0\n 0x100000000\n");
    called.fails(1, "<stdin>:2:2");
    called.fails(1, "not a 32-bit word; expected 0x and 8 hexadecimal digits");
}

/// Returns a kernel in which each item loads an element of type `ty` and stores `words` 32-bit words.
fn spread(ty: &str, words: u32) -> String {
    let value = if ty == "i32" { "x[i]" } else { "zext.i32(x[i])" };
    format!(
        "kernel spread(x: in {ty}, y: out i32) {{\n  let i = item_id()\n  for l in 0..{words} {{ y[i * {words} + l] = {value} + l }}\n}}\n"
    )
}

#[test]
fn a_kernel_that_no_launch_can_run_is_refused() {
    let compile = |text: &str| halfbyte_on(&["compile", "-", "--target", "vp1", "-o", "/dev/null"], text.as_bytes());
    let called = compile(&spread("i8", 256));
    called.fails(1, "16 items, which run as one group, take at least ");
    called.fails(1, "bytes of the data store, which has 8192; 16384 of them are accessed in `%y`");
    called.fails(1, "with elements of 32 bits in `%x` a group has 4");
    called.fails(1, "<stdin>:3:");
    // A single item that accesses more than 8 KB does not fit in the data store either.
    let called = compile(&spread("i32", 2048));
    called.fails(1, "at least 8196 bytes of the data store, which has 8192");
    called.fails(1, "access fewer bytes per item, or split the kernel");
    // Kernels whose streams fit in the data store compile and run.
    for (ty, words) in [("i32", 256), ("i8", 64)] {
        let text = spread(ty, words);
        compile(&text).output();
        let run = format!("{text}; run: vp1: @spread items=7 x=random(7, 1)\n");
        halfbyte_on(&["check", "-"], run.as_bytes()).output();
    }
}

#[test]
fn messages_about_operations_that_passes_make_have_a_place() {
    let text = "; A comment.\n\nkernel k(x: in i64, n: i32, y: out i32) {\n  let i = item_id()\n  var s = 0i64\n  \
                for k in 0..n { s = s + x[k] }\n  y[i] = trunc(popcount(s))\n}\n";
    let called = halfbyte_on(&["compile", "-", "--target", "vp1"], text.as_bytes());
    called.fails(1, "vp1 cannot do");
    let places: Vec<&str> = called.err.lines().filter(|line| line.contains("<stdin>:")).collect();
    let line = |place: &&str| place.split("<stdin>:").nth(1).and_then(|rest| rest.split(':').next()?.parse().ok());
    let lines: Vec<u32> = places.iter().filter_map(line).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| (3..=7).contains(line)), "{}", called.err);
    // A text test reports lines of the whole file, so the `; test:` line counts.
    let test = format!("; test: isel vp1\n{text}; check: nothing\n");
    let called = halfbyte_on(&["test", "-"], test.as_bytes());
    let message = called.err.clone() + &called.out;
    assert!(called.code == 1 && message.contains("vp1 cannot do"), "{message}");
    let lines: Vec<u32> =
        message.lines().filter(|line| line.contains("<stdin>:")).collect::<Vec<_>>().iter().filter_map(line).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| (4..=8).contains(line)), "{message}");
}
