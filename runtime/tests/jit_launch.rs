//! Tests of launches in native code: several threads, incomplete rows, divergent items, and kernels
//! that are too large for native code.

use std::num::NonZero;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{bytes, program, run, trap, words};
use halfbyte_abi::buffer_base;
use halfbyte_runtime::{Arg, Engine, Launch, LaunchError, Program, Stats, TrapKind};

/// Kernel: item i stores `y[i] = x[i] + n`, where n is the number of loop iterations that the item
/// executes. The trip count is i modulo 8, but odd items leave the loop early.
const TURNS: &str = "
    S2R R0, SR_ITEM ;
    SHF.L.U32 R1, R0, 0x2, RZ ;
    ULDC.64 UR0, c[0x0][0x160] ;
    ULDC.64 UR2, c[0x0][0x168] ;
    LDG R2, [R1.U32+UR0] ;
    LOP3 R3, R0, 0x7, RZ, 0xc0 ;
    LOP3 R4, R0, 0x1, RZ, 0xc0 ;
    ISETP.NE.U32.AND P1, PT, R4, RZ, PT ;
loop:
    ISETP.EQ.U32.AND P0, PT, R3, RZ, PT ;
    @P0 BRA done ;
    IADD3 R2, R2, 0x1, RZ ;
    IADD3 R3, R3, 0xffffffff, RZ ;
    @P1 BRA done ;
    BRA loop ;
done:
    STG [R1.U32+UR2], R2 ;
    EXIT ;
";

fn iterations(item: u32) -> u32 {
    let all = item % 8;
    if item.is_multiple_of(2) { all } else { 1 }
}

/// Kernel that computes `y[i] = x[i] + y[i]` on bytes, with saturation. All its accesses are contiguous.
const STREAM: &str = "
    S2R R0, SR_ITEM ;
    SHF.L.U32 R1, R0, 0x2, RZ ;
    ULDC.64 UR0, c[0x0][0x160] ;
    ULDC.64 UR2, c[0x0][0x168] ;
    LDG R2, [R1.U32+UR0] ;
    LDG R3, [R1.U32+UR2] ;
    vadd4.u32.u32.u32.sat R4, R2, R3, RZ ;
    STG [R1.U32+UR2], R4 ;
    EXIT ;
";

fn launch(program: &Program, items: u32, threads: u16, x: &[u8], y: &mut [u8]) -> Result<Stats, LaunchError> {
    let engine = Engine::Jit { threads: NonZero::new(threads).unwrap() };
    let mut args = [Arg::In(x), Arg::Buffer(y)];
    program.kernel("k").unwrap().launch(Launch { engine, ..Launch::new(items, &mut args) })
}

#[test]
fn divergent_items_reconverge_in_rows_of_any_length() {
    let program = program("x: in i32, y: out i32", TURNS);
    for items in [0u32, 1, 2, 15, 16, 17, 100, 511, 512, 513, 1040, 3000] {
        let x: Vec<u32> = (0..items).map(|item| item.wrapping_mul(77)).collect();
        let mut y = vec![0; 4 * items as usize];
        let x_bytes = bytes(&x);
        run(&program, items, &mut [Arg::In(&x_bytes), Arg::Buffer(&mut y)]).unwrap();
        let expected: Vec<u32> = (0..).zip(&x).map(|(item, x)| x + iterations(item)).collect();
        assert_eq!(words(&y), expected, "{items} items");
    }
}

#[test]
fn gives_the_same_result_on_several_threads() {
    let program = program("x: in i32, y: out i32", TURNS);
    let items = 50_000;
    let x = bytes(&(0..items).collect::<Vec<u32>>());
    let mut one = vec![0; 4 * items as usize];
    let stats = launch(&program, items, 1, &x, &mut one).unwrap();
    for threads in [2, 3, 64, u16::MAX] {
        let mut y = vec![0; 4 * items as usize];
        assert_eq!(launch(&program, items, threads, &x, &mut y).unwrap(), stats);
        assert!(y == one, "{threads} threads");
    }
    // The buffers are too short for some items. The lowest of these items must trap, on whichever thread it runs.
    for short in [1, 1000, 30_001] {
        let x = &x[..4 * (items - short) as usize];
        for threads in [1, 2, 64] {
            let mut y = vec![0; 4 * items as usize];
            let trap = trap(launch(&program, items, threads, x, &mut y));
            assert_eq!((trap.item, trap.address), (items - short, 4), "{threads} threads");
        }
    }
}

