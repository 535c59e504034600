//! Combines bitwise operations: several LOP3 that together depend on three words become one LOP3.

use arrayvec::ArrayVec;
use rustc_hash::FxHashMap;

use super::Combiner;
use super::word::{ThreeSourceOp, is_logic};
use crate::halu::operands::{Reg, SourceLocation, Src};
use crate::vcode::VReg;

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

/// Bitwise function of at most five words.
struct Function {
    words: Words,
    /// Truth table over the words.
    table: u32,
}

impl Function {
    /// Returns the function that a LOP3 computes.
    fn of(table: u8, [a, b, c]: [Src; 3]) -> Option<Function> {
        let mut words = Words::default();
        let inputs = [words.add(a)?, words.add(b)?, words.add(c)?];
        Some(Function { words, table: apply(table, inputs) })
    }

    /// Replaces a word of the function by `inner`. Returns `None` if the result depends on more than five words.
    fn inlined(&self, number: usize, inner: Inlined) -> Option<Function> {
        let mut words = Words::default();
        let replacement = match inner {
            Inlined::Constant(bits) => words.add(Src::imm(bits))?,
            Inlined::Logic(table, [a, b, c]) => apply(table, [words.add(a)?, words.add(b)?, words.add(c)?]),
        };
        let mut inputs: ArrayVec<u32, 5> = ArrayVec::new();
        for (other, &word) in self.words.0.iter().enumerate() {
            inputs.push(if other == number { replacement } else { words.add(word)? });
        }
        let mut table = 0;
        for case in (0..1 << inputs.len()).filter(|case| self.table >> case & 1 == 1) {
            let bits = inputs.iter().enumerate().map(|(bit, &word)| if case >> bit & 1 == 1 { word } else { !word });
            table |= bits.fold(u32::MAX, |all, word| all & word);
        }
        Some(Function { words, table })
    }
}

/// Definition of a word that can be inlined into a bitwise function.
#[derive(Clone, Copy)]
enum Inlined {
    Constant(u32),
    Logic(u8, [Src; 3]),
}

/// Reason for which the inlining of a definition into a LOP3 removes instructions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gain {
    /// The definition has no other use.
    Single,
    /// Each user of the definition can inline the definition.
    Everywhere,
}

/// Maximum number of further LOP3 that are inlined to reduce the words of a function to three.
const MOST_INLINED: u32 = 2;

