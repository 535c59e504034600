//! PTX that is known and outside the subset: errors name it for what it is.

use super::error::ErrorKind;
use crate::ptx::types::Token;

/// What an instruction is that there is none of here.
pub(super) fn instruction(mnemonic: &str) -> Option<ErrorKind> {
    let what = match mnemonic {
        "bar" | "barrier" | "mbarrier" => "a barrier",
        "shfl" | "vote" | "match" | "activemask" | "redux" | "elect" => "an exchange between threads",
        "atom" | "red" | "multimem" => "an atomic operation",
        "membar" | "fence" | "griddepcontrol" => "an order between threads",
        "call" => "a call",
        "brx" => "an indirect branch",
        "tex" | "tld4" | "txq" | "istypep" => "a texture",
        "suld" | "sust" | "sured" | "suq" => "a surface",
        "mma" | "wmma" | "wgmma" | "tcgen05" | "ldmatrix" | "stmatrix" | "movmatrix" => "a matrix operation",
        "cp" | "prefetch" | "prefetchu" | "discard" | "applypriority" | "createpolicy" => "an operation of the caches",
        "mapa" | "getctarank" | "isspacep" | "alloca" | "stacksave" | "stackrestore" => "an address in another space",
        "trap" | "brkpt" | "pmevent" | "nanosleep" | "setmaxnreg" | "clusterlaunchcontrol" | "tensormap" => {
            "an operation of the machine"
        }
        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vmad" | "vset" | "vset2" | "vset4" => {
            "a video instruction of this name"
        }
        "ldu" => "a load of data that all threads share",
        _ => return None,
    };
    Some(ErrorKind::Unsupported(format!("{what} (`{mnemonic}`)")))
}

/// What a word after a mnemonic asks for that there is none of here.
pub(super) fn word(mnemonic: &str, word: &str) -> Option<ErrorKind> {
    let what = match word {
        "shared" => "shared memory",
        "local" => "local memory",
        "acquire" if mnemonic != "ld" => return None,
        "release" if mnemonic != "st" => return None,
        "volatile" | "relaxed" | "acquire" | "release" | "mmio" | "weak" | "cta" | "cluster" | "gpu" | "sys" => {
            "an access that other threads see in order"
        }
        "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "L1" | "L2" | "unified" | "level" => {
            "an operation of the caches"
        }
        "scaled" if mnemonic == "cvt" => "a conversion of newer machines",
        "b128" | "v8" | "oob" => "a type of newer machines",
        "s2f6x2" if mnemonic == "cvt" => "a type of newer machines",
        _ => return None,
    };
    Some(ErrorKind::Unsupported(format!("{what} (`{mnemonic}.{word}`)")))
}

/// A type that registers, parameters and variables have, and none here.
pub(super) fn ty(word: &str) -> Option<ErrorKind> {
    let is_newer = word == "b128";
    is_newer.then(|| ErrorKind::Unsupported(format!("a type of newer machines (`.{word}`)")))
}

/// What a directive declares that there is none of here.
pub(super) fn directive(word: &str) -> ErrorKind {
    let what = match word {
        "shared" => "shared memory",
        "local" => "local memory",
        "global" | "const" => "a variable in a kernel",
        "func" | "alias" | "callprototype" => "a function",
        "tex" | "texref" | "samplerref" | "surfref" => "a texture",
        "param" => "a parameter of a call",
        "branchtargets" | "calltargets" => "an indirect branch",
        "reqnctapercluster" | "explicitcluster" | "maxclusterrank" | "blocksareclusters" => "a cluster of blocks",
        _ => return ErrorKind::Unsupported(format!("`.{word}`")),
    };
    ErrorKind::Unsupported(format!("{what} (`.{word}`)"))
}

/// What an instruction is whose words, or number of operands, no row here has, where PTX has it on an SM.
pub(super) fn form(mnemonic: &str, words: &[Token], sm: u16, wrong: &ErrorKind) -> Option<ErrorKind> {
    use Token::{Param, Type, V4};
    let has = |token: Token| words.contains(&token);
    let what = match (mnemonic, wrong) {
        ("ld" | "st", ErrorKind::Word { .. })
            if sm >= 100 && has(V4) && words.iter().any(|word| matches!(word, Type(ty) if ty.bits() == 64)) =>
        {
            "an access of 32 bytes"
        }
        ("cvta", ErrorKind::Word { .. }) if has(Param) => "the address of a parameter",
        ("st", ErrorKind::Word { .. }) if has(Param) => "a parameter of a call",
        _ => return None,
    };
    Some(ErrorKind::Unsupported(format!("{what} (`{mnemonic}`)")))
}

/// A special register that there is none of here.
pub(super) fn name(name: &str) -> Option<ErrorKind> {
    let of = name.strip_prefix('%').map(|name| name.split_once('.').map_or(name, |(of, _)| of));
    let is_special = match of {
        Some("tid" | "ntid" | "ctaid" | "nctaid") => false,
        Some(
            "laneid"
            | "warpid"
            | "nwarpid"
            | "smid"
            | "nsmid"
            | "gridid"
            | "lanemask_eq"
            | "lanemask_le"
            | "lanemask_lt"
            | "lanemask_ge"
            | "lanemask_gt"
            | "clock"
            | "clock_hi"
            | "clock64"
            | "globaltimer"
            | "globaltimer_lo"
            | "globaltimer_hi"
            | "is_explicit_cluster"
            | "clusterid"
            | "nclusterid"
            | "cluster_ctaid"
            | "cluster_nctaid"
            | "cluster_ctarank"
            | "cluster_nctarank"
            | "total_smem_size"
            | "aggr_smem_size"
            | "dynamic_smem_size"
            | "current_graph_exec",
        ) => true,
        Some(of) => ["pm", "envreg", "reserved_smem_offset_"].iter().any(|prefix| of.starts_with(prefix)),
        None => false,
    };
    is_special.then(|| ErrorKind::Unsupported(format!("`{name}`")))
}
