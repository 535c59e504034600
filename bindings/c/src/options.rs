//! Options of compilations and launches: the engine, limits, cancellation and output.

use std::ffi::{CStr, c_char, c_void};
use std::num::NonZero;
use std::time::Duration;

use halfbyte::Engine;
use halfbyte::Report;
use halfbyte::abi::{CancelToken, DEFAULT_BUDGET, Limits, Watchdog};
use halfbyte::launch::{Print, RaceCheck};

use crate::error::{Error, Status};
use crate::ffi;

/// Engine: the interpreter, which runs one work item after another on the caller's thread.
pub const HALFBYTE_ENGINE_INTERP: u32 = 0;
/// Engine: native code, which is generated at a kernel's first launch and runs many work items in
/// parallel. A kernel that native code does not support falls back to the interpreter.
pub const HALFBYTE_ENGINE_JIT: u32 = 1;

/// Limit: size of a text in bytes.
pub const HALFBYTE_LIMIT_TEXT_BYTES: u32 = 0;
/// Limit: number of ops in a kernel that is compiled.
pub const HALFBYTE_LIMIT_OPS: u32 = 1;
/// Limit: number of basic blocks in a kernel that is compiled.
pub const HALFBYTE_LIMIT_BLOCKS: u32 = 2;
/// Limit: number of simultaneously live values in a kernel that is compiled.
pub const HALFBYTE_LIMIT_LIVE_VALUES: u32 = 3;
/// Limit: total size in bytes of the buffers of a launch.
pub const HALFBYTE_LIMIT_BUFFER_BYTES: u32 = 4;
/// Limit: number of work items of a launch.
pub const HALFBYTE_LIMIT_ITEMS: u32 = 5;
/// Limit: number of instructions and backward branches that all work items of a launch execute together.
pub const HALFBYTE_LIMIT_WORK: u32 = 6;
/// Limit: memory in bytes that the whole process uses, on systems that report it.
pub const HALFBYTE_LIMIT_MEMORY: u32 = 7;
/// Limit: duration of a call in milliseconds.
pub const HALFBYTE_LIMIT_TIME_MS: u32 = 8;
/// Limit: number of backward branches that one work item executes. The default is 2^20.
pub const HALFBYTE_LIMIT_BUDGET: u32 = 9;

/// Race check: races are not detected.
pub const HALFBYTE_RACES_OFF: u32 = 0;
/// Race check: races are errors, except that two stores of the same value by the same instruction give a warning.
pub const HALFBYTE_RACES_ON: u32 = 1;
/// Race check: all races are errors.
pub const HALFBYTE_RACES_STRICT: u32 = 2;

/// Callback that receives a zero-terminated text: the output of `vprintf` in kernels, or a warning.
/// The thread that launches the kernel calls it.
pub type PrintFn = Option<unsafe extern "C" fn(user: *mut c_void, text: *const c_char)>;

/// Options of compilations and launches. A null pointer means the options that halfbyte_options_new creates.
#[derive(Clone)]
pub struct Options {
    pub(crate) engine: Engine,
    pub(crate) budget: u64,
    pub(crate) races: RaceCheck,
    pub(crate) cooperative: bool,
    limits: Limits,
    cancel: Option<CancelToken>,
    print: PrintTo,
    warn: PrintTo,
}

/// C callback for the output of kernels, and the user pointer that it receives.
#[derive(Clone, Copy)]
struct PrintTo {
    print: PrintFn,
    user: *mut c_void,
}

// SAFETY: the contract of halfbyte_options_set_print permits calls from any thread. Only the thread
// that launches the kernel calls the callback.
unsafe impl Send for PrintTo {}
// SAFETY: the contract of halfbyte_options_set_print permits calls from any thread.
unsafe impl Sync for PrintTo {}

impl PrintTo {
    /// Output to standard error, without a callback.
    const STDERR: PrintTo = PrintTo { print: None, user: std::ptr::null_mut() };

