//! Limits and preferences of a context. Programs can set and read them, but only the limit of the heap has an effect.

use std::ffi::{c_int, c_uint};

use crate::context::{Context, current};
use crate::entry::{enter, write_out};
use crate::settings::{Settings, settings};
use crate::status::{Result, Status};

/// Numbers of limits.
mod limit {
    use std::ffi::c_uint;

    /// Bytes of the stack of a thread.
    pub(super) const STACK: c_uint = 0;
    /// Bytes of the buffer of `printf`.
    pub(super) const PRINTF: c_uint = 1;
    /// Bytes of the heap of `malloc`.
    pub(super) const HEAP: c_uint = 2;
    /// Maximum nesting depth of grids that wait for their child grids.
    pub(super) const SYNC_DEPTH: c_uint = 3;
    /// Maximum number of pending device-side launches.
    pub(super) const PENDING_LAUNCHES: c_uint = 4;
    /// Largest number of bytes that the second-level cache fetches at once.
    pub(super) const FETCH_GRANULARITY: c_uint = 5;
    /// Bytes of the second-level cache for persisting lines.
    pub(super) const PERSISTING_CACHE: c_uint = 6;
}

/// Largest fetch granularity in bytes.
const MAX_FETCH_GRANULARITY: usize = 128;

/// First compute capability without waits for child grids.
const SM_WITHOUT_SYNC_DEPTH: u32 = 90;

/// Number of the last preference for the cache.
const LAST_CACHE: c_uint = 3;
/// Number of the last preference for the banks of shared memory.
const LAST_BANKS: c_uint = 2;

/// Lowest priority of a stream. A smaller number is a higher priority.
pub const LEAST_PRIORITY: c_int = 0;
/// Highest priority of a stream.
pub const GREATEST_PRIORITY: c_int = -5;

/// Limits and preferences of a context, except the limit of the heap.
#[derive(Debug)]
pub struct Limits {
    stack: usize,
    printf: usize,
    sync_depth: usize,
    pending_launches: usize,
    fetch_granularity: usize,
    persisting_cache: usize,
    /// Preferred division of the first-level cache and shared memory, a `CUfunc_cache`.
    cache: c_uint,
    /// Preferred bank size of shared memory, a `CUsharedconfig`.
    banks: c_uint,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            stack: 1 << 10,
            printf: 1 << 20,
            sync_depth: 2,
            pending_launches: 2048,
            fetch_granularity: 64,
            persisting_cache: 0,
            cache: 0,
            banks: 0,
        }
    }
}

impl Limits {
    /// Returns the limit with the given number, if compute capability `sm` has this limit.
    fn limit(&mut self, number: c_uint, sm: u32) -> Result<&mut usize> {
        Ok(match number {
            limit::STACK => &mut self.stack,
            limit::PRINTF => &mut self.printf,
            limit::SYNC_DEPTH if sm < SM_WITHOUT_SYNC_DEPTH => &mut self.sync_depth,
            limit::PENDING_LAUNCHES => &mut self.pending_launches,
            limit::FETCH_GRANULARITY => &mut self.fetch_granularity,
            limit::PERSISTING_CACHE => &mut self.persisting_cache,
            _ => return Err(Status::UNSUPPORTED_LIMIT),
        })
    }

    /// Sets the limit with the given number. A value that is too large is clamped.
    fn set(&mut self, number: c_uint, value: usize, sm: u32) -> Result<()> {
        let most = match number {
            limit::FETCH_GRANULARITY => MAX_FETCH_GRANULARITY,
            // The device has no persisting cache lines.
            limit::PERSISTING_CACHE => 0,
            _ => usize::MAX,
        };
        *self.limit(number, sm)? = value.min(most);
        Ok(())
    }
}

/// Returns limit `number` of a context, if compute capability `sm` has this limit.
fn limit_of(context: &Context, number: c_uint, sm: u32) -> Result<usize> {
    match number {
        limit::HEAP => Ok(context.heap.limit() as usize),
        _ => context.limits().limit(number, sm).copied(),
    }
}

/// Sets limit `number` of a context. The limit of the heap is clamped to the device memory, and cannot change after the
/// first call of `malloc` or `free` in a kernel.
fn set_limit(context: &Context, number: c_uint, value: usize, &Settings { sm, memory, .. }: &Settings) -> Result<()> {
    match number {
        limit::HEAP if context.heap.set_limit(memory.min(value as u64)) => Ok(()),
        limit::HEAP => Err(Status::INVALID_VALUE),
        _ => context.limits().set(number, value, sm),
    }
}

