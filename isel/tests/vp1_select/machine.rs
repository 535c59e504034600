//! Executes packed kernels on the evaluator, and on a VP1 processor with one instruction per bundle and no delay slots.

use halfbyte_ir::eval::{Arg, Launch, Prepared};
use halfbyte_ir::{Kernel, text};
use halfbyte_isa::object::Loc;
use halfbyte_isa::stream::{M_FIRST_ITEM, M_ITEM_COUNT, M_TILE_ITEMS, first_stream_m};
use halfbyte_isa::vp1::domain::Next;
use halfbyte_isa::vp1::state::State;
use halfbyte_isa::vp1::{Bundle, TARGET};
use halfbyte_isel::mach::MachFunc;
use halfbyte_isel::regalloc::{Allocator, Options};
use halfbyte_isel::{Backend, Refusal, Request, Scratch, Selected, Vp1};

/// Number of work items per tile, for which the streams fit the data store.
const TILE: usize = 64;
/// Maximum number of instructions that the processor executes per tile.
const MAX_INSTRUCTIONS: usize = 1 << 20;

pub fn read(source: &str) -> Kernel {
    let module = text::read(source).unwrap_or_else(|errors| panic!("{errors:?}\n{source}"));
    module.kernels.into_iter().next().unwrap()
}

/// Returns a kernel with two input vectors per item. `body` computes the output `%c` from `%a` and `%b`.
pub fn on_vectors(body: &str) -> Kernel {
    read(&format!(
        "kernel @k(%first: in i8x16, %second: in i8x16, %result: out i8x16) groups 1 {{
  stream %in_a: in i8x16 of %first, 16 bytes at 16 * item
  stream %in_b: in i8x16 of %second, 16 bytes at 16 * item
  stream %out: out i8x16 of %result, 16 bytes at 16 * item
^entry:
  %g = item_id
  %a = load %in_a[%g]
  %b = load %in_b[%g]
  {body}
  store %c, %out[%g]
  ret
}}
"
    ))
}

pub fn select(kernel: &Kernel) -> Result<Selected, Vec<Refusal>> {
    let request = Request::new(kernel, TARGET, &|_| Loc::default());
    Vp1.select(request, &mut Scratch::default())
}

pub fn selected(kernel: &Kernel) -> Selected {
    select(kernel).unwrap_or_else(|refusals| panic!("{}", refusals[0]))
}

/// Returns the names of the selection rules that fired.
pub fn taken(selected: &Selected) -> Vec<&'static str> {
    selected.fired.iter().map(|&rule| Vp1.rules()[rule as usize].name).collect()
}

fn allocated(selected: Selected) -> MachFunc<Vp1> {
    let options = Options { check: true, ..Options::default() };
    *selected.code.allocate(&mut Allocator::default(), &options).unwrap().downcast().unwrap()
}

/// Returns the buffers after a launch on the evaluator, and after a launch on the processor.
pub fn both(kernel: &Kernel, items: usize, buffers: &[Vec<u8>]) -> [Vec<Vec<u8>>; 2] {
    let mut expected = buffers.to_vec();
    let args = expected.iter_mut().enumerate();
    let mut args: Vec<Arg<'_>> =
        args.map(|(k, bytes)| Arg::Buffer { base: (k as u64 + 1) << 32, bytes: bytes.as_mut_slice() }).collect();
    Prepared::new(kernel).run(&Launch::new(items as u32), &mut args).unwrap();
    let func = allocated(selected(kernel));
    let mut found = buffers.to_vec();
    for first in (0..items).step_by(TILE) {
        tile(kernel, &func, first, TILE.min(items - first), items, &mut found);
    }
    [expected, found]
}

/// Executes the program for one tile of items. Each buffer is accessed by one contiguous stream.
fn tile(kernel: &Kernel, func: &MachFunc<Vp1>, first: usize, count: usize, items: usize, buffers: &mut [Vec<u8>]) {
    let mut state = State::default();
    let tiles = &func.extra.tiles;
    state.m[usize::from(M_ITEM_COUNT)] = items as u32;
    state.m[usize::from(M_TILE_ITEMS)] = count as u32;
    state.m[usize::from(M_FIRST_ITEM)] = first as u32;
    for (at, &byte) in (0..).zip(&tiles.image) {
        state.data.set_byte(at, byte);
    }
    let mut next = func.local_bytes.next_multiple_of(16);
    let mut places = Vec::new();
    for (k, stream) in tiles.streams.iter().enumerate() {
        let (start, bytes) = (next, stream.bytes as usize * count);
        let from = stream.bytes as usize * first;
        let buffer = stream.buffer.unwrap() as usize;
        if !stream.site.written {
            for (at, &byte) in (start..).zip(&buffers[buffer][from..from + bytes]) {
                state.data.set_byte(at, byte);
            }
        }
        next = (start + bytes as u32).next_multiple_of(16);
        state.m[first_stream_m(&func.signature) + k] = next << 16 | start;
        places.push((stream.site.written, buffer, from, start, bytes));
    }
    assert!(next <= 8192, "{} needs {next} bytes", kernel.name);
    run(func, &mut state);
    for (written, buffer, from, start, bytes) in places {
        for at in (0..bytes).filter(|_| written) {
            buffers[buffer][from + at] = state.data.byte(start + at as u32);
        }
    }
}

fn run(func: &MachFunc<Vp1>, state: &mut State) {
    let (mut block, mut at) = (0, 0);
    for _ in 0..MAX_INSTRUCTIONS {
        let Some(inst) = func.blocks[block].insts.get(at) else {
            (block, at) = (block + 1, 0);
            continue;
        };
        let words: Vec<u32> = inst.inst.insts.iter().map(|inst| inst.word()).collect();
        at += 1;
        match state.step(&Bundle::new(&words).unwrap(), |_| ()) {
            Next::Fall => {}
            Next::Jump { taken, .. } if taken != Some(0) => (block, at) = (inst.target.unwrap() as usize, 0),
            Next::Jump { .. } => {}
            Next::Exit { .. } => return,
            next => panic!("{next:?}"),
        }
    }
    panic!("{} does not end", func.signature.name());
}
