//! Collective operations of whole subgroups on rows of words. The results are those of the group's
//! state machine.

use halfbyte_abi::cooperative::{BarrierOp, Reduce, SUBGROUP, SubgroupOp, elected, matched};

/// One word for each item. A truth value is all ones or zero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Words<'a> {
    /// Uniform word.
    Same(u32),
    /// A separate word for each item.
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

/// Results of the items: a first value (a number or an answer), and an answer as the second value.
#[derive(Default)]
pub(crate) struct Given {
    pub numbers: Vec<u32>,
    pub answers: Vec<u32>,
    /// Words that a warp-level instruction returns, by result register.
    pub words: Vec<Vec<u32>>,
}

const LANES: usize = SUBGROUP as usize;

/// Returns the result of a barrier that all `items` items of a group have reached.
pub(crate) fn barrier(of: BarrierOp<Words<'_>>, items: u32) -> u32 {
    let (BarrierOp::Count(says) | BarrierOp::All(says) | BarrierOp::Any(says)) = of else { return 0 };
    let yes = (0..items as usize).filter(|&item| says.at(item) != 0).count() as u32;
    let of = match of {
        BarrierOp::Count(_) => BarrierOp::Count(true),
        BarrierOp::All(_) => BarrierOp::All(true),
        _ => BarrierOp::Any(true),
    };
    of.answer(yes, items - yes)
}

