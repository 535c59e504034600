//! Import of PTX kernels into the IR.
//!
//! ```
//! let text = ".version 8.8 .target sm_90 .address_size 64
//! .visible .entry twice(.param .u64 x) {
//!   .reg .b32 %r<6>; .reg .b64 %d<4>;
//!   mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
//!   mad.lo.s32 %r4, %r1, %r2, %r3;
//!   ld.param.u64 %d1, [x];
//!   mul.wide.s32 %d2, %r4, 4;
//!   add.s64 %d3, %d1, %d2;
//!   ld.global.b32 %r5, [%d3];
//!   add.rn.f16x2 %r5, %r5, %r5;
//!   st.global.b32 [%d3], %r5;
//!   ret;
//! }";
//! let kernels = halfbyte_import::import(text, halfbyte_import::Shape::default())?;
//! assert_eq!(kernels[0].to_string(), "\
//! kernel @twice(%x: inout f16x2) {
//! ^entry:
//!   %0 = item_id.x
//!   %1 = load %x[%0]
//!   %2 = fadd.f16x2 %1, %1
//!   store %2, %x[%0]
//!   ret
//! }
//! ");
//! # Ok::<(), Vec<halfbyte_ir::Diagnostic>>(())
//! ```
//!
//! An instruction becomes the corresponding op if there is one. Otherwise the evaluation of its
//! semantics emits ops (`domain`), so that the import and the PTX interpreter share one definition
//! of each instruction. The import consists of these modules:
//!
//! * `builder` holds the state of the import of a kernel, and `emit` imports the kernel instruction
//!   by instruction.
//! * `inline` inlines function calls, and `expand` replaces some instructions by others.
//! * `ssa` converts registers to values, and `types` infers their types.
//! * `provenance` converts parameters to values and buffers.
//! * `address` converts addresses to elements of buffers if their indices are proved to be in
//!   range.
//! * `parameter_copy` copies a parameter to local memory if the kernel computes its address.
//! * `address_space` converts shared and local memory to arrays of bytes.
//! * `collective` imports barriers, shuffles, votes and atomic operations.
//! * `unsupported` reports the instructions that the IR cannot express. A kernel with such an
//!   instruction can only be executed as PTX directly.

mod address;
mod address_space;
mod builder;
mod collective;
mod constant_address;
mod copies;
mod domain;
mod emit;
mod expand;
mod float;
mod flow;
mod fuse;
mod inline;
mod integer;
mod loops;
mod memory;
mod options;
mod parameter_copy;
mod provenance;
mod special;
mod ssa;
mod switch;
mod types;
mod uninitialised;
mod unsupported;
mod video;

use copies::Copies;
use expand::expand;
use halfbyte_ir::text::closest;
use halfbyte_ir::{Diagnostic, Kernel, Span};
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::docs;
use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::text::{self, KernelNumber, ParsedFile};
use inline::{Inlined, inline, reads_carry};
use options::LineMap;
use parameter_copy::copy_parameter;
use switch::Switches;

pub use options::{MAX_BLOCK, MAX_ITEMS, Options, Shape, ir_name};

/// Returns `true` if the file name has the extension `.ptx`.
pub fn is_ptx(file: &str) -> bool {
    std::path::Path::new(file).extension().is_some_and(|extension| extension == "ptx")
}

/// Imports all kernels of a PTX text. Source positions in the IR refer to this text.
///
/// # Errors
/// Returns the errors of the text, and an error for each construct that the IR cannot express.
pub fn import(text: &str, options: impl Into<Options>) -> Result<Vec<Kernel>, Vec<Diagnostic>> {
    let options = options.into();
    let read = read(text)?;
    let places = LineMap::new(text);
    let (mut kernels, mut errors) = (Vec::new(), Vec::new());
    for Inlined { entry, locs } in all_inlined(&read) {
        match emit::kernel(&entry, &locs, &places, options) {
            Ok(kernel) => kernels.push(kernel),
            Err(wrong) => errors.extend(wrong),
        }
    }
    if errors.is_empty() {
        errors.extend(kernels.iter().flat_map(defects));
    }
    if errors.is_empty() {
        return Ok(kernels);
    }
    errors.sort_by_key(|error| error.span.start);
    Err(errors)
}

