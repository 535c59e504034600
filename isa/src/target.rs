//! The machines that kernels are compiled for.

use std::fmt;

/// A target machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// The packed-half and video machine: 128-bit words, a work item is a thread.
    Halu,
    /// The vector processor: 32-bit words in bundles, work items are packed into lanes.
    Vp1,
    /// PTX text for an NVIDIA GPU.
    Ptx {
        /// The SM version: 90 for `sm_90`.
        sm: u16,
    },
}

/// The SM versions that PTX is made for.
pub const SMS: [u16; 5] = [75, 80, 90, 100, 120];

impl Target {
    /// The name on run lines and on the command line, without the SM version.
    pub const fn name(self) -> &'static str {
        match self {
            Target::Halu => "halu",
            Target::Vp1 => "vp1",
            Target::Ptx { .. } => "ptx",
        }
    }

    /// The number that stands for the target in an object, and its SM version or 0.
    pub const fn code(self) -> (u16, u16) {
        match self {
            Target::Halu => (1, 0),
            Target::Vp1 => (2, 0),
            Target::Ptx { sm } => (3, sm),
        }
    }

    /// The target of [`code`](Target::code).
    pub const fn from_code(code: (u16, u16)) -> Option<Target> {
        match code {
            (1, 0) => Some(Target::Halu),
            (2, 0) => Some(Target::Vp1),
            (3, sm) => Some(Target::Ptx { sm }),
            _ => None,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Ptx { sm } => write!(f, "ptx sm_{sm}"),
            _ => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_back() {
        for target in [Target::Halu, Target::Vp1, Target::Ptx { sm: 90 }] {
            assert_eq!(Target::from_code(target.code()), Some(target));
        }
        assert_eq!(Target::from_code((0, 0)), None);
        assert_eq!(Target::from_code((1, 90)), None);
    }
}
