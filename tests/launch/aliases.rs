//! Tests of `launch` with arguments that are aliases of arguments that the kernel writes.

use serde_json::{Value, json};

use super::{WAYS, answers};
use crate::aliases::KERNEL;

/// Options by which `launch` imports PTX.
const IMPORTED: [&[&str]; 3] = [WAYS[2], WAYS[3], WAYS[4]];

/// The kernel [`KERNEL`], written in PTX.
const PTX: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 z) {
.reg .b32 %r<6>; .reg .b64 %d<9>;
mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4;
ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u64 %d3, [z];
add.s64 %d4, %d1, %d0; add.s64 %d5, %d2, %d0; add.s64 %d6, %d3, %d0;
ld.global.u32 %r1, [%d4]; add.u32 %r2, %r1, 1; st.global.u32 [%d5], %r2;
ld.global.u32 %r3, [%d4]; add.u32 %r4, %r1, %r3; st.global.u32 [%d6], %r4;
ret;
}
";

fn kernel(args: Value) -> Value {
    json!({"hb": KERNEL, "items": 2, "args": args})
}

fn ptx(args: Value) -> Value {
    json!({"ptx": PTX, "grid": [1, 1, 1], "block": [2, 1, 1], "args": args})
}

fn answer(args: &[&str], line: &Value) -> Value {
    answers(args, &[line.to_string()]).remove(0)
}

/// Returns the arguments of launches with aliases, each with the expected buffers after the launch.
fn launches() -> [(Value, Value); 4] {
    [
        // `x` is an alias of `y`.
        (
            json!([{"alias": 1, "offset": 0}, {"buffer": "0500000007000000"}, {"zeros": 8}]),
            json!(["0600000008000000", "0b0000000f000000"]),
        ),
        // `y` is an alias of `x`.
        (
            json!([{"buffer": "0500000007000000"}, {"alias": 0, "offset": 0}, {"zeros": 8}]),
            json!(["0600000008000000", "0b0000000f000000"]),
        ),
        // `x` and `y` are adjacent parts of one buffer.
        (
            json!([{"buffer": "05000000070000000000000000000000"}, {"alias": 0, "offset": 8}, {"zeros": 8}]),
            json!(["05000000070000000600000008000000", "0a0000000e000000"]),
        ),
        // Each argument has its own buffer.
        (
            json!([{"buffer": "0500000007000000"}, {"buffer": "0000000000000000"}, {"zeros": 8}]),
            json!(["0500000007000000", "0600000008000000", "0a0000000e000000"]),
        ),
    ]
}

#[test]
fn kernels_that_say_so_are_given_one_memory() {
    for (args, expected) in launches() {
        for way in WAYS {
            for races in [false, true] {
                let way = [way, if races { &["--races"] } else { &[] }].concat();
                assert_eq!(answer(&way, &kernel(args.clone())), json!({"buffers": expected}), "{way:?} {args}");
            }
        }
    }
}

#[test]
fn texts_are_imported_so_where_that_is_asked_for() {
    for (args, expected) in launches() {
        for way in WAYS {
            let way = [way, &["--alias"]].concat();
            assert_eq!(answer(&way, &ptx(args.clone())), json!({"buffers": expected}), "{way:?} {args}");
        }
    }
    let [(args, expected), ..] = launches();
    assert_eq!(answer(WAYS[0], &ptx(args.clone())), json!({"buffers": expected}));
    for way in IMPORTED {
        let error = answer(way, &ptx(args.clone()))["error"].clone();
        assert_eq!(error["kind"], "arguments", "{way:?}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("the kernel writes `y`"), "{message}");
        assert!(message.contains("import it with `--alias`"), "{message}");
    }
}

#[test]
fn what_may_overlap_nothing_is_refused() {
    // `z` is written, but not declared with `may_alias`.
    for args in [
        json!([{"buffer": "0500000007000000"}, {"zeros": 8}, {"alias": 0, "offset": 0}]),
        json!([{"zeros": 8}, {"alias": 2, "offset": 0}, {"zeros": 8}]),
    ] {
        for way in WAYS {
            let error = answer(way, &kernel(args.clone()))["error"].clone();
            assert_eq!(error["kind"], "arguments", "{way:?} {args}: {error}");
            let message = error["message"].as_str().unwrap();
            assert!(
                message.contains("writes `z`") && message.contains("declare the parameter `may_alias`"),
                "{message}"
            );
        }
    }
    let odd = json!([{"buffer": "05000000070000000000000000000000"}, {"alias": 0, "offset": 2}, {"zeros": 8}]);
    for way in IMPORTED {
        let error = answer(way, &kernel(odd.clone()))["error"].clone();
        assert_eq!(error["kind"], "arguments", "{way:?}: {error}");
        let way = [way, &["--alias"]].concat();
        let error = answer(&way, &ptx(odd.clone()))["error"].clone();
        assert_eq!(error["kind"], "unsupported", "{way:?}: {error}");
        assert!(
            error["message"].as_str().unwrap().contains("`y` must be aligned to 4 bytes, but byte 2 is not"),
            "{error}"
        );
    }
}

/// A race is also reported if the items access the same memory by different arguments.
#[test]
fn races_on_one_memory_are_found() {
    let args = json!([{"buffer": "050000000700000009000000"}, {"alias": 0, "offset": 4}, {"zeros": 8}]);
    for (line, way) in [
        (kernel(args.clone()), &["--via", "ir"][..]),
        (kernel(args.clone()), &["--via", "halu", "--races"]),
        (ptx(args.clone()), &["--via", "ptx", "--races"]),
        (ptx(args.clone()), &["--via", "halu", "--races", "--alias"]),
    ] {
        assert_eq!(answer(way, &line)["error"]["kind"], "race-global", "{way:?}");
    }
}

/// Bytes of an argument's buffer that the kernel does not access keep their contents.
#[test]
fn memory_of_an_argument_that_is_not_used() {
    let text = PTX.replace("ld.param.u64 %d1, [x];", "ld.param.u64 %d1, [y];");
    let buffer = format!("{}0500000007000000", "aa".repeat(16));
    let args = json!([{"buffer": buffer}, {"alias": 0, "offset": 16}, {"zeros": 8}]);
    let line = json!({"ptx": text, "grid": [1, 1, 1], "block": [2, 1, 1], "args": args});
    let expected = json!({"buffers": [format!("{}0600000008000000", "aa".repeat(16)), "0b0000000f000000"]});
    for way in WAYS {
        assert_eq!(answer(&[way, &["--alias"]].concat(), &line), expected, "{way:?}");
    }
}
