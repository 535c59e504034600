//! Comparisons of PTX kernels with the same loops in C. The kernels are written as compilers
//! generate them, and are executed directly.
//!
//! Native code must compute the same bits as the interpreter, and also the same as the C code if
//! both have the same semantics.

use std::ffi::CStr;

use halfbyte::import_ptx::{self, Globals, load};
use halfbyte::ir::witness::Random;
use halfbyte::runtime::ptx::{Arg, Kernel, Launch};
use halfbyte::runtime::{self, Engine};
use halfbyte::{HALU, Program, Shape, include, native};

use crate::Bench;
use crate::data::{Aligned, Results, compare};
use crate::measure::Sample;
use crate::native::Compiler;

/// A PTX kernel with its launches and its C function.
pub struct Case {
    pub name: &'static str,
    pub text: &'static str,
    peer: &'static CStr,
    /// The two launch sizes: few items, whose data stay in a cache, and a hundred thousand items.
    sizes: [Size; 2],
    /// Returns the sizes in bytes of the input buffers, and of the output buffer. The argument is
    /// the number of items along both axes.
    bytes: fn([usize; 2]) -> (Vec<usize>, usize),
    /// Returns 16 bits of input data from random bits.
    pub element: fn(u64) -> u16,
    /// `Equal` if the C code has the same semantics as the kernel, otherwise `Differ`.
    results: Results,
}

/// The number of items and the scalar arguments of a launch.
struct Size {
    /// Number of items along the axes x and y.
    items: [usize; 2],
    /// The scalar arguments, which precede the buffers.
    scalars: &'static [u32],
}

/// The choice between the two launch sizes of a case.
#[derive(Clone, Copy)]
pub enum LaunchSize {
    Few = 0,
    Many = 1,
}

/// Number of items of a group along the first axis.
pub const BLOCK: u32 = 256;
const FEW: usize = 1 << 14;
const MANY: usize = 100_000;

const fn line(items: usize, scalars: &'static [u32]) -> Size {
    Size { items: [items, 1], scalars }
}

fn any(bits: u64) -> u16 {
    bits as u16
}

/// Returns 16 bits of input data. Two successive values form a float of ordinary magnitude.
fn floats(bits: u64) -> u16 {
    0x3C00 | bits as u16 & 0x83FF
}

fn halves(bits: u64) -> u16 {
    0x3000 | bits as u16 & 0x8FFF
}

macro_rules! text {
    ($name:literal) => {
        include_str!(concat!("ptx/", $name, ".ptx"))
    };
}

const A: u32 = 0x3FC0_0000;
const VIEW: [u32; 3] = [0xC000_0000, 0xBF80_0000, 0x3C03_126F];

