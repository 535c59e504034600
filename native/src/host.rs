//! Launches on the memory of the process, at its own addresses: kernels receive raw pointers, as on
//! a GPU.
//!
//! Only this module lets kernels access memory that was not passed as a slice. Its entry point
//! (`Kernel::launch_on_host`) is `unsafe`. Accesses are bounds-checked if the caller describes its
//! allocations.

use std::cell::RefCell;
use std::fmt;

use arrayvec::ArrayVec;
use halfbyte_isa::trap::Access;

/// An allocation. Each access must lie within one allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// Address of the first byte.
    pub start: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Number of bytes behind the end that loads may read, too.
    pub padding: u64,
}

impl Allocation {
    /// Creates an allocation without padding.
    pub const fn new(start: u64, bytes: u64) -> Allocation {
        Allocation { start, bytes, padding: 0 }
    }

    /// Returns the number of bytes from an address to the end of the allocation, if the address lies
    /// in the allocation.
    fn room(self, address: u64) -> Option<u64> {
        let offset = address.checked_sub(self.start)?;
        self.bytes.checked_sub(offset).filter(|&room| room != 0)
    }

    /// Returns `true` if `count` bytes at an address lie in the allocation and its padding.
    fn has_with_padding(self, address: u64, count: u64) -> bool {
        let end = address.checked_sub(self.start).and_then(|offset| offset.checked_add(count));
        end.is_some_and(|end| end <= self.bytes.saturating_add(self.padding))
    }
}

/// A load from an allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostLoad {
    /// Address of the instruction in the program.
    pub inst: u32,
    /// Address of the first loaded byte.
    pub address: u64,
    /// Size in bytes.
    pub bytes: u32,
    /// The allocation.
    pub allocation: Allocation,
}

impl HostLoad {
    /// Returns the offset of the first loaded byte in the allocation.
    pub fn offset(&self) -> u64 {
        self.address.saturating_sub(self.allocation.start)
    }

    /// Returns the number of bytes by which the load exceeds the end of the allocation.
    pub fn excess(&self) -> u64 {
        self.offset().saturating_add(self.bytes.into()).saturating_sub(self.allocation.bytes)
    }
}

/// A callback for each load that reaches the padding of an allocation. Every thread of a launch calls
/// it.
pub type NotePadding<'a> = dyn Fn(HostLoad) + Sync + 'a;

/// A callback that returns the allocation that contains an address. Every thread of a launch calls
/// it.
pub type Find<'a> = dyn Fn(u64) -> Option<Allocation> + Sync + 'a;

/// Number of allocations that a thread caches, to reduce calls of [`Find`].
const REMEMBERED: usize = 8;

/// The allocations that a thread of a launch found last.
#[derive(Default)]
pub struct Found(RefCell<ArrayVec<Allocation, REMEMBERED>>);

impl Found {
    fn room(&self, address: u64) -> Option<u64> {
        self.0.borrow().iter().find_map(|allocation| allocation.room(address))
    }

    fn with_padding(&self, address: u64, count: u64) -> Option<Allocation> {
        self.0.borrow().iter().find(|allocation| allocation.has_with_padding(address, count)).copied()
    }

    fn keep(&self, allocation: Allocation) {
        let mut all = self.0.borrow_mut();
        if all.is_full() {
            all.remove(0);
        }
        all.push(allocation);
    }
}

/// Size of the first page. The page contains no allocation, so that null pointers with small
/// offsets are rejected.
const PAGE: u64 = 4096;

/// The memory of the process that a launch may access.
#[derive(Clone, Copy)]
pub struct HostMemory<'a> {
    /// `None` if every address is accepted.
    find: Option<&'a Find<'a>>,
    note_padding: Option<&'a NotePadding<'a>>,
}

impl fmt::Debug for HostMemory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostMemory").field("is_bounded", &self.is_bounded()).finish_non_exhaustive()
    }
}

impl<'a> HostMemory<'a> {
    /// Limits accesses to the allocations that `find` returns. Each thread caches the allocations
    /// that it has found until the launch ends.
    pub fn bounded(find: &'a Find<'a>) -> HostMemory<'a> {
        HostMemory { find: Some(find), note_padding: None }
    }

    /// Passes each load that reaches the padding of an allocation to `note`.
    pub fn with_padding_note(self, note: &'a NotePadding<'a>) -> HostMemory<'a> {
        HostMemory { note_padding: Some(note), ..self }
    }

    /// Permits accesses to the whole process. A faulty kernel can then read or overwrite anything
    /// and crash the process.
    pub fn unbounded() -> HostMemory<'a> {
        HostMemory { find: None, note_padding: None }
    }

    /// Returns `true` if accesses are limited to allocations.
    pub fn is_bounded(&self) -> bool {
        self.find.is_some()
    }

    /// Returns the allocation that contains an address. Returns `None` if accesses are not
    /// bounds-checked.
    pub fn around(&self, address: u64) -> Option<Allocation> {
        self.find.and_then(|find| find(address))
    }

    /// Returns the number of bytes from an address to the end of its allocation, or `None` if the
    /// address is invalid. The padding does not count.
    pub fn room(&self, found: &Found, address: u64) -> Option<u64> {
        if address < PAGE {
            return None;
        }
        // No access may wrap around the address space.
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

    /// Returns `true` if an access to `count` bytes at an address is permitted. Only the load of an
    /// instruction may reach the padding of an allocation. `inst` is the address of the instruction.
    pub fn allows(&self, found: &Found, access: Access, address: u64, count: usize, inst: Option<u32>) -> bool {
        let count = count as u64;
        self.room(found, address).is_some_and(|room| count <= room)
            || access == Access::Load && inst.is_some_and(|inst| self.allows_padding(found, address, count, inst))
    }

    /// Returns `true` if a load may reach the padding of its allocation. The load is passed to the
    /// callback for such loads. `inst` is the address of the instruction.
    pub fn allows_padding(&self, found: &Found, address: u64, count: u64, inst: u32) -> bool {
        let find = || {
            let allocation =
                self.around(address).filter(|of| address >= PAGE && of.has_with_padding(address, count))?;
            found.keep(allocation);
            Some(allocation)
        };
        let Some(allocation) = found.with_padding(address, count).or_else(find) else { return false };
        if let Some(note) = self.note_padding {
            note(HostLoad { inst, address, bytes: count as u32, allocation });
        }
        true
    }

    /// Returns `count` bytes at an address.
    ///
    /// # Safety
    /// [`HostMemory::allows`] must have permitted the access, and the caller of the launch must
    /// have described the process's allocations correctly.
    pub unsafe fn get(&self, address: u64, count: usize) -> &'a [u8] {
        // SAFETY: the caller of the launch guarantees that allocations are valid memory and that
        // nobody else accesses them during the launch. The bytes lie in one allocation.
        unsafe { std::slice::from_raw_parts(start_of(address), count) }
    }

    /// Returns `count` bytes at an address for writing.
    ///
    /// # Safety
    /// As for [`HostMemory::get`]. In addition, no two of these slices may be alive at once.
    pub unsafe fn get_mut(&self, address: u64, count: usize) -> &'a mut [u8] {
        // SAFETY: as in `get`.
        unsafe { std::slice::from_raw_parts_mut(start_of(address), count) }
    }
}

/// Converts an address of the process to a pointer.
pub fn start_of(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}
