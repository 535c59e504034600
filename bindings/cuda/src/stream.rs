//! Streams. Each call completes its work before it returns, so a stream never has pending work.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

use crate::context::{self, Context, current};
use crate::entry::{enter, write_out};
use crate::event;
use crate::init::initialised;
use crate::limits::{GREATEST_PRIORITY, LEAST_PRIORITY};
use crate::registry::{Registry, unique_number};
use crate::status::{Result, Status};

/// Handle of the default stream that all threads share. Null means the same.
const LEGACY: usize = 1;
/// Handle of the default stream of the calling thread.
const PER_THREAD: usize = 2;

/// Flag of a stream that does not synchronise with the legacy stream. No other flag exists.
const NON_BLOCKING: c_uint = 1;

/// The streams that programs have created.
static STREAMS: Registry<Stream> = Registry::new();

/// A stream that a program has created.
struct Stream {
    context: Arc<Context>,
    /// Identifier of the context. The identifier of a primary context can change.
    owner: u64,
    flags: c_uint,
    priority: c_int,
}

/// Returns the stream with the given handle, or `None` for a default stream.
fn created(stream: *mut c_void) -> Result<Option<Arc<Stream>>> {
    initialised()?;
    match stream.addr() {
        0 | LEGACY | PER_THREAD => Ok(None),
        _ => STREAMS.get(stream).map(Some).ok_or(Status::INVALID_HANDLE),
    }
}

/// Checks the handle of a stream.
pub fn checked(stream: *mut c_void) -> Result<()> {
    created(stream).map(drop)
}

/// Returns the context of a stream. A default stream is that of the current context.
pub fn context_of(stream: *mut c_void) -> Result<Arc<Context>> {
    created(stream)?.map_or_else(current, |stream| Ok(stream.context.clone()))
}

/// Returns the context of a stream, or its sticky error if there is one.
pub fn usable(stream: *mut c_void) -> Result<Arc<Context>> {
    let context = context_of(stream)?;
    context.check()?;
    Ok(context)
}

/// Destroys all streams of a context.
pub fn destroy_all(context: u64) {
    STREAMS.retain(|stream| stream.owner != context);
}

/// Returns a number that identifies a stream among all streams of the process.
fn id(stream: *mut c_void) -> Result<u64> {
    thread_local! {
        static THREAD: Cell<Option<usize>> = const { Cell::new(None) };
    }
    let context = context_of(stream)?.id();
    Ok(match stream.addr() {
        // The identifiers of contexts differ from the handles of streams.
        0 | LEGACY => context,
        PER_THREAD => {
            let thread = THREAD.get().unwrap_or_else(unique_number);
            THREAD.set(Some(thread));
            ((thread as u64) << 32) | context
        }
        handle => handle as u64,
    })
}

/// Creates a stream in the current context, and stores its handle. The priority is clamped.
///
/// # Safety
/// `stream` is null or valid for a write.
unsafe fn create(stream: *mut *mut c_void, flags: c_uint, priority: c_int) -> Result<()> {
    let context = context::usable()?;
    if stream.is_null() || flags & !NON_BLOCKING != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
    let handle = STREAMS.insert(Stream { owner: context.id(), context, flags, priority });
    // SAFETY: the pointer is not null, so it is valid for a write by contract.
    unsafe { stream.write(handle) };
    Ok(())
}

/// Creates a stream with the lowest priority.
///
/// # Safety
/// `stream` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut *mut c_void, flags: c_uint) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuStreamCreate", || unsafe { create(stream, flags, LEAST_PRIORITY) })
}

/// Creates a stream with a priority, which has no effect.
///
/// # Safety
/// `stream` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreateWithPriority(
    stream: *mut *mut c_void,
    flags: c_uint,
    priority: c_int,
) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuStreamCreateWithPriority", || unsafe { create(stream, flags, priority) })
}

