//! Dataflow graph of vectors. A vector has a 32-bit word for each of sixteen items of a group.
//! Operations on constant vectors are folded.

use std::hash::{Hash, Hasher};

use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Domain, Width};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use crate::jit::dataflow::{Op, Shape};
use crate::jit::vector::{has_any_nan, takes_any_nan};

/// Items per vector.
pub const LANES: usize = 16;
/// Words of a constant vector.
pub type Words = [u32; LANES];

/// Index of a vector in the graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(pub u32);

/// Index of a constant vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Known(u32);

/// Constant vectors of zeros and of ones.
pub const ZEROS: Known = Known(0);
pub const ONES: Known = Known(1);

/// Value of sixteen items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    Known(Known),
    /// Sum of a uniform word and a constant vector.
    Offset(Node, Known),
    Any(Node),
}

/// Access pattern of the items of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pattern {
    /// Uniform: all items access the same address.
    Same,
    /// Contiguous: consecutive items access consecutive elements.
    Contiguous,
    /// Gather or scatter: each item has its own offset.
    Each,
}

/// Memory of an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Memory {
    /// Buffer, identified by the offset of its address in constant bank 0.
    Buffer(u16),
    /// Shared memory of the group.
    Shared,
    /// Private memory of each item. Its contents are tracked at compile time, so no code accesses this memory.
    Private,
}

/// Address of an access, relative to the start of the memory: `offset * scale + disp`, plus the base. The operands are
/// the offset without `start`, and the distance of the base from the start. An operand that is zero is omitted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    pub memory: Memory,
    pub pattern: Pattern,
    /// Term of the offset of the first active item, modulo 2^32.
    pub start: u32,
    pub scale: u32,
    /// `true` if the offset is sign-extended.
    pub is_signed: bool,
    pub disp: i32,
    /// Width of the element: 8, 16 or 32 bits.
    pub width: Width,
    /// Alignment that the emitted code must check; 1 if no check is needed.
    pub align: u32,
    /// Active items.
    pub mask: u16,
    /// `true` if the offset, and the uniform base, is an operand.
    pub has_offset: bool,
    pub has_base: bool,
}

impl Place {
    /// Splits the operands into the offset and the base.
    pub fn operands(&self, args: &[Node]) -> (Option<Node>, Option<Node>) {
        let (offset, base) = args.split_at(usize::from(self.has_offset).min(args.len()));
        (offset.first().copied(), base.first().copied())
    }
}

/// Operation that computes a vector.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Vector {
    Known(Known),
    /// Uniform word of constant bank 0.
    Bank {
        offset: u32,
        width: Width,
        signed: bool,
    },
    /// Uniform word that the launch sets for each group, by its number.
    OfGroup(u32),
    /// Loop-carried vector, by its number; `true` if the vector is uniform.
    Carried(u32, bool),
    /// Operation of a block.
    Compute(Op),
    /// The operand with all NaNs made canonical.
    Canonical,
    /// Lanes of the first operand where the mask has bits, and of the second elsewhere.
    Blend(u16),
    /// Lanes of the first operand, selected by the lane numbers in the second, which is constant.
    Permute,
    /// Lanes of two vectors, selected by the lane numbers in the third operand. Numbers from 16 select lanes of the
    /// second.
    Permute2,
    /// Uniform word with a bit for each lane of two vectors that is true and is in its mask. If the flag is set, the
    /// number of those bits instead.
    Ballot([u16; 2], bool),
    /// Load from memory that the kernel does not write. The flag selects sign extension instead of zero extension.
    Load(Place, bool),
    /// Load from shared memory, after all earlier stores. The number makes each load distinct.
    Shared(u32, Place, bool),
}

/// Vector with its operands and properties.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub vector: Vector,
    args: [Node; 3],
    arity: u8,
    /// `true` if the vector is uniform.
    pub is_same: bool,
    /// Bits that can be ones.
    bits: u32,
}

impl Step {
    pub fn args(&self) -> &[Node] {
        self.args.get(..usize::from(self.arity)).unwrap_or_default()
    }
}

