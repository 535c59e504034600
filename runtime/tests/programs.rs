//! Tests of HALU assembly programs with known results.

use crate::common::MACHINES;
use crate::common::{bytes, code, object, program, run, words};
use halfbyte_abi::{PARAMS_OFFSET, buffer_base};
use halfbyte_isa::object::{Loc, PartialAccess};
use halfbyte_runtime::{Arg, Launch, Program, Stats};

/// Kernel that computes `y[i] = a * x[i] + y[i]`.
const AXPY: &str = "
    S2R R0, SR_ITEM ;
    ULDC.64 UR0, c[0x0][0x168] ;
    ULDC.64 UR2, c[0x0][0x170] ;
    SHF.L.U32 R0, R0, 0x2, RZ ;
    LDG R1, [R0.U32+UR0] ;
    LDG R2, [R0.U32+UR2] ;
    HFMA2 R1, R1, c[0x0][0x160], R2 ;
    STG [R0.U32+UR2], R1 ;
    EXIT ;
";

/// Kernel that computes `y[i]` as the sum of the numbers below i, with one loop iteration for each number.
const SUM: &str = "
    S2R R0, SR_ITEM ;
    ULDC.64 UR0, c[0x0][0x160] ;
    SHF.L.U32 R1, R0, 0x2, RZ ;
    MOV R2, 0x0 ;
    MOV R3, 0x0 ;
loop:
    ISETP.GE.U32.AND P0, PT, R3, R0, PT ;
    @P0 BRA done ;
    IADD3 R2, R2, R3, RZ ;
    IADD3 R3, R3, 0x1, RZ ;
    BRA loop ;
done:
    STG [R1.U32+UR0], R2 ;
    EXIT ;
";

#[test]
fn axpy() {
    let program = program("a: f16x2, x: in f16x2, y: inout f16x2", AXPY);
    let x = bytes(&[0x3c00_3c00, 0x4200_0000, 0x7c00_fc00]);
    let mut y = bytes(&[0x3c00_3c00, 0x0000_3c00, 0x0000_0000]);
    let mut args = [Arg::Scalar(0x4000_4000), Arg::In(&x), Arg::Buffer(&mut y)];
    let stats = run(&program, 3, &mut args).unwrap();
    assert_eq!(stats, Stats { issued: 27, backward_branches: 0, ..Stats::default() });
    assert_eq!(words(&y), [0x4200_4200, 0x4600_3c00, 0x7c00_fc00]);
}

/// Kernel that stores `y[x[i]] = 1` if `n` is zero.
const SCATTER: &str = "
    S2R R0, SR_ITEM ;
    ULDC.64 UR0, c[0x0][0x160] ;
    ULDC.64 UR2, c[0x0][0x168] ;
    MOV R3, c[0x0][0x170] ;
    SHF.L.U32 R0, R0, 0x2, RZ ;
    LDG R1, [R0.U32+UR0] ;
    SHF.L.U32 R1, R1, 0x2, RZ ;
    MOV R2, 0x1 ;
    ISETP.EQ.U32.AND P0, PT, R3, RZ, PT ;
    @P0 STG [R1.U32+UR2], R2 ;
    EXIT ;
";

#[test]
fn a_guard_that_all_items_have() {
    let program = program("x: in i32, y: inout i32, n: i32", SCATTER);
    for n in [0, 1] {
        let (x, mut y) = (bytes(&[3, 0, 2]), bytes(&[0; 4]));
        run(&program, 3, &mut [Arg::In(&x), Arg::Buffer(&mut y), Arg::Scalar(n)]).unwrap();
        assert_eq!(words(&y), if n == 0 { [1, 0, 1, 1] } else { [0; 4] });
    }
}

#[test]
fn loops_and_guards() {
    let program = program("y: out i32", SUM);
    let mut y = bytes(&[0xdead_beef; 6]);
    let stats = run(&program, 5, &mut [Arg::Buffer(&mut y)]).unwrap();
    // An `out` buffer is filled with zeros even if no item stores to it.
    assert_eq!(words(&y), [0, 0, 1, 3, 6, 0]);
    assert_eq!(stats, Stats { issued: 5 * 9 + 10 * 5, backward_branches: 10, ..Stats::default() });
}

#[test]
fn no_item_and_one() {
    let program = program("y: out i32", SUM);
    let mut y = bytes(&[7]);
    assert_eq!(run(&program, 0, &mut [Arg::Buffer(&mut y)]).unwrap(), Stats::default());
    assert_eq!(words(&y), [0]);
    let stats = run(&program, 1, &mut [Arg::Buffer(&mut y)]).unwrap();
    assert_eq!(stats, Stats { issued: 9, backward_branches: 0, ..Stats::default() });
    assert_eq!(words(&y), [0]);
}

