//! The memory spaces of a HALU work item, and the checks of each access.

use halfbyte_isa::buffers::{Buffers, range, range_mut};
use halfbyte_isa::trap::{Access, Space, TrapKind};

/// The memory of a HALU launch.
pub(super) struct Memory<'a> {
    /// Contents of constant bank 0. No other bank exists.
    pub constants: Vec<u8>,
    /// Global memory.
    pub buffers: Buffers<'a>,
    /// Local memory of the running item.
    pub local: Vec<u8>,
    /// Size in bytes of the scratch memory that the kernel declares. Scratch memory lies at the start of local memory.
    pub scratch_bytes: usize,
    /// Shared memory of the running group.
    pub shared: Vec<u8>,
    /// `true` if a store has changed memory since this flag was last set to `false`.
    pub is_changed: bool,
}

/// A memory space that an instruction accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MemorySpace {
    Constant(u8),
    /// All local memory of the item, including scratch memory and spill slots.
    Local,
    /// The scratch memory that the kernel declares, which is a part of local memory.
    Scratch,
    Shared,
    Global,
}

impl MemorySpace {
    pub(super) fn space(self) -> Space {
        match self {
            MemorySpace::Constant(bank) => Space::Constant(bank),
            MemorySpace::Local | MemorySpace::Scratch => Space::Local,
            MemorySpace::Shared => Space::Shared,
            MemorySpace::Global => Space::Global,
        }
    }
}

impl Memory<'_> {
    /// Copies bytes of memory, from an address on, to `out`.
    pub(super) fn load(&self, part: MemorySpace, address: u64, out: &mut [u8]) -> Result<(), TrapKind> {
        let count = out.len();
        check_aligned(Access::Load, part.space(), address, count)?;
        let held = match part {
            MemorySpace::Constant(0) => range(&self.constants, address, count),
            MemorySpace::Constant(_) => None,
            MemorySpace::Local => range(&self.local, address, count),
            MemorySpace::Scratch => range(self.local.get(..self.scratch_bytes).unwrap_or_default(), address, count),
            MemorySpace::Shared => range(&self.shared, address, count),
            MemorySpace::Global => self.buffers.get(address, count),
        };
        match held {
            Some(bytes) => {
                out.copy_from_slice(bytes);
                Ok(())
            }
            None => Err(self.refusal(Access::Load, part.space(), address, count)),
        }
    }

    /// Copies `data` to memory, from an address on.
    pub(super) fn store(&mut self, part: MemorySpace, address: u64, data: &[u8]) -> Result<(), TrapKind> {
        let bytes = self.written(part, address, data.len())?;
        let is_changed = bytes != data;
        bytes.copy_from_slice(data);
        self.is_changed |= is_changed;
        Ok(())
    }

    /// Returns the bytes at an address, which an atomic operation reads and writes. Atomic
    /// operations on local memory are not supported.
    pub(super) fn change(&mut self, part: MemorySpace, address: u64, count: usize) -> Result<&mut [u8], TrapKind> {
        if part.space() == Space::Local {
            check_aligned(Access::Store, Space::Local, address, count)?;
            return Err(self.refusal(Access::Store, Space::Local, address, count));
        }
        self.written(part, address, count)
    }

    /// Returns the bytes at an address for writing, after a check of the access.
    fn written(&mut self, part: MemorySpace, address: u64, count: usize) -> Result<&mut [u8], TrapKind> {
        check_aligned(Access::Store, part.space(), address, count)?;
        let has = match part {
            // No instruction stores to constant memory.
            MemorySpace::Constant(_) => false,
            MemorySpace::Local => range(&self.local, address, count).is_some(),
            MemorySpace::Scratch => {
                range(self.local.get(..self.scratch_bytes).unwrap_or_default(), address, count).is_some()
            }
            MemorySpace::Shared => range(&self.shared, address, count).is_some(),
            MemorySpace::Global => self.buffers.permits(Access::Store, address, count),
        };
        if !has {
            return Err(self.refusal(Access::Store, part.space(), address, count));
        }
        let held = match part {
            MemorySpace::Constant(_) => None,
            MemorySpace::Local | MemorySpace::Scratch => range_mut(&mut self.local, address, count),
            MemorySpace::Shared => range_mut(&mut self.shared, address, count),
            MemorySpace::Global => self.buffers.get_mut(address, count),
        };
        Ok(held.unwrap_or_default())
    }

    #[cold]
    fn refusal(&self, access: Access, space: Space, address: u64, count: usize) -> TrapKind {
        match space {
            Space::Global => self.buffers.trap_of_access(access, address, count),
            _ => TrapKind::OutOfBounds { access, space, address, bytes: count as u32, near: None },
        }
    }
}

#[cfg(feature = "jit")]
impl<'a> halfbyte_native::jit::Reached<'a> for Memory<'a> {
    fn buffers(&mut self) -> &mut Buffers<'a> {
        &mut self.buffers
    }

    fn constants(&mut self) -> &mut Vec<u8> {
        &mut self.constants
    }

    fn parts(&self) -> halfbyte_native::jit::Parts {
        smallvec::smallvec![[0, self.constants.len() as u64]]
    }

    fn is_constant(&self, _: usize) -> bool {
        false
    }

    fn why_not(&mut self, access: Access, space: Space, address: u64, count: usize) -> TrapKind {
        match check_aligned(access, space, address, count) {
            Ok(()) => self.refusal(access, space, address, count),
            Err(kind) => kind,
        }
    }
}

/// Checks that an address is a multiple of the access size. The access size is a power of two.
fn check_aligned(access: Access, space: Space, address: u64, count: usize) -> Result<(), TrapKind> {
    if address.is_multiple_of(count as u64) {
        Ok(())
    } else {
        Err(TrapKind::Misaligned { access, space, address, bytes: count as u32 })
    }
}
