//! Comparison of the PTX parser and printer with NVIDIA's `ptxas`. `ptxas` must accept every
//! printed instruction, and every variant at the PTX version of its row. `ptxas` must accept
//! exactly the orders of modifiers that the parser accepts.

use std::collections::{BTreeMap, HashSet};
use std::num::NonZero;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use halfbyte_abi::Sm;
use halfbyte_isa::ptx::module::{Entry, Functions, Kernel, Module, TargetName, Variables};
use halfbyte_isa::ptx::row::Row;
use halfbyte_isa::ptx::text::{inst_text, read};
use halfbyte_isa::ptx::types::{Suffix, Token};
use halfbyte_isa::ptx::{Inst, Opcode, Operand};

use crate::ptx_text::{SM_90, SM_120F, instructions};
use crate::random::Random;

#[test]
fn ptxas_accepts_every_instruction() {
    let Some(ptxas) = crate::ptx::ptxas() else { return };
    for (version, target) in [
        ((9, 2), SM_120F),
        ((8, 8), SM_90),
        ((8, 8), TargetName { sm: 80, suffix: None }),
        ((6, 5), TargetName { sm: 75, suffix: None }),
    ] {
        let mut entry = crate::ptx::empty_entry_of(version);
        let probe = Module {
            version,
            target,
            variables: Variables::default(),
            functions: Functions::default(),
            entries: Vec::new(),
        };
        for &opcode in Opcode::ALL {
            let mut insts = instructions(opcode, 12);
            insts.retain(|inst| probe.provides(inst.since()));
            insts.retain(|inst| !crate::ptx::is_of_a_call(inst));
            insts.iter_mut().for_each(crate::ptx::make_assemblable);
            entry.body.insts.extend(insts);
        }
        let insts = std::mem::take(&mut entry.body.insts);
        let refused = refused_of(&ptxas, (version, target), &entry, insts);
        assert!(refused.is_empty(), "{target}:\n{}", refused.join("\n"));
    }
}

/// Returns `true` if the opcode is a memory access of 32 bytes.
fn is_wide(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::LD_WIDE
            | Opcode::LD_ORDERED_WIDE
            | Opcode::LD_VOLATILE_WIDE
            | Opcode::LD_NC_WIDE
            | Opcode::ST_WIDE
            | Opcode::ST_ORDERED_WIDE
            | Opcode::ST_VOLATILE_WIDE
    )
}

/// Returns `true` if the instruction loads eight elements into wider registers, on which ptxas 13.5 crashes.
fn crashes_ptxas(inst: &Inst, entry: &Entry) -> bool {
    let is_wider = |reg| entry.body.registers.ty(reg).is_some_and(|ty| ty.bits() > inst.ty(0).bits());
    let vector = inst.operands.iter().filter(|operand| matches!(operand, Operand::Vector(_)));
    inst.has(Token::V8) && vector.flat_map(Operand::registers).any(is_wider)
}

/// Returns the errors that `ptxas` reports for the instructions. ptxas 13.5 crashes on kernels with
/// many 32-byte accesses. Therefore, a kernel contains at most four such instructions. If ptxas
/// crashes on a kernel, the two halves of its instructions are assembled separately.
fn refused_of(ptxas: &Path, (version, target): ((u8, u8), TargetName), empty: &Entry, insts: Vec<Inst>) -> Vec<String> {
    let taken = insts.into_iter().filter(|inst| !crashes_ptxas(inst, empty));
    let (wide, plain): (Vec<Inst>, Vec<Inst>) = taken.partition(|inst| is_wide(inst.opcode));
    let kernels = wide.chunks(4).map(<[Inst]>::to_vec).chain([plain]);
    let mut kernels: Vec<Vec<Inst>> = kernels.collect();
    let mut all = Vec::new();
    while let Some(mut insts) = kernels.pop() {
        let module = crate::ptx::module(version, target, with(empty, insts.clone()));
        let errors = refused(ptxas, &module);
        if insts.len() > 1 && errors.iter().any(|error| error.contains("signal: 11")) {
            kernels.push(insts.split_off(insts.len() / 2));
            kernels.push(insts);
        } else {
            all.extend(errors);
        }
    }
    all
}

