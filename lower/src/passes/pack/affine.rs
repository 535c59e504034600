//! Affine analysis: finds `i32` values that are affine, modulo 2^32, in the item index and in loop
//! counters. The coefficients are known at launch.

use std::cell::RefCell;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_ir::{Affine, AffineVariable, Block, Flow, Kernel, Op, ParamKind, Type, Value, ValueDef};
use smallvec::SmallVec;

use crate::passes::loops::Loops;

/// An affine expression in the item index and in loop counters. `S` identifies a counter. During the analysis, `S` is a
/// `Value`: the parameter of a loop header that is the counter. In results, `S` is a `Block`: the header of a loop
/// whose iteration number, from 0, is the counter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct AffineExpr<S> {
    /// Coefficient of the item index.
    pub item: Affine,
    /// Sum of the terms that are known at launch.
    pub launch_term: Affine,
    /// Loop counters with their coefficients. Each counter occurs once, and no coefficient is zero.
    pub counters: SmallVec<[(S, Affine); 2]>,
}

/// An affine expression in iteration numbers of loops, each identified by its header.
pub(super) type Linear = AffineExpr<Block>;

pub(super) fn constant(number: u32) -> Affine {
    Affine { constant: number, terms: Vec::new() }
}

pub(super) fn is_zero(sum: &Affine) -> bool {
    sum.constant == 0 && sum.terms.is_empty()
}

/// Returns the value of a sum that is a constant.
pub(super) fn as_constant(sum: &Affine) -> Option<u32> {
    sum.terms.is_empty().then_some(sum.constant)
}

/// Returns `a + b * times`.
pub(super) fn plus(a: &Affine, b: &Affine, times: u32) -> Affine {
    let mut sum = a.clone();
    sum.constant = sum.constant.wrapping_add(b.constant.wrapping_mul(times));
    for &(factor, coefficient) in &b.terms {
        let coefficient = coefficient.wrapping_mul(times);
        match sum.terms.iter_mut().find(|(known, _)| *known == factor) {
            Some((_, known)) => *known = known.wrapping_add(coefficient),
            None => sum.terms.push((factor, coefficient)),
        }
    }
    sum.terms.retain(|&(_, coefficient)| coefficient != 0);
    sum.terms.sort_unstable();
    sum
}

/// Returns the product of two sums, if one of them is a constant.
fn product(a: &Affine, b: &Affine) -> Option<Affine> {
    let (sum, times) = match (as_constant(a), as_constant(b)) {
        (_, Some(times)) => (a, times),
        (Some(times), None) => (b, times),
        (None, None) => return None,
    };
    Some(plus(&Affine::default(), sum, times))
}

impl<S: Copy + PartialEq> AffineExpr<S> {
    fn of(known: Affine) -> AffineExpr<S> {
        AffineExpr { item: Affine::default(), launch_term: known, counters: SmallVec::new() }
    }

    /// Returns the value of the expression as a sum known at launch, if it depends on no item index
    /// and no loop counter.
    pub(super) fn at_launch(&self) -> Option<&Affine> {
        (is_zero(&self.item) && self.counters.is_empty()).then_some(&self.launch_term)
    }

    /// Returns `self + other * times`.
    pub(super) fn plus(&self, other: &AffineExpr<S>, times: u32) -> AffineExpr<S> {
        let mut sum = self.clone();
        sum.item = plus(&sum.item, &other.item, times);
        sum.launch_term = plus(&sum.launch_term, &other.launch_term, times);
        for (counter, stride) in &other.counters {
            sum.count(*counter, &plus(&Affine::default(), stride, times));
        }
        sum
    }

    /// Adds a loop counter multiplied by a coefficient.
    fn count(&mut self, counter: S, stride: &Affine) {
        match self.counters.iter_mut().find(|(known, _)| *known == counter) {
            Some((_, known)) => *known = plus(known, stride, 1),
            None => self.counters.push((counter, stride.clone())),
        }
        self.counters.retain(|(_, stride)| !is_zero(stride));
    }

    /// Returns the product with a factor that is known at launch, if the product is affine.
    fn times(&self, factor: &Affine) -> Option<AffineExpr<S>> {
        let counters = self.counters.iter().map(|(counter, stride)| Some((*counter, product(stride, factor)?)));
        let mut product = AffineExpr {
            item: product(&self.item, factor)?,
            launch_term: product(&self.launch_term, factor)?,
            counters: counters.collect::<Option<_>>()?,
        };
        product.counters.retain(|(_, stride)| !is_zero(stride));
        Some(product)
    }
}

