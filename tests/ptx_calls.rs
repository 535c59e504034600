//! Tests of PTX kernels with functions and local variables. The imported kernel must give the
//! results of direct execution.

use halfbyte::import_ptx::{Host, Shape, import};
use halfbyte::launch::evaluate;

use crate::common::halfbyte_on;

const ITEMS: u32 = 8;

/// Returns a PTX kernel that stores `%r9` for each item in `y`. `%r0` is the item index.
fn text(functions: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{functions}\n.visible .entry k(.param .u64 y, .param .align 8 .b8 s[16])\n{{
.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<10>; .reg .f32 %f<4>; .reg .b64 %d<10>;
mov.u32 %r0, %tid.x; ld.param.u64 %d0, [y]; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1;
{body}
st.global.b32 [%d0], %r9; ret; }}\n"
    )
}

/// Returns the bytes that a text stores in direct execution and after import.
#[track_caller]
fn both(text: &str) -> (Vec<u8>, Vec<u8>) {
    let module = import("k.ptx", text, Shape::default()).unwrap_or_else(|report| panic!("{report}\n{text}"));
    let host = Host::load("k.ptx", text, "k").unwrap_or_else(|report| panic!("{report}\n{text}"));
    let words: Vec<Vec<u8>> = host.params().iter().map(|param| vec![7; param.kind.bytes() as usize]).collect();
    let args = || {
        let mut args = words.clone();
        args[0] = vec![0; 4 * ITEMS as usize];
        args
    };
    let (mut stands, mut imported) = (args(), args());
    host.launch((1, ITEMS), &mut stands).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let kernel = &module.ir().kernels[0];
    evaluate(kernel, ITEMS, &mut imported).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    (stands.swap_remove(0), imported.swap_remove(0))
}

