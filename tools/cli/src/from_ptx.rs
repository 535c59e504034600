//! Helpers of the commands that read PTX.

use halfbyte::emit::KernelCode;
use halfbyte::import_ptx::{self, PtxOutput, free_sums, ir_name, select_output, unmasked_exchanges};
use halfbyte::pipeline::Compiled;

use super::Failure;
use super::output::{mention, render};

/// Returns the recompiled kernels of a PTX text. A kernel without packed operations keeps its original PTX.
pub(super) fn recompiled_kernels(name: &str, text: &str, compiled: Compiled) -> Result<Vec<KernelCode>, Failure> {
    let read = import_ptx::read_each(name, text)?;
    let code = compiled.code.into_iter().zip(compiled.stats).map(|(code, stats)| {
        let PtxOutput { code, is_own, .. } = select_output(&read, code, stats.is_packed);
        if is_own {
            let kernel = code.info.signature.name();
            mention(&format!("note: @{kernel} has no packed operations, so its original PTX is kept"));
        }
        code
    });
    Ok(code.collect())
}

/// Warns of kernels that use `shfl` or `vote` without a member mask. If `kernel` is given, only that kernel is checked.
pub(super) fn warn_of_missing_member_masks(name: &str, text: &str, kernel: Option<&str>) -> Result<(), Failure> {
    let read = import_ptx::read_each(name, text)?;
    for entry in &read.module.entries {
        let of = ir_name(&entry.name);
        if unmasked_exchanges(entry) != 0 && kernel.is_none_or(|kernel| ir_name(kernel) == of) {
            mention(&format!(
                "warning: @{of} uses `shfl` or `vote` without `.sync`, whose set of lanes is undefined since sm_70; use `.sync` with a member mask"
            ));
        }
    }
    Ok(())
}

/// Warns of registers, and of the carry flag, that a PTX text reads before it writes them.
pub(super) fn mention_uninitialised(name: &str, text: &str) -> Result<(), Failure> {
    let read = import_ptx::read_each(name, text)?;
    if let Some(warnings) = import_ptx::uninitialised(name, text, &read) {
        mention(&render(&warnings));
    }
    Ok(())
}

/// Prints a note if a GPU may fuse a sum with a product that halfbyte rounds separately. The note
/// counts these sums for each kernel.
pub(super) fn note_fusible_sums(name: &str, text: &str, kernel: Option<&str>) -> Result<(), Failure> {
    let read = import_ptx::read_each(name, text)?;
    for entry in &read.module.entries {
        let of = ir_name(&entry.name);
        let count = free_sums(entry);
        if count == 0 || kernel.is_some_and(|kernel| ir_name(kernel) != of) {
            continue;
        }
        let sums = if count == 1 { "a sum".to_owned() } else { format!("{count} sums") };
        mention(&format!(
            "note: @{of} permits the assembler to fuse {sums} with products; they are rounded separately here, and --contract fuses them"
        ));
    }
    Ok(())
}
