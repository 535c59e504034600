//! Tests that the expansions of PTX video instructions and of half extrema give the same results as the instructions.

use std::collections::HashMap;

use halfbyte_abi::Signature;
use halfbyte_ir::witness::Random;
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::meaning::{Reader, Write, meaning};
use halfbyte_isa::ptx::row::Lanes;
use halfbyte_isa::ptx::text::read;
use halfbyte_isa::ptx::types::{Special, Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg, Var};
use halfbyte_isel::ptx::expand::{VideoForm, expand, sequence};
use halfbyte_isel::vcode::{Edge, Terminator, VCode, VInst};
use halfbyte_isel::{Ptx, PtxExtra};

type PtxVCode = VCode<Ptx>;

const SMS: [u16; 5] = [75, 80, 90, 100, 120];

/// Interpreter of PTX instructions on 32-bit registers.
struct Machine<'a>(&'a [u32]);

impl Reader<Concrete> for Machine<'_> {
    fn register(&mut self, _: &mut Concrete, reg: Reg) -> [u32; 2] {
        [self.0[reg.0 as usize], 0]
    }

    fn predicate(&mut self, _: &mut Concrete, _: Reg) -> bool {
        false
    }

    fn special(&mut self, _: &mut Concrete, _: Special) -> [u32; 2] {
        [0; 2]
    }

    fn variable(&mut self, _: &mut Concrete, _: Var) -> [u32; 2] {
        [0; 2]
    }
}

fn run<'a>(insts: impl IntoIterator<Item = &'a Inst>, registers: &mut [u32]) {
    for inst in insts {
        for write in meaning(inst, &mut Concrete, &mut Machine(registers)).writes {
            let Write::Register(reg, [low, _]) = write else { panic!("{inst:?}") };
            registers[reg.0 as usize] = low;
        }
    }
}

/// Returns code of one block for an SM version. The PTX text may use 80 registers.
fn code(sm: u16, text: &str) -> PtxVCode {
    let module =
        format!(".version 9.2\n.target sm_120f\n.address_size 64\n.entry k() {{\n.reg .b32 r<80>;\n{text}\n}}\n");
    let entry = read(&module).unwrap_or_else(|errors| panic!("{text}: {errors:?}")).module.entries.remove(0);
    let insts = entry.body.insts.into_iter().map(|inst| VInst::alone(inst, Loc::default()));
    let signature = Signature::new("k", Vec::new()).unwrap();
    let sm = halfbyte_abi::Sm::new(sm).unwrap();
    let mut code = PtxVCode::new(
        signature,
        PtxExtra { sm, max_items: u64::MAX, along_x: false, block: None, types: Vec::new(), arrays: Vec::new() },
    );
    code.vregs = vec![Type::B32; 80];
    code.add_block([], insts, Terminator::Exit, Loc::default());
    code
}

fn insts(code: &PtxVCode) -> impl Iterator<Item = &Inst> {
    code.insts.iter().map(|inst| &inst.inst)
}

fn opcodes(code: &PtxVCode) -> Vec<Opcode> {
    insts(code).map(|inst| inst.opcode).collect()
}

/// Returns a random word whose lanes are often close to the least or the greatest number of a lane.
fn word(random: &mut Random, lanes: Lanes) -> u32 {
    let lane = 32 / lanes.count();
    let edges = [0, 1, 2, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFF, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF];
    (0..lanes.count()).fold(0, |word, i| {
        let bits = random.bits() as u32;
        let value = if bits & 0x700 == 0 { edges[random.below(edges.len())] } else { bits >> 16 };
        word | (value & (u32::MAX >> (32 - lane))) << (i * lane)
    })
}

/// Returns the code after the expansion. The registers `results` are live at its end.
fn expanded(mut code: PtxVCode, results: &[u32]) -> PtxVCode {
    // The jump passes the result registers, so the expansion does not remove them.
    let args = code.add_list(results.iter().map(|&n| Reg(n).into()));
    code.blocks[0].terminator = Terminator::Jump(Edge { block: 0, args });
    expand(&mut code).unwrap();
    for inst in insts(&code) {
        assert!(inst.is_valid(|reg| code.vregs.get(reg.0 as usize).copied()), "{inst:?}");
        assert!(inst.since().is_supported_by(code.extra.sm), "{inst:?} on {}", code.extra.sm);
    }
    code
}

