//! The buffers of a launch, at the addresses that kernels have for them.

use crate::object::Part;
use halfbyte_abi::{self as abi, Direction};
use smallvec::SmallVec;

use crate::trap::{Access, Near, Space, TrapKind};

/// A buffer of the launch.
#[derive(Debug)]
pub struct Buffer<'a> {
    /// The parameter's name.
    pub name: &'a str,
    /// Whether the kernel reads it, writes it or both.
    pub direction: Direction,
    /// Its contents.
    pub bytes: Bytes<'a>,
}

/// The contents of a buffer, as the caller has lent them.
#[derive(Debug)]
pub enum Bytes<'a> {
    /// To be read, of an `in` buffer.
    Shared(&'a [u8]),
    /// To be written, of a buffer of any direction.
    Mutable(&'a mut [u8]),
}

impl Buffer<'_> {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Shared(bytes) => bytes,
            Bytes::Mutable(bytes) => bytes,
        }
    }

    /// The bytes, where the kernel may write them.
    pub fn written(&mut self) -> Option<&mut [u8]> {
        match &mut self.bytes {
            Bytes::Mutable(bytes) if self.direction != Direction::In => Some(bytes),
            _ => None,
        }
    }

    /// Whether the kernel may write it.
    pub fn is_written(&self) -> bool {
        self.direction != Direction::In && matches!(self.bytes, Bytes::Mutable(_))
    }
}

/// A buffer of which a launch writes all and reads nothing, so that it is not made zero before.
#[derive(Clone, Copy, Debug)]
pub struct Covered {
    /// Its parameter, by number.
    pub buffer: usize,
    /// Bytes that an item writes, next to those of the item before it.
    pub bytes: u32,
}

impl Covered {
    /// Whether so many items write all of a buffer, which starts as zeros.
    pub fn is_whole(&self, held: &Buffer<'_>, items: u32) -> bool {
        let bytes = u64::from(items) * u64::from(self.bytes);
        held.direction == Direction::Out && held.is_written() && held.bytes().len() as u64 == bytes
    }
}

/// Those of a launch.
pub type AllCovered = SmallVec<[Covered; 4]>;

/// All buffers, by parameter; `None` for a scalar.
#[derive(Debug, Default)]
pub struct Buffers<'a>(pub Vec<Option<Buffer<'a>>>);

impl<'a> Buffers<'a> {
    /// Makes `out` buffers zero, as they are at the start of a launch.
    pub fn start(&mut self) {
        self.start_but(&[]);
    }

    /// The same but for those that the launch covers.
    pub fn start_but(&mut self, covered: &[Covered]) {
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

    /// Makes what a launch has not written of them zero, as if it had been before: the bytes of items from one on.
    pub fn clear_from(&mut self, covered: &[Covered], item: u32) {
        for &Covered { buffer, bytes } in covered {
            let place = self.0.get_mut(buffer).and_then(Option::as_mut).and_then(Buffer::written);
            let done = usize::try_from(u64::from(item) * u64::from(bytes));
            if let (Some(place), Ok(done)) = (place, done)
                && let Some(rest) = place.get_mut(done..)
            {
                rest.fill(0);
            }
        }
    }

    /// The buffer that an address belongs to, and the offset in it, within its size or not.
    fn at(&self, address: u64) -> Option<(&Buffer<'a>, u64)> {
        let (param, offset) = abi::buffer_of(address)?;
        Some((self.0.get(param)?.as_ref()?, offset))
    }

    /// So many bytes at an address, where all of them are in one buffer.
    pub fn get(&self, address: u64, count: usize) -> Option<&[u8]> {
        let (buffer, offset) = self.at(address)?;
        range(buffer.bytes(), offset, count)
    }

    /// The same, to be written, where the buffer may be.
    pub fn get_mut(&mut self, address: u64, count: usize) -> Option<&mut [u8]> {
        let (param, offset) = abi::buffer_of(address)?;
        range_mut(self.0.get_mut(param)?.as_mut()?.written()?, offset, count)
    }

    /// The size of the buffer that an address belongs to.
    pub fn size(&self, address: u64) -> usize {
        self.at(address).map_or(0, |(buffer, _)| buffer.bytes().len())
    }

    /// Whether bytes may be accessed, aligned or not.
    pub fn allow(&self, access: Access, address: u64, count: usize) -> bool {
        let Some((buffer, offset)) = self.at(address) else { return false };
        range(buffer.bytes(), offset, count).is_some() && (access == Access::Load || buffer.is_written())
    }

    /// Why a part of an access cannot be made, by what is known of the whole, which cannot; none where the part can.
    #[cold]
    pub fn fault_of(&self, part: &Part, whole: &TrapKind) -> Option<TrapKind> {
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
        (!self.allow(access, address, count)).then(|| self.refusal(access, address, count))
    }

    /// Why bytes may not be accessed.
    #[cold]
    pub fn refusal(&self, access: Access, address: u64, count: usize) -> TrapKind {
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
            Some(Near { buffer: buffer.name.to_owned(), offset, size: buffer.bytes().len() as u64 })
        });
        TrapKind::OutOfBounds { access, space: Space::Global, address, bytes, near }
    }
}

/// Bytes from an offset on, where all of them are there.
pub fn range(bytes: &[u8], start: u64, count: usize) -> Option<&[u8]> {
    let start = usize::try_from(start).ok()?;
    bytes.get(start..start.checked_add(count)?)
}

/// The same, to be written.
pub fn range_mut(bytes: &mut [u8], start: u64, count: usize) -> Option<&mut [u8]> {
    let start = usize::try_from(start).ok()?;
    bytes.get_mut(start..start.checked_add(count)?)
}
