//! Tests that PTX kernels with contiguous accesses to elements of any width give the same result in
//! native code and in the interpreter.

use halfbyte_isa::ptx::text::read;
use halfbyte_runtime::ptx::{Arg, Kernel, Launch};
use halfbyte_runtime::{Engine, Stats};

/// Bodies of kernels, each with the element size in bytes. `%rd4` and `%rd5` are the addresses of
/// the item's elements in `x` and `y`.
const STEPS: [(u32, &str); 18] = [
    (
        1,
        "ld.global.u8 %h1, [%rd4]; ld.global.u8 %h2, [%rd4+1]; add.s16 %h3, %h1, %h2; shr.u16 %h4, %h3, 1; st.global.u8 [%rd5], %h4;",
    ),
    (1, "ld.global.u8 %r6, [%rd4]; mul.lo.s32 %r7, %r6, 255; add.s32 %r8, %r7, %r6; st.global.u8 [%rd5], %r8;"),
    (1, "ld.global.s8 %r6, [%rd4]; neg.s32 %r7, %r6; st.global.u8 [%rd5], %r7;"),
    (2, "ld.global.u16 %r6, [%rd4]; shr.u32 %r7, %r6, 3; st.global.u16 [%rd5], %r7;"),
    (2, "ld.global.s16 %r6, [%rd4]; abs.s32 %r7, %r6; st.global.u16 [%rd5], %r7;"),
    (
        2,
        "ld.global.u16 %r6, [%rd4]; cvt.rn.f32.u32 %f1, %r6; mul.f32 %f2, %f1, 0f3FC00000; cvt.rzi.s32.f32 %r7, %f2; st.global.u16 [%rd5], %r7;",
    ),
    (4, "ld.global.u8 %r6, [%rd4+3]; ld.global.u32 %r7, [%rd4]; xor.b32 %r8, %r7, %r6; st.global.u32 [%rd5], %r8;"),
    (12, "ld.global.u32 %r6, [%rd4]; ld.global.u32 %r7, [%rd4+8]; xor.b32 %r8, %r7, %r6; st.global.u32 [%rd5+4], %r8;"),
    (8, "ld.global.v2.u32 {%r6, %r7}, [%rd4]; add.s32 %r8, %r6, %r7; st.global.v2.u32 [%rd5], {%r8, %r6};"),
    (
        24,
        "ld.global.u64 %rd6, [%rd4]; ld.global.u64 %rd7, [%rd4+16]; add.s64 %rd8, %rd6, %rd7; st.global.u64 [%rd5+8], %rd8;",
    ),
    (
        16,
        "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd4]; add.s32 %r6, %r6, %r9; st.global.v4.u32 [%rd5], {%r9, %r6, %r7, %r8};",
    ),
    (
        32,
        "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd4+16]; ld.global.u32 %r10, [%rd5]; add.s32 %r6, %r6, %r10; st.global.v4.u32 [%rd5], {%r9, %r6, %r7, %r8};",
    ),
    (
        4,
        "ld.global.f32 %f1, [%rd4]; fma.rn.f32 %f2, %f1, %f1, %f1; neg.f32 %f3, %f2; add.f32 %f4, %f3, %f2; abs.f32 %f5, %f4; mul.f32 %f6, %f5, %f3; st.global.f32 [%rd5], %f6;",
    ),
    (
        4,
        "ld.global.f32 %f1, [%rd4]; sub.f32 %f2, %f1, %f1; neg.f32 %f3, %f2; setp.lt.f32 %p2, %f1, %f3; @%p2 add.f32 %f3, %f1, %f2; st.global.f32 [%rd5], %f3;",
    ),
    // In the first body, the address is aligned only together with the constant offset of the
    // access. In the second body, the constant offset makes the access misaligned.
    (
        16,
        "xor.b32 %r15, %r5, 5; mul.wide.u32 %rd6, %r15, 16; add.s64 %rd7, %rd1, %rd6; add.s64 %rd7, %rd7, 8; ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd7+-8]; ld.global.v2.u32 {%r10, %r11}, [%rd7+-16]; add.s32 %r6, %r6, %r10; st.global.v4.u32 [%rd5], {%r9, %r6, %r7, %r11};",
    ),
    (
        16,
        "xor.b32 %r15, %r5, 5; mul.wide.u32 %rd6, %r15, 16; add.s64 %rd7, %rd1, %rd6; ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd7+8]; st.global.u32 [%rd5], %r9;",
    ),
    // The first body has more constants than vector registers. The second body stores the low byte
    // of a sum that needs nine bits.
    (
        4,
        "ld.global.f32 %f1, [%rd4]; fma.rn.f32 %f2, %f1, 0f3F000000, 0f3E800000; fma.rn.f32 %f2, %f2, %f1, 0fBF800000; fma.rn.f32 %f2, %f2, %f1, 0f40490FDB; fma.rn.f32 %f2, %f2, %f1, 0f41200000; fma.rn.f32 %f2, %f2, %f1, 0f00000001; fma.rn.f32 %f2, %f2, %f1, 0f3DCCCCCD; fma.rn.f32 %f2, %f2, %f1, 0fC2F70000; st.global.f32 [%rd5], %f2;",
    ),
    (
        1,
        "ld.global.u8 %r6, [%rd4]; ld.global.u8 %r7, [%rd4+1]; ld.global.u8 %r8, [%rd4+2]; mad.lo.s32 %r9, %r7, 2, %r6; add.s32 %r9, %r9, %r8; add.s32 %r9, %r9, 2; shr.u32 %r9, %r9, 1; st.global.u8 [%rd5], %r9;",
    ),
];

