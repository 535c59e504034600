//! Tests that PTX kernels give the same memory, statistics and traps in native code and in the interpreter.

use std::num::NonZero;

use halfbyte_isa::ptx::text::{ParsedFile, read};
use halfbyte_runtime::ptx::{Arg, Kernel, Launch};
use halfbyte_runtime::{Engine, LaunchError, Stats};

/// The declarations and the first instructions of all kernels. `%r0` is the item's number in the
/// launch. `%d0` is the address of `y`, and `%d1` that of the item's 16 bytes in `y`.
const HEAD: &str = ".version 8.8\n.target sm_90\n.address_size 64\n
.const .align 4 .b32 table[4] = {7, 9, 11, 13}; .global .b32 total; .shared .align 16 .b8 room[512]; .extern .shared .b32 more[];
.visible .entry k(.param .u64 y, .param .u32 n, .param .align 8 .b8 block[24])
{ .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .f32 %f<8>; .reg .f64 %g<8>;
.local .align 8 .b8 own[32];
ld.param.u64 %d0, [y]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r0, %r1, %r2, %r3;
mad.wide.u32 %d1, %r0, 16, %d0; ld.param.u32 %r4, [n];
";

/// Number of threads per block. The last warp of a block is incomplete.
const THREADS: u32 = 44;
const BLOCKS: u32 = 3;
/// Size of the buffer in bytes: sixteen for each item, and an area for computed addresses.
const BYTES: usize = 16 * (THREADS * BLOCKS) as usize + 4096;

fn kernel(body: &str) -> Kernel {
    let text = format!("{HEAD}{body}\n}}\n");
    Kernel::load(&read_text(&text), "k", "k.ptx").unwrap()
}

fn read_text(text: &str) -> ParsedFile {
    read(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

fn launch(body: &str, engine: Engine, budget: u64) -> (Result<Stats, LaunchError>, Vec<u8>) {
    let kernel = kernel(body);
    let mut y: Vec<u8> = (0..BYTES).map(|k| (k * 7 + k / 16 * 3) as u8).collect();
    let block: Vec<u8> = (0..24).collect();
    let n = 29u32.to_le_bytes();
    let mut args = [Arg::Buffer(&mut y), Arg::Value(&n), Arg::Value(&block)];
    let shape = halfbyte_abi::Shape { shared: 64, ..(BLOCKS, THREADS).into() };
    let ran = kernel.launch(Launch { engine, budget, ..Launch::new(shape, &mut args) });
    assert!(engine == Engine::Interp || kernel.translation().is_some(), "{body} is not native");
    (ran, y)
}

const FOUR: Engine = Engine::Jit { threads: NonZero::new(4).unwrap() };

/// Runs a kernel with the given body in the interpreter and in native code, and checks that the
/// results agree. Returns the buffer, and the error message if the launch failed.
fn both(body: &str) -> (Vec<u8>, Option<String>) {
    let (ran, y) = launch(body, Engine::Interp, 1 << 12);
    for engine in [Engine::JIT, FOUR] {
        let (native, native_y) = launch(body, engine, 1 << 12);
        assert_eq!(ran, native, "{body}");
        if ran.is_ok() {
            assert!(y == native_y, "{body}");
        }
    }
    (y, ran.err().map(|error| error.to_string()))
}

fn ok(body: &str) -> Vec<u8> {
    let (y, error) = both(&format!("{body}\nret;"));
    assert_eq!(error, None, "{body}");
    y
}

fn word(y: &[u8], item: u32, k: usize) -> u32 {
    let at = 16 * item as usize + 4 * k;
    u32::from_le_bytes(y[at..at + 4].try_into().unwrap())
}

#[test]
fn straight_code() {
    for body in [
        "ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%d1]; add.u32 %r5, %r5, %r6; st.global.v2.b32 [%d1+8], {%r5, %r0};",
        "ld.v4.u8 {%h0, %h1, _, %h2}, [%d1+4]; st.v2.b16 [%d1], {%h2, %h1}; ld.s8 %d5, [%d1+3]; st.b64 [%d1+8], %d5;",
        "ld.global.s16 %r5, [%d1+2]; ld.global.v2.s8 {%r6, %r7}, [%d1+6]; st.v4.b32 [%d1], {%r5, %r6, %r7, %r4};",
        "ld.v2.f64 {%g0, %g1}, [%d1]; fma.rn.f64 %g2, %g0, %g1, %g0; div.rn.f64 %g3, %g1, %g0; st.v2.f64 [%d1], {%g2, %g3};",
        "ld.v2.b64 {%d2, %d3}, [%d1]; div.s64 %d4, %d2, %d3; rem.u64 %d5, %d3, %d2; st.v2.b64 [%d1], {%d4, %d5};",
        "ld.b64 %d2, [%d1]; mul.hi.s64 %d3, %d2, %d1; shl.b64 %d4, %d2, %r3; sub.s64 %d3, %d3, %d4; st.b64 [%d1], %d3;",
        "ld.v2.b32 {%r5, %r6}, [%d1]; add.cc.u32 %r7, %r5, %r6; addc.cc.u32 %r8, %r6, %r6; addc.u32 %r9, %r5, 0; st.v4.b32 [%d1], {%r7, %r8, %r9, %r0};",
        "ld.f32 %f0, [%d1]; sqrt.rn.f32 %f1, %f0; cvt.rzi.s64.f32 %d2, %f0; ex2.approx.f32 %f2, %f0; st.v2.f32 [%d1], {%f1, %f2}; st.b64 [%d1+8], %d2;",
        "setp.eq.u32 %p0, %r4, 3; xor.b32 %r5, %r3, 5; mul.wide.u32 %d2, %r5, 4; add.u64 %d2, %d2, %d0; @%p0 st.global.u32 [%d2], 1; @%p0 ld.global.u32 %r6, [%d2];",
        "setp.lt.u32 %p0, %r3, 20; selp.u32 %r5, %r3, %r0, %p0; @!%p0 add.u32 %r5, %r5, 100; @%p0 st.global.b32 [%d1+4], %r5;",
        "mov.u32 %r5, %laneid; mov.u32 %r6, %warpid; mov.u32 %r7, %lanemask_gt; mov.u32 %r8, %nctaid.x; st.v4.b32 [%d1], {%r5, %r6, %r7, %r8};",
        "mov.u32 %r5, %lanemask_le; mov.u32 %r6, %lanemask_lt; mov.u32 %r7, %lanemask_ge; mov.u32 %r8, %nwarpid; st.v4.b32 [%d1], {%r5, %r6, %r7, %r8};",
        "mov.u32 %r5, %total_smem_size; mov.u32 %r6, %dynamic_smem_size; mov.u32 %r7, %nsmid; mov.u64 %d2, %gridid; st.v2.b32 [%d1], {%r5, %r6}; st.b64 [%d1+8], %d2;",
    ] {
        ok(body);
    }
}

#[test]
fn addresses() {
    // Each address is the sum of a base and a 32-bit index, signed or unsigned, times a constant.
    // The instructions are those that compilers generate. Some addresses are out of bounds.
    let y = "ld.param.u64 %d0, [y]; sub.u32 %r5, %r0, %r4; and.b32 %r6, %r3, 31; shl.b32 %r7, %r1, 30; add.u32 %r8, %r0, %r7; add.u64 %d9, %d0, 3072;";
    let ways = [
        "mul.wide.u32 %d2, $, 4; add.s64 %d3, %d9, %d2;",
        "mul.wide.s32 %d2, $, 4; add.s64 %d3, %d2, %d9;",
        "mad.wide.s32 %d3, $, 8, %d9;",
        "mad.wide.u32 %d3, $, 12, %d9;",
        "cvt.u64.u32 %d2, $; shl.b64 %d2, %d2, 2; add.s64 %d3, %d9, %d2;",
        "cvt.s64.s32 %d2, $; shl.b64 %d2, %d2, 3; add.s64 %d3, %d9, %d2;",
        "cvt.s64.s32 %d2, $; add.s64 %d3, %d2, %d9; add.s64 %d3, %d3, 4;",
        "cvt.u64.u32 %d2, %r4; mul.wide.s32 %d4, $, 4; add.s64 %d2, %d2, %d4; add.s64 %d3, %d9, %d2; add.s64 %d3, %d3, 3;",
        "shl.b32 %r9, $, 2; cvt.u64.u32 %d2, %r9; add.s64 %d3, %d9, %d2;",
        "mul.wide.s32 %d2, $, 16777216; add.s64 %d3, %d9, %d2;",
    ];
    let loads = [
        "ld.global.u32 %r10, [%d3]; st.global.u32 [%d1], %r10;",
        "ld.global.s8 %r10, [%d3+1]; st.global.u32 [%d1+4], %r10;",
        "setp.lt.s32 %p0, $, 60; @%p0 ld.global.v2.u32 {%r10, %r11}, [%d3+-8]; st.global.u32 [%d1], %r11;",
    ];
    // Each item stores to a different address.
    let stores = [
        "st.global.u32 [%d3], %r0;",
        "setp.ge.s32 %p0, $, 0; @!%p0 bra over; st.global.u32 [%d3], %r3; atom.global.add.u32 %r10, [%d3], 1; over:",
    ];
    for index in ["%r0", "%r5", "%r6", "%r8", "%r4"] {
        for way in ways {
            let is_own = !matches!(index, "%r6" | "%r4");
            for used in loads.into_iter().chain(stores.into_iter().filter(|_| is_own)) {
                let body = format!("{y} {way} {used} ret;").replace('$', index);
                both(&body);
            }
        }
    }
}

/// The kernel reads all special registers that depend on the item's position or on the launch. Blocks and grids have
/// several axes. A row of native code holds several sequences of items along x.
#[test]
fn special_registers_have_the_values_of_their_axis() {
    let registers = ["%tid", "%ntid", "%ctaid", "%nctaid"].map(|of| ["x", "y", "z"].map(|axis| format!("{of}.{axis}")));
    let others = ["%laneid", "%warpid", "%nwarpid", "%lanemask_lt", "%lanemask_gt", "%lanemask_eq"].map(str::to_owned);
    let read: Vec<String> = registers.into_iter().flatten().chain(others).collect();
    for meets in ["", "bar.sync 0;"] {
        let mut body = String::from(
            ".reg .b64 %d<4>; .reg .b32 %n<16>; .reg .b32 %r<32>; ld.param.u64 %d0, [y];
            mov.u32 %n0, %ctaid.z; mov.u32 %n1, %nctaid.y; mov.u32 %n2, %ctaid.y; mad.lo.u32 %n0, %n0, %n1, %n2;
            mov.u32 %n1, %nctaid.x; mov.u32 %n2, %ctaid.x; mad.lo.u32 %n0, %n0, %n1, %n2; mov.u32 %n1, %ntid.z; mov.u32 %n2, %tid.z;
            mad.lo.u32 %n0, %n0, %n1, %n2; mov.u32 %n1, %ntid.y; mov.u32 %n2, %tid.y; mad.lo.u32 %n0, %n0, %n1, %n2;
            mov.u32 %n1, %ntid.x; mov.u32 %n2, %tid.x; mad.lo.u32 %n0, %n0, %n1, %n2; mad.wide.u32 %d1, %n0, 128, %d0;\n",
        );
        body += meets;
        for (k, register) in read.iter().enumerate() {
            body += &format!("mov.u32 %r{k}, {register}; st.global.u32 [%d1+{}], %r{k};\n", 4 * k);
        }
        let text =
            format!(".version 8.8 .target sm_90 .address_size 64 .visible .entry k(.param .u64 y) {{ {body} ret; }}");
        let kernel = Kernel::load(&read_text(&text), "k", "k.ptx").unwrap();
        for shape in [([2, 3, 2], [4, 1, 1]), ([5, 1, 1], [7, 3, 2]), ([1, 3, 2], [33, 1, 2]), ([3, 1, 1], [64, 2, 1])]
        {
            let items: u32 = shape.0.iter().chain(&shape.1).product();
            let [interpreted, native] = Engine::ALL.map(|engine| {
                let mut y = vec![0; 128 * items as usize];
                let mut args = [Arg::Buffer(&mut y)];
                let stats = kernel.launch(Launch { engine, ..Launch::new(shape, &mut args) }).unwrap();
                (stats, y)
            });
            assert!(interpreted == native, "{shape:?} {meets}");
        }
    }
}

#[test]
fn loops_and_branches() {
    let y = ok("mov.u32 %r5, %r0; mov.u32 %r6, 0;
        again: setp.eq.u32 %p0, %r5, 0; @%p0 bra end; and.b32 %r7, %r5, 1; add.u32 %r6, %r6, %r7; shr.u32 %r5, %r5, 1; bra again;
        end: st.global.b32 [%d1], %r6;");
    assert!((0..THREADS * BLOCKS).all(|item| word(&y, item, 0) == item.count_ones()));
    ok("setp.ge.u32 %p0, %r0, %r4; @%p0 ret; mov.u32 %r5, %r3; two: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r4; @%p1 bra two;
        setp.eq.u32 %p2, %r3, 3; @%p2 exit; st.global.b32 [%d1+12], %r5;");
    // An item that runs past the end of the kernel ends.
    let (_, error) = both("setp.lt.u32 %p0, %r3, 5; @%p0 bra over; st.global.b32 [%d1], 5; over:");
    assert_eq!(error, None);
}

#[test]
fn memories() {
    // The kernel accesses local memory by name, by an address in local memory, and by a generic address.
    ok("st.local.v2.b32 [own+8], {%r0, %r3}; mov.u64 %d2, own; shl.b32 %r5, %r3, 2; and.b32 %r5, %r5, 12; cvt.u64.u32 %d3, %r5;
        add.u64 %d2, %d2, %d3; st.local.b32 [%d2+16], %r3; cvta.local.u64 %d4, %d2; ld.b32 %r6, [%d4+16]; ld.local.b32 %r7, [%d2+4];
        ld.local.v2.b32 {%r8, %r9}, [own+8]; st.v4.b32 [%d1], {%r6, %r7, %r8, %r9};");
    // The kernel accesses constant memory by name, by an address in constant memory that differs
    // between items, and by a generic address.
    ok("ld.const.b32 %r5, [table+4]; mov.u64 %d2, table; and.b32 %r6, %r3, 3; mad.wide.u32 %d2, %r6, 4, %d2; ld.const.b32 %r6, [%d2];
        cvta.const.u64 %d3, table; ld.v2.b32 {%r7, %r8}, [%d3+8]; isspacep.const %p0, %d3; isspacep.global %p1, %d3; isspacep.const %p2, %d1;
        selp.u32 %r7, %r7, 0, %p0; selp.u32 %r8, %r8, 5, %p1; @%p2 mov.u32 %r5, 77; st.v4.b32 [%d1], {%r5, %r6, %r7, %r8};");
    // The kernel reads parameters by an address in parameter memory, and by a generic address.
    ok("mov.u64 %d2, block; and.b32 %r5, %r3, 7; cvt.u64.u32 %d3, %r5; add.u64 %d2, %d2, %d3; ld.param.u8 %r6, [%d2+3];
        cvta.param.u64 %d4, %d2; ld.u8 %r7, [%d4]; ld.param.v2.b64 {%d5, %d6}, [block]; st.v2.b32 [%d1], {%r6, %r7}; st.b64 [%d1+8], %d5;");
    // The kernel accesses shared memory by name, by address and by generic address, including the
    // dynamic shared memory of the launch.
    let y = ok("shl.b32 %r5, %r3, 2; mov.u32 %r6, room; add.u32 %r6, %r6, %r5; st.shared.b32 [%r6], %r0; bar.sync 0;
        ld.shared.b32 %r7, [room+12]; cvt.u64.u32 %d2, %r6; cvta.shared.u64 %d2, %d2; ld.b32 %r8, [%d2]; setp.lt.u32 %p0, %r3, 16;
        mov.u32 %r9, more; add.u32 %r9, %r9, %r5; @%p0 st.shared.b32 [%r9], %r3; bar.sync 0; ld.shared.b32 %r10, [more+20];
        st.v4.b32 [%d1], {%r7, %r8, %r10, %r0};");
    assert!((0..THREADS * BLOCKS).all(|item| word(&y, item, 0) == item / THREADS * THREADS + 3));
    // Some of the generic addresses are in shared memory, and others are in global memory.
    ok("cvta.shared.u64 %d2, room; mul.wide.u32 %d3, %r3, 8; add.u64 %d2, %d2, %d3; setp.lt.u32 %p0, %r3, 20; selp.b64 %d4, %d2, %d1, %p0;
        st.b64 [%d4], %d3; atom.add.u32 %r5, [%d4], 3; ld.b32 %r6, [%d4]; st.v2.b32 [%d1+8], {%r5, %r6};");
}

#[test]
fn atomics() {
    let y = ok("atom.global.add.u32 %r5, [%d0], 1; red.global.max.s32 [%d0+4], %r0; red.shared.add.u32 [room], %r3; bar.sync 0;
        ld.shared.b32 %r6, [room]; setp.gt.u32 %p0, %r0, 0; @%p0 st.b32 [%d1+8], %r6;");
    // The first four bytes of the buffer are 0, 7, 14 and 21 before the launch.
    assert_eq!(word(&y, 0, 0), 0x150E_0700 + THREADS * BLOCKS);
    for body in [
        "ld.b64 %d2, [%d1]; atom.cas.b64 %d3, [%d1], %d2, %d0; atom.exch.b64 %d4, [%d1+8], %d3; st.b64 [%d1], %d4;",
        "ld.b32 %r5, [%d1]; atom.add.noftz.f16x2 %r6, [%d1+4], %r5; atom.add.f32 %f0, [%d1+8], 0f3F800000; st.b32 [%d1], %r6; st.f32 [%d1+12], %f0;",
        "ld.b16 %h0, [%d1]; atom.cas.b16 %h1, [%d1+2], %h0, %h0; st.b16 [%d1+4], %h1; atom.add.f64 %g0, [%d1+8], 0d4000000000000000; cvt.rn.f32.f64 %f0, %g0; st.f32 [%d1], %f0;",
        "setp.lt.u32 %p0, %r3, 9; @%p0 atom.inc.u32 %r5, [%d1], 7; @!%p0 atom.dec.u32 %r5, [%d1+4], %r3; st.b32 [%d1+8], %r5;",
        "mov.u64 %d2, total; atom.add.u32 %r5, [total], %r3; membar.gl; ld.volatile.global.b32 %r6, [%d2]; setp.eq.u32 %p0, %r6, 0; @%p0 st.b32 [%d1], 1;",
    ] {
        ok(body);
    }
}

#[test]
fn meetings() {
    for body in [
        "shfl.sync.up.b32 %r5|%p0, %r0, 1, 0, -1; selp.u32 %r6, 1, 0, %p0; st.v2.b32 [%d1], {%r5, %r6};",
        "setp.lt.u32 %p3, %r3, 32; @!%p3 bra rest; shfl.sync.bfly.b32 %r5, %r0, 5, 31, -1; shfl.sync.idx.b32 %r6|%p1, %r0, %r3, 0x181f, -1; bra end;
         rest: shfl.sync.down.b32 %r5|%p0, %r0, 2, 31, 0xfff; mov.u32 %r6, 3; end: selp.u32 %r7, 1, 0, %p1; st.v4.b32 [%d1], {%r5, %r6, %r7, %r7};",
        "and.b32 %r5, %r3, 3; setp.eq.u32 %p0, %r5, 1; vote.sync.ballot.b32 %r6, %p0, -1; vote.sync.any.pred %p1, !%p0, -1; selp.u32 %r7, 1, 0, %p1; st.v2.b32 [%d1], {%r6, %r7};",
        "and.b32 %r5, %r3, 3; match.any.sync.b32 %r6, %r5, -1; match.all.sync.b32 %r7|%p0, %r1, -1; selp.u32 %r8, 1, 0, %p0; st.v4.b32 [%d1], {%r6, %r7, %r8, %r5};",
        "cvt.u64.u32 %d2, %r3; shr.u64 %d2, %d2, 2; match.any.sync.b64 %r6, %d2, -1; redux.sync.add.s32 %r7, %r3, -1; redux.sync.xor.b32 %r8, %r0, -1; st.v4.b32 [%d1], {%r6, %r7, %r8, %r5};",
        "setp.lt.u32 %p0, %r3, 10; barrier.sync 0; bar.red.popc.u32 %r5, 0, %p0; bar.red.and.pred %p1, 0, %p0; bar.red.or.pred %p2, 0, !%p0; selp.u32 %r6, 1, 0, %p1; selp.u32 %r7, 1, 0, %p2; st.v4.b32 [%d1], {%r5, %r6, %r7, %r7};",
        "and.b32 %r5, %r3, 1; setp.eq.u32 %p0, %r5, 1; @%p0 bra odd; activemask.b32 %r6; bra end; odd: activemask.b32 %r6; end: bar.warp.sync -1; st.b32 [%d1], %r6;",
        "setp.ge.u32 %p0, %r3, 32; @%p0 bra far; bar.sync 1, 32; shl.b32 %r5, %r3, 2; mov.u32 %r6, room; add.u32 %r6, %r6, %r5; st.shared.b32 [%r6], %r3; bar.sync 1, 32; ld.shared.b32 %r7, [room+8]; far: st.b32 [%d1], %r7;",
        "elect.sync %r5|%p0, -1; selp.u32 %r6, 1, 0, %p0; st.v2.b32 [%d1], {%r5, %r6};",
        "mov.u32 %r5, %r3; again: shfl.sync.idx.b32 %r6, %r5, 1, 31, -1; add.u32 %r5, %r5, %r6; setp.lt.u32 %p0, %r6, 500; @%p0 bra again; st.b32 [%d1], %r5;",
    ] {
        both(&format!("{body} ret;"));
    }
}

#[test]
fn ends_with_a_trap() {
    for (body, says) in [
        ("setp.eq.u32 %p0, %r0, 70; @%p0 trap;", "the kernel executed a trap instruction"),
        (
            "add.u64 %d2, %d1, 5120; st.global.b32 [%d2], %r0;",
            "is out of bounds: byte 6208 of buffer `y`, which has 6208 bytes",
        ),
        (
            "setp.eq.u32 %p0, %r0, 33; selp.b64 %d2, 2, 0, %p0; add.u64 %d2, %d1, %d2; ld.b32 %r5, [%d2];",
            "is misaligned",
        ),
        (
            "mul.wide.u32 %d2, %r3, 4; mov.u64 %d3, own; add.u64 %d3, %d3, %d2; st.local.b32 [%d3], 1;",
            "store of 4 bytes at local address 0x1020 is out of bounds",
        ),
        ("ld.local.b32 %r5, [%d1];", "is out of bounds"),
        ("mov.u64 %d2, -8; ld.local.b64 %d3, [%d2];", "at local address 0xfffffffffffffff8 is out of bounds"),
        ("mov.u64 %d2, block; ld.param.b32 %r5, [%d2+24];", "is out of bounds"),
        ("mov.u64 %d2, block; ld.param.b32 %r5, [%d2+-4];", "is out of bounds"),
        ("mov.u64 %d2, block; cvta.param.u64 %d2, %d2; st.b32 [%d2], %r5;", "store of 4 bytes at c[0x0] address"),
        ("ld.const.b32 %r5, [table+16];", "byte 16 of buffer `table`, which has 16"),
        (
            "mov.u64 %d2, table; mul.wide.u32 %d3, %r3, 2; add.u64 %d2, %d2, %d3; ld.const.b32 %r5, [%d2];",
            "is misaligned",
        ),
        ("ld.const.b32 %r5, [%d1];", "c[0x0] address 0xd00000000000000 is out of bounds"),
        ("mov.u64 %d2, table; ld.global.b32 %r5, [%d2];", "is out of bounds"),
        ("cvta.const.u64 %d2, table; st.b32 [%d2], %r5;", "into `in` buffer `table`"),
        (
            "mov.u32 %r5, room; shl.b32 %r6, %r3, 5; add.u32 %r5, %r5, %r6; st.shared.b32 [%r5], %r5;",
            "shared address 0x240 is out of bounds",
        ),
        ("mov.u32 %r5, 0; ld.shared.b32 %r6, [%r5+-4];", "shared address 0xfffffffc is out of bounds"),
        (
            "cvta.local.u64 %d2, own; atom.add.u32 %r5, [%d2], 1;",
            "store of 4 bytes at local address 0x1000 is out of bounds",
        ),
        ("setp.ge.u32 %p0, %r0, 50; wait: @%p0 bra wait;", "more than 4096 backward branches taken"),
        ("setp.eq.u32 %p0, %r3, 7; @%p0 bar.sync 0; shfl.sync.idx.b32 %r5, %r3, 40, 31, 0xff;", ""),
        ("mov.u32 %r5, 20; bar.sync %r5;", ""),
    ] {
        let (_, error) = both(&format!("{body} ret;"));
        let error = error.unwrap_or_default();
        assert!(error.ends_with(says) || error.contains(says), "{body}: {error}");
    }
}

#[test]
fn what_is_interpreted() {
    let is_interpreted = |body: &str| kernel(&format!("{body} ret;")).is_interpreted();
    assert!(!is_interpreted("st.global.b32 [%d1], 1;"));
    assert!(is_interpreted("mov.u32 %r5, %clock;"));
    assert!(is_interpreted("alloca.u64 %d2, 16;"));
    assert!(is_interpreted("wait: atom.cas.b32 %r5, [total], 0, 1; setp.ne.u32 %p0, %r5, 0; @%p0 bra wait;"));
    assert!(!is_interpreted(
        "wait: red.add.u32 [total], 1; add.u32 %r5, %r5, 1; setp.ne.u32 %p0, %r5, 3; @%p0 bra wait;"
    ));
    assert!(is_interpreted("ts: .branchtargets one, two; brx.idx %r3, ts; one: ret; two:"));
}
