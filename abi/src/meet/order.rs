//! Which points of which items come before which.
//!
//! Each item counts its clock, and knows of each other item up to which clock all that it did comes before.

use std::sync::Arc;

use super::{MemOrder, Scope, Strength};

/// By group, and by item of it: the last clock that is known to come before.
#[derive(Clone, Default, Debug)]
pub(super) struct Known(Vec<(u32, Arc<[u32]>)>);

impl Known {
    /// What a group's items know at its start: nothing.
    pub fn nothing(group: u32, items: u32) -> Known {
        Known(vec![(group, vec![0; items as usize].into())])
    }

    /// Whether an item's clock comes before.
    pub fn includes(&self, group: u32, local: u32, clock: u32) -> bool {
        self.of(group).and_then(|clocks| clocks.get(local as usize)).is_some_and(|&known| clock <= known)
    }

    fn of(&self, group: u32) -> Option<&Arc<[u32]>> {
        // Nearly always there is one group, and few where there are more.
        self.0.iter().find(|(of, _)| *of == group).map(|(_, clocks)| clocks)
    }

    /// Knows of that clock too.
    pub fn learn(&mut self, group: u32, local: u32, clock: u32) {
        let Some((_, clocks)) = self.0.iter_mut().find(|(of, _)| *of == group) else { return };
        if let Some(known) = Arc::make_mut(clocks).get_mut(local as usize) {
            *known = clock.max(*known);
        }
    }

    /// Knows all that the other does.
    pub fn join(&mut self, other: &Known) {
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

/// What a release gives to those who acquire it.
#[derive(Clone, Debug)]
pub(super) struct Release {
    pub known: Known,
    /// Of the item that releases.
    pub group: u32,
    pub scope: Scope,
    /// Bytes of the elements that it writes: an access to elements of another size does not acquire it.
    pub bytes: u32,
}

impl Release {
    /// Whether one who acquires is meant by it, and means it.
    pub fn reaches(&self, group: u32, scope: Scope) -> bool {
        self.group == group || self.scope > Scope::Group && scope > Scope::Group
    }
}

/// The order of one item's points with those of others.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// Steps where others may learn what was before.
    pub now: u32,
    pub known: Known,
    /// What the last fence gives to those who acquire what is written behind it.
    fenced: Option<(Known, Scope)>,
    /// What relaxed loads have read, which a fence acquires.
    read: Vec<(Arc<Release>, Scope)>,
}

impl Clock {
    /// At the start of a group.
    pub fn start(known: &Known) -> Clock {
        Clock { now: 1, known: known.clone(), fenced: None, read: Vec::new() }
    }

    /// All that comes before, and what the item itself has done.
    pub fn all(&self, group: u32, local: u32) -> Known {
        let mut all = self.known.clone();
        all.learn(group, local, self.now);
        all
    }

    pub fn fence(&mut self, group: u32, local: u32, ordering: MemOrder, scope: Scope) {
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

    /// Reads what was released.
    pub fn acquire(&mut self, group: u32, releases: &[Arc<Release>], strength: Strength) {
        let Strength { order, scope, bytes } = strength;
        for release in releases.iter().filter(|release| release.bytes == bytes && release.reaches(group, scope)) {
            if order.acquires() {
                self.known.join(&release.known);
            } else if !self.read.iter().any(|(read, of)| Arc::ptr_eq(read, release) && *of == scope) {
                self.read.push((release.clone(), scope));
            }
        }
    }

    /// What a store or an atomic operation releases.
    pub fn release(&mut self, group: u32, local: u32, strength: Strength) -> Option<Arc<Release>> {
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
