//! PTX in: kernels that people already have become kernels of the IR ([`import`](fn@import)), or run as they stand ([`Host`]).
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

use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::text::Text;

pub use back::{GivenBack, give_back};
#[cfg(feature = "cache")]
pub use cache::Cache;
use halfbyte_import::{Imported, Refused};
pub use halfbyte_import::{
    MAX_BLOCK, MAX_ITEMS, Options, Part, Shape, Signature, free_sums, ir_name, is_ptx, signature, unsaid_exchanges,
};
pub use halfbyte_runtime::ptx::Globals;
pub use host::{Host, load, load_of, text_order_dependence};

use crate::{Module, RefusedKernel, Report};

/// Reads a text in PTX, and makes its kernels kernels of the IR. Places in them are places of this text.
///
/// # Errors
/// All that is wrong with the text, and what no kernel of the IR can say.
pub fn import(file: &str, text: &str, options: impl Into<Options>) -> Result<Module, Report> {
    match halfbyte_import::import(text, options) {
        Ok(kernels) => Ok(Module::from_kernels(kernels).with_text(file, text)),
        Err(errors) => Err(Report::new(file, text, errors)),
    }
}

/// The same kernel by kernel: those that are not read, or that the IR cannot say, are [`Module::refused_kernels`].
///
/// # Errors
/// What is wrong with the text as an assembler would say; in a text without kernels what is not taken.
pub fn import_each(file: &str, text: &str, options: impl Into<Options>) -> Result<Module, Report> {
    let Imported { kernels, refused } =
        halfbyte_import::import_each(text, options).map_err(|errors| Report::new(file, text, errors))?;
    let refused = refused.into_iter().map(|Refused { name, span, errors }| RefusedKernel { name, span, errors });
    Ok(Module::from_kernels(kernels).with_text(file, text).with_refused(refused.collect()))
}

/// Makes the kernel of that number of a text that was read a kernel of the IR, alone in a module, and says for each parameter that launches give
/// what it is in the text.
///
/// # Errors
/// What no kernel of the IR can say.
pub fn import_one(
    file: &str,
    text: &str,
    read: &Text,
    number: usize,
    options: impl Into<Options>,
) -> Result<(Module, Vec<Part>), Report> {
    match halfbyte_import::import_one(text, read, number, options) {
        Ok((kernel, parts)) => Ok((Module::from_kernels([kernel]).with_text(file, text), parts)),
        Err(errors) => Err(Report::new(file, text, errors)),
    }
}

/// Whether a kernel has an instruction that GPUs [approximate](halfbyte_isa::ptx::row::Accuracy): it gives the nearest number here, and on a
/// GPU one nearby.
pub fn is_approximate(entry: &Entry) -> bool {
    entry.reached_bodies().flat_map(|body| &body.insts).any(|inst| inst.row().is_approximate())
}

/// Reads a text in PTX kernel by kernel: those that are not taken stand in [`Text::refused`].
///
/// # Errors
/// What is wrong with it as an assembler would say.
pub fn read_each(file: &str, text: &str) -> Result<Text, Report> {
    halfbyte_import::read_each(text).map_err(|errors| Report::new(file, text, errors))
}

/// Reads a text in PTX.
///
/// # Errors
/// All that is wrong with it.
pub fn read(file: &str, text: &str) -> Result<Text, Report> {
    halfbyte_import::read(text).map_err(|errors| Report::new(file, text, errors))
}

/// Warns of the registers that a text reads before it writes them, where the value can be observed, and of reads of a carry flag that nothing
/// has set, or that a call or a barrier separates from what sets it; none if there is nothing of the kind. `read` is what
/// [`read_each`] gives of the text.
pub fn uninitialised(file: &str, text: &str, read: &Text) -> Option<Report> {
    let found = halfbyte_import::uninitialised(text, read);
    (!found.is_empty()).then(|| Report::warnings(file, text, found))
}

impl Module {
    /// Reads the text of a file in the language that its name says: PTX where it ends in `.ptx`, else the IR.
    ///
    /// # Errors
    /// All that is wrong with it; kernels in PTX that the IR cannot say.
    pub fn open(file: &str, text: impl Into<String>, options: impl Into<Options>) -> Result<Module, Report> {
        if is_ptx(file) { import(file, &text.into(), options) } else { Module::named(file, text) }
    }

    /// The same, where one kernel in PTX spoils no other: what is wrong with one is said by [`Module::refused_kernels`].
    ///
    /// # Errors
    /// All that is wrong with a text in the IR; what is wrong with one in PTX as an assembler would say.
    pub fn open_each(file: &str, text: impl Into<String>, options: impl Into<Options>) -> Result<Module, Report> {
        if is_ptx(file) { import_each(file, &text.into(), options) } else { Module::named(file, text) }
    }
}
