//! WebAssembly module that checks kernels: the evaluator and the interpreters of all targets must
//! give the expected results of the run lines.
//!
//! The host writes a text to the memory that [`room`] returns, and calls [`check()`]. If the check
//! fails, [`message`] returns the error. Only one thread at a time may call the module.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use halfbyte_runtime::Engine;
use halfbyte_testkit::check::{self, Outcome};

static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static MESSAGE: Mutex<String> = Mutex::new(String::new());

fn held<T>(of: &'static Mutex<T>) -> MutexGuard<'static, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates memory for a text of `bytes` bytes. The memory is valid until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    let mut text = held(&TEXT);
    text.clear();
    text.resize(bytes, 0);
    text.as_mut_ptr()
}

/// Compiles the kernels of the text, runs their launches and compares the results. Returns the
/// number of launches, or -1 on an error, which [`message`] describes.
#[unsafe(no_mangle)]
pub extern "C" fn check() -> i32 {
    let checked = launches(&String::from_utf8_lossy(&held(&TEXT)));
    checked.unwrap_or_else(|wrong| {
        *held(&MESSAGE) = wrong;
        -1
    })
}

/// Returns the start of the message of the last failed check. The memory is valid until the next call of [`check()`].
#[unsafe(no_mangle)]
pub extern "C" fn message() -> *const u8 {
    held(&MESSAGE).as_ptr()
}

/// Returns the length of the message in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn message_bytes() -> usize {
    held(&MESSAGE).len()
}

fn launches(text: &str) -> Result<i32, String> {
    let Outcome { runs, failures, .. } = check::check("<text>", text, Path::new(""), &[Engine::Interp]);
    match failures {
        None => Ok(runs as i32),
        Some(report) => Err(report.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_checked_and_what_is_wrong_is_told() {
        let text = "; run: halu, ptx: @twice items=2 x=[1.0, 3.0] -> x=[0x4000, 0x4600]
kernel @twice(%x: inout f16) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %r = fadd.f16 %v, %v
  store %r, %x[%i]
  ret
}
";
        assert_eq!(launches(text), Ok(1));
        assert!(launches("kernel @k(").is_err_and(|message| message.contains("<text>:1:")));
    }
}
