//! Loops in vectors of 256 bits, as separate functions.

use super::*;
use crate::clif::{FunctionId, NativeBuilder, NativeCode, NativeError};
use crate::jit::split;
use crate::jit::vector::video::{LaneOp, of_words};
use crate::jit::wide::{self, HalfStep, Loop, Place, Predicate, Shift, Step, Table, lane_row};
use crate::x86::vector::*;
use halfbyte_isa::half::{NAN, NAN_F32};
use halfbyte_isa::halu::domain::HalfKind;

/// Function that compiled code calls through `address`, which is set after all code is compiled.
pub(super) struct WideFunction {
    code: Vec<u8>,
    address: usize,
}

impl Constants {
    /// Adds the functions of the wide loops to the module.
    pub fn define_wide(&self, native: &mut NativeBuilder) -> Result<Vec<FunctionId>, NativeError> {
        self.wide.iter().map(|function| native.define_code(&function.code)).collect()
    }

    /// Sets the addresses of the functions.
    pub fn link_wide(&mut self, native: &NativeCode, functions: &[FunctionId]) {
        for (function, &id) in self.wide.iter_mut().zip(functions) {
            function.address = native.address(id).map_or(0, <*const u8>::addr);
            function.code = Vec::new();
        }
    }
}

/// Compiled loop with its arguments.
#[derive(Clone)]
pub(in crate::jit) struct WideLoop {
    pub code: Vec<u8>,
    pub table: Table,
    pub table_bytes: u32,
    pub rows: Vec<Row>,
    pub words: Vec<Id>,
}

/// Loop during code generation.
pub(super) struct Wide<'s> {
    number: u32,
    pub stage: &'s Stage,
    pub code: Loop,
    pub values: Vec<Option<Step>>,
    /// Floats whose NaNs are not canonical, for operations that treat all NaNs alike.
    floats: Vec<Option<Step>>,
    /// Constants that are not values of the block.
    constants: Vec<(u32, Step)>,
    /// Addresses that the loop uses.
    rows: Vec<Row>,
    /// Uniform words of the table.
    words: Vec<Id>,
}

/// Source of an address.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::jit) enum Row {
    /// The context, for all rows in the context.
    Context,
    /// Row of an access, and the index of the row.
    Access(u32, u8),
}

impl Wide<'_> {
    /// Returns the index of an address in the table, or `None` if the table is full.
    fn address(&mut self, row: Row) -> Option<u8> {
        if let Some(number) = self.rows.iter().position(|&other| other == row) {
            return u8::try_from(number).ok();
        }
        let number = self.code.row()?;
        self.rows.push(row);
        Some(number)
    }

    pub fn constant(&mut self, word: u32) -> Step {
        if let Some(&(_, step)) = self.constants.iter().find(|(constant, _)| *constant == word) {
            return step;
        }
        let step = self.code.constant(word);
        self.constants.push((word, step));
        step
    }
}

impl BlockEmitter<'_, '_, '_> {
    /// Emits a call of the wide loop of a stage from one offset in a row to another. Returns `false` if the stage has
    /// no wide loop.
    pub(super) fn each_wide(&mut self, number: u32, stage: &Stage, [begin, bytes]: [Value; 2]) -> bool {
        let Some(WideLoop { code, table, table_bytes, rows, words }) =
            self.wide.get_mut(number as usize).and_then(Option::take)
        else {
            return false;
        };
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, table_bytes, 3);
        let slot = self.e.b.create_sized_stack_slot(slot);
        let values = self.e.b.ins().stack_addr(I64, slot, 0);
        for (number, row) in (0..).zip(rows) {
            let address = match row {
                Row::Context => self.e.context,
                Row::Access(access, k) => self.home(Home::Loaded(access), k),
            };
            self.e.b.ins().store(here(), address, values, table.row(number));
        }
        for (number, id) in (0..).zip(words) {
            let word = self.scalar(id);
            let word = if self.is_truth(id) { self.all_ones(word) } else { word };
            self.e.b.ins().store(here(), word, values, table.word(number));
        }
        let function = Box::new(WideFunction { code, address: 0 });
        let address = std::ptr::from_ref(&function.address) as usize;
        self.e.constants.wide.push(function);
        let address = self.e.b.ins().iconst(I64, address as i64);
        let callee = self.e.b.ins().load(I64, here(), address, 0);
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params = vec![AbiParam::new(I64); 3];
        let signature = self.e.b.import_signature(signature);
        self.e.b.ins().call_indirect(signature, callee, &[values, begin, bytes]);
        if stage.condition && !self.is_told && !self.masked {
            self.condition = Some(self.held());
        }
        true
    }

    /// Returns two truth values: the condition holds for some item, and the condition does not hold for some item.
    fn held(&mut self) -> (Value, Value) {
        let (row, items) = (self.e.row_address(CONDITION), self.e.field(I32, Field::Items));
        let held = self.e.call(split::held as *const () as usize, &[row, items], Some(I32)).unwrap_or(items);
        let b = &mut self.e.b;
        let held = b.ins().ireduce(I8, held);
        (b.ins().band_imm_s(held, 1), b.ins().ushr_imm_s(held, 1))
    }
}

