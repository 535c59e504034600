//! Streams of a packed kernel: their parameters, and the indices of their elements.

use cranelift_entity::SecondaryMap;
use halfbyte_ir::{
    Affine, AffineVariable, Attr, Block, Direction, Kernel, Op, ParamKind, Stream, TripCount, Type, Value,
};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::memory::{Access, guard_of, window_of};
use super::uniformity::Uniformity;
use super::values::{Values, WORD};

/// Kind of access to a stream by a group of items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// Access by vectors, each with the values of several items. The type of a value is a byte or a
    /// 32-bit word.
    Vectors(Type),
    /// One access for each item.
    Items,
}

/// A converted kernel and its analyses.
#[derive(Clone, Copy)]
pub(super) struct ConvertedKernel<'a> {
    pub kernel: &'a Kernel,
    pub accesses: &'a [Access],
    pub uniformity: &'a Uniformity,
    /// Blocks that end with the exit test of a loop. The loop continues if the condition is true for any item.
    pub gates: &'a [Block],
}

/// The streams that an access uses.
#[derive(Clone, Copy)]
pub(super) struct AccessStreams {
    /// Stream of the accessed elements, if any. For an access in a window, it holds the offsets in the window.
    pub stream: Option<Value>,
    pub guard: Option<Value>,
    /// Stream whose contents are the window of the access, if the access is in a window.
    pub window: Option<Value>,
    pub shape: Shape,
    pub uniform: bool,
}

/// Streams of a packed kernel: first the windows, then the stream of each access, followed by the
/// stream of its guard if there is one.
pub(super) struct Streams {
    streams: Vec<Stream>,
    /// Streams that each access uses.
    places: Vec<AccessStreams>,
    /// Trip counts with their values, which are computed at the start of the kernel.
    trips: Vec<(TripCount, Value)>,
    /// The names of the source kernel's values, which a stream must not have.
    names: FxHashSet<String>,
}

/// Alignment of a stream in the data store, in bytes.
const ALIGN: u32 = 16;

impl Streams {
    /// Creates the streams, and adds a parameter to the packed kernel for each of them.
    pub(super) fn new(values: &mut Values<'_>, source: ConvertedKernel<'_>) -> Streams {
        let ConvertedKernel { kernel, accesses, uniformity, .. } = source;
        let uses = Uses::new(kernel);
        let names = kernel.values.keys().filter_map(|value| kernel.value_name(value)).map(str::to_owned).collect();
        let mut streams = Streams { streams: Vec::new(), places: Vec::new(), trips: Vec::new(), names };
        let mut windows: Vec<(u32, u32, Value)> = Vec::new();
        for access in accesses.iter().filter(|access| access.in_window) {
            if windows.iter().any(|&(buffer, ..)| buffer == access.buffer) {
                continue;
            }
            let in_it = |other: &&Access| other.in_window && other.buffer == access.buffer;
            let written = accesses.iter().filter(in_it).any(|other| other.stores);
            let direction = if written { Direction::InOut } else { Direction::In };
            let param = kernel.params.get(access.buffer as usize);
            let elem = match param.map(|param| param.kind) {
                Some(ParamKind::Buffer { elem, .. }) => elem,
                _ => access.ty,
            };
            let name = param.map_or("stream", |param| param.name.as_str());
            let number = streams.streams.len() as u32;
            let described = window_of(kernel, access.buffer, accesses);
            let window = streams.add(values, format!("{name}_all"), direction, elem, described);
            windows.push((access.buffer, number, window));
        }
        for access in accesses {
            let result = kernel.result(access.inst);
            let uniform = result.is_some_and(|result| !uniformity.varies(result));
            let window = windows.iter().find(|(buffer, ..)| access.in_window && *buffer == access.buffer).copied();
            let items = uniform || window.is_some();
            let shape = if items { Shape::Items } else { shape(values, kernel, &uses, access) };
            if let (Some((.., window)), false) = (window, access.has_stream) {
                streams.places.push(AccessStreams { stream: None, guard: None, window: Some(window), shape, uniform });
                continue;
            }
            let elem = match shape {
                _ if window.is_some() => Type::I32,
                Shape::Vectors(_) => Type::I8X16,
                Shape::Items => access.ty,
            };
            let number = streams.streams.len() as u32;
            let guard = access.guard.map(|_| number + 1);
            let described = access.stream(kernel, uniform, guard, window.map(|(_, number, _)| number));
            let base = kernel.params.get(access.buffer as usize).map_or("stream", |param| param.name.as_str());
            let guarding = access.guard.map(|_| {
                let (elem, bytes) = match shape {
                    Shape::Vectors(ty) => (Type::I8X16, ty.bytes()),
                    Shape::Items => (Type::I32, Type::I32.bytes()),
                };
                (elem, guard_of(&described, bytes))
            });
            let written = access.stores || window.is_some();
            let direction = if written { Direction::Out } else { Direction::In };
            let stream = streams.add(values, format!("{base}_{number}"), direction, elem, described);
            let guard = guarding.map(|(elem, guard)| {
                streams.add(values, format!("{base}_{number}_guard"), Direction::Out, elem, guard)
            });
            let window = window.map(|(.., window)| window);
            streams.places.push(AccessStreams { stream: Some(stream), guard, window, shape, uniform });
        }
        streams
    }

