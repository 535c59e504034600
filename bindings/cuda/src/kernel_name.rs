//! Names of kernels in messages.

/// Returns the source name, without namespaces, of the function behind a PTX entry. Compilers
/// encode the types of the arguments in the name of the entry. Numba also encodes the options of
/// the compilation, so that the name has hundreds of characters.
pub fn readable(entry: &str) -> &str {
    let Some(encoded) = entry.strip_prefix("_Z") else { return entry };
    let (mut rest, is_nested) = encoded.strip_prefix('N').map_or((encoded, false), |nested| (nested, true));
    let mut last = None;
    while let Some((name, after)) = identifier(rest) {
        last = Some(name);
        rest = after;
        if !is_nested {
            break;
        }
    }
    last.unwrap_or(entry)
}

/// Splits an identifier with its length from the start of an encoded name.
fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (length, rest) = text.split_at_checked(digits)?;
    let length: usize = length.parse().ok().filter(|length| *length > 0)?;
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_functions() {
        let names = [
            ("_Z4axpyPfS_f", "axpy"),
            ("_ZN2of4axpyEPf", "axpy"),
            ("_Z1kIfEvPT_", "k"),
            ("_ZN8__main__3addB2v1B108cw51cXTLSUwv1sDE5ArrayIfLi1E1C7mutable7alignedE", "add"),
            ("_ZN4test1f12_3clocals_3e7reverseB2v1E", "reverse"),
        ];
        for (entry, name) in names {
            assert_eq!(readable(entry), name);
        }
    }

    #[test]
    fn other_names_stay() {
        for entry in ["", "axpy", "_Z", "_ZN", "_Zeq", "_Z9axpy", "_ZN4", "_Z99999999999999999999a", "_Z1\u{e9}"] {
            assert_eq!(readable(entry), entry);
        }
    }
}
