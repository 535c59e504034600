//! PTX features that are recognised but not supported, so that errors can name them.

use super::error::ErrorKind;
use crate::ptx::types::{Token, Type};

/// Returns the error for an instruction of PTX that is not supported, or `None` for any other name.
pub(super) fn instruction(mnemonic: &str) -> Option<ErrorKind> {
    let (what, of_newer_sms) = match mnemonic {
        "mbarrier" => ("a barrier", false),
        "tex" | "tld4" | "txq" | "istypep" => ("a texture", false),
        "suld" | "sust" | "sured" | "suq" => ("a surface", false),
        "clmad" => ("a carry-less product", false),
        "fabric" | "spdecompress" | "trace" => ("an instruction of newer SMs", true),
        "multimem" => ("an atomic operation", true),
        "tcgen05" => ("a matrix operation", true),
        "mapa" | "getctarank" => ("an address in cluster shared memory", true),
        "setmaxnreg" | "clusterlaunchcontrol" | "tensormap" => ("a hardware control operation", true),
        _ => return None,
    };
    Some(error(format!("{what} (`{mnemonic}`)"), of_newer_sms))
}

/// Returns the error for a modifier of PTX that is not supported, or `None` for any other modifier.
/// `before` holds the modifiers of the instruction that precede `word`.
pub(super) fn word(mnemonic: &str, before: &[Token], word: &str) -> Option<ErrorKind> {
    let of_part = word.split_once("::").map_or(word, |(part, _)| part);
    let types = || before.iter().filter(|word| matches!(word, Token::Type(_)));
    let (what, of_newer_sms) = match (mnemonic, of_part) {
        ("st", "bulk") => ("a bulk store", true),
        ("st" | "red", "async") => ("an asynchronous access", true),
        ("cp", "bulk" | "reduce") => ("a bulk copy", true),
        ("cp", "mbarrier") => ("a barrier", false),
        ("barrier", "cluster") => ("a barrier of a cluster", true),
        ("fence", "mbarrier_init" | "sync_restrict" | "tensormap" | "fabric" | "generic") => {
            ("a fence of newer SMs", true)
        }
        ("fence", "async") if word != "async" => ("a fence of newer SMs", true),
        ("prefetch", "tensormap") => ("a tensor map", true),
        ("prefetch", "local") => ("a cache operation", false),
        ("createpolicy", "range" | "cvt") => ("a cache policy of an address range", false),
        ("atom" | "red", "L2") if word == "L2::cache_hint" => ("an atomic operation", false),
        ("mma" | "wgmma", "sp") => ("a product of sparse matrices", false),
        ("mma" | "wgmma", "block_scale" | "kind" | "scale_vec") => ("a product of scaled matrices", true),
        ("mma", "f64" | "rn" | "rz" | "rm" | "rp") => ("a product of f64 matrices", false),
        ("wmma", "m8n8k4") => ("a product of f64 matrices", false),
        ("ldmatrix" | "stmatrix", "m16n16" | "m8n16" | "m16n8") => ("a matrix load or store of this shape", true),
        ("cvt", "scaled") => ("a scaled conversion", true),
        ("cvt", "e4m3x2" | "e5m2x2" | "e2m3x2" | "e3m2x2" | "e2m1x2")
            if before.contains(&Token::Type(Type::Bf16x2)) =>
        {
            ("a conversion of newer SMs", true)
        }
        ("add", "u32" | "u16x2" | "s16x2") if before.contains(&Token::Sat) => ("a saturating sum of newer SMs", true),
        ("min" | "max", "s8x4") if before.contains(&Token::Relu) => ("an operation of newer SMs", true),
        ("ld", "L1") if word == "L1::32B" => ("a prefetch of newer SMs", true),
        ("applypriority", "bulk") => ("a cache operation of newer SMs", true),
        ("cvt", "bf16") if types().next().is_none() && before.contains(&Token::Ftz) => {
            ("a conversion to bfloat16 that flushes subnormals", false)
        }
        ("cvt", "ftz") if types().eq([&Token::Type(Type::Bf16)]) => {
            ("a conversion to bfloat16 that flushes subnormals", false)
        }
        ("cvt", "ue5m3x2") => ("a type of newer SMs", true),
        ("neg", "s8x4") => ("an operation of newer SMs", true),
        ("cvt", "s2f6x2") => ("a type of newer SMs", true),
        (_, "shared") if word == "shared::cluster" => ("shared memory of a cluster", true),
        (_, "oob") => ("a modifier of newer SMs", true),
        _ => return None,
    };
    Some(error(format!("{what} (`{mnemonic}.{word}`)"), of_newer_sms))
}

fn error(what: String, of_newer_sms: bool) -> ErrorKind {
    if of_newer_sms { ErrorKind::UnsupportedOfNewer(what) } else { ErrorKind::Unsupported(what) }
}

/// Returns the error for an unsupported or unknown directive.
pub(super) fn directive(word: &str) -> ErrorKind {
    let what = match word {
        "shared" => "shared memory",
        "local" => "a variable in local memory outside a kernel",
        "global" | "const" => "a variable in a kernel",
        "extern" => "a declaration in a body",
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
    let is_special = matches!(
        of,
        Some(
            "is_explicit_cluster"
                | "clusterid"
                | "nclusterid"
                | "cluster_ctaid"
                | "cluster_nctaid"
                | "cluster_ctarank"
                | "cluster_nctarank"
                | "locality_domain_id"
                | "locality_domain_supplemental_sm"
                | "aggr_smem_size"
                | "current_graph_exec"
        )
    );
    is_special.then(|| ErrorKind::Unsupported(format!("`{name}`")))
}
