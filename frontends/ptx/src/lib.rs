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
//! An instruction becomes the corresponding op if there is one. Otherwise its meaning is emitted as
//! ops (`domain`), so that the import and the PTX interpreter share one definition of each
//! instruction. The import consists of these modules:
//!
//! * `inline` inlines function calls, and `expand` replaces some instructions by others.
//! * `ssa` converts registers to values, and `types` infers their types.
//! * `sources` converts parameters to values and buffers.
//! * `address` converts addresses to elements of buffers if their indices are proved to be in
//!   range.
//! * `spaces` converts shared and local memory to arrays of bytes.
//! * `meet` imports barriers, shuffles, votes and atomic operations.
//! * `stands` reports the instructions that the IR cannot express. Such a kernel can only be
//!   executed as PTX directly.

mod address;
mod address_space;
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
use halfbyte_isa::ptx::text::{self, ParsedFile};
use inline::{Inlined, inline};
use switch::Switches;

/// Maximum number of work items of a launch of an imported kernel. Indices are proved not to wrap
/// up to this number.
pub const MAX_ITEMS: u32 = 1 << 26;

/// Maximum number of threads per block.
pub const MAX_BLOCK: u32 = 1024;

/// Shape of the launches of a kernel, as far as it is known. Threads are work items, and blocks are
/// groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// Number of blocks along x, y and z.
    pub grid: Option<[u32; 3]>,
    /// Number of threads per block along x, y and z.
    pub block: Option<[u32; 3]>,
}

/// Options of an import.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Shape of the kernels' launches.
    pub shape: Shape,
    /// Marks every buffer as `may_alias`, for pointers that may overlap.
    pub may_alias: bool,
    /// Keeps an arithmetic instruction without a corresponding op as a PTX intrinsic, which other
    /// targets reject. Otherwise the instruction is expanded to ops.
    pub keep: bool,
    /// Fuses the products and sums that PTX permits the assembler to fuse. Otherwise both are
    /// rounded, as in direct execution of the PTX. If the kernel is compiled back to PTX, the
    /// choice stays with the assembler.
    pub contract: bool,
}

impl From<Shape> for Options {
    fn from(shape: Shape) -> Options {
        Options { shape, ..Options::default() }
    }
}

impl Shape {
    /// Returns `true` if all work items are known to be along x.
    fn is_along_x(self) -> bool {
        [self.grid, self.block].iter().all(|counts| matches!(counts, Some([_, 1, 1])))
    }
}

/// Returns `true` if the file name has the extension of PTX.
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
    for Inlined { entry, locs } in inlined(&read) {
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
/// product. A GPU may round these differently. [`Options::contract`] selects the fused results.
pub fn free_sums(entry: &Entry) -> usize {
    fuse::count(&ssa::Function::new(entry))
}

/// Returns the number of warp-level exchanges of a kernel without a member mask, whose set of lanes
/// depends on the machine.
pub fn unmasked_exchanges(entry: &Entry) -> usize {
    entry.reached_bodies().flat_map(|body| &body.insts).filter(|inst| inst.has_no_member_mask()).count()
}

/// Reports observable reads of uninitialised registers. Also reports reads of a carry flag that is
/// not set, or that a call or barrier has destroyed. Such a text still runs, and uninitialised
/// registers hold 0.
pub fn uninitialised(text: &str, read: &ParsedFile) -> Vec<Diagnostic> {
    uninitialised::uninitialised(read, &LineMap::new(text))
}

/// Returns the kernels of a text after inlining and the expansion of asynchronous copies and
/// indirect branches.
fn inlined(read: &ParsedFile) -> impl Iterator<Item = Inlined<'_>> {
    let entries = read.module.entries.iter().zip(&read.locs);
    let inlined = entries.map(|(entry, locs)| inline(entry, locs, &read.function_locs));
    inlined.map(expand::<Copies>).map(expand::<Switches>)
}

/// Result of an import that continues after errors in a kernel.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Imported kernels.
    pub kernels: Vec<Kernel>,
    /// Kernels that could not be imported, in source order.
    pub refused: Vec<Refused>,
}

/// Kernel in PTX that could not be imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The name that the kernel would have in the IR.
    pub name: String,
    /// Position of the kernel's name or first instruction.
    pub span: Span,
    /// The reasons, in source order.
    pub errors: Vec<Diagnostic>,
}

