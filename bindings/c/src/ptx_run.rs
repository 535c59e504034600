//! `halfbyte_ptx_run`: runs a PTX kernel on raw pointers in one call, as GPU emulators do.
//!
//! This is the only function with process-wide state: the texts that were run, so that their
//! variables persist, the callback for allocations, and the options.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halfbyte::import_ptx::Globals;
use halfbyte::runtime::ptx::{Allocation, HostLaunch, HostMemory};

use crate::error::{Error, Status};
use crate::ffi;
use crate::options::Options;
use crate::ptx::Ptx;

/// Callback that finds the allocation of an address. Returns true and stores the allocation's start
/// and size, or returns false. Every thread that runs a kernel may call it, several at once if the
/// options permit several threads. It is called once or a few times per allocation and run.
pub type BoundsFn =
    Option<unsafe extern "C" fn(user: *mut c_void, address: u64, start: *mut u64, bytes: *mut u64) -> bool>;

/// Maximum number and total size of cached texts, apart from those whose variables were written.
const MOST_TEXTS: usize = 256;
const MOST_BYTES: usize = 64 << 20;

/// Process-wide state.
struct State {
    /// Cached texts, the most recently used last.
    texts: Vec<(Arc<str>, Arc<Ptx>)>,
    bounds: Bounds,
    options: Options,
}

#[derive(Clone, Copy)]
struct Bounds {
    find: BoundsFn,
    user: *mut c_void,
}

// SAFETY: the contract of halfbyte_ptx_set_bounds permits calls from every thread.
unsafe impl Send for Bounds {}
// SAFETY: as above.
unsafe impl Sync for Bounds {}

