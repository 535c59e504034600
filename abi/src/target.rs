//! What kernels are compiled for, by name.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::sm::Sm;

/// What kernels are compiled for. It is a name: how kernels are selected, encoded and run for it is said by those who have it in
/// their lists.
#[derive(Clone, Copy)]
pub struct Target(&'static Descriptor);

/// What everyone may know of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor {
    /// Its name on run lines and on the command line, without the SM version.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// The number that stands for it in an object, with [`sm`](Descriptor::sm).
    pub code: u16,
    /// What a kernel for it is.
    pub form: Form,
    /// The SM version that it is, where it has one.
    pub sm: Option<Sm>,
}

/// What a kernel for a target is, and with it what an object says of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Words, which each work item runs for itself.
    Threads,
    /// Words, which do several work items at once, on tiles of the buffers.
    Tiles,
    /// Text for another assembler, which each work item runs for itself.
    Text,
}

impl Target {
    /// The target that is described so. There is to be one of a name and an SM version.
    pub const fn new(descriptor: &'static Descriptor) -> Target {
        Target(descriptor)
    }

    /// The name on run lines and on the command line, without the SM version.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// What it is, in a few words.
    pub const fn summary(self) -> &'static str {
        self.0.summary
    }

    /// What a kernel for it is.
    pub const fn form(self) -> Form {
        self.0.form
    }

    /// Its SM version, where it has one.
    pub const fn sm(self) -> Option<Sm> {
        self.0.sm
    }

    /// The number that stands for the target in an object, and its SM version or 0.
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
