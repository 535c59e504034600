//! The memories that a work item reaches, and the checks on every access.

use halfbyte_isa::abi;

use crate::trap::{Access, Near, Space, TrapKind};

/// A buffer of the launch.
pub(crate) struct Buffer<'a> {
    /// The parameter's name.
    pub name: &'a str,
    /// Its contents.
    pub bytes: Bytes<'a>,
}

/// The contents of a buffer, writable or not.
pub(crate) enum Bytes<'a> {
    ReadOnly(&'a [u8]),
    Mutable(&'a mut [u8]),
}

impl Bytes<'_> {
    pub fn get(&self) -> &[u8] {
        match self {
            Bytes::ReadOnly(bytes) => bytes,
            Bytes::Mutable(bytes) => bytes,
        }
    }
}

/// All memory of a launch.
pub(crate) struct Memory<'a> {
    /// Bank 0. There is no other.
    pub constants: Vec<u8>,
    /// By parameter; `None` for a scalar.
    pub buffers: Vec<Option<Buffer<'a>>>,
    /// Of the item that runs.
    pub local: Vec<u8>,
}

impl<'a> Memory<'a> {
    /// The buffer that a global address belongs to, and the offset in it, within its size or not.
    fn buffer(&self, address: u64) -> Option<(&Buffer<'a>, u64)> {
        let (param, offset) = abi::buffer_of(address)?;
        Some((self.buffers.get(param)?.as_ref()?, offset))
    }

    fn buffer_mut(&mut self, address: u64) -> Option<(&mut Buffer<'a>, u64)> {
        let (param, offset) = abi::buffer_of(address)?;
        Some((self.buffers.get_mut(param)?.as_mut()?, offset))
    }

    /// Fills `out` from an address.
    pub fn load(&self, space: Space, address: u64, out: &mut [u8]) -> Result<(), TrapKind> {
        let count = out.len();
        check_aligned(Access::Load, space, address, count)?;
        let held = match space {
            Space::Constant(0) => range(&self.constants, address, count),
            Space::Constant(_) => None,
            Space::Local => range(&self.local, address, count),
            Space::Global => {
                let buffer = self.buffer(address);
                buffer.and_then(|(buffer, offset)| range(buffer.bytes.get(), offset, count))
            }
        };
        match held {
            Some(bytes) => {
                out.copy_from_slice(bytes);
                Ok(())
            }
            None => Err(self.out_of_bounds(Access::Load, space, address, count)),
        }
    }

    /// Writes `data` to an address.
    pub fn store(&mut self, space: Space, address: u64, data: &[u8]) -> Result<(), TrapKind> {
        let count = data.len();
        check_aligned(Access::Store, space, address, count)?;
        let held = match space {
            // No instruction stores there.
            Space::Constant(_) => None,
            Space::Local => range_mut(&mut self.local, address, count),
            Space::Global => match self.buffer_mut(address) {
                Some((Buffer { bytes: Bytes::Mutable(bytes), .. }, offset)) => range_mut(bytes, offset, count),
                Some((Buffer { bytes: Bytes::ReadOnly(bytes), name }, offset)) => {
                    if range(bytes, offset, count).is_some() {
                        let buffer = (*name).to_owned();
                        return Err(TrapKind::ReadOnly { address, bytes: count as u32, buffer });
                    }
                    None
                }
                None => None,
            },
        };
        match held {
            Some(bytes) => {
                bytes.copy_from_slice(data);
                Ok(())
            }
            None => Err(self.out_of_bounds(Access::Store, space, address, count)),
        }
    }

    #[cold]
    fn out_of_bounds(&self, access: Access, space: Space, address: u64, count: usize) -> TrapKind {
        let buffer = self.buffer(address).filter(|_| space == Space::Global);
        let near = buffer.map(|(buffer, offset)| {
            let size = buffer.bytes.get().len() as u64;
            Near { buffer: buffer.name.to_owned(), offset, size }
        });
        TrapKind::OutOfBounds { access, space, address, bytes: count as u32, near }
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

fn range(bytes: &[u8], start: u64, count: usize) -> Option<&[u8]> {
    let start = usize::try_from(start).ok()?;
    bytes.get(start..start.checked_add(count)?)
}

fn range_mut(bytes: &mut [u8], start: u64, count: usize) -> Option<&mut [u8]> {
    let start = usize::try_from(start).ok()?;
    bytes.get_mut(start..start.checked_add(count)?)
}
