//! Names of kernels in C++.

/// Returns `true` if the name of a kernel is a C++ expression that only the compiler can resolve: a template
/// instance such as `a<float>`, or a name with a signature such as `a(int *)`.
pub fn is_expression(name: &str) -> bool {
    name.contains(['<', '(', '&', ' '])
}

/// Returns the C++ expression for the name of a kernel. A name with a signature, such as `a(int *)`, becomes a cast
/// that selects the overload.
pub(crate) fn expression(name: &str) -> String {
    let name = name.trim();
    match split_signature(name) {
        Some((function, parameters)) => format!("static_cast<void (*)({parameters})>({function})"),
        None => name.to_owned(),
    }
}

/// Splits a name such as `of::a<int>(float *)` into the function and the parameters.
fn split_signature(name: &str) -> Option<(&str, &str)> {
    let inner = name.strip_suffix(')')?;
    let mut depth = 0_usize;
    for (at, c) in inner.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' if depth > 0 => depth -= 1,
            '(' => {
                let function = inner.get(..at)?.trim_end();
                let is_name = function.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '>');
                // A cast, such as `static_cast<T>(a)` or `(T)(a)`, is an expression.
                let is_cast = function.starts_with("static_cast") || function.starts_with(['(', '&']);
                return (is_name && !is_cast).then_some((function, inner.get(at + 1..)?));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_signature_become_casts() {
        for (name, expected) in [
            ("axpy", "axpy"),
            ("of::axpy<float, 3>", "of::axpy<float, 3>"),
            ("a(int*)", "static_cast<void (*)(int*)>(a)"),
            (
                "a<float>( const float *, int (*)(int) )",
                "static_cast<void (*)( const float *, int (*)(int) )>(a<float>)",
            ),
            ("a()", "static_cast<void (*)()>(a)"),
            ("static_cast<void (*)(int *)>(a)", "static_cast<void (*)(int *)>(a)"),
            ("(void (*)(int *))a", "(void (*)(int *))a"),
            ("&a", "&a"),
        ] {
            assert_eq!(expression(name), expected);
        }
    }

    #[test]
    fn some_names_are_expressions() {
        assert!(["a<float>", "a(int)", "&a"].into_iter().all(is_expression));
        assert!(!["a", "of::a", "_Z1aPi"].into_iter().any(is_expression));
    }
}
