//! Execution of one instruction by native code.

use std::cell::RefCell;
use std::collections::BTreeMap;

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature};
use cranelift_frontend::FunctionBuilder;
use halfbyte_isa::halu::Inst;
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Access, Address, Effects, Reader, SpecialReg, Write};
use halfbyte_isa::halu::meaning::{guard, meaning};

use super::cells::{Cell, Cells};
use super::compile::{Entry, has_fma};
use super::context::{Context, Map};
use super::dataflow::{Dataflow, Id, Op, Shape};
use super::emit::{BlockEmitter, Constants, Emitter};
use super::schedule::{Inlines, schedule};
use super::unit::Unit;
use crate::clif::{Allocation, NativeBuilder, NativeError};

/// Computes the effects of a valid instruction from the values that it reads. The effects are those of its
/// [`meaning`](halfbyte_isa::halu::meaning::meaning), computed by the same code as in kernels. Returns `None` if the
/// guard of the instruction does not hold.
///
/// # Errors
/// Fails if native code is not available on this host.
pub fn native_effects(
    inst: &Inst,
    reader: &mut impl Reader<Concrete>,
) -> Result<Option<Effects<u32, bool>>, NativeError> {
    let mut inputs = Inputs::new(reader);
    let mut dataflow = Dataflow::default();
    let holds = guard(inst, &mut dataflow, &mut inputs);
    let effects = meaning(inst, &mut dataflow, &mut inputs);
    let outputs = inputs.outputs();
    let holds = holds.map(|holds| outputs.truth(holds));
    let effects = map(&effects, &mut |word| outputs.word(*word), &mut |truth| outputs.truth(*truth));
    let results = outputs.compute(dataflow)?;
    let holds = holds.is_none_or(|holds| results.truth(holds));
    Ok(holds.then(|| map(&effects, &mut |cell| results.word(*cell), &mut |cell| results.truth(*cell))))
}

/// Requested values of an instruction. A value may be requested more than once, and each request has its own cell.
pub(crate) struct Outputs {
    wanted: RefCell<(Cells, Vec<(Cell, Id)>)>,
    /// Values of the input cells.
    words: Vec<u32>,
}

impl Outputs {
    fn output(&self, id: Id, truth: bool) -> Cell {
        let (cells, finals) = &mut *self.wanted.borrow_mut();
        let cell = cells.add(truth);
        finals.push((cell, id));
        cell
    }

    /// Requests a word, and returns the cell that will hold it.
    pub fn word(&self, id: Id) -> Cell {
        self.output(id, false)
    }

    /// Requests a truth value, and returns the cell that will hold it.
    pub fn truth(&self, id: Id) -> Cell {
        self.output(id, true)
    }

    /// Compiles the operations and runs them.
    pub fn compute(self, dataflow: Dataflow) -> Result<Results, NativeError> {
        let (cells, finals) = self.wanted.into_inner();
        let unit = Unit {
            dataflow,
            finals,
            reads: Vec::new(),
            kills: Vec::new(),
            condition: None,
            assumed: Vec::new(),
            dead: false,
        };
        compute(&unit, &cells, &self.words).map(Results)
    }
}

/// Final values of the output cells.
pub(crate) struct Results(BTreeMap<Cell, u32>);

impl Results {
    pub fn word(&self, cell: Cell) -> u32 {
        self.0.get(&cell).copied().unwrap_or(0)
    }

    pub fn truth(&self, cell: Cell) -> bool {
        self.word(cell) != 0
    }
}