pub const CASES: [Case; 9] = [
    Case {
        name: "saxpy",
        text: text!("saxpy"),
        peer: c"ptx_saxpy",
        sizes: [line(FEW, &[FEW as u32, A]), line(MANY, &[MANY as u32, A])],
        bytes: |[n, _]| (vec![4 * n], 4 * n),
        element: floats,
        results: Results::Equal,
    },
    Case {
        name: "polynomial",
        text: text!("polynomial"),
        peer: c"ptx_polynomial",
        sizes: [line(FEW, &[FEW as u32]), line(MANY, &[MANY as u32])],
        bytes: |[n, _]| (vec![4 * n], 4 * n),
        element: floats,
        results: Results::Equal,
    },
    Case {
        name: "mandelbrot",
        text: text!("mandelbrot"),
        peer: c"ptx_mandelbrot",
        sizes: [
            Size { items: [128, 128], scalars: &[128, 128, VIEW[0], VIEW[1], 0x3C80_0000, 100] },
            Size { items: [400, 250], scalars: &[400, 250, VIEW[0], VIEW[1], VIEW[2], 100] },
        ],
        bytes: |[width, height]| (vec![], 4 * width * height),
        element: any,
        results: Results::Equal,
    },
    Case {
        name: "hash",
        text: text!("hash"),
        peer: c"ptx_hash",
        sizes: [line(FEW, &[FEW as u32]), line(MANY, &[MANY as u32])],
        bytes: |[n, _]| (vec![4 * n], 4 * n),
        element: any,
        results: Results::Equal,
    },
    Case {
        name: "stencil",
        text: text!("stencil"),
        peer: c"ptx_stencil",
        sizes: [Size { items: [512, 32], scalars: &[512, 32] }, Size { items: [1920, 52], scalars: &[1920, 52] }],
        bytes: |[width, height]| (vec![width * height], width * height),
        element: any,
        results: Results::Equal,
    },
    Case {
        name: "half2_axpy",
        text: text!("half2_axpy"),
        peer: c"ptx_half2_axpy",
        sizes: [line(FEW, &[FEW as u32, 0x3E00_3E00]), line(MANY, &[MANY as u32, 0x3E00_3E00])],
        bytes: |[n, _]| (vec![4 * n], 4 * n),
        element: halves,
        results: Results::Differ,
    },
    Case {
        name: "gemv",
        text: text!("gemv"),
        peer: c"ptx_gemv",
        sizes: [line(1024, &[1024, 16]), line(MANY, &[MANY as u32, 16])],
        bytes: |[n, _]| (vec![256 * n, 256], 4 * n),
        element: any,
        results: Results::Equal,
    },
    Case {
        name: "dequantize",
        text: text!("dequantize"),
        peer: c"ptx_dequantize",
        sizes: [line(FEW / 4, &[FEW as u32 / 4]), line(MANY, &[MANY as u32])],
        bytes: |[n, _]| (vec![4 * n, n], 32 * n),
        element: floats,
        results: Results::Equal,
    },
    Case {
        name: "blend",
        text: text!("blend"),
        peer: c"ptx_blend",
        sizes: [line(FEW, &[FEW as u32, 0x1717_1717]), line(MANY, &[MANY as u32, 0x1717_1717])],
        bytes: |[n, _]| (vec![4 * n], 4 * n),
        element: any,
        results: Results::Equal,
    },
];

impl Case {
    pub fn kernel(&self) -> Result<Kernel, String> {
        load(self.name, self.text, None, &Globals::default()).map_err(|report| report.to_string())
    }

    fn shape(&self, of: LaunchSize) -> Shape {
        let [along, down] = self.sizes[of as usize].items.map(|items| items as u32);
        Shape { grid: [along.div_ceil(BLOCK), down, 1], block: [BLOCK, 1, 1], shared: 0 }
    }

    /// Returns the contents of the input buffers, and the initial contents of the output buffer.
    fn data(&self, of: LaunchSize) -> (Vec<Aligned>, Vec<u8>) {
        let (read, written) = (self.bytes)(self.sizes[of as usize].items);
        let read = (1..).zip(read).map(|(seed, bytes)| Aligned::of_random(bytes, seed, self.element));
        let mut random = Random(99);
        let halves = (0..written.div_ceil(2)).flat_map(|_| (self.element)(random.bits()).to_le_bytes());
        (read.collect(), halves.take(written).collect())
    }

    fn launch(
        &self,
        kernel: &Kernel,
        engine: Engine,
        of: LaunchSize,
        read: &[Aligned],
        y: &mut [u8],
    ) -> Result<(), String> {
        let scalars: Vec<[u8; 4]> = self.sizes[of as usize].scalars.iter().map(|word| word.to_le_bytes()).collect();
        let mut args: Vec<Arg<'_>> = scalars.iter().map(|bytes| Arg::Value(bytes)).collect();
        args.extend(read.iter().map(|bytes| Arg::In(bytes)));
        args.push(Arg::Buffer(y));
        let launch = Launch { engine, budget: u64::MAX, ..Launch::new(self.shape(of), &mut args) };
        kernel.launch(launch).map(drop).map_err(|error| error.to_string())
    }

