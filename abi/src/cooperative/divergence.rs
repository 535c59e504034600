//! Post-dominators of control-flow graphs, and detection of divergent barriers. A barrier is
//! divergent if a lane of a subgroup has passed it while another lane waits at it.

/// Returns the immediate post-dominator of each node of a control-flow graph, if any. A successor
/// number past the last node denotes the exit. A node without successors leads to the exit.
pub fn post_dominators(successors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let end = successors.len();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); end + 1];
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); end + 1];
    for (node, next) in successors.iter().enumerate() {
        let mut next: Vec<usize> = next.iter().map(|&next| next.min(end)).collect();
        if next.is_empty() {
            next.push(end);
        }
        next.iter().for_each(|&next| before[next].push(node));
        after[node] = next;
    }
    // Assign post-order numbers to the nodes by a depth-first search of the reversed graph from the exit.
    let mut order = Vec::with_capacity(end + 1);
    let mut number = vec![usize::MAX; end + 1];
    let mut seen = vec![false; end + 1];
    let mut stack = vec![(end, 0)];
    seen[end] = true;
    while let Some((node, k)) = stack.pop() {
        match before[node].get(k) {
            Some(&next) => {
                stack.push((node, k + 1));
                if !std::mem::replace(&mut seen[next], true) {
                    stack.push((next, 0));
                }
            }
            None => {
                number[node] = order.len();
                order.push(node);
            }
        }
    }
    let mut parent = vec![usize::MAX; end + 1];
    parent[end] = end;
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().rev().filter(|&&node| node != end) {
            let known = after[node].iter().copied().filter(|&next| parent[next] != usize::MAX);
            let common = known.reduce(|mut a, mut b| {
                while a != b {
                    while number[a] < number[b] {
                        a = parent[a];
                    }
                    while number[b] < number[a] {
                        b = parent[b];
                    }
                }
                a
            });
            if let Some(common) = common
                && parent[node] != common
            {
                parent[node] = common;
                changed = true;
            }
        }
    }
    parent.iter().take(end).map(|&node| (node < end).then_some(node)).collect()
}

/// A branch that an item executes. A guarded barrier counts as a branch, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Branch {
    /// Number of the branch instruction.
    pub inst: u32,
    /// Number of the successor to which the item branches.
    pub taken: u32,
    /// Immediate post-dominator of the branch, at which all items reconverge. `None` if the branch
    /// has no post-dominator, or if that block only returns from the function.
    pub join: Option<u32>,
    /// Call depth of the item at the branch.
    pub depth: u32,
}

/// Part of an item's execution, from a branch to the reconvergence point of the branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Region {
    /// Instruction or block at which the items reconverge, if any.
    join: Option<u32>,
    depth: u32,
    /// Number of the last executed branch with this reconvergence point.
    branch: u32,
    /// Hash of the successors taken at all branches of the region. In a loop, a region has several branches.
    taken: u64,
    /// Number of inner regions that have ended since the region's last branch.
    ended: u32,
}

/// Regions between a branch and its reconvergence point that an item has entered and not left,
/// outermost first. Items that have taken the same branches have equal paths.
#[derive(Clone, Debug)]
pub(super) struct Path(Vec<Region>);

impl Default for Path {
    fn default() -> Path {
        Path(vec![Region { join: None, depth: 0, branch: 0, taken: 0, ended: 0 }])
    }
}

impl Path {
    /// Enters the region that begins at a branch, or extends the current region if the branch belongs to its loop.
    pub(super) fn branch(&mut self, Branch { inst, taken, join, depth }: Branch) {
        let is_first = self.0.len() == 1;
        match self.0.last_mut() {
            // All iterations of a loop form one region, although each of them executes the branch.
            Some(last) if !is_first && (last.join, last.depth) == (join, depth) => {
                for word in [last.ended, inst, taken] {
                    last.taken = mix(last.taken, word);
                }
                (last.branch, last.ended) = (inst, 0);
            }
            _ => {
                let taken = mix(mix(0, inst), taken);
                self.0.push(Region { join, depth, branch: inst, taken, ended: 0 });
            }
        }
    }

    /// Leaves the regions whose reconvergence point is the instruction or block `at`.
    pub(super) fn reach(&mut self, at: u32, depth: u32) {
        while let [.., Region { join: Some(join), depth: of, .. }] = self.0[..]
            && (join, of) == (at, depth)
        {
            self.end();
        }
    }

