//! The memories that a work item reaches, and the checks on every access.

use crate::buffers::{Buffers, range, range_mut};
use crate::trap::{Access, Space, TrapKind};

/// All memory of a launch.
pub(super) struct Memory<'a> {
    /// Bank 0. There is no other.
    pub constants: Vec<u8>,
    /// Global memory.
    pub buffers: Buffers<'a>,
    /// Of the item that runs.
    pub local: Vec<u8>,
}

impl Memory<'_> {
    /// Fills `out` from an address.
    pub fn load(&self, space: Space, address: u64, out: &mut [u8]) -> Result<(), TrapKind> {
        let count = out.len();
        check_aligned(Access::Load, space, address, count)?;
        let held = match space {
            Space::Constant(0) => range(&self.constants, address, count),
            Space::Constant(_) | Space::Shared => None,
            Space::Local => range(&self.local, address, count),
            Space::Global => self.buffers.get(address, count),
        };
        match held {
            Some(bytes) => {
                out.copy_from_slice(bytes);
                Ok(())
            }
            None => Err(self.refusal(Access::Load, space, address, count)),
        }
    }

    /// Writes `data` to an address.
    pub fn store(&mut self, space: Space, address: u64, data: &[u8]) -> Result<(), TrapKind> {
        let count = data.len();
        check_aligned(Access::Store, space, address, count)?;
        let held = match space {
            // No instruction stores there.
            Space::Constant(_) | Space::Shared => None,
            Space::Local => range_mut(&mut self.local, address, count),
            Space::Global => self.buffers.get_mut(address, count),
        };
        match held {
            Some(bytes) => {
                bytes.copy_from_slice(data);
                Ok(())
            }
            None => Err(self.refusal(Access::Store, space, address, count)),
        }
    }

    /// Why an access that native code did not make cannot be made.
    #[cfg(feature = "jit")]
    pub fn why_not(&self, access: Access, space: Space, address: u64, count: usize) -> TrapKind {
        match check_aligned(access, space, address, count) {
            Ok(()) => self.refusal(access, space, address, count),
            Err(kind) => kind,
        }
    }

    #[cold]
    fn refusal(&self, access: Access, space: Space, address: u64, count: usize) -> TrapKind {
        match space {
            Space::Global => self.buffers.refusal(access, address, count),
            _ => TrapKind::OutOfBounds { access, space, address, bytes: count as u32, near: None },
        }
    }
}

/// An access's size is a power of two, and its address a multiple of it.
fn check_aligned(access: Access, space: Space, address: u64, count: usize) -> Result<(), TrapKind> {
    if address.is_multiple_of(count as u64) {
        Ok(())
    } else {
        Err(TrapKind::Misaligned { access, space, address, bytes: count as u32 })
    }
}
