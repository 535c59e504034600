//! Tests of launches with no item, with one item, and with an incomplete last tile. Every target
//! must give the bits of the evaluator and write nothing else. `HALFBYTE_ITEMS=1000003 cargo test
//! item_counts::` sets the number of items of the longest launch.

use halfbyte::Module;
use halfbyte::ir::generate::elements;
use halfbyte::ir::witness::Random;
use halfbyte::ir::{Kernel, ParamKind};

use crate::common::root;
use crate::support::{agree, program, with_passes};

const COUNTS: [u32; 8] = [0, 1, 2, 3, 4, 5, 15, 17];

/// Returns the number of items of the longest launch. The number exceeds 16 bits, and is no
/// multiple of the size of a row or a tile.
fn most() -> u32 {
    std::env::var("HALFBYTE_ITEMS").map_or(131_101, |count| count.parse().unwrap())
}

/// Width of the image for `median.hb` in 32-bit words.
const WIDTH: u32 = 1000;

/// Compares an example on HALU and VP1 with the evaluator. The buffers are `spare` elements longer
/// than the launch needs.
fn check(example: &str, spare: u32, scalar: Option<u32>) {
    let path = root().join("examples").join(example);
    let file = Module::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    let module = Module::parse(&file.ir().kernels[0].to_string()).unwrap();
    for target in [halfbyte::HALU, halfbyte::VP1] {
        let program = program(&module, &with_passes(target)).unwrap();
        for items in COUNTS.into_iter().chain([most()]) {
            let args = arguments(&module.ir().kernels[0], items + spare, scalar);
            agree(&module, &program, items, &args).unwrap_or_else(|error| panic!("{example}, {items} items: {error}"));
        }
    }
}

/// Returns arguments with random contents, so that a write outside of the expected elements is detected.
fn arguments(kernel: &Kernel, count: u32, scalar: Option<u32>) -> Vec<Vec<u8>> {
    let mut random = Random(count.into());
    let of = |param: &halfbyte::ir::Param| match (param.kind, scalar) {
        (ParamKind::Scalar(_), Some(value)) => value.to_le_bytes().to_vec(),
        (ParamKind::Scalar(ty), None) => elements(ty, 1, &mut random),
        (ParamKind::Buffer { elem, .. }, _) => elements(elem, count, &mut random),
    };
    kernel.params.iter().map(of).collect()
}

#[test]
fn words_of_pixels() {
    check("brighten.hb", 0, None);
    check("brighten.hb", 7, None);
}

#[test]
fn pixels() {
    check("threshold.hb", 0, None);
}

#[test]
fn neighbours() {
    check("median.hb", 2 * WIDTH + 2, Some(WIDTH));
}

#[test]
fn items_one_by_one() {
    check("sad16.hb", 3, None);
}