#[test]
fn import_matches_direct_execution() {
    let functions = ".func (.reg .b32 %s) twice (.reg .b32 %k) { add.s32 %s, %k, %k; ret; }
.func (.param .b32 s) fewer (.param .b32 n) { .reg .b32 %a<3>; .reg .pred %q; ld.param.b32 %a0, [n]; setp.gt.u32 %q, %a0, 4;
@%q ret; add.s32 %a1, %a1, 1; add.s32 %a2, %a0, %a1; st.param.b32 [s], %a2; ret; }
.func (.param .align 8 .b8 s[16]) swaps (.param .align 8 .b8 p[16]) { .reg .b32 %a<3>; .reg .b64 %b; mov.u64 %b, p;
ld.param.b32 %a0, [p+8]; ld.local.b32 %a1, [%b]; st.param.b32 [s], %a0; st.param.b32 [s+8], %a1; ret; }
.func (.reg .b32 %s) counts (.reg .b32 %k) { .local .b32 c; .reg .b32 %a; .reg .pred %q; mov.b32 %s, 0;
again: setp.eq.s32 %q, %k, 0; @%q bra done; ld.local.b32 %a, [c]; add.s32 %a, %a, %k; st.local.b32 [c], %a; sub.s32 %k, %k, 1; bra again;
done: ld.local.b32 %s, [c]; ret; }
.func inner (.param .b64 p) { .reg .b64 %b<2>; .reg .b32 %a; ld.param.b64 %b0, [p]; cvta.to.local.u64 %b1, %b0; ld.local.b32 %a, [%b1];
add.s32 %a, %a, 1000; st.local.b32 [%b1], %a; ret; }
.func outer (.param .b64 p) { .reg .b64 %b; ld.param.b64 %b, [p]; { .param .b64 q; st.param.b64 [q], %b; call.uni inner, (q); } ret; }
.func (.reg .b32 %s) carries { mov.b32 %s, -1; addc.cc.u32 %s, %s, 1; addc.u32 %s, %s, 7; ret; }
.func leaves (.reg .b32 %k) { .reg .pred %q; setp.gt.u32 %q, %k, 5; @%q exit; ret; }
.func (.param .b32 s) more (.param .b32 n) { .reg .b32 %a; ld.param.b32 %a, [n]; mad.lo.u32 %a, %a, 3, 1; st.param.b32 [s], %a; ret; }
.func (.param .b32 s) either (.param .b64 f, .param .b32 n) { .reg .b32 %a; .reg .b64 %b; ld.param.b64 %b, [f]; ld.param.b32 %a, [n];
like: .callprototype (.param .b32 _) _ (.param .b32 _); { .param .b32 a; .param .b32 b; st.param.b32 [a], %a; call (b), %b, (a), like; ld.param.b32 %a, [b]; }
st.param.b32 [s], %a; ret; }
.func (.param .b32 s) sums (.param .align 4 .b8 p[12]) { .reg .b32 %a<3>; .reg .b64 %b<3>; ld.param.b32 %a0, [p]; and.b32 %a1, %a0, 1;
mul.wide.u32 %b0, %a1, 4; mov.b64 %b1, p; add.u64 %b1, %b1, %b0; ld.local.b32 %a2, [%b1+4]; add.u32 %a0, %a0, %a2; st.local.b32 [%b1+4], %a0;
ld.param.u16 %a1, [p+8]; add.u32 %a0, %a0, %a1; st.param.b32 [s], %a0; ret; }
.global .u64 functions[3] = {fewer, 0, more};";
    for body in [
        "call (%r9), twice, (%r0);",
        "setp.lt.u32 %p0, %r0, 3; mov.b32 %r9, 100; @%p0 call (%r9), twice, (%r0);",
        "call (%r1), twice, (%r0); call (%r2), twice, (%r1); call (%r9), twice, (%r2);",
        "call (%r9), fewer, (%r0);",
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call.uni (b), fewer, (a); ld.param.b32 %r9, [b]; }",
        // The registers and local variables of a function are 0 at the start of each call.
        "mov.b32 %r2, 0; more: call (%r3), fewer, (%r0); call (%r4), counts, (%r0); add.s32 %r9, %r9, %r3; add.s32 %r9, %r9, %r4;
         add.s32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 3; @%p0 bra more;",
        ".param .align 8 .b8 a[16]; .param .align 8 .b8 b[16]; st.param.b32 [a], %r0; st.param.b32 [a+8], 50;
         call (b), swaps, (a); ld.param.b32 %r1, [b]; ld.param.b32 %r2, [b+8]; mad.lo.s32 %r9, %r1, 1000, %r2;",
        "mov.b32 %r9, 3; call leaves, (%r0);",
        // Local variables at constant offsets, of several widths, with and without a state space.
        ".local .align 8 .b8 l[16]; mov.u64 %d2, l; cvta.local.u64 %d3, %d2; add.u64 %d4, %d3, 8; st.u32 [%d3+4], %r0; st.u8 [%d4], -5;
         ld.local.u32 %r1, [l+4]; ld.s8 %r2, [%d4]; ld.local.u8 %r3, [%d2+8]; add.s32 %r9, %r1, %r2; add.s32 %r9, %r9, %r3;",
        ".local .align 8 .b8 l[8]; mov.u64 %d2, l; cvt.rn.f32.u32 %f1, %r0; st.local.f32 [%d2], %f1; ld.local.b32 %r9, [%d2];",
        ".local .align 4 .b8 l[8]; mov.u64 %d2, l; cvt.u16.u32 %h1, %r0; st.local.v2.u16 [%d2+4], {%h1, 9}; ld.local.v2.u16 {%h2, %h3}, [l+4];
         mov.b32 %r9, {%h3, %h2};",
        // Local variables at run-time offsets, with and without a state space, and partial loads of a store.
        ".local .b32 l[8]; mov.u64 %d2, l; and.b32 %r1, %r0, 7; mul.wide.u32 %d3, %r1, 4; add.u64 %d2, %d2, %d3; st.local.b32 [%d2], %r0;
         cvta.local.u64 %d4, %d2; ld.u16 %r2, [%d4]; ld.local.b32 %r9, [%d2]; add.s32 %r9, %r9, %r2;",
        ".local .b32 l; setp.eq.u32 %p0, %r0, 9; mov.u64 %d2, l; @%p0 bra there; st.local.b32 [%d2], %r0; there: ld.local.b32 %r9, [%d2];",
        ".local .align 4 .b8 l[8]; st.local.b32 [l], %r0; st.local.b32 [l+4], 7; ld.local.b32 %r9, [l]; ld.local.u16 %r1, [l+2]; add.s32 %r9, %r9, %r1;",
        "ld.volatile.global.u32 %r9, [%d0]; add.s32 %r9, %r9, %r0;",
        // The address of a local variable is passed through two functions.
        ".local .b32 l; st.local.b32 [l], %r0; mov.u64 %d2, l; cvta.local.u64 %d3, %d2; { .param .b64 a; st.param.b64 [a], %d3;
         call.uni outer, (a); } ld.local.b32 %r9, [l];",
        // Indexed branches: to one label, to several labels with duplicates, with a guard, and in a loop.
        "t: .branchtargets a, a; and.b32 %r1, %r0, 1; brx.idx %r1, t; mov.b32 %r9, 5; a: add.s32 %r9, %r9, 1;",
        "t: .branchtargets a, b, a, c, d; min.u32 %r1, %r0, 4; brx.idx %r1, t; a: mov.b32 %r9, 1; bra d; b: mov.b32 %r9, 2; c: add.s32 %r9, %r9, 3;
         d: add.s32 %r9, %r9, 4;",
        "t: .branchtargets a, b, c; min.u32 %r1, %r0, 2; setp.ne.s32 %p0, %r0, 1; @!%p0 brx.idx %r1, t; mov.b32 %r9, 6; bra c; a: b: mov.b32 %r9, 7; c:",
        "t: .branchtargets a, b, c; mov.b32 %r1, 0; a: add.s32 %r9, %r9, %r0; b: add.s32 %r9, %r9, 10; add.s32 %r1, %r1, 1; min.u32 %r2, %r1, 2;
         @%p0 bra d; setp.gt.u32 %p0, %r0, 3; brx.idx %r2, t; c: add.s32 %r9, %r9, 100; d:",
        // A call does not pass the carry flag to the function or back. If the guard of the call is
        // false, the carry flag keeps its value.
        "mov.b32 %r1, -1; add.cc.u32 %r1, %r1, 1; call leaves, (1); addc.u32 %r9, 0, 0;",
        "mov.b32 %r1, -1; add.cc.u32 %r1, %r1, 1; call (%r2), carries; mad.lo.u32 %r9, %r2, 10, 5;",
        "mov.b32 %r1, -1; setp.gt.u32 %p0, %r0, 3; add.cc.u32 %r1, %r1, 1; @%p0 call (%r2), carries; addc.u32 %r9, 0, 0;",
        // A variable in an inner block shadows an outer one of the same name.
        ".local .b32 l; st.local.b32 [l], 5; { .local .b32 l; st.local.b32 [l], %r0; } ld.local.b32 %r9, [l]; add.s32 %r9, %r9, %r0;",
        // Special registers as operands of conversions, and the component `w` of `%ctaid`, which is always 0.
        "cvt.u64.u32 %d2, %tid.x; cvt.u32.u64 %r9, %d2; cvt.u32.u16 %r1, %ntid.x; add.u32 %r9, %r9, %r1; mov.u32 %r2, %ctaid.w; add.u32 %r9, %r9, %r2;",
        // A function whose address the kernel selects, with and without a guard, in a function, and with a list of targets.
        "setp.lt.u32 %p0, %r0, 3; mov.u64 %d2, fewer; mov.u64 %d3, more; selp.b64 %d2, %d2, %d3, %p0; { .param .b32 a; .param .b32 b;
         st.param.b32 [a], %r0; like: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), %d2, (a), like; ld.param.b32 %r9, [b]; }",
        "setp.lt.u32 %p0, %r0, 3; mov.u64 %d2, more; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; st.param.b32 [b], 9;
         to: .calltargets more; @%p0 call (b), %d2, (a), to; ld.param.b32 %r9, [b]; }",
        "setp.lt.u32 %p0, %r0, 3; mov.u64 %d2, fewer; mov.u64 %d3, more; selp.b64 %d2, %d2, %d3, %p0; { .param .b64 f; .param .b32 a; .param .b32 b;
         st.param.b64 [f], %d2; st.param.b32 [a], %r0; call (b), either, (f, a); ld.param.b32 %r9, [b]; }",
        // A function whose address is in a module variable.
        "and.b32 %r1, %r0, 2; mul.wide.u32 %d2, %r1, 8; mov.u64 %d3, functions; add.u64 %d3, %d3, %d2; ld.global.u64 %d4, [%d3]; cvt.u32.u64 %r8, %d4;
         { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; like: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), %d4, (a), like;
         ld.param.b32 %r9, [b]; } add.u32 %r9, %r9, %r8;",
        // A function changes its parameter at an address, and loads two stored bytes at once. The argument keeps its value.
        ".param .align 4 .b8 a[12]; .param .b32 b; st.param.v2.b32 [a], {%r0, 20}; st.param.b8 [a+8], 1; st.param.b8 [a+9], %r0;
         call (b), sums, (a); ld.param.b32 %r1, [b]; call (b), sums, (a); ld.param.b32 %r2, [b]; mad.lo.u32 %r9, %r1, 1000, %r2;",
        // Parameters that are read by their addresses.
        "mov.b64 %d2, s; ld.param.u32 %r1, [%d2+8]; ld.param.u32 %r2, [s]; add.s32 %r9, %r1, %r2;",
        "mov.b64 %d2, s; cvta.param.u64 %d3, %d2; ld.u32 %r9, [%d3+12];",
    ] {
        let text = text(functions, body);
        let (stands, imported) = both(&text);
        assert_eq!(stands, imported, "{body}");
    }
}