    /// Adds a stream, and a parameter for it. Returns the parameter.
    fn add(
        &mut self,
        values: &mut Values<'_>,
        mut name: String,
        direction: Direction,
        elem: Type,
        described: Stream,
    ) -> Value {
        while self.names.contains(&name) {
            name.push('_');
        }
        let kind = ParamKind::Buffer { direction, elem, align: ALIGN, may_alias: false };
        let span = described.site;
        self.streams.push(described);
        values.code.kernel.add_param(name, kind, span)
    }

    pub(super) fn into_streams(self) -> Vec<Stream> {
        self.streams
    }

    /// Returns the streams that an access uses.
    pub(super) fn place(&self, access: usize) -> Option<AccessStreams> {
        self.places.get(access).copied()
    }

    /// Returns the index in a stream of the first element that the group accesses in the current
    /// iteration. The group accesses `elements` elements per iteration. `group` is the group index,
    /// or `None` for a uniform stream. The result `None` means index 0.
    pub(super) fn index(
        &mut self,
        values: &mut Values<'_>,
        access: &Access,
        group: Option<Value>,
        elements: usize,
    ) -> Option<Value> {
        let mut index = group;
        for step in &access.steps {
            let Some(counter) = values.uniform(step.counter) else { continue };
            index = Some(match index {
                None => counter,
                Some(index) => {
                    let trips = self.trips(values, &step.trips);
                    let before = values.code.op(Op::Mul, Type::I32, &[index, trips]);
                    values.code.op(Op::Add, Type::I32, &[before, counter])
                }
            });
        }
        if elements == 1 {
            return index;
        }
        let elements = values.code.word(elements as u32);
        index.map(|index| values.code.op(Op::Mul, Type::I32, &[index, elements]))
    }

    /// Returns the attribute and the address operands for the element at `index` plus `after`.
    pub(super) fn element(
        &self,
        values: &Values<'_>,
        stream: Value,
        ty: Type,
        index: Option<Value>,
        after: usize,
    ) -> (Attr, SmallVec<[Value; 2]>) {
        let mut mem = values.code.kernel.default_mem(stream, ty);
        mem.offset = (after as u32 * ty.bytes()).cast_signed();
        (Attr::Mem(mem), std::iter::once(stream).chain(index).collect())
    }

    /// Returns a trip count as a value of the packed kernel.
    fn trips(&mut self, values: &mut Values<'_>, trips: &TripCount) -> Value {
        if let Some((_, value)) = self.trips.iter().find(|(known, _)| known == trips) {
            return *value;
        }
        let block = std::mem::replace(&mut values.code.block, values.head);
        let value = match trips {
            TripCount::Const(trips) => values.code.word(*trips),
            TripCount::Of { count, signed, at_least } => {
                // The code treats a count of 2^31 as negative. No launch has so many iterations, because
                // their elements do not fit in the data store.
                let mut value = sum(values, count);
                if *signed {
                    let zero = values.code.word(0);
                    value = values.code.op(Op::MaxS, Type::I32, &[value, zero]);
                }
                if *at_least > 0 {
                    let least = values.code.word(*at_least);
                    value = values.code.op(Op::MaxU, Type::I32, &[value, least]);
                }
                value
            }
        };
        values.code.block = block;
        self.trips.push((trips.clone(), value));
        value
    }
}