/// Returns the number of sums and differences of a kernel that the assembler may fuse with a
/// product. A GPU may round the results of these instructions differently. [`Options::contract`]
/// selects the fused results.
pub fn free_sums(entry: &Entry) -> usize {
    fuse::count(&ssa::Function::new(entry))
}

/// Returns for each kernel of a PTX text whether the kernel, or a function that it can call, has
/// shuffles, votes or other warp-level exchanges without a member mask. The set of lanes that take
/// part in such an exchange depends on the machine.
pub fn unmasked_exchanges(read: &ParsedFile) -> Vec<bool> {
    read.module.kernels_with(|body| body.insts.iter().any(|inst| inst.has_no_member_mask()))
}

/// Reports reads of uninitialised registers whose value may affect the results. Also reports reads
/// of a carry flag that is not set, or that a call or barrier has destroyed. The PTX can still be
/// executed; uninitialised registers then hold 0.
pub fn uninitialised(text: &str, read: &ParsedFile) -> Vec<Diagnostic> {
    uninitialised::uninitialised(read, &LineMap::new(text))
}

/// Returns kernel `number` of a PTX text, if it exists. Calls are inlined, and asynchronous copies
/// and indirect branches are expanded.
fn inlined(read: &ParsedFile, number: usize) -> Option<Inlined<'_>> {
    let (entry, locs) = (read.module.entries.get(number)?, read.locs.get(number)?);
    Some(expanded(entry, locs, read, entry.reached_bodies().any(reads_carry)))
}

/// Returns all kernels of a PTX text as [`inlined`] does, with the copies of their parameters.
fn all_inlined(read: &ParsedFile) -> impl Iterator<Item = Inlined<'_>> {
    let entries = read.module.entries.iter().zip(&read.locs).zip(read.module.kernels_with(reads_carry));
    entries.map(|((entry, locs), reads_carry)| copy_parameter(expanded(entry, locs, read, reads_carry)))
}

fn expanded<'r>(entry: &'r Entry, locs: &'r [Loc], read: &'r ParsedFile, reads_carry: bool) -> Inlined<'r> {
    expand::<Switches>(expand::<Copies>(inline(entry, locs, &read.function_locs, reads_carry)))
}

/// Result of [`import_each`], which continues after a kernel with errors.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Kernels that were imported.
    pub kernels: Vec<Kernel>,
    /// Kernels that could not be imported, in source order.
    pub refused: Vec<Refused>,
}

/// PTX kernel that could not be imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The name that the kernel would have in the IR.
    pub name: String,
    /// Position of the kernel's name or first instruction.
    pub span: Span,
    /// The errors of the kernel, in source order.
    pub errors: Vec<Diagnostic>,
}

/// Imports the kernels of a PTX text independently: an error in one kernel does not affect the
/// others.
///
/// # Errors
/// Returns the syntax errors outside kernels. For a text without kernels, also returns the
/// unsupported directives.
pub fn import_each(text: &str, options: impl Into<Options>) -> Result<Imported, Vec<Diagnostic>> {
    import_read(text, &read_each(text)?, options)
}

/// Imports the kernels of a parsed PTX text as [`import_each`] does. `read` is the result of
/// [`read_each`] for `text`.
///
/// # Errors
/// For a text without kernels, returns the unsupported directives.
pub fn import_read(text: &str, read: &ParsedFile, options: impl Into<Options>) -> Result<Imported, Vec<Diagnostic>> {
    let options = options.into();
    let places = LineMap::new(text);
    if read.module.entries.is_empty() && read.refused.is_empty() && !read.unsupported.is_empty() {
        return Err(diagnostics(&places, &read.unsupported));
    }
    let refused = |refused: &text::RejectedKernel| Refused {
        name: ir_name(&refused.name),
        span: places.span(refused.at),
        errors: diagnostics(&places, &refused.errors),
    };
    let mut imported = Imported { kernels: Vec::new(), refused: read.refused.iter().map(refused).collect() };
    for Inlined { entry, locs } in all_inlined(read) {
        let kernel = emit::kernel(&entry, &locs, &places, options).and_then(|kernel| {
            let errors = defects(&kernel);
            if errors.is_empty() { Ok(kernel) } else { Err(errors) }
        });
        match kernel {
            Ok(kernel) => imported.kernels.push(kernel),
            Err(errors) => {
                let span = locs.first().map_or_else(Span::default, |&at| places.span(at));
                imported.refused.push(Refused { name: ir_name(&entry.name), span, errors });
            }
        }
    }
    imported.refused.sort_by_key(|refused| refused.span.start);
    Ok(imported)
}

