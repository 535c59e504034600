//! Divergence: the items of a row have taken different branches. Blocks run for those at the lowest address, by a mask, until all
//! have reconverged.

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

/// Items that are at the same block.
pub(super) struct Group {
    pub block: BlockId,
    /// The items.
    pub mask: Mask,
    /// How many are.
    pub items: u32,
    /// They have met others right before it.
    has_met: bool,
}

/// The items of a row by where they are.
#[derive(Default)]
pub(in crate::jit) struct Groups {
    /// The one at the lowest address last.
    waiting: Vec<Group>,
    /// Masks to use again.
    free: Vec<Mask>,
    /// Where the row of the context that says who runs is not zero; none before it is used.
    written: Option<Range<usize>>,
}

impl Groups {
    /// All of so many items at a block.
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

    /// Adds items to those at their block.
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

    /// Takes out the items for which a condition holds; those, and the others.
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

    /// Adds an item to those at a block, of a row of so many.
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

    /// Only the first so many items are still in the row.
    fn truncate(&mut self, items: u32) {
        for group in &mut self.waiting {
            group.mask.truncate(items);
            group.items = group.mask.count();
        }
    }

    /// Has a row of the context say who runs.
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
    /// Items diverge at the end of a block. Runs them until all have reconverged, at the block that is returned, or are done.
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

    /// Runs groups, whose masks are of so many items.
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
            // All items that still run: those after the first that faulted do not.
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
                // A block takes as long for few items of a span as for all.
                masked += group.mask.span().len() as u64 * u64::from(block.end - block.start);
            }
            if masked >= WORK_OF_A_SLICE {
                masked = 0;
                self.count_work()?;
            }
            self.send(group, groups);
        }
    }

    /// Items that are apart come to a word where they meet. Those whose guard does not hold go past it.
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

    /// An item that has met others goes on.
    fn wake(&mut self, at: BlockId, item: u32, groups: &mut Groups) {
        let items = self.context.header().items;
        match self.compiled.blocks.get(at.index()) {
            Some(&Block { next: Next::Meet { then: Target::Block { id, .. } }, .. }) => groups.add_one(id, item, items),
            Some(block) => self.fault(item, (block.end, TrapKind::RanPastEnd)),
            None => {}
        }
    }

    /// The same of all of a group.
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

    /// Items leave the block that they are at.
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
            // They are there, and have not met.
            Next::Meet { .. } => groups.add(group),
            Next::Undefined(word) => {
                self.fault_first(&group, (block.start, undefined(word)));
                groups.recycle(group);
            }
        }
    }

    /// Items leave a block for a target, by its branch or past it.
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
        // No item has taken more than all groups have together.
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

    /// All items of a group fault, of which the first counts.
    fn fault_first(&mut self, group: &Group, fault: (u32, TrapKind)) {
        for item in group.mask.items() {
            self.fault(item, fault.clone());
        }
    }
}
