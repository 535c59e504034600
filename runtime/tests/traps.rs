//! Tests of the message of every kind of trap on HALU.

use crate::common::{bytes, launch, program, run, trap};
use halfbyte_isa::object::Loc;
use halfbyte_runtime::{Access, Arg, Space, TrapKind};

/// Launches one item with `x: in i32` and `y: inout i32`, of two 32-bit words each. Returns the message of the trap.
fn message(asm: &str) -> String {
    let asm = format!(
        "    ULDC.64 UR0, c[0x0][0x160] ;
    ULDC.64 UR2, c[0x0][0x168] ;
{asm}"
    );
    let program = program("x: in i32, y: inout i32", &asm);
    let (x, mut y) = (bytes(&[1, 2]), bytes(&[3, 4]));
    trap(run(&program, 1, &mut [Arg::In(&x), Arg::Buffer(&mut y)])).to_string()
}

#[test]
fn out_of_bounds() {
    assert_eq!(
        message("    LDG R0, [RZ.U32+UR0+0x8] ;"),
        "kernel `k`, item 0, word 0x2 `LDG R0, [RZ.U32+UR0+0x8] ;` (test.s:3:5): \
         load of 4 bytes at global address 0xd00000000000008 is out of bounds: byte 8 of buffer `x`, which has 8 bytes"
    );
    // An access that begins within a buffer and ends beyond it is out of bounds.
    assert_eq!(
        message("    STG.128 [RZ.U32+UR2], R0 ;"),
        "kernel `k`, item 0, word 0x2 `STG.128 [RZ.U32+UR2], R0 ;` (test.s:3:5): \
         store of 16 bytes at global address 0xd00100000040000 is out of bounds: byte 0 of buffer `y`, which has 8 bytes"
    );
    // The message for an address just before a buffer names the buffer. The message for an address
    // near null, or past the last buffer, names no buffer.
    assert_eq!(
        message("    LDG R0, [RZ.U32+UR0-0x4] ;"),
        "kernel `k`, item 0, word 0x2 `LDG R0, [RZ.U32+UR0-0x4] ;` (test.s:3:5): \
         load of 4 bytes at global address 0xcfffffffffffffc is out of bounds: 4 bytes before buffer `x`"
    );
    assert_eq!(
        message("    STG [RZ.64], RZ ;"),
        "kernel `k`, item 0, word 0x2 `STG [RZ.64], RZ ;` (test.s:3:5): \
         store of 4 bytes at global address 0x0 is out of bounds"
    );
    assert_eq!(
        message("    MOV R0, 0xffffffff ;\n    MOV R1, 0xffffffff ;\n    LDG R2, [R0.64+0x1] ;"),
        "kernel `k`, item 0, word 0x4 `LDG R2, [R0.64+0x1] ;` (test.s:5:5): \
         load of 4 bytes at global address 0x0 is out of bounds"
    );
    assert_eq!(
        message("    LDG.128 RZ, [RZ.64-0x10] ;"),
        "kernel `k`, item 0, word 0x2 `LDG.128 RZ, [RZ.64-0x10] ;` (test.s:3:5): \
         load of 16 bytes at global address 0xfffffffffffffff0 is out of bounds"
    );
    assert_eq!(
        message("    STL.64 [0x40], R0 ;"),
        "kernel `k`, item 0, word 0x2 `STL.64 [0x40], R0 ;` (test.s:3:5): \
         store of 8 bytes at local address 0x40 is out of bounds"
    );
    assert_eq!(
        message("    MOV R0, c[0x0][0x170] ;"),
        "kernel `k`, item 0, word 0x2 `MOV R0, c[0x0][0x170] ;` (test.s:3:5): \
         load of 4 bytes at c[0x0] address 0x170 is out of bounds"
    );
    assert_eq!(
        message("    FADD R0, R0, c[0x3][0x0] ;"),
        "kernel `k`, item 0, word 0x2 `FADD R0, R0, c[0x3][0x0] ;` (test.s:3:5): \
         load of 4 bytes at c[0x3] address 0x0 is out of bounds"
    );
    assert_eq!(
        message("    MOV R0, 0x10000 ;\n    LDC R0, c[0x0][R0+0x160] ;"),
        "kernel `k`, item 0, word 0x3 `LDC R0, c[0x0][R0+0x160] ;` (test.s:4:5): \
         load of 4 bytes at c[0x0] address 0x10160 is out of bounds"
    );
}

#[test]
fn misaligned() {
    assert_eq!(
        message("    LDG R0, [RZ.U32+UR0+0x2] ;"),
        "kernel `k`, item 0, word 0x2 `LDG R0, [RZ.U32+UR0+0x2] ;` (test.s:3:5): \
         load of 4 bytes at global address 0xd00000000000002 is misaligned"
    );
    assert_eq!(
        message("    STG.16 [RZ.U32+UR2+0x1], R0 ;"),
        "kernel `k`, item 0, word 0x2 `STG.16 [RZ.U32+UR2+0x1], R0 ;` (test.s:3:5): \
         store of 2 bytes at global address 0xd00100000040001 is misaligned"
    );
    assert_eq!(
        message("    LDL.128 R0, [0x8] ;"),
        "kernel `k`, item 0, word 0x2 `LDL.128 R0, [0x8] ;` (test.s:3:5): \
         load of 16 bytes at local address 0x8 is misaligned"
    );
    assert_eq!(
        message("    LDC R0, c[0x0][RZ+0x162] ;"),
        "kernel `k`, item 0, word 0x2 `LDC R0, c[0x0][RZ+0x162] ;` (test.s:3:5): \
         load of 4 bytes at c[0x0] address 0x162 is misaligned"
    );
}

