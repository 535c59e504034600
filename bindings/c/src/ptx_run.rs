//! `halfbyte_ptx_run`: runs a PTX kernel on raw pointers in one call. GPU emulators need this form.
//!
//! Only this function has process-wide state: the cached PTX texts, the callback that finds
//! allocations, and the options. The texts are cached so that their variables persist between runs.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halfbyte::import_ptx::Globals;
use halfbyte::runtime::ptx::{Allocation, HostLaunch, HostMemory};

use crate::error::{Error, Status};
use crate::ffi;
use crate::options::Options;
use crate::ptx::Ptx;

/// Callback that finds the allocation that contains an address. It returns true and stores the start and the size of
/// the allocation, or it returns false. Every thread that runs a kernel may call it. If the options permit several
/// threads, several may call it at once. Each run calls it once or a few times for each allocation.
pub type BoundsFn =
    Option<unsafe extern "C" fn(user: *mut c_void, address: u64, start: *mut u64, bytes: *mut u64) -> bool>;

/// Maximum number and maximum total size of the cached texts. Texts whose variables were written are not evicted.
const MOST_TEXTS: usize = 256;
const MOST_BYTES: usize = 64 << 20;

/// Process-wide state of halfbyte_ptx_run.
struct State {
    /// Cached texts, ordered from least to most recently used.
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
// SAFETY: the contract of halfbyte_ptx_set_bounds permits calls from every thread.
unsafe impl Sync for Bounds {}

impl Bounds {
    fn find(self, address: u64) -> Option<Allocation> {
        let find = self.find?;
        let (mut start, mut bytes) = (0, 0);
        // SAFETY: the caller of halfbyte_ptx_set_bounds guarantees that the callback may be called with this pointer.
        unsafe { find(self.user, address, &raw mut start, &raw mut bytes) }.then_some(Allocation::new(start, bytes))
    }
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

thread_local! {
    /// Error of this thread's last run, if that run failed.
    static LAST: RefCell<Option<Box<Error>>> = const { RefCell::new(None) };
}

/// Lock on the process-wide state. No lock is held while a text is parsed or a kernel runs.
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
    /// Returns the cached text that equals `source`, if any, and makes it the most recently used one.
    fn take(&mut self, source: &str) -> Option<Arc<Ptx>> {
        let place = self.texts.iter().rposition(|(text, _)| **text == *source)?;
        let entry = self.texts.remove(place);
        let found = entry.1.clone();
        self.texts.push(entry);
        Some(found)
    }

    /// Adds a text to the cache. Beyond the limits, the least recently used texts are evicted. Texts whose variables
    /// were written stay in the cache, because the contents of these variables would be lost.
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

/// Returns the cached text that equals `source`, or parses `source` and caches the result.
fn load(source: &str, options: &Options) -> Result<Arc<Ptx>, Error> {
    if let Some(found) = Locked::new().state().take(source) {
        return Ok(found);
    }
    options.check_text(source)?;
    let made = Arc::new(Ptx::new("<ptx>", source, Globals::on_host)?);
    let mut locked = Locked::new();
    // Another thread may have cached the text in the meantime.
    Ok(locked.state().take(source).unwrap_or_else(|| {
        locked.state().keep(source, &made);
        made
    }))
}

/// Runs the first kernel of a zero-terminated PTX text over `gx * gy * gz` blocks of `bx * by * bz` threads, with
/// `shared` bytes of dynamic shared memory. `args[i]` is the value of parameter `i`: a pointer of the process, or a
/// number in the low bytes. Parameters of more than eight bytes are not supported. Returns HALFBYTE_STATUS_OK or the
/// status of the error. halfbyte_ptx_last_error returns the details of the error.
///
/// Each text is parsed once and cached. Variables of a text lie in memory of the process, and keep their values between runs, until halfbyte_ptx_reset.
/// If the cache is full, the least recently used texts are evicted, except texts whose variables a kernel has written.
/// Memory that kernels of a text allocate with malloc also lives until a kernel of the text frees it, or until
/// halfbyte_ptx_reset. A text with such memory is not evicted.
///
/// Accesses are checked against the allocations that the callback of halfbyte_ptx_set_bounds returns. Without the
/// callback THEY ARE NOT CHECKED, except for alignment and the first page of addresses: an invalid access of a kernel
/// then has undefined behaviour. Memory that instructions access through generic addresses must not lie from
/// 0x1000000000 up to 0x5000000000, because these generic addresses denote local and shared memory.
///
/// # Safety
/// `source` ends with a zero byte; `n_args` pointers are at `args`. The memory that the kernel accesses is valid, or
/// the callback returns the valid allocations. Until the run ends, no other code writes this memory, or accesses memory
/// that the kernel writes.
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
        ptx.reporting(&options, |print, warn| {
            let launch = HostLaunch {
                budget: options.budget,
                engine: options.engine,
                watchdog: Some(&watchdog),
                races: options.races,
                warn: Some(warn),
                cooperative: options.cooperative,
                print,
                ..HostLaunch::new(shape, &args, &memory)
            };
            // SAFETY: the caller upholds this function's contract.
            unsafe { kernel.launch_on_host(launch) }
        })?;
        Ok(())
    };
    let done = ffi::caught(run);
    let status = done.as_ref().map_or_else(|error| error.status, |()| Status::Ok);
    LAST.with(|last| *last.borrow_mut() = done.err().map(Box::new));
    status as c_int
}

/// Returns the error of this thread's last halfbyte_ptx_run, or null if that run succeeded. The
/// caller must not free the error. The error lives until the thread's next halfbyte_ptx_run.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_ptx_last_error() -> *const Error {
    LAST.with(|last| last.borrow().as_deref().map_or(std::ptr::null(), std::ptr::from_ref))
}

/// Sets the callback that finds allocations, for all runs that begin later. Null disables the checks.
///
/// # Safety
/// Every thread may call `find` with `user` at any time, until the callback is replaced and the earlier runs have
/// ended. The allocations that it returns stay valid until the run ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_ptx_set_bounds(find: BoundsFn, user: *mut c_void) {
    // No panic is expected here. The function has no status to report an error.
    let _ = ffi::caught(|| {
        Locked::new().state().bounds = Bounds { find, user };
        Ok(())
    });
}

/// Sets the options of all runs that begin later: engine, limits, detection of races, cooperative launches, cancellation and output. The
/// options are copied. Null means the default options.
///
/// # Safety
/// `options` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_ptx_set_options(options: *const Options) {
    // No panic is expected here. The function has no status to report an error.
    let _ = ffi::caught(|| {
        // SAFETY: the caller upholds this function's contract.
        Locked::new().state().options = unsafe { Options::of(options) };
        Ok(())
    });
}

/// Removes all cached texts and the contents of their variables. Runs that have begun are not affected.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_ptx_reset() {
    let _ = ffi::caught(|| {
        // The texts are dropped after the lock is released, because dropping them may take long.
        let texts = std::mem::take(&mut Locked::new().state().texts);
        drop(texts);
        Ok(())
    });
}
