//! Executes every line of the packed-half and video test vectors. Afterwards, the registers and
//! predicates in `post` must have the expected values, and all others must be unchanged.

use std::fs;
use std::path::Path;

use crate::machine::Machine;
use halfbyte_isa::halu::Inst;
use serde_json::{Map, Value};

/// Sets the register, predicate or constant with this name: `R0`, `UR5`, `P0` or `c[0x3][0x1a4]`.
fn set(machine: &mut Machine, key: &str, value: &Value) {
    let word = || {
        let text = value.as_str().and_then(|s| s.strip_prefix("0x")).expect("a hexadecimal word");
        u32::from_str_radix(text, 16).expect("a hexadecimal word")
    };
    if let Some(constant) = key.strip_prefix("c[0x") {
        let (bank, offset) = constant.trim_end_matches(']').split_once("][0x").expect("c[bank][offset]");
        let bank = u8::from_str_radix(bank, 16).expect("a bank");
        let offset = u16::from_str_radix(offset, 16).expect("an offset");
        machine.constants.insert((bank, offset), word());
        return;
    }
    let digits = key.find(|c: char| c.is_ascii_digit()).expect("a register number");
    let number: usize = key[digits..].parse().expect("a register number");
    match &key[..digits] {
        "R" => machine.gpr[number] = word(),
        "UR" => machine.ur[number] = word(),
        "P" => machine.pred[number] = value.as_bool().expect("a truth value"),
        file => panic!("no register file {file}"),
    }
}

fn run(file: &str, least: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut lines = 0;
    for line in text.lines() {
        let vector: Map<String, Value> = serde_json::from_str(line).expect("a JSON object");
        let asm = vector["asm"].as_str().expect("a line of assembly");
        let inst: Inst = asm.parse().unwrap_or_else(|e| panic!("{asm}: {e}"));
        let mut machine = Machine::default();
        for (key, value) in vector["pre"].as_object().expect("state") {
            set(&mut machine, key, value);
        }
        let mut expected = machine.clone();
        let post = vector["post"].as_object().expect("state");
        post.iter().for_each(|(key, value)| set(&mut expected, key, value));
        machine.step(&inst);
        for (n, (got, want)) in machine.gpr.iter().zip(expected.gpr).enumerate() {
            assert_eq!(*got, want, "R{n} is {got:#010x}, not {want:#010x}, after {line}");
        }
        assert!(machine == expected, "{:?} {:?}, not {post:?}, after {line}", machine.pred, machine.ur);
        lines += 1;
    }
    assert!(lines >= least, "{file} has only {lines} lines");
}

#[test]
fn packed_half() {
    run("halu.jsonl", 3873);
}

#[test]
fn video() {
    run("video.jsonl", 3615);
}
