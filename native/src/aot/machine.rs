//! Machines for which objects are made.

use std::str::FromStr;

use cranelift_codegen::isa::{self, LookupError, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable, Flags, SetError};
use target_lexicon::{Architecture, Endianness, OperatingSystem, PointerWidth, Triple};
use thiserror::Error;

/// A target triple, with the permitted CPU features.
#[derive(Clone)]
pub struct Machine {
    pub(super) isa: OwnedTargetIsa,
    /// The same target with register allocation in one pass. The time of the other algorithm grows with the square of a
    /// function's size.
    pub(super) one_pass: OwnedTargetIsa,
    /// `true` if the machine is this computer, whose processor reports its features.
    is_host: bool,
}

/// Reason why there are no objects for a machine.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The text is not a target triple.
    #[error("`{triple}` is not a target triple: {reason}")]
    Triple {
        /// The requested triple.
        triple: String,
        /// Error of the parser.
        reason: String,
    },
    /// Cranelift does not support the triple.
    #[error("Cranelift does not support `{0}`; it supports x86_64, aarch64 and riscv64")]
    Unsupported(String),
    /// The pointer width or the byte order differs from that of kernels.
    #[error("`{0}` is not supported: kernels need a little-endian machine with 64-bit addresses")]
    Memory(String),
    /// The machine has no such processor or feature.
    #[error("`{triple}` has no processor or feature `{name}`")]
    Cpu {
        /// The triple.
        triple: String,
        /// The requested name.
        name: String,
    },
    /// This computer is not supported.
    #[error("there is no native code for this computer: {0}")]
    Host(String),
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Machine").field(&self.isa.triple().to_string()).finish()
    }
}

impl Machine {
    /// Returns the machine of a triple. `cpu` selects a processor or features by the names of Cranelift's settings,
    /// such as `x86-64-v3` or `has_avx,has_fma`. The triple `native` is this computer, with all its features if `cpu`
    /// is absent.
    ///
    /// # Errors
    /// The machine is not supported.
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

    /// Returns this computer, with all its features.
    ///
    /// # Errors
    /// This computer is not supported.
    pub fn host() -> Result<Machine, MachineError> {
        Machine::of(cranelift_native::builder().map_err(|error| MachineError::Host(error.to_owned()))?, true, true)
    }

    /// Returns this computer, for code that is executed where it is compiled.
    pub(super) fn in_memory() -> Result<Machine, MachineError> {
        Machine::of(cranelift_native::builder().map_err(|error| MachineError::Host(error.to_owned()))?, false, true)
    }

    /// Creates a machine. `moves` permits code to be loaded at any address.
    fn of(builder: isa::Builder, moves: bool, is_host: bool) -> Result<Machine, MachineError> {
        let host = |error: String| MachineError::Host(error);
        let finish = |algorithm: &str| {
            let flags = flags(moves, algorithm).map_err(|error| host(error.to_string()))?;
            builder.finish(flags).map_err(|error| host(error.to_string()))
        };
        Ok(Machine { isa: finish("backtracking")?, one_pass: finish("single_pass")?, is_host })
    }

    /// Returns the complete triple.
    pub fn triple(&self) -> String {
        self.isa.triple().to_string()
    }

    /// Returns the optional features of the machine.
    pub(super) fn features(&self) -> Features {
        let triple = self.isa.triple();
        if triple.architecture != Architecture::X86_64 {
            let gangs = matches!(triple.architecture, Architecture::Aarch64(_));
            return Features { fma: true, gangs, avx2: false, fp16: false };
        }
        let flags = self.isa.isa_flags();
        let has = |name: &str| flags.iter().any(|flag| flag.name == name && flag.as_bool() == Some(true));
        // The code of gangs for AVX2 uses the System V calling convention, which Windows does not use.
        let is_system_v = triple.operating_system != OperatingSystem::Windows;
        let avx2 = is_system_v && ["has_avx", "has_avx2", "has_fma"].into_iter().all(has);
        let fp16 = avx2 && self.is_host && has_fp16();
        // Without these features, Cranelift calls functions that permute the bytes of a vector.
        let gangs = ["has_ssse3", "has_sse41"].into_iter().all(has);
        // Cranelift's multiply-adds are AVX instructions.
        Features { fma: has("has_fma") && has("has_avx"), gangs, avx2, fp16 }
    }
}

/// Optional CPU features of a machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    /// Fused multiply-add. Without it, Cranelift calls the C library.
    pub fma: bool,
    /// Vectors of 128 bits, as gangs need them.
    pub gangs: bool,
    /// AVX2 and FMA, and the System V calling convention.
    pub avx2: bool,
    /// AVX512-FP16, and AVX-512 with 256-bit vectors.
    pub fp16: bool,
}

/// Enables a feature or a processor. A feature has Cranelift's name, with or without `has_`. A processor has the name
/// that Cranelift or C compilers use.
fn enable(builder: &mut isa::Builder, name: &str) -> Result<(), SetError> {
    match name.trim() {
        "x86-64" | "generic" | "generic-rv64" => Ok(()),
        name => {
            let feature = name.strip_prefix('+').unwrap_or(name);
            builder.enable(feature).or_else(|_| builder.enable(&format!("has_{feature}")))?;
            // Features that x86-64 levels include, but Cranelift's levels omit.
            let left_out: &[&str] = match feature {
                "x86-64-v3" => &["has_avx"],
                "x86-64-v4" => &["has_avx", "has_avx512f"],
                _ => &[],
            };
            left_out.iter().try_for_each(|feature| builder.enable(feature))
        }
    }
}

/// Returns the settings for ahead-of-time compilation. Slow optimisations are worthwhile, because code is compiled
/// once.
fn flags(moves: bool, algorithm: &str) -> Result<Flags, SetError> {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    let set = [
        ("opt_level", "speed"),
        ("regalloc_algorithm", algorithm),
        ("is_pic", if moves { "true" } else { "false" }),
        ("unwind_info", "false"),
        // Frames may exceed the guard page below a stack. Inline probes call no function.
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
