//! Names of targets, kernels and parameters in messages.

use halfbyte_ir::Span;
use halfbyte_ir::text::closest;

/// A name with its place in the text.
pub type Name = (String, Span);

/// Returns the valid names, with the one closest to the written name.
pub fn one_of(names: &str, written: &str) -> String {
    match closest(written, names.split(", ")) {
        Some(near) => format!("{names}; did you mean `{near}`?"),
        None => names.to_owned(),
    }
}

/// Returns the names of kernels, with the one closest to the written name.
pub fn kernel_names<'n>(names: impl Iterator<Item = &'n str>, written: &str) -> String {
    let names: Vec<String> = names.map(|name| format!("@{name}")).collect();
    one_of(&names.join(", "), &format!("@{written}"))
}

/// Returns the names of parameters, with the one closest to the written name.
pub fn param_names(names: &[&str], written: &str) -> String {
    if names.is_empty() { "none".into() } else { one_of(&names.join(", "), written) }
}
