//! PTX input: existing PTX kernels are translated to the IR ([`import`](fn@import)) or executed directly ([`Host`]).
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
//! let module = halfbyte::import_ptx::import("twice.ptx", text, halfbyte::import_ptx::Shape::default())?;
//! assert_eq!(module.ir().kernels[0].name, "twice");
//! # Ok::<(), halfbyte::Report>(())
//! ```

mod back;
#[cfg(feature = "cache")]
mod cache;
mod host;
mod sources;

use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::text::ParsedFile;

pub use back::{OutputSelector, PtxOutput};
#[cfg(feature = "cache")]
pub use cache::Cache;
use halfbyte_import::{Imported, Refused};
pub use halfbyte_import::{
    MAX_BLOCK, MAX_ITEMS, Options, ParameterRange, Shape, Signature, free_sums, ir_name, is_ptx, signature,
    unmasked_exchanges,
};
pub use halfbyte_runtime::ptx::Globals;
pub use host::{Host, load, load_of, text_order_dependence};
pub use sources::with_sources;

use crate::{Module, RefusedKernel, Report};

/// Parses a PTX text and translates its kernels to the IR. Source locations refer to the PTX text.
///
/// # Errors
/// Returns all errors of the text, and the operations that the IR cannot express.
pub fn import(file: &str, text: &str, options: impl Into<Options>) -> Result<Module, Report> {
    match halfbyte_import::import(text, options) {
        Ok(kernels) => Ok(Module::from_kernels(kernels).with_text(file, text)),
        Err(errors) => Err(Report::new(file, text, errors)),
    }
}

/// Imports the kernels of a PTX text one by one. Kernels that have errors, or that the IR cannot express, are listed in
/// [`Module::refused_kernels`].
///
/// # Errors
/// Returns the syntax errors of the text. For a text without kernels, also returns unsupported declarations.
pub fn import_each(file: &str, text: &str, options: impl Into<Options>) -> Result<Module, Report> {
    import_read(file, text, &read_each(file, text)?, options)
}

/// Imports the kernels of a parsed PTX text as [`import_each`] does. `read` is the result of [`read_each`] for `text`.
///
/// # Errors
/// For a text without kernels, returns the unsupported declarations.
pub fn import_read(file: &str, text: &str, read: &ParsedFile, options: impl Into<Options>) -> Result<Module, Report> {
    let Imported { kernels, refused } =
        halfbyte_import::import_read(text, read, options).map_err(|errors| Report::new(file, text, errors))?;
    let refused = refused.into_iter().map(|Refused { name, span, errors }| RefusedKernel { name, span, errors });
    Ok(Module::from_kernels(kernels).with_text(file, text).with_refused(refused.collect()))
}

/// Translates kernel `number` of a parsed PTX text to the IR, as the only kernel of a module. Also
/// returns, for each launch parameter, the range of bytes in the PTX parameter from which it
/// originates.
///
/// # Errors
/// Returns the operations that the IR cannot express.
pub fn import_one(
    file: &str,
    text: &str,
    read: &ParsedFile,
    number: usize,
    options: impl Into<Options>,
) -> Result<(Module, Vec<ParameterRange>), Report> {
    match halfbyte_import::import_one(text, read, number, options) {
        Ok((kernel, parts)) => Ok((Module::from_kernels([kernel]).with_text(file, text), parts)),
        Err(errors) => Err(Report::new(file, text, errors)),
    }
}

/// Returns `true` if a kernel has an instruction that GPUs [approximate](halfbyte_isa::ptx::row::Accuracy). halfbyte
/// rounds the result of such an instruction correctly; the result on a GPU is close to it.
pub fn is_approximate(entry: &Entry) -> bool {
    entry.reached_bodies().flat_map(|body| &body.insts).any(|inst| inst.row().is_approximate())
}

/// Parses the kernels of a PTX text one by one. Kernels with errors are listed in [`ParsedFile::refused`].
///
/// # Errors
/// Returns the syntax errors of the text.
pub fn read_each(file: &str, text: &str) -> Result<ParsedFile, Report> {
    halfbyte_import::read_each(text).map_err(|errors| Report::new(file, text, errors))
}

/// Parses a PTX text.
///
/// # Errors
/// Returns all errors of the text.
pub fn read(file: &str, text: &str) -> Result<ParsedFile, Report> {
    halfbyte_import::read(text).map_err(|errors| Report::new(file, text, errors))
}

/// Returns warnings about reads of uninitialised registers whose value affects the result. Also
/// warns about reads of a carry flag that is not set, or that a call or a barrier has invalidated.
/// Returns `None` if there are no warnings. `read` is the result of [`read_each`] for `text`.
pub fn uninitialised(file: &str, text: &str, read: &ParsedFile) -> Option<Report> {
    let found = halfbyte_import::uninitialised(text, read);
    (!found.is_empty()).then(|| Report::warnings(file, text, found))
}

impl Module {
    /// Parses the text of a file: as PTX if its name ends in `.ptx`, otherwise as IR.
    ///
    /// # Errors
    /// Returns all errors of the text, and the operations of PTX kernels that the IR cannot express.
    pub fn open(file: &str, text: impl Into<String>, options: impl Into<Options>) -> Result<Module, Report> {
        if is_ptx(file) { import(file, &text.into(), options) } else { Module::named(file, text) }
    }

    /// Parses a text as [`Module::open`] does, but imports PTX kernels one by one. PTX kernels with
    /// errors are listed in [`Module::refused_kernels`].
    ///
    /// # Errors
    /// Returns all errors of an IR text, or the syntax errors of a PTX text.
    pub fn open_each(file: &str, text: impl Into<String>, options: impl Into<Options>) -> Result<Module, Report> {
        if is_ptx(file) { import_each(file, &text.into(), options) } else { Module::named(file, text) }
    }
}
