//! Collective operations that all items of a group reach together: the results for each item.

use halfbyte_abi::cooperative::{BARRIERS, BarrierOp, Reduce, SUBGROUP, Shuffle, SubgroupOp, SyncOp, Vote, elected};
use smallvec::SmallVec;

use super::graph::{LANES, Node, ONES, Value, ZEROS};
use super::walk::{State, Walk};
use crate::jit::dataflow::Op;
use crate::jit::meet::{self, Source, Takes};

/// Vectors per subgroup.
const VECTORS: usize = SUBGROUP as usize / LANES;

/// Results of a collective operation for a vector: a number and a truth value.
type Given = [Value; 2];

impl Walk<'_> {
    /// Executes a collective operation that all items reach together. Returns `None` if no code can be emitted for the
    /// operation.
    pub fn meet(&mut self, state: &mut State, place: &meet::Place) -> Option<()> {
        if place.is_passed_together() {
            return Some(());
        }
        if place.guard.is_some() {
            return None;
        }
        match place.meeting {
            SyncOp::Barrier { id, count, of, .. } => self.barrier(state, place, id, count, of),
            SyncOp::Subgroup { mask, of } => self.subgroups(state, place, mask, of),
            SyncOp::Converged { .. } => None,
        }
    }

    fn vectors(&self) -> usize {
        self.source.items.div_ceil(LANES as u32) as usize
    }

    fn barrier(
        &mut self,
        state: &mut State,
        place: &meet::Place,
        id: Source,
        count: Option<Source>,
        of: BarrierOp<Source>,
    ) -> Option<()> {
        // A barrier counts a partial subgroup as a whole subgroup.
        let all = self.source.items.next_multiple_of(SUBGROUP);
        let counted = count.map_or(Some(all), |count| self.known(state, count));
        if counted != Some(all) || self.known(state, id)? >= BARRIERS {
            return None;
        }
        let (BarrierOp::Count(holds) | BarrierOp::All(holds) | BarrierOp::Any(holds)) = of else {
            return (of == BarrierOp::Sync).then_some(());
        };
        let mut all = Vec::with_capacity(self.vectors());
        for vector in 0..self.vectors() {
            all.push(self.truth(state, vector, holds)?);
        }
        let mut sum = Value::Known(ZEROS);
        for (pair, first) in all.chunks(VECTORS).zip((0..).step_by(VECTORS)) {
            let count = self.ballot(pair, first, true);
            sum = self.graph.compute(Op::Add, &[sum, count])?;
        }
        let number = match of {
            BarrierOp::Count(_) => sum,
            _ => {
                let items = Value::Known(self.graph.same(self.source.items));
                let to = if let BarrierOp::All(_) = of { items } else { Value::Known(ZEROS) };
                let mut holds = self.graph.compute(Op::Equal, &[sum, to])?;
                if let BarrierOp::Any(_) = of {
                    holds = self.graph.compute(Op::Negate, &[holds])?;
                }
                self.number(holds)?
            }
        };
        for vector in 0..self.vectors() {
            self.give(state, place, vector, [number, Value::Known(ZEROS)])?;
        }
        Some(())
    }

    /// Returns the ballot of the two vectors of a subgroup, or the number of its bits. Lanes beyond the group count as
    /// false.
    fn ballot(&mut self, pair: &[Value], first: usize, is_count: bool) -> Value {
        let mut nodes: SmallVec<[Node; VECTORS]> = pair.iter().map(|&value| self.graph.node(value)).collect();
        let mut masks = [0; VECTORS];
        masks.iter_mut().zip(self.items.iter().skip(first)).take(pair.len()).for_each(|(mask, items)| *mask = *items);
        nodes.resize(VECTORS, nodes[0]);
        self.graph.ballot([nodes[0], nodes[1]], masks, is_count)
    }

    fn subgroups(
        &mut self,
        state: &mut State,
        place: &meet::Place,
        mask: Source,
        of: SubgroupOp<Source, Source>,
    ) -> Option<()> {
        let mask = self.known(state, mask)?;
        for first in (0..self.vectors()).step_by(VECTORS) {
            let present = self.present(first);
            // If an item of the subgroup is not in the member mask, another engine runs the kernel.
            if mask & present != present {
                return None;
            }
            let given: [Given; VECTORS] = match of {
                SubgroupOp::None => return Some(()),
                SubgroupOp::Shuffle { mode, value, by, segment } => {
                    self.shuffled(state, first, mode, [value, by, segment])?
                }
                SubgroupOp::Vote(vote, holds) => [self.voted(state, first, vote, holds)?; VECTORS],
                SubgroupOp::Reduce(reduce, value) => [self.reduced(state, first, reduce, value)?; VECTORS],
                SubgroupOp::Elect if mask & !present == 0 => self.elected(mask),
                SubgroupOp::Elect | SubgroupOp::Match { .. } | SubgroupOp::Active | SubgroupOp::Collective => {
                    return None;
                }
            };
            for (vector, given) in (first..self.vectors()).zip(given) {
                self.give(state, place, vector, given)?;
            }
        }
        Some(())
    }

    fn shuffled(
        &mut self,
        state: &State,
        first: usize,
        mode: Shuffle,
        [value, by, segment]: [Source; 3],
    ) -> Option<[Given; VECTORS]> {
        let present = self.present(first);
        let values = self.pair(state, first, value)?;
        let nodes = values.map(|value| self.graph.node(value));
        let mut given = [[Value::Known(ZEROS); 2]; VECTORS];
        for (half, given) in given.iter_mut().enumerate().take(self.vectors() - first) {
            let (by, segment) = (self.word(state, first + half, by)?, self.word(state, first + half, segment)?);
            *given = match (by, segment) {
                (Value::Known(by), Value::Known(segment)) => {
                    let (by, segment) = (self.graph.known(by), self.graph.known(segment));
                    let from: [(u32, bool); LANES] =
                        std::array::from_fn(|lane| mode.source((half * LANES + lane) as u32, by[lane], segment[lane]));
                    // If a lane reads an item that does not exist, another engine runs the kernel.
                    let items = self.items[first + half];
                    let is_there =
                        |(lane, &(from, _)): (usize, &(u32, bool))| items >> lane & 1 == 0 || present >> from & 1 != 0;
                    if !from.iter().enumerate().all(is_there) {
                        return None;
                    }
                    let lanes = self.graph.words(from.map(|(lane, _)| lane & 31));
                    let within = self.graph.words(from.map(|(_, is_within)| u32::from(is_within).wrapping_neg()));
                    [self.graph.permuted_of_two(nodes, Value::Known(lanes)), Value::Known(within)]
                }
                (by, Value::Known(segment)) if present == u32::MAX => {
                    let segment = self.graph.same_word(segment)?;
                    let [from, within] = self.source(mode, half, by, segment)?;
                    [self.graph.permuted_of_two(nodes, from), within]
                }
                _ => return None,
            };
        }
        Some(given)
    }

    /// Returns the source lane of each lane, and a truth value that holds if the source lane is within the segment.
    /// Corresponds to [`Shuffle::source`] for values that are not constant.
    fn source(&mut self, mode: Shuffle, half: usize, by: Value, segment: u32) -> Option<[Value; 2]> {
        let (clamp, kept) = (segment & 31, segment >> 8 & 31);
        let number = |lane: usize| (half * LANES + lane) as u32;
        let lane = Value::Known(self.graph.words(std::array::from_fn(number)));
        let least = std::array::from_fn(|lane| number(lane) & kept);
        let most = Value::Known(self.graph.words(least.map(|least: u32| least | clamp & !kept & 31)));
        let least = Value::Known(self.graph.words(least));
        let last = Value::Known(self.graph.same(31));
        let mut compute = |op, a, b| self.graph.compute(op, &[a, b]);
        let by = compute(Op::And, by, last)?;
        let from = match mode {
            Shuffle::Up => compute(Op::Sub, lane, by)?,
            Shuffle::Down => compute(Op::Add, lane, by)?,
            Shuffle::Xor => compute(Op::Xor, lane, by)?,
            Shuffle::Index => {
                let inside = Value::Known(self.graph.same(!kept & 31));
                let by = self.graph.compute(Op::And, &[by, inside])?;
                self.graph.compute(Op::Or, &[least, by])?
            }
        };
        let is_beyond = match mode {
            Shuffle::Up => [from, most],
            _ => [most, from],
        };
        let is_beyond = self.graph.compute(Op::Less(true), &is_beyond)?;
        let within = self.graph.compute(Op::Negate, &[is_beyond])?;
        Some([self.graph.compute(Op::Select, &[within, from, lane])?, within])
    }

    fn voted(&mut self, state: &State, first: usize, vote: Vote, holds: Source) -> Option<Given> {
        let mut pair: SmallVec<[Value; VECTORS]> = SmallVec::new();
        for vector in (first..self.vectors()).take(VECTORS) {
            pair.push(self.truth(state, vector, holds)?);
        }
        let ballot = self.ballot(&pair, first, false);
        let every = self.graph.same(self.present(first));
        let mut is = |to| self.graph.compute(Op::Equal, &[ballot, Value::Known(to)]);
        let number = match vote {
            Vote::Ballot => ballot,
            Vote::All => {
                let all = is(every)?;
                self.number(all)?
            }
            Vote::Any => {
                let none = is(ZEROS)?;
                let any = self.graph.compute(Op::Negate, &[none])?;
                self.number(any)?
            }
            Vote::Uniform => {
                let (all, none) = (is(every)?, is(ZEROS)?);
                let uniform = self.graph.compute(Op::Either, &[all, none])?;
                self.number(uniform)?
            }
        };
        Some([number, Value::Known(ZEROS)])
    }

    /// Reduces the values of a subgroup: first the two vectors, then halves of a vector at distances 8, 4, 2 and 1.
    fn reduced(&mut self, state: &State, first: usize, reduce: Reduce, value: Source) -> Option<Given> {
        // The neutral element replaces the values of lanes beyond the group.
        let neutral = match reduce {
            Reduce::Add | Reduce::Or | Reduce::Xor | Reduce::Max { signed: false } => 0,
            Reduce::And | Reduce::Min { signed: false } => u32::MAX,
            Reduce::Min { signed: true } => i32::MAX.cast_unsigned(),
            Reduce::Max { signed: true } => i32::MIN.cast_unsigned(),
            Reduce::Extremum { .. } => return None,
        };
        let neutral = Value::Known(self.graph.same(neutral));
        let pair = self.pair(state, first, value)?;
        let present = self.present(first);
        let [a, b] = [(pair[0], present as u16), (pair[1], (present >> 16) as u16)]
            .map(|(value, mask)| if mask == 0 { neutral } else { self.graph.blend(mask, value, neutral) });
        let mut all = self.together(reduce, a, b)?;
        for distance in [8, 4, 2, 1] {
            let lanes = self.graph.words(std::array::from_fn(|lane| lane as u32 ^ distance));
            let node = self.graph.node(all);
            let other = self.graph.permuted(node, lanes);
            all = self.together(reduce, all, other)?;
        }
        let node = self.graph.node(all);
        let number = self.graph.permuted(node, ZEROS);
        Some([number, Value::Known(ZEROS)])
    }

    fn together(&mut self, reduce: Reduce, a: Value, b: Value) -> Option<Value> {
        let op = match reduce {
            Reduce::Add => Op::Add,
            Reduce::And => Op::And,
            Reduce::Or => Op::Or,
            Reduce::Xor => Op::Xor,
            Reduce::Min { signed } | Reduce::Max { signed } => {
                let is_less = self.graph.compute(Op::Less(signed), &[a, b])?;
                let is_least = matches!(reduce, Reduce::Min { .. });
                let [least, greatest] = if is_least { [a, b] } else { [b, a] };
                return self.graph.compute(Op::Select, &[is_less, least, greatest]);
            }
            Reduce::Extremum { .. } => return None,
        };
        self.graph.compute(op, &[a, b])
    }

    fn elected(&mut self, mask: u32) -> [Given; VECTORS] {
        std::array::from_fn(|half| {
            let of = |lane: usize| elected((half * LANES + lane) as u32, mask);
            let number = self.graph.words(std::array::from_fn(|lane| of(lane)[0] as u32));
            let answer = self.graph.words(std::array::from_fn(|lane| u32::from(of(lane)[1] != 0).wrapping_neg()));
            [Value::Known(number), Value::Known(answer)]
        })
    }

    /// Returns one in the lanes in which a truth value holds, and zero elsewhere.
    fn number(&mut self, holds: Value) -> Option<Value> {
        let one = Value::Known(self.graph.same(1));
        self.graph.compute(Op::Select, &[holds, one, Value::Known(ZEROS)])
    }

    fn give(&mut self, state: &mut State, place: &meet::Place, vector: usize, [number, answer]: Given) -> Option<()> {
        for takes in &place.takes {
            let value = match takes {
                Takes::Word(..) => return None,
                Takes::Number(_) => number,
                Takes::Answer(_) => answer,
                Takes::Truth(_) => {
                    let is_zero = self.graph.compute(Op::Equal, &[number, Value::Known(ZEROS)])?;
                    self.graph.compute(Op::Negate, &[is_zero])?
                }
            };
            *state.cells.get_mut(takes.cell().index())?.get_mut(vector)? = value;
        }
        Some(())
    }

    /// Returns the mask of the lanes of a subgroup that have items.
    fn present(&self, first: usize) -> u32 {
        let of = |vector: usize| u32::from(self.items.get(vector).copied().unwrap_or(0));
        of(first) | of(first + 1) << LANES
    }

    /// Returns an operand of a collective operation for both vectors of a subgroup. A missing second vector repeats the
    /// first.
    fn pair(&mut self, state: &State, first: usize, source: Source) -> Option<[Value; VECTORS]> {
        let a = self.word(state, first, source)?;
        Some([a, if first + 1 < self.vectors() { self.word(state, first + 1, source)? } else { a }])
    }

    /// Returns an operand of a collective operation for a vector.
    fn word(&mut self, state: &State, vector: usize, source: Source) -> Option<Value> {
        Some(match source {
            Source::Const(word) => Value::Known(self.graph.same(word)),
            Source::Cell(cell) => state.cells[cell.index()][vector],
            Source::Bank(_) | Source::Not(_) => return None,
        })
    }

    /// Returns a truth operand of a collective operation for a vector.
    fn truth(&mut self, state: &State, vector: usize, source: Source) -> Option<Value> {
        Some(match source {
            Source::Const(0) => Value::Known(ZEROS),
            Source::Const(_) => Value::Known(ONES),
            Source::Cell(cell) => state.cells[cell.index()][vector],
            Source::Not(cell) => {
                let holds = state.cells[cell.index()][vector];
                self.graph.compute(Op::Negate, &[holds])?
            }
            Source::Bank(_) => return None,
        })
    }

    /// Returns an operand of a collective operation if the operand is constant and the same for all items of the group.
    fn known(&mut self, state: &State, source: Source) -> Option<u32> {
        let mut found = None;
        for vector in 0..self.vectors() {
            let Value::Known(known) = self.word(state, vector, source)? else { return None };
            let words = self.graph.known(known);
            let items = self.items[vector];
            for (_, &word) in words.iter().enumerate().filter(|(lane, _)| items >> lane & 1 != 0) {
                if *found.get_or_insert(word) != word {
                    return None;
                }
            }
        }
        found
    }
}
