//! Values with wide lanes, which no register holds: the accumulator computes them as sums of
//! products. Also instructions that compute several ops at once.

pub(super) mod bytes;
mod diagnostics;
mod plan;
mod sum;
mod uses;

use halfbyte_ir::{Attr, Flow, Inst, IntCC, Kernel, Narrowings, Op, Type, Value};
use halfbyte_isa::object::Loc;
use halfbyte_isa::vp1::TARGET;
use halfbyte_isa::vp1::fields::*;
use halfbyte_isa::vp1::{Inst as Word, Opcode};

use super::super::Lowering;
use super::rules;
use crate::vcode::VReg;
use crate::vp1::builder::second;
use crate::vp1::operands::{Alu, Factor, Half, Readout, Reg, Round, Sign, Src, VFlag};
use crate::vp1::streams::Streams;
use crate::vp1::uniform::Uniform;
use crate::vp1::{Class, Group};

pub(crate) use plan::{Addend, Chain, Operand, Pair, Plan};
use plan::{Clip, Facts, Scalar, Weights};
pub(crate) use uses::Uses;

/// Register with two factors, computed before the loop over groups. The first scalar is in bytes 0
/// and 1, the second one in bytes 2 and 3.
pub(crate) struct FactorWord {
    scalars: [Scalar; 2],
    vreg: VReg,
    /// Source location of the first instruction that needs the register.
    loc: Loc,
}

/// Copy of a uniform vector in a register of its own, which the loop over groups reads.
pub(crate) struct Copied {
    of: VReg,
    copy: VReg,
    loc: Loc,
}

/// Maximum number of copies of vectors, because the loop over groups needs registers too.
const MAX_COPIES: usize = 8;

/// Returns the value that an op narrows to bytes, the signedness of its lanes, and the treatment of
/// numbers that do not fit a byte.
fn narrowing(kernel: &Kernel, inst: Inst) -> Option<(Value, Option<Sign>, Clip)> {
    let &value = kernel.args(inst).first()?;
    let (sign, clip) = match kernel.insts[inst].op {
        Op::Trunc => return Some((value, None, Clip::Wrap)),
        Op::NarrowSatS => (Sign::S, Clip::Signed),
        Op::NarrowSatU => (Sign::S, Clip::Unsigned),
        Op::NarrowSatUU => (Sign::U, Clip::Unsigned),
        _ => return None,
    };
    // A preceding saturating narrowing to half-words does not change the result, because its range
    // includes that of the bytes.
    let before = kernel.def_inst(value).and_then(|inst| Some((kernel.insts[inst].op, *kernel.args(inst).first()?)));
    let (value, sign) = match (before, sign) {
        (Some((Op::NarrowSatS, wider)), Sign::S) | (Some((Op::NarrowSatU, wider)), Sign::U) => (wider, Sign::S),
        (Some((Op::NarrowSatUU, wider)), Sign::U) => (wider, Sign::U),
        _ => (value, sign),
    };
    Some((value, Some(sign), clip))
}

/// Returns the shift count that all wide lanes of a constant have.
pub(in crate::vp1::lowering) fn wide_count(kernel: &Kernel, value: Value) -> Option<u8> {
    kernel.ty(value).is_wide().then(|| sum::count(kernel, value))?.map(|count| count as u8)
}