/// Emits the computation of a sum that is known at launch.
fn sum(values: &mut Values<'_>, affine: &Affine) -> Value {
    let mut sum = (affine.constant != 0).then(|| values.code.word(affine.constant));
    for &(factor, times) in &affine.terms {
        let mut term = match factor {
            AffineVariable::ItemCount => values.code.op(Op::ItemCount, Type::I32, &[]),
            AffineVariable::Param(number) => match values.code.kernel.params.get(number as usize) {
                Some(param) => param.value,
                None => continue,
            },
        };
        if times != 1 {
            let times = values.code.word(times);
            term = values.code.op(Op::Mul, Type::I32, &[term, times]);
        }
        sum = Some(sum.map_or(term, |sum| values.code.op(Op::Add, Type::I32, &[sum, term])));
    }
    sum.unwrap_or_else(|| values.code.word(0))
}

/// Number of uses of each value, by the representation that the use requires.
struct Uses {
    /// Uses that need one value per item.
    items: SecondaryMap<Value, u32>,
    /// Uses that need the bytes of a 32-bit word.
    bytes: SecondaryMap<Value, u32>,
    all: SecondaryMap<Value, u32>,
}

impl Uses {
    fn new(kernel: &Kernel) -> Uses {
        let mut uses = Uses { items: SecondaryMap::new(), bytes: SecondaryMap::new(), all: SecondaryMap::new() };
        for &inst in kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts) {
            let data = &kernel.insts[inst];
            for &arg in kernel.args(inst) {
                uses.all[arg] += 1;
                let one_lane = matches!(data.op, Op::Extract) && data.ty == Type::I8X4;
                let whole = matches!(
                    data.op,
                    Op::SadS
                        | Op::SadU
                        | Op::ReduceAddS
                        | Op::ReduceAddU
                        | Op::ReduceMinS
                        | Op::ReduceMinU
                        | Op::ReduceMaxS
                        | Op::ReduceMaxU
                        | Op::Split
                );
                match data.op {
                    Op::Bitcast if data.ty == Type::I8X4 => uses.bytes[arg] += 1,
                    Op::Bitcast => uses.items[arg] += 1,
                    _ if whole || one_lane => uses.items[arg] += 1,
                    _ => {}
                }
            }
            for call in kernel.targets(inst) {
                for &arg in kernel.call_args(call) {
                    uses.all[arg] += 1;
                }
            }
        }
        uses
    }
}

/// Chooses how a group accesses the stream of a divergent access.
fn shape(values: &Values<'_>, kernel: &Kernel, uses: &Uses, access: &Access) -> Shape {
    let ty = access.ty;
    if ty.is_mask() {
        return Shape::Items;
    }
    let loaded = kernel.result(access.inst);
    let used_only =
        |of: &SecondaryMap<Value, u32>| loaded.is_some_and(|value| uses.all[value] > 0 && of[value] == uses.all[value]);
    if values.lanes(ty).is_some() {
        let by_items = ty == Type::I8X4 && values.count == WORD && used_only(&uses.items);
        return if by_items { Shape::Items } else { Shape::Vectors(ty) };
    }
    let stored = kernel.args(access.inst).first().and_then(|&value| kernel.def_inst(value));
    let stores_bytes = access.stores
        && stored.is_some_and(|inst| {
            let from = kernel.args(inst).first().map(|&arg| kernel.ty(arg));
            kernel.insts[inst].op == Op::Bitcast && from == Some(Type::I8X4)
        });
    let in_bytes = values.fits(ty) && (used_only(&uses.bytes) || stores_bytes);
    if in_bytes { Shape::Vectors(ty) } else { Shape::Items }
}
