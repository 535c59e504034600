//! Kernels in PTX that are imported give the bits that the interpreter gives for their text, evaluated and compiled; and
//! those of the baselines the bits of the same kernels written in the IR.
#![allow(clippy::unwrap_used, clippy::panic)]

mod ptx_support;

use halfbyte::Target;
use halfbyte::import_ptx::{Host, Shape, import};
use halfbyte::ir::ParamKind;
use halfbyte::launch::{Engine, Param, evaluate, execute};
use halfbyte::runtime::Program;
use ptx_support::{Baseline, arguments, baselines};

const GRID: u32 = 4;
const BLOCK: u32 = 64;

#[test]
fn the_baselines_are_the_kernels_written_in_ir() {
    for Baseline { name, source, ir } in baselines() {
        let module = import(&name, &source, Shape::default()).unwrap_or_else(|report| panic!("{report}"));
        let [kernel] = module.ir().kernels.as_slice() else { panic!("{name}: one kernel") };
        assert!(!kernel.to_string().contains("ptr_add"), "{name}: {kernel}");
        let host = Host::load(&name, &source, &kernel.name).unwrap();
        assert_eq!(host.params().to_vec(), Param::of_kernel(kernel), "{name}");
        // Where a machine has no minimum and maximum the files take a compare, of which NaN and -0 come out otherwise.
        let ordinary = source.contains(" set.");
        for seed in 0..8 {
            let before = arguments(&ir, GRID * BLOCK, ordinary, seed);
            let mut expected = before.clone();
            evaluate(&ir, GRID * BLOCK, &mut expected).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let mut found = before.clone();
            evaluate(kernel, GRID * BLOCK, &mut found).unwrap_or_else(|fault| panic!("{name}: {fault}\n{kernel}"));
            let mut text = before.clone();
            host.launch(GRID, BLOCK, &mut text).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            assert!(expected != before, "{name}: nothing is written");
            assert!(expected == found, "{name}, launch {seed}\n{kernel}");
            assert!(expected == text, "{name}, launch {seed}");
        }
    }
}

/// The targets that have a kernel's ops.
fn compiled(name: &str, source: &str, targets: &[Target], seeds: u64) {
    let shape = Shape { grid: Some(GRID), block: Some(BLOCK) };
    let module = import(name, source, shape).unwrap_or_else(|report| panic!("{report}"));
    for kernel in &module.ir().kernels {
        for &target in targets {
            let binary = module.compile(target).unwrap_or_else(|report| panic!("{report}\n{kernel}"));
            let program = Program::load(&binary.object).unwrap();
            let loaded = program.kernel(&kernel.name).unwrap();
            for seed in 0..seeds {
                let before = arguments(kernel, GRID * BLOCK, false, seed);
                let mut expected = before.clone();
                let host = Host::load(name, source, &kernel.name).unwrap();
                host.launch(GRID, BLOCK, &mut expected).unwrap_or_else(|fault| panic!("{name}: {fault}"));
                for engine in Engine::ALL {
                    let mut found = before.clone();
                    execute(loaded, engine, GRID * BLOCK, &mut found).unwrap_or_else(|fault| panic!("{name}: {fault}"));
                    assert!(expected == found, "{name} on {target} ({engine}), launch {seed}\n{kernel}");
                }
            }
        }
    }
}

#[test]
fn the_baselines_compile() {
    for Baseline { name, source, ir } in baselines() {
        let bytes = |param: &halfbyte::ir::Param| match param.kind {
            ParamKind::Scalar(ty) | ParamKind::Buffer { elem: ty, .. } => ty.elem() == halfbyte::ir::Elem::I8,
        };
        // VP1 has no halves and no wider lanes.
        let targets = [Target::Halu, Target::Vp1];
        let targets = if ir.params.iter().all(bytes) { &targets[..] } else { &targets[..1] };
        compiled(&name, &source, targets, 2);
    }
}
