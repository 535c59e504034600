//! Native code for a block: what [`super::schedule`] put into stages, as Cranelift instructions.

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
use super::context::{CHUNK, CONDITION, Field, MASK, Map, SCRATCH, VALID, VectorId};
use super::dataflow::{Action, Dataflow, Id, Location, MOST, Op, Scale, Shape};
use super::doubles::{self, DoubleWord};
use super::schedule::{Class, Home, Method, Schedule, Stage};
use super::unit::Unit;
use super::vector::{self, constant};
use crate::halu::rows::{self, RowOp};
use crate::trap::{Access, Space};

/// What compiled code points to, for as long as it is there.
#[derive(Default)]
pub(super) struct Constants {
    #[expect(clippy::vec_box, reason = "code has the addresses")]
    sites: Vec<Box<Site>>,
    #[expect(clippy::vec_box, reason = "code has the addresses")]
    ops: Vec<Box<RowOp>>,
    #[expect(clippy::vec_box, reason = "code has the addresses")]
    doubles: Vec<Box<DoubleWord>>,
}

/// A function on its way.
pub(super) struct Emitter<'a, 'f> {
    pub b: &'a mut FunctionBuilder<'f>,
    pub map: &'a mut Map,
    pub constants: &'a mut Constants,
    /// The context.
    pub context: Value,
    pub call_conv: CallConv,
    /// Iterations of a loop's body, of four items each, that are made one at most; a power of two.
    pub max_unroll: u32,
}

/// Memory of the context.
fn here() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// Memory that may start anywhere.
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

    /// An address, in a register from here on: it is put into memory and taken out again. The allocator does not part what
    /// was found before a call from what a loop uses, and would reload it in every iteration.
    fn fresh(&mut self, address: Value) -> Value {
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3));
        self.b.ins().stack_store(I64, address, slot, 0);
        self.b.ins().stack_load(I64, I64, slot, 0)
    }

    /// Begins a loop over the items: its offset in a row, and values that go from iteration to iteration.
    fn begin_loop(&mut self, carried: &[Value]) -> Loop {
        let bytes = self.field(I64, Field::Bytes);
        let body = self.b.create_block();
        let offset = self.b.append_block_param(body, I64);
        let values = carried.iter().map(|&value| {
            let ty = self.b.func.dfg.value_type(value);
            self.b.append_block_param(body, ty)
        });
        let carried_in = values.collect();
        let zero = self.b.ins().iconst(I64, 0);
        let args: Vec<_> = std::iter::once(zero).chain(carried.iter().copied()).map(Into::into).collect();
        self.b.ins().jump(body, &args);
        self.b.switch_to_block(body);
        Loop { body, bytes, offset, carried: carried_in }
    }

    /// Ends a loop whose iterations do so many items.
    fn end_loop(&mut self, around: &Loop, items: u32, carried: &[Value]) -> Vec<Value> {
        let next = self.b.ins().iadd_imm_s(around.offset, i64::from(4 * items));
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, around.bytes);
        let done = self.b.create_block();
        let types: Vec<Type> = carried.iter().map(|&value| self.b.func.dfg.value_type(value)).collect();
        let results = types.into_iter().map(|ty| self.b.append_block_param(done, ty)).collect();
        let again: Vec<_> = std::iter::once(next).chain(carried.iter().copied()).map(Into::into).collect();
        let leave: Vec<_> = carried.iter().copied().map(Into::into).collect();
        self.b.ins().brif(more, around.body, &again, done, &leave);
        self.b.switch_to_block(done);
        results
    }

    /// Writes what is in a cell's slot to its row, growing by a stride.
    pub fn spread(&mut self, cell: Cell, truth: bool, stride: u32) {
        let mut start = self.slot(cell);
        if truth {
            start = self.b.ins().ineg(start);
        }
        let start = self.ramp(start, stride);
        let around = self.begin_loop(&[start]);
        let at = self.b.ins().iadd(self.context, around.offset);
        let row = self.map.row(self.map.cell(cell));
        let mut value = around.carried[0];
        let step = constant(self.b, I32X4, stride.wrapping_mul(4));
        for u in 0..CHUNK / 4 {
            self.b.ins().store(here(), value, at, row + 16 * u as i32);
            if stride != 0 {
                value = self.b.ins().iadd(value, step);
            }
        }
        self.end_loop(&around, CHUNK, &[value]);
    }

    /// Four words from a first one on.
    fn ramp(&mut self, first: Value, stride: u32) -> Value {
        let first = self.b.ins().splat(I32X4, first);
        if stride == 0 {
            return first;
        }
        let steps = (0..4u32).flat_map(|k| k.wrapping_mul(stride).to_le_bytes());
        let steps = self.b.func.dfg.constants.insert(steps.collect::<Vec<u8>>().into());
        let steps = self.b.ins().vconst(I32X4, steps);
        self.b.ins().iadd(first, steps)
    }
}