/// Computes the results of a subgroup operation in a group of `items` items. A subgroup takes part with all its lanes
/// if `here` holds for its first item. Returns `None` if an operand of a lane is invalid, for example if `mask` does
/// not name all lanes of a subgroup.
pub(crate) fn exchange(
    of: &SubgroupOp<Words<'_>, Words<'_>>,
    mask: u32,
    items: u32,
    here: impl Fn(usize) -> bool,
    wants_answers: bool,
    given: &mut Given,
) -> Option<()> {
    let items = items as usize;
    let Given { numbers, answers, .. } = given;
    numbers.resize(items, 0);
    answers.resize(items, 0);
    // Most shuffles have uniform operands, which gives all subgroups the same source lanes.
    let sources = match *of {
        SubgroupOp::Shuffle { mode, by: Words::Same(by), segment: Words::Same(segment), .. } => {
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
        // Fast path: the common shuffle in a full subgroup.
        if let (SubgroupOp::Shuffle { value: Words::Each(value), .. }, Some(sources), false) =
            (of, &sources, wants_answers)
            && let (Some(value), Ok(numbers)) = (
                value.get(first..).and_then(|value| value.first_chunk::<LANES>()),
                <&mut [u32; LANES]>::try_from(&mut *numbers),
            )
        {
            let from = |&(from, _): &(u32, bool)| value[from as usize % LANES];
            numbers.iter_mut().zip(sources).for_each(|(number, source)| *number = from(source));
            continue;
        }
        let mut fill = |[number, answer]: [u64; 2]| {
            numbers.fill(number as u32);
            answers.fill(answer as u32);
        };
        match *of {
            SubgroupOp::None => fill([0; 2]),
            SubgroupOp::Active => fill([every.into(), 0]),
            SubgroupOp::Shuffle { mode, value, by, segment } => {
                let source = |lane: usize| match &sources {
                    Some(sources) => sources.get(lane).copied().unwrap_or_default(),
                    None => mode.source(lane as u32, by.at(first + lane), segment.at(first + lane)),
                };
                shuffle(numbers, answers, source, |lane| value.at(first + lane))?;
            }
            SubgroupOp::Vote(vote, says) => {
                fill([vote.answer(lanes(count, |lane| says.at(first + lane) != 0), every).into(), 0]);
            }
            SubgroupOp::Match { all, value } => {
                let value = |lane: usize| value.map(|words| words.at(first + lane));
                for (lane, (number, answer)) in numbers.iter_mut().zip(answers).enumerate() {
                    let same = lanes(count, |other| value(other) == value(lane));
                    let [found, is_one] = matched(all, same, every);
                    (*number, *answer) = (found as u32, is_one as u32);
                }
            }
            SubgroupOp::Reduce(reduce, value) => fill([reduced(reduce, first..last, value)?.into(), 0]),
            // The runner executes warp-level instructions.
            SubgroupOp::Collective => return None,
            SubgroupOp::Elect => {
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

/// Returns the mask of the lanes for which a condition holds.
fn lanes(count: usize, holds: impl Fn(usize) -> bool) -> u32 {
    (0..count).fold(0, |lanes, lane| lanes | u32::from(holds(lane)) << lane)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use halfbyte_abi::cooperative::{Group, Shuffle, SyncOp, Vote};

    use super::*;

    fn next(state: &mut u64) -> u32 {
        *state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        (*state >> 33) as u32
    }

    /// Returns the results that the group's state machine gives each of `items` items.
    fn by_machine(items: u32, meeting: impl Fn(u32) -> SyncOp<u32, bool>) -> Option<Vec<[u64; 2]>> {
        let mut group = Group::new(items);
        (0..items).for_each(|item| group.wait(item, 7, meeting(item)));
        let mut given = vec![None; items as usize];
        group.complete_ready(None, &mut |item, values| given[item as usize] = Some(values)).ok()?;
        given.into_iter().collect()
    }

    fn pick(of: Words<'_>, item: u32) -> u32 {
        of.at(item as usize)
    }

    #[test]
    fn rows_are_given_what_the_machine_gives_each() {
        let state = &mut 3;
        let mut plain = 0;
        for round in 0..3000 {
            let items = [1, 5, 31, 32, 33, 64, 90][round % 7];
            let few = round % 3 == 0;
            let [a, b, c, says] = std::array::from_fn(|_| {
                let words = (0..items).map(|_| if few { next(state) & 3 } else { next(state) });
                words.collect::<Vec<u32>>()
            });
            let says: Vec<u32> = says.iter().map(|word| (word & 1).wrapping_neg()).collect();
            let truth = Words::Each(&says);
            let [by, segment] = match round % 2 {
                0 => [Words::Same(next(state) & 31), Words::Same([31, 0x1800, 0x181f, 7][next(state) as usize & 3])],
                _ => [Words::Each(&b), Words::Each(&c)],
            };
            let value = Words::Each(&a);
            let shuffles = [Shuffle::Index, Shuffle::Up, Shuffle::Down, Shuffle::Xor];
            let mode = shuffles[next(state) as usize & 3];
            let of = match round % 8 {
                0..=2 => SubgroupOp::Shuffle { mode, value, by, segment },
                3 => SubgroupOp::Vote(
                    [Vote::All, Vote::Any, Vote::Uniform, Vote::Ballot][next(state) as usize & 3],
                    truth,
                ),
                4 => SubgroupOp::Match { all: next(state) & 1 != 0, value: [value, Words::Same(1)] },
                5 => SubgroupOp::Reduce(
                    [Reduce::Add, Reduce::Xor, Reduce::Min { signed: true }][next(state) as usize % 3],
                    value,
                ),
                6 => SubgroupOp::Elect,
                _ => SubgroupOp::None,
            };
            let mask = if next(state) & 3 == 0 { next(state) } else { u32::MAX };
            let mut given = Given::default();
            let answers = next(state) & 1 != 0 || matches!(of, SubgroupOp::Elect);
            let Some(()) = exchange(&of, mask, items, |_| true, answers, &mut given) else { continue };
            plain += 1;
            let of_item = |item| match of {
                SubgroupOp::Shuffle { mode, value, by, segment } => {
                    let [value, by, segment] = [value, by, segment].map(|words| pick(words, item));
                    SubgroupOp::Shuffle { mode, value, by, segment }
                }
                SubgroupOp::Vote(vote, says) => SubgroupOp::Vote(vote, pick(says, item) != 0),
                SubgroupOp::Match { all, value } => {
                    SubgroupOp::Match { all, value: value.map(|words| pick(words, item)) }
                }
                SubgroupOp::Reduce(reduce, value) => SubgroupOp::Reduce(reduce, pick(value, item)),
                SubgroupOp::Elect => SubgroupOp::Elect,
                SubgroupOp::None | SubgroupOp::Active | SubgroupOp::Collective => SubgroupOp::None,
            };
            let expected = by_machine(items, |item| SyncOp::Subgroup { mask, of: of_item(item) }).unwrap();
            let found = given.numbers.iter().zip(&given.answers);
            for (item, (expected, (&number, &answer))) in expected.into_iter().zip(found).enumerate() {
                assert_eq!(u64::from(number), expected[0], "{round} {item} {of:?}");
                assert!(!answers || u64::from(answer) == expected[1], "{round} {item} {of:?}");
            }
            for of in [BarrierOp::Count(true), BarrierOp::All(true), BarrierOp::Any(true), BarrierOp::Sync] {
                let asks = |says: bool| match of {
                    BarrierOp::Count(_) => BarrierOp::Count(says),
                    BarrierOp::All(_) => BarrierOp::All(says),
                    BarrierOp::Any(_) => BarrierOp::Any(says),
                    of => of,
                };
                let each = |item| asks(pick(truth, item) != 0);
                let expected =
                    by_machine(items, |item| SyncOp::Barrier { id: 0, count: None, of: each(item), aligned: true });
                let row = match of {
                    BarrierOp::Count(_) => BarrierOp::Count(truth),
                    BarrierOp::All(_) => BarrierOp::All(truth),
                    BarrierOp::Any(_) => BarrierOp::Any(truth),
                    _ => BarrierOp::Sync,
                };
                assert_eq!(expected.unwrap(), vec![[barrier(row, items).into(), 0]; items as usize]);
            }
        }
        assert!(plain > 1500, "{plain}");
    }
}
