//! Random kernels, well formed and free of races, for tests of everything that stands between text and results.
//!
//! A kernel is drawn from its seed: straight lines, branches with and without a second way, switches, loops of bounded
//! trips with ways out and back in their middle, and parameters of blocks, over every op, type, modifier and operand form
//! that a target takes. What a target takes is found out by asking it: each form is tried once in a kernel of its own
//! ([`Palette`]). Who knows the instructions of a target hands in what draws them, and they come as intrinsics.
//!
//! Some parameters lie in the buffers of others ([`aliases`]), by which an item owns the same bytes.
//!
//! Items may meet ([`Meets`]): by barriers, exchanges and memory that they share, where all of a group come and in an order of which
//! nothing depends.
//!
//! Every item owns some bytes, at most [`ROW`], of each buffer that is written, and only a kernel whose [`Shape`] asks for
//! them has traps. Constants and data come from edge values as often as not.

mod arguments;
mod control;
mod meet;
mod memory;
mod palette;
mod values;

use std::collections::HashSet;

use crate::builder::Builder;
use crate::flow::Flow;
use crate::witness::Random;
use crate::{Block, Elem, Kernel, Op, Type, Value};

pub use arguments::{ROW, aliases, arguments, elements};
pub use meet::MOST_OF_GROUP;
pub use palette::{Addresses, Draw, Drawn, Palette};

use control::Around;
use memory::{Input, Location, Rows};
use palette::{int_of_mask, is_stored};

/// How a kernel is to look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Ops in straight lines, about.
    pub ops: usize,
    /// How deep branches and loops are nested.
    pub depth: usize,
    /// Values that are made first and used last, so that all of them are alive in between.
    pub live: usize,
    /// Whether items may trap: by accesses out of bounds, misaligned or to what is read only, and by loops without end.
    pub traps: bool,
    /// Whether items meet.
    pub meets: Meets,
}

/// Whether items of drawn kernels meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Meets {
    /// They do not.
    #[default]
    Never,
    /// They do: groups have at most [`MOST_OF_GROUP`] items, none of them traps, and nothing depends on their order.
    Ordered,
    /// Likewise, and which items meet, and whose values they take, follows from where they are.
    Static,
    /// They do, in any way, and where a group has two items two of their accesses race.
    Racing,
}

impl Shape {
    /// One of several kinds: straight, branchy, or with more alive than registers can hold; mostly small, and without traps.
    pub fn random(random: &mut Random) -> Shape {
        let ops = 4 + if random.below(8) == 0 { random.below(50) } else { random.below(16) };
        let shape = Shape { ops, depth: 0, live: 0, traps: false, meets: Meets::Never };
        match random.below(32) {
            0..=7 => shape,
            8..=30 => Shape { depth: 1 + random.below(3), live: random.below(8), ..shape },
            _ => Shape { ops: ops.min(20), depth: random.below(2), live: 60 + random.below(200), ..shape },
        }
    }
}

/// A loop around what is drawn.
#[derive(Clone, Copy)]
struct Counter {
    /// Its number of iterations so far: below [`memory::TRIPS`], or what it is in an access of an item that has not trapped.
    value: Value,
    /// Whether its trips are known at launch.
    known: bool,
}

struct Generator<'g, 't> {
    palette: &'g mut Palette<'t>,
    random: &'g mut Random,
    builder: Builder,
    /// The values that may be used here, in the order of their definitions.
    scope: Vec<Value>,
    inputs: Vec<Input>,
    /// Buffers of which each item owns a row.
    rows: Vec<Rows>,
    /// Where something has been loaded from or stored to in those, to be accessed again.
    visited: Vec<Location>,
    /// The loops around, the outermost first.
    counters: Vec<Counter>,
    /// The same loops, by what they are left and gone round by.
    around: Vec<Around>,
    /// Branches around, besides loops' own.
    branches: usize,
    /// How many wide values more there may be, each of which takes many registers.
    wide: usize,
    /// How many accesses more there may be. It matters only where addresses are affine.
    accesses: usize,
    scalars: usize,
    item: Option<Value>,
    blocks: usize,
    traps: bool,
    meets: Meets,
    /// Memory that the kernel declares.
    arrays: Vec<meet::Array>,
}

