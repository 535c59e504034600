//! Accesses of a block to the parts of one structure per item. A group of such accesses is one row
//! of whole structures, which are transposed in registers.

use halfbyte_isa::halu::domain;

use super::lower::Lower;
use super::{Builder, Half, Node, Row, Shift, Value, Width};
use crate::jit::{Access, Action, Location, Shape};

/// Access of a group: a part of a structure that begins at byte `at`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub number: u32,
    at: u8,
    bytes: u8,
    /// `true` if a byte or 16-bit element is sign-extended.
    signed: bool,
}

impl Part {
    /// Returns the word of the structure in which the part begins.
    fn word(&self) -> usize {
        usize::from(self.at / 4)
    }

    /// Returns the number of bits before the part in its word.
    fn shift(&self) -> u8 {
        8 * (self.at % 4)
    }
}

/// Accesses that together cover contiguous structures of 2, 4, 8 or 16 bytes.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Parts in the order of the accesses.
    pub parts: Vec<Part>,
    /// Displacement of the structure.
    displacement: i32,
    is_store: bool,
    /// Loaded words, after the first part has been lowered.
    loaded: Option<[Option<Value>; 4]>,
}

impl Group {
    /// Returns the size of a structure in bytes.
    pub fn bytes(&self) -> u8 {
        self.parts.iter().map(|part| part.bytes).sum()
    }
}

/// Returns the location, width and stride of an affine access with a uniform base, and `true` for a store.
fn place_of(lower: &Lower<'_>, access: &Access) -> Option<(Location, domain::Width, i32, bool)> {
    let (place, width, is_store) = match access.action {
        Action::Load { place, width, .. } => (place, width, false),
        Action::Store { place, width, .. } => (place, width, true),
        _ => return None,
    };
    let Location::Global { base, .. } = place else { return None };
    let dataflow = lower.dataflow();
    let is_even = base.iter().all(|&word| dataflow.shape(word) == Shape::Uniform) && lower.is_of_all(access);
    let Some(Shape::Affine(stride)) = place.stride_shape(dataflow) else { return None };
    (is_even && lower.param_of(access).is_some()).then_some((place, width, stride.cast_signed(), is_store))
}

