//! The cooperative kernels of `examples/groups`, compared with loops in C and with the interpreter.

use std::ffi::CStr;

use halfbyte::Shape;
use halfbyte::runtime::{Arg, Engine, Kernel, Launch};

use crate::Bench;
use crate::data::{Aligned, Results, compare, first, halu};
use crate::halves::f16;
use crate::measure::Sample;
use crate::native::Compiler::Clang;

/// A kernel of `examples/groups` with its launch and its peer.
pub struct Case {
    text: &'static str,
    /// The name of the C function that is the peer.
    peer: &'static CStr,
    shape: Shape,
    scalars: &'static [u32],
    /// Size of each input buffer in bytes.
    inputs: &'static [usize],
    /// Size of the output buffer in bytes.
    output: usize,
    /// The scalar argument of the peer.
    peer_scalar: u32,
    element: fn(u64) -> u16,
}

/// A peer: a function that reads the inputs and writes the output.
type Peer<'a> = &'a mut dyn FnMut(&[u8], &mut [u8]) -> Result<(), String>;

const ROWS: usize = 256;
const PRODUCT_ROWS: usize = 128;
const GROUPS: u32 = 1 << 12;
const BYTES: u32 = 1 << 20;

pub const BLOCK_SUM: Case = Case {
    text: include_str!("../../examples/groups/block_sum_tree.hb"),
    peer: c"block_sum",
    shape: Shape { grid: [GROUPS, 1, 1], block: [256, 1, 1], shared: 0 },
    scalars: &[],
    inputs: &[GROUPS as usize * 256 * 4],
    output: GROUPS as usize * 4,
    peer_scalar: 0,
    element: |bits| bits as u16,
};

pub const HISTOGRAM: Case = Case {
    text: include_str!("../../examples/groups/histogram.hb"),
    peer: c"histogram",
    shape: Shape { grid: [16, 1, 1], block: [256, 1, 1], shared: 1024 },
    scalars: &[BYTES],
    inputs: &[BYTES as usize],
    output: 1024,
    peer_scalar: 16,
    element: |bits| bits as u16,
};

pub const TRANSPOSE: Case = Case {
    text: include_str!("../../examples/groups/transpose.hb"),
    peer: c"transpose",
    shape: Shape { grid: [ROWS as u32 / 16, ROWS as u32 / 16, 1], block: [16, 16, 1], shared: 0 },
    scalars: &[ROWS as u32],
    inputs: &[ROWS * ROWS * 4],
    output: ROWS * ROWS * 4,
    peer_scalar: ROWS as u32,
    element: |bits| bits as u16,
};

pub const TILED_PRODUCT: Case = Case {
    text: include_str!("../../examples/groups/tiled_product.hb"),
    peer: c"tiled_product",
    shape: Shape { grid: [PRODUCT_ROWS as u32 / 16, PRODUCT_ROWS as u32 / 16, 1], block: [16, 16, 1], shared: 0 },
    scalars: &[PRODUCT_ROWS as u32, PRODUCT_ROWS as u32],
    inputs: &[PRODUCT_ROWS * PRODUCT_ROWS * 2, PRODUCT_ROWS * PRODUCT_ROWS * 2],
    output: PRODUCT_ROWS * PRODUCT_ROWS * 2,
    peer_scalar: PRODUCT_ROWS as u32,
    element: f16,
};

/// Compares the kernel on native code with a loop in C.
pub fn native(bench: &Bench, case: &Case) -> Result<Sample, String> {
    let peer = bench.peers.get(Clang, case.peer)?;
    case.measure(bench, &mut |input, y| {
        // SAFETY: for an input of this size, the function writes at most as many bytes as y has.
        unsafe { peer.run(case.peer_scalar, input, y) };
        Ok(())
    })
}

/// Compares the kernel on native code with the same kernel on the interpreter.
pub fn interpreted(bench: &Bench, case: &Case) -> Result<Sample, String> {
    let program = halu(case.text)?;
    let kernel = first(&program)?;
    let bench = &Bench { rounds: bench.rounds.fewer(), peers: bench.peers };
    case.measure(bench, &mut |input, y| case.launch(kernel, Engine::Interp, input, y))
}

impl Case {
    fn measure(&self, bench: &Bench, peer: Peer<'_>) -> Result<Sample, String> {
        let program = halu(self.text)?;
        let kernel = first(&program)?;
        let input = Aligned::of_random(self.inputs.iter().sum(), 1, self.element);
        let mut ours = |y: &mut [u8]| self.launch(kernel, Engine::JIT, &input, y);
        let mut peer = |y: &mut [u8]| peer(&input, y);
        let seconds = compare(bench, &vec![0; self.output], Results::Equal, &mut ours, &mut peer)?;
        let items = self.shape.items().map_err(|error| error.to_string())?;
        Ok(Sample::of_speeds(f64::from(items) / 1e6, seconds))
    }

    /// Launches the kernel. `input` holds the contents of all input buffers, one after the other.
    fn launch(&self, kernel: &Kernel, engine: Engine, mut input: &[u8], y: &mut [u8]) -> Result<(), String> {
        let mut args: Vec<Arg<'_>> = self.scalars.iter().map(|&scalar| Arg::Scalar(scalar.into())).collect();
        for &bytes in self.inputs {
            let (part, rest) = input.split_at(bytes);
            args.push(Arg::In(part));
            input = rest;
        }
        args.push(Arg::Buffer(y));
        let launch = Launch { engine, budget: u64::MAX, ..Launch::new(self.shape, &mut args) };
        kernel.launch(launch).map(drop).map_err(|error| error.to_string())
    }
}
