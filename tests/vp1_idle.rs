//! Tests that VP1 code contains no redundant instructions. The compiled examples and witnesses must not contain an
//! instruction that never changes a register, or a computation that only copies a register.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use halfbyte::ir::witness::{Random, witnesses};
use halfbyte::isa::vp1::fields::{DST, SRC1};
use halfbyte::isa::vp1::state::{Location, State};
use halfbyte::isa::vp1::{Bundle, Inst, Opcode, Unit, assemble, word_text};
use halfbyte::pipeline::{Options, compile};
use halfbyte::{Module, VP1};

use crate::common::root;
use crate::support::{with_passes, without_passes};

/// Opcodes of the move instructions `mov $r1 $r2` and `mov $v1 $v2`.
const MOVES: [Opcode; 2] = [Opcode::OR_RI, Opcode::MOV_V];

/// Returns `true` for a nop, which fills a delay slot or separates bundles.
fn is_nop(inst: &Inst) -> bool {
    inst.row().mnemonic.ends_with("nop")
}

/// Returns processor states in which each bit has both values, and each register has its smallest and largest values.
fn states() -> Vec<State> {
    (1..=48).map(random_state).collect()
}

/// Returns a state of random bits for an odd seed, and of limit values and small numbers for an even seed.
fn random_state(seed: u64) -> State {
    let mut random = Draw { random: Random(seed), edges: seed.is_multiple_of(2) };
    let mut state = State::default();
    state.r.iter_mut().for_each(|r| *r = random.bits() as u32);
    state.c.iter_mut().for_each(|c| *c = random.bits() as u16);
    state.vc.iter_mut().for_each(|vc| *vc = random.bits() as u32);
    state.va.iter_mut().for_each(|lane| *lane = random.bits() as i32 >> 4);
    state.v.iter_mut().chain([&mut state.vx]).flatten().for_each(|byte| *byte = random.bits() as u8);
    state
}

struct Draw {
    random: Random,
    edges: bool,
}

impl Draw {
    fn bits(&mut self) -> u64 {
        let bits = self.random.bits();
        let edges = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_ff80];
        match bits >> 32 & 3 {
            _ if !self.edges => bits,
            0 => bits & 0xff,
            1 => (bits as i8) as u64,
            _ => edges[bits as usize % edges.len()],
        }
    }
}

/// Returns the reason why an instruction is redundant, or `None` if it is not.
fn redundancy(word: u32, states: &[State]) -> Option<String> {
    let inst = Inst::decode(word)?;
    if !matches!(inst.unit(), Unit::Scalar | Unit::Vector) || is_nop(&inst) {
        return None;
    }
    let bundle = Bundle::new(&[word]).unwrap();
    let (mut changes, mut writes) = (false, false);
    // Registers whose value equals the result in all states so far.
    let mut copied: Option<BTreeSet<String>> = None;
    for before in states {
        let (mut after, mut written) = (before.clone(), BTreeSet::new());
        after.step(&bundle, |location| _ = written.insert(location));
        let same: BTreeSet<String> = match written.into_iter().collect::<Vec<_>>()[..] {
            [Location::R(n)] => {
                let value = after.r.get(usize::from(n)).copied().unwrap_or(0);
                changes |= before.r.get(usize::from(n)).is_some_and(|&old| old != value);
                (0..).zip(before.r).filter(|(_, old)| *old == value).map(|(n, _)| format!("$r{n}")).collect()
            }
            [Location::V(n)] => {
                let value = after.v[usize::from(n)];
                changes |= before.v[usize::from(n)] != value;
                (0..).zip(before.v).filter(|(_, old)| *old == value).map(|(n, _)| format!("$v{n}")).collect()
            }
            // The instruction only affects other instructions of its bundle.
            [] => continue,
            _ => return None,
        };
        writes = true;
        copied = Some(match copied {
            None => same,
            Some(before) => before.intersection(&same).cloned().collect(),
        });
    }
    if !writes {
        return None;
    }
    if !changes {
        return Some("changes nothing".into());
    }
    let from = copied.and_then(|registers| registers.into_iter().next())?;
    (!MOVES.contains(&inst.opcode())).then(|| format!("only copies {from}"))
}