impl Combiner<'_> {
    /// Merges into a LOP3 another LOP3 or a constant that one of its sources reads. Returns `true` if the LOP3 changed.
    pub(super) fn logic(&mut self, at: u32, table: u8, sources: [Src; 3]) -> bool {
        let Some(function) = Function::of(table, sources) else { return false };
        let combined = [Gain::Single, Gain::Everywhere].into_iter().find_map(|gain| {
            (0..function.words.0.len()).find_map(|number| {
                let inner =
                    self.inlined(&function, number).filter(|&inner| self.gains(&function, number, inner, gain))?;
                self.narrowed(&function.inlined(number, inner)?, MOST_INLINED)
            })
        });
        combined.is_some_and(|(table, sources)| self.write_three(at, ThreeSourceOp::Logic(table), sources))
    }

    /// Replaces a bitwise function of equally permuted words by one permutation of the function of
    /// the original words. Returns `true` if the LOP3 became a PRMT.
    pub(super) fn permuted_function(&mut self, at: u32, table: u8, sources: [Src; 3]) -> bool {
        let mut selector = None;
        let mut makers: ArrayVec<u32, 3> = ArrayVec::new();
        let mut originals = sources;
        for (original, source) in originals.iter_mut().zip(sources) {
            let reg = match source.place {
                // A permutation of equal bits, with copies of signs, does not change the word.
                SourceLocation::Reg(Reg { vreg: None, .. }) | SourceLocation::Imm(u32::MAX) => continue,
                SourceLocation::Reg(reg) => reg,
                _ => return false,
            };
            let Some(maker) = self.def_in_block(reg) else { return false };
            let Some((map, [word, _])) = self.permutation(maker) else { return false };
            let reads_first = (0..4).all(|place| map >> (4 * place) & 4 == 0);
            let reads = sources.iter().filter(|other| **other == source).count() as u32;
            if !reads_first || self.uses(reg) != reads || self.is_updated_in_place(word) {
                return false;
            }
            if *selector.get_or_insert(map) != map {
                return false;
            }
            *original = Src::plain(SourceLocation::Reg(word));
            if !makers.contains(&maker) {
                makers.push(maker);
            }
        }
        let (Some(selector), Some(&last)) = (selector, makers.iter().max()) else { return false };
        let Some(result) = self.result(last).filter(|_| makers.len() > 1) else { return false };
        if !self.write_three(last, ThreeSourceOp::Logic(table), originals) {
            return false;
        }
        self.write_permutation(at, selector, [Reg::new(result), Reg::ZERO]);
        true
    }

    /// Returns the definition of a word of a function, if the definition can be inlined.
    fn inlined(&self, function: &Function, number: usize) -> Option<Inlined> {
        let &Src { place: SourceLocation::Reg(reg), .. } = function.words.0.get(number)? else { return None };
        if let Some(bits) = self.constant(self.maker(reg)?) {
            return Some(Inlined::Constant(bits));
        }
        match self.three(self.def_in_block(reg)?)? {
            (ThreeSourceOp::Logic(table), of) => {
                let lives_on = Combiner::registers(&of).iter().any(|&reg| self.is_updated_in_place(reg));
                (!lives_on).then_some(Inlined::Logic(table, of))
            }
            _ => None,
        }
    }

    /// Returns `true` if the code becomes shorter for the given reason when the definition of a word is inlined.
    fn gains(&self, function: &Function, number: usize, inner: Inlined, gain: Gain) -> bool {
        let Inlined::Logic(_, of) = inner else { return gain == Gain::Single };
        let Some(&Src { place: SourceLocation::Reg(reg), .. }) = function.words.0.get(number) else { return false };
        match gain {
            // A LOP3 that reads a single register is inlined even if its result has other uses,
            // because inlining adds no source registers.
            Gain::Single => {
                let is_free = Combiner::registers(&of).len() == 1 && of.iter().all(|source| source.is_reg());
                self.uses(reg) == 1 || is_free
            }
            Gain::Everywhere => reg.vreg.is_some_and(|reg| self.inlined_everywhere.contains(&reg)),
        }
    }

    /// Returns the LOP3 that computes a function. If the function depends on more than three words,
    /// inlines up to `most` further LOP3 that have other uses.
    fn narrowed(&self, function: &Function, most: u32) -> Option<(u8, [Src; 3])> {
        if let Some(found) = function.words.one(function.table) {
            return Some(found);
        }
        let most = most.checked_sub(1)?;
        (0..function.words.0.len()).find_map(|number| {
            let inner = self.inlined(function, number)?;
            let Inlined::Logic(_, of) = inner else { return None };
            // The number of words decreases only if the function already reads the sources.
            let known = |reg: &Reg| function.words.0.contains(&Src::plain(SourceLocation::Reg(*reg)));
            if Combiner::registers(&of).iter().filter(|reg| !known(reg)).count() > 1 {
                return None;
            }
            self.narrowed(&function.inlined(number, inner)?, most)
        })
    }

    /// Finds the LOP3 results of the current block that each of their users can inline.
    pub(super) fn find_inlined_everywhere(&mut self, insts: std::ops::Range<u32>) {
        self.inlined_everywhere.clear();
        let mut inlined: FxHashMap<VReg, u32> = FxHashMap::default();
        for at in insts {
            if !self.inst(at).is_some_and(|inst| is_logic(inst.inst.opcode())) {
                continue;
            }
            let Some((ThreeSourceOp::Logic(table), sources)) = self.three(at) else { continue };
            let Some(function) = Function::of(table, sources) else { continue };
            for (number, word) in function.words.0.iter().enumerate() {
                let SourceLocation::Reg(Reg { vreg: Some(reg), .. }) = word.place else { continue };
                if self.known[reg.0 as usize].uses < 2 {
                    continue;
                }
                let Some(inner @ Inlined::Logic(..)) = self.inlined(&function, number) else { continue };
                if function.inlined(number, inner).is_some_and(|all| all.words.one(all.table).is_some()) {
                    *inlined.entry(reg).or_default() += sources.iter().filter(|source| *source == word).count() as u32;
                }
            }
        }
        self.inlined_everywhere.extend(
            inlined.iter().filter(|&(reg, &count)| self.known[reg.0 as usize].uses == count).map(|(&reg, _)| reg),
        );
    }

    /// Returns `true` if an instruction updates the register in place. The live range of such a register must not grow.
    pub(super) fn is_updated_in_place(&self, reg: Reg) -> bool {
        reg.vreg.is_some_and(|reg| self.known[reg.0 as usize].is_continued)
    }
}
