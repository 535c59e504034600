//! Instructions of operations.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32X4, F64X2, I8X16, I16X8, I32, I32X4, I64X2};
use cranelift_codegen::ir::{self, InstBuilder, Type, Value};
use cranelift_frontend::FunctionBuilder;

use super::{Emitter, PARTS, Parts, half};
use crate::jit::{cast, compare_lanes, constant, shuffle};
use crate::vir::{Binary, Float, Half, Node, Shift, Width};

fn type_of(width: Width) -> Type {
    match width {
        Width::B8 => I8X16,
        Width::B16 => I16X8,
        Width::B32 => I32X4,
        Width::B64 => I64X2,
    }
}

/// Returns the byte numbers of elements of two vectors. Numbers count through both vectors.
fn bytes_of(elements: &[u8]) -> [u8; 16] {
    let size = 16 / elements.len();
    std::array::from_fn(|byte| {
        elements.get(byte / size).map_or(0, |element| element * size as u8 + (byte % size) as u8)
    })
}

/// Returns words of two vectors. Numbers count through both vectors.
fn words(b: &mut FunctionBuilder<'_>, of: [Value; 2], numbers: [u8; 4]) -> Value {
    shuffle(b, of, bytes_of(&numbers))
}

/// Returns the even words in the low half.
fn even(b: &mut FunctionBuilder<'_>, of: Value) -> Value {
    words(b, [of; 2], [0, 2, 0, 2])
}

fn binary(b: &mut FunctionBuilder<'_>, op: Binary, [x, y]: [Value; 2]) -> Value {
    match op {
        Binary::Add => b.ins().iadd(x, y),
        Binary::Sub => b.ins().isub(x, y),
        Binary::Mul => b.ins().imul(x, y),
        Binary::MulEven { signed } => {
            let [x, y] = [even(b, x), even(b, y)];
            let [x, y] = match signed {
                true => [b.ins().swiden_low(x), b.ins().swiden_low(y)],
                false => [b.ins().uwiden_low(x), b.ins().uwiden_low(y)],
            };
            b.ins().imul(x, y)
        }
        Binary::AddSat { signed: true } => b.ins().sadd_sat(x, y),
        Binary::AddSat { signed: false } => b.ins().uadd_sat(x, y),
        Binary::SubSat { signed: true } => b.ins().ssub_sat(x, y),
        Binary::SubSat { signed: false } => b.ins().usub_sat(x, y),
        Binary::Min { signed: true } => b.ins().smin(x, y),
        Binary::Min { signed: false } => b.ins().umin(x, y),
        Binary::Max { signed: true } => b.ins().smax(x, y),
        Binary::Max { signed: false } => b.ins().umax(x, y),
        Binary::Average => b.ins().avg_round(x, y),
        Binary::Equal => b.ins().icmp(IntCC::Equal, x, y),
        Binary::Greater => b.ins().icmp(IntCC::SignedGreaterThan, x, y),
        Binary::And => b.ins().band(x, y),
        Binary::Or => b.ins().bor(x, y),
        Binary::Xor => b.ins().bxor(x, y),
        Binary::AndNot => b.ins().band_not(y, x),
    }
}

fn float(b: &mut FunctionBuilder<'_>, op: Float, [x, y]: [Value; 2]) -> Value {
    match op {
        Float::Add => b.ins().fadd(x, y),
        Float::Sub => b.ins().fsub(x, y),
        Float::Mul => b.ins().fmul(x, y),
        Float::Div => b.ins().fdiv(x, y),
        Float::Max => {
            let is_greater = b.ins().fcmp(FloatCC::GreaterThan, x, y);
            let ty = b.func.dfg.value_type(is_greater);
            let (x, y) = (cast(b, ty, x), cast(b, ty, y));
            b.ins().bitselect(is_greater, x, y)
        }
    }
}

fn shift(b: &mut FunctionBuilder<'_>, op: Shift, [x, count]: [Value; 2]) -> Value {
    match op {
        Shift::Left => b.ins().ishl(x, count),
        Shift::Right => b.ins().ushr(x, count),
        Shift::Arithmetic => b.ins().sshr(x, count),
    }
}

/// Interleaves the elements of the same half of two vectors.
fn unpack(b: &mut FunctionBuilder<'_>, half: Half, width: Width, of: [Value; 2]) -> Value {
    let count = 16 / type_of(width).lane_type().bytes() as u8;
    let first = if half == Half::Low { 0 } else { count / 2 };
    let elements: Vec<u8> = (first..first + count / 2).flat_map(|element| [element, element + count]).collect();
    shuffle(b, of, bytes_of(&elements))
}

/// Returns the sums of the products of two elements each.
fn multiply_bytes(b: &mut FunctionBuilder<'_>, [x, y]: [Value; 2]) -> Value {
    let [x, y] = [cast(b, I8X16, x), cast(b, I8X16, y)];
    let low = [b.ins().uwiden_low(x), b.ins().swiden_low(y)];
    let high = [b.ins().uwiden_high(x), b.ins().swiden_high(y)];
    let products = [low, high].map(|[x, y]| b.ins().imul(x, y));
    let [even, odd] = [0, 1].map(|first| {
        let elements: [u8; 8] = std::array::from_fn(|k| 2 * k as u8 + first);
        let of = shuffle(b, products, bytes_of(&elements));
        cast(b, I16X8, of)
    });
    b.ins().sadd_sat(even, odd)
}

