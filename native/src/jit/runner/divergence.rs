//! Divergence: the items of a row have taken different branches. The block with the lowest address
//! runs first, with a mask of its items, until all items have reconverged.

use std::ops::Range;

use super::super::DivergentCode;
use super::super::compile::Code;
use super::super::context::{CONDITION, Context, MASK};
use super::super::flow::Divergence;
use super::super::graph::{Block, BlockId, Next, Target};
use super::mask::Mask;
use super::{Runner, WORK_OF_A_SLICE, start_of, undefined};
use crate::clif::NativeError;
use halfbyte_isa::trap::TrapKind;

/// Items at the same block.
pub(super) struct Group {
    pub block: BlockId,
    /// Mask of the items.
    pub mask: Mask,
    /// Number of items.
    pub items: u32,
    /// `true` if a collective operation came right before the block.
    has_met: bool,
}

/// Items of a diverged row, by block.
#[derive(Default)]
pub(in crate::jit) struct Groups {
    /// Groups in descending order of their addresses.
    waiting: Vec<Group>,
    /// Masks for reuse.
    free: Vec<Mask>,
    /// Range of the context's mask row that is not zero. `None` before the first use.
    written: Option<Range<usize>>,
}

impl Groups {
    /// Returns a group of all `items` items at a block.
    fn all(&mut self, block: BlockId, items: u32) -> Group {
        let free: Vec<Group> = self.waiting.drain(..).collect();
        free.into_iter().for_each(|group| self.recycle(group));
        let mut mask = self.free.pop().unwrap_or_default();
        mask.fill(items);
        Group { block, mask, items, has_met: false }
    }

    fn recycle(&mut self, group: Group) {
        self.free.push(group.mask);
    }

    /// Adds a group to the items at its block.
    fn add(&mut self, group: Group) {
        let place = self.waiting.partition_point(|waiting| waiting.block > group.block);
        match self.waiting.get_mut(place) {
            Some(there) if there.block == group.block => {
                there.mask.join(&group.mask);
                there.items += group.items;
                there.has_met |= group.has_met;
                self.recycle(group);
            }
            _ => self.waiting.insert(place, group),
        }
    }

    /// Splits a group into the items for which the condition holds and the others.
    fn split(&mut self, mut group: Group, condition: &[u32]) -> [Group; 2] {
        let items = group.mask.count_where(condition);
        let mut taken = self.free.pop().unwrap_or_default();
        taken.clear(group.mask.words().len() as u32);
        if items == group.items {
            let none = Group { block: group.block, mask: taken, items: 0, has_met: group.has_met };
            return [Group { has_met: false, ..group }, none];
        }
        if items != 0 {
            group.mask.split(condition, &mut taken);
        }
        group.items -= items;
        [Group { block: group.block, mask: taken, items, has_met: false }, group]
    }

    /// Adds one item of a row of `items` items to a block.
    fn add_one(&mut self, block: BlockId, item: u32, items: u32) {
        let place = self.waiting.partition_point(|waiting| waiting.block > block);
        if self.waiting.get(place).is_none_or(|there| there.block != block) {
            let mut mask = self.free.pop().unwrap_or_default();
            mask.clear(items);
            self.waiting.insert(place, Group { block, mask, items: 0, has_met: false });
        }
        if let Some(there) = self.waiting.get_mut(place)
            && item < items
        {
            there.mask.insert(item);
            there.items += 1;
            there.has_met = true;
        }
    }

    /// Removes all items from `items` on.
    fn truncate(&mut self, items: u32) {
        for group in &mut self.waiting {
            group.mask.truncate(items);
            group.items = group.mask.count();
        }
    }

    /// Writes a mask to the mask row of the context.
    fn write(&mut self, mask: &Mask, context: &mut Context) {
        let row = context.row(MASK);
        let written = self.written.replace(mask.span()).unwrap_or(0..row.len());
        if let Some(words) = row.get_mut(written) {
            words.fill(0);
        }
        if let Some(words) = row.get_mut(mask.span()) {
            words.copy_from_slice(mask.spanned());
        }
        context.header().set_span(mask.span());
    }
}

