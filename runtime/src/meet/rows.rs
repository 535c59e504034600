//! Meetings of whole subgroups at one instruction, on rows of words: what the machine of the group would give each item.

use halfbyte_abi::meet::{Barrier, Exchange, Reduce, SUBGROUP, elected, matched};

/// A word of each item; truth values are all ones or zero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Words<'a> {
    /// The same for all.
    Same(u32),
    /// One each.
    Each(&'a [u32]),
}

impl Words<'_> {
    fn at(self, item: usize) -> u32 {
        match self {
            Words::Same(word) => word,
            Words::Each(words) => words.get(item).copied().unwrap_or(0),
        }
    }
}

/// What items are given: a number or an answer, and an answer beside it.
#[derive(Default)]
pub(crate) struct Given {
    pub numbers: Vec<u32>,
    pub answers: Vec<u32>,
}

const LANES: usize = SUBGROUP as usize;

/// What all items of a group of so many are given that has come to a barrier together.
pub(crate) fn barrier(of: Barrier<Words<'_>>, items: u32) -> u32 {
    let (Barrier::Count(says) | Barrier::All(says) | Barrier::Any(says)) = of else { return 0 };
    let yes = (0..items as usize).filter(|&item| says.at(item) != 0).count() as u32;
    let of = match of {
        Barrier::Count(_) => Barrier::Count(true),
        Barrier::All(_) => Barrier::All(true),
        _ => Barrier::Any(true),
    };
    of.answer(yes, items - yes)
}

/// What lanes of subgroups give each other all of whose lanes are there, of a group of so many items: those of which `here` holds, which
/// name all lanes that there are in their mask. Gives up where one cannot take part as it asks.
pub(crate) fn exchange(
    of: &Exchange<Words<'_>, Words<'_>>,
    mask: u32,
    items: u32,
    here: impl Fn(usize) -> bool,
    given: &mut Given,
) -> Option<()> {
    let items = items as usize;
    let Given { numbers, answers } = given;
    numbers.resize(items, 0);
    answers.resize(items, 0);
    // Of most shuffles all lanes have the same operands, in all subgroups.
    let sources = match *of {
        Exchange::Shuffle { mode, by: Words::Same(by), segment: Words::Same(segment), .. } => {
            Some(std::array::from_fn::<_, LANES, _>(|lane| mode.source(lane as u32, by, segment)))
        }
        _ => None,
    };
    for first in (0..items).step_by(LANES).filter(|&first| here(first)) {
        let last = items.min(first + LANES);
        let count = last - first;
        let every = u32::MAX >> (LANES - count);
        if mask & every != every {
            return None;
        }
        let (numbers, answers) = (numbers.get_mut(first..last)?, answers.get_mut(first..last)?);
        let mut fill = |[number, answer]: [u64; 2]| {
            numbers.fill(number as u32);
            answers.fill(answer as u32);
        };
        match *of {
            Exchange::None => fill([0; 2]),
            Exchange::Active => fill([every.into(), 0]),
            Exchange::Shuffle { mode, value, by, segment } => {
                let source = |lane: usize| match &sources {
                    Some(sources) => sources.get(lane).copied().unwrap_or_default(),
                    None => mode.source(lane as u32, by.at(first + lane), segment.at(first + lane)),
                };
                shuffle(numbers, answers, source, |lane| value.at(first + lane))?;
            }
            Exchange::Vote(vote, says) => {
                fill([vote.answer(lanes(count, |lane| says.at(first + lane) != 0), every).into(), 0]);
            }
            Exchange::Match { all, value } => {
                let value = |lane: usize| value.map(|words| words.at(first + lane));
                for (lane, (number, answer)) in numbers.iter_mut().zip(answers).enumerate() {
                    let same = lanes(count, |other| value(other) == value(lane));
                    let [found, is_one] = matched(all, same, every);
                    (*number, *answer) = (found as u32, is_one as u32);
                }
            }
            Exchange::Reduce(reduce, value) => fill([reduced(reduce, first..last, value)?.into(), 0]),
            Exchange::Elect => {
                if mask != every {
                    return None;
                }
                for (lane, (number, answer)) in numbers.iter_mut().zip(answers).enumerate() {
                    let [leader, is_it] = elected(lane as u32, mask);
                    (*number, *answer) = (leader as u32, is_it as u32);
                }
            }
        }
    }
    Some(())
}

fn shuffle(
    numbers: &mut [u32],
    answers: &mut [u32],
    source: impl Fn(usize) -> (u32, bool),
    value: impl Fn(usize) -> u32,
) -> Option<()> {
    let count = numbers.len();
    for (lane, (number, answer)) in numbers.iter_mut().zip(answers).enumerate() {
        let (from, is_within) = source(lane);
        if from as usize >= count {
            return None;
        }
        (*number, *answer) = (value(from as usize), is_within.into());
    }
    Some(())
}

fn reduced(reduce: Reduce, items: std::ops::Range<usize>, value: Words<'_>) -> Option<u32> {
    match value {
        Words::Each(words) => words.get(items)?.iter().copied().reduce(|a, b| reduce.of(a, b)),
        Words::Same(word) => items.map(|_| word).reduce(|a, b| reduce.of(a, b)),
    }
}

/// The lanes of which something holds.
fn lanes(count: usize, holds: impl Fn(usize) -> bool) -> u32 {
    (0..count).fold(0, |lanes, lane| lanes | u32::from(holds(lane)) << lane)
}
