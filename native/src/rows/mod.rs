//! Instructions applied to many work items at once, at the speed of the host's vector unit and
//! exact in every mode.
//!
//! A row is one word for each of a multiple of [`LOT`] work items. [`function`] returns the best
//! function for an operation that the host supports, and compiled code calls the function by its
//! address. [`apply`] runs any variant on slices.
//!
//! [`RowOp::word`] defines the operations, by the arithmetic of the interpreter. Every function
//! returns the same bits. `halfbyte prove` compares each variant that the host supports with
//! rustc_apfloat.

mod agree;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod choice;
#[cfg(target_arch = "x86_64")]
mod multiply_add;
mod plain;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::OnceLock;

use halfbyte_isa::approx::Function;
use halfbyte_isa::half::{Format, Rounding};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{
    Conversion, Divide, Domain, FloatOp, HalfCompare, HalfMinMax, HalfOp, Lanes, VideoKind, VideoMerge, VideoOp,
};
use thiserror::Error;

/// Number of work items in a lot, the unit of computation.
pub const LOT: usize = 16;

/// An operation on rows of words. Each is an operation of [`Domain`], which defines the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RowOp {
    /// [`Domain::shl`]
    Shl,
    /// [`Domain::shr`]
    Shr,
    /// [`Domain::sar`]
    Sar,
    /// [`Domain::mul_high`], signed if `true`.
    MulHigh(bool),
    /// [`Domain::divide`]
    Divide(Divide),
    /// [`Domain::fma`], on f32s.
    Fma,
    /// [`Domain::single`]
    Single(FloatOp),
    /// The low word (0) or the high word (1) of [`Domain::convert`].
    Convert(Conversion, u8),
    /// [`Domain::narrow`]
    Narrow(Format, Rounding),
    /// [`Domain::widen`]
    Widen(Format),
    /// [`Domain::elementary`]
    Elementary(Function),
    /// [`Domain::half`]
    Half(HalfOp),
    /// [`Domain::half_minmax`]: the minimum if the third operand is all ones, the maximum if it is 0.
    MinMax(HalfMinMax),
    /// [`Domain::half_compare`] in lane 0 or 1: all ones if the comparison is true, else 0.
    Compare(HalfCompare, u8),
    /// Saturating [`Domain::video`] on all four unsigned bytes.
    Bytes(VideoKind),
}

/// Returns the video instruction that [`RowOp::Bytes`] denotes.
fn of_bytes(kind: VideoKind) -> VideoOp {
    VideoOp {
        kind,
        lanes: Lanes::Four,
        d_signed: false,
        a_signed: false,
        b_signed: false,
        a_select: [0, 1, 2, 3],
        b_select: [4, 5, 6, 7],
        mask: 0xF,
        merge: VideoMerge::Saturate,
    }
}

impl RowOp {
    /// Returns the operation on rows that is equivalent to a video instruction, if any.
    pub fn of_video(op: &VideoOp) -> Option<RowOp> {
        // Only sums and differences can be out of range.
        let saturates = op.merge == VideoMerge::Saturate
            || op.merge == VideoMerge::Wrap && !matches!(op.kind, VideoKind::Add | VideoKind::Sub);
        let same = VideoOp { merge: VideoMerge::Saturate, ..*op } == of_bytes(op.kind);
        (saturates && same).then_some(RowOp::Bytes(op.kind))
    }

    /// Computes the operation for one work item. Operands that the operation does not have are ignored.
    pub fn word(&self, a: u32, b: u32, c: u32) -> u32 {
        let d = &mut Concrete;
        match self {
            RowOp::Shl => d.shl(a, b),
            RowOp::Shr => d.shr(a, b),
            RowOp::Sar => d.sar(a, b),
            RowOp::MulHigh(signed) => d.mul_high(*signed, a, b),
            RowOp::Divide(op) => d.divide(*op, a, b),
            RowOp::Fma => d.fma(a, b, c),
            RowOp::Single(op) => d.single(op, [a, b, c]),
            RowOp::Convert(op, part) => d.convert(op, [a, b])[usize::from(*part & 1)],
            RowOp::Narrow(format, rounding) => d.narrow(*format, *rounding, a),
            RowOp::Widen(format) => d.widen(*format, a),
            RowOp::Elementary(function) => d.elementary(*function, a),
            RowOp::Half(op) => d.half(op, a, b, c),
            RowOp::MinMax(op) => d.half_minmax(op, c != 0, a, b),
            RowOp::Compare(op, lane) => {
                let [low, high] = d.half_compare(op, a, b);
                u32::from(if *lane == 0 { low } else { high }).wrapping_neg()
            }
            RowOp::Bytes(kind) => d.video(&of_bytes(*kind), a, b, 0),
        }
    }
}

/// A function that applies an operation to up to three operands and writes the result to a row.
///
/// `span` is the length of the rows in bytes, a multiple of `4 * LOT`. Its bits 0 to 2 are set if the corresponding
/// operand is a row. An operand that is not a row is a lot that repeats one word. A missing operand is any lot. The
/// result may be one of the operands. Rows may start at any address, because some rows are in buffers of the caller.
///
/// # Safety
/// The result and the operands are as long as `span` states, and the operation is the one for which the function was
/// selected.
pub type RowFn =
    unsafe extern "C" fn(result: *mut u32, a: *const u32, b: *const u32, c: *const u32, span: usize, op: *const RowOp);

/// The environment variable that selects a variant, such as `portable`, so that tests can run other variants than the
/// best one.
pub const ROWS_VARIABLE: &str = "HALFBYTE_ROWS";

/// The instruction set for which the functions are written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Variant {
    /// Any host.
    Portable,
    /// x86-64 with AVX2, F16C and FMA.
    Avx2,
    /// x86-64 with AVX-512F, BW, DQ and VL, and the features of [`Variant::Avx2`].
    Avx512,
}

