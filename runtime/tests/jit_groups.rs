//! Random cooperative kernels, which must give the same memory, statistics and traps in native code
//! and in the interpreter. Weak accesses of different items do not race. The results of atomic
//! operations do not depend on their order.

use std::fmt::Write;
use std::num::NonZero;

use crate::common::{MACHINES, code, object};
use halfbyte_abi::Shape;
use halfbyte_runtime::{Arg, Engine, Launch, LaunchError, Program, Stats};

/// A xorshift random number generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 16) % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Size in bytes of the area of each item in shared memory, in the buffer and in scratch memory.
const OWN: usize = 16;
/// Size in bytes of the counters, which lie before the items' areas in shared memory and in the buffer.
const COUNTERS: usize = 32;
const THREADS: NonZero<u16> = NonZero::new(4).unwrap();

/// Returns the code that initialises the registers:
///
/// - R0 to R7 hold arbitrary values.
/// - R8, R9 and R10 are the offsets of the item's area in shared memory, in the buffer and in scratch memory.
/// - R12 and R14 are generic addresses of the item's area in shared memory and in scratch memory; R16 is that of the
///   shared counters.
/// - R20 is the item's number in the group, and UR0 the buffer's address.
///
/// `across` is the number of items along x. If it is given, the item's area is computed from the item's coordinates
/// along x and y.
fn start(across: Option<u32>) -> String {
    let place = match across {
        Some(across) => format!("IMAD R8, R23, {:#x}, RZ ;\n    LEA R8, R22, R8, 0x4", OWN as u32 * across),
        None => "LEA R8, R20, RZ, 0x4".to_owned(),
    };
    format!(
        "
    ULDC.64 UR0, c[0x0][0x160] ;
    S2R R20, SR_TID ;
    S2R R21, SR_ITEM ;
    S2R R22, SR_TID.X ;
    S2R R23, SR_TID.Y ;
    {place} ;
    IADD3 R8, R8, {COUNTERS:#x}, RZ ;
    LEA R9, R21, RZ, 0x4 ;
    IADD3 R9, R9, {COUNTERS:#x}, RZ ;
    LOP3 R10, R20, 0x3, RZ, 0xc0 ;
    LEA R10, R10, RZ, 0x2 ;
    MOV R12, R8 ;
    MOV R13, 0x40 ;
    MOV R14, R10 ;
    MOV R15, 0x10 ;
    MOV R16, RZ ;
    MOV R17, 0x40 ;
    LDG R0, [R9.U32+UR0] ;
    LDG R1, [R9.U32+UR0+0x4] ;
    MOV R2, R20 ;
    LOP3 R3, R20, 0x1f, RZ, 0xc0 ;
    MOV R4, 0xffffffff ;
    SHF.L.U32 R5, R4, R3, RZ ;
    MOV R6, 0x20 ;
    ISETP.LT.U32.AND P0, PT, R0, R1, PT ;
    ISETP.LT.U32.AND P1, PT, R3, 0x7, PT ;
    ISETP.LT.U32.AND P2, PT, R20, 0x20, PT ;
    ISETP.EQ.U32.AND P3, PT, R20, 0x5, PT ;
"
    )
}

fn gpr(random: &mut Random) -> String {
    format!("R{}", random.below(8))
}

fn pred(random: &mut Random) -> String {
    format!("P{}", random.below(4))
}

/// Returns a member mask, which usually contains all lanes.
fn mask(random: &mut Random) -> String {
    match random.below(12) {
        0 => "0xffff".to_owned(),
        1 => "0x1".to_owned(),
        2 => "R5".to_owned(),
        3 | 4 => "R4".to_owned(),
        5 => gpr(random),
        _ => "0xffffffff".to_owned(),
    }
}

fn compute(random: &mut Random) -> String {
    let [d, a, b] = [(); 3].map(|()| gpr(random));
    let (p, q) = (pred(random), pred(random));
    match random.below(6) {
        0 => format!("IADD3 {d}, {a}, {b}, RZ"),
        1 => format!("LOP3 {d}, {a}, {b}, RZ, {:#x}", random.pick(&["60", "192", "252"]).parse::<u8>().unwrap()),
        2 => format!("MOV {d}, {:#x}", random.below(40)),
        3 => format!("SEL {d}, {a}, {b}, {p}"),
        4 => {
            let a = random.pick(&[&a, "R20"]).to_owned();
            let by = random.pick(&[".U32", ".S32"]);
            format!("ISETP.{}{by}.AND {p}, PT, {a}, {b}, {q}", random.pick(&["LT", "EQ", "GE"]))
        }
        _ => format!("LOP3 {d}, {a}, 0x1f, RZ, 0xc0"),
    }
}

/// Returns the text of an access to the item's area. A few of these accesses are out of bounds or misaligned.
fn own(random: &mut Random) -> String {
    let r = gpr(random);
    let at = match random.below(60) {
        0 => random.pick(&["+0x100000", "-0x4000", "+0x2", "+0x1"]).to_owned(),
        _ => format!("+{:#x}", 4 * random.below(4)),
    };
    let scratch = match random.below(40) {
        0 => "+0x40".to_owned(),
        _ => format!("+{:#x}", 4 * random.below(2)),
    };
    let strong = if random.one_in(6) { ".STRONG" } else { "" };
    match random.below(10) {
        0 => format!("LDS{strong} {r}, [R8{at}]"),
        1 => format!("STS [R8{at}], {r}"),
        2 => format!("LDG{strong} {r}, [R9.U32+UR0{at}]"),
        3 => format!("STG [R9.U32+UR0{at}], {r}"),
        4 => format!("LDL {r}, [R10{scratch}]"),
        5 => format!("STL [R10{scratch}], {r}"),
        6 => format!("LD {r}, [R12.64{at}]"),
        7 => format!("ST [R12.64{at}], {r}"),
        8 => format!("LD {r}, [R14.64{scratch}]"),
        _ => format!("ST [R14.64{scratch}], {r}"),
    }
}

/// Returns the text of an atomic operation. Only one kind of operation changes each shared counter,
/// and its results are discarded. All other atomic operations access the item's area.
fn atomic(random: &mut Random) -> String {
    let (d, b, c) = (gpr(random), gpr(random), gpr(random));
    let ops = ["ADD", "MIN", "MAX.S32", "AND", "OR", "XOR", "MIN.S32"];
    let k = random.below(ops.len());
    let (op, at) = (ops[k], 4 * k);
    let off = if random.one_in(60) { "+0x100001" } else { "" };
    match random.below(7) {
        0 => format!("ATOMG.{op} RZ, [RZ.U32+UR0+{at:#x}], {b}"),
        1 => format!("ATOMS.{op} RZ, [RZ+{at:#x}], {b}"),
        2 => format!("ATOM.{op} RZ, [R16.64+{at:#x}], {b}"),
        3 => format!("ATOMS.{} {d}, [R8{off}], {b}", random.pick(&["ADD", "EXCH", "INC", "DEC"])),
        4 => format!("ATOMG.CAS {d}, [R9.U32+UR0{off}], {b}, {c}"),
        5 => "ATOMS.64.ADD R6, [R8+0x8], R2".to_owned(),
        _ => format!("ATOM.{op} {d}, [R12.64{off}], {b}"),
    }
}

fn meet(random: &mut Random) -> String {
    let (d, a, b, mask) = (gpr(random), gpr(random), gpr(random), mask(random));
    let (p, q) = (pred(random), pred(random));
    let unaligned = if random.one_in(4) { ".UNALIGNED" } else { "" };
    let id = match random.below(30) {
        0 => 16,
        n => n % 2,
    };
    match random.below(14) {
        0..=2 => format!("BAR.SYNC{unaligned} {id:#x}"),
        3 => format!("BAR.RED.{}{unaligned} {p}, {id:#x}, {q}", random.pick(&["AND", "OR"])),
        4 => format!("BAR.RED.POPC{unaligned} {d}, {id:#x}, {q}"),
        5 if random.one_in(4) => format!("BAR.{}{unaligned} {id:#x}, R6", random.pick(&["SYNC", "ARV"])),
        5 | 6 => format!(
            "SHFL.{} {d}, {a}, {:#x}, 0x1f, 0xffffffff",
            random.pick(&["IDX", "UP", "DOWN", "BFLY"]),
            random.below(32)
        ),
        7 => format!("SHFL.{} {d}, {a}, {b}, R4, {}", random.pick(&["IDX", "BFLY"]), random.pick(&["R4", "R5"])),
        8 => format!("VOTE.{} {p}, {q}, {mask}", random.pick(&["ALL", "ANY", "EQ"])),
        9 => format!("VOTE.BALLOT {d}, {q}, {mask}"),
        10 => format!("REDUX.{} {d}, {a}, {mask}", random.pick(&["SUM", "MIN", "MAX.S32", "AND", "OR", "XOR"])),
        11 => format!("MATCH.{} {d}, {a}, {mask}", random.pick(&["ANY", "ALL"])),
        12 => format!("{} {p}, {mask}", "ELECT"),
        _ if random.one_in(3) => format!("VOTE.ACTIVE {d}"),
        _ => format!("WARPSYNC {mask}"),
    }
}

/// Returns the text of a program: initialisation of the registers, random instructions, a barrier,
/// and loads of the counters.
fn program(random: &mut Random, across: Option<u32>) -> String {
    let mut text = start(across);
    let body = 3 + random.below(30);
    let often = [1, 3, 6][random.below(3)];
    let branches = random.below(3);
    for k in 0..body {
        let inst = match random.below(20) {
            n if n < often => meet(random),
            18 if branches != 0 => {
                let to = if random.one_in(5) { random.below(k + 1) } else { k + 1 + random.below(body - k) };
                format!("BRA l{to}")
            }
            19 if random.one_in(8) => "EXIT".to_owned(),
            12..=14 => own(random),
            15 | 16 => atomic(random),
            _ => compute(random),
        };
        let is_branch = inst.starts_with("BRA") || inst.starts_with("EXIT");
        let guard = match random.below(if is_branch { 1 } else { 6 }) {
            0 => format!("@{}{} ", random.pick(&["", "!"]), pred(random)),
            _ => String::new(),
        };
        writeln!(text, "l{k}:\n    {guard}{inst} ;").unwrap();
    }
    writeln!(text, "l{body}:\n    BAR.SYNC.UNALIGNED 0xf ;").unwrap();
    let own = random.below(4);
    for (k, r) in (0..4).map(|k| (k, if k == own { 1 } else { k + 4 * random.below(2) })) {
        writeln!(text, "    STG [R9.U32+UR0+{:#x}], R{r} ;", 4 * k).unwrap();
    }
    writeln!(text, "    LOP3 R0, R20, 0x7, RZ, 0xc0 ;\n    LEA R0, R0, RZ, 0x2 ;\n    LDS R1, [R0] ;").unwrap();
    writeln!(text, "    STG [R9.U32+UR0+{:#x}], R1 ;\n    EXIT ;", 4 * own).unwrap();
    text
}

struct Case {
    program: Program,
    shape: Shape,
    y: Vec<u8>,
    budget: u64,
}

impl Case {
    fn launch(&self, engine: Engine) -> (Result<Stats, LaunchError>, Vec<u8>) {
        let mut y = self.y.clone();
        let mut args = [Arg::Buffer(&mut y)];
        let launch = Launch { budget: self.budget, engine, ..Launch::new(self.shape, &mut args) };
        let result = self.program.kernel("k").unwrap().launch(launch);
        (result, y)
    }
}

/// Runs a random program on both engines, and checks that the results agree. Returns two flags: the
/// program ran to its end, and native code executed it.
fn agree(seed: u64) -> [bool; 2] {
    let random = &mut Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    random.next();
    let size = [1, 4, 16, 31, 32, 33, 64, 64, 80, 128][random.below(10)];
    let grid = [1, 1, 2, 5][random.below(4)];
    let along = [4, 16][random.below(2)];
    let (shape, across) = match random.below(4) {
        0 if size % along == 0 => (Shape::from(([grid, 1, 1], [along, size / along, 1])), Some(along)),
        _ => (Shape::from((grid, size)), None),
    };
    let asm = program(random, across);
    let mut code = code("k", "y: inout i32", 0x40, &asm);
    let short = if random.one_in(20) { 16 } else { 0 };
    code.info.shared_bytes = Some((COUNTERS + OWN * size as usize - short) as u32);
    code.info.scratch_bytes = OWN as u32;
    let count = COUNTERS + OWN * (size * grid) as usize;
    let few = random.one_in(2);
    let y = (0..count).map(|_| if few { (random.next() & 0x10) as u8 } else { random.next() as u8 }).collect();
    let budget = random.below(20) as u64;
    let case = Case { program: Program::load(&object(&[code]), &MACHINES).unwrap(), shape, y, budget };
    let is_native = !case.program.kernel("k").unwrap().is_interpreted();
    let (expected, memory) = case.launch(Engine::Interp);
    for engine in [Engine::JIT, Engine::Jit { threads: THREADS }] {
        let (found, held) = case.launch(engine);
        assert_eq!(found, expected, "seed {seed}, {shape}, budget {budget}, {engine:?}\n{asm}");
        if expected.is_ok() {
            let differ = (0..held.len()).find(|&at| held[at] != memory[at]);
            assert_eq!(differ, None, "seed {seed}, {shape}, {engine:?}\n{asm}");
        }
    }
    [expected.is_ok(), is_native]
}

#[test]
fn random_programs() {
    let count = std::env::var("HALFBYTE_SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(400);
    let first = std::env::var("HALFBYTE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let done: Vec<[bool; 2]> = (first..first + count).map(agree).collect();
    let [ended, native] = [0, 1].map(|k| done.iter().filter(|done| done[k]).count());
    // Enough programs must end without a trap, and few programs may fall back to the interpreter.
    assert!(count < 10 || ended * 4 > count as usize, "{ended} of {count} ran to their end");
    assert!(count < 10 || native * 3 > count as usize * 2, "{native} of {count} ran natively");
}

/// Items of many groups exchange 128 bits at one address. Each item must receive the complete value
/// of another item, also on several threads.
#[test]
fn exchanges_of_128_bits() {
    let asm = "
    ULDC.64 UR0, c[0x0][0x160] ;
    S2R R0, SR_ITEM ;
    IADD3 R4, R0, 0x1, RZ ;
    MOV R5, R4 ;
    MOV R6, R4 ;
    MOV R7, R4 ;
    ATOMG.128.EXCH R4, [RZ.U32+UR0], R4 ;
    LEA R0, R0, RZ, 0x4 ;
    STG.128 [R0.U32+UR0+0x10], R4 ;
    EXIT ;
";
    let program = Program::load(&object(&[code("k", "y: inout i32", 0x40, asm)]), &MACHINES).unwrap();
    assert!(!program.kernel("k").unwrap().is_interpreted());
    let items = 64 * 128;
    for engine in [Engine::Interp, Engine::JIT, Engine::Jit { threads: THREADS }] {
        // The buffer is first aligned to 16 bytes, and then misaligned.
        for off in [0, 4] {
            let bytes = 16 * (items + 1);
            let mut y = vec![0; bytes + 32];
            let start = y.as_ptr().align_offset(16) + off;
            let mut args = [Arg::Buffer(&mut y[start..start + bytes])];
            let launch = Launch { engine, ..Launch::new(Shape::from((64, items as u32 / 64)), &mut args) };
            program.kernel("k").unwrap().launch(launch).unwrap();
            let words: Vec<u32> =
                y[start..start + bytes].as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
            let mut found: Vec<u32> = words
                .as_chunks()
                .0
                .iter()
                .map(|&[a, b, c, d]| {
                    assert!(a == b && b == c && c == d, "{engine:?}");
                    a
                })
                .collect();
            found.sort_unstable();
            assert!(found.iter().copied().eq(0..=items as u32), "{engine:?}");
        }
    }
}
