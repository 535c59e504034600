//! Contexts: the owners of memory, modules, streams and events.

use std::collections::BTreeSet;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::without_provenance_mut;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halfbyte::runtime::ptx::DeviceHeap;

use crate::context_stack::{is_top, pop, push, top};
use crate::device;
use crate::entry::{enter, write_out};
use crate::init::initialised;
use crate::limits::Limits;
use crate::registry::{Registry, unique_number};
use crate::status::{Result, Status};
use crate::{event, memory, module, primary, stream};

/// All contexts of the process. A destroyed context stays registered, so that a use of its handle is reported as a use
/// of a destroyed context.
static CONTEXTS: Registry<Context> = Registry::new();

/// Flags of a context.
mod flags {
    use std::ffi::c_uint;

    /// All flags.
    pub(super) const ALL: c_uint = 0xff;
    /// Mask of the scheduling policy.
    pub(super) const POLICY: c_uint = 7;
    /// Scheduling policies: automatic, spin, yield, and blocking synchronisation.
    pub(super) const POLICIES: [c_uint; 4] = [0, 1, 2, 4];
}

/// Version of the interface that contexts implement. Later versions of the driver have not changed it.
const API_VERSION: c_uint = 3020;

/// A context.
pub struct Context {
    /// Device of the context.
    pub device: c_int,
    /// `true` for the primary context of the device, which can be retained again after it has ended.
    pub is_primary: bool,
    handle: usize,
    /// Identifier of the context. A primary context gets a new identifier when it ends, so that its earlier objects
    /// become invalid.
    id: AtomicU64,
    is_alive: AtomicBool,
    /// Reference count. The context ends when the count becomes 0.
    pub uses: AtomicU32,
    flags: AtomicU32,
    /// The sticky error, or [`Status::SUCCESS`].
    error: AtomicU32,
    limits: Mutex<Limits>,
    /// The heap of `malloc` in kernels.
    pub heap: DeviceHeap,
    /// Identifiers of the contexts whose memory this context can access.
    peers: Mutex<BTreeSet<u64>>,
}

impl Context {
    /// Registers a context. A primary context starts without uses and is not alive. Any other context starts with one
    /// use.
    pub fn register(device: c_int, flags: c_uint, is_primary: bool) -> Arc<Context> {
        CONTEXTS.insert_with(|handle| Context {
            device,
            is_primary,
            handle,
            id: AtomicU64::new(handle as u64),
            is_alive: AtomicBool::new(!is_primary),
            uses: AtomicU32::new(u32::from(!is_primary)),
            flags: AtomicU32::new(flags),
            error: AtomicU32::new(Status::SUCCESS.0),
            limits: Mutex::default(),
            heap: DeviceHeap::default(),
            peers: Mutex::default(),
        })
    }

    /// Returns the handle of the context.
    pub fn handle(&self) -> *mut c_void {
        without_provenance_mut(self.handle)
    }

    /// Returns a number that identifies the context. It differs from all numbers of destroyed and reset contexts.
    pub fn id(&self) -> u64 {
        self.id.load(Ordering::Acquire)
    }

    /// Returns `true` if the context is neither destroyed nor an unused primary context.
    pub fn is_alive(&self) -> bool {
        self.is_alive.load(Ordering::Acquire)
    }

    /// Makes a primary context alive.
    pub fn revive(&self) {
        self.is_alive.store(true, Ordering::Release);
    }

    /// Ends the context: frees all resources of the context, and restores its initial state except for the flags.
    /// Returns `false` if the context was not alive.
    pub fn end(&self) -> bool {
        if !self.is_alive.swap(false, Ordering::AcqRel) {
            return false;
        }
        let id = self.id.swap(unique_number() as u64, Ordering::AcqRel);
        module::unload_all(id);
        memory::free_all(id);
        stream::destroy_all(id);
        event::destroy_all(id);
        *self.limits() = Limits::default();
        self.heap.reset();
        self.peers().clear();
        self.error.store(Status::SUCCESS.0, Ordering::Release);
        true
    }