/// Checks that `plain` and the expanded `code` leave the same numbers in the registers `results`,
/// if both begin with the registers `before`.
fn same(plain: &PtxVCode, code: &PtxVCode, results: &[u32], before: &[u32]) {
    let Terminator::Jump(edge) = &code.blocks[0].terminator else { panic!() };
    let mut expected = before.to_vec();
    run(insts(plain), &mut expected);
    let mut found = before.to_vec();
    found.resize(code.vregs.len(), 0xDEAD_BEEF);
    run(insts(code), &mut found);
    for (&n, reg) in results.iter().zip(code.list(&edge.args)) {
        let (expected, found) = (expected[n as usize], found[reg.0 as usize]);
        assert!(expected == found, "{:?}\n{before:x?}: r{n} is {found:#x}, not {expected:#x}", opcodes(code));
    }
}

/// Expands the code, and checks on random inputs that it leaves the same numbers in the registers
/// `results`. Returns the expanded code.
fn agrees(plain: PtxVCode, results: &[u32], lanes: Lanes, cases: usize) -> PtxVCode {
    let code = expanded(plain.clone(), results);
    let mut random = Random(1);
    for _ in 0..cases {
        let before: Vec<u32> = (0..80).map(|_| word(&mut random, lanes)).collect();
        same(&plain, &code, results, &before);
    }
    code
}

#[test]
fn every_video_instruction_equals_its_sequence() {
    assert_eq!(VideoForm::all().count(), 288);
    for form in VideoForm::all() {
        for sm in SMS {
            let found = sequence(form, sm).unwrap();
            // An earlier SM version uses the same sequence, which was already tested.
            if sm != SMS[0] && found.sm <= SMS[SMS.iter().position(|&s| s == sm).unwrap() - 1] {
                continue;
            }
            agrees(code(sm, &format!("{form} r0, r1, r2, r3;")), &[0], form.lanes(), 3000);
        }
    }
}

#[test]
fn lanes_are_selected_and_merged() {
    for form in VideoForm::all() {
        let (letter, last) = (form.lanes().letter(), form.lanes().count() * 2);
        let mut random = Random(form.opcode as u64);
        for _ in 0..3 {
            let mut digits = |count: u32, below: u32| -> String {
                (0..count).map(|_| char::from_digit(random.below(below as usize) as u32, 10).unwrap()).collect()
            };
            let (a, b) = (digits(form.lanes().count(), last), digits(form.lanes().count(), last));
            let mask: String = "3210".chars().filter(|&c| c < if last == 8 { '4' } else { '2' }).collect();
            let dropped = digits(1, last / 2);
            let mask = mask.replace(&dropped, "");
            let line = format!("{form} r0.{letter}{mask}, r1.{letter}{a}, r2.{letter}{b}, r3;");
            agrees(code(75, &line), &[0], form.lanes(), 200);
        }
    }
}

#[test]
fn minimum_and_maximum_share_their_compare() {
    let text = "vmin4.u32.u32.u32 r0, r1, r2, r3; vmax4.s32.u32.u32 r4, r2, r1, r3;";
    let expanded = agrees(code(75, text), &[0, 4], Lanes::Four, 1000);
    assert_eq!(insts(&expanded).count(), 5, "{:?}", opcodes(&expanded));
}

/// Zero, subnormals, one, the largest finite number, infinity and NaN, each with both signs.
const HALVES: [u16; 16] = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0xfc01,
    0x7fff, 0xffff,
];

/// Checks the expansion of half extrema (minima and maxima) on registers 1 to `words`: all combinations of three of the
/// [`HALVES`], and random halves elsewhere. Returns the number of instructions of the expanded code.
fn halves_agree(text: &str, words: usize, results: &[u32]) -> usize {
    let plain = code(75, text);
    let code = expanded(plain.clone(), results);
    let mut random = Random(words as u64);
    let mut before = vec![0; 80];
    for number in 0..HALVES.len().pow(3) {
        for (place, slot) in before[1..=words].iter_mut().enumerate() {
            let lower = if place < 3 { number >> (4 * place) & 15 } else { random.below(16) };
            let upper = random.bits() as u16;
            let upper = if random.below(2) == 0 { upper } else { HALVES[usize::from(upper & 15)] };
            *slot = u32::from(HALVES[lower]) | u32::from(upper) << 16;
        }
        // The same comparison with the words rotated and the lanes swapped.
        same(&plain, &code, results, &before);
        before[1..=words].rotate_left(1);
        before[1..=words].iter_mut().for_each(|word| *word = word.rotate_left(16));
        same(&plain, &code, results, &before);
    }
    insts(&code).count()
}

