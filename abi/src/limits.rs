//! Resource limits of compilation and execution.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

/// Resource limits of parsing, compilation and execution. [`Limits::default`] is for trusted text, and
/// [`Limits::strict`] is for untrusted text. [`Limits::NONE`] sets no limit.
///
/// Work that exceeds a limit ends with [`Exceeded`], which names the limit. Partial results are discarded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum size of a source text in bytes.
    pub text_bytes: u64,
    /// Maximum size in bytes of a file from which an argument is read.
    pub file_bytes: u64,
    /// Maximum number of ops of a kernel, checked after parsing and after each pass.
    pub ops: u64,
    /// Maximum number of blocks of a kernel, checked after parsing and after each pass.
    pub blocks: u64,
    /// Maximum number of values of a kernel that are live at the same point.
    pub live_values: u64,
    /// Maximum size in bytes of all buffers of a launch together.
    pub buffer_bytes: u64,
    /// Maximum number of work items of a launch.
    pub items: u64,
    /// Maximum number of executed instructions and backward branches of a launch, summed over all
    /// items. The count is checked periodically, so a launch can exceed it slightly.
    pub work: u64,
    /// Maximum resident memory of the process in bytes, on systems that report it (Linux). The
    /// limit is checked every few milliseconds.
    pub memory: u64,
    /// Maximum wall-clock time from the creation of the [`Watchdog`](crate::Watchdog). This limit has no effect on
    /// platforms without a [clock](crate::clock); [`Limits::work`] applies everywhere.
    pub time: Option<Duration>,
}

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

impl Limits {
    /// No limits except those of the text and object formats.
    pub const NONE: Limits = Limits {
        text_bytes: u64::MAX,
        file_bytes: u64::MAX,
        ops: u64::MAX,
        blocks: u64::MAX,
        live_values: u64::MAX,
        buffer_bytes: u64::MAX,
        items: u64::MAX,
        work: u64::MAX,
        memory: u64::MAX,
        time: None,
    };

    /// Returns the limits for trusted text. The limits are far above the needs of real kernels.
    /// Time and work are unlimited.
    pub const fn generous() -> Limits {
        Limits {
            text_bytes: GIB,
            file_bytes: GIB,
            ops: 1 << 20,
            blocks: 1 << 18,
            live_values: 1 << 16,
            buffer_bytes: 16 * GIB,
            ..Limits::NONE
        }
    }

    /// Returns the limits for untrusted text: at most 10 seconds and 2 GiB.
    pub const fn strict() -> Limits {
        Limits {
            text_bytes: 16 * MIB,
            file_bytes: 256 * MIB,
            ops: 1 << 16,
            blocks: 1 << 14,
            live_values: 1 << 13,
            buffer_bytes: 64 * MIB,
            items: 1 << 28,
            work: 1 << 34,
            memory: 3 * GIB / 2,
            time: Some(Duration::from_secs(9)),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::generous()
    }
}

/// A limit that was exceeded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Exceeded {
    /// The caller cancelled the work.
    #[error("cancelled")]
    Cancelled,
    /// The text exceeds [`Limits::text_bytes`].
    #[error("the text has {found} bytes; the limit is {limit}")]
    Text {
        /// Size of the text in bytes.
        found: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The kernel exceeds [`Limits::ops`].
    #[error("the kernel has {found} ops; the limit is {limit}")]
    Ops {
        /// Number of ops of the kernel.
        found: u64,
        /// Maximum number of ops.
        limit: u64,
    },
    /// The kernel exceeds [`Limits::blocks`].
    #[error("the kernel has {found} blocks; the limit is {limit}")]
    Blocks {
        /// Number of blocks of the kernel.
        found: u64,
        /// Maximum number of blocks.
        limit: u64,
    },
    /// The kernel exceeds [`Limits::live_values`].
    #[error("{found} values are live at one point; the limit is {limit}")]
    LiveValues {
        /// Number of values that are live at the same point.
        found: u64,
        /// Maximum number of live values.
        limit: u64,
    },
    /// The buffers of the launch exceed [`Limits::buffer_bytes`].
    #[error("the buffers have {found} bytes; the limit is {limit}")]
    Buffers {
        /// Total size of the buffers in bytes.
        found: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The launch exceeds [`Limits::items`].
    #[error("the launch has {found} work items; the limit is {limit}")]
    Items {
        /// Number of work items of the launch.
        found: u64,
        /// Maximum number of work items.
        limit: u64,
    },
    /// The launch exceeds [`Limits::work`].
    #[error("more than {limit} instructions and backward branches over all work items")]
    Work {
        /// Maximum number of instructions and backward branches.
        limit: u64,
    },
    /// The process exceeds [`Limits::memory`].
    #[error("more than {} of memory", Size(*limit))]
    Memory {
        /// The limit in bytes.
        limit: u64,
    },
    /// The work exceeds [`Limits::time`].
    #[error("not done after {} s", limit.as_secs_f64())]
    Time {
        /// Maximum wall-clock time.
        limit: Duration,
    },
}

impl Exceeded {
    /// Returns the name of the limit: the name of the field of [`Limits`], or `cancel`.
    pub const fn name(&self) -> &'static str {
        match self {
            Exceeded::Cancelled => "cancel",
            Exceeded::Text { .. } => "text_bytes",
            Exceeded::Ops { .. } => "ops",
            Exceeded::Blocks { .. } => "blocks",
            Exceeded::LiveValues { .. } => "live_values",
            Exceeded::Buffers { .. } => "buffer_bytes",
            Exceeded::Items { .. } => "items",
            Exceeded::Work { .. } => "work",
            Exceeded::Memory { .. } => "memory",
            Exceeded::Time { .. } => "time",
        }
    }
}

/// A number of bytes, displayed in the largest of the units bytes, KiB, MiB and GiB that divides it.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(GIB, "GiB"), (MIB, "MiB"), (1 << 10, "KiB")];
        let unit = units.into_iter().find(|(unit, _)| self.0 != 0 && self.0.is_multiple_of(*unit));
        let (unit, name) = unit.unwrap_or((1, "bytes"));
        write!(f, "{} {name}", self.0 / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_contain_the_limit() {
        assert_eq!(Exceeded::Memory { limit: 3 << 29 }.to_string(), "more than 1536 MiB of memory");
        assert_eq!(Exceeded::Memory { limit: 2 << 30 }.to_string(), "more than 2 GiB of memory");
        assert_eq!(Exceeded::Memory { limit: 0 }.to_string(), "more than 0 bytes of memory");
        assert_eq!(Exceeded::Time { limit: Duration::from_millis(1500) }.to_string(), "not done after 1.5 s");
        let ops = Exceeded::Ops { found: 7, limit: 5 };
        assert_eq!((ops.to_string().as_str(), ops.name()), ("the kernel has 7 ops; the limit is 5", "ops"));
    }
}
