//! How work is done: by what, and within which limits; and what cancels it.

use std::ffi::{CStr, c_char, c_void};
use std::num::NonZero;
use std::time::Duration;

use halfbyte::Engine;
use halfbyte::abi::{CancelToken, DEFAULT_BUDGET, Limits, Watchdog};
use halfbyte::launch::Print;

use crate::border;
use crate::error::{Error, Status};

/// The interpreter: one work item after another, on the caller's thread.
pub const HALFBYTE_ENGINE_INTERP: u32 = 0;
/// Native code, made at a kernel's first launch, which runs many work items side by side; the interpreter where there is none for what a kernel does.
pub const HALFBYTE_ENGINE_JIT: u32 = 1;

/// Bytes of a text.
pub const HALFBYTE_LIMIT_TEXT_BYTES: u32 = 0;
/// Ops of a kernel that is compiled.
pub const HALFBYTE_LIMIT_OPS: u32 = 1;
/// Blocks of a kernel that is compiled.
pub const HALFBYTE_LIMIT_BLOCKS: u32 = 2;
/// Values of a kernel that is compiled that are live at one place.
pub const HALFBYTE_LIMIT_LIVE_VALUES: u32 = 3;
/// Bytes of all buffers of a launch.
pub const HALFBYTE_LIMIT_BUFFER_BYTES: u32 = 4;
/// Work items of a launch.
pub const HALFBYTE_LIMIT_ITEMS: u32 = 5;
/// Instructions and backward branches of a launch, over all work items.
pub const HALFBYTE_LIMIT_WORK: u32 = 6;
/// Bytes of memory of the whole process, where the system tells them.
pub const HALFBYTE_LIMIT_MEMORY: u32 = 7;
/// Milliseconds of a call.
pub const HALFBYTE_LIMIT_TIME_MS: u32 = 8;
/// Backward branches of a work item: 2^20, unless something else is said.
pub const HALFBYTE_LIMIT_BUDGET: u32 = 9;

/// Takes what kernels write with `vprintf`: text that ends with a zero. The thread that launches calls it.
pub type PrintFn = Option<unsafe extern "C" fn(user: *mut c_void, text: *const c_char)>;

/// How work is done. Null stands for what halfbyte_options_new makes wherever options are taken.
#[derive(Clone)]
pub struct Options {
    pub(crate) engine: Engine,
    pub(crate) budget: u64,
    pub(crate) races: bool,
    limits: Limits,
    cancel: Option<CancelToken>,
    print: PrintTo,
}

/// A function of C and what it is called with.
#[derive(Clone, Copy)]
struct PrintTo {
    print: PrintFn,
    user: *mut c_void,
}

// SAFETY: by its contract threads may call it with this; only one at a time does, the one that launches.
unsafe impl Send for PrintTo {}
// SAFETY: as above.
unsafe impl Sync for PrintTo {}

impl PrintTo {
    /// Hands a text on, piece by piece where it has zeros.
    fn print(&self, text: &str) {
        let Some(print) = self.print else { return eprint!("{text}") };
        for piece in text.split('\0').filter(|piece| !piece.is_empty()) {
            let piece = [piece.as_bytes(), b"\0"].concat();
            if let Ok(piece) = CStr::from_bytes_with_nul(&piece) {
                // SAFETY: the contract of halfbyte_options_set_print.
                unsafe { print(self.user, piece.as_ptr()) };
            }
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            engine: if cfg!(feature = "jit") { Engine::JIT } else { Engine::Interp },
            budget: DEFAULT_BUDGET,
            races: false,
            limits: Limits::generous(),
            cancel: None,
            print: PrintTo { print: None, user: std::ptr::null_mut() },
        }
    }
}

impl Options {
    /// Those of C; where it has none, the usual ones.
    ///
    /// # Safety
    /// They are null, or were given out and have not been freed, and no thread changes them.
    pub(crate) unsafe fn of(options: *const Options) -> Options {
        // SAFETY: the caller's contract.
        unsafe { options.as_ref() }.cloned().unwrap_or_default()
    }

    /// What ends a piece of work that begins now.
    pub(crate) fn watchdog(&self) -> Watchdog {
        match &self.cancel {
            Some(cancel) => Watchdog::with_token(self.limits.clone(), cancel.clone()),
            None => Watchdog::new(self.limits.clone()),
        }
    }

    /// Refuses a text that is too long.
    pub(crate) fn check_text(&self, text: &str) -> Result<(), Error> {
        let (found, limit) = (text.len() as u64, self.limits.text_bytes);
        if found <= limit {
            return Ok(());
        }
        Err(Error::new(Status::Limit, format!("the text has {found} bytes; at most {limit} are read")))
    }

    /// Does something with what takes the text that kernels write.
    pub(crate) fn printing<T>(&self, what: impl FnOnce(Option<Print<'_>>) -> T) -> T {
        let print = self.print;
        what(Some(Print(&move |text: &str| print.print(text))))
    }
}

/// Cancels work from another thread.
pub struct Cancel(CancelToken);

/// Native code on the caller's thread, within limits that are far beyond what kernels need, of which none is of time.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_options_new() -> *mut Options {
    Box::into_raw(Box::default())
}

/// The same within limits for texts and kernels of strangers: 9 seconds, 1.5 GiB of memory, 64 MiB of buffers, and the others of
/// docs/security.md.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_options_new_strict() -> *mut Options {
    Box::into_raw(Box::new(Options { limits: Limits::strict(), ..Options::default() }))
}