    /// Leaves the regions of a function that returns to a caller at call depth `depth`. `ends` is
    /// `true` if the caller does nothing but return after the call.
    pub(super) fn ret(&mut self, depth: u32, ends: bool) {
        while let [_, .., last] = &mut self.0[..]
            && last.depth > depth
        {
            if ends {
                // The caller ends, too, so the region continues until the item ends.
                (last.depth, last.join) = (depth, None);
            } else {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        self.0.pop();
        if let Some(outer) = self.0.last_mut() {
            outer.ended += 1;
        }
    }

    /// Returns the branch at which this item diverged from `other`, if `other` has left the region
    /// of the branch and this item has not.
    pub(super) fn passed_by(&self, other: &Path) -> Option<u32> {
        for (number, (ours, theirs)) in self.0.iter().zip(&other.0).enumerate() {
            if ours.taken != theirs.taken || (ours.join, ours.depth) != (theirs.join, theirs.depth) {
                return None;
            }
            if ours.ended != theirs.ended {
                let inner = self.0.get(number + 1)?;
                return (theirs.ended > ours.ended).then_some(inner.branch);
            }
        }
        None
    }
}

impl PartialEq for Path {
    fn eq(&self, other: &Path) -> bool {
        self.0 == other.0
    }
}

fn mix(hash: u64, word: u32) -> u64 {
    (hash.rotate_left(23) ^ u64::from(word)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn post_dominators_of_branches_and_loops() {
        // A branch with two successors, the block where they join, a block that loops to itself, and an infinite loop.
        let graph = [vec![1, 2], vec![3], vec![3], vec![3, 4], vec![5, 6], vec![5], vec![]];
        let expected = [Some(3), Some(3), Some(3), Some(4), Some(6), None, None];
        assert_eq!(post_dominators(&graph), expected);
        // A graph whose branch has a successor that exits.
        assert_eq!(post_dominators(&[vec![1, 3], vec![2], vec![]]), [None, Some(2), None]);
        assert_eq!(post_dominators(&[]), []);
    }

    fn branch(inst: u32, taken: u32, join: Option<u32>) -> Branch {
        Branch { inst, taken, join, depth: 0 }
    }

    /// Builds a path from executed branches (`Ok`) and reached instructions (`Err`).
    fn path(steps: &[Result<Branch, u32>]) -> Path {
        let mut path = Path::default();
        for step in steps {
            match *step {
                Ok(branch) => path.branch(branch),
                Err(at) => path.reach(at, 0),
            }
        }
        path
    }

    #[test]
    fn finds_the_item_that_passed_the_join_point() {
        let waits = path(&[Ok(branch(1, 1, Some(5)))]);
        let other = |steps: &[Result<Branch, u32>]| waits.passed_by(&path(steps));
        assert_eq!(other(&[Ok(branch(1, 0, Some(5)))]), None);
        assert_eq!(other(&[Ok(branch(1, 0, Some(5))), Err(4)]), None);
        assert_eq!(other(&[Ok(branch(1, 0, Some(5))), Err(5)]), Some(1));
        assert_eq!(other(&[]), None);
        // After both items have left the region, neither has passed the other. An item that is
        // behind another has not passed that item.
        let both = path(&[Ok(branch(1, 1, Some(5))), Err(5)]);
        assert_eq!(both.passed_by(&path(&[Ok(branch(1, 0, Some(5))), Err(5)])), None);
        assert_eq!(both.passed_by(&waits), None);
        // No item can pass another in the region of a branch that has no reconvergence point.
        let apart = path(&[Ok(branch(1, 1, None)), Ok(branch(2, 1, Some(3)))]);
        assert_eq!(apart.passed_by(&path(&[Ok(branch(1, 0, None)), Ok(branch(2, 0, Some(3))), Err(3)])), None);
        assert_eq!(apart.passed_by(&path(&[Ok(branch(1, 1, None)), Ok(branch(2, 0, Some(3))), Err(3)])), Some(2));
    }

    #[test]
    fn a_loop_is_one_region() {
        let times = |count: usize, leaves: bool| {
            let mut steps = vec![Ok(branch(7, 0, Some(9))); count];
            if leaves {
                steps.extend([Ok(branch(7, 1, Some(9))), Err(9)]);
            }
            path(&steps)
        };
        assert_eq!(times(3, false).passed_by(&times(2, true)), Some(7));
        assert_eq!(times(3, false).passed_by(&times(3, false)), None);
        assert_eq!(times(3, false).passed_by(&times(4, false)), None);
        assert_eq!(times(100_000, false).0.len(), 2);
    }

    #[test]
    fn leaves_the_regions_of_a_function_at_its_return() {
        let mut waits = path(&[]);
        let mut passes = waits.clone();
        waits.branch(Branch { inst: 20, taken: 1, join: None, depth: 1 });
        passes.branch(Branch { inst: 20, taken: 0, join: None, depth: 1 });
        let mut ends = passes.clone();
        passes.ret(0, false);
        ends.ret(0, true);
        assert_eq!(waits.passed_by(&passes), Some(20));
        assert_eq!(waits.passed_by(&ends), None);
    }
}
