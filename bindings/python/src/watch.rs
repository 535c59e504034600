//! Work without the GIL that Ctrl-C and a time limit end.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use halfbyte::abi::{CancelToken, Limits, Watchdog};
use pyo3::prelude::*;

use crate::keyword;

/// How often Python is asked whether a signal has come. A handler runs no later than this after its signal.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// The exception that a signal's handler has raised: mostly `KeyboardInterrupt`.
#[derive(Clone, Default)]
struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Runs the handlers of signals that have come. On other threads than Python's main one this does nothing, as Python has it.
    fn look(&self, token: &CancelToken) {
        // Where the interpreter is being shut down there is nobody left to tell.
        let looked = Python::try_attach(|py| py.check_signals());
        if let Some(Err(raised)) = looked {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
            token.cancel();
        }
    }

    fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The limits of work that may take so many seconds.
pub(crate) fn limits(timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Limits> {
    Ok(Limits { time: timeout.map(keyword::timeout).transpose()?, ..Limits::NONE })
}

/// Does work without the GIL. A signal whose handler raises ends it, and what was raised is the result.
///
/// The work is done on the caller's thread, which now and then looks for signals as it asks the watchdog. Where it `shares` its work with other
/// threads, so that the caller's may be idle while they go on, all of it is done on another one.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    limits: Limits,
    shares: bool,
    work: impl FnOnce(&Watchdog) -> T + Send,
) -> PyResult<T> {
    let raised = Raised::default();
    let done = if shares {
        let watchdog = Watchdog::new(limits);
        py.detach(|| apart(&watchdog, &raised, work))
    } else {
        let looker = raised.clone();
        let look = move |token: &CancelToken| looker.look(token);
        let watchdog = Watchdog::with_beat(limits, CancelToken::default(), BETWEEN_LOOKS, look);
        py.detach(|| work(&watchdog))
    };
    match raised.take() {
        Some(raised) => Err(raised),
        None => Ok(done),
    }
}

/// Does work on another thread, and looks for signals meanwhile.
fn apart<T: Send>(watchdog: &Watchdog, raised: &Raised, work: impl FnOnce(&Watchdog) -> T + Send) -> T {
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel::<()>();
        let worker = scope.spawn(move || {
            let done = work(watchdog);
            drop(sender);
            done
        });
        while receiver.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
            raised.look(watchdog.token());
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