/// A loop over the items of a row.
struct Loop {
    body: Block,
    bytes: Value,
    offset: Value,
    carried: Vec<Value>,
}

/// What is known of a condition at the end of a block.
pub(super) enum Condition {
    /// There is none.
    None,
    /// A truth value, the same for all items.
    Same(Value),
    /// Whether it holds for any item, and whether it does not hold for any.
    Each { any: Value, other: Value },
}

/// A block on its way.
pub(super) struct BlockEmitter<'e, 'a, 'f> {
    e: &'e mut Emitter<'a, 'f>,
    unit: &'e Unit,
    dataflow: &'e Dataflow,
    plan: &'e Schedule,
    masked: bool,
    /// Values that are the same for all items, or those of the first.
    scalars: Vec<Option<Value>>,
    /// The rows that accesses found or will write, and what they were called with.
    accesses: Vec<Option<Found>>,
    condition: Option<(Value, Value)>,
}

#[derive(Clone, Copy)]
struct Found {
    row: Value,
    site: Value,
    base: Value,
    offset: Value,
}

/// The values of an iteration of a loop: of each four items its own.
struct Iteration {
    stage: u32,
    /// The rows that loads found, moved on, and the type to load.
    loaded: Vec<Option<(Value, Type)>>,
    values: Vec<[Option<Value>; 4]>,
    /// How far the iteration's items are into a row.
    offset: Value,
    /// The context, moved on to them.
    context: Value,
    /// Vectors made before the loop.
    splats: Vec<Option<Value>>,
    /// Rows that are not the context's, and what they are moved on.
    rows: Vec<(Value, Value)>,
}

impl<'e, 'a, 'f> BlockEmitter<'e, 'a, 'f> {
    /// Translates all stages.
    pub fn emit(e: &'e mut Emitter<'a, 'f>, unit: &'e Unit, plan: &'e Schedule, masked: bool) -> Condition {
        let count = unit.dataflow.nodes.len();
        e.map.reserve(plan.temporaries);
        let mut this = BlockEmitter {
            e,
            unit,
            dataflow: &unit.dataflow,
            plan,
            masked,
            scalars: vec![None; count],
            accesses: vec![None; unit.dataflow.accesses.len()],
            condition: None,
        };
        for (number, stage) in (0..).zip(&plan.stages) {
            stage.start.iter().for_each(|&id| this.start(id));
            if stage.has_loop() {
                this.body(number, stage);
            }
            stage.end.iter().for_each(|&id| this.end(id));
        }
        for &(cell, id) in &plan.slots {
            let mut value = this.scalar(id);
            if this.is_truth(id) {
                value = this.e.b.ins().uextend(I32, value);
            }
            let slot = this.e.map.slot(cell);
            this.e.b.ins().store(here(), value, this.e.context, slot);
        }
        match (this.condition, unit.condition) {
            (Some((any, other)), _) => Condition::Each { any, other },
            (None, Some(id)) if !masked => Condition::Same(this.scalar(id)),
            _ => Condition::None,
        }
    }

