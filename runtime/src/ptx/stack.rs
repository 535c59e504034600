//! Local memory of a PTX thread: the stack frames of its calls, and the memory that `alloca` allocates.

use halfbyte_isa::ptx::module::LOCAL_START;
use halfbyte_isa::ptx::types::MAX_LOCAL;

use halfbyte_isa::buffers::{range, range_mut};
use halfbyte_isa::trap::TrapKind;

/// Number of bytes that each call takes in addition to its stack frame, for the return address.
const CALL_BYTES: u64 = 16;

/// The stack of a thread, which is the used part of its local memory.
#[derive(Default)]
pub(super) struct Stack {
    bytes: Vec<u8>,
    /// Number of bytes that the active calls take in addition to their stack frames.
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

    /// Allocates `bytes` bytes, filled with zeros, at an address that is a multiple of `align`. Returns the address.
    pub(super) fn take(&mut self, bytes: u64, align: u32) -> Result<u64, TrapKind> {
        let start = self.top().next_multiple_of(u64::from(align).max(1));
        let end = start.saturating_add(bytes);
        if end - LOCAL_START + self.calls > MAX_LOCAL.into() {
            return Err(TrapKind::StackOverflow { limit: MAX_LOCAL });
        }
        self.bytes.resize((end - LOCAL_START) as usize, 0);
        Ok(start)
    }

    /// Frees all memory from address `top` on. Returns `false` if `top` is not an address in the stack.
    pub(super) fn truncate(&mut self, top: u64) -> bool {
        let is_within = (LOCAL_START..=self.top()).contains(&top);
        if is_within {
            self.bytes.truncate((top - LOCAL_START) as usize);
        }
        is_within
    }

    /// Adds the bytes of a call's return address to the stack size.
    pub(super) fn enter(&mut self) {
        self.calls += CALL_BYTES;
    }

    /// Subtracts the bytes of a call's return address from the stack size.
    pub(super) fn leave(&mut self) {
        self.calls = self.calls.saturating_sub(CALL_BYTES);
    }

    /// Returns the `count` bytes at an address, or `None` if they are not on the stack.
    pub(super) fn get(&self, address: u64, count: usize) -> Option<&[u8]> {
        range(&self.bytes, address.checked_sub(LOCAL_START)?, count)
    }

    /// Returns the `count` bytes at an address for writing, or `None` if they are not on the stack.
    pub(super) fn get_mut(&mut self, address: u64, count: usize) -> Option<&mut [u8]> {
        range_mut(&mut self.bytes, address.checked_sub(LOCAL_START)?, count)
    }
}
