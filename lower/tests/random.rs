//! Tests on random kernels: passes preserve the semantics, on targets that lack random ops and for packed kernels.
//!
//! The kernels are the same in every run. `HALFBYTE_SEED=N` selects other kernels.

use std::collections::BTreeSet;

use crate::common::kernel;
use crate::common::pack::{same_on, try_lower, vectors};
use halfbyte_ir::generate::{Addresses, Palette, Shape, arguments};
use halfbyte_ir::witness::Random;
use halfbyte_ir::{Kernel, Legality, Op, Type};
use halfbyte_lower::trial::target;

const ALL: &str = "fold canon unroll gvn if_convert canon merge licm dce legalise gvn licm dce";
const PACKED: [&str; 2] = ["pack", "fold canon gvn canon merge dce pack legalise gvn dce"];

/// Numbers of items in a launch: less than the lanes of a vector, equal, one more, and several vectors.
const ITEMS: [u32; 5] = [1, 3, 16, 17, 50];

fn seed() -> Random {
    Random(std::env::var("HALFBYTE_SEED").map_or(0, |seed| seed.parse().unwrap()))
}

/// Returns a target that lacks about a quarter of the pure ops. It always has the simplest ops and
/// integer constants of at most 32 bits.
fn with_gaps(gaps: u64) -> Legality {
    target(|op, ty| {
        let is_simple = matches!(op, Op::Split | Op::Concat | Op::Bitcast | Op::ItemId)
            || op == Op::Const && ty.is_int() && ty.bits() <= 32;
        let draw = Random(gaps ^ ((op as u64) << 8 | ty.index() as u64)).below(4);
        (op.is_pure() || op == Op::Switch) && !is_simple && draw == 0
    })
}

/// Compares the results of two kernels in several launches, some of which trap. Returns `true` if
/// at least one launch does not trap.
fn same(before: &Kernel, after: &Kernel, random: &mut Random) -> bool {
    let launch = |&items: &u32| {
        let mut args = arguments(before, items, random);
        // In some launches, a buffer is too short for most items.
        let cut = random.below(4 * args.len());
        if let Some(arg) = args.get_mut(cut).filter(|arg| arg.len() > 64) {
            arg.truncate(64);
        }
        same_on(before, after, items, &args)
    };
    ITEMS.iter().map(launch).filter(|&is_good| is_good).count() > 0
}

#[test]
fn passes_preserve_results() {
    let mut random = seed();
    for _ in 0..8 {
        let legality = with_gaps(random.bits());
        let takes = |kernel: &Kernel| try_lower(&mut kernel.clone(), ALL, &legality).is_ok();
        let mut palette = Palette::new(takes);
        for _ in 0..40 {
            let shape = Shape { traps: random.below(6) == 0, ..Shape::random(&mut random) };
            let before = kernel(&palette.kernel("k", &shape, &mut random).to_string());
            let mut after = before.clone();
            match try_lower(&mut after, ALL, &legality) {
                Ok(()) => drop(same(&before, &after, &mut random)),
                Err(refusals) => panic!("{}\n{before}", refusals[0]),
            }
        }
    }
}

/// Returns `true` for a type with several lanes.
fn is_vector(ty: Type) -> bool {
    !ty.is_scalar()
}

/// Returns the ops of a kernel that the target lacks.
fn lacked(kernel: &Kernel, legality: &Legality) -> Vec<(Op, Type)> {
    let insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts).map(|&inst| &kernel.insts[inst]);
    insts.map(|data| (data.op, data.ty)).filter(|&(op, ty)| !legality.is_native(op, ty)).collect()
}

/// Scalarisation handles every vector op. One target can only move vectors, the other one has only their bitcasts.
#[test]
fn scalarisation_preserves_results() {
    let moves = |op| matches!(op, Op::Split | Op::Concat | Op::Bitcast | Op::Load | Op::Store);
    let only_moves = target(|op, ty| is_vector(ty) && !moves(op));
    let only_bits = target(|op, ty| is_vector(ty) && op != Op::Bitcast);
    let all: Vec<Type> = Type::ALL.iter().copied().filter(|ty| !ty.is_mask() && ty.bits() <= 128).collect();
    let words: Vec<Type> = all.iter().copied().filter(|ty| ty.bits() <= 32).collect();
    for (legality, types) in [(only_moves, all), (only_bits, words)] {
        let mut random = seed();
        let lowered = |kernel: &Kernel| {
            let mut after = kernel.clone();
            try_lower(&mut after, "legalise gvn dce", &legality).unwrap();
            after
        };
        let takes = |kernel: &Kernel| lacked(&lowered(kernel), &legality).is_empty();
        let mut palette = Palette::new(takes).with_types(&types);
        let mut met = BTreeSet::new();
        for _ in 0..600 {
            let shape = Shape { traps: random.below(6) == 0, ..Shape::random(&mut random) };
            let before = kernel(&palette.kernel("k", &shape, &mut random).to_string());
            let after = lowered(&before);
            met.extend(lacked(&before, &legality).into_iter().map(|(op, ty)| (op.name(), ty.to_string())));
            assert_eq!(lacked(&after, &legality), [], "{before}");
            same(&before, &after, &mut random);
        }
        let packed = types.iter().copied().filter(|&ty| is_vector(ty));
        let forms = packed.flat_map(|ty| Op::ALL.iter().map(move |&op| (op, ty)));
        let forms = forms.filter(|&(op, ty)| op.is_pure() && op.row().types.is_some_and(|set| set.contains(ty)));
        let forms = forms
            .filter(|&(op, ty)| !is_undrawn(op) && !legality.is_native(op, ty))
            .map(|(op, ty)| (op.name(), ty.to_string()));
        let missed: Vec<_> = forms.filter(|form| !met.contains(form)).collect();
        assert!(missed.is_empty(), "{missed:?}");
    }
}

