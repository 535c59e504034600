//! PTX in: kernels that people already have become kernels of the IR.
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
//! An instruction becomes the op that stands for it; where none does, it becomes its meaning, written out in ops
//! (`domain`). So what an instruction does is said in one place for the interpreter of PTX and for this. Registers become
//! values (`ssa`) with the types that the instructions take them for (`types`); parameters become values and buffers
//! (`sources`), and addresses become elements of buffers where their numbers are shown to be in range (`address`).
//! What items of a block share becomes an array of bytes, and so does local memory (`spaces`); where they meet are ops of their own
//! (`meet`). Before all that functions are put in the place of their calls (`inline`), and other instructions in that of some
//! (`expand`); what has no counterpart in the IR runs as it stands (`stands`).

mod address;
mod copies;
mod domain;
mod emit;
mod expand;
mod fixed;
mod float;
mod flow;
mod fuse;
mod inline;
mod integer;
mod loops;
mod meet;
mod memory;
mod sources;
mod spaces;
mod special;
mod ssa;
mod stands;
mod switch;
mod types;
mod uninitialised;
mod video;

use copies::Copies;
use expand::expand;
use halfbyte_ir::text::closest;
use halfbyte_ir::{Diagnostic, Kernel, Span};
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::docs;
use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::text::{self, Text};
use inline::{Inlined, inline};
use switch::Switches;

/// Work items that an imported kernel may be launched with at most: up to this number it is shown that indices do not wrap.
pub const MAX_ITEMS: u32 = 1 << 26;

/// Threads that a block has at most.
pub const MAX_BLOCK: u32 = 1024;

/// How a kernel is launched, as far as it is known: over blocks of threads, which are the work items.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// The number of blocks, along x, y and z.
    pub grid: Option<[u32; 3]>,
    /// The threads of a block, likewise.
    pub block: Option<[u32; 3]>,
}

/// How a text is imported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// How its kernels are launched.
    pub shape: Shape,
    /// Whether pointers may be into one memory: then every buffer says `may_alias`.
    pub may_alias: bool,
    /// Whether an instruction that computes, and that no op stands for, stays what it is: an intrinsic of PTX, which other targets
    /// refuse. Else it is written out in ops.
    pub keep: bool,
    /// Whether a product and a sum that the text leaves to the assembler to fuse are fused. Else each is rounded, as where the text
    /// runs as it stands; what is to become PTX again leaves it to the assembler as well.
    pub contract: bool,
}

impl From<Shape> for Options {
    fn from(shape: Shape) -> Options {
        Options { shape, ..Options::default() }
    }
}

impl Shape {
    /// Whether it is known that all items are along x.
    fn is_along_x(self) -> bool {
        [self.grid, self.block].iter().all(|counts| matches!(counts, Some([_, 1, 1])))
    }
}

/// Whether a file is in PTX, by its name.
pub fn is_ptx(file: &str) -> bool {
    std::path::Path::new(file).extension().is_some_and(|extension| extension == "ptx")
}

/// Reads a text in PTX, and makes its kernels kernels of the IR. Places in them are places of this text.
///
/// # Errors
/// All that is wrong with the text, and what no kernel of the IR can say.
pub fn import(text: &str, options: impl Into<Options>) -> Result<Vec<Kernel>, Vec<Diagnostic>> {
    let options = options.into();
    let read = read(text)?;
    let places = Places::new(text);
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

/// How many sums and differences of a kernel have an operand that is a product, where the text leaves it to the assembler to make one
/// instruction of both, rounded once: a GPU may give other bits there. [`Options::contract`] says which are wanted.
pub fn free_sums(entry: &Entry) -> usize {
    fuse::count(&ssa::Function::new(entry))
}

/// How many exchanges of a kernel do not say which lanes of a warp take part, which is then for the machine to choose.
pub fn unsaid_exchanges(entry: &Entry) -> usize {
    entry.reached_bodies().flat_map(|body| &body.insts).filter(|inst| inst.is_unsaid()).count()
}

/// Finds the registers that a text reads before it writes them, where the value can be observed, and the reads of a carry flag that nothing has
/// set or that is not kept over a call or a barrier before. The text runs all the same: what is not written holds 0.
pub fn uninitialised(text: &str, read: &Text) -> Vec<Diagnostic> {
    uninitialised::uninitialised(read, &Places::new(text))
}

/// The kernels of a text without their calls, the copies that go on beside them, and branches by an index.
fn inlined(read: &Text) -> impl Iterator<Item = Inlined<'_>> {
    let entries = read.module.entries.iter().zip(&read.locs);
    let inlined = entries.map(|(entry, locs)| inline(entry, locs, &read.function_locs));
    inlined.map(expand::<Copies>).map(expand::<Switches>)
}

