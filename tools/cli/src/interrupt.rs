//! Ctrl-C: work that can be cancelled is, and the program ends with exit code 130.

use std::process::exit;
use std::sync::LazyLock;
use std::time::Duration;

use halfbyte::abi::CancelToken;

use super::{draft, meter, say};

/// The exit code of a program that Ctrl-C has ended: 128 and the number of the signal.
pub(super) const CODE: u8 = 130;

/// What is said then.
pub(super) const MESSAGE: &str = "interrupted";

/// How long work may take to end by itself. It looks up every 10 ms; what cannot is left as it is.
const PATIENCE: Duration = Duration::from_millis(250);

static TOKEN: LazyLock<CancelToken> = LazyLock::new(CancelToken::default);

/// What Ctrl-C cancels.
pub(super) fn token() -> CancelToken {
    TOKEN.clone()
}

/// Whether there was a Ctrl-C.
pub(super) fn is_pending() -> bool {
    TOKEN.is_cancelled()
}

/// From now on Ctrl-C ends the program so.
pub(super) fn listen() {
    // Where there are no signals there is nothing to listen to.
    let _ = ctrlc::set_handler(|| {
        if !is_pending() {
            TOKEN.cancel();
            std::thread::sleep(PATIENCE);
        }
        draft::remove_all();
        meter::clear_line();
        say(MESSAGE);
        exit(CODE.into());
    });
}
