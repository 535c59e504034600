//! Operations of streams on memory: waits for a value, writes of a value, and the association of managed memory.

use std::ffi::{c_uint, c_void};
use std::ptr::with_exposed_provenance_mut;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::entry::enter;
use crate::memory::{self, MemoryKind};
use crate::status::{Result, Status};
use crate::stream::usable;

/// Longest time that a stream waits for another thread to write a value. The wait blocks the calling thread, so the
/// wait never sees a value that this thread would write later.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Time between two checks of a value.
const POLL_INTERVAL: Duration = Duration::from_micros(50);

/// Flag of a wait that makes remote writes visible. Host memory needs no such operation.
const FLUSH: c_uint = 1 << 30;

/// Size of a value in memory.
#[derive(Clone, Copy)]
enum Width {
    Bits32 = 32,
    Bits64 = 64,
}

impl Width {
    /// Returns the size in bytes.
    fn bytes(self) -> u64 {
        self as u64 / 8
    }
}

/// Condition of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Condition {
    /// The signed difference of memory and value is at least 0.
    AtLeast,
    /// Memory and value are equal.
    Equal,
    /// Memory and value have a common bit.
    CommonBit,
    /// A bit is clear in both memory and value.
    ClearBit,
}

impl Condition {
    /// Returns the condition that the flags of a wait select, or `None` if the flags are invalid.
    fn of_flags(flags: c_uint) -> Option<Condition> {
        Some(match flags & !FLUSH {
            0 => Condition::AtLeast,
            1 => Condition::Equal,
            2 => Condition::CommonBit,
            3 => Condition::ClearBit,
            _ => return None,
        })
    }

    /// Returns `true` if the condition holds for a value in memory and the value of the wait.
    fn holds(self, memory: u64, value: u64, width: Width) -> bool {
        let unused_bits = 64 - width as u32;
        match self {
            Condition::AtLeast => (memory.wrapping_sub(value) << unused_bits).cast_signed() >= 0,
            Condition::Equal => memory == value,
            Condition::CommonBit => memory & value != 0,
            Condition::ClearBit => !(memory | value) << unused_bits != 0,
        }
    }
}

/// Checks that an address is aligned to the width of the value, and that the value lies in an allocation.
fn checked(address: u64, width: Width) -> Result<usize> {
    if !address.is_multiple_of(width.bytes()) {
        return Err(Status::INVALID_VALUE);
    }
    memory::checked(address, width.bytes())?;
    usize::try_from(address).map_err(|_| Status::INVALID_VALUE)
}

/// Reads a value from an allocation.
fn read(address: u64, width: Width) -> Result<u64> {
    let address = checked(address, width)?;
    Ok(match width {
        Width::Bits32 => {
            // SAFETY: the value is aligned and lies in an allocation, which the program must not free meanwhile.
            let value = unsafe { AtomicU32::from_ptr(with_exposed_provenance_mut(address)) };
            value.load(Ordering::Acquire).into()
        }
        Width::Bits64 => {
            // SAFETY: as above.
            let value = unsafe { AtomicU64::from_ptr(with_exposed_provenance_mut(address)) };
            value.load(Ordering::Acquire)
        }
    })
}

/// Waits until a value in memory satisfies the condition of the flags. Only another thread can change the value.
fn wait(stream: *mut c_void, address: u64, value: u64, flags: c_uint, width: Width) -> Result<()> {
    usable(stream)?;
    let condition = Condition::of_flags(flags).ok_or(Status::INVALID_VALUE)?;
    let start = Instant::now();
    while !condition.holds(read(address, width)?, value, width) {
        if start.elapsed() > LONGEST_WAIT {
            return Err(Status::TIMEOUT);
        }
        sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// Checks the arguments of a write, and returns the address.
fn writable(stream: *mut c_void, address: u64, flags: c_uint, width: Width) -> Result<usize> {
    /// Flag of a write that may be executed before earlier writes. The flag has no effect, because all writes are
    /// executed in order.
    const NO_MEMORY_BARRIER: c_uint = 1;
    usable(stream)?;
    if flags & !NO_MEMORY_BARRIER != 0 {
        return Err(Status::INVALID_VALUE);
    }
    checked(address, width)
}

/// Makes a stream wait for a value of 32 bits.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitValue32_v2(stream: *mut c_void, address: u64, value: u32, flags: c_uint) -> Status {
    enter("cuStreamWaitValue32_v2", || wait(stream, address, value.into(), flags, Width::Bits32))
}

/// Makes a stream wait for a value of 64 bits.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitValue64_v2(stream: *mut c_void, address: u64, value: u64, flags: c_uint) -> Status {
    enter("cuStreamWaitValue64_v2", || wait(stream, address, value, flags, Width::Bits64))
}

