//! What executes kernels.

use std::fmt;
use std::num::NonZero;

/// What executes a kernel's words or lines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Engine {
    /// The interpreter: one item after another.
    #[default]
    Interp,
    /// Native code, made from the words at the first launch. It gives the same results, faster.
    Jit {
        /// Threads at most; as many as pay are used.
        threads: NonZero<u16>,
    },
    /// The first GPU of the CUDA driver, if there is one, for PTX. It counts neither instructions nor branches, so a launch
    /// has no [`Stats`](crate::Stats) and no budget; what it does about a bad access is its own.
    Cuda,
}

impl Engine {
    /// Native code on one thread.
    pub const JIT: Engine = Engine::Jit { threads: NonZero::<u16>::MIN };
    /// Every engine of the host, on one thread.
    pub const ALL: [Engine; 2] = [Engine::Interp, Engine::JIT];

    /// `interp`, `jit` or `cuda`.
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
