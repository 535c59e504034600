//! Random HALU programs, which must give the same memory, statistics and traps in native code and in the interpreter.

use crate::common::MACHINES;
use std::num::NonZero;

use crate::common::{object, params};
use halfbyte_abi::Signature;
use halfbyte_emit::KernelCode;
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst, Opcode, disassemble};
use halfbyte_isa::object::{KernelInfo, Loc};
use halfbyte_isa::row::{InstClass, OperandKind, OperandRole, RegFile};
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

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Number of registers that random instructions write. Registers with higher numbers hold addresses.
const GPRS: u64 = 8;
const OFFSET_16: u64 = 20;
const OFFSET_4: u64 = 21;
const ITEM: u64 = 22;
const GATHER: u64 = 23;
const UNIFORM: u64 = 24;
const LAST: u64 = 25;
/// Number of the register with the offset of the item's bytes in `y`. This register and the next
/// one also form the address of these bytes.
const OWN: u64 = 26;
/// Number of the uniform register with the address of buffer `x`. `Y` and `Z` are those of `y` and `z`.
const X: u64 = 0;
const Y: u64 = 2;
const Z: u64 = 8;
const PARAMS: &str = "x: in i32, y: inout i32, z: inout i32, a: i32, b: i32, c: i64";
const LOCAL_BYTES: u32 = 0x20;

/// Number of threads for launches that take several rows of items.
const THREADS: NonZero<u16> = NonZero::new(3).unwrap();

/// Layout in `y` of the bytes that each item accesses.
#[derive(Clone, Copy)]
struct Layout {
    /// Number of bytes that each item accesses.
    bytes: u64,
    order: Order,
}

#[derive(Clone, Copy)]
enum Order {
    Forward,
    Backward,
    /// Each pair of neighbouring items has its positions swapped.
    Swapped,
}

impl Layout {
    fn random(random: &mut Random) -> Layout {
        let order = [Order::Forward, Order::Forward, Order::Backward, Order::Swapped][random.below(4) as usize];
        Layout { bytes: [4, 16][random.below(2) as usize], order }
    }
}

fn register(file: RegFile, role: OperandRole, span: u8, random: &mut Random) -> u64 {
    let aligned = |n: u64| n / u64::from(span) * u64::from(span);
    match (file, role) {
        (RegFile::Gpr, OperandRole::Use) if random.one_in(8) => RZ.into(),
        (RegFile::Gpr, OperandRole::Use) if random.one_in(8) && span == 1 => {
            [ITEM, OFFSET_4, UNIFORM][random.below(3) as usize]
        }
        (RegFile::Gpr, _) => aligned(random.below(GPRS)),
        (RegFile::Ur, OperandRole::Use) if random.one_in(8) => URZ.into(),
        (RegFile::Ur, OperandRole::Use) => aligned(random.below(8)),
        (RegFile::Ur, _) => aligned(4 + random.below(4)),
        (RegFile::Pred, _) if random.one_in(3) => PT.into(),
        (RegFile::Pred, _) => random.below(4),
        _ => 0,
    }
}

/// Returns a random instruction that accesses no memory and does not branch.
fn compute(random: &mut Random) -> Inst {
    loop {
        let opcode = Opcode::ALL[random.below(Opcode::ALL.len() as u64) as usize];
        if !matches!(opcode.row().class, InstClass::Compute | InstClass::Move | InstClass::Address) {
            continue;
        }
        let mut inst = Inst::random(opcode, &mut || random.next());
        for slot in opcode.registers().iter().skip(1) {
            let number = register(slot.file, slot.role, slot.span, random);
            inst.set(slot.field, number);
        }
        for operand in opcode.row().operands {
            if let OperandKind::Const { bank, offset, .. } = operand.kind {
                let wrong = random.one_in(300);
                inst.set(bank, if wrong { random.below(4) } else { 0 });
                inst.set(offset, if wrong { 8 * random.below(100) } else { 0x160 + 8 * random.below(5) });
            }
        }
        if inst.is_valid() {
            return inst;
        }
    }
}

/// Returns an access at the sum of a register and the uniform register `base`. Without `base`, the
/// register pair holds the whole address.
fn place(opcode: Opcode, register: u64, base: Option<u64>, imm: i64) -> Inst {
    let inst = Inst::new(opcode).with(RA, register).with(IMM24, imm as u64 & 0xFF_FFFF);
    if let Some(base) = base { inst.with(UR32, base) } else { inst }
}

