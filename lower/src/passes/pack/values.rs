//! Representations of the values of a packed kernel.
//!
//! A uniform value stays one value. A divergent value has these representations, which are
//! converted to each other on demand:
//!
//! * `items`: one scalar value for each item;
//! * `vector`: the bytes of consecutive items in vectors, where a mask has one lane for each byte;
//! * `words` and `masks`: the four lanes of an item all hold its byte or truth value;
//! * `wide`: wide lanes of 16 bits. A pair of half-words is in lanes 0 and 2 of an item's four
//!   lanes; lanes 1 and 3 are undefined.

use cranelift_entity::{EntitySet, SecondaryMap};
use halfbyte_ir::{Attr, Block, Flow, IntCC, Kernel, LaneMap, Op, Type, Value};
use smallvec::{SmallVec, smallvec};

use super::code::KernelBuilder;

/// One value for each item of a group.
pub(super) type Items = SmallVec<[Value; 16]>;
/// The vectors that hold a value for all items of a group: one vector or four.
pub(super) type Parts = SmallVec<[Value; 4]>;

/// Number of lanes in a vector.
pub(super) const LANES: usize = 16;
/// Number of byte lanes in a 32-bit word.
pub(super) const WORD: usize = 4;

/// Existing representations of a value, each with the block that defines it.
#[derive(Clone, Default)]
struct Representations {
    uniform: Option<Value>,
    items: Option<(Block, Items)>,
    vector: Option<(Block, Parts)>,
    /// Vectors of bytes in which the four lanes of an item all hold its value.
    words: Option<(Block, Parts)>,
    /// Masks in which the four lanes of an item all hold its truth value.
    masks: Option<(Block, Parts)>,
    /// Vectors of wide lanes.
    wide: Option<(Block, Parts)>,
}

/// Values of a kernel while it is packed.
pub(super) struct Values<'a> {
    from: &'a Kernel,
    flow: &'a Flow,
    pub code: KernelBuilder,
    /// Number of work items in a group.
    pub count: usize,
    /// Block of the unpacked kernel that is being packed.
    pub at: Block,
    entry: Block,
    /// Block for instructions that come before the instructions of the entry block.
    pub head: Block,
    /// `true` if the target supports wide lanes.
    pub has_wide_lanes: bool,
    /// Values that are in wide lanes from their definition until they are narrowed.
    pub kept_wide: EntitySet<Value>,
    forms: SecondaryMap<Value, Representations>,
}

/// Returns the vector type that holds values of a type: a mask for truth values, otherwise bytes.
pub(super) const fn vector_type(ty: Type) -> Type {
    if ty.is_mask() { Type::I1X16 } else { Type::I8X16 }
}

/// Returns `true` for pairs of half-words, for their masks, and for words of bytes, to which pairs are converted.
fn is_pair(ty: Type) -> bool {
    matches!(ty, Type::I16X2 | Type::I1X2 | Type::I8X4)
}

