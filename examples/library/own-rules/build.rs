//! Build script: compiles the rule book `rules/own.isle`.

fn main() -> Result<(), halfbyte_rulebook::RuleError> {
    halfbyte_rulebook::compile_book("own", &["rules/own.isle"])
}
