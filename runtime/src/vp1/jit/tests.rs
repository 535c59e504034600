//! Tests that the native engine agrees with the interpreter in states, counts and traps.
#![allow(clippy::unwrap_used, clippy::panic)]

use halfbyte_isa::stream::Tiles;
use halfbyte_isa::vp1::domain::Shape;
use halfbyte_isa::vp1::state::State;
use halfbyte_isa::vp1::{Bundle, Inst, Opcode, Unit, fields as f, word_text};

use super::graph::Flow;
use super::loops::Loop;
use super::*;
use crate::vp1::interp::{Bundles, ProgramRun};
use halfbyte_isa::trap::{Fault, TrapKind};

/// A splitmix64 random number generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Returns a random 32-bit word that is often a special value.
    fn word(&mut self) -> u32 {
        match self.below(6) {
            0 => [0, 1, u32::MAX, 0x8000_0000, 0x7fff_ffff, 0x80, 0x7f80_ff01][self.below(7) as usize],
            1 => 1 << self.below(32),
            _ => self.next() as u32,
        }
    }

    fn bytes(&mut self) -> [u8; 16] {
        let special = self.one_in(2);
        std::array::from_fn(|_| {
            if special { [0, 1, 0x7f, 0x80, 0xff, 0x40][self.below(6) as usize] } else { self.next() as u8 }
        })
    }

    fn state(&mut self) -> State {
        let usual = self.one_in(2);
        let mut state = State {
            r: std::array::from_fn(|_| self.word()),
            v: std::array::from_fn(|_| self.bytes()),
            vx: self.bytes(),
            va: std::array::from_fn(|_| (self.word() as i32) << 4 >> 4),
            vc: std::array::from_fn(|_| self.next() as u32),
            a: std::array::from_fn(|_| if usual { self.next() as u32 & 0x3fff_ffff } else { self.word() }),
            c: std::array::from_fn(|_| self.next() as u16 & 0x27ff | 0x8000),
            l: std::array::from_fn(|_| self.word() as u16),
            m: std::array::from_fn(|_| self.word()),
            x: std::array::from_fn(|_| self.word()),
            uccfg: self.next() as u32 & 0x111,
            ..State::default()
        };
        for row in (0..8192).step_by(16) {
            state.data.store(Shape::Banks, row, self.bytes());
        }
        state
    }

    fn inst(&mut self, unit: Unit) -> u32 {
        let of_unit = |opcode: &&Opcode| opcode.unit() == unit;
        let count = Opcode::ALL.iter().filter(of_unit).count() as u64;
        let opcode = *Opcode::ALL.iter().filter(of_unit).nth(self.below(count) as usize).unwrap();
        Inst::random(opcode, &mut || self.next()).word()
    }

    /// Returns the instruction word of a branch to a nearby line, or of another instruction of the branch unit.
    fn branch(&mut self, lines: u32) -> u32 {
        use Opcode::*;
        let jumps = [BRA, BRA_LOOP, BRA_NOT, BRA_LOOP_NOT, CALL, CALL_LOOP, CALL_NOT, CALL_LOOP_NOT];
        match self.below(12) {
            0 => Inst::new(RET).word(),
            1 => Inst::new(EXIT).word(),
            2 => Inst::new(ABRA).with(f::ABTARG, self.below(u64::from(lines) + 1)).word(),
            3 => self.inst(Unit::Branch),
            4 => Inst::new(BNOP).word(),
            _ => {
                let jump = Inst::random(jumps[self.below(8) as usize], &mut || self.next());
                let distance = self.below(5) as i64 - 2;
                jump.with(f::BTARG, distance as u64).word()
            }
        }
    }

    /// Returns the instruction word of an access to a 32-bit word, a row or a column, through an address register that
    /// loops advance. The access itself does not advance the register.
    fn staying_access(&mut self) -> u32 {
        use Opcode::*;
        let access = [LDVH, LDVH, STVH, STVH, LDS, STS, LDVV, STVV][self.below(8) as usize];
        let access = Inst::random(access, &mut || self.next());
        let address = if matches!(access.opcode(), LDVH | LDS | LDVV) { f::SRC1 } else { f::DST };
        let access = access.with(address, self.below(4)).with(f::CDST, 7);
        if self.one_in(4) { access.word() } else { access.with(f::IMM, 0).word() }
    }

    /// Returns the words of a loop of full bundles, followed by an exit. Most of these loops count
    /// by an address register or a `$r`.
    fn loop_program(&mut self) -> Vec<u32> {
        use Opcode::*;
        let lines = 1 + self.below(4);
        let c = self.below(2);
        let zf = self.one_in(2);
        let jump = self.below(lines);
        let counts = self.below(lines + 1);
        let mut words = Vec::new();
        for line in 0..=lines {
            let step = [0, 4, 16, 16, 16, 32, 48, -16i64][self.below(8) as usize] as u64;
            let access = [LDAVH_I, LDAVH_I, STAVH_I, STAVH_I, LDAS_I, STAS_I][self.below(6) as usize];
            let access = Inst::random(access, &mut || self.next()).with(f::IMM, step).with(f::CDST, 7);
            let address = if matches!(access.opcode(), LDAVH_I | LDAS_I) { f::SRC1 } else { f::DST };
            let mut access = access.with(address, self.below(4));
            let mut scalar = if self.one_in(3) { self.inst(Unit::Scalar) } else { Inst::new(SNOP).word() };
            if line == counts % (lines + 1) {
                if zf {
                    scalar = Inst::new(SUB_RI).with(f::DST, 1).with(f::SRC1, 1).with(f::IMM, 1).with(f::CDST, c).word();
                } else {
                    access = access.with(f::CDST, c);
                }
            }
            let counts = line == counts % (lines + 1);
            let access = match self.below(8) {
                0 => self.inst(Unit::Address),
                1..4 if !counts || zf => self.staying_access(),
                _ => access.word(),
            };
            let vector = if self.one_in(6) { Inst::new(VNOP).word() } else { self.inst(Unit::Vector) };
            let branch = if line == jump {
                let slct = if zf { 1 } else { 10 };
                let back = (line as i64).wrapping_neg() as u64;
                Inst::new(BRA_NOT).with(f::COND, c).with(f::SLCT, slct).with(f::BTARG, back)
            } else {
                Inst::new(BNOP)
            };
            words.extend([access, scalar, vector, branch.word()]);
        }
        words.push(Inst::new(EXIT).word());
        words
    }

    /// Returns the words of random bundles, some of which jump to each other. About one word in `traps` may trap.
    fn program(&mut self, lines: u32, traps: u64) -> Vec<u32> {
        let jumps = 1 + self.below(4);
        let mut words = Vec::new();
        while words.len() < 4 * lines as usize {
            let word = match self.below(jumps + 6) {
                0 | 1 => self.inst(Unit::Address),
                2 | 3 => self.inst(Unit::Scalar),
                4 | 5 => self.inst(Unit::Vector),
                _ => self.branch(lines),
            };
            // A trap ends the program early, so instructions that trap must be rare.
            if self.one_in(traps) || Bundle::new(&[word]).is_ok_and(|bundle| Footprint::of(&bundle, None).is_ok()) {
                words.push(word);
            }
        }
        words
    }
}