/// Compiles the operations of a unit and runs them. `words` are the values of the first cells. Returns the final values
/// of the cells.
fn compute(unit: &Unit, cells: &Cells, words: &[u32]) -> Result<BTreeMap<Cell, u32>, NativeError> {
    let plan = schedule(&[], unit, cells, |_| true, has_fma(), false, Inlines { halves: false, strides: true });
    let mut map = Map::new(cells.len(), cells.len());
    let mut constants = Constants::default();
    let mut native = NativeBuilder::new()?;
    let mut signature = Signature::new(native.call_conv());
    signature.params = vec![AbiParam::new(I64), AbiParam::new(I32)];
    signature.returns = vec![AbiParam::new(I32)];
    let build = |b: &mut FunctionBuilder<'_>| {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let (context, call_conv) = (b.block_params(entry)[0], b.func.signature.call_conv);
        let mut emitter = Emitter {
            b,
            map: &mut map,
            constants: &mut constants,
            context,
            call_conv,
            max_unroll: 1,
            has_loops: false,
        };
        if let Some(block) = BlockEmitter::new(&mut emitter, unit, &plan, false, None) {
            block.emit();
        }
        let done = b.ins().iconst(I32, 0);
        b.ins().return_(&[done]);
    };
    let (id, ()) = native.define(signature, Allocation::Backtracking, build)?;
    let wide = constants.define_wide(&mut native)?;
    let code = native.finish()?;
    constants.link_wide(&code, &wide);
    let mut context = Context::new(map).ok_or(NativeError::TooLarge)?;
    context.header().set_items(1);
    for (cell, &word) in (0..).map(Cell).zip(words) {
        context.row(map.cell(cell)).fill(word);
    }
    if let Some(address) = code.address(id) {
        // SAFETY: the function was defined with this signature, for contexts of this map. The function accesses no
        // other memory. The functions that it calls receive the positions in the context where they work.
        unsafe { std::mem::transmute::<*const u8, Entry>(address)(context.as_ptr(), 0) };
    }
    let mut result = |&(cell, id): &(Cell, Id)| match unit.dataflow.shape(id) {
        Shape::Varying => (cell, context.row(map.cell(cell)).first().copied().unwrap_or(0)),
        Shape::Uniform | Shape::Affine(_) | Shape::Grid(..) => (cell, *context.slot(cell)),
    };
    Ok(unit.finals.iter().map(&mut result).collect())
}

/// Inputs of an instruction, each in its own cell.
pub(crate) struct Inputs<'a, R> {
    pub reader: &'a mut R,
    cells: Cells,
    /// Values of the cells. Truth values are all ones or zero.
    words: Vec<u32>,
}

impl<'a, R> Inputs<'a, R> {
    pub fn new(reader: &'a mut R) -> Inputs<'a, R> {
        Inputs { reader, cells: Cells::default(), words: Vec::new() }
    }

    pub fn outputs(self) -> Outputs {
        Outputs { wanted: RefCell::new((self.cells, Vec::new())), words: self.words }
    }

    pub fn input(&mut self, dataflow: &mut Dataflow, word: u32, truth: bool) -> Id {
        self.words.push(word);
        dataflow.push(Op::Input(self.cells.add(truth)), &[], Shape::Varying)
    }
}

impl<R: Reader<Concrete>> Reader<Dataflow> for Inputs<'_, R> {
    fn gpr(&mut self, dataflow: &mut Dataflow, n: u8) -> Id {
        let word = self.reader.gpr(&mut Concrete, n);
        self.input(dataflow, word, false)
    }

    fn ur(&mut self, dataflow: &mut Dataflow, n: u8) -> Id {
        let word = self.reader.ur(&mut Concrete, n);
        self.input(dataflow, word, false)
    }

    fn pred(&mut self, dataflow: &mut Dataflow, n: u8) -> Id {
        let word = u32::from(self.reader.pred(&mut Concrete, n)).wrapping_neg();
        self.input(dataflow, word, true)
    }

    fn constant(&mut self, dataflow: &mut Dataflow, bank: u8, offset: u16) -> Id {
        let word = self.reader.constant(&mut Concrete, bank, offset);
        self.input(dataflow, word, false)
    }

    fn special(&mut self, dataflow: &mut Dataflow, register: SpecialReg) -> Id {
        let word = self.reader.special(&mut Concrete, register);
        self.input(dataflow, word, false)
    }
}

