//! Code generation for a block: translates the stages of [`super::schedule`] to Cranelift
//! instructions.

mod accesses;
mod loops;
mod narrow;
mod wide;

use arrayvec::ArrayVec;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I8X16, I16, I32, I32X4, I64};
use cranelift_codegen::ir::{
    AbiParam, Block, InstBuilder, MemFlagsData, SigRef, Signature, StackSlotData, StackSlotKind, Type, Value,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use halfbyte_isa::halu::domain::{FloatOp, Lanes, VideoOp, Width};

use super::access::{self, Kind, Site, Steps};
use super::cells::Cell;
use super::context::{self, ALONG, CHUNK, CONDITION, Field, MASK, Map, NO_ROW, VectorId};
use super::dataflow::{Action, Dataflow, Id, Location, MOST, Op, Scale, Shape};
use super::demand::Bound;
use super::doubles::{self, DoubleWord};
use super::ends::Ends;
use super::schedule::{Class, Home, Method, Schedule, Stage};
use super::split::{Split, is_told_by_ends};
use super::unit::Unit;
use super::vector::{self, constant};
use crate::rows::{self, RowOp};
use halfbyte_isa::trap::{Access, Space};
use wide::{Vectorizer, WideFunction, WideLoop};

/// Objects that compiled code refers to, which live as long as the code.
#[derive(Default)]
pub(super) struct Constants {
    #[expect(clippy::vec_box, reason = "code has the addresses")]
    sites: Vec<Box<Site>>,
    #[expect(clippy::vec_box, reason = "code has the addresses")]
    ops: Vec<Box<RowOp>>,
    #[expect(clippy::vec_box, reason = "code has the addresses")]
    doubles: Vec<Box<DoubleWord>>,
    #[expect(clippy::vec_box, reason = "code has the addresses")]
    wide: Vec<Box<WideFunction>>,
    /// Uniform operands of calls, each repeated for a chunk.
    #[expect(clippy::vec_box, reason = "code has the addresses")]
    chunks: Vec<Box<[u32; CHUNK as usize]>>,
}

impl Constants {
    /// Returns the address of a chunk that repeats a word.
    fn chunk(&mut self, word: u32) -> usize {
        let known = self.chunks.iter().find(|chunk| chunk.first() == Some(&word));
        if let Some(chunk) = known {
            return chunk.as_ptr() as usize;
        }
        let chunk = Box::new([word; CHUNK as usize]);
        let address = chunk.as_ptr() as usize;
        self.chunks.push(chunk);
        address
    }
}

/// State of a function during code generation.
pub(super) struct Emitter<'a, 'f> {
    pub b: &'a mut FunctionBuilder<'f>,
    pub map: &'a mut Map,
    pub constants: &'a mut Constants,
    /// Address of the context.
    pub context: Value,
    pub call_conv: CallConv,
    /// Maximum unroll factor of a loop whose body processes four items; a power of two.
    pub max_unroll: u32,
    /// `true` if the function itself contains loops of stages.
    pub has_loops: bool,
}

/// Returns the flags of accesses to the context.
fn here() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// Returns the flags of accesses without a known alignment.
fn anywhere() -> MemFlagsData {
    let mut flags = MemFlagsData::new();
    flags.set_notrap();
    flags
}

impl Emitter<'_, '_> {
    pub fn field(&mut self, ty: Type, field: Field) -> Value {
        self.b.ins().load(ty, here(), self.context, field as i32)
    }

    pub fn set_field(&mut self, field: Field, value: Value) {
        self.b.ins().store(here(), value, self.context, field as i32);
    }

    pub fn slot(&mut self, cell: Cell) -> Value {
        let slot = self.map.slot(cell);
        self.b.ins().load(I32, here(), self.context, slot)
    }

    fn row_address(&mut self, row: VectorId) -> Value {
        let offset = self.map.row(row);
        self.b.ins().iadd_imm_s(self.context, i64::from(offset))
    }

    /// Calls a function of the runtime.
    fn call(&mut self, address: usize, args: &[Value], result: Option<Type>) -> Option<Value> {
        let mut signature = Signature::new(self.call_conv);
        signature.params.extend(args.iter().map(|&arg| AbiParam::new(self.b.func.dfg.value_type(arg))));
        signature.returns.extend(result.map(AbiParam::new));
        let signature: SigRef = self.b.import_signature(signature);
        let callee = self.b.ins().iconst(I64, address as i64);
        let call = self.b.ins().call_indirect(signature, callee, args);
        self.b.inst_results(call).first().copied()
    }

    /// Copies an address to a new register through memory. Without the copy, the allocator does not split the live
    /// range across calls and reloads the address in every iteration.
    fn fresh(&mut self, address: Value) -> Value {
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3));
        self.b.ins().stack_store(I64, address, slot, 0);
        self.b.ins().stack_load(I64, I64, slot, 0)
    }
}

