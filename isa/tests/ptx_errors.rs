//! Tests of the PTX parser's errors, for texts that are invalid or use unsupported features: location and message.

use halfbyte_isa::ptx::text::read;

use crate::ptx_text::kernel;

/// Returns the error messages of the parser for a text.
fn errors_of(text: &str) -> Vec<String> {
    match read(text) {
        Ok(_) => vec!["the text is valid".to_owned()],
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn reports_every_unsupported_feature() {
    let text = ".version 8.0 .target sm_90 .address_size 64
.extern .func (.param .b32 r) f (.param .b32 a);
.func g(.reg .b32 x) { .reg .b32 y; { ret; } }
.global .align 4 .u32 counter[2] = {1, k};
.entry k() {
.reg .b32 %r<4>; .reg .b64 %d<2>;
shfl.wrap.b32 %r1, %r2, 0, 31;
{ call.uni (r), f, (a); }
add.s32 %r1, %r2, %r3;
mapa.u64 %d1, %d1, %r2;
tcgen05.wait::ld.sync.aligned;
st.shared::cluster.b32 [%d1], %r1;
ret;
}
.entry h() { tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f1, %f2}]; }
";
    let found: Vec<String> = read(text).unwrap_err().iter().map(ToString::to_string).collect();
    let expected = [
        "4:40: a 32-bit address (`k`) is not supported",
        "7:5: modifier `.wrap` is not allowed here in `shfl`",
        "8:13: unknown name `r`",
        "10:1: an address in cluster shared memory (`mapa`) is not supported",
        "11:1: a matrix operation (`tcgen05`) is not supported",
        "12:3: shared memory of a cluster (`st.shared::cluster`) is not supported",
        "15:14: a texture (`tex`) is not supported",
    ];
    assert_eq!(found, expected);
}

