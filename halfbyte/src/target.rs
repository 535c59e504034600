//! What a kernel runs on, by name.

use std::fmt;

use halfbyte_isa::target::Target;

/// What a kernel runs on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum On {
    /// The evaluator of the IR.
    Ir,
    /// A machine whose words the runtime executes.
    Words(Target),
}

/// The SM version where none is given.
pub const DEFAULT_SM: u16 = 90;

/// The names of what has rules of its own, for messages.
pub const TARGET_NAMES: &str = "halu, vp1 or ptx";

impl On {
    const ALL: [On; 4] =
        [On::Ir, On::Words(Target::Halu), On::Words(Target::Vp1), On::Words(Target::Ptx { sm: DEFAULT_SM })];

    /// All names, for messages.
    pub const NAMES: &str = "ir, halu, vp1, ptx";

    /// By its name on run lines and on the command line.
    pub fn from_name(name: &str) -> Option<On> {
        On::ALL.into_iter().find(|on| on.name() == name)
    }

    /// The name on run lines and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            On::Ir => "ir",
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
        for on in On::ALL {
            assert_eq!(On::from_name(on.name()), Some(on));
        }
        assert_eq!(On::ALL.map(On::name).join(", "), On::NAMES);
        assert_eq!(TARGET_NAMES.replace(" or", ","), On::NAMES.trim_start_matches("ir, "));
        assert_eq!(On::from_name("HALU"), None);
    }
}