    /// Sets the sticky error. An earlier error stays.
    pub fn fail(&self, status: Status) {
        let none = Status::SUCCESS.0;
        // The exchange fails only if there is an earlier error.
        let _ = self.error.compare_exchange(none, status.0, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Returns the sticky error, if any.
    pub fn error(&self) -> Option<Status> {
        Some(Status(self.error.load(Ordering::Acquire))).filter(|status| *status != Status::SUCCESS)
    }

    /// Returns the sticky error as an error, if there is one.
    pub fn check(&self) -> Result<()> {
        self.error().map_or(Ok(()), Err)
    }

    /// Returns the flags.
    pub fn flags(&self) -> c_uint {
        self.flags.load(Ordering::Acquire)
    }

    /// Checks and sets the flags.
    pub fn set_flags(&self, flags: c_uint) -> Result<()> {
        self.flags.store(checked_flags(flags)?, Ordering::Release);
        Ok(())
    }

    /// Locks and returns the limits.
    pub fn limits(&self) -> MutexGuard<'_, Limits> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks and returns the identifiers of the contexts whose memory this context can access.
    pub fn peers(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks the flags of a context, and returns them.
fn checked_flags(flags: c_uint) -> Result<c_uint> {
    let is_valid = flags & !flags::ALL == 0 && flags::POLICIES.contains(&(flags & flags::POLICY));
    if is_valid { Ok(flags) } else { Err(Status::INVALID_VALUE) }
}

/// Returns the context if it is alive.
fn alive(context: Arc<Context>) -> Result<Arc<Context>> {
    if context.is_alive() { Ok(context) } else { Err(Status::CONTEXT_IS_DESTROYED) }
}

/// Returns the context with the given handle.
pub fn find(handle: *mut c_void) -> Result<Arc<Context>> {
    initialised()?;
    alive(CONTEXTS.get(handle).ok_or(Status::INVALID_CONTEXT)?)
}

/// Returns the context with the given handle, if it can become the current context of a thread. A primary context
/// always can, even if it is not alive.
pub fn bindable(handle: *mut c_void) -> Result<Arc<Context>> {
    let context = CONTEXTS.get(handle).ok_or(Status::INVALID_CONTEXT)?;
    if context.is_primary { Ok(context) } else { alive(context) }
}

/// Returns the current context of the calling thread. Its sticky error is not an error here.
pub fn current() -> Result<Arc<Context>> {
    initialised()?;
    alive(top().ok_or(Status::INVALID_CONTEXT)?)
}

/// Returns the current context of the calling thread, or its sticky error if there is one.
pub fn usable() -> Result<Arc<Context>> {
    let context = current()?;
    context.check()?;
    Ok(context)
}

/// Returns the context with the given handle, or the current context if the handle is null.
fn found_or_current(handle: *mut c_void) -> Result<Arc<Context>> {
    if handle.is_null() { current() } else { find(handle) }
}

/// Creates a context, stores its handle, and makes it the current one.
///
/// # Safety
/// `context` is null or valid for a write.
unsafe fn create(context: *mut *mut c_void, flags: c_uint, device: c_int) -> Result<()> {
    let (device, flags) = (device::checked(device)?, checked_flags(flags)?);
    if context.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let created = Context::register(device, flags, false);
    // SAFETY: the pointer is not null, so it is valid for a write by contract.
    unsafe { context.write(created.handle()) };
    push(created);
    Ok(())
}

/// Destroys a context that is not a primary one, and pops it if it is the current one.
fn destroy(context: &Arc<Context>) -> Result<()> {
    if context.is_primary {
        return Err(Status::INVALID_CONTEXT);
    }
    if !context.end() {
        return Err(Status::CONTEXT_IS_DESTROYED);
    }
    if is_top(context) {
        pop();
    }
    Ok(())
}

/// Checks that no execution affinity is requested: a context can use all multiprocessors.
fn without_affinity(affinities: *const c_void, count: c_int) -> Result<()> {
    match count {
        0 => Ok(()),
        1..=c_int::MAX if !affinities.is_null() => Err(Status::UNSUPPORTED_EXEC_AFFINITY),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// Creates a context, and makes it the current one.
///
/// # Safety
/// `context` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate_v2(context: *mut *mut c_void, flags: c_uint, device: c_int) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuCtxCreate_v2", || unsafe { create(context, flags, device) })
}

/// Creates a context, and makes it the current one. An execution affinity is not supported.
///
/// # Safety
/// `context` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate_v3(
    context: *mut *mut c_void,
    affinities: *const c_void,
    count: c_int,
    flags: c_uint,
    device: c_int,
) -> Status {
    enter("cuCtxCreate_v3", || {
        initialised()?;
        without_affinity(affinities, count)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { create(context, flags, device) }
    })
}

/// Parameters of a context, a `CUctxCreateParams`.
#[repr(C)]
pub struct ContextParams {
    affinities: *const c_void,
    affinity_count: c_int,
    /// Resources that are shared with a graphics interface.
    graphics: *const c_void,
}

/// Creates a context, and makes it the current one. Neither an execution affinity nor sharing with a graphics interface
/// is supported.
///
/// # Safety
/// `context` is null or valid for a write. `params` is null or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate_v4(
    context: *mut *mut c_void,
    params: *const ContextParams,
    flags: c_uint,
    device: c_int,
) -> Status {
    enter("cuCtxCreate_v4", || {
        initialised()?;
        // SAFETY: the caller upholds this function's contract.
        if let Some(params) = unsafe { params.as_ref() } {
            without_affinity(params.affinities, params.affinity_count)?;
            if !params.graphics.is_null() {
                return Err(Status::NOT_SUPPORTED);
            }
        }
        // SAFETY: as above.
        unsafe { create(context, flags, device) }
    })
}

/// Destroys a context, and pops it if it is the current one.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxDestroy_v2(context: *mut c_void) -> Status {
    enter("cuCtxDestroy_v2", || destroy(&find(context)?))
}

/// Adds a use to the current context, and stores its handle.
///
/// # Safety
/// `context` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxAttach(context: *mut *mut c_void, flags: c_uint) -> Status {
    enter("cuCtxAttach", || {
        let current = current()?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(context, current.handle()) }?;
        if current.is_primary {
            primary::retain(current.device)?;
        } else {
            current.uses.fetch_add(1, Ordering::AcqRel);
        }
        Ok(())
    })
}