fn load(opcode: Opcode, offset: u64, base: Option<u64>, imm: i64, to: u64) -> Inst {
    place(opcode, offset, base, imm).with(RD, to)
}

fn store(opcode: Opcode, offset: u64, base: Option<u64>, imm: i64, from: u64) -> Inst {
    place(opcode, offset, base, imm).with(R64, from)
}

fn memory(layout: Layout, random: &mut Random) -> Inst {
    use Opcode::*;
    let aligned = |span: u64, random: &mut Random| random.below(GPRS) / span * span;
    let (size, span) = [(1, 1), (2, 1), (4, 1), (4, 1), (8, 2), (16, 4)][random.below(6) as usize];
    // A few offsets are misaligned or far out of bounds.
    let bytes = |size: u64, limit: u64, random: &mut Random| {
        if random.one_in(200) { random.next() as i64 % 0x1000 } else { (random.below(limit) / size * size) as i64 }
    };
    let register = aligned(span, random);
    let own = size.min(layout.bytes);
    let wide = random.one_in(4);
    match random.below(9) {
        0..=2 => {
            let opcode = match size {
                1 => [LDG_U_U8, LDG_U_S8][random.below(2) as usize],
                2 => [LDG_U_U16, LDG_U_S16][random.below(2) as usize],
                4 => LDG_U_32,
                8 => LDG_U_64,
                _ => LDG_U_128,
            };
            let offsets = match size {
                1 => &[ITEM, OFFSET_4, OFFSET_16, GATHER, UNIFORM][..],
                2 | 4 => &[OFFSET_4, OFFSET_16, GATHER, UNIFORM],
                _ => &[OFFSET_16, UNIFORM],
            };
            let offset = offsets[random.below(offsets.len() as u64) as usize];
            load(opcode, offset, Some(X), bytes(size, 16, random), register)
        }
        3 | 4 => {
            let opcode = match (own, wide) {
                (1, false) => [LDG_U_U8, LDG_U_S8][random.below(2) as usize],
                (1, true) => [LDG_W_U8, LDG_W_S8][random.below(2) as usize],
                (2, false) => [LDG_U_U16, LDG_U_S16][random.below(2) as usize],
                (2, true) => [LDG_W_U16, LDG_W_S16][random.below(2) as usize],
                (4, false) => LDG_U_32,
                (4, true) => LDG_W_32,
                (8, false) => LDG_U_64,
                (8, true) => LDG_W_64,
                (_, false) => LDG_U_128,
                (_, true) => LDG_W_128,
            };
            let imm = bytes(own, layout.bytes, random);
            load(opcode, OWN, if wide { None } else { Some(Y) }, imm, register)
        }
        5 | 6 => {
            let opcode = match (own, wide) {
                (1, false) => STG_U_8,
                (1, true) => STG_W_8,
                (2, false) => STG_U_16,
                (2, true) => STG_W_16,
                (4, false) => STG_U_32,
                (4, true) => STG_W_32,
                (8, false) => STG_U_64,
                (8, true) => STG_W_64,
                (_, false) => STG_U_128,
                (_, true) => STG_W_128,
            };
            let imm = bytes(own, layout.bytes, random);
            store(opcode, OWN, if wide { None } else { Some(Y) }, imm, register)
        }
        7 if random.one_in(2) => match random.one_in(2) {
            true => load(LDG_U_32, OFFSET_4, Some(Z), 0, random.below(GPRS)),
            false => store(STG_U_32, OFFSET_4, Some(Z), 0, random.below(GPRS)),
        },
        7 => {
            let words = size.max(4);
            let imm =
                if random.one_in(100) { random.below(0x40) } else { random.below(LOCAL_BYTES.into()) / words * words };
            let (load, store) = match words {
                4 => (LDL_32, STL_32),
                8 => (LDL_64, STL_64),
                _ => (LDL_128, STL_128),
            };
            if random.one_in(2) {
                Inst::new(load).with(IMM24, imm).with(RD, register)
            } else {
                Inst::new(store).with(IMM24, imm).with(R64, register)
            }
        }
        _ => {
            let index = if random.one_in(10) { GATHER } else { [RZ.into(), UNIFORM][random.below(2) as usize] };
            let offset = 0x160 + bytes(size, 16, random) as u64 % 0x100;
            let opcode =
                [LDC_U8, LDC_U8, LDC_S16, LDC_S16, LDC_32, LDC_32, LDC_32, LDC_32, LDC_64][size.min(8) as usize];
            Inst::new(opcode)
                .with(CMEM_BANK, u64::from(random.one_in(100)))
                .with(RA, index)
                .with(CMEM_OFFSET, offset & !7)
                .with(RD, register)
        }
    }
}

