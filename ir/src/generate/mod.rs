//! Generator of random kernels, well formed and free of races, for testing the whole compiler and
//! all engines.
//!
//! A kernel is generated from a seed. It contains straight-line code, branches with one or two
//! arms, switches, block parameters, and loops of bounded trip count with early exits and
//! `continue` branches. It uses every op, type, modifier and operand form that a target supports.
//! To find out what a target supports, the generator compiles each form once in a kernel of its own
//! ([`Palette`]). Target instructions are generated as intrinsics, by functions that the caller
//! supplies.
//!
//! Some buffer parameters are aliases of other parameters ([`aliases`]). An item accesses the same
//! bytes through a parameter and through its aliases.
//!
//! Items may cooperate ([`Cooperation`]) through barriers, collective operations and shared memory.
//! All items of a group execute these ops, and no result depends on the execution order.
//!
//! An item accesses only its own bytes of each written buffer, at most [`ROW`]. A kernel traps only
//! if its [`Shape`] allows traps. About half of all constants and data are edge values.

mod arguments;
mod collective;
mod control;
mod memory;
mod palette;
mod values;

use std::collections::HashSet;

use crate::builder::Builder;
use crate::flow::Flow;
use crate::witness::Random;
use crate::{Block, Elem, Kernel, Op, Type, Value};

pub use arguments::{ROW, aliases, arguments, elements};
pub use collective::MOST_OF_GROUP;
pub use palette::{Addresses, Draw, Drawn, Palette};

use control::EnclosingLoop;
use memory::{Input, Location, Rows};
use palette::{int_of_mask, is_stored};

/// Shape of a generated kernel: its size, its nesting depth, and the features that it may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Approximate number of ops.
    pub ops: usize,
    /// Maximum nesting depth of branches and loops.
    pub depth: usize,
    /// Number of values that are defined at the start and used at the end, so that all of them are live in between.
    pub live: usize,
    /// `true` if items may trap: through out-of-bounds, misaligned or read-only accesses, and through infinite loops.
    pub traps: bool,
    /// Kind of cooperation between items.
    pub cooperation: Cooperation,
}

/// Kind of cooperation between the items of generated kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cooperation {
    /// Items do not cooperate.
    #[default]
    Never,
    /// Items cooperate. Groups have at most [`MOST_OF_GROUP`] items, no item traps, and no result
    /// depends on the execution order.
    Ordered,
    /// Like `Ordered`, but lane masks and source lanes depend only on the positions of items, not on data.
    Static,
    /// Items cooperate without restrictions. If a group has at least two items, accesses of two of
    /// its items race.
    Racing,
}

impl Shape {
    /// Returns a random shape: straight-line code, code with branches, or code with more live
    /// values than registers. Most shapes are small, and none has traps.
    pub fn random(random: &mut Random) -> Shape {
        let ops = 4 + if random.below(8) == 0 { random.below(50) } else { random.below(16) };
        let shape = Shape { ops, depth: 0, live: 0, traps: false, cooperation: Cooperation::Never };
        match random.below(32) {
            0..=7 => shape,
            8..=30 => Shape { depth: 1 + random.below(3), live: random.below(8), ..shape },
            _ => Shape { ops: ops.min(20), depth: random.below(2), live: 60 + random.below(200), ..shape },
        }
    }
}

/// Induction variable of a loop that encloses the current position.
#[derive(Clone, Copy)]
struct Counter {
    /// Value of the induction variable. The value is less than [`memory::TRIPS`] in every access of
    /// an item that has not trapped.
    value: Value,
    /// `true` if the trip count of the loop is known at launch.
    known: bool,
}

struct Generator<'g, 't> {
    palette: &'g mut Palette<'t>,
    random: &'g mut Random,
    builder: Builder,
    /// Values that dominate the current position, in the order of their definitions.
    scope: Vec<Value>,
    inputs: Vec<Input>,
    /// Buffers that are divided into rows, one for each item.
    rows: Vec<Rows>,
    /// Locations of earlier loads and stores in buffers with rows, so that later accesses can use them again.
    visited: Vec<Location>,
    /// Induction variables of the loops that enclose the current position, outermost first.
    counters: Vec<Counter>,
    /// Headers, exits and parameter types of the enclosing loops.
    around: Vec<EnclosingLoop>,
    /// Number of branches that enclose the current position, without loops.
    branches: usize,
    /// Number of further vectors of more than 16 bytes that the kernel may have. The number is
    /// limited because a wide vector needs many registers.
    wide: usize,
    /// Number of further memory accesses that the kernel may have. The limit applies only if addresses are affine.
    accesses: usize,
    scalars: usize,
    item: Option<Value>,
    blocks: usize,
    traps: bool,
    cooperation: Cooperation,
    /// Arrays that the kernel declares.
    arrays: Vec<collective::Array>,
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
            cooperation: shape.cooperation,
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
        if shape.cooperation == Cooperation::Racing {
            self.race();
        }
        self.observe(shape.live > 0);
        self.builder.ret();
        self.builder.finish()
    }

    fn is_affine(&self) -> bool {
        self.palette.addresses == Addresses::Affine
    }

    /// Returns `true` if the current position can use values of a type.
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

    /// Returns an earlier value of any type.
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

/// Converts a value to a type that can be stored, without loss of information where possible.
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
        // Combine all bytes of each wide lane by XOR.
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

/// Returns all values that reachable instructions use.
fn uses(kernel: &Kernel) -> HashSet<Value> {
    let flow = Flow::new(kernel);
    let mut uses = HashSet::new();
    for &inst in flow.reverse_postorder().flat_map(|block| &kernel.blocks[block].insts) {
        uses.extend(kernel.args(inst));
        kernel.targets(inst).iter().for_each(|call| uses.extend(kernel.call_args(call)));
    }
    uses
}