    /// Passes a text to the callback. A text that contains zero bytes is passed in several pieces.
    fn print(&self, text: &str) {
        let Some(print) = self.print else { return eprint!("{text}") };
        for piece in text.split('\0').filter(|piece| !piece.is_empty()) {
            let piece = [piece.as_bytes(), b"\0"].concat();
            if let Ok(piece) = CStr::from_bytes_with_nul(&piece) {
                // SAFETY: the caller of halfbyte_options_set_print guarantees that the callback may
                // be called with this pointer.
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
            races: RaceCheck::Off,
            cooperative: false,
            limits: Limits::generous(),
            cancel: None,
            print: PrintTo::STDERR,
            warn: PrintTo::STDERR,
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

    /// Creates and starts the watchdog of a call.
    pub(crate) fn watchdog(&self) -> Watchdog {
        match &self.cancel {
            Some(cancel) => Watchdog::with_token(self.limits.clone(), cancel.clone()),
            None => Watchdog::new(self.limits.clone()),
        }
    }

    /// Returns an error if a text exceeds the size limit.
    pub(crate) fn check_text(&self, text: &str) -> Result<(), Error> {
        let (found, limit) = (text.len() as u64, self.limits.text_bytes);
        if found <= limit {
            return Ok(());
        }
        Err(Error::new(Status::Limit, format!("the text has {found} bytes; the limit is {limit}")))
    }

    /// Calls `what` with the receiver of the kernels' output.
    pub(crate) fn printing<T>(&self, what: impl FnOnce(Option<Print<'_>>) -> T) -> T {
        let print = self.print;
        what(Some(Print(&move |text: &str| print.print(text))))
    }

    /// Passes a report of warnings to the callback for warnings, or writes it to standard error
    /// without a callback.
    pub(crate) fn warn(&self, report: &Report) {
        self.warn.print(&format!("{report}\n"));
    }
}

/// Token by which another thread can cancel calls.
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

/// Sets the engine: HALFBYTE_ENGINE_INTERP, or HALFBYTE_ENGINE_JIT with at most `threads` threads.
/// `threads` must be at least 1.
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
            (HALFBYTE_ENGINE_JIT, None) => {
                return Err(Error::new(Status::InvalidArgument, "`threads` is 0; expected at least 1"));
            }
            _ => return Err(Error::new(Status::InvalidArgument, format!("unknown engine {engine}"))),
        };
        Ok(())
    };
    // SAFETY: a null pointer means that no error is stored.
    unsafe { ffi::enter(std::ptr::null_mut(), set) }
}

/// Sets the limit with the number `limit`, one of the HALFBYTE_LIMIT constants. UINT64_MAX disables the limit.
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

/// Sets the check for races and for reads of uninitialised shared memory in directly executed PTX:
/// HALFBYTE_RACES_OFF, HALFBYTE_RACES_ON or HALFBYTE_RACES_STRICT.
///
/// # Safety
/// `options` is a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_set_races(options: *mut Options, races: u32) -> Status {
    let set = || {
        // SAFETY: the caller upholds this function's contract.
        let options = unsafe { ffi::given_mut(options, "options") }?;
        options.races = match races {
            HALFBYTE_RACES_OFF => RaceCheck::Off,
            HALFBYTE_RACES_ON => RaceCheck::On,
            HALFBYTE_RACES_STRICT => RaceCheck::Strict,
            _ => return Err(Error::new(Status::InvalidArgument, format!("unknown race check {races}"))),
        };
        Ok(())
    };
    // SAFETY: a null pointer means that no error is stored.
    unsafe { ffi::enter(std::ptr::null_mut(), set) }
}

/// Makes all launches of directly executed PTX cooperative: all blocks of a launch are resident together, so that blocks
/// can wait for each other, as a barrier of the grid does. On the host, a cooperative launch runs in the interpreter.
///
/// # Safety
/// `options` is a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_set_cooperative(options: *mut Options, cooperative: bool) -> Status {
    let set = || {
        // SAFETY: the caller upholds this function's contract.
        unsafe { ffi::given_mut(options, "options") }?.cooperative = cooperative;
        Ok(())
    };
    // SAFETY: a null pointer means that no error is stored.
    unsafe { ffi::enter(std::ptr::null_mut(), set) }
}

/// Sets the callback for the output of `vprintf` in PTX kernels. Null means output to standard error.
///
/// # Safety
/// `options` is a valid handle that has not been freed. `print` may be called with `user` from every thread that
/// launches with the options.
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

/// Sets the callback for warnings about launches. Null means output to standard error.
///
/// # Safety
/// `options` is a valid handle that has not been freed. `warn` may be called with `user` from every thread that
/// launches with the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_options_set_warn(options: *mut Options, warn: PrintFn, user: *mut c_void) -> Status {
    let set = || {
        // SAFETY: the caller upholds this function's contract.
        unsafe { ffi::given_mut(options, "options") }?.warn = PrintTo { print: warn, user };
        Ok(())
    };
    // SAFETY: a null pointer means that no error is stored.
    unsafe { ffi::enter(std::ptr::null_mut(), set) }
}

/// Sets the token that cancels all calls with these options. Null removes the token. The token may be freed before the
/// options.
///
/// # Safety
/// `options` is a valid handle that has not been freed; `cancel` is null, or a valid handle that has not been freed.
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

/// Cancels all calls whose options have this token: current calls within 20 ms, and all later calls
/// at once. They return HALFBYTE_STATUS_CANCELLED. Every thread may call this function at any time.
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

/// Frees a token. Options that still have the token remain valid.
///
/// # Safety
/// `cancel` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_cancel_free(cancel: *mut Cancel) {
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::free(cancel) };
}