/// Returns the address and the kind of the fault that ended a program without a watchdog.
fn known(halt: Halt) -> (usize, TrapKind) {
    match halt {
        Halt::Fault(Fault { address, kind }) => (address, kind),
        Halt::Exceeded(exceeded) => panic!("{exceeded}"),
    }
}

/// Runs a program in the interpreter and in native code, and checks that the results agree.
fn compare(seed: u64, words: &[u32], state: &State, tiles: &Tiles, budget: u64) {
    let program = Bundles::new(words);
    let groups = 3;
    let mut expected = state.clone();
    let mut interpreted = ProgramRun::new(&program, tiles, groups, budget, Work::default());
    let fault = interpreted.finish(&mut expected);

    let compiled = Compiled::new(&program, tiles.group_branch, CompileMode::State, &mut Work::default()).unwrap();
    let mut machine = Machine::new();
    machine.set(state);
    let mut run = ProgramRun::new(&program, tiles, groups, budget, Work::default());
    let found = compiled.finish(&mut machine, &mut run);
    let mut after = State::default();
    machine.get(&mut after);

    let text = || {
        let bundles = (0..program.len()).filter_map(|at| Some((at, program.get(at)?)));
        let line = |(at, (address, bundle)): (usize, &(u32, Bundle))| {
            let words: Vec<String> =
                (0..bundle.words()).map(|k| word_text(words[(address + k) as usize], address + k)).collect();
            format!("{at:3} {address:#06x} {}\n", words.join(" | "))
        };
        bundles.map(line).collect::<String>()
    };
    let fault = fault.map_err(known);
    let found = found.map_err(known);
    assert_eq!(found, fault, "seed {seed}\n{}", text());
    let counts = |run: &ProgramRun<'_>| (run.issued, run.backward, run.done);
    assert_eq!(counts(&run), counts(&interpreted), "seed {seed}\n{}", text());
    if after != expected {
        let mut differences = String::new();
        let mut differ = |name: &str, found: String, expected: String| {
            if found != expected {
                differences += &format!("{name}\n  found    {found}\n  expected {expected}\n");
            }
        };
        for n in 0..31 {
            differ(&format!("$r{n}"), format!("{:#x}", after.r[n]), format!("{:#x}", expected.r[n]));
        }
        for n in 0..32 {
            differ(&format!("$v{n}"), format!("{:02x?}", after.v[n]), format!("{:02x?}", expected.v[n]));
            differ(&format!("$a{n}"), format!("{:#x}", after.a[n]), format!("{:#x}", expected.a[n]));
        }
        differ("$va", format!("{:x?}", after.va), format!("{:x?}", expected.va));
        differ("$vx", format!("{:x?}", after.vx), format!("{:x?}", expected.vx));
        differ("$vc", format!("{:x?}", after.vc), format!("{:x?}", expected.vc));
        differ("$c", format!("{:x?}", after.c), format!("{:x?}", expected.c));
        differ("$l", format!("{:x?}", after.l), format!("{:x?}", expected.l));
        differ("$m", format!("{:x?}", after.m), format!("{:x?}", expected.m));
        differ("$x", format!("{:x?}", after.x), format!("{:x?}", expected.x));
        differ("$uccfg", format!("{:x?}", after.uccfg), format!("{:x?}", expected.uccfg));
        if after.data != expected.data {
            differences += "the data store\n";
        }
        panic!("seed {seed}: state differs\n{differences}{}", text());
    }
}

