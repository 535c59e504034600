//! Comparison of kernels on the interpreter with the same kernels as native code.

use std::num::NonZero;

use halfbyte::abi::{Direction, ParamKind};
use halfbyte::emit::{KernelCode, write_object};
use halfbyte::isa::halu::{Inst, Opcode, assemble};
use halfbyte::isa::object::{Header, Loc};
use halfbyte::runtime::{Arg, Engine, Kernel, Launch, LaunchError, Program, Stats};

/// Number of items of a large launch. Native code executes fewer items at the same time.
const ITEMS: u32 = 70;
/// Size in bytes of each buffer argument.
const BYTES: usize = 1 << 11;
/// Maximum number of backward branches that an item may take.
const BUDGET: u64 = 16;
/// Maximum number of instruction words of a kernel. The translation of longer kernels takes too long.
const WORDS: usize = 400;

const THREADS: Engine = Engine::Jit { threads: NonZero::new(4).unwrap() };

/// The result of a launch, with the contents of the buffers after it.
#[derive(PartialEq, Debug)]
struct Outcome {
    result: Result<Stats, LaunchError>,
    buffers: Vec<Vec<u8>>,
}

/// Launches the kernel with `items` items. The buffers begin `offset` bytes after an aligned address.
fn launch(kernel: &Kernel, engine: Engine, items: u32, buffers: &[Vec<u8>], offset: usize) -> Outcome {
    let given = kernel.signature().given();
    let mut memory: Vec<Vec<u8>> = buffers.iter().map(|bytes| [vec![0; offset], bytes.clone()].concat()).collect();
    let mut args: Vec<Arg<'_>> = given
        .iter()
        .zip(&mut memory)
        .map(|(param, bytes)| match param.kind {
            ParamKind::Scalar(_) => Arg::Scalar(1),
            ParamKind::Buffer { .. } => Arg::Buffer(&mut bytes[offset..]),
        })
        .collect();
    let result = kernel.launch(Launch { budget: BUDGET, engine, ..Launch::new(items, &mut args) });
    Outcome { result, buffers: memory.into_iter().map(|bytes| bytes[offset..].to_vec()).collect() }
}

/// Returns the initial contents of each buffer argument. The contents are empty for a scalar.
fn buffers(kernel: &Kernel) -> Vec<Vec<u8>> {
    let bytes = |param: &halfbyte::abi::Param| match param.kind {
        ParamKind::Scalar(_) => Vec::new(),
        ParamKind::Buffer { elem, .. } => {
            let size = (elem.bytes() as usize).max(1);
            (0..BYTES / size * size).map(|at| (at as u8).wrapping_mul(37) ^ (at >> 8) as u8).collect()
        }
    };
    kernel.signature().given().iter().map(bytes).collect()
}

/// Runs a kernel on the interpreter and as native code, on one thread and on several. One launch
/// has one item. If the items are independent, a second launch has many items. Panics if buffers,
/// statistics or traps differ.
pub fn agree(program: &Program, kernel: &Kernel, offset: usize) {
    if kernel.words().len() > WORDS {
        return;
    }
    let before = buffers(kernel);
    let halu = program.header().target == halfbyte::HALU;
    for items in [1, ITEMS] {
        let expected = launch(kernel, Engine::Interp, items, &before, 0);
        for engine in [Engine::JIT, THREADS] {
            // On VP1, tiles on different threads do not see each other's stores.
            if !halu && engine == THREADS && is_updated(kernel) {
                continue;
            }
            let found = launch(kernel, engine, items, &before, offset);
            let is_same = match (&expected.result, &found.result) {
                // After a trap the contents of the buffers are undefined.
                (Err(expected), Err(found)) => expected == found,
                _ => expected == found,
            };
            if !is_same && (items == 1 || !halu || is_independent(program, kernel, items, &before)) {
                panic!(
                    "{engine:?}, {items} items: {:?} for {:?}, buffers {}\n{}",
                    found.result,
                    expected.result,
                    if found.buffers == expected.buffers { "agree" } else { "differ" },
                    kernel.words().disassemble()
                );
            }
        }
    }
}

/// Returns `true` if a buffer may be both read and written.
fn is_updated(kernel: &Kernel) -> bool {
    let mut kinds = kernel.signature().given().iter().map(|param| param.kind);
    kinds.any(|kind| matches!(kind, ParamKind::Buffer { direction: Direction::InOut, .. }))
}

/// Returns `true` if the items of a HALU kernel are independent. Each item must behave the same on
/// the memory before the launch and on the memory after the stores of all items. Only then is the
/// result the same in every order of the items.
fn is_independent(program: &Program, kernel: &Kernel, items: u32, before: &[Vec<u8>]) -> bool {
    let Some(halfbyte::isa::halu::HaluCode(words)) = kernel.words().downcast_ref() else { return true };
    // An item can see another item's registers through a uniform register.
    let is_shared = |&word: &u128| Inst::decode(word).is_some_and(|inst| inst.opcode() == Opcode::R2UR);
    if words.iter().any(is_shared) {
        return false;
    }
    let alone: Vec<Program> = (0..items).filter_map(|item| only(program, kernel, words, item)).collect();
    if alone.len() != items as usize {
        return false;
    }
    let run = |program: &Program, memory: &[Vec<u8>]| {
        program.kernels().first().map(|kernel| launch(kernel, Engine::Interp, items, memory, 0))
    };
    let first: Option<Vec<Outcome>> = alone.iter().map(|program| run(program, before)).collect();
    let Some(first) = first else { return false };
    // `after` combines the stores of all items. No two items may write the same byte.
    let mut after = before.to_vec();
    let mut writers: Vec<Vec<Option<usize>>> = before.iter().map(|bytes| vec![None; bytes.len()]).collect();
    for (item, outcome) in first.iter().enumerate() {
        for (number, bytes) in outcome.buffers.iter().enumerate() {
            for (at, &byte) in bytes.iter().enumerate().filter(|&(at, &byte)| byte != before[number][at]) {
                if writers[number][at].replace(item).is_some() {
                    return false;
                }
                after[number][at] = byte;
            }
        }
    }
    alone.iter().zip(&first).all(|(program, outcome)| {
        let again = run(program, &after);
        let is_same = |again: &Outcome| match (&again.result, &outcome.result) {
            (Ok(_), Ok(_)) => again.buffers == after,
            (Err(again), Err(before)) => again.to_string() == before.to_string(),
            _ => false,
        };
        again.as_ref().is_some_and(is_same)
    })
}

/// Returns a program that executes the kernel only for the item with index `item`.
fn only(program: &Program, kernel: &Kernel, words: &[u128], item: u32) -> Option<Program> {
    let head = format!(
        "S2R R254, SR_ITEM ;\nLOP3 R254, R254, {item:#x}, RZ, 0x3c ;\nISETP.GT.U32.AND P6, PT, R254, 0x0 ;\n\
         @P6 EXIT ;\nMOV R254, RZ ;\n"
    );
    let mut all = assemble(&head).expect("it is assembly").words;
    all.extend_from_slice(words);
    let code = KernelCode {
        info: kernel.info().clone(),
        locs: vec![Loc::default(); all.len()],
        words: halfbyte::isa::halu::HaluCode(all).into(),
        parts: Vec::new(),
        stats: Vec::new(),
    };
    load(program.header(), code)
}

/// Returns a program with one kernel, or `None` if its object is rejected.
pub fn load(header: &Header, code: KernelCode) -> Option<Program> {
    halfbyte::TARGETS.load(&write_object(header, &[code]).ok()?).ok()
}
