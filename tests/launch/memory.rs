//! Tests of the memory space in the error of an invalid access, for computed addresses and for local memory.

use serde_json::{Value, json};

use super::{WAYS, answers};

/// Returns a PTX kernel that computes an address from the parameters in `%d1`, `%d2` and `%d3`, and
/// accesses the address in `%d1`.
fn ptx(compute: &str) -> Value {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 z) {{\n\
         .reg .b32 %r<6>; .reg .b64 %d<9>; .local .align 8 .b8 l[16];\n\
         ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u64 %d3, [z];\n{compute}\nst.global.u32 [%d1], %r1;\nret;\n}}\n"
    );
    let zeros = json!({ "zeros": 64 });
    json!({"ptx": text, "grid": [1, 1, 1], "block": [1, 1, 1], "args": [zeros, zeros, zeros]})
}

/// Asserts that a launch fails with an error kind at a line number, with each set of options in
/// `ways`.
#[track_caller]
fn fails(line: &Value, kind: &str, number: u32, ways: &[&[&str]]) {
    for way in ways {
        let answer = answers(way, &[line.to_string()]).remove(0);
        let error = &answer["error"];
        assert_eq!((&error["kind"], &error["line"]), (&json!(kind), &json!(number)), "{way:?}: {answer}");
    }
}

#[test]
fn sums_of_addresses_are_in_no_buffer() {
    for sum in [
        "add.u64 %d4, %d1, %d1;",
        "add.u64 %d4, %d1, %d2;",
        "add.u64 %d4, %d2, %d3;",
        "shl.b64 %d4, %d1, 2;",
        "mul.lo.u64 %d4, %d2, 16;",
        "sub.u64 %d4, %d3, %d1;",
        "sub.u64 %d4, %d1, %d3;",
        "shl.b64 %d5, %d2, 1; sub.u64 %d4, %d5, %d1;",
        "shl.b64 %d5, %d2, 1; sub.u64 %d4, %d5, %d3;",
        "shl.b64 %d5, %d1, 1; add.u64 %d4, %d5, %d2;",
        "shl.b64 %d5, %d1, 1; neg.s64 %d4, %d5;",
    ] {
        let line = ptx(&format!("{sum}\nld.global.u32 %r1, [%d4];"));
        fails(&line, "out-of-bounds-global", 8, &WAYS[..2]);
        let line = ptx(&format!("{sum}\nld.u32 %r1, [%d4];"));
        fails(&line, "out-of-bounds-global", 8, &WAYS[..2]);
    }
}

#[test]
fn memory_of_an_item_is_local_wherever_the_address_leads() {
    let others: [&[&str]; 2] = [&["--via", "recompiled"], &["--via", "object"]];
    let ways = [&WAYS[..], &others].concat();
    for address in [
        "mov.u64 %d4, l; add.u64 %d4, %d4, 16;",
        "mov.u64 %d4, l; sub.u64 %d4, %d4, 8;",
        "mov.u64 %d4, l; add.u64 %d4, %d4, 4096;",
        "mov.u64 %d4, l; ld.param.u64 %d5, [x]; add.u64 %d4, %d4, %d5;",
        "mov.u64 %d4, 0x7000000000000000;",
        "ld.param.u64 %d4, [y];",
    ] {
        for access in ["ld.local.u32 %r1, [%d4];", "st.local.u32 [%d4], %r1;"] {
            let line = ptx(&format!("mov.u32 %r1, 0; st.local.u32 [l], %r1; {address}\n{access}"));
            fails(&line, "out-of-bounds-local", 8, &ways);
        }
    }
}

#[test]
fn launches_of_no_items_run_nothing() {
    let store = "kernel @k(%x: inout i32) {\n^entry:\n  %i = item_id\n  store %i, %x[%i + 999]\n  ret\n}\n";
    let buffer = "0500000007000000";
    let text = |size: Value| {
        let mut line = json!({"hb": store, "args": [{"buffer": buffer}]});
        line.as_object_mut().unwrap().extend(size.as_object().unwrap().clone());
        line.to_string()
    };
    let sizes = [json!({"items": 0}), json!({"grid": [0, 1, 1], "block": [4, 1, 1]})];
    for way in &WAYS[2..] {
        for answer in answers(way, &sizes.clone().map(text)) {
            assert_eq!(answer, json!({"buffers": [buffer]}), "{way:?}");
        }
    }
    let mut line = ptx("ld.global.u32 %r1, [%d1 + 4096];");
    line["grid"] = json!([1, 0, 1]);
    for way in WAYS {
        let answer = answers(way, &[line.to_string()]).remove(0);
        assert_eq!(answer["buffers"].as_array().map(Vec::len), Some(3), "{way:?}: {answer}");
    }
}