/// Vectors in topological order, without duplicates.
pub struct Graph {
    steps: Vec<Step>,
    words: Vec<Words>,
    numbers: FxHashMap<Words, Known>,
    same: FxHashMap<u64, SmallVec<[Node; 1]>>,
    /// Initial vectors of the loop-carried vectors.
    carried: Vec<Node>,
    shared: u32,
}

/// Maximum number of vectors of a graph.
const MOST_NODES: usize = 1 << 16;

impl Graph {
    pub fn new() -> Graph {
        let mut graph = Graph {
            steps: Vec::new(),
            words: Vec::new(),
            numbers: FxHashMap::default(),
            same: FxHashMap::default(),
            carried: Vec::new(),
            shared: 0,
        };
        graph.words([0; LANES]);
        graph.words([u32::MAX; LANES]);
        graph
    }

    /// Returns `true` if the graph exceeds [`MOST_NODES`].
    pub fn is_full(&self) -> bool {
        self.steps.len() > MOST_NODES
    }

    /// Returns the number of loop-carried vectors.
    pub fn carried(&self) -> u32 {
        self.carried.len() as u32
    }

    /// Returns all vectors, each after its operands.
    pub fn steps(&self) -> impl Iterator<Item = (Node, &Step)> {
        (0..).map(Node).zip(&self.steps)
    }

    pub fn step(&self, node: Node) -> &Step {
        // Only this graph creates its node numbers.
        &self.steps[node.0 as usize]
    }

    /// Interns a constant vector.
    pub fn words(&mut self, words: Words) -> Known {
        *self.numbers.entry(words).or_insert_with(|| {
            self.words.push(words);
            Known(self.words.len() as u32 - 1)
        })
    }

    pub fn same(&mut self, word: u32) -> Known {
        self.words([word; LANES])
    }

    /// Returns the words of a constant vector.
    pub fn known(&self, known: Known) -> Words {
        self.words[known.0 as usize]
    }

    /// Returns the word of a uniform constant vector, or `None` if the lanes differ.
    pub fn same_word(&self, known: Known) -> Option<u32> {
        let words = self.known(known);
        let first = words[0];
        words.iter().all(|&word| word == first).then_some(first)
    }

    fn push(&mut self, vector: Vector, args: &[Node], is_same: bool, bits: u32) -> Node {
        let mut all = [Node(0); 3];
        all.iter_mut().zip(args).for_each(|(place, arg)| *place = *arg);
        let mut hasher = FxHasher::default();
        (std::mem::discriminant(&vector), all).hash(&mut hasher);
        match vector {
            Vector::Known(known) => known.hash(&mut hasher),
            Vector::Bank { offset, .. } => offset.hash(&mut hasher),
            Vector::OfGroup(number) | Vector::Carried(number, _) | Vector::Shared(number, ..) => {
                number.hash(&mut hasher);
            }
            Vector::Compute(op) => std::mem::discriminant(&op).hash(&mut hasher),
            Vector::Load(place, _) => place.hash(&mut hasher),
            Vector::Blend(mask) => mask.hash(&mut hasher),
            Vector::Ballot(masks, _) => masks.hash(&mut hasher),
            Vector::Canonical | Vector::Permute | Vector::Permute2 => {}
        }
        let is_it = |step: &Step| step.vector == vector && step.args() == args;
        let found = self.same.entry(hasher.finish()).or_default();
        if let Some(&node) = found.iter().find(|node| self.steps.get(node.0 as usize).is_some_and(is_it)) {
            return node;
        }
        let node = Node(self.steps.len() as u32);
        self.steps.push(Step { vector, args: all, arity: args.len() as u8, is_same, bits });
        found.push(node);
        node
    }

    /// Adds a load from constant bank 0.
    pub fn bank(&mut self, offset: u32, width: Width, signed: bool) -> Value {
        let bits = match width {
            Width::B8 if !signed => 0xFF,
            Width::B16 if !signed => 0xFFFF,
            _ => u32::MAX,
        };
        Value::Offset(self.push(Vector::Bank { offset, width, signed }, &[], true, bits), ZEROS)
    }