    /// Compares the kernel on native code with a loop in C.
    pub fn native(&self, bench: &Bench, compiler: Compiler, of: LaunchSize) -> Result<Sample, String> {
        let kernel = self.kernel()?;
        if kernel.is_interpreted() {
            return Err("the kernel has no native code".into());
        }
        let peer = bench.peers.get_ptx(compiler, self.peer)?;
        let (read, start) = self.data(of);
        let [mut found, mut expected] = [start.clone(), start.clone()];
        self.launch(&kernel, Engine::JIT, of, &read, &mut found)?;
        self.launch(&kernel, Engine::Interp, of, &read, &mut expected)?;
        if found != expected {
            return Err("native code and the interpreter differ".into());
        }
        let size = &self.sizes[of as usize];
        let mut ours = |y: &mut [u8]| self.launch(&kernel, Engine::JIT, of, &read, y);
        let mut theirs = |y: &mut [u8]| {
            // SAFETY: the function takes these scalars, and the buffers have the sizes that the scalars determine.
            unsafe { peer.run(size.scalars, &read.iter().map(|bytes| &**bytes).collect::<Vec<_>>(), y) };
            Ok(())
        };
        let seconds = compare(bench, &start, self.results, &mut ours, &mut theirs)?;
        let [along, down] = size.items;
        Ok(Sample::of_speeds((along * down) as f64 / 1e6, seconds))
    }

    /// Compares the kernel as a function of a native object with native code in memory. Both have
    /// the same machine code.
    fn ahead(&self, bench: &Bench, of: LaunchSize) -> Result<Sample, String> {
        let module =
            include::open_each(&format!("{}.ptx", self.name), self.text.to_owned(), import_ptx::Options::default());
        let module = module.map_err(|report| report.to_string())?;
        let binary = module.compile(HALU).map_err(|error| error.to_string())?;
        let program = Program::load(&binary.object).map_err(|error| error.to_string())?;
        let kernel = program.kernels().next().ok_or("no kernel")?;
        let options = native::Options::default();
        let function = native::load(&[(self.name, kernel)], &options).map_err(|error| error.to_string())?;
        let (read, start) = self.data(of);
        let (size, shape) = (&self.sizes[of as usize], self.shape(of));
        let arguments = |y: &mut [u8], run: &mut dyn FnMut(&mut [runtime::Arg<'_>]) -> Result<(), String>| {
            let mut args: Vec<runtime::Arg<'_>> =
                size.scalars.iter().map(|&word| runtime::Arg::Scalar(word.into())).collect();
            args.extend(read.iter().map(|bytes| runtime::Arg::In(bytes)));
            args.push(runtime::Arg::Buffer(y));
            run(&mut args)
        };
        let mut ours =
            |y: &mut [u8]| arguments(y, &mut |args| function.call(0, &shape, args).map_err(|error| error.to_string()));
        let mut theirs = |y: &mut [u8]| {
            arguments(y, &mut |args| {
                let launch =
                    runtime::Launch { engine: Engine::JIT, budget: u64::MAX, ..runtime::Launch::new(shape, args) };
                kernel.raw().launch(launch).map(drop).map_err(|error| error.to_string())
            })
        };
        let seconds = compare(bench, &start, Results::Equal, &mut ours, &mut theirs)?;
        let [along, down] = size.items;
        Ok(Sample::of_speeds((along * down) as f64 / 1e6, seconds))
    }
}

/// Compares the kernel `name`, as a function of a native object, with native code in memory.
pub fn ahead(bench: &Bench, name: &str) -> Result<Sample, String> {
    case(name)?.ahead(bench, LaunchSize::Many)
}

/// Returns the case of the kernel with this name.
pub fn case(name: &str) -> Result<&'static Case, String> {
    const { &CASES }.iter().find(|case| case.name == name).ok_or_else(|| format!("there is no kernel `{name}`"))
}

/// Compares the kernel `name` on native code with a loop in C, built by `compiler`.
pub fn native(bench: &Bench, name: &str, compiler: Compiler, of: LaunchSize) -> Result<Sample, String> {
    case(name)?.native(bench, compiler, of)
}
