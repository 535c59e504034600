//! The buffers of a launch, at the virtual addresses by which kernels access them.

use crate::object::PartialAccess;
use halfbyte_abi::{self as abi, Direction};
use smallvec::SmallVec;

use crate::trap::{Access, Near, Space, TrapKind};

/// A buffer of a launch.
#[derive(Debug)]
pub struct Buffer<'a> {
    /// The parameter's name.
    pub name: &'a str,
    /// The kernel's access: read, write or both.
    pub direction: Direction,
    /// The contents of the buffer.
    pub bytes: Bytes<'a>,
}

/// The contents of a buffer, borrowed from the caller of the launch.
#[derive(Debug)]
pub enum Bytes<'a> {
    /// A read-only slice, for an `in` buffer.
    Shared(&'a [u8]),
    /// A writable slice, for a buffer of any direction.
    Mutable(&'a mut [u8]),
}

impl Buffer<'_> {
    /// Returns the contents of the buffer.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Shared(bytes) => bytes,
            Bytes::Mutable(bytes) => bytes,
        }
    }

    /// Returns the contents of the buffer for writing, or `None` if the kernel must not write the
    /// buffer.
    pub fn written(&mut self) -> Option<&mut [u8]> {
        match &mut self.bytes {
            Bytes::Mutable(bytes) if self.direction != Direction::In => Some(bytes),
            _ => None,
        }
    }

    /// Returns `true` if the kernel may write the buffer.
    pub fn is_written(&self) -> bool {
        self.direction != Direction::In && matches!(self.bytes, Bytes::Mutable(_))
    }
}

/// A buffer that a launch overwrites completely and never reads, so that filling it with zeros can be skipped.
#[derive(Clone, Copy, Debug)]
pub struct OverwrittenBuffer {
    /// Index of the buffer's parameter.
    pub buffer: usize,
    /// Number of bytes that each item writes, directly after the bytes of the previous item.
    pub bytes: u32,
}

impl OverwrittenBuffer {
    /// Returns `true` if `items` work items overwrite the whole contents of the `out` buffer `held`.
    pub fn is_whole(&self, held: &Buffer<'_>, items: u32) -> bool {
        let bytes = u64::from(items) * u64::from(self.bytes);
        held.direction == Direction::Out && held.is_written() && held.bytes().len() as u64 == bytes
    }
}

/// All overwritten buffers of a launch.
pub type OverwrittenBuffers = SmallVec<[OverwrittenBuffer; 4]>;

/// All buffers of a launch, indexed by parameter; `None` for a scalar.
#[derive(Debug, Default)]
pub struct Buffers<'a>(pub Vec<Option<Buffer<'a>>>);

impl<'a> Buffers<'a> {
    /// Fills `out` buffers with zeros, as required at the start of a launch.
    pub fn zero_out_buffers(&mut self) {
        self.zero_out_buffers_except(&[]);
    }

    /// Fills `out` buffers with zeros, except those that the launch overwrites completely.
    pub fn zero_out_buffers_except(&mut self, covered: &[OverwrittenBuffer]) {
        for (number, buffer) in self.0.iter_mut().enumerate() {
            if let Some(buffer) = buffer
                && buffer.direction == Direction::Out
                && !covered.iter().any(|covered| covered.buffer == number)
                && let Some(bytes) = buffer.written()
            {
                bytes.fill(0);
            }
        }
    }

    /// Fills with zeros the bytes of overwritten buffers that `item` and later items would have
    /// written. A launch that ended early did not reach these items.
    pub fn zero_unwritten_items(&mut self, covered: &[OverwrittenBuffer], item: u32) {
        for &OverwrittenBuffer { buffer, bytes } in covered {
            let place = self.0.get_mut(buffer).and_then(Option::as_mut).and_then(Buffer::written);
            let done = usize::try_from(u64::from(item) * u64::from(bytes));
            if let (Some(place), Ok(done)) = (place, done)
                && let Some(rest) = place.get_mut(done..)
            {
                rest.fill(0);
            }
        }
    }

