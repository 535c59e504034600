//! Tests of scheduling: scheduled code computes the same results as the operations in sequence.
#![allow(clippy::unwrap_used)]

use halfbyte_isa::object::Loc;
use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::bundle::WORDS_PER_LINE;
use halfbyte_isa::vp1::domain::{Next, Target};
use halfbyte_isa::vp1::fields as f;
use halfbyte_isa::vp1::footprint::Locations;
use halfbyte_isa::vp1::state::State;
use halfbyte_isa::vp1::{Bundle, Inst, Opcode, Unit, read_word};

use super::op::Op;
use super::*;

/// Random number generator (SplitMix64).
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }
}

pub(super) fn state(random: &mut Random) -> State {
    let mut state = State::default();
    state.r = state.r.map(|_| random.next() as u32);
    state.v = state.v.map(|v| v.map(|_| random.next() as u8));
    state.vx = state.vx.map(|_| random.next() as u8);
    state.va = state.va.map(|_| (random.next() as i32) >> 4);
    state.vc = state.vc.map(|_| random.next() as u32);
    state.a = state.a.map(|_| random.next() as u32);
    state.c = state.c.map(|_| random.next() as u16 & 0x27ff | 0x8000);
    state.l = state.l.map(|_| random.next() as u16);
    for byte in 0..8192 {
        state.data.set_byte(byte, random.next() as u8);
    }
    state
}

/// Parses a line of assembly.
pub(super) fn inst(line: &str) -> Inst {
    Inst::decode(read_word(line, 0).unwrap()).unwrap()
}

/// Parses an operation: instructions separated by `;`, then `@ 2` if the operation accesses stream
/// 2, then `-> 3` if it branches to block 3.
pub(super) fn op(text: &str) -> Op {
    let (text, target) = match text.split_once("->") {
        Some((text, target)) => (text, Some(target.trim().parse().unwrap())),
        None => (text, None),
    };
    let (text, stream) = match text.split_once('@') {
        Some((text, stream)) => (text, Some(stream.trim().parse().unwrap())),
        None => (text, None),
    };
    let insts: Vec<Inst> = text.split(';').map(|line| inst(line.trim())).collect();
    Op::new(&insts, stream, target, Loc::default(), Some(31)).unwrap()
}

pub(super) fn block(text: &str) -> Vec<Op> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(op).collect()
}

/// Executes operations in sequence until an exit. Returns the number of taken backward branches.
pub(super) fn interpret(blocks: &[Vec<Op>], state: &mut State) -> u32 {
    let mut at = 0;
    let mut backward = 0;
    'blocks: loop {
        for op in blocks.get(at).map_or(&[][..], Vec::as_slice) {
            let words: Vec<u32> = op.insts().map(|inst| inst.word()).collect();
            match state.step(&Bundle::new(&words).unwrap(), |_| {}) {
                Next::Fall => {}
                Next::Exit { .. } => return backward,
                Next::Jump { taken: Some(0), .. } => {}
                Next::Jump { .. } => {
                    let target = op.target.unwrap() as usize;
                    backward += u32::from(target <= at);
                    at = target;
                    continue 'blocks;
                }
                next => unreachable!("{next:?}"),
            }
        }
        at += 1;
    }
}

/// Executes instruction words bundle by bundle until an exit or the end of the code. Returns the
/// number of bundles and the number of taken backward branches.
pub(super) fn run(words: &[u32], state: &mut State) -> (u32, u32) {
    let (mut pc, mut after) = (0, None);
    let (mut count, mut backward) = (0, 0);
    while let Some(bundle) = Bundle::at(words, pc) {
        count += 1;
        assert!(count < 1_000_000);
        let fall = pc + bundle.words();
        let next = state.step(&bundle, |_| {});
        pc = after.take().unwrap_or(fall);
        match next {
            Next::Fall | Next::Jump { taken: Some(0), .. } => {}
            Next::Exit { .. } => break,
            Next::Jump { target: Target::Relative(lines), .. } => {
                let line = (fall - 1) / WORDS_PER_LINE;
                assert_eq!(pc, fall, "a branch in a delay slot");
                after = Some(line.wrapping_add_signed(lines) * WORDS_PER_LINE);
                backward += u32::from(after <= Some(fall - bundle.words()));
            }
            next => unreachable!("{next:?}"),
        }
    }
    (count, backward)
}

pub(super) fn words(assembled: &Assembled) -> Vec<u32> {
    assembled.words.iter().map(|word| word.inst.word()).collect()
}

/// Returns a random operation without control flow. It often uses only a few registers.
pub(super) fn random_op(random: &mut Random) -> Op {
    loop {
        let mut any = || {
            let op = Opcode::ALL[random.below(Opcode::ALL.len())];
            let mut inst = Inst::random(op, &mut || random.next());
            if random.next() & 3 != 0 {
                for slot in op.registers() {
                    inst.set(slot.field, inst.get(slot.field) & !0x18);
                }
            }
            inst
        };
        let mut insts = vec![any()];
        if insts[0].unit() == Unit::Scalar && insts[0].get(f::OP) & 0xf == 4 {
            insts.push(any());
        }
        match Op::new(&insts, None, None, Loc::default(), None) {
            Ok(op) if !op.is_control() => return op,
            _ => {}
        }
    }
}

