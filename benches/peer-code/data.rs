//! Input data of the comparisons, and launches on these data.

use halfbyte::Module;
use halfbyte::ir::witness::Random;
use halfbyte::runtime::{Arg, Engine, Kernel, Launch, Program};

use crate::Bench;
use crate::measure::Side;

/// Page-aligned bytes. Our code and its peer need buffers with the same alignment, because the
/// alignment changes the time by up to 5 %.
pub struct Aligned {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

const ALIGN: usize = 4096;

impl Aligned {
    /// Copies bytes to a page-aligned buffer.
    pub fn new(from: &[u8]) -> Aligned {
        let mut bytes = vec![0; from.len() + ALIGN];
        let start = bytes.as_ptr().align_offset(ALIGN);
        bytes[start..start + from.len()].copy_from_slice(from);
        Aligned { bytes, start, len: from.len() }
    }

    /// Creates a buffer of 16-bit elements. `element` returns an element from random bits.
    pub fn of_random(bytes: usize, seed: u64, mut element: impl FnMut(u64) -> u16) -> Aligned {
        let mut random = Random(seed);
        let elements = (0..bytes / 2).flat_map(|_| element(random.bits()).to_le_bytes());
        Aligned::new(&elements.collect::<Vec<_>>())
    }
}

impl std::ops::Deref for Aligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.len]
    }
}

impl std::ops::DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}

/// Compiles a module with one kernel for HALU, and loads it.
pub fn halu(text: &str) -> Result<Program, String> {
    let module = Module::parse(text).map_err(|report| report.to_string())?;
    let binary = module.compile(halfbyte::HALU).map_err(|error| error.to_string())?;
    halfbyte::TARGETS.load(&binary.object).map_err(|error| error.to_string())
}

/// Returns the first kernel of a program.
pub fn first(program: &Program) -> Result<&Kernel, String> {
    program.kernels().first().ok_or_else(|| "the program has no kernel".into())
}

/// Launches a kernel on an engine. If the kernel has a scalar parameter, `scalar` is its first argument.
pub fn launch(
    kernel: &Kernel,
    engine: Engine,
    items: u32,
    scalar: u32,
    inputs: &[&[u8]],
    y: &mut [u8],
) -> Result<(), String> {
    let has_scalar = kernel.signature().params().len() > inputs.len() + 1;
    let mut args = Vec::with_capacity(inputs.len() + 2);
    args.extend(has_scalar.then_some(Arg::Scalar(scalar.into())));
    args.extend(inputs.iter().map(|input| Arg::In(input)));
    args.push(Arg::Buffer(y));
    let launch = Launch { engine, budget: u64::MAX, ..Launch::new(items, &mut args) };
    kernel.launch(launch).map(drop).map_err(|error| error.to_string())
}

/// Compares a bound kernel, which updates its last argument, with a peer that updates the same
/// bytes. The results are compared once before the time is measured. Returns the seconds of both.
pub fn compare_bound(
    bench: &Bench,
    kernel: &Kernel,
    inputs: &[&[u8]],
    start: &[u8],
    items: u32,
    peer: Update<'_>,
) -> Result<[f64; 2], String> {
    let [mut our_bytes, mut peer_bytes] = [Aligned::new(start), Aligned::new(start)];
    let args = inputs.iter().map(|input| Arg::In(input)).chain([Arg::Buffer(&mut our_bytes)]);
    let mut bound = kernel.bind(args).map_err(|error| error.to_string())?;
    bound.engine(Engine::JIT).budget(u64::MAX);
    bound.run(items).map_err(|error| error.to_string())?;
    peer(&mut peer_bytes)?;
    agree(bound.buffer(inputs.len()).unwrap_or_default(), &peer_bytes)?;
    let ours: Side<'_> = &mut || bound.run(items).map(drop).map_err(|error| error.to_string());
    let peer: Side<'_> = &mut || peer(&mut peer_bytes);
    bench.rounds.compare(ours, peer)
}

/// Checks that our code and its peer have computed the same bytes.
fn agree(ours: &[u8], peer: &[u8]) -> Result<(), String> {
    match ours.iter().zip(peer).position(|(ours, peer)| ours != peer) {
        Some(at) => Err(format!(
            "the results differ: byte {at} is {:#04x}, but {:#04x} in the result of the peer",
            ours[at], peer[at]
        )),
        None => Ok(()),
    }
}

/// Function that updates bytes, as one side of a comparison.
pub type Update<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<(), String>;

/// Required relation between the results of our code and its peer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Results {
    /// The results must be equal.
    Equal,
    /// The results may differ.
    Differ,
}

/// Compares our code with a peer; each side updates a copy of the bytes. The results are compared
/// once before the time is measured. Returns the seconds of both.
pub fn compare(
    bench: &Bench,
    start: &[u8],
    results: Results,
    ours: Update<'_>,
    peer: Update<'_>,
) -> Result<[f64; 2], String> {
    let [mut our_bytes, mut peer_bytes] = [Aligned::new(start), Aligned::new(start)];
    ours(&mut our_bytes)?;
    peer(&mut peer_bytes)?;
    if results == Results::Equal {
        agree(&our_bytes, &peer_bytes)?;
    }
    let ours: Side<'_> = &mut || ours(&mut our_bytes);
    let peer: Side<'_> = &mut || peer(&mut peer_bytes);
    bench.rounds.compare(ours, peer)
}