#[test]
fn what_is_known_only_when_it_runs_is_not_imported() {
    let recursive = ".func (.reg .b32 %s) f (.reg .b32 %k) { call (%s), f, (%k); ret; }";
    for (functions, body, expected) in [
        (recursive, "call (%r9), f, (%r0);", "a call has no counterpart in the IR"),
        (
            ".func g () { .reg .b64 %b; mov.u64 %b, g; like: .callprototype _ (); call %b, like; ret; }",
            "call g;",
            "a call has no counterpart in the IR",
        ),
        (
            ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);",
            "{ .param .b32 r; .param .b64 f; .param .b64 v; st.param.b64 [f], 0; st.param.b64 [v], 0; call (r), vprintf, (f, v); }",
            "the function `vprintf` has no counterpart in the IR",
        ),
        ("", "trap;", "a trap has no counterpart in the IR"),
        ("", "mov.u32 %r9, %clock;", "this special register has no counterpart"),
    ] {
        let error = import("k.ptx", &text(functions, body), Shape::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{body}: {error}");
        assert!(error.contains("--target ptx"), "{error}");
    }
}

/// Statements that add `4 * (%r0 & 3)` to the address of the parameter `s`, and load from the sum.
const COMPUTED: &str =
    "and.b32 %r1, %r0, 3; mul.wide.u32 %d2, %r1, 4; mov.b64 %d3, s; add.u64 %d3, %d3, %d2; ld.param.b32 %r9, [%d3];";