    /// Returns the buffer that contains an address, and the address's offset from the buffer's
    /// start in bytes. The offset may exceed the buffer's size.
    fn at(&self, address: u64) -> Option<(&Buffer<'a>, u64)> {
        let (param, offset) = abi::buffer_of(address)?;
        Some((self.0.get(param)?.as_ref()?, offset))
    }

    /// Returns `count` bytes at an address, if all of them lie in one buffer.
    pub fn get(&self, address: u64, count: usize) -> Option<&[u8]> {
        let (buffer, offset) = self.at(address)?;
        range(buffer.bytes(), offset, count)
    }

    /// Returns `count` bytes at an address for writing, if all of them lie in one writable buffer.
    pub fn get_mut(&mut self, address: u64, count: usize) -> Option<&mut [u8]> {
        let (param, offset) = abi::buffer_of(address)?;
        range_mut(self.0.get_mut(param)?.as_mut()?.written()?, offset, count)
    }

    /// Returns the size in bytes of the buffer that contains an address, or 0 if there is no such buffer.
    pub fn size(&self, address: u64) -> usize {
        self.at(address).map_or(0, |(buffer, _)| buffer.bytes().len())
    }

    /// Returns `true` if the access is in bounds and permitted. Alignment is not checked.
    pub fn permits(&self, access: Access, address: u64, count: usize) -> bool {
        let Some((buffer, offset)) = self.at(address) else { return false };
        range(buffer.bytes(), offset, count).is_some() && (access == Access::Load || buffer.is_written())
    }

    /// Returns the trap of one part of a merged memory access, given the trap `whole` of the merged
    /// access. Returns `None` if the part alone would be valid.
    #[cold]
    pub fn trap_of_part(&self, part: &PartialAccess, whole: &TrapKind) -> Option<TrapKind> {
        let (access, address) = match *whole {
            TrapKind::OutOfBounds { access, space: Space::Global, address, .. }
            | TrapKind::Misaligned { access, space: Space::Global, address, .. } => (access, address),
            TrapKind::ReadOnly { address, .. } => (Access::Store, address),
            _ => return None,
        };
        let (address, bytes) = (address.wrapping_add(part.offset.into()), part.bytes.into());
        if !address.is_multiple_of(bytes) {
            return Some(TrapKind::Misaligned { access, space: Space::Global, address, bytes: bytes as u32 });
        }
        let count = usize::from(part.bytes);
        (!self.permits(access, address, count)).then(|| self.trap_of_access(access, address, count))
    }

    /// Returns the trap for an access that is not permitted.
    #[cold]
    pub fn trap_of_access(&self, access: Access, address: u64, count: usize) -> TrapKind {
        let (buffer, bytes) = (self.at(address), count as u32);
        if access == Access::Store
            && let Some((buffer, offset)) = buffer
            && !buffer.is_written()
            && range(buffer.bytes(), offset, count).is_some()
        {
            return TrapKind::ReadOnly { address, bytes, buffer: buffer.name.to_owned() };
        }
        let near = abi::buffer_near(address).and_then(|(param, offset)| {
            let buffer = self.0.get(param)?.as_ref()?;
            Some(Near { buffer: buffer.name.to_owned(), offset, size: buffer.bytes().len() as u64, is_freed: false })
        });
        TrapKind::OutOfBounds { access, space: Space::Global, address, bytes, near }
    }
}

/// Returns `count` bytes from offset `start` on, if all of them exist.
pub fn range(bytes: &[u8], start: u64, count: usize) -> Option<&[u8]> {
    let start = usize::try_from(start).ok()?;
    bytes.get(start..start.checked_add(count)?)
}

/// Returns `count` bytes from offset `start` on for writing, if all of them exist.
pub fn range_mut(bytes: &mut [u8], start: u64, count: usize) -> Option<&mut [u8]> {
    let start = usize::try_from(start).ok()?;
    bytes.get_mut(start..start.checked_add(count)?)
}
