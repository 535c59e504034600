//! Division of a launch into rows, and the shapes of special registers along a row.

use halfbyte_abi::{Axis, Shape};
use halfbyte_isa::halu::domain::{IndexKind, SpecialReg};

use super::context::CHUNK;
use super::dataflow;
use halfbyte_isa::halu::special::Special;

/// Order in which code processes the items of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// Rows along which every special register has a constant stride. The stride is the same in all launches.
    Along,
    /// Rows of any items, with a row for the values of each special register.
    Apart,
    /// Rows that are whole groups, with a row for the values of each special register that varies within the group.
    Groups,
    /// Rows that are groups without a third axis. Registers are affine along x and along y.
    Planes,
}

impl Layout {
    /// All layouts.
    pub const ALL: [Layout; 4] = [Layout::Along, Layout::Apart, Layout::Groups, Layout::Planes];

    /// Returns the shape of a special register.
    pub fn shape(self, register: SpecialReg) -> dataflow::Shape {
        match self {
            Layout::Along => dataflow::Shape::affine(stride(register)),
            Layout::Groups | Layout::Planes if register.of == IndexKind::Block => dataflow::Shape::Uniform,
            Layout::Planes => match (register.of, register.axis) {
                (_, Some(Axis::X)) => dataflow::Shape::Grid(1, 0),
                (_, Some(Axis::Y)) => dataflow::Shape::Grid(0, 1),
                (_, Some(Axis::Z)) => dataflow::Shape::Uniform,
                (IndexKind::Thread, None) => dataflow::Shape::Affine(1),
                (_, None) => dataflow::Shape::Varying,
            },
            Layout::Apart | Layout::Groups => dataflow::Shape::Varying,
        }
    }
}

/// Returns the stride of a register from an item to the next one along x.
fn stride(register: SpecialReg) -> u32 {
    u32::from(register.of != IndexKind::Block && matches!(register.axis, None | Some(Axis::X)))
}

/// Minimum length of a row with affine registers. The start of a shorter row costs more than affine registers save.
const LEAST_RUN: u32 = CHUNK;

/// Division of a launch into rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cut {
    pub layout: Layout,
    /// Maximum length of a row: a row ends at each multiple of `run`. The number of items of the launch is a multiple
    /// of `run`.
    pub run: u32,
}

impl Cut {
    /// Returns the division for a kernel that reads these registers, in a launch of `items` items. If `group` is a
    /// group size, each group is a row.
    pub fn new(registers: &[SpecialReg], shape: &Shape, items: u32, group: Option<u32>) -> Cut {
        let runs = registers.iter().map(|&register| run(register, shape));
        if let Some(run) = group {
            let layout = match (runs.min(), shape.block) {
                (None, _) => Layout::Along,
                (Some(along), _) if along >= run => Layout::Along,
                (_, [_, _, 1]) => Layout::Planes,
                _ => Layout::Groups,
            };
            return Cut { layout, run };
        }
        let run = runs.min().unwrap_or(items).max(1);
        if run >= LEAST_RUN.min(items) {
            Cut { layout: Layout::Along, run }
        } else {
            Cut { layout: Layout::Apart, run: items.max(1) }
        }
    }
}

/// Returns the length of the runs in which a register is affine with its stride. Runs start at multiples of this
/// length.
fn run(register: SpecialReg, shape: &Shape) -> u32 {
    if shape.is_along_x() && register.of == IndexKind::Item && matches!(register.axis, None | Some(Axis::X)) {
        return Axis::X.of(shape.grid).wrapping_mul(Axis::X.of(shape.block));
    }
    let Special { local, group } = Special::new(register, shape);
    let counts = shape.block.into_iter().chain(shape.grid);
    let mut run: u32 = 1;
    for (count, step) in counts.zip(local.into_iter().chain(group)).filter(|(count, _)| *count != 1) {
        if step != stride(register).wrapping_mul(run) {
            break;
        }
        run = run.wrapping_mul(count);
    }
    run
}

/// Fills a row with the values of a register for the items from `first` on.
pub(super) fn fill(row: &mut [u32], special: &Special, shape: &Shape, first: u32) {
    let ([step, ..], [along_x, ..]) = (special.local, shape.block);
    let (mut rest, mut item) = (row, first);
    while !rest.is_empty() {
        let place = shape.place(item);
        let left = along_x.saturating_sub(Axis::X.of(place.local)).max(1);
        let (run, after) = rest.split_at_mut(rest.len().min(left as usize));
        let mut word = special.at(&place);
        for place in run.iter_mut() {
            *place = word;
            word = word.wrapping_add(step);
        }
        item = item.wrapping_add(run.len() as u32);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [([u32; 3], [u32; 3]); 9] = [
        ([5, 1, 1], [7, 1, 1]),
        ([1, 1, 1], [6, 1, 1]),
        ([4, 1, 1], [1, 1, 1]),
        ([2, 3, 2], [4, 1, 1]),
        ([1, 2, 1], [4, 3, 1]),
        ([2, 2, 1], [3, 2, 2]),
        ([1, 3, 2], [1, 1, 5]),
        ([1, 1, 1], [1, 8, 2]),
        ([3, 2, 2], [1, 2, 1]),
    ];

    #[test]
    fn registers_grow_by_their_stride_along_a_run() {
        for (grid, block) in SHAPES {
            let shape = Shape::from((grid, block));
            let items = grid.iter().chain(&block).product();
            for register in SpecialReg::all() {
                let mut words = vec![0; items as usize];
                let special = Special::new(register, &shape);
                fill(&mut words, &special, &shape, 0);
                for (item, &word) in (0..).zip(&words) {
                    assert_eq!(word, special.at(&shape.place(item)), "{register:?} {shape} {item}");
                }
                let run = run(register, &shape);
                assert_eq!(items % run, 0);
                let grows = |[a, b]: &[u32; 2]| b.wrapping_sub(*a) == stride(register);
                let all = |run: u32| words.chunks(run as usize).all(|words| words.array_windows().all(grows));
                assert!(all(run), "{register:?} {shape} {run}");
                // No longer run of whole axes is affine.
                let more = (run + 1..=items).find(|&more| more % run == 0 && items % more == 0);
                assert!(more.is_none_or(|more| !all(more)), "{register:?} {shape} {run} {more:?}");
            }
        }
    }

    #[test]
    fn launches_along_x_are_one_run_of_the_item_number() {
        let cut = |register, shape: Shape| Cut::new(&[register], &shape, shape.items().unwrap_or(0), None);
        let along = |run| Cut { layout: Layout::Along, run };
        let of = |of, axis| SpecialReg { of, axis };
        assert_eq!(cut(SpecialReg::ITEM, Shape::from(1 << 20)), along(1 << 20));
        assert_eq!(cut(of(IndexKind::Item, Some(Axis::X)), Shape::from((1 << 10, 64))), along(1 << 16));
        assert_eq!(cut(of(IndexKind::Thread, Some(Axis::X)), Shape::from((1 << 10, 64))), along(64));
        assert_eq!(cut(of(IndexKind::Block, None), Shape::from(([2, 2, 1], [8, 8, 1]))), along(64));
        let apart = Cut { layout: Layout::Apart, run: 256 };
        assert_eq!(cut(SpecialReg::ITEM, Shape::from(([2, 2, 1], [8, 8, 1]))), apart);
        // A few items form a row for any launch shape.
        assert_eq!(cut(SpecialReg::ITEM, Shape::from(3)), along(3));
        assert_eq!(cut(SpecialReg::ITEM, Shape::from(0)), along(1));
    }
}
