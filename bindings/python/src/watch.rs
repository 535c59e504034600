//! Work while the GIL is released, which Ctrl-C or a time limit can cancel.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use halfbyte::abi::{CancelToken, Limits, Watchdog};
use pyo3::prelude::*;

use crate::keyword;

/// Time between two checks for signals. It limits the delay of a signal handler.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// The exception that a signal handler raised, usually `KeyboardInterrupt`.
#[derive(Clone, Default)]
struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Runs the handlers of pending signals. If a handler raises an exception, stores the exception
    /// and cancels the work. On other threads than Python's main thread, Python ignores the call.
    fn look(&self, token: &CancelToken) {
        // The thread cannot attach while the interpreter shuts down. Signals do not matter then.
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

/// Returns limits that consist of a time limit, if one is given.
pub(crate) fn limits(timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Limits> {
    Ok(Limits { time: timeout.map(keyword::timeout).transpose()?, ..Limits::NONE })
}

/// Runs work while the GIL is released. If a signal handler raises an exception, the work is cancelled and the
/// exception is returned.
///
/// The work runs on the caller's thread, which checks for signals when it polls the watchdog. If `shares` is `true`,
/// the work uses other threads, and the caller's thread may be idle. All work then runs on another thread.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    limits: Limits,
    shares: bool,
    work: impl FnOnce(&Watchdog) -> T + Send,
) -> PyResult<T> {
    let raised = Raised::default();
    let done = if shares {
        let watchdog = Watchdog::new(limits);
        py.detach(|| run_on_thread(&watchdog, &raised, work))
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

/// Runs work on another thread. Meanwhile, the caller's thread checks for signals.
fn run_on_thread<T: Send>(watchdog: &Watchdog, raised: &Raised, work: impl FnOnce(&Watchdog) -> T + Send) -> T {
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
