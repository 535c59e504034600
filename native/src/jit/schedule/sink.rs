//! Sinking: values are computed in the stage that needs them instead of as early as possible.

use super::super::cells::Cell;
use super::super::dataflow::{Action, Id, Op};
use super::{Class, Method, Scheduler};

impl Scheduler<'_> {
    /// Moves values that only a later loop needs into that loop, if their operands are still available there. No row is
    /// then needed to keep them.
    pub(super) fn sink(&mut self, finals: &[(Cell, Id)], condition: Option<Id>) {
        let count = self.used.len();
        // First stage whose loop reads the value. `None` if anything else reads the value.
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

    /// Returns `true` if operands are available in a later loop without an extra row. Available operands are loaded,
    /// uniform, affine, or used only by one operation. No store may come in between.
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
