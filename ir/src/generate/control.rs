//! Generation of control flow.

use crate::{Block, IntCC, Op, Type, Value};

use super::memory::TRIPS;
use super::palette::GeneratedForm;
use super::{Counter, Generator};

/// Position of a loop's regular exit test, which decides about the next iteration. A loop can also have early exits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExitTestPosition {
    First,
    Last,
}

/// Induction variable of a loop: start, step and exit condition.
#[derive(Clone, Copy)]
struct Count {
    /// `true` if the trip count is uniform and known at launch.
    known: bool,
    start: Value,
    step: i64,
    /// Bound of the induction variable.
    bound: Value,
    /// Comparison of the induction variable with `bound` that is true while the loop continues.
    stays: IntCC,
}

/// A loop that encloses the current position, with the parameter types of its blocks.
pub(super) struct EnclosingLoop {
    head: Block,
    exit: Block,
    counter: Value,
    count: Count,
    types: Vec<Type>,
    /// `true` if an early exit skips part of the body.
    left: bool,
}

/// A branch out of a loop, or to the header of the loop.
struct LoopBranch {
    to: Block,
    values: Vec<Value>,
    /// Condition for another iteration, if the branch goes to the header.
    more: Option<Value>,
}

impl Generator<'_, '_> {
    /// Generates about `ops` ops at the current position. The current block can change.
    pub(super) fn region(&mut self, ops: usize, depth: usize) {
        let mut left = ops;
        while left > 0 {
            let inner = (left / 2).min(12);
            match self.random.below(24) {
                0..=1 if depth > 0 => {
                    left -= inner;
                    self.diamond(inner, depth - 1);
                }
                2..=3 if depth > 0 => {
                    left -= inner;
                    self.repeat(inner, depth - 1);
                }
                4 if depth > 0 => {
                    left -= inner;
                    self.switch(inner, depth - 1);
                }
                5..=6 => self.store(),
                7 => self.neighbours(),
                8 if self.traps && self.one_in(2) => self.trapping_access(),
                9 if self.traps && self.one_in(6) => self.endless(),
                10..=13 if self.cooperates() => {
                    left -= 1;
                    self.meet();
                }
                _ => {
                    left -= 1;
                    self.op();
                }
            }
        }
    }

    /// Returns types for new block parameters, chosen from the types of available values.
    fn passed_types(&mut self) -> Vec<Type> {
        let count = self.random.below(5);
        let mut types = Vec::new();
        for _ in 0..count {
            let ty = self.any().map(|value| self.ty(value));
            let ty = ty
                .filter(|ty| !ty.is_wide() || self.wide > 0)
                .filter(|&ty| self.palette.takes(GeneratedForm::Passed(ty)));
            if ty.is_some_and(|ty| ty.is_wide()) {
                self.wide = self.wide.saturating_sub(1);
            }
            types.extend(ty);
        }
        types
    }

    /// Returns available values of the given types as block arguments. A value can occur several times.
    fn passed(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().filter_map(|&ty| self.operand(ty)).collect()
    }

    /// Generates a branch with two arms, or with one arm and a direct edge to the join block. An
    /// arm can also end the item. Values leave the arms only through block parameters.
    fn diamond(&mut self, ops: usize, depth: usize) {
        let Some(condition) = self.operand(Type::I1) else { return };
        let types = self.passed_types();
        let join = self.block(&types);
        let straight = self.passed(&types);
        let arms: Vec<Block> = (0..1 + self.random.below(3).min(1)).map(|_| self.block(&[])).collect();
        let way = |number: usize| match arms.get(number) {
            Some(&arm) => (arm, &[] as &[Value]),
            None => (join, straight.as_slice()),
        };
        let first = usize::from(self.one_in(2));
        self.builder.br_if(condition, way(first), way(1 - first));
        self.arms(&arms, join, &types, ops, depth);
    }

    fn switch(&mut self, ops: usize, depth: usize) {
        if !self.palette.takes(GeneratedForm::Switch) {
            return;
        }
        let Some(on) = self.small() else { return };
        let types = self.passed_types();
        let join = self.block(&types);
        let straight = self.passed(&types);
        let arms: Vec<Block> = (0..1 + self.random.below(3)).map(|_| self.block(&[])).collect();
        let cases: Vec<_> = (0..).zip(&arms).map(|(case, &arm)| (case, arm, &[] as &[Value])).collect();
        self.builder.switch(on, (join, &straight), &cases);
        self.arms(&arms, join, &types, ops, depth);
    }