/// Writes a value of 32 bits.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWriteValue32_v2(stream: *mut c_void, address: u64, value: u32, flags: c_uint) -> Status {
    enter("cuStreamWriteValue32_v2", || {
        let address = writable(stream, address, flags, Width::Bits32)?;
        // SAFETY: the value is aligned and lies in an allocation, which the program must not free meanwhile.
        unsafe { AtomicU32::from_ptr(with_exposed_provenance_mut(address)) }.store(value, Ordering::Release);
        memory::initialise(address as u64, Width::Bits32.bytes());
        Ok(())
    })
}

/// Writes a value of 64 bits.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWriteValue64_v2(stream: *mut c_void, address: u64, value: u64, flags: c_uint) -> Status {
    enter("cuStreamWriteValue64_v2", || {
        let address = writable(stream, address, flags, Width::Bits64)?;
        // SAFETY: the value is aligned and lies in an allocation, which the program must not free meanwhile.
        unsafe { AtomicU64::from_ptr(with_exposed_provenance_mut(address)) }.store(value, Ordering::Release);
        memory::initialise(address as u64, Width::Bits64.bytes());
        Ok(())
    })
}

/// Associates an allocation of managed memory with a stream, which has no effect. `bytes` is the size of the
/// allocation, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamAttachMemAsync(stream: *mut c_void, address: u64, bytes: usize, flags: c_uint) -> Status {
    const GLOBAL: c_uint = 1;
    const HOST: c_uint = 2;
    const SINGLE: c_uint = 4;
    enter("cuStreamAttachMemAsync", || {
        usable(stream)?;
        let is_association = match flags {
            GLOBAL | HOST => true,
            // The null stream is not a single stream.
            SINGLE => !stream.is_null(),
            _ => false,
        };
        let block = memory::find(address).filter(|block| matches!(block.kind, MemoryKind::Managed));
        let is_whole = block.is_some_and(|block| block.start == address && [0, block.bytes].contains(&(bytes as u64)));
        if is_association && is_whole { Ok(()) } else { Err(Status::INVALID_VALUE) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_select_a_condition() {
        assert_eq!(Condition::of_flags(0), Some(Condition::AtLeast));
        assert_eq!(Condition::of_flags(FLUSH | 3), Some(Condition::ClearBit));
        assert_eq!((Condition::of_flags(4), Condition::of_flags(1 << 31)), (None, None));
    }

    #[test]
    fn comparisons_are_cyclic() {
        let at_least = |memory, value, width| Condition::AtLeast.holds(memory, value, width);
        let last = u64::from(u32::MAX);
        assert!(at_least(5, 5, Width::Bits32) && at_least(6, 5, Width::Bits64));
        assert!(!at_least(4, 5, Width::Bits32) && !at_least(4, 5, Width::Bits64));
        assert!(at_least(2, last, Width::Bits32) && !at_least(2, last, Width::Bits64));
        assert!(at_least(2, u64::MAX, Width::Bits64));
    }

    #[test]
    fn bits_beyond_the_width_do_not_count() {
        let (value, other) = (0x8000_0000, u64::from(u32::MAX));
        assert!(Condition::CommonBit.holds(value, other, Width::Bits32));
        assert!(!Condition::CommonBit.holds(value, 1, Width::Bits32));
        assert!(!Condition::ClearBit.holds(value, other, Width::Bits32));
        assert!(Condition::ClearBit.holds(value, other, Width::Bits64));
        assert!(Condition::ClearBit.holds(value, 1, Width::Bits32));
        assert!(Condition::Equal.holds(value, value, Width::Bits32));
    }
}
