//! The platforms that can run kernels, by name.

use std::fmt;

use halfbyte_abi::Target;

use crate::targets::TARGETS;

/// The platform that a kernel runs on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Platform {
    /// The evaluator of the IR.
    Ir,
    /// The machine of a target, whose code the runtime executes.
    Target(Target),
}

/// Name of the evaluator on run lines and on the command line.
const IR: &str = "ir";

impl Platform {
    /// Returns the platform that has the given name on run lines and on the command line, if any.
    pub fn from_name(name: &str) -> Option<Platform> {
        if name == IR { Some(Platform::Ir) } else { TARGETS.named(name).map(Platform::Target) }
    }

    /// Lists the names of all platforms for a message.
    pub fn names() -> String {
        TARGETS.defaults().fold(IR.to_owned(), |names, target| format!("{names}, {}", target.name()))
    }

    /// Returns the name on run lines and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Platform::Ir => IR,
            Platform::Target(target) => target.name(),
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for name in Platform::names().split(", ") {
            assert_eq!(Platform::from_name(name).map(Platform::name), Some(name));
        }
        assert_eq!(Platform::names(), "ir, halu, vp1, ptx");
        assert_eq!(Platform::from_name("HALU"), None);
    }
}
