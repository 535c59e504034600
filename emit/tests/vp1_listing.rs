//! Tests of listings of VP1 kernels, and of objects whose target differs from that of the machine
//! code.

use halfbyte_abi::{Direction, Param, ParamKind, Signature, Type};
use halfbyte_emit::{KernelCode, listing, write_object};
use halfbyte_isa::object::{Header, KernelInfo, Loc};
use halfbyte_isa::stream::{AccessSite, Affine, AffineVariable, Step, Stream, StreamContents, Tiles, TripCount};
use halfbyte_isa::vp1::assemble;

fn code() -> KernelCode {
    let scalar = |name: &str, ty| Param { name: name.into(), kind: ParamKind::Scalar(Type::from_name(ty).unwrap()) };
    let buffer = |name: &str, direction| {
        let elem = Type::from_name("i32").unwrap();
        Param { name: name.into(), kind: ParamKind::Buffer { direction, elem, align: 4, may_alias: false } }
    };
    let params =
        vec![scalar("n", "i32"), scalar("w", "i8x16"), buffer("x", Direction::In), buffer("y", Direction::Out)];
    let affine = |constant, terms: &[(AffineVariable, u32)]| Affine { constant, terms: terms.to_vec() };
    let count = affine(1, &[(AffineVariable::Param(0), 3)]);
    let steps = vec![
        Step { loop_number: 0, trips: TripCount::Const(7), stride: affine(4, &[]) },
        Step {
            loop_number: 2,
            trips: TripCount::Of { count, signed: true, at_least: 1 },
            stride: affine(0, &[(AffineVariable::Param(0), 4)]),
        },
    ];
    let read = Stream {
        buffer: Some(2),
        holds: StreamContents::Elements,
        bytes: 4,
        align: 2,
        uniform: false,
        scale: 4.into(),
        index: affine(8, &[(AffineVariable::ItemCount, 4u32.wrapping_neg())]),
        offset: -4,
        steps,
        guard: None,
        site: AccessSite { word: 0, written: false },
    };
    let guard = Stream {
        buffer: None,
        holds: StreamContents::Elements,
        site: AccessSite { word: 0, written: true },
        scale: 0.into(),
        index: affine(0, &[]),
        steps: vec![],
        ..read.clone()
    };
    let written = Stream { buffer: Some(3), align: 4, scale: 4.into(), offset: 0, guard: Some(1), ..guard.clone() };
    let table = Stream {
        uniform: true,
        scale: 0.into(),
        offset: 0,
        index: affine(0, &[]),
        align: 4,
        steps: vec![],
        ..read.clone()
    };
    let streams = vec![read, guard, written, table];
    let text = "ldavh $v0 $a0 0x10\nadd $r1 $r1 0x1\nvnop\nvadd u $v0 $v0 0x20\nbra 0x0\n.word 0xdb000000\nexit 0x0";
    let words = assemble(text).unwrap().words;
    let loc = |line| Loc { line, column: 3 };
    KernelCode {
        info: KernelInfo {
            signature: Signature::new("k", params).unwrap(),
            local_bytes: 32,
            registers: 0,
            tiles: Some(Tiles { items: 4, group_branch: Some(4), image: (1..=18).collect(), streams }),
            max_items: u32::MAX,
            shared_bytes: None,
            scratch_bytes: 0,
            along_x: true,
        },
        words: halfbyte_isa::vp1::Vp1Code(words).into(),
        locs: vec![loc(2), loc(2), Loc::default(), loc(1), loc(1), Loc::default(), loc(2)],
        parts: Vec::new(),
        stats: Vec::new(),
    }
}

#[test]
fn a_listing_shows_bundles_streams_and_the_image() {
    let code = code();
    let digits: Vec<String> = (0..7).map(|address| code.words.digits(address)).collect();
    let expected = format!(
        "\
// kernel @k of k.hb: 7 words in 4 bundles, 4 items a group, 32 bytes before the streams
// next group: 0x0004
// $m0 n: i32
// $m1..$m4 w: i8x16
// $m5 stream 0: reads 4 bytes of x at 4*item - 4*item_count + 8 + 4*k0 + (4*n)*k2 - 4; aligned to 2; k0 below 7; k2 below 3*n + 1 (signed), at least once
// $m6 stream 1: 4 guard bytes
// $m7 stream 2: writes 4 bytes of y at 4*item; if stream 1
// $m8 stream 3: reads 4 bytes of x at 0; once for all items
// image 0x0000: 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10
// image 0x0010: 11 12
0000  {}  {{ ldavh $v0 $a0 0x10                              // 2:3  two
0001  {}    add $r1 $r1 0x1                                 // 2:3
0002  {}    vnop }}
0003  {}  {{ vadd u $v0 $v0 0x20 }}                           // 1:3  one
0004  {}  {{ bra 0x0 }}                                       // 1:3
0005  {}  {{ .word 0xdb000000
0006  {}    exit 0x0 }}                                      // 2:3  two
",
        digits[0], digits[1], digits[2], digits[3], digits[4], digits[5], digits[6]
    );
    assert_eq!(listing(&halfbyte_isel::Vp1, &code, "k.hb", Some("one\n  two\n")), expected);
}

#[test]
fn words_are_those_of_the_target() {
    let header = |target| Header { target, source: "k.hb".into() };
    assert!(write_object(&header(halfbyte_isa::vp1::TARGET), &[code()]).is_ok());
    let error = write_object(&header(halfbyte_isa::halu::TARGET), &[code()]).unwrap_err();
    assert_eq!(error.to_string(), "kernel `k` is for target vp1, but the object is for halu");
    let mut without = code();
    without.info.tiles = None;
    let error = write_object(&header(halfbyte_isa::vp1::TARGET), &[without]).unwrap_err();
    assert_eq!(error.to_string(), "kernel `k` has tile information that does not match its target");
}