/// Returns the instruction words of a program: initialisation of the registers, then random instructions.
fn words(items: u32, random: &mut Random) -> Vec<u128> {
    let layout = Layout::random(random);
    let uldc = |to, offset| Inst::new(Opcode::ULDC_64).with(URD, to).with(CMEM_OFFSET, offset);
    let shift = |to, by| Inst::new(Opcode::LEA).with(RD, to).with(RA, ITEM).with(R32, RZ.into()).with(SHIFT, by);
    let mut code = vec![
        uldc(X, 0x160),
        uldc(Y, 0x168),
        uldc(Z, 0x170),
        uldc(4, 0x178),
        Inst::new(Opcode::S2R).with(RD, ITEM),
        shift(OFFSET_4, 2),
        shift(OFFSET_16, 4),
        Inst::new(Opcode::MOV_I).with(RD, UNIFORM).with(IMM32, 4 * random.below(8)),
        load(Opcode::LDG_U_32, OFFSET_4, Some(X), 0, GATHER),
        Inst::new(Opcode::LOP3_RIR)
            .with(RD, GATHER)
            .with(RA, GATHER)
            .with(IMM32, 0x3C)
            .with(R64, RZ.into())
            .with(LUT, 0xC0),
    ];
    let shift_own = layout.bytes.ilog2().into();
    match layout.order {
        Order::Forward => code.push(shift(OWN, shift_own)),
        Order::Backward => {
            let last = layout.bytes * u64::from(items - 1);
            let by = (layout.bytes as u32).wrapping_neg();
            let own = Inst::new(Opcode::IMAD_RIR).with(RD, OWN).with(RA, ITEM).with(IMM32, by.into()).with(R64, LAST);
            code.extend([Inst::new(Opcode::MOV_I).with(RD, LAST).with(IMM32, last), own]);
        }
        Order::Swapped => {
            let neighbour = Inst::new(Opcode::LOP3_RIR).with(RD, OWN).with(RA, ITEM).with(IMM32, 1);
            code.push(neighbour.with(R64, RZ.into()).with(LUT, 0x3C));
            code.push(shift(OWN, shift_own).with(RA, OWN));
        }
    }
    let high = Inst::new(Opcode::IADD3_RUR).with(RD, OWN + 1).with(RA, RZ.into()).with(UR32, Y + 1);
    code.push(high.with(R64, RZ.into()));
    for k in 0..GPRS {
        code.push(load(
            Opcode::LDG_U_32,
            [OFFSET_16, OFFSET_4, UNIFORM][random.below(3) as usize],
            Some(X),
            (4 * k) as i64,
            k,
        ));
    }
    let body = 3 + random.below(40);
    let start = code.len() as i64;
    let branches = random.below(4);
    for k in 0..body {
        let mut inst = match random.below(10) {
            0..=5 => compute(random),
            6 | 7 => memory(layout, random),
            8 if random.below(4) < branches => {
                let (from, end) = (start + k as i64, start + body as i64 + 4);
                let to = if random.one_in(3) {
                    start + random.below(body) as i64
                } else {
                    from + 1 + random.below((end - from) as u64) as i64
                };
                let to = if random.one_in(60) { to + 100 } else { to };
                let bra = Inst::new(Opcode::BRA).with(IMM32, (to - from) as u32 as u64);
                bra.guarded(random.below(5) as u8, random.one_in(2))
            }
            9 if random.one_in(6) => Inst::new(Opcode::EXIT).guarded(random.below(4) as u8, random.one_in(2)),
            _ => compute(random),
        };
        if inst.is_unconditional() && inst.opcode() != Opcode::EXIT && random.one_in(5) {
            inst = inst.guarded(random.below(4) as u8, random.one_in(2));
        }
        code.push(inst);
    }
    for k in 0..layout.bytes / 4 {
        code.push(store(Opcode::STG_U_32, OWN, Some(Y), 4 * k as i64, random.below(GPRS)));
    }
    if random.one_in(2) {
        code.push(store(Opcode::STG_U_32, OFFSET_4, Some(Z), 0, random.below(GPRS)));
    }
    code.push(Inst::new(Opcode::EXIT));
    let mut words: Vec<u128> = code.iter().map(Inst::word).collect();
    if random.one_in(40) {
        let at = start as usize + random.below(body) as usize;
        words[at] = 0x0FFF;
    }
    words
}

