//! Measurements of launches with typed slices, compared with launches on the same data as bytes.

use std::cell::RefCell;

use halfbyte::{Arg, Data, Engine, f16, runtime};

use crate::texts::{BYTES, HALU, HALVES, Text};
use crate::{Bench, Found};

/// Compares the launches on 2^18 halves, two in each element.
pub fn halves(bench: &Bench) -> Result<Found, String> {
    compare(bench, &HALVES, 1 << 17, [f16::from_f32(0.5); 2], vec![f16::ONE; 1 << 18])
}

/// Compares the launches on 2^20 elements of four bytes.
pub fn bytes(bench: &Bench) -> Result<Found, String> {
    compare(bench, &BYTES, 1 << 20, [1_u8; 4], vec![[1_u8; 4]; 1 << 20])
}

/// Compares the launches on 2^18 32-bit words.
pub fn words(bench: &Bench) -> Result<Found, String> {
    compare(bench, &HALU, 1 << 18, 1_u32, vec![1_u32; 1 << 18])
}

fn compare<A: Data, T: Data + PartialEq>(
    bench: &Bench,
    text: &Text,
    items: u32,
    a: A,
    x: Vec<T>,
) -> Result<Found, String> {
    let program = text.program(0)?;
    let kernel = program.kernel("k").map_err(|error| error.to_string())?;
    // Both launches use the same memory, so that only their overhead differs.
    let (y, z) = (RefCell::new(x.clone()), RefCell::new(vec![0_u32; items as usize]));
    let mut typed = || {
        let (mut y, mut z) = (y.borrow_mut(), z.borrow_mut());
        let args = (Arg::scalar(a), &x, &mut *y, &mut *z);
        let mut bound = kernel.bind(args).map_err(|error| error.to_string())?;
        bound.engine(Engine::JIT).run(items).map(drop).map_err(|error| error.to_string())
    };
    let mut bits = [0; 16];
    bits.iter_mut().zip(bytemuck::bytes_of(&a)).for_each(|(to, from)| *to = *from);
    let mut raw = || {
        let (mut y, mut z) = (y.borrow_mut(), z.borrow_mut());
        let args = [
            runtime::Arg::Scalar(u128::from_le_bytes(bits)),
            runtime::Arg::In(bytemuck::cast_slice(&x)),
            runtime::Arg::Buffer(bytemuck::cast_slice_mut(&mut y)),
            runtime::Arg::Buffer(bytemuck::cast_slice_mut(&mut z)),
        ];
        let mut bound = kernel.raw().bind(args).map_err(|error| error.to_string())?;
        bound.engine(Engine::JIT).run(items).map(drop).map_err(|error| error.to_string())
    };
    let [ours, peer] = bench.rounds.compare(&mut typed, &mut raw)?;
    Ok(Found { value: ours / peer, note: format!("typed {:.1} us, raw {:.1} us", ours * 1e6, peer * 1e6) })
}