/// Destroys a stream. The default streams cannot be destroyed.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamDestroy_v2(stream: *mut c_void) -> Status {
    enter("cuStreamDestroy_v2", || {
        initialised()?;
        STREAMS.remove(stream).ok_or(Status::INVALID_HANDLE)?.context.check()
    })
}

/// Reports that the work of a stream is complete, or returns the sticky error of its context.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamQuery(stream: *mut c_void) -> Status {
    enter("cuStreamQuery", || usable(stream).map(drop))
}

/// Returns the sticky error of a stream's context. The work of the stream is complete.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(stream: *mut c_void) -> Status {
    enter("cuStreamSynchronize", || usable(stream).map(drop))
}

/// Makes a stream wait for an event, which is already complete. `flags` must be 0.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitEvent(stream: *mut c_void, event: *mut c_void, flags: c_uint) -> Status {
    enter("cuStreamWaitEvent", || {
        usable(stream)?;
        event::checked(event)?;
        // The only flag is for stream captures.
        if flags == 0 { Ok(()) } else { Err(Status::INVALID_VALUE) }
    })
}

/// Stores the context of a stream.
///
/// # Safety
/// `context` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCtx(stream: *mut c_void, context: *mut *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuStreamGetCtx", || unsafe { write_out(context, context_of(stream)?.handle()) })
}

/// Stores the context of a stream, and null as its green context, because green contexts are not supported.
///
/// # Safety
/// `context` and `green` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCtx_v2(
    stream: *mut c_void,
    context: *mut *mut c_void,
    green: *mut *mut c_void,
) -> Status {
    enter("cuStreamGetCtx_v2", || {
        let handle = context_of(stream)?.handle();
        // SAFETY: the caller upholds this function's contract.
        unsafe {
            write_out(context, handle)?;
            write_out(green, null_mut())
        }
    })
}

/// Stores the flags of a stream.
///
/// # Safety
/// `flags` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetFlags(stream: *mut c_void, flags: *mut c_uint) -> Status {
    enter("cuStreamGetFlags", || {
        let set = created(stream)?.map_or(0, |stream| stream.flags);
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(flags, set) }
    })
}

/// Stores the priority of a stream.
///
/// # Safety
/// `priority` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetPriority(stream: *mut c_void, priority: *mut c_int) -> Status {
    enter("cuStreamGetPriority", || {
        let set = created(stream)?.map_or(LEAST_PRIORITY, |stream| stream.priority);
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(priority, set) }
    })
}

/// Stores the identifier of a stream.
///
/// # Safety
/// `identifier` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetId(stream: *mut c_void, identifier: *mut u64) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuStreamGetId", || unsafe { write_out(identifier, id(stream)?) })
}

/// Stores the device of a stream.
///
/// # Safety
/// `device` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetDevice(stream: *mut c_void, device: *mut c_int) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuStreamGetDevice", || unsafe { write_out(device, context_of(stream)?.device) })
}

/// Stores that a stream is not being captured. Captures are not supported.
///
/// # Safety
/// `state` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamIsCapturing(stream: *mut c_void, state: *mut c_uint) -> Status {
    const NOT_CAPTURING: c_uint = 0;
    enter("cuStreamIsCapturing", || {
        checked(stream)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(state, NOT_CAPTURING) }
    })
}

/// Exchanges the capture mode of the calling thread. The mode has no effect.
///
/// # Safety
/// `mode` is null, or valid for a read and a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuThreadExchangeStreamCaptureMode(mode: *mut c_uint) -> Status {
    const GLOBAL: c_uint = 0;
    const RELAXED: c_uint = 2;
    thread_local! {
        static MODE: Cell<c_uint> = const { Cell::new(GLOBAL) };
    }
    enter("cuThreadExchangeStreamCaptureMode", || {
        initialised()?;
        // SAFETY: the caller upholds this function's contract.
        let mode = unsafe { mode.as_mut() }.filter(|mode| **mode <= RELAXED).ok_or(Status::INVALID_VALUE)?;
        *mode = MODE.replace(*mode);
        Ok(())
    })
}
