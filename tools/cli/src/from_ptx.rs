//! Helpers of commands that read PTX.

use halfbyte::emit::KernelCode;
use halfbyte::import_ptx::{self, GivenBack, free_sums, give_back, ir_name, unmasked_exchanges};
use halfbyte::pipeline::Compiled;

use super::Failure;
use super::output::{mention, render};

/// Returns the compiled kernels of a PTX text. Kernels without packed operations are replaced by
/// their original text.
pub(super) fn given_back(name: &str, text: &str, compiled: Compiled) -> Result<Vec<KernelCode>, Failure> {
    let read = import_ptx::read_each(name, text)?;
    let code = compiled.code.into_iter().zip(compiled.stats).map(|(code, stats)| {
        let GivenBack { code, is_own, .. } = give_back(&read, code, stats.is_packed);
        if is_own {
            let kernel = code.info.signature.name();
            mention(&format!("note: @{kernel} has no packed operations, so its original PTX is kept"));
        }
        code
    });
    Ok(code.collect())
}

/// Warns of kernels, or of the one with the given name, that exchange values without a member mask.
pub(super) fn mention_unsaid(name: &str, text: &str, kernel: Option<&str>) -> Result<(), Failure> {
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

/// Warns of reads of uninitialised registers or of an uninitialised carry flag.
pub(super) fn mention_uninitialised(name: &str, text: &str) -> Result<(), Failure> {
    let read = import_ptx::read_each(name, text)?;
    if let Some(warnings) = import_ptx::uninitialised(name, text, &read) {
        mention(&render(&warnings));
    }
    Ok(())
}

/// Notes how many sums of a kernel a GPU may fuse with a product that are rounded separately here.
pub(super) fn mention_free_sums(name: &str, text: &str, kernel: Option<&str>) -> Result<(), Failure> {
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
