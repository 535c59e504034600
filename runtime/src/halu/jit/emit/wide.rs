//! Loops over items in vectors of 256 bits, as functions of their own.

use super::*;
use crate::halu::jit::vector::video::{LaneOp, of_words};
use crate::halu::jit::wide::{self, Loop, Opcode, Place, Predicate, Shift, Step};
use crate::native::{FunctionId, NativeBuilder, NativeCode, NativeError};
use halfbyte_isa::half::NAN_F32;

/// A function that compiled code calls by its address, which is there once all code is.
pub(super) struct WideFunction {
    code: Vec<u8>,
    address: usize,
}

impl Constants {
    /// Adds the functions of the loops to those that have been compiled.
    pub fn define_wide(&self, native: &mut NativeBuilder) -> Result<Vec<FunctionId>, NativeError> {
        self.wide.iter().map(|function| native.define_code(&function.code)).collect()
    }

    /// Tells compiled code where they are.
    pub fn link_wide(&mut self, native: &NativeCode, functions: &[FunctionId]) {
        for (function, &id) in self.wide.iter_mut().zip(functions) {
            function.address = native.address(id).map_or(0, <*const u8>::addr);
            function.code = Vec::new();
        }
    }
}

/// A loop on its way, and what it is called with.
struct Wide<'s> {
    number: u32,
    stage: &'s Stage,
    code: Loop,
    values: Vec<Option<Step>>,
    /// Floats whose NaNs are not canonical yet, for operations that do the same for all NaNs.
    floats: Vec<Option<Step>>,
    /// The canonical NaN, which all others are given.
    nan: Option<Step>,
    /// What has the addresses of the rows that the loop reads and writes.
    rows: Vec<Row>,
    /// Those that are the same for all items.
    words: Vec<Word>,
}

/// A word of a loop.
#[derive(Clone, Copy)]
enum Word {
    Of(Id),
    Is(u32),
}

/// What has the address of a row.
#[derive(Clone, Copy, PartialEq)]
enum Row {
    /// The context, for all rows of its own.
    Context,
    /// What an access found or will write, and which of its rows.
    Access(u32, u8),
}

impl Wide<'_> {
    /// The number of an address in the table; none where there are too many.
    fn address(&mut self, row: Row) -> Option<u8> {
        if let Some(number) = self.rows.iter().position(|&other| other == row) {
            return u8::try_from(number).ok();
        }
        let number = self.code.row()?;
        self.rows.push(row);
        Some(number)
    }
}