struct Outcome {
    result: Result<Stats, LaunchError>,
    buffers: [Vec<u8>; 2],
}

struct Case {
    program: Program,
    items: u32,
    x: Vec<u8>,
    buffers: [Vec<u8>; 2],
    scalars: [u128; 3],
    budget: u64,
}

impl Case {
    fn launch(&self, engine: Engine) -> Outcome {
        let mut buffers = self.buffers.clone();
        let [y, z] = &mut buffers;
        let [a, b, c] = self.scalars.map(Arg::Scalar);
        let mut args = [Arg::In(&self.x), Arg::Buffer(y), Arg::Buffer(z), a, b, c];
        let launch = Launch { budget: self.budget, engine, ..Launch::new(self.items, &mut args) };
        let result = self.program.kernel("k").unwrap().launch(launch);
        Outcome { result, buffers }
    }
}

/// Runs a random program on both engines, and checks that the results agree. Returns `true` if the
/// program ran to its end.
fn agree(seed: u64) -> bool {
    let random = &mut Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    random.next();
    let items = [1, 7, 16, 33, 64, 100, 200, 517][random.below(8) as usize];
    let words = words(items, random);
    let code = KernelCode {
        info: KernelInfo {
            signature: Signature::new("k", params(PARAMS)).unwrap(),
            local_bytes: LOCAL_BYTES,
            registers: 32,
            tiles: None,
            max_items: u32::MAX,
            shared_bytes: None,
            scratch_bytes: 0,
            along_x: false,
        },
        locs: words.iter().map(|_| Loc::default()).collect(),
        parts: Vec::new(),
        words: halfbyte_isa::halu::HaluCode(words.clone()).into(),
        stats: Vec::new(),
    };
    let elements = items as usize * 4 + 16;
    let short = if random.one_in(10) { 4 * random.below(elements as u64) as usize } else { 0 };
    let mut bytes = |count: usize| {
        let alike = random.one_in(4);
        let word = random.next();
        (0..count).map(|k| if alike { (word >> (8 * (k % 4))) as u8 } else { random.next() as u8 }).collect::<Vec<u8>>()
    };
    let (x, buffers) = (bytes(4 * elements - short), [4 * elements, 4 * items as usize].map(&mut bytes));
    let scalars = [u128::from(random.next() as u32), u128::from(random.next() as u32), u128::from(random.next())];
    let budget = random.below(30);
    let case =
        Case { program: Program::load(&object(&[code]), &MACHINES).unwrap(), items, x, buffers, scalars, budget };
    let expected = case.launch(Engine::Interp);
    let found = case.launch(if random.one_in(2) { Engine::JIT } else { Engine::Jit { threads: THREADS } });
    let listing = || {
        words
            .iter()
            .enumerate()
            .map(|(k, &word)| format!("{k:3} {}\n", disassemble(&[word]).trim()))
            .collect::<String>()
    };
    assert_eq!(found.result, expected.result, "seed {seed}, {items} items, budget {budget}\n{}", listing());
    let ended = expected.result.is_ok();
    for (name, found, expected) in [0, 1].map(|k| (["y", "z"][k], &found.buffers[k], &expected.buffers[k])) {
        let differ = (0..found.len()).find(|&at| ended && found[at] != expected[at]);
        if let Some(at) = differ {
            panic!(
                "seed {seed}, {items} items: byte {at} of `{name}` is {:#x} for {:#x}\n{}",
                found[at],
                expected[at],
                listing()
            );
        }
    }
    ended
}

#[test]
fn random_programs() {
    let count = std::env::var("HALFBYTE_SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(400);
    let first = std::env::var("HALFBYTE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let ended = (first..first + count).filter(|&seed| agree(seed)).count();
    // Enough programs must end without a trap.
    assert!(count < 10 || ended * 3 > count as usize, "{ended} of {count} ran to their end");
}
