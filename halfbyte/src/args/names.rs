//! Lists of valid names in messages, for targets, kernels and parameters.

use halfbyte_ir::Span;
use halfbyte_ir::text::closest;

/// A name with its span in the text.
pub type Name = (String, Span);

/// Lists the valid names for a message, and suggests the name that is closest to `written`.
pub fn one_of(names: &str, written: &str) -> String {
    match closest(written, names.split(", ")) {
        Some(near) => format!("{names}; did you mean `{near}`?"),
        None => names.to_owned(),
    }
}

/// Lists the names of kernels for a message, and suggests the name that is closest to `written`.
pub fn kernel_names<'n>(names: impl Iterator<Item = &'n str>, written: &str) -> String {
    let names: Vec<String> = names.map(|name| format!("@{name}")).collect();
    one_of(&names.join(", "), &format!("@{written}"))
}

/// Lists the names of parameters for a message, and suggests the name that is closest to `written`.
pub fn param_names(names: &[&str], written: &str) -> String {
    if names.is_empty() { "none".into() } else { one_of(&names.join(", "), written) }
}
