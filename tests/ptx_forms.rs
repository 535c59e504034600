//! Tests of forms of PTX that old and new compilers emit, and that `ptxas` accepts. Each text runs
//! directly, as IR and as HALU.

use crate::common::halfbyte;

const MODERN: &str = ".version 8.3\n.target sm_80\n.address_size 64\n";

/// Checks a text with the header `head`. The run line gives a launch and its results.
fn checks(head: &str, text: &str, run: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    std::fs::write(&path, format!("{head}{text}\n// run: halu: @k {run}\n")).unwrap();
    let called = halfbyte(&["check", path.to_str().unwrap()]);
    assert!(called.code == 0 && called.out.contains("1 passed"), "{}\n{}", called.out, called.err);
}

/// Returns a kernel that loads `%r1` from `x`, executes `body`, and stores `%r2` to `x`.
fn on_word(before: &str, body: &str) -> String {
    format!(
        "{before}.visible .entry k(.param .u64 x)\n{{\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<4>;\n.reg .f16x2 %h<3>;\n\
         .reg .f32 %f<4>;\n.local .align 8 .b8 depot[16];\nld.param.u64 %d1, [x];\nld.global.b32 %r1, [%d1];\n{body}\n\
         st.global.b32 [%d1], %r2;\nret;\n}}\n"
    )
}

#[test]
fn pointers_of_every_declaration() {
    for pointer in [".ptr", ".ptr .align 1", ".ptr .global", ".ptr .global .align 8192"] {
        let text = on_word("", "add.u32 %r2, %r1, 1;").replace(".param .u64 x", &format!(".param .u64 {pointer} x"));
        checks(MODERN, &text, "grid=1 block=1 x=[4] -> x=[5]");
    }
}

#[test]
fn addresses_of_32_bits() {
    let local = "mov.u32 %r3, depot;\nadd.u32 %r3, %r3, 8;\nst.local.b32 [%r3+-4], %r1;\nld.local.b32 %r2, [depot+4];";
    checks(MODERN, &on_word("", local), "grid=1 block=1 x=[7] -> x=[7]");
    let indexed = "mov.u32 %r3, depot;\nst.local.b32 [%r3], 1;\nst.local.b32 [%r3+4], 2;\nand.b32 %r4, %r1, 4;\n\
                   add.u32 %r4, %r3, %r4;\nld.local.b32 %r2, [%r4];";
    checks(MODERN, &on_word("", indexed), "grid=1 block=1 x=[4] -> x=[2]");
}

#[test]
fn sources_that_are_computed() {
    let negated = "setp.eq.s32 %p1, %r1, 7;\nselp.b32 %r2, 1, 2, !%p1;";
    checks(MODERN, &on_word("", negated), "grid=1 block=1 x=[7] -> x=[2]");
    let both = "setp.gt.s32 %p1, %r1, 7;\nsetp.lt.s32 %p2, %r1, 9;\nand.pred %p3, %p1, !%p2;\nselp.b32 %r2, 1, 2, %p3;";
    checks(MODERN, &on_word("", both), "grid=1 block=1 x=[9] -> x=[1]");
    checks(MODERN, &on_word("", "shl.b32 %r2, %r1+-1, 1+1;"), "grid=1 block=1 x=[9] -> x=[32]");
    checks(
        MODERN,
        &on_word("", "setp.eq.and.s32 %p1, %r1, 7, 2;\nselp.b32 %r2, 1, 2, %p1;"),
        "grid=1 block=1 x=[7] -> x=[1]",
    );
}

#[test]
fn elements_of_arrays() {
    let table = ".const .align 4 .u32 table[2][2] = {{1, 2}, {3}};\n";
    checks(MODERN, &on_word(table, "ld.const.b32 %r2, table[2];"), "grid=1 block=1 x=[0] -> x=[3]");
    let inside = ".const .align 4 .u32 inner[2] = {5, 6};\nld.const.b32 %r2, [inner+4];";
    checks(MODERN, &on_word("", inside), "grid=1 block=1 x=[0] -> x=[6]");
}

#[test]
fn pairs_of_halves_in_integer_instructions() {
    let pair = "mov.b32 %h1, %r1;\nadd.u32 %h2, %h1, 3;\nand.b32 %r2, %h2, 0xff;";
    checks(MODERN, &on_word("", pair), "grid=1 block=1 x=[258] -> x=[5]");
}

