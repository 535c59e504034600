//! What a rule table says of a rule. The build scripts of the crates with rules write tables of these.

/// A rule of a rule book.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// The term it is a rule of: `simplify`, `lower`.
    pub term: &'static str,
    /// The file it stands in.
    pub file: &'static str,
    /// Its line there.
    pub line: u32,
    /// What it matches, as it is written.
    pub pattern: &'static str,
    /// Its conditions beside the pattern, in the order they are asked.
    pub guards: &'static [&'static str],
    /// The kernels that it is checked with ([`witnesses`](crate::witness::witnesses)).
    pub checks: &'static [&'static str],
}