/// Replaces the operands of effects.
fn map<W: Copy, P: Copy, V: Copy, Q: Copy>(
    effects: &Effects<W, P>,
    word: &mut impl FnMut(&W) -> V,
    truth: &mut impl FnMut(&P) -> Q,
) -> Effects<V, Q> {
    let writes = effects.writes.iter().map(|write| match write {
        Write::Gpr(n, value) => Write::Gpr(*n, word(value)),
        Write::Ur(n, value) => Write::Ur(*n, word(value)),
        Write::Pred(n, value) => Write::Pred(*n, truth(value)),
    });
    let writes = writes.collect();
    let access = effects.access.as_ref().map(|access| match access {
        Access::Load { address, width, signed, dst } => {
            Access::Load { address: map_address(address, word), width: *width, signed: *signed, dst: *dst }
        }
        Access::Atomic { address, width, change, operands, dst } => Access::Atomic {
            address: map_address(address, word),
            width: *width,
            change: *change,
            operands: operands.iter().map(&mut *word).collect(),
            dst: *dst,
        },
        Access::Store { address, width, data } => Access::Store {
            address: map_address(address, word),
            width: *width,
            data: data.iter().map(&mut *word).collect(),
        },
    });
    Effects { writes, access, next: effects.next }
}

fn map_address<W: Copy, V: Copy>(address: &Address<W>, word: &mut impl FnMut(&W) -> V) -> Address<V> {
    match address {
        Address::Uniform { offset, base, imm } => {
            Address::Uniform { offset: word(offset), base: base.each_ref().map(word), imm: *imm }
        }
        Address::Wide { base, imm } => Address::Wide { base: base.each_ref().map(word), imm: *imm },
        Address::Flat { base, imm } => Address::Flat { base: base.each_ref().map(word), imm: *imm },
        Address::Shared { offset, imm } => Address::Shared { offset: word(offset), imm: *imm },
        Address::Scratch { offset, imm } => Address::Scratch { offset: word(offset), imm: *imm },
        Address::Local { imm } => Address::Local { imm: *imm },
        Address::Constant { bank, offset, imm } => Address::Constant { bank: *bank, offset: word(offset), imm: *imm },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use halfbyte_isa::halu::Opcode;

    use super::*;

    /// Random words, generated on demand.
    #[derive(Clone)]
    struct State(u64);

    impl State {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            self.0 >> 32 ^ self.0 << 16
        }

        /// Returns two halves at the edges of their range, or another word.
        fn word(&mut self) -> u32 {
            let edges = [0, 0x8000, 0x7C00, 0xFC00, 0x7FFF, 1, 0x3C00, 0xFFFF];
            match self.next() % 4 {
                0 => edges[self.next() as usize % 8] << 16 | edges[self.next() as usize % 8],
                1 => self.next() as u32 & 31,
                _ => self.next() as u32,
            }
        }
    }

    impl Reader<Concrete> for State {
        fn gpr(&mut self, _: &mut Concrete, _: u8) -> u32 {
            self.word()
        }
        fn ur(&mut self, _: &mut Concrete, _: u8) -> u32 {
            self.word()
        }
        fn pred(&mut self, _: &mut Concrete, _: u8) -> bool {
            !self.next().is_multiple_of(2)
        }
        fn constant(&mut self, _: &mut Concrete, _: u8, _: u16) -> u32 {
            self.word()
        }
        fn special(&mut self, _: &mut Concrete, _: SpecialReg) -> u32 {
            self.word()
        }
    }

    #[test]
    fn every_opcode_does_what_its_meaning_says() {
        let mut random = State(7);
        for _ in 0..4 {
            for &opcode in Opcode::ALL {
                let inst = Inst::random(opcode, &mut || random.next());
                let mut state = random.clone();
                let acts = guard(&inst, &mut Concrete, &mut state) != Some(false);
                let expected = meaning(&inst, &mut Concrete, &mut state);
                let found = native_effects(&inst, &mut random).unwrap();
                assert_eq!(found.is_some(), acts, "{inst}");
                if let Some(found) = found {
                    assert_eq!((found.writes, found.access), (expected.writes, expected.access), "{inst}");
                    assert_eq!(found.next, expected.next, "{inst}");
                }
            }
        }
    }
}
