//! Code of one item: the blocks of the kernel, with the cells of the item in variables.

use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, StackSlot, TrapCode, Value};
use cranelift_frontend::Variable;
use halfbyte_isa::halu::domain::{Domain, Width};
use halfbyte_isa::object::{Loc, PartialAccess};

use super::known::{Before, Flow, bank_word};
use super::memory::BufferValues;
use super::scalar::Scalar;
use super::status::Status;
use crate::jit::{Block, BlockId, CellNumber as Cell, Cells, Dataflow, Id, Next, Op, Target, Unit};

/// Values that all items of a function share.
pub(super) struct Frame {
    /// Buffer of each parameter, if the parameter is a buffer.
    pub buffers: Vec<Option<BufferValues>>,
    /// Offset of each buffer's address in constant bank 0.
    pub pointers: Vec<Option<u32>>,
    /// Words of constant bank 0, from offset 0 on.
    pub words: Vec<Value>,
    /// Copy of constant bank 0 in memory, if an instruction reads the bank at a computed address.
    pub bank: Option<StackSlot>,
    /// Start and end of the parts of constant bank 0. An access must lie within one part.
    pub parts: Vec<[u32; 2]>,
    /// Local memory of the running item, and its size in bytes.
    pub scratch: Option<(StackSlot, u32)>,
    pub scratch_start: u64,
    /// Target of a trapping item. The arguments are status, line, word and address.
    pub trap: ir::Block,
    /// Target of an item that is done.
    pub next: ir::Block,
    /// Number of backward branches that the item may still take.
    pub headroom: Option<Variable>,
    pub cells: Vec<Variable>,
}

/// Builder of the blocks of a kernel.
pub(super) struct Item<'a, 'b, 'f, 'm> {
    pub s: Scalar<'b, 'f, 'm>,
    pub frame: &'a Frame,
    pub locs: &'a [Loc],
    /// Accesses of the source that one instruction combines.
    pub parts: &'a [PartialAccess],
    pub flow: &'a Flow,
    labels: Vec<Option<ir::Block>>,
    /// The current block, the facts known before it, and the values of its operations.
    unit: Option<&'a Unit>,
    pub before: Before<'a>,
    values: Vec<Option<Value>>,
    /// Words that accesses have loaded.
    loaded: Vec<[Option<Value>; 4]>,
    /// Both result words of an operation with two results, by the operation of the first word.
    pairs: Vec<(Op, Vec<Id>, [Value; 2])>,
}

/// Returns the type of the variable that holds a cell.
pub(super) fn type_of(cells: &Cells, cell: Cell) -> ir::Type {
    if cells.is_pred(cell) { I8 } else { I32 }
}

impl<'a, 'b, 'f, 'm> Item<'a, 'b, 'f, 'm> {
    /// Creates a builder without blocks.
    pub fn new(
        s: Scalar<'b, 'f, 'm>,
        frame: &'a Frame,
        (locs, parts): (&'a [Loc], &'a [PartialAccess]),
        flow: &'a Flow,
        none: Before<'a>,
    ) -> Item<'a, 'b, 'f, 'm> {
        Item {
            s,
            frame,
            locs,
            parts,
            flow,
            labels: vec![None; flow.units.len()],
            unit: None,
            before: none,
            values: Vec::new(),
            loaded: Vec::new(),
            pairs: Vec::new(),
        }
    }

