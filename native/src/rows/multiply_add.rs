//! `a * b + c` on rows of halves with AVX2, F16C and FMA, exact in every rounding for all operands.
//!
//! Halves are computed as f32s and narrowed. In a directed rounding, the f32 is rounded in the same
//! direction, which preserves the rounding of the half. For rounding to nearest, the multiply-add
//! is computed twice, rounded down and up. The two f32s are the neighbours of the exact result, or
//! both equal it. Of the neighbours, the f32 whose last bit is set is used. That f32 rounds to the
//! same half as the exact result, because the last bit acts as a sticky bit. An f32 has more than
//! two bits more than either format, and covers the exponents of both.

use std::arch::asm;
use std::arch::x86_64::*;

use halfbyte_isa::half::{Format, NAN};

use super::LOT;

pub(super) const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT;
pub(super) const DOWN: i32 = _MM_FROUND_TO_NEG_INF;
pub(super) const UP: i32 = _MM_FROUND_TO_POS_INF;
pub(super) const ZERO: i32 = _MM_FROUND_TO_ZERO;

/// A row, or a lot that repeats one word.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub start: *const u32,
    pub is_row: bool,
}

impl Operand {
    /// Returns an operand that repeats one word. The lot outlives every call.
    pub fn same(lot: &'static [u32; LOT]) -> Operand {
        Operand { start: lot.as_ptr(), is_row: false }
    }
}

/// Number of bytes of a lot.
const LOT_BYTES: usize = 4 * LOT;

/// Emits a loop over lots, with the rounding of f32 operations set in the control register while the loop runs. Rust
/// code must not run with another rounding than to nearest. `$widen` widens the operands at offset 0, for operands that
/// are the same in all iterations. `$lot` computes a lot.
macro_rules! rounded_loop {
    ($widen:expr, $lot:expr, $b:ident, $c:ident) => {
        concat!(
            // Bits 13 and 14 of the control register select the rounding.
            "vstmxcsr dword ptr [{control}]\n",
            "mov {bits:e}, dword ptr [{control}]\n",
            "and {bits:e}, -24577\n",
            "or {bits:e}, {direction}\n",
            "mov dword ptr [{control} + 4], {bits:e}\n",
            "vldmxcsr dword ptr [{control} + 4]\n",
            $widen,
            "2:\n",
            $lot,
            "add {a}, {a_step}\n",
            step!($b, "b"),
            step!($c, "c"),
            "add {result}, 64\n",
            "dec {lots}\n",
            "jnz 2b\n",
            "vldmxcsr dword ptr [{control}]\n",
        )
    };
}

/// Advances an operand to its next lot.
macro_rules! step {
    (row, $from:literal) => {
        concat!("add {", $from, "}, 64\n")
    };
    (same, $from:literal) => {
        ""
    };
}

/// Emits an instruction on named registers, with an optional immediate.
macro_rules! on {
    ($instruction:literal, $to:literal $(, $from:literal)* $(; $number:literal)?) => {
        concat!($instruction, " {", $to, "}" $(, ", {", $from, "}")* $(, ", ", $number)?, "\n")
    };
}

/// Emits an instruction with a memory operand of the given size.
macro_rules! load {
    ($instruction:literal, $to:literal, $size:literal, $from:literal, $at:literal) => {
        concat!($instruction, " {", $to, "}, ", $size, " ptr [{", $from, "} + ", $at, "]\n")
    };
}

/// Emits `$x = $x * $y + $z`. `once` computes one result, in the rounding that is set. `odd` selects the odd one of the
/// two f32s adjacent to the result.
macro_rules! multiply_add {
    (once, $x:literal, $y:literal, $z:literal) => {
        concat!(on!("vfmadd213ps", $x, $y, $z), "# {below} {sign}\n")
    };
    (odd, $x:literal, $y:literal, $z:literal) => {
        concat!(
            on!("vmovaps", "below", $x),
            on!("vfmadd213ps", "below", $y, $z),
            // The negated upper result, because the negation is rounded down, too.
            on!("vfnmsub213ps", $x, $y, $z),
            on!("vpslld", "mask", "below"; 31),
            on!("vxorps", $x, $x, "sign"),
            on!("vblendvps", $x, $x, "below", "mask"),
        )
    };
}

