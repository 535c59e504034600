//! Tests of cooperative HALU kernels: shared memory, synchronisation, and each kind of trap.

use crate::common::{MACHINES, bytes, code, object, run, trap, words};
use halfbyte_abi::cooperative::SyncError;
use halfbyte_runtime::{Access, Arg, Program, Space, TrapKind};

const SHARED: u32 = 16;
const SCRATCH: u32 = 8;

/// Returns a program with kernel `k` over `y: inout i32`. The kernel declares shared memory and scratch memory.
fn program(asm: &str) -> Program {
    let asm =
        format!("    ULDC.64 UR0, c[0x0][0x160] ;\n    S2R R0, SR_TID ;\n    LEA R1, R0, RZ, 0x2 ;\n{asm}    EXIT ;\n");
    let mut code = code("k", "y: inout i32", 0x40, &asm);
    code.info.shared_bytes = Some(SHARED);
    code.info.scratch_bytes = SCRATCH;
    Program::load(&object(&[code]), &MACHINES).unwrap()
}

/// Launches four items on each engine. Returns the contents of `y` after the launch.
fn made(asm: &str, y: [u32; 4]) -> [u32; 4] {
    let mut y = bytes(&y);
    run(&program(asm), 4, &mut [Arg::Buffer(&mut y)]).unwrap();
    words(&y).try_into().unwrap()
}

/// Returns the number of the lowest trapping item, and the kind of its trap.
fn fails(items: u32, asm: &str) -> (u32, TrapKind) {
    let mut y = bytes(&[0; 4]);
    let trap = trap(run(&program(asm), items, &mut [Arg::Buffer(&mut y)]));
    (trap.item, trap.kind)
}

#[test]
fn what_one_item_stores_another_loads_behind_a_barrier() {
    let asm = "
    LDG R2, [R1.U32+UR0] ;
    STS [R1], R2 ;
    BAR.SYNC 0x0 ;
    LOP3 R3, R1, 0xc, RZ, 0x3c ;
    LDS R2, [R3] ;
    STG [R1.U32+UR0], R2 ;
";
    assert_eq!(made(asm, [1, 2, 3, 4]), [4, 3, 2, 1]);
}

#[test]
fn lanes_exchange_and_vote() {
    let asm = "
    SHFL.BFLY R2, R0, 0x1, 0x1f, 0xffffffff ;
    ISETP.LT.U32.AND P0, PT, R0, 0x2, PT ;
    VOTE.BALLOT R3, P0, 0xffffffff ;
    REDUX.SUM R4, R0, 0xffffffff ;
    ELECT P1, 0xf ;
    SEL R5, R3, R4, P1 ;
    LEA R2, R5, R2, 0x4 ;
    STG [R1.U32+UR0], R2 ;
";
    assert_eq!(made(asm, [0; 4]), [0x31, 0x60, 0x63, 0x62]);
}

/// All items add to the first word of `y`. Each item receives a different intermediate sum.
#[test]
fn atomic_operations_are_one_step_each() {
    let asm = "
    MOV R2, 0x1 ;
    ATOMG.ADD R3, [RZ.U32+UR0], R2 ;
    ATOMS.EXCH RZ, [RZ+0x4], R2 ;
    ATOMS.CAS R4, [RZ+0x4], R2, R0 ;
    BAR.SYNC 0x0 ;
    @!P0 ATOMG.MAX.S32 RZ, [R1.U32+UR0], R3 ;
";
    let made = made(asm, [10, 0, 0, 0]);
    assert_eq!(made, [14, 11, 12, 13]);
}

/// Generic addresses access shared and local memory through the address ranges of these spaces.
#[test]
fn addresses_without_a_space() {
    let asm = "
    MOV R4, R1 ;
    MOV R5, 0x40 ;
    ST [R4.64], R0 ;
    LDS R2, [R1] ;
    MOV R6, RZ ;
    MOV R7, 0x10 ;
    ST [R6.64+0x4], R2 ;
    LDL R3, [RZ+0x4] ;
    STG [R1.U32+UR0], R3 ;
";
    assert_eq!(made(asm, [9; 4]), [0, 1, 2, 3]);
    let atomic = "    MOV R6, RZ ;\n    MOV R7, 0x10 ;\n    ATOM.ADD RZ, [R6.64], R0 ;\n";
    let (item, kind) = fails(1, atomic);
    assert_eq!(item, 0);
    assert!(matches!(kind, TrapKind::OutOfBounds { space: Space::Local, access: Access::Store, .. }), "{kind:?}");
}

#[test]
fn accesses_stay_in_their_memory() {
    let outside = |asm: &str, space: Space| {
        let (_, kind) = fails(1, asm);
        assert!(matches!(&kind, TrapKind::OutOfBounds { space: found, .. } if *found == space), "{asm}: {kind:?}");
    };
    outside("    LDS R2, [RZ+0x10] ;\n", Space::Shared);
    outside("    STS [RZ-0x4], R2 ;\n", Space::Shared);
    outside("    MOV R2, 0xfffffffc ;\n    LDS R2, [R2+0x8] ;\n", Space::Shared);
    outside("    ATOMS.64.ADD RZ, [RZ+0x10], RZ ;\n", Space::Shared);
    // Spill slots lie after the declared scratch memory. An access by address cannot reach them.
    outside("    LDL R2, [RZ+0x8] ;\n", Space::Local);
    outside("    STL.64 [RZ+0x8], RZ ;\n", Space::Local);
    let (_, kind) = fails(1, "    LDS.64 R2, [RZ+0x4] ;\n");
    assert!(matches!(kind, TrapKind::Misaligned { space: Space::Shared, address: 4, bytes: 8, .. }), "{kind:?}");
}