#[test]
fn roundings_of_exact_conversions() {
    let widened = ".reg .b16 %b<2>;\ncvt.u16.u32 %b1, %r1;\ncvt.rz.f32.bf16 %f1, %b1;\nmov.b32 %r2, %f1;";
    checks(MODERN, &on_word("", widened), "grid=1 block=1 x=[0x3f81] -> x=[0x3f810000]");
}

#[test]
fn lanes_and_limits_of_any_type_of_32_bits() {
    let moved = "mov.b32 %h1, 0x01000000;\nmov.b32 %f1, 31;\nshfl.sync.idx.b32 %r2, %r1, %h1, %f1, 1;";
    checks(MODERN, &on_word("", moved), "grid=1 block=1 x=[5] -> x=[5]");
    let literal = "shfl.sync.idx.b32 %r2, %r1, 0, 0f0000001f, 1;";
    checks(MODERN, &on_word("", literal), "grid=1 block=1 x=[6] -> x=[6]");
    let found = "mov.b32 %f1, 1;\nfns.b32 %r2, %r1, 0, %f1;";
    checks(MODERN, &on_word("", found), "grid=1 block=1 x=[12] -> x=[2]");
}

#[test]
fn sums_of_a_special_register_and_a_number() {
    checks(MODERN, &on_word("", "mov.u32 %r2, %laneid+7;"), "grid=1 block=1 x=[5] -> x=[7]");
    checks(MODERN, &on_word("", "add.u32 %r2, %laneid+7, %r1;"), "grid=1 block=1 x=[5] -> x=[12]");
}

#[test]
fn vectors_that_are_copied() {
    let swapped = "mov.u32 %r2, 3;\nmov.v2.b32 {%r1, %r2}, {%r2, %r1};\nshl.b32 %r1, %r1, 8;\nadd.u32 %r2, %r1, %r2;";
    checks(MODERN, &on_word("", swapped), "grid=1 block=1 x=[5] -> x=[773]");
    let index = "mov.v4.u32 {%r3, %r4, _, %r5}, %tid;\nadd.u32 %r3, %r3, %r4;\nadd.u32 %r3, %r3, %r5;\n\
                 mov.v4.u32 {%r6, _, _, _}, %ntid;\nadd.u32 %r2, %r3, %r6;";
    checks(MODERN, &on_word("", index), "grid=1 block=1 x=[5] -> x=[1]");
}

#[test]
fn halves_that_are_rounded_by_default() {
    let head = ".version 8.3\n.target sm_90\n.address_size 64\n";
    let there = ".reg .b16 %b<4>;\nmov.b32 {%b1, _}, %r1;\ncvt.bf16.f16 %b2, %b1;\ncvt.f16.bf16 %b3, %b2;\n\
                 mov.b32 %r2, {%b2, %b3};";
    // 0x3c04 is 1 + 4/1024, the midpoint of two bfloat16 numbers. Rounding to even gives 1.0.
    checks(head, &on_word("", there), "grid=1 block=1 x=[0x00003c04] -> x=[0x3c003f80]");
}

/// The address of a parameter of a function is in local memory.
#[test]
fn parameters_of_functions_by_address() {
    let callee = ".func (.param .b32 r) f(.param .align 16 .b8 p[8], .param .b32 i)\n{\n.reg .b32 %r<4>;\n\
                  .reg .b64 %d<4>;\nld.param.b32 %r1, [i];\nmul.wide.u32 %d1, %r1, 4;\nmov.b64 %d2, p;\n\
                  add.s64 %d3, %d2, %d1;\nld.param.b32 %r3, [%d3];\nst.param.b32 [r], %r3;\nret;\n}\n";
    let body = "{\n.param .align 16 .b8 a[8];\n.param .b32 b;\n.param .b32 c;\nst.param.b32 [a], 11;\n\
                st.param.b32 [a+4], 22;\nst.param.b32 [b], 1;\ncall.uni (c), f, (a, b);\nld.param.b32 %r2, [c];\n}";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    std::fs::write(&path, format!("{MODERN}{}", on_word(callee, body))).unwrap();
    let path = path.to_str().unwrap();
    for engine in ["jit", "interp"] {
        let run = ["run", path, "--target", "ptx", "--grid", "1", "--block", "1", "--arg", "x=[5]", "--engine", engine];
        let called = halfbyte(&run);
        assert_eq!((called.code, called.out.trim()), (0, "x=[22]"), "{}", called.err);
    }
}

