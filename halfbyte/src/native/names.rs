//! Names of kernels and parameters in C, C++ and Rust.

use std::collections::HashSet;

/// Returns the symbols of the kernels in one object. A symbol equals the kernel's name if C, C++ and linkers permit the
/// name.
///
/// Characters other than letters, digits and `_` become `_`. Keywords of these languages and names of the C library get
/// the suffix `_kernel`. If two symbols would be equal, the later one gets a number.
///
/// ```
/// use halfbyte::native::symbols;
///
/// assert_eq!(symbols(["axpy", "exp", "vec.add", "vec$add"]), ["axpy", "exp_kernel", "vec_add", "vec_add_2"]);
/// ```
pub fn symbols<'n>(kernels: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let symbol = |kernel: &'n str| {
        let mut name = identifier(kernel);
        if is_word(&name) || is_of_library(&name) {
            name += "_kernel";
        }
        let numbered = |number: u32| if number == 1 { name.clone() } else { format!("{name}_{number}") };
        let free = (1..).map(numbered).find(|name| !taken.contains(name)).unwrap_or_default();
        taken.insert(free.clone());
        free
    };
    kernels.into_iter().map(symbol).collect()
}

/// The names that are in use within one function. All are distinct, and none is a keyword of C, C++ or Rust.
#[derive(Debug)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// Creates the set of names in use, initially `taken`.
    pub(super) fn new<'n>(taken: impl IntoIterator<Item = &'n str>) -> Names {
        Names(taken.into_iter().map(str::to_owned).collect())
    }

    /// Chooses distinct names for a parameter and for the length of its buffer.
    pub(super) fn of(&mut self, param: &str) -> [String; 2] {
        let mut name = identifier(param);
        while is_word(&name) || self.0.contains(&name) || self.0.contains(&format!("{name}_len")) {
            name += "_";
        }
        let names = [name.clone(), name + "_len"];
        self.0.extend(names.iter().cloned());
        names
    }
}

fn identifier(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let begins_well = name.starts_with(|c: char| !c.is_ascii_digit());
    let first = if begins_well { "" } else { "_" };
    first.chars().chain(name.chars().map(allowed)).collect()
}

fn is_word(name: &str) -> bool {
    name.chars().all(|c| c == '_') || WORDS.split_ascii_whitespace().any(|word| word == name)
}

fn is_of_library(name: &str) -> bool {
    // Functions of `<math.h>` have variants with the suffixes `f` and `l`.
    let bare = name.strip_suffix(['f', 'l']).unwrap_or(name);
    let is = |list: &str, name: &str| list.split_ascii_whitespace().any(|function| function == name);
    is(LIBRARY, name) || is(MATHS, name) || is(MATHS, bare)
}

/// Keywords of C11, C++20 and Rust.
const WORDS: &str = "
    alignas alignof and and_eq as asm async atomic auto await become bitand bitor bool box break case catch char char8_t char16_t
    char32_t class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue crate decltype
    default delete do double dyn dynamic_cast else enum explicit export extern false final float fn for friend gen goto if impl import
    in inline int let long loop macro match mod module move mut mutable namespace new noexcept not not_eq nullptr operator or or_eq
    override priv private protected pub ref register reinterpret_cast requires restrict return self Self short signed sizeof static
    static_assert static_cast struct super switch template this thread_local throw trait true try type typedef typeid typename
    typeof union unsafe unsigned unsized use using virtual void volatile wchar_t where while xor xor_eq yield _Alignas _Alignof
    _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local linux unix NULL";

/// Functions of the C library, symbols that every program defines, and names in the generated headers.
const LIBRARY: &str = "
    main abort abs accept access alarm aligned_alloc alloca asctime assert atexit atof atoi atol atoll bcmp bcopy bind brk bsearch
    bzero calloc chdir clearerr clock close connect ctime difftime div dup environ errno exec exit fclose feof ferror fflush ffs
    fgetc fgets fopen fork fprintf fputc fputs fread free fscanf fseek fstat ftell fwrite getc getchar getenv gets gmtime index
    ioctl isalnum isalpha isatty isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit kill labs link
    listen llabs lldiv ldiv localtime longjmp lseek malloc mblen mbstowcs mbtowc memccpy memchr memcmp memcpy memmove mempcpy memset
    mkdir mktime mmap munmap nanosleep open pause perror pipe poll printf putc putchar puts qsort raise rand random read realloc
    recv remove rename rewind rindex scanf select send setjmp signal sleep snprintf socket sprintf srand sscanf stat strcat strchr
    strcmp strcoll strcpy strcspn strdup strerror strftime strlen strncat strncmp strncpy strpbrk strrchr strspn strstr strtod
    strtof strtok strtol strtoll strtoul strtoull strxfrm sync system time tmpfile tolower toupper truncate umask ungetc unlink
    vfprintf vprintf vsnprintf vsprintf wait wcstombs wctomb write Vector halfbyte_native_message";

/// Functions of `<math.h>` and `<complex.h>`, in their variants for `double`.
const MATHS: &str = "
    acos acosh asin asinh atan atan2 atanh cabs cacos carg casin catan cbrt ccos ceil cexp cimag clog conj copysign cos cosh cpow
    creal csin csqrt ctan erf erfc exp exp10 exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp
    lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint
    round scalb scalbln scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_names_of_c_and_differ() {
        let names = [
            "axpy",
            "_Z5saxpyifPfS_",
            "exp",
            "expf",
            "int",
            "fn",
            "2d",
            "a.b",
            "a$b",
            "a b",
            "grün",
            "_",
            "main",
            "expl",
        ];
        let expected = [
            "axpy",
            "_Z5saxpyifPfS_",
            "exp_kernel",
            "expf_kernel",
            "int_kernel",
            "fn_kernel",
            "_2d",
            "a_b",
            "a_b_2",
            "a_b_3",
            "gr_n",
            "__kernel",
            "main_kernel",
            "expl_kernel",
        ];
        assert_eq!(symbols(names), expected);
        assert_eq!(symbols(["a", "a", "a_2"]), ["a", "a_2", "a_2_2"]);
    }

    #[test]
    fn parameters_are_called_as_they_are_where_that_can_be() {
        let mut names = Names::new(["items", "trap"]);
        assert_eq!(names.of("x"), ["x", "x_len"]);
        assert_eq!(names.of("items"), ["items_", "items__len"]);
        assert_eq!(names.of("in"), ["in_", "in__len"]);
        // The name of this parameter equals the name for the length of the buffer `x`.
        assert_eq!(names.of("x_len"), ["x_len_", "x_len__len"]);
        assert_eq!(names.of("x"), ["x_", "x__len"]);
        let mut names = Names::new([]);
        assert_eq!(names.of("y_len"), ["y_len", "y_len_len"]);
        assert_eq!(names.of("y"), ["y_", "y__len"]);
    }
}