impl BlockEmitter<'_, '_, '_> {
    /// Makes the loop of a stage, from one offset in a row to another, in wide vectors, where this computer has them and the loop a form in them.
    pub(super) fn each_wide(&mut self, number: u32, stage: &Stage, [begin, bytes]: [Value; 2]) -> bool {
        let asks = stage.condition && !self.is_told;
        if asks && !self.masked || !wide::is_here() {
            return false;
        }
        let values = vec![None; self.scalars.len()];
        let (floats, code) = (values.clone(), Loop::default());
        let wide = Wide { number, stage, code, values, floats, nan: None, rows: Vec::new(), words: Vec::new() };
        let Some(Wide { code, rows, words, .. }) = self.wide_loop(wide) else { return false };
        let (table, Some((machine_code, table_bytes))) = (code.table(), code.code()) else { return false };
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, table_bytes, 3);
        let slot = self.e.b.create_sized_stack_slot(slot);
        for (number, row) in (0..).zip(rows) {
            let address = match row {
                Row::Context => self.e.context,
                Row::Access(access, k) => self.home(Home::Loaded(access), k),
            };
            self.e.b.ins().stack_store(I64, address, slot, table.row(number));
        }
        for (number, word) in (0..).zip(words) {
            let word = match word {
                Word::Of(id) if self.is_truth(id) => {
                    let word = self.scalar(id);
                    self.all_ones(word)
                }
                Word::Of(id) => self.scalar(id),
                Word::Is(word) => self.e.b.ins().iconst(I32, i64::from(word)),
            };
            self.e.b.ins().stack_store(I64, word, slot, table.word(number));
        }
        let function = Box::new(WideFunction { code: machine_code, address: 0 });
        let address = std::ptr::from_ref(&function.address) as usize;
        self.e.constants.wide.push(function);
        let address = self.e.b.ins().iconst(I64, address as i64);
        let callee = self.e.b.ins().load(I64, here(), address, 0);
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params = vec![AbiParam::new(I64); 3];
        let signature = self.e.b.import_signature(signature);
        let slot = self.e.b.ins().stack_addr(I64, slot, 0);
        self.e.b.ins().call_indirect(signature, callee, &[slot, begin, bytes]);
        true
    }

    fn wide_loop<'s>(&self, mut wide: Wide<'s>) -> Option<Wide<'s>> {
        let stage = wide.stage;
        for &id in &stage.body {
            self.wide_float(&mut wide, id)?;
        }
        let kept = stage.keeps.iter().map(|&(id, home)| (Some(home), id));
        let stored = stage.stores.iter().map(|&(number, id)| (Some(Home::Stored(number)), id));
        let asked = self.unit.condition.filter(|_| stage.condition && self.masked).map(|id| (None, id));
        let is_direct = |number: u32| self.plan.methods.get(number as usize) == Some(&Method::StoreDirect);
        if !stage.stores.iter().all(|&(number, _)| is_direct(number)) {
            return None;
        }
        for (home, id) in kept.chain(stored).chain(asked) {
            let value = self.wide_value(&mut wide, id)?;
            let place = match home {
                Some(home) => self.wide_home(&mut wide, home, 0)?,
                None => self.wide_row(&mut wide, CONDITION)?,
            };
            wide.code.store(place, value);
        }
        Some(wide)
    }

    /// Eight items' values; none where there are none in wide vectors.
    fn wide_value(&self, wide: &mut Wide<'_>, id: Id) -> Option<Step> {
        if let Some(step) = wide.values[id.index()] {
            return Some(step);
        }
        let op = self.dataflow.op(id);
        let step = match (self.plan.class[id.index()], op) {
            (Class::Uniform, _) => {
                wide.words.push(Word::Of(id));
                wide.code.word()?
            }
            (Class::Affine | Class::Access, _) => return None,
            (Class::Loaded, Op::Loaded(number, _)) if self.plan.strided[number as usize] => return None,
            (Class::Inline, op) if self.is_of(wide, id) && vector::has_any_nan(op) => {
                let float = self.wide_float(wide, id)?;
                let nan = match wide.nan {
                    Some(nan) => nan,
                    None => {
                        wide.words.push(Word::Is(NAN_F32));
                        wide.code.word()?
                    }
                };
                wide.nan = Some(nan);
                wide.code.or_if_nan(float, nan)
            }
            (Class::Inline, op) if self.is_of(wide, id) => self.wide_op(wide, op, id)?,
            (_, op) => {
                let k = if let Op::Loaded(_, k) = op { k } else { 0 };
                let place = self.wide_home(wide, self.plan.rows[id.index()]?, k)?;
                wide.code.load(place)
            }
        };
        wide.values[id.index()] = Some(step);
        Some(step)
    }

    /// A row of the context.
    fn wide_row(&self, wide: &mut Wide<'_>, row: VectorId) -> Option<Place> {
        Some(Place { row: wide.address(Row::Context)?, at: self.e.map.row(row) })
    }

    fn wide_home(&self, wide: &mut Wide<'_>, home: Home, k: u8) -> Option<Place> {
        match home {
            Home::Cell(cell) => self.wide_row(wide, self.e.map.cell(cell)),
            Home::Mask => self.wide_row(wide, MASK),
            Home::Temporary(number) => self.wide_row(wide, self.e.map.temporary(number)),
            Home::Loaded(number) | Home::Stored(number) => {
                Some(Place { row: wide.address(Row::Access(number, k))?, at: 0 })
            }
        }
    }

    /// Whether the loop computes a value.
    fn is_of(&self, wide: &Wide<'_>, id: Id) -> bool {
        self.plan.class[id.index()] == Class::Inline && self.plan.stage_of[id.index()] == wide.number
    }

    /// Eight items' values for an operation that does the same for all NaNs.
    fn wide_float(&self, wide: &mut Wide<'_>, id: Id) -> Option<Step> {
        if let Some(step) = wide.floats[id.index()].or(wide.values[id.index()]) {
            return Some(step);
        }
        let (op, args) = (self.dataflow.op(id), self.dataflow.args(id));
        let step = match (op, args.as_slice()) {
            _ if !self.is_of(wide, id) => return self.wide_value(wide, id),
            (Op::FAdd | Op::FMul | Op::FDiv, &[x, y]) => {
                let (x, y) = (self.wide_float(wide, x)?, self.wide_float(wide, y)?);
                let opcode = match op {
                    Op::FAdd => Opcode::FLOAT_ADD,
                    Op::FMul => Opcode::FLOAT_MUL,
                    _ => Opcode::FLOAT_DIV,
                };
                wide.code.binary(opcode, x, y)
            }
            (Op::Fma, &[x, y, z]) => {
                let [x, y, z] = [x, y, z].map(|arg| self.wide_float(wide, arg));
                wide.code.multiply_add(x?, y?, z?)
            }
            (Op::Xor | Op::And, &[x, bits]) if self.is_of_sign(op, bits) => {
                let (x, bits) = (self.wide_float(wide, x)?, self.wide_value(wide, bits)?);
                wide.code.binary(if op == Op::Xor { Opcode::XOR } else { Opcode::AND }, x, bits)
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
        let args = self.dataflow.args(id);
        let arg = |wide: &mut Wide<'_>, k: usize| self.wide_value(wide, *args.get(k)?);
        if let Op::Video(op) = op {
            let (lanes, places) = of_words(&op)?;
            let width = if op.lanes == Lanes::Four { wide::Width::B8 } else { wide::Width::B16 };
            let (a, b) = (arg(wide, places[0])?, arg(wide, places[1])?);
            return wide.code.lanes(lanes, width, a, b);
        }
        let shift = match op {
            Op::Shl => Some(Shift::Left),
            Op::Shr => Some(Shift::Right),
            Op::Sar => Some(Shift::Arithmetic),
            _ => None,
        };
        if let Some(shift) = shift {
            let count = self.dataflow.constant(*args.get(1)?)?;
            let from = arg(wide, 0)?;
            return Some(wide.code.shift(shift, from, count));
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
        if let Op::IntToFloat(true) = op {
            let number = arg(wide, 0)?;
            return Some(wide.code.float(number));
        }
        let words = |op| Opcode::of_lanes(op, wide::Width::B32);
        let (opcode, is_swapped) = match op {
            Op::And | Op::Both => (Opcode::AND, false),
            Op::Or | Op::Either => (Opcode::OR, false),
            Op::Xor | Op::Differ => (Opcode::XOR, false),
            Op::Add => (words(LaneOp::Add)?, false),
            Op::Sub => (words(LaneOp::Sub)?, false),
            Op::Mul => (Opcode::MUL, false),
            Op::Equal => (Opcode::EQUAL, false),
            Op::Less(true) => (Opcode::GREATER, true),
            _ => return None,
        };
        let (a, b) = (arg(wide, 0)?, arg(wide, 1)?);
        let (a, b) = if is_swapped { (b, a) } else { (a, b) };
        Some(wide.code.binary(opcode, a, b))
    }
}