    /// Adds a word that the launch sets for each group.
    pub fn of_group(&mut self, number: u32) -> Node {
        self.push(Vector::OfGroup(number), &[], true, u32::MAX)
    }

    /// Adds a loop-carried vector with an initial vector.
    pub fn carry(&mut self, first: Node, is_same: bool) -> Node {
        self.carried.push(first);
        self.push(Vector::Carried(self.carried() - 1, is_same), &[], is_same, u32::MAX)
    }

    /// Returns the initial vector of a loop-carried vector.
    pub fn first(&self, row: u32) -> Option<Node> {
        self.carried.get(row as usize).copied()
    }

    /// Adds a load from memory that the kernel does not write.
    pub fn load(&mut self, place: Place, operands: &[Node], signed: bool) -> Node {
        self.push(Vector::Load(place, signed), operands, place.pattern == Pattern::Same, loaded(&place, signed))
    }

    /// Adds a load from shared memory.
    pub fn load_shared(&mut self, place: Place, operands: &[Node], signed: bool) -> Node {
        self.shared += 1;
        let vector = Vector::Shared(self.shared, place, signed);
        self.push(vector, operands, place.pattern == Pattern::Same, loaded(&place, signed))
    }

    /// Returns the vector of a value.
    pub fn node(&mut self, value: Value) -> Node {
        match value {
            Value::Any(node) => node,
            Value::Offset(node, ZEROS) => node,
            Value::Offset(node, known) => {
                let is_same = self.same_word(known).is_some();
                let known = self.node(Value::Known(known));
                self.push(Vector::Compute(Op::Add), &[node, known], is_same, u32::MAX)
            }
            Value::Known(known) => {
                let words = self.known(known);
                let is_same = self.same_word(known).is_some();
                self.push(Vector::Known(known), &[], is_same, words.into_iter().fold(0, |all, word| all | word))
            }
        }
    }

    /// Returns the value of a vector.
    pub fn value(&self, node: Node) -> Value {
        let step = self.step(node);
        match step.vector {
            Vector::Known(known) => Value::Known(known),
            _ if step.is_same => Value::Offset(node, ZEROS),
            _ => Value::Any(node),
        }
    }

    /// Splits a value into a uniform term and a constant term. Returns `None` if the value is not such a sum.
    pub fn sum(&self, value: Value) -> Option<(Option<Node>, Known)> {
        match value {
            Value::Known(known) => Some((None, known)),
            Value::Offset(node, known) => Some((Some(node), known)),
            Value::Any(_) => None,
        }
    }

    fn of_sum(&mut self, (node, known): (Option<Node>, Known)) -> Value {
        node.map_or(Value::Known(known), |node| Value::Offset(node, known))
    }

    /// Applies a function to each lane of constant vectors.
    fn map(&mut self, all: [Known; 3], by: impl Fn([u32; 3]) -> u32) -> Known {
        let all = all.map(|known| self.known(known));
        self.words(std::array::from_fn(|lane| by(all.map(|words| words[lane]))))
    }

