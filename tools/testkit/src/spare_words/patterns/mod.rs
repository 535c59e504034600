//! Predicates that match the patterns, grouped by kind of operation. Each file has example texts of its patterns.

pub(crate) mod bits;
pub(crate) mod bytes;
pub(crate) mod compares;
pub(crate) mod constants;
pub(crate) mod lanes;
pub(crate) mod loops;
pub(crate) mod shifts;
pub(crate) mod sums;

/// Example texts of a pattern.
#[cfg(test)]
pub(crate) struct Example {
    /// The pattern's name.
    pub(crate) name: &'static str,
    /// Texts with one match of the pattern, and no match of another pattern.
    pub(crate) found: &'static [&'static str],
    /// Texts without a match of the pattern.
    pub(crate) not_found: &'static [&'static str],
}

/// Returns the examples of all patterns.
#[cfg(test)]
pub(crate) fn examples() -> impl Iterator<Item = &'static Example> {
    let files: [&'static [Example]; 8] = [
        bits::EXAMPLES,
        bytes::EXAMPLES,
        compares::EXAMPLES,
        constants::EXAMPLES,
        lanes::EXAMPLES,
        loops::EXAMPLES,
        shifts::EXAMPLES,
        sums::EXAMPLES,
    ];
    files.into_iter().flatten()
}
