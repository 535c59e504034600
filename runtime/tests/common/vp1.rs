//! VP1 test kernels, assembled from bundles.

use halfbyte_abi::Signature;
use halfbyte_emit::{KernelCode, write_object};
use halfbyte_isa::object::{Header, KernelInfo, Loc};
use halfbyte_isa::stream::{AccessSite, Affine, AffineVariable, Step, Stream, StreamContents, Tiles, TripCount};
use halfbyte_isa::vp1::{Unit, read_word};
use halfbyte_runtime::Program;

/// Assembles bundles, one for each line of text, with instructions separated by `|`. Units without an instruction get a
/// nop. Each bundle thus fills a line of four instruction words, and bundle k begins at word 4k.
pub fn words(bundles: &str) -> Vec<u32> {
    let lines = bundles.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut words = Vec::new();
    for line in lines {
        let mut bundle = Unit::ALL.iter().zip(["anop", "snop", "vnop", "bnop"]).collect::<Vec<_>>();
        for inst in line.split('|').map(str::trim) {
            let word = read_word(inst, words.len() as u32).unwrap_or_else(|error| panic!("{inst}: {error}"));
            bundle[Unit::of_word(word) as usize].1 = inst;
        }
        let at = words.len() as u32;
        words.extend(bundle.iter().map(|(_, inst)| read_word(inst, at).unwrap()));
    }
    words
}

/// Assembles a kernel `k`. The source location of an instruction word has the number of its bundle,
/// counted from 1, as line, and column 5.
pub fn code(parameters: &str, local_bytes: u32, tiles: Tiles, bundles: &str) -> KernelCode {
    let words = words(bundles);
    let signature = Signature::new("k", super::params(parameters)).unwrap();
    KernelCode {
        info: KernelInfo {
            signature,
            local_bytes,
            registers: 0,
            tiles: Some(tiles),
            max_items: u32::MAX,
            shared_bytes: None,
            scratch_bytes: 0,
            along_x: true,
        },
        locs: (0..words.len() as u32).map(|at| Loc { line: at / 4 + 1, column: 5 }).collect(),
        parts: Vec::new(),
        words: halfbyte_isa::vp1::Vp1Code(words).into(),
        stats: Vec::new(),
    }
}

pub fn object(kernels: &[KernelCode]) -> Vec<u8> {
    let header = Header { target: halfbyte_isa::vp1::TARGET, source: "test.s".into() };
    write_object(&header, kernels).unwrap()
}

pub fn program(parameters: &str, tiles: Tiles, bundles: &str) -> Program {
    Program::load(&object(&[code(parameters, 0, tiles, bundles)]), &super::MACHINES).unwrap()
}

/// Creates the description of tiles with `items` items per group. `group_branch` is the word
/// address of the branch to the next group.
pub fn tiles(items: u32, group_branch: u32, streams: Vec<Stream>) -> Tiles {
    Tiles { items, group_branch: Some(group_branch), image: Vec::new(), streams }
}

/// Creates an input stream: item i reads element i of a buffer, of `bytes` bytes. `site` is the
/// word address of the load.
pub fn reads(buffer: u32, bytes: u32, site: u32) -> Stream {
    Stream {
        buffer: Some(buffer),
        holds: StreamContents::Elements,
        bytes,
        align: bytes,
        uniform: false,
        scale: bytes.into(),
        index: Affine::default(),
        offset: 0,
        steps: Vec::new(),
        guard: None,
        site: AccessSite { word: site, written: false },
    }
}

/// Creates an output stream: item i writes element i of a buffer, of `bytes` bytes. `site` is the
/// word address of the store.
pub fn writes(buffer: u32, bytes: u32, site: u32) -> Stream {
    Stream { site: AccessSite { word: site, written: true }, ..reads(buffer, bytes, site) }
}

/// Creates a stream of guards, with elements of `bytes` bytes.
pub fn guard(bytes: u32) -> Stream {
    Stream { buffer: None, scale: 0.into(), align: 1, ..writes(0, bytes, 0) }
}

/// Returns the affine expression `multiplier` times the value of scalar parameter `number`.
pub fn param(number: u32, multiplier: u32) -> Affine {
    Affine { constant: 0, terms: vec![(AffineVariable::Param(number), multiplier)] }
}

pub fn constant(constant: u32) -> Affine {
    Affine { constant, terms: Vec::new() }
}

pub fn step(loop_number: u32, trips: TripCount, stride: u32) -> Step {
    Step { loop_number, trips, stride: constant(stride) }
}

/// Kernel that computes `y[i] = x[i] + 0x20` on bytes, saturating. A group processes one vector of
/// sixteen bytes: four items of `i8x4`, or sixteen items of `i8`.
pub const BRIGHTEN: &str = "
    mov $r0 $m0
    mov $r1 $m1
    mov $a0 $r0
    mov $a1 $r1
    ldavh $v0 $c0 $a0 0x10
    vadd u $v0 $v0 0x20
    stavh $v0 $a1 0x10 | bra not $c0 aef 0x10
    snop
    exit 0x0
";
/// Word addresses in [`BRIGHTEN`] of the branch to the next group, the load and the store.
pub const BRIGHTEN_SITES: [u32; 3] = [27, 16, 24];

pub fn brighten() -> Program {
    let [branch, load, store] = BRIGHTEN_SITES;
    let streams = vec![reads(0, 4, load), writes(1, 4, store)];
    program("x: in i8x4, y: out i8x4", tiles(4, branch, streams), BRIGHTEN)
}

/// Kernel that computes `y[i] = x[i] + n` on 32-bit integers.
pub const ADD: &str = "
    mov $r9 $m0
    mov $r0 $m1
    mov $r1 $m2
    mov $a0 $r0
    mov $a1 $r1
    ldas $r2 $c0 $a0 0x4
    add $r2 $r2 $r9
    stas $r2 $a1 0x4 | bra not $c0 aef 0x14
    snop
    exit 0x0
";
/// Word addresses in [`ADD`] of the branch to the next group, the load and the store.
pub const ADD_SITES: [u32; 3] = [31, 20, 28];

/// Returns a program of kernel [`ADD`], after `change` has modified its tiles.
pub fn add(change: impl FnOnce(&mut Tiles)) -> Program {
    let [branch, load, store] = ADD_SITES;
    let mut tiles = tiles(1, branch, vec![reads(1, 4, load), writes(2, 4, store)]);
    change(&mut tiles);
    program("n: i32, x: in i32, y: inout i32", tiles, ADD)
}