/// Frees options.
///
/// # Safety
/// `options` is null, or was given out and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_free(options: *mut Options) {
    // SAFETY: the caller's contract.
    unsafe { border::free(options) };
}

/// What executes kernels: HALFBYTE_ENGINE_INTERP, or HALFBYTE_ENGINE_JIT on so many threads at most, at least one.
///
/// # Safety
/// `options` was given out and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_set_engine(options: *mut Options, engine: u32, threads: u32) -> Status {
    let set = || {
        // SAFETY: the caller's contract.
        let options = unsafe { border::given_mut(options, "options") }?;
        let threads = NonZero::new(u16::try_from(threads).unwrap_or(u16::MAX));
        options.engine = match (engine, threads) {
            (HALFBYTE_ENGINE_INTERP, _) => Engine::Interp,
            (HALFBYTE_ENGINE_JIT, Some(threads)) => Engine::Jit { threads },
            (HALFBYTE_ENGINE_JIT, None) => return Err(Error::new(Status::InvalidArgument, "`threads` is 0")),
            _ => return Err(Error::new(Status::InvalidArgument, format!("there is no engine {engine}"))),
        };
        Ok(())
    };
    // SAFETY: null is none.
    unsafe { border::enter(std::ptr::null_mut(), set) }
}

/// Sets one of the limits, HALFBYTE_LIMIT_TEXT_BYTES and so on. UINT64_MAX is no limit.
///
/// # Safety
/// `options` was given out and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_set_limit(options: *mut Options, limit: u32, value: u64) -> Status {
    let set = || {
        // SAFETY: the caller's contract.
        let options = unsafe { border::given_mut(options, "options") }?;
        let limits = &mut options.limits;
        let place = match limit {
            HALFBYTE_LIMIT_TEXT_BYTES => &mut limits.text_bytes,
            HALFBYTE_LIMIT_OPS => &mut limits.ops,
            HALFBYTE_LIMIT_BLOCKS => &mut limits.blocks,
            HALFBYTE_LIMIT_LIVE_VALUES => &mut limits.live_values,
            HALFBYTE_LIMIT_BUFFER_BYTES => &mut limits.buffer_bytes,
            HALFBYTE_LIMIT_ITEMS => &mut limits.items,
            HALFBYTE_LIMIT_WORK => &mut limits.work,
            HALFBYTE_LIMIT_MEMORY => &mut limits.memory,
            HALFBYTE_LIMIT_BUDGET => &mut options.budget,
            HALFBYTE_LIMIT_TIME_MS => {
                limits.time = (value != u64::MAX).then(|| Duration::from_millis(value));
                return Ok(());
            }
            _ => return Err(Error::new(Status::InvalidArgument, format!("there is no limit {limit}"))),
        };
        *place = value;
        Ok(())
    };
    // SAFETY: null is none.
    unsafe { border::enter(std::ptr::null_mut(), set) }
}

/// Whether launches of PTX as it stands look for races, and for reads of shared memory that nothing has written.
///
/// # Safety
/// `options` was given out and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_set_races(options: *mut Options, races: bool) -> Status {
    let set = || {
        // SAFETY: the caller's contract.
        unsafe { border::given_mut(options, "options") }?.races = races;
        Ok(())
    };
    // SAFETY: null is none.
    unsafe { border::enter(std::ptr::null_mut(), set) }
}

/// What takes the text that kernels in PTX write with `vprintf`; with null it goes to standard error.
///
/// # Safety
/// `options` was given out and has not been freed. `print` may be called with `user` from every thread that launches with the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_set_print(
    options: *mut Options,
    print: PrintFn,
    user: *mut c_void,
) -> Status {
    let set = || {
        // SAFETY: the caller's contract.
        unsafe { border::given_mut(options, "options") }?.print = PrintTo { print, user };
        Ok(())
    };
    // SAFETY: null is none.
    unsafe { border::enter(std::ptr::null_mut(), set) }
}

/// What cancels all work that is done with the options; null takes it away. It may be freed before the options are.
///
/// # Safety
/// `options` was given out and has not been freed; `cancel` is null or likewise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_set_cancel(options: *mut Options, cancel: *const Cancel) -> Status {
    let set = || {
        // SAFETY: the caller's contract.
        let (options, cancel) = unsafe { (border::given_mut(options, "options")?, cancel.as_ref()) };
        options.cancel = cancel.map(|Cancel(token)| token.clone());
        Ok(())
    };
    // SAFETY: null is none.
    unsafe { border::enter(std::ptr::null_mut(), set) }
}

/// What cancels work.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_cancel_new() -> *mut Cancel {
    Box::into_raw(Box::new(Cancel(CancelToken::default())))
}

/// Cancels what is being done, within 20 ms, and all that will be, with HALFBYTE_STATUS_CANCELLED. Every thread may call it at any time.
///
/// # Safety
/// `cancel` is null, or was given out and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_cancel_request(cancel: *const Cancel) {
    // SAFETY: the caller's contract.
    if let Some(Cancel(token)) = unsafe { cancel.as_ref() } {
        token.cancel();
    }
}

/// Frees it.
///
/// # Safety
/// As halfbyte_cancel_request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_cancel_free(cancel: *mut Cancel) {
    // SAFETY: the caller's contract.
    unsafe { border::free(cancel) };
}
