//! Checks of random VP1 bundles. The assembly text of each instruction word must parse to a word
//! with the same text. Every bundle must execute without a panic on any machine state.

use halfbyte_ir::witness::Random;
use halfbyte_isa::vp1::state::State;
use halfbyte_isa::vp1::{Bundle, read_word, word_text};

use super::{Counterexample, Effort, Outcome, Reproduction, Subject};

const PART: &str = "bundles";

/// Number of bundles that execute on one machine state before it gets new random contents.
const RUN: u64 = 1000;

/// Ranges of the opcodes of each unit, in the order of the instruction words in a bundle.
const UNITS: [std::ops::Range<u32>; 4] = [0xc0..0xe0, 0x00..0x80, 0x80..0xc0, 0xe0..0x100];

/// Returns the subject that checks bundles.
pub(super) fn subjects(effort: Effort) -> Vec<Subject> {
    let per_piece = effort.choose(5_000, 500_000);
    let name = format!("{PART}::random bundles");
    vec![Subject::new(PART, name, (1, effort.choose(2, 20)), move |_, random| {
        let mut state = State::default();
        for number in 0..per_piece {
            if number % RUN == 0 {
                draw(&mut state, random);
            }
            let words = words(random);
            for (at, &word) in (0..).zip(&words) {
                check_round_trip(word, at)?;
            }
            let bundle = Bundle::new(&words).map_err(|error| wrong(&words, error.to_string()))?;
            if bundle.words() as usize != words.len() {
                return Err(wrong(&words, format!("it has {} words as a bundle", bundle.words())));
            }
            let _ = state.step(&bundle, |_| ());
        }
        Ok(per_piece)
    })]
}

/// Returns random instruction words, at most one for each unit and at least one in all.
fn words(random: &mut Random) -> Vec<u32> {
    let which = 1 + random.below(15);
    let units = UNITS.into_iter().enumerate().filter(|(unit, _)| which >> unit & 1 == 1);
    units.map(|(_, of)| (of.start + random.bits() as u32 % of.len() as u32) << 24 | random.bits() as u32 >> 8).collect()
}

/// Fills the registers and a part of the data store with random values.
fn draw(state: &mut State, random: &mut Random) {
    let mut word = || random.bits() as u32;
    state.r = std::array::from_fn(|_| word());
    state.v = std::array::from_fn(|_| std::array::from_fn(|_| word() as u8));
    state.va = std::array::from_fn(|_| word().cast_signed() >> 4);
    state.vc = std::array::from_fn(|_| word());
    state.a = std::array::from_fn(|_| word());
    state.c = std::array::from_fn(|_| word() as u16);
    state.l = std::array::from_fn(|_| word() as u16);
    for _ in 0..64 {
        let (at, value) = (word(), word());
        state.data.store_word(at, value);
    }
}

fn wrong(words: &[u32], reason: String) -> Box<Counterexample> {
    let words: Vec<String> = words.iter().map(|word| format!("{word:#010x}")).collect();
    let reproduction = Reproduction::Line(format!("{{\"words\":[\"{}\"]}}", words.join("\",\"")));
    Box::new(Counterexample { subject: format!("bundle {}", words.join(" ")), reason, reproduction })
}

/// Checks that the assembly text of an instruction word parses to a word with the same text. Words
/// that differ only in ignored bits have the same text.
fn check_round_trip(word: u32, at: u32) -> Outcome {
    let text = word_text(word, at);
    match read_word(&text, at) {
        Ok(again) if word_text(again, at) == text => Ok(1),
        Ok(again) => Err(wrong(&[word], format!("it prints as `{text}`, which is {again:#010x}"))),
        Err(error) => Err(wrong(&[word], format!("it prints as `{text}`, which does not read: {error}"))),
    }
}
