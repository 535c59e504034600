//! Loops over small words in lanes of 16 bits: sixteen items at a time in wide vectors, or eight in
//! others.

use halfbyte_isa::halu::domain::Width;

use super::loops::Loop;
use super::wide::{Vectorizer, Wide};
use super::*;
use crate::jit::vector::elements::Strided;
use crate::jit::vector::video::LaneOp;
use crate::jit::wide::{self, Shift, Step, lane_row};
use crate::x86::vector::{VPAND, VPMULLW, VPOR, VPXOR};
use cranelift_codegen::ir::types::I16X8;

/// Maximum value of a lane.
const MOST: u32 = 0xFFFF;
/// Vectors per chunk.
const VECTORS: u32 = CHUNK / 8;

/// Values of an iteration.
struct Lanes8 {
    strided: Vec<Strided>,
    /// Values for each group of eight items.
    values: Vec<[Option<Value>; VECTORS as usize]>,
}

impl Vectorizer<'_> {
    /// Returns `true` if a stage only computes small numbers from small numbers that are loaded and stored as bytes or
    /// half-words.
    pub fn is_narrow(&self, stage: &Stage) -> bool {
        let is_stored = |&(number, _): &(u32, Id)| {
            let access = &self.dataflow().accesses[number as usize];
            matches!(access.action, Action::Store { width: Width::B8 | Width::B16, .. })
                && self.plan.methods[number as usize] == Method::StoreStrided
        };
        let is_loaded = |number: u32| {
            let access = &self.dataflow().accesses[number as usize];
            let is_small = matches!(access.action, Action::Load { width: Width::B8 | Width::B16, signed: false, .. });
            is_small && self.plan.strided[number as usize]
        };
        let is_small = |id: Id| self.dataflow().node(id).bits <= MOST;
        let is_read = |id: Id| match (self.plan.class[id.index()], self.dataflow().op(id)) {
            (_, Op::Const(_)) => is_small(id),
            (Class::Loaded, Op::Loaded(number, _)) => is_loaded(number),
            (class, _) => class == Class::Inline && stage.body.contains(&id),
        };
        let is_count = |id: Id| self.dataflow().constant(id).is_some_and(|count| count < 16);
        let is_computed = |&id: &Id| {
            let args = self.dataflow().args(id);
            let is_taken = match (self.dataflow().op(id), args.as_slice()) {
                (Op::Shl | Op::Shr, &[x, count]) => is_read(x) && is_count(count),
                (Op::Add | Op::And | Op::Or | Op::Xor | Op::Mul, args) => args.iter().all(|&arg| is_read(arg)),
                _ => false,
            };
            is_taken && is_small(id)
        };
        let is_bare = stage.keeps.is_empty() && !stage.condition && stage.first.is_none() && !self.masked;
        is_bare
            && !stage.stores.is_empty()
            && stage.stores.iter().all(is_stored)
            && stage.stores.iter().all(|&(_, word)| is_read(word))
            && stage.body.iter().all(is_computed)
    }

    /// Emits a narrow stage in wide vectors.
    pub(super) fn narrow_steps<'s>(&self, mut wide: Wide<'s>) -> Option<Wide<'s>> {
        for &id in &wide.stage.body {
            self.sixteen(&mut wide, id)?;
        }
        for &(number, word) in &wide.stage.stores {
            let mut value = self.sixteen(&mut wide, word)?;
            let place = self.wide_home(&mut wide, Home::Stored(number), 0)?;
            if place.item == wide::Width::B8 && self.dataflow().node(word).bits > 0xFF {
                let byte = wide.constant(0x00FF_00FF);
                value = wide.code.binary(&VPAND, value, byte);
            }
            wide.code.store(place, value);
        }
        Some(wide)
    }

    /// Returns a value for sixteen items.
    fn sixteen(&self, wide: &mut Wide<'_>, id: Id) -> Option<Step> {
        if let Some(step) = *wide.values.get(id.index())? {
            return Some(step);
        }
        let (op, args) = (self.dataflow().op(id), self.dataflow().args(id));
        let step = match (op, args.as_slice()) {
            (Op::Const(word), _) => wide.constant(word << 16 | word),
            (Op::Loaded(number, _), _) => {
                let place = self.wide_home(wide, Home::Loaded(number), 0)?;
                wide.code.load(place, false)
            }
            (Op::Shl | Op::Shr, &[x, count]) => {
                let x = self.sixteen(wide, x)?;
                let shift = if op == Op::Shl { Shift::Left } else { Shift::Right };
                wide.code.shift(shift, x, self.dataflow().constant(count)?)
            }
            (_, &[x, y]) => {
                let opcode = match op {
                    Op::Add => lane_row(LaneOp::Add, wide::Width::B16)?,
                    Op::And => &VPAND,
                    Op::Or => &VPOR,
                    Op::Xor => &VPXOR,
                    Op::Mul => &VPMULLW,
                    _ => return None,
                };
                let (x, y) = (self.sixteen(wide, x)?, self.sixteen(wide, y)?);
                wide.code.binary(opcode, x, y)
            }
            _ => return None,
        };
        *wide.values.get_mut(id.index())? = Some(step);
        Some(step)
    }
}

