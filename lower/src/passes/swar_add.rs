//! SWAR arithmetic: computes sums and differences of packed half-words by sums and differences of 32-bit words.
//!
//! The results differ only by the carry or borrow out of the low half-word. If the ranges of the half-words are known,
//! the pass adds a constant, the bias, to both half-words, so that they stay in 0..=0xffff. Then there is no carry and
//! no borrow. Each op reads and returns biased words and takes one instruction, whose third operand changes the bias.
//! The bias is subtracted only for instructions that need the plain half-words.

use cranelift_entity::SecondaryMap;
use halfbyte_ir::{Attr, Block, Inst, Kernel, Known, Op, Span, Type, Value, ValueList};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::pass::{BuiltIn, Context, Order};
use crate::range::{self, Range, is_in, signed_lanes};
use crate::rewrite::constant_lanes;
use crate::trace::{ChangeKind, Report};

/// The pass that this file implements; its name on the command line is `bias`.
pub(super) const PASS: BuiltIn = BuiltIn {
    name: "swar_add",
    description: "computes sums and differences of packed half-words on 32-bit words, with a bias that prevents carries",
    order: &[
        (Order::After("slp"), "it creates the packed half-words"),
        (Order::Before("legalise"), "it matches the original ops"),
    ],
    run,
};

/// The number 1 in both half-words of a 32-bit word.
const BOTH: i128 = 0x1_0001;
/// Minimum number of instructions that the pass must save for a group of connected values. ptxas
/// fuses some sums of half-words with a following minimum or maximum, which the pass would prevent.
const LEAST_SAVED: i32 = 4;

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let is_difference = |inst: &Inst| kernel.insts[*inst].op == Op::Sub && kernel.insts[*inst].ty == Type::I16X2;
    let mut insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    if !context.legality.has_word_sums() || !insts.any(is_difference) {
        return false;
    }
    let flow = context.flow(kernel);
    let order: Vec<Block> = flow.reverse_postorder().collect();
    context.keep_flow(flow);
    let plan = Plan::new(kernel, &order);
    if plan.biases.is_empty() {
        return false;
    }
    let mut words: HashMap<Value, Value> = HashMap::default();
    for block in order {
        // A biased word that replaces an op is available wherever the op's result is. The biased
        // word of any other value is only available in the block in which it was computed.
        let mut made_here: HashMap<Value, Value> = HashMap::default();
        let insts = std::mem::take(&mut kernel.blocks[block].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            let result = kernel.result(inst).filter(|result| plan.biases.contains_key(result));
            if let Some(result) = result {
                let before = context.trace.before(kernel, inst);
                let start = out.len();
                let span = kernel.insts[inst].span;
                let mut writer =
                    Writer { kernel, plan: &plan, words: &words, made_here: &mut made_here, out: &mut out, span };
                if let Some(word) = writer.word_of(inst, result) {
                    writer.half_words(inst, word, plan.bias(result));
                    words.insert(result, word);
                    let made: Vec<Inst> = out.get(start..).unwrap_or_default().iter().copied().chain([inst]).collect();
                    context.trace.joined(
                        before,
                        ChangeKind::Told("computed for both half-words by 32-bit sums"),
                        kernel,
                        &made,
                    );
                }
            }
            out.push(inst);
        }
        kernel.blocks[block].insts = out;
    }
    true
}

/// The values that will be computed as biased words.
struct Plan {
    /// Range of the half-words of each value; `None` if it is unknown.
    ranges: SecondaryMap<Value, Option<Range>>,
    /// Bias of each value that is computed as a biased word.
    biases: HashMap<Value, i128>,
}

