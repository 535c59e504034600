//! PTX that is known and outside the subset: errors name it for what it is.

use super::error::ErrorKind;

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
        "rcp" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => "an approximation",
        "rem" => "an integer division",
        "addc" | "subc" | "madc" => "a carry between instructions",
        "trap" | "brkpt" | "pmevent" | "nanosleep" | "setmaxnreg" => "an operation of the machine",
        _ => return None,
    };
    Some(ErrorKind::Unsupported(format!("{what} (`{mnemonic}`)")))
}

/// What a word behind a mnemonic asks for that there is none of here.
pub(super) fn word(mnemonic: &str, word: &str) -> Option<ErrorKind> {
    let what = match word {
        "shared" => "shared memory",
        "local" => "local memory",
        "f64" => "double precision",
        "approx" | "full" => "an approximation",
        "cc" => "a carry between instructions",
        "volatile" | "relaxed" | "acquire" | "release" | "mmio" => "an access that other threads see in order",
        "u32" | "u64" | "u16" | "s32" | "s64" | "s16" if mnemonic == "div" => "an integer division",
        "tf32" | "b128" | "e4m3x2" | "e5m2x2" | "f32x2" => "a type of newer machines",
        _ => return None,
    };
    Some(ErrorKind::Unsupported(format!("{what} (`{mnemonic}.{word}`)")))
}

/// What a directive declares that there is none of here.
pub(super) fn directive(word: &str) -> ErrorKind {
    let what = match word {
        "shared" => "shared memory",
        "local" => "local memory",
        "common" => "a variable that several files define",
        "global" | "const" => "a variable in a kernel",
        "func" | "alias" | "callprototype" => "a function",
        "tex" | "texref" | "samplerref" | "surfref" => "a texture",
        "extern" => "what another file defines",
        "param" => "a parameter of a call",
        "branchtargets" | "calltargets" => "an indirect branch",
        "reqnctapercluster" | "explicitcluster" | "maxclusterrank" | "blocksareclusters" => "a cluster of blocks",
        _ => return ErrorKind::Unsupported(format!("`.{word}`")),
    };
    ErrorKind::Unsupported(format!("{what} (`.{word}`)"))
}
