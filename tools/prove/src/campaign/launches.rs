//! Random launches of random kernels.

use halfbyte_abi::Shape;
use halfbyte_ir::witness::Random;
use halfbyte_ir::{Kernel, ParamKind};

use halfbyte_ir::generate::{ROW, aliases, arguments};
use halfbyte_testkit::trial::Launch;

/// Item counts of the two launches of each kernel. The first launch has a small count. The count of
/// the second launch is near a multiple of an engine's row (8 or 16 items).
const ITEMS: [[u32; 8]; 2] = [[1, 2, 3, 4, 4, 5, 6, 8], [0, 9, 15, 16, 17, 24, 33, 40]];

/// Grids and blocks of launches along several axes. Some are shorter along x than the items that an
/// engine executes together, others longer.
const SHAPES: [([u32; 3], [u32; 3]); 12] = [
    ([2, 1, 1], [2, 2, 1]),
    ([1, 2, 2], [3, 1, 2]),
    ([2, 2, 1], [4, 1, 1]),
    ([1, 1, 3], [1, 1, 7]),
    ([3, 1, 1], [1, 5, 1]),
    ([2, 1, 2], [8, 2, 1]),
    ([1, 2, 1], [16, 2, 1]),
    ([2, 2, 1], [32, 1, 1]),
    ([1, 1, 2], [33, 2, 1]),
    ([3, 2, 1], [5, 1, 3]),
    ([1, 2, 0], [4, 2, 2]),
    ([1, 1, 1], [20, 3, 1]),
];

/// Returns two random launches of a kernel. A third of them run along several axes, and in a few a buffer is too short.
pub fn launches(kernel: &Kernel, random: &mut Random) -> Vec<Launch> {
    let aliases = aliases(kernel);
    let launch = |items: &[u32; 8]| {
        let items = items.get(random.below(items.len())).copied().unwrap_or(1);
        let shape = match SHAPES.get(random.below(3 * SHAPES.len())) {
            Some(&shape) => Shape::from(shape),
            None => Shape::from(items),
        };
        let items = shape.items().unwrap_or(0);
        let mut args = arguments(kernel, items, random);
        let number = random.below(8 * args.len());
        if let (Some(arg), Some(param)) = (args.get_mut(number), kernel.params.get(number))
            && let ParamKind::Buffer { elem, .. } = param.kind
        {
            let bytes = elem.bytes() as usize;
            // An alias into this buffer starts at an offset of less than `ROW` bytes, so the buffer
            // keeps at least `ROW` bytes.
            let least = if aliases.iter().any(|alias| alias.of == number) { ROW as usize } else { 0 };
            arg.truncate((random.below(arg.len() / bytes) * bytes).max(least));
        }
        Launch { shape, args, aliases: aliases.clone() }
    };
    ITEMS.iter().map(launch).collect()
}