/// Imports the kernels of a PTX text independently: an error in one kernel does not affect the
/// others.
///
/// # Errors
/// Returns the syntax errors outside kernels. For a text without kernels, also returns the
/// unsupported directives.
pub fn import_each(text: &str, options: impl Into<Options>) -> Result<Imported, Vec<Diagnostic>> {
    let options = options.into();
    let read = read_each(text)?;
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
    for Inlined { entry, locs } in inlined(&read) {
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

/// Origin of a parameter of an imported kernel: a range of bytes in a PTX parameter.
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

/// Returns the origins of the parameters that a launch passes.
fn parts(places: &[provenance::Parameter]) -> Vec<ParameterRange> {
    let part = |place: &provenance::Parameter| match place.of {
        provenance::Origin::Param(param) => {
            Some(ParameterRange { param, offset: place.offset, bytes: place.bytes, is_buffer: place.is_buffer })
        }
        provenance::Origin::Variable(_) => None,
    };
    places.iter().filter_map(part).collect()
}

/// Imports the kernel with the given number, and returns the origin of each parameter that a launch
/// passes.
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
    let Inlined { entry, locs } = inlined(read).nth(number).ok_or_else(none)?;
    let kernel = emit::kernel(&entry, &locs, &places, options.into())?;
    let (_, found) = emit::parameters(&entry, &locs, &places)?;
    let errors = defects(&kernel);
    if errors.is_empty() { Ok((kernel, parts(&found))) } else { Err(errors) }
}

/// Launch arguments of a PTX kernel that is executed directly.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Name of the kernel in the PTX text.
    pub name: String,
    /// IR kernel with the same parameters and an empty body.
    pub kernel: Kernel,
    /// Origin of each parameter that a launch passes.
    pub parts: Vec<ParameterRange>,
}

/// Finds a kernel by its IR name and returns its launch arguments.
///
/// # Errors
/// Fails if there is no such kernel, if the kernel has errors, or if the kind of a parameter cannot
/// be determined or passed by a launch.
pub fn signature(text: &str, read: &ParsedFile, name: &str) -> Result<Signature, Vec<Diagnostic>> {
    let places = LineMap::new(text);
    let wrong = |message: String| vec![Diagnostic::new(Span::default(), message)];
    if let Some(refused) = read.refused.iter().find(|refused| ir_name(&refused.name) == ir_name(name)) {
        return Err(diagnostics(&places, &refused.errors));
    }
    let found = inlined(read).find(|inlined| ir_name(&inlined.entry.name) == ir_name(name));
    let Inlined { entry, locs } = found.ok_or_else(|| wrong(format!("there is no kernel `{name}`")))?;
    let (kernel, found) = emit::direct_parameters(&entry, &locs, &places)?;
    // Variables are not passed by a launch.
    let is_whole = |place: &provenance::Parameter| {
        place.of.param(&entry).is_none_or(|param| param.bytes() == u64::from(place.bytes))
    };
    if let Some(place) = found.iter().find(|place| place.is_buffer && !is_whole(place)) {
        let message = format!("`{}` is an address within a structure, which a launch cannot give", place.name);
        return Err(wrong(message));
    }
    Ok(Signature { name: entry.name.clone(), kernel, parts: parts(&found) })
}

/// Returns the errors for which a kernel was skipped, if the text has such a kernel.
pub fn refusal(text: &str, read: &ParsedFile, name: &str) -> Option<Vec<Diagnostic>> {
    let refused = read.refused.iter().find(|refused| refused.name == name)?;
    Some(diagnostics(&LineMap::new(text), &refused.errors))
}

/// Returns the name of the first kernel in the text, even if that kernel was skipped.
pub fn first_name(read: &ParsedFile) -> Option<&str> {
    let entries = read.module.entries.iter().zip(&read.locs);
    let entries = entries.map(|(entry, locs)| (locs.first().copied().unwrap_or_default(), entry.name.as_str()));
    let all = entries.chain(read.refused.iter().map(|refused| (refused.at, refused.name.as_str())));
    all.min_by_key(|(at, _)| (at.line, at.column)).map(|(_, name)| name)
}

/// Returns the span of the instruction at a position, or of the rest of its line.
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

/// Parses a PTX text kernel by kernel. Unsupported kernels are collected in [`Text::refused`].
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

/// Converts the parser's errors to diagnostics, with suggestions.
fn diagnostics(places: &LineMap<'_>, errors: &[text::Error]) -> Vec<Diagnostic> {
    let diagnostic = |error: &text::Error| {
        let wrong = Diagnostic::new(places.span(error.at), error.kind.to_string());
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

/// Returns the verifier's errors in an imported kernel, which are bugs of the import.
fn defects(kernel: &Kernel) -> Vec<Diagnostic> {
    let found = halfbyte_ir::verify(kernel).err().unwrap_or_default();
    let message = |error: &Diagnostic| Diagnostic::new(error.span, format!("internal error of the import: {error}"));
    found.iter().map(message).collect()
}

/// Returns the IR name of a PTX kernel.
pub fn ir_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Map from lines and columns of a text to byte positions.
struct LineMap<'t> {
    text: &'t str,
    /// Offset of the start of each line.
    lines: Vec<usize>,
}

impl<'t> LineMap<'t> {
    fn new(text: &'t str) -> LineMap<'t> {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        LineMap { text, lines: std::iter::once(0).chain(breaks).collect() }
    }

    /// Returns the span from a position to the end of its instruction or line.
    fn span(&self, at: Loc) -> Span {
        let line = self.lines.get((at.line as usize).saturating_sub(1)).copied().unwrap_or(self.text.len());
        let start = (line + (at.column as usize).saturating_sub(1)).min(self.text.len());
        let rest = self.text.get(start..).unwrap_or_default();
        let end = rest.find([';', '\n']).unwrap_or(rest.len());
        let length = rest.get(..end).map_or(0, |text| text.trim_end().len());
        Span { start: start as u32, end: (start + length) as u32 }
    }
}
