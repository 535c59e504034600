//! Analysis of buffers that a launch overwrites completely and never reads, so that their old
//! contents are irrelevant.

use super::dataflow::{Access, Action, Dataflow, Id, Location, Op, Reach, Shape};
use super::front::Kernel;
use super::graph::{Block, Next};
use super::layout::Layout;
use super::unit::Unit;
use crate::launch::Pointer;
use halfbyte_abi::buffer_of;
use halfbyte_isa::buffers::{Buffers, OverwrittenBuffer, OverwrittenBuffers};
use halfbyte_isa::trap::Space;

/// Contiguous stores of a kernel, from the start of a buffer on.
#[derive(Default)]
pub(super) struct Covers {
    stores: Vec<Cover>,
    /// Offsets in constant bank 0 of the addresses of all memory that is read.
    read: Vec<u32>,
}

/// Contiguous store from the start of a buffer on.
#[derive(Clone, Copy, Debug)]
struct Cover {
    /// Offset in constant bank 0 of the address of the buffer.
    pointer: u32,
    /// Size of the stored value of an item, in bytes.
    bytes: u32,
    /// Largest item number for which the offset does not wrap.
    last: u32,
}

/// Maximum scale for which an address plus a scaled word remains in the slot of the buffer.
const FARTHEST: u32 = 64;

/// Returns the unit of a kernel that is a single block, which all items run to its end.
pub(super) fn only_unit<'u>(
    blocks: &[Block],
    kernel: &Kernel<'_>,
    layout: Layout,
    units: &'u [Option<Unit>],
) -> Option<&'u Unit> {
    let mut reached = blocks.iter().zip(units).filter_map(|(block, unit)| Some((block, unit.as_ref()?)));
    let (Some((block, unit)), None) = (reached.next(), reached.next()) else { return None };
    let is_one = block.start == 0 && block.next == Next::Exit && !unit.dead && unit.condition.is_none();
    (is_one && layout == Layout::Along && kernel.groups.is_none()).then_some(unit)
}

impl Covers {
    /// Analyses a kernel that is a single block, which all items run to its end. Other kernels have no such stores.
    pub fn new(blocks: &[Block], kernel: &Kernel<'_>, layout: Layout, units: &[Option<Unit>]) -> Covers {
        let Some(unit) = only_unit(blocks, kernel, layout, units) else { return Covers::default() };
        Covers::of(&unit.dataflow, kernel.pointers).unwrap_or_default()
    }

    /// Returns `None` if it is not known which memory is read.
    fn of(dataflow: &Dataflow, pointers: &[Pointer]) -> Option<Covers> {
        let first = first_values(dataflow);
        let mut covers = Covers::default();
        for access in &dataflow.accesses {
            match &access.action {
                Action::Store { place, .. } if is_global(place) => {
                    covers.stores.extend(
                        cover(dataflow, &first, access)
                            .filter(|cover| pointers.iter().any(|pointer| pointer.offset == cover.pointer)),
                    );
                }
                Action::Load { place, .. } | Action::Atomic { place, .. } if is_global(place) => {
                    let &Location::Global { base, scale, .. } = place else { return None };
                    let at = dataflow.bank_address(base).filter(|_| scale.by <= FARTHEST)?;
                    covers.read.push(pointers.iter().find(|pointer| pointer.offset == at)?.offset);
                }
                _ => {}
            }
        }
        Some(covers)
    }

    /// Returns the buffers that need not be zeroed, for a launch of `items` items in a single run.
    pub fn buffers(&self, constants: &[u8], items: u32, buffers: &Buffers<'_>) -> OverwrittenBuffers {
        let at = |pointer: u32| {
            let bytes = constants.get(pointer as usize..)?.first_chunk()?;
            buffer_of(u64::from_le_bytes(*bytes))
        };
        let mut covered = OverwrittenBuffers::new();
        for cover in &self.stores {
            let Some((buffer, 0)) = at(cover.pointer) else { continue };
            let found = OverwrittenBuffer { buffer, bytes: cover.bytes };
            let held = buffers.0.get(buffer).and_then(Option::as_ref);
            let is_all = held.is_some_and(|held| found.is_whole(held, items));
            // The address of another parameter may also be in the buffer.
            let is_read = self.read.iter().any(|&pointer| at(pointer).is_none_or(|(other, _)| other == buffer));
            let is_known = covered.iter().any(|other| other.buffer == buffer);
            if is_all && !is_read && !is_known && items.checked_sub(1).is_some_and(|last| last <= cover.last) {
                covered.push(found);
            }
        }
        covered
    }
}

/// Returns `true` if an access may be to a buffer.
fn is_global(place: &Location) -> bool {
    match place {
        Location::Global { .. } => true,
        Location::Flat { reach, .. } => !matches!(reach, Reach::In(Space::Local | Space::Shared)),
        Location::Constant { .. } | Location::Own { .. } => false,
    }
}

fn cover(dataflow: &Dataflow, first: &[Option<u32>], access: &Access) -> Option<Cover> {
    let Action::Store { place, width, .. } = &access.action else { return None };
    let &Location::Global { offset, base, imm: 0, scale } = place else { return None };
    let bytes = width.bytes();
    let Shape::Affine(step) = dataflow.shape(offset) else { return None };
    let is_dense = place.stride_shape(dataflow) == Some(Shape::Affine(bytes));
    let starts = first.get(offset.index()) == Some(&Some(0));
    if !is_dense || !starts || access.guard.is_some() {
        return None;
    }
    let most = if scale.signed { i32::MAX.cast_unsigned() } else { u32::MAX };
    Some(Cover { pointer: dataflow.bank_address(base)?, bytes, last: most / step })
}

/// Returns the values of the first item in a launch of a single run, if they are the same in all launches. In such a
/// launch, special registers and all other cells start as zeros.
fn first_values(dataflow: &Dataflow) -> Vec<Option<u32>> {
    let mut values: Vec<Option<u32>> = Vec::with_capacity(dataflow.nodes.len());
    for node in &dataflow.nodes {
        let of = |id: Id| values.get(id.index()).copied().flatten();
        let [a, b, ..] = node.args;
        let both = |by: fn(u32, u32) -> u32| Some(by(of(a)?, of(b)?));
        values.push(match node.op {
            Op::Const(word) => Some(word),
            Op::Input(_) => Some(0),
            Op::Add => both(u32::wrapping_add),
            Op::Sub => both(u32::wrapping_sub),
            Op::Mul => both(u32::wrapping_mul),
            Op::Shl => both(u32::wrapping_shl),
            _ => None,
        });
    }
    values
}
