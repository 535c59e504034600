//! What an access or a fence orders, and for whom.

use std::fmt;

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$of:meta])* $variant:ident $text:literal $doc:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub enum $name { $($(#[$of])* #[doc = $doc] $variant,)* }

        impl $name {
            /// Every one.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The name in text.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The one of that name.
            pub fn from_name(name: &str) -> Option<$name> {
                match name { $($text => Some($name::$variant),)* _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

words! {
    /// Which other accesses an atomic one, or a fence, orders.
    MemOrder {
        #[default]
        Relaxed "relaxed" "None.",
        Acquire "acquire" "Those that come after it.",
        Release "release" "Those that come before it.",
        AcqRel "acq_rel" "Those before it and those after it.",
        SeqCst "seq_cst" "Likewise, and all that say so have one order.",
    }
}

words! {
    /// Among which items an access is atomic and orders others.
    Scope {
        Group "group" "The items of the group.",
        #[default]
        Device "device" "All items that the device runs.",
        System "system" "Those of other devices, and the host, too.",
    }
}

impl MemOrder {
    /// Whether what others have released is known after it.
    pub const fn acquires(self) -> bool {
        matches!(self, MemOrder::Acquire | MemOrder::AcqRel | MemOrder::SeqCst)
    }

    /// Whether what came before it is made known.
    pub const fn releases(self) -> bool {
        matches!(self, MemOrder::Release | MemOrder::AcqRel | MemOrder::SeqCst)
    }
}
