//! Generation of Rust bindings.

use std::fmt::Write;

use halfbyte_abi::{Param, ParamKind};

use super::{About, Repr, launch, listed, names, says, sentence};
use crate::native::{Function, Status, symbols};

/// Local variables of the generated functions, whose names parameters cannot have.
const TAKEN: [&str; 2] = ["trap", "status"];

pub(super) fn header(about: &About<'_>, functions: &[Function]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, about, functions);
    text
}

fn write(out: &mut String, about: &About<'_>, functions: &[Function]) -> std::fmt::Result {
    let About { source, machine, .. } = about;
    writeln!(out, "// Kernels of {} as native code for {}.", line(source), line(&machine.triple()))?;
    writeln!(out, "// Made by halfbyte with the object that has the functions; it needs no library.\n")?;
    shared(out)?;
    writeln!(out, "\n/// The functions as the object has them.")?;
    writeln!(out, "#[allow(clippy::too_many_arguments)]")?;
    writeln!(out, "pub mod raw {{")?;
    writeln!(out, "    #[allow(unused_imports)]")?;
    writeln!(out, "    use super::{{Trap, Vector}};\n")?;
    writeln!(out, "    unsafe extern \"C\" {{")?;
    let called = symbols(functions.iter().map(|function| function.kernel.as_str()));
    for (number, (function, name)) in functions.iter().zip(&called).enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        declare(out, function, name)?;
    }
    writeln!(out, "    }}")?;
    writeln!(out, "}}")?;
    functions.iter().zip(&called).try_for_each(|(function, name)| {
        writeln!(out)?;
        wrap(out, function, name)
    })
}

/// Writes the items that do not depend on the kernels.
fn shared(out: &mut String) -> std::fmt::Result {
    writeln!(out, "/// Why a function did not run all work items.")?;
    writeln!(out, "#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]")?;
    writeln!(out, "#[non_exhaustive]")?;
    writeln!(out, "pub enum Status {{")?;
    let failures = || Status::ALL.into_iter().filter(|status| status.code() != 0);
    for status in failures() {
        writeln!(out, "    /// {}", sentence(status.summary()))?;
        writeln!(out, "    {},", variant(status))?;
    }
    writeln!(out, "    /// One that these bindings do not know.")?;
    writeln!(out, "    Unknown,")?;
    writeln!(out, "}}\n")?;
    out.push_str(ERROR);
    writeln!(out, "\nimpl Status {{")?;
    writeln!(out, "    fn of(code: i32) -> Status {{")?;
    writeln!(out, "        match code {{")?;
    for status in failures() {
        writeln!(out, "            {} => Status::{},", status.code(), variant(status))?;
    }
    writeln!(out, "            _ => Status::Unknown,")?;
    writeln!(out, "        }}")?;
    writeln!(out, "    }}\n")?;
    writeln!(out, "    /// It in words.")?;
    writeln!(out, "    pub fn summary(self) -> &'static str {{")?;
    writeln!(out, "        match self {{")?;
    for status in failures() {
        writeln!(out, "            Status::{} => \"{}\",", variant(status), status.summary())?;
    }
    writeln!(out, "            Status::Unknown => \"an unknown status\",")?;
    writeln!(out, "        }}")?;
    writeln!(out, "    }}")?;
    writeln!(out, "}}")
}

/// The generated error type, and the structures that functions take.
const ERROR: &str = r#"/// Why a function did not run all work items, and where it stopped. What is in buffers that it writes is then no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Error {
    /// Why.
    pub status: Status,
    /// Where.
    pub trap: Trap,
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Trap { item, line, address, .. } = self.trap;
        match line {
            0 => write!(f, "{} (parameter {item})", self.status.summary()),
            _ => write!(f, "{} (item {item}, line {line}, address {address:#x})", self.status.summary()),
        }
    }
}

impl core::error::Error for Error {}

/// Where a function stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Trap {
    /// What the function returns.
    pub kind: u32,
    /// The work item, or of an argument that was refused the number of its parameter.
    pub item: u32,
    /// The line of the kernel's text.
    pub line: u32,
    /// The instruction that the line became.
    pub word: u32,
    /// The address of an access.
    pub address: u64,
}

/// Sixteen bytes that are loaded and stored at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C, align(16))]
pub struct Vector(pub [u8; 16]);
"#;

