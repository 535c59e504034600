//! Semantics of asynchronous copies.

use super::{Access, Context, Reader};
use crate::halu::domain::Domain;
use crate::ptx::operand::Operand;
use crate::ptx::types::Space;

/// The number of bytes that an asynchronous copy reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CopiedBytes {
    /// All bytes of the copy.
    All,
    /// The value of the operand `src-size`, at most the size of the copy.
    Bytes,
    /// No bytes if the predicate `ignore-src` is true, otherwise all bytes of the copy.
    Unless,
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn copy_async(&mut self, taken: CopiedBytes) {
        let (to, from) = (self.place_in(0, Some(Space::Shared)), self.place_in(1, Some(Space::Global)));
        let (Some(to), Some(from), Some(&Operand::Number(bytes))) = (to, from, self.operand(2)) else { return };
        let bytes = bytes as u32;
        let all = self.d.word(bytes);
        let taken = match taken {
            CopiedBytes::All => all,
            CopiedBytes::Bytes => {
                let asked = self.word(3);
                let is_part = self.d.less(false, asked, all);
                self.d.select(is_part, asked, all)
            }
            CopiedBytes::Unless => {
                let (is_none, none) = (self.predicate(3), self.d.word(0));
                self.d.select(is_none, none, all)
            }
        };
        self.effects.access = Some(Access::Copy { from, to, bytes, taken });
    }

    pub(super) fn wait_for_copies(&mut self) {
        if let Some(&Operand::Number(groups)) = self.operand(0) {
            self.effects.access = Some(Access::AwaitCopies { but: Some(groups as u32) });
        }
    }
}
