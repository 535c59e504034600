//! Tests of input lines of `launch` that contain several launches on the same buffers.

use serde_json::{Value, json};

use super::{WAYS, answers};

const KERNELS: &str = "kernel @double(%x: inout i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %r = add.i32 %v, %v
  store %r, %x[%i]
  ret
}

kernel @sum(%a: in i32, %b: in i32, %k: i32, %y: out i32) {
^entry:
  %i = item_id
  %u = load %a[%i]
  %v = load %b[%i]
  %s = add.i32 %u, %v
  %r = add.i32 %s, %k
  store %r, %y[%i]
  ret
}
";

/// The kernels of the launches, in PTX. The first one doubles each word, the second one adds 1 to each word.
const PTX: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry double(.param .u64 x) {
.reg .b32 %r<4>; .reg .b64 %d<4>;
mov.u32 %r0, %tid.x; ld.param.u64 %d0, [x]; mul.wide.u32 %d1, %r0, 4; add.s64 %d2, %d0, %d1;
ld.global.u32 %r1, [%d2]; add.u32 %r1, %r1, %r1; st.global.u32 [%d2], %r1;
ret;
}
.visible .entry next(.param .u64 x) {
.reg .b32 %r<4>; .reg .b64 %d<4>;
mov.u32 %r0, %tid.x; ld.param.u64 %d0, [x]; mul.wide.u32 %d1, %r0, 4; add.s64 %d2, %d0, %d1;
ld.global.u32 %r1, [%d2]; add.u32 %r1, %r1, 1; st.global.u32 [%d2], %r1;
ret;
}
";

fn answer(args: &[&str], line: &Value) -> Value {
    answers(args, &[line.to_string()]).remove(0)
}

fn double() -> Value {
    json!({"hb": KERNELS, "entry": "double", "items": 2, "args": [{"buffer": "0100000002000000"}]})
}

fn with(mut line: Value, then: Value) -> Value {
    line["then"] = then;
    line
}

/// The launches double the buffer twice, then add the buffer to itself, to a new buffer and to a
/// scalar. New buffers are printed after the buffers of the first launch.
#[test]
fn launches_go_on_with_what_is_in_the_buffers() {
    let line = with(
        double(),
        json!([
            {"entry": "double", "items": 1, "args": [{"same": 0}]},
            {"entry": "sum", "items": 2, "args": [{"same": 0}, {"buffer": "0a00000014000000"}, {"value": "64000000"}, {"zeros": 8}]},
        ]),
    );
    for way in WAYS {
        let expected = json!({"buffers": ["0400000004000000", "0a00000014000000", "720000007c000000"]});
        assert_eq!(answer(way, &line), expected, "{way:?}");
    }
}

#[test]
fn ptx_has_launches_that_follow_too() {
    let shape = |entry: &str| json!({"entry": entry, "grid": [1, 1, 1], "block": [2, 1, 1], "args": [{"same": 0}]});
    let mut line = shape("double");
    line["ptx"] = PTX.into();
    line["args"] = json!([{"buffer": "0100000002000000"}]);
    line["then"] = json!([shape("next"), shape("double")]);
    for way in WAYS {
        assert_eq!(answer(way, &line), json!({"buffers": ["060000000a000000"]}), "{way:?}");
    }
}

/// A later launch may reuse a scalar of the first launch. The aliases of a later launch refer to
/// arguments of the same launch.
#[test]
fn values_and_aliases_of_later_launches() {
    let first = json!({"hb": KERNELS, "entry": "sum", "items": 1, "args": [
        {"buffer": "01000000"}, {"buffer": "0200000000000000000000000000000007000000"}, {"value": "05000000"}, {"zeros": 4}]});
    let then = json!([{"entry": "sum", "items": 1, "args": [{"same": 1}, {"alias": 0, "offset": 16}, {"same": 2}, {"same": 3}]}]);
    let expected = json!({"buffers": ["01000000", "0200000000000000000000000000000007000000", "0e000000"]});
    for way in WAYS {
        assert_eq!(answer(way, &with(first.clone(), then.clone())), expected, "{way:?}");
    }
}

#[test]
fn an_error_says_which_launch() {
    let beyond = json!([{"entry": "double", "items": 1, "args": [{"same": 0}]}, {"entry": "double", "items": 3, "args": [{"same": 0}]}]);
    for way in WAYS {
        let error = answer(way, &with(double(), beyond.clone()))["error"].clone();
        assert_eq!((&error["kind"], &error["launch"]), (&json!("out-of-bounds-global"), &json!(2)), "{way:?}: {error}");
        assert_eq!(error["item"], json!([[0, 0, 0], [2, 0, 0]]), "{way:?}");
    }
    // The error of a line with `then` contains the number of the launch, which is 0 for the first
    // one. The error of a line without `then` contains no number.
    let mut first = double();
    first["items"] = 3.into();
    assert_eq!(answer(&[], &with(first.clone(), json!([])))["error"]["launch"], 0);
    assert_eq!(answer(&[], &first)["error"].get("launch"), None);
}

#[test]
fn launches_that_are_wrong_are_refused() {
    let one = |launch: Value| json!([launch]);
    for (then, launch, says) in [
        (json!({}), 0, "`then` is not a list of launches"),
        (one(json!(1)), 1, "is not an object"),
        (one(json!({"hb": KERNELS, "items": 1})), 1, "`hb` is only valid in the line itself, not in `then`"),
        (one(json!({"items": 1, "then": []})), 1, "`then` is only valid in the line itself"),
        (one(json!({"entry": "none", "items": 1, "args": []})), 1, "no kernel `none`"),
        (one(json!({"entry": "double", "args": []})), 1, "give both `grid` and `block`"),
        (one(json!({"entry": "double", "items": 1, "args": [{"same": 1}]})), 1, "the first launch, which has 1"),
        (one(json!({"entry": "double", "items": 1, "args": [{"same": "0"}]})), 1, "not the number of an argument"),
        (one(json!({"entry": "double", "items": 1, "args": [{"same": 0, "zeros": 4}]})), 1, "both `same` and `zeros`"),
        (one(json!({"entry": "double", "items": 1, "args": []})), 1, "the kernel has 1 parameters; `args` gives 0"),
        (
            one(
                json!({"entry": "sum", "items": 1, "args": [{"same": 0}, {"same": 0}, {"value": "00000000"}, {"zeros": 4}]}),
            ),
            1,
            "argument 1 cannot be argument 0 of the first launch, because argument 0 already is; give `alias`",
        ),
    ] {
        let error = answer(&[], &with(double(), then))["error"].clone();
        assert_eq!((&error["kind"], &error["launch"]), (&json!("arguments"), &json!(launch)), "{says}: {error}");
        assert!(error["message"].as_str().unwrap().contains(says), "{says}: {error}");
    }
    // An argument `same` is only valid in the launches of `then`.
    let mut line = double();
    line["args"] = json!([{"same": 0}]);
    let error = answer(&[], &line)["error"].clone();
    assert!(
        error["message"].as_str().unwrap().contains("argument 0 has `same`, which is only valid in a launch of `then`"),
        "{error}"
    );
}
