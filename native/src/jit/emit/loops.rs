//! Loops over the items of a row.

use arrayvec::ArrayVec;

use super::*;
use crate::jit::vector::elements::Strided;

/// Open loop over the items of a row.
pub(super) struct Loop {
    body: Block,
    bytes: Value,
    offset: Value,
    carried: Vec<Value>,
}

/// Values of a loop iteration, for each group of four items.
pub(super) struct Iteration {
    stage: u32,
    /// Rows of loads, advanced to the iteration, with the type to load.
    loaded: Vec<Option<(Value, Type)>>,
    values: Vec<[Option<Value>; 4]>,
    /// Values whose NaNs need not be canonical.
    floats: Vec<[Option<Value>; 4]>,
    /// Strided accesses of the loop, and the words that they have loaded.
    strided: Vec<Strided>,
    words: Vec<[Option<[Option<Value>; 4]>; 4]>,
    /// Address of the context, advanced to the items of the iteration.
    context: Value,
    /// Splats from before the loop.
    splats: Vec<Option<Value>>,
    /// Rows outside the context, each with its address advanced to the iteration.
    rows: Vec<(Value, Value)>,
}

impl Loop {
    /// Returns the offset in a row of the items of the iteration, in bytes.
    pub fn offset(&self) -> Value {
        self.offset
    }
}

impl Emitter<'_, '_> {
    /// Begins a loop over all items, with loop-carried values.
    pub(super) fn begin_loop(&mut self, carried: &[Value]) -> Loop {
        let (begin, bytes) = (self.b.ins().iconst(I64, 0), self.field(I64, Field::Bytes));
        self.begin_loop_over(begin, bytes, carried)
    }

    /// Begins a loop from one offset in a row to another, with at least one iteration.
    fn begin_loop_over(&mut self, begin: Value, bytes: Value, carried: &[Value]) -> Loop {
        let body = self.b.create_block();
        let offset = self.b.append_block_param(body, I64);
        let values = carried.iter().map(|&value| {
            let ty = self.b.func.dfg.value_type(value);
            self.b.append_block_param(body, ty)
        });
        let carried_in = values.collect();
        let args: Vec<_> = std::iter::once(begin).chain(carried.iter().copied()).map(Into::into).collect();
        self.b.ins().jump(body, &args);
        self.b.switch_to_block(body);
        Loop { body, bytes, offset, carried: carried_in }
    }