/// Condition at the end of a block.
pub(super) enum Condition {
    /// The block has no condition.
    None,
    /// Uniform truth value.
    Same(Value),
    /// `any` is true if the condition holds for some item, and `other` if it does not hold for some item.
    Each { any: Value, other: Value },
}

/// State of a block during code generation.
pub(super) struct BlockEmitter<'e, 'a, 'f> {
    e: &'e mut Emitter<'a, 'f>,
    unit: &'e Unit,
    dataflow: &'e Dataflow,
    plan: &'e Schedule,
    masked: bool,
    /// Way of splitting a row that diverges at the end of the block into two rows, if any.
    split: Option<Split>,
    /// `true` if the condition is known without a loop over the items.
    is_told: bool,
    /// Uniform values, or the values of the first item.
    scalars: Vec<Option<Value>>,
    /// Address of the constant bank, after its first use.
    bank: Option<Value>,
    /// Results and arguments of the calls for accesses.
    accesses: Vec<Option<Found>>,
    condition: Option<(Value, Value)>,
    /// Wide loop of each stage, if any.
    wide: Vec<Option<WideLoop>>,
}

#[derive(Clone, Copy)]
struct Found {
    row: Value,
    /// Distance of two elements, if loops execute the access.
    step: Value,
    site: Value,
    base: Value,
    offset: Value,
}

impl<'e, 'a, 'f> BlockEmitter<'e, 'a, 'f> {
    /// Creates the state of a block. Returns `None` if a stage needs a wide loop but has none.
    pub fn new(
        e: &'e mut Emitter<'a, 'f>,
        unit: &'e Unit,
        plan: &'e Schedule,
        masked: bool,
        split: Option<Split>,
    ) -> Option<Self> {
        let count = unit.dataflow.nodes.len();
        e.map.reserve(plan.temporaries);
        let mut this = BlockEmitter {
            e,
            unit,
            dataflow: &unit.dataflow,
            plan,
            masked,
            split,
            is_told: false,
            scalars: vec![None; count],
            bank: None,
            accesses: vec![None; unit.dataflow.accesses.len()],
            condition: None,
            wide: Vec::new(),
        };
        this.wide = this.vectorizer().loops(super::wide::is_here())?;
        Some(this)
    }

