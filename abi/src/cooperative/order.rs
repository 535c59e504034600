//! Happens-before order between work items, by vector clocks.
//!
//! Each item has a clock, which counts its releases. For each other item, it also has a clock
//! value: all accesses of the other item up to this value happen before the next access.

use std::sync::Arc;

use super::{MemOrder, Scope, Strength};

/// Vector clock of a point of the execution: for each group, in ascending order, one clock value of
/// each of its items. The accesses of an item up to this value happen before the point.
#[derive(Clone, Default, Debug)]
pub(super) struct VectorClock(Vec<(u32, Arc<[u32]>)>);

impl VectorClock {
    /// Returns the vector clock at the start of a group. No access of any item happens before the
    /// start.
    pub(super) fn nothing(group: u32, items: u32) -> VectorClock {
        VectorClock(vec![(group, vec![0; items as usize].into())])
    }

    /// Returns `true` if the accesses of an item up to clock value `clock` happen before the point
    /// that the vector clock describes.
    pub(super) fn includes(&self, group: u32, local: u32, clock: u32) -> bool {
        self.of(group).and_then(|clocks| clocks.get(local as usize)).is_some_and(|&known| clock <= known)
    }

    /// Returns the position of a group's entry, or the position at which the entry would be inserted.
    fn position(&self, group: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&group, |(of, _)| *of)
    }

    fn of(&self, group: u32) -> Option<&Arc<[u32]>> {
        self.position(group).ok().and_then(|place| self.0.get(place)).map(|(_, clocks)| clocks)
    }

    /// Records that the accesses of an item up to clock value `clock` happen before the point that
    /// the vector clock describes.
    pub(super) fn learn(&mut self, group: u32, local: u32, clock: u32) {
        let entry = self.position(group).ok().and_then(|place| self.0.get_mut(place));
        let Some((_, clocks)) = entry else { return };
        if let Some(known) = Arc::make_mut(clocks).get_mut(local as usize) {
            *known = clock.max(*known);
        }
    }

    /// Joins another vector clock into this one: takes the maximum of each component.
    pub(super) fn join(&mut self, other: &VectorClock) {
        // The groups are in ascending order in both vector clocks. The search for a group therefore
        // begins where the previous search ended.
        let mut from = 0;
        for (group, theirs) in &other.0 {
            from += self.0.iter().skip(from).take_while(|(of, _)| of < group).count();
            match self.0.get_mut(from).filter(|(of, _)| of == group) {
                None => self.0.insert(from, (*group, theirs.clone())),
                Some((_, ours)) if Arc::ptr_eq(ours, theirs) => {}
                Some((_, ours)) => {
                    if ours.iter().zip(theirs.iter()).any(|(ours, theirs)| ours < theirs) {
                        Arc::make_mut(ours)
                            .iter_mut()
                            .zip(theirs.iter())
                            .for_each(|(ours, theirs)| *ours = (*theirs).max(*ours));
                    }
                }
            }
        }
    }
}

/// A release operation, which other items can acquire.
#[derive(Clone, Debug)]
pub(super) struct Release {
    pub known: VectorClock,
    /// Group of the releasing item.
    pub group: u32,
    pub scope: Scope,
    /// Size in bytes of the written elements. An access to elements of another size does not acquire the release.
    pub bytes: u32,
}

impl Release {
    /// Returns `true` if an acquire with `scope` by an item of `group` synchronises with the
    /// release: the scope of each of the two operations includes the item of the other.
    pub(super) fn reaches(&self, group: u32, scope: Scope) -> bool {
        self.group == group || self.scope > Scope::Group && scope > Scope::Group
    }
}

/// Position of an item in the happens-before order.
#[derive(Clone, Debug)]
pub(super) struct ItemClock {
    /// Clock of the item, which advances at each release, fence and barrier that other items can acquire from.
    pub now: u32,
    pub known: VectorClock,
    /// Vector clock and scope of the last release fence. A load of another item that reads a write
    /// after the fence acquires the vector clock.
    fenced: Option<(VectorClock, Scope)>,
    /// Releases whose values relaxed loads have read. A later acquire fence acquires these releases.
    read: Vec<(Arc<Release>, Scope)>,
}

impl ItemClock {
    /// Returns the clock of an item at the start of a group.
    pub(super) fn start(known: &VectorClock) -> ItemClock {
        ItemClock { now: 1, known: known.clone(), fenced: None, read: Vec::new() }
    }

    /// Returns the item's vector clock, extended by the item's own accesses so far.
    pub(super) fn all(&self, group: u32, local: u32) -> VectorClock {
        let mut all = self.known.clone();
        all.learn(group, local, self.now);
        all
    }

    pub(super) fn fence(&mut self, group: u32, local: u32, ordering: MemOrder, scope: Scope) {
        if ordering.acquires() {
            for (release, of_read) in std::mem::take(&mut self.read) {
                if release.reaches(group, scope.min(of_read)) {
                    self.known.join(&release.known);
                }
            }
        }
        if ordering.releases() {
            self.fenced = Some((self.all(group, local), scope));
            self.now += 1;
        }
    }

    /// Acquires the releases whose values a load has read. If the load is relaxed, records the
    /// releases for a later fence instead.
    pub(super) fn acquire(&mut self, group: u32, releases: &[Arc<Release>], strength: Strength) {
        let Strength { order, scope, bytes } = strength;
        for release in releases.iter().filter(|release| release.bytes == bytes && release.reaches(group, scope)) {
            if order.acquires() {
                self.known.join(&release.known);
            } else if !self.read.iter().any(|(read, of)| Arc::ptr_eq(read, release) && *of == scope) {
                self.read.push((release.clone(), scope));
            }
        }
    }

    /// Returns the release of a store or an atomic operation. `None` if the operation is relaxed
    /// and no release fence precedes it.
    pub(super) fn release(&mut self, group: u32, local: u32, strength: Strength) -> Option<Arc<Release>> {
        let Strength { order, scope, bytes } = strength;
        let (known, scope) = if order.releases() {
            let all = self.all(group, local);
            self.now += 1;
            (all, scope)
        } else {
            let (known, of_fence) = self.fenced.as_ref()?;
            (known.clone(), scope.min(*of_fence))
        };
        Some(Arc::new(Release { known, group, scope, bytes }))
    }
}