    /// Adds an operation, or folds the operation. Returns `None` if no code can be emitted for the operation. Truth
    /// values are all ones or zero.
    pub fn compute(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        let known = |value: &Value| match value {
            Value::Known(known) => Some(*known),
            _ => None,
        };
        let all: Option<SmallVec<[Known; 3]>> = args.iter().map(known).collect();
        if let Some(all) = all.filter(|all| all.len() <= 3) {
            let mut three = [ZEROS; 3];
            three.iter_mut().zip(all).for_each(|(place, known)| *place = known);
            word(op, [0; 3])?;
            return Some(Value::Known(self.map(three, |words| word(op, words).unwrap_or(0))));
        }
        if let Some(value) = self.linear(op, args).or_else(|| self.chosen(op, args)) {
            return Some(value);
        }
        if args.len() > 3 {
            return None;
        }
        word(op, [0; 3])?;
        let mut nodes: SmallVec<[Node; 3]> = args.iter().map(|&value| self.node(value)).collect();
        if takes_any_nan(op) || matches!(op, Op::Narrow(..)) {
            for node in &mut nodes {
                if let Step { vector: Vector::Canonical, args: [float, ..], .. } = *self.step(*node) {
                    *node = float;
                }
            }
        }
        // The operation works lane by lane, and the vector before the permutation may have fewer distinct results to
        // compute.
        if let ([node], Op::Widen(_)) = (nodes.as_slice(), op)
            && let Step { vector: Vector::Permute, args: [from, numbers, _], .. } = *self.step(*node)
            && let Value::Known(lanes) = self.value(numbers)
        {
            let from = self.value(from);
            let made = self.compute(op, &[from])?;
            let made = self.node(made);
            return Some(self.permuted(made, lanes));
        }
        let is_same = nodes.iter().all(|&node| self.step(node).is_same);
        let bits = self.bits(op, &nodes);
        let mut node = self.push(Vector::Compute(op), &nodes, is_same, bits);
        if has_any_nan(op) || matches!(op, Op::Widen(_)) {
            node = self.push(Vector::Canonical, &[node], is_same, u32::MAX);
        }
        Some(self.value(node))
    }

    /// Permutes the lanes of a vector.
    pub fn permuted(&mut self, from: Node, lanes: Known) -> Value {
        let Step { vector, args, is_same, bits, .. } = *self.step(from);
        let numbers = self.known(lanes);
        if is_same || (0..).zip(numbers).all(|(lane, number)| lane == number) {
            return self.value(from);
        }
        if let Vector::Known(known) = vector {
            let words = self.known(known);
            let words = self.words(numbers.map(|number| words[number as usize % LANES]));
            return Value::Known(words);
        }
        if vector == Vector::Canonical {
            let raw = self.permuted(args[0], lanes);
            let raw = self.node(raw);
            let is_same = self.step(raw).is_same;
            let node = self.push(Vector::Canonical, &[raw], is_same, u32::MAX);
            return self.value(node);
        }
        let is_same = self.same_word(lanes).is_some();
        let numbers = self.node(Value::Known(lanes));
        let node = self.push(Vector::Permute, &[from, numbers], is_same, bits);
        self.value(node)
    }

    /// Permutes the lanes of two vectors. Numbers from 16 select lanes of the second vector.
    pub fn permuted_of_two(&mut self, [a, b]: [Node; 2], lanes: Value) -> Value {
        if let Value::Known(known) = lanes {
            let numbers = self.known(known);
            if a == b || numbers.iter().all(|&number| number < LANES as u32) {
                let numbers = self.words(numbers.map(|number| number % LANES as u32));
                return self.permuted(a, numbers);
            }
            if numbers.iter().all(|&number| number >= LANES as u32) {
                let numbers = self.words(numbers.map(|number| number - LANES as u32));
                return self.permuted(b, numbers);
            }
            if let [Value::Known(a), Value::Known(b)] = [a, b].map(|node| self.value(node)) {
                let both = [self.known(a), self.known(b)];
                let lane = |number: u32| both[number as usize / LANES % 2][number as usize % LANES];
                return Value::Known(self.words(numbers.map(lane)));
            }
        }
        let bits = self.step(a).bits | self.step(b).bits;
        let numbers = self.node(lanes);
        let node = self.push(Vector::Permute2, &[a, b, numbers], false, bits);
        self.value(node)
    }

    /// Adds a ballot of two vectors, or the number of its bits.
    pub fn ballot(&mut self, pair: [Node; 2], masks: [u16; 2], is_count: bool) -> Value {
        if let [Value::Known(a), Value::Known(b)] = pair.map(|node| self.value(node)) {
            let bits = |known: Known, mask: u16| {
                let lanes = (0..).zip(self.known(known));
                u32::from(lanes.fold(0, |bits, (lane, word)| bits | u16::from(word != 0) << lane) & mask)
            };
            let ballot = bits(a, masks[0]) | bits(b, masks[1]) << 16;
            return Value::Known(self.same(if is_count { ballot.count_ones() } else { ballot }));
        }
        let node = self.push(Vector::Ballot(masks, is_count), &pair, true, u32::MAX);
        self.value(node)
    }