/// Redundant instructions in compiled modules, each with the kernel that contains it.
struct Scan {
    states: Vec<State>,
    words: usize,
    known: BTreeMap<u32, Option<String>>,
    found: BTreeMap<String, String>,
}

impl Scan {
    fn new() -> Scan {
        Scan { states: states(), words: 0, known: BTreeMap::new(), found: BTreeMap::new() }
    }

    fn module(&mut self, text: &str, options: &Options, name: &str) {
        let Ok(module) = Module::parse(text) else { return };
        for kernel in &module.ir().kernels {
            let Ok(binary) = compile(&module, std::slice::from_ref(kernel), options, &mut |_| {}) else { continue };
            for word in binary.code.iter().flat_map(|code| code.words.iter()) {
                self.words += 1;
                let word = u32::try_from(word).unwrap();
                let idle = self.known.entry(word).or_insert_with(|| redundancy(word, &self.states));
                if let Some(why) = idle {
                    let entry = self.found.entry(format!("{}: {why}", word_text(word, 0)));
                    entry.or_insert_with(|| format!("@{} of {name}", kernel.name));
                }
            }
        }
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "hb") {
            found.push(path);
        }
    }
}

#[test]
fn vp1_code_has_no_redundant_instructions() {
    let mut scan = Scan::new();
    let mut paths = Vec::new();
    ["examples", "tests/files"].into_iter().for_each(|folder| files(&root().join(folder), &mut paths));
    paths.sort();
    for path in &paths {
        if let Ok(text) = fs::read_to_string(path) {
            scan.module(&text, &with_passes(VP1), &path.display().to_string());
        }
    }
    for rule in halfbyte::TARGETS.rules(VP1) {
        for witness in rule.checks.iter().flat_map(|check| witnesses(check).unwrap()) {
            for options in [with_passes(VP1), without_passes(VP1)] {
                scan.module(&witness.text, &options, &format!("`prove vp1::{}`", rule.name));
            }
        }
    }
    assert!(scan.words > 50_000, "{} words", scan.words);
    assert!(scan.found.is_empty(), "{:#?}", scan.found);
}

/// The scan recognises redundant instructions.
#[test]
fn idle_words_are_recognised() {
    let states = states();
    let moved = Inst::new(Opcode::OR_RI).with(DST, 18).with(SRC1, 19).word();
    assert_eq!(redundancy(moved, &states), None);
    let itself = Inst::new(Opcode::OR_RI).with(DST, 18).with(SRC1, 18).word();
    assert_eq!(redundancy(itself, &states).as_deref(), Some("changes nothing"));
    let word = |text: &str| *assemble(text).unwrap().words.first().unwrap();
    for (text, why) in [
        ("shr $r19 $r19 0x0", "changes nothing"),
        ("or $r3 $r3 0x0", "changes nothing"),
        ("add $r3 $r3 0x0", "changes nothing"),
        ("mov $v3 $v3", "changes nothing"),
        ("shr $r18 $r19 0x0", "only copies $r19"),
        ("add $r18 $r4 0x0", "only copies $r4"),
        ("xor $r18 $r4 0x0", "only copies $r4"),
        ("and $r18 $r4 -0x1", "only copies $r4"),
        ("vadd s $v1 $v2 0x0", "only copies $v2"),
        ("vor $v1 $v2 $v2", "only copies $v2"),
    ] {
        assert_eq!(redundancy(word(text), &states).as_deref(), Some(why), "{text}");
    }
    for text in
        ["mov $v1 $v2", "shr $r19 $r19 0x1", "add $r18 $c0 $r4 0x0", "snop", "vsub u $v1 $v2 $v3", "max $r1 $r1 0x0"]
    {
        assert_eq!(redundancy(word(text), &states), None, "{text}");
    }
}