#[test]
fn chains_half_extrema_of_separate_inputs() {
    for op in ["min", "max"] {
        let mut counts = Vec::new();
        for words in 2..=9 {
            // The extremum of all words is computed as a tree of pairs and as a chain.
            let mut left: Vec<String> = (1..=words).map(|n| format!("r{n}")).collect();
            let mut pairs = String::new();
            while let [a, b, ..] = left.as_slice() {
                let d = if left.len() == 2 { "r0".to_owned() } else { format!("r{}", 20 + left.len()) };
                pairs += &format!("{op}.f16x2 {d}, {a}, {b};\n");
                left.drain(..2);
                left.push(d);
            }
            let line: String = (3..=words).map(|n| format!("{op}.f16x2 r0, r0, r{n};\n")).collect();
            let line = format!("{op}.f16x2 r0, r1, r2;\n{line}");
            let of_pairs = halves_agree(&pairs, words, &[0]);
            assert_eq!(of_pairs, halves_agree(&in_ssa(&line), words, &[0]), "{op} of {words}");
            counts.push(of_pairs);
        }
        assert_eq!(counts, [6, 10, 12, 16, 18, 22, 24, 28]);
    }
}

/// Renames all definitions of `r0` but the last one, so that the text is in SSA form.
fn in_ssa(text: &str) -> String {
    let count = text.lines().count();
    let lines = text.lines().enumerate().map(|(n, line)| {
        let (mnemonic, operands) = line.split_once(' ').unwrap();
        let (_, sources) = operands.split_once(", ").unwrap();
        let d = if n + 1 == count { 0 } else { 60 + n };
        let sources = if n == 0 { sources.to_owned() } else { sources.replace("r0", &format!("r{}", 59 + n)) };
        format!("{mnemonic} r{d}, {sources}\n")
    });
    lines.collect()
}

#[test]
fn splits_half_extrema_of_shared_inputs() {
    // Code that sorts three values compares each input at least twice.
    let sorted = "min.f16x2 r20, r1, r2; max.f16x2 r21, r1, r2; min.f16x2 r22, r21, r3; max.f16x2 r23, r21, r3;\n\
                  min.f16x2 r24, r20, r22; max.f16x2 r25, r20, r22;";
    // Six extrema and three inputs take two instructions each, and three outputs take a permutation
    // each. One more instruction ends the code.
    assert_eq!(halves_agree(sorted, 3, &[24, 25, 23]), 21 + 1);
    // For a minimum of maxima, each kind of extremum is a chain of its own. Two trees of extrema
    // that share an input use the same expansion.
    assert_eq!(halves_agree("max.f16x2 r20, r1, r2; max.f16x2 r21, r3, r4; min.f16x2 r0, r20, r21;", 4, &[0]), 15 + 1);
    // The results of arithmetic have only the canonical NaN, so the expansion by lanes is cheaper.
    let summed = "add.rn.f16x2 r20, r1, r2; add.rn.f16x2 r21, r3, r4; max.f16x2 r0, r20, r21;";
    assert_eq!(halves_agree(summed, 4, &[0]), 2 + 5);
}

#[test]
fn trees_of_byte_extrema_are_split_where_there_are_halfwords() {
    let text = "vmin4.s32.s32.s32 r10, r1, r2, r0; vmax4.s32.s32.s32.sat r11, r1, r2, r0;
        vmin4.s32.s32.s32 r12, r11, r3, r0; vmax4.s32.s32.s32 r13, r10, r12, r0;
        vmax4.s32.s32.s32 r14, r13, r4, r0;";
    let split = agrees(code(90, text), &[14], Lanes::Four, 2000);
    let expected = [(Opcode::SHL, 4), (Opcode::PRMT, 1)];
    let counts = opcodes(&split).into_iter().fold(HashMap::new(), |mut counts: HashMap<Opcode, u32>, opcode| {
        *counts.entry(opcode).or_default() += 1;
        counts
    });
    for (opcode, count) in expected {
        assert_eq!(counts[&opcode], count);
    }
    assert_eq!(counts[&Opcode::MIN_X2] + counts[&Opcode::MAX_X2], 10);
    // The halves of a split extremum are joined if its result is also an output.
    agrees(code(100, text), &[14, 12], Lanes::Four, 2000);
    // For a single extremum of bytes, the sequence is shorter than half-word extrema.
    let single = agrees(code(90, "vmin4.u32.u32.u32 r10, r1, r2, r0;"), &[10], Lanes::Four, 1000);
    assert!(!opcodes(&single).contains(&Opcode::MIN_X2));
    // The sequence is also shorter for a signed extremum that reads only an unsigned one.
    let mixed = "vmin4.s32.s32.s32 r10, r1, r2, r0; vmin4.u32.u32.u32 r11, r10, r3, r0;";
    agrees(code(90, mixed), &[11], Lanes::Four, 1000);
    let old = agrees(code(75, text), &[14], Lanes::Four, 1000);
    assert!(!opcodes(&old).contains(&Opcode::MIN_X2));
    let new = agrees(code(120, text), &[14], Lanes::Four, 1000);
    assert!(opcodes(&new).contains(&Opcode::MIN_X4));
}