/// If an op clamps a byte, returns the byte and its two bounds. The first bound is never greater
/// than the second, or the order of the bounds does not matter.
pub(in crate::vp1::lowering) fn held_between(kernel: &Kernel, inst: Inst) -> Option<(Value, Value, Value)> {
    let outer = kernel.insts[inst].op;
    let inner = match outer {
        Op::MinS => Op::MaxS,
        Op::MaxS => Op::MinS,
        _ => return None,
    };
    let args_of = |op: Op, value: Value| {
        let inst = kernel.def_inst(value).filter(|&inst| kernel.insts[inst].op == op)?;
        <[Value; 2]>::try_from(kernel.args(inst)).ok()
    };
    let &[a, b] = kernel.args(inst) else { return None };
    [(a, b), (b, a)].into_iter().find_map(|(held, end)| {
        let [x, y] = args_of(inner, held)?;
        [(x, y), (y, x)].into_iter().find_map(|(value, other)| {
            let (low, high) = if outer == Op::MinS { (other, end) } else { (end, other) };
            if bytes::ordered(kernel, low, high) {
                return Some((value, low, high));
            }
            // The bounds are the minimum and the maximum of the same two values, which may be passed in either order.
            let (least, most) = (args_of(Op::MinS, low)?, args_of(Op::MaxS, high)?);
            let [a, b] = least;
            (most == [a, b] || most == [b, a]).then_some((value, a, b))
        })
    })
}

/// If an op compares an absolute difference with a limit, returns the condition, the limit, and the
/// two operands of the difference.
pub(in crate::vp1::lowering) fn compared_difference(
    kernel: &Kernel,
    inst: Inst,
) -> Option<(IntCC, Value, Value, Value)> {
    let data = &kernel.insts[inst];
    let (Attr::IntCC(cc), &[x, y]) = (data.attr, kernel.args(inst)) else { return None };
    let sides = [(cc, x, y), (cc.swapped(), y, x)].into_iter();
    let mut found = sides.filter_map(|(cc, difference, limit)| {
        let inst = kernel.def_inst(difference).filter(|&inst| kernel.insts[inst].op == Op::AbsDiffU)?;
        let &[a, b] = kernel.args(inst) else { return None };
        let fits = matches!(cc, IntCC::LtU | IntCC::GeU | IntCC::Eq | IntCC::Ne);
        (fits && data.ty == Type::I8X16).then_some((cc, limit, a, b))
    });
    found.next()
}

/// If an op combines a mask with a comparison of an absolute difference and a limit, returns the
/// truth table for `vcmpad`, the mask, the limit, and the two operands of the difference.
pub(in crate::vp1::lowering) fn joined_difference(
    kernel: &Kernel,
    inst: Inst,
) -> Option<(u8, Value, Value, Value, Value)> {
    let data = &kernel.insts[inst];
    let &[x, y] = kernel.args(inst) else { return None };
    [(x, y), (y, x)].into_iter().filter(|_| data.ty == Type::I1X16).find_map(|(mask, compared)| {
        let (cc, limit, a, b) = compared_difference(kernel, kernel.def_inst(compared)?)?;
        let table = match (data.op, cc) {
            (Op::And, IntCC::LtU) => 0x8,
            (Op::And, IntCC::GeU) => 0x2,
            (Op::Or, IntCC::LtU) => 0xe,
            (Op::Or, IntCC::GeU) => 0xb,
            _ => return None,
        };
        Some((table, mask, limit, a, b))
    })
}

/// Returns the plan for an op that narrows wide lanes, or `None` if its bytes cannot be computed exactly.
fn plan(facts: &Facts<'_>, inst: Inst) -> Option<Plan> {
    let kernel = facts.kernel;
    let (value, sign, clip) = narrowing(kernel, inst)?;
    let mut quotient = sum::quotient(kernel, value)?;
    if let Some(sign) = sign {
        quotient = quotient.exact(kernel, kernel.ty(value).elem().bits(), sign)?;
    }
    facts.plan(&quotient, clip)
}

/// Returns a function that tells whether a narrowing op of a packed kernel can be selected. The function assumes that
/// values that are created later are not uniform and have several uses.
pub(crate) fn narrowings(kernel: &Kernel) -> Narrowings {
    let Some(uniform) = uniform(kernel) else { return Box::new(|_, _| true) };
    let uses = Uses::new(kernel);
    Box::new(move |kernel, inst| {
        let is_uniform = |value| uniform.has(kernel, value);
        let facts = Facts { kernel, uses: &uses, is_uniform: &is_uniform };
        plan(&facts, inst).is_some() || adds_nine_bits(kernel, inst)
    })
}

