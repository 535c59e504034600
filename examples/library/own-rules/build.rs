//! Compiles the rule book.

fn main() -> Result<(), halfbyte_rulebook::RuleError> {
    halfbyte_rulebook::compile_book("own", &["rules/own.isle"])
}
