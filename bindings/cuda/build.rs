//! Generates the exported functions of `functions.txt` that have no Rust code, and the table of all exported functions.
//! Sets the soname of the library.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::env::var;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

const LIST: &str = "functions.txt";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={LIST}");
    if var("CARGO_CFG_TARGET_OS")? == "linux" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        // `-z defs` makes an undefined function a linker error. `-Bsymbolic-functions` binds jumps to this library even
        // if the process has loaded another driver.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,defs,-Bsymbolic-functions");
    }
    let text = fs::read_to_string(LIST)?;
    let rows = rows(&text)?;
    let out = PathBuf::from(var("OUT_DIR")?).join("functions.rs");
    fs::write(out, generated(&rows, &var("CARGO_CFG_TARGET_ARCH")?)?)?;
    Ok(())
}

/// Row of the list: an exported symbol.
struct Row<'a> {
    name: &'a str,
    version: u32,
    symbol: &'a str,
    how: How<'a>,
}

/// Implementation of a symbol.
#[derive(PartialEq)]
enum How<'a> {
    /// A Rust function of that name.
    Own,
    /// A jump to a Rust function.
    Alias(&'a str),
    /// A function that reports that it is not implemented.
    Missing,
}

/// Parses a row, or returns `None` if it is malformed.
fn row(line: &str) -> Option<Row<'_>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (&[name, version, symbol], how) = words.split_first_chunk()?;
    let how = match how {
        ["own"] => How::Own,
        ["as", target] => How::Alias(target),
        ["-"] => How::Missing,
        _ => return None,
    };
    Some(Row { name, version: version.parse().ok()?, symbol, how })
}

/// Parses the list and checks that its symbols are unique and that the target of each alias is a Rust function.
fn rows(text: &str) -> Result<Vec<Row<'_>>, String> {
    let (mut rows, mut lines) = (Vec::new(), BTreeMap::new());
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.is_empty() && !text.starts_with('#')) {
        let row = row(text).ok_or_else(|| format!("{LIST}:{line}: expected NAME VERSION SYMBOL HOW"))?;
        if let Some(first) = lines.insert(row.symbol, line) {
            return Err(format!("{LIST}:{line}: `{}` is already in line {first}", row.symbol));
        }
        rows.push(row);
    }
    let own: Vec<&str> = rows.iter().filter(|row| row.how == How::Own).map(|row| row.symbol).collect();
    for Row { symbol, how, .. } in &rows {
        if let How::Alias(target) = how
            && !own.contains(target)
        {
            return Err(format!("{LIST}: `{symbol}` is an alias of `{target}`, which is not marked `own`"));
        }
    }
    Ok(rows)
}

/// Generates the Rust code for a list on an architecture.
fn generated(rows: &[Row<'_>], arch: &str) -> Result<String, Box<dyn Error>> {
    let jump = match arch {
        "x86_64" => "jmp {}",
        "aarch64" => "b {}",
        _ => return Err(format!("the driver library does not support the architecture {arch}").into()),
    };
    let mut code = String::new();
    for Row { symbol, how, .. } in rows {
        match how {
            How::Own => {}
            How::Alias(target) => write!(
                code,
                "#[unsafe(no_mangle)]\n#[unsafe(naked)]\npub extern \"C\" fn {symbol}() {{\n    \
                 core::arch::naked_asm!(\"{jump}\", sym symbols::{target})\n}}\n"
            )?,
            How::Missing => write!(
                code,
                "#[unsafe(no_mangle)]\npub extern \"C\" fn {symbol}() -> Status {{\n    \
                 not_supported(\"{symbol}\")\n}}\n"
            )?,
        }
    }
    // The table refers to all functions as symbols, because the modules and the signatures of the Rust functions are
    // unknown here.
    code.push_str("mod symbols {\n    unsafe extern \"C\" {\n");
    for Row { symbol, .. } in rows {
        writeln!(code, "        pub fn {symbol}();")?;
    }
    code.push_str("    }\n}\n/// All exported functions, sorted by name and from the newest version to the oldest.\n");
    code.push_str("pub static FUNCTIONS: &[Function] = &[\n");
    let mut sorted: Vec<&Row<'_>> = rows.iter().collect();
    sorted.sort_by_key(|row| (row.name, Reverse(row.version)));
    for Row { name, version, symbol, .. } in sorted {
        let per_thread = symbol.ends_with("_ptsz") || symbol.ends_with("_ptds");
        writeln!(
            code,
            "    Function {{ name: \"{name}\", version: {version}, symbol: \"{symbol}\", \
             address: symbols::{symbol}, is_per_thread: {per_thread} }},"
        )?;
    }
    code.push_str("];\n");
    Ok(code)
}