#[test]
fn loads_and_stores_of_every_width() {
    // The loads read the 16 bytes of x, with different widths. The stores write consecutive words of y.
    let asm = "
    ULDC.64 UR0, c[0x0][0x160] ;
    ULDC.64 UR2, c[0x0][0x168] ;
    MOV R0, c[0x0][0x160] ;
    MOV R1, c[0x0][0x164] ;
    MOV R2, c[0x0][0x168] ;
    MOV R3, c[0x0][0x16c] ;
    MOV R5, 0x10 ;
    LDG.U8 R4, [R5.U32+UR0-0xf] ;
    STG [R2.64], R4 ;
    LDG.S8 R4, [R0.64+0x1] ;
    STG [R2.64+0x4], R4 ;
    LDG.U16 R4, [R5.U32+UR0-0xe] ;
    STG [R2.64+0x8], R4 ;
    LDG.S16 R4, [R0.64+0x2] ;
    STG [R2.64+0xc], R4 ;
    LDG R4, [R0.64+0x4] ;
    STG [R2.64+0x10], R4 ;
    LDG.64 R8, [R0.64+0x8] ;
    STG.64 [R2.64+0x18], R8 ;
    LDG.128 R8, [R5.U32+UR0-0x10] ;
    STG.128 [R5.U32+UR2+0x10], R8 ;
    STG.8 [R2.64+0x31], R8 ;
    STG.16 [R5.U32+UR2+0x22], R9 ;
    STG.64 [R2.64+0x38], RZ ;
    LDG.128 RZ, [R0.64] ;
    LDC.U8 R4, c[0x0][RZ+0x170] ;
    STG [R2.64+0x40], R4 ;
    MOV R6, 0x2 ;
    LDC.S16 R4, c[0x0][R6+0x170] ;
    STG [R2.64+0x44], R4 ;
    LDC.64 R10, c[0x0][R6+0x16e] ;
    STG.64 [R2.64+0x48], R10 ;
    EXIT ;
";
    let program = program("x: in i8, y: inout i8, s: i64", asm);
    let x: Vec<u8> = (0..16).map(|i| 0x80 + i).collect();
    let mut y = bytes(&[0xffff_ffff; 20]);
    let mut args = [Arg::In(&x), Arg::Buffer(&mut y), Arg::Scalar(0x0123_4567_89ab_cdef)];
    run(&program, 1, &mut args).unwrap();
    #[rustfmt::skip]
    let expected = [
        0x0000_0081, 0xffff_ff81, 0x0000_8382, 0xffff_8382,
        0x8786_8584, 0xffff_ffff, 0x8b8a_8988, 0x8f8e_8d8c,
        0x8382_8180, 0x8786_8584, 0x8b8a_8988, 0x8f8e_8d8c,
        0x8584_80ff, 0xffff_ffff, 0x0000_0000, 0x0000_0000,
        0x0000_00ef, 0xffff_89ab, 0x89ab_cdef, 0x0123_4567,
    ];
    assert_eq!(words(&y), expected);
}

#[test]
fn every_item_starts_with_zero() {
    // Registers, predicates and local memory are zero at the start of each item, whatever the
    // previous items left in them.
    let asm = "
    S2R R0, SR_ITEM ;
    ULDC.64 UR0, c[0x0][0x160] ;
    SHF.L.U32 R0, R0, 0x2, RZ ;
    LDL R1, [0x3c] ;
    MOV R2, UR9 ;
    IADD3 R1, R1, R2, R254 ;
    @P3 IADD3 R1, R1, 0x1, RZ ;
    STG [R0.U32+UR0], R1 ;
    MOV R254, 0x5 ;
    STL [0x3c], R254 ;
    R2UR UR9, R254 ;
    ISETP.EQ.U32.AND P3, PT, RZ, RZ, PT ;
    EXIT ;
";
    let program = program("y: out i32", asm);
    let mut y = bytes(&[1; 3]);
    run(&program, 3, &mut [Arg::Buffer(&mut y)]).unwrap();
    assert_eq!(words(&y), [0, 0, 0]);
}

#[test]
fn the_constant_bank() {
    // The program reads a pointer, the item count, and the byte at the end of the constant bank, as a 32-bit word.
    let asm = "
    MOV R2, c[0x0][0x160] ;
    MOV R3, c[0x0][0x164] ;
    STG.64 [R2.64], R2 ;
    MOV R4, c[0x0][0x0] ;
    MOV R5, c[0x0][0x168] ;
    STG.64 [R2.64+0x8], R4 ;
    @!PT STG [RZ.U32+URZ], R4 ;
    EXIT ;
";
    let program = program("y: out i64, b: i8", asm);
    let mut y = vec![0; 16];
    run(&program, 9, &mut [Arg::Buffer(&mut y), Arg::Scalar(0xa5)]).unwrap();
    assert_eq!(words(&y), [0, (buffer_base(0) >> 32) as u32, 9, 0xa5]);
    assert_eq!(PARAMS_OFFSET, 0x160);
}

#[test]
fn several_kernels_in_one_object() {
    let first = code("first", "y: out i32", 0, "    EXIT ;");
    let mut second = code("second.two", "", 0, "    NOP ;\n    EXIT ;");
    second.parts =
        [0, 4].map(|offset| PartialAccess { word: 1, offset, bytes: 4, loc: Loc { line: 7, column: 1 } }).to_vec();
    let bytes = object(&[first.clone(), second.clone()]);
    assert_eq!(bytes, object(&[first.clone(), second.clone()]), "the same kernels give the same bytes");
    assert_ne!(bytes, object(&[second.clone(), first.clone()]));

    let program = Program::load(&bytes, &MACHINES).unwrap();
    assert_eq!(program.header().source, "test.s");
    for (kernel, code) in program.kernels().iter().zip([first, second]) {
        assert_eq!(*kernel.info(), code.info);
        assert_eq!(*kernel.signature(), code.info.signature);
        assert_eq!(*kernel.words(), code.words);
        assert_eq!(kernel.locs(), code.locs);
        assert_eq!(kernel.parts(), code.parts);
    }
    let second = program.kernel("second.two").unwrap();
    assert_eq!(second.launch(Launch::new(2, &mut [])).unwrap().issued, 4);
    assert!(program.kernel("third").is_none());
}

#[test]
fn bytes_may_start_anywhere() {
    let object = object(&[code("k", "", 0, "    EXIT ;")]);
    for shift in 0..8 {
        let mut shifted = vec![0; shift];
        shifted.extend(&object);
        assert!(Program::load(&shifted[shift..], &MACHINES).is_ok());
    }
}
