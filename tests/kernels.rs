//! The kernels of the examples, and some that were compiled wrongly once, on random arguments with NaN of several payloads,
//! subnormals, infinities, 0x80 and 0xff in all that they read: the words give the evaluator's bits.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::path::Path;

use halfbyte::generate::elements;
use halfbyte::ir::witness::{Random, edges};
use halfbyte::ir::{Kernel, ParamKind, Type};
use halfbyte::pipeline::Options;
use halfbyte::{Module, Target};
use support::{agree, with_passes, without_passes};

const ITEMS: u32 = 1000;
const LAUNCHES: u64 = 8;
/// Rows so long that no two items change the same word of an image.
const WIDTH: u32 = ITEMS;
/// Kernels whose wide lanes only VP1 has.
const WIDE: [&str; 5] = ["chroma", "weight", "deblock", "vc1", "residual"];

#[test]
fn examples_on_halu() {
    let ways = [with_passes(Target::Halu), without_passes(Target::Halu)];
    let kernels = check_folder("examples", &ways, &|kernel| WIDE.contains(&kernel));
    assert!(kernels >= 11, "{kernels} kernels");
}

/// VP1 has no floating-point arithmetic, and refuses it in these kernels.
#[test]
fn examples_on_vp1() {
    let ways = [with_passes(Target::Vp1), without_passes(Target::Vp1)];
    let kernels = check_folder("examples", &ways, &|kernel| ["axpy", "relu_fma", "cmul"].contains(&kernel));
    assert!(kernels >= 13, "{kernels} kernels");
}

/// Kernels that were compiled wrongly once. Each says in its first line what it is about.
#[test]
fn regressions() {
    check_folder("tests/regressions", &[with_passes(Target::Halu)], &|_| false);
}

/// Checks the kernels in a folder, those apart that must be refused, and says how many there are.
fn check_folder(folder: &str, ways: &[Options], refused: &dyn Fn(&str) -> bool) -> usize {
    let mut kernels = 0;
    for entry in Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "hb") {
            continue;
        }
        let file = Module::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for kernel in &file.ir().kernels {
            let module = Module::parse(&kernel.to_string()).unwrap();
            if refused(&kernel.name) {
                assert!(ways.iter().all(|options| support::program(&module, options).is_err()), "{}", kernel.name);
                continue;
            }
            kernels += 1;
            // What only passes can make of what a target has is refused without them.
            let taken =
                |options: &&Options| std::ptr::eq(*options, &ways[0]) || support::program(&module, options).is_ok();
            for options in ways.iter().filter(taken) {
                check(&module, options).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            }
        }
    }
    kernels
}

fn check(module: &Module, options: &Options) -> Result<(), String> {
    let program = support::program(module, options)?;
    for seed in 0..LAUNCHES {
        let args = arguments(&module.ir().kernels[0], &mut Random(seed));
        agree(module, &program, ITEMS, &args).map_err(|error| format!("seed {seed}: {error}"))?;
    }
    Ok(())
}

/// A vector an item in every buffer, and as many more as neighbours are away in an image of rows of [`WIDTH`]; a word that is no
/// vector is that width.
fn arguments(kernel: &Kernel, random: &mut Random) -> Vec<Vec<u8>> {
    let of = |param: &halfbyte::ir::Param| match param.kind {
        ParamKind::Scalar(Type::I32) => WIDTH.to_le_bytes().to_vec(),
        ParamKind::Scalar(ty) => elements(ty, 1, random),
        ParamKind::Buffer { elem, .. } => elements(elem, (ITEMS + 7 * WIDTH + 2) * 16 / elem.bytes(), random),
    };
    kernel.params.iter().map(of).collect()
}

/// What the test above relies on: a launch's worth of elements has every edge value.
#[test]
fn elements_hold_all_edge_values() {
    for &ty in Type::ALL {
        let bytes = elements(ty, ITEMS, &mut Random(0));
        assert_eq!(bytes.len(), (ITEMS * ty.bytes()) as usize);
        if ty.is_mask() {
            continue;
        }
        let size = ty.elem().bits() as usize / 8;
        for edge in edges(ty.elem()) {
            let edge = &edge.to_le_bytes()[..size];
            assert!(bytes.chunks(size).any(|lane| lane == edge), "{ty}: {edge:02x?}");
        }
    }
}
