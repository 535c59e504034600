//! SM versions of NVIDIA GPUs for which the compiler generates code.

use std::fmt;

/// An SM version: `Sm::SM_90` is `sm_90`. The description of each instruction names the first SM
/// version that has the instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Sm(u8);

struct Version {
    number: u16,
    /// First PTX version, major and minor, that accepts this SM version as a target.
    ptx: (u8, u8),
}

macro_rules! versions {
    ($($name:ident $number:literal $ptx:expr, $gpus:literal;)*) => {
        #[expect(non_camel_case_types, reason = "they count")]
        #[repr(u8)]
        enum Index { $($name,)* }

        const VERSIONS: &[Version] = &[$(Version { number: $number, ptx: $ptx },)*];

        impl Sm {
            $(#[doc = $gpus] pub const $name: Sm = Sm(Index::$name as u8);)*

            /// All SM versions, oldest first.
            pub const ALL: [Sm; VERSIONS.len()] = [$(Sm::$name),*];
        }
    };
}

// To add an SM version, add a line here. Then set `since` in the descriptions of the instructions
// that are new in the version.
#[rustfmt::skip]
versions! {
    SM_75  75  (6, 3), "Turing.";
    SM_80  80  (7, 0), "Ampere: A100.";
    SM_86  86  (7, 1), "Ampere: GeForce 30, A40.";
    SM_87  87  (7, 4), "Ampere: Orin.";
    SM_89  89  (7, 8), "Ada: GeForce 40, L40.";
    SM_90  90  (7, 8), "Hopper.";
    SM_100 100 (8, 6), "Blackwell: B200.";
    SM_103 103 (8, 8), "Blackwell: B300.";
    SM_110 110 (9, 0), "Blackwell: Thor.";
    SM_120 120 (8, 7), "Blackwell: GeForce 50.";
    SM_121 121 (8, 8), "Blackwell: Spark.";
}

impl Sm {
    /// The SM version that is used when none is specified.
    pub const DEFAULT: Sm = Sm::SM_90;

    /// Returns the SM version with a number, such as 90 for `sm_90`.
    pub fn new(number: u16) -> Option<Sm> {
        Sm::ALL.into_iter().find(|sm| sm.number() == number)
    }

    /// Returns the number of the SM version, such as 90 for `sm_90`.
    pub const fn number(self) -> u16 {
        VERSIONS[self.0 as usize].number
    }

    /// Returns the first PTX version, major and minor, that accepts this SM version as a target.
    pub const fn ptx_version(self) -> (u8, u8) {
        VERSIONS[self.0 as usize].ptx
    }

    /// Returns the index of the SM version in [`Sm::ALL`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the numbers of all SM versions for messages, separated by commas.
    pub fn names() -> String {
        Sm::ALL.map(|sm| sm.number().to_string()).join(", ")
    }
}

impl fmt::Display for Sm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_parse_from_their_numbers() {
        for sm in Sm::ALL {
            assert_eq!(Sm::new(sm.number()), Some(sm));
            assert_eq!(Sm::ALL[sm.index()], sm);
        }
        assert!(Sm::ALL.is_sorted_by_key(|sm| sm.number()));
        assert_eq!(Sm::new(91), None);
    }
}