/// Returns the seeds to test. Their number is `usual`, or the value of the environment variable `HALFBYTE_RANDOM`.
fn count(usual: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("HALFBYTE_SEED").unwrap_or(0);
    first..first + number("HALFBYTE_RANDOM").unwrap_or(usual)
}

#[test]
fn random_bundles_do_what_they_do_on_the_interpreter() {
    for seed in count(1500) {
        let mut random = Random(seed);
        let words: Vec<u32> = Unit::ALL
            .into_iter()
            .filter(|_| random.one_in(2))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|unit| random.inst(unit))
            .collect();
        let Ok(bundle) = Bundle::new(&words) else { continue };
        let mut state = random.state();
        let mut expected = state.clone();
        let known = Footprint::of(&bundle, None).is_ok();
        expected.step(&bundle, |_| {});
        let done = step_bundle(&bundle, &mut state);
        assert_eq!(done.is_ok(), known);
        if state != expected {
            compare(seed, &words, &Random(seed).state(), &Tiles::default(), 0);
            let texts: Vec<String> = words.iter().map(|&word| word_text(word, 0)).collect();
            panic!("seed {seed}: {texts:?}");
        }
    }
}

#[test]
fn random_programs_do_what_they_do_on_the_interpreter() {
    for seed in count(400) {
        let mut random = Random(seed ^ 0x5eed_0000_0000);
        let lines = 1 + random.below(6) as u32;
        let words = random.program(lines, 20);
        let state = random.state();
        let group_branch = random.one_in(2).then(|| random.below(words.len() as u64) as u32);
        let tiles = Tiles { items: 1, group_branch, ..Tiles::default() };
        let budget = random.below(40);
        compare(seed, &words, &state, &tiles, budget);
    }
}

/// Code for a launch relies on the reset values of registers. At an exit it preserves only the data
/// store, and at a trap also the address registers `$a`.
#[test]
fn random_launches_do_what_they_do_on_the_interpreter() {
    let (mut divided, mut trapped) = (0, 0);
    for seed in count(400) {
        let mut random = Random(seed ^ 0x1a0c_0000_0000);
        let lines = 1 + random.below(90) as u32;
        let words = random.program(lines, 500);
        let state = random.state();
        let mut expected = State { m: state.m, data: state.data, ..State::default() };
        let group_branch = random.one_in(2).then(|| random.below(words.len() as u64) as u32);
        let tiles = Tiles { items: 1, group_branch, ..Tiles::default() };
        let (program, budget) = (Bundles::new(&words), random.below(200));
        let compiled = Compiled::new(&program, group_branch, CompileMode::Launch, &mut Work::default()).unwrap();
        let mut machine = Machine::new();
        machine.set(&expected);
        let (mut interpreted, mut run) = (
            ProgramRun::new(&program, &tiles, 3, budget, Work::default()),
            ProgramRun::new(&program, &tiles, 3, budget, Work::default()),
        );
        let fault = interpreted.finish(&mut expected).map_err(known);
        let found = compiled.finish(&mut machine, &mut run).map_err(known);
        assert_eq!(found, fault, "seed {seed}");
        let counts = |run: &ProgramRun<'_>| (run.issued, run.backward, run.done);
        assert_eq!(counts(&run), counts(&interpreted), "seed {seed}");
        let mut after = State::default();
        machine.get(&mut after);
        assert!(after.data == expected.data, "seed {seed}: the data store differs");
        assert!(fault.is_ok() || after.a == expected.a, "seed {seed}: $a differs");
        divided += usize::from(compiled.translation.functions > 1);
        trapped += usize::from(fault.is_err());
    }
    assert!(divided > 0 && trapped > 0, "{divided} {trapped}");
}

