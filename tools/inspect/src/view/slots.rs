//! The chart of VP1 bundles, which shows the units that each bundle uses.

use halfbyte_isa::vp1::{self, Unit, bundles};

use super::machine::{is_nop, loops};
use super::model::Origin;
use halfbyte::emit::{BlockStats, KernelCode};

/// An instruction of a VP1 bundle.
#[derive(Clone, Debug)]
pub(super) struct UnitInst {
    /// The address of the instruction word.
    pub address: u32,
    /// The assembly text.
    pub text: String,
    /// The source position; `None` for a no-op.
    pub place: Option<Origin>,
    /// `true` for a no-op.
    pub is_nop: bool,
}

/// The contents of the chart, with one column per bundle and one row per unit.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    /// The instructions of each bundle, one entry for each unit.
    pub bundles: Vec<[Option<UnitInst>; 4]>,
    /// The statistics of the basic blocks, in order.
    pub blocks: Vec<BlockStats>,
    /// The loops: the index of the bundle to which the backward branch jumps, and of the bundle with the branch.
    pub loops: Vec<(usize, usize)>,
}

/// Returns the chart for a kernel's machine code, or `None` if the target has no bundles.
pub(super) fn of_code(code: &KernelCode) -> Option<Slots> {
    let vp1::Vp1Code(words) = code.words.downcast_ref()?;
    let in_units = |start: u32, end: u32| {
        Unit::ALL.map(|unit| {
            let address = (start..end).find(|&at| words.get(at as usize).is_some_and(|&w| Unit::of_word(w) == unit))?;
            let word = words.get(address as usize).copied()?;
            let is_nop = is_nop(word);
            let place = code.locs.get(address as usize).and_then(|&loc| Origin::of_loc(loc)).filter(|_| !is_nop);
            Some(UnitInst { address, text: code.words.text(address as usize), place, is_nop })
        })
    };
    let bundles = bundles(words).map(|(start, bundle)| in_units(start, start + bundle.words())).collect();
    Some(Slots { bundles, blocks: code.stats.clone(), loops: loops(words) })
}