impl Bounds {
    fn find(self, address: u64) -> Option<Allocation> {
        let find = self.find?;
        let (mut start, mut bytes) = (0, 0);
        // SAFETY: guaranteed by the contract of halfbyte_ptx_set_bounds.
        unsafe { find(self.user, address, &raw mut start, &raw mut bytes) }.then_some(Allocation { start, bytes })
    }
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

thread_local! {
    /// Error of this thread's last run.
    static LAST: RefCell<Option<Box<Error>>> = const { RefCell::new(None) };
}

/// Lock of the process-wide state, which is never held while a kernel is parsed or runs.
struct Locked(MutexGuard<'static, Option<State>>);

impl Locked {
    fn new() -> Locked {
        Locked(STATE.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn state(&mut self) -> &mut State {
        self.0.get_or_insert_with(|| State {
            texts: Vec::new(),
            bounds: Bounds { find: None, user: std::ptr::null_mut() },
            options: Options::default(),
        })
    }
}

impl State {
    /// Returns a cached text and marks it as the most recently used.
    fn take(&mut self, source: &str) -> Option<Arc<Ptx>> {
        let place = self.texts.iter().rposition(|(text, _)| **text == *source)?;
        let entry = self.texts.remove(place);
        let found = entry.1.clone();
        self.texts.push(entry);
        Some(found)
    }

    /// Adds a text to the cache, and evicts the least recently used texts beyond the limits. Texts
    /// with written variables are kept, because their contents would be lost.
    fn keep(&mut self, source: &str, ptx: &Arc<Ptx>) {
        self.texts.push((source.into(), ptx.clone()));
        let mut bytes: usize = self.texts.iter().map(|(text, _)| text.len()).sum();
        let mut count = self.texts.len();
        if count <= MOST_TEXTS && bytes <= MOST_BYTES {
            return;
        }
        self.texts.retain(|(text, ptx)| {
            let is_in_use = Arc::strong_count(ptx) > 1;
            let stays = count <= MOST_TEXTS && bytes <= MOST_BYTES || is_in_use || ptx.is_written();
            if !stays {
                count -= 1;
                bytes -= text.len();
            }
            stays
        });
    }
}

/// Returns the cached text, or parses it.
fn load(source: &str, options: &Options) -> Result<Arc<Ptx>, Error> {
    if let Some(found) = Locked::new().state().take(source) {
        return Ok(found);
    }
    options.check_text(source)?;
    let made = Arc::new(Ptx::new("<ptx>", source, Globals::default())?);
    let mut locked = Locked::new();
    // Another thread may have added the text meanwhile.
    Ok(locked.state().take(source).unwrap_or_else(|| {
        locked.state().keep(source, &made);
        made
    }))
}

/// Runs the first kernel of a zero-terminated PTX text over `gx * gy * gz` blocks of `bx * by * bz`
/// threads, with `shared` bytes of dynamic shared memory. `args[i]` is the value of parameter `i`:
/// a pointer of the process, or a number in its low bytes. A parameter of more than eight bytes is
/// not supported. Returns HALFBYTE_STATUS_OK or the status of the error; halfbyte_ptx_last_error
/// has the details.
///
/// Texts are parsed once and cached, and their variables persist from run to run, until
/// halfbyte_ptx_reset. The least recently used texts are evicted, unless a kernel has written to
/// one of their variables.
///
/// Accesses are checked against the allocations that the callback of halfbyte_ptx_set_bounds
/// returns. Without the callback THEY ARE NOT CHECKED, except for alignment and the first page of
/// addresses: an invalid access of a kernel then has undefined behaviour. Memory that instructions
/// access through generic addresses must not lie from 0x1000000000 up to 0x5000000000, which are
/// the windows of local and shared memory.
///
/// # Safety
/// `source` ends with a zero byte; `n_args` pointers are at `args`. The memory that the kernel
/// accesses is valid, or the callback returns the valid allocations. Until the run ends, nothing
/// else writes this memory, or accesses what the kernel writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_ptx_run(
    source: *const c_char,
    n_args: c_int,
    args: *const *const c_void,
    bx: c_int,
    by: c_int,
    bz: c_int,
    gx: c_int,
    gy: c_int,
    gz: c_int,
    shared: c_int,
) -> c_int {
    let run = || {
        let number = |number: c_int, name: &str| {
            let wrong = |_| Error::new(Status::InvalidArgument, format!("`{name}` is {number}"));
            u32::try_from(number).map_err(wrong)
        };
        let block = [number(bx, "bx")?, number(by, "by")?, number(bz, "bz")?];
        let grid = [number(gx, "gx")?, number(gy, "gy")?, number(gz, "gz")?];
        let shape = halfbyte::Shape { grid, block, shared: number(shared, "shared")? };
        let count = number(n_args, "n_args")? as usize;
        // SAFETY: the caller upholds this function's contract.
        let (source, args) =
            unsafe { (ffi::text(source, crate::HALFBYTE_TO_NUL, "source")?, ffi::slice(args, count, "args")?) };
        let (bounds, options) = {
            let mut locked = Locked::new();
            let State { bounds, options, .. } = locked.state();
            (*bounds, options.clone())
        };
        let ptx = load(source, &options)?;
        let kernel = ptx.kernel("")?;
        let values: Vec<[u8; 8]> = args.iter().map(|arg| (arg.expose_provenance() as u64).to_le_bytes()).collect();
        let params = &kernel.entry().params;
        let bytes = |(number, value): (usize, &[u8; 8])| {
            let size = params.get(number).map_or(8, |param| param.bytes()).min(8) as usize;
            value.split_at(size).0.to_vec()
        };
        let bytes: Vec<Vec<u8>> = values.iter().enumerate().map(bytes).collect();
        let args: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
        let find = move |address| bounds.find(address);
        let memory = if bounds.find.is_some() { HostMemory::bounded(&find) } else { HostMemory::unbounded() };
        let watchdog = options.watchdog();
        options.printing(|print| {
            let launch = HostLaunch {
                budget: options.budget,
                engine: options.engine,
                watchdog: Some(&watchdog),
                print,
                ..HostLaunch::new(shape, &args, &memory)
            };
            // SAFETY: the caller upholds this function's contract.
            unsafe { kernel.launch_on_host(launch) }.map_err(|error| ptx.failed(&error))
        })?;
        Ok(())
    };
    let done = ffi::caught(run);
    let status = done.as_ref().map_or_else(|error| error.status, |()| Status::Ok);
    LAST.with(|last| *last.borrow_mut() = done.err().map(Box::new));
    status as c_int
}

/// Returns the error of this thread's last halfbyte_ptx_run, or null if it succeeded. The caller
/// must not free the error, which lives until the thread's next run.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_ptx_last_error() -> *const Error {
    LAST.with(|last| last.borrow().as_deref().map_or(std::ptr::null(), std::ptr::from_ref))
}

/// Sets the callback for allocations, for all runs that begin later. Null disables the checks.
///
/// # Safety
/// Every thread may call `find` with `user` at any time, until the callback is replaced and the
/// earlier runs have ended. The allocations that it returns stay valid until the run ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_ptx_set_bounds(find: BoundsFn, user: *mut c_void) {
    // No panic is expected here, and C could not handle one.
    let _ = ffi::caught(|| {
        Locked::new().state().bounds = Bounds { find, user };
        Ok(())
    });
}

/// Sets the options of all runs that begin later: engine, limits, cancellation, and output. The
/// options are copied; null means the default options.
///
/// # Safety
/// `options` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_ptx_set_options(options: *const Options) {
    // No panic is expected here, and C could not handle one.
    let _ = ffi::caught(|| {
        // SAFETY: the caller upholds this function's contract.
        Locked::new().state().options = unsafe { Options::of(options) };
        Ok(())
    });
}

/// Drops all cached texts and the contents of their variables. Current runs are not affected.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_ptx_reset() {
    let _ = ffi::caught(|| {
        // Dropped after the lock is released, because that may take long.
        let texts = std::mem::take(&mut Locked::new().state().texts);
        drop(texts);
        Ok(())
    });
}
