//! Loads and stores of four items' elements, as vectors of words.

use arrayvec::ArrayVec;
use cranelift_codegen::ir::types::{I8X16, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use cranelift_frontend::FunctionBuilder;
use halfbyte_isa::halu::domain::Width;

use super::cast;

/// Returns the flags of accesses without a known alignment.
fn anywhere() -> MemFlagsData {
    let mut flags = MemFlagsData::new();
    flags.set_notrap();
    flags
}

/// Strided access.
#[derive(Clone, Copy)]
pub(crate) struct Strided {
    /// Number of the access in the block.
    pub number: u32,
    pub width: Width,
    pub signed: bool,
    /// Address of the element of the next item.
    pub at: Value,
    /// Distance of two elements.
    pub step: Value,
}

/// Selects bytes of two vectors by their numbers.
pub(crate) fn shuffle(b: &mut FunctionBuilder<'_>, [x, y]: [Value; 2], bytes: [u8; 16]) -> Value {
    let [x, y] = [x, y].map(|value| cast(b, I8X16, value));
    let mask = b.func.dfg.immediates.push(bytes.to_vec().into());
    let shuffled = b.ins().shuffle(x, y, mask);
    cast(b, I32X4, shuffled)
}

/// Interleaves the words of the low or the high halves of two vectors.
fn interleave(b: &mut FunctionBuilder<'_>, words: [Value; 2], second: bool) -> Value {
    let bytes = match second {
        false => [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23],
        true => [8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31],
    };
    shuffle(b, words, bytes)
}

/// Concatenates the low or the high halves of two vectors.
fn halves(b: &mut FunctionBuilder<'_>, words: [Value; 2], second: bool) -> Value {
    let bytes = match second {
        false => [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23],
        true => [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31],
    };
    shuffle(b, words, bytes)
}

/// Transposes a matrix of four rows.
fn transpose(b: &mut FunctionBuilder<'_>, [w, x, y, z]: [Value; 4]) -> [Value; 4] {
    let (low, high) = ([w, x], [y, z]);
    let [a, c] = [low, high].map(|pair| interleave(b, pair, false));
    let [d, e] = [low, high].map(|pair| interleave(b, pair, true));
    [halves(b, [a, c], false), halves(b, [a, c], true), halves(b, [d, e], false), halves(b, [d, e], true)]
}

impl Strided {
    /// Returns the addresses of the elements of four items from `first` on.
    fn places(&self, b: &mut FunctionBuilder<'_>, first: u32) -> [Value; 4] {
        let from = match first {
            0 => self.at,
            _ => {
                let by = b.ins().imul_imm_s(self.step, i64::from(first));
                b.ins().iadd(self.at, by)
            }
        };
        let mut at = from;
        std::array::from_fn(|k| {
            if k != 0 {
                at = b.ins().iadd(at, self.step);
            }
            at
        })
    }

    /// Loads the words of four items. `first` is the number of the first item in the iteration.
    pub fn load(&self, b: &mut FunctionBuilder<'_>, first: u32) -> [Option<Value>; 4] {
        match self.width {
            Width::B8 => {
                let word = b.ins().load(I32, anywhere(), self.at, first as i32);
                let word = b.ins().scalar_to_vector(I32X4, word);
                let bytes = cast(b, I8X16, word);
                let halves = if self.signed { b.ins().swiden_low(bytes) } else { b.ins().uwiden_low(bytes) };
                let words = if self.signed { b.ins().swiden_low(halves) } else { b.ins().uwiden_low(halves) };
                [Some(words), None, None, None]
            }
            Width::B16 => {
                let at = 2 * first as i32;
                let words = match self.signed {
                    true => b.ins().sload16x4(anywhere(), self.at, at),
                    false => b.ins().uload16x4(anywhere(), self.at, at),
                };
                [Some(words), None, None, None]
            }
            Width::B32 | Width::B64 | Width::B128 => {
                let places = self.places(b, first);
                gather(b, self.width, self.signed, places)
            }
        }
    }

    /// Stores the words of four items. `first` is the number of the first item in the iteration.
    pub fn store(&self, b: &mut FunctionBuilder<'_>, words: &[Value], first: u32) {
        let words: ArrayVec<Value, 4> = words.iter().map(|&word| cast(b, I32X4, word)).collect();
        let Some(&word) = words.first() else { return };
        match self.width {
            Width::B8 => {
                let bytes = shuffle(b, [word; 2], [0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12]);
                let four = b.ins().extractlane(bytes, 0);
                b.ins().store(anywhere(), four, self.at, first as i32);
            }
            Width::B16 => {
                let halves = shuffle(b, [word; 2], [0, 1, 4, 5, 8, 9, 12, 13, 0, 1, 4, 5, 8, 9, 12, 13]);
                let halves = cast(b, I64X2, halves);
                let four = b.ins().extractlane(halves, 0);
                b.ins().store(anywhere(), four, self.at, 2 * first as i32);
            }
            Width::B32 | Width::B64 | Width::B128 => {
                let places = self.places(b, first);
                scatter(b, self.width, &words, places);
            }
        }
    }
}

/// Gathers the words of four elements.
pub(crate) fn gather(
    b: &mut FunctionBuilder<'_>,
    width: Width,
    signed: bool,
    places: [Value; 4],
) -> [Option<Value>; 4] {
    match width {
        Width::B8 | Width::B16 | Width::B32 => {
            let [w, rest @ ..] = places.map(|at| match (width, signed) {
                (Width::B8, false) => b.ins().uload8(I32, anywhere(), at, 0),
                (Width::B8, true) => b.ins().sload8(I32, anywhere(), at, 0),
                (Width::B16, false) => b.ins().uload16(I32, anywhere(), at, 0),
                (Width::B16, true) => b.ins().sload16(I32, anywhere(), at, 0),
                _ => b.ins().load(I32, anywhere(), at, 0),
            });
            let vector = b.ins().scalar_to_vector(I32X4, w);
            let words = (1..).zip(rest).fold(vector, |vector, (k, word)| b.ins().insertlane(vector, word, k));
            [Some(words), None, None, None]
        }
        Width::B64 => {
            let [w, x, y, z] = places.map(|at| {
                let both = b.ins().load(I64, anywhere(), at, 0);
                b.ins().scalar_to_vector(I64X2, both)
            });
            let [a, c] = [[w, x], [y, z]].map(|pair| interleave(b, pair, false));
            [Some(halves(b, [a, c], false)), Some(halves(b, [a, c], true)), None, None]
        }
        Width::B128 => {
            let rows = places.map(|at| b.ins().load(I32X4, anywhere(), at, 0));
            transpose(b, rows).map(Some)
        }
    }
}

/// Scatters four elements.
pub(crate) fn scatter(b: &mut FunctionBuilder<'_>, width: Width, words: &[Value], places: [Value; 4]) {
    let words: ArrayVec<Value, 4> = words.iter().take(4).map(|&word| cast(b, I32X4, word)).collect();
    let Some(&word) = words.first() else { return };
    let word_of = |k: usize| words.get(k).copied().unwrap_or(word);
    match width {
        Width::B8 | Width::B16 | Width::B32 => {
            for (k, at) in (0..).zip(places) {
                let lane = b.ins().extractlane(word, k);
                match width {
                    Width::B8 => b.ins().istore8(anywhere(), lane, at, 0),
                    Width::B16 => b.ins().istore16(anywhere(), lane, at, 0),
                    _ => b.ins().store(anywhere(), lane, at, 0),
                };
            }
        }
        Width::B64 => {
            let pairs = [false, true].map(|second| {
                let pair = interleave(b, [word_of(0), word_of(1)], second);
                cast(b, I64X2, pair)
            });
            for (k, at) in (0..).zip(places) {
                let both = b.ins().extractlane(pairs[usize::from(k > 1)], k % 2);
                b.ins().store(anywhere(), both, at, 0);
            }
        }
        Width::B128 => {
            let rows = transpose(b, [0, 1, 2, 3].map(word_of));
            for (row, at) in rows.into_iter().zip(places) {
                b.ins().store(anywhere(), row, at, 0);
            }
        }
    }
}