/// Returns the errors that `ptxas` reports for a module: the first error for each mnemonic, with its instruction.
fn refused(ptxas: &Path, module: &Module) -> Vec<String> {
    let text = module.to_string();
    let Err(said) = crate::ptx::assemble(ptxas, module.target, &text) else { return Vec::new() };
    let lines: Vec<&str> = text.lines().collect();
    let mut shown = BTreeMap::new();
    for line in said.lines().filter(|line| !line.contains("info ")) {
        let number = line.split("line ").nth(1).and_then(|rest| rest.split(';').next()?.parse::<usize>().ok());
        let inst = number.and_then(|n| lines.get(n - 1)).copied().unwrap_or("");
        let mnemonic = inst.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or("");
        shown.entry(mnemonic).or_insert_with(|| format!("{inst}\n    {line}"));
    }
    shown.into_values().collect()
}

/// Returns every combination of modifiers that is valid for a row.
fn modifier_combinations(row: &Row) -> Vec<Vec<Token>> {
    row.slots
        .iter()
        .fold(vec![Vec::new()], |all, slot| {
            let with = |words: &Vec<Token>| {
                let left_out = slot.optional.then(|| words.clone());
                let chosen = slot.choices.iter().map(|choice| [words.as_slice(), &[choice.token]].concat());
                left_out.into_iter().chain(chosen).collect::<Vec<_>>()
            };
            all.iter().flat_map(with).collect()
        })
        .into_iter()
        .filter(|words| row.fit(words).is_ok())
        .collect()
}

/// Returns a copy of the kernel `empty` with these instructions.
fn with(empty: &Entry, insts: Vec<Inst>) -> Entry {
    let mut entry = empty.clone();
    entry.body.insts = insts;
    entry
}

/// The parts of a module's header that depend on requirements: the PTX version and the target suffix.
type Header = ((u8, u8), Option<Suffix>);

/// Assembles every instruction on each SM, with a sample of its modifier combinations that differs between SMs. The
/// module has exactly the PTX version that the row requires. If the row's version is too low, `ptxas` reports an error.
#[test]
fn ptxas_accepts_every_variant_at_its_ptx_version() {
    let Some(ptxas) = crate::ptx::ptxas() else { return };
    let (left, count, wrong) = (Mutex::new(Sm::ALL.iter()), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                loop {
                    let Some(&sm) = left.lock().unwrap().next() else { break };
                    let (taken, said) = refused_on(&ptxas, sm);
                    count.fetch_add(taken, Ordering::Relaxed);
                    wrong.lock().unwrap().extend(said);
                }
            });
        }
    });
    let (count, wrong) = (count.into_inner(), wrong.into_inner().unwrap());
    println!("{count} forms");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 10_000, "{count}");
}

/// Returns the number of instructions that `ptxas` assembled for an SM, and the errors that it reported.
fn refused_on(ptxas: &Path, sm: Sm) -> (usize, Vec<String>) {
    let empty = crate::ptx::empty_entry();
    let (mut random, mut count, mut wrong) = (Random(21 + u64::from(sm.number())), 0, Vec::new());
    let mut by_header: BTreeMap<Header, Vec<Inst>> = BTreeMap::new();
    for &opcode in Opcode::ALL {
        // If the hardware lacks a matrix instruction, `ptxas` generates hundreds of other instructions for it.
        let is_long = matches!(opcode.row().mnemonic, "mma" | "wmma" | "wgmma");
        let most = match (is_wide(opcode), is_long) {
            (_, true) => 4,
            (true, _) => 12,
            _ => 100,
        };
        for words in some_of(modifier_combinations(opcode.row()), most, &mut random) {
            let mut inst = Inst::random_of(opcode, &words, &empty, &mut || random.next()).unwrap();
            if !inst.since().is_supported_by(sm) || crate::ptx::is_of_a_call(&inst) {
                continue;
            }
            crate::ptx::make_assemblable(&mut inst);
            let Kernel { version, target, .. } = Kernel::for_sm(sm, with(&empty, vec![inst.clone()]));
            by_header.entry((version, target.suffix)).or_default().push(inst);
        }
    }
    for ((version, suffix), insts) in by_header {
        count += insts.len();
        let target = TargetName { sm: sm.number(), suffix };
        let said = refused_of(ptxas, (version, target), &crate::ptx::empty_entry_of(version), insts);
        wrong.extend(said.into_iter().map(|said| format!("{version:?} {target}: {said}")));
    }
    (count, wrong)
}

