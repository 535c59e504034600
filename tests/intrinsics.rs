//! Tests of intrinsics: the evaluator and the compiled code give the same bits for every
//! instruction, and invalid intrinsics are refused.

use std::path::Path;

use halfbyte::Module;
use halfbyte::launch::Engine;
use halfbyte_testkit::check::check;

/// Returns a HALU kernel that loads up to three operands, applies an intrinsic to them, and stores the result.
fn kernel(operands: &[&str], result: &str, intrinsic: &str) -> String {
    kernel_on("halu", operands, result, intrinsic)
}

fn kernel_on(target: &str, operands: &[&str], result: &str, intrinsic: &str) -> String {
    let names = ["a", "b", "c"];
    let mut params = Vec::new();
    let mut body = String::new();
    let mut values = Vec::new();
    let mut run = String::new();
    for (name, &ty) in names.iter().zip(operands) {
        let loaded = if ty == "i1" { "i32" } else { ty };
        params.push(format!("%{name}s: in {loaded}"));
        body += &format!("  %{name} = load %{name}s[%i]\n");
        run += &format!(" {name}s=random(64, {})", params.len());
        if ty == "i1" {
            body += &format!("  %{name}_set = icmp.lt_s.i32 %{name}, %zero\n");
            values.push(format!("%{name}_set"));
        } else {
            values.push(format!("%{name}"));
        }
    }
    let stored = if result == "i1" { "i32" } else { result };
    body += &format!("  %r = intrinsic.{result} {target} \"{intrinsic}\", {}\n", values.join(", "));
    let out = if result == "i1" {
        body += "  %w = mask_expand.i32 %r\n";
        "w"
    } else {
        "r"
    };
    format!(
        "kernel @k({}, %y: out {stored}) {{\n^entry:\n  %i = item_id\n  %zero = const.i32 0\n{body}  store %{out}, %y[%i]\n  ret\n}}\n; run: {target}: @k items=64{run} y=zeros(64)\n",
        params.join(", ")
    )
}

fn outcome(text: &str) -> Option<String> {
    check("k.hb", text, Path::new("."), &Engine::ALL).failures.map(|report| report.to_string())
}

#[test]
fn evaluated_and_compiled_agree() {
    for (operands, result, intrinsic) in [
        (&["i8x4", "i8x4", "i8x4"][..], "i8x4", "vadd4.s32.u32.s32.sat $d.b210, $0.b3210, $1.b7004, $2"),
        (&["i16x2", "i16x2", "i32"], "i32", "vabsdiff2.s32.s32.u32.add $d.h1, $0.h31, $1, $2"),
        (&["f16x2", "f16x2"], "f16x2", "HFMA2.FTZ.RM $d, -|$0.H1_H1|, $1.H0_H0, 1, -0"),
        (&["bf16x2", "bf16x2"], "i16x2", "HSET2.BF16_V2.GTU.AND $d, $0, $1"),
        (&["f16x2", "f16x2", "i1"], "i1", "HSETP2.LE.XOR $d, PT, $0, $1, !$2"),
        (&["f16x2", "f16x2", "i1"], "f16x2", "HMNMX2.NAN $d, $0, $1, $2"),
        (&["f16x2", "f16x2"], "f32", "HADD2.F32 $d, $0, $1"),
        (&["i32", "i32", "i64"], "i64", "IMAD.WIDE.S32 $d, $0, $1, $2"),
        (&["i8", "i16"], "i32", "IADD3 $d, $0, -$1, RZ"),
        (&["f16", "i8x4"], "i8x4", "PRMT $d, $0, 0x4e51, $1"),
        (&["i32", "i32", "i32"], "i32", "LOP3 $d, $0, $1, $2, 0x96"),
        (&["i1", "i1", "i1"], "i1", "PLOP3 $d, PT, $0, !$1, $2, 0x96"),
    ] {
        assert_eq!(outcome(&kernel(operands, result, intrinsic)), None, "{intrinsic}");
    }
}

