//! Tests of imported PTX kernels: parameters, addresses, loads and stores, and refusals with their source locations.

use halfbyte::import_ptx::{Host, Shape, import};
use halfbyte::ir::diag::Lines;
use halfbyte::launch::{Engine, evaluate, execute};

use crate::ptx_support::arguments;

const GRID: u32 = 3;
const BLOCK: u32 = 20;
const SHAPE: Shape = Shape { grid: Some([GRID, 1, 1]), block: Some([BLOCK, 1, 1]) };

/// Returns a PTX kernel with these parameters and this body. `%i` is the item index.
fn kernel(params: &str, body: &str) -> String {
    format!(
        ".version 8.3 .target sm_90 .address_size 64
.visible .entry k({params}) {{
.reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %d<16>; .reg .b32 %i, %b, %n, %t;
mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.s32 %i, %b, %n, %t;
{body}
}}
"
    )
}

/// 128-bit registers can be loaded, stored and split, in direct execution and after import.
#[test]
fn accesses_of_128_bits() {
    let body = "ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; mul.wide.u32 %d3, %i, 16; add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
        .reg .b128 %w<3>; ld.global.b128 %w0, [%d1]; mov.b128 {%d4, %d5}, %w0;";
    let with = |rest: &str| format!("{body}\n{rest}\nret;");
    let params = ".param .u64 x, .param .u64 y";
    check(params, &with("mov.b128 %w1, {%d5, %d4}; st.global.b128 [%d2], %w1;"), &[]);
    check(
        params,
        &with("mov.b128 {%r1, %r2, %r3, %r4}, %w0; mov.b128 %w2, {%r4, %r1, %r2, %r3}; st.global.b128 [%d2], %w2;"),
        &[],
    );
    // A guarded instruction writes the 128-bit register, which is then stored.
    let guarded =
        "mov.b128 %w1, {%d4, %d4}; setp.lt.s64 %p1, %d4, %d5; @%p1 mov.b128 %w1, %w0; st.global.b128 [%d2], %w1;";
    check(params, &with(guarded), &[]);
    let text = kernel(params, &with("st.relaxed.gpu.global.b128 [%d2], %w0;"));
    assert!(
        import("k.ptx", &text, SHAPE)
            .unwrap_err()
            .to_string()
            .contains("a strong access of 128 bits has no counterpart in the IR")
    );
    check(params, &with("st.global.v2.b64 [%d2], {%d5, %d5}; ld.b128 %w1, [%d2]; st.global.b128 [%d2], %w1;"), &[]);
}

#[test]
fn accesses_of_32_bytes_are_shown_to_be_aligned() {
    let text = |step: u32, access: &str| {
        let body = format!(
            "ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; mul.wide.u32 %d3, %i, {step}; add.s64 %d1, %d1, %d3;
            add.s64 %d2, %d2, %d3; {access} ret;"
        );
        kernel(".param .u64 x, .param .u64 y", &body).replace("8.3", "8.8").replace("sm_90", "sm_100")
    };
    for (access, step) in [
        ("ld.global.v4.b64 {%d4, %d5, %d6, %d7}, [%d1]; st.global.b64 [%d2], %d4;", 8),
        ("ld.global.b64 %d4, [%d1]; st.global.v4.b64 [%d2], {%d4, %d5, %d6, %d7};", 16),
    ] {
        assert!(import("k.ptx", &text(32, access), SHAPE).is_ok(), "{access}");
        let refused = import("k.ptx", &text(step, access), SHAPE).unwrap_err().to_string();
        let reason = "an access of 32 bytes whose alignment is not proved has no counterpart in the IR";
        assert!(refused.contains(reason), "{refused}");
    }
}

