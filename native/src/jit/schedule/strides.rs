//! Loads that the loops execute themselves.

use super::super::dataflow::{Action, Id, Op};
use super::super::strided;
use super::{Class, Method, Scheduler};

impl Scheduler<'_> {
    /// Returns the loads that only one loop uses, so that the loop reads their elements directly. `by_row` marks values
    /// that are needed as rows.
    pub(super) fn strided(&self, in_place: &[bool], by_row: &[bool]) -> Vec<bool> {
        let mut is_strided = vec![false; self.methods.len()];
        if !self.strides || !self.methods.contains(&Method::LoadAffine) {
            return is_strided;
        }
        let loops = self.loops();
        for id in (0..self.used.len() as u32).map(Id) {
            let Op::Access(number) = self.dataflow.op(id) else { continue };
            let number = number as usize;
            let mut words = id.index() + 1..=id.index() + usize::from(self.words_of(number));
            is_strided[number] = self.methods[number] == Method::LoadAffine
                && in_place[number]
                && loops[number] != Loops::Many
                && !words.any(|word| by_row[word])
                && strided::stride(self.dataflow, &self.dataflow.accesses[number]).is_some();
        }
        is_strided
    }

    /// Returns the loops that read the words of each access.
    fn loops(&self) -> Vec<Loops> {
        let mut loops = vec![Loops::None; self.methods.len()];
        let mut read = |word: Id, stage: u32| {
            if let Op::Loaded(number, _) = self.dataflow.op(word) {
                let of = &mut loops[number as usize];
                *of = match *of {
                    Loops::None => Loops::One(stage),
                    Loops::One(before) if before == stage => *of,
                    _ => Loops::Many,
                };
            }
        };
        for id in (0..self.used.len() as u32).map(Id).filter(|id| self.used[id.index()]) {
            match self.dataflow.op(id) {
                Op::Access(number) => {
                    if let Action::Store { data, .. } = &self.dataflow.accesses[number as usize].action {
                        data.iter().for_each(|&word| read(word, self.access_stage[number as usize]));
                    }
                }
                _ if self.class(id) == Class::Inline => {
                    self.dataflow.args(id).into_iter().for_each(|arg| read(arg, self.stage[id.index()]));
                }
                _ => {}
            }
        }
        loops
    }
}

/// Stages whose loops read the words of an access.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loops {
    None,
    One(u32),
    Many,
}