/// Returns the uniform values of a packed kernel, or `None` if its streams are not supported.
fn uniform(kernel: &Kernel) -> Option<Uniform> {
    let packing = kernel.packing.as_ref()?;
    let signature = crate::signature::signature(kernel, TARGET.name()).ok()?;
    let streams = Streams::new(kernel, packing, &signature).ok()?;
    Some(Uniform::new(kernel, &Flow::new(kernel), &streams))
}

/// Returns `true` if an op narrows the sum of a byte and a nine-bit number in the form that the
/// rules for `vadd9` match.
fn adds_nine_bits(kernel: &Kernel, inst: Inst) -> bool {
    let args_of = |value: Value, op: Op| {
        let inst = kernel.def_inst(value).filter(|&inst| kernel.insts[inst].op == op)?;
        <[Value; 2]>::try_from(kernel.args(inst)).ok()
    };
    let by_seven = |value: Value, op: Op| {
        let [shifted, count] = args_of(value, op)?;
        (wide_count(kernel, count) == Some(7)).then_some(shifted)
    };
    let is_nine = |value: Value| {
        let both = by_seven(value, Op::ShrS).and_then(|up| by_seven(up, Op::Shl)).and_then(|x| args_of(x, Op::Concat));
        both.is_some_and(|parts| parts.iter().all(|&part| kernel.ty(part) == Type::I8X16))
    };
    let is_byte = |value: Value| kernel.def_inst(value).is_some_and(|inst| kernel.insts[inst].op == Op::Zext);
    let is_sum = |value: Value| {
        args_of(value, Op::Add).is_some_and(|[a, b]| is_byte(a) && is_nine(b) || is_byte(b) && is_nine(a))
    };
    kernel.insts[inst].op == Op::NarrowSatU
        && kernel.args(inst).first().is_some_and(|&sum| kernel.ty(sum) == Type::I16X16 && is_sum(sum))
}