/// Compares the results of an imported kernel, evaluated and compiled, with direct execution. Some
/// buffers are too short, so that traps are compared, too.
fn check(params: &str, body: &str, wanted: &[&str]) {
    let text = kernel(params, body);
    let module = import("k.ptx", &text, SHAPE).unwrap_or_else(|report| panic!("{report}"));
    let kernel = &module.ir().kernels[0];
    let shown = kernel.to_string();
    for wanted in wanted {
        assert!(shown.contains(wanted), "{wanted}\n{shown}");
    }
    let host = Host::load("k.ptx", &text, "k").unwrap();
    let program = halfbyte::TARGETS
        .load(&module.compile(halfbyte::HALU).unwrap_or_else(|e| panic!("{e}\n{shown}")).object)
        .unwrap();
    let loaded = program.kernel("k").unwrap();
    let mut done = 0;
    for seed in 0..8 {
        let mut before = arguments(kernel, GRID * BLOCK, false, seed);
        if seed % 4 == 3 {
            before.iter_mut().filter(|bytes| bytes.len() > 8).for_each(|bytes| bytes.truncate(64));
        }
        let mut expected = before.clone();
        let ran = host.launch((GRID, BLOCK), &mut expected).is_ok();
        let mut found = before.clone();
        assert_eq!(evaluate(kernel, GRID * BLOCK, &mut found).is_ok(), ran, "launch {seed}\n{shown}");
        assert!(!ran || expected == found, "launch {seed}\n{shown}");
        for engine in Engine::ALL {
            let mut found = before.clone();
            assert_eq!(execute(loaded, engine, GRID * BLOCK, &mut found).is_ok(), ran, "launch {seed}\n{shown}");
            assert!(!ran || expected == found, "launch {seed} on {engine}\n{shown}");
        }
        done += usize::from(ran && expected != before);
    }
    assert!(done > 0, "{done} launches\n{shown}");
}

const TWO: &str = ".param .u64 x, .param .u64 y";
/// The parameters of `TWO`, declared as addresses.
const TWO_POINTERS: &str = ".param .u64 .ptr x, .param .u64 .ptr y";
const LOAD: &str = "ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; mul.wide.u32 %d2, %i, 16; add.s64 %d3, %d0, %d2; add.s64 %d4, %d1, %d2;\n";

#[test]
fn narrow_values_are_extended_by_their_type() {
    let body =
        "ld.global.s8 %r0, [%d3]; ld.global.u8 %r1, [%d3+1]; ld.global.s16 %r2, [%d3+2]; ld.global.u16 %h0, [%d3+4];
ld.global.s8 %h1, [%d3+6]; ld.global.s32 %d5, [%d3+8]; ld.global.u32 %d6, [%d3+12];
add.s32 %r3, %r0, %r1; add.s32 %r3, %r3, %r2; add.s16 %h2, %h0, %h1; add.s64 %d7, %d5, %d6;
st.global.u8 [%d4], %r3; st.global.b8 [%d4+1], %h2; st.global.u16 [%d4+2], %r3; st.global.b16 [%d4+4], %h2;
st.global.u32 [%d4+8], %d7; st.global.b32 [%d4+12], 0x12345678; ret;";
    check(TWO, &format!("{LOAD}{body}"), &["%x: in i8 align 4", "%y: inout i8 align 4", "sext.i32"]);
}

#[test]
fn vectors_are_elements_or_one_access() {
    let body = "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%d3]; st.global.v4.b32 [%d4], {%r3, %r2, %r1, %r0}; ret;";
    check(TWO, &format!("{LOAD}{body}"), &["%x: in i32 align 16", "load %x[%2 + 1]"]);
    let body = "ld.global.v2.u8 {%r0, %r1}, [%d3]; ld.global.v4.s16 {%r2, _, %r3, %r4}, [%d3+8]; add.s32 %r0, %r0, %r4;
st.global.v2.b16 [%d4], {%h0, %h1}; st.global.v2.b32 [%d4+8], {%r0, %r2}; ret;";
    check(TWO, &format!("{LOAD}{body}"), &[]);
    // If the address is computed, the import keeps a vector access as one access, whose whole size
    // determines the alignment.
    let body = "ld.param.u32 %r9, [n]; cvt.s64.s32 %d8, %r9; shl.b64 %d8, %d8, 2; add.s64 %d3, %d3, %d8;
ld.global.v2.f32 {%f0, %f1}, [%d3+8]; add.rn.f32 %f0, %f0, %f1; st.global.v2.f32 [%d4], {%f0, %f1}; ret;";
    check(&format!("{TWO}, .param .u32 n"), &format!("{LOAD}{body}"), &["load.i64", "split.f32"]);
    let body = "ld.param.u32 %r9, [n]; cvt.s64.s32 %d8, %r9; mul.lo.s64 %d8, %d8, 16; sub.s64 %d3, %d3, %d8; add.s64 %d3, %d3, 32;
ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%d3]; st.global.v2.b64 [%d4], {%d8, %d2}; st.global.b32 [%d4+4], %r3; ret;";
    check(&format!("{TWO}, .param .u32 n"), &format!("{LOAD}{body}"), &["load.i8x16"]);
}

