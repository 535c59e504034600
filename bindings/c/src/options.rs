//! Options of compilations and launches: engine, limits, and cancellation.

use std::ffi::{CStr, c_char, c_void};
use std::num::NonZero;
use std::time::Duration;

use halfbyte::Engine;
use halfbyte::abi::{CancelToken, DEFAULT_BUDGET, Limits, Watchdog};
use halfbyte::launch::Print;

use crate::error::{Error, Status};
use crate::ffi;

/// Interpreter: runs one work item after another, on the caller's thread.
pub const HALFBYTE_ENGINE_INTERP: u32 = 0;
/// Native code, compiled at a kernel's first launch, which runs many work items in parallel. A
/// kernel that native code does not support falls back to the interpreter.
pub const HALFBYTE_ENGINE_JIT: u32 = 1;

/// Limit: bytes of a text.
pub const HALFBYTE_LIMIT_TEXT_BYTES: u32 = 0;
/// Limit: ops of a kernel that is compiled.
pub const HALFBYTE_LIMIT_OPS: u32 = 1;
/// Limit: blocks of a kernel that is compiled.
pub const HALFBYTE_LIMIT_BLOCKS: u32 = 2;
/// Limit: simultaneously live values of a kernel that is compiled.
pub const HALFBYTE_LIMIT_LIVE_VALUES: u32 = 3;
/// Limit: bytes of all buffers of a launch.
pub const HALFBYTE_LIMIT_BUFFER_BYTES: u32 = 4;
/// Limit: work items of a launch.
pub const HALFBYTE_LIMIT_ITEMS: u32 = 5;
/// Limit: instructions and backward branches of a launch, over all work items.
pub const HALFBYTE_LIMIT_WORK: u32 = 6;
/// Limit: memory of the whole process in bytes, on systems that report it.
pub const HALFBYTE_LIMIT_MEMORY: u32 = 7;
/// Limit: milliseconds of a call.
pub const HALFBYTE_LIMIT_TIME_MS: u32 = 8;
/// Limit: backward branches of a work item. The default is 2^20.
pub const HALFBYTE_LIMIT_BUDGET: u32 = 9;

/// Callback for the output of `vprintf` in kernels, a zero-terminated text. The thread that
/// launches calls it.
pub type PrintFn = Option<unsafe extern "C" fn(user: *mut c_void, text: *const c_char)>;

/// Options of compilations and launches. Null means the options of halfbyte_options_new.
#[derive(Clone)]
pub struct Options {
    pub(crate) engine: Engine,
    pub(crate) budget: u64,
    pub(crate) races: bool,
    limits: Limits,
    cancel: Option<CancelToken>,
    print: PrintTo,
}

/// C callback and its user pointer.
#[derive(Clone, Copy)]
struct PrintTo {
    print: PrintFn,
    user: *mut c_void,
}

// SAFETY: the contract of the callback permits calls from any thread. Only the thread that launches
// calls it.
unsafe impl Send for PrintTo {}
// SAFETY: as above.
unsafe impl Sync for PrintTo {}

impl PrintTo {
    /// Passes a text to the callback, in several pieces if it contains zero bytes.
    fn print(&self, text: &str) {
        let Some(print) = self.print else { return eprint!("{text}") };
        for piece in text.split('\0').filter(|piece| !piece.is_empty()) {
            let piece = [piece.as_bytes(), b"\0"].concat();
            if let Ok(piece) = CStr::from_bytes_with_nul(&piece) {
                // SAFETY: guaranteed by the contract of halfbyte_options_set_print.
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
    /// Copies the options of a handle, or returns the default options for null.
    ///
    /// # Safety
    /// The handle is null, or valid and not freed, and no thread modifies the options.
    pub(crate) unsafe fn of(options: *const Options) -> Options {
        // SAFETY: the caller upholds this function's contract.
        unsafe { options.as_ref() }.cloned().unwrap_or_default()
    }

    /// Starts the watchdog of a call.
    pub(crate) fn watchdog(&self) -> Watchdog {
        match &self.cancel {
            Some(cancel) => Watchdog::with_token(self.limits.clone(), cancel.clone()),
            None => Watchdog::new(self.limits.clone()),
        }
    }

    /// Rejects a text that exceeds the limit.
    pub(crate) fn check_text(&self, text: &str) -> Result<(), Error> {
        let (found, limit) = (text.len() as u64, self.limits.text_bytes);
        if found <= limit {
            return Ok(());
        }
        Err(Error::new(Status::Limit, format!("the text has {found} bytes; the limit is {limit}")))
    }

    /// Calls `what` with the output function of kernels.
    pub(crate) fn printing<T>(&self, what: impl FnOnce(Option<Print<'_>>) -> T) -> T {
        let print = self.print;
        what(Some(Print(&move |text: &str| print.print(text))))
    }
}

/// Token that cancels calls from another thread.
pub struct Cancel(CancelToken);

/// Creates the default options: native code on the caller's thread, without a time limit and with
/// generous other limits.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_options_new() -> *mut Options {
    Box::into_raw(Box::default())
}

/// Creates options with limits for untrusted texts and kernels: 9 seconds, 1.5 GiB of memory, 64
/// MiB of buffers, and others (docs/security.md).
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_options_new_strict() -> *mut Options {
    Box::into_raw(Box::new(Options { limits: Limits::strict(), ..Options::default() }))
}

/// Frees options.
///
/// # Safety
/// `options` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_free(options: *mut Options) {
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::free(options) };
}

/// Sets the engine: HALFBYTE_ENGINE_INTERP, or HALFBYTE_ENGINE_JIT with at most `threads` threads,
/// at least one.
///
/// # Safety
/// `options` is a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_set_engine(options: *mut Options, engine: u32, threads: u32) -> Status {
    let set = || {
        // SAFETY: the caller upholds this function's contract.
        let options = unsafe { ffi::given_mut(options, "options") }?;
        let threads = NonZero::new(u16::try_from(threads).unwrap_or(u16::MAX));
        options.engine = match (engine, threads) {
            (HALFBYTE_ENGINE_INTERP, _) => Engine::Interp,
            (HALFBYTE_ENGINE_JIT, Some(threads)) => Engine::Jit { threads },
            (HALFBYTE_ENGINE_JIT, None) => return Err(Error::new(Status::InvalidArgument, "`threads` is 0")),
            _ => return Err(Error::new(Status::InvalidArgument, format!("unknown engine {engine}"))),
        };
        Ok(())
    };
    // SAFETY: a null pointer means that no error is stored.
    unsafe { ffi::enter(std::ptr::null_mut(), set) }
}

