//! Tests of PTX that is compiled to PTX. A kernel without packed operations is not changed, and an
//! instruction without an equivalent op is copied.

use tempfile::TempDir;

use crate::common::{Called, halfbyte};

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// Returns a PTX kernel with the given body. The body may use the registers `%f0` to `%f3` and
/// `%r0` to `%r3`. `%r8` is the index `i`, and `%d2` the address of `x[i]`.
fn kernel(hints: &str, body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 x)\n{hints}\n{{\n.reg .f32 %f<8>; .reg .b32 %r<9>; .reg .b64 %d<8>; .reg .b16 %h<4>; .reg .pred %p<4>;\n\
         mov.u32 %r8, %tid.x;\nld.param.u64 %d0, [x];\nmul.wide.u32 %d1, %r8, 4;\nadd.s64 %d2, %d0, %d1;\n{body}\nret;\n}}\n"
    )
}

struct File {
    _folder: TempDir,
    path: String,
}

fn file(text: &str) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    std::fs::write(&path, HEAD.to_owned() + text).unwrap();
    File { path: path.display().to_string(), _folder: folder }
}

fn compiled(text: &str, more: &[&str]) -> Called {
    let file = file(text);
    halfbyte(&[&["compile", &file.path, "--target", "ptx", "--sm", "80"], more].concat())
}

#[test]
fn a_kernel_without_packed_work_is_given_back_as_it_was() {
    let body = "mov.u32 %r0, 0;\nLOOP:\n.pragma \"nounroll\";\nld.global.f32 %f0, [%d2];\nmul.f32 %f1, %f0, %f0;\nadd.f32 %f2, %f1, %f0;\n\
        cvt.rmi.f32.f32 %f3, %f2;\nst.global.f32 [%d2], %f3;\nadd.u32 %r0, %r0, 1;\nsetp.lt.u32 %p0, %r0, %r8;\n@%p0 bra LOOP;";
    let called = compiled(&kernel(".maxntid 64, 1, 1\n.maxnreg 32", body), &[]);
    assert_eq!(called.code, 0, "{}", called.err);
    for kept in [
        ".maxntid 64",
        ".maxnreg 32",
        ".pragma \"nounroll\";",
        "mul.f32 %f1, %f0, %f0;",
        "add.f32",
        "cvt.rmi.f32.f32",
        "mul.wide.u32 %d1, %r8, 4;",
    ] {
        assert!(called.out.contains(kept), "{kept}: {}", called.out);
    }
    assert!(called.err.contains("note: @k has no packed operations, so its original PTX is kept"), "{}", called.err);
    assert_eq!(compiled(&kernel("", body), &["--quiet"]).err, "");
}

#[test]
fn beside_packed_work_what_no_op_stands_for_stays_what_it_was() {
    let body = ".pragma \"used_bytes_mask 15\";\nld.global.b32 %r0, [%d2];\nadd.f16x2 %r1, %r0, %r0;\nmov.b32 %f0, %r1;\ncvt.rmi.f32.f32 %f1, %f0;\nadd.ftz.f32 %f2, %f1, %f1;\n\
        mov.b32 %r2, %f2;\nshf.l.wrap.b32 %r3, %r2, %r1, %r8;\nld.global.b64 %d3, [%d0];\nbfe.u64 %d4, %d3, %r8, 7;\ncvt.u32.u64 %r4, %d4;\n\
        xor.b32 %r5, %r3, %r4;\nst.global.b32 [%d2], %r5;";
    let text = kernel(".reqntid 32\n.minnctapersm 2", body);
    let called = compiled(&text, &[]);
    assert_eq!(called.code, 0, "{}", called.err);
    for kept in [
        ".reqntid 32",
        ".minnctapersm 2",
        "add.rn.f16x2",
        "cvt.rmi.f32.f32",
        "add.ftz.f32",
        "shf.l.wrap.b32",
        "bfe.u64",
    ] {
        assert!(called.out.contains(kept), "{kept}: {}", called.out);
    }
    assert!(!called.out.contains("used_bytes_mask"), "{}", called.out);
    assert_eq!(called.err, "");
    // For HALU, the import translates the instruction to several ops.
    let file = file(&text);
    for target in ["halu", "ptx"] {
        let listed = halfbyte(&["compile", &file.path, "--target", target, "--emit", "ir"]);
        assert_eq!(
            listed.out.contains("intrinsic.f32 ptx \"cvt.rmi.f32.f32 $d, $0\""),
            target == "ptx",
            "{}",
            listed.out
        );
    }
}

/// If ptxas may fuse a product and a sum of the source, it may also fuse them in the output, even if they are packed.
#[test]
fn products_and_sums_stay_fusible() {
    let fused =
        "ld.global.b32 %r0, [%d2];\nmul.f16x2 %r1, %r0, %r0;\nadd.f16x2 %r2, %r1, %r0;\nst.global.b32 [%d2], %r2;";
    let called = compiled(&kernel("", fused), &[]);
    assert!(called.out.contains("mul.f16x2") && called.out.contains("add.f16x2"), "{}", called.out);
    // A sum without a product has the same result with and without fusion.
    let alone = "ld.global.b32 %r0, [%d2];\nadd.f16x2 %r2, %r0, %r0;\nst.global.b32 [%d2], %r2;";
    assert!(compiled(&kernel("", alone), &[]).out.contains("add.rn.f16x2"));
    let called = compiled(&kernel("", fused), &["--contract"]);
    assert!(called.out.contains("fma.rn.f16x2") && !called.out.contains("mul.f16x2"), "{}", called.out);
    // An explicit rounding modifier forbids fusion.
    let rounded = fused.replace("mul.f16x2", "mul.rn.f16x2");
    let called = compiled(&kernel("", &rounded), &["--contract"]);
    assert!(called.out.contains("mul.rn.f16x2") && called.out.contains("add.rn.f16x2"), "{}", called.out);
}

