//! Forwarding of signals to a program.

#[cfg(not(unix))]
pub(super) use no_signals::Forwarding;
#[cfg(unix)]
pub(super) use unix_signals::Forwarding;

#[cfg(unix)]
mod unix_signals {
    use std::process::Child;
    use std::ptr::{null, null_mut};
    use std::sync::atomic::{AtomicI32, Ordering};

    use libc::{SA_RESTART, SIG_IGN, SIGHUP, SIGTERM, c_int, sigaction, sighandler_t};

    /// The signals that are forwarded. A terminal sends the signal of Ctrl-C to the program itself.
    const FORWARDED: [c_int; 2] = [SIGHUP, SIGTERM];

    /// Process ID of the program, or 0 if the program does not run.
    static PROGRAM: AtomicI32 = AtomicI32::new(0);

    /// The last signal that has not been forwarded, or 0.
    static PENDING: AtomicI32 = AtomicI32::new(0);

    /// Handlers that forward signals to a program. Drop restores the previous handlers.
    pub(in crate::exec) struct Forwarding {
        previous: Vec<(c_int, sigaction)>,
    }

    impl Forwarding {
        /// Installs the handlers. A signal waits until [`send_to`](Self::send_to) is called.
        pub(in crate::exec) fn start() -> Forwarding {
            let previous = FORWARDED.into_iter().filter_map(|signal| Some((signal, install(signal)?)));
            Forwarding { previous: previous.collect() }
        }

        /// Forwards signals to a program.
        pub(in crate::exec) fn send_to(&self, program: &Child) {
            PROGRAM.store(c_int::try_from(program.id()).unwrap_or(0), Ordering::SeqCst);
            send_pending();
        }
    }

    impl Drop for Forwarding {
        fn drop(&mut self) {
            PROGRAM.store(0, Ordering::SeqCst);
            for (signal, action) in &self.previous {
                // SAFETY: `sigaction` returned the action for this signal.
                unsafe { sigaction(*signal, action, null_mut()) };
            }
        }
    }

    /// Installs the handler for a signal, and returns the previous action. Returns `None` if the signal is ignored, as
    /// under `nohup`.
    fn install(signal: c_int) -> Option<sigaction> {
        // SAFETY: all fields are integers, sets of signals and optional functions, for which zero is valid.
        let (mut previous, mut action): (sigaction, sigaction) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        // SAFETY: `previous` is valid for writes. The call changes nothing.
        let known = unsafe { sigaction(signal, null(), &raw mut previous) } == 0;
        if !known || previous.sa_sigaction == SIG_IGN {
            return None;
        }
        action.sa_sigaction = forward as *const () as sighandler_t;
        // System calls that the signal interrupts are repeated.
        action.sa_flags = SA_RESTART;
        // SAFETY: the handler takes the number of the signal, and it only calls functions that are permitted in handlers.
        let installed = unsafe { sigaction(signal, &raw const action, null_mut()) } == 0;
        installed.then_some(previous)
    }

    /// Handler of a signal.
    extern "C" fn forward(signal: c_int) {
        PENDING.store(signal, Ordering::SeqCst);
        send_pending();
    }

    /// Sends the pending signal to the program, if the program runs.
    fn send_pending() {
        let program = PROGRAM.load(Ordering::SeqCst);
        if program == 0 {
            return;
        }
        // The handler may interrupt `send_to` here. The swap ensures that a signal is sent only
        // once.
        match PENDING.swap(0, Ordering::SeqCst) {
            0 => {}
            signal => {
                // SAFETY: the call has no requirements. If the program has just ended, the call fails.
                unsafe { libc::kill(program, signal) };
            }
        }
    }
}

#[cfg(not(unix))]
mod no_signals {
    use std::process::Child;

    /// Forwards nothing, because the platform has no signals.
    pub(in crate::exec) struct Forwarding;

    impl Forwarding {
        pub(in crate::exec) fn start() -> Forwarding {
            Forwarding
        }

        pub(in crate::exec) fn send_to(&self, _: &Child) {}
    }
}
