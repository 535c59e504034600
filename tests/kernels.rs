//! Tests of the kernels of the examples, and of regression tests, on random arguments. The arguments contain NaNs with
//! several payloads, subnormals, infinities, 0x80 and 0xff. Machine code must give the bits of the evaluator.

use halfbyte::args::bind::bind;
use halfbyte::args::{Loader, ValueKind};
use halfbyte::ir::generate::elements;
use halfbyte::ir::witness::{Random, edges};
use halfbyte::ir::{Kernel, ParamKind, Type};
use halfbyte::launch::given;
use halfbyte::pipeline::Options;
use halfbyte::{Module, Shape, Target};
use halfbyte_testkit::runlines::{self, RunLine};

use crate::common::root;
use crate::support::{agree, with_passes, without_passes};

const ITEMS: u32 = 1000;
const LAUNCHES: u64 = 8;

#[test]
fn examples_on_halu() {
    let kernels = check_examples("examples", halfbyte::HALU);
    assert!(kernels >= 55, "{kernels} kernels");
}

#[test]
fn examples_on_vp1() {
    let kernels = check_examples("examples", halfbyte::VP1);
    assert!(kernels >= 30, "{kernels} kernels");
}

#[test]
fn baseline() {
    assert_eq!(check_examples("examples/baseline", halfbyte::HALU), 14);
    assert_eq!(check_examples("examples/baseline", halfbyte::VP1), 5);
}

/// Regression tests: kernels that were compiled wrongly in the past. The first line of each file describes the defect.
#[test]
fn regressions() {
    for_kernels("tests/regressions", |module, _| {
        let kernel = &module.ir().kernels[0];
        let launch = Launch::of_vectors(kernel);
        let refused = |target| {
            let refused = [
                (halfbyte::VP1, "renamed_argument"),
                (halfbyte::VP1, "counted_past_half"),
                (halfbyte::HALU, "sum_of_products"),
            ];
            refused.contains(&(target, &kernel.name))
        };
        [halfbyte::HALU, halfbyte::VP1].into_iter().try_for_each(|target| {
            match crate::support::program(module, &with_passes(target)) {
                Err(_) if refused(target) => Ok(()),
                _ => check(module, &with_passes(target), &launch),
            }
        })
    });
}

/// Compares the kernels of a folder on a target with the evaluator, in launches of the size of a run line with random
/// data. A kernel without a run line for the target must be refused. Returns the number of kernels.
fn check_examples(folder: &str, target: Target) -> usize {
    let ways = [with_passes(target), without_passes(target)];
    let mut kernels = 0;
    for_kernels(folder, |module, runs| {
        if !runs.iter().any(|run| run.targets.contains(&target)) {
            let refused = ways.iter().all(|options| crate::support::program(module, options).is_err());
            return if refused { Ok(()) } else { Err(format!("{target} does not refuse it")) };
        }
        kernels += 1;
        let launch = Launch::of_run(&module.ir().kernels[0], runs).ok_or("no run line has random data")?;
        // Without passes, the target may refuse a kernel that only compiles with passes.
        let taken =
            |options: &&Options| std::ptr::eq(*options, &ways[0]) || crate::support::program(module, options).is_ok();
        ways.iter().filter(taken).try_for_each(|options| check(module, options, &launch))
    });
    kernels
}

/// Calls a closure for each kernel of a folder, with a module that contains only this kernel, and with its run lines.
fn for_kernels(folder: &str, mut each: impl FnMut(&Module, &[RunLine]) -> Result<(), String>) {
    for entry in root().join(folder).read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "hb") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut runs = runlines::read(&text).unwrap().runs;
        for kernel in &Module::parse(&text).unwrap().ir().kernels {
            let module = Module::parse(&kernel.to_string()).unwrap();
            let own: Vec<RunLine> = runs.extract_if(.., |run| run.first.kernel.0 == kernel.name).collect();
            each(&module, &own).unwrap_or_else(|error| panic!("{}: @{}: {error}", path.display(), kernel.name));
        }
    }
}

fn check(module: &Module, options: &Options, launch: &Launch) -> Result<(), String> {
    let program = crate::support::program(module, options)?;
    for seed in 0..LAUNCHES {
        let args = launch.arguments(&module.ir().kernels[0], &mut Random(seed));
        agree(module, &program, launch.shape, &args).map_err(|error| format!("seed {seed}: {error}"))?;
    }
    Ok(())
}

/// The shape and the template arguments of a launch. Scalars keep the values of the template,
/// because they are sizes and distances. Buffers only keep their sizes.
struct Launch {
    shape: Shape,
    args: Vec<Vec<u8>>,
}

impl Launch {
    /// Returns the launch of the first run line that has random data.
    fn of_run(kernel: &Kernel, runs: &[RunLine]) -> Option<Launch> {
        let is_random =
            |run: &&RunLine| run.first.args.iter().any(|(_, value)| matches!(value.kind, ValueKind::Random { .. }));
        let run = &runs.iter().find(is_random)?.first;
        let folder = root().join("examples");
        let mut bound = bind(&given(kernel), &run.args, &run.results, &Loader::within(&folder), run.span).ok()?;
        bound.size_open_buffers(kernel, run.shape, None);
        Some(Launch { shape: run.shape, args: bound.args })
    }

    /// Returns a launch in which every buffer has 16 bytes for each item.
    fn of_vectors(kernel: &Kernel) -> Launch {
        let of = |param: &halfbyte::ir::Param| match param.kind {
            ParamKind::Scalar(ty) => vec![0; ty.bytes() as usize],
            ParamKind::Buffer { .. } => vec![0; ITEMS as usize * 16],
        };
        Launch { shape: ITEMS.into(), args: kernel.params.iter().map(of).collect() }
    }

    fn arguments(&self, kernel: &Kernel, random: &mut Random) -> Vec<Vec<u8>> {
        let of = |(param, like): (&halfbyte::ir::Param, &Vec<u8>)| match param.kind {
            ParamKind::Scalar(Type::I32) => like.clone(),
            ParamKind::Scalar(ty) => elements(ty, 1, random),
            ParamKind::Buffer { elem, .. } => elements(elem, like.len() as u32 / elem.bytes(), random),
        };
        kernel.params.iter().zip(&self.args).map(of).collect()
    }
}

/// The random elements of one launch contain every edge value, on which the other tests of this file rely.
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
