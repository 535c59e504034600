//! The users of values.

use std::collections::HashSet;

use cranelift_entity::SecondaryMap;
use halfbyte_ir::{Inst, Kernel, Value};
use smallvec::SmallVec;

/// The instructions that use each value of a kernel.
pub(super) struct Users<'k> {
    kernel: &'k Kernel,
    /// The distinct users of each value, in the order of the blocks.
    of: SecondaryMap<Value, SmallVec<[Inst; 2]>>,
}

impl<'k> Users<'k> {
    pub(super) fn new(kernel: &'k Kernel) -> Users<'k> {
        let mut of: SecondaryMap<Value, SmallVec<[Inst; 2]>> = SecondaryMap::new();
        for &inst in kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts) {
            let passed = kernel.targets(inst).iter().flat_map(|call| kernel.call_args(call));
            for &value in kernel.args(inst).iter().chain(passed) {
                let users = &mut of[value];
                if users.last() != Some(&inst) {
                    users.push(inst);
                }
            }
        }
        Users { kernel, of }
    }

    /// Returns the instructions with machine code that use a value, directly or through
    /// instructions without machine code.
    pub(super) fn emitted(&self, value: Value, has_words: &dyn Fn(Inst) -> bool) -> Vec<Inst> {
        let mut users = Vec::new();
        let mut seen = HashSet::from([value]);
        let mut known = HashSet::new();
        let mut left = vec![value];
        let mut next = 0;
        while let Some(&value) = left.get(next) {
            next += 1;
            for &user in &self.of[value] {
                match self.kernel.result(user).filter(|_| !has_words(user)) {
                    Some(result) => left.extend(seen.insert(result).then_some(result)),
                    None => users.extend(known.insert(user).then_some(user)),
                }
            }
        }
        users
    }
}