impl Lowering<'_> {
    pub(in crate::vp1::lowering) fn plan_of(&self, inst: Inst) -> Option<Plan> {
        let kernel = self.kernel;
        let is_uniform = |value| self.uniform.has(kernel, value);
        plan(&Facts { kernel, uses: &self.uses, is_uniform: &is_uniform }, inst)
    }

    /// Returns `true` if no byte of a value is -128, whose absolute value overflows.
    pub(in crate::vp1::lowering) fn has_absolute(&self, value: Value) -> bool {
        *bytes::range(self.kernel, value, Sign::S).start() > -0x80
    }

    /// Returns a factor of a planned product as an operand of a multiplication.
    pub(in crate::vp1::lowering) fn factor_of(&mut self, operand: Operand) -> Factor {
        match operand {
            Operand::Byte(byte) => Factor { src: rules::constructor_src(self, byte.value), sign: byte.sign },
            Operand::Number(number) => {
                let sign = plan::byte_sign(number).unwrap_or(Sign::U);
                Factor { src: Src::Bytes([number as u8; 16]), sign }
            }
        }
    }

    /// Emits the two products of a pair, added to `base` or to the accumulator. If `read`, returns
    /// the register with the readout.
    pub(in crate::vp1::lowering) fn pair_of_products(
        &mut self,
        base: Option<Operand>,
        readout: Readout,
        pair: Pair,
        read: bool,
    ) -> Reg {
        let scalar = match pair.weights {
            Weights::Numbers([a, b]) => Word::new(Opcode::VEC).with(FACTOR1, a as u64).with(FACTOR2, b as u64),
            Weights::Scalars(scalars) => {
                let word = self.factor_word(scalars);
                self.out.read(SRC1, word);
                Word::new(Opcode::BVEC)
            }
        };
        let opcode = match (base.is_some(), read, readout.sign) {
            (true, false, _) => Opcode::VMAD2_S_VA,
            (true, true, Sign::S) => Opcode::VMAD2_S,
            (true, true, Sign::U) => Opcode::VMAD2_U,
            (false, false, _) => Opcode::VMAC2_S_VA,
            (false, true, Sign::S) => Opcode::VMAC2_S,
            (false, true, Sign::U) => Opcode::VMAC2_U,
        };
        let values = pair.values.map(|value| {
            let src = rules::constructor_src(self, value);
            self.reg_of(src)
        });
        let mut vector = Word::new(opcode)
            .with(FRACTINT, 1)
            .with(SHIFT, readout.shift as u64)
            .with(SIGN1, (pair.sign == Sign::S).into());
        self.out.read_tuple(second(SRC1), &values);
        if let Some(base) = base {
            let base = self.factor_of(base);
            let reg = self.reg_of(base.src);
            self.out.read(second(SRC2), reg);
            vector = vector.with(SIGN2, (base.sign == Sign::S).into());
        }
        if !read {
            self.out.push(Group::from([scalar, vector]));
            return Reg::ZERO;
        }
        let vector =
            vector.with(RND, (readout.round == Round::Nearest).into()).with(HILO, (readout.half == Half::Low).into());
        let result = self.out.define(second(DST), Class::V);
        self.out.push(Group::from([scalar, vector]));
        Reg::new(result)
    }

    /// Emits an interpolation between two vectors. Weight 0 gives the second vector.
    pub(in crate::vp1::lowering) fn interpolation(
        &mut self,
        readout: Readout,
        ends: [Value; 2],
        weight: Operand,
    ) -> Reg {
        let ends = ends.map(|end| {
            let src = rules::constructor_src(self, end);
            self.reg_of(src)
        });
        let weight = self.factor_of(weight);
        let weight = self.reg_of(weight.src);
        self.out.read_tuple(SRC1, &ends);
        self.out.read(SRC2, weight);
        let round = (readout.round == Round::Nearest).into();
        self.out.vector(Word::new(Opcode::VLRP).with(RND, round).with(SHIFT, readout.shift as u64))
    }

    /// Returns the register with two factors, which is computed before the loop over groups.
    fn factor_word(&mut self, scalars: [Scalar; 2]) -> Reg {
        let known = self.factor_words.iter().find(|known| known.scalars == scalars).map(|known| known.vreg);
        Reg::new(known.unwrap_or_else(|| {
            let vreg = self.out.vreg(Class::R);
            self.factor_words.push(FactorWord { scalars, vreg, loc: self.out.loc });
            vreg
        }))
    }

    /// Emits the code that computes a register with two factors. Returns the register that the loop
    /// reads, and the register that the code writes.
    pub(in crate::vp1::lowering) fn compute_factor_word(&mut self, word: &FactorWord) -> (VReg, Reg) {
        self.out.loc = word.loc;
        let [low, high] = word.scalars.map(|scalar| {
            if scalar.times == 0 {
                return Src::Word(0);
            }
            let byte = rules::constructor_src(self, scalar.value);
            let byte = match scalar.times {
                1 => byte,
                times => Src::Reg(rules::Context::alu(self, &Alu::Mul, byte, Src::Word(times as u32))),
            };
            let byte = rules::Context::bits(self, 0x8, byte, Src::Word(0xff));
            Src::Reg(rules::Context::alu(self, &Alu::Mul, Src::Reg(byte), Src::Word(0x101)))
        });
        let high = match high {
            Src::Reg(_) => Src::Reg(rules::Context::alu(self, &Alu::Shr, high, Src::Word(-16i32 as u32))),
            _ => high,
        };
        let together = match (low, high) {
            (Src::Reg(low), Src::Word(0)) => low,
            _ => rules::Context::bits(self, 0xe, low, high),
        };
        (word.vreg, together)
    }

    /// Returns a register for a vector in a pair. A uniform vector gets a copy for each pair, so
    /// that the loop over groups needs no moves.
    fn copy_for_pair(&mut self, value: Value) -> Reg {
        let src = rules::constructor_src(self, value);
        let reg = self.reg_of(src);
        let Some(vreg) = reg.vreg.filter(|_| self.uniform.has(self.kernel, value)) else { return reg };
        let Some(copies) = self.copies.as_mut().filter(|copies| copies.len() < MAX_COPIES) else { return reg };
        let is_first = !copies.iter().any(|copy| copy.of == vreg);
        let copy = if is_first { vreg } else { self.out.vreg(Class::V) };
        copies.push(Copied { of: vreg, copy, loc: self.out.loc });
        Reg::new(copy)
    }

    /// Emits a copy of a vector. Returns the register that the loop reads, and the register that
    /// the code writes. Returns `None` if the copy is the vector itself.
    pub(in crate::vp1::lowering) fn copied(&mut self, copied: &Copied) -> Option<(VReg, Reg)> {
        if copied.of == copied.copy {
            return None;
        }
        self.out.loc = copied.loc;
        self.out.read(SRC1, Reg::new(copied.of));
        Some((copied.copy, self.out.vector(Word::new(Opcode::MOV_V))))
    }

    /// Emits a comparison of `|a - b|` with a limit. The sign flag is bit `2 * less + flag` of the
    /// table, where `less` is 1 if `|a - b|` is below the limit.
    pub(in crate::vp1::lowering) fn difference_flags(
        &mut self,
        table: u8,
        flag: Option<VFlag>,
        limit: Value,
        a: Src,
        b: Src,
    ) -> VReg {
        let limit = self.copy_for_pair(limit);
        let [a, b] = [a, b].map(|src| self.reg_of(src));
        let not = flag.is_some_and(|flag| flag.not);
        let table = if not { (table & 0b0101) << 1 | (table & 0b1010) >> 1 } else { table };
        let vector = Word::new(Opcode::VCMPAD).with(CMPOP, table.into()).with(SLCT, PLAIN);
        let Some(flag) = flag else {
            self.out.read_tuple(SRC1, &[a, limit]);
            self.out.read(SRC2, b);
            let vc = self.out.define(CDST, Class::Vc);
            self.out.push(vector);
            return vc;
        };
        self.out.read(VCIDX, Reg::new(flag.vc));
        let scalar = Word::new(Opcode::VEC).with(VCFLAG, flag.zero.into());
        self.out.read_tuple(second(SRC1), &[a, limit]);
        self.out.read(second(SRC2), b);
        let vc = self.out.define(second(CDST), Class::Vc);
        self.out.push(Group::from([scalar, vector]));
        vc
    }
}