fn declare(out: &mut String, function: &Function, called: &str) -> std::fmt::Result {
    let names = names(function, &TAKEN);
    let mut arguments: Vec<String> =
        launch(function).iter().map(|name| format!("{name}: {}", raw_shape(name))).collect();
    for (param, [name, length]) in function.parameters.iter().zip(&names) {
        let ty = ty(param);
        match param.kind {
            ParamKind::Scalar(_) if Repr::of(param.ty()) == Repr::Vector => {
                arguments.push(format!("{name}: *const {ty}"))
            }
            ParamKind::Scalar(_) => arguments.push(format!("{name}: {ty}")),
            ParamKind::Buffer { .. } => {
                let pointer = if param.is_result() { "*mut" } else { "*const" };
                arguments.push(format!("{name}: {pointer} {ty}"));
                arguments.push(format!("{length}: usize"));
            }
        }
    }
    arguments.push("trap: *mut Trap".to_owned());
    writeln!(out, "        /// [`{called}`](super::{called}), on memory that the caller answers for.")?;
    writeln!(out, "        ///")?;
    writeln!(out, "        /// # Safety")?;
    writeln!(
        out,
        "        /// Each buffer has as many elements as its length says, and nobody else writes it meanwhile, or, where it is written, reads it."
    )?;
    if function.symbol != called {
        writeln!(out, "        #[link_name = \"{}\"]", function.symbol)?;
    }
    writeln!(out, "{}", listed("        ", &format!("pub fn {called}"), &arguments, " -> i32;"))
}

fn wrap(out: &mut String, function: &Function, called: &str) -> std::fmt::Result {
    let names = names(function, &TAKEN);
    let shape = launch(function);
    let mut arguments: Vec<String> = shape.iter().map(|name| format!("{name}: {}", safe_shape(name))).collect();
    let mut given: Vec<String> = shape
        .iter()
        .map(|name| if *name == "items" { "items".to_owned() } else { format!("{name}.as_ptr()") })
        .collect();
    writeln!(out, "/// Kernel {}.", line(&function.kernel))?;
    if !function.parameters.is_empty() {
        writeln!(out, "///")?;
    }
    for (param, [name, _]) in function.parameters.iter().zip(&names) {
        let ty = ty(param);
        writeln!(out, "/// * `{name}`: {}", says(param, None))?;
        match param.kind {
            ParamKind::Scalar(_) => {
                arguments.push(format!("{name}: {ty}"));
                given.push(if Repr::of(param.ty()) == Repr::Vector { format!("&{name}") } else { name.clone() });
            }
            ParamKind::Buffer { .. } if param.is_result() => {
                arguments.push(format!("{name}: &mut [{ty}]"));
                given.extend([format!("{name}.as_mut_ptr()"), format!("{name}.len()")]);
            }
            ParamKind::Buffer { .. } => {
                arguments.push(format!("{name}: &[{ty}]"));
                given.extend([format!("{name}.as_ptr()"), format!("{name}.len()")]);
            }
        }
    }
    writeln!(out, "///")?;
    writeln!(out, "/// # Errors")?;
    writeln!(out, "/// A slice that does not fit; a work item that could not go on.")?;
    writeln!(out, "#[allow(clippy::too_many_arguments)]")?;
    writeln!(out, "{}", listed("", &format!("pub fn {called}"), &arguments, " -> Result<(), Error> {"))?;
    writeln!(out, "    let mut trap = Trap::default();")?;
    writeln!(
        out,
        "    // SAFETY: what the function accesses is in these slices, each access is checked, and it keeps none of them."
    )?;
    given.push("&mut trap".to_owned());
    writeln!(out, "{}", listed("    ", &format!("let status = unsafe {{ raw::{called}"), &given, " };"))?;
    writeln!(out, "    if status == 0 {{ Ok(()) }} else {{ Err(Error {{ status: Status::of(status), trap }}) }}")?;
    writeln!(out, "}}")
}

fn ty(param: &Param) -> String {
    match Repr::of(param.ty()) {
        Repr::Bits(bits) => format!("u{bits}"),
        Repr::F32 => "f32".to_owned(),
        Repr::F64 => "f64".to_owned(),
        Repr::Vector => "Vector".to_owned(),
    }
}

fn raw_shape(name: &str) -> &'static str {
    if name == "items" { "u32" } else { "*const u32" }
}

fn safe_shape(name: &str) -> &'static str {
    if name == "items" { "u32" } else { "[u32; 3]" }
}

fn variant(status: Status) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + letters.as_str())
    };
    status.name().split('_').map(capital).collect()
}

/// Replaces control characters, so that a text fits in a line comment.
fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '_' } else { c }).collect()
}