    /// Ends a loop whose iterations process `items` items. Returns the final loop-carried values.
    pub(super) fn end_loop(&mut self, around: &Loop, items: u32, carried: &[Value]) -> Vec<Value> {
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

    /// Fills the row of a cell from its slot and its shape.
    pub fn spread(&mut self, cell: Cell, truth: bool, shape: Shape) {
        let mut first = self.slot(cell);
        if truth {
            first = self.b.ins().ineg(first);
        }
        let row = self.map.cell(cell);
        let Shape::Grid(..) = shape else {
            let (row, bytes) = (self.row_address(row), self.field(I64, Field::Bytes));
            let stride = self.b.ins().iconst(I32, i64::from(shape.stride()));
            self.call(context::fill as *const () as usize, &[row, bytes, first, stride], None);
            return;
        };
        let first = self.ramp(first, 0);
        let around = self.begin_loop(&[]);
        let at = self.b.ins().iadd(self.context, around.offset);
        for u in 0..CHUNK / 4 {
            let word = self.on_grid(first, shape, at, 16 * u as i32);
            self.b.ins().store(here(), word, at, self.map.row(row) + 16 * u as i32);
        }
        self.end_loop(&around, CHUNK, &[]);
    }

    /// Returns the values of four items on a grid: a splat of the first item's value plus the terms of both axes. `at`
    /// is the offset of the items from `context`.
    fn on_grid(&mut self, first: Value, shape: Shape, context: Value, at: i32) -> Value {
        let Shape::Grid(x, y) = shape else { return first };
        let mut sum = first;
        for (row, by) in ALONG.into_iter().zip([x, y]).filter(|(_, by)| *by != 0) {
            let offset = self.map.row(row) + at;
            let along = self.b.ins().load(I32X4, here(), context, offset);
            let grown = match by {
                1 => along,
                by if by.is_power_of_two() => self.b.ins().ishl_imm_s(along, i64::from(by.ilog2())),
                by => {
                    let by = constant(self.b, I32X4, by);
                    self.b.ins().imul(along, by)
                }
            };
            sum = self.b.ins().iadd(sum, grown);
        }
        sum
    }

    /// Returns the numbers of the first four items.
    fn ramp_from_zero(&mut self) -> Value {
        let zero = self.b.ins().iconst(I32, 0);
        self.ramp(zero, 1)
    }

    /// Returns four words that begin with `first` and increase by `stride`.
    pub(super) fn ramp(&mut self, first: Value, stride: u32) -> Value {
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

impl BlockEmitter<'_, '_, '_> {
    /// Emits the loop of a stage for all items of the row.
    pub(super) fn body(&mut self, number: u32, stage: &Stage) {
        let condition = self.unit.condition.filter(|_| stage.condition && !self.masked);
        if let (Some(condition), Some(Split::ByEnds)) = (condition, self.split)
            && let Some(known) = self.same_for_all(condition)
        {
            self.is_told = true;
            if !stage.keeps.is_empty() || !stage.stores.is_empty() {
                self.each_item(number, stage);
            }
            return self.say_part(condition, known);
        }
        let is_only_asked = stage.keeps.is_empty() && stage.stores.is_empty();
        let known = condition.filter(|_| is_only_asked).and_then(|condition| self.same_for_all(condition));
        let Some([all, none]) = known else { return self.each_item(number, stage) };
        let (each, done) = (self.e.b.create_block(), self.e.b.create_block());
        let known = self.e.b.ins().bor(all, none);
        let [any, other] = [(); 2].map(|()| self.e.b.append_block_param(done, I8));
        self.e.b.ins().brif(known, done, &[all.into(), none.into()], each, &[]);
        self.e.b.switch_to_block(each);
        // Scalars that are computed in this branch are not available after the branch.
        let scalars = self.scalars.clone();
        self.each_item(number, stage);
        self.scalars = scalars;
        let (yes, no) = self.condition.unwrap_or((all, none));
        self.e.b.ins().jump(done, &[yes.into(), no.into()]);
        self.e.b.switch_to_block(done);
        self.condition = Some((any, other));
    }

    /// Emits a condition whose value is known from both ends of the row. If the value is mixed, sets the header field
    /// for splitting the row. Every split is correct, because each part runs as a row of its own.
    fn say_part(&mut self, condition: Id, [all, none]: [Value; 2]) {
        let (cut, done) = (self.e.b.create_block(), self.e.b.create_block());
        self.e.b.set_cold_block(cut);
        let known = self.e.b.ins().bor(all, none);
        self.e.b.ins().brif(known, done, &[], cut, &[]);
        self.e.b.switch_to_block(cut);
        let least = self.cut(condition);
        let least = self.e.b.ins().ireduce(I32, least);
        self.e.set_field(Field::Cut, least);
        self.e.b.ins().jump(done, &[]);
        self.e.b.switch_to_block(done);
        // If the ends do not show that the condition is false for all items, it may be true for some.
        let b = &mut self.e.b;
        self.condition = Some((b.ins().bxor_imm_s(none, 1), b.ins().bxor_imm_s(all, 1)));
    }

    /// Returns the offset in a row at which loops begin.
    pub(super) fn begin(&mut self) -> Value {
        if self.masked { self.e.field(I64, Field::Begin) } else { self.e.b.ins().iconst(I64, 0) }
    }

    /// Returns the value of an affine word at the start of the loops.
    fn grown(&mut self, first: Value, stride: u32, begin: Value) -> Value {
        if !self.masked || stride == 0 {
            return first;
        }
        let b = &mut self.e.b;
        let items = b.ins().ireduce(I32, begin);
        let items = b.ins().ushr_imm_s(items, 2);
        let by = b.ins().imul_imm_s(items, i64::from(stride.cast_signed()));
        b.ins().iadd(first, by)
    }

    /// Advances a strided access to the start of the loops.
    fn moved_on(&mut self, of: Strided, begin: Value) -> Strided {
        if !self.masked {
            return of;
        }
        let b = &mut self.e.b;
        let items = b.ins().ushr_imm_s(begin, 2);
        let by = b.ins().imul(items, of.step);
        Strided { at: b.ins().iadd(of.at, by), ..of }
    }

    /// Emits the loop of a stage. Accesses check the guard of every item of a row, so the guard is cleared for items
    /// that the loop skips.
    fn each_item(&mut self, number: u32, stage: &Stage) {
        self.make_loop(number, stage);
        let (accesses, is_masked) = (&self.dataflow.accesses, self.masked);
        let is_guard = |id: Id| is_masked && accesses.iter().any(|access| access.guard == Some(id));
        for &(_, home) in stage.keeps.iter().filter(|&&(id, _)| is_guard(id)) {
            let row = self.home(home, 0);
            self.e.call(context::clear_outside as *const () as usize, &[self.e.context, row], None);
        }
    }

    fn make_loop(&mut self, number: u32, stage: &Stage) {
        let bytes = match stage.first.and_then(|holds| Bound::of(self.dataflow, holds)) {
            Some(bound) => {
                let items = self.chunks_of_first(bound);
                self.e.b.ins().ishl_imm_s(items, 2)
            }
            None => self.e.field(I64, Field::Bytes),
        };
        let begin = self.begin();
        if self.each_wide(number, stage, [begin, bytes]) {
            return;
        }
        if self.vectorizer().is_narrow(stage) {
            return self.each_eight(stage);
        }
        self.e.has_loops = true;
        let unroll = match stage.body.len() {
            0..=12 => 4,
            13..=32 => 2,
            _ => 1,
        }
        .min(self.e.max_unroll);
        // Loop-invariant values that the loop reads.
        let mut splats = vec![None; self.scalars.len()];
        let mut pointers: Vec<(Id, Value)> = Vec::new();
        let mut ramps: Vec<(Id, Value)> = Vec::new();
        let mut strided: Vec<u32> = Vec::new();
        for id in self.read_by(stage) {
            match self.plan.class[id.index()] {
                Class::Uniform if self.dataflow.constant(id).is_none() => {
                    splats[id.index()] = Some(self.scalar_vector(id));
                }
                Class::Affine => {
                    let (first, stride) = (self.scalar(id), self.dataflow.shape(id).stride());
                    let first = self.grown(first, stride, begin);
                    let first = self.e.ramp(first, stride);
                    if stride == 0 {
                        splats[id.index()] = Some(first);
                    } else {
                        ramps.push((id, first));
                    }
                }
                Class::Loaded => match self.dataflow.op(id) {
                    Op::Loaded(number, _) if self.plan.strided[number as usize] => {
                        if !strided.contains(&number) {
                            strided.push(number);
                        }
                    }
                    _ => pointers.push((id, self.row(id))),
                },
                _ => {}
            }
        }
        for &(number, _) in &stage.stores {
            if self.plan.methods[number as usize] == Method::StoreStrided && !strided.contains(&number) {
                strided.push(number);
            }
        }
        let moved_on = |number| {
            let of = self.strided(number)?;
            Some(self.moved_on(of, begin))
        };
        let strided: Vec<Strided> = strided.into_iter().filter_map(moved_on).collect();
        let stores: Vec<(Id, Value)> = (stage.stores.iter())
            .filter(|(number, _)| self.plan.methods[*number as usize] == Method::StoreDirect)
            .filter_map(|&(number, word)| Some((word, self.accesses[number as usize]?.row)))
            .collect();
        let condition = self.unit.condition.filter(|_| stage.condition && !self.is_told);
        let asks = condition.is_some() && !self.masked;
        let mut rows: Vec<(Value, Value)> = Vec::new();
        for &(_, row) in pointers.iter().chain(&stores) {
            if !rows.iter().any(|(from, _)| *from == row) {
                rows.push((row, self.e.fresh(row)));
            }
        }
        // State of the condition: whether it holds for an item, whether it fails for an item, and the numbers of the
        // next four items.
        let mut carried = Vec::new();
        let mut limit = None;
        if asks {
            let zero = constant(self.e.b, I32X4, 0);
            let first = self.e.ramp_from_zero();
            carried.extend([zero, zero, first]);
            let items = self.e.field(I32, Field::Items);
            limit = Some(self.e.b.ins().splat(I32X4, items));
        }
        let count = carried.len();
        carried.extend(ramps.iter().map(|(_, first)| *first));
        carried.extend(strided.iter().map(|of| of.at));
        let around = self.e.begin_loop_over(begin, bytes, &carried);
        let (mut sums, rest) = (around.carried.clone(), around.carried.get(count..).unwrap_or_default());
        let (ramps_in, places_in) = rest.split_at(ramps.len().min(rest.len()));
        let strided = strided.iter().zip(places_in).map(|(of, &at)| Strided { at, ..*of }).collect();
        sums.truncate(count);
        for (&(id, _), &value) in ramps.iter().zip(ramps_in) {
            splats[id.index()] = Some(value);
        }
        rows.iter_mut().for_each(|(_, row)| *row = self.e.b.ins().iadd(*row, around.offset));
        let context = self.e.b.ins().iadd(self.e.context, around.offset);
        let mut iteration = Iteration {
            stage: number,
            loaded: vec![None; self.scalars.len()],
            values: vec![[None; 4]; self.scalars.len()],
            floats: vec![[None; 4]; self.scalars.len()],
            strided,
            words: vec![[None; 4]; self.accesses.len()],
            context,
            splats,
            rows,
        };
        for (id, row) in pointers {
            iteration.loaded[id.index()] = iteration.moved(row).map(|row| (row, self.lanes(stage, id)));
        }
        for u in 0..unroll {
            for &id in &stage.body {
                match vector::has_any_nan(self.dataflow.op(id)) {
                    true => self.float(&mut iteration, id, u),
                    false => self.vector(&mut iteration, id, u),
                };
            }
            let kept: Vec<(Home, Value)> =
                stage.keeps.iter().map(|&(id, home)| (home, self.vector(&mut iteration, id, u))).collect();
            let stored: Vec<(Value, Value)> =
                stores.iter().map(|&(id, row)| (row, self.vector(&mut iteration, id, u))).collect();
            let mut elements: Vec<(u32, ArrayVec<Value, 4>)> = Vec::new();
            for &(number, word) in &stage.stores {
                if self.plan.methods[number as usize] != Method::StoreStrided {
                    continue;
                }
                let value = self.vector(&mut iteration, word, u);
                match elements.last_mut().filter(|(last, _)| *last == number) {
                    Some((_, words)) => words.push(value),
                    None => elements.push((number, ArrayVec::from_iter([value]))),
                }
            }
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
            for &(number, ref words) in &elements {
                if let Some(of) = iteration.strided.iter().find(|of| of.number == number) {
                    of.store(self.e.b, words, 4 * u);
                }
            }
            if let Some(held) = held {
                self.keep(&iteration, CONDITION, held, u);
                if let ([any, other, number], Some(limit)) = (&mut sums[..], limit) {
                    let four = constant(self.e.b, I32X4, 4);
                    let b = &mut self.e.b;
                    let valid = b.ins().icmp(IntCC::SignedLessThan, *number, limit);
                    *number = b.ins().iadd(*number, four);
                    let (yes, no) = (b.ins().band(held, valid), b.ins().band_not(valid, held));
                    *any = b.ins().bor(*any, yes);
                    *other = b.ins().bor(*other, no);
                }
            }
        }
        for (&(id, _), &value) in ramps.iter().zip(ramps_in) {
            let by = self.dataflow.shape(id).stride().wrapping_mul(4 * unroll);
            let by = constant(self.e.b, I32X4, by);
            sums.push(self.e.b.ins().iadd(value, by));
        }
        for of in &iteration.strided {
            let by = self.e.b.ins().imul_imm_s(of.step, i64::from(4 * unroll));
            sums.push(self.e.b.ins().iadd(of.at, by));
        }
        let mut sums = self.e.end_loop(&around, 4 * unroll, &sums);
        sums.truncate(count);
        if let [any, other, _] = sums[..] {
            self.condition = Some((self.e.b.ins().vany_true(any), self.e.b.ins().vany_true(other)));
        }
    }

    /// Returns the values that a loop reads from outside.
    pub(super) fn read_by(&self, stage: &Stage) -> Vec<Id> {
        let mut read: Vec<Id> = stage.body.iter().flat_map(|&id| self.dataflow.args(id)).collect();
        read.extend(stage.keeps.iter().map(|&(id, _)| id));
        read.extend(stage.stores.iter().map(|&(_, id)| id));
        read.extend(self.unit.condition.filter(|_| stage.condition));
        read.sort_unstable();
        read.dedup();
        read
    }

    /// Returns the type in which a loop loads a value. If all users work on bytes, this type permits a memory operand.
    pub(super) fn lanes(&self, stage: &Stage, id: Id) -> Type {
        let mut users = stage.body.iter().filter(|&&user| self.dataflow.args(user).contains(&id));
        let bytes = |&user: &Id| matches!(self.dataflow.op(user), Op::Video(VideoOp { lanes: Lanes::Four, .. }));
        if users.all(bytes) { I8X16 } else { I32X4 }
    }

    pub(super) fn keep(&mut self, iteration: &Iteration, row: VectorId, value: Value, u: u32) {
        let offset = self.e.map.row(row) + 16 * u as i32;
        self.e.b.ins().store(here(), value, iteration.context, offset);
    }

    /// Returns a strided access, positioned at its first element.
    pub(super) fn strided(&self, number: u32) -> Option<Strided> {
        let (Action::Load { width, .. } | Action::Store { width, .. }) = self.dataflow.accesses[number as usize].action
        else {
            return None;
        };
        let signed = matches!(self.dataflow.accesses[number as usize].action, Action::Load { signed: true, .. });
        let Found { row: at, step, .. } = self.accesses[number as usize]?;
        Some(Strided { number, width, signed, at, step })
    }

    /// Returns a word of a strided load for four items.
    fn element(&mut self, iteration: &mut Iteration, number: u32, k: u8, u: u32) -> Value {
        let known = &mut iteration.words[number as usize][u as usize];
        let words = match (*known, iteration.strided.iter().find(|of| of.number == number)) {
            (Some(words), _) => words,
            (None, Some(of)) => *known.insert(of.load(self.e.b, 4 * u)),
            (None, None) => [None; 4],
        };
        match words.get(usize::from(k)) {
            Some(&Some(word)) => word,
            _ => constant(self.e.b, I32X4, 0),
        }
    }

    /// Returns `true` if the loop computes the value.
    fn is_here(&self, iteration: &Iteration, id: Id) -> bool {
        self.plan.class[id.index()] == Class::Inline && self.plan.stage_of[id.index()] == iteration.stage
    }

    /// Returns the operands of an operation.
    fn vectors(&mut self, iteration: &mut Iteration, id: Id, u: u32) -> [Value; 3] {
        let takes_any = vector::takes_any_nan(self.dataflow.op(id));
        let args = self.dataflow.args(id);
        let each = args.iter().map(|&arg| match takes_any {
            true => self.float(iteration, arg, u),
            false => self.vector(iteration, arg, u),
        });
        let values: ArrayVec<Value, MOST> = each.collect();
        let fill = values.first().copied().unwrap_or(self.e.context);
        std::array::from_fn(|k| values.get(k).copied().unwrap_or(fill))
    }

    /// Returns a value for four items whose NaNs need not be canonical, for users that treat all NaNs alike.
    fn float(&mut self, iteration: &mut Iteration, id: Id, u: u32) -> Value {
        let known = iteration.floats[id.index()][u as usize].or(iteration.values[id.index()][u as usize]);
        if let Some(value) = known {
            return value;
        }
        let op = self.dataflow.op(id);
        let args = self.dataflow.args(id);
        let value = match op {
            _ if !self.is_here(iteration, id) => return self.vector(iteration, id, u),
            op if vector::has_any_nan(op) => {
                let values = self.vectors(iteration, id, u);
                vector::compute_float(self.e.b, op, values)
            }
            // An operation on the sign alone keeps NaN a NaN.
            Op::Xor | Op::And
                if let &[x, bits] = args.as_slice()
                    && is_of_sign(self.dataflow, op, bits) =>
            {
                let (x, bits) = (self.float(iteration, x, u), self.vector(iteration, bits, u));
                let x = vector::cast(self.e.b, I32X4, x);
                vector::compute(self.e.b, op, [x, bits, bits])
            }
            _ => return self.vector(iteration, id, u),
        };
        iteration.floats[id.index()][u as usize] = Some(value);
        value
    }

    /// Returns a value for four items.
    pub(super) fn vector(&mut self, iteration: &mut Iteration, id: Id, u: u32) -> Value {
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
                let shape = self.dataflow.shape(id);
                let start = iteration.splats[id.index()].unwrap_or(self.e.context);
                match shape {
                    Shape::Grid(..) => self.e.on_grid(start, shape, iteration.context, at),
                    _ if u == 0 => start,
                    _ => {
                        let by = constant(self.e.b, I32X4, shape.stride().wrapping_mul(4 * u));
                        self.e.b.ins().iadd(start, by)
                    }
                }
            }
            (Class::Loaded, Op::Loaded(number, k)) if self.plan.strided[number as usize] => {
                self.element(iteration, number, k, u)
            }
            (Class::Loaded, _) => match iteration.loaded[id.index()] {
                Some((row, ty)) => self.e.b.ins().load(ty, anywhere(), row, at),
                None => constant(self.e.b, I32X4, 0),
            },
            (Class::Inline, op) if self.is_here(iteration, id) && vector::has_any_nan(op) => {
                let value = self.float(iteration, id, u);
                vector::one_nan(self.e.b, value)
            }
            (Class::Inline, op) if self.is_here(iteration, id) => {
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
                    let values = self.vectors(iteration, id, u);
                    vector::compute(self.e.b, op, values)
                }
            }
            _ => {
                let row = match self.plan.rows[id.index()] {
                    Some(Home::Cell(cell)) => self.e.map.cell(cell),
                    Some(Home::Temporary(number)) => self.e.map.temporary(number),
                    Some(Home::Mask) => MASK,
                    Some(Home::Loaded(_) | Home::Stored(_)) | None => NO_ROW,
                };
                let offset = self.e.map.row(row) + at;
                self.e.b.ins().load(I32X4, here(), iteration.context, offset)
            }
        };
        iteration.values[id.index()][u as usize] = Some(value);
        value
    }
}

impl Iteration {
    /// Returns a row of the loop, advanced to the items of the iteration.
    pub(super) fn moved(&self, row: Value) -> Option<Value> {
        self.rows.iter().find(|(from, _)| *from == row).map(|&(_, moved)| moved)
    }
}
