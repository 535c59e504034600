//! Events, which record points in time in the work of a stream.

use std::ffi::{c_uint, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::context::{self, Context};
use crate::entry::{enter, write_out};
use crate::init::initialised;
use crate::registry::Registry;
use crate::status::{Result, Status};
use crate::stream;

/// Flags of an event.
mod flags {
    use std::ffi::c_uint;

    /// A thread that waits for the event sleeps.
    pub(super) const BLOCKING_SYNC: c_uint = 1;
    /// The event does not record the time.
    pub(super) const DISABLE_TIMING: c_uint = 2;
    /// Other processes can use the event, which must not record the time.
    pub(super) const INTERPROCESS: c_uint = 4;
}

/// The events that programs have created.
static EVENTS: Registry<Event> = Registry::new();

/// An event.
struct Event {
    context: Arc<Context>,
    /// Identifier of the context. The identifier of a primary context can change.
    owner: u64,
    flags: c_uint,
    /// Time of the last record, if any.
    recorded: Mutex<Option<Instant>>,
}

impl Event {
    fn recorded(&self) -> MutexGuard<'_, Option<Instant>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time of the last record, or an error if there is none.
    fn time(&self) -> Result<Instant> {
        let time = if self.flags & flags::DISABLE_TIMING == 0 { *self.recorded() } else { None };
        time.ok_or(Status::INVALID_HANDLE)
    }
}

/// Returns the event with the given handle.
fn find(event: *mut c_void) -> Result<Arc<Event>> {
    initialised()?;
    EVENTS.get(event).ok_or(Status::INVALID_HANDLE)
}

/// Checks the handle of an event.
pub fn checked(event: *mut c_void) -> Result<()> {
    find(event).map(drop)
}

/// Destroys all events of a context.
pub fn destroy_all(context: u64) {
    EVENTS.retain(|event| event.owner != context);
}

/// Checks the flags of an event, and returns them.
fn checked_flags(flags: c_uint) -> Result<c_uint> {
    let known = flags::BLOCKING_SYNC | flags::DISABLE_TIMING | flags::INTERPROCESS;
    let is_timed_interprocess = flags & (flags::DISABLE_TIMING | flags::INTERPROCESS) == flags::INTERPROCESS;
    if flags & !known != 0 || is_timed_interprocess { Err(Status::INVALID_VALUE) } else { Ok(flags) }
}

/// Returns the time from `start` to `end` in milliseconds, which is negative if `end` is earlier.
fn milliseconds(start: Instant, end: Instant) -> f32 {
    let later = end.saturating_duration_since(start).as_secs_f64();
    let earlier = start.saturating_duration_since(end).as_secs_f64();
    ((later - earlier) * 1e3) as f32
}

/// Records the current time in an event. The event and the stream must belong to the same context.
pub fn record(event: *mut c_void, stream: *mut c_void) -> Result<()> {
    let event = find(event)?;
    if !Arc::ptr_eq(&stream::usable(stream)?, &event.context) {
        return Err(Status::INVALID_HANDLE);
    }
    *event.recorded() = Some(Instant::now());
    Ok(())
}

/// Creates an event in the current context.
///
/// # Safety
/// `event` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut *mut c_void, flags: c_uint) -> Status {
    enter("cuEventCreate", || {
        let context = context::usable()?;
        let flags = checked_flags(flags)?;
        if event.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let handle = EVENTS.insert(Event { owner: context.id(), context, flags, recorded: Mutex::new(None) });
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(event, handle) }
    })
}

/// Destroys an event.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventDestroy_v2(event: *mut c_void) -> Status {
    enter("cuEventDestroy_v2", || {
        initialised()?;
        EVENTS.remove(event).ok_or(Status::INVALID_HANDLE)?.context.check()
    })
}

/// Records the current time in an event. The work of the stream is complete.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(event: *mut c_void, stream: *mut c_void) -> Status {
    enter("cuEventRecord", || record(event, stream))
}

/// Records the current time in an event. `flags` must be 0.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecordWithFlags(event: *mut c_void, stream: *mut c_void, flags: c_uint) -> Status {
    enter("cuEventRecordWithFlags", || {
        // The only flag is for stream captures.
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        record(event, stream)
    })
}

/// Reports that an event is complete, or returns the sticky error of its context.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventQuery(event: *mut c_void) -> Status {
    enter("cuEventQuery", || find(event)?.context.check())
}

/// Returns the sticky error of an event's context. The event is complete.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventSynchronize(event: *mut c_void) -> Status {
    enter("cuEventSynchronize", || find(event)?.context.check())
}

/// Stores the time between two events in milliseconds.
///
/// # Safety
/// `elapsed` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime_v2(elapsed: *mut f32, start: *mut c_void, end: *mut c_void) -> Status {
    enter("cuEventElapsedTime_v2", || {
        let (start, end) = (find(start)?.time()?, find(end)?.time()?);
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(elapsed, milliseconds(start, end)) }
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn events_of_several_processes_have_no_time() {
        for flags in [0, 1, 2, 3, 6, 7] {
            assert_eq!(checked_flags(flags), Ok(flags));
        }
        for flags in [4, 5, 8, c_uint::MAX] {
            assert_eq!(checked_flags(flags), Err(Status::INVALID_VALUE));
        }
    }

    #[test]
    fn times_are_in_milliseconds() {
        let start = Instant::now();
        let end = start + Duration::from_micros(1500);
        assert_eq!((milliseconds(start, end), milliseconds(end, start)), (1.5, -1.5));
        assert_eq!(milliseconds(start, start), 0.0);
    }

    #[test]
    fn only_a_recorded_event_has_a_time() {
        let context = Context::register(0, 0, false);
        let event = |flags, recorded| {
            let (context, owner, recorded) = (context.clone(), context.id(), Mutex::new(recorded));
            Event { context, owner, flags, recorded }
        };
        let now = Instant::now();
        assert_eq!(event(0, Some(now)).time(), Ok(now));
        assert_eq!(event(0, None).time(), Err(Status::INVALID_HANDLE));
        assert_eq!(event(flags::DISABLE_TIMING, Some(now)).time(), Err(Status::INVALID_HANDLE));
    }
}