#[test]
fn a_median_of_nine_takes_two_instructions_an_extremum() {
    // Sorting network for the median of nine values. Each pair is put in order.
    let exchanges = [
        (1, 2),
        (4, 5),
        (7, 8),
        (0, 1),
        (3, 4),
        (6, 7),
        (1, 2),
        (4, 5),
        (7, 8),
        (0, 3),
        (5, 8),
        (4, 7),
        (3, 6),
        (1, 4),
        (2, 5),
        (4, 7),
        (4, 2),
        (6, 4),
        (4, 2),
    ];
    let mut text = String::new();
    let mut values: Vec<u32> = (1..10).collect();
    let mut next = 32;
    for (a, b) in exchanges {
        let [min, max] = [next, next + 1];
        let (x, y) = (values[a], values[b]);
        text += &format!("vmin4.u32.u32.u32 r{min}, r{x}, r{y}, r0; vmax4.u32.u32.u32 r{max}, r{x}, r{y}, r0;\n");
        (values[a], values[b]) = (min, max);
        next += 2;
    }
    let used = code(90, &text);
    let median = agrees(used, &[values[4]], Lanes::Four, 300);
    // 19 exchanges have 38 extrema, of which 8 are unused, so 30 remain. They take two instructions
    // each. Nine inputs are shifted, and the result is joined.
    assert_eq!(insts(&median).count(), 2 * 30 + 9 + 1, "{:?}", opcodes(&median));
}

#[test]
fn sums_are_computed_again_where_they_fuse() {
    let text =
        "vadd2.s32.s32.s32 r10, r1, r2, r0; vmax2.s32.s32.s32 r11, r10, r3, r0; vmin2.s32.s32.s32 r12, r10, r4, r0;";
    let fused = agrees(code(90, text), &[11, 12], Lanes::Two, 1000);
    assert_eq!(opcodes(&fused).iter().filter(|&&opcode| opcode == Opcode::ADD_X2).count(), 2);
    let text = "vadd2.s32.s32.s32 r10, r1, r2, r0; vmax2.s32.s32.s32 r11, r10, r3, r0;";
    let once = agrees(code(90, text), &[11], Lanes::Two, 1000);
    assert_eq!(opcodes(&once), [Opcode::ADD_X2, Opcode::MAX_X2]);
    // If one use cannot fuse the value, copies of the value for the other uses save nothing.
    let kept = agrees(code(90, text), &[10, 11], Lanes::Two, 1000);
    assert_eq!(opcodes(&kept), [Opcode::ADD_X2, Opcode::MAX_X2]);
    let text =
        "vmax2.s32.s32.s32 r10, r1, r2, r0; vmax2.s32.s32.s32 r11, r10, r3, r0; vmax2.s32.s32.s32 r12, r10, r4, r0;";
    let extrema = agrees(code(90, text), &[11, 12], Lanes::Two, 1000);
    assert_eq!(insts(&extrema).count(), 4);
    let text = "add.u32 r10, r1, r2; add.u32 r11, r10, r3; sub.u32 r12, r10, r4; sub.u32 r13, r5, r10;";
    let sums = agrees(code(75, text), &[11, 12], Lanes::Two, 1000);
    assert_eq!(insts(&sums).count(), 4);
    let sums = agrees(code(75, text), &[11, 12, 13], Lanes::Two, 1000);
    assert_eq!(insts(&sums).count(), 4);
}

#[test]
fn keeps_guarded_video_instructions() {
    let mut guarded = code(75, "vadd4.u32.u32.u32 r0, r1, r2, r3;");
    guarded.vregs.push(Type::Pred);
    guarded.insts[0].inst.guard = Some(halfbyte_isa::ptx::Guard { reg: Reg(80), not: false });
    expand(&mut guarded).unwrap();
    assert_eq!(opcodes(&guarded), [Opcode::VADD4]);
}

#[test]
fn constants_are_written_once() {
    let text = "vabsdiff4.s32.s32.s32.sat r10, r1, r2, r0; vabsdiff4.u32.u32.u32 r11, r3, r4, r0; mov.b32 r12, 0;";
    let expanded = agrees(code(75, text), &[10, 11, 12], Lanes::Four, 1000);
    let moves: Vec<&Inst> = insts(&expanded).filter(|inst| inst.opcode == Opcode::MOV).collect();
    assert_eq!(moves.len(), 1);
    assert_eq!(moves[0].operands[1], Operand::Number(0));
    assert!(moves[0].modifiers.contains(&Token::Type(Type::B32)));
}
