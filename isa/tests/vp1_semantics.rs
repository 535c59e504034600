//! Executes every line of the VP1 test vectors. Exactly the locations in `post` must be written,
//! with the expected values, and all other locations must be unchanged.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use halfbyte_isa::vp1::Bundle;
use halfbyte_isa::vp1::domain::Next;
use halfbyte_isa::vp1::state::{Location, State};
use serde_json::{Map, Value};

fn hex(value: &Value) -> u32 {
    let text = value.as_str().expect("a string of hexadecimal digits");
    u32::from_str_radix(text.trim_start_matches("0x"), 16).expect("hexadecimal digits")
}

/// Parses the sixteen bytes of a vector, component 0 first.
fn bytes(value: &Value) -> [u8; 16] {
    let text = value.as_str().expect("a string of hexadecimal digits");
    assert_eq!(text.len(), 32, "{text}");
    std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hexadecimal digits"))
}

/// Sets the locations that a JSON object names, and returns the set of the named locations.
fn set(state: &mut State, object: &Map<String, Value>) -> BTreeSet<Location> {
    let mut locations = BTreeSet::new();
    for (file, value) in object {
        match file.as_str() {
            "uc" => {
                state.uccfg = value.as_u64().expect("0 or 1") as u32;
                locations.insert(Location::Uccfg);
            }
            "va" => {
                let values = value.as_array().expect("a list");
                state.va = std::array::from_fn(|i| values[i].as_i64().expect("an integer") as i32);
                locations.insert(Location::Va);
            }
            "vx" => {
                state.vx = bytes(value);
                locations.insert(Location::Vx);
            }
            _ => locations.extend(
                value.as_object().expect("registers").iter().map(|(index, value)| set_one(state, file, index, value)),
            ),
        }
    }
    locations
}

#[rustfmt::skip]
fn set_one(state: &mut State, file: &str, index: &str, value: &Value) -> Location {
    if file == "ds" {
        let place = u16::from_str_radix(index, 16).expect("a row and a bank");
        let (row, bank) = (place >> 4, (place & 15) as u8);
        state.data.set_cell(row, bank, hex(value) as u8);
        return Location::Cell { row, bank };
    }
    let n: u8 = index.parse().expect("a register number");
    let i = usize::from(n);
    match file {
        "r" => { state.r[i] = hex(value); Location::R(n) }
        "v" => { state.v[i] = bytes(value); Location::V(n) }
        "vc" => { state.vc[i] = hex(value); Location::Vc(n) }
        "a" => { state.a[i] = hex(value); Location::A(n) }
        "c" => { state.c[i] = hex(value) as u16; Location::C(n) }
        "l" => { state.l[i] = hex(value) as u16; Location::L(n) }
        "m" => { state.m[i] = hex(value); Location::M(n) }
        "x" => { state.x[i] = hex(value); Location::X(n) }
        _ => panic!("no register file {file}"),
    }
}

/// Checks one line of the test vectors. Returns an error that describes the difference.
fn check(vector: &Map<String, Value>) -> Result<(), String> {
    let words: Vec<u32> = vector["words"].as_array().expect("words").iter().map(hex).collect();
    let bundle = Bundle::new(&words).map_err(|e| e.to_string())?;
    let mut state = State::default();
    set(&mut state, vector["pre"].as_object().expect("state"));
    let mut expected = state.clone();
    let places = set(&mut expected, vector["post"].as_object().expect("state"));
    let mut written = BTreeSet::new();
    let next = state.step(&bundle, |location| _ = written.insert(location));
    if let Next::Trap(unknown) = next {
        return Err(unknown.to_string());
    }
    if written != places {
        return Err(format!("writes {written:?}, not {places:?}"));
    }
    if state != expected {
        return Err(difference(&state, &expected).join(", "));
    }
    Ok(())
}

/// Returns the lines of text in which the descriptions of two states differ.
fn difference(got: &State, want: &State) -> Vec<String> {
    let (got, want) = (format!("{got:#x?}"), format!("{want:#x?}"));
    got.lines()
        .zip(want.lines())
        .filter(|(a, b)| a != b)
        .map(|(a, b)| format!("{} not {}", a.trim(), b.trim()))
        .collect()
}

#[test]
fn every_bundle() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/vp1-semantics.jsonl");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut failures = Vec::new();
    for line in text.lines() {
        let vector: Map<String, Value> = serde_json::from_str(line).expect("a JSON object");
        if let Err(error) = check(&vector) {
            failures.push(format!("{error} after {line}"));
        }
    }
    let count = failures.len();
    failures.truncate(5);
    assert!(failures.is_empty(), "{count} lines, among them\n{}", failures.join("\n"));
    assert_eq!(text.lines().count(), 15_524);
}
