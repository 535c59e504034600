//! Generation of headers for C11 and C++17.

use std::fmt::Write;

use halfbyte_abi::{Param, ParamKind};

use super::{About, Repr, launch, listed, names, says, sentence};
use crate::native::{Function, Status};

/// Names of fixed arguments, which parameters cannot have.
const TAKEN: [&str; 1] = ["trap"];

pub(super) fn header(about: &About<'_>, functions: &[Function]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, about, functions);
    text
}

fn write(out: &mut String, about: &About<'_>, functions: &[Function]) -> std::fmt::Result {
    let About { name, source, machine } = about;
    let guard = guard(name);
    writeln!(out, "/* Kernels of {} as native code for {}.", comment(source), comment(&machine.triple()))?;
    writeln!(out, " * Made by halfbyte with the object that has the functions; it needs no library.")?;
    writeln!(out, " *")?;
    writeln!(
        out,
        " * A function runs its work items one after another and returns HALFBYTE_NATIVE_OK, or why it did not. It allocates"
    )?;
    writeln!(
        out,
        " * nothing and keeps nothing: threads may call it at once, on buffers that they do not write together."
    )?;
    writeln!(out, " * Lengths are counted in elements. */")?;
    writeln!(out, "#ifndef {guard}")?;
    writeln!(out, "#define {guard}\n")?;
    writeln!(out, "#include <stddef.h>")?;
    writeln!(out, "#include <stdint.h>\n")?;
    writeln!(out, "#ifdef __cplusplus")?;
    writeln!(out, "extern \"C\" {{")?;
    writeln!(out, "#endif\n")?;
    shared(out)?;
    for function in functions {
        writeln!(out)?;
        declare(out, function)?;
    }
    writeln!(out, "\n#ifdef __cplusplus")?;
    writeln!(out, "}}")?;
    writeln!(out, "#endif\n")?;
    writeln!(out, "#endif /* {guard} */")
}

/// Writes the declarations that all headers share. Their own include guard permits several headers
/// in one file.
fn shared(out: &mut String) -> std::fmt::Result {
    writeln!(out, "#ifndef HALFBYTE_NATIVE")?;
    writeln!(out, "#define HALFBYTE_NATIVE 1\n")?;
    writeln!(out, "/* What a function returns. */")?;
    writeln!(out, "enum {{")?;
    for status in Status::ALL {
        let comma = if Status::ALL.last() == Some(&status) { "" } else { "," };
        writeln!(out, "    /* {} */", sentence(status.summary()))?;
        writeln!(out, "    {} = {}{comma}", constant(status), status.code())?;
    }
    writeln!(out, "}};\n")?;
    writeln!(out, "/* Where a function stopped. */")?;
    writeln!(out, "struct halfbyte_trap {{")?;
    writeln!(out, "    /* What the function returns. */")?;
    writeln!(out, "    uint32_t kind;")?;
    writeln!(out, "    /* The work item, or of an argument that was refused the number of its parameter. */")?;
    writeln!(out, "    uint32_t item;")?;
    writeln!(out, "    /* The line of the kernel's text. */")?;
    writeln!(out, "    uint32_t line;")?;
    writeln!(out, "    /* The instruction that the line became. */")?;
    writeln!(out, "    uint32_t word;")?;
    writeln!(out, "    /* The address of an access. */")?;
    writeln!(out, "    uint64_t address;")?;
    writeln!(out, "}};\n")?;
    writeln!(out, "/* Sixteen bytes that are loaded and stored at once. */")?;
    writeln!(out, "typedef struct halfbyte_i8x16 {{")?;
    writeln!(out, "#ifdef __cplusplus")?;
    writeln!(out, "    alignas(16) uint8_t lanes[16];")?;
    writeln!(out, "#else")?;
    writeln!(out, "    _Alignas(16) uint8_t lanes[16];")?;
    writeln!(out, "#endif")?;
    writeln!(out, "}} halfbyte_i8x16;\n")?;
    writeln!(out, "/* What a function has returned, in words. */")?;
    writeln!(out, "static inline const char *halfbyte_native_message(int32_t status)")?;
    writeln!(out, "{{")?;
    writeln!(out, "    switch (status) {{")?;
    for status in Status::ALL {
        writeln!(out, "    case {}: return \"{}\";", constant(status), status.summary())?;
    }
    writeln!(out, "    default: return \"an unknown status\";")?;
    writeln!(out, "    }}")?;
    writeln!(out, "}}\n")?;
    writeln!(out, "#endif /* HALFBYTE_NATIVE */")
}

fn declare(out: &mut String, function: &Function) -> std::fmt::Result {
    let names = names(function, &TAKEN);
    let mut arguments = Vec::new();
    writeln!(out, "/* Kernel {}.", comment(&function.kernel))?;
    writeln!(out, " *")?;
    for of in launch(function) {
        let (argument, says) = match *of {
            "items" => ("uint32_t items".to_owned(), "the number of work items"),
            "grid" => ("const uint32_t grid[3]".to_owned(), "the number of blocks along x, y and z"),
            of => (format!("const uint32_t {of}[3]"), "the work items of a block along x, y and z"),
        };
        arguments.push(argument);
        writeln!(out, " *   {of}: {says}")?;
    }
    for (param, [name, length]) in function.parameters.iter().zip(&names) {
        arguments.push(argument(param, name, length));
        writeln!(out, " *   {name}: {}", says(param, Some(length)))?;
    }
    writeln!(out, " *   trap: where it stopped, if it did; may be null")?;
    writeln!(out, " */")?;
    arguments.push("struct halfbyte_trap *trap".to_owned());
    writeln!(out, "{}", listed("", &format!("int32_t {}", function.symbol), &arguments, ";"))
}

fn argument(param: &Param, name: &str, length: &str) -> String {
    let ty = match Repr::of(param.ty()) {
        Repr::Bits(bits) => format!("uint{bits}_t"),
        Repr::F32 => "float".to_owned(),
        Repr::F64 => "double".to_owned(),
        Repr::Vector => "halfbyte_i8x16".to_owned(),
    };
    match param.kind {
        ParamKind::Scalar(_) if Repr::of(param.ty()) == Repr::Vector => format!("const {ty} *{name}"),
        ParamKind::Scalar(_) => format!("{ty} {name}"),
        ParamKind::Buffer { .. } => {
            let constant = if param.is_result() { "" } else { "const " };
            format!("{constant}{ty} *{name}, size_t {length}")
        }
    }
}

fn constant(status: Status) -> String {
    format!("HALFBYTE_NATIVE_{}", status.name().to_uppercase())
}

/// Returns the include guard of a file.
fn guard(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("HALFBYTE_KERNELS_{}", name.chars().map(letter).collect::<String>())
}

/// Escapes a text so that it cannot end the comment that contains it.
fn comment(text: &str) -> String {
    let text = text.replace("*/", "* /").replace("/*", "/ *");
    text.chars().map(|c| if c.is_control() || c == '\\' { '_' } else { c }).collect()
}