    /// Emits all blocks. The current Cranelift block jumps to the first block, at which the item begins.
    pub fn emit(mut self, blocks: &[Block]) -> Scalar<'b, 'f, 'm> {
        self.go(0, Target::Block { id: BlockId(0), backward: false });
        for (id, block) in (0..).map(BlockId).zip(blocks) {
            let Some(Some(unit)) = self.flow.units.get(id.index()) else { continue };
            self.block(id, block, unit);
        }
        self.s
    }

    pub fn dataflow(&self) -> &'a Dataflow {
        static NONE: Dataflow = Dataflow::NONE;
        self.unit.map_or(&NONE, |unit| &unit.dataflow)
    }

    pub fn label(&mut self, id: BlockId) -> Option<ir::Block> {
        let label = self.labels.get_mut(id.index())?;
        Some(*label.get_or_insert_with(|| self.s.b.create_block()))
    }

    /// Begins a block. Code that is emitted from now on belongs to the block.
    pub fn enter(&mut self, id: BlockId, unit: &'a Unit) {
        self.unit = Some(unit);
        if let Some(before) = self.flow.before(id.index()) {
            self.before = before;
        }
        self.values = vec![None; unit.dataflow.nodes.len()];
        self.loaded = vec![[None; 4]; unit.dataflow.accesses.len()];
        self.pairs.clear();
    }

    fn block(&mut self, id: BlockId, block: &Block, unit: &'a Unit) {
        let Some(label) = self.label(id) else { return };
        self.s.b.switch_to_block(label);
        self.enter(id, unit);
        let wanted = unit.wanted(|_| true);
        for (id, _) in (0..).map(Id).zip(&unit.dataflow.nodes).filter(|(id, _)| wanted.get(id.index()) == Some(&true)) {
            match unit.dataflow.op(id) {
                Op::Access(number) => {
                    if let Some(access) = unit.dataflow.accesses.get(number as usize) {
                        self.access(number, access);
                    }
                }
                _ => {
                    self.value(id);
                }
            }
        }
        if unit.dead {
            self.s.b.ins().trap(TrapCode::unwrap_user(1));
            return;
        }
        let condition = unit.condition.map(|id| self.value(id));
        let finals: Vec<(Cell, Value)> = unit.finals.iter().map(|&(cell, id)| (cell, self.value(id))).collect();
        for (cell, value) in finals {
            if let Some(&variable) = self.frame.cells.get(cell.index()) {
                self.s.b.def_var(variable, value);
            }
        }
        self.end(block, condition);
    }

    fn end(&mut self, block: &Block, condition: Option<Value>) {
        let (taken, fall) = match block.next {
            Next::To(target) => return self.go(block.last(), target),
            Next::Exit => return self.leave(),
            Next::Undefined(_) => {
                let none = self.s.constant(I64, 0);
                let status = self.status(Status::Undefined);
                return self.jump_to_trap(status, (block.start, None), none);
            }
            Next::Branch { taken, fall } => (Some(taken), fall),
            Next::ExitIf { fall } => (None, fall),
            // Kernels with collective operations have been refused before.
            Next::Meet { then } => return self.go(block.last(), then),
        };
        if let Some(holds) = condition {
            let (yes, no) = (self.s.b.create_block(), self.s.b.create_block());
            self.s.b.ins().brif(holds, yes, &[], no, &[]);
            self.s.b.switch_to_block(no);
            self.go(block.last(), fall);
            self.s.b.switch_to_block(yes);
        }
        match taken {
            Some(taken) => self.go(block.last(), taken),
            None => self.leave(),
        }
    }

    fn leave(&mut self) {
        self.s.b.ins().jump(self.frame.next, &[]);
    }

    fn go(&mut self, from: u32, target: Target) {
        let (status, address) = match target {
            Target::Block { id, backward } => {
                if let (true, Some(headroom)) = (backward, self.frame.headroom) {
                    self.count(from, headroom);
                }
                if let Some(label) = self.label(id) {
                    self.s.b.ins().jump(label, &[]);
                    return;
                }
                (Status::RanPastEnd, 0)
            }
            Target::Outside(target) => (Status::BranchOutside, target.cast_unsigned()),
            Target::PastEnd => (Status::RanPastEnd, 0),
        };
        let (status, address) = (self.status(status), self.s.constant(I64, address));
        self.jump_to_trap(status, (from, None), address);
    }

    /// Counts a backward branch. The item traps if its budget is spent.
    fn count(&mut self, from: u32, headroom: Variable) {
        let (on, cold) = (self.s.b.create_block(), self.s.b.create_block());
        self.s.b.set_cold_block(cold);
        let left = self.s.b.use_var(headroom);
        self.s.b.ins().brif(left, on, &[], cold, &[]);
        self.s.b.switch_to_block(cold);
        let (status, none) = (self.status(Status::Budget), self.s.constant(I64, 0));
        self.jump_to_trap(status, (from, None), none);
        self.s.b.switch_to_block(on);
        let left = self.s.b.ins().iadd_imm_s(left, -1);
        self.s.b.def_var(headroom, left);
    }

    fn status(&mut self, status: Status) -> Value {
        self.s.word(status.code().cast_unsigned())
    }

    /// Jumps to the trap at an instruction. `line` replaces the source line of the instruction.
    pub fn jump_to_trap(&mut self, status: Value, (word, line): (u32, Option<Value>), address: Value) {
        let of_word = self.locs.get(word as usize).map_or(0, |loc| loc.line);
        let (line, word) = (line.unwrap_or_else(|| self.s.word(of_word)), self.s.word(word));
        self.s.b.ins().jump(self.frame.trap, &[status.into(), line.into(), word.into(), address.into()]);
    }

    /// Traps at an instruction. Code that is emitted from now on is unreachable.
    pub fn trap_with(&mut self, status: Value, word: u32, address: Value) {
        self.jump_to_trap(status, (word, None), address);
        self.start_unreached();
    }

    /// Begins an unreachable block.
    pub fn start_unreached(&mut self) {
        let never = self.s.b.create_block();
        self.s.b.switch_to_block(never);
    }

    pub fn trap(&mut self, status: Status, word: u32, address: Value) {
        let status = self.status(status);
        self.trap_with(status, word, address);
    }

    /// Keeps the words that an access has loaded.
    pub fn keep(&mut self, number: u32, words: &[Value]) {
        if let Some(loaded) = self.loaded.get_mut(number as usize) {
            loaded.iter_mut().zip(words).for_each(|(place, &word)| *place = Some(word));
        }
    }

    /// Returns the parameter of the buffer whose address is in two words, if any.
    pub fn param_at(&self, base: [Id; 2]) -> Option<usize> {
        let [low, high] = base.map(|word| bank_word(self.dataflow(), self.before.known, word));
        let low = low.filter(|low| low.checked_add(4) == high)?;
        self.frame.pointers.iter().position(|&at| at == Some(low))
    }

    /// Returns the buffer whose address is in two words, if any.
    pub fn buffer_at(&self, base: [Id; 2]) -> Option<BufferValues> {
        self.frame.buffers.get(self.param_at(base)?).copied().flatten()
    }

    /// Returns a value of the block, which is computed at most once.
    pub fn value(&mut self, id: Id) -> Value {
        if let Some(Some(value)) = self.values.get(id.index()) {
            return *value;
        }
        let value = self.compute(id);
        if let Some(place) = self.values.get_mut(id.index()) {
            *place = Some(value);
        }
        value
    }

    fn bank(&mut self, offset: u32) -> Value {
        match self.frame.words.get(offset as usize / 4) {
            Some(&word) => word,
            None => self.s.word(0),
        }
    }

    fn compute(&mut self, id: Id) -> Value {
        let d = self.dataflow();
        let op = d.op(id);
        match op {
            Op::Const(word) => return self.s.word(word),
            Op::Truth(truth) => return self.s.truth(truth),
            Op::Input(cell) => {
                if let Some(&offset) = self.before.known.get(&cell) {
                    return self.bank(offset);
                }
                return match self.frame.cells.get(cell.index()) {
                    Some(&variable) => self.s.b.use_var(variable),
                    None => self.s.word(0),
                };
            }
            Op::Bank { offset, width, signed } => return self.bank_part(offset, width, signed),
            Op::Loaded(number, k) => {
                let loaded = self.loaded.get(number as usize).and_then(|words| words.get(usize::from(k)).copied());
                return match loaded.flatten() {
                    Some(word) => word,
                    None => self.s.word(0),
                };
            }
            // All items execute the block.
            Op::Mask => return self.s.truth(true),
            Op::Access(_) => return self.s.word(0),
            _ => {}
        }
        let args = d.args(id);
        if let Op::Double(_, part) | Op::Convert(_, part) = op {
            return self.pair(op, &args, part);
        }
        let values: Vec<Value> = args.iter().map(|&arg| self.value(arg)).collect();
        let fill = values.first().copied().unwrap_or_else(|| self.s.word(0));
        let [x, y, z] = std::array::from_fn(|k| values.get(k).copied().unwrap_or(fill));
        scalar(&mut self.s, op, [x, y, z])
    }

    /// Returns a word of constant bank 0, or a part of a word.
    fn bank_part(&mut self, offset: u32, width: Width, signed: bool) -> Value {
        let word = self.bank(offset);
        let bits = match width {
            Width::B8 => 8,
            Width::B16 => 16,
            Width::B32 | Width::B64 | Width::B128 => return word,
        };
        let left = i64::from(32 - bits - 8 * (offset % 4));
        let high = self.s.b.ins().ishl_imm_s(word, left);
        if signed {
            self.s.b.ins().sshr_imm_s(high, 32 - bits as i64)
        } else {
            self.s.b.ins().ushr_imm_s(high, 32 - bits as i64)
        }
    }

    /// Returns a result word of an operation with two results. The operation is computed once.
    fn pair(&mut self, op: Op, args: &[Id], part: u8) -> Value {
        let whole = match op {
            Op::Double(op, _) => Op::Double(op, 0),
            Op::Convert(op, _) => Op::Convert(op, 0),
            op => op,
        };
        let known = self.pairs.iter().find(|(known, of, _)| *known == whole && of == args).map(|(.., words)| *words);
        let words = known.unwrap_or_else(|| {
            let values: Vec<Value> = args.iter().map(|&arg| self.value(arg)).collect();
            let fill = values.first().copied().unwrap_or_else(|| self.s.word(0));
            let of = |k: usize| values.get(k).copied().unwrap_or(fill);
            let pair = |k: usize| [of(2 * k), of(2 * k + 1)];
            let words = match whole {
                Op::Double(op, _) => self.s.double(&op, [pair(0), pair(1), pair(2)]),
                Op::Convert(op, _) => self.s.convert(&op, pair(0)),
                _ => pair(0),
            };
            self.pairs.push((whole, args.to_vec(), words));
            words
        });
        words[usize::from(part != 0)]
    }
}

