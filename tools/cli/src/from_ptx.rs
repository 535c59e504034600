//! Helpers of the commands that read PTX.

use halfbyte::emit::KernelCode;
use halfbyte::import_ptx::{self, Options, OutputSelector, PtxOutput, free_sums, ir_name, is_ptx, unmasked_exchanges};
use halfbyte::isa::ptx::module::Entry;
use halfbyte::isa::ptx::text::ParsedFile;
use halfbyte::pipeline::Compiled;
use halfbyte::{Module, Report, include};

use super::output::{mention, render};

/// Parses the text of a PTX file. Returns `None` for a file in another language.
pub(super) fn read_ptx(name: &str, text: &str) -> Result<Option<ParsedFile>, Report> {
    is_ptx(name).then(|| import_ptx::read_each(name, text)).transpose()
}

/// Parses the text of a file as a module. `read` is the parsed text of a PTX file.
pub(super) fn open(name: &str, text: &str, read: Option<&ParsedFile>, options: Options) -> Result<Module, Report> {
    match read {
        Some(read) => import_ptx::import_read(name, text, read, options),
        None => include::open_each(name, text, options),
    }
}

/// Returns the recompiled kernels of a PTX text. A kernel without packed operations keeps its original PTX.
pub(super) fn recompiled_kernels(read: &ParsedFile, compiled: Compiled) -> Vec<KernelCode> {
    let selector = OutputSelector::new(read);
    let code = compiled.code.into_iter().zip(compiled.stats).map(|(code, stats)| {
        let PtxOutput { code, is_own, .. } = selector.select(code, stats.is_packed);
        if is_own {
            let kernel = code.info.signature.name();
            mention(&format!("note: @{kernel} has no packed operations, so its original PTX is kept"));
        }
        code
    });
    code.collect()
}

/// Returns the kernel with this name or all kernels of a text, each with its index and its IR name.
fn entries<'r>(read: &'r ParsedFile, kernel: Option<&str>) -> impl Iterator<Item = (usize, String, &'r Entry)> {
    let wanted = kernel.map(ir_name);
    let entries = read.module.entries.iter().enumerate().map(|(number, entry)| (number, ir_name(&entry.name), entry));
    entries.filter(move |(_, name, _)| wanted.as_ref().is_none_or(|wanted| wanted == name))
}

/// Warns of kernels that use `shfl` or `vote` without a member mask. If `kernel` is given, only that kernel is checked.
pub(super) fn warn_of_missing_member_masks(read: &ParsedFile, kernel: Option<&str>) {
    let have_none = unmasked_exchanges(read);
    for (_, of, _) in entries(read, kernel).filter(|(number, ..)| have_none.get(*number) == Some(&true)) {
        mention(&format!(
            "warning: @{of} uses `shfl` or `vote` without `.sync`, whose set of lanes is undefined since sm_70; use `.sync` with a member mask"
        ));
    }
}

/// Warns of registers, and of the carry flag, that a PTX text reads before it writes them.
pub(super) fn mention_uninitialised(name: &str, text: &str, read: &ParsedFile) {
    if let Some(warnings) = import_ptx::uninitialised(name, text, read) {
        mention(&render(&warnings));
    }
}

/// Prints a note if a GPU may fuse a sum with a product that halfbyte rounds separately. The note
/// counts these sums for each kernel.
pub(super) fn note_fusible_sums(read: &ParsedFile, kernel: Option<&str>) {
    for (_, of, entry) in entries(read, kernel) {
        let count = free_sums(entry);
        if count == 0 {
            continue;
        }
        let sums = if count == 1 { "a sum".to_owned() } else { format!("{count} sums") };
        mention(&format!(
            "note: @{of} permits the assembler to fuse {sums} with products; they are rounded separately here, and --contract fuses them"
        ));
    }
}