impl Runner<'_> {
    /// Runs items that diverge at the end of a block until all have reconverged or are done. Returns the block at which
    /// they reconverged, or `None` if all are done.
    pub fn divergent(&mut self, from: BlockId) -> Result<Option<BlockId>, NativeError> {
        let compiled = self.compiled;
        let DivergentCode { code, map, .. } = compiled.divergent(self.kernel, &mut self.work)?;
        self.context.grow(*map).ok_or(NativeError::TooLarge)?;
        self.sync();
        let Some(divergence) = compiled.flow.divergences.get(&from) else { return Ok(None) };
        divergence.spread.iter().for_each(|&(cell, shape)| self.spread(cell, shape));
        let mut groups = std::mem::take(&mut self.groups);
        let items = self.context.header().items;
        let all = groups.all(from, items);
        let is_of_groups = self.kernel.groups.is_some();
        if is_of_groups {
            self.begin_apart();
        }
        match self.compiled.blocks.get(from.index()).map(|block| block.next) {
            Some(Next::Meet { .. }) => groups.add(all),
            _ => self.send(all, &mut groups),
        }
        let met = self.run_groups(code, divergence, items, &mut groups);
        self.groups = groups;
        self.note_rest();
        met
    }

    /// Runs groups whose masks have `items` items.
    fn run_groups(
        &mut self,
        code: &Code,
        divergence: &Divergence,
        mut items: u32,
        groups: &mut Groups,
    ) -> Result<Option<BlockId>, NativeError> {
        let mut masked = 0;
        loop {
            let is_of_groups = self.kernel.groups.is_some();
            let left = self.context.header().items;
            if left != items {
                groups.truncate(left);
                items = left;
            }
            let Some(mut group) = groups.waiting.pop() else {
                if is_of_groups && self.go_on(|this, at, item| this.wake(at, item, groups)) {
                    continue;
                }
                return Ok(None);
            };
            if is_of_groups {
                self.drop_late(&mut group);
            }
            if group.items == 0 {
                groups.recycle(group);
                continue;
            }
            // Number of items that still run: items after the first fault do not run.
            let whole = if is_of_groups { self.meetings.left } else { items };
            if is_of_groups && group.has_met && group.items == items && self.rejoin(group.block) {
                let at = group.block;
                groups.recycle(group);
                self.grant();
                return Ok(Some(at));
            }
            if group.items == whole && divergence.reconvergence == Some(group.block) {
                groups.recycle(group);
                if is_of_groups {
                    self.leave_apart(whole);
                }
                divergence.rejoin.iter().for_each(|&(cell, shape)| self.spread(cell, shape));
                self.grant();
                return Ok(divergence.reconvergence);
            }
            if let Some(Next::Meet { .. }) = self.compiled.blocks.get(group.block.index()).map(|block| block.next) {
                self.meet_apart(group, groups);
                continue;
            }
            groups.write(&group.mask, &mut self.context);
            self.call(start_of(code, group.block)?);
            self.context.header().set_all();
            if let Some(block) = self.compiled.blocks.get(group.block.index()) {
                self.stats.issued += u64::from(group.items) * u64::from(block.end - block.start);
                // The time of a block depends on the span of the mask, not on the number of active items.
                masked += group.mask.span().len() as u64 * u64::from(block.end - block.start);
            }
            if masked >= WORK_OF_A_SLICE {
                masked = 0;
                self.count_work()?;
            }
            self.send(group, groups);
        }
    }

    /// Executes a collective operation for diverged items. Items whose guard does not hold skip the operation.
    fn meet_apart(&mut self, group: Group, groups: &mut Groups) {
        let Some(block) = self.compiled.blocks.get(group.block.index()) else { return groups.recycle(group) };
        let Next::Meet { then } = block.next else { return groups.recycle(group) };
        self.stats.issued += u64::from(group.items);
        let [mut acts, past] = match self.holds_apart(group.block) {
            None => {
                let none = groups.split(group, &[]);
                let [past, acts] = none;
                [acts, past]
            }
            Some(holds) => {
                let split = groups.split(group, &holds);
                self.spare = holds;
                split
            }
        };
        self.go(then, false, past, groups);
        if acts.items != 0 && self.arrive(&acts) {
            acts.has_met = true;
            self.go_past(acts, groups);
        } else {
            groups.recycle(acts);
        }
    }

    /// Resumes an item after its collective operation.
    fn wake(&mut self, at: BlockId, item: u32, groups: &mut Groups) {
        let items = self.context.header().items;
        match self.compiled.blocks.get(at.index()) {
            Some(&Block { next: Next::Meet { then: Target::Block { id, .. } }, .. }) => groups.add_one(id, item, items),
            Some(block) => self.fault(item, (block.end, TrapKind::RanPastEnd)),
            None => {}
        }
    }

    /// Resumes a group of items after its collective operation.
    fn go_past(&mut self, mut group: Group, groups: &mut Groups) {
        match self.compiled.blocks.get(group.block.index()) {
            Some(&Block { next: Next::Meet { then: Target::Block { id, .. } }, .. }) => {
                group.block = id;
                groups.add(group);
            }
            Some(block) => {
                self.fault_first(&group, (block.end, TrapKind::RanPastEnd));
                groups.recycle(group);
            }
            None => groups.recycle(group),
        }
    }

    /// Moves the items of a group along the outgoing edges of their block.
    fn send(&mut self, group: Group, groups: &mut Groups) {
        let Some(block) = self.compiled.blocks.get(group.block.index()) else { return groups.recycle(group) };
        match block.next {
            Next::To(target) => self.go(target, true, group, groups),
            Next::Branch { taken, fall } => {
                let [yes, no] = groups.split(group, self.context.row(CONDITION));
                self.go(taken, true, yes, groups);
                self.go(fall, false, no, groups);
            }
            Next::ExitIf { fall } => {
                let [done, no] = groups.split(group, self.context.row(CONDITION));
                self.end(&done);
                groups.recycle(done);
                self.go(fall, false, no, groups);
            }
            Next::Exit => {
                self.end(&group);
                groups.recycle(group);
            }
            // The items have not executed the collective operation yet.
            Next::Meet { .. } => groups.add(group),
            Next::Undefined(word) => {
                self.fault_first(&group, (block.start, undefined(word)));
                groups.recycle(group);
            }
        }
    }

    /// Moves the items of a group to a target. `taken` selects the taken branch instead of the fall-through.
    fn go(&mut self, target: Target, taken: bool, mut group: Group, groups: &mut Groups) {
        if group.items == 0 {
            return groups.recycle(group);
        }
        match target {
            Target::Block { id, backward } => {
                if backward {
                    self.count_backward(&group);
                }
                group.block = id;
                groups.add(group);
            }
            Target::Outside(_) | Target::PastEnd => {
                self.fault_first(&group, self.bad_target(group.block, taken));
                groups.recycle(group);
            }
        }
    }

    /// Counts a backward branch for each item of a group.
    fn count_backward(&mut self, group: &Group) {
        let limit = self.budget - self.together;
        // No item has taken more backward branches than all groups together.
        let may_be_spent = self.most_alone >= limit;
        self.most_alone += 1;
        let alone = self.alone();
        let is_spent = |&item: &u32| alone.get(item as usize).is_some_and(|&alone| alone >= limit);
        let spent: Vec<u32> = if may_be_spent { group.mask.items().filter(is_spent).collect() } else { Vec::new() };
        if let Some(alone) = alone.get_mut(group.mask.span()) {
            alone.iter_mut().zip(group.mask.spanned()).for_each(|(alone, mask)| *alone += u64::from(mask & 1));
        }
        if let Some(block) = self.compiled.blocks.get(group.block.index()) {
            for item in spent {
                self.fault(item, (block.last(), TrapKind::Budget { limit: self.budget }));
            }
        }
        self.stats.backward_branches += u64::from(group.items);
    }

    /// Records a fault of all items of a group, of which only the first is reported.
    fn fault_first(&mut self, group: &Group, fault: (u32, TrapKind)) {
        for item in group.mask.items() {
            self.fault(item, fault.clone());
        }
    }
}