/// Launches `items` items on buffers `x` and `y` of the given sizes in bytes. Returns the contents
/// of `y` with the statistics, or the error message.
fn ran(kernel: &Kernel, engine: Engine, items: u32, bytes: [usize; 2]) -> Result<(Vec<u8>, Stats), String> {
    let mut state = 11u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let [x, mut y] = bytes.map(|bytes| (0..bytes).map(|_| byte()).collect::<Vec<u8>>());
    let count = items.to_le_bytes();
    let mut args = [Arg::Value(&count), Arg::In(&x), Arg::Buffer(&mut y)];
    let shape = ([items.div_ceil(64), 1, 1], [64, 1, 1]);
    let launched = kernel.launch(Launch { engine, ..Launch::new(shape, &mut args) });
    launched.map(|stats| (y, stats)).map_err(|error| error.to_string())
}

#[test]
fn elements_of_any_width_are_loaded_and_stored_by_loops() {
    for (stride, steps) in STEPS {
        let text = format!(
            ".version 7.1\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n, .param .u64 x, .param .u64 y)\n{{
             .reg .pred %p<3>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
             ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
             mad.lo.s32 %r5, %r2, %r3, %r4; setp.ge.u32 %p1, %r5, %r1; @%p1 bra DONE;
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
             mul.wide.u32 %rd3, %r5, {stride}; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
             {steps}
             DONE: ret;\n}}"
        );
        let text = read(&text).unwrap();
        let kernel = Kernel::load(&text, "k", "k.ptx").unwrap();
        assert!(!kernel.is_interpreted(), "{steps}");
        for items in [1, 15, 16, 17, 100, 1000, 20_011] {
            let bytes = stride as usize * items as usize;
            for bytes in [[bytes + 16; 2], [bytes + 16, (bytes / 2) & !15], [(bytes / 3) & !15, bytes + 16]] {
                let [found, expected] = [Engine::JIT, Engine::Interp].map(|engine| ran(&kernel, engine, items, bytes));
                assert_eq!(found, expected, "{items} items, {bytes:?}: {steps}");
            }
        }
    }
}
