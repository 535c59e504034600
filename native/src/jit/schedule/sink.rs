//! Values that are computed where they are wanted rather than as soon as they can be.

use super::super::cells::Cell;
use super::super::dataflow::{Action, Id, Op};
use super::{Class, Method, Scheduler};

impl Scheduler<'_> {
    /// Moves what loops compute for a later loop alone there, where it can be computed of what is there still: no row is needed to keep it.
    pub(super) fn sink(&mut self, finals: &[(Cell, Id)], condition: Option<Id>) {
        let count = self.used.len();
        // The first stage in whose loop it is read; none where anything else reads it.
        let mut wanted: Vec<Option<u32>> = vec![Some(u32::MAX); count];
        finals.iter().map(|(_, id)| id).chain(&condition).for_each(|id| wanted[id.index()] = None);
        for id in (0..count as u32).rev().map(Id).filter(|id| self.used[id.index()]) {
            if let Op::Access(number) = self.dataflow.op(id) {
                let (method, stage) = (self.methods[number as usize], self.access_stage[number as usize]);
                let data = match &self.dataflow.accesses[number as usize].action {
                    Action::Store { data, .. } => data.as_slice(),
                    _ => &[],
                };
                let is_loop = matches!(method, Method::StoreDirect | Method::StoreStrided);
                for arg in self.needs(number as usize) {
                    let of = &mut wanted[arg.index()];
                    *of = of.filter(|_| is_loop && data.contains(&arg)).map(|before| before.min(stage));
                }
                continue;
            }
            let is_inline = self.class(id) == Class::Inline;
            let args = self.dataflow.args(id);
            if let (true, Some(later)) = (is_inline, wanted[id.index()].filter(|&later| later != u32::MAX))
                && later > self.stage[id.index()]
                && self.is_kept(&args, self.stage[id.index()], later)
            {
                self.stage[id.index()] = later;
            }
            let stage = self.stage[id.index()];
            for arg in args {
                let of = &mut wanted[arg.index()];
                *of = of.filter(|_| is_inline).map(|before| before.min(stage));
            }
        }
    }

    /// Whether operands are there in a later loop, too, without a row for them: they are loaded, the same for all or grow evenly, or are for
    /// one operation alone. Nothing may have been stored between.
    fn is_kept(&self, args: &[Id], stage: u32, later: u32) -> bool {
        let is_there = |&arg: &Id| match self.class(arg) {
            Class::Uniform | Class::Affine | Class::Loaded => true,
            Class::Inline => self.users[arg.index()] == 1 && self.stage[arg.index()] == stage,
            _ => false,
        };
        let is_store = |action: &Action| matches!(action, Action::Store { .. } | Action::Atomic { .. } | Action::Fence);
        let is_between = |number: usize| (stage..later).contains(&self.access_stage[number]);
        let accesses = self.dataflow.accesses.iter().enumerate();
        let mut stores = accesses.filter(|(number, access)| is_store(&access.action) && is_between(*number));
        args.iter().all(is_there) && stores.next().is_none()
    }
}
