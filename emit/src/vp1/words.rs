//! Encoding of bundles as instruction words. The units and positions of the instruction words alone
//! determine where a bundle ends. If a bundle would not end as planned, the encoder adds canonical
//! nops to the planned bundles. It never adds bundles.

use halfbyte_isa::object::Loc;
use halfbyte_isa::vp1::bundle::WORDS_PER_LINE;
use halfbyte_isa::vp1::{Inst, Opcode, Unit};

use super::op::Label;

/// A planned instruction word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// The instruction.
    pub inst: Inst,
    /// Target of the instruction's branch.
    pub target: Option<Label>,
    /// `true` for the back branch of the loop over groups of work items, which executes once for each group.
    pub group: bool,
    /// Stream that the instruction loads or stores.
    pub stream: Option<u32>,
    /// Source location.
    pub loc: Loc,
}

/// A planned bundle, which may be empty.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Planned {
    /// Instruction word for each unit, if any.
    pub words: [Option<Word>; 4],
    /// `true` if the bundle must be at the start of a line of four instruction words, because it is a branch target.
    pub aligned: bool,
}

/// Encoded bundles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    /// Instruction words, including nops.
    pub words: Vec<Word>,
    /// Address of the first instruction word of each bundle.
    pub starts: Vec<u32>,
}

/// Set of units: bit u stands for the unit with number u.
type Units = u8;

/// Returns the lowest and the highest unit of a non-empty set.
const fn ends(units: Units) -> (u32, u32) {
    (units.trailing_zeros(), 7 - units.leading_zeros())
}

/// State at the start of a bundle that determines where the bundle can end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct State {
    /// Position at which the bundle begins, in a line of four instruction words.
    place: u32,
    /// Unit number of the instruction word before the bundle.
    last: u32,
}

impl State {
    /// State at the start of the code.
    const START: State = State { place: 0, last: 3 };
    const COUNT: usize = 16;

    const fn index(self) -> usize {
        (self.place * 4 + self.last) as usize
    }

    const fn of_index(index: usize) -> State {
        State { place: index as u32 / 4, last: index as u32 % 4 }
    }

    /// Returns the state after a bundle with these units. Returns `None` if the bundle would decode as part of the
    /// previous bundle, would extend over the end of a line, or is not aligned as required.
    fn after(self, units: Units, aligned: bool) -> Option<State> {
        let (first, last) = ends(units);
        let end = self.place + units.count_ones();
        let separate = self.place == 0 || first <= self.last;
        (separate && end <= WORDS_PER_LINE && (self.place == 0 || !aligned))
            .then_some(State { place: end % WORDS_PER_LINE, last })
    }
}

/// Best path to a state: the number of instruction words up to it, the state before it, and the
/// units of the bundle between these states.
#[derive(Clone, Copy)]
struct PathStep {
    words: u32,
    from: u8,
    units: Units,
}

/// Encodes bundles with as few nops as possible.
pub(crate) fn pack(bundles: &[Planned]) -> Packed {
    let sets = choose(bundles);
    let mut packed = Packed::default();
    let mut loc =
        bundles.iter().flat_map(|bundle| &bundle.words).flatten().map(|word| word.loc).next().unwrap_or_default();
    for (bundle, units) in bundles.iter().zip(sets) {
        packed.starts.push(packed.words.len() as u32);
        // A nop takes the source location of a neighbouring instruction word.
        loc = bundle.words.iter().flatten().map(|word| word.loc).next().unwrap_or(loc);
        for (unit, word) in Unit::ALL.into_iter().zip(bundle.words) {
            let nop = Word { inst: nop(unit), target: None, group: false, stream: None, loc };
            loc = word.unwrap_or(nop).loc;
            if units >> unit as u32 & 1 != 0 {
                packed.words.push(word.unwrap_or(nop));
            }
        }
    }
    packed
}