#[test]
fn ordered_vectors_are_an_access_of_each_element() {
    let body = "ld.volatile.global.v4.u32 {%r0, %r1, _, %r2}, [%d3]; ld.relaxed.gpu.global.v2.f32 {%f0, %f1}, [%d3];
add.rn.f32 %f0, %f0, %f1; add.s32 %r0, %r0, %r1; st.release.sys.global.v2.b32 [%d4], {%r0, %r2}; st.volatile.global.v2.f32 [%d4+8], {%f0, %f1}; ret;";
    check(TWO, &format!("{LOAD}{body}"), &["%x: in i32 align 16", "atomic_load.f32 %x", "atomic_store.release.system"]);
    let body = "ld.acquire.cta.global.v2.u64 {%d5, %d6}, [%d3]; add.s64 %d5, %d5, %d6; ld.volatile.global.v4.u8 {%r0, %r1, %r2, %r3}, [%d3+4];
add.s32 %r0, %r0, %r3; cvt.u64.u32 %d7, %r0; st.relaxed.gpu.global.v2.b64 [%d4], {%d5, %d7}; ret;";
    check(TWO, &format!("{LOAD}{body}"), &["atomic_load.acquire.group.i64", "atomic_load.system %x"]);
    // The import must refuse a strong vector access whose alignment it cannot prove, because single
    // accesses would not trap if the vector is misaligned.
    for access in ["ld.volatile.global.v2.u32 {%r0, %r1}, [%d3+8];", "st.relaxed.gpu.global.v2.b32 [%d3], {%r9, %r9};"]
    {
        let body = format!(
            "{LOAD}ld.param.u32 %r9, [n]; cvt.s64.s32 %d8, %r9; shl.b64 %d8, %d8, 2; add.s64 %d3, %d3, %d8; {access} ret;"
        );
        let refused = import("k.ptx", &kernel(&format!("{TWO}, .param .u32 n"), &body), SHAPE).unwrap_err().to_string();
        let reason = "a strong vector access whose alignment is not proved has no counterpart in the IR";
        assert!(refused.contains(reason), "{refused}");
    }
}

#[test]
fn what_a_guard_keeps_from_memory_is_not_accessed() {
    let body = "setp.lt.u32 %p1, %i, 7; mov.b32 %r0, 5; mov.b64 %d5, 0x1000000000;
@%p1 mov.b64 %d5, 0; add.s64 %d3, %d3, %d5; @%p1 ld.global.b32 %r0, [%d3];
@!%p1 add.s32 %r0, %r0, %i; @%p1 st.global.b32 [%d4+4], %r0; @%p1 st.global.b32 [%d4+8], %i;
@!%p1 exit; st.global.b32 [%d4], %r0; ret;";
    check(TWO, &format!("{LOAD}{body}"), &["br_if"]);
}

#[test]
fn a_loop_over_addresses_is_one() {
    let body = "ld.param.u32 %r9, [n]; mov.b32 %r0, 0; mul.wide.u32 %d6, %r9, 4; add.s64 %d6, %d3, %d6; setp.eq.s64 %p1, %d3, %d6;
@%p1 bra done;
more: ld.global.b32 %r1, [%d3]; xor.b32 %r0, %r0, %r1; add.s64 %d3, %d3, 4; setp.ne.s64 %p2, %d3, %d6; @%p2 bra.uni more;
done: st.global.b32 [%d4], %r0; ret;";
    check(&format!("{TWO}, .param .u32 n"), &format!("{LOAD}{body}"), &["ptr_add", "ptr"]);
}