#[test]
fn scheduled_blocks_match_sequential_execution() {
    let mut random = Random(1);
    let (mut sequential, mut packed) = (0, 0);
    for _ in 0..20_000 {
        let count = 1 + random.below(24);
        let mut ops: Vec<Op> = (0..count).map(|_| random_op(&mut random)).collect();
        ops.push(op("exit 0x0"));
        let blocks = vec![ops];
        let mut expected = state(&mut random);
        let mut found = expected.clone();
        interpret(&blocks, &mut expected);
        let assembled = assemble("k", blocks.clone(), None).unwrap();
        let (count, _) = run(&words(&assembled), &mut found);
        assert_eq!(count, assembled.stats[0].bundles);
        assert!(assembled.stats[0].bundles >= assembled.stats[0].bound);
        sequential += blocks[0].len();
        packed += count as usize;
        let text = || halfbyte_isa::vp1::disassemble(&words(&assembled));
        assert!(expected == found, "{:#?}\n{}", blocks[0].iter().map(text_of).collect::<Vec<_>>(), text());
    }
    assert!(packed * 10 < sequential * 8, "{packed} bundles for {sequential} operations");
}

/// Formats an operation in the syntax of [`op`].
fn text_of(op: &Op) -> String {
    let insts: Vec<String> = op.insts().map(|inst| inst.to_string()).collect();
    insts.join("; ") + &op.target.map_or_else(String::new, |target| format!(" -> {target}"))
}

/// Returns a block that stores some of the registers, so that the comparison of memory includes
/// their values, and then exits.
pub(super) fn random_end(random: &mut Random) -> Vec<Op> {
    let mut lines = Vec::new();
    for n in 0..32 {
        let at = 16 * random.below(128);
        match random.below(8) {
            0 => lines.push(format!("stvh $v{n} $a31 {at:#x}")),
            1 => lines.push(format!("sts $r{n} $a31 {at:#x}")),
            2 => lines.extend([format!("mov $r29 $a{n}"), format!("sts $r29 $a31 {at:#x}")]),
            3 => lines.extend([format!("mov $r29 $c{}", n & 3), format!("sts $r29 $a31 {at:#x}")]),
            4 => lines.extend(["mov $v29 $vc".to_string(), format!("stvh $v29 $a31 {at:#x}")]),
            5 => lines
                .extend(["vmac s rn fract 0x1 hi $v29 s $v0 s 0xf4".to_string(), format!("stvh $v29 $a31 {at:#x}")]),
            _ => {}
        }
    }
    lines.push("exit 0x0".to_string());
    lines.iter().map(|line| op(line)).collect()
}

/// Returns blocks with random branches. Each backward branch decrements `$r30` and is taken until `$r30` is negative.
fn random_blocks(random: &mut Random) -> Vec<Vec<Op>> {
    let counter = Locations::register(RegFile::R, 30).union(Locations::flags(3, 0xff));
    let kept = counter.union(Locations::register(RegFile::A, 31));
    let count = 2 + random.below(5);
    let block = |at: usize| {
        let length = random.below(8);
        let body = std::iter::repeat_with(|| random_op(random));
        let mut ops: Vec<Op> = body.filter(|op| !op.footprint.writes.intersects(kept)).take(length).collect();
        if at + 1 == count {
            return random_end(random);
        }
        if random.next() & 1 != 0 {
            ops.push(op("sub $r30 $c3 $r30 0x1"));
            let to = random.below(count);
            ops.push(op(&format!("bra not $c3 {} 0x0 -> {to}", if to <= at { "sf" } else { "b19" })));
        }
        if random.next() & 3 == 0 {
            ops.push(op(&format!("bra 0x0 -> {}", at + 1 + random.below(count - 1 - at))));
        }
        ops
    };
    (0..count).map(block).collect()
}

#[test]
fn scheduled_functions_match_sequential_execution() {
    let mut random = Random(2);
    for _ in 0..10_000 {
        let blocks = random_blocks(&mut random);
        let mut expected = state(&mut random);
        expected.r[30] = random.below(6) as u32;
        expected.a[31] = 0;
        let mut found = expected.clone();
        let backward = interpret(&blocks, &mut expected);
        let assembled = assemble("k", blocks.clone(), Some(31)).unwrap();
        assert_eq!(run(&words(&assembled), &mut found).1, backward);
        // A register that no instruction reads later may differ, so only the memory is compared.
        let text = || halfbyte_isa::vp1::disassemble(&words(&assembled));
        let texts = || blocks.iter().map(|block| block.iter().map(text_of).collect()).collect::<Vec<Vec<String>>>();
        assert!(expected.data == found.data, "{:#?}\n{}", texts(), text());
    }
}
