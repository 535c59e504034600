//! Names of kernel parameters in CUDA C++.

use halfbyte_abi::mangled_name::plain_name;

/// Types and qualifiers that may end a parameter without a name.
const TYPE_WORDS: [&str; 16] = [
    "bool",
    "char",
    "short",
    "int",
    "long",
    "signed",
    "unsigned",
    "float",
    "double",
    "half",
    "const",
    "volatile",
    "restrict",
    "__restrict",
    "__restrict__",
    "void",
];

/// Returns the parameter names of the kernel with a mangled or plain name, if the source text has one definition with
/// `count` parameters. A parameter without a name has an empty name.
pub fn parameter_names(source: &str, kernel: &str, count: usize) -> Option<Vec<String>> {
    let plain = plain_name(kernel);
    let name = plain.rsplit("::").next().unwrap_or(&plain);
    let text = without_comments(source);
    let lists = text.match_indices(name).filter_map(|(at, _)| {
        let (before, after) = (text.get(..at)?, text.get(at + name.len()..)?);
        let is_word = !before.ends_with(is_word_char);
        let after = after.trim_start().strip_prefix('(')?;
        let start = before.rfind([';', '{', '}']).map_or(0, |end| end + 1);
        let is_kernel = is_word && before.get(start..)?.contains("__global__");
        let (parameters, after) = split_parameters(after);
        let is_definition = is_kernel && !after.trim_start().starts_with(';');
        is_definition.then_some(parameters)
    });
    let mut fitting = lists.filter(|list| list.len() == count);
    let found: Vec<String> = fitting.next()?.iter().map(|parameter| name_of(parameter).to_owned()).collect();
    // Overloads with the same number of parameters cannot be told apart here.
    fitting.all(|list| list.iter().map(|parameter| name_of(parameter)).eq(found.iter())).then_some(found)
}

/// Returns a PTX text in which the parameters of kernels have the names of the source text: `x` for `_Z1kPf_param_0`.
/// A parameter keeps its name if the source name occurs in the PTX text.
pub fn with_parameter_names(ptx: &str, source: &str, kernels: &[&str]) -> String {
    let mut ptx = ptx.to_owned();
    for kernel in kernels {
        let prefix = format!("{kernel}_param_");
        let numbers = words(&ptx).filter_map(|word| word.strip_prefix(&prefix)?.parse::<usize>().ok());
        let Some(last) = numbers.max() else { continue };
        let Some(names) = parameter_names(source, kernel, last + 1) else { continue };
        let is_free = |name: &String| !name.is_empty() && !has_identifier(&ptx, name);
        let names: Vec<Option<String>> = names.into_iter().map(|name| Some(name).filter(is_free)).collect();
        ptx = renamed(&ptx, &prefix, &names);
    }
    ptx
}

/// Returns `true` if a PTX text has an identifier. Modifiers, such as `.x`, and registers are no identifiers.
fn has_identifier(ptx: &str, name: &str) -> bool {
    ptx.match_indices(name).any(|(at, _)| {
        let (before, after) = (ptx.get(..at).unwrap_or_default(), ptx.get(at + name.len()..).unwrap_or_default());
        !before.ends_with(|c| is_word_char(c) || matches!(c, '.' | '%')) && !after.starts_with(is_word_char)
    })
}

/// Replaces the words that consist of `prefix` and a number by the name with this number.
fn renamed(ptx: &str, prefix: &str, names: &[Option<String>]) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut rest = ptx;
    while let Some((before, after)) = rest.split_once(prefix) {
        text += before;
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, after) = after.split_at(digits);
        let is_whole = !before.ends_with(is_word_char) && !after.starts_with(is_word_char);
        let name = number.parse().ok().and_then(|number: usize| names.get(number)?.as_deref());
        match name.filter(|_| is_whole) {
            Some(name) => text += name,
            None => text.extend([prefix, number]),
        }
        rest = after;
    }
    text + rest
}

/// Returns the identifiers of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word_char(c)).filter(|word| !word.is_empty())
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// Replaces comments and string literals by spaces.
fn without_comments(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find(['/', '"']) {
        let (before, here) = rest.split_at(at);
        text += before;
        let length = if here.starts_with("//") {
            here.find('\n').unwrap_or(here.len())
        } else if here.starts_with("/*") {
            here.find("*/").map_or(here.len(), |end| end + 2)
        } else if here.starts_with('"') {
            length_of_string(here)
        } else {
            text.push('/');
            rest = here.get(1..).unwrap_or_default();
            continue;
        };
        text.push(' ');
        rest = here.get(length..).unwrap_or_default();
    }
    text + rest
}