impl Plan {
    fn new(kernel: &Kernel, order: &[Block]) -> Plan {
        let mut plan = Plan { ranges: SecondaryMap::new(), biases: HashMap::default() };
        let insts = || order.iter().flat_map(|&block| kernel.blocks[block].insts.iter().copied());
        let mut groups = Groups::default();
        for inst in insts() {
            let Some(result) = kernel.result(inst).filter(|&result| kernel.ty(result) == Type::I16X2) else { continue };
            let exact = plan.exact(kernel, inst);
            let all = signed_lanes(Type::I16X2);
            let range = exact.clone().unwrap_or_else(|| Known::of(kernel, result).signed());
            plan.ranges[result] = Some(range.clone()).filter(|range| is_in(range, &all) && *range != all);
            let Some(range) = exact.filter(|range| is_in(range, &all)) else { continue };
            if let Some(bias) = plan.kept(kernel, inst, &range) {
                plan.biases.insert(result, bias);
                groups.add(result);
                for &arg in kernel.args(inst).iter().filter(|arg| plan.biases.contains_key(*arg)) {
                    groups.join(result, arg);
                }
            }
        }
        let mut saved: HashMap<Value, i32> = HashMap::default();
        let (mut subtracted, mut wanted) = (HashSet::default(), HashSet::default());
        // Subtrahends of differences that keep plain half-words. These differences negate the
        // subtrahend in any case, so a biased difference with the same subtrahend costs no second
        // negation.
        for inst in insts().filter(|&inst| kernel.insts[inst].op == Op::Sub) {
            let is_word = kernel.result(inst).is_some_and(|result| plan.biases.contains_key(&result));
            subtracted.extend(kernel.args(inst).get(1).copied().filter(|_| !is_word));
        }
        for inst in insts() {
            let result = kernel.result(inst).filter(|result| plan.biases.contains_key(result));
            let Some(result) = result else {
                // The bias of a value is subtracted once for all uses of the plain half-words.
                for &arg in kernel.args(inst) {
                    if plan.biases.get(&arg).is_some_and(|&bias| bias != 0) && wanted.insert(arg) {
                        *saved.entry(groups.root(arg)).or_default() -= 1;
                    }
                }
                continue;
            };
            let cost = saved.entry(groups.root(result)).or_default();
            *cost += match (kernel.insts[inst].op, kernel.args(inst)) {
                // A subtrahend is negated once for all its uses. The negation of a constant takes no instruction.
                (Op::Sub, &[_, b]) if constant_lanes(kernel, b).is_none() && subtracted.insert(b) => 2,
                (Op::Abs, _) => 2,
                (Op::Shuffle, &[a, b]) => -i32::from(plan.bias(a) != plan.bias(b)),
                _ => 0,
            };
            for &arg in kernel.args(inst) {
                let is_made = plan.biases.contains_key(&arg) || constant_lanes(kernel, arg).is_some();
                *cost -= i32::from(!is_made && plan.bias(arg) != 0);
            }
        }
        for inst in kernel.layout.iter().filter_map(|&block| kernel.terminator(block)) {
            for call in kernel.targets(inst) {
                for &arg in kernel.call_args(call) {
                    if plan.biases.get(&arg).is_some_and(|&bias| bias != 0) && wanted.insert(arg) {
                        *saved.entry(groups.root(arg)).or_default() -= 1;
                    }
                }
            }
        }
        plan.biases.retain(|&value, _| saved.get(&groups.root(value)).is_some_and(|&saved| saved >= LEAST_SAVED));
        plan
    }

    /// Returns the range of an op's result before wrapping, if the op can be computed on a biased word.
    fn exact(&self, kernel: &Kernel, inst: Inst) -> Option<Range> {
        let range = |value: Value| self.ranges[value].clone();
        match (kernel.insts[inst].op, kernel.args(inst)) {
            (Op::Add, &[a, b]) => range::sum(&range(a)?, &range(b)?).into(),
            (Op::Sub, &[a, b]) => range::sum(&range(a)?, &range::negated(&range(b)?)).into(),
            (Op::Abs, &[a]) => {
                let a = range(a)?;
                Some(0..=(*a.end()).max(-a.start()))
            }
            (Op::Shuffle, &[a, b]) => {
                let (a, b) = (range(a)?, range(b)?);
                Some(*a.start().min(b.start())..=*a.end().max(b.end()))
            }
            _ => None,
        }
    }

    /// Returns the bias of a value. For a value that is not computed as a biased word, this is the
    /// smallest number that makes its half-words non-negative.
    fn bias(&self, value: Value) -> i128 {
        let least = || self.ranges[value].as_ref().map_or(0, |range| -*range.start());
        self.biases.get(&value).copied().unwrap_or_else(|| least().max(0))
    }

    /// Returns a bias for the result of an op, with half-words in `range`, such that the biased
    /// half-words fit in 16 unsigned bits.
    fn kept(&self, kernel: &Kernel, inst: Inst, range: &Range) -> Option<i128> {
        let natural = match (kernel.insts[inst].op, kernel.args(inst)) {
            (Op::Add, &[a, b]) => self.bias(a) + self.bias(b),
            (Op::Sub, &[a, b]) => self.bias(a) - self.bias(b),
            (Op::Shuffle, &[a, b]) => self.bias(a).max(self.bias(b)),
            (Op::Abs, &[a]) => {
                if self.is_positive(a) {
                    self.bias(a)
                } else {
                    0
                }
            }
            _ => return None,
        };
        let fits = |bias: &i128| range.start() + bias >= 0 && range.end() + bias <= 0xffff;
        [natural, (-range.start()).max(0)].into_iter().find(fits).filter(|&bias| {
            // A permutation or an absolute value cannot adjust the bias.
            bias == natural || matches!(kernel.insts[inst].op, Op::Add | Op::Sub)
        })
    }

    fn is_positive(&self, value: Value) -> bool {
        self.ranges[value].as_ref().is_some_and(|range| *range.start() >= 0)
    }
}

/// Disjoint sets (union-find) of values that are connected by definitions and uses.
#[derive(Default)]
struct Groups(HashMap<Value, Value>);

impl Groups {
    fn add(&mut self, value: Value) {
        self.0.insert(value, value);
    }

    fn root(&mut self, value: Value) -> Value {
        let mut root = value;
        while let Some(&up) = self.0.get(&root).filter(|&&up| up != root) {
            root = up;
        }
        if let Some(up) = self.0.get_mut(&value) {
            *up = root;
        }
        root
    }