/// Ends one use of the current context, and destroys the context if no other uses remain.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxDetach(context: *mut c_void) -> Status {
    enter("cuCtxDetach", || {
        let context = find(context)?;
        if !is_top(&context) {
            return Err(Status::INVALID_CONTEXT);
        }
        if context.is_primary {
            primary::release(context.device)
        } else if context.uses.fetch_sub(1, Ordering::AcqRel) == 1 {
            destroy(&context)
        } else {
            Ok(())
        }
    })
}

/// Returns the sticky error of the current context. All work of the context is complete.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSynchronize() -> Status {
    enter("cuCtxSynchronize", || current()?.check())
}

/// Returns the sticky error of a context, or of the current one for null. All work of the context is complete.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSynchronize_v2(context: *mut c_void) -> Status {
    enter("cuCtxSynchronize_v2", || found_or_current(context)?.check())
}

/// Stores the device of the current context.
///
/// # Safety
/// `device` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice(device: *mut c_int) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuCtxGetDevice", || unsafe { write_out(device, current()?.device) })
}

/// Stores the device of a context, or of the current one for null.
///
/// # Safety
/// `device` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice_v2(device: *mut c_int, context: *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuCtxGetDevice_v2", || unsafe { write_out(device, found_or_current(context)?.device) })
}

