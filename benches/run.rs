//! Interpreter benchmark: instructions per second on the example kernels.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use halfbyte::Module;
use halfbyte::ir::ParamKind;
use halfbyte::ir::generate::elements;
use halfbyte::ir::witness::Random;
use halfbyte::launch::{Engine, execute};

const ITEMS: u32 = 1 << 16;
const ROUNDS: usize = 5;

fn main() {
    for (name, text) in
        [("axpy", include_str!("../examples/axpy.hb")), ("brighten", include_str!("../examples/brighten.hb"))]
    {
        let module = Module::parse(text).unwrap();
        let program = halfbyte::TARGETS.load(&module.compile(halfbyte::HALU).unwrap().object).unwrap();
        let kernel = program.kernel(name).unwrap();
        let mut random = Random(1);
        let mut args: Vec<Vec<u8>> = (module.ir().kernels[0].params.iter())
            .map(|param| match param.kind {
                ParamKind::Scalar(ty) => elements(ty, 1, &mut random),
                ParamKind::Buffer { elem, .. } => elements(elem, ITEMS, &mut random),
            })
            .collect();
        let mut run = || {
            let start = Instant::now();
            let stats = execute(kernel, Engine::Interp, ITEMS, &mut args).unwrap();
            (start.elapsed(), stats.issued)
        };
        let (time, instructions): (Duration, u64) = (0..ROUNDS).map(|_| run()).min().unwrap();
        println!("interp_{name} ours={:.2} Minst/s", instructions as f64 / time.as_secs_f64() / 1e6);
    }
}
