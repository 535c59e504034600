//! PTX features that are recognised but not supported, so that errors can name them.

use super::error::ErrorKind;

/// Returns the error for an instruction of PTX that is not supported, or `None` for any other name.
pub(super) fn instruction(mnemonic: &str) -> Option<ErrorKind> {
    let what = match mnemonic {
        "mbarrier" => "a barrier",
        "multimem" => "an atomic operation",
        "tex" | "tld4" | "txq" | "istypep" => "a texture",
        "suld" | "sust" | "sured" | "suq" => "a surface",
        "tcgen05" => "a matrix operation",
        "mapa" | "getctarank" => "an address in cluster shared memory",
        "setmaxnreg" | "clusterlaunchcontrol" | "tensormap" => "a hardware control operation",
        _ => return None,
    };
    Some(ErrorKind::Unsupported(format!("{what} (`{mnemonic}`)")))
}

/// Returns the error for a modifier of PTX that is not supported, or `None` for any other modifier.
pub(super) fn word(mnemonic: &str, word: &str) -> Option<ErrorKind> {
    let what = match word {
        "shared::cluster" => "shared memory of a cluster",
        "unified" => "a cache operation",
        "bulk" | "reduce" | "mbarrier" if mnemonic == "cp" => "a bulk copy",
        "cluster" if mnemonic == "barrier" => "a barrier",
        "mbarrier_init" if mnemonic == "fence" => "a fence",
        "L2::cache_hint" if matches!(mnemonic, "atom" | "red") => "an atomic operation",
        "local" if mnemonic == "prefetch" => "a cache operation",
        "sp" | "sp::ordered_metadata" | "block_scale" if matches!(mnemonic, "mma" | "wgmma") => {
            "a product of sparse or scaled matrices"
        }
        "m16n16" | "m8n16" | "m16n8" if matches!(mnemonic, "ldmatrix" | "stmatrix") => "a matrix move of another shape",
        "m8n8k4" if mnemonic == "wmma" => "a product of f64 matrices",
        "scaled" if mnemonic == "cvt" => "a scaled conversion",
        "oob" => "a modifier of newer SMs",
        "s2f6x2" if mnemonic == "cvt" => "a type of newer SMs",
        _ => return None,
    };
    Some(ErrorKind::Unsupported(format!("{what} (`{mnemonic}.{word}`)")))
}

/// Returns the error for an unsupported or unknown directive.
pub(super) fn directive(word: &str) -> ErrorKind {
    let what = match word {
        "shared" => "shared memory",
        "local" => "a variable in local memory outside a kernel",
        "global" | "const" => "a variable in a kernel",
        "alias" => "an alias of a function",
        "tex" | "texref" | "samplerref" | "surfref" => "a texture",
        "reqnctapercluster" | "explicitcluster" | "maxclusterrank" | "blocksareclusters" => "a cluster of blocks",
        "noreturn" | "abi_preserve" | "abi_preserve_control" | "managed" | "attribute" | "unified" => {
            return ErrorKind::Unsupported(format!("`.{word}`"));
        }
        _ => return ErrorKind::Expected { expected: "a directive", found: format!("`.{word}`") },
    };
    ErrorKind::Unsupported(format!("{what} (`.{word}`)"))
}

/// Returns the error for a special register that is not supported, or `None` for any other name.
pub(super) fn name(name: &str) -> Option<ErrorKind> {
    let of = name.strip_prefix('%').map(|name| name.split_once('.').map_or(name, |(of, _)| of));
    let is_special = match of {
        Some(
            "is_explicit_cluster"
            | "clusterid"
            | "nclusterid"
            | "cluster_ctaid"
            | "cluster_nctaid"
            | "cluster_ctarank"
            | "cluster_nctarank"
            | "aggr_smem_size"
            | "current_graph_exec",
        ) => true,
        Some(of) => ["pm", "reserved_smem_offset_"].iter().any(|prefix| of.starts_with(prefix)),
        None => false,
    };
    is_special.then(|| ErrorKind::Unsupported(format!("`{name}`")))
}