    /// Returns the value that a load of an element of this width reads after a store of a word.
    pub fn element(&mut self, value: Value, width: Width, signed: bool) -> Option<Value> {
        let count = match width {
            Width::B8 => 24,
            Width::B16 => 16,
            _ => return Some(value),
        };
        let node = self.node(value);
        if !signed && self.step(node).bits >> (32 - count) == 0 {
            return Some(value);
        }
        let count = Value::Known(self.same(count));
        let high = self.compute(Op::Shl, &[value, count])?;
        self.compute(if signed { Op::Sar } else { Op::Shr }, &[high, count])
    }

    /// Selects lanes of `a` where the mask has bits, and of `b` elsewhere.
    pub fn blend(&mut self, mask: u16, a: Value, b: Value) -> Value {
        if a == b || mask == u16::MAX {
            return a;
        }
        if let (Some((of_a, in_a)), Some((of_b, in_b))) = (self.sum(a), self.sum(b))
            && of_a == of_b
        {
            let (in_a, in_b) = (self.known(in_a), self.known(in_b));
            let words = std::array::from_fn(|lane| if mask >> lane & 1 != 0 { in_a[lane] } else { in_b[lane] });
            let known = self.words(words);
            return self.of_sum((of_a, known));
        }
        let nodes = [self.node(a), self.node(b)];
        let bits = self.step(nodes[0]).bits | self.step(nodes[1]).bits;
        Value::Any(self.push(Vector::Blend(mask), &nodes, false, bits))
    }