/// Compiler of wide loops for the stages of a block.
#[derive(Clone, Copy)]
pub(in crate::jit) struct Vectorizer<'a> {
    pub unit: &'a Unit,
    pub plan: &'a Schedule,
    pub masked: bool,
    /// Way of splitting a row that diverges at the end of the block into two rows, if any.
    pub split: Option<Split>,
    /// Layout of the context.
    pub map: &'a Map,
}

impl<'a> Vectorizer<'a> {
    pub fn dataflow(&self) -> &'a Dataflow {
        &self.unit.dataflow
    }

    /// Returns the wide loops of the stages that can have one. Returns `None` if a stage with half-precision arithmetic
    /// has no wide loop.
    pub fn loops(&self, has_wide: bool) -> Option<Vec<Option<WideLoop>>> {
        let is_half = |&id: &Id| matches!(self.dataflow().op(id), Op::Half(_));
        let stages = (0..).zip(&self.plan.stages).map(|(number, stage)| {
            let made = if stage.has_loop() && has_wide { self.wide_loop(number, stage) } else { None };
            let is_needed = stage.body.iter().any(is_half);
            (made.is_some() || !is_needed).then_some(made)
        });
        stages.collect()
    }

    fn wide_loop(&self, number: u32, stage: &Stage) -> Option<WideLoop> {
        let values = vec![None; self.dataflow().nodes.len()];
        let is_narrow = self.is_narrow(stage);
        let code = Loop::new(if is_narrow { wide::Width::B16 } else { wide::Width::B32 });
        let (floats, constants, rows, words) = (values.clone(), Vec::new(), Vec::new(), Vec::new());
        let wide = Wide { number, stage, code, values, floats, constants, rows, words };
        let made = if is_narrow { self.narrow_steps(wide) } else { self.wide_steps(wide) };
        let Wide { code, rows, words, .. } = made?;
        let table = code.table();
        let (code, table_bytes) = code.code()?;
        Some(WideLoop { code, table, table_bytes, rows, words })
    }

    fn wide_steps<'s>(&self, mut wide: Wide<'s>) -> Option<Wide<'s>> {
        let stage = wide.stage;
        for &id in &stage.body {
            self.wide_float(&mut wide, id)?;
        }
        let kept = stage.keeps.iter().map(|&(id, home)| (Some(home), id));
        let stored = stage.stores.iter().map(|&(number, id)| (Some(Home::Stored(number)), id));
        let is_told =
            |&id: &Id| self.split == Some(Split::ByEnds) && !self.masked && is_told_by_ends(self.dataflow(), id);
        let condition = self.unit.condition.filter(|id| stage.condition && !is_told(id));
        let asked = condition.map(|id| (None, id));
        for (home, id) in kept.chain(stored).chain(asked) {
            let mut value = self.wide_value(&mut wide, id)?;
            let place = match home {
                Some(home) => self.wide_home(&mut wide, home, 0)?,
                None => self.wide_row(&mut wide, CONDITION)?,
            };
            let most = match place.item {
                wide::Width::B8 => 0xFF,
                wide::Width::B16 => 0xFFFF,
                wide::Width::B32 => u32::MAX,
            };
            if self.dataflow().node(id).bits & !most != 0 {
                let most = wide.constant(most);
                value = wide.code.binary(&VPAND, value, most);
            }
            wide.code.store(place, value);
        }
        Some(wide)
    }

    /// Returns a value for eight items, or `None` if wide vectors cannot compute the value.
    fn wide_value(&self, wide: &mut Wide<'_>, id: Id) -> Option<Step> {
        if let Some(step) = wide.values[id.index()] {
            return Some(step);
        }
        let op = self.dataflow().op(id);
        let step = match (self.plan.class[id.index()], op) {
            (Class::Uniform, _) if let Some(constant) = self.dataflow().constant(id) => {
                wide.constant(if self.plan.is_truth(id) { constant.wrapping_neg() } else { constant })
            }
            (Class::Uniform, _) => self.wide_first(wide, id)?,
            (Class::Affine, _) => {
                let Shape::Affine(by) = self.dataflow().shape(id) else { return None };
                let first = self.wide_first(wide, id)?;
                let numbers = wide.code.numbers();
                let grown = match by.is_power_of_two() {
                    true => wide.code.shift(Shift::Left, numbers, by.ilog2()),
                    false => {
                        let by = wide.constant(by);
                        wide.code.binary(&VPMULLD, numbers, by)
                    }
                };
                wide.code.lanes(LaneOp::Add, wide::Width::B32, first, grown)?
            }
            (Class::Access, _) => return None,
            (Class::Inline, op) if self.is_of(wide, id) && vector::has_any_nan(op) => {
                let float = self.wide_float(wide, id)?;
                let nan = wide.constant(NAN_F32);
                wide.code.or_if_nan(float, nan)
            }
            (Class::Inline, op) if self.is_of(wide, id) => self.wide_op(wide, op, id)?,
            (_, op) => {
                let k = if let Op::Loaded(_, k) = op { k } else { 0 };
                let place = self.wide_home(wide, self.plan.rows[id.index()]?, k)?;
                wide.code.load(place, self.is_signed(op))
            }
        };
        wide.values[id.index()] = Some(step);
        Some(step)
    }

    /// Broadcasts the value of the first item: from the slot of a cell if possible, otherwise from the table.
    fn wide_first(&self, wide: &mut Wide<'_>, id: Id) -> Option<Step> {
        if let Op::Input(cell) = self.dataflow().op(id)
            && !self.plan.is_truth(id)
        {
            let (row, at) = (wide.address(Row::Context)?, self.map.slot(cell));
            return Some(wide.code.same(Place { row, at, item: wide::Width::B32 }));
        }
        wide.words.push(id);
        wide.code.word()
    }

    /// Returns a row of the context.
    fn wide_row(&self, wide: &mut Wide<'_>, row: VectorId) -> Option<Place> {
        let at = self.map.row(row);
        Some(Place { row: wide.address(Row::Context)?, at, item: wide::Width::B32 })
    }

    /// Returns the row of a value. Returns `None` if the elements of the row are strided or wider than words.
    pub(super) fn wide_home(&self, wide: &mut Wide<'_>, home: Home, k: u8) -> Option<Place> {
        match home {
            Home::Cell(cell) => self.wide_row(wide, self.map.cell(cell)),
            Home::Mask => self.wide_row(wide, MASK),
            Home::Temporary(number) => self.wide_row(wide, self.map.temporary(number)),
            Home::Loaded(number) | Home::Stored(number) => {
                let item = self.item(number)?;
                Some(Place { row: wide.address(Row::Access(number, k))?, at: 0, item })
            }
        }
    }

    /// Returns the element width of the row of an access: a word, unless the loop executes the access.
    fn item(&self, number: u32) -> Option<wide::Width> {
        let access = self.dataflow().accesses.get(number as usize)?;
        let (Action::Load { width, .. } | Action::Store { width, .. }) = access.action else {
            return Some(wide::Width::B32);
        };
        if !self.plan.strided[number as usize] && self.plan.methods[number as usize] != Method::StoreStrided {
            return Some(wide::Width::B32);
        }
        match width {
            Width::B8 => Some(wide::Width::B8),
            Width::B16 => Some(wide::Width::B16),
            Width::B32 | Width::B64 | Width::B128 => None,
        }
    }

    /// Returns `true` if a loop sign-extends the loaded elements.
    fn is_signed(&self, op: Op) -> bool {
        let Op::Loaded(number, _) = op else { return false };
        let access = self.dataflow().accesses.get(number as usize);
        access.is_some_and(|access| matches!(access.action, Action::Load { signed: true, .. }))
    }

    /// Returns `true` if the loop computes the value.
    fn is_of(&self, wide: &Wide<'_>, id: Id) -> bool {
        self.plan.class[id.index()] == Class::Inline && self.plan.stage_of[id.index()] == wide.number
    }

    /// Returns a value for eight items whose NaNs need not be canonical, for operations that treat all NaNs alike.
    fn wide_float(&self, wide: &mut Wide<'_>, id: Id) -> Option<Step> {
        if let Some(step) = wide.floats[id.index()].or(wide.values[id.index()]) {
            return Some(step);
        }
        let (op, args) = (self.dataflow().op(id), self.dataflow().args(id));
        let step = match (op, args.as_slice()) {
            _ if !self.is_of(wide, id) => return self.wide_value(wide, id),
            (Op::FAdd | Op::FMul | Op::FDiv, &[x, y]) => {
                let (x, y) = (self.wide_float(wide, x)?, self.wide_float(wide, y)?);
                let opcode = match op {
                    Op::FAdd => &VADDPS,
                    Op::FMul => &VMULPS,
                    _ => &VDIVPS,
                };
                wide.code.binary(opcode, x, y)
            }
            (Op::Fma, &[x, y, z]) => {
                let [x, y, z] = [x, y, z].map(|arg| self.wide_float(wide, arg));
                wide.code.multiply_add(x?, y?, z?)
            }
            (Op::Xor | Op::And, &[x, bits]) if is_of_sign(self.dataflow(), op, bits) => {
                let (x, bits) = (self.wide_float(wide, x)?, self.wide_value(wide, bits)?);
                wide.code.binary(if op == Op::Xor { &VPXOR } else { &VPAND }, x, bits)
            }
            (Op::FSqrt, &[x]) => {
                let x = self.wide_float(wide, x)?;
                wide.code.root(x)
            }
            (op, _) if vector::has_any_nan(op) => return None,
            _ => return self.wide_value(wide, id),
        };
        wide.floats[id.index()] = Some(step);
        Some(step)
    }

    fn wide_op(&self, wide: &mut Wide<'_>, op: Op, id: Id) -> Option<Step> {
        let args = self.dataflow().args(id);
        let arg = |wide: &mut Wide<'_>, k: usize| self.wide_value(wide, *args.get(k)?);
        if let Op::Video(op) = op {
            let (lanes, places) = of_words(&op)?;
            let width = if op.lanes == Lanes::Four { wide::Width::B8 } else { wide::Width::B16 };
            let (a, b) = (arg(wide, places[0])?, arg(wide, places[1])?);
            return wide.code.lanes(lanes, width, a, b);
        }
        let shift = match op {
            Op::Shl => Some((Shift::Left, &VPSLLVD)),
            Op::Shr => Some((Shift::Right, &VPSRLVD)),
            Op::Sar => Some((Shift::Arithmetic, &VPSRAVD)),
            _ => None,
        };
        if let Some((shift, by_word)) = shift {
            let count = *args.get(1)?;
            let from = arg(wide, 0)?;
            if let Some(count) = self.dataflow().constant(count) {
                return Some(wide.code.shift(shift, from, count));
            }
            // The count is uniform, and counts modulo 32.
            let (count, last) = (arg(wide, 1)?, wide.constant(31));
            let count = wide.code.binary(&VPAND, count, last);
            return Some(wide.code.binary(by_word, from, count));
        }
        if let Op::Select | Op::Choose = op {
            let (holds, yes, no) = (arg(wide, 0)?, arg(wide, 1)?, arg(wide, 2)?);
            return Some(wide.code.select(holds, yes, no));
        }
        if let Op::FCompare(compare) = op {
            let [x, y] = [0, 1].map(|k| args.get(k).map(|&arg| self.wide_float(wide, arg)));
            return Some(wide.code.compare(Predicate::of(compare), x??, y??));
        }
        if let Op::Not | Op::Negate = op {
            let word = arg(wide, 0)?;
            return Some(wide.code.not(word));
        }
        if let Op::Less(false) = op {
            let (a, b) = (arg(wide, 0)?, arg(wide, 1)?);
            return Some(wide.code.less(a, b));
        }
        if let Op::Half(op) = op {
            let op = HalfStep::of(&op)?;
            let (a, b) = (arg(wide, 0)?, arg(wide, 1)?);
            let c = if op.kind == HalfKind::Fma { arg(wide, 2)? } else { b };
            let nan = wide.constant(u32::from(NAN) << 16 | u32::from(NAN));
            return Some(wide.code.half(op, [a, b, c], nan));
        }
        if let Op::IntToFloat(true) = op {
            let number = arg(wide, 0)?;
            return Some(wide.code.float(number));
        }
        let words = |op| lane_row(op, wide::Width::B32);
        let (opcode, is_swapped) = match op {
            Op::And | Op::Both => (&VPAND, false),
            Op::Or | Op::Either => (&VPOR, false),
            Op::Xor | Op::Differ => (&VPXOR, false),
            Op::Add => (words(LaneOp::Add)?, false),
            Op::Sub => (words(LaneOp::Sub)?, false),
            Op::Mul => (&VPMULLD, false),
            Op::Equal => (&VPCMPEQD, false),
            Op::Less(true) => (&VPCMPGTD, true),
            _ => return None,
        };
        let (a, b) = (arg(wide, 0)?, arg(wide, 1)?);
        let (a, b) = if is_swapped { (b, a) } else { (a, b) };
        Some(wide.code.binary(opcode, a, b))
    }
}
