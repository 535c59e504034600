//! The local memory of a work item: its call frames, and the memory that `alloca` adds.

use halfbyte_isa::ptx::module::LOCAL_START;
use halfbyte_isa::ptx::types::MAX_LOCAL;

use halfbyte_isa::buffers::{range, range_mut};
use halfbyte_isa::trap::TrapKind;

/// Minimum number of bytes per call, which account for the return address.
const CALL_BYTES: u64 = 16;

/// The used part of local memory.
#[derive(Default)]
pub(super) struct Stack {
    bytes: Vec<u8>,
    /// Bytes that nested calls take in addition to their frames.
    calls: u64,
}

impl Stack {
    /// Resets the stack for the start of an item.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.calls = 0;
    }

    /// Returns the address of the stack's top.
    pub(super) fn top(&self) -> u64 {
        LOCAL_START + self.bytes.len() as u64
    }

    /// Allocates zeroed memory with an alignment, and returns its address.
    pub(super) fn take(&mut self, bytes: u64, align: u32) -> Result<u64, TrapKind> {
        let start = self.top().next_multiple_of(u64::from(align).max(1));
        let end = start.saturating_add(bytes);
        if end - LOCAL_START + self.calls > MAX_LOCAL.into() {
            return Err(TrapKind::StackOverflow { limit: MAX_LOCAL });
        }
        self.bytes.resize((end - LOCAL_START) as usize, 0);
        Ok(start)
    }

    /// Frees everything above `top`. Returns `false` if `top` is outside the used part.
    pub(super) fn truncate(&mut self, top: u64) -> bool {
        let is_within = (LOCAL_START..=self.top()).contains(&top);
        if is_within {
            self.bytes.truncate((top - LOCAL_START) as usize);
        }
        is_within
    }

    /// Accounts for a call.
    pub(super) fn enter(&mut self) {
        self.calls += CALL_BYTES;
    }

    /// Accounts for the return from a call.
    pub(super) fn leave(&mut self) {
        self.calls = self.calls.saturating_sub(CALL_BYTES);
    }

    /// Returns `count` bytes at an address, if they are in use.
    pub(super) fn get(&self, address: u64, count: usize) -> Option<&[u8]> {
        range(&self.bytes, address.checked_sub(LOCAL_START)?, count)
    }

    /// Returns `count` bytes at an address for writing, if they are in use.
    pub(super) fn get_mut(&mut self, address: u64, count: usize) -> Option<&mut [u8]> {
        range_mut(&mut self.bytes, address.checked_sub(LOCAL_START)?, count)
    }
}
