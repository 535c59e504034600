//! Primary contexts: one for each device, shared by all parts of a program. A primary context is alive while it is
//! retained, until a reset.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use crate::context::Context;
use crate::device;
use crate::entry::{enter, write_out};
use crate::status::{Result, Status};

/// Runs `body` on the primary context of a device. Calls for primary contexts exclude each other.
fn with_primary<T>(device: c_int, body: impl FnOnce(&Context) -> Result<T>) -> Result<T> {
    static CONTEXTS: Mutex<BTreeMap<c_int, Arc<Context>>> = Mutex::new(BTreeMap::new());
    let device = device::checked(device)?;
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    body(contexts.entry(device).or_insert_with(|| Context::register(device, 0, true)))
}

/// Retains the primary context of a device, and returns its handle.
pub fn retain(device: c_int) -> Result<*mut c_void> {
    with_primary(device, |context| {
        context.uses.fetch_add(1, Ordering::AcqRel);
        context.revive();
        Ok(context.handle())
    })
}

/// Releases the primary context of a device. The context ends when its last use is released.
pub fn release(device: c_int) -> Result<()> {
    with_primary(device, |context| {
        let uses = context.uses.load(Ordering::Acquire).checked_sub(1).ok_or(Status::INVALID_CONTEXT)?;
        context.uses.store(uses, Ordering::Release);
        if uses == 0 {
            context.end();
        }
        Ok(())
    })
}

/// Retains the primary context of a device, and stores its handle.
///
/// # Safety
/// `context` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) -> Status {
    enter("cuDevicePrimaryCtxRetain", || {
        device::checked(device)?;
        if context.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(context, retain(device)?) }
    })
}

/// Releases the primary context of a device.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> Status {
    enter("cuDevicePrimaryCtxRelease_v2", || release(device))
}

/// Frees all resources of the primary context of a device, and clears its sticky error. The next retain makes the
/// context alive again. The use count stays unchanged, so earlier uses must still be released.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxReset_v2(device: c_int) -> Status {
    enter("cuDevicePrimaryCtxReset_v2", || {
        with_primary(device, |context| {
            context.end();
            Ok(())
        })
    })
}

/// Stores the flags of the primary context of a device, and whether the context is alive.
///
/// # Safety
/// `flags` and `is_active` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxGetState(
    device: c_int,
    flags: *mut c_uint,
    is_active: *mut c_int,
) -> Status {
    enter("cuDevicePrimaryCtxGetState", || {
        let (set, is_alive) = with_primary(device, |context| Ok((context.flags(), context.is_alive())))?;
        // SAFETY: the caller upholds this function's contract.
        unsafe {
            write_out(flags, set)?;
            write_out(is_active, c_int::from(is_alive))
        }
    })
}

/// Sets the flags of the primary context of a device, which have no effect.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: c_uint) -> Status {
    enter("cuDevicePrimaryCtxSetFlags_v2", || with_primary(device, |context| context.set_flags(flags)))
}
