//! Example: compiles, launches and drops many kernels in one process, on several threads. `cargo run --release -p
//! halfbyte-examples --example threads -- 10000` sets the number of kernels for each thread.

use std::error::Error;
use std::thread;

use halfbyte::{Engine, HALU, Module, Program};

/// Returns a kernel that computes `y[i] = x[i] * factor`.
fn kernel(factor: u32) -> String {
    format!(
        "kernel @scale(%x: in i32, %y: out i32) {{\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  \
         %f = const.i32 {factor}\n  %r = mul.i32 %v, %f\n  store %r, %y[%i]\n  ret\n}}\n"
    )
}

fn scale(thread: u32, kernels: u32) -> Result<(), Box<dyn Error + Send + Sync>> {
    let x: Vec<u32> = (0..64).collect();
    let mut y = vec![0_u32; 64];
    for number in 0..kernels {
        let factor = thread * kernels + number;
        let module = Module::parse(&kernel(factor)).map_err(|report| report.to_string())?;
        let program = Program::load(&module.compile(HALU)?.object)?;
        program.kernel("scale")?.bind((&x, &mut y))?.engine(Engine::JIT).run(64)?;
        if !x.iter().zip(&y).all(|(x, y)| x.wrapping_mul(factor) == *y) {
            return Err(format!("factor {factor}: {y:?}").into());
        }
    }
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let kernels = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(25);
    let done: Vec<_> = thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|thread| scope.spawn(move || scale(thread, kernels)));
        threads.map(|thread| thread.join()).into_iter().collect()
    });
    for done in done {
        done.map_err(|_| "a thread panicked")?.map_err(|error| error.to_string())?;
    }
    println!("4 threads ran {kernels} kernels each");
    Ok(())
}