impl Lower<'_> {
    /// Returns the groups of the block's accesses.
    pub(super) fn find_groups(&self) -> Vec<Group> {
        let mut groups: Vec<(Group, Location, i32)> = Vec::new();
        for (number, access) in (0..).zip(&self.dataflow().accesses) {
            let Some((place, width, stride, is_store)) = place_of(self, access) else { continue };
            let Location::Global { imm, .. } = place else { continue };
            if !matches!(stride, 2 | 4 | 8 | 16) {
                continue;
            }
            let bytes = width.bytes() as u8;
            let into = imm.rem_euclid(stride);
            let (at, displacement) = (into as u8, imm - into);
            // An access that is not aligned in its structure traps.
            if at % bytes != 0 || i32::from(at + bytes) > stride {
                continue;
            }
            let signed = matches!(access.action, Action::Load { signed: true, .. });
            let part = Part { number, at, bytes, signed };
            let is_like = |(group, other, of): &&mut (Group, Location, i32)| {
                let overlaps = group.parts.iter().any(|part| part.at < at + bytes && at < part.at + part.bytes);
                (group.is_store, group.displacement, *of) == (is_store, displacement, stride)
                    && !overlaps
                    && has_same_row(other, &place)
            };
            match groups.iter_mut().find(is_like) {
                Some((group, ..)) => group.parts.push(part),
                None => groups.push((Group { parts: vec![part], displacement, is_store, loaded: None }, place, stride)),
            }
        }
        // A single byte or 16-bit element is no structure.
        let is_whole = |(group, _, stride): &(Group, Location, i32)| {
            i32::from(group.bytes()) == *stride && (*stride >= 4 || group.parts.len() > 1)
        };
        groups.into_iter().filter(is_whole).map(|(group, ..)| group).filter(|group| self.may_join(group)).collect()
    }

    /// Returns `true` if no other store to the same buffer is between the stores of a group. The last store writes the
    /// whole group.
    fn may_join(&self, group: &Group) -> bool {
        let (Some(first), Some(last)) = (group.parts.first(), group.parts.last()) else { return false };
        let accesses = &self.dataflow().accesses;
        let param = |number: u32| accesses.get(number as usize).and_then(|access| self.param_of(access));
        let is_store = |number: u32| {
            accesses.get(number as usize).is_some_and(|access| matches!(access.action, Action::Store { .. }))
        };
        let is_of_group = |number: u32| group.parts.iter().any(|part| part.number == number);
        !group.is_store
            || (first.number..last.number)
                .filter(|&number| is_store(number) && !is_of_group(number))
                .all(|number| param(number) != param(first.number))
    }

    pub(super) fn group_of(&self, number: u32) -> Option<Group> {
        self.groups.iter().find(|group| group.parts.iter().any(|part| part.number == number)).cloned()
    }

    /// Checks the row of the structures of a group.
    pub(super) fn check_group(&mut self, group: &Group) -> Option<Row> {
        for part in &group.parts {
            self.assume(self.dataflow().accesses.get(part.number as usize)?)?;
        }
        let access = self.dataflow().accesses.get(group.parts.first()?.number as usize)?;
        let (mut place, _, stride, _) = place_of(self, access)?;
        if let Location::Global { imm, .. } = &mut place {
            *imm = group.displacement;
        }
        let align = group.parts.iter().map(|part| part.bytes).max()?;
        self.check_bytes(access, place, (group.bytes(), align), stride)
    }

    /// Returns the words of a load. Returns `Some(None)` if the load belongs to no group.
    #[expect(clippy::option_option, reason = "no form in vectors, or no group")]
    pub(super) fn load_of_group(&mut self, number: u32) -> Option<Option<[Option<Value>; 4]>> {
        let Some(group) = self.group_of(number) else { return Some(None) };
        let words = match group.loaded {
            Some(words) => words,
            None => {
                let row = self.check_group(&group)?;
                let words = match group.bytes() {
                    2 => {
                        let halves = self.b.push(Node::LoadNarrow { row, width: Width::B16, signed: false });
                        [Some(halves), None, None, None]
                    }
                    bytes => self.b.load_structures(row, bytes / 4)?,
                };
                let is_it = |other: &&mut Group| other.parts.iter().any(|part| part.number == number);
                self.groups.iter_mut().find(is_it)?.loaded = Some(words);
                words
            }
        };
        let part = group.parts.iter().find(|part| part.number == number)?;
        let words = words.get(part.word()..)?;
        let mut loaded = [None; 4];
        if part.bytes < 4 {
            loaded[0] = Some(self.b.extract((*words.first()?)?, part));
        } else {
            for (to, from) in loaded.iter_mut().zip(words).take((part.bytes / 4).into()) {
                *to = *from;
            }
        }
        Some(Some(loaded))
    }

    /// Returns the words that the stores of a group write.
    pub(super) fn words_of_group(&mut self, group: &Group) -> Option<Vec<Value>> {
        let mut words = vec![None; usize::from(group.bytes()).div_ceil(4)];
        for part in &group.parts {
            let access = self.dataflow().accesses.get(part.number as usize)?;
            let Action::Store { data, .. } = &access.action else { return None };
            for (to, &id) in words.iter_mut().skip(part.word()).zip(data) {
                let word = self.value(id)?;
                let word = if part.bytes < 4 { self.b.place(word, part) } else { word };
                *to = Some(match *to {
                    Some(others) => self.b.or(others, word),
                    None => word,
                });
            }
        }
        words.into_iter().collect()
    }
}

/// Returns `true` if two accesses differ in their displacement only.
fn has_same_row(a: &Location, b: &Location) -> bool {
    match (a, b) {
        (
            Location::Global { offset, base, scale, .. },
            Location::Global { offset: other_offset, base: other_base, scale: other_scale, .. },
        ) => (offset, base, scale) == (other_offset, other_base, other_scale),
        _ => false,
    }
}

impl Builder {
    /// Returns a byte or 16-bit element of words, extended.
    fn extract(&mut self, words: Value, part: &Part) -> Value {
        let bits = 32 - 8 * part.bytes;
        let left = self.shift_words(Shift::Left, words, bits - part.shift());
        self.shift_words(if part.signed { Shift::Arithmetic } else { Shift::Right }, left, bits)
    }