    /// Whether a value is a truth value.
    fn is_truth(&self, id: Id) -> bool {
        self.plan.truths.get(id.index()).copied().unwrap_or(false)
    }

    /// A value that is the same for all items, or that of the first.
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
        // For calls, which take rows: the same word as often as they read it.
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

    /// The vector of a scalar.
    fn splat(&mut self, id: Id, value: Value) -> Value {
        let word = if self.is_truth(id) {
            let word = self.e.b.ins().uextend(I32, value);
            self.e.b.ins().ineg(word)
        } else {
            value
        };
        self.e.b.ins().splat(I32X4, word)
    }

    /// The address of a row.
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
                // Accesses come before what they load and before what they store is computed.
                None => self.e.row_address(SCRATCH[3]),
            },
        }
    }

    /// The address of the row of a value that has one.
    fn row(&mut self, id: Id) -> Value {
        let k = if let Op::Loaded(_, k) = self.dataflow.op(id) { k } else { 0 };
        match self.plan.rows[id.index()] {
            Some(home) => self.home(home, k),
            None => self.e.row_address(SCRATCH[3]),
        }
    }

    fn scalar_args(&mut self, id: Id) -> [Value; 3] {
        let args = self.dataflow.args(id);
        let mut values: Vec<Value> = args.iter().map(|&arg| self.scalar(arg)).collect();
        let fill = values.first().copied().unwrap_or(self.e.context);
        values.resize(3, fill);
        [values[0], values[1], values[2]]
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
                let bank = self.e.field(I64, Field::Constants);
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
                    None => self.e.row_address(SCRATCH[3]),
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
        match op {
            Op::And | Op::Both => b.ins().band(x, y),
            Op::Or | Op::Either => b.ins().bor(x, y),
            Op::Xor | Op::Differ => b.ins().bxor(x, y),
            Op::Not => b.ins().bnot(x),
            Op::Negate => b.ins().bxor_imm_s(x, 1),
            Op::Shl => b.ins().ishl(x, y),
            Op::Shr => b.ins().ushr(x, y),
            Op::Sar => b.ins().sshr(x, y),
            Op::Add => b.ins().iadd(x, y),
            Op::Sub => b.ins().isub(x, y),
            Op::Mul => b.ins().imul(x, y),
            Op::Equal => b.ins().icmp(IntCC::Equal, x, y),
            Op::Less(true) => b.ins().icmp(IntCC::SignedLessThan, x, y),
            Op::Less(false) => b.ins().icmp(IntCC::UnsignedLessThan, x, y),
            Op::Select | Op::Choose => b.ins().select(x, y, z),
            op => {
                let args: Vec<Value> = self.dataflow.args(id).into_iter().map(|arg| self.scalar_vector(arg)).collect();
                let word = if let Some(op) = op.row_op([Shape::Uniform; MOST], self.plan.fma) {
                    for (&words, row) in args.iter().zip(SCRATCH) {
                        let row = self.e.row_address(row);
                        self.store_chunk(words, row);
                    }
                    let rows = SCRATCH.map(|row| self.e.row_address(row));
                    let [a, b, c, result] = rows;
                    let span = self.e.b.ins().iconst(I64, i64::from(4 * CHUNK));
                    self.call_row(op, result, [a, b, c], span);
                    self.e.b.ins().load(I32, here(), result, 0)
                } else {
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
        let op = Box::new(op);
        let address = std::ptr::from_ref(&*op) as usize;
        self.e.constants.ops.push(op);
        let op = self.e.b.ins().iconst(I64, address as i64);
        self.e.call(function, &[result, a, b, c, span, op], None);
    }

    /// Makes a load, or prepares a store.
    fn begin_access(&mut self, number: u32) {
        let access = &self.dataflow.accesses[number as usize];
        let method = self.plan.methods[number as usize];
        let site = self.site(number);
        let context = self.e.context;
        let mask = self.mask(access.guard);
        let zero = self.e.b.ins().iconst(I64, 0);
        let mut found = Found { row: zero, site, base: zero, offset: zero };
        match (&access.action, method) {
            (Action::Atomic { place, operands, .. }, _) => {
                for (k, &word) in operands.as_flattened().iter().enumerate() {
                    let row = self.row(word);
                    self.e.b.ins().store(here(), row, context, Field::Data as i32 + 8 * k as i32);
                }
                let [offset, low, high] = self.place_rows(place);
                let args = [context, site, offset, low, high, mask];
                self.e.call(access::atomic as *const () as usize, &args, None);
                found.row = self.access_row(number);
            }
            (Action::Fence, _) => {
                self.e.b.ins().fence();
            }
            (Action::Load { place, .. } | Action::Store { place, .. }, _) if method != Method::LoadEach => {
                (found.base, found.offset) = self.address(place);
                let args = [context, site, found.base, found.offset, mask];
                let row = match method {
                    Method::LoadSame => self.e.call(access::load_same as *const () as usize, &args[..4], Some(I64)),
                    Method::LoadAffine => self.e.call(access::load_affine as *const () as usize, &args, Some(I64)),
                    _ => self.e.call(access::store_affine as *const () as usize, &args[..4], Some(I64)),
                };
                found.row = row.unwrap_or(zero);
            }
            (Action::Load { place, .. }, _) => {
                let [offset, low, high] = self.place_rows(place);
                let args = [context, site, offset, low, high, mask];
                self.e.call(access::load_each as *const () as usize, &args, None);
                found.row = self.access_row(number);
            }
            (Action::Fault(_), _) => {
                self.e.call(access::fault as *const () as usize, &[context, site, mask], None);
            }
            (Action::Store { .. }, _) => {}
        }
        self.accesses[number as usize] = Some(found);
    }

    /// Base and offset of the first item.
    fn address(&mut self, place: &Location) -> (Value, Value) {
        match *place {
            Location::Global { offset, base: [low, high], .. } | Location::Flat { offset, base: [low, high], .. } => {
                let (low, high) = (self.scalar(low), self.scalar(high));
                let low = self.e.b.ins().uextend(I64, low);
                let high = self.e.b.ins().uextend(I64, high);
                let high = self.e.b.ins().ishl_imm_s(high, 32);
                (self.e.b.ins().bor(high, low), self.scalar(offset))
            }
            Location::Constant { offset, .. } | Location::Own { offset, .. } => {
                (self.e.b.ins().iconst(I64, 0), self.scalar(offset))
            }
        }
    }

    /// The rows of offset and base.
    fn place_rows(&mut self, place: &Location) -> [Value; 3] {
        match *place {
            Location::Global { offset, base: [low, high], .. } | Location::Flat { offset, base: [low, high], .. } => {
                [offset, low, high].map(|id| self.row(id))
            }
            Location::Constant { offset, .. } | Location::Own { offset, .. } => {
                let offset = self.row(offset);
                [offset; 3]
            }
        }
    }

    fn mask(&mut self, guard: Option<Id>) -> Value {
        match guard {
            Some(guard) => self.row(guard),
            None => self.e.b.ins().iconst(I64, 0),
        }
    }

    /// The first row of an access's own.
    fn access_row(&mut self, number: u32) -> Value {
        match self.plan.access_rows.get(number as usize).copied().flatten() {
            Some(row) => self.home(Home::Temporary(row), 0),
            None => self.e.row_address(SCRATCH[3]),
        }
    }

    fn site(&mut self, number: u32) -> Value {
        let dataflow = self.dataflow;
        let access = &dataflow.accesses[number as usize];
        let each = |id: Id| dataflow.shape(id) != Shape::Uniform;
        let own = self.plan.access_rows.get(number as usize).copied().flatten();
        let row = match own {
            Some(row) => self.e.map.temporary(row),
            None => SCRATCH[3],
        };
        let mut site = Site {
            address: access.address,
            kind: Kind::Access(Access::Load),
            width: Width::B32,
            signed: false,
            space: Space::Global,
            flat: None,
            yields: access.yields,
            change: None,
            imm: 0,
            stride: 0,
            step: 0,
            scale: Scale::BYTES,
            in_place: self.plan.in_place.get(number as usize).copied().unwrap_or(false),
            row: self.e.map.row(row) as usize,
            row_bytes: self.e.map.row_bytes() as usize,
            steps: Steps { mask: access.guard.is_some_and(each), ..Steps::default() },
        };
        let place = match &access.action {
            Action::Fault(kind) => {
                site.kind = Kind::Fault(kind.clone());
                None
            }
            Action::Fence => None,
            Action::Atomic { place, width, change, operands, returns } => {
                site.kind = Kind::Access(Access::Store);
                site.width = *width;
                site.change = Some((*change, *returns));
                site.steps.data.iter_mut().zip(operands.as_flattened()).for_each(|(step, &word)| *step = each(word));
                Some(place)
            }
            Action::Load { place, width, signed } => {
                (site.width, site.signed) = (*width, *signed);
                Some(place)
            }
            Action::Store { place, width, data } => {
                site.kind = Kind::Access(Access::Store);
                site.width = *width;
                // What waits in the site's own row is a row.
                let direct = self.plan.methods[number as usize] == Method::StoreDirect;
                site.steps.data.iter_mut().zip(data).for_each(|(step, &word)| *step = direct || each(word));
                Some(place)
            }
        };
        match place {
            None => {}
            Some(&Location::Global { offset, base, imm, scale }) => {
                (site.imm, site.scale) = (imm, scale);
                site.steps.offset = each(offset);
                site.steps.base = base.map(each);
            }
            Some(&Location::Flat { offset, base, imm, reach }) => {
                (site.flat, site.imm) = (Some(reach), imm);
                site.steps.offset = each(offset);
                site.steps.base = base.map(each);
            }
            Some(&Location::Own { space, offset, imm }) => {
                site.space = space;
                site.imm = imm;
                site.steps.offset = each(offset);
            }
            Some(&Location::Constant { bank, offset, imm }) => {
                site.space = Space::Constant(bank);
                site.imm = imm as i32;
                site.steps.offset = each(offset);
            }
        }
        if let Some(offset) = place.and_then(|place| place.words().next()) {
            site.step = stride(dataflow.shape(offset));
        }
        site.stride = place.and_then(|place| place.stride_shape(dataflow)).map_or(0, stride);
        let site = Box::new(site);
        let address = std::ptr::from_ref(&*site) as usize;
        self.e.constants.sites.push(site);
        self.e.b.ins().iconst(I64, address as i64)
    }

    /// Calls, and stores that are calls.
    fn end(&mut self, id: Id) {
        if let Op::Access(number) = self.dataflow.op(id) {
            self.end_store(number);
            return;
        }
        let result = self.row(id);
        let args = self.dataflow.args(id);
        if let Op::Double(op, part) = self.dataflow.op(id) {
            self.call_double(result, &args, op, part);
            return;
        }
        let mut rows = [result; 3];
        let mut steps = 0;
        for (k, (place, &arg)) in rows.iter_mut().zip(&args).enumerate() {
            *place = self.row(arg);
            steps |= i64::from(self.dataflow.shape(arg) != Shape::Uniform) << k;
        }
        let bytes = self.e.field(I64, Field::Bytes);
        let span = self.e.b.ins().bor_imm_s(bytes, steps);
        let shapes = self.dataflow.node(id).args.map(|arg| self.dataflow.shape(arg));
        let op = self.dataflow.op(id);
        if let Some(op) = op.row_op(shapes, self.plan.fma).or_else(|| op.wide_row_op()) {
            self.call_row(op, result, rows, span);
        }
    }

    /// Calls an operation on f64s, whose words have too many rows for the arguments of a call.
    fn call_double(&mut self, result: Value, args: &[Id], op: FloatOp, part: u8) {
        let table = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * MOST as u32, 3);
        let table = self.e.b.create_sized_stack_slot(table);
        let mut steps = 0;
        for (k, &arg) in args.iter().enumerate() {
            let row = self.row(arg);
            self.e.b.ins().stack_store(I64, row, table, 8 * k as i32);
            steps |= i64::from(self.dataflow.shape(arg) != Shape::Uniform) << k;
        }
        let table = self.e.b.ins().stack_addr(I64, table, 0);
        let bytes = self.e.field(I64, Field::Bytes);
        let span = self.e.b.ins().bor_imm_s(bytes, steps);
        let op = self.double_op(op, part);
        self.e.call(doubles::row as *const () as usize, &[result, table, span, op], None);
    }

    /// A word of an operation on f64s that is the same for all items.
    fn scalar_double(&mut self, id: Id, op: FloatOp, part: u8) -> Value {
        let table = StackSlotData::new(StackSlotKind::ExplicitSlot, 4 * MOST as u32, 3);
        let table = self.e.b.create_sized_stack_slot(table);
        for (k, arg) in self.dataflow.args(id).into_iter().enumerate() {
            let word = self.scalar(arg);
            self.e.b.ins().stack_store(I64, word, table, 4 * k as i32);
        }
        let words = self.e.b.ins().stack_addr(I64, table, 0);
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

    fn end_store(&mut self, number: u32) {
        let access = &self.dataflow.accesses[number as usize];
        let Action::Store { place, data, .. } = &access.action else { return };
        let context = self.e.context;
        match self.plan.methods[number as usize] {
            Method::StoreDirect => {
                let Some(found) = self.accesses[number as usize] else { return };
                let own = self.access_row(number);
                let elsewhere = self.e.b.ins().icmp(IntCC::Equal, found.row, own);
                let (copy, done) = (self.e.b.create_block(), self.e.b.create_block());
                self.e.b.set_cold_block(copy);
                self.e.b.ins().brif(elsewhere, copy, &[], done, &[]);
                self.e.b.switch_to_block(copy);
                let args = [context, found.site, found.base, found.offset];
                self.e.call(access::store_row as *const () as usize, &args, None);
                self.e.b.ins().jump(done, &[]);
                self.e.b.switch_to_block(done);
            }
            method => {
                for (k, &word) in data.iter().enumerate() {
                    let row = self.row(word);
                    self.e.b.ins().store(here(), row, context, Field::Data as i32 + 8 * k as i32);
                }
                let site = self.site(number);
                let mask = self.mask(access.guard);
                if method == Method::StoreEach {
                    let [offset, low, high] = self.place_rows(place);
                    let args = [context, site, offset, low, high, mask];
                    self.e.call(access::store_each as *const () as usize, &args, None);
                } else {
                    let (base, offset) = self.address(place);
                    let args = [context, site, base, offset, mask];
                    self.e.call(access::store_affine_rows as *const () as usize, &args, None);
                }
            }
        }
    }

    /// The loop of a stage.
    fn body(&mut self, number: u32, stage: &Stage) {
        let unroll = match stage.body.len() {
            0..=12 => 4,
            13..=32 => 2,
            _ => 1,
        }
        .min(self.e.max_unroll);
        // Whatever the loop reads that does not change in it.
        let mut splats = vec![None; self.scalars.len()];
        let mut pointers: Vec<(Id, Value)> = Vec::new();
        for id in self.read_by(stage) {
            match self.plan.class[id.index()] {
                Class::Uniform if self.dataflow.constant(id).is_none() => {
                    splats[id.index()] = Some(self.scalar_vector(id));
                }
                Class::Affine => {
                    let first = self.scalar(id);
                    splats[id.index()] = Some(self.e.ramp(first, stride(self.dataflow.shape(id))));
                }
                Class::Loaded => pointers.push((id, self.row(id))),
                _ => {}
            }
        }
        let stores: Vec<(Id, Value)> = (stage.stores.iter())
            .filter_map(|&(number, word)| Some((word, self.accesses[number as usize]?.row)))
            .collect();
        let condition = self.unit.condition.filter(|_| stage.condition);
        let sums = condition.filter(|_| !self.masked).map(|_| constant(self.e.b, I32X4, 0));
        let mut rows: Vec<(Value, Value)> = Vec::new();
        for &(_, row) in pointers.iter().chain(&stores) {
            if !rows.iter().any(|(from, _)| *from == row) {
                rows.push((row, self.e.fresh(row)));
            }
        }
        let around = self.e.begin_loop(&sums.map(|zero| vec![zero; 2]).unwrap_or_default());
        let mut sums = around.carried.clone();
        rows.iter_mut().for_each(|(_, row)| *row = self.e.b.ins().iadd(*row, around.offset));
        let context = self.e.b.ins().iadd(self.e.context, around.offset);
        let count = self.scalars.len();
        let mut iteration = Iteration {
            stage: number,
            loaded: vec![None; count],
            values: vec![[None; 4]; count],
            offset: around.offset,
            context,
            splats,
            rows,
        };
        for (id, row) in pointers {
            iteration.loaded[id.index()] = iteration.moved(row).map(|row| (row, self.lanes(stage, id)));
        }
        for u in 0..unroll {
            for &id in &stage.body {
                self.vector(&mut iteration, id, u);
            }
            let kept: Vec<(Home, Value)> =
                stage.keeps.iter().map(|&(id, home)| (home, self.vector(&mut iteration, id, u))).collect();
            let stored: Vec<(Value, Value)> =
                stores.iter().map(|&(id, row)| (row, self.vector(&mut iteration, id, u))).collect();
            let held = condition.map(|id| self.vector(&mut iteration, id, u));
            for (home, value) in kept {
                match home {
                    Home::Cell(cell) => self.keep(&iteration, self.e.map.cell(cell), value, u),
                    Home::Temporary(number) => {
                        let row = self.e.map.temporary(number);
                        self.keep(&iteration, row, value, u);
                    }
                    Home::Mask | Home::Loaded(_) | Home::Stored(_) => {}
                }
            }
            for (row, value) in stored {
                if let Some(at) = iteration.moved(row) {
                    self.e.b.ins().store(anywhere(), value, at, 16 * u as i32);
                }
            }
            if let Some(held) = held {
                self.keep(&iteration, CONDITION, held, u);
                if let [any, other] = &mut sums[..] {
                    let offset = self.e.map.row(VALID) + 16 * u as i32;
                    let b = &mut self.e.b;
                    let valid = b.ins().load(I32X4, here(), iteration.context, offset);
                    let (yes, no) = (b.ins().band(held, valid), b.ins().band_not(valid, held));
                    *any = b.ins().bor(*any, yes);
                    *other = b.ins().bor(*other, no);
                }
            }
        }
        let sums = self.e.end_loop(&around, 4 * unroll, &sums);
        if let [any, other] = sums[..] {
            self.condition = Some((self.e.b.ins().vany_true(any), self.e.b.ins().vany_true(other)));
        }
    }

    /// What a loop reads that was there before it.
    fn read_by(&self, stage: &Stage) -> Vec<Id> {
        let mut read: Vec<Id> = stage.body.iter().flat_map(|&id| self.dataflow.args(id)).collect();
        read.extend(stage.keeps.iter().map(|&(id, _)| id));
        read.extend(stage.stores.iter().map(|&(_, id)| id));
        read.extend(self.unit.condition.filter(|_| stage.condition));
        read.sort_unstable();
        read.dedup();
        read
    }

    /// The lanes that a loop's operations take a value as: what is loaded as them may be an operand in memory.
    fn lanes(&self, stage: &Stage, id: Id) -> Type {
        let mut users = stage.body.iter().filter(|&&user| self.dataflow.args(user).contains(&id));
        let bytes = |&user: &Id| matches!(self.dataflow.op(user), Op::Video(VideoOp { lanes: Lanes::Four, .. }));
        if users.all(bytes) { I8X16 } else { I32X4 }
    }

    fn keep(&mut self, iteration: &Iteration, row: VectorId, value: Value, u: u32) {
        let offset = self.e.map.row(row) + 16 * u as i32;
        self.e.b.ins().store(here(), value, iteration.context, offset);
    }

    /// Four items' values.
    fn vector(&mut self, iteration: &mut Iteration, id: Id, u: u32) -> Value {
        if let Some(value) = iteration.values[id.index()][u as usize] {
            return value;
        }
        let at = 16 * u as i32;
        let op = self.dataflow.op(id);
        let value = match (self.plan.class[id.index()], op) {
            (_, Op::Const(word)) => constant(self.e.b, I32X4, word),
            (_, Op::Truth(truth)) => constant(self.e.b, I32X4, u32::from(truth).wrapping_neg()),
            (Class::Uniform, _) => match iteration.splats[id.index()] {
                Some(splat) => splat,
                None => self.scalar_vector(id),
            },
            (Class::Affine, _) => {
                let stride = stride(self.dataflow.shape(id));
                let start = iteration.splats[id.index()].unwrap_or(self.e.context);
                let b = &mut self.e.b;
                let moved = b.ins().ireduce(I32, iteration.offset);
                let moved = b.ins().ushr_imm_s(moved, 2);
                let moved = b.ins().iadd_imm_s(moved, i64::from(4 * u));
                let moved = b.ins().imul_imm_s(moved, i64::from(stride as i32));
                let moved = b.ins().splat(I32X4, moved);
                b.ins().iadd(start, moved)
            }
            (Class::Loaded, _) => match iteration.loaded[id.index()] {
                Some((row, ty)) => self.e.b.ins().load(ty, anywhere(), row, at),
                None => constant(self.e.b, I32X4, 0),
            },
            (Class::Inline, op) if self.plan.stage_of[id.index()] == iteration.stage => {
                let args = self.dataflow.args(id);
                if let Op::Shl | Op::Shr | Op::Sar = op {
                    let (x, count) = (self.vector(iteration, args[0], u), self.scalar(args[1]));
                    let b = &mut self.e.b;
                    match op {
                        Op::Shl => b.ins().ishl(x, count),
                        Op::Shr => b.ins().ushr(x, count),
                        _ => b.ins().sshr(x, count),
                    }
                } else {
                    let mut values: Vec<Value> = args.iter().map(|&arg| self.vector(iteration, arg, u)).collect();
                    let fill = values.first().copied().unwrap_or(self.e.context);
                    values.resize(3, fill);
                    vector::compute(self.e.b, op, [values[0], values[1], values[2]])
                }
            }
            _ => {
                let row = match self.plan.rows[id.index()] {
                    Some(Home::Cell(cell)) => self.e.map.cell(cell),
                    Some(Home::Temporary(number)) => self.e.map.temporary(number),
                    Some(Home::Mask) => MASK,
                    Some(Home::Loaded(_) | Home::Stored(_)) | None => SCRATCH[3],
                };
                let offset = self.e.map.row(row) + at;
                self.e.b.ins().load(I32X4, here(), iteration.context, offset)
            }
        };
        iteration.values[id.index()][u as usize] = Some(value);
        value
    }
}

fn stride(shape: Shape) -> u32 {
    match shape {
        Shape::Affine(stride) => stride,
        Shape::Uniform | Shape::Varying => 0,
    }
}

impl Iteration {
    /// A row that the loop reads or writes, moved on to the items of the iteration.
    fn moved(&self, row: Value) -> Option<Value> {
        self.rows.iter().find(|(from, _)| *from == row).map(|&(_, moved)| moved)
    }
}
