//! `halfbyte_ptx_run`: a kernel in PTX on raw pointers, in one call, as emulators of GPUs are asked for it.
//!
//! It alone has state of the whole process: the texts that were run, so that their variables live on, where allocations are, and how
//! launches are made.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halfbyte::import_ptx::Globals;
use halfbyte::runtime::ptx::{Allocation, HostLaunch, HostMemory};

use crate::border;
use crate::error::{Error, Status};
use crate::options::Options;
use crate::ptx::Ptx;

/// Finds the allocation that an address is in: true, with its first address and its bytes, or false. Every thread that runs a kernel calls it, several
/// at once where the options say so, and asks for an allocation once or a few times a run.
pub type BoundsFn =
    Option<unsafe extern "C" fn(user: *mut c_void, address: u64, start: *mut u64, bytes: *mut u64) -> bool>;

/// Texts that are kept at most, and how long they are together, but for those whose variables were written.
const MOST_TEXTS: usize = 256;
const MOST_BYTES: usize = 64 << 20;

/// What the process keeps.
struct State {
    /// The texts that were run, the last one last.
    texts: Vec<(Arc<str>, Arc<Ptx>)>,
    bounds: Bounds,
    options: Options,
}

#[derive(Clone, Copy)]
struct Bounds {
    find: BoundsFn,
    user: *mut c_void,
}

// SAFETY: the contract of halfbyte_ptx_set_bounds says that every thread may call it.
unsafe impl Send for Bounds {}
// SAFETY: as above.
unsafe impl Sync for Bounds {}

impl Bounds {
    fn find(self, address: u64) -> Option<Allocation> {
        let find = self.find?;
        let (mut start, mut bytes) = (0, 0);
        // SAFETY: the contract of halfbyte_ptx_set_bounds.
        unsafe { find(self.user, address, &raw mut start, &raw mut bytes) }.then_some(Allocation { start, bytes })
    }
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

thread_local! {
    /// Why the last run of this thread failed.
    static LAST: RefCell<Option<Box<Error>>> = const { RefCell::new(None) };
}

/// What the process keeps, for a moment: never while a kernel is read or runs.
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
    /// A text that was run before, which is now the last one.
    fn take(&mut self, source: &str) -> Option<Arc<Ptx>> {
        let place = self.texts.iter().rposition(|(text, _)| **text == *source)?;
        let entry = self.texts.remove(place);
        let found = entry.1.clone();
        self.texts.push(entry);
        Some(found)
    }

    /// Keeps a text, and drops the oldest ones that are too many. Those whose variables were written are not: nothing else knows what they hold.
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

/// The text, read now or before.
fn load(source: &str, options: &Options) -> Result<Arc<Ptx>, Error> {
    if let Some(found) = Locked::new().state().take(source) {
        return Ok(found);
    }
    options.check_text(source)?;
    let made = Arc::new(Ptx::new("<ptx>", source, Globals::default())?);
    let mut locked = Locked::new();
    // Another thread may have been faster.
    Ok(locked.state().take(source).unwrap_or_else(|| {
        locked.state().keep(source, &made);
        made
    }))
}

/// Runs the first kernel of a text in PTX, which ends with a zero, over `gx * gy * gz` blocks of `bx * by * bz` threads with so many bytes of
/// shared memory besides what the text declares. `args[i]` is the argument itself, for each parameter in order: a pointer of the process,
/// or a number in its low bytes. A parameter of more than eight bytes cannot be given. HALFBYTE_STATUS_OK, or why not, as a number;
/// halfbyte_ptx_last_error says more.
///
/// Texts are read once and kept, and their variables live on from run to run, until halfbyte_ptx_reset; a text that is not run for long is dropped
/// unless a kernel has written to one of its variables.
///
/// Accesses are checked against the allocations that the callback of halfbyte_ptx_set_bounds gives. Without that THEY ARE NOT CHECKED, but for the first
/// page of addresses and their alignment: a kernel that is wrong then does to the process what any wrong program does. Memory that
/// instructions access without naming a space must not lie from 0x1000000000 up to 0x5000000000, where local and shared memory have their
/// addresses.
///
/// # Safety
/// `source` ends with a zero; so many pointers are at `args`. The memory that the kernel accesses is valid, or the bounds say what is; until
/// the run ends nobody else writes it, or accesses it where the kernel writes.
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
        // SAFETY: the caller's contract.
        let (source, args) =
            unsafe { (border::text(source, crate::HALFBYTE_TO_NUL, "source")?, border::slice(args, count, "args")?) };
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
            // SAFETY: the caller's contract.
            unsafe { kernel.launch_on_host(launch) }.map_err(|error| ptx.failed(&error))
        })?;
        Ok(())
    };
    let done = border::caught(run);
    let status = done.as_ref().map_or_else(|error| error.status, |()| Status::Ok);
    LAST.with(|last| *last.borrow_mut() = done.err().map(Box::new));
    status as c_int
}

/// Why the last halfbyte_ptx_run of this thread failed; null where it did not. It is not the caller's to free, and lives until the thread runs a
/// kernel again.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_ptx_last_error() -> *const Error {
    LAST.with(|last| last.borrow().as_deref().map_or(std::ptr::null(), std::ptr::from_ref))
}

/// Says where allocations are, for all runs that begin from now on. With null they are not asked for, and accesses not checked.
///
/// # Safety
/// Every thread may call `find` with `user` at any time until the bounds are set anew and the runs of before have ended. What it says
/// is memory is memory until the run that has asked ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_ptx_set_bounds(find: BoundsFn, user: *mut c_void) {
    // Nothing here panics; if something did, C would be no worse off.
    let _ = border::caught(|| {
        Locked::new().state().bounds = Bounds { find, user };
        Ok(())
    });
}

/// Says how runs are made that begin from now on: by what engine, within which limits, what cancels them, where printed text goes. The options
/// are copied; null stands for the usual ones.
///
/// # Safety
/// `options` is null, or was given out and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_ptx_set_options(options: *const Options) {
    // Nothing here panics; if something did, C would be no worse off.
    let _ = border::caught(|| {
        // SAFETY: the caller's contract.
        Locked::new().state().options = unsafe { Options::of(options) };
        Ok(())
    });
}

/// Drops all texts that were run, and what their variables hold. Runs that are under way end as they would.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_ptx_reset() {
    let _ = border::caught(|| {
        // Freed after the lock is released: it may take long.
        let texts = std::mem::take(&mut Locked::new().state().texts);
        drop(texts);
        Ok(())
    });
}
