//! The PTX text of a compiler.

/// Returns the names of the kernels in a PTX text, in order.
pub fn entries(ptx: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in ptx.lines().filter_map(entry_of) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns the name of the kernel that a line of PTX begins, if any.
fn entry_of(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let first = words.find(|word| !matches!(*word, ".visible" | ".weak" | ".extern"))?;
    let name = if first == ".entry" { words.next()? } else { return None };
    name.split('(').next()
}

/// Returns a PTX text without the declarations of kernels, and without the lines that contain
/// `removed`. Compilers declare a kernel if a variable holds its address.
pub(crate) fn without_declarations(ptx: &str, removed: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    // The lines from `.entry` on, until `;` ends a declaration or `{` begins a definition.
    let mut head: Option<String> = None;
    for line in ptx.split_inclusive('\n') {
        if line.contains(removed) {
            continue;
        }
        if head.is_none() && entry_of(line).is_some() {
            head = Some(String::new());
        }
        let Some(lines) = &mut head else {
            text += line;
            continue;
        };
        lines.push_str(line);
        if line.contains('{') {
            text.push_str(lines);
            head = None;
        } else if line.contains(';') {
            head = None;
        }
    }
    text += &head.unwrap_or_default();
    text
}

/// Returns the name that a variable of a PTX text has as its value: `k` for `.global .u64 variable = k;`. A mangled
/// name contains the name of the variable.
pub(crate) fn value_of<'p>(ptx: &'p str, variable: &str) -> Option<&'p str> {
    let is_named = |line: &&str| line.split_whitespace().any(|word| word.ends_with(variable)) && line.contains(" = ");
    let line = ptx.lines().find(is_named)?;
    let (_, value) = line.split_once(" = ")?;
    Some(value.trim().trim_end_matches(';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
.version 9.5
\t// .globl\t_Z1aPi
.visible .entry _Z1aPi
(
\t.param .u64 _Z1aPi_param_0
)
;
.global .align 8 .u64 halfbyte_name_0 = _Z1aPi;
.const .align 8 .u64 _ZL15halfbyte_name_1 = _Z1tIfEvPT_;
.visible .entry _Z1aPi(
\t.param .u64 _Z1aPi_param_0
)
.maxntid 128, 1, 1
{
\tret;
}
.weak .entry _Z1tIfEvPT_() { ret; }
.entry c()
{
\tret;
}
";

    #[test]
    fn lists_kernels() {
        assert_eq!(entries(TEXT), ["_Z1aPi", "_Z1tIfEvPT_", "c"]);
    }

    #[test]
    fn removes_declarations_and_lines() {
        let text = without_declarations(TEXT, "halfbyte_name_");
        let expected: Vec<&str> = TEXT.lines().take(2).chain(TEXT.lines().skip(9)).collect();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn finds_values_of_variables() {
        assert_eq!(value_of(TEXT, "halfbyte_name_0"), Some("_Z1aPi"));
        assert_eq!(value_of(TEXT, "halfbyte_name_1"), Some("_Z1tIfEvPT_"));
        assert_eq!(value_of(TEXT, "halfbyte_name_2"), None);
    }
}