    fn join(&mut self, a: Value, b: Value) {
        let (a, b) = (self.root(a), self.root(b));
        self.0.insert(a, b);
    }
}

/// Emits the instructions that replace an instruction.
struct Writer<'a> {
    kernel: &'a mut Kernel,
    plan: &'a Plan,
    words: &'a HashMap<Value, Value>,
    made_here: &'a mut HashMap<Value, Value>,
    out: &'a mut Vec<Inst>,
    span: Span,
}

impl Writer<'_> {
    /// Emits the computation of an instruction's result as a biased word.
    fn word_of(&mut self, inst: Inst, result: Value) -> Option<Value> {
        let bias = self.plan.bias(result);
        let (op, attr) = (self.kernel.insts[inst].op, self.kernel.insts[inst].attr);
        match (op, *self.kernel.args(inst).first_chunk::<2>().unwrap_or(&[*self.kernel.args(inst).first()?; 2])) {
            (Op::Add | Op::Sub, [a, b]) => {
                let natural = self.plan.bias(a) + if op == Op::Add { self.plan.bias(b) } else { -self.plan.bias(b) };
                let (a, b) = (self.word(a)?, self.word(b)?);
                let word = self.make(op, Type::I32, Attr::None, &[a, b])?;
                self.plus(word, bias - natural)
            }
            (Op::Shuffle, [a, b]) => {
                let mut operands = [a, b];
                for operand in &mut operands {
                    let word = self.word(*operand)?;
                    let word = self.plus(word, bias - self.plan.bias(*operand))?;
                    *operand = self.cast(Type::I16X2, word)?;
                }
                let both = self.make(Op::Shuffle, Type::I16X2, attr, &operands)?;
                self.cast(Type::I32, both)
            }
            (Op::Abs, [a, _]) if self.plan.is_positive(a) => self.word(a),
            (Op::Abs, [a, _]) => {
                let zero = self.constant(Type::I16X2, self.plan.bias(a))?;
                let word = self.word(a)?;
                let a = self.cast(Type::I16X2, word)?;
                let [more, less] = [Op::MaxU, Op::MinU].map(|op| {
                    let extremum = self.make(op, Type::I16X2, Attr::None, &[a, zero])?;
                    self.cast(Type::I32, extremum)
                });
                self.make(Op::Sub, Type::I32, Attr::None, &[more?, less?])
            }
            _ => None,
        }
    }

    /// Turns the instruction into a computation of its result from a biased word.
    fn half_words(&mut self, inst: Inst, word: Value, bias: i128) {
        let (op, args) = match bias {
            0 => (Op::Bitcast, vec![word]),
            _ => match (self.cast(Type::I16X2, word), self.constant(Type::I16X2, -bias)) {
                (Some(both), Some(number)) => (Op::Add, vec![both, number]),
                _ => return,
            },
        };
        let args = ValueList::from_slice(&args, &mut self.kernel.pool);
        let data = &mut self.kernel.insts[inst];
        (data.op, data.attr, data.args) = (op, Attr::None, args);
    }

    /// Returns an operand as a biased word.
    fn word(&mut self, value: Value) -> Option<Value> {
        if let Some(&word) = self.words.get(&value).or_else(|| self.made_here.get(&value)) {
            return Some(word);
        }
        let bias = self.plan.bias(value);
        let word = match constant_lanes(self.kernel, value) {
            Some((_, lanes)) => {
                let [low, high] = [lanes[0], lanes[1]].map(|lane| (i128::from(lane) + bias) & 0xffff);
                self.word_constant(low | high << 16)?
            }
            None if bias == 0 => self.cast(Type::I32, value)?,
            None => {
                let number = self.constant(Type::I16X2, bias)?;
                let sum = self.make(Op::Add, Type::I16X2, Attr::None, &[value, number])?;
                self.cast(Type::I32, sum)?
            }
        };
        self.made_here.insert(value, word);
        Some(word)
    }

    /// Adds a number to both half-words of a 32-bit word.
    fn plus(&mut self, word: Value, number: i128) -> Option<Value> {
        if number == 0 {
            return Some(word);
        }
        let number = self.word_constant(number * BOTH)?;
        self.make(Op::Add, Type::I32, Attr::None, &[word, number])
    }

    fn word_constant(&mut self, bits: i128) -> Option<Value> {
        self.make(Op::Const, Type::I32, Attr::Bits(u64::from(bits as u32)), &[])
    }

    /// Creates a constant with the same number in both half-words.
    fn constant(&mut self, ty: Type, number: i128) -> Option<Value> {
        self.make(Op::Const, ty, Attr::Bits(((number & 0xffff) * BOTH) as u64), &[])
    }

    fn cast(&mut self, ty: Type, value: Value) -> Option<Value> {
        self.make(Op::Bitcast, ty, Attr::None, &[value])
    }

    fn make(&mut self, op: Op, ty: Type, attr: Attr, args: &[Value]) -> Option<Value> {
        let inst = self.kernel.make_inst(op, ty, attr, args, Some(ty), self.span);
        self.out.push(inst);
        self.kernel.result(inst)
    }
}