impl Variant {
    /// All variants, the best last.
    pub const ALL: [Variant; 3] = [Variant::Portable, Variant::Avx2, Variant::Avx512];

    /// Returns `true` if the host supports the variant.
    pub fn is_here(self) -> bool {
        match self {
            Variant::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => avx2::is_here(),
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => avx512::is_here(),
            #[cfg(not(target_arch = "x86_64"))]
            Variant::Avx2 | Variant::Avx512 => false,
        }
    }

    /// Returns the best variant that the host supports, or the variant that [`ROWS_VARIABLE`] names. AVX-512 is chosen
    /// only if it agrees with the interpreter on some thousand operands, which the first call compares. Few computers
    /// have AVX-512, so the proof has been run on few such computers.
    pub fn best() -> Variant {
        static BEST: OnceLock<Variant> = OnceLock::new();
        let is_best = |variant: &Variant| match variant {
            Variant::Avx512 => variant.is_here() && agree::agrees(*variant),
            _ => variant.is_here(),
        };
        let best = || Variant::ALL.into_iter().rfind(is_best).unwrap_or(Variant::Portable);
        *BEST.get_or_init(|| Variant::asked_for().unwrap_or_else(best))
    }

    /// Returns the variant that the environment names, if the host supports it.
    fn asked_for() -> Option<Variant> {
        let name = std::env::var(ROWS_VARIABLE).ok()?;
        let is_named = |variant: &Variant| variant.to_string().eq_ignore_ascii_case(&name);
        Variant::ALL.into_iter().find(is_named).filter(|variant| variant.is_here())
    }

    /// Returns the function of an operation, which may be called only if the host supports the variant.
    fn function(self, op: &RowOp) -> RowFn {
        let choose: fn(&RowOp) -> RowFn = match self {
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => avx2::function,
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => avx512::function,
            _ => |_| plain::portable::row,
        };
        choose(op)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Variant::Portable => "portable",
            Variant::Avx2 => "AVX2",
            Variant::Avx512 => "AVX-512",
        })
    }
}

/// Returns the best function for an operation that the host supports.
pub fn function(op: &RowOp) -> RowFn {
    Variant::best().function(op)
}

/// Computes [`RowOp::word`], for compiled code.
///
/// # Safety
/// `op` points to an operation.
pub unsafe extern "C" fn word(a: u32, b: u32, c: u32, op: *const RowOp) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { &*op }.word(a, b, c)
}

/// An operand of [`apply`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand<'a> {
    /// One word for each work item.
    Row(&'a [u32]),
    /// A uniform word.
    Word(u32),
}

/// Reason why an operation cannot be applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum RowError {
    /// The host lacks the instructions.
    #[error("this computer cannot run the {0} variant")]
    Absent(Variant),
    /// The rows differ in length.
    #[error("a row of {found} words beside one of {expected}")]
    Length {
        /// Length of the result.
        expected: usize,
        /// Length of the operand.
        found: usize,
    },
}

/// Applies an operation of a variant to operands as long as `result`, and writes the result. Any length is allowed.
///
/// # Errors
/// The host does not support the variant, or the length of a row differs from that of the result.
pub fn apply(variant: Variant, op: &RowOp, operands: [Operand<'_>; 3], result: &mut [u32]) -> Result<(), RowError> {
    if !variant.is_here() {
        return Err(RowError::Absent(variant));
    }
    let expected = result.len();
    for operand in operands {
        if let Some(row) = operand.row()
            && row.len() != expected
        {
            return Err(RowError::Length { expected, found: row.len() });
        }
    }
    let function = variant.function(op);
    let whole = expected - expected % LOT;
    let splats = operands.map(|operand| match operand {
        Operand::Row(_) => [0; LOT],
        Operand::Word(word) => [word; LOT],
    });
    let call = |result: &mut [u32], rows: [Option<&[u32]>; 3]| {
        let [a, b, c] = [0, 1, 2].map(|k| rows[k].map_or(splats[k].as_ptr(), <[u32]>::as_ptr));
        let steps: usize = (0..3).map(|k| usize::from(rows[k].is_some()) << k).sum();
        // SAFETY: the result and the rows have the same number of lots, and any other operand is a lot. The operation
        // is that of the function, and the host supports the variant.
        unsafe { function(result.as_mut_ptr(), a, b, c, size_of_val(result) | steps, op) };
    };
    let (lots, rest) = result.split_at_mut(whole);
    call(lots, operands.map(|operand| operand.row().map(|row| &row[..whole])));
    if !rest.is_empty() {
        let mut lot = [0; LOT];
        let tails = operands.map(|operand| {
            let mut tail = [0; LOT];
            let row = operand.row()?;
            tail[..rest.len()].copy_from_slice(&row[whole..]);
            Some(tail)
        });
        call(&mut lot, [0, 1, 2].map(|k| tails[k].as_ref().map(|tail| &tail[..])));
        rest.copy_from_slice(&lot[..rest.len()]);
    }
    Ok(())
}

impl<'a> Operand<'a> {
    fn row(self) -> Option<&'a [u32]> {
        match self {
            Operand::Row(row) => Some(row),
            Operand::Word(_) => None,
        }
    }
}

/// Length and operand kinds of a call.
#[derive(Clone, Copy)]
struct Span {
    /// Number of work items.
    items: usize,
    /// For each operand, 1 if it is a row, else 0.
    steps: [usize; 3],
}

impl Span {
    /// Decodes the argument `span` of a [`RowFn`].
    fn new(span: usize) -> Span {
        Span { items: span / 64 * LOT, steps: [span & 1, span >> 1 & 1, span >> 2 & 1] }
    }
}