/// What a text in PTX is imported to, kernel by kernel.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// The kernels of the IR.
    pub kernels: Vec<Kernel>,
    /// Those that are none, in the order of the text.
    pub refused: Vec<Refused>,
}

/// A kernel in PTX that is no kernel of the IR.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The name that the IR would know it by.
    pub name: String,
    /// Where its name stands, or its first instruction.
    pub span: Span,
    /// Why, in the order of the text.
    pub errors: Vec<Diagnostic>,
}

/// The same kernel by kernel: one that is not read, or that no kernel of the IR can say, spoils no other.
///
/// # Errors
/// What is wrong with the text as an assembler would say; in a text without kernels what is not taken.
pub fn import_each(text: &str, options: impl Into<Options>) -> Result<Imported, Vec<Diagnostic>> {
    let options = options.into();
    let read = read_each(text)?;
    let places = Places::new(text);
    if read.module.entries.is_empty() && read.refused.is_empty() && !read.outside.is_empty() {
        return Err(diagnostics(&places, &read.outside));
    }
    let refused = |refused: &text::Refused| Refused {
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

/// A parameter of an imported kernel: a place in one of the text's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The parameter of the text, by number.
    pub param: u32,
    /// Where in it, in bytes.
    pub offset: u32,
    /// How many.
    pub bytes: u32,
    /// Whether it is the address of a buffer.
    pub is_buffer: bool,
}

/// Those of an imported kernel's parameters that launches give.
fn parts(places: &[sources::Parameter]) -> Vec<Part> {
    let part = |place: &sources::Parameter| match place.of {
        sources::Of::Param(param) => {
            Some(Part { param, offset: place.offset, bytes: place.bytes, is_buffer: place.is_buffer })
        }
        sources::Of::Variable(_) => None,
    };
    places.iter().filter_map(part).collect()
}

/// Makes the kernel of that number of a text that was read a kernel of the IR, and says for each parameter that launches give what it is in the
/// text.
///
/// # Errors
/// What no kernel of the IR can say.
pub fn import_one(
    text: &str,
    read: &Text,
    number: usize,
    options: impl Into<Options>,
) -> Result<(Kernel, Vec<Part>), Vec<Diagnostic>> {
    let places = Places::new(text);
    let none = || vec![Diagnostic::new(Span::default(), format!("there is no kernel of number {number}"))];
    let Inlined { entry, locs } = inlined(read).nth(number).ok_or_else(none)?;
    let kernel = emit::kernel(&entry, &locs, &places, options.into())?;
    let (_, found) = emit::parameters(&entry, &locs, &places)?;
    let errors = defects(&kernel);
    if errors.is_empty() { Ok((kernel, parts(&found))) } else { Err(errors) }
}

/// What a launch of a kernel of PTX as it stands is given.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The name of the kernel in the text.
    pub name: String,
    /// A kernel of the IR that has its parameters, and nothing else.
    pub kernel: Kernel,
    /// What each parameter that a launch gives is in the text.
    pub parts: Vec<Part>,
}

