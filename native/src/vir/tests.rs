//! Functions that run an operation of a dataflow in gangs.
#![allow(clippy::unwrap_used)]

use halfbyte_isa::halu::Word;
use halfbyte_isa::halu::assemble;

use super::lower::{Facts, Lower};
use super::{Binary, Block, End, Function, Input, Node, RowCheck, Target, Value};
use crate::jit::{Cells, Dataflow, Front, Gang, Id, Kernel, Op, Shape, Unit, Words};

/// Returns the function that computes two words of each item from `N` words. Each word has its own buffer.
/// Returns `None` if an operation has no form in vectors.
pub(crate) fn function<const N: usize>(
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
    let blocks = front.blocks(1);
    let mut cells = Cells::default();
    let gang = Gang::new(&kernel, &blocks, &mut cells).unwrap();
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
    for operand in 0..N {
        let row = row(&mut lower, operand);
        let loaded = lower.b.push(Node::LoadRow(row, 0));
        lower.b.let_cell(super::Cell(operand as u32), loaded);
    }
    let results: Vec<Value> = results.into_iter().map(|id| lower.value(id)).collect::<Option<_>>()?;
    for (number, value) in (N..).zip(results) {
        let row = row(&mut lower, number);
        lower.b.push(Node::StoreRow(row, 0, value));
    }
    let mut function = lower.function;
    function.blocks.push(Block { nodes: std::mem::take(&mut lower.b).nodes, end: End::Jump(Target::Done) });
    Some(function)
}

/// Checks the row of the words in a buffer.
fn row(lower: &mut Lower<'_>, number: usize) -> super::Row {
    let first = lower.b.push(Node::First);
    let steps = lower.b.steps(1);
    let offset = lower.b.words(Binary::Add, first, steps);
    let buffer = [lower.input(Input::Start(number)), lower.input(Input::Bytes(number))];
    let check = RowCheck { buffer, scale: 4, signed: false, displacement: 0, stride: 4, bytes: 4, align: 4 };
    let row = lower.row();
    lower.b.push(Node::CheckRow { row, offset, base: None, check });
    row
}