#[test]
fn a_parameter_is_read_at_a_computed_address() {
    let loads = "ld.param.u16 %r1, [s+6]; add.u32 %r9, %r9, %r1; cvta.param.u64 %d4, %d3; ld.u8 %r2, [%d4+1]; add.u32 %r9, %r9, %r2;";
    let value: Vec<u8> = (1..17).collect();
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| value[at + byte]));
    let expected = |item: usize| word(4 * (item % 4)) + (word(4) >> 16) + u32::from(value[4 * (item % 4) + 1]);
    let expected: Vec<u8> = (0..ITEMS as usize).flat_map(|item| expected(item).to_le_bytes()).collect();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let launch = serde_json::json!({
        "ptx": text("", &format!("{COMPUTED}{loads}")), "entry": "k", "grid": [1, 1, 1], "block": [ITEMS, 1, 1],
        "args": [{"buffer": "00".repeat(expected.len())}, {"value": hex(&value)}], "expect": [hex(&expected)],
    });
    for via in ["ptx", "ir", "halu", "recompiled"] {
        let called = halfbyte_on(&["corpus", "-", "--via", via, "--strict"], launch.to_string().as_bytes());
        assert_eq!(called.code, 0, "{via}: {}{}", called.out, called.err);
    }
}

/// The effects of these kernels may depend on the place of the parameter.
#[test]
fn a_parameter_in_other_kernels_has_no_computed_address() {
    for rest in [
        ".local .b32 l[4]; mov.u64 %d4, l; add.u64 %d4, %d4, %d2; st.local.b32 [%d4], %r0; ld.local.b32 %r1, [%d4]; add.u32 %r9, %r9, %r1;",
        "cvta.param.u64 %d4, %d3; st.b32 [%d4], %r0;",
        "cvta.param.u64 %d4, %d3; isspacep.local %p1, %d4; selp.b32 %r9, 1, %r9, %p1;",
        "and.b64 %d4, %d3, 15; cvt.u32.u64 %r9, %d4;",
        "st.global.b64 [%d0], %d3;",
        "mov.b64 %d4, y; add.u64 %d4, %d4, %d2; ld.param.b32 %r9, [%d4];",
    ] {
        let text = text("", &format!("{COMPUTED}{rest}"));
        let error = import("k.ptx", &text, Shape::default()).unwrap_err().to_string();
        assert!(error.contains("the address of a parameter has no counterpart in the IR"), "{rest}: {error}");
    }
}