    fn vectorizer(&self) -> Vectorizer<'_> {
        let &BlockEmitter { unit, plan, masked, split, .. } = self;
        Vectorizer { unit, plan, masked, split, map: self.e.map }
    }

    /// Emits a return with `code` unless the assumed guards hold for all items.
    pub fn leave_unless_guards_hold(&mut self, code: u32) {
        let unit = self.unit;
        let mut may: Option<Value> = None;
        for &guard in &unit.assumed {
            let [all, _] = self.same_for_all(guard).unwrap_or_else(|| [self.e.b.ins().iconst(I8, 0); 2]);
            may = Some(may.map_or(all, |may| self.e.b.ins().band(may, all)));
        }
        let Some(may) = may else { return };
        let (on, leave) = (self.e.b.create_block(), self.e.b.create_block());
        self.e.b.set_cold_block(leave);
        self.e.b.ins().brif(may, on, &[], leave, &[]);
        self.e.b.switch_to_block(leave);
        let code = self.e.b.ins().iconst(I32, i64::from(code));
        self.e.b.ins().return_(&[code]);
        self.e.b.switch_to_block(on);
    }

    /// Emits all stages.
    pub fn emit(mut self) -> Condition {
        let plan = self.plan;
        for (number, stage) in (0..).zip(&plan.stages) {
            stage.start.iter().for_each(|&id| self.start(id));
            if stage.has_loop() {
                self.body(number, stage);
            }
            stage.end.iter().for_each(|&id| self.end(id));
        }
        for &(cell, id) in &plan.slots {
            let mut value = self.scalar(id);
            if self.is_truth(id) {
                value = self.e.b.ins().uextend(I32, value);
            }
            let slot = self.e.map.slot(cell);
            self.e.b.ins().store(here(), value, self.e.context, slot);
        }
        match (self.condition, self.unit.condition) {
            (Some((any, other)), _) => Condition::Each { any, other },
            (None, Some(id)) if !self.masked => Condition::Same(self.scalar(id)),
            _ => Condition::None,
        }
    }

    /// Returns `true` if a value is a truth value.
    fn is_truth(&self, id: Id) -> bool {
        self.plan.is_truth(id)
    }

    /// Returns a uniform value, or the value of the first item.
    fn scalar(&mut self, id: Id) -> Value {
        match self.scalars[id.index()] {
            Some(value) => value,
            None => {
                let value = self.compute(id);
                self.scalars[id.index()] = Some(value);
                value
            }
        }
    }

    fn start(&mut self, id: Id) {
        if let Op::Access(number) = self.dataflow.op(id) {
            self.begin_access(number);
            return;
        }
        let value = self.scalar(id);
        // Calls read rows, so a uniform word is repeated for a chunk.
        if let (Some(home), Class::Uniform) = (self.plan.rows[id.index()], self.plan.class[id.index()]) {
            let words = self.splat(id, value);
            let row = self.home(home, 0);
            self.store_chunk(words, row);
        }
    }

    fn store_chunk(&mut self, words: Value, row: Value) {
        for u in 0..CHUNK / 4 {
            self.e.b.ins().store(here(), words, row, 16 * u as i32);
        }
    }

    /// Returns the splat of a scalar.
    fn splat(&mut self, id: Id, value: Value) -> Value {
        let word = if self.is_truth(id) { self.all_ones(value) } else { value };
        self.e.b.ins().splat(I32X4, word)
    }

    /// Returns a truth value as a word of all ones or zero.
    fn all_ones(&mut self, truth: Value) -> Value {
        let word = self.e.b.ins().uextend(I32, truth);
        self.e.b.ins().ineg(word)
    }

    /// Returns the address of a row.
    fn home(&mut self, home: Home, k: u8) -> Value {
        match home {
            Home::Cell(cell) => self.e.row_address(self.e.map.cell(cell)),
            Home::Mask => self.e.row_address(MASK),
            Home::Temporary(number) => {
                let row = self.e.map.temporary(number);
                self.e.row_address(row)
            }
            Home::Loaded(number) | Home::Stored(number) => match self.accesses[number as usize] {
                Some(found) if k == 0 => found.row,
                Some(found) => {
                    let bytes = self.e.map.row_bytes() * u32::from(k);
                    self.e.b.ins().iadd_imm_s(found.row, i64::from(bytes))
                }
                // An access always precedes the values that it loads and the call that computes its data.
                None => self.e.row_address(NO_ROW),
            },
        }
    }

    /// Returns the address of the row of a value that has a row.
    fn row(&mut self, id: Id) -> Value {
        let k = if let Op::Loaded(_, k) = self.dataflow.op(id) { k } else { 0 };
        match (self.plan.rows[id.index()], self.dataflow.constant(id)) {
            (Some(home), _) => self.home(home, k),
            (None, Some(word)) => {
                let word = if self.is_truth(id) { word.wrapping_neg() } else { word };
                let address = self.e.constants.chunk(word);
                self.e.b.ins().iconst(I64, address as i64)
            }
            (None, None) => self.e.row_address(NO_ROW),
        }
    }

    fn scalar_args(&mut self, id: Id) -> [Value; 3] {
        let args = self.dataflow.args(id);
        let context = self.e.context;
        let mut values = args.iter().map(|&arg| self.scalar(arg));
        let first = values.next().unwrap_or(context);
        [first, values.next().unwrap_or(first), values.next().unwrap_or(first)]
    }

    fn compute(&mut self, id: Id) -> Value {
        let op = self.dataflow.op(id);
        match op {
            Op::Const(value) => return self.e.b.ins().iconst(I32, i64::from(value)),
            Op::Truth(truth) => return self.e.b.ins().iconst(I8, i64::from(truth)),
            Op::Input(cell) => {
                let word = self.e.slot(cell);
                return if self.is_truth(id) { self.nonzero(word) } else { word };
            }
            Op::Bank { offset, width, signed } => {
                let bank = match self.bank {
                    Some(bank) => bank,
                    None => *self.bank.insert(self.e.field(I64, Field::Constants)),
                };
                let ty = match width {
                    Width::B8 => I8,
                    Width::B16 => I16,
                    Width::B32 | Width::B64 | Width::B128 => I32,
                };
                let value = self.e.b.ins().load(ty, anywhere(), bank, offset as i32);
                return match (ty, signed) {
                    (I32, _) => value,
                    (_, true) => self.e.b.ins().sextend(I32, value),
                    (_, false) => self.e.b.ins().uextend(I32, value),
                };
            }
            Op::Loaded(number, k) => {
                let row = match self.accesses[number as usize] {
                    Some(found) => found.row,
                    None => self.e.row_address(NO_ROW),
                };
                return self.e.b.ins().load(I32, anywhere(), row, 4 * i32::from(k));
            }
            Op::Access(_) | Op::Mask => return self.e.b.ins().iconst(I32, 0),
            _ => {}
        }
        if let Op::Double(op, part) = op {
            return self.scalar_double(id, op, part);
        }
        let [x, y, z] = self.scalar_args(id);
        let b = &mut self.e.b;
        if let Some(result) = vector::integer(b, &op, x, y) {
            return result;
        }
        match op {
            Op::Not => b.ins().bnot(x),
            Op::Negate => b.ins().bxor_imm_s(x, 1),
            Op::Shl => b.ins().ishl(x, y),
            Op::Shr => b.ins().ushr(x, y),
            Op::Sar => b.ins().sshr(x, y),
            Op::Select | Op::Choose => b.ins().select(x, y, z),
            op => {
                let word = if let Some(op) = op.row_op([Shape::Uniform; MOST], self.plan.fma) {
                    let [x, y, z] = [x, y, z].map(|word| match self.e.b.func.dfg.value_type(word) {
                        I8 => self.all_ones(word),
                        _ => word,
                    });
                    let op = self.row_op(op);
                    let word = self.e.call(rows::word as *const () as usize, &[x, y, z, op], Some(I32));
                    word.unwrap_or(x)
                } else {
                    let args = self.dataflow.args(id).into_iter().map(|arg| self.scalar_vector(arg));
                    let args: ArrayVec<Value, MOST> = args.collect();
                    let fill = args.first().copied().unwrap_or(self.e.context);
                    let mut all = [fill; 3];
                    all.iter_mut().zip(args).for_each(|(place, arg)| *place = arg);
                    let words = vector::compute(self.e.b, op, all);
                    self.e.b.ins().extractlane(words, 0)
                };
                if self.is_truth(id) { self.nonzero(word) } else { word }
            }
        }
    }

    fn scalar_vector(&mut self, id: Id) -> Value {
        let value = self.scalar(id);
        self.splat(id, value)
    }

    fn nonzero(&mut self, word: Value) -> Value {
        self.e.b.ins().icmp_imm_s(IntCC::NotEqual, word, 0)
    }

    fn call_row(&mut self, op: RowOp, result: Value, [a, b, c]: [Value; 3], span: Value) {
        let function = rows::function(&op) as usize;
        let op = self.row_op(op);
        self.e.call(function, &[result, a, b, c, span, op], None);
    }

    fn row_op(&mut self, op: RowOp) -> Value {
        let op = Box::new(op);
        let address = std::ptr::from_ref(&*op) as usize;
        self.e.constants.ops.push(op);
        self.e.b.ins().iconst(I64, address as i64)
    }

    /// Emits a call or a store at the end of a stage.
    fn end(&mut self, id: Id) {
        if let Op::Access(number) = self.dataflow.op(id) {
            self.end_store(number);
            return;
        }
        if let Op::Double(op, part) = self.dataflow.op(id) {
            self.call_double(id, op, part);
            return;
        }
        let (result, args) = (self.row(id), self.dataflow.args(id));
        let result = self.moved_to_begin(result, id);
        let mut rows = [result; 3];
        let mut steps = 0;
        for (k, (place, &arg)) in rows.iter_mut().zip(&args).enumerate() {
            let row = self.row(arg);
            *place = self.moved_to_begin(row, arg);
            steps |= i64::from(self.dataflow.shape(arg) != Shape::Uniform) << k;
        }
        let span = self.span(steps);
        let shapes = self.dataflow.node(id).args.map(|arg| self.dataflow.shape(arg));
        let op = self.dataflow.op(id);
        if let Some(op) = op.row_op(shapes, self.plan.fma).or_else(|| op.wide_row_op()) {
            self.call_row(op, result, rows, span);
        }
    }

    /// Advances the row of a value to the start of the loops. The row of a uniform value stays as it is.
    fn moved_to_begin(&mut self, row: Value, id: Id) -> Value {
        if !self.masked || self.dataflow.shape(id) == Shape::Uniform {
            return row;
        }
        let begin = self.e.field(I64, Field::Begin);
        self.e.b.ins().iadd(row, begin)
    }

    /// Returns the span argument of an operation: at least the bytes of a chunk, with one bit for each operand that is
    /// a row.
    fn span(&mut self, steps: i64) -> Value {
        let mut bytes = self.e.field(I64, Field::Bytes);
        if self.masked {
            let begin = self.e.field(I64, Field::Begin);
            let b = &mut self.e.b;
            // The row may have become shorter than `begin` because an item has faulted.
            let least = b.ins().iconst(I64, 4 * i64::from(CHUNK));
            bytes = b.ins().isub(bytes, begin);
            bytes = b.ins().smax(bytes, least);
        }
        self.e.b.ins().bor_imm_s(bytes, steps)
    }

    /// Calls an f64 operation, whose operands are passed in a table because their number exceeds the arguments of a
    /// call.
    fn call_double(&mut self, id: Id, op: FloatOp, part: u8) {
        let (result, args) = (self.row(id), self.dataflow.args(id));
        let table = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * MOST as u32, 3);
        let table = self.e.b.create_sized_stack_slot(table);
        let result = self.moved_to_begin(result, id);
        let table = self.e.b.ins().stack_addr(I64, table, 0);
        let mut steps = 0;
        for (k, &arg) in args.iter().enumerate() {
            let row = self.row(arg);
            let row = self.moved_to_begin(row, arg);
            self.e.b.ins().store(here(), row, table, 8 * k as i32);
            steps |= i64::from(self.dataflow.shape(arg) != Shape::Uniform) << k;
        }
        let span = self.span(steps);
        let op = self.double_op(op, part);
        self.e.call(doubles::row as *const () as usize, &[result, table, span, op], None);
    }

    /// Computes a word of a uniform f64 operation.
    fn scalar_double(&mut self, id: Id, op: FloatOp, part: u8) -> Value {
        let table = StackSlotData::new(StackSlotKind::ExplicitSlot, 4 * MOST as u32, 3);
        let table = self.e.b.create_sized_stack_slot(table);
        let words = self.e.b.ins().stack_addr(I64, table, 0);
        for (k, arg) in self.dataflow.args(id).into_iter().enumerate() {
            let word = self.scalar(arg);
            self.e.b.ins().store(here(), word, words, 4 * k as i32);
        }
        let op = self.double_op(op, part);
        let word = self.e.call(doubles::word as *const () as usize, &[words, op], Some(I32));
        word.unwrap_or(words)
    }

    fn double_op(&mut self, op: FloatOp, part: u8) -> Value {
        let op = Box::new(DoubleWord { op, part });
        let address = std::ptr::from_ref(&*op) as usize;
        self.e.constants.doubles.push(op);
        self.e.b.ins().iconst(I64, address as i64)
    }
}

impl<'f> Ends<'f> for BlockEmitter<'_, '_, 'f> {
    fn dataflow(&self) -> &Dataflow {
        self.dataflow
    }

    fn builder(&mut self) -> &mut FunctionBuilder<'f> {
        self.e.b
    }

    fn scalar(&mut self, id: Id) -> Value {
        BlockEmitter::scalar(self, id)
    }

    fn others(&mut self) -> Value {
        let items = self.e.field(I32, Field::Items);
        let items = self.e.b.ins().uextend(I64, items);
        self.e.b.ins().iadd_imm_s(items, -1)
    }
}

/// Returns `true` if an operation with these bits changes only the sign of a float.
pub(crate) fn is_of_sign(dataflow: &Dataflow, op: Op, bits: Id) -> bool {
    let sign = 1 << 31;
    dataflow.constant(bits) == Some(if op == Op::Xor { sign } else { !sign })
}
