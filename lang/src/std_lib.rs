//! The library of functions: `include "std/..."`.

/// Each file with its text.
const FILES: &[(&str, &str)] = &[
    ("std/activation", include_str!("../std/activation.hb")),
    ("std/pixel", include_str!("../std/pixel.hb")),
    ("std/quant", include_str!("../std/quant.hb")),
    ("std/round", include_str!("../std/round.hb")),
    ("std/transform", include_str!("../std/transform.hb")),
];

/// The text of a file of the library.
pub(crate) fn text(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

/// The names of its files.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}
