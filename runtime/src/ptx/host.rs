//! Launches on the memory of the process, at its own addresses: what a kernel is given are pointers, as on a GPU.
//!
//! This is the one door through which words reach memory that was not lent to them. It is `unsafe` to open
//! ([`Kernel::launch_on_host`](super::Kernel::launch_on_host)); what is beyond it is bounded as far as the caller says where allocations are.

use std::cell::RefCell;
use std::fmt;

use arrayvec::ArrayVec;

/// Memory that belongs together: an access lies in one allocation as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// The address of its first byte.
    pub start: u64,
    /// How many bytes it has.
    pub bytes: u64,
}

impl Allocation {
    fn has(self, address: u64, count: usize) -> bool {
        let offset = address.wrapping_sub(self.start);
        offset < self.bytes && count as u64 <= self.bytes - offset
    }
}

/// Finds the allocation that an address is in.
pub type Find<'a> = dyn Fn(u64) -> Option<Allocation> + 'a;

/// Allocations that are remembered, so that few accesses ask.
const REMEMBERED: usize = 8;

/// No allocation begins in the first page, whose addresses are what is made of null pointers.
const PAGE: u64 = 4096;

/// The memory of the process, as far as a launch may touch it.
pub struct HostMemory<'a> {
    /// None where every address is taken for one of memory.
    find: Option<&'a Find<'a>>,
    /// The allocations that were found last.
    found: RefCell<ArrayVec<Allocation, REMEMBERED>>,
}

impl fmt::Debug for HostMemory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostMemory").field("is_bounded", &self.find.is_some()).finish_non_exhaustive()
    }
}

impl<'a> HostMemory<'a> {
    /// That of these allocations. One that was found is asked for no more during the launch.
    pub fn bounded(find: &'a Find<'a>) -> HostMemory<'a> {
        HostMemory { find: Some(find), found: RefCell::default() }
    }

    /// All of it: a kernel that is wrong reads and writes what it likes, and may end the process.
    pub fn unbounded() -> HostMemory<'a> {
        HostMemory { find: None, found: RefCell::default() }
    }

    /// The allocation that an address is in, where that is asked.
    pub(super) fn around(&self, address: u64) -> Option<Allocation> {
        self.find.and_then(|find| find(address))
    }

    /// Whether bytes may be accessed.
    pub(super) fn allows(&self, address: u64, count: usize) -> bool {
        if address < PAGE || address.checked_add(count as u64).is_none() {
            return false;
        }
        let Some(find) = self.find else { return true };
        let mut found = self.found.borrow_mut();
        if found.iter().any(|allocation| allocation.has(address, count)) {
            return true;
        }
        let Some(allocation) = find(address).filter(|allocation| allocation.has(address, count)) else { return false };
        if found.is_full() {
            found.remove(0);
        }
        found.push(allocation);
        true
    }

    /// The bytes there.
    ///
    /// # Safety
    /// [`HostMemory::allows`] says that they may be accessed, and what opened the door is true.
    pub(super) unsafe fn get(&self, address: u64, count: usize) -> &[u8] {
        let start = std::ptr::with_exposed_provenance::<u8>(address as usize);
        // SAFETY: who launched says that allocations are memory, and that nobody else touches them before the launch ends; the bytes are in one.
        unsafe { std::slice::from_raw_parts(start, count) }
    }

    /// The bytes there, to be written.
    ///
    /// # Safety
    /// As [`HostMemory::get`].
    #[expect(
        clippy::mut_from_ref,
        reason = "the memory is not that of the reference; no two of these live at once, as `Memory` lends them"
    )]
    pub(super) unsafe fn get_mut(&self, address: u64, count: usize) -> &mut [u8] {
        let start = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: as in `get`.
        unsafe { std::slice::from_raw_parts_mut(start, count) }
    }
}