/// Origin of a parameter of an imported kernel: a range of bytes in a parameter of the PTX kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParameterRange {
    /// Number of the PTX parameter.
    pub param: u32,
    /// Byte offset in the PTX parameter.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Set if the parameter is the address of a buffer.
    pub is_buffer: bool,
}

/// Returns the origins of the parameters for which a launch passes arguments. Module variables are
/// omitted.
fn parts(places: &[provenance::Parameter]) -> Vec<ParameterRange> {
    let part = |place: &provenance::Parameter| match place.of {
        provenance::Origin::Param(param) => {
            Some(ParameterRange { param, offset: place.offset, bytes: place.bytes, is_buffer: place.is_buffer })
        }
        provenance::Origin::Variable(_) => None,
    };
    places.iter().filter_map(part).collect()
}

/// Imports the kernel with the given number. Also returns the origin of each parameter for which a
/// launch passes an argument.
///
/// # Errors
/// Returns an error for each construct that the IR cannot express.
pub fn import_one(
    text: &str,
    read: &ParsedFile,
    number: usize,
    options: impl Into<Options>,
) -> Result<(Kernel, Vec<ParameterRange>), Vec<Diagnostic>> {
    let places = LineMap::new(text);
    let none = || vec![Diagnostic::new(Span::default(), format!("kernel number {number} does not exist"))];
    let Inlined { entry, locs } = copy_parameter(inlined(read, number).ok_or_else(none)?);
    let kernel = emit::kernel(&entry, &locs, &places, options.into())?;
    let (_, found) = emit::parameters(&entry, &locs, &places)?;
    let errors = defects(&kernel);
    if errors.is_empty() { Ok((kernel, parts(&found))) } else { Err(errors) }
}

/// Parameters of a PTX kernel that is executed directly.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Name of the kernel in the PTX text.
    pub name: String,
    /// IR kernel with the same parameters and an empty body.
    pub kernel: Kernel,
    /// Origin of each parameter for which a launch passes an argument.
    pub parts: Vec<ParameterRange>,
}

/// Finds a kernel by its IR name and returns its parameters.
///
/// # Errors
/// Fails if there is no such kernel or if the kernel has errors. Also fails if the kind of a
/// parameter is unknown, or if a launch cannot pass an argument for a parameter.
pub fn signature(text: &str, read: &ParsedFile, name: &str) -> Result<Signature, Vec<Diagnostic>> {
    let places = LineMap::new(text);
    let wrong = |message: String| vec![Diagnostic::new(Span::default(), message)];
    let found = match read.kernel_by_ir_name(name) {
        Some(KernelNumber::Refused(number)) => return Err(refused(&places, read, number)),
        Some(KernelNumber::Entry(number)) => inlined(read, number),
        None => None,
    };
    let Inlined { entry, locs } = found.ok_or_else(|| wrong(format!("there is no kernel `{name}`")))?;
    let (kernel, found) = emit::direct_parameters(&entry, &locs, &places)?;
    // A parameter that originates from a module variable is always accepted, because a launch
    // passes no argument for it.
    let is_whole = |place: &provenance::Parameter| {
        place.of.param(&entry).is_none_or(|param| param.bytes() == u64::from(place.bytes))
    };
    if let Some(place) = found.iter().find(|place| place.is_buffer && !is_whole(place)) {
        let message = format!("a launch cannot pass `{}`, which is an address in a structure", place.name);
        return Err(wrong(message));
    }
    Ok(Signature { name: entry.name.clone(), kernel, parts: parts(&found) })
}

