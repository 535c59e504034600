//! Standard library of the kernel language: `include "std/..."`.

/// Path and text of each file of the standard library.
const FILES: &[(&str, &str)] = &[
    ("std/activation", include_str!("../std/activation.hb")),
    ("std/colour", include_str!("../std/colour.hb")),
    ("std/group", include_str!("../std/group.hb")),
    ("std/half", include_str!("../std/half.hb")),
    ("std/load", include_str!("../std/load.hb")),
    ("std/pixel", include_str!("../std/pixel.hb")),
    ("std/quant", include_str!("../std/quant.hb")),
    ("std/round", include_str!("../std/round.hb")),
    ("std/transform", include_str!("../std/transform.hb")),
];

/// Returns the text of the standard library file with the given path, if any.
pub(crate) fn text(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

/// Returns the paths of the files of the standard library.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    library().map(|(name, _)| name)
}

/// Returns the file of the standard library that defines a function, if any.
pub(crate) fn file_of(function: &str) -> Option<&'static str> {
    let is = |line: &str| {
        let after = line.strip_prefix("fn ").and_then(|rest| rest.strip_prefix(function));
        after.is_some_and(|after| after.starts_with(['(', '<']))
    };
    FILES.iter().find(|(_, text)| text.lines().any(is)).map(|(name, _)| *name)
}

/// Returns the include path and text of each standard library file.
pub fn library() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().copied()
}
