//! Runs operations of a dataflow in gangs.
#![allow(clippy::unwrap_used)]

use halfbyte_isa::halu::Word;
use halfbyte_isa::halu::assemble;

use super::lower::{Facts, Lower};
use super::{Block, Cell, End, Function, ITEMS, Node, Target};
use crate::clif::NativeBuilder;
use crate::jit::{Cells, Dataflow, Front, Gang, Id, Kernel, Op, Shape, Unit, Words};
use crate::x86::emit::{Code, emit};

/// Returns the function that computes two words from the first cells and writes them to the last cells; `None` if an
/// operation has no form in vectors.
fn function<const N: usize>(
    has_fp16: bool,
    compute: impl FnOnce(&mut Dataflow, [Id; N]) -> [Id; 2],
) -> Option<Function> {
    let words: Vec<Word> = assemble("EXIT ;").unwrap().words.into_iter().map(Word::decode).collect();
    let front = &Words { words: &words, constant_bytes: 0, local_bytes: 0 };
    let kernel = Kernel {
        sizes: &[],
        front,
        pointers: &[],
        specials: &[],
        groups: None,
        shared_bytes: 0,
        scratch_bytes: 0,
        scratch_start: 0,
    };
    let blocks = front.blocks();
    let mut cells = Cells::default();
    let gang = Gang::new(&kernel, &blocks, &mut cells, true).unwrap();
    let mut dataflow = Dataflow::default();
    let operands = [(); N].map(|()| {
        let cell = cells.add(false);
        dataflow.push(Op::Input(cell), &[], Shape::Varying)
    });
    let results = compute(&mut dataflow, operands);
    let unit = Unit {
        dataflow,
        finals: Vec::new(),
        reads: Vec::new(),
        kills: Vec::new(),
        condition: None,
        assumed: Vec::new(),
        dead: false,
    };
    let facts = Facts {
        gang: &gang,
        cells: &cells,
        blocks: &blocks,
        known: &[],
        param: &|_, _, _| None,
        pointers: &[],
        stored: &[],
        budget: 0,
        has_fp16,
        hoists: true,
    };
    let mut lower = Lower::new(&facts, &unit);
    lower.enter(0, &unit, None, Default::default());
    let first = lower.function.cells;
    for (number, id) in (first..).zip(results) {
        let value = lower.value(id)?;
        lower.b.push(Node::SetCell(Cell(number), value));
    }
    let mut function = lower.function;
    function.cells += 2;
    function.blocks.push(Block { nodes: std::mem::take(&mut lower.b).nodes, end: End::Jump(Target::Done) });
    Some(function)
}

/// Runs an operation on cases of `N` words, a gang at a time. Returns its two results for each; `None` if it has no form
/// in vectors.
pub(crate) fn results<const N: usize>(
    has_fp16: bool,
    compute: impl FnOnce(&mut Dataflow, [Id; N]) -> [Id; 2],
    cases: &[[u32; N]],
) -> Option<Vec<[u32; 2]>> {
    let function = function(has_fp16, compute)?;
    let Code { bytes, table } = emit(&function).unwrap();
    let mut builder = NativeBuilder::new().unwrap();
    let id = builder.define_code(&bytes).unwrap();
    let code = builder.finish().unwrap();
    let address = code.address(id).unwrap();
    // SAFETY: the code is that of a function of gangs.
    let run = unsafe { std::mem::transmute::<*const u8, unsafe extern "sysv64" fn(*mut u32, usize) -> usize>(address) };
    // The function has neither inputs nor rows, so that its table begins with the cells.
    let mut memory = vec![0u32; table as usize / 4 + 8];
    let start = memory.as_ptr().align_offset(32);
    let items = ITEMS as usize;
    let mut results = Vec::new();
    for gang in cases.chunks(items) {
        let cells = &mut memory[start..];
        for (item, case) in gang.iter().enumerate() {
            for (cell, &word) in case.iter().enumerate() {
                cells[items * cell + item] = word;
            }
        }
        // SAFETY: the table has the bytes that the code names.
        let done = unsafe { run(cells.as_mut_ptr(), items) };
        assert_eq!(done, items);
        let first = items * (function.cells as usize - 2);
        results.extend((0..gang.len()).map(|item| [cells[first + item], cells[first + items + item]]));
    }
    Some(results)
}