#[test]
fn one_of_two_buffers_is_accessed() {
    let body = "and.b32 %r0, %i, 1; setp.eq.s32 %p1, %r0, 0; selp.b64 %d5, %d3, %d4, %p1; ld.global.b32 %r1, [%d5];
ld.global.b32 %r2, [%d4+8]; add.s32 %r1, %r1, %r2; st.global.b32 [%d4+12], %r1; ret;";
    check(TWO, &format!("{LOAD}{body}"), &["select.ptr"]);
}

/// Statements that compute addresses in shared memory, in local memory and in a buffer.
const SPACES: &str =
    ".shared .align 4 .b32 s[4]; .local .align 4 .b32 l[4]; mov.u64 %d5, s; cvta.shared.u64 %d5, %d5; mov.u64 %d6, l;
cvta.local.u64 %d6, %d6; cvta.global.u64 %d7, %d3; and.b32 %r0, %i, 3; setp.eq.u32 %p0, %r0, 1; setp.eq.u32 %p1, %r0, 2;
";

#[test]
fn the_space_of_an_address_follows_from_what_chooses_it() {
    let body = "selp.b64 %d8, %d5, %d7, %p0; mov.b64 %d9, %d8; selp.b64 %d9, %d6, %d9, %p1; add.u64 %d9, %d9, 8;
isspacep.shared %p0, %d9; isspacep.local %p1, %d9; isspacep.global %p2, %d9; selp.b32 %r1, 1, 0, %p0; selp.b32 %r2, 2, 0, %p1;
selp.b32 %r3, 4, 0, %p2; or.b32 %r1, %r1, %r2; or.b32 %r1, %r1, %r3; ld.global.b32 %r2, [%d3]; add.u32 %r1, %r1, %r2;
st.global.b32 [%d4], %r1; ret;";
    check(TWO, &format!("{LOAD}{SPACES}{body}"), &["select.i1"]);
}

#[test]
fn an_access_reaches_the_memory_to_which_its_address_points() {
    let addresses = format!("{LOAD}{SPACES}mul.wide.u32 %d9, %i, 4; add.u64 %d5, %d5, %d9; st.u32 [%d5], %i; add.u64 %d6, %d6, 8; st.u32 [%d6], %t;")
        .replace("s[4]", "s[60]");
    let end = "st.u32 [%d8], %n; ld.u32 %r1, [%d8]; ld.u32 %r2, [%d5]; ld.u32 %r3, [%d6]; mad.lo.u32 %r1, %r1, 7, %r2; mad.lo.u32 %r1, %r1, 7, %r3;
ld.u32 %r2, [%d3]; add.u32 %r1, %r1, %r2; st.global.b32 [%d4], %r1; ret;";
    let selected = "selp.b64 %d8, %d5, %d7, %p0; selp.b64 %d8, %d6, %d8, %p1;";
    let joined = "mov.b64 %d8, %d5; @%p0 bra L; mov.b64 %d8, %d6; @%p1 bra L; mov.b64 %d8, %d7; L:";
    // The addresses are loaded from local memory, whose addresses are converted in both directions.
    let loaded = ".local .align 8 .b8 p[24]; mov.u64 %d8, p; cvta.local.u64 %d9, %d8; st.local.u64 [%d8], %d5; st.u64 [%d9+8], %d6;
cvta.to.local.u64 %d8, %d9; st.local.u64 [%d8+16], %d7; rem.u32 %r1, %i, 3; mul.wide.u32 %d10, %r1, 8; add.u64 %d9, %d9, %d10; ld.u64 %d8, [%d9];";
    let shown = ["%x: inout", "%y: inout", "bitcast.ptr"];
    for body in [selected, joined, loaded] {
        check(TWO, &format!("{addresses}{body}\n{end}"), if body == selected { &[] } else { &shown[..2] });
    }
    // An address in shared memory, and an address that is stored at that address.
    let body = ".shared .b64 s[60]; mul.wide.u32 %d9, %i, 8; mov.u64 %d5, s; add.u64 %d5, %d5, %d9; st.shared.u64 [%d5], %d4; atom.shared.exch.b64 %d6, [%d5], %d3;
st.u64 [%d6], %d3; ld.u64 %d7, [%d6]; ld.b32 %r0, [%d7]; ld.b32 %r1, [%d7+4]; st.global.v2.b32 [%d4], {%r0, %r1}; st.global.b64 [%d4+8], %d9; ret;";
    check(TWO_POINTERS, &format!("{LOAD}{body}"), &shown);
}

