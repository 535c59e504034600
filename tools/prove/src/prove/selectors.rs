//! Checks of the selectors and masks of video instructions such as `vadd2`: every selector of each
//! source, and every mask.

use super::instruction::Instruction;
use super::{Counterexample, Outcome, Subject};

const PART: &str = "video";

/// The bytes of R1, R2 and R3, lowest first. All bytes and half-words are distinct, and no sum of
/// two of them overflows its lane.
const BYTES: [u8; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 0x40, 0x50, 0x60, 0x70];

/// Returns the subjects that check selectors and masks.
pub(super) fn subjects() -> Vec<Subject> {
    vec![
        Subject::new(PART, format!("{PART}::vadd2, every selector and mask"), (256, 1), |_, _| check_selectors(2)),
        Subject::new(PART, format!("{PART}::vadd4, every selector and mask"), (4096, 1), |_, _| check_selectors(4)),
    ]
}

/// Checks `vadd2` or `vadd4`, which adds elements of R1 and R2 that selectors choose, into the
/// lanes of R3 that a mask chooses. With two lanes, all pairs of selectors are checked. With four
/// lanes, each selector of R1 is paired with 16 selectors of R2.
fn check_selectors(lanes: usize) -> Outcome {
    const OTHERS: usize = 16;
    let elements = 2 * lanes;
    let selectors = elements.pow(lanes as u32);
    let masks = (1 << lanes) - 1;
    let mut cases = 0;
    for a in 0..selectors {
        for number in 0..OTHERS {
            let b = if lanes == 2 { number } else { (a * 2741 + number * 293 + 7) % selectors };
            // The mask is never 0, because the assembler rejects an empty mask.
            let mask = 1 + (a + number) % masks;
            add(lanes, [a, b], mask)?;
            cases += 1;
        }
    }
    Ok(cases)
}

fn add(lanes: usize, selectors: [usize; 2], mask: usize) -> Result<(), Box<Counterexample>> {
    let (letter, elements) = if lanes == 2 { ('h', 4) } else { ('b', 8) };
    // The number of a selector has one digit for each lane, in base `elements`. Lane 0 is the lowest digit.
    let elements_of = |lane: usize| usize::pow(elements, lane as u32);
    let element = |selector: usize, lane: usize| selector / elements_of(lane) % elements;
    let digits = |number: &dyn Fn(usize) -> Option<usize>| {
        let digits = (0..lanes).rev().filter_map(|lane| char::from_digit(number(lane)? as u32, 10));
        digits.collect::<String>()
    };
    let [a, b] = selectors.map(|selector| digits(&|lane| Some(element(selector, lane))));
    let masked = digits(&|lane| (mask >> lane & 1 != 0).then_some(lane));
    let text = format!("vadd{lanes}.u32.u32.u32 R0.{letter}{masked}, R1.{letter}{a}, R2.{letter}{b}, R3;");
    let sources = ["R1", "R2", "R3"].map(|name| Some(name.to_owned())).to_vec();

    let word = |from: usize| (0..4).rev().fold(0, |word, i| word << 8 | u32::from(BYTES[from + i]));
    let width = 32 / lanes;
    let lane_of = |word: u32, lane: usize| u64::from(word) >> (lane * width) & ((1 << width) - 1);
    // The elements of R1 and R2 are numbered consecutively: first all of R1, then all of R2.
    let value = |number: usize| lane_of(word(4 * (number / lanes)), number % lanes);
    let [a, b] = selectors;
    let lane = |lane: usize| match mask >> lane & 1 {
        0 => lane_of(word(8), lane),
        _ => (value(element(a, lane)) + value(element(b, lane))) & ((1 << width) - 1),
    };
    let expected = (0..lanes).rev().fold(0, |word, i| word << width | lane(i)) as u32;
    Instruction::new(text, sources)?.check([word(0), word(4), word(8)], false, expected)
}