/// An indirect call traps if no function with its prototype is at the address.
#[test]
fn calls_of_no_function_trap() {
    let functions = ".func f (.reg .b32 %k) { ret; } .func g () { ret; }";
    for (address, is_one) in [("f", true), ("g", false), ("0", false), ("0x3000000001", false)] {
        let body = format!(
            "mov.u64 %d3, f; mov.u64 %d2, {address}; like: .callprototype _ (.reg .b32 _); call %d2, (%r0), like;"
        );
        let text = text(functions, &body);
        let module = import("k.ptx", &text, Shape::default()).unwrap_or_else(|report| panic!("{report}\n{text}"));
        let args = || vec![vec![0; 4 * ITEMS as usize]];
        let host = Host::load("k.ptx", &text, "k").unwrap();
        assert_eq!(host.launch((1, ITEMS), &mut args()).is_ok(), is_one, "{address}");
        assert_eq!(evaluate(&module.ir().kernels[0], ITEMS, &mut args()).is_ok(), is_one, "{address}");
    }
}

/// The calls of a function that has no instructions can grow exponentially with the size of the text.
#[test]
fn calls_that_are_too_many_are_not_imported() {
    let doubles = |count: usize| -> String {
        let function = |k: usize| format!(".func f{k} () {{ call.uni f{}; call.uni f{0}; }}\n", k - 1);
        ".func f0 () { }\n".to_owned() + &(1..=count).map(function).collect::<String>()
    };
    let called = |count: usize| text(&doubles(count), &format!("mov.u32 %r9, 3; call.uni f{count};"));
    assert_eq!(both(&called(6)).0, both(&called(0)).1);
    let error = import("k.ptx", &called(40), Shape::default()).unwrap_err().to_string();
    assert!(error.contains("a call has no counterpart in the IR"), "{error}");
}
