//! Tests that loads from an address that is uniform in a block give the same result in native code
//! and in the interpreter. The kernels use the loaded values in different ways.

use halfbyte_isa::ptx::text::read;
use halfbyte_runtime::Engine;
use halfbyte_runtime::ptx::{Arg, Kernel, Launch};

const BLOCKS: u32 = 3;

/// Runs a kernel with the given body and returns the contents of `y`. `%d0` is the address of `x`. `%d1` is the address
/// of the thread's 16 bytes in `y`, and `%s` that of its 16 bytes of shared memory.
fn run(body: &str, threads: u32, engine: Engine) -> Vec<u8> {
    let text = format!(
        ".version 8.3\n.target sm_90\n.address_size 64\n.const .align 16 .b32 table[4] = {{7, 9, 11, 13}};
         .visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)
         {{ .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<16>, %s; .reg .b64 %d<8>;
         .shared .align 16 .b8 tile[16384]; .local .align 16 .b8 own[32];
         mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r1, %r2, %r0;
         ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; ld.param.u32 %r4, [n]; mad.wide.u32 %d1, %r3, 16, %d1;
         mov.u32 %s, tile; mad.lo.u32 %s, %r0, 16, %s; st.shared.v4.b32 [%s], {{%r3, %r3, %r3, %r3}};
         {body}
         ret; }}\n"
    );
    let text = read(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let kernel = Kernel::load(&text, "k", "k.ptx").unwrap();
    let x: Vec<u8> = (0..512u32).map(|k| (k * 7 + k / 16 * 3) as u8).collect();
    let mut y: Vec<u8> = (0..16 * threads * BLOCKS).map(|k| k as u8).collect();
    let n = 5u32.to_le_bytes();
    let mut args = [Arg::In(&x), Arg::Buffer(&mut y), Arg::Value(&n)];
    let launched = kernel.launch(Launch { engine, ..Launch::new((BLOCKS, threads), &mut args) });
    launched.unwrap_or_else(|error| panic!("{body}: {error}"));
    y
}

#[track_caller]
fn check(body: &str) {
    for threads in [1, 2, 3, 8, 31, 32, 33, 1000] {
        let [expected, found] = [Engine::Interp, Engine::JIT].map(|engine| run(body, threads, engine));
        assert!(expected == found, "{threads} threads: {body}");
    }
}

/// Instruction sequences that compute, in `%d2`, an address in `x` that is uniform in a block.
const ADDRESSES: [&str; 5] = [
    "mov.u64 %d2, %d0;",
    "add.s64 %d2, %d0, 48;",
    "mad.wide.u32 %d2, %r1, 16, %d0;",
    "mad.wide.u32 %d2, %r4, 16, %d0;",
    "ld.global.u8 %r5, [%d0+1]; and.b32 %r5, %r5, 7; mad.wide.u32 %d2, %r5, 16, %d0;",
];

const WAIT: &str =
    "cp.async.wait_all; ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%s]; st.global.v4.u32 [%d1], {%r6, %r7, %r8, %r9};";

#[test]
fn copies_of_a_uniform_source() {
    for address in ADDRESSES {
        for (how, bytes) in [("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)] {
            let copy = format!("cp.async.{how}.shared.global [%s], [%d2], {bytes}");
            for body in [
                format!("{address} {copy}; {WAIT}"),
                format!("{address} {copy}, {}; {WAIT}", bytes / 2 + 1),
                format!("{address} setp.lt.u32 %p0, %r0, 5; @%p0 {copy}; {WAIT}"),
                format!("{address} setp.lt.u32 %p0, %r4, 9; @!%p0 bra L; {copy}; L: {WAIT}"),
                format!("{address} setp.lt.u32 %p0, %r0, 1; @!%p0 bra L; {copy}; L: {WAIT}"),
                format!(
                    "{address} mov.u32 %r10, 0; L: {copy}; cp.async.wait_all; add.u32 %r10, %r10, 1; setp.lt.u32 %p0, %r10, 3; @%p0 bra L; {WAIT}"
                ),
            ] {
                check(&body);
            }
        }
        // Two asynchronous copies precede one wait. Their destinations in shared memory are adjacent.
        check(&format!(
            "{address} cp.async.ca.shared.global [%s], [%d2], 8; cp.async.ca.shared.global [%s+8], [%d2+16], 8; {WAIT}"
        ));
    }
}

#[test]
fn other_readers_of_a_uniform_load() {
    for address in ADDRESSES {
        for body in [
            "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d2]; st.global.v4.u32 [%d1], {%r9, %r6, %r7, %r8};",
            "ld.global.v2.u64 {%d3, %d4}, [%d2]; st.shared.v2.u64 [%s], {%d4, %d3}; ld.shared.v2.u64 {%d5, %d6}, [%s]; st.global.v2.u64 [%d1], {%d5, %d6};",
            "ld.global.v4.u8 {%h0, %h1, %h2, %h3}, [%d2]; st.global.v4.u8 [%d1+4], {%h3, %h2, %h1, %h0};",
            "ld.global.s8 %r6, [%d2+3]; ld.global.s16 %h0, [%d2+2]; st.global.u16 [%d1], %r6; st.global.u8 [%d1+3], %h0;",
            "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d2]; st.local.v4.u32 [own+16], {%r6, %r7, %r8, %r9}; ld.local.u64 %d3, [own+24]; st.global.u64 [%d1], %d3;",
            "ld.global.u32 %r6, [%d2]; red.global.add.u32 [%d1], %r6; atom.global.xor.b32 %r7, [%d1+4], %r6; st.global.u32 [%d1+8], %r7;",
            "ld.global.u64 %d3, [%d2]; atom.global.cas.b64 %d4, [%d1], %d3, %d2; atom.global.exch.b64 %d5, [%d1+8], %d3; xor.b64 %d4, %d4, %d5; st.global.u64 [%d1], %d4;",
            "ld.global.u64 %d3, [%d2]; red.shared.add.u64 [%s], %d3; atom.shared.max.u64 %d4, [%s+8], %d3; ld.shared.u64 %d5, [%s]; st.global.v2.u64 [%d1], {%d4, %d5};",
            "ld.global.u8 %r6, [%d2]; and.b32 %r6, %r6, 3; mad.wide.u32 %d3, %r6, 4, %d0; ld.global.u32 %r7, [%d3]; st.global.u32 [%d1], %r7;",
            "ld.const.v4.u32 {%r6, %r7, %r8, %r9}, [table]; st.global.v4.u32 [%d1], {%r6, %r7, %r8, %r9};",
            "bar.sync 0; ld.shared.v2.u64 {%d3, %d4}, [tile]; st.global.v2.u64 [%d1], {%d3, %d4};",
            "ld.v2.u64 {%d3, %d4}, [%d2]; st.v2.u64 [%d1], {%d3, %d4};",
        ] {
            check(&format!("{address} {body}"));
        }
    }
    // The matrix load requires complete warps.
    let body = "bar.sync 0; mov.u32 %r5, tile; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r5]; st.global.v4.u32 [%d1], {%r6, %r7, %r8, %r9};";
    let [expected, found] = [Engine::Interp, Engine::JIT].map(|engine| run(body, 64, engine));
    assert!(expected == found);
}