/// Returns the length of the string literal at the beginning of a text.
fn length_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' | '\n' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Splits the parameters after an opening parenthesis, and returns the text after the closing one.
fn split_parameters(text: &str) -> (Vec<String>, &str) {
    let mut parameters = vec![String::new()];
    let mut depth = 0_usize;
    let mut after = "";
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None => {
                    after = text.get(at + 1..).unwrap_or_default();
                    break;
                }
            },
            ',' if depth == 0 => {
                parameters.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parameters.last_mut() {
            last.push(c);
        }
    }
    match parameters.as_slice() {
        [only] if matches!(only.trim(), "" | "void") => (Vec::new(), after),
        _ => (parameters, after),
    }
}

/// Returns the name in the declaration of a parameter, or an empty string.
fn name_of(parameter: &str) -> &str {
    let declared = parameter.split('=').next().unwrap_or_default().trim_end();
    // An array, `x[4]`, has its name before the bracket.
    let declared = declared.split('[').next().unwrap_or_default().trim_end();
    let start = declared.trim_end_matches(is_word_char);
    let name = declared.get(start.len()..).unwrap_or_default();
    let is_name = !name.starts_with(|c: char| c.is_ascii_digit()) && !TYPE_WORDS.contains(&name);
    // A name follows a type.
    let has_type = start.contains(is_word_char) && !start.ends_with(':');
    if is_name && has_type { name } else { "" }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const SOURCE: &str = "// __global__ void scale(int wrong)
__global__ void __launch_bounds__(128) scale(const float a, float *__restrict__ x, /* the number, */ int n = 3) {}
namespace of { __global__ void axpy(float, of::type<int, 3> p, unsigned int *, float y[4]) { puts(\"axpy(\"); } }
template <class T> __global__ void k(T *a) {}
__device__ void twice(int a) {}
__global__ void over(int a) {}
__global__ void over(float b) {}
__global__ void more(int a) {}
__global__ void more(float b, int c) {}
__global__ void same(int *x) {}
__global__ void same(float *x) {}
__global__ void none() {}
__global__ void later(int *, float b);
__global__ void later(int *a, float b) {}
__global__ void absent(int *a);
__global__ void blank( ) {}
__global__ void empty(void) {}
extern \"C\" __global__ void forms(T a[4], void (*f)(int, int), float (&r)[2], int) { twice(1); }
";

    #[test]
    fn finds_names_in_the_source() {
        let names = |kernel, count| parameter_names(SOURCE, kernel, count).map(|names| names.join(" "));
        assert_eq!(names("_Z5scalefPfi", 3).unwrap(), "a x n");
        assert_eq!(names("_Z5scalefPfi", 2), None);
        assert_eq!(names("_ZN2of4axpyEf4typeIiLi3EEPjPf", 4).unwrap(), " p  y");
        assert_eq!(names("_Z1kIfEvPT_", 1).unwrap(), "a");
        assert_eq!(names("forms", 4).unwrap(), "a   ");
        assert_eq!(names("later", 2).unwrap(), "a b");
        assert_eq!(names("absent", 1), None);
        for kernel in ["none", "blank", "empty"] {
            assert_eq!(names(kernel, 0).unwrap(), "");
            assert_eq!(names(kernel, 1), None);
        }
        for other in ["twice", "puts", "scal", "cale", "missing", "_Z9scale"] {
            assert!((0..4).all(|count| names(other, count).is_none()), "{other}");
        }
    }

    #[test]
    fn overloads_with_one_number_of_parameters_must_have_the_same_names() {
        let names = |kernel, count| parameter_names(SOURCE, kernel, count).map(|names| names.join(" "));
        assert_eq!(names("_Z4overi", 1), None);
        assert_eq!(names("_Z4samePf", 1).unwrap(), "x");
        assert_eq!(names("_Z4morei", 1).unwrap(), "a");
        assert_eq!(names("_Z4morefi", 2).unwrap(), "b c");
        assert_eq!(names("_Z4morefi", 3), None);
    }

    #[test]
    fn parameters_of_ptx_get_their_names() {
        let ptx = ".const .f32 n;\n.entry _Z5scalefPfi(\n.param .f32 _Z5scalefPfi_param_0,\n.param .u64 _Z5scalefPfi_param_1,\n.param .u32 _Z5scalefPfi_param_2\n)\n{ ld.param.f32 %f1, [_Z5scalefPfi_param_0]; mov.u32 %r1, %tid.x; }\n.entry c() {}\n";
        let expected = ptx.replace("_Z5scalefPfi_param_0", "a").replace("_Z5scalefPfi_param_1", "x");
        assert_eq!(with_parameter_names(ptx, SOURCE, &["_Z5scalefPfi", "c"]), expected);
    }
}
