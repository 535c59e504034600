//! Tests of PTX kernels: launch arguments, memory accesses, and every kind of trap.

use halfbyte_abi::buffer_base;
use halfbyte_isa::ptx::text::read;
use halfbyte_runtime::ptx::{Arg, Kernel, Launch, LoadError};
use halfbyte_runtime::{Engine, LaunchError, Stats, TrapKind};

/// Loads a kernel `k` with the given parameters and body. The first line of the body is line 6 of the text.
fn load(params: &str, body: &str) -> Result<Kernel, LoadError> {
    let registers = ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>;";
    let head = ".version 8.8\n.target sm_90\n.address_size 64 .const .b32 c[2] = {7, 9}; .global .b32 unused[4]; .global .b32 g = 5;";
    let text = format!("{head}\n.visible .entry k({params})\n{{ {registers}\n{body}\n}}\n");
    let text = read(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    Kernel::load(&text, "k", "k.ptx")
}

/// Launches one item with the read-only buffer `x` and the writable buffer `y`, of two 32-bit words
/// each. Returns the contents of `y`.
fn run(body: &str) -> Result<[u32; 2], LaunchError> {
    let body = format!("ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y];\n{body}");
    let kernel = load(".param .u64 x, .param .u64 y", &body).unwrap();
    let x = words(&[0x8001_7FFF, 0xFF80_0201]);
    let [interpreted, native] = Engine::ALL.map(|engine| {
        let mut y = words(&[3, 4]);
        let mut args = [Arg::In(&x), Arg::Buffer(&mut y)];
        let stats = kernel.launch(Launch { engine, ..Launch::new((1, 1), &mut args) })?;
        Ok(([word(&y, 0), word(&y, 1)], stats))
    });
    assert_eq!(interpreted, native, "{body}");
    interpreted.map(|(y, _)| y)
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn word(bytes: &[u8], i: usize) -> u32 {
    u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap())
}

#[test]
fn loads_extend_and_stores_cut() {
    let ok = |body: &str| run(&format!("{body} ret;")).unwrap();
    assert_eq!(ok("ld.global.u8 %r0, [%d0+3]; st.global.b32 [%d1], %r0;"), [0x80, 4]);
    assert_eq!(ok("ld.global.s8 %r0, [%d0+3]; st.global.b32 [%d1], %r0;"), [0xFFFF_FF80, 4]);
    assert_eq!(ok("ld.global.s16 %d2, [%d0+2]; st.global.b64 [%d1], %d2;"), [0xFFFF_8001, 0xFFFF_FFFF]);
    assert_eq!(ok("ld.global.b64 %d2, [%d0]; st.global.b8 [%d1+1], %d2;"), [0xFF03, 4]);
    assert_eq!(
        ok("ld.global.nc.v2.b32 {%r0, %r1}, [%d0]; st.global.v2.b32 [%d1], {%r1, %r0};"),
        [0xFF80_0201, 0x8001_7FFF]
    );
    assert_eq!(ok("ld.global.v4.u8 {%h0, _, _, %h1}, [%d0+4]; st.v2.b16 [%d1], {%h1, %h0};"), [0x0001_00FF, 4]);
    assert_eq!(ok("cvta.to.global.u64 %d2, %d1; st.global.b32 [%d2+4], 7;"), [3, 7]);
    // A load may have the same register as destination and as address.
    assert_eq!(ok("ld.global.b64 %d0, [%d0]; st.global.b64 [%d1], %d0;"), [0x8001_7FFF, 0xFF80_0201]);
    assert_eq!(ok("setp.eq.b32 %p0, %r0, 1; @%p0 st.global.b32 [%d1], 9; @!%p0 st.global.b32 [%d1], 8;"), [8, 4]);
}

fn words_of(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

#[test]
fn variables_lie_behind_the_parameters() {
    let ok = |body: &str| run(&format!("{body} ret;")).unwrap();
    assert_eq!(ok("ld.const.v2.b32 {%r0, %r1}, [c]; st.global.v2.b32 [%d1], {%r1, %r0};"), [9, 7]);
    assert_eq!(ok("mov.u64 %d2, c+4; ld.const.b32 %r0, [%d2]; st.global.b32 [%d1], %r0;"), [9, 4]);
    assert_eq!(ok("mov.u64 %d2, c; cvta.const.u64 %d2, %d2; ld.b32 %r0, [%d2+4]; st.global.b32 [%d1], %r0;"), [9, 4]);
    assert_eq!(
        ok("cvta.const.u64 %d2, c; cvta.to.const.u64 %d2, %d2; ld.const.b32 %r0, [%d2]; st.b32 [%d1], %r0;"),
        [7, 4]
    );
    assert_eq!(ok("ld.global.nc.b32 %r0, [g]; ld.b32 %r1, [g]; st.global.v2.b32 [%d1], {%r1, %r0};"), [5, 5]);
    // Variables that the kernel does not use get no address.
    assert_eq!(ok("mov.u64 %d2, g; mov.u64 %d3, c; st.global.b64 [%d1], %d2;"), words_of(buffer_base(66)));
    assert_eq!(
        ok("mov.u64 %d2, g; cvta.global.u64 %d3, g+4; sub.u64 %d2, %d3, %d2; st.global.b64 [%d1], %d2;"),
        [4, 0]
    );

    let message = |body: &str| run(body).unwrap_err().to_string();
    for (body, expected) in [
        ("ld.const.b32 %r0, [c+8];", "out of bounds: byte 8 of buffer `c`, which has 8 bytes"),
        ("ld.const.b32 %r0, [c+2];", "is misaligned"),
        ("mov.u64 %d2, c; ld.global.b32 %r0, [%d2];", "global address 0x8d04000040000000 is out of bounds"),
        ("cvta.const.u64 %d2, c; ld.const.b32 %r0, [%d2];", "c[0x0] address 0xd04000040000000 is out of bounds"),
        (
            "mov.u64 %d2, g; cvta.to.const.u64 %d2, %d2; ld.const.b32 %r0, [%d2];",
            "c[0x0] address 0x8d04200044100000 is out of bounds",
        ),
        (
            "cvta.const.u64 %d2, c; st.b32 [%d2], %r0;",
            "store of 4 bytes at global address 0xd04000040000000 into `in` buffer `c`",
        ),
    ] {
        let found = message(body);
        assert!(found.ends_with(expected), "{body}: {found}");
    }
}

#[test]
fn items_know_where_they_are() {
    let body = "ld.param.u64 %d0, [y]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
        mad.lo.u32 %r3, %r0, %r1, %r2; mad.wide.u32 %d1, %r3, 16, %d0; mov.u32 %r4, %nctaid.x; mov.u32 %r5, 0;
        mov.u32 %r6, 1; add.u32 %r5, %r5, %r6; st.global.v4.b32 [%d1], {%r0, %r2, %r4, %r5};";
    let kernel = load(".param .u64 y", body).unwrap();
    let mut y = vec![0; 6 * 16];
    let stats = kernel.launch(Launch::new((2, 3), &mut [Arg::Buffer(&mut y)])).unwrap();
    assert_eq!(stats, Stats { issued: 6 * 11, ..Stats::default() });
    for item in 0..6 {
        let found: Vec<u32> = (0..4).map(|i| word(&y, 4 * item + i)).collect();
        assert_eq!(found, [item as u32 / 3, item as u32 % 3, 2, 1]);
    }
    assert_eq!(kernel.launch(Launch::new((0, 3), &mut [Arg::In(&[])])).unwrap(), Stats::default());
}

#[test]
fn loops_and_their_budget() {
    let body = "ld.param.u64 %d0, [y]; ld.param.u32 %r1, [n];
        again: add.u32 %r0, %r0, %r1; sub.u32 %r1, %r1, 1; setp.ne.u32 %p0, %r1, 0; @%p0 bra.uni again; bra end;
        mov.u32 %r0, 0; end: st.global.b32 [%d0], %r0;";
    let kernel = load(".param .u64 y, .param .u32 n", body).unwrap();
    let mut y = vec![0; 4];
    let n = 10u32.to_le_bytes();
    let mut args = [Arg::Buffer(&mut y), Arg::Value(&n)];
    let stats = kernel.launch(Launch { budget: 9, ..Launch::new((1, 1), &mut args) }).unwrap();
    assert_eq!(stats.backward_branches, 9);
    let error = kernel.launch(Launch { budget: 8, ..Launch::new((1, 1), &mut args) }).unwrap_err();
    let LaunchError::Trap(trap) = error else { panic!("{error}") };
    assert_eq!(trap.kind, TrapKind::Budget { limit: 8 });
    assert_eq!(word(&y, 0), 55);
}

#[test]
fn bytes_of_parameters() {
    let body = "ld.param.u64 %d0, [y]; ld.param.s8 %r0, [s+5]; st.global.b32 [%d0], %r0; exit;";
    let kernel = load(".param .u64 y, .param .align 4 .b8 s[6]", body).unwrap();
    let mut y = vec![0; 4];
    kernel.launch(Launch::new((1, 1), &mut [Arg::Buffer(&mut y), Arg::Value(&[0, 0, 0, 0, 0, 0xFE])])).unwrap();
    assert_eq!(word(&y, 0), 0xFFFF_FFFE);
    let beyond = "is out of bounds: `s` has 6 bytes";
    for (read, what) in [
        ("b32 %r0, [s+4]", beyond),
        ("b32 %r0, [s+2]", "is misaligned: the offset must be a multiple of 4"),
        ("b8 %r0, [s+6]", beyond),
        ("b8 %r0, [s+-1]", beyond),
    ] {
        let error = load(".param .u64 y, .param .align 4 .b8 s[6]", &format!("ld.param.{read};")).unwrap_err();
        assert_eq!(error.to_string(), format!("6:1: `ld.param.{read};` {what}"));
    }
    let text = read(".version 8.8 .target sm_90 .address_size 64 .entry k() { ret; }").unwrap();
    assert_eq!(Kernel::load(&text, "l", "k.ptx").unwrap_err(), LoadError::Name("l".into()));
}

#[test]
fn arguments_must_fit() {
    let kernel = load(".param .u64 y, .param .u32 n", "ret;").unwrap();
    let mut y = vec![0; 4];
    let error = kernel.launch(Launch::new((1, 1), &mut [Arg::Buffer(&mut y)])).unwrap_err();
    assert_eq!(error.to_string(), "kernel `k` takes 2 arguments; found 1");
    let error = kernel.launch(Launch::new((1, 1), &mut [Arg::Buffer(&mut y), Arg::Value(&[1])])).unwrap_err();
    assert_eq!(error.to_string(), "argument `n` of kernel `k` has 1 bytes; expected 4");
    let error = kernel.launch(Launch::new((1, 1), &mut [Arg::Value(&[0; 8]), Arg::In(&[])])).unwrap_err();
    assert_eq!(error.to_string(), "argument `n` of kernel `k` has 8 bytes; expected 4");
    let error = kernel.launch(Launch::new((1 << 16, 1 << 16), &mut [])).unwrap_err();
    let message = "a grid of 65536 x 1 x 1 blocks of 65536 x 1 x 1 items has more work items than 32 bits can number";
    assert_eq!(error.to_string(), format!("kernel `k`: {message}"));
}

#[test]
fn traps() {
    let message = |body: &str| run(body).unwrap_err().to_string();
    assert_eq!(
        message("  ld.global.b32 %r0, [%d0+8];"),
        "kernel `k`, item 0, word 0x2 `ld.global.b32 %r0, [%d0+8];` (k.ptx:7:3): \
         load of 4 bytes at global address 0xd00000000000008 is out of bounds: byte 8 of buffer `x`, which has 8 bytes"
    );
    assert_eq!(
        message("st.global.b32 [%d0], %r0;"),
        "kernel `k`, item 0, word 0x2 `st.global.b32 [%d0], %r0;` (k.ptx:7:1): \
         store of 4 bytes at global address 0xd00000000000000 into `in` buffer `x`"
    );
    assert_eq!(
        message("ld.global.v2.b16 {%h0, %h1}, [%d0+2];"),
        "kernel `k`, item 0, word 0x2 `ld.global.v2.b16 {%h0, %h1}, [%d0+2];` (k.ptx:7:1): \
         load of 4 bytes at global address 0xd00000000000002 is misaligned"
    );
    assert_eq!(
        message("st.global.v4.b32 [%d1], {%r0, %r1, %r2, %r3};"),
        "kernel `k`, item 0, word 0x2 `st.global.v4.b32 [%d1], {%r0, %r1, %r2, %r3};` (k.ptx:7:1): \
         store of 16 bytes at global address 0xd00100000040000 is out of bounds: byte 0 of buffer `y`, which has 8 bytes"
    );
    assert_eq!(
        message("ld.b8 %r0, [%d2+-1];"),
        "kernel `k`, item 0, word 0x2 `ld.b8 %r0, [%d2+-1];` (k.ptx:7:1): \
         load of 1 bytes at global address 0xffffffffffffffff is out of bounds"
    );
    assert_eq!(
        message("ld.const.b32 %r0, [%d2];"),
        "kernel `k`, item 0, word 0x2 `ld.const.b32 %r0, [%d2];` (k.ptx:7:1): \
         load of 4 bytes at c[0x0] address 0x0 is out of bounds"
    );
    assert_eq!(
        message("loop: bra loop;"),
        "kernel `k`, item 0, word 0x2 `bra loop;` (k.ptx:7:7): more than 1048576 backward branches taken"
    );
}

#[test]
fn the_lowest_item_is_reported() {
    let body = "ld.param.u64 %d0, [y]; mov.u32 %r0, %tid.x; mad.wide.u32 %d0, %r0, 4, %d0; st.global.b32 [%d0], %r0;";
    let kernel = load(".param .u64 y", body).unwrap();
    let mut y = vec![0; 12];
    let error = kernel.launch(Launch::new((1, 8), &mut [Arg::Buffer(&mut y)])).unwrap_err();
    let LaunchError::Trap(trap) = error else { panic!("{error}") };
    assert_eq!((trap.item, trap.address), (3, 3));
}