    /// Folds a sum or a product whose result is again a uniform term plus a constant vector.
    fn linear(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        let &[a, b] = args else { return None };
        let (a, b) = (self.sum(a)?, self.sum(b)?);
        let same = |graph: &Graph, (node, known): (Option<Node>, Known)| match node {
            None => graph.same_word(known),
            Some(_) => None,
        };
        match op {
            Op::Add | Op::Sub => {
                let known = self.map([a.1, b.1, ZEROS], |words| word(op, words).unwrap_or(0));
                let node = match (a.0, b.0) {
                    (node, None) => node,
                    (None, Some(node)) if op == Op::Add => Some(node),
                    (Some(a), Some(b)) if op == Op::Sub && a == b => None,
                    (Some(a), Some(b)) if op == Op::Sub && self.without(a, b).is_some() => self.without(a, b),
                    (Some(a), Some(b)) => Some(self.push(Vector::Compute(op), &[a, b], true, u32::MAX)),
                    (None, Some(_)) => return None,
                };
                Some(self.of_sum((node, known)))
            }
            Op::Shl => {
                let by = same(self, b)? & 31;
                self.multiplied(a, 1 << by)
            }
            Op::Mul => match (same(self, a), same(self, b)) {
                (Some(by), _) => self.multiplied(b, by),
                (_, Some(by)) => self.multiplied(a, by),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the other term of a sum, or `None` if `term` is not a term of the sum.
    fn without(&self, sum: Node, term: Node) -> Option<Node> {
        match *self.step(sum) {
            Step { vector: Vector::Compute(Op::Add), args: [a, b, _], .. } if a == term => Some(b),
            Step { vector: Vector::Compute(Op::Add), args: [a, b, _], .. } if b == term => Some(a),
            _ => None,
        }
    }

    fn multiplied(&mut self, (node, known): (Option<Node>, Known), by: u32) -> Option<Value> {
        if by == 0 {
            return Some(Value::Known(ZEROS));
        }
        let known = self.map([known, ZEROS, ZEROS], |[word, ..]| word.wrapping_mul(by));
        let node = match node {
            Some(node) if by != 1 => {
                let by = self.same(by);
                let by = self.node(Value::Known(by));
                Some(self.push(Vector::Compute(Op::Mul), &[node, by], true, u32::MAX))
            }
            node => node,
        };
        Some(self.of_sum((node, known)))
    }

    /// Folds a selection or a logical operation that has a constant operand.
    fn chosen(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        match (op, args) {
            (Op::Select | Op::Choose, &[Value::Known(holds), a, b]) => {
                let lanes = self.known(holds);
                let mask = (0..).zip(lanes).fold(0, |mask, (lane, word)| mask | u16::from(word != 0) << lane);
                Some(if mask == 0 { b } else { self.blend(mask, a, b) })
            }
            (Op::And | Op::Both, &[Value::Known(ONES), a] | &[a, Value::Known(ONES)]) => Some(a),
            (Op::And | Op::Both, &[zero @ Value::Known(ZEROS), _] | &[_, zero @ Value::Known(ZEROS)]) => Some(zero),
            (Op::Or | Op::Either, &[ones @ Value::Known(ONES), _] | &[_, ones @ Value::Known(ONES)]) => Some(ones),
            (Op::Or | Op::Either | Op::Xor | Op::Differ, &[Value::Known(ZEROS), a] | &[a, Value::Known(ZEROS)]) => {
                Some(a)
            }
            _ => None,
        }
    }

    fn bits(&self, op: Op, args: &[Node]) -> u32 {
        let of = |k: usize| args.get(k).map_or(u32::MAX, |&node| self.step(node).bits);
        match op {
            Op::And => of(0) & of(1),
            Op::Or | Op::Xor => of(0) | of(1),
            Op::Shr => match args.get(1).map(|&node| self.step(node).vector) {
                Some(Vector::Known(by)) => self.same_word(by).map_or(u32::MAX, |by| of(0) >> (by & 31)),
                _ => u32::MAX,
            },
            _ => u32::MAX,
        }
    }
}

fn loaded(place: &Place, signed: bool) -> u32 {
    match place.width {
        Width::B8 if !signed => 0xFF,
        Width::B16 if !signed => 0xFFFF,
        _ => u32::MAX,
    }
}

/// Evaluates an operation on the words of an item. Truth values are all ones or zero. Returns `None` if the operation
/// is not a function of at most three words.
pub fn word(op: Op, [a, b, c]: [u32; 3]) -> Option<u32> {
    let d = &mut Concrete;
    let truth = |holds: bool| u32::from(holds).wrapping_neg();
    Some(match op {
        Op::Const(word) => word,
        Op::Truth(holds) => truth(holds),
        Op::And | Op::Both => a & b,
        Op::Or | Op::Either => a | b,
        Op::Xor | Op::Differ => a ^ b,
        Op::Not | Op::Negate => !a,
        Op::Shl => d.shl(a, b),
        Op::Shr => d.shr(a, b),
        Op::Sar => d.sar(a, b),
        Op::Add => d.add(a, b),
        Op::Sub => d.sub(a, b),
        Op::Mul => d.mul(a, b),
        Op::Equal => truth(d.equal(a, b)),
        Op::Less(signed) => truth(d.less(signed, a, b)),
        Op::Select | Op::Choose => [c, b][usize::from(a != 0)],
        Op::FAdd => d.fadd(a, b),
        Op::FMul => d.fmul(a, b),
        Op::Fma => d.fma(a, b, c),
        Op::FDiv => d.fdiv(a, b),
        Op::FSqrt => d.fsqrt(a),
        Op::FCompare(compare) => truth(d.fcompare(compare, a, b)),
        Op::IntToFloat(signed) => d.int_to_float(signed, a),
        Op::FloatToInt(signed) => d.float_to_int(signed, a),
        Op::Video(op) => d.video(&op, a, b, c),
        Op::Bytes(of) => {
            let all = u64::from(b) << 32 | u64::from(a);
            u32::from_le_bytes(of.map(|byte| (all >> (8 * (byte & 7))) as u8))
        }
        Op::Input(_) | Op::Mask | Op::Bank { .. } | Op::Access(_) | Op::Loaded(..) | Op::Double(..) => return None,
        op => op.row_op([Shape::Varying; 6], true)?.word(a, b, c),
    })
}