#[test]
fn reports_a_barrier_that_items_do_not_reach() {
    let why = |items: u32, asm: &str| match fails(items, asm) {
        (item, TrapKind::Collective(why, _)) => (item, why),
        other => panic!("{other:?}"),
    };
    assert_eq!(why(2, "    BAR.SYNC 0x10 ;\n"), (0, SyncError::BarrierArgument { id: 16, count: None }));
    let count = "    MOV R2, 0x21 ;\n    BAR.SYNC 0x1, R2 ;\n";
    assert_eq!(why(2, count), (0, SyncError::BarrierArgument { id: 1, count: Some(33) }));
    let apart = "
    ISETP.EQ.U32.AND P0, PT, R0, RZ, PT ;
    @P0 BRA there ;
    BAR.SYNC 0x0 ;
    EXIT ;
there:
    BAR.SYNC 0x0 ;
";
    assert_eq!(why(2, apart).1, SyncError::BarrierDivergence);
    assert!(matches!(why(2, "    WARPSYNC 0x1 ;\n"), (1, SyncError::NotInMask { lane: 1, mask: 1 })));
    let alone = "    ISETP.EQ.U32.AND P0, PT, R0, RZ, PT ;\n    @!P0 BAR.SYNC 0x0 ;\n    VOTE.ANY P1, PT, 0x3 ;\n";
    assert_eq!(why(2, alone), (0, SyncError::SubgroupDivergence));
    let source = "    SHFL.IDX R2, R0, 0x5, 0x1f, 0xffffffff ;\n";
    assert_eq!(why(2, source), (0, SyncError::InactiveSource { lane: 5 }));
}

/// While an item polls memory, other items run. If no item writes the memory, the launch reports a deadlock.
#[test]
fn polling_sees_the_store_or_reports_a_deadlock() {
    let wait = |first: &str| {
        format!(
            "
    MOV R2, 0x1 ;
    ISETP.EQ.U32.AND P0, PT, R0, RZ, PT ;
    @!P0 STG.{first} [RZ.U32+UR0], R2 ;
    @!P0 EXIT ;
again:
    LDG.ACQUIRE R3, [RZ.U32+UR0+0x4] ;
    ISETP.EQ.U32.AND P1, PT, R3, RZ, PT ;
    @P1 BRA again ;
"
        )
    };
    let mut y = bytes(&[0; 4]);
    let text = wait("RELEASE").replace("[RZ.U32+UR0], R2", "[RZ.U32+UR0+0x4], R2");
    run(&program(&text), 2, &mut [Arg::Buffer(&mut y)]).unwrap();
    assert_eq!(words(&y), [0, 1, 0, 0]);
    let (item, kind) = fails(2, &wait("STRONG"));
    assert!(item == 0 && matches!(kind, TrapKind::Deadlock(_)));
}

/// Native code supports synchronisation. Kernels with a loop that polls memory fall back to the interpreter.
#[test]
fn polling_loops_fall_back_to_the_interpreter() {
    let is_native = |asm: &str| !program(asm).kernel("k").unwrap().is_interpreted();
    assert!(is_native(
        "    BAR.SYNC 0x0 ;\n    ATOMG.ADD R3, [RZ.U32+UR0], R2 ;\n    LDG.ACQUIRE R3, [RZ.U32+UR0] ;\n"
    ));
    let again = |asm: &str| is_native(&format!("again:\n{asm}    @P0 BRA again ;\n"));
    assert!(again("    ATOMS.ADD RZ, [RZ], R2 ;\n    BAR.SYNC 0x0 ;\n    LDS R2, [R1] ;\n"));
    assert!(!again("    ATOMS.ADD R3, [RZ], R2 ;\n"));
    assert!(!again("    LDS.STRONG R3, [RZ] ;\n"));
    assert!(is_native("    LDL R2, [0x10] ;\n    LDL R2, [RZ+0x4] ;\n"));
    assert!(!is_native("    LDL R2, [0x4] ;\n    LDL R2, [RZ+0x4] ;\n"));
}

/// If a guard is false for all items, its gather or scatter accesses no memory.
#[test]
fn false_uniform_guards_prevent_accesses() {
    let asm = "
    MOV R2, 0x7 ;
    ISETP.EQ.U32.AND P0, PT, R2, 0x8, PT ;
    LDG R3, [R1.U32+UR0] ;
    BAR.SYNC 0x0 ;
    @P0 STG [R3.U32+UR0], R2 ;
    @P0 ATOMG.ADD RZ, [R3.U32+UR0], R2 ;
    @P0 STS [R3], R2 ;
    @!P0 ATOMG.ADD RZ, [R3.U32+UR0+0x4], R2 ;
";
    assert_eq!(made(asm, [0, 8, 4, 0]), [0, 22, 11, 7]);
}
