//! Every kernel of the examples on random arguments, with NaN of several payloads, subnormals, infinities, 0x80 and 0xff in
//! all that it reads: the words give the evaluator's bits, with passes and without.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::path::Path;

use halfbyte::generate::elements;
use halfbyte::ir::witness::{Random, edges};
use halfbyte::ir::{Kernel, ParamKind, Type};
use halfbyte::{Module, pipeline};
use support::{agree, with_passes, without_passes};

const ITEMS: u32 = 1000;
const LAUNCHES: u64 = 8;

#[test]
fn examples_agree_on_edge_values() {
    let mut kernels = 0;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "hb") {
            continue;
        }
        let module = Module::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for kernel in &module.ir().kernels {
            kernels += 1;
            let module = Module::parse(&kernel.to_string()).unwrap();
            for options in [with_passes(), without_passes()] {
                check(&module, &options).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            }
        }
    }
    assert!(kernels >= 5, "{kernels} kernels");
}

fn check(module: &Module, options: &pipeline::Options) -> Result<(), String> {
    let program = support::program(module, options)?;
    for seed in 0..LAUNCHES {
        let args = arguments(&module.ir().kernels[0], &mut Random(seed));
        agree(module, &program, ITEMS, &args).map_err(|error| format!("seed {seed}: {error}"))?;
    }
    Ok(())
}

/// One element an item in every buffer.
fn arguments(kernel: &Kernel, random: &mut Random) -> Vec<Vec<u8>> {
    let of = |param: &halfbyte::ir::Param| match param.kind {
        ParamKind::Scalar(ty) => elements(ty, 1, random),
        ParamKind::Buffer { elem, .. } => elements(elem, ITEMS, random),
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
