//! Execution platforms of kernels, by name.

use std::fmt;

use halfbyte_abi::Target;

use crate::targets::TARGETS;

/// The platform that a kernel runs on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum On {
    /// The evaluator of the IR.
    Ir,
    /// A machine whose code the runtime executes.
    Words(Target),
}

/// Name of the evaluator.
const IR: &str = "ir";

impl On {
    /// Returns the platform with the given name on run lines and on the command line.
    pub fn from_name(name: &str) -> Option<On> {
        if name == IR { Some(On::Ir) } else { TARGETS.named(name).map(On::Words) }
    }

    /// Returns all names, for messages.
    pub fn names() -> String {
        TARGETS.defaults().fold(IR.to_owned(), |names, target| format!("{names}, {}", target.name()))
    }

    /// Returns the name on run lines and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            On::Ir => IR,
            On::Words(target) => target.name(),
        }
    }
}

impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for name in On::names().split(", ") {
            assert_eq!(On::from_name(name).map(On::name), Some(name));
        }
        assert_eq!(On::names(), "ir, halu, vp1, ptx");
        assert_eq!(On::from_name("HALU"), None);
    }
}