#[test]
fn an_or_adds_an_offset_to_an_address() {
    let body = ".local .align 8 .b8 l[64]; mov.u64 %d5, l; cvta.local.u64 %d5, %d5; and.b32 %r1, %i, 7; mul.wide.u32 %d6, %r1, 8; add.s64 %d5, %d5, %d6;
or.b64 %d6, %d5, 4; st.u32 [%d6], %i; ld.u64 %d7, [%d5]; or.b64 %d3, %d3, 8; ld.global.u32 %r2, [%d3]; cvt.u64.u32 %d8, %r2; add.u64 %d7, %d7, %d8;
st.global.u64 [%d4], %d7; ret;";
    check(TWO, &format!("{LOAD}{body}"), &[]);
}

/// A store at an address from memory may change every buffer, but not a module variable.
#[test]
fn a_store_at_a_loaded_address_reaches_no_module_variable() {
    let text = |uses: &str| {
        let body =
            format!("{LOAD}.shared .b64 s[60]; mul.wide.u32 %d9, %i, 8; mov.u64 %d8, s; add.u64 %d8, %d8, %d9; st.shared.u64 [%d8], %d3;
{uses}\nld.shared.u64 %d6, [%d8]; st.b32 [%d6], %i; st.global.b32 [%d4], %r1; ret;");
        kernel(TWO_POINTERS, &body)
            .replace(".visible", ".global .b32 table[4] = {1, 2, 3, 4};\n.global .u64 held = table;\n.visible")
    };
    let named = "and.b32 %r1, %i, 3; mul.wide.u32 %d5, %r1, 4; mov.u64 %d7, table; add.u64 %d7, %d7, %d5; ld.global.b32 %r1, [%d7];";
    assert!(import("k.ptx", &text(named), SHAPE).is_ok());
    let escapes = "mov.u64 %d7, table; st.global.u64 [%d4], %d7;";
    for (uses, reason) in [
        (escapes.to_owned(), "a store to the module variable `table` is not supported"),
        (
            "ld.global.u64 %d7, [held];".to_owned(),
            "the address in the initial contents of `held` has no counterpart in the IR",
        ),
    ] {
        let refused = import("k.ptx", &text(&uses), SHAPE).unwrap_err().to_string();
        assert!(refused.contains(reason), "{refused}");
    }
}

#[test]
fn structures_are_their_members() {
    let params = ".param .u64 x, .param .align 8 .b8 s[24], .param .align 4 .b8 v[4], .param .u8 c";
    let body = "ld.param.u64 %d0, [x]; ld.param.u64 %d5, [s]; ld.param.u32 %r0, [s+16]; ld.param.f32 %f0, [s+20]; ld.param.u16 %r1, [v+2]; ld.param.s8 %r2, [c];
mul.wide.u32 %d2, %i, 8; add.s64 %d3, %d0, %d2; add.s32 %r0, %r0, %r1; add.s32 %r0, %r0, %r2;
ld.global.f32 %f1, [%d3]; add.rn.f32 %f1, %f1, %f0; st.global.f32 [%d3], %f1; cvt.u32.u64 %r5, %d5; add.s32 %r0, %r0, %r5;
st.global.b32 [%d3+4], %r0; ret;";
    check(params, body, &["%s_0: i64", "%s_16: i32", "%s_20: f32", "%v: i32", "%c: i8"]);
}

#[test]
fn indices_are_those_that_cannot_wrap() {
    let index = |factor: u32| {
        format!(
            "ld.param.u64 %d0, [x]; mul.wide.s32 %d2, %i, {factor}; add.s64 %d3, %d2, %d0; ld.global.b32 %r0, [%d3]; st.global.b32 [%d3+4], %r0; ret;"
        )
    };
    check(".param .u64 x", &index(12), &["%x[%"]);
    let shown =
        |factor| import("k.ptx", &kernel(".param .u64 x", &index(factor)), SHAPE).unwrap().ir().kernels[0].to_string();
    // The index of the last item, multiplied by 64, is just below 2^32.
    assert!(!shown(64).contains("ptr_add") && shown(68).contains("ptr_add"), "{}", shown(68));
    let body = "ld.param.u64 %d0, [x]; ld.param.u32 %r1, [n]; sub.s32 %r0, %i, %r1; mul.wide.s32 %d2, %r0, 4; add.s64 %d3, %d2, %d0;
ld.global.b32 %r2, [%d3+64]; setp.ge.s32 %p1, %i, 0; @%p1 st.global.b32 [%d3+64], %r1; ret;";
    // An index may be negative before a constant is added to it.
    check(".param .u64 x, .param .u32 n", body, &["ptr_add"]);
}

#[test]
fn threads_and_blocks_are_parts_of_the_item() {
    let body = "mov.u32 %r0, %nctaid.x; mad.lo.s32 %r0, %r0, 1000, %t; mad.lo.s32 %r0, %b, 256, %r0;
mad.lo.s32 %r0, %n, 65536, %r0;
ld.param.u64 %d0, [x]; mul.wide.u32 %d1, %i, 4; add.s64 %d0, %d0, %d1; st.global.b32 [%d0], %r0; ret;";
    for (grid, block) in [(1, 1), (1, 7), (5, 1), (3, 20), (9, 32), (4, 9), (2, 1000)] {
        let text = kernel(".param .u64 x", body);
        let module = import("k.ptx", &text, Shape { grid: Some([grid, 1, 1]), block: Some([block, 1, 1]) }).unwrap();
        let host = Host::load("k.ptx", &text, "k").unwrap();
        let mut expected = vec![vec![0; 4 * (grid * block) as usize]];
        host.launch((grid, block), &mut expected).unwrap();
        let mut found = vec![vec![0; 4 * (grid * block) as usize]];
        evaluate(&module.ir().kernels[0], grid * block, &mut found).unwrap();
        assert!(expected == found, "{grid} x {block}");
    }
}

#[test]
fn what_cannot_be_imported_is_said_where_it_stands() {
    let far = "add.u64 %d7, %d7, 4; ".repeat(20);
    let cases: &[(&str, &str, &str)] = &[
        (TWO, "ld.global.b32 %r0, [%d5]; ret;", "5:1: this address cannot be traced back to a parameter"),
        (
            TWO,
            "ld.param.u64 %d0, [x];\nld.global.u64 %d1, [%d0];\n  ld.global.b32 %r0, [%d1]; ret;",
            "7:3: this address cannot be traced back to a parameter",
        ),
        (
            TWO,
            ".shared .b64 s[64]; mul.wide.u32 %d0, %t, 8; mov.u64 %d1, s; add.u64 %d0, %d0, %d1; ld.shared.u32 %d1, [%d0];\n ld.b32 %r0, [%d1]; ret;",
            "6:2: this address cannot be traced back to a parameter",
        ),
        (
            TWO,
            ".shared .b64 s[64]; mul.wide.u32 %d0, %t, 8; mov.u64 %d1, s; add.u64 %d0, %d0, %d1; ld.shared.v2.u32 {%r0, %r1}, [%d0];
mov.b64 %d1, {%r0, %r1};\n ld.b32 %r0, [%d1]; ret;",
            "7:2: this address cannot be traced back to a parameter",
        ),
        (
            TWO,
            ".shared .b64 s[64]; mul.wide.u32 %d0, %t, 8; mov.u64 %d1, s; add.u64 %d0, %d0, %d1; ld.shared.u64 %d1, [%d0];\n ld.global.b32 %r0, [%d1]; ret;",
            "6:2: this address cannot be traced back to a parameter",
        ),
        (
            TWO,
            &format!("{LOAD}.local .b64 l[8]; and.b32 %r0, %i, 7; mul.wide.u32 %d2, %r0, 8; mov.u64 %d5, l; add.u64 %d5, %d5, %d2; st.local.u64 [%d5], %d3;\n st.local.u64 [%d5], %d1; ld.local.u64 %d6, [%d5]; ld.b32 %r0, [%d6]; st.global.b32 [%d3], %r0; ret;"),
            "7:2: cannot tell whether y is an address",
        ),
        (
            TWO,
            "ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; or.b64 %d2, %d0, %d1;\n ld.b32 %r0, [%d2]; ret;",
            "6:2: this address cannot be traced back to a parameter",
        ),
        (
            TWO,
            &format!("{LOAD}{SPACES}@%p0 bra G;\n mov.b64 %d7, %d5; G:\n ld.global.b32 %r1, [%d7]; ret;"),
            "10:2: the address space of this address is only known at run time",
        ),
        (
            TWO,
            "cvt.u64.u32 %d1, %i;\nst.global.b32 [%d1], %i; ret;",
            "6:1: this address cannot be traced back to a parameter",
        ),
        (
            TWO,
            "ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; add.s64 %d2, %d0, %d1;\n ld.global.b32 %r0, [%d2+4]; ret;",
            "6:2: cannot tell which of x, y is the address",
        ),
        (
            TWO,
            "ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; add.s64 %d2, %d0, %d1; ld.global.b32 %r0, [%d0]; ld.global.b32 %r1, [%d1];
st.global.b32 [%d2], %r0; ret;",
            "6:1: cannot tell which of x, y is the address",
        ),
        (
            ".param .align 8 .b8 s[16]",
            "ld.param.u64 %d0, [s+0];\nld.param.u32 %r0, [s+4]; ret;",
            "6:1: this load partially overlaps another load from parameter `s`",
        ),
        (TWO, "ld.param.u32 %r0, [x+4];\nld.param.u64 %d0, [x+8];", "6:1: this load is misaligned or outside of its parameter"),
        (TWO, " ld.param.u32 %r0, [x+-4];", "5:2: this load is misaligned or outside of its parameter"),
        (TWO, " ld.param.u32 %r0, [x+2];", "5:2: this load is misaligned or outside of its parameter"),
        (TWO, "ld.param.v2.u32 {%r0, %r1}, [x+4];", "5:1: this load is misaligned or outside of its parameter"),
        (
            TWO,
            &format!("{LOAD}{SPACES}@%p0 bra G;\n mov.b64 %d7, %d5; G:\n isspacep.shared %p1, %d7; st.global.b64 [%d3], %d2; ret;"),
            "10:2: the address space of this address is only known at run time",
        ),
        (
            TWO,
            &format!("{LOAD}{SPACES}selp.b64 %d7, %d5, %d7, %p0; {far}\nisspacep.shared %p1, %d7; st.global.b64 [%d3], %d2; ret;"),
            "9:1: the address space of this address is only known at run time",
        ),
    ];
    for (params, body, expected) in cases {
        let text = kernel(params, body);
        let report = import("k.ptx", &text, Shape::default()).err().unwrap_or_else(|| panic!("{body}"));
        let lines = Lines::new(&text);
        let found: Vec<String> = (report.diagnostics().iter())
            .map(|error| {
                let at = lines.position(error.span.start);
                format!("{}:{}: {}", at.line, at.column, error.message)
            })
            .collect();
        assert_eq!(found, [*expected], "{body}");
    }
}

/// `cvta` of the address of a buffer to a space other than global memory gives no valid address.
#[test]
fn an_address_of_a_buffer_is_converted_to_no_other_space() {
    let text = |cvta: &str| {
        kernel(TWO, &format!("{LOAD}{cvta}.u64 %d5, %d3; ld.global.b32 %r0, [%d5]; st.global.b32 [%d4], %r0; ret;"))
    };
    for cvta in ["cvta.to.global", "cvta.global"] {
        assert!(import("k.ptx", &text(cvta), SHAPE).is_ok(), "{cvta}");
    }
    for cvta in ["cvta.to.shared", "cvta.to.local", "cvta.shared", "cvta.local"] {
        let refused = import("k.ptx", &text(cvta), SHAPE).unwrap_err().to_string();
        assert!(
            refused.contains("`cvta` treats this global address as an address in cluster shared memory"),
            "{refused}"
        );
    }
}