    /// Returns words whose part is the low byte or 16 bits of `words`. The other bits are zero.
    fn place(&mut self, words: Value, part: &Part) -> Value {
        let high = self.shift_words(Shift::Left, words, 32 - 8 * part.bytes);
        self.shift_words(Shift::Right, high, 32 - 8 * part.bytes - part.shift())
    }

    /// Loads contiguous structures of one, two or four words. Returns the words of the structures.
    pub(super) fn load_structures(&mut self, row: Row, words: u8) -> Option<[Option<Value>; 4]> {
        let mut load = |number: i32| self.push(Node::LoadRow(row, 32 * number));
        match words {
            1 => Some([Some(load(0)), None, None, None]),
            2 => {
                let of = [load(0), load(1)];
                let [even, odd] = [false, true].map(|odd| self.push(Node::Every2nd { odd, split: false, of }));
                Some([Some(even), Some(odd), None, None])
            }
            4 => {
                let [r0, r1, r2, r3] = [0, 1, 2, 3].map(load);
                let mut pair = |half, a, b| self.push(Node::Pair(half, [a, b]));
                let pairs = [
                    pair(Half::Low, r0, r2),
                    pair(Half::High, r0, r2),
                    pair(Half::Low, r1, r3),
                    pair(Half::High, r1, r3),
                ];
                Some(self.of_quads(pairs))
            }
            _ => None,
        }
    }

    /// Loads structures of four words, `stride` bytes apart. Returns the words of the structures.
    pub(super) fn load_quads(&mut self, row: Row, stride: i32) -> [Option<Value>; 4] {
        let quads = [0, 1, 2, 3].map(|item| self.push(Node::LoadQuads { row, stride, item }));
        self.of_quads(quads)
    }

    /// Returns the words of structures. Vector `k` has the structures of items `k` and `k + 4`.
    fn of_quads(&mut self, [p0, p1, p2, p3]: [Value; 4]) -> [Option<Value>; 4] {
        let mut unpack = |half, width, a, b| self.push(Node::Unpack(half, width, [a, b]));
        let (low0, low1) = (unpack(Half::Low, Width::B32, p0, p1), unpack(Half::Low, Width::B32, p2, p3));
        let (high0, high1) = (unpack(Half::High, Width::B32, p0, p1), unpack(Half::High, Width::B32, p2, p3));
        [
            Some(unpack(Half::Low, Width::B64, low0, low1)),
            Some(unpack(Half::High, Width::B64, low0, low1)),
            Some(unpack(Half::Low, Width::B64, high0, high1)),
            Some(unpack(Half::High, Width::B64, high0, high1)),
        ]
    }

    /// Returns the vectors with the structures of items `k` and `k + 4`, for `k` from 0 to 3.
    pub(super) fn quads(&mut self, [a, b, c, d]: [Value; 4]) -> [Value; 4] {
        let mut unpack = |half, width, a, b| self.push(Node::Unpack(half, width, [a, b]));
        let (ab0, ab1) = (unpack(Half::Low, Width::B32, a, b), unpack(Half::High, Width::B32, a, b));
        let (cd0, cd1) = (unpack(Half::Low, Width::B32, c, d), unpack(Half::High, Width::B32, c, d));
        [
            unpack(Half::Low, Width::B64, ab0, cd0),
            unpack(Half::High, Width::B64, ab0, cd0),
            unpack(Half::Low, Width::B64, ab1, cd1),
            unpack(Half::High, Width::B64, ab1, cd1),
        ]
    }

    /// Interleaves one, two or four words of each item to rows of structures.
    pub(super) fn interleaved(&mut self, words: &[Value]) -> Option<Vec<Value>> {
        match *words {
            [a] => Some(vec![a]),
            [a, b] => Some(Half::BOTH.map(|half| self.push(Node::Interleave(half, [a, b]))).to_vec()),
            [a, b, c, d] => {
                let [p0, p1, p2, p3] = self.quads([a, b, c, d]);
                let mut pair = |half, a, b| self.push(Node::Pair(half, [a, b]));
                Some(vec![
                    pair(Half::Low, p0, p1),
                    pair(Half::Low, p2, p3),
                    pair(Half::High, p0, p1),
                    pair(Half::High, p2, p3),
                ])
            }
            _ => None,
        }
    }
}