/// Returns the errors because of which a kernel was skipped. Returns `None` if no skipped kernel
/// has this name.
pub fn refusal(text: &str, read: &ParsedFile, name: &str) -> Option<Vec<Diagnostic>> {
    match read.kernel(name)? {
        KernelNumber::Refused(number) => Some(refused(&LineMap::new(text), read, number)),
        KernelNumber::Entry(_) => None,
    }
}

fn refused(places: &LineMap<'_>, read: &ParsedFile, number: usize) -> Vec<Diagnostic> {
    read.refused.get(number).map_or_else(Vec::new, |refused| diagnostics(places, &refused.errors))
}

/// Returns the PTX name of the first kernel in the text, even if that kernel was skipped.
pub fn first_name(read: &ParsedFile) -> Option<&str> {
    let entries = read.module.entries.iter().zip(&read.locs);
    let entries = entries.map(|(entry, locs)| (locs.first().copied().unwrap_or_default(), entry.name.as_str()));
    let all = entries.chain(read.refused.iter().map(|refused| (refused.at, refused.name.as_str())));
    all.min_by_key(|(at, _)| (at.line, at.column)).map(|(_, name)| name)
}

/// Returns the span of the instruction that begins at `at`. The span ends at the instruction's
/// semicolon or at the end of the line.
pub fn span(text: &str, at: Loc) -> Span {
    LineMap::new(text).span(at)
}

/// Parses a PTX text.
///
/// # Errors
/// Returns all errors of the text.
pub fn read(text: &str) -> Result<ParsedFile, Vec<Diagnostic>> {
    complete(text, text::read(text))
}

/// Parses a PTX text kernel by kernel. Unsupported kernels are collected in
/// [`ParsedFile::refused`].
///
/// # Errors
/// Returns the errors that an assembler would report.
pub fn read_each(text: &str) -> Result<ParsedFile, Vec<Diagnostic>> {
    complete(text, text::read_each(text))
}

/// Checks that the `.version` and `.target` of a parsed text provide every instruction that it uses.
fn complete(text: &str, read: Result<ParsedFile, Vec<text::Error>>) -> Result<ParsedFile, Vec<Diagnostic>> {
    let missing = |read: ParsedFile| match read.missing() {
        missing if missing.is_empty() => Ok(read),
        missing => Err(missing),
    };
    read.and_then(missing).map_err(|errors| diagnostics(&LineMap::new(text), &errors))
}

/// Converts the parser's errors to diagnostics. The diagnostic of an unknown mnemonic suggests a
/// similar one.
fn diagnostics(places: &LineMap<'_>, errors: &[text::Error]) -> Vec<Diagnostic> {
    let diagnostic = |error: &text::Error| {
        let span = match error.kind {
            // Errors of these kinds concern the whole instruction, not a single token.
            text::ErrorKind::Missing { .. } | text::ErrorKind::Call { .. } => places.span(error.at),
            _ => places.token(error.at),
        };
        let mut wrong = Diagnostic::new(span, error.kind.to_string());
        wrong.help = error.kind.remedy();
        let near = match &error.kind {
            text::ErrorKind::Mnemonic(name) => closest(&name.to_lowercase(), docs::mnemonics()),
            _ => None,
        };
        match near {
            Some(near) => wrong.expected(format!("an instruction; did you mean `{near}`?")),
            None => wrong,
        }
    };
    errors.iter().map(diagnostic).collect()
}

/// Returns the errors that the verifier finds in an imported kernel. Such an error is a bug of the
/// import.
fn defects(kernel: &Kernel) -> Vec<Diagnostic> {
    let found = halfbyte_ir::verify(kernel).err().unwrap_or_default();
    let message = |error: &Diagnostic| Diagnostic::new(error.span, format!("internal error of the import: {error}"));
    found.iter().map(message).collect()
}