/// Returns a random sample of at most `most` modifier combinations. Memory accesses have more
/// combinations than `ptxas` can assemble in a minute.
fn some_of(mut forms: Vec<Vec<Token>>, most: usize, random: &mut Random) -> Vec<Vec<Token>> {
    while forms.len() > most {
        forms.swap_remove(random.next() as usize % forms.len());
    }
    forms
}

/// The parser and `ptxas` must accept the same orders of modifiers. The test moves each modifier to
/// each other position, in a sample of every row's combinations.
#[test]
fn accepts_the_modifier_orders_of_ptxas() {
    let Some(ptxas) = crate::ptx::ptxas() else { return };
    let sm = *Sm::ALL.iter().find(|sm| sm.number() == 120).unwrap();
    let (version, target) = ((9, 5), TargetName { sm: sm.number(), suffix: Some(Suffix::Family) });
    let empty = crate::ptx::empty_entry_of(version);
    let module = crate::ptx::module(version, target, empty.clone()).to_string();
    let (before, after) = module.rsplit_once("\n}").unwrap();
    let (mut random, mut lines) = (Random(5), Vec::new());
    for &opcode in Opcode::ALL {
        let mnemonic = opcode.row().mnemonic;
        // The test omits instructions for which `ptxas` accepts more orders of modifiers than the
        // parser. It also omits 32-byte accesses, on which `ptxas` crashes.
        let is_apart = matches!(mnemonic, "createpolicy" | "movmatrix" | "mma" | "wmma" | "ldmatrix" | "stmatrix")
            || opcode == Opcode::FENCE_PROXY_ASYNC
            || is_wide(opcode);
        for words in some_of(modifier_combinations(opcode.row()), if is_apart { 0 } else { 6 }, &mut random) {
            let mut inst = Inst::random_of(opcode, &words, &empty, &mut || random.next()).unwrap();
            if !inst.since().is_supported_by(sm) || crate::ptx::is_of_a_call(&inst) {
                continue;
            }
            crate::ptx::make_assemblable(&mut inst);
            inst.guard = None;
            let text = inst_text(&inst, &empty);
            let operands = text.trim().split_once(' ').map_or(";", |(_, operands)| operands);
            for (from, to) in (0..words.len()).flat_map(|from| (0..words.len()).map(move |to| (from, to))) {
                let mut moved = words.clone();
                let word = moved.remove(from);
                moved.insert(to, word);
                let moved: String = moved.iter().map(Token::to_string).collect();
                lines.push(format!("{mnemonic}{moved} {operands}"));
            }
        }
    }
    lines.sort();
    lines.dedup();
    let mut differ = Vec::new();
    for lines in lines.chunks(400) {
        // The line `nothing;` is a syntax error. After it, `ptxas` does not report errors about addresses.
        let text = format!("{before}\n{}\nnothing;\n}}{after}", lines.join("\n"));
        let said = crate::ptx::assemble(&ptxas, target, &text).err().unwrap_or_default();
        let number = |line: &str| line.split("line ").nth(1)?.split(';').next()?.parse::<usize>().ok();
        let refused: HashSet<usize> = said.lines().filter(|line| line.contains("error")).filter_map(number).collect();
        for (number, line) in (before.lines().count() + 1..).zip(lines) {
            let is_read = read(&format!("{before}\n{line}\n}}{after}")).is_ok();
            if is_read == refused.contains(&number) {
                differ.push(format!("{line} ({})", if is_read { "read here" } else { "taken there" }));
            }
        }
    }
    assert!(lines.len() > 3000, "{} lines", lines.len());
    assert!(differ.is_empty(), "{} of {}\n{}", differ.len(), lines.len(), differ.join("\n"));
}