/// Chooses the units of each bundle, including nops, by dynamic programming over [`State`].
fn choose(bundles: &[Planned]) -> Vec<Units> {
    let mut ways: Vec<[Option<PathStep>; State::COUNT]> = Vec::with_capacity(bundles.len());
    let mut reached = [None; State::COUNT];
    if let Some(start) = reached.get_mut(State::START.index()) {
        *start = Some(0);
    }
    for bundle in bundles {
        let needed = units(bundle);
        let mut next: [Option<PathStep>; State::COUNT] = [None; State::COUNT];
        for (from, words) in reached.iter().enumerate().filter_map(|(from, words)| Some((from, (*words)?))) {
            let state = State::of_index(from);
            for units in (1..16).filter(|units| units & needed == needed) {
                let Some(to) = state.after(units, bundle.aligned) else { continue };
                let way = PathStep { words: words + units.count_ones(), from: from as u8, units };
                if let Some(best) = next.get_mut(to.index())
                    && best.is_none_or(|best| way.words < best.words)
                {
                    *best = Some(way);
                }
            }
        }
        reached = next.map(|way| way.map(|way| way.words));
        ways.push(next);
    }
    // There is always a solution, because a bundle with an instruction word for each unit fills a line.
    let best = reached.iter().enumerate().filter_map(|(at, words)| Some(((*words)?, at))).min();
    let mut at = best.map_or(0, |(_, at)| at);
    let mut sets: Vec<Units> = Vec::with_capacity(bundles.len());
    for ways in ways.iter().rev() {
        let Some(way) = ways.get(at).copied().flatten() else { break };
        sets.push(way.units);
        at = way.from.into();
    }
    sets.reverse();
    sets
}

/// Returns the units for which a bundle has instruction words.
fn units(bundle: &Planned) -> Units {
    Unit::ALL.into_iter().zip(&bundle.words).filter(|(_, word)| word.is_some()).map(|(unit, _)| 1 << unit as u32).sum()
}

/// Returns the canonical nop of a unit.
fn nop(unit: Unit) -> Inst {
    Inst::new(match unit {
        Unit::Address => Opcode::ANOP,
        Unit::Scalar => Opcode::SNOP,
        Unit::Vector => Opcode::VNOP,
        Unit::Branch => Opcode::BNOP,
    })
}

#[cfg(test)]
mod tests {
    use halfbyte_isa::vp1::bundles;

    use super::*;

    fn plan(units: Units, aligned: bool) -> Planned {
        let word = |unit| Word { inst: nop(unit), target: None, group: false, stream: None, loc: Loc::default() };
        let words = Unit::ALL.map(|unit| (units >> unit as u32 & 1 != 0).then(|| word(unit)));
        Planned { words, aligned }
    }

    /// Returns the minimum number of instruction words for planned bundles, by an exhaustive search over all nops.
    fn fewest(plans: &[(Units, bool)], start: u32, last: u32) -> Option<u32> {
        let Some((&(needed, aligned), rest)) = plans.split_first() else { return Some(0) };
        let begins = (start == 0 || !aligned, needed);
        (1..16)
            .filter(|units| begins.0 && units & begins.1 == needed)
            .filter(|&units| start == 0 || ends(units).0 <= last)
            .filter(|units| start + units.count_ones() <= WORDS_PER_LINE)
            .filter_map(|units| {
                let count = units.count_ones();
                Some(count + fewest(rest, (start + count) % WORDS_PER_LINE, ends(units).1)?)
            })
            .min()
    }

    /// For random units and alignments, the instruction words decode into the planned bundles, and
    /// their number is minimal.
    #[test]
    fn bundles_come_out_as_planned() {
        let mut random = 1u64;
        let mut next = || {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            random >> 33
        };
        for _ in 0..2000 {
            let count = 1 + next() % 5;
            let plans: Vec<(Units, bool)> = (0..count).map(|_| ((next() % 16) as Units, next() % 4 == 0)).collect();
            let planned: Vec<Planned> = plans.iter().map(|&(units, aligned)| plan(units, aligned)).collect();
            let packed = pack(&planned);
            assert_eq!(Some(packed.words.len() as u32), fewest(&plans, 0, 3), "{plans:?}");
            let words: Vec<u32> = packed.words.iter().map(|word| word.inst.word()).collect();
            let found: Vec<_> = bundles(&words).collect();
            assert_eq!(found.iter().map(|(at, _)| *at).collect::<Vec<_>>(), packed.starts, "{plans:?}");
            for ((at, bundle), (needed, aligned)) in found.iter().zip(&plans) {
                assert!(!aligned || at % WORDS_PER_LINE == 0, "{plans:?}");
                let units = Unit::ALL.into_iter().filter(|&unit| bundle.inst(unit).is_some());
                let units: Units = units.map(|unit| 1 << unit as u32).sum();
                assert_eq!(units & needed, *needed, "{plans:?}");
            }
        }
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(pack(&[]).words.len(), 0);
    }
}