#[test]
fn instructions_of_ptx_evaluated_and_compiled_agree() {
    for (operands, result, intrinsic) in [
        (&["f32"][..], "f32", "cvt.rmi.f32.f32 $d, $0"),
        (&["f32", "f32"], "f32", "add.rz.ftz.sat.f32 $d, $0, $1"),
        (&["f32", "f32"], "i32", "div.full.f32 $d, $0, $1"),
        (&["i32", "i32", "i32"], "i32", "lop3.b32 $d, $0, $1, $2, 0x1e"),
        (&["i64", "i32"], "i64", "shl.b64 $d, $0, $1"),
        (&["i64", "f64"], "i1", "setp.lt.s64 $d, $0, $1"),
        (&["f16", "bf16"], "f16", "add.f16 $d, $0, $1"),
        (&["f16", "i1"], "i16", "selp.b16 $d, $0, 7, $1"),
        (&["i8x4", "i16x2", "i32"], "f32", "vadd4.s32.s32.s32.sat $d.b20, $0.b0123, $1, $2"),
        (&["f64"], "i32", "cvt.rni.s32.f64 $d, $0"),
    ] {
        assert_eq!(outcome(&kernel_on("ptx", operands, result, intrinsic)), None, "{intrinsic}");
    }
    for (intrinsic, reason) in [
        ("not.b32 $d, %r1", "%r1"),
        ("not.b32 $d, $1", "$1"),
        ("ld.global.b32 $d, [$0]", "64"),
        ("mov.u32 $d, %tid.x", "operands of an intrinsic must be `$d`, `$0`, `$1`"),
        ("not.b32 $d, $0; not.b32 $d, $0", "expected exactly one instruction"),
        ("@$0 not.b32 $d, $0", "pred"),
        ("frob.b32 $d, $0", "unknown instruction"),
    ] {
        let message = outcome(&kernel_on("ptx", &["i32"], "i32", intrinsic)).unwrap();
        assert!(message.contains(reason), "{intrinsic}: {message}");
    }
    // If a later SM version introduced the instruction, the refusal names this SM version.
    let text = kernel_on("ptx", &["i32", "i32"], "i32", "add.s16x2 $d, $0, $1");
    let on = |sm| Module::parse(&text).unwrap().compile(halfbyte::ptx(sm));
    assert!(on(halfbyte::Sm::SM_90).is_ok());
    let message = on(halfbyte::Sm::SM_80).unwrap_err().to_string();
    assert!(message.contains("the instruction needs sm_90 or above"), "{message}");
}

#[test]
fn what_is_no_intrinsic_is_refused() {
    for (intrinsic, reason) in [
        ("HADD2 $d, $0, R1", "register `R1` is not allowed"),
        ("HADD2 $d, $0, $1", "`$1` is not a valid placeholder"),
        ("LDG $d, [$0.U32+URZ]", "LDG accesses memory or changes control flow, which an intrinsic must not do"),
        ("@!PT HADD2 $d, $0, $0", "an intrinsic cannot have a guard"),
        ("IMAD.WIDE.U32 $d, $0, $0, RZ", "does not fit this operand"),
        ("HADD9 $d, $0, $0", "unknown instruction"),
    ] {
        let message = outcome(&kernel(&["i32"], "i32", intrinsic)).unwrap();
        assert!(message.contains(reason), "{intrinsic}: {message}");
    }
    let unused = "kernel @k() {\n^entry:\n  %i = item_id\n  %r = intrinsic.i32 halu \"HADD9 $d, $0\", %i\n  ret\n}\n";
    let errors = Module::parse(unused).unwrap().compile(halfbyte::HALU).unwrap_err().to_string();
    assert!(errors.contains("unknown instruction"), "{errors}");
    let masks = "kernel @k(%x: in i8x4, %y: out i8x4) {\n^entry:\n  %i = item_id\n  %a = load %x[%i]\n  %m = icmp.lt_s.i8x4 %a, %a\n  %r = intrinsic.i8x4 halu \"MOV $d, $0\", %m\n  store %r, %y[%i]\n  ret\n}\n; run: halu: @k items=1 x=[1] y=zeros(1)\n";
    let message = outcome(masks).unwrap();
    assert!(message.contains("no register holds i1x4"), "{message}");
}
