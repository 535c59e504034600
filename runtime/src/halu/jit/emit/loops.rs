//! Loops over the items of a row.

use super::*;

/// A loop over the items of a row.
pub(super) struct Loop {
    body: Block,
    bytes: Value,
    offset: Value,
    carried: Vec<Value>,
}

/// The values of an iteration of a loop: of each four items its own.
pub(super) struct Iteration {
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

impl Emitter<'_, '_> {
    /// Begins a loop over the items: its offset in a row, and values that go from iteration to iteration.
    pub(super) fn begin_loop(&mut self, carried: &[Value]) -> Loop {
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
    /// The loop of a stage.
    pub(super) fn body(&mut self, number: u32, stage: &Stage) {
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
    pub(super) fn read_by(&self, stage: &Stage) -> Vec<Id> {
        let mut read: Vec<Id> = stage.body.iter().flat_map(|&id| self.dataflow.args(id)).collect();
        read.extend(stage.keeps.iter().map(|&(id, _)| id));
        read.extend(stage.stores.iter().map(|&(_, id)| id));
        read.extend(self.unit.condition.filter(|_| stage.condition));
        read.sort_unstable();
        read.dedup();
        read
    }

    /// The lanes that a loop's operations take a value as: what is loaded as them may be an operand in memory.
    pub(super) fn lanes(&self, stage: &Stage, id: Id) -> Type {
        let mut users = stage.body.iter().filter(|&&user| self.dataflow.args(user).contains(&id));
        let bytes = |&user: &Id| matches!(self.dataflow.op(user), Op::Video(VideoOp { lanes: Lanes::Four, .. }));
        if users.all(bytes) { I8X16 } else { I32X4 }
    }

    pub(super) fn keep(&mut self, iteration: &Iteration, row: VectorId, value: Value, u: u32) {
        let offset = self.e.map.row(row) + 16 * u as i32;
        self.e.b.ins().store(here(), value, iteration.context, offset);
    }

    /// Four items' values.
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

impl Iteration {
    /// A row that the loop reads or writes, moved on to the items of the iteration.
    pub(super) fn moved(&self, row: Value) -> Option<Value> {
        self.rows.iter().find(|(from, _)| *from == row).map(|&(_, moved)| moved)
    }
}
