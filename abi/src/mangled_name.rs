//! Mangled C++ names, which compilers give to PTX kernels.

/// Prefix of the mangled name of an anonymous namespace.
const ANONYMOUS_NAMESPACE: &str = "_GLOBAL__N";

/// Returns the namespaces and the function of a mangled C++ name: `of` and `axpy` for `_ZN2of4axpyEPf`. Anonymous
/// namespaces are omitted. A name that is not mangled, or whose mangling is invalid, has no parts.
pub fn name_parts(mangled: &str) -> Vec<&str> {
    let mut parts = valid_parts(mangled).unwrap_or_default();
    parts.retain(|part| !part.starts_with(ANONYMOUS_NAMESPACE));
    parts
}

/// Returns the C++ name of a mangled name: `axpy` for `_Z4axpyPfS_f`, `of::axpy` for `_ZN2of4axpyEPf`. Returns other
/// names unchanged.
pub fn plain_name(mangled: &str) -> String {
    let parts = name_parts(mangled);
    if parts.is_empty() { mangled.to_owned() } else { parts.join("::") }
}

fn valid_parts(mangled: &str) -> Option<Vec<&str>> {
    let encoded = mangled.strip_prefix("_Z")?;
    let Some(mut rest) = encoded.strip_prefix('N') else { return Some(vec![split_part(encoded)?.0]) };
    let mut parts = Vec::new();
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let (part, after) = split_part(rest)?;
        parts.push(part);
        rest = after;
    }
    // `E` ends a nested name, after template arguments or ABI tags.
    rest.contains('E').then_some(parts)
}

/// Splits a part, which follows its length in decimal digits, from the start of a text.
fn split_part(text: &str) -> Option<(&str, &str)> {
    let (length, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let length: usize = length.parse().ok().filter(|length| *length > 0)?;
    rest.split_at_checked(length).filter(|(part, _)| part.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_names_have_parts() {
        let cases: [(&str, &[&str]); 9] = [
            ("_Z4axpyPfS_f", &["axpy"]),
            ("_Z1kIfEvPT_", &["k"]),
            ("_ZN2of4axpyEPf", &["of", "axpy"]),
            ("_ZN2of2v11iIfEEvPT_", &["of", "v1", "i"]),
            ("_ZN12_GLOBAL__N_11kEv", &["k"]),
            ("_ZN2of36_GLOBAL__N__00000000_4_a_cu_0012fcaf1tIfEEvPT_", &["of", "t"]),
            ("_ZN8__main__3addB2v1B108cw51cXTLSUwv1sDE5ArrayIfLi1E1C7mutable7alignedE", &["__main__", "add"]),
            ("_ZN4test1f12_3clocals_3e7reverseB2v1E", &["test", "f", "_3clocals_3e", "reverse"]),
            ("_ZN4main12_3clambda_3eB2v1E", &["main", "_3clambda_3e"]),
        ];
        for (name, parts) in cases {
            assert_eq!(name_parts(name), parts);
            assert_eq!(plain_name(name), parts.join("::"));
        }
    }

    #[test]
    fn other_names_have_no_parts() {
        let not_mangled = ["", "axpy", "of::axpy", "4axpy", "_Z", "_ZN", "_ZNE", "_Zeq", "_ZN12_GLOBAL__N_1E"];
        let bad_lengths = ["_Z9axpy", "_Z99k", "_Z0k", "_ZN2of0E", "_ZN2of9axpyE", "_Z99999999999999999999a"];
        let truncated = ["_Z4", "_ZN4", "_ZN2of", "_ZN2of4", "_ZN2of4axpy", "_ZN2of4axpyB2v1"];
        let not_ascii = ["_Z1\u{e9}", "_Z2\u{e9}", "_ZN2of2\u{e9}E"];
        for name in not_mangled.into_iter().chain(bad_lengths).chain(truncated).chain(not_ascii) {
            assert!(name_parts(name).is_empty(), "{name}");
            assert_eq!(plain_name(name), name);
        }
    }
}