/// Runs a kernel of [`on_word`] directly, and checks the word that it stores.
fn runs_directly(body: &str, result: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    std::fs::write(&path, format!("{MODERN}{}", on_word("", body))).unwrap();
    let path = path.to_str().unwrap();
    for more in [&["--engine", "jit"][..], &["--engine", "interp"], &["--races"]] {
        let run = ["run", path, "--target", "ptx", "--grid", "1", "--block", "1", "--arg", "x=[5]"];
        let called = halfbyte(&[&run[..], more].concat());
        assert_eq!((called.code, called.out.trim()), (0, result), "{body}: {}", called.err);
    }
}

#[test]
fn registers_of_the_machine_that_hold_nothing() {
    for name in ["%pm0", "%pm7"] {
        runs_directly(&format!("mov.u32 %r2, {name};"), "x=[0]");
    }
    runs_directly("mov.u64 %d2, %pm3_64;\ncvt.u32.u64 %r2, %d2;", "x=[0]");
    runs_directly("mov.u32 %r2, %gridid;", "x=[0]");
}

/// Reserved shared memory follows the variables of the kernel, and is zero at the start.
#[test]
fn reserved_shared_memory() {
    let sizes = "mov.u32 %r3, %reserved_smem_offset_begin;\nmov.u32 %r4, %reserved_smem_offset_end;\nsub.u32 %r4, %r4, %r3;\n\
                 mov.u32 %r5, %reserved_smem_offset_cap;\nsub.u32 %r2, %r4, %r5;";
    runs_directly(sizes, "x=[0]");
    let stored = ".shared .b32 own;\nmov.u32 %r3, %reserved_smem_offset_1;\nst.shared.b32 [own], 7;\nld.shared.b32 %r4, [%r3+8];\n\
                  st.shared.b32 [%r3+8], %r1;\nld.shared.b32 %r5, [%r3+8];\nld.shared.b32 %r6, [own];\n\
                  mad.lo.u32 %r5, %r5, 100, %r6;\nadd.u32 %r2, %r5, %r4;";
    runs_directly(stored, "x=[507]");
    runs_directly(&stored.replace("_offset_1", "_offset_0"), "x=[507]");
    let total = ".shared .b32 own;\nmov.u32 %r3, %reserved_smem_offset_begin;\nst.shared.b32 [own], %r3;\n\
                 mov.u32 %r2, %total_smem_size;";
    runs_directly(total, "x=[128]");
}

#[test]
fn state_spaces_of_addresses_of_32_bits() {
    runs_directly("isspacep.shared %p1, %r1;\nselp.b32 %r2, 1, 2, %p1;", "x=[2]");
}

#[test]
fn bytes_of_half_words() {
    let swapped = ".reg .b8 %c<2>;\n.reg .b16 %s;\nmov.b32 {%s, _}, %r1;\nmov.b16 {%c0, %c1}, %s;\n\
                   mov.b16 %s, {%c1, %c0};\ncvt.u32.u16 %r2, %s;";
    checks(MODERN, &on_word("", swapped), "grid=1 block=1 x=[0x00000102] -> x=[0x00000201]");
}

#[test]
fn names_and_lines_of_other_compilers() {
    let colours = "mov.u32 %r3, %ntid.r;\nmov.u32 %r4, %ntid.b;\nadd.u32 %r2, %r3, %r4;";
    checks(
        MODERN,
        &format!("# 5 \"k.cu\"\n{}", on_word(".extern .entry other();\n", colours)),
        "grid=1 block=1 x=[5] -> x=[2]",
    );
    let entry = "ld.param::entry.u64 %d2, [x];\nld.global.ca.nc.b32 %r2, [%d2];";
    checks(MODERN, &on_word("", entry), "grid=1 block=1 x=[5] -> x=[5]");
}