    /// Generates the arms of a branch, and makes `join` the current block. An arm branches to
    /// `join`, leaves a loop, starts the next iteration of a loop, or ends the item.
    fn arms(&mut self, arms: &[Block], join: Block, types: &[Type], ops: usize, depth: usize) {
        let outer = (self.scope.len(), self.visited.len());
        self.branches += 1;
        for (number, &arm) in arms.iter().enumerate() {
            self.go_to(arm);
            self.region(ops / arms.len(), depth);
            // The first arm always branches to `join`, so that `join` is reachable.
            if number > 0 && !self.cooperates() && self.one_in(8) {
                self.store();
                self.builder.ret();
            } else {
                let values = self.passed(types);
                let other = if number > 0 && !self.cooperates() && self.one_in(3) { self.around() } else { None };
                match other.and_then(|around| self.way(around)) {
                    Some(LoopBranch { to, values: others, more: Some(more) }) => {
                        self.builder.br_if(more, (to, &others), (join, &values));
                    }
                    Some(LoopBranch { to, values, more: None }) => {
                        self.builder.br(to, &values);
                    }
                    None => {
                        self.builder.br(join, &values);
                    }
                }
            }
            self.leave(outer);
        }
        self.branches -= 1;
        self.go_to(join);
    }

    /// Removes the values and locations that were added inside a branch or loop. The arguments are
    /// the numbers of values and of locations before the branch or loop.
    fn leave(&mut self, (values, places): (usize, usize)) {
        self.scope.truncate(values);
        self.visited.truncate(places);
    }

    /// Generates a data-dependent integer from 0 to 3.
    pub(super) fn small(&mut self) -> Option<Value> {
        let value = self.operand(Type::I32)?;
        let mask = self.builder.int(Type::I32, 3);
        Some(self.builder.op(Op::And, Type::I32, &[value, mask]))
    }

    /// Generates the start, step and exit condition of a loop that counts up or down. The trip
    /// count is data-dependent, a parameter with a small value, or a constant.
    fn count(&mut self, asks: ExitTestPosition) -> Count {
        let choice = self.random.below(8);
        let small = match choice {
            0..=1 => self.small().map(|value| (value, false)),
            2..=4 => self.small_param().map(|value| (value, true)),
            _ => None,
        };
        let (trips, known, constant) = match small {
            Some((value, known)) => (value, known, false),
            None => {
                let trips = self.random.below(TRIPS as usize + 1) as i64;
                (self.builder.int(Type::I32, trips), true, true)
            }
        };
        let zero = self.builder.int(Type::I32, 0);
        let (start, step, bound, mut stays) = match self.one_in(4) {
            true => (trips, -1, zero, vec![IntCC::GtS]),
            false => (zero, 1, trips, vec![IntCC::LtS, IntCC::LtU]),
        };
        if asks == ExitTestPosition::First && constant {
            stays.push(IntCC::Ne);
        }
        let stays = self.pick(&stays).unwrap_or(IntCC::LtS);
        Count { known, start, step, bound, stays }
    }

