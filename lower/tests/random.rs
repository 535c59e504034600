//! Random kernels do the same before and after the passes, on targets that lack this or that, and packed as unpacked.
//!
//! The kernels are the same each time; `HALFBYTE_SEED=N` draws others.

use crate::common::kernel;
use crate::common::pack::{same_on, try_lower, vectors};
use halfbyte_ir::generate::{Addresses, Palette, Shape, arguments};
use halfbyte_ir::witness::Random;
use halfbyte_ir::{Kernel, Legality, Op, Type};
use halfbyte_lower::trial::target;

const ALL: &str = "fold canon unroll gvn if_convert canon merge licm dce legalise gvn licm dce";
const PACKED: [&str; 2] = ["pack", "fold canon gvn canon merge dce pack legalise gvn dce"];

/// Few items, as many as a vector has, more than one has, and many.
const ITEMS: [u32; 5] = [1, 3, 16, 17, 50];

fn seed() -> Random {
    Random(std::env::var("HALFBYTE_SEED").map_or(0, |seed| seed.parse().unwrap()))
}

/// A target that lacks about a quarter of the pure ops other than the simplest, and of constants but integers of a word.
fn with_gaps(gaps: u64) -> Legality {
    target(|op, ty| {
        let is_simple = matches!(op, Op::Split | Op::Concat | Op::Bitcast | Op::ItemId)
            || op == Op::Const && ty.is_int() && ty.bits() <= 32;
        let draw = Random(gaps ^ ((op as u64) << 8 | ty.index() as u64)).below(4);
        (op.is_pure() || op == Op::Switch) && !is_simple && draw == 0
    })
}

/// Whether both do the same, with traps and without; whether any launch has no fault.
fn same(before: &Kernel, after: &Kernel, random: &mut Random) -> bool {
    let launch = |&items: &u32| {
        let mut args = arguments(before, items, random);
        // Now and then a buffer that is too short for most of the items.
        let cut = random.below(4 * args.len());
        if let Some(arg) = args.get_mut(cut).filter(|arg| arg.len() > 64) {
            arg.truncate(64);
        }
        same_on(before, after, items, &args)
    };
    ITEMS.iter().map(launch).filter(|&is_good| is_good).count() > 0
}

#[test]
fn passes_keep_the_meaning() {
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

#[test]
fn packing_keeps_the_meaning() {
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
                        let reason = refusal.reason.unwrap();
                        let known = [
                            "it may read what",
                            "it may write where",
                            "the number of trips",
                            "its index",
                            "no way leads out",
                        ];
                        assert!(known.iter().any(|known| reason.starts_with(known)), "{reason}\n{before}");
                    }
                }
            }
        }
        assert!(packed > 90 && good > 60, "{passes}: {packed} packed, {good} without a fault");
    }
}