/// Compilers pass a byte as a 32-bit parameter, and the called function loads only the byte.
#[test]
fn narrow_parameters_of_functions() {
    let function = ".func (.param .b32 r) low (.param .b32 a)\n{\n.reg .b16 %h;\n.reg .b32 %v;\nld.param.s8 %h, [a];\n\
                    cvt.s32.s16 %v, %h;\nst.param.b32 [r], %v;\nret;\n}\n";
    let called = "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), low, (a); ld.param.b32 %r2, [r]; }";
    checks(MODERN, &on_word(function, called), "grid=1 block=1 x=[0x000012fe] -> x=[0xfffffffe]");
    // A byte store into a 32-bit word does not change the other bytes of the word.
    let local = "st.local.b32 [depot], %r1;\nst.local.b8 [depot], 1;\nld.local.b32 %r2, [depot];";
    checks(MODERN, &on_word("", local), "grid=1 block=1 x=[0x000012fe] -> x=[0x00001201]");
    let low = "st.local.b32 [depot], %r1;\nld.local.u8 %r2, [depot];";
    checks(MODERN, &on_word("", low), "grid=1 block=1 x=[0x000012fe] -> x=[0x000000fe]");
}

#[test]
fn predicates_of_functions() {
    let function = ".func (.reg .pred %q) is(.reg .b32 %a) { setp.eq.s32 %q, %a, 7; ret; }\n";
    let called = "call (%p1), is, (%r1);\nselp.b32 %r2, 1, 2, %p1;";
    checks(MODERN, &on_word(function, called), "grid=1 block=1 x=[7] -> x=[1]");
}

#[test]
fn old_targets_flush_subnormal_numbers() {
    let sum = "mov.b32 %f1, %r1;\nadd.f32 %f2, %f1, 0f00000000;\nmov.b32 %r2, %f2;";
    for (head, sum_of) in
        [(".version 1.4\n.target sm_13\n", "0x00000000"), (".version 3.0\n.target sm_20\n", "0x00000005")]
    {
        let text = on_word("", sum).replace(".reg .f16x2 %h<3>;\n", "");
        checks(head, &text, &format!("grid=1 block=1 x=[0x00000005] -> x=[{sum_of}]"));
    }
    let product = "mov.b32 %f1, %r1;\nmad.f32 %f2, %f1, %f1, 0f40000000;\ncvt.rzi.s32.f32 %r2, %f2;";
    let text = on_word("", product).replace(".reg .f16x2 %h<3>;\n", "");
    checks(
        ".version 2.3\n.target sm_20, texmode_independent\n",
        &text,
        "grid=1 block=1 x=[0x40400000] -> x=[0x0000000b]",
    );
}

#[test]
fn old_declarations() {
    let head = ".version 2.3\n.target sm_20\n.address_size 64\n";
    let module = ".visible .func (.param .s32 r) twice (.param .s32 a)\n\
                  .visible .func (.param .s32 r) twice (.param .s32 a) { .reg .s32 %a; ld.param.s32 %a, [a]; add.s32 %a, %a, %a; \
                  st.param.s32 [r], %a; ret; }\n.local .align 4 .b8 own[8];\n";
    let body = "{ .param .s32 a; .param .s32 r; st.param.s32 [a], %r1; call (r), twice, (a); ld.param.s32 %r3, [r]; }\n\
                st.local.b32 [own+4], %r3;\nld.local.b32 %r2, own[4];";
    let text = on_word(module, body).replace(".reg .f16x2 %h<3>;\n", "");
    checks(head, &text, "grid=1 block=1 x=[21] -> x=[42]");
}

#[test]
fn what_ptxas_refuses_is_refused() {
    for (text, error) in [
        (".version 9.6\n.target sm_90\n", "PTX 9.6 is not a known version"),
        (".version 8.6\n.target sm_100f\n", "`sm_100f` needs PTX 8.8"),
        (".version 8.0\n.target sm_80\n.entry k() { ;ret; }\n", "found `;`"),
        (".version 8.0\n.target sm_80\n.entry k() { bar.sync 16; ret; }\n", "a number up to 15"),
        (
            ".version 8.0\n.target sm_80\n.local .b8 x[4];\n.entry k() { ret; }\n",
            "a variable in local memory outside a kernel",
        ),
        (".version 3.0\n.target sm_30, map_f64_to_f32\n.entry k() { ret; }\n", "an option of this target"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.ptx");
        std::fs::write(&path, text).unwrap();
        let called = halfbyte(&["check", path.to_str().unwrap()]);
        assert!(called.err.contains(error), "{text}: {}{}", called.out, called.err);
    }
}
