//! Tests that no text makes a reader of this crate panic.

use std::path::Path;

use halfbyte_abi::mangled_name::{name_parts, plain_name};
use proptest::prelude::*;

use crate::cache::decode;
use crate::include::Includes;
use crate::log::{diagnostics, missing_header};
use crate::names::{expression, is_expression};
use crate::parameters::{parameter_names, with_parameter_names};
use crate::ptx::{entries, value_of, without_declarations};

/// Fragments for which the readers search.
const PARTS: &[&str] = &[
    "__global__",
    "void",
    "template",
    "<",
    ">",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ",",
    ";",
    ":",
    "::",
    "*",
    "&",
    "=",
    "\n",
    " ",
    "\"",
    "'",
    "//",
    "/*",
    "*/",
    "\\",
    "#include",
    "# include",
    "<a.h>",
    "\"a.h\"",
    "R\"x(",
    ")x\"",
    "k",
    "_Z",
    "_ZN",
    "1k",
    "E",
    "Pf",
    "999",
    "18446744073709551616",
    ".visible",
    ".entry",
    ".param",
    ".u64",
    ".const",
    ".align",
    ".b8",
    "0x",
    "%r",
    "error",
    "warning",
    "note",
    "fatal error",
    "file.cu",
    "(3)",
    ":3:7:",
    "é",
    "\u{0}",
];

/// Generates texts that consist of these fragments and of other characters.
fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => prop::sample::select(PARTS).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_text_makes_a_reader_panic(text in texts(), other in texts()) {
        diagnostics(&text);
        missing_header(&text);
        decode(&text);
        Includes::of(&text, Path::new("missing"), &["none".into()]);
        is_expression(&text);
        expression(&text);
        plain_name(&text);
        name_parts(&format!("_Z{text}"));
        name_parts(&format!("_ZN{text}"));
        parameter_names(&text, "k", 1);
        parameter_names(&text, &other, 0);
        with_parameter_names(&text, &other, &["k"]);
        without_declarations(&text, &other);
        value_of(&text, &other);
        entries(&text).into_iter().for_each(|entry| assert!(text.contains(entry)));
    }
}
