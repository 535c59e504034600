//! What stands for a value of one work item in a packed kernel.
//!
//! A uniform value stays one. Of others there are two forms, made from each other where they are needed: `items`, a value
//! an item; and `vector`, the bytes of neighbouring items side by side in vectors, for masks a lane a byte. A byte or truth
//! value also has a form in which it fills the four lanes that an item with a word has.

use cranelift_entity::SecondaryMap;
use halfbyte_ir::{Attr, Block, Flow, IntCC, Kernel, LaneMap, Op, Type, Value};
use smallvec::{SmallVec, smallvec};

use super::code::Code;

/// A value an item.
pub(super) type Items = SmallVec<[Value; 16]>;
/// The vectors of a group: one or four.
pub(super) type Parts = SmallVec<[Value; 4]>;

/// Lanes of a vector.
pub(super) const LANES: usize = 16;
/// Lanes of a word.
pub(super) const WORD: usize = 4;

/// The forms of a value that there are, each with the block that it was made in.
#[derive(Clone, Default)]
struct Forms {
    uniform: Option<Value>,
    items: Option<(Block, Items)>,
    vector: Option<(Block, Parts)>,
    /// Each item's lane four times: bytes, and masks.
    words: Option<(Block, Parts)>,
    masks: Option<(Block, Parts)>,
}

/// The values of a kernel being packed.
pub(super) struct Values<'a> {
    from: &'a Kernel,
    flow: &'a Flow,
    pub code: Code,
    /// Work items in a group.
    pub count: usize,
    /// The block of the unpacked kernel that is being packed.
    pub at: Block,
    entry: Block,
    /// Comes before the entry's instructions.
    pub head: Block,
    forms: SecondaryMap<Value, Forms>,
}

/// The vector of a type's lanes.
pub(super) const fn vector_type(ty: Type) -> Type {
    if ty.is_mask() { Type::I1X16 } else { Type::I8X16 }
}

impl<'a> Values<'a> {
    pub fn new(from: &'a Kernel, flow: &'a Flow, mut code: Code, count: usize) -> Values<'a> {
        let entry = from.entry().unwrap_or(code.block);
        let head = code.kernel.blocks.push(halfbyte_ir::BlockData::default());
        Values { from, flow, code, count, at: entry, entry, head, forms: SecondaryMap::new() }
    }

    /// The lanes that an item has in vectors, of types whose values are kept there.
    pub fn lanes(&self, ty: Type) -> Option<usize> {
        match ty {
            Type::I8 | Type::I1 if self.count == LANES => Some(1),
            Type::I8X4 | Type::I1X4 if self.count >= WORD => Some(WORD),
            _ => None,
        }
    }

    /// Whether values of the type can be laid side by side in vectors.
    pub fn fits(&self, ty: Type) -> bool {
        self.lanes(ty).is_some() || self.count >= WORD && ty.bits() == 32 && !ty.is_mask()
    }

    /// Vectors of a group.
    pub fn parts(&self, ty: Type) -> usize {
        if ty.lanes() == 1 && ty.elem().bits() <= 8 { self.count / LANES } else { self.count / WORD }
    }

    pub fn ty(&self, value: Value) -> Type {
        self.from.ty(value)
    }

    pub fn uniform(&self, value: Value) -> Option<Value> {
        self.forms[value].uniform
    }

    pub fn set_uniform(&mut self, value: Value, by: Value) {
        self.forms[value].uniform = Some(by);
        self.name(by, value);
    }

    pub fn set_items(&mut self, value: Value, items: Items) {
        if let &[only] = items.as_slice() {
            self.name(only, value);
        }
        self.forms[value].items = Some((self.at, items));
    }

    pub fn set_vector(&mut self, value: Value, parts: Parts) {
        if let &[only] = parts.as_slice() {
            self.name(only, value);
        }
        self.forms[value].vector = Some((self.at, parts));
    }

    /// Lets a value of the packed kernel have the name that it has in the text.
    fn name(&mut self, value: Value, from: Value) {
        let kernel = &mut self.code.kernel;
        if let (Some(name), None) = (self.from.value_name(from), kernel.value_name(value)) {
            kernel.set_value_name(value, name);
        }
    }

    fn known<T: Clone>(&self, form: Option<&(Block, T)>) -> Option<T> {
        form.filter(|(made, _)| self.flow.dominates(*made, self.at)).map(|(_, values)| values.clone())
    }

    /// Whether the vector form is there without work.
    pub fn has_vector(&self, value: Value) -> bool {
        self.known(self.forms[value].vector.as_ref()).is_some()
    }

    /// Makes something of a uniform value: for a constant or a parameter of the kernel before the entry's own instructions,
    /// for others here.
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

    /// A uniform value for use before the entry's own instructions.
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

    /// A value an item.
    pub fn items(&mut self, value: Value) -> Items {
        let forms = &self.forms[value];
        if let Some(uniform) = forms.uniform {
            return smallvec![uniform; self.count];
        }
        if let Some(items) = self.known(forms.items.as_ref()) {
            return items;
        }
        let Some(parts) = self.known(forms.vector.as_ref()) else { return Items::new() };
        let ty = self.ty(value);
        let bytes: Parts = match ty.is_mask() {
            true => parts.iter().map(|&part| self.code.op(Op::MaskExpand, Type::I8X16, &[part])).collect(),
            false => parts,
        };
        let items: Items = (0..self.count).filter_map(|item| self.item(ty, &bytes, item)).collect();
        self.forms[value].items = Some((self.at, items.clone()));
        items
    }

    /// An item's value out of the bytes of vectors.
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

    /// The bytes of neighbouring items side by side.
    pub fn vector(&mut self, value: Value) -> Parts {
        if let Some(parts) = self.known(self.forms[value].vector.as_ref()) {
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

    /// A vector of a uniform value.
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

    /// Vectors of a value an item.
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

    /// Vectors in which a byte, or all bits or none for a truth value, fills the four lanes of each item.
    pub fn words(&mut self, value: Value) -> Parts {
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

    /// Masks in which a truth value fills the four lanes of each item.
    pub fn masks(&mut self, value: Value) -> Parts {
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

    /// Vectors with each lane of a vector four times.
    fn spread(&mut self, ty: Type, value: Value) -> Parts {
        let Some(&vector) = self.vector(value).first() else { return Parts::new() };
        let part = |part: usize| {
            let lanes: [u8; LANES] = std::array::from_fn(|lane| (WORD * part + lane / WORD) as u8);
            self.code.value(Op::Shuffle, ty, Attr::Lanes(LaneMap::new(&lanes)), &[vector, vector])
        };
        (0..self.count / WORD).map(part).collect()
    }

    /// Makes the forms of the parameters of a block that begins, one value each or several.
    pub fn begin(&mut self, block: Block, to: Block, varies: &dyn Fn(Value) -> bool) {
        self.at = block;
        self.code.block = to;
        for &param in self.from.block_params(block) {
            let ty = self.ty(param);
            if !varies(param) {
                let value = self.code.kernel.add_block_param(to, ty);
                self.set_uniform(param, value);
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

    /// The values that a branch gives to what stands for a block's parameter.
    pub fn argument(&mut self, param: Value, varies: bool, value: Value) -> Items {
        if !varies {
            return self.uniform(value).into_iter().collect();
        }
        match self.lanes(self.ty(param)) {
            Some(_) => self.vector(value).into_iter().collect(),
            None => self.items(value),
        }
    }
}