/// Affine expressions of the values of a kernel.
pub(super) struct AffineAnalysis<'k> {
    kernel: &'k Kernel,
    /// Affine expression of each value, in terms of parameters of loop headers.
    sums: SecondaryMap<Value, Option<AffineExpr<Value>>>,
    /// Loop header, initial value and step of each induction variable.
    inductions: SecondaryMap<Value, Option<(Block, AffineExpr<Value>, Affine)>>,
    /// For each block parameter that is not affine, an argument that causes this.
    culprits: SecondaryMap<Value, PackedOption<Value>>,
    /// Cached results of [`AffineAnalysis::blame`].
    blamed: RefCell<SecondaryMap<Value, PackedOption<Value>>>,
}

impl<'k> AffineAnalysis<'k> {
    pub(super) fn new(kernel: &'k Kernel, flow: &Flow, loops: &Loops) -> AffineAnalysis<'k> {
        let mut sums = AffineAnalysis {
            kernel,
            sums: SecondaryMap::new(),
            inductions: SecondaryMap::new(),
            culprits: SecondaryMap::new(),
            blamed: RefCell::default(),
        };
        for (number, param) in (0..).zip(&kernel.params) {
            if param.kind == ParamKind::Scalar(Type::I32) {
                let known = Affine { constant: 0, terms: vec![(AffineVariable::Param(number), 1)] };
                sums.sums[param.value] = Some(AffineExpr::of(known));
            }
        }
        let is_header = |block: Block| loops.innermost_of(block).is_some_and(|id| loops.get(id).header == block);
        for block in flow.reverse_postorder() {
            for (number, &param) in kernel.block_params(block).iter().enumerate() {
                if kernel.ty(param) != Type::I32 {
                    continue;
                }
                sums.sums[param] = if is_header(block) {
                    Some(AffineExpr {
                        counters: [(param, constant(1))].into_iter().collect(),
                        ..AffineExpr::of(constant(0))
                    })
                } else {
                    sums.joined(block, number, flow)
                };
                if sums.sums[param].is_none() {
                    sums.culprits[param] = sums.culprit(block, number, flow).into();
                }
            }
            for &inst in &kernel.blocks[block].insts {
                if let Some(result) = kernel.result(inst).filter(|&result| kernel.ty(result) == Type::I32) {
                    sums.sums[result] = sums.computed(inst);
                }
            }
        }
        for id in loops.ids() {
            let header = loops.get(id).header;
            for (number, &param) in kernel.block_params(header).iter().enumerate() {
                sums.inductions[param] = sums.induction(loops, flow, header, number, param);
                if sums.inductions[param].is_none() {
                    sums.culprits[param] = sums.culprit(header, number, flow).into();
                }
            }
        }
        sums
    }

    /// Returns the arguments that branches pass for parameter `number` of a block, each with the block of the branch.
    fn given<'a>(&'a self, block: Block, number: usize, flow: &'a Flow) -> impl Iterator<Item = (Block, Value)> + 'a {
        let mut from: SmallVec<[Block; 4]> = flow.predecessors(block).iter().copied().collect();
        from.sort_unstable();
        from.dedup();
        from.into_iter().filter(|&from| flow.is_reachable(from)).flat_map(move |from| {
            let targets = self.kernel.terminator(from).map_or(&[][..], |inst| self.kernel.targets(inst));
            let calls = targets.iter().filter(move |call| call.block == block);
            calls.filter_map(move |call| Some((from, *self.kernel.call_args(call).get(number)?)))
        })
    }

    /// Returns the affine expression of a block parameter, if all its arguments have the same expression.
    fn joined(&self, block: Block, number: usize, flow: &Flow) -> Option<AffineExpr<Value>> {
        let mut given = self.given(block, number, flow).map(|(_, value)| self.sums[value].as_ref());
        let first = given.next()??;
        given.all(|other| other == Some(first)).then(|| first.clone())
    }

    /// Returns an argument for a block parameter that is not affine.
    fn culprit(&self, block: Block, number: usize, flow: &Flow) -> Option<Value> {
        self.given(block, number, flow).map(|(_, value)| value).find(|&value| self.sums[value].is_none())
    }

    fn computed(&self, inst: halfbyte_ir::Inst) -> Option<AffineExpr<Value>> {
        let kernel = self.kernel;
        let args = kernel.args(inst);
        let arg = |number: usize| args.get(number).and_then(|&arg| self.sums[arg].as_ref());
        let sum = match kernel.insts[inst].op {
            Op::Const => AffineExpr::of(constant(kernel.const_bits(inst)?[0] as u32)),
            Op::ItemId => AffineExpr { item: constant(1), ..AffineExpr::of(constant(0)) },
            Op::ItemCount => AffineExpr::of(Affine { constant: 0, terms: vec![(AffineVariable::ItemCount, 1)] }),
            Op::Add => arg(0)?.plus(arg(1)?, 1),
            Op::Sub => arg(0)?.plus(arg(1)?, u32::MAX),
            Op::Neg => AffineExpr::of(constant(0)).plus(arg(0)?, u32::MAX),
            Op::Mul => {
                let (a, b) = (arg(0)?, arg(1)?);
                match (a.at_launch(), b.at_launch()) {
                    (_, Some(factor)) => a.times(factor)?,
                    (Some(factor), None) => b.times(factor)?,
                    (None, None) => return None,
                }
            }
            // A select of two equal expressions does not depend on its condition.
            Op::Select => arg(1).filter(|&sum| arg(2) == Some(sum))?.clone(),
            Op::Shl => arg(0)?.times(&constant(1 << (as_constant(arg(1)?.at_launch()?)? % 32)))?,
            _ => return None,
        };
        Some(sum)
    }

    /// Returns the header, the initial value and the step of a loop header's parameter, if the
    /// parameter is an induction variable.
    fn induction(
        &self,
        loops: &Loops,
        flow: &Flow,
        header: Block,
        number: usize,
        param: Value,
    ) -> Option<(Block, AffineExpr<Value>, Affine)> {
        let (mut first, mut step): (Option<AffineExpr<Value>>, Option<Affine>) = (None, None);
        let around = loops.innermost_of(header)?;
        let itself = self.sums[param].as_ref()?;
        for (from, value) in self.given(header, number, flow) {
            let sum = self.sums[value].as_ref()?;
            if loops.get(around).contains(from) {
                let by = sum.plus(itself, u32::MAX).at_launch()?.clone();
                step = Some(step.filter(|step| *step != by).map_or(Some(by), |_| None)?);
            } else {
                first = Some(first.filter(|first| first != sum).map_or(Some(sum.clone()), |_| None)?);
            }
        }
        Some((header, first?, step?))
    }

    /// Returns the affine expression of an `i32` value, in iteration numbers of loops.
    pub(super) fn of(&self, value: Value) -> Option<Linear> {
        self.resolve(self.sums[value].as_ref()?)
    }

    fn resolve(&self, sum: &AffineExpr<Value>) -> Option<Linear> {
        let mut linear =
            Linear { item: sum.item.clone(), launch_term: sum.launch_term.clone(), counters: SmallVec::new() };
        for (param, times) in &sum.counters {
            let (header, first, step) = self.inductions[*param].as_ref()?;
            // The recursion ends, because the initial value of a counter only depends on counters of outer loops.
            linear = linear.plus(&self.resolve(first)?.times(times)?, 1);
            linear.count(*header, &product(step, times)?);
        }
        Some(linear)
    }

    /// Returns the value that makes `value` not affine: a value that is not affine although its operands are.
    pub(super) fn blame(&self, value: Value) -> Value {
        let mut value = value;
        let mut blamed = self.blamed.borrow_mut();
        // Long chains of values may end at the same cause, so results are cached.
        let mut seen = Vec::new();
        loop {
            if let Some(known) = blamed[value].expand() {
                value = known;
                break;
            }
            blamed[value] = value.into();
            seen.push(value);
            let next = match self.sums[value].as_ref() {
                Some(sum) => sum.counters.iter().map(|(param, _)| *param).find(|&param| self.unsteady(param)),
                None => match self.kernel.values[value].def {
                    ValueDef::Result(inst) => {
                        let args = self.kernel.args(inst).iter().copied();
                        args.filter(|&arg| self.kernel.ty(arg) == Type::I32).find(|&arg| self.of(arg).is_none())
                    }
                    _ => None,
                },
            };
            let next = self.culprits[value].expand().or(next);
            match next {
                Some(next) => value = next,
                None => break,
            }
        }
        for passed in seen {
            blamed[passed] = value.into();
        }
        value
    }

    fn unsteady(&self, param: Value) -> bool {
        self.inductions[param].as_ref().is_none_or(|(_, first, _)| self.resolve(first).is_none())
    }
}
