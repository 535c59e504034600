//! The local memory of a work item: the frames of its calls, and what they take beside.

use halfbyte_isa::ptx::module::LOCAL_START;
use halfbyte_isa::ptx::types::MAX_LOCAL;

use halfbyte_isa::buffers::{range, range_mut};
use halfbyte_isa::trap::TrapKind;

/// Bytes that each call takes at least, as where it returns to is kept.
const CALL_BYTES: u64 = 16;

/// Local memory up to where it is used.
#[derive(Default)]
pub(super) struct Stack {
    bytes: Vec<u8>,
    /// Bytes that calls within calls take beside their frames.
    calls: u64,
}

impl Stack {
    /// Makes the state at the start of an item.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.calls = 0;
    }

    /// How far it reaches: an address in local memory.
    pub fn top(&self) -> u64 {
        LOCAL_START + self.bytes.len() as u64
    }

    /// Takes bytes at a multiple of an alignment. They are zeros.
    pub fn take(&mut self, bytes: u64, align: u32) -> Result<u64, TrapKind> {
        let start = self.top().next_multiple_of(u64::from(align).max(1));
        let end = start.saturating_add(bytes);
        if end - LOCAL_START + self.calls > MAX_LOCAL.into() {
            return Err(TrapKind::StackOverflow { limit: MAX_LOCAL });
        }
        self.bytes.resize((end - LOCAL_START) as usize, 0);
        Ok(start)
    }

    /// Gives back what was taken since it reached so far, and says whether it reached so far.
    pub fn give_back(&mut self, top: u64) -> bool {
        let is_within = (LOCAL_START..=self.top()).contains(&top);
        if is_within {
            self.bytes.truncate((top - LOCAL_START) as usize);
        }
        is_within
    }

    /// Takes what a call does beside its frame.
    pub fn enter(&mut self) {
        self.calls += CALL_BYTES;
    }

    /// Gives that back.
    pub fn leave(&mut self) {
        self.calls = self.calls.saturating_sub(CALL_BYTES);
    }

    /// So many bytes at an address.
    pub fn get(&self, address: u64, count: usize) -> Option<&[u8]> {
        range(&self.bytes, address.checked_sub(LOCAL_START)?, count)
    }

    /// The same, to be written.
    pub fn get_mut(&mut self, address: u64, count: usize) -> Option<&mut [u8]> {
        range_mut(&mut self.bytes, address.checked_sub(LOCAL_START)?, count)
    }
}