/// Checks that a preference is one of the numbers from 0 to `last`, and returns it.
fn preference(value: c_uint, last: c_uint) -> Result<c_uint> {
    if value <= last { Ok(value) } else { Err(Status::INVALID_VALUE) }
}

/// Stores a limit of the current context.
///
/// # Safety
/// `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetLimit(value: *mut usize, limit: c_uint) -> Status {
    enter("cuCtxGetLimit", || {
        let context = current()?;
        let limit = limit_of(&context, limit, settings().sm)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(value, limit) }
    })
}

/// Sets a limit of the current context.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetLimit(limit: c_uint, value: usize) -> Status {
    enter("cuCtxSetLimit", || {
        let context = current()?;
        set_limit(&context, limit, value, settings())
    })
}

/// Stores the cache preference of the current context.
///
/// # Safety
/// `preference` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCacheConfig(preference: *mut c_uint) -> Status {
    enter("cuCtxGetCacheConfig", || {
        let cache = current()?.limits().cache;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(preference, cache) }
    })
}

/// Sets the cache preference of the current context.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCacheConfig(value: c_uint) -> Status {
    enter("cuCtxSetCacheConfig", || {
        current()?.limits().cache = preference(value, LAST_CACHE)?;
        Ok(())
    })
}

/// Stores the preferred bank size of shared memory in the current context.
///
/// # Safety
/// `preference` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetSharedMemConfig(preference: *mut c_uint) -> Status {
    enter("cuCtxGetSharedMemConfig", || {
        let banks = current()?.limits().banks;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(preference, banks) }
    })
}

/// Sets the preferred bank size of shared memory in the current context.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetSharedMemConfig(value: c_uint) -> Status {
    enter("cuCtxSetSharedMemConfig", || {
        current()?.limits().banks = preference(value, LAST_BANKS)?;
        Ok(())
    })
}

/// Stores the range of stream priorities. Each of the two pointers may be null.
///
/// # Safety
/// `least` and `greatest` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) -> Status {
    enter("cuCtxGetStreamPriorityRange", || {
        current()?;
        for (to, priority) in [(least, LEAST_PRIORITY), (greatest, GREATEST_PRIORITY)] {
            if !to.is_null() {
                // SAFETY: the pointer is not null, so it is valid for a write by contract.
                unsafe { to.write(priority) };
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_the_defaults_of_a_gpu() {
        let context = Context::register(0, 0, false);
        let limit = |number| limit_of(&context, number, 80);
        assert_eq!([limit(0), limit(1), limit(2)], [Ok(1024), Ok(1 << 20), Ok(8 << 20)]);
        assert_eq!([limit(3), limit(4), limit(5), limit(6)], [Ok(2), Ok(2048), Ok(64), Ok(0)]);
        for number in [7, 11, c_uint::MAX] {
            assert_eq!(limit(number), Err(Status::UNSUPPORTED_LIMIT));
        }
    }

    #[test]
    fn limits_are_kept_within_their_range() {
        let context = Context::register(0, 0, false);
        let settings = Settings { memory: 1 << 30, ..Settings::default() };
        for (number, value, kept) in [
            (0, 5000, 5000),
            (2, 100, 100),
            (2, usize::MAX, 1 << 30),
            (3, 24, 24),
            (5, 32, 32),
            (5, 500, 128),
            (6, 1 << 20, 0),
        ] {
            assert_eq!(set_limit(&context, number, value, &settings), Ok(()));
            assert_eq!(limit_of(&context, number, 80), Ok(kept));
        }
        assert_eq!(set_limit(&context, 7, 1, &settings), Err(Status::UNSUPPORTED_LIMIT));
        assert!(context.end());
        assert_eq!(limit_of(&context, 2, 80), Ok(8 << 20));
    }

    #[test]
    fn new_devices_have_no_synchronisation_depth() {
        let mut limits = Limits::default();
        assert_eq!(limits.limit(3, 90).copied(), Err(Status::UNSUPPORTED_LIMIT));
        assert_eq!(limits.set(3, 4, 90), Err(Status::UNSUPPORTED_LIMIT));
    }

    #[test]
    fn preferences_are_in_range() {
        assert_eq!(preference(LAST_CACHE, LAST_CACHE), Ok(3));
        assert_eq!(preference(LAST_BANKS + 1, LAST_BANKS), Err(Status::INVALID_VALUE));
    }
}