impl BlockEmitter<'_, '_, '_> {
    /// Emits the loop of a narrow stage in vectors of eight items.
    pub(super) fn each_eight(&mut self, stage: &Stage) {
        let mut numbers: Vec<u32> = stage.stores.iter().map(|&(number, _)| number).collect();
        for id in self.read_by(stage) {
            if let Op::Loaded(number, _) = self.dataflow.op(id) {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        let strided: Vec<Strided> = numbers.into_iter().filter_map(|number| self.strided(number)).collect();
        self.e.has_loops = true;
        let around: Loop = self.e.begin_loop(&[]);
        // An item occupies a word in a row, but a byte or a half-word here.
        let [bytes, halves] = [2, 1].map(|by| self.e.b.ins().ushr_imm_s(around.offset(), by));
        let moved = |of: &Strided, b: &mut FunctionBuilder<'_>| {
            let by = if of.width == Width::B8 { bytes } else { halves };
            Strided { at: b.ins().iadd(of.at, by), ..*of }
        };
        let strided: Vec<Strided> = strided.iter().map(|of| moved(of, self.e.b)).collect();
        let mut lanes = Lanes8 { strided, values: vec![[None; VECTORS as usize]; self.scalars.len()] };
        for &id in &stage.body {
            (0..VECTORS).for_each(|u| {
                self.eight(&mut lanes, id, u);
            });
        }
        for &(number, word) in &stage.stores {
            let all: [Value; VECTORS as usize] = std::array::from_fn(|u| self.eight(&mut lanes, word, u as u32));
            let Some(&Strided { width, at, .. }) = lanes.strided.iter().find(|of| of.number == number) else {
                continue;
            };
            let b = &mut *self.e.b;
            if width == Width::B8 {
                let bytes = all.map(|value| {
                    if self.dataflow.node(word).bits <= 0xFF {
                        return value;
                    }
                    let byte = constant(b, I16X8, 0x00FF_00FF);
                    b.ins().band(value, byte)
                });
                let bytes = b.ins().unarrow(bytes[0], bytes[1]);
                b.ins().store(anywhere(), bytes, at, 0);
            } else {
                for (k, value) in (0..).zip(all) {
                    b.ins().store(anywhere(), value, at, 16 * k);
                }
            }
        }
        self.e.end_loop(&around, CHUNK, &[]);
    }

    /// Returns a value for eight items.
    fn eight(&mut self, lanes: &mut Lanes8, id: Id, u: u32) -> Value {
        if let Some(value) = lanes.values[id.index()][u as usize] {
            return value;
        }
        let op = self.dataflow.op(id);
        let value = match op {
            Op::Const(word) => constant(self.e.b, I16X8, word << 16 | word),
            Op::Loaded(number, _) => {
                let of = lanes.strided.iter().find(|of| of.number == number);
                let b = &mut *self.e.b;
                match of {
                    Some(of) if of.width == Width::B8 => b.ins().uload8x8(anywhere(), of.at, 8 * u as i32),
                    Some(of) => b.ins().load(I16X8, anywhere(), of.at, 16 * u as i32),
                    None => constant(b, I16X8, 0),
                }
            }
            Op::Shl | Op::Shr => {
                let args = self.dataflow.args(id);
                let x = self.eight(lanes, args[0], u);
                let count = i64::from(self.dataflow.constant(args[1]).unwrap_or(0));
                let b = &mut *self.e.b;
                if op == Op::Shl { b.ins().ishl_imm_s(x, count) } else { b.ins().ushr_imm_s(x, count) }
            }
            _ => {
                let args = self.dataflow.args(id);
                let (x, y) = (self.eight(lanes, args[0], u), self.eight(lanes, args[1], u));
                vector::integer(self.e.b, &op, x, y).unwrap_or(x)
            }
        };
        lanes.values[id.index()][u as usize] = Some(value);
        value
    }
}