#[test]
fn reports_errors_at_their_locations() {
    // Each case is a body, whose first line is line 6, and the expected messages.
    let regs = ".reg .b32 %r<4>; .reg .pred %p<2>; .reg .b16 %h<4>; .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .s32 %s;\n";
    let cases: &[(&str, &str)] = &[
        ("frob.b32 %r1, %r2;", "7:1: unknown instruction `frob`"),
        ("  atom.global.add.s64 %d1, [%d2], %d3;", "7:18: modifier `.s64` is not allowed here in `atom`"),
        ("atom.local.add.u32 %r1, [%d1], %r2;", "7:5: modifier `.local` is not allowed here in `atom`"),
        ("atom.global.exch.u32 %r1, [%d1], %r2;", "7:17: modifier `.u32` is not allowed here in `atom`"),
        ("red.acquire.gpu.global.add.u32 [%d1], %r2;", "7:4: modifier `.acquire` is not allowed here in `red`"),
        ("atom.global.add.f16 %h1, [%d1], %h2;", "7:16: modifier `.f16` is not allowed here in `atom`"),
        (
            "atom.global.add.noftz.v8.f16x2 {%r0, %r1, %r2, %r3, %r0, %r1, %r2, %r3}, [%d1], {%r0, %r1, %r2, %r3, %r0, %r1, %r2, %r3};",
            "7:25: modifier `.f16x2` is not allowed here in `atom`",
        ),
        ("bar.sync;", "7:9: `bar` takes 1 operands; found 0"),
        ("bar.arrive 1;", "7:13: `bar` takes 2 operands; found 1"),
        ("barrier.red.popc.u32 %r1, 0;", "7:28: `barrier` takes 3 operands; found 2"),
        (
            "shfl.sync.idx.b32 _|%p1, %r2, 0, 31, -1;",
            "7:19: operand `d` of `shfl` must be a register of type .b32 and a predicate, as in `d|p`",
        ),
        ("shfl.sync.idx.f32 %f1, %f2, 0, 31, -1;", "7:14: modifier `.f32` is not allowed here in `shfl`"),
        ("vote.sync.all.b32 %r1, %p1, -1;", "7:14: modifier `.b32` is not allowed here in `vote`"),
        ("match.any.sync.b32 %r1|%p1, %r2, -1;", "7:20: operand `d` of `match` must be a register of type .u32"),
        ("redux.sync.add.b32 %r1, %r2, -1;", "7:15: modifier `.b32` is not allowed here in `redux`"),
        ("redux.sync.and.u32 %r1, %r2, -1;", "7:15: modifier `.u32` is not allowed here in `redux`"),
        (
            "elect.sync %r1, -1;",
            "7:12: operand `d` of `elect` must be a register of type .u32 and a predicate, as in `d|p`",
        ),
        ("fence.sc;", "7:9: `fence` is missing a modifier for the scope here"),
        ("ld.shared.nc.b32 %r1, [%d1];", "7:10: modifier `.nc` is not allowed here in `ld`"),
        ("add.rn.s32 %r1, %r2, %r3;", "7:7: modifier `.s32` is not allowed here in `add`"),
        ("add %r1, %r2, %r3;", "7:4: `add` is missing a modifier for the type here"),
        ("mul.s32 %r1, %r2, %r3;", "7:4: modifier `.s32` is not allowed here in `mul`"),
        ("mul.lo %r1, %r2, %r3;", "7:7: `mul` is missing a modifier for the type here"),
        ("mul.s32.lo %r1, %r2, %r3;", "7:4: modifier `.s32` is not allowed here in `mul`"),
        ("shf.wrap.l.b32 %r1, %r2, %r3, %r0;", "7:4: modifier `.wrap` is not allowed here in `shf`"),
        ("cvta.global.to.u64 %d1, %d2;", "7:12: modifier `.to` is not allowed here in `cvta`"),
        ("add.rn.rn.f32 %f1, %f2, %f3;", "7:7: modifier `.rn` is not allowed here in `add`"),
        ("add.s32.sat %r1, %d2, %r3;", "7:18: operand `a` of `add` must be a register or a number of type .s32"),
        ("fma.f16x2 %r1, %r2, %r3, %r0;", "7:4: modifier `.f16x2` is not allowed here in `fma`"),
        ("add.s32 %r1, %r2;", "7:17: `add` takes 3 operands; found 2"),
        ("add.s32 %r1, %r2, %r3, %r0;", "7:24: `add` takes 3 operands; found 4"),
        ("ret %r1;", "7:5: `ret` takes 0 operands; found 1"),
        ("setp.lt.s32 %p1, %r1, %r2, %p0;", "7:28: `setp` takes 3 operands; found 4"),
        ("setp.lt.and.s32 %p1, %r1, %r2;", "7:30: `setp` takes 4 operands; found 3"),
        ("add.s32 %r1, %d2, %r3;", "7:14: operand `a` of `add` must be a register or a number of type .s32"),
        ("add.s32 %f1, %r2, %r3;", "7:9: operand `d` of `add` must be a register of type .s32"),
        ("add.s32 5, %r2, %r3;", "7:9: operand `d` of `add` must be a register of type .s32"),
        ("add.rn.f16x2 %r1, %r2, 0x3c003c00;", "7:24: operand `b` of `add` must be a register of type .f16x2"),
        ("add.s32 %r1, %r2, %r9;", "7:19: unknown name `%r9`"),
        ("add.s32 %r1, %r2, %r03;", "7:19: unknown name `%r03`"),
        ("add.s32 %r1, %r2, foo;", "7:19: unknown name `foo`"),
        ("add.s32 %r1, %r2, _;", "7:19: operand `b` of `add` must be a register or a number of type .s32"),
        ("add.s32 %r1, %r2, %tid.x;", "7:19: `%tid.x` cannot be an operand of `add`; read it with `mov` first"),
        ("add.s32 %tid.x, %r2, %r3;", "7:9: operand `d` of `add` must be a register of type .s32"),
        ("mov.u32 %r1, %tid.v;", "7:14: unknown name `%tid.v`"),
        ("mov.u32 %r1, %clock64.x;", "7:14: unknown name `%clock64.x`"),
        ("mov.u32 WARP_SZ, %r1;", "7:9: operand `d` of `mov` must be a register of type .u32"),
        (
            "mov.b32 %r1, {%r2, %r3, %r0};",
            "7:14: operand `a` of `mov` must be 2 or 4 registers in braces, with 32 bits in total",
        ),
        ("add.s32 %r1, {%r2}, %r3;", "7:14: operand `a` of `add` must be a register or a number of type .s32"),
        ("ld.global.b32 {_}, [%d1];", "7:15: operand `d` of `ld` must be a register of type .b32 or wider"),
        ("mov.u32 %r1, %clusterid.y;", "7:14: `%clusterid` is not supported"),
        ("mov.u32 %r1, %clock32;", "7:14: unknown name `%clock32`"),
        ("bfind.u64 %d1, %d2;", "7:11: operand `d` of `bfind` must be a register of type .u32"),
        ("bfind.b32 %r1, %r2;", "7:6: modifier `.b32` is not allowed here in `bfind`"),
        ("div.b32 %r1, %r2, %r3;", "7:4: modifier `.b32` is not allowed here in `div`"),
        ("rem.f32 %f1, %f2, %f3;", "7:4: modifier `.f32` is not allowed here in `rem`"),
        ("add.cc.u16 %h1, %h2, %h3;", "7:7: modifier `.u16` is not allowed here in `add`"),
        ("addc.sat.s32 %r1, %r2, %r3;", "7:5: modifier `.sat` is not allowed here in `addc`"),
        ("mul24.u32 %r1, %r2, %r3;", "7:6: modifier `.u32` is not allowed here in `mul24`"),
        ("mad24.lo.sat.s32 %r1, %r2, %r3, %r0;", "7:9: modifier `.sat` is not allowed here in `mad24`"),
        ("szext.clamp.b32 %r1, %r2, %r3;", "7:12: modifier `.b32` is not allowed here in `szext`"),
        ("bmsk.b32 %r1, %r2, %r3;", "7:5: modifier `.b32` is not allowed here in `bmsk`"),
        ("lop3.xor.b32 %r1|%p1, %r2, %r3, %r0, 7, %p0;", "7:5: modifier `.xor` is not allowed here in `lop3`"),
        ("lop3.b32 %r1|%p1, %r2, %r3, %r0, 7;", "7:10: operand `d` of `lop3` must be a register of type .b32"),
        (
            "lop3.and.b32 %r1, %r2, %r3, %r0, 7, %p0;",
            "7:14: operand `d` of `lop3` must be a register of type .b32 and a predicate, as in `d|p`",
        ),
        ("lop3.and.b32 %r1|%p1, %r2, %r3, %r0, 7;", "7:39: `lop3` takes 6 operands; found 5"),
        ("prmt.lo.b32 %r1, %r2, %r3, %r0;", "7:5: modifier `.lo` is not allowed here in `prmt`"),
        ("add.rn.rz.f32 %f1, %f2, %f3;", "7:7: modifier `.rz` is not allowed here in `add`"),
        ("add.rz.f16 %h1, %h2, %h3;", "7:7: modifier `.f16` is not allowed here in `add`"),
        ("ld.global.wt.b32 %r1, [%d1];", "7:10: modifier `.wt` is not allowed here in `ld`"),
        ("ld.release.gpu.b32 %r1, [%d1];", "7:3: modifier `.release` is not allowed here in `ld`"),
        (
            "st.global.b32 [%d1], {%p1};",
            "7:22: operand `b` of `st` must be a register or a number of type .b32 or wider",
        ),
        ("selp.b32 %r1, %r2, %r3, !%r0;", "7:25: expected a predicate after `!`; found a register"),
        ("add.s32 %r1, %r2, (3+4)/(5-5);", "7:25: division by zero in a constant expression"),
        ("add.s32 %r1, %r2, (3+4.5);", "7:25: floating-point literals are not allowed in constant expressions"),
        (".local .b128 x;", "7:8: a variable or a parameter of type .b128 is not supported"),
        (".reg .b128 %x; mov.b128 %x, 1;", "7:29: a 128-bit immediate or address is not supported"),
        (".reg .b128 %x; ld.global.b64 %x, [%d1];", "7:30: a 128-bit register for a narrower operand is not supported"),
        (
            "vavrg4.u32.s32.s32.add %r1, %r2.b1024, %r3, %r0;",
            "7:29: operand `a` of `vavrg4` must be a register of type .b32, which may have a suffix such as `.b7650`",
        ),
        ("vset4.u32.u32.eq.sat %r1, %r2, %r3, %r0;", "7:17: modifier `.sat` is not allowed here in `vset4`"),
        ("vset2.u32.u32.lo %r1, %r2, %r3, %r0;", "7:14: modifier `.lo` is not allowed here in `vset2`"),
        ("mov.b32 %r1, 0xfg;", "7:14: `0xfg` is not a number"),
        ("mov.b32 %r1, 99999999999999999999;", "7:14: `99999999999999999999` is not a number"),
        ("mov.f32 %f1, 1;", "7:14: `1` is not a value of type .f32"),
        ("mov.s32 %r1, 0f3f800000;", "7:14: `0f3f800000` is not a value of type .s32"),
        ("mov.u64 %d1, 0xfffffffffffffffff;", "7:14: `0xfffffffffffffffff` is not a number"),
        ("bfi.b32 %r1, %r2, %r3, -1, 3;", "7:24: `-1` is not a value of type .u8"),
        ("bar.sync 16;", "7:10: operand `a` of `bar` must be a register of type .u32 or a number up to 15"),
        (
            "barrier.arrive 1, 33;",
            "7:19: operand `b` of `barrier` must be a register of type .u32 or a multiple of the warp size, 32",
        ),
        ("add.u32 %r1, %r2, %r3;;", "7:23: expected an instruction, a label, `.reg` or `}`; found `;`"),
        ("lop3.b32 %r1, %r2, %r3, %r0, %r1;", "7:30: operand `lut` of `lop3` must be an 8-bit number"),
        ("bfe.u32 %r1, %r2, 300, 1;", "7:19: `300` is not a value of type .u8"),
        (
            "vadd4.u32.u32.u32 %r1.b01, %r2, %r3, %r0;",
            "7:19: operand `d` of `vadd4` must be a register of type .b32, which may have a suffix such as `.b320`",
        ),
        (
            "vadd4.u32.u32.u32 %r1, %r2.b8000, %r3, %r0;",
            "7:24: operand `a` of `vadd4` must be a register of type .b32, which may have a suffix such as `.b7650`",
        ),
        (
            "vadd4.u32.u32.u32 %r1, %r2.h10, %r3, %r0;",
            "7:24: operand `a` of `vadd4` must be a register of type .b32, which may have a suffix such as `.b7650`",
        ),
        (
            "vadd2.u32.u32.u32 %r1, %r2, %r3.h014, %r0;",
            "7:29: operand `b` of `vadd2` must be a register of type .b32, which may have a suffix such as `.h32`",
        ),
        ("vadd4.u32.u32.u32 %r1, %r2, %r3, 0;", "7:34: operand `c` of `vadd4` must be a register of type .u32"),
        ("vadd4.u32.u32 %r1, %r2, %r3, %r0;", "7:14: `vadd4` is missing a modifier for the type of b here"),
        ("vadd4.u32.u32.u32.sat.add %r1, %r2, %r3, %r0;", "7:22: modifier `.add` is not allowed here in `vadd4`"),
        (
            "ld.global.v2.b32 {%r1, %r2, %r3}, [%d1];",
            "7:18: operand `d` of `ld` must be 2 registers in braces, of type .b32 or wider",
        ),
        ("ld.global.v8.b64 {%d1, %d2, %d3, %d0}, [%d1];", "7:13: modifier `.b64` is not allowed here in `ld`"),
        ("ld.global.b32 %h1, [%d1];", "7:15: operand `d` of `ld` must be a register of type .b32 or wider"),
        (
            "ld.global.b32 %r1, [%r2];",
            "7:20: operand `a` of `ld` must be an address `[register+number]` with a 64-bit register, or `[variable+number]` of a `.global` variable",
        ),
        ("ld.global.b32 %r1, [%d1;", "7:24: expected `+` or `]`; found `;`"),
        ("ld.param.b32 %r1, [p1];", "7:20: unknown name `p1`"),
        (
            "ld.global.b32 %r1, %d1;",
            "7:20: operand `a` of `ld` must be an address `[register+number]` with a 64-bit register, or `[variable+number]` of a `.global` variable",
        ),
        (
            "mov.b32 %r1, {%h1, %h2, %h3, %h0};",
            "7:14: operand `a` of `mov` must be 2 or 4 registers in braces, with 32 bits in total",
        ),
        (
            "mov.b32 {%h1, %r2}, %r1;",
            "7:9: operand `d` of `mov` must be 2 or 4 registers in braces, with 32 bits in total",
        ),
        (
            "mov.b64 %d1, {%h1, %h2, %h3, %h0, %h1};",
            "7:14: operand `a` of `mov` must be 2 or 4 registers in braces, with 64 bits in total",
        ),
        ("setp.lt.b32 %p1, %r1, %r2;", "7:8: modifier `.b32` is not allowed here in `setp`"),
        ("setp.gt.f16 %p1|%p0, %h1, %h2;", "7:13: operand `p` of `setp` must be a register of type .pred"),
        (
            "setp.lt.s32 _|_, %r1, %r2;",
            "7:13: operand `p` of `setp` must be a predicate, or a pair of predicates such as `p|q`",
        ),
        ("@%r1 ret;", "7:2: expected a predicate; found `%r1`"),
        ("@%q ret;", "7:2: unknown name `%q`"),
        ("@%p1;", "7:5: expected an instruction; found `;`"),
        ("bra nowhere;", "7:5: label `nowhere` is not defined"),
        ("bra %r1;", "7:5: operand `target` of `bra` must be a label"),
        ("a: ret; a:", "7:9: `a` is already defined"),
        ("ret", "8:1: expected an operand; found `}`"),
        ("ld.const.b32 %r1, [c0;", "7:22: expected `+` or `]`; found `;`"),
        ("ld.const.b32 %r1, [c1];", "7:20: unknown name `c1`"),
        (
            "ld.const.b32 %r1, [g0];",
            "7:19: operand `a` of `ld` must be an address `[register+number]` with an integer register, or `[variable+number]` of a `.const` variable",
        ),
        (
            "ld.b32 %r1, [c0];",
            "7:13: operand `a` of `ld` must be an address `[register+number]` with a 64-bit register, or `[variable+number]` of a `.global` variable",
        ),
        ("ld.const.nc.b32 %r1, [c0];", "7:9: modifier `.nc` is not allowed here in `ld`"),
        ("ld.const.b32 %r1, [c0+0x80000000];", "7:23: `2147483648` is not an offset that fits in 32 bits"),
        (
            "ld.param.b32 %r1, [c0];",
            "7:19: operand `a` of `ld` must be an address `[register+number]` with an integer register, or `[parameter+number]`",
        ),
        ("st.const.b32 [c0], %r1;", "7:3: modifier `.const` is not allowed here in `st`"),
        (
            "st.v2.b32 [c0], {%r1, %r2};",
            "7:11: operand `a` of `st` must be an address `[register+number]` with a 64-bit register, or `[variable+number]` of a `.global` variable",
        ),
        ("st.global.b64 [%d1], c0;", "7:22: operand `b` of `st` must be a register or a number of type .b64 or wider"),
        (
            "atom.global.add.u32 %r1, [c0], 1;",
            "7:26: operand `a` of `atom` must be an address `[register+number]` with a 64-bit register, or `[variable+number]` of a `.global` variable",
        ),
        ("mov.u64 %d1, c1;", "7:14: unknown name `c1`"),
        ("mov.u64 %d1, c0+;", "7:17: expected a number; found `;`"),
        ("mov.u64 %d1, c0+%d2;", "7:17: expected a number; found `%d2`"),
        (
            "cvta.const.u64 %d1, g0;",
            "7:21: operand `a` of `cvta` must be the address `variable+number` of a `.const` variable",
        ),
        ("cvta.to.const.u64 %d1, c0;", "7:24: operand `a` of `cvta` must be a register or a number of type .u64"),
        ("cvta.u64 %d1, c0;", "7:5: modifier `.u64` is not allowed here in `cvta`"),
        ("ld.global.u32 %r1, [%d1-4];", "7:24: expected `+` or `]`; found `-`"),
        // `ptxas` requires a fixed order of the modifiers in the following lines.
        ("bar.sync.cta 0;", "7:9: modifier `.cta` is not allowed here in `bar`"),
        ("bar.sync.warp -1;", "7:9: modifier `.warp` is not allowed here in `bar`"),
        ("mad.sat.hi.s32 %r1, %r1, %r1, %r1;", "7:4: modifier `.sat` is not allowed here in `mad`"),
        ("cp.async.ca.global.shared [%d1], [%d1], 4;", "7:12: modifier `.global` is not allowed here in `cp`"),
        // `.sat` is invalid here, because every value of the source type is in the range of the result type.
        ("cvt.sat.u32.u16 %r1, %h1;", "7:12: modifier `.u16` is not allowed here in `cvt`"),
        ("cvt.sat.s32.s32 %r1, %r2;", "7:12: modifier `.s32` is not allowed here in `cvt`"),
        ("add.u64 %d1, c0, 4;", "7:14: operand `a` of `add` must be a register or a number of type .u64"),
        ("bra c0+4;", "7:5: operand `target` of `bra` must be a label"),
        (".shared .b32 x[4] = {1};", "7:19: expected `,` or `;`; found `=`"),
        (".reg .bf16 %x;", "7:6: a register of type .bf16 is not supported"),
        (".reg .v2 .b32 %x;", "7:6: a vector register is not supported"),
        (".reg .b32 %s;", "7:11: `%s` is already defined"),
        (".reg .b32 %r<2>;", "7:11: `%r` is already defined"),
        ("st.global.b32 [%d1], %tid.x;", "7:22: `%tid.x` cannot be an operand of `st`; read it with `mov` first"),
        ("cvt.u64.u32 %d1, %clock;", "7:18: `%clock` as an operand of `cvt` is not supported"),
        ("cvt.rn.f32.u32 %f1, %tid.x;", "7:21: `%tid.x` cannot be an operand of `cvt`; read it with `mov` first"),
        ("mov.u32 %r1, %laneid.w;", "7:14: unknown name `%laneid.w`"),
        ("mov.u32 %r1, %envreg32;", "7:14: unknown name `%envreg32`"),
        ("mov.u32 %r1, %envreg;", "7:14: unknown name `%envreg`"),
        ("mov.u32 %r1, %envreg07;", "7:14: unknown name `%envreg07`"),
        ("mov.u32 %r1, %envreg+1;", "7:14: unknown name `%envreg`"),
        ("cvt.u64.u32 %d1, %envreg2;", "7:18: `%envreg2` as an operand of `cvt` is not supported"),
        (".reg .b32 s; .shared .b8 s[8];", "7:26: `s` is already defined"),
        (".shared .b8 s[8]; .reg .b32 s;", "7:29: `s` is already defined"),
        (".shared .b8 s[4]; .shared .b8 s[8];", "7:31: `s` is already defined"),
        (".local .b8 s[8]; .shared .b8 s[8];", "7:30: `s` is already defined"),
        (".local .b8 s[8]; s: ret;", "7:18: `s` is already defined"),
        (".reg .b32 s; s: ret;", "7:14: `s` is already defined"),
        ("a: t: .branchtargets a; .param .b32 t;", "7:37: `t` is already defined"),
        ("{ .reg .b32 s; .shared .b8 s[4]; }", "7:28: `s` is already defined"),
        ("{ .shared .b8 s[8]; } mov.u32 %r1, s;", "7:36: unknown name `s`"),
        (".reg .b32 %r3;", "7:11: `%r3` is already defined"),
        (".reg .b32 %x<2000000>;", "7:11: more than 1048576 registers"),
        (".reg .b32 %x<-1>;", "7:14: expected a number; found `-`"),
        (".reg .b99 %x;", "7:6: expected a type; found `.b99`"),
        ("add.s32 %r1, %r2, #;", "7:19: expected an operand; found `#`"),
        ("add.s32 %r1, %r2, \u{e9};", "7:19: unexpected character '\u{e9}'"),
        ("/* ret;", "7:1: a comment is not closed"),
        (
            "frob; add.s32 %r1; ret; mov %r1, 0;",
            "7:1: unknown instruction `frob`, 7:18: `add` takes 3 operands; found 1, 7:28: `mov` is missing a modifier for the type here",
        ),
    ];
    let mut wrong = Vec::new();
    for (body, expected) in cases {
        let found = errors_of(&kernel(&format!("{regs}{body}")));
        // Ignore the error at the end of the text, which is a consequence of an earlier error.
        let found: Vec<&str> = found.iter().map(String::as_str).filter(|e| !e.contains("end of the text")).collect();
        if found.join(", ") != *expected {
            wrong.push(format!("{body}\n    {}\n    {expected}", found.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "found, expected:\n{}", wrong.join("\n"));
}

#[test]
fn errors_outside_kernels() {
    let head = ".version 8.8\n.target sm_90\n.address_size 64\n";
    let cases: &[(&str, &str)] = &[
        ("", "1:1: expected `.version`; found the end of the text"),
        (".version 8", "1:10: expected a version such as `8.8`; found `8`"),
        (".version 9.6 .target sm_90", "1:10: PTX 9.6 is not a known version; the known versions are 1.4 to 9.5"),
        (".version 8.6 .target sm_100f", "1:22: `sm_100f` needs PTX 8.8, but `.version` is 8.6"),
        (".version 7.8 .target sm_90a", "1:22: `sm_90a` needs PTX 8.0, but `.version` is 7.8"),
        (".version 8.8 .target sm_90b", "1:22: expected a target such as `sm_90`; found `sm_90b`"),
        (".version 8.8 .target sm_90 .address_size 32", "1:42: expected `64`; found `32`"),
        ("{head}.global .b32 x", "4:15: expected `,` or `;`; found the end of the text"),
        (
            ".version 8.2 .target sm_80 .entry k() { .reg .b128 %x; }",
            "1:46: `.b128` needs PTX 8.3, but `.version` is 8.2",
        ),
        ("{head}.visible x;", "4:10: expected `.entry`, `.global` or `.const`; found `x`"),
        ("{head}.extern .const .b32 x = 3;", "4:23: expected `,` or `;`; found `=`"),
        ("{head}.extern .local .b32 x;", "4:9: expected `.func`, `.global`, `.const` or `.shared`; found `.local`"),
        ("{head}.extern .func f (.param .b32 a;", "4:31: expected `,` or `)`; found `;`"),
        ("{head}.common .const .b32 x;", "4:9: expected `.global`; found `.const`"),
        (
            "{head}.extern .global .b32 x; .entry k() { .reg .b64 %d; mov.u64 %d, x; }",
            "4:64: the external symbol `x` is not supported",
        ),
        (
            "{head}.extern .const .b32 x[4]; .entry k() { .reg .b32 %r; ld.const.b32 %r, [x]; }",
            "4:72: the external symbol `x` is not supported",
        ),
        ("{head}.shared .b8 x[49153];", "4:13: the `.shared` variables take more than 49152 bytes"),
        ("{head}.shared .b32 x = 1;", "4:16: expected `,` or `;`; found `=`"),
        ("{head}.shared .b32 x[];", "4:14: expected the number of elements; found `x`"),
        ("{head}.const x;", "4:8: expected a type; found `x`"),
        ("{head}.const .b32 .b32 x;", "4:13: expected the name of a variable; found `.b32`"),
        ("{head}.const .f16 x;", "4:8: a variable of type .f16 is not supported"),
        ("{head}.const .pred x;", "4:8: variables cannot have type .pred"),
        ("{head}.entry k() .maxntid 0 { ret; }", "4:21: `0` is not a number of at least 1"),
        ("{head}.global .texref x;", "4:9: a texture (`.texref`) is not supported"),
        ("{head}.const .attribute(.managed) .b32 x;", "4:8: expected a type; found `.attribute`"),
        ("{head}.const .align 3 .b32 x;", "4:15: `3` is not a power of two up to 4096"),
        ("{head}.const .align 8192 .b32 x;", "4:15: an alignment of 8192 bytes is not supported"),
        ("{head}.const .b32 x[0];", "4:15: `0` is not a number of at least 1"),
        ("{head}.const .b32 x[-1];", "4:15: expected a number; found `-`"),
        ("{head}.const .b32 x[];", "4:15: expected the number of elements; found `]`"),
        ("{head}.const .b32 x[] = {};", "4:15: expected the number of elements; found `]`"),
        ("{head}.const .b32 x[2][2] = {1, 2};", "4:24: expected `{`; found `1`"),
        ("{head}.const .b32 x[2][2] = {{1, 2, 3}};", "4:31: more than 2 initial values"),
        ("{head}.const .b32 x[16385];", "4:13: the `.const` variables take more than 65536 bytes"),
        ("{head}.const .b8 x[65535]; .const .b16 y;", "4:34: the `.const` variables take more than 65536 bytes"),
        ("{head}.global .b8 x[1048577];", "4:13: the `.global` variables take more than 1048576 bytes"),
        ("{head}.global .b64 x[4294967295];", "4:14: the `.global` variables take more than 1048576 bytes"),
        ("{head}.const .b32 x[2] = {1, 2, 3};", "4:27: more than 2 initial values"),
        ("{head}.const .b32 x[2] = {1,};", "4:23: expected a number; found `}`"),
        ("{head}.const .b32 x[2] = {1 2};", "4:23: expected `,` or `}`; found `2`"),
        ("{head}.const .b32 x[2] = {1+2*};", "4:25: expected a number; found `}`"),
        ("{head}.const .b32 x[2] = 1;", "4:20: expected `{`; found `1`"),
        ("{head}.const .b32 x = {1};", "4:17: expected a number; found `{`"),
        ("{head}.const .f32 x[2] = {1};", "4:21: `1` is not a value of type .f32"),
        ("{head}.const .u32 x = 0f3f800000;", "4:17: `0f3f800000` is not a value of type .u32"),
        ("{head}.const .u32 x = 0f3;", "4:17: `0f3` is not a number"),
        ("{head}.const .b32 x; .global .b32 y = x;", "4:33: a 32-bit address (`x`) is not supported"),
        ("{head}.const .b32 x; .global .b64 y = generic(z);", "4:41: unknown name `z`"),
        ("{head}.const .b32 x; .global .b64 y = generic(x;", "4:42: expected `)`; found `;`"),
        ("{head}.const .b8 x[4] = \"abc\";", "4:19: expected `{`; found a string"),
        ("{head}.const .b32 x; .global .b8 x;", "4:28: `x` is already defined"),
        ("{head}.const .b32 x; .entry x() { ret; }", "4:23: `x` is already defined"),
        (".version 7.7\n.target sm_90\n", "2:9: `sm_90` needs PTX 7.8, but `.version` is 7.7"),
        (".version 8.5\n.target sm_100a\n", "2:9: `sm_100a` needs PTX 8.6, but `.version` is 8.5"),
        (
            ".version 8.8\n.target sm_90, map_f64_to_f32\n",
            "2:16: expected an option of this target; found `map_f64_to_f32`",
        ),
        ("{head}.entri k() { ret; }", "4:1: expected a directive; found `.entri`"),
        ("{head}.visible .weak .entry k() { ret; }", "4:10: expected a directive; found `.weak`"),
        ("{head}.reg .b32 r;", "4:1: expected a directive; found `.reg`"),
        ("{head}.extern .shared .b32 x[]; .extern .shared .b64 x[];", "4:48: `x` is already defined"),
        ("{head}.shared .b8 x[4]; .shared .b8 x[4];", "4:31: `x` is already defined"),
        ("{head}.global .b8 x[4]; .shared .b8 x[4];", "4:31: `x` is already defined"),
        ("{head}.shared .b8 x[4]; .global .b8 x[4];", "4:31: `x` is already defined"),
        ("{head}.extern .shared .b8 x[]; .shared .b8 x[4];", "4:38: `x` is already defined"),
        ("{head}.entry k(.param .u64 p) { .reg .b64 p; }", "4:37: `p` is already defined"),
        ("{head}.entry k(.param .u64 p) { p: ret; }", "4:27: `p` is already defined"),
        ("{head}.entry x() { ret; } .const .b32 x;", "4:33: `x` is already defined"),
        ("{head}.entry k() { .reg .b32 %r; ld.const.b32 %r, [x]; } .const .b32 x;", "4:46: unknown name `x`"),
        ("{head}.visible .func f() { bar.sync %r1; ret; }", "4:31: unknown name `%r1`"),
        ("{head}.extern .shared .b8 s[0x];", "4:23: `0x` is not a number"),
        ("{head}.entry k(.param .pred p) { ret; }", "4:23: expected a type; found `p`"),
        ("{head}.entry k(.param .u64 p, .param .u64 p) { ret; }", "4:37: `p` is already defined"),
        ("{head}.entry k(.param .align 3 .u64 p) { ret; }", "4:24: `3` is not a power of two up to 128"),
        ("{head}.entry k(.reg .u64 p) { ret; }", "4:10: expected `.param`; found `.reg`"),
        ("{head}.entry k() { ret; } .entry k() { ret; }", "4:28: `k` is already defined"),
        ("{head}.entry k() ret;", "4:12: expected `{`; found `ret`"),
        ("{head}.entry k() { ret;", "4:18: expected `}`; found the end of the text"),
        ("{head}ret;", "4:1: expected a directive; found `ret`"),
        ("{head}.pragma \"x", "4:9: a string is not closed"),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let found = errors_of(&text.replace("{head}", head));
        if found[0] != *expected {
            wrong.push(format!("{text}\n    {found:?}\n    {expected}"));
        }
    }
    assert!(wrong.is_empty(), "found, expected:\n{}", wrong.join("\n"));
}
