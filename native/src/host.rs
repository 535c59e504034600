//! Launches on the memory of the process, at its own addresses: what a kernel is given are pointers, as on a GPU.
//!
//! This is the one door through which words reach memory that was not lent to them. It is `unsafe` to open
//! ([`Kernel::launch_on_host`](crate::ptx::Kernel::launch_on_host)); what is beyond it is bounded as far as the caller says where allocations are.

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
    /// The bytes that it has from an address on, if the address is in it.
    fn room(self, address: u64) -> Option<u64> {
        let offset = address.checked_sub(self.start)?;
        self.bytes.checked_sub(offset).filter(|&room| room != 0)
    }
}

/// Finds the allocation that an address is in. Every thread that runs a launch calls it.
pub type Find<'a> = dyn Fn(u64) -> Option<Allocation> + Sync + 'a;

/// Allocations that are remembered, so that few accesses ask.
const REMEMBERED: usize = 8;

/// The allocations that a thread of a launch has found last.
#[derive(Default)]
pub struct Found(RefCell<ArrayVec<Allocation, REMEMBERED>>);

impl Found {
    fn room(&self, address: u64) -> Option<u64> {
        self.0.borrow().iter().find_map(|allocation| allocation.room(address))
    }

    fn keep(&self, allocation: Allocation) {
        let mut all = self.0.borrow_mut();
        if all.is_full() {
            all.remove(0);
        }
        all.push(allocation);
    }
}

/// No allocation begins in the first page, whose addresses are what is made of null pointers.
const PAGE: u64 = 4096;

/// The memory of the process, as far as a launch may touch it.
#[derive(Clone, Copy)]
pub struct HostMemory<'a> {
    /// None where every address is taken for one of memory.
    find: Option<&'a Find<'a>>,
}

impl fmt::Debug for HostMemory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostMemory").field("is_bounded", &self.is_bounded()).finish_non_exhaustive()
    }
}

impl<'a> HostMemory<'a> {
    /// That of these allocations. One that was found is asked for no more by the thread that has found it, during the launch.
    pub fn bounded(find: &'a Find<'a>) -> HostMemory<'a> {
        HostMemory { find: Some(find) }
    }

    /// All of it: a kernel that is wrong reads and writes what it likes, and may end the process.
    pub fn unbounded() -> HostMemory<'a> {
        HostMemory { find: None }
    }

    /// Whether it is known where allocations end.
    pub fn is_bounded(&self) -> bool {
        self.find.is_some()
    }

    /// The allocation that an address is in, where that is asked.
    pub fn around(&self, address: u64) -> Option<Allocation> {
        self.find.and_then(|find| find(address))
    }

    /// How many bytes may be accessed from an address on; none where it is not one of memory.
    pub fn room(&self, found: &Found, address: u64) -> Option<u64> {
        if address < PAGE {
            return None;
        }
        // No access goes past the last address.
        let most = u64::MAX - address;
        let Some(find) = self.find else { return Some(most) };
        let known = found.room(address);
        let room = known.or_else(|| {
            let allocation = find(address)?;
            let room = allocation.room(address)?;
            found.keep(allocation);
            Some(room)
        });
        room.map(|room| room.min(most))
    }

    /// Whether bytes may be accessed.
    pub fn allows(&self, found: &Found, address: u64, count: usize) -> bool {
        self.room(found, address).is_some_and(|room| count as u64 <= room)
    }

    /// The bytes there.
    ///
    /// # Safety
    /// [`HostMemory::allows`] says that they may be accessed, and what opened the door is true.
    pub unsafe fn get(&self, address: u64, count: usize) -> &'a [u8] {
        // SAFETY: who launched says that allocations are memory, and that nobody else touches them before the launch ends; the bytes are in one.
        unsafe { std::slice::from_raw_parts(start_of(address), count) }
    }

    /// The bytes there, to be written.
    ///
    /// # Safety
    /// As [`HostMemory::get`], and no two of these live at once.
    pub unsafe fn get_mut(&self, address: u64, count: usize) -> &'a mut [u8] {
        // SAFETY: as in `get`.
        unsafe { std::slice::from_raw_parts_mut(start_of(address), count) }
    }
}

/// What is at an address of the process.
pub fn start_of(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}