/// Stores the flags of the current context.
///
/// # Safety
/// `flags` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetFlags(flags: *mut c_uint) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuCtxGetFlags", || unsafe { write_out(flags, current()?.flags()) })
}

/// Sets the flags of the current context, which have no effect.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetFlags(flags: c_uint) -> Status {
    enter("cuCtxSetFlags", || current()?.set_flags(flags))
}

/// Stores the identifier of a context, or of the current one for null.
///
/// # Safety
/// `id` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetId(context: *mut c_void, id: *mut u64) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuCtxGetId", || unsafe { write_out(id, found_or_current(context)?.id()) })
}

/// Stores the version of the interface that a context implements, or that of the current one for null.
///
/// # Safety
/// `version` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetApiVersion(context: *mut c_void, version: *mut c_uint) -> Status {
    enter("cuCtxGetApiVersion", || {
        found_or_current(context)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(version, API_VERSION) }
    })
}

/// Resets the persisting lines of the second-level cache, which does not exist.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxResetPersistingL2Cache() -> Status {
    enter("cuCtxResetPersistingL2Cache", || current().map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_has_one_scheduling_policy() {
        for flags in [0, 1, 2, 4, 8, 0x0c, 0x84] {
            assert_eq!(checked_flags(flags), Ok(flags));
        }
        for flags in [3, 5, 6, 7, 0x100, c_uint::MAX] {
            assert_eq!(checked_flags(flags), Err(Status::INVALID_VALUE));
        }
    }

    #[test]
    fn the_first_error_stays_until_the_context_ends() {
        let context = Context::register(0, 0, false);
        assert_eq!((context.error(), context.check()), (None, Ok(())));
        context.fail(Status::ILLEGAL_ADDRESS);
        context.fail(Status::ASSERT);
        assert_eq!(context.error(), Some(Status::ILLEGAL_ADDRESS));
        assert_eq!(context.check(), Err(Status::ILLEGAL_ADDRESS));
        assert!(context.end() && !context.end());
        assert_eq!(context.error(), None);
    }

    #[test]
    fn a_primary_context_gets_a_new_identifier_when_it_ends() {
        let context = Context::register(0, 1, true);
        assert!(!context.is_alive() && !context.end());
        context.revive();
        let (handle, id) = (context.handle(), context.id());
        context.peers().insert(7);
        assert!(context.is_alive() && context.end() && !context.is_alive());
        assert!(context.id() != id && context.peers().is_empty());
        assert_eq!((context.handle(), context.flags()), (handle, 1));
    }

    #[test]
    fn destroyed_contexts_cannot_be_bound() {
        let [plain, primary] = [false, true].map(|is_primary| Context::register(0, 0, is_primary));
        assert!(bindable(plain.handle()).is_ok() && bindable(primary.handle()).is_ok());
        assert_eq!(destroy(&plain), Ok(()));
        assert_eq!(destroy(&plain), Err(Status::CONTEXT_IS_DESTROYED));
        assert_eq!(destroy(&primary), Err(Status::INVALID_CONTEXT));
        assert_eq!(bindable(plain.handle()).err(), Some(Status::CONTEXT_IS_DESTROYED));
        assert_eq!(bindable(without_provenance_mut(7)).err(), Some(Status::INVALID_CONTEXT));
    }

    #[test]
    fn execution_affinities_are_refused() {
        let affinities = std::ptr::without_provenance(8);
        assert_eq!(without_affinity(affinities, 0), Ok(()));
        assert_eq!(without_affinity(affinities, 1), Err(Status::UNSUPPORTED_EXEC_AFFINITY));
        assert_eq!(without_affinity(affinities, -1), Err(Status::INVALID_VALUE));
        assert_eq!(without_affinity(std::ptr::null(), 1), Err(Status::INVALID_VALUE));
    }
}