impl<'a> Values<'a> {
    pub(super) fn new(
        from: &'a Kernel,
        flow: &'a Flow,
        mut code: KernelBuilder,
        count: usize,
        has_wide_lanes: bool,
    ) -> Values<'a> {
        let entry = from.entry().unwrap_or(code.block);
        let head = code.kernel.blocks.push(halfbyte_ir::BlockData::default());
        Values {
            from,
            flow,
            code,
            count,
            at: entry,
            entry,
            head,
            has_wide_lanes,
            kept_wide: EntitySet::new(),
            forms: SecondaryMap::new(),
        }
    }

    /// Returns the number of vector lanes for each item, if values of the type are held in vectors.
    pub(super) fn lanes(&self, ty: Type) -> Option<usize> {
        match ty {
            Type::I8 | Type::I1 if self.count == LANES => Some(1),
            Type::I8X4 | Type::I1X4 if self.count >= WORD => Some(WORD),
            _ => None,
        }
    }

    /// Returns `true` if vectors can hold values of the type.
    pub(super) fn fits(&self, ty: Type) -> bool {
        self.lanes(ty).is_some() || self.count >= WORD && ty.bits() == 32 && !ty.is_mask()
    }

    /// Returns the number of vectors that hold a value of the type for all items of a group.
    pub(super) fn parts(&self, ty: Type) -> usize {
        if ty.lanes() == 1 && ty.elem().bits() <= 8 { self.count / LANES } else { self.count / WORD }
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.from.ty(value)
    }

    pub(super) fn uniform(&self, value: Value) -> Option<Value> {
        self.forms[value].uniform
    }

    pub(super) fn set_uniform(&mut self, value: Value, by: Value) {
        self.forms[value].uniform = Some(by);
        self.name(by, value);
    }

    pub(super) fn set_items(&mut self, value: Value, items: Items) {
        if let &[only] = items.as_slice() {
            self.name(only, value);
        }
        self.forms[value].items = Some((self.at, items));
    }

    pub(super) fn set_vector(&mut self, value: Value, parts: Parts) {
        if let &[only] = parts.as_slice() {
            self.name(only, value);
        }
        self.forms[value].vector = Some((self.at, parts));
    }

    /// Gives a value of the packed kernel the name of a value of the source.
    fn name(&mut self, value: Value, from: Value) {
        let kernel = &mut self.code.kernel;
        if let (Some(name), None) = (self.from.value_name(from), kernel.value_name(value)) {
            kernel.set_value_name(value, name);
        }
    }

    fn known<T: Clone>(&self, form: Option<&(Block, T)>) -> Option<T> {
        form.filter(|(made, _)| self.flow.dominates(*made, self.at)).map(|(_, values)| values.clone())
    }

    /// Returns `true` if the value has the `vector` representation, or if it can be computed from wide lanes.
    pub(super) fn has_vector(&self, value: Value) -> bool {
        let forms = &self.forms[value];
        self.known(forms.vector.as_ref()).is_some()
            || is_pair(self.ty(value)) && self.known(forms.wide.as_ref()).is_some()
    }

    /// Creates a representation of a uniform value. A constant or a kernel parameter gets it before
    /// the instructions of the entry block, any other value at the current position.
    fn early<T>(&mut self, value: Value, make: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        if self.constant(value).is_none() && self.from.param(value).is_none() {
            let made = make(self);
            return (self.at, made);
        }
        let block = std::mem::replace(&mut self.code.block, self.head);
        let made = make(self);
        self.code.block = block;
        (self.entry, made)
    }

    /// Returns a uniform value that is available before the instructions of the entry block.
    fn outside(&mut self, value: Value, uniform: Value) -> Value {
        if self.code.block != self.head {
            return uniform;
        }
        match self.constant(value) {
            Some(bits) => self.code.constant(self.ty(value), bits),
            None => uniform,
        }
    }

    fn constant(&self, value: Value) -> Option<[u64; 8]> {
        let inst = self.from.def_inst(value)?;
        self.from.const_bits(inst)
    }

    /// Returns the value of each item (`items` representation).
    pub(super) fn items(&mut self, value: Value) -> Items {
        let forms = &self.forms[value];
        if let Some(uniform) = forms.uniform {
            return smallvec![uniform; self.count];
        }
        if let Some(items) = self.known(forms.items.as_ref()) {
            return items;
        }
        let ty = self.ty(value);
        if let Some(wide) = self.known(forms.wide.as_ref()).filter(|_| !is_pair(ty)) {
            let split = |item: usize| self.code.value(Op::Split, ty, Attr::Lane(item as u8), &wide);
            let items: Items = (0..self.count).map(split).collect();
            self.forms[value].items = Some((self.at, items.clone()));
            return items;
        }
        let Some(parts) = self.known(forms.vector.as_ref()).or_else(|| self.pairs_in_bytes(value)) else {
            return Items::new();
        };
        let bytes: Parts = match ty.is_mask() && ty != Type::I1X2 {
            true => parts.iter().map(|&part| self.code.op(Op::MaskExpand, Type::I8X16, &[part])).collect(),
            false => parts,
        };
        let items: Items = (0..self.count).filter_map(|item| self.item(ty, &bytes, item)).collect();
        self.forms[value].items = Some((self.at, items.clone()));
        items
    }

    /// Extracts the value of one item from vectors of bytes.
    fn item(&mut self, ty: Type, parts: &Parts, item: usize) -> Option<Value> {
        let per_part = if ty.lanes() == 1 && ty.elem().bits() <= 8 { LANES } else { WORD };
        let part = *parts.get(item / per_part)?;
        let place = Attr::Lane((item % per_part) as u8);
        Some(match ty {
            Type::I8 => self.code.value(Op::Extract, Type::I8X16, place, &[part]),
            Type::I1 => {
                let byte = self.code.value(Op::Extract, Type::I8X16, place, &[part]);
                self.is_set(Type::I8, byte)
            }
            Type::I1X2 => {
                let pair = self.code.value(Op::Split, Type::I16X2, place, &[part]);
                self.is_set(Type::I16X2, pair)
            }
            Type::I1X4 => {
                let word = self.code.value(Op::Split, Type::I8X4, place, &[part]);
                self.is_set(Type::I8X4, word)
            }
            _ => self.code.value(Op::Split, ty, place, &[part]),
        })
    }

    fn is_set(&mut self, ty: Type, bytes: Value) -> Value {
        let zero = self.code.zero(ty);
        self.code.icmp(IntCC::Ne, ty, bytes, zero)
    }

    /// Returns the vectors of bytes that hold a value (`vector` representation).
    pub(super) fn vector(&mut self, value: Value) -> Parts {
        if let Some(parts) = self.known(self.forms[value].vector.as_ref()) {
            return parts;
        }
        if let Some(parts) = self.pairs_in_bytes(value) {
            self.forms[value].vector = Some((self.at, parts.clone()));
            return parts;
        }
        let ty = self.ty(value);
        let (made, parts) = match self.forms[value].uniform {
            Some(uniform) => self.early(value, |values| {
                let vector = values.broadcast(value, uniform);
                smallvec![vector; values.parts(ty)]
            }),
            None => {
                let items = self.items(value);
                (self.at, self.side_by_side(ty, &items))
            }
        };
        self.forms[value].vector = Some((made, parts.clone()));
        parts
    }

    /// Returns a vector of bytes that holds a uniform value for each item.
    fn broadcast(&mut self, value: Value, uniform: Value) -> Value {
        let ty = self.ty(value);
        if let Some(bits) = self.constant(value) {
            let width = ty.bits().min(32);
            let mut vector = [0; 8];
            let lowest = bits[0] & (u64::MAX >> (64 - width));
            let vector_bits = vector_type(ty).bits();
            for at in (0..vector_bits).step_by(width as usize) {
                if let Some(word) = vector.get_mut((at / 64) as usize) {
                    *word |= lowest << (at % 64);
                }
            }
            return self.code.constant(vector_type(ty), vector);
        }
        let bytes = if ty.is_mask() {
            let ty = if ty.is_scalar() { Type::I8 } else { Type::I8X4 };
            self.code.op(Op::MaskExpand, ty, &[uniform])
        } else {
            uniform
        };
        let vector = match ty.is_scalar() && ty.elem().bits() <= 8 {
            true => self.code.op(Op::Splat, Type::I8X16, &[bytes]),
            false => self.code.op(Op::Concat, Type::I8X16, &[bytes; WORD]),
        };
        if ty.is_mask() { self.is_set(Type::I8X16, vector) } else { vector }
    }

    /// Assembles vectors of bytes from one value for each item.
    fn side_by_side(&mut self, ty: Type, items: &Items) -> Parts {
        let single = ty.is_scalar() && ty.elem().bits() <= 8;
        let bytes: Items = match ty.is_mask() {
            true => {
                let ty = if single { Type::I8 } else { Type::I8X4 };
                items.iter().map(|&item| self.code.op(Op::MaskExpand, ty, &[item])).collect()
            }
            false => items.clone(),
        };
        let words: Items = match single {
            true => bytes.chunks(WORD).map(|bytes| self.code.op(Op::Concat, Type::I8X4, bytes)).collect(),
            false => bytes,
        };
        let vectors: Parts = words.chunks(WORD).map(|words| self.code.op(Op::Concat, Type::I8X16, words)).collect();
        match ty.is_mask() {
            true => vectors.iter().map(|&vector| self.is_set(Type::I8X16, vector)).collect(),
            false => vectors,
        }
    }

    /// Returns vectors in which the four lanes of an item all hold its byte (`words`
    /// representation). A truth value becomes all ones or all zeros.
    pub(super) fn words(&mut self, value: Value) -> Parts {
        if let Some(parts) = self.known(self.forms[value].words.as_ref()) {
            return parts;
        }
        let ty = self.ty(value);
        let (made, parts) = match self.forms[value].uniform {
            Some(uniform) => self.early(value, |values| {
                let uniform = values.outside(value, uniform);
                let part = match ty.is_mask() {
                    true => {
                        let word = values.code.op(Op::MaskExpand, Type::I32, &[uniform]);
                        values.code.op(Op::Concat, Type::I8X16, &[word; WORD])
                    }
                    false => values.code.op(Op::Splat, Type::I8X16, &[uniform]),
                };
                smallvec![part; values.count / WORD]
            }),
            None if self.has_vector(value) => {
                let parts = match ty.is_mask() {
                    true => {
                        let masks = self.masks(value);
                        masks.iter().map(|&mask| self.code.op(Op::MaskExpand, Type::I8X16, &[mask])).collect()
                    }
                    false => self.spread(Type::I8X16, value),
                };
                (self.at, parts)
            }
            None => {
                let items = self.items(value);
                let words: Items = match ty.is_mask() {
                    true => items.iter().map(|&item| self.code.op(Op::MaskExpand, Type::I32, &[item])).collect(),
                    false => items.iter().map(|&item| self.code.op(Op::Splat, Type::I8X4, &[item])).collect(),
                };
                let vectors = words.chunks(WORD).map(|words| self.code.op(Op::Concat, Type::I8X16, words));
                (self.at, vectors.collect())
            }
        };
        self.forms[value].words = Some((made, parts.clone()));
        parts
    }

    /// Returns masks in which the four lanes of an item all hold its truth value (`masks` representation).
    pub(super) fn masks(&mut self, value: Value) -> Parts {
        if let Some(parts) = self.known(self.forms[value].masks.as_ref()) {
            return parts;
        }
        let parts = if self.forms[value].uniform.is_none() && self.has_vector(value) {
            self.spread(Type::I1X16, value)
        } else {
            let words = self.words(value);
            words.iter().map(|&word| self.is_set(Type::I8X16, word)).collect()
        };
        self.forms[value].masks = Some((self.at, parts.clone()));
        parts
    }

    // Wide lanes -----------------------------------------------------------------------------------------------

    /// Returns the number of vectors of wide lanes that hold a value for all items of a group.
    pub(super) fn wide_parts(&self, ty: Type) -> usize {
        if ty.is_scalar() { self.count / LANES } else { self.count / WORD }
    }

    pub(super) fn set_wide(&mut self, value: Value, parts: Parts) {
        self.forms[value].wide = Some((self.at, parts));
    }

    /// Returns the type of the vectors of wide lanes that hold values of a type. Only pairs of half-words have such
    /// vectors, and integers if an item has one lane.
    pub(super) fn wide_type(&self, ty: Type) -> Option<Type> {
        match ty {
            _ if !self.has_wide_lanes => None,
            Type::I16X2 if self.count >= WORD => Some(Type::I16X16),
            Type::I16 if self.count == LANES => Some(Type::I16X16),
            Type::I32 if self.count == LANES => Some(Type::I32X16),
            _ => None,
        }
    }

    /// Returns `true` if a value is in wide lanes, or if it is a pair of half-words in vectors,
    /// which can be converted to wide lanes.
    pub(super) fn has_wide(&self, value: Value) -> bool {
        self.known(self.forms[value].wide.as_ref()).is_some() || self.ty(value) == Type::I16X2 && self.has_vector(value)
    }

    /// Returns `true` if a value is in wide lanes and not in vectors of bytes.
    pub(super) fn is_only_wide(&self, value: Value) -> bool {
        let forms = &self.forms[value];
        self.known(forms.wide.as_ref()).is_some() && self.known(forms.vector.as_ref()).is_none()
    }

    /// Returns the vectors of wide lanes that hold a value; `None` if its type is not supported.
    pub(super) fn wide(&mut self, value: Value) -> Option<Parts> {
        if let Some(parts) = self.known(self.forms[value].wide.as_ref()) {
            return Some(parts);
        }
        if self.ty(value) != Type::I16X2 {
            return self.wide_of_uniform(value).or_else(|| self.wide_of_items(value));
        }
        let (made, parts) = match (self.constant(value), self.forms[value].uniform) {
            (Some(bits), _) => self.early(value, |values| {
                // The first two of an item's four wide lanes hold the first half-word, and the
                // other two hold the second half-word.
                let [low, high] = [bits[0] & 0xffff, bits[0] >> 16 & 0xffff];
                let four = low | low << 16 | high << 32 | high << 48;
                let wide = values.code.constant(Type::I16X16, [four, four, four, four, 0, 0, 0, 0]);
                smallvec![wide; values.count / WORD]
            }),
            (None, _) => {
                let vectors = self.vector(value);
                (self.at, vectors.iter().map(|&vector| self.pairs_of_bytes(vector)).collect())
            }
        };
        self.forms[value].wide = Some((made, parts.clone()));
        Some(parts)
    }

    /// Converts a uniform integer to wide lanes.
    fn wide_of_uniform(&mut self, value: Value) -> Option<Parts> {
        let (ty, uniform) = (self.wide_type(self.ty(value))?, self.forms[value].uniform?);
        let (made, parts) = match self.constant(value) {
            Some(bits) => self.early(value, |values| {
                let width = ty.elem().bits();
                let lane = bits[0] & (u64::MAX >> (u64::BITS - width));
                let word = (0..u64::BITS).step_by(width as usize).fold(0, |word, at| word | lane << at);
                let mut words = [0; 8];
                words.iter_mut().take((ty.bits() / u64::BITS) as usize).for_each(|other| *other = word);
                smallvec![values.code.constant(ty, words)]
            }),
            None => (self.at, smallvec![self.code.op(Op::Splat, ty, &[uniform])]),
        };
        self.forms[value].wide = Some((made, parts.clone()));
        Some(parts)
    }

    /// Converts one integer for each item to wide lanes.
    fn wide_of_items(&mut self, value: Value) -> Option<Parts> {
        let ty = self.wide_type(self.ty(value))?;
        let items = self.items(value);
        let parts: Parts = smallvec![self.code.op(Op::Concat, ty, &items)];
        self.forms[value].wide = Some((self.at, parts.clone()));
        Some(parts)
    }

    /// Truncates pairs in wide lanes to vectors of bytes. The first byte of each half-word is its low byte, and the
    /// second byte is undefined.
    pub(super) fn low_bytes(&mut self, value: Value) -> Option<Parts> {
        let parts = self.known(self.forms[value].wide.as_ref()).filter(|_| !self.ty(value).is_mask())?;
        Some(parts.iter().map(|&wide| self.code.op(Op::Trunc, Type::I8X16, &[wide])).collect())
    }

    /// Converts a vector of bytes to wide lanes of half-words.
    fn pairs_of_bytes(&mut self, vector: Value) -> Value {
        let lanes: [u8; LANES] = std::array::from_fn(|lane| (lane | 1) as u8);
        let attr = Attr::Lanes(LaneMap::new(&lanes));
        let high = self.code.value(Op::Shuffle, Type::I8X16, attr, &[vector, vector]);
        let [low, high] = [vector, high].map(|bytes| self.code.op(Op::Zext, Type::I16X16, &[bytes]));
        let count = self.count_of(8);
        let high = self.code.op(Op::Shl, Type::I16X16, &[high, count]);
        self.code.op(Op::Add, Type::I16X16, &[low, high])
    }

    /// Converts pairs in wide lanes to vectors of bytes. The half-word of a truth value is all ones or all zeros.
    fn pairs_in_bytes(&mut self, value: Value) -> Option<Parts> {
        let parts = self.known(self.forms[value].wide.as_ref()).filter(|_| is_pair(self.ty(value)))?;
        if self.ty(value).is_mask() {
            let lanes: [u8; LANES] = std::array::from_fn(|lane| (lane & !1) as u8);
            let attr = Attr::Lanes(LaneMap::new(&lanes));
            let expand = |&mask: &Value| {
                let bytes = self.code.op(Op::MaskExpand, Type::I8X16, &[mask]);
                self.code.value(Op::Shuffle, Type::I8X16, attr, &[bytes, bytes])
            };
            return Some(parts.iter().map(expand).collect());
        }
        let lanes: [u8; LANES] =
            std::array::from_fn(|lane| (if lane % 2 == 0 { lane } else { LANES + lane - 1 }) as u8);
        let attr = Attr::Lanes(LaneMap::new(&lanes));
        let join = |&wide: &Value| {
            let low = self.code.op(Op::Trunc, Type::I8X16, &[wide]);
            let count = self.count_of(8);
            let up = self.code.op(Op::ShrU, Type::I16X16, &[wide, count]);
            let high = self.code.op(Op::Trunc, Type::I8X16, &[up]);
            self.code.value(Op::Shuffle, Type::I8X16, attr, &[low, high])
        };
        Some(parts.iter().map(join).collect())
    }

    /// Returns a shift count in every wide lane.
    fn count_of(&mut self, count: u64) -> Value {
        let four = count | count << 16 | count << 32 | count << 48;
        self.code.constant(Type::I16X16, [four, four, four, four, 0, 0, 0, 0])
    }

    /// Returns vectors in which each lane of a vector is repeated four times.
    fn spread(&mut self, ty: Type, value: Value) -> Parts {
        let Some(&vector) = self.vector(value).first() else { return Parts::new() };
        let part = |part: usize| {
            let lanes: [u8; LANES] = std::array::from_fn(|lane| (WORD * part + lane / WORD) as u8);
            self.code.value(Op::Shuffle, ty, Attr::Lanes(LaneMap::new(&lanes)), &[vector, vector])
        };
        (0..self.count / WORD).map(part).collect()
    }

    /// Makes a block the current one, and creates the packed parameters for its parameters.
    pub(super) fn begin(&mut self, block: Block, to: Block, varies: &dyn Fn(Value) -> bool) {
        self.at = block;
        self.code.block = to;
        for &param in self.from.block_params(block) {
            let ty = self.ty(param);
            if !varies(param) {
                let value = self.code.kernel.add_block_param(to, ty);
                self.set_uniform(param, value);
            } else if let Some(wide) = self.wide_type(ty).filter(|_| self.kept_wide.contains(param)) {
                let parts = (0..self.wide_parts(ty)).map(|_| self.code.kernel.add_block_param(to, wide)).collect();
                self.set_wide(param, parts);
            } else if self.lanes(ty).is_some() {
                let parts = 0..self.parts(ty);
                let parts = parts.map(|_| self.code.kernel.add_block_param(to, vector_type(ty))).collect();
                self.set_vector(param, parts);
            } else {
                let items = (0..self.count).map(|_| self.code.kernel.add_block_param(to, ty)).collect();
                self.set_items(param, items);
            }
        }
    }

    /// Returns the packed arguments that a branch passes for a parameter of a block.
    pub(super) fn argument(&mut self, param: Value, varies: bool, value: Value) -> Items {
        if !varies {
            return self.uniform(value).into_iter().collect();
        }
        if self.kept_wide.contains(param) {
            return self.wide(value).into_iter().flatten().collect();
        }
        match self.lanes(self.ty(param)) {
            Some(_) => self.vector(value).into_iter().collect(),
            None => self.items(value),
        }
    }
}