#[test]
fn random_loops_do_what_they_do_on_the_interpreter() {
    let mut counted = 0;
    for seed in count(400) {
        let mut random = Random(seed ^ 0x1009_0000_0000);
        let words = random.loop_program();
        let mut state = random.state();
        for a in &mut state.a {
            let row = random.below(512) as u32 * 16;
            if !random.one_in(8) {
                *a = *a & 0x3fff_0000 | row;
            }
        }
        state.r[1] = if random.one_in(4) { random.word() } else { random.below(40) as u32 };
        let group_branch = random.one_in(2).then(|| random.below(words.len() as u64) as u32);
        let tiles = Tiles { items: 1, group_branch, ..Tiles::default() };
        let program = Bundles::new(&words);
        let graph = Graph::new(&program, group_branch);
        counted += usize::from(Loop::at(&program, &graph, 0).is_some());
        for at in (0..graph.len()).filter(|&at| graph.is_leader(at)) {
            let backward = |from: &u32| matches!(graph.flow(*from), Flow::Jump { to, .. } if to == at && to <= *from);
            let from = (0..graph.len()).find(backward);
            assert!(
                from.is_none() || graph.is_entry(at),
                "seed {seed}: a slice that ends at {from:?} is not gone on with"
            );
        }
        let budget = if random.one_in(3) { random.below(40) } else { 2000 };
        compare(seed, &words, &state, &tiles, budget);
    }
    assert!(counted > 0, "no loop counts");
}

/// Returns the words of a loop that loads rows and accumulates their products, followed by an exit.
/// The loads and the product are in either order.
fn product_program(random: &mut Random) -> Vec<u32> {
    use Opcode::*;
    let lines = 2 + random.below(3);
    let zf = random.one_in(2);
    let jump = random.below(lines);
    let product = random.below(lines + 1);
    let opcode = [VMAC_S_RR_VA, VMAC_U_RR_VA][random.below(2) as usize];
    let mut words = Vec::new();
    for line in 0..=lines {
        // Two loads of the same register are rare, and most loads advance their address register by one row.
        let load = Inst::random(LDAVH_I, &mut || random.next()).with(f::DST, line).with(f::SRC1, random.below(2));
        let load = load.with(f::IMM, if random.one_in(12) { 32 } else { 16 });
        let mut access = load.with(f::CDST, if !zf && line == 0 { 0 } else { 7 }).word();
        if line > 1 && random.one_in(2) {
            access = Inst::new(ANOP).word();
        }
        let mut scalar = Inst::new(SNOP).word();
        if zf && line == lines - 1 {
            scalar = Inst::new(SUB_RI).with(f::DST, 1).with(f::SRC1, 1).with(f::IMM, 1).with(f::CDST, 0).word();
        }
        let mut vector = Inst::new(VNOP).word();
        if line == product {
            let inst = Inst::random(opcode, &mut || random.next());
            vector = inst.with(f::SRC1, random.below(2)).with(f::SRC2, random.below(2)).word();
        }
        let branch = if line == jump {
            let back = (line as i64).wrapping_neg() as u64;
            Inst::new(BRA_NOT).with(f::COND, 0).with(f::SLCT, if zf { 1 } else { 10 }).with(f::BTARG, back)
        } else {
            Inst::new(BNOP)
        };
        words.extend([access, scalar, vector, branch.word()]);
    }
    words.push(Inst::new(EXIT).word());
    words
}

#[test]
fn loops_of_products_do_what_they_do_on_the_interpreter() {
    let (mut loops, mut added_up) = (0, 0);
    for seed in count(400) {
        let mut random = Random(seed ^ 0xd075_0000_0000);
        let words = product_program(&mut random);
        let mut state = random.state();
        for a in &mut state.a {
            *a = 0x1ff0_0000 + random.below(300) as u32 * 16;
        }
        state.r[1] = random.below(60) as u32;
        let tiles = Tiles { items: 1, group_branch: None, ..Tiles::default() };
        let program = Bundles::new(&words);
        let graph = Graph::new(&program, None);
        let found = Loop::at(&program, &graph, 0);
        loops += usize::from(found.is_some());
        added_up += usize::from(found.is_some_and(|found| found.rows.is_some()));
        compare(seed, &words, &state, &tiles, 2000);
    }
    assert!(added_up > 200, "{added_up} of {loops} loops");
}
