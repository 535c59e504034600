//! Instructions under test. Each instruction is assembled from text, encoded, decoded, and executed
//! on numbers like in the interpreter.

use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Reader, SpecialReg, Write};
use halfbyte_isa::halu::meaning::meaning;
use halfbyte_isa::halu::{Inst, read_word};

use super::oracle::Spec;
use super::{Counterexample, Reproduction};

/// An instruction under test. The sources of the instruction are R1, R2 and R3, or other locations
/// in their place, and P0.
pub(super) struct Instruction {
    text: String,
    /// The name of each source's register or constant; `None` for an immediate.
    sources: Vec<Option<String>>,
    inst: Inst,
}

impl Instruction {
    /// Assembles, encodes and decodes an instruction, and checks that its printed text parses to the same instruction.
    pub(super) fn new(text: String, sources: Vec<Option<String>>) -> Result<Instruction, Box<Counterexample>> {
        let fail = |reason: String| {
            Box::new(Counterexample { subject: text.clone(), reason, reproduction: Reproduction::None })
        };
        let word = read_word(&text).map_err(|error| fail(error.to_string()))?;
        let inst = Inst::decode(word).ok_or_else(|| fail(format!("{word:#034x} does not decode")))?;
        let printed = inst.to_string();
        if read_word(&printed) != Ok(word) {
            return Err(fail(format!("it prints as `{printed}`, which is another word")));
        }
        Ok(Instruction { text, sources, inst })
    }

    fn of(spec: &Spec) -> Result<Instruction, Box<Counterexample>> {
        let sources = spec.sources.iter().enumerate().take(spec.arity());
        Instruction::new(spec.to_string(), sources.map(|(number, source)| source.place.name(number)).collect())
    }

    /// Executes the instruction. Returns the value of R0, or for predicates the values of P1 and P2
    /// as bits 0 and 1. Returns `None` if the instruction writes another location.
    fn execute(&self, words: [u32; 3], p0: bool) -> Option<u32> {
        let effects = meaning(&self.inst, &mut Concrete, &mut State { words, p0 });
        effects.writes.iter().try_fold(0, |result, write| match *write {
            Write::Gpr(0, word) => Some(result | word),
            Write::Pred(n @ 1..=2, truth) => Some(result | u32::from(truth) << (n - 1)),
            _ => None,
        })
    }

    /// Executes the instruction and compares its result with the expected result.
    pub(super) fn check(&self, words: [u32; 3], p0: bool, expected: u32) -> Result<(), Box<Counterexample>> {
        let found = self.execute(words, p0);
        if found == Some(expected) { Ok(()) } else { Err(self.counterexample(words, p0, expected, found)) }
    }

    #[cold]
    fn counterexample(&self, words: [u32; 3], p0: bool, expected: u32, found: Option<u32>) -> Box<Counterexample> {
        let sources = self.sources.iter().zip(words);
        let pre = sources.filter_map(|(name, word)| Some(format!("\"{}\":\"{word:#010x}\",", name.as_ref()?)));
        let reproduction = format!("{{\"asm\":\"{}\",\"pre\":{{{}\"P0\":{p0}}}}}", self.text, pre.collect::<String>());
        let found = found.map_or("other registers".to_owned(), |word| format!("{word:#010x}"));
        let reason = format!("expected {expected:#010x}, found {found}");
        let reproduction = Reproduction::Line(reproduction);
        Box::new(Counterexample { subject: self.text.clone(), reason, reproduction })
    }
}

/// A specification with the instruction that must satisfy it.
pub(super) struct Trial {
    /// The specification.
    pub spec: Spec,
    instruction: Instruction,
}

impl Trial {
    pub(super) fn new(spec: Spec) -> Result<Trial, Box<Counterexample>> {
        Ok(Trial { spec, instruction: Instruction::of(&spec)? })
    }

    /// Compares the result of the instruction with the result in the specification.
    pub(super) fn check(&self, words: [u32; 3], p0: bool) -> Result<(), Box<Counterexample>> {
        self.instruction.check(words, p0, self.spec.result(words, p0))
    }
}

/// The values of the registers and constants that [`SourceKind`] can name.
struct State {
    words: [u32; 3],
    p0: bool,
}

impl State {
    fn word(&self, number: usize) -> u32 {
        self.words.get(number.wrapping_sub(1)).copied().unwrap_or(0)
    }
}

impl Reader<Concrete> for State {
    fn gpr(&mut self, _: &mut Concrete, n: u8) -> u32 {
        self.word(n.into())
    }
    fn ur(&mut self, _: &mut Concrete, n: u8) -> u32 {
        self.word(n.into())
    }
    fn pred(&mut self, _: &mut Concrete, n: u8) -> bool {
        n == 0 && self.p0
    }
    fn constant(&mut self, _: &mut Concrete, _: u8, offset: u16) -> u32 {
        self.word(usize::from(offset) / 4)
    }
    fn special(&mut self, _: &mut Concrete, _: SpecialReg) -> u32 {
        0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::oracle::Op;
    use super::*;

    #[test]
    fn a_difference_comes_with_a_line_to_step() {
        let instruction = Instruction::of(&Spec::new(Op::Mul)).unwrap();
        let wrong = instruction.check([0x3C00, 0x4000, 0], true, 1).unwrap_err();
        assert_eq!(wrong.reason, "expected 0x00000001, found 0x00004000");
        assert_eq!(
            wrong.reproduction,
            Reproduction::Line(
                r#"{"asm":"HMUL2.RN R0, R1, R2 ;","pre":{"R1":"0x00003c00","R2":"0x00004000","P0":true}}"#.to_owned()
            )
        );
    }
}