/// Returns `true` for ops that random kernels need not contain: conversions of wide types, ops that scalarisation
/// itself creates, ops of a single target, and `swizzle`, whose lane numbers are only known at run time.
fn is_undrawn(op: Op) -> bool {
    let by_way_of_wide = [Op::Sext, Op::Zext, Op::Trunc, Op::NarrowSatS, Op::NarrowSatU, Op::NarrowSatUU];
    let made = [Op::MulWideS, Op::MulWideU, Op::Concat, Op::Split, Op::Intrinsic, Op::Swizzle];
    by_way_of_wide.contains(&op) || made.contains(&op)
}

#[test]
fn wide_vectors_are_scalarised() {
    let legality = target(|op, ty| is_vector(ty) && !matches!(op, Op::Split | Op::Concat | Op::Load | Op::Store));
    let binary = "add sub mul mul_hi_s mul_hi_u add_sat_s sub_sat_u avg_s avg_u absdiff_s absdiff_u min_s max_u and or xor shl \
                  shr_s shr_u round_shr_s";
    let wide = binary.split_whitespace().map(|op| format!("%x = sext.T %a\n %y = zext.T %b\n %z = {op}.T %x, %y\n"));
    let made = ["mul_wide_s", "mul_wide_u"].map(|op| format!("%z = {op}.i8x16 %a, %b\n"));
    let cases = wide.flat_map(|body| ["i16x16", "i32x16"].map(|ty| body.replace('T', ty))).chain(made);
    let mut random = seed();
    for case in cases {
        let narrowing = ["trunc", "narrow_sat_s", "narrow_sat_u", "narrow_sat_uu"];
        let by_one_step = if case.contains("i32x16") { 1 } else { narrowing.len() };
        for narrow in narrowing.iter().take(by_one_step) {
            let text = format!(
                "kernel @k(%p: in i8x16, %q: in i8x16, %o: out i8x16) {{\n^entry:\n %i = item_id\n %a = load %p[%i]\n \
                 %b = load %q[%i]\n {case} %r = {narrow}.i8x16 %z\n store %r, %o[%i]\n ret\n}}\n"
            );
            let before = kernel(&text);
            let mut after = before.clone();
            try_lower(&mut after, "legalise dce", &legality).unwrap();
            assert_eq!(lacked(&after, &legality), [], "{before}");
            assert!(same(&before, &after, &mut random), "{before}");
        }
    }
}

#[test]
fn packing_preserves_results() {
    let legality = vectors(1000);
    let types = [Type::I8X4, Type::I8X4, Type::I8, Type::I32, Type::I32];
    for passes in PACKED {
        let mut random = seed();
        let takes = |kernel: &Kernel| try_lower(&mut kernel.clone(), passes, &legality).is_ok();
        let mut palette = Palette::new(takes).with_types(&types).with_addresses(Addresses::Affine);
        let (mut packed, mut good) = (0, 0);
        for _ in 0..150 {
            let shape = Shape { traps: random.below(6) == 0, ..Shape::random(&mut random) };
            let before = kernel(&palette.kernel("k", &shape, &mut random).to_string());
            let mut after = before.clone();
            match try_lower(&mut after, passes, &legality) {
                Ok(()) => {
                    packed += 1;
                    good += usize::from(same(&before, &after, &mut random));
                }
                Err(refusals) => {
                    for refusal in refusals {
                        let reason = refusal.reason.unwrap().to_string();
                        let known = [
                            "it may overlap an earlier store",
                            "it may overwrite bytes",
                            "the trip count",
                            "its index",
                            "its `wide` index",
                            "the loop has no exit",
                        ];
                        assert!(known.iter().any(|known| reason.starts_with(known)), "{reason}\n{before}");
                    }
                }
            }
        }
        assert!(packed > 90 && good > 60, "{passes}: {packed} packed, {good} without a fault");
    }
}