#[test]
fn store_to_an_in_buffer() {
    assert_eq!(
        message("    STG [RZ.U32+UR0+0x4], R0 ;"),
        "kernel `k`, item 0, word 0x2 `STG [RZ.U32+UR0+0x4], R0 ;` (test.s:3:5): \
         store of 4 bytes at global address 0xd00000000000004 into `in` buffer `x`"
    );
    // The store traps even if the caller has passed a writable slice for the `in` buffer.
    let program = program("x: in i32", "    ULDC.64 UR0, c[0x0][0x160] ;\n    STG [RZ.U32+UR0], R0 ;");
    let mut x = bytes(&[7]);
    let trap = trap(run(&program, 1, &mut [Arg::Buffer(&mut x)]));
    assert!(matches!(trap.kind, TrapKind::ReadOnly { .. }));
    assert_eq!(x, bytes(&[7]));
}

#[test]
fn undefined_word() {
    assert_eq!(
        message("    .word 0x123\n    EXIT ;"),
        "kernel `k`, item 0, word 0x2 `.word 0x00000000000000000000000000000123` (test.s:3:5): \
         0x00000000000000000000000000000123 is not a valid instruction"
    );
    // An invalid instruction word that is not executed does not trap.
    let program = program("", "    EXIT ;\n    .word 0xffffffffffffffffffffffffffffffff");
    assert!(run(&program, 1, &mut []).is_ok());
}

#[test]
fn leaving_the_text() {
    assert_eq!(
        message("    NOP ;"),
        "kernel `k`, item 0, word 0x2 `NOP ;` (test.s:3:5): execution continues past the end of the kernel"
    );
    assert_eq!(
        message("    @!PT EXIT ;"),
        "kernel `k`, item 0, word 0x2 `@!PT EXIT ;` (test.s:3:5): execution continues past the end of the kernel"
    );
    assert_eq!(
        message("    BRA .+2 ;\n    EXIT ;"),
        "kernel `k`, item 0, word 0x2 `BRA .+2 ;` (test.s:3:5): branch to word 4, outside of the kernel, which has 4 words"
    );
    assert_eq!(
        message("    BRA .-3 ;"),
        "kernel `k`, item 0, word 0x2 `BRA .-3 ;` (test.s:3:5): branch to word -1, outside of the kernel, which has 3 words"
    );
    assert_eq!(
        message("    BRA .-2147483648 ;"),
        "kernel `k`, item 0, word 0x2 `BRA .-2147483648 ;` (test.s:3:5): branch to word -2147483646, outside of the kernel, which has 3 words"
    );
}

#[test]
fn endless_loop() {
    assert_eq!(
        message("    NOP ;\nloop:\n    BRA loop ;"),
        "kernel `k`, item 0, word 0x3 `BRA .+0 ;` (test.s:5:5): more than 1048576 backward branches taken"
    );
}

#[test]
fn the_budget_is_exact_and_of_each_item() {
    // Item i takes i backward branches, so the items with the highest numbers exceed the budget.
    let asm = "
    S2R R0, SR_ITEM ;
loop:
    IADD3 R0, R0, 0xffffffff, RZ ;
    ISETP.GE.S32.AND P0, PT, R0, RZ, PT ;
    @P0 BRA loop ;
    EXIT ;
";
    let program = program("", asm);
    let kernel = program.kernel("k").unwrap();
    let launch = |items, budget| launch(kernel, budget, items, &mut []);
    assert_eq!(launch(5, 4).unwrap().backward_branches, 1 + 2 + 3 + 4);
    let trap = trap(launch(6, 4));
    assert_eq!(trap.item, 5);
    assert_eq!(trap.kind, TrapKind::Budget { limit: 4 });
    assert_eq!(launch(1, 0).unwrap().backward_branches, 0);
}

#[test]
fn the_lowest_item_that_traps_is_reported() {
    // Items with an odd number load from an address beyond the end of the buffer.
    let asm = "
    S2R R0, SR_ITEM ;
    ULDC.64 UR0, c[0x0][0x160] ;
    LOP3 R1, R0, 0x1, RZ, 0xc0 ;
    ISETP.NE.U32.AND P0, PT, R1, RZ, PT ;
    SHF.L.U32 R0, R0, 0x8, RZ ;
    @P0 LDG R0, [R0.U32+UR0] ;
    EXIT ;
";
    let program = program("x: in i32", asm);
    let x = bytes(&[1]);
    let trap = trap(run(&program, 10, &mut [Arg::In(&x)]));
    assert_eq!((trap.kernel.as_str(), trap.item, trap.address), ("k", 1, 5));
    assert_eq!((trap.source.as_str(), trap.loc), ("test.s", Loc { line: 7, column: 5 }));
    let TrapKind::OutOfBounds { access, space, address, bytes, near } = trap.kind else { panic!("{:?}", trap.kind) };
    assert_eq!((access, space), (Access::Load, Space::Global));
    assert_eq!((address, bytes), (halfbyte_abi::buffer_base(0) + 0x100, 4));
    assert_eq!(near.map(|near| (near.buffer, near.offset, near.size)), Some(("x".into(), 0x100, 4)));
}