#[test]
fn streams_of_any_length() {
    let program = program("x: in i32, y: inout i32", STREAM);
    for items in [1u32, 16, 100, 16_383, 16_384, 16_400, 70_003] {
        let x: Vec<u32> = (0..items).map(|item| item.wrapping_mul(0x0103_0709)).collect();
        let start: Vec<u32> = (0..items).map(|item| item.wrapping_mul(0x7531_0f0d)).collect();
        let sum = |(x, y): (&u32, &u32)| {
            let (x, y) = (x.to_le_bytes(), y.to_le_bytes());
            u32::from_le_bytes([0, 1, 2, 3].map(|k| x[k].saturating_add(y[k])))
        };
        let expected: Vec<u32> = x.iter().zip(&start).map(sum).collect();
        let (x, start) = (bytes(&x), bytes(&start));
        for threads in [1, 2, 7] {
            let mut y = start.clone();
            launch(&program, items, threads, &x, &mut y).unwrap();
            assert_eq!(words(&y), expected, "{items} items on {threads} threads");
        }
        let mut y = start;
        y.truncate(4 * (items as usize - 1));
        for threads in [1, 2, 7] {
            let trap = trap(launch(&program, items, threads, &x, &mut y));
            assert_eq!((trap.item, trap.address), (items - 1, 5), "{items} items on {threads} threads");
        }
    }
}

#[test]
fn progress_is_counted() {
    let program = program("x: in i32, y: out i32", TURNS);
    let items = 10_000;
    let (x, mut y, done) = (vec![0; 4 * items as usize], vec![0; 4 * items as usize], AtomicU32::new(0));
    let mut args = [Arg::In(&x), Arg::Buffer(&mut y)];
    let launch = Launch { engine: Engine::JIT, done: Some(&done), ..Launch::new(items, &mut args) };
    program.kernel("k").unwrap().launch(launch).unwrap();
    assert_eq!(done.load(Ordering::Relaxed), items);
}

#[test]
fn code_is_made_once_and_only_for_the_engine() {
    let program = program("x: in i32, y: out i32", TURNS);
    let kernel = program.kernel("k").unwrap();
    let (x, mut y) = (vec![0; 400], vec![0; 400]);
    kernel.launch(Launch::new(100, &mut [Arg::In(&x), Arg::Buffer(&mut y)])).unwrap();
    assert_eq!(kernel.translation(), None);
    launch(&program, 100, 1, &x, &mut y).unwrap();
    let translation = kernel.translation().unwrap();
    // Items diverge, so native code has functions for full rows and for masked rows. On computers
    // with 256-bit vectors, each loop has an additional function that uses these vectors.
    assert!(translation.functions >= 2, "{}", translation.functions);
    assert!(translation.bytes > 0 && !translation.time.is_zero());
    launch(&program, 100, 1, &x, &mut y).unwrap();
    assert_eq!(kernel.translation(), Some(translation));
    assert_eq!(kernel.clone().translation(), Some(translation));
}

#[test]
fn a_kernel_that_is_too_large_is_interpreted() {
    // The size of the native code depends on the number of blocks times the number of registers and
    // words of local memory.
    let local: String = (0..16).map(|k| format!("    STL [{:#x}], RZ ;\n", 4 * k)).collect();
    let sums: String = (0..12).map(|k| format!("    IADD3 R{}, R{}, RZ, RZ ;\n", 2 * k, 2 * k + 1)).collect();
    let branches = "    @P0 BRA .+1 ;\n".repeat(450_000);
    let program = program("", &format!("{local}{sums}{branches}    EXIT ;\n"));
    let kernel = program.kernel("k").unwrap();
    let stats = kernel.launch(Launch { engine: Engine::JIT, ..Launch::new(2, &mut []) }).unwrap();
    assert_eq!(stats.issued, 2 * (16 + 12 + 450_000 + 1));
    assert_eq!(kernel.translation(), None);
}

#[test]
fn a_loop_without_registers_ends_with_its_budget() {
    let program = program("", "    BRA .+0 ;\n");
    let kernel = program.kernel("k").unwrap();
    for engine in Engine::ALL {
        let trap = trap(kernel.launch(Launch { engine, budget: 1000, ..Launch::new(3, &mut []) }));
        assert_eq!((trap.item, trap.address, &trap.kind), (0, 0, &TrapKind::Budget { limit: 1000 }), "{engine}");
    }
}

