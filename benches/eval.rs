//! Evaluator benchmark: the cost of race detection, both in kernels that synchronise only by
//! barriers and in other kernels.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use halfbyte::abi::buffer_base;
use halfbyte::ir::ParamKind;
use halfbyte::ir::eval::{Arg, Launch, Prepared};
use halfbyte::launch::RaceCheck;
use halfbyte::{Module, Shape};

const ROUNDS: usize = 9;

/// A kernel, its launch, the sizes of its buffers in bytes, and the maximum slowdown that race detection may cause.
struct Case {
    name: &'static str,
    text: &'static str,
    shape: Shape,
    scalars: &'static [u64],
    bytes: &'static [usize],
    most: f64,
}

fn main() {
    let cases = [
        Case {
            name: "block_sum_tree",
            text: include_str!("../examples/groups/block_sum_tree.hb"),
            shape: Shape::from((64, 256)),
            scalars: &[],
            bytes: &[64 * 256 * 4, 64 * 4],
            most: 3.0,
        },
        Case {
            name: "transpose",
            text: include_str!("../examples/groups/transpose.hb"),
            shape: Shape::from(([8, 8, 1], [16, 16, 1])),
            scalars: &[128],
            bytes: &[128 * 128 * 4, 128 * 128 * 4],
            most: 3.0,
        },
        Case {
            name: "tiled_product",
            text: include_str!("../examples/groups/tiled_product.hb"),
            shape: Shape::from(([4, 4, 1], [16, 16, 1])),
            scalars: &[64, 64],
            bytes: &[64 * 64 * 2, 64 * 64 * 2, 64 * 64 * 2],
            most: 3.0,
        },
        Case {
            name: "bitonic_sort",
            text: include_str!("../examples/groups/bitonic_sort.hb"),
            shape: Shape::from((32, 256)),
            scalars: &[],
            bytes: &[32 * 256 * 4],
            most: 3.0,
        },
        Case {
            name: "tickets",
            text: include_str!("../examples/groups/tickets.hb"),
            shape: Shape::from((256, 64)),
            scalars: &[],
            bytes: &[256 * 64 * 4, 4, 4, 4],
            most: 10.0,
        },
        Case {
            name: "block_sum_shuffle",
            text: include_str!("../examples/groups/block_sum_shuffle.hb"),
            shape: Shape::from((64, 256)),
            scalars: &[],
            bytes: &[64 * 256 * 4, 64 * 4],
            most: 10.0,
        },
    ];
    for case in &cases {
        let times = case.times();
        let ratio = times[1].as_secs_f64() / times[0].as_secs_f64();
        let verdict = if ratio <= case.most { "" } else { "  more than it may" };
        println!("eval_{} watched/unwatched={ratio:.2} (at most {}){verdict}", case.name, case.most);
    }
}

impl Case {
    /// Returns the time of a launch without race detection, and then with it. Each time is the
    /// minimum of several rounds, in which the two launches alternate.
    fn times(&self) -> [Duration; 2] {
        let module = Module::parse(self.text).unwrap();
        let kernel = module.ir().kernels.first().unwrap();
        let prepared = Prepared::new(kernel);
        let mut best = [Duration::MAX; 2];
        for _ in 0..ROUNDS {
            for (races, best) in [RaceCheck::Off, RaceCheck::On].into_iter().zip(&mut best) {
                let mut buffers: Vec<Vec<u8>> = self.bytes.iter().map(|&bytes| vec![0; bytes]).collect();
                let (mut buffers, mut scalars) = (buffers.iter_mut(), self.scalars.iter());
                let arg = |(number, kind): (usize, &ParamKind)| match kind {
                    ParamKind::Scalar(_) => Arg::Scalar([*scalars.next().unwrap(), 0, 0, 0, 0, 0, 0, 0]),
                    ParamKind::Buffer { .. } => {
                        Arg::Buffer { base: buffer_base(number), bytes: buffers.next().unwrap() }
                    }
                };
                let mut args: Vec<Arg<'_>> =
                    kernel.params.iter().map(|param| &param.kind).enumerate().map(arg).collect();
                let launch = Launch { races, ..Launch::new(self.shape) };
                let start = Instant::now();
                prepared.run(&launch, &mut args).unwrap();
                *best = start.elapsed().min(*best);
            }
        }
        best
    }
}
