//! Builder of the straight-line code of a block, with operations that are short sequences of nodes.

use rustc_hash::FxHashMap;

use super::{Binary, Cell, Float, Half, ITEMS, Node, Shift, Value, Width, Word};
use halfbyte_isa::half::{Compare, NAN_F32};

/// Nodes of a block in order.
#[derive(Default)]
pub struct Builder {
    pub nodes: Vec<Node>,
    /// Values of pure nodes.
    values: FxHashMap<Node, Value>,
}

impl Builder {
    /// Appends a node. If the node is pure and an equal node exists, returns the value of that node instead.
    pub fn push(&mut self, node: Node) -> Value {
        if node.is_pure() {
            return self.once(node);
        }
        self.nodes.push(node);
        Value(self.nodes.len() as u32 - 1)
    }

    /// Appends a node unless an equal node exists. Returns the value of the node.
    pub fn once(&mut self, node: Node) -> Value {
        if let Some(&value) = self.values.get(&node) {
            return value;
        }
        let value = Value(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.values.insert(node, value);
        value
    }

    /// Returns the splat of a word.
    pub fn constant(&mut self, word: u32) -> Value {
        self.constants([word; ITEMS as usize])
    }

    /// Returns a constant word for each item.
    pub fn constants(&mut self, words: [u32; ITEMS as usize]) -> Value {
        self.push(Node::Constant(words))
    }

    /// Returns the product of each item's number in the gang and `stride`.
    pub fn steps(&mut self, stride: u32) -> Value {
        self.constants(std::array::from_fn(|item| (item as u32).wrapping_mul(stride)))
    }

    pub fn cell(&mut self, cell: Cell) -> Value {
        self.once(Node::Cell(cell))
    }

    /// Lets later reads of a cell return `value`.
    pub fn let_cell(&mut self, cell: Cell, value: Value) {
        self.values.insert(Node::Cell(cell), value);
    }

    pub fn word(&mut self, word: Word) -> Value {
        self.push(Node::Word(word))
    }

    pub fn number(&mut self, word: Word) -> Value {
        self.push(Node::Number(word))
    }

    /// Returns the word of a splat constant.
    pub fn known(&self, value: Value) -> Option<u32> {
        match self.nodes.get(value.index()) {
            Some(Node::Constant([first, rest @ ..])) if rest.iter().all(|word| word == first) => Some(*first),
            _ => None,
        }
    }

    pub fn binary(&mut self, op: Binary, width: Width, a: Value, b: Value) -> Value {
        self.push(Node::Binary(op, width, [a, b]))
    }

    pub fn words(&mut self, op: Binary, a: Value, b: Value) -> Value {
        self.binary(op, Width::B32, a, b)
    }

    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.words(Binary::And, a, b)
    }

    pub fn or(&mut self, a: Value, b: Value) -> Value {
        self.words(Binary::Or, a, b)
    }

    pub fn xor(&mut self, a: Value, b: Value) -> Value {
        self.words(Binary::Xor, a, b)
    }

    /// Returns `a & !b`.
    pub fn and_not(&mut self, a: Value, b: Value) -> Value {
        self.words(Binary::AndNot, b, a)
    }

    pub fn and_constant(&mut self, a: Value, bits: u32) -> Value {
        let bits = self.constant(bits);
        self.and(a, bits)
    }

    pub fn not(&mut self, a: Value) -> Value {
        let ones = self.constant(u32::MAX);
        self.xor(a, ones)
    }

    pub fn shift(&mut self, shift: Shift, width: Width, a: Value, count: u8) -> Value {
        if count == 0 { a } else { self.push(Node::Shift(shift, width, a, count)) }
    }

    pub fn shift_words(&mut self, shift: Shift, a: Value, count: u8) -> Value {
        self.shift(shift, Width::B32, a, count)
    }

    pub fn select(&mut self, mask: Value, yes: Value, no: Value) -> Value {
        match self.known(mask) {
            Some(u32::MAX) => yes,
            Some(0) => no,
            _ if yes == no => yes,
            _ => self.push(Node::Select([mask, yes, no])),
        }
    }

    /// Returns all ones in the elements for which `a < b`, unsigned.
    pub fn less_unsigned(&mut self, width: Width, a: Value, b: Value) -> Value {
        let greater = self.binary(Binary::Max { signed: false }, width, a, b);
        let is_not = self.binary(Binary::Equal, width, greater, a);
        self.not(is_not)
    }

    pub fn float(&mut self, op: Float, a: Value, b: Value) -> Value {
        self.push(Node::Float(op, [a, b]))
    }

    pub fn compare(&mut self, compare: Compare, a: Value, b: Value) -> Value {
        self.push(Node::FloatCompare(compare, [a, b]))
    }

    /// Replaces NaNs by the canonical NaN.
    pub fn canonical(&mut self, float: Value) -> Value {
        let is_nan = self.compare(Compare::NAN, float, float);
        let nan = self.constant(NAN_F32);
        self.select(is_nan, nan, float)
    }

    /// Returns the high words of the products.
    pub fn mul_high(&mut self, signed: bool, a: Value, b: Value) -> Value {
        let op = Binary::MulEven { signed };
        let even = self.words(op, a, b);
        let [a, b] = [a, b].map(|x| self.shift(Shift::Right, Width::B64, x, 32));
        let odd = self.words(op, a, b);
        let even = self.shift(Shift::Right, Width::B64, even, 32);
        self.push(Node::Blend(0xAA, [even, odd]))
    }

    /// Extends words to 64 bits. Each result has the numbers of four items.
    pub fn extend(&mut self, signed: bool, of: Value) -> [Value; 2] {
        Half::BOTH.map(|half| self.push(Node::Extend { signed, half, of }))
    }

    /// Joins low and high words to 64-bit numbers. Each result has the numbers of four items.
    pub fn join(&mut self, [low, high]: [Value; 2]) -> [Value; 2] {
        let (low, high) = (self.extend(false, low), self.extend(false, high));
        [0, 1].map(|k| {
            let high = self.shift(Shift::Left, Width::B64, high[k], 32);
            self.or(low[k], high)
        })
    }

    /// Returns the splat of a 64-bit constant.
    pub fn constant_number(&mut self, number: u64) -> Value {
        let words = [number as u32, (number >> 32) as u32];
        self.constants(std::array::from_fn(|k| words[k % 2]))
    }

    /// Returns the product of 64-bit numbers below 2^32 in magnitude, extended from words, and a constant.
    pub fn scale(&mut self, signed: bool, number: Value, by: u32) -> Value {
        if by.is_power_of_two() {
            return self.shift(Shift::Left, Width::B64, number, by.trailing_zeros() as u8);
        }
        let by = self.constant_number(by.into());
        self.words(Binary::MulEven { signed }, number, by)
    }
}