    /// Generates a loop with few iterations.
    fn repeat(&mut self, ops: usize, depth: usize) {
        let asks = if self.one_in(2) { ExitTestPosition::First } else { ExitTestPosition::Last };
        let count = self.count(asks);
        let types = self.passed_types();
        let counted: Vec<Type> = [Type::I32].into_iter().chain(types.iter().copied()).collect();
        let head = self.block(&counted);
        let mut initial = vec![count.start];
        initial.extend(self.passed(&types));
        self.builder.br(head, &initial);
        let places = self.visited.len();
        self.go_to(head);
        let params = self.builder.params(head).to_vec();
        let Some((&counter, carried)) = params.split_first() else { return };
        let exit = self.block(&types);
        self.counters.push(Counter { value: counter, known: count.known });
        let outer = self.scope.len();
        if asks == ExitTestPosition::First {
            let body = self.block(&[]);
            let more = self.builder.icmp(count.stays, Type::I32, counter, count.bound);
            self.builder.br_if(more, (body, &[]), (exit, carried));
            self.go_to(body);
        }
        self.around.push(EnclosingLoop { head, exit, counter, count, types: types.clone(), left: false });
        let ways = if self.cooperates() { 0 } else { self.random.below(6).saturating_sub(3) };
        for _ in 0..ways {
            self.region(ops / (ways + 1), depth);
            self.way_out();
        }
        self.region(ops.div_ceil(ways + 1), depth);
        // Values that are defined after an early exit do not dominate the code after the loop.
        let left = self.around.pop().is_some_and(|around| around.left);
        let mut again = vec![self.next(counter, count.step)];
        again.extend(self.passed(&types));
        match asks {
            ExitTestPosition::First => {
                self.builder.br(head, &again);
            }
            ExitTestPosition::Last => {
                let values = self.passed(&types);
                let next = again.first().copied().unwrap_or(counter);
                let more = self.builder.icmp(count.stays, Type::I32, next, count.bound);
                self.builder.br_if(more, (head, &again), (exit, &values));
            }
        }
        self.counters.pop();
        let behind = if left || asks == ExitTestPosition::First { outer } else { self.scope.len() };
        self.leave((behind, places));
        self.go_to(exit);
    }

    /// Returns the index of a loop that encloses the current position, usually the innermost.
    fn around(&mut self) -> Option<usize> {
        let last = self.around.len().checked_sub(1)?;
        Some(if self.one_in(3) { self.random.below(last + 1) } else { last })
    }

    /// Generates a conditional early exit from a loop, or a conditional branch to the loop's next
    /// iteration, in the middle of the loop's body.
    fn way_out(&mut self) {
        let Some(condition) = self.operand(Type::I1) else { return };
        let Some(LoopBranch { to, values, more }) = self.around().and_then(|number| self.way(number)) else { return };
        let condition = match more {
            Some(more) => self.builder.op(Op::And, Type::I1, &[condition, more]),
            None => condition,
        };
        let on = self.block(&[]);
        match more.is_some() || self.one_in(2) {
            true => self.builder.br_if(condition, (to, &values), (on, &[])),
            false => self.builder.br_if(condition, (on, &[]), (to, &values)),
        };
        self.go_to(on);
    }

    /// Returns a branch out of the loop with index `number`, or to the header of this loop.
    fn way(&mut self, number: usize) -> Option<LoopBranch> {
        let leaves = self.one_in(2);
        let around = self.around.get_mut(number)?;
        // A loop that counts down must have no additional back edge, so the branch always leaves it.
        let leaves = leaves || around.count.stays == IntCC::GtS;
        around.left |= leaves;
        let (counter, count, types) = (around.counter, around.count, around.types.clone());
        let to = if leaves { around.exit } else { around.head };
        if leaves {
            return Some(LoopBranch { to, values: self.passed(&types), more: None });
        }
        let next = self.next(counter, count.step);
        let more = self.builder.icmp(count.stays, Type::I32, next, count.bound);
        let mut values = vec![next];
        values.extend(self.passed(&types));
        Some(LoopBranch { to, values, more: Some(more) })
    }

    fn next(&mut self, counter: Value, step: i64) -> Value {
        let step = self.builder.int(Type::I32, step);
        self.builder.op(Op::Add, Type::I32, &[counter, step])
    }

    /// Generates an infinite loop, which an item can only leave in its first iteration.
    fn endless(&mut self) {
        let Some(condition) = self.operand(Type::I1) else { return };
        let types = self.passed_types();
        let (head, exit) = (self.block(&types), self.block(&types));
        let initial = self.passed(&types);
        self.builder.br(head, &initial);
        let outer = (self.scope.len(), self.visited.len());
        self.go_to(head);
        // Affine addresses require a known trip count, so the loop makes no accesses.
        let accesses = std::mem::take(&mut self.accesses);
        self.op();
        self.accesses = accesses;
        let (again, left) = (self.passed(&types), self.passed(&types));
        self.builder.br_if(condition, (head, &again), (exit, &left));
        self.leave(outer);
        self.go_to(exit);
    }
}