/// Sets one of the limits, HALFBYTE_LIMIT_TEXT_BYTES and so on. UINT64_MAX disables the limit.
///
/// # Safety
/// `options` is a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_set_limit(options: *mut Options, limit: u32, value: u64) -> Status {
    let set = || {
        // SAFETY: the caller upholds this function's contract.
        let options = unsafe { ffi::given_mut(options, "options") }?;
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
            _ => return Err(Error::new(Status::InvalidArgument, format!("unknown limit {limit}"))),
        };
        *place = value;
        Ok(())
    };
    // SAFETY: a null pointer means that no error is stored.
    unsafe { ffi::enter(std::ptr::null_mut(), set) }
}

/// Enables the detection of races and of reads of uninitialised shared memory in directly executed
/// PTX.
///
/// # Safety
/// `options` is a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_set_races(options: *mut Options, races: bool) -> Status {
    let set = || {
        // SAFETY: the caller upholds this function's contract.
        unsafe { ffi::given_mut(options, "options") }?.races = races;
        Ok(())
    };
    // SAFETY: a null pointer means that no error is stored.
    unsafe { ffi::enter(std::ptr::null_mut(), set) }
}

/// Sets the callback for the output of `vprintf` in PTX kernels. Null means standard error.
///
/// # Safety
/// `options` is a valid handle that has not been freed. `print` may be called with `user` from
/// every thread that launches with the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_set_print(
    options: *mut Options,
    print: PrintFn,
    user: *mut c_void,
) -> Status {
    let set = || {
        // SAFETY: the caller upholds this function's contract.
        unsafe { ffi::given_mut(options, "options") }?.print = PrintTo { print, user };
        Ok(())
    };
    // SAFETY: a null pointer means that no error is stored.
    unsafe { ffi::enter(std::ptr::null_mut(), set) }
}

/// Sets the token that cancels all calls with the options; null removes it. The token may be freed
/// before the options.
///
/// # Safety
/// `options` is a valid handle that has not been freed; `cancel` is null or such a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_set_cancel(options: *mut Options, cancel: *const Cancel) -> Status {
    let set = || {
        // SAFETY: the caller upholds this function's contract.
        let (options, cancel) = unsafe { (ffi::given_mut(options, "options")?, cancel.as_ref()) };
        options.cancel = cancel.map(|Cancel(token)| token.clone());
        Ok(())
    };
    // SAFETY: a null pointer means that no error is stored.
    unsafe { ffi::enter(std::ptr::null_mut(), set) }
}

/// Creates a token that can cancel calls.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_cancel_new() -> *mut Cancel {
    Box::into_raw(Box::new(Cancel(CancelToken::default())))
}

/// Cancels current calls within 20 ms, and all later ones, with HALFBYTE_STATUS_CANCELLED. Every
/// thread may call this function at any time.
///
/// # Safety
/// `cancel` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_cancel_request(cancel: *const Cancel) {
    // SAFETY: the caller upholds this function's contract.
    if let Some(Cancel(token)) = unsafe { cancel.as_ref() } {
        token.cancel();
    }
}

/// Frees a token.
///
/// # Safety
/// As halfbyte_cancel_request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_cancel_free(cancel: *mut Cancel) {
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::free(cancel) };
}