/// Finds the kernel that the IR would know by a name, and what its launch is given.
///
/// # Errors
/// That there is none, or why it was not read; a parameter of which it is not known what it is, or that no launch can give.
pub fn signature(text: &str, read: &Text, name: &str) -> Result<Signature, Vec<Diagnostic>> {
    let places = Places::new(text);
    let wrong = |message: String| vec![Diagnostic::new(Span::default(), message)];
    if let Some(refused) = read.refused.iter().find(|refused| ir_name(&refused.name) == ir_name(name)) {
        return Err(diagnostics(&places, &refused.errors));
    }
    let found = inlined(read).find(|inlined| ir_name(&inlined.entry.name) == ir_name(name));
    let Inlined { entry, locs } = found.ok_or_else(|| wrong(format!("there is no kernel `{name}`")))?;
    let (kernel, found) = emit::standing(&entry, &locs, &places)?;
    // A variable is no parameter.
    let is_whole =
        |place: &sources::Parameter| place.of.param(&entry).is_none_or(|param| param.bytes() == u64::from(place.bytes));
    if let Some(place) = found.iter().find(|place| place.is_buffer && !is_whole(place)) {
        let message = format!("`{}` is an address within a structure, which a launch cannot give", place.name);
        return Err(wrong(message));
    }
    Ok(Signature { name: entry.name.clone(), kernel, parts: parts(&found) })
}

/// Why a kernel of a text that was read kernel by kernel is not among them, where it is one of the text.
pub fn refusal(text: &str, read: &Text, name: &str) -> Option<Vec<Diagnostic>> {
    let refused = read.refused.iter().find(|refused| refused.name == name)?;
    Some(diagnostics(&Places::new(text), &refused.errors))
}

/// The name of the kernel that stands first in a text, whether it was read or not.
pub fn first_name(read: &Text) -> Option<&str> {
    let entries = read.module.entries.iter().zip(&read.locs);
    let entries = entries.map(|(entry, locs)| (locs.first().copied().unwrap_or_default(), entry.name.as_str()));
    let all = entries.chain(read.refused.iter().map(|refused| (refused.at, refused.name.as_str())));
    all.min_by_key(|(at, _)| (at.line, at.column)).map(|(_, name)| name)
}

/// The place in a text of the instruction that stands there, or of the rest of its line.
pub fn span(text: &str, at: Loc) -> Span {
    Places::new(text).span(at)
}

/// Reads a text in PTX.
///
/// # Errors
/// All that is wrong with it.
pub fn read(text: &str) -> Result<Text, Vec<Diagnostic>> {
    complete(text, text::read(text))
}

/// Reads a text in PTX kernel by kernel: those that are not taken stand in [`Text::refused`].
///
/// # Errors
/// What is wrong with it as an assembler would say.
pub fn read_each(text: &str) -> Result<Text, Vec<Diagnostic>> {
    complete(text, text::read_each(text))
}

/// A text that was read, if it has all that its `.version` and `.target` must have.
fn complete(text: &str, read: Result<Text, Vec<text::Error>>) -> Result<Text, Vec<Diagnostic>> {
    let missing = |read: Text| match read.missing() {
        missing if missing.is_empty() => Ok(read),
        missing => Err(missing),
    };
    read.and_then(missing).map_err(|errors| diagnostics(&Places::new(text), &errors))
}

/// What the reader finds wrong, with what may have been meant.
fn diagnostics(places: &Places<'_>, errors: &[text::Error]) -> Vec<Diagnostic> {
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

/// What the verifier finds wrong with a kernel that was imported, which is none of the text's faults.
fn defects(kernel: &Kernel) -> Vec<Diagnostic> {
    let found = halfbyte_ir::verify(kernel).err().unwrap_or_default();
    let message = |error: &Diagnostic| Diagnostic::new(error.span, format!("a defect of the import: {error}"));
    found.iter().map(message).collect()
}

/// The name that the IR knows a kernel in PTX by.
pub fn ir_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Places of a text, in bytes.
struct Places<'t> {
    text: &'t str,
    /// Where each line starts.
    lines: Vec<usize>,
}

impl<'t> Places<'t> {
    fn new(text: &'t str) -> Places<'t> {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Places { text, lines: std::iter::once(0).chain(breaks).collect() }
    }

    /// From a place to the end of its instruction, or of its line.
    fn span(&self, at: Loc) -> Span {
        let line = self.lines.get((at.line as usize).saturating_sub(1)).copied().unwrap_or(self.text.len());
        let start = (line + (at.column as usize).saturating_sub(1)).min(self.text.len());
        let rest = self.text.get(start..).unwrap_or_default();
        let end = rest.find([';', '\n']).unwrap_or(rest.len());
        let length = rest.get(..end).map_or(0, |text| text.trim_end().len());
        Span { start: start as u32, end: (start + length) as u32 }
    }
}
