//! Measurements of bound launches with one item.

use halfbyte::{Bound, Engine, Program};

use crate::texts::Text;
use crate::{Bench, Found};

/// Measures the time of a bound launch in microseconds.
pub fn time(bench: &Bench, text: &Text) -> Result<Found, String> {
    let program = text.program(0)?;
    let (x, mut y, mut z) = ([1_u32], [1], [0]);
    let mut first = bind(&program, &x, &mut y, &mut z)?;
    let (mut other, mut rest) = ([1], [0]);
    let mut second = bind(&program, &x, &mut other, &mut rest)?;
    let [one, two] = bench.rounds.compare(&mut || run(&mut first), &mut || run(&mut second))?;
    Ok(Found { value: one.min(two) * 1e6, note: "a bound launch of one item on native code".into() })
}

/// Returns the number of memory allocations of 1,000 bound launches.
pub fn allocations(text: &Text) -> Result<Found, String> {
    let program = text.program(0)?;
    let (x, mut y, mut z) = ([1_u32], [1], [0]);
    let mut bound = bind(&program, &x, &mut y, &mut z)?;
    run(&mut bound)?;
    let before = crate::allocations();
    for _ in 0..1000 {
        run(&mut bound)?;
    }
    Ok(Found { value: (crate::allocations() - before) as f64, note: "of 1,000 launches after the first".into() })
}

fn bind<'a>(
    program: &'a Program,
    x: &'a [u32; 1],
    y: &'a mut [u32; 1],
    z: &'a mut [u32; 1],
) -> Result<Bound<'a>, String> {
    let kernel = program.kernel("k").map_err(|error| error.to_string())?;
    let mut bound = kernel.bind((1_u32, x, y, z)).map_err(|error| error.to_string())?;
    bound.engine(Engine::JIT);
    Ok(bound)
}

fn run(bound: &mut Bound<'_>) -> Result<(), String> {
    bound.run(1).map(drop).map_err(|error| error.to_string())
}