#[test]
fn which_way_a_free_sum_was_taken_is_said() {
    let body = "ld.global.f32 %f0, [%d2];\nmul.f32 %f1, %f0, %f0;\nmov.f32 %f3, %f1;\nsub.f32 %f2, %f3, %f0;\nst.global.f32 [%d2], %f2;";
    let file = file(&kernel("", body));
    let run = |more: &[&str]| {
        let all = ["run", &file.path, "--grid", "1", "--block", "1", "--arg", "x=[0x3f800001]", "--print", "bits"];
        halfbyte(&[&all[..], more].concat())
    };
    // The square of 1 + 2^-23 is 1 + 2^-22 + 2^-46. Only a fused subtraction preserves the last term.
    let rounded = run(&["--target", "halu"]);
    assert_eq!(rounded.out.trim(), "x=[0x34000000]");
    assert!(rounded.err.contains("note: @k permits the assembler to fuse a sum with products"), "{}", rounded.err);
    assert_eq!(run(&["--target", "ptx"]).out, rounded.out);
    for target in ["halu", "ir"] {
        let fused = run(&["--target", target, "--contract"]);
        assert_eq!((fused.out.trim(), fused.err.as_str()), ("x=[0x34000001]", ""), "{target}");
    }
    let listed = halfbyte(&["compile", &file.path, "--target", "halu", "--emit", "ir", "--contract"]);
    assert!(listed.out.contains("fmul.contract.f32") && listed.out.contains("fsub.contract.f32"), "{}", listed.out);
    let refused = run(&["--target", "ptx", "--contract"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.err.contains("--contract is only valid for imported PTX; direct execution rounds"),
        "{}",
        refused.err
    );
}

#[test]
fn what_the_machine_lacks_is_not_given_back_as_it_was() {
    // For another SM version, `.target` in the output names that SM version.
    let body = "ld.global.b32 %r0, [%d2];\ntanh.approx.f32 %f0, %r0;\nst.global.f32 [%d2], %f0;";
    let text = kernel("", body).replace("tanh.approx.f32 %f0, %r0", "mov.b32 %f1, %r0;\ntanh.approx.f32 %f0, %f1");
    let file = file(&text);
    let called = halfbyte(&["compile", &file.path, "--target", "ptx", "--sm", "75"]);
    assert!(called.code == 0 && called.out.contains(".target sm_75"), "{}{}", called.out, called.err);
    // If a kernel has packed operations, the compiler inlines its function calls.
    let function = ".func (.reg .b32 r) twice(.reg .b32 a) { add.f16x2 r, a, a; ret; }\n";
    let body = "ld.global.b32 %r0, [%d2];\ncall (%r1), twice, (%r0);\nst.global.b32 [%d2], %r1;";
    let called = compiled(&(function.to_owned() + &kernel("", body)), &[]);
    assert!(called.code == 0 && !called.out.contains("call"), "{}{}", called.out, called.err);
}

#[test]
fn functions_are_given_back_with_the_kernels_that_call_them() {
    let functions = ".global .u32 count = 3;\n.func (.param .b32 r) twice(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r0, [a];\n\
        ld.global.u32 %r1, [count];\nmad.lo.u32 %r2, %r0, 2, %r1;\nst.param.b32 [r], %r2;\nret;\n}\n\
        .func (.param .b32 r) more(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r0, [a];\n{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r0;\n\
        call.uni (q), twice, (p);\nld.param.b32 %r1, [q]; }\nadd.u32 %r2, %r1, 1;\nst.param.b32 [r], %r2;\nret;\n}\n\
        .func unused()\n{\nret;\n}\n";
    let call = "ld.global.u32 %r0, [%d2];\n{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r0;\ncall.uni (q), more, (p);\nld.param.b32 %r1, [q]; }\n\
        st.global.u32 [%d2], %r1;";
    let packed = "ld.global.b32 %r0, [%d2];\nadd.f16x2 %r1, %r0, %r0;\nst.global.b32 [%d2], %r1;";
    let [first, second] = ["k", "also"].map(|name| kernel("", call).replace("entry k(", &format!("entry {name}(")));
    let third = kernel("", packed).replace("entry k(", "entry twice_as_much(");
    let text = format!("{functions}{first}{second}{third}");
    let called = compiled(&text, &[]);
    assert_eq!(called.code, 0, "{}", called.err);
    for name in ["@k", "@also"] {
        assert!(
            called.err.contains(&format!("note: {name} has no packed operations, so its original PTX is kept")),
            "{}",
            called.err
        );
    }
    for once in
        [".func (.param .b32 r0) twice (.param .b32 a0);", "call.uni (q), twice, (p);", ".global .u32 count = 3;"]
    {
        assert_eq!(called.out.matches(once).count(), 1, "{once}: {}", called.out);
    }
    assert!(!called.out.contains("unused"), "{}", called.out);
    // The output can be parsed, and computes the same results as the source.
    let (before, after) = (file(&text), file(""));
    std::fs::write(&after.path, &called.out).unwrap();
    for name in ["k", "also", "twice_as_much"] {
        let run = |path: &str| {
            let x = [
                "--kernel",
                name,
                "--target",
                "ptx",
                "--grid",
                "1",
                "--block",
                "4",
                "--arg",
                "x=[0x00000001, 0x00000002, 0x3c003c00, 0x00011170]",
            ];
            halfbyte(&[&["run", path], &x[..]].concat())
        };
        let (before, after) = (run(&before.path), run(&after.path));
        assert_eq!(before.code, 0, "{}", before.err);
        assert_eq!((before.out, before.code), (after.out, after.code), "{}", after.err);
    }
}
