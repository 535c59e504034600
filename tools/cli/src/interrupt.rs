//! Handler for Ctrl-C, which cancels the current work and ends the program with exit code 130.

use std::process::exit;
use std::sync::LazyLock;
use std::time::Duration;

use halfbyte::abi::CancelToken;

use super::{meter, say, temporary_file};

/// Exit code after Ctrl-C: 128 plus the signal number.
pub(super) const CODE: u8 = 130;

/// Message that is printed after Ctrl-C.
pub(super) const MESSAGE: &str = "interrupted";

/// Time after Ctrl-C within which cancelled work must end, before the program exits. Work checks
/// for cancellation every 10 ms.
const PATIENCE: Duration = Duration::from_millis(250);

static TOKEN: LazyLock<CancelToken> = LazyLock::new(CancelToken::default);

/// Returns the token that Ctrl-C cancels.
pub(super) fn token() -> CancelToken {
    TOKEN.clone()
}

/// Returns `true` if Ctrl-C was pressed.
pub(super) fn is_pending() -> bool {
    TOKEN.is_cancelled()
}

/// Ignores Ctrl-C in this process, but not in its child processes. The child processes also receive Ctrl-C from the
/// terminal.
pub(super) fn leave_to_children() {
    // A signal handler is not inherited, in contrast to an ignored signal.
    let _ = ctrlc::set_handler(|| {});
}

/// Installs the handler for Ctrl-C.
pub(super) fn listen() {
    // On platforms without signals, the handler cannot be installed. Then Ctrl-C ends the program at once.
    let _ = ctrlc::set_handler(|| {
        if !is_pending() {
            TOKEN.cancel();
            std::thread::sleep(PATIENCE);
        }
        temporary_file::remove_all();
        meter::clear_line();
        say(MESSAGE);
        exit(CODE.into());
    });
}
