//! Example: compiles a kernel from text for every target, and launches it on slices of the program.

use std::error::Error;

use halfbyte::{Engine, HALU, Module, Program, TARGETS, f16};

const AXPY: &str = "
; y[i] = a * x[i] + y[i] on packed halves
kernel @axpy(%a: f16x2, %x: in f16x2, %y: inout f16x2) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %r = ffma.f16x2 %a, %v, %w
  store %r, %y[%i]
  ret
}";

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let module = Module::named("axpy.hb", AXPY)?;
    let a = [f16::from_f32(2.0); 2];
    let x = [1.0, 2.0, 3.0, 4.0].map(f16::from_f32);
    for target in TARGETS.defaults() {
        let program = match module.compile(target) {
            Ok(binary) => Program::load(&binary.object)?,
            Err(error) => {
                // VP1 refuses the kernel, because it has no half-precision arithmetic.
                println!("{target}: {error}");
                continue;
            }
        };
        let mut y = [f16::ONE; 4];
        // A work item computes two halves, so two items compute all four results.
        program.kernel("axpy")?.bind((a, &x, &mut y))?.run(2)?;
        println!("{target}: {y:?}");
        assert_eq!(y, [3.0, 5.0, 7.0, 9.0].map(f16::from_f32));
    }

    // A bound launch checks its arguments only once for many launches.
    let program = Program::load(&module.compile(HALU)?.object)?;
    let mut y = vec![f16::ZERO; 1 << 16];
    let ones = vec![f16::ONE; 1 << 16];
    let mut launch = program.kernel("axpy")?.bind((a, &ones, &mut y))?;
    launch.engine(Engine::JIT);
    for _ in 0..100 {
        launch.run(1 << 15)?;
    }
    drop(launch);
    assert!(y.iter().all(|&y| y == f16::from_f32(200.0)));
    Ok(())
}
