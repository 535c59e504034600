//! Computers that objects are made for.

use std::str::FromStr;

use cranelift_codegen::isa::{self, LookupError, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable, Flags, SetError};
use target_lexicon::{Architecture, Endianness, OperatingSystem, PointerWidth, Triple};
use thiserror::Error;

/// A computer by its triple, and what of its instructions may be used.
#[derive(Clone)]
pub struct Machine {
    pub(super) isa: OwnedTargetIsa,
    /// The same, by which registers are allocated in one pass: what the other way takes grows with the square of a function's size.
    pub(super) one_pass: OwnedTargetIsa,
    /// `true` if it is this computer, which has what its processor tells.
    is_host: bool,
}

/// Why there are no objects for a computer.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum MachineError {
    /// It is no triple.
    #[error("`{triple}` is not a target triple: {reason}")]
    Triple {
        /// What was asked for.
        triple: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Cranelift makes no code for it.
    #[error("Cranelift does not support `{0}`; it supports x86_64, aarch64 and riscv64")]
    Unsupported(String),
    /// Its addresses or its order of bytes are not those of kernels.
    #[error("`{0}` is not supported: kernels need a little-endian machine with 64-bit addresses")]
    Memory(String),
    /// It has no such processor, or no such feature.
    #[error("`{triple}` has no processor or feature `{name}`")]
    Cpu {
        /// The triple.
        triple: String,
        /// What was asked for.
        name: String,
    },
    /// This computer is none that code is made for.
    #[error("there is no native code for this computer: {0}")]
    Host(String),
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Machine").field(&self.isa.triple().to_string()).finish()
    }
}

impl Machine {
    /// The computer of a triple, of which a processor or features (`x86-64-v3`, or `has_avx,has_fma`, by the names of Cranelift's settings)
    /// may be asked for. `native` is this one, with all that it has where nothing is asked for.
    ///
    /// # Errors
    /// There is no code for it.
    pub fn new(triple: &str, cpu: Option<&str>) -> Result<Machine, MachineError> {
        let names: Vec<&str> = cpu.unwrap_or_default().split(',').filter(|name| !name.is_empty()).collect();
        let is_host = triple == "native";
        if is_host && names.is_empty() {
            return Machine::host();
        }
        let wrong = |error: target_lexicon::ParseError| MachineError::Triple {
            triple: triple.to_owned(),
            reason: error.to_string(),
        };
        let parsed = if is_host { Triple::host() } else { Triple::from_str(triple).map_err(wrong)? };
        if parsed.endianness() == Ok(Endianness::Big)
            || matches!(parsed.pointer_width(), Ok(PointerWidth::U16 | PointerWidth::U32))
        {
            return Err(MachineError::Memory(triple.to_owned()));
        }
        let mut builder = isa::lookup(parsed).map_err(|error| match error {
            LookupError::SupportDisabled | LookupError::Unsupported => MachineError::Unsupported(triple.to_owned()),
        })?;
        for name in names {
            enable(&mut builder, name)
                .map_err(|_| MachineError::Cpu { triple: triple.to_owned(), name: name.to_owned() })?;
        }
        Machine::of(builder, true, false)
    }

    /// This computer, with all that it has.
    ///
    /// # Errors
    /// There is no code for it.
    pub fn host() -> Result<Machine, MachineError> {
        Machine::of(cranelift_native::builder().map_err(|error| MachineError::Host(error.to_owned()))?, true, true)
    }

    /// This computer, for code that lies where it is made.
    pub(super) fn in_memory() -> Result<Machine, MachineError> {
        Machine::of(cranelift_native::builder().map_err(|error| MachineError::Host(error.to_owned()))?, false, true)
    }

    /// `moves` says that code may come to lie anywhere.
    fn of(builder: isa::Builder, moves: bool, is_host: bool) -> Result<Machine, MachineError> {
        let host = |error: String| MachineError::Host(error);
        let finish = |algorithm: &str| {
            let flags = flags(moves, algorithm).map_err(|error| host(error.to_string()))?;
            builder.finish(flags).map_err(|error| host(error.to_string()))
        };
        Ok(Machine { isa: finish("backtracking")?, one_pass: finish("single_pass")?, is_host })
    }

    /// The triple, whole.
    pub fn triple(&self) -> String {
        self.isa.triple().to_string()
    }

    /// What it has beyond what all have.
    pub(super) fn features(&self) -> Features {
        let triple = self.isa.triple();
        if triple.architecture != Architecture::X86_64 {
            let gangs = matches!(triple.architecture, Architecture::Aarch64(_));
            return Features { fma: true, gangs, avx2: false, fp16: false };
        }
        let flags = self.isa.isa_flags();
        let has = |name: &str| flags.iter().any(|flag| flag.name == name && flag.as_bool() == Some(true));
        // Functions of gangs have the convention of all systems but this one.
        let is_system_v = triple.operating_system != OperatingSystem::Windows;
        let avx2 = is_system_v && ["has_avx", "has_avx2", "has_fma"].into_iter().all(has);
        let fp16 = avx2 && self.is_host && has_fp16();
        // Without these Cranelift calls functions that move bytes within a vector.
        let gangs = ["has_ssse3", "has_sse41"].into_iter().all(has);
        // Cranelift's multiply-adds are instructions of AVX.
        Features { fma: has("has_fma") && has("has_avx"), gangs, avx2, fp16 }
    }
}

/// Instructions of a computer that not all have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    /// It multiplies and adds with one rounding: otherwise Cranelift calls the C library for that.
    pub fma: bool,
    /// Vectors of 128 bits.
    pub gangs: bool,
    /// AVX2 and FMA, in functions of the System V convention.
    pub avx2: bool,
    /// AVX512-FP16, and AVX-512 of 256 bits.
    pub fp16: bool,
}

/// A feature by Cranelift's name for it with or without `has_`, or a processor by a name of Cranelift's or of compilers of C.
fn enable(builder: &mut isa::Builder, name: &str) -> Result<(), SetError> {
    match name.trim() {
        "x86-64" | "generic" | "generic-rv64" => Ok(()),
        name => {
            let feature = name.strip_prefix('+').unwrap_or(name);
            builder.enable(feature).or_else(|_| builder.enable(&format!("has_{feature}")))?;
            // What Cranelift's levels leave out of those that x86-64 defines.
            let left_out: &[&str] = match feature {
                "x86-64-v3" => &["has_avx"],
                "x86-64-v4" => &["has_avx", "has_avx512f"],
                _ => &[],
            };
            left_out.iter().try_for_each(|feature| builder.enable(feature))
        }
    }
}

/// How code is made ahead of time: it is made once, so that what costs time is worth it.
fn flags(moves: bool, algorithm: &str) -> Result<Flags, SetError> {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    let set = [
        ("opt_level", "speed"),
        ("regalloc_algorithm", algorithm),
        ("is_pic", if moves { "true" } else { "false" }),
        ("unwind_info", "false"),
        // Frames may exceed the guard page below a stack; and nothing is called for it.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("enable_verifier", verify),
    ];
    for (name, value) in set {
        flags.set(name, value)?;
    }
    Ok(Flags::new(flags))
}

/// Returns `true` if this computer has AVX512-FP16.
fn has_fp16() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512fp16") && std::arch::is_x86_feature_detected!("avx512vl");
    #[cfg(not(target_arch = "x86_64"))]
    false
}