/// Computes an operation on values of the item.
pub(super) fn scalar(s: &mut Scalar<'_, '_, '_>, op: Op, [x, y, z]: [Value; 3]) -> Value {
    match op {
        Op::And => s.and(x, y),
        Op::Or => s.or(x, y),
        Op::Xor => s.xor(x, y),
        Op::Not => s.not(x),
        Op::Shl => s.shl(x, y),
        Op::Shr => s.shr(x, y),
        Op::Sar => s.sar(x, y),
        Op::Add => s.add(x, y),
        Op::Sub => s.sub(x, y),
        Op::Mul => s.mul(x, y),
        Op::MulHigh(signed) => s.mul_high(signed, x, y),
        Op::Divide(op) => s.divide(op, x, y),
        Op::Equal => s.equal(x, y),
        Op::Less(signed) => s.less(signed, x, y),
        Op::Both => s.both(x, y),
        Op::Either => s.either(x, y),
        Op::Differ => s.differ(x, y),
        Op::Negate => s.negate(x),
        Op::Select | Op::Choose => s.select(x, y, z),
        Op::FAdd => s.fadd(x, y),
        Op::FMul => s.fmul(x, y),
        Op::Fma => s.fma(x, y, z),
        Op::FDiv => s.fdiv(x, y),
        Op::FSqrt => s.fsqrt(x),
        Op::Single(op) => s.single(&op, [x, y, z]),
        Op::Elementary(function) => s.elementary(function, x),
        Op::FCompare(compare) => s.fcompare(compare, x, y),
        Op::IntToFloat(signed) => s.int_to_float(signed, x),
        Op::FloatToInt(signed) => s.float_to_int(signed, x),
        Op::Narrow(format, rounding) => s.narrow(format, rounding, x),
        Op::Widen(format) => s.widen(format, x),
        Op::Half(op) => s.half(&op, x, y, z),
        Op::MinMax(op) => s.half_minmax(&op, z, x, y),
        Op::HalfCompare(op, lane) => s.half_compare(&op, x, y)[usize::from(lane != 0)],
        Op::Video(op) => s.video(&op, x, y, z),
        Op::Bytes(select) => s.bytes(x, y, select),
        // Leaves of the dataflow, and operations with two results.
        Op::Const(_) | Op::Truth(_) | Op::Input(_) | Op::Mask | Op::Bank { .. } => x,
        Op::Double(..) | Op::Convert(..) | Op::Access(_) | Op::Loaded(..) => x,
    }
}
