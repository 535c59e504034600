//! Combines bitwise operations: several LOP3 that together depend on three words become one LOP3.

use arrayvec::ArrayVec;

use super::Combiner;
use super::word::ThreeSourceOp;
use crate::halu::operands::{Reg, SourceLocation, Src};

/// Truth tables of the five functions that each return one of five input words. A table has one bit
/// for each of the 32 combinations of input bits.
const WORDS: [u32; 5] = [0xaaaa_aaaa, 0xcccc_cccc, 0xf0f0_f0f0, 0xff00_ff00, 0xffff_0000];

/// Returns the truth table of a LOP3 whose three inputs are functions of the same five words. The
/// arguments are the table of the LOP3 and the truth tables of its inputs.
pub fn apply(table: u8, [a, b, c]: [u32; 3]) -> u32 {
    let pick = |word: u32, bit: u8| if bit == 1 { word } else { !word };
    let case = |case: u8| pick(a, case >> 2 & 1) & pick(b, case >> 1 & 1) & pick(c, case & 1);
    (0..8).filter(|n| table >> n & 1 == 1).fold(0, |all, n| all | case(n))
}

/// Distinct input words of a bitwise function.
#[derive(Default)]
pub struct Words(ArrayVec<Src, 5>);

impl Words {
    /// Adds a source operand to the input words, and returns the operand as a function of these
    /// words. Returns `None` if there are already five words.
    pub fn add(&mut self, source: Src) -> Option<u32> {
        match source.place {
            SourceLocation::Reg(Reg { vreg: None, .. }) => return Some(0),
            SourceLocation::Imm(u32::MAX) => return Some(u32::MAX),
            _ => {}
        }
        if let Some(known) = self.0.iter().position(|&word| word == source) {
            return WORDS.get(known).copied();
        }
        if let SourceLocation::Imm(bits) = source.place
            && let Some(opposite) = self.0.iter().position(|word| word.place == SourceLocation::Imm(!bits))
        {
            return WORDS.get(opposite).map(|word| !word);
        }
        self.0.try_push(source).ok()?;
        WORDS.get(self.0.len() - 1).copied()
    }

    /// Returns the LOP3 that computes a function, if the function depends on at most three input
    /// words. A constant or constant memory becomes the second source operand.
    pub fn one(&self, function: u32) -> Option<(u8, [Src; 3])> {
        let matters = |&number: &usize| {
            let (word, step) = (WORDS.get(number).copied().unwrap_or(0), 1 << number);
            (function & word) >> step != function & !word
        };
        let mut numbers: ArrayVec<usize, 5> = (0..self.0.len()).filter(matters).collect();
        if numbers.is_empty() || numbers.len() > 3 {
            return None;
        }
        let is_reg = |number: usize| self.0.get(number).is_some_and(|word| word.is_reg());
        if let Some(other) = numbers.iter().position(|&number| !is_reg(number)) {
            // A function of a single constant is left to constant folding.
            let last = numbers.len() - 1;
            numbers.swap(other, last.min(1));
            if last == 0 {
                return None;
            }
        }
        if numbers.iter().enumerate().any(|(place, &number)| place != 1 && !is_reg(number)) {
            return None;
        }
        let mut table = 0;
        for case in 0..8u8 {
            let bits = [case >> 2 & 1, case >> 1 & 1, case & 1];
            let index = numbers.iter().zip(bits).fold(0, |index, (&number, bit)| index | u32::from(bit) << number);
            table |= ((function >> index & 1) as u8) << case;
        }
        let source = |place: usize| numbers.get(place).and_then(|&number| self.0.get(number)).copied();
        Some((table, [0, 1, 2].map(|place| source(place).unwrap_or(Src::ZERO))))
    }
}

impl Combiner<'_> {
    /// Merges into a LOP3 another LOP3 or a constant that one of its sources reads. Returns `true` if the LOP3 changed.
    pub(super) fn logic(&mut self, at: u32, table: u8, sources: [Src; 3]) -> bool {
        let combined = (0..3).find_map(|place| self.with_inlined_source(table, sources, place));
        combined.is_some_and(|(table, sources)| self.write_three(at, ThreeSourceOp::Logic(table), sources))
    }

    /// Returns the LOP3 that results if the definition of source operand `place` is inlined.
    fn with_inlined_source(&self, table: u8, sources: [Src; 3], place: usize) -> Option<(u8, [Src; 3])> {
        let &Src { place: SourceLocation::Reg(reg), .. } = sources.get(place)? else { return None };
        let maker = self.maker(reg)?;
        let mut words = Words::default();
        let taken = match (self.constant(maker), self.def_in_block(reg).and_then(|maker| self.three(maker))) {
            (Some(number), _) => words.add(Src::imm(number))?,
            (None, Some((ThreeSourceOp::Logic(inner), of))) => {
                // A LOP3 that reads a single register is inlined even if its result has other uses,
                // because inlining adds no source registers.
                let is_free = Combiner::registers(&of).len() == 1 && of.iter().all(|source| source.is_reg());
                if self.uses(reg) != 1 && !is_free {
                    return None;
                }
                if Combiner::registers(&of).iter().any(|&reg| self.is_updated_in_place(reg)) {
                    return None;
                }
                let [a, b, c] = of;
                apply(inner, [words.add(a)?, words.add(b)?, words.add(c)?])
            }
            _ => return None,
        };
        let mut functions = [0; 3];
        for (function, (number, &source)) in functions.iter_mut().zip(sources.iter().enumerate()) {
            let is_taken = number == place || source.place == SourceLocation::Reg(reg);
            *function = if is_taken { taken } else { words.add(source)? };
        }
        words.one(apply(table, functions))
    }

    /// Returns `true` if an instruction updates the register in place. The live range of such a register must not grow.
    pub(super) fn is_updated_in_place(&self, reg: Reg) -> bool {
        reg.vreg.is_some_and(|reg| self.known[reg.0 as usize].is_continued)
    }
}