/// The item that first exceeds the budget traps and leaves the row. The other items continue, until
/// they exceed the budget themselves.
#[test]
fn continues_items_after_another_exceeds_the_budget() {
    let text = "
        S2R R0, SR_ITEM ;
        ULDC.64 UR0, c[0x0][0x160] ;
        MOV R1, RZ ;
    again:
        ISETP.GE.S32.AND P0, PT, R1, R0, PT ;
        @P0 BRA together ;
        IADD3 R1, R1, 0x1, RZ ;
        BRA again ;
    together:
        LDG R2, [R0.U32+UR0] ;
    endless:
        @P0 BRA endless ;
        EXIT ;
    ";
    let program = program("x: in i32", text);
    for engine in Engine::ALL {
        let mut args = [Arg::In(&[0; 16])];
        let launch = Launch { engine, budget: 1000, ..Launch::new(4, &mut args) };
        let trap = trap(program.kernel("k").unwrap().launch(launch));
        assert_eq!((trap.item, trap.address, &trap.kind), (0, 8, &TrapKind::Budget { limit: 1000 }), "{engine}");
    }
}

/// The program computes an address from a 16-bit part of parameter 16: the low 16 bits of the high
/// half. Parameter 0 has an equal part.
#[test]
fn distinguishes_buffers_with_equal_address_parts() {
    let parameters: Vec<String> = (0..300).map(|k| format!("p{k}: inout i32")).collect();
    let [first, other] = [0, 16].map(buffer_base);
    assert_eq!((first as u32, first >> 32, other >> 32 & 0xffff), (0, 0xd00_0000, 0));
    let apart = (other as u32).wrapping_neg();
    let load = |opcode: &str| {
        format!(
            "
    S2R R0, SR_ITEM ;
    SHF.L.U32 R0, R0, 0x2, RZ ;
    ULDC.64 UR0, c[0x0][0x160] ;
    ULDC.64 UR4, c[0x0][0x168] ;
    LDC R2, c[0x0][RZ+0x1e0] ;
    IADD3 R2, R2, {apart:#x}, RZ ;
    {opcode}
    R2UR UR2, R2 ;
    R2UR UR3, R3 ;
    STG [R0.U32+UR2], R0 ;
    LDG R6, [R0.U32+UR0] ;
    STG [R0.U32+UR4], R6 ;
    EXIT ;
"
        )
    };
    let narrow = [
        "LDC.U16 R3, c[0x0][RZ+0x1e4] ; IADD3 R3, R3, 0xd000000, RZ ;",
        "LDC.S16 R3, c[0x0][RZ+0x1e4] ; IADD3 R3, R3, 0xd000000, RZ ;",
        "LDC.U8 R3, c[0x0][RZ+0x1e5] ; SHF.L.U32 R3, R3, 0x8, RZ ; IADD3 R3, R3, 0xd000000, RZ ;",
        "LDC R3, c[0x0][RZ+0x1e4] ; LOP3 R3, R3, 0xffff, RZ, 0xc0 ; IADD3 R3, R3, 0xd000000, RZ ;",
        "LDC R3, c[0x0][RZ+0x164] ;",
    ];
    for opcode in narrow {
        let program = program(&parameters.join(", "), &load(&opcode.replace(" ; ", " ;\n    ")));
        for items in [1, 16, 100] {
            let mut buffers = vec![vec![0; 4 * items as usize]; 300];
            let mut args: Vec<Arg<'_>> = buffers.iter_mut().map(|bytes| Arg::Buffer(bytes)).collect();
            run(&program, items, &mut args).unwrap();
            assert_eq!(words(&buffers[1]), (0..items).map(|item| 4 * item).collect::<Vec<u32>>(), "{opcode}");
        }
    }
}

/// Kernel in which odd items add 1, and then items from 1 on add 100.
const TWO_BRANCHES: &str = "
    S2R R0, SR_ITEM ;
    SHF.L.U32 R1, R0, 0x2, RZ ;
    ULDC.64 UR2, c[0x0][0x168] ;
    LOP3 R3, R0, 0x1, RZ, 0xc0 ;
    MOV R2, RZ ;
    ISETP.EQ.U32.AND P0, PT, R3, RZ, PT ;
    @P0 BRA even ;
    IADD3 R2, R2, 0x1, RZ ;
even:
    ISETP.EQ.U32.AND P1, PT, R0, RZ, PT ;
    @P1 BRA first ;
    IADD3 R2, R2, 0x64, RZ ;
first:
    STG [R1.U32+UR2], R2 ;
    EXIT ;
";

/// A row that has diverged and is then run again in parts counts its instructions once.
#[test]
fn rows_that_run_again_in_parts_count_once() {
    let program = program("x: in i32, y: out i32", TWO_BRANCHES);
    for items in 1..20 {
        let x = vec![0; 4 * items as usize];
        let mut y = x.clone();
        let stats = launch(&program, items, 1, &x, &mut y).unwrap();
        let expected: Vec<u32> = (0..items).map(|item| item % 2 + if item == 0 { 0 } else { 100 }).collect();
        assert_eq!(words(&y), expected);
        assert_eq!(stats.issued, u64::from(11 * items + items / 2 + items - 1), "{items} items");
    }
}
