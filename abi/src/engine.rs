//! Engines that execute kernels.

use std::fmt;
use std::num::NonZero;

/// The engine that executes a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Engine {
    /// The interpreter, which runs one item after another.
    #[default]
    Interp,
    /// Native code, translated from the kernel at the first launch. The results equal those of the interpreter.
    Jit {
        /// Maximum number of threads. Small launches use fewer threads.
        threads: NonZero<u16>,
    },
    /// The first GPU of the CUDA driver, for PTX kernels. This engine counts neither instructions nor branches, so a
    /// launch has no [`Stats`](crate::Stats) and no budget. The GPU decides how an invalid access is handled.
    Cuda,
}

impl Engine {
    /// The native engine on one thread.
    pub const JIT: Engine = Engine::Jit { threads: NonZero::<u16>::MIN };
    /// All engines that run on the host's CPU, with one thread each.
    pub const ALL: [Engine; 2] = [Engine::Interp, Engine::JIT];

    /// Returns `interp`, `jit` or `cuda`.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Interp => "interp",
            Engine::Jit { .. } => "jit",
            Engine::Cuda => "cuda",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