/// Writes sixteen halves, and replaces NaNs by the canonical NaN.
macro_rules! canonical {
    ($at:literal) => {
        concat!(
            on!("vpand", "mask", "x", "nan"),
            on!("vpcmpgtw", "mask", "mask", "infinity"),
            on!("vpblendvb", "x", "x", "nan", "mask"),
            concat!("vmovdqu ymmword ptr [{result} + ", $at, "], {x}\n"),
        )
    };
}

/// Loads eight f16 values of a row. A uniform operand has already been loaded.
macro_rules! widen {
    (row, $to:literal, $from:literal, $at:literal) => {
        load!("vcvtph2ps", $to, "xmmword", $from, $at)
    };
    (same, $to:literal, $from:literal, $at:literal) => {
        ""
    };
}

/// Computes eight results at an offset, in half of a register.
macro_rules! f16_eight {
    ($sum:ident, $b:ident, $c:ident, $x:literal, $at:literal) => {
        concat!(
            widen!(row, $x, "a", $at),
            widen!($b, "y", "b", $at),
            widen!($c, "z", "c", $at),
            multiply_add!($sum, $x, "y", "z"),
            concat!("vcvtps2ph {", $x, ":x}, {", $x, "}, {rounding}\n"),
        )
    };
}

macro_rules! f16_sixteen {
    ($sum:ident, $b:ident, $c:ident, $at:literal, $at_high:literal) => {
        concat!(
            f16_eight!($sum, $b, $c, "x", $at),
            f16_eight!($sum, $b, $c, "high", $at_high),
            "vinserti128 {x}, {x}, {high:x}, 1\n",
            canonical!($at),
        )
    };
}

macro_rules! f16_loop {
    ($sum:ident, $b:ident, $c:ident) => {
        rounded_loop!(
            concat!(widen!(row, "y", "b", "0"), widen!(row, "z", "c", "0")),
            concat!(f16_sixteen!($sum, $b, $c, "0", "16"), f16_sixteen!($sum, $b, $c, "32", "48")),
            $b,
            $c
        )
    };
}

/// Loads the low and the high bf16 values of eight words of a row.
macro_rules! split {
    (row, $low:literal, $high:literal, $from:literal, $at:literal) => {
        concat!(
            load!("vmovdqu", $low, "ymmword", $from, $at),
            on!("vpand", $high, $low, "upper"),
            on!("vpslld", $low, $low; 16),
        )
    };
    (same, $low:literal, $high:literal, $from:literal, $at:literal) => {
        ""
    };
}

/// Rounds to a bf16 value in the upper half of each f32. A NaN has zeros in the lower half, and stays a NaN.
macro_rules! narrow {
    (nearest, $x:literal) => {
        concat!(
            on!("vpsrld", "mask", $x; 16),
            on!("vpand", "mask", "mask", "last"),
            on!("vpaddd", $x, $x, "more"),
            on!("vpaddd", $x, $x, "mask"),
        )
    };
    (down, $x:literal) => {
        concat!(
            on!("vpsrad", "mask", $x; 31),
            on!("vpand", "mask", "mask", "more"),
            on!("vpaddd", $x, $x, "mask"),
            "# {last}\n",
        )
    };
    (up, $x:literal) => {
        concat!(
            on!("vpsrad", "mask", $x; 31),
            on!("vpandn", "mask", "mask", "more"),
            on!("vpaddd", $x, $x, "mask"),
            "# {last}\n",
        )
    };
    (zero, $x:literal) => {
        "# {last} {more}\n"
    };
}

macro_rules! bf16_sixteen {
    ($sum:ident, $narrow:ident, $b:ident, $c:ident, $at:literal) => {
        concat!(
            split!(row, "x", "high", "a", $at),
            split!($b, "y", "y_high", "b", $at),
            split!($c, "z", "z_high", "c", $at),
            multiply_add!($sum, "x", "y", "z"),
            multiply_add!($sum, "high", "y_high", "z_high"),
            narrow!($narrow, "x"),
            narrow!($narrow, "high"),
            "vpsrld {x}, {x}, 16\n",
            "vpblendw {x}, {x}, {high}, 170\n",
            canonical!($at),
        )
    };
}

macro_rules! bf16_loop {
    ($sum:ident, $narrow:ident, $b:ident, $c:ident) => {
        rounded_loop!(
            concat!(split!(row, "y", "y_high", "b", "0"), split!(row, "z", "z_high", "c", "0")),
            concat!(bf16_sixteen!($sum, $narrow, $b, $c, "0"), bf16_sixteen!($sum, $narrow, $b, $c, "32")),
            $b,
            $c
        )
    };
}