impl<'g, 't> Generator<'g, 't> {
    fn new(palette: &'g mut Palette<'t>, name: &str, shape: &Shape, random: &'g mut Random) -> Generator<'g, 't> {
        Generator {
            palette,
            random,
            builder: Builder::new(name),
            scope: Vec::new(),
            inputs: Vec::new(),
            rows: Vec::new(),
            visited: Vec::new(),
            counters: Vec::new(),
            around: Vec::new(),
            branches: 0,
            wide: if shape.live > 8 { 2 } else { 12 },
            accesses: memory::MOST_ACCESSES,
            scalars: 0,
            item: None,
            blocks: 0,
            traps: shape.traps,
            meets: shape.meets,
            arrays: Vec::new(),
        }
    }

    fn kernel(mut self, shape: &Shape) -> Kernel {
        self.begin(&[]);
        let item = self.builder.here(Op::ItemId);
        self.item = Some(item);
        self.scope.push(item);
        for _ in 0..shape.live {
            self.op();
        }
        self.region(shape.ops, shape.depth);
        if shape.meets == Meets::Racing {
            self.race();
        }
        self.observe(shape.live > 0);
        self.builder.ret();
        self.builder.finish()
    }

    fn is_affine(&self) -> bool {
        self.palette.addresses == Addresses::Affine
    }

    /// Whether ops may be on values of a type here.
    fn has(&self, ty: Type) -> bool {
        self.palette.has(ty) && (!ty.is_wide() || self.wide > 0)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.random.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        items.get(self.random.below(items.len())).copied()
    }

    fn ty(&self, value: Value) -> Type {
        self.builder.kernel().ty(value)
    }

    /// A value from before, of any type.
    fn any(&mut self) -> Option<Value> {
        let number = self.random.below(self.scope.len());
        self.scope.get(number).copied()
    }

    fn block(&mut self, params: &[Type]) -> Block {
        self.blocks += 1;
        self.builder.block(&format!("b{}", self.blocks), params)
    }

    fn go_to(&mut self, block: Block) {
        self.builder.go_to(block);
        self.scope.extend_from_slice(self.builder.params(block));
    }

    fn begin(&mut self, params: &[Type]) {
        let block = self.block(params);
        self.go_to(block);
    }
}

/// A value that says the same and is of a type that has a place in memory.
fn storable(b: &mut Builder, value: Value) -> Option<Value> {
    let ty = b.kernel().ty(value);
    match ty {
        _ if is_stored(ty) => Some(value),
        Type::I1 => {
            let (one, zero) = (b.int(Type::I32, 1), b.int(Type::I32, 0));
            Some(b.op(Op::Select, Type::I32, &[value, one, zero]))
        }
        _ if ty.elem() == Elem::I1 => Some(b.op(Op::MaskExpand, int_of_mask(ty)?, &[value])),
        Type::PTR => Some(b.op(Op::Bitcast, Type::I64, &[value])),
        // All bytes of a wide lane.
        _ if ty.is_wide() => {
            let mut sum = b.op(Op::Trunc, Type::I8X16, &[value]);
            for count in (8..ty.elem().bits()).step_by(8) {
                let count = b.constant(ty, &[count.into()]);
                let shifted = b.op(Op::ShrU, ty, &[value, count]);
                let byte = b.op(Op::Trunc, Type::I8X16, &[shifted]);
                sum = b.op(Op::Xor, Type::I8X16, &[sum, byte]);
            }
            Some(sum)
        }
        _ => None,
    }
}

/// The values that some instruction uses.
fn uses(kernel: &Kernel) -> HashSet<Value> {
    let flow = Flow::new(kernel);
    let mut uses = HashSet::new();
    for &inst in flow.reverse_postorder().flat_map(|block| &kernel.blocks[block].insts) {
        uses.extend(kernel.args(inst));
        kernel.targets(inst).iter().for_each(|call| uses.extend(kernel.call_args(call)));
    }
    uses
}