impl Emitter<'_, '_> {
    /// Applies an operation to both halves of the operands, with elements of type `ty`.
    fn on<const N: usize>(
        &mut self,
        ty: Type,
        args: [crate::vir::Value; N],
        of: impl Fn(&mut FunctionBuilder<'_>, [Value; N]) -> Value,
    ) -> Option<Parts> {
        let mut all = [[Value::from_u32(0); N]; PARTS];
        for (place, arg) in args.into_iter().enumerate() {
            for (operands, part) in all.iter_mut().zip(self.parts(arg)?) {
                operands[place] = cast(self.b, ty, part);
            }
        }
        Some(all.map(|operands| {
            let result = of(self.b, operands);
            cast(self.b, I32X4, result)
        }))
    }

    /// Returns a half of a value.
    fn half(&self, half: Half, of: crate::vir::Value) -> Option<Value> {
        let [low, high] = self.parts(of)?;
        Some(if half == Half::Low { low } else { high })
    }

    /// Applies two operations to a half of a value, with elements of type `ty`.
    fn extend(
        &mut self,
        (ty, half, of): (Type, Half, crate::vir::Value),
        each: [fn(&mut FunctionBuilder<'_>, Value) -> Value; PARTS],
    ) -> Option<Parts> {
        let from = self.half(half, of)?;
        let from = cast(self.b, ty, from);
        Some(each.map(|extend| {
            let extended = extend(self.b, from);
            cast(self.b, I32X4, extended)
        }))
    }

    /// Returns the value of a node.
    pub(super) fn value(&mut self, node: &Node) -> Option<Parts> {
        Some(match *node {
            Node::Constant(words) => [0, PARTS].map(|part| {
                let bytes =
                    words.iter().skip(2 * part).take(4).flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
                let constant = self.b.func.dfg.constants.insert(bytes.into());
                self.b.ins().vconst(I32X4, constant)
            }),
            Node::Cell(cell) => self.cell(cell)?.map(|half| self.b.use_var(half)),
            Node::Word(word) => {
                let word = self.word(word)?;
                let word = self.b.ins().ireduce(I32, word);
                [self.b.ins().splat(I32X4, word); PARTS]
            }
            Node::Number(word) => {
                let number = self.word(word)?;
                self.splat64(number)
            }
            Node::First => {
                let first = self.b.use_var(self.item);
                let first = self.b.ins().ireduce(I32, first);
                [self.b.ins().splat(I32X4, first); PARTS]
            }
            Node::Binary(op, width, args) => self.on(type_of(width), args, |b, args| binary(b, op, args))?,
            Node::Shift(op, width, a, count) => self.on(type_of(width), [a], |b, [x]| {
                let count = b.ins().iconst(I32, i64::from(count));
                shift(b, op, [x, count])
            })?,
            Node::ShiftBy(op, args) => self.on(I32X4, args, |b, [x, counts]| {
                let mut result = x;
                for lane in 0..4 {
                    let [word, count] = [x, counts].map(|of| b.ins().extractlane(of, lane));
                    let word = shift(b, op, [word, count]);
                    result = b.ins().insertlane(result, word, lane);
                }
                result
            })?,
            Node::Select(args) => self.on(I32X4, args, |b, [mask, yes, no]| b.ins().bitselect(mask, yes, no))?,
            Node::Blend(bits, [x, y]) => {
                let (x, y) = (self.parts(x)?, self.parts(y)?);
                let mut blend = |part: usize| {
                    let numbers = std::array::from_fn(|k| k as u8 + 4 * (bits >> (4 * part + k) & 1));
                    words(self.b, [x[part], y[part]], numbers)
                };
                [blend(0), blend(1)]
            }
            Node::Bytes(select, a) => self.on(I32X4, [a], |b, [x]| {
                let zero = constant(b, I32X4, 0);
                let bytes = std::array::from_fn(|byte| match select[byte % 4] {
                    from @ 0..4 => from + 4 * (byte / 4) as u8,
                    _ => 16,
                });
                shuffle(b, [x, zero], bytes)
            })?,
            Node::Float(op, args) => self.on(F32X4, args, |b, args| float(b, op, args))?,
            Node::Fma(args) if self.has_fma => self.on(F32X4, args, |b, [x, y, z]| b.ins().fma(x, y, z))?,
            Node::Fma(args) => self.on(F32X4, args, |b, args| {
                let low = args.map(|x| b.ins().fvpromote_low(x));
                let high = args.map(|x| {
                    let high = words(b, [x; 2], [2, 3, 2, 3]);
                    let high = cast(b, F32X4, high);
                    b.ins().fvpromote_low(high)
                });
                let [low, high] = [low, high].map(|args| half::multiply_add(b, args));
                words(b, [low, high], [0, 1, 4, 5])
            })?,
            Node::Sqrt(a) => self.on(F32X4, [a], |b, [x]| b.ins().sqrt(x))?,
            Node::FloatCompare(of, args) => self.on(F32X4, args, |b, args| compare_lanes(b, of, args))?,
            Node::DoubleCompare(of, args) => self.on(F64X2, args, |b, args| compare_lanes(b, of, args))?,
            Node::Double(op, args) => self.on(F64X2, args, |b, args| float(b, op, args))?,
            Node::FloatOfInt(a) => self.on(I32X4, [a], |b, [x]| b.ins().fcvt_from_sint(F32X4, x))?,
            Node::IntOfFloat(a) => self.on(F32X4, [a], |b, [x]| {
                let word = b.ins().fcvt_to_sint_sat(I32X4, x);
                let (limit, none) = (constant(b, F32X4, 0x4F00_0000), constant(b, I32X4, 0x8000_0000));
                let is_held = b.ins().fcmp(FloatCC::LessThan, x, limit);
                b.ins().bitselect(is_held, word, none)
            })?,
            Node::HalfFloat(..) | Node::HalfFma(_) => return None,
            Node::WidenHalves(half, a) => self.extend(
                (I16X8, half, a),
                [
                    |b, x| {
                        let words = b.ins().uwiden_low(x);
                        half::widen(b, words)
                    },
                    |b, x| {
                        let words = b.ins().uwiden_high(x);
                        half::widen(b, words)
                    },
                ],
            )?,
            Node::NarrowHalves(rounding, args) => {
                let mut halves = [Value::from_u32(0); PARTS];
                for (place, arg) in halves.iter_mut().zip(args) {
                    let [low, high] = self.parts(arg)?.map(|part| half::narrow(self.b, rounding, part));
                    let packed = self.b.ins().unarrow(low, high);
                    *place = cast(self.b, I32X4, packed);
                }
                halves
            }
            Node::WidenFloats(half, a) => self.extend(
                (F32X4, half, a),
                [
                    |b, x| b.ins().fvpromote_low(x),
                    |b, x| {
                        let high = words(b, [x; 2], [2, 3, 2, 3]);
                        let high = cast(b, F32X4, high);
                        b.ins().fvpromote_low(high)
                    },
                ],
            )?,
            Node::NarrowDoubles(args) => {
                let mut floats = [Value::from_u32(0); PARTS];
                for (place, arg) in floats.iter_mut().zip(args) {
                    let pair = self.parts(arg)?.map(|part| {
                        let doubles = cast(self.b, F64X2, part);
                        self.b.ins().fvdemote(doubles)
                    });
                    *place = words(self.b, pair, [0, 1, 4, 5]);
                }
                floats
            }
            Node::Extend { signed: true, half, of } => {
                self.extend((I32X4, half, of), [|b, x| b.ins().swiden_low(x), |b, x| b.ins().swiden_high(x)])?
            }
            Node::Extend { signed: false, half, of } => {
                self.extend((I32X4, half, of), [|b, x| b.ins().uwiden_low(x), |b, x| b.ins().uwiden_high(x)])?
            }
            Node::Extend16(half, a) => {
                self.extend((I16X8, half, a), [|b, x| b.ins().uwiden_low(x), |b, x| b.ins().uwiden_high(x)])?
            }
            Node::Every2nd { odd, split, of: [x, y] } => {
                let (x, y) = (self.parts(x)?, self.parts(y)?);
                let pairs = if split { [[x[0], y[0]], [x[1], y[1]]] } else { [x, y] };
                let numbers = if odd { [1, 3, 5, 7] } else { [0, 2, 4, 6] };
                pairs.map(|pair| words(self.b, pair, numbers))
            }
            Node::Interleave(half, [x, y]) => {
                let pair = [self.half(half, x)?, self.half(half, y)?];
                Half::BOTH.map(|half| unpack(self.b, half, Width::B32, pair))
            }
            Node::Pair(half, [x, y]) => [self.half(half, x)?, self.half(half, y)?],
            Node::Unpack(half, width, args) => self.on(I32X4, args, |b, args| unpack(b, half, width, args))?,
            Node::Pack { signed, width, of } => self.on(type_of(width), of, |b, [x, y]| match signed {
                true => b.ins().snarrow(x, y),
                false => b.ins().unarrow(x, y),
            })?,
            Node::MulAddPairs(args) => self.on(I16X8, args, |b, [x, y]| {
                let low = [b.ins().swiden_low(x), b.ins().swiden_low(y)];
                let high = [b.ins().swiden_high(x), b.ins().swiden_high(y)];
                let [low, high] = [low, high].map(|[x, y]| b.ins().imul(x, y));
                b.ins().iadd_pairwise(low, high)
            })?,
            Node::MulAddBytes(args) => self.on(I8X16, args, multiply_bytes)?,
            ref node => self.load(node)?,
        })
    }

    pub(super) fn splat64(&mut self, number: ir::Value) -> Parts {
        let all = self.b.ins().splat(I64X2, number);
        [cast(self.b, I32X4, all); PARTS]
    }
}