/// Methods of the rules' `Context` that the rules in `wide.isle` call.
macro_rules! wide_methods {
    () => {
        fn planned(&mut self, inst: Inst) -> Option<Plan> {
            self.plan_of(inst)
        }

        fn blend(&mut self, plan: Plan) -> Option<(Readout, Value, Value, Operand)> {
            match plan {
                Plan::Blend { readout, ends: [a, b], weight } => Some((readout, a, b, weight)),
                Plan::Chain { .. } => None,
            }
        }

        fn chain(&mut self, plan: Plan) -> Option<(Readout, Chain)> {
            match plan {
                Plan::Chain { readout, chain } => Some((readout, chain)),
                Plan::Blend { .. } => None,
            }
        }

        fn one_product(&mut self, chain: Chain) -> Option<(Operand, Operand)> {
            match chain.split_last()? {
                (rest, Addend::Product(a, b)) if rest.is_empty() => Some((a, b)),
                _ => None,
            }
        }

        fn and_product(&mut self, chain: Chain) -> Option<(Chain, Operand, Operand)> {
            match chain.split_last()? {
                (rest, Addend::Product(a, b)) if !rest.is_empty() => Some((rest, a, b)),
                _ => None,
            }
        }

        fn one_pair(&mut self, chain: Chain) -> Option<(Operand, Pair)> {
            match chain.split_last()? {
                (rest, Addend::Pair(pair)) if rest.is_empty() => Some((chain.base(), pair)),
                _ => None,
            }
        }

        fn and_pair(&mut self, chain: Chain) -> Option<(Chain, Pair)> {
            match chain.split_last()? {
                (rest, Addend::Pair(pair)) if !rest.is_empty() => Some((rest, pair)),
                _ => None,
            }
        }

        fn factor(&mut self, operand: Operand) -> Factor {
            self.factor_of(operand)
        }

        fn interpolate(&mut self, readout: Readout, a: Value, b: Value, weight: Operand) -> Reg {
            self.interpolation(readout, [a, b], weight)
        }

        fn accumulate(&mut self, (): Sum, a: Factor, b: Factor) -> Sum {
            self.product(true, a, b);
        }

        fn multiply_pair(&mut self, readout: Readout, base: Operand, pair: Pair) -> Sum {
            self.pair_of_products(Some(base), readout, pair, false);
        }

        fn multiply_pair_read(&mut self, readout: Readout, base: Operand, pair: Pair) -> Reg {
            self.pair_of_products(Some(base), readout, pair, true)
        }

        fn accumulate_pair(&mut self, (): Sum, readout: Readout, pair: Pair) -> Sum {
            self.pair_of_products(None, readout, pair, false);
        }

        fn accumulate_pair_read(&mut self, (): Sum, readout: Readout, pair: Pair) -> Reg {
            self.pair_of_products(None, readout, pair, true)
        }

        fn wide_count(&mut self, value: Value) -> Option<u8> {
            wide::wide_count(self.kernel, value)
        }

        fn add_nine(&mut self, a: Src, low: Src, high: Src) -> Reg {
            self.three_vectors(Opcode::VADD9, a, low, high)
        }

        fn itself(&mut self, inst: Inst) -> Inst {
            inst
        }

        fn held_between(&mut self, inst: Inst) -> Option<(Value, Value, Value)> {
            wide::held_between(self.kernel, inst)
        }

        fn vclip(&mut self, a: Src, low: Src, high: Src) -> Reg {
            self.three_vectors(Opcode::VCLIP, a, low, high)
        }

        fn vminabs(&mut self, a: Src, b: Src) -> Reg {
            let (a, b) = (self.reg_of(a), self.reg_of(b));
            self.out.read(SRC1, a);
            self.out.read(SRC2, b);
            self.out.vector(Word::new(Opcode::VMINABS))
        }

        fn vabs(&mut self, a: Src) -> Reg {
            let inst = self.scalar_unary(Opcode::VABS_S, SRC1, a);
            self.out.vector(inst)
        }

        fn has_absolute(&mut self, value: Value) -> Option<Unit> {
            Lowering::has_absolute(self, value).then_some(())
        }

        fn either_has_absolute(&mut self, a: Value, b: Value) -> Option<Unit> {
            (Lowering::has_absolute(self, a) || Lowering::has_absolute(self, b)).then_some(())
        }

        fn splat_const(&mut self, value: Value) -> Option<u8> {
            rules::Context::const_src(self, value)?.splat_byte()
        }

        fn used_once(&mut self, value: Value) -> Option<Unit> {
            self.uses.is_single(value).then_some(())
        }

        fn compared_difference(&mut self, inst: Inst) -> Option<(IntCC, Value, Value, Value)> {
            wide::compared_difference(self.kernel, inst)
        }

        fn joined_difference(&mut self, inst: Inst) -> Option<(u8, Value, Value, Value, Value)> {
            wide::joined_difference(self.kernel, inst)
        }

        fn difference(&mut self, table: u8, limit: Value, a: Src, b: Src) -> VFlags {
            self.difference_flags(table, None, limit, a, b)
        }

        fn difference_with(&mut self, table: u8, flag: VFlag, limit: Value, a: Src, b: Src) -> VFlags {
            self.difference_flags(table, Some(flag), limit, a, b)
        }
    };
}
pub(crate) use wide_methods;