/// Writes lots of `a * b + c`. `BF16` selects the format. `IS_F32` states that every exact result is an f32, so that
/// the second computation is unnecessary.
///
/// # Safety
/// The result and the operands that are rows have `lots` lots, and other operands have one. The result may be one of
/// the rows. The host has AVX2, F16C and FMA.
#[target_feature(enable = "avx2,f16c,fma")]
pub(super) unsafe fn multiply_add<const BF16: bool, const ROUNDING: i32, const IS_F32: bool>(
    result: *mut u32,
    [a, b, c]: [Operand; 3],
    lots: usize,
) {
    if lots == 0 {
        return;
    }
    // The loop reads the first factor lot by lot, so a row is preferred as the first factor.
    let [a, b] = if a.is_row { [a, b] } else { [b, a] };
    let a_step = if a.is_row { LOT_BYTES } else { 0 };
    let mut control = [0_u32; 2];
    let format = if BF16 { Format::Bf16 } else { Format::F16 };
    let infinity = _mm256_set1_epi16(format.infinity() as i16);
    macro_rules! run {
        ($loop:expr, $($more:tt)*) => {
            // SAFETY: the lots exist, and the loop restores the control register.
            unsafe {
                asm!(
                    $loop,
                    control = in(reg) control.as_mut_ptr(),
                    bits = out(reg) _,
                    direction = const (if ROUNDING == NEAREST && !IS_F32 { DOWN } else { ROUNDING }) << 13,
                    a = inout(reg) a.start => _,
                    b = inout(reg) b.start => _,
                    c = inout(reg) c.start => _,
                    a_step = in(reg) a_step,
                    result = inout(reg) result => _,
                    lots = inout(reg) lots => _,
                    x = out(ymm_reg) _,
                    high = out(ymm_reg) _,
                    y = out(ymm_reg) _,
                    z = out(ymm_reg) _,
                    below = out(ymm_reg) _,
                    mask = out(ymm_reg) _,
                    sign = in(ymm_reg) _mm256_set1_ps(-0.0),
                    nan = in(ymm_reg) _mm256_set1_epi16(NAN as i16),
                    infinity = in(ymm_reg) infinity,
                    options(nostack),
                    $($more)*
                )
            }
        };
    }
    macro_rules! of_f16 {
        ($sum:ident) => {
            match (b.is_row, c.is_row) {
                (true, true) => run!(f16_loop!($sum, row, row), rounding = const ROUNDING),
                (true, false) => run!(f16_loop!($sum, row, same), rounding = const ROUNDING),
                (false, true) => run!(f16_loop!($sum, same, row), rounding = const ROUNDING),
                (false, false) => run!(f16_loop!($sum, same, same), rounding = const ROUNDING),
            }
        };
    }
    macro_rules! of_bf16 {
        ($sum:ident, $narrow:ident, $b:ident, $c:ident) => {
            run!(
                bf16_loop!($sum, $narrow, $b, $c),
                y_high = out(ymm_reg) _,
                z_high = out(ymm_reg) _,
                upper = in(ymm_reg) _mm256_set1_epi32(!0xFFFF),
                last = in(ymm_reg) _mm256_set1_epi32(1),
                more = in(ymm_reg) _mm256_set1_epi32(if ROUNDING == NEAREST { 0x7FFF } else { 0xFFFF }),
            )
        };
        ($sum:ident, $narrow:ident) => {
            match (b.is_row, c.is_row) {
                (true, true) => of_bf16!($sum, $narrow, row, row),
                (true, false) => of_bf16!($sum, $narrow, row, same),
                (false, true) => of_bf16!($sum, $narrow, same, row),
                (false, false) => of_bf16!($sum, $narrow, same, same),
            }
        };
    }
    match (BF16, ROUNDING) {
        (false, NEAREST) if !IS_F32 => of_f16!(odd),
        (false, _) => of_f16!(once),
        (true, NEAREST) => of_bf16!(odd, nearest),
        (true, DOWN) => of_bf16!(once, down),
        (true, UP) => of_bf16!(once, up),
        (true, _) => of_bf16!(once, zero),
    }
}
