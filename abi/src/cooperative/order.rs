//! Happens-before order between items, by vector clocks.
//!
//! Each item has a clock. For each other item, it has the clock up to which everything that the
//! other did happens before.

use std::sync::Arc;

use super::{MemOrder, Scope, Strength};

/// A vector clock: for each group and each of its items, the latest clock that happens before.
#[derive(Clone, Default, Debug)]
pub(super) struct VectorClock(Vec<(u32, Arc<[u32]>)>);

impl VectorClock {
    /// Returns the vector clock at the start of a group, in which nothing happens before.
    pub(super) fn nothing(group: u32, items: u32) -> VectorClock {
        VectorClock(vec![(group, vec![0; items as usize].into())])
    }

    /// Returns `true` if a clock of an item happens before.
    pub(super) fn includes(&self, group: u32, local: u32, clock: u32) -> bool {
        self.of(group).and_then(|clocks| clocks.get(local as usize)).is_some_and(|&known| clock <= known)
    }

    fn of(&self, group: u32) -> Option<&Arc<[u32]>> {
        // There is nearly always one group. Otherwise there are few, so a linear search is fast.
        self.0.iter().find(|(of, _)| *of == group).map(|(_, clocks)| clocks)
    }

    /// Records that a clock of an item happens before.
    pub(super) fn learn(&mut self, group: u32, local: u32, clock: u32) {
        let Some((_, clocks)) = self.0.iter_mut().find(|(of, _)| *of == group) else { return };
        if let Some(known) = Arc::make_mut(clocks).get_mut(local as usize) {
            *known = clock.max(*known);
        }
    }

    /// Joins another vector clock into this one: takes the maximum of each component.
    pub(super) fn join(&mut self, other: &VectorClock) {
        for (group, theirs) in &other.0 {
            match self.0.iter_mut().find(|(of, _)| of == group) {
                None => self.0.push((*group, theirs.clone())),
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

/// A release, which other items can acquire.
#[derive(Clone, Debug)]
pub(super) struct Release {
    pub known: VectorClock,
    /// Group of the releasing item.
    pub group: u32,
    pub scope: Scope,
    /// Size in bytes of the written elements. An access to elements of another size does not
    /// acquire the release.
    pub bytes: u32,
}

impl Release {
    /// Returns `true` if an acquire with `scope` by an item of `group` synchronises with the
    /// release: the scope of each side includes the other.
    pub(super) fn reaches(&self, group: u32, scope: Scope) -> bool {
        self.group == group || self.scope > Scope::Group && scope > Scope::Group
    }
}

/// Position of an item in the happens-before order.
#[derive(Clone, Debug)]
pub(super) struct ItemClock {
    /// Counter of the points from which other items can acquire.
    pub now: u32,
    pub known: VectorClock,
    /// Vector clock and scope of the last release fence, for acquires of writes after the fence.
    fenced: Option<(VectorClock, Scope)>,
    /// Releases that relaxed loads have read. A later acquire fence acquires them.
    read: Vec<(Arc<Release>, Scope)>,
}

impl ItemClock {
    /// Returns the clock of an item at the start of a group.
    pub(super) fn start(known: &VectorClock) -> ItemClock {
        ItemClock { now: 1, known: known.clone(), fenced: None, read: Vec::new() }
    }

    /// Returns the vector clock that also includes all that the item itself has done.
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

    /// Acquires the releases that a load has read, or records them for a later fence if the load is
    /// relaxed.
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

    /// Returns the release of a store or an atomic operation, if any.
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
