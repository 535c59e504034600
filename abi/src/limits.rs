//! How much work may take.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

/// What reading, compiling and running may take. [`Limits::default`] bounds what a mistake can cost; [`Limits::strict`] is for
/// texts of strangers; [`Limits::NONE`] bounds nothing.
///
/// A limit that is met ends the work with [`Exceeded`], which names it. What was made until then is dropped: no result is
/// half a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of a text.
    pub text_bytes: u64,
    /// Bytes of a file that an argument is read from.
    pub file_bytes: u64,
    /// Ops of a kernel, as it is read and after each pass.
    pub ops: u64,
    /// Blocks of a kernel, likewise.
    pub blocks: u64,
    /// Values of a kernel that are live at one place.
    pub live_values: u64,
    /// Bytes of all buffers of a launch.
    pub buffer_bytes: u64,
    /// Work items of a launch.
    pub items: u64,
    /// Instructions executed and backward branches taken by a launch, over all items. It is looked at now and then, so a launch
    /// may do a little more.
    pub work: u64,
    /// Bytes of memory that the process has at any time, where the system tells them (Linux). It is looked at every few milliseconds.
    pub memory: u64,
    /// Wall time, from the making of the [`Watchdog`](crate::Watchdog) on. Where there is no [clock](crate::clock) it is not watched;
    /// [`Limits::work`] is everywhere.
    pub time: Option<Duration>,
}

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

impl Limits {
    /// No limits but those of the formats.
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

    /// For texts of one's own: far beyond what kernels need, and no limit of time or work.
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

    /// For texts of strangers: 10 seconds and 2 GiB at most.
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

/// A limit that was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Exceeded {
    /// Someone has asked for an end.
    #[error("cancelled")]
    Cancelled,
    /// [`Limits::text_bytes`].
    #[error("the text has {found} bytes; at most {limit} are read")]
    Text {
        /// Bytes of the text.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// [`Limits::ops`].
    #[error("{found} ops; at most {limit} are compiled")]
    Ops {
        /// Ops of the kernel.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// [`Limits::blocks`].
    #[error("{found} blocks; at most {limit} are compiled")]
    Blocks {
        /// Blocks of the kernel.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// [`Limits::live_values`].
    #[error("{found} values are live at one place; at most {limit} are compiled")]
    LiveValues {
        /// Live values.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// [`Limits::buffer_bytes`].
    #[error("the buffers have {found} bytes; a launch has at most {limit}")]
    Buffers {
        /// Bytes of all buffers.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// [`Limits::items`].
    #[error("{found} work items; a launch has at most {limit}")]
    Items {
        /// Work items of the launch.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// [`Limits::work`].
    #[error("more than {limit} instructions and backward branches over all work items")]
    Work {
        /// The limit.
        limit: u64,
    },
    /// [`Limits::memory`].
    #[error("more than {} of memory", Size(*limit))]
    Memory {
        /// The limit in bytes.
        limit: u64,
    },
    /// [`Limits::time`].
    #[error("not done after {} s", limit.as_secs_f64())]
    Time {
        /// The limit.
        limit: Duration,
    },
}

impl Exceeded {
    /// The limit's name: that of the field of [`Limits`], or `cancel`.
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

/// Bytes, in the largest unit that they are a whole number of.
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
    fn messages_name_the_figures() {
        assert_eq!(Exceeded::Memory { limit: 3 << 29 }.to_string(), "more than 1536 MiB of memory");
        assert_eq!(Exceeded::Memory { limit: 2 << 30 }.to_string(), "more than 2 GiB of memory");
        assert_eq!(Exceeded::Memory { limit: 0 }.to_string(), "more than 0 bytes of memory");
        assert_eq!(Exceeded::Time { limit: Duration::from_millis(1500) }.to_string(), "not done after 1.5 s");
        let ops = Exceeded::Ops { found: 7, limit: 5 };
        assert_eq!((ops.to_string().as_str(), ops.name()), ("7 ops; at most 5 are compiled", "ops"));
    }
}
