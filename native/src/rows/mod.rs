//! What an instruction computes for many work items at once, at the speed of the host's vector unit and exact in every mode.
//!
//! A row is one word for each of a multiple of [`LOT`] work items. [`function`] gives the best function for an operation that
//! this computer can run; compiled code calls it by its address. [`apply`] runs any variant on slices.
//!
//! Nothing here says what an operation is: [`RowOp::word`] does, by the interpreter's arithmetic, and every function gives the
//! same bits. `halfbyte prove` compares each variant that the computer has with rustc_apfloat.

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

/// Work items that are computed at a time.
pub const LOT: usize = 16;

/// An operation on rows of words: one of [`Domain`], whose method says what it computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RowOp {
    /// [`Domain::shl`]
    Shl,
    /// [`Domain::shr`]
    Shr,
    /// [`Domain::sar`]
    Sar,
    /// [`Domain::mul_high`], signed or not.
    MulHigh(bool),
    /// [`Domain::divide`]
    Divide(Divide),
    /// [`Domain::fma`], of f32s.
    Fma,
    /// [`Domain::single`]
    Single(FloatOp),
    /// The low or the high word of [`Domain::convert`].
    Convert(Conversion, u8),
    /// [`Domain::narrow`]
    Narrow(Format, Rounding),
    /// [`Domain::widen`]
    Widen(Format),
    /// [`Domain::elementary`]
    Elementary(Function),
    /// [`Domain::half`]
    Half(HalfOp),
    /// [`Domain::half_minmax`]: the lesser where the third operand is all ones, the greater where it is 0.
    MinMax(HalfMinMax),
    /// [`Domain::half_compare`] in lane 0 or 1: all ones where it holds, else 0.
    Compare(HalfCompare, u8),
    /// [`Domain::video`] of all four unsigned bytes, which saturates.
    Bytes(VideoKind),
}

/// The operation that [`RowOp::Bytes`] is.
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
    /// The operation on rows that a video instruction is, if it is one.
    pub fn of_video(op: &VideoOp) -> Option<RowOp> {
        // Only sums and differences may be out of range.
        let saturates = op.merge == VideoMerge::Saturate
            || op.merge == VideoMerge::Wrap && !matches!(op.kind, VideoKind::Add | VideoKind::Sub);
        let same = VideoOp { merge: VideoMerge::Saturate, ..*op } == of_bytes(op.kind);
        (saturates && same).then_some(RowOp::Bytes(op.kind))
    }

    /// The operation for one work item. Operands that it does not have do not count.
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

/// A function that writes to a row what an operation makes of up to three others.
///
/// The span is the length of the rows in bytes, a multiple of `4 * LOT`; its bits 0 to 2 say of each operand whether it is a
/// row. One that is not is a lot of the same word, and one that the operation does not have any lot. The result may be one of
/// the operands. Rows may start at any address: some are in buffers of the caller.
///
/// # Safety
/// The result and the operands are as long as the span says, and the operation is the one that the function was asked for.
pub type RowFn =
    unsafe extern "C" fn(result: *mut u32, a: *const u32, b: *const u32, c: *const u32, span: usize, op: *const RowOp);

/// The variable of the environment that may name the variant to run, such as `portable`: for tests of one that is not the best.
pub const ROWS_VARIABLE: &str = "HALFBYTE_ROWS";

/// What the functions are written for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Variant {
    /// Any computer.
    Portable,
    /// x86-64 with AVX2, F16C and FMA.
    Avx2,
    /// x86-64 with AVX-512F, BW, DQ and VL, and what [`Variant::Avx2`] needs.
    Avx512,
}

impl Variant {
    /// All of them, the best last.
    pub const ALL: [Variant; 3] = [Variant::Portable, Variant::Avx2, Variant::Avx512];

    /// Whether this computer can run it.
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

    /// The best that this computer can run, or the one that [`ROWS_VARIABLE`] names. AVX-512 is the best only where it gives the
    /// interpreter's bits for some thousand operands, which are compared at the first call: few computers have it, so that few
    /// proofs have been run on one.
    pub fn best() -> Variant {
        static BEST: OnceLock<Variant> = OnceLock::new();
        let is_best = |variant: &Variant| match variant {
            Variant::Avx512 => variant.is_here() && agree::agrees(*variant),
            _ => variant.is_here(),
        };
        let best = || Variant::ALL.into_iter().rfind(is_best).unwrap_or(Variant::Portable);
        *BEST.get_or_init(|| Variant::asked_for().unwrap_or_else(best))
    }

    /// The variant that the environment names, if this computer can run it.
    fn asked_for() -> Option<Variant> {
        let name = std::env::var(ROWS_VARIABLE).ok()?;
        let is_named = |variant: &Variant| variant.to_string().eq_ignore_ascii_case(&name);
        Variant::ALL.into_iter().find(is_named).filter(|variant| variant.is_here())
    }

    /// The function of an operation, which may be called where the variant is here.
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

/// The function of an operation, the best that this computer can run.
pub fn function(op: &RowOp) -> RowFn {
    Variant::best().function(op)
}

/// What [`RowOp::word`] says, for compiled code.
///
/// # Safety
/// There is an operation where the pointer says.
pub unsafe extern "C" fn word(a: u32, b: u32, c: u32, op: *const RowOp) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { &*op }.word(a, b, c)
}

/// An operand of [`apply`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand<'a> {
    /// A word for each work item.
    Row(&'a [u32]),
    /// The same word for all.
    Word(u32),
}

/// Why an operation cannot be applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum RowError {
    /// The computer lacks the instructions.
    #[error("this computer cannot run the {0} variant")]
    Absent(Variant),
    /// The rows differ in length.
    #[error("a row of {found} words beside one of {expected}")]
    Length {
        /// The length of the result.
        expected: usize,
        /// The length of the operand.
        found: usize,
    },
}

/// Writes to `result` what a variant makes of operands as long as it, which may be any length.
///
/// # Errors
/// If the variant is not here, or a row has another length than the result.
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
        // SAFETY: the result and the rows have the same number of lots, what is no row is a lot, the operation is that of the
        // function, and the variant is here.
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

/// The operands and the length of a call.
#[derive(Clone, Copy)]
struct Span {
    /// Work items.
    items: usize,
    /// For each operand, 1 if it is a row, else 0.
    steps: [usize; 3],
}

impl Span {
    /// Of the argument of a [`RowFn`].
    fn new(span: usize) -> Span {
        Span { items: span / 64 * LOT, steps: [span & 1, span >> 1 & 1, span >> 2 & 1] }
    }
}
