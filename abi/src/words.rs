//! Enumerations that texts have as words.

/// An enumeration of words that texts have. It says how each is written and read.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$of:meta])* $variant:ident $text:literal $doc:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
