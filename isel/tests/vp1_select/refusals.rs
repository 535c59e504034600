//! Tests that VP1 refuses unsupported operations with the op, the source location and a reason.

use std::fmt::Write;

use halfbyte_ir::{Legality, Op, Type};
use halfbyte_isa::vp1::TARGET;
use halfbyte_isel::{Backend, Vp1};

use super::machine::{on_vectors, read, select};

fn refusal(kernel: &halfbyte_ir::Kernel) -> String {
    let refusals = select(kernel).unwrap_err();
    refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Returns a kernel that loads the word `%a` and stores the word `%c` for each item.
fn on_words(params: &str, body: &str) -> halfbyte_ir::Kernel {
    read(&format!(
        "kernel @k({params}%x: in i32, %z: out i32) groups 1 {{
  stream %x_0: in i32 of %x, 4 bytes at 4 * item
  stream %z_1: out i32 of %z, 4 bytes at 4 * item
^entry:
  %g = item_id
  %a = load %x_0[%g]
  {body}
  store %c, %z_1[%g]
  ret
}}
"
    ))
}

#[test]
fn ops_without_a_rule() {
    let floats = on_words("", "%f = bitcast.f32 %a\n%h = fadd.f32 %f, %f\n%c = bitcast.i32 %h");
    let reason = "on VP1, sums, differences and products of floats only round to nearest and have no modifiers";
    assert_eq!(refusal(&floats), format!("vp1 cannot do `fadd.f32`: {reason}"));
    let quotients = on_words("", "%f = bitcast.f32 %a\n%h = fdiv.f32 %f, %f\n%c = bitcast.i32 %h");
    assert_eq!(refusal(&quotients), "vp1 cannot do `fdiv.f32`: VP1 has no floating-point arithmetic");
    let halves = on_words("", "%f = bitcast.i16x2 %a\n%h = add.i16x2 %f, %f\n%c = bitcast.i32 %h");
    assert_eq!(refusal(&halves), "vp1 cannot do `add.i16x2`: the lanes of VP1's vectors are 8 bits wide");
    let wide = on_words("", "%f = zext.i64 %a\n%h = add.i64 %f, %f\n%c = trunc.i32 %h");
    let reason = "the scalar registers of VP1 hold 32 bits";
    let lines = ["zext.i64", "add.i64", "trunc.i32"].map(|op| format!("vp1 cannot do `{op}`: {reason}"));
    assert_eq!(refusal(&wide), lines.join("\n"));
    let high = on_words("", "%c = mul_hi_u.i32 %a, %a");
    assert_eq!(refusal(&high), "vp1 cannot do `mul_hi_u.i32`");
}

#[test]
fn unpacked_kernels() {
    let kernel = read("kernel @k(%x: in i32) {\n^entry:\n  ret\n}");
    assert_eq!(refusal(&kernel), "vp1 cannot do this: the work items are not packed");
}

#[test]
fn parameters() {
    let unused = on_words("%w: i64, ", "%c = add.i32 %a, %a");
    assert!(select(&unused).is_ok());
    let used = on_words("%w: i64, ", "%d = trunc.i32 %w\n%c = add.i32 %a, %d");
    assert_eq!(refusal(&used), "vp1 cannot do `trunc.i32`: the scalar registers of VP1 hold 32 bits");
    let mask = on_words("%m: i1x4, ", "%t = any.i1x4 %m\n%c = select.i32 %t, %a, %a");
    assert_eq!(refusal(&mask), "vp1 cannot do this: parameter `%m`: a mask cannot be a parameter");
    let many: String = (0..16).map(|k| format!("%v{k}: i8x16, ")).collect();
    let reason = "vp1 cannot do this: its scalar parameters take more than 61 words from `%v15` on";
    assert_eq!(refusal(&on_words(&many, "%c = add.i32 %a, %a")), reason);
}

#[test]
fn streams() {
    let kernel = |count: usize, scalars: usize| {
        let mut params: String = (0..scalars).map(|k| format!("%p{k}: i32, ")).collect();
        let (mut streams, mut body) = (String::new(), String::new());
        for k in 0..count {
            let _ = write!(params, "%y{k}: in i32{}", if k + 1 < count { ", " } else { "" });
            let _ = writeln!(streams, "  stream %s{k}: uniform in i32 of %y{k}, 4 bytes at 0");
            let _ = writeln!(body, "  %v{k} = load %s{k}");
        }
        read(&format!("kernel @k({params}) groups 1 {{\n{streams}^entry:\n  %g = item_id\n{body}  ret\n}}"))
    };
    assert!(select(&kernel(30, 31)).is_ok());
    assert_eq!(
        refusal(&kernel(31, 0)),
        "vp1 cannot do this: too many streams: this access needs stream 30, but streams are numbered below 30"
    );
    assert!(refusal(&kernel(30, 32)).contains("streams are numbered below 29"));
}

#[test]
fn rejects_a_data_image_that_is_too_large() {
    let kernel = |count: usize| {
        let mut body = "%c0 = xor.i8x16 %a, %b\n".to_string();
        for k in 0..count {
            let list: Vec<String> = (0..16).map(|lane| ((k + lane * 7) % 250).to_string()).collect();
            let _ = writeln!(body, "%k{k} = const.i8x16 [{}]\n%c{} = xor.i8x16 %c{k}, %k{k}", list.join(", "), k + 1);
        }
        on_vectors(&body.replace(&format!("%c{count} "), "%c "))
    };
    assert!(select(&kernel(128)).is_ok());
    let reason = "vp1 cannot do this: constant vectors take 2064 bytes; at most 2048 are possible";
    assert_eq!(refusal(&kernel(129)), reason);
}

/// The set of ops that VP1 supports is derived from the selection rules.
#[test]
fn derives_supported_ops_from_the_rules() {
    let legality: Legality = Vp1.legality(TARGET);
    assert_eq!(legality.lanes().map(|lanes| (lanes.vector, lanes.max_streams)), Some((Type::I8X16, 30)));
    for (op, ty) in [
        (Op::Add, Type::I8X16),
        (Op::AvgS, Type::I8X16),
        (Op::Mul, Type::I32),
        (Op::Icmp, Type::I8X4),
        (Op::Any, Type::I1X16),
    ] {
        assert!(legality.is_native(op, ty), "{op:?} {ty}");
    }
    for (op, ty) in [
        (Op::Fadd, Type::F16X2),
        (Op::Add, Type::I16X2),
        (Op::Add, Type::I64),
        (Op::MulHiU, Type::I32),
        (Op::Const, Type::I64),
        (Op::Load, Type::I1X16),
    ] {
        assert!(!legality.is_native(op, ty), "{op:?} {ty}");
    }
    assert!(legality.reason(Op::Fdiv, Type::F32).is_some_and(|reason| reason.why.contains("floating-point")));
    assert!(legality.reason(Op::Fadd, Type::F16X2).is_some_and(|reason| reason.why.contains("nearest")));
    assert!(legality.reason(Op::LocalId, Type::I32).is_some_and(|reason| reason.why.contains("groups")));
}
