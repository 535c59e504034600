//! Suggestion of target triples for invalid user input.

use halfbyte_ir::text::closest;

/// The target triples that are tested. Shell completions and messages list them.
pub const TRIPLES: [&str; 3] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "riscv64gc-unknown-linux-gnu"];

/// Common names of architectures, reduced to letters and digits, each with the architecture's name in target triples.
const ARCHITECTURES: [(&str, &str); 10] = [
    ("x8664", "x86_64"),
    ("amd64", "x86_64"),
    ("x64", "x86_64"),
    ("intel64", "x86_64"),
    ("aarch64", "aarch64"),
    ("arm64", "aarch64"),
    ("armv8", "aarch64"),
    ("riscv64gc", "riscv64gc"),
    ("riscv64", "riscv64gc"),
    ("rv64", "riscv64gc"),
];

/// Returns the tested target triple that an invalid text probably means. If the text begins with
/// the name of an architecture, this is the triple of the architecture. Otherwise it is the triple
/// with the most similar text, if any.
///
/// ```
/// use halfbyte::native::meant;
///
/// assert_eq!(meant("x86-64-linux"), Some("x86_64-unknown-linux-gnu"));
/// assert_eq!(meant("ARM64"), Some("aarch64-unknown-linux-gnu"));
/// assert_eq!(meant("sparc"), None);
/// ```
pub fn meant(text: &str) -> Option<&'static str> {
    let bare: String = text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let named = ARCHITECTURES.iter().find(|(name, _)| bare.starts_with(name));
    match named {
        Some((_, architecture)) => TRIPLES.into_iter().find(|triple| triple.starts_with(architecture)),
        None => closest(&text.to_lowercase(), TRIPLES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_understood() {
        let [x86_64, aarch64, riscv64] = TRIPLES.map(Some);
        for text in
            ["x86-64-linux", "x86_64-unkown-linux-gnu", "amd64", "X64", "x86_64-linux-gnux", "86_64-unknown-linux-gnu"]
        {
            assert_eq!(meant(text), x86_64, "{text}");
        }
        for text in ["aarch64-linux-gnuu", "arm64", "armv8-linux"] {
            assert_eq!(meant(text), aarch64, "{text}");
        }
        for text in ["riscv64-linux", "rv64gc", "riscv64gc-unknown-linux-gnu-"] {
            assert_eq!(meant(text), riscv64, "{text}");
        }
        for text in ["", "sparc", "halu", "s390x"] {
            assert_eq!(meant(text), None, "{text}");
        }
    }
}
