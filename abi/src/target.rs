//! Names of compilation targets.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::sm::Sm;

/// Name of a compilation target. The compiler and the runtime have tables that map each target to
/// its code generation and execution.
#[derive(Clone, Copy)]
pub struct Target(&'static Descriptor);

/// Public description of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor {
    /// Name of the target on run lines and on the command line, without the SM version.
    pub name: &'static str,
    /// One-line description of the target.
    pub summary: &'static str,
    /// Number that identifies the target in an object, together with [`sm`](Descriptor::sm).
    pub code: u16,
    /// Format of a compiled kernel.
    pub form: KernelFormat,
    /// SM version, if the target has one.
    pub sm: Option<Sm>,
}

/// Format of a compiled kernel, which also determines the metadata of the kernel in an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelFormat {
    /// Machine code that each work item executes separately.
    Threads,
    /// Machine code that processes several work items at once, on parts (tiles) of the buffers.
    Tiles,
    /// Assembly text for an external assembler, which each work item executes separately.
    Text,
}

impl Target {
    /// Creates a target from a descriptor. Each pair of name and SM version must be unique.
    pub const fn new(descriptor: &'static Descriptor) -> Target {
        Target(descriptor)
    }

    /// Returns the name of the target on run lines and on the command line, without the SM version.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the one-line description of the target.
    pub const fn summary(self) -> &'static str {
        self.0.summary
    }

    /// Returns the format of a compiled kernel.
    pub const fn form(self) -> KernelFormat {
        self.0.form
    }

    /// Returns the SM version of the target, if it has one.
    pub const fn sm(self) -> Option<Sm> {
        self.0.sm
    }

    /// Returns the number that identifies the target in an object, and its SM version. The SM
    /// version is 0 for targets without one.
    pub const fn code(self) -> (u16, u16) {
        match self.0.sm {
            Some(sm) => (self.0.code, sm.number()),
            None => (self.0.code, 0),
        }
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Target) -> bool {
        self.0 == other.0
    }
}

impl Eq for Target {}

impl Hash for Target {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0.name, self.code()).hash(state);
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)?;
        self.0.sm.map_or(Ok(()), |sm| write!(f, " {sm}"))
    }
}
