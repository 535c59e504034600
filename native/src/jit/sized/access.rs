//! Loads and stores of a vector's items, with store-to-load forwarding of shared and private memory
//! at compile time.

use arrayvec::ArrayVec;
use halfbyte_isa::halu::domain::Width;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::graph::{LANES, Memory, Node, Pattern, Place, Value, Vector, ZEROS};
use super::memory::{Found, KnownMemory};
use super::walk::{Sink, Walk};
use crate::jit::dataflow::{Id, Location, Op, Scale};
use halfbyte_isa::trap::Space;

/// Address of an access, as values of the items.
pub struct At {
    memory: Memory,
    offset: Value,
    scale: Scale,
    imm: i32,
    /// Both words of a base address. Once the buffer is known, both elements are the distance of the base from its
    /// start.
    base: Option<[Value; 2]>,
}

impl At {
    /// Returns the address of a location, or `None` if no code can be emitted for its address space.
    pub fn of(place: &Location, value: impl Fn(Id) -> Value) -> Option<At> {
        match *place {
            Location::Global { offset, base, imm, scale } => Some(At {
                // `located` sets the buffer.
                memory: Memory::Buffer(0),
                offset: value(offset),
                scale,
                imm,
                base: Some(base.map(value)),
            }),
            Location::Own { space: space @ (Space::Shared | Space::Local), offset, imm } => {
                let memory = if space == Space::Shared { Memory::Shared } else { Memory::Private };
                Some(At { memory, offset: value(offset), scale: Scale::BYTES, imm, base: None })
            }
            Location::Own { .. } | Location::Constant { .. } | Location::Flat { .. } => None,
        }
    }
}

/// Operands of an access: its offset, if any, then its base, if any.
pub type Where = ArrayVec<Node, 2>;

/// Active lanes and the addresses that they access. `None` if an address is out of bounds or misaligned.
type Addresses = Option<SmallVec<[(usize, u32); LANES]>>;

/// State of the path on which an access is made.
pub struct Now<'s> {
    pub segment: usize,
    /// Shared memory of the group.
    pub shared: &'s mut KnownMemory,
    /// Private memory of the vector's items. Each lane has a region of the same size in this memory (see `of_lane`).
    pub private: &'s mut KnownMemory,
    /// Loads that already have a sink on this path.
    pub loaded: &'s mut FxHashSet<Node>,
}

/// Returns the width of each word of an access.
fn element(width: Width) -> Width {
    if width.registers() > 1 { Width::B32 } else { width }
}

/// Maximum number of terms of a sum that `root` visits.
const MOST_TERMS: usize = 16;

fn lanes_of(mask: u16) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

impl Walk<'_> {
    /// Loads the words of an access. Returns `None` if no code can be emitted for the load.
    pub fn load(
        &mut self,
        Now { segment, shared, private, loaded }: Now<'_>,
        at: At,
        (width, signed): (Width, bool),
        mask: u16,
    ) -> Option<SmallVec<[Value; 4]>> {
        let at = &self.located(segment, at, mask)?;
        if at.memory == Memory::Private {
            return self.load_private(private, at, (width, signed), mask);
        }
        let words = 0..i32::from(width.registers());
        let word = |k: i32| {
            let (place, operands) = self.place(at, (width, k), mask, true)?;
            if at.memory != Memory::Shared {
                let node = self.graph.load(place, &operands, signed);
                if loaded.insert(node) {
                    self.sink(segment, Sink::Load(node));
                }
                return Some(node);
            }
            let mut is_stored = false;
            if let Some(addresses) = self.addresses(at, (width, k), mask) {
                let addresses = addresses?;
                if let Some(value) = self.forwarded(shared, &addresses, (element(width), signed)) {
                    return value.map(|value| self.graph.node(value));
                }
                let find = |&(_, address): &(usize, u32)| shared.load(address, element(width).bytes());
                is_stored = addresses.iter().map(find).all(|found| matches!(found, Found::Lane(..)));
            }
            self.reads_zeros |= !is_stored;
            let node = self.graph.load_shared(place, &operands, signed);
            self.sink(segment, Sink::Read(node));
            Some(node)
        };
        let nodes: Option<SmallVec<[Node; 4]>> = words.map(word).collect();
        match nodes {
            Some(nodes) => Some(nodes.into_iter().map(|node| self.graph.value(node)).collect()),
            None if self.gives_up => Some(SmallVec::new()),
            None => None,
        }
    }

    /// Stores the words of an access. Returns `None` if no code can be emitted for the store.
    pub fn store(
        &mut self,
        Now { segment, shared, private, .. }: Now<'_>,
        at: At,
        width: Width,
        data: &[Value],
        mask: u16,
    ) -> Option<()> {
        let at = &self.located(segment, at, mask)?;
        for (k, &value) in (0..).zip(data) {
            let node = self.graph.node(value);
            if at.memory == Memory::Private {
                let Some(addresses) = self.addresses(at, (width, k), mask)? else { return Some(()) };
                for (lane, address) in addresses {
                    private.store(self.of_lane(lane, address), element(width).bytes(), (node, lane as u8));
                }
                continue;
            }
            if at.memory == Memory::Shared {
                match self.addresses(at, (width, k), mask) {
                    None => shared.forget(),
                    Some(None) => return Some(()),
                    Some(Some(addresses)) => {
                        for (lane, address) in addresses {
                            shared.store(address, element(width).bytes(), (node, lane as u8));
                        }
                    }
                }
            }
            let (place, at) = self.place(at, (width, k), mask, false)?;
            self.sink(segment, Sink::Store { place, at, data: node });
        }
        Some(())
    }

    /// Rewrites a global access as an access relative to the start of a buffer. A buffer is identified by the offset of
    /// its address in constant bank 0. If the base is not exactly this address, the emitted code checks at run time
    /// that the upper word matches.
    fn located(&mut self, segment: usize, at: At, mask: u16) -> Option<At> {
        let Some([low, high]) = at.base else { return Some(at) };
        let root = self.root([low, high])?;
        let memory = Memory::Buffer(root.try_into().ok()?);
        let start = [root, root + 4].map(|offset| self.graph.bank(offset, Width::B32, false));
        if start == [low, high] {
            return Some(At { memory, base: None, ..at });
        }
        let far = self.graph.compute(Op::Sub, &[low, start[0]])?;
        let is_less = self.graph.compute(Op::Less(false), &[low, start[0]])?;
        // A true comparison is all ones, which is -1.
        let upper = self.graph.compute(Op::Sub, &[start[1], is_less])?;
        let holds = self.graph.compute(Op::Equal, &[high, upper])?;
        let holds = self.graph.node(holds);
        self.sink(segment, Sink::Check { holds, mask });
        if at.offset == Value::Known(ZEROS) {
            return Some(At { memory, offset: far, scale: Scale::BYTES, imm: at.imm, base: None });
        }
        let far = self.graph.node(far);
        self.graph.step(far).is_same.then(|| At { memory, base: Some([self.graph.value(far); 2]), ..at })
    }

    /// Returns the offset in constant bank 0 of the buffer address that occurs as a term of an address. Returns `None`
    /// if there is not exactly one candidate.
    fn root(&self, [low, high]: [Value; 2]) -> Option<u32> {
        let terms = |value: Value| {
            let mut found: SmallVec<[u32; 4]> = SmallVec::new();
            let (Value::Offset(node, _) | Value::Any(node)) = value else { return found };
            let mut open: SmallVec<[Node; 8]> = [node].into_iter().collect();
            for _ in 0..MOST_TERMS {
                let Some(node) = open.pop() else { break };
                match self.graph.step(node).vector {
                    Vector::Compute(Op::Add) => open.extend_from_slice(self.graph.step(node).args()),
                    Vector::Carried(number, _) => open.extend(self.graph.first(number)),
                    Vector::Bank { offset, width: Width::B32, .. } => found.push(offset),
                    _ => {}
                }
            }
            found
        };
        let upper = terms(high);
        let mut roots = terms(low).into_iter().filter(|low| upper.iter().any(|high| low.checked_add(4) == Some(*high)));
        let root = roots.next()?;
        roots.all(|other| other == root).then_some(root)
    }

    /// Returns the place and the operands of the access to word `k` of an element.
    fn place(&mut self, at: &At, (width, k): (Width, i32), mask: u16, is_load: bool) -> Option<(Place, Where)> {
        let (element, scale) = (element(width), at.scale.by);
        let disp = at.imm.checked_add(4 * k)?;
        let align = width.bytes();
        let base = at.base.map(|[far, _]| self.graph.node(far));
        let mut place = Place {
            memory: at.memory,
            pattern: Pattern::Each,
            start: 0,
            scale,
            is_signed: at.scale.signed,
            disp,
            width: element,
            // Word 0 checks the alignment for all words of the element.
            align: match k {
                0 if base.is_some() || !scale.is_multiple_of(align) || !at.imm.unsigned_abs().is_multiple_of(align) => {
                    align
                }
                _ => 1,
            },
            mask,
            has_offset: true,
            has_base: base.is_some(),
        };
        if let Some((node, known)) = self.graph.sum(at.offset) {
            let words = self.graph.known(known);
            let mut lanes = lanes_of(mask);
            let first = lanes.next()?;
            let step = element.bytes() / scale.max(1);
            let steps = |by: u32| {
                lanes_of(mask)
                    .all(|lane| words[lane].wrapping_sub(words[first]) == by.wrapping_mul((lane - first) as u32))
            };
            let is_one = mask.is_power_of_two();
            let pattern = match () {
                () if is_load && (is_one || steps(0)) => Pattern::Same,
                () if is_one || step * scale == element.bytes() && steps(step) => Pattern::Contiguous,
                () => Pattern::Each,
            };
            if pattern != Pattern::Each {
                (place.pattern, place.start, place.has_offset) = (pattern, words[first], node.is_some());
                return Some((place, node.into_iter().chain(base).collect()));
            }
        }
        let offset = self.graph.node(at.offset);
        Some((place, [offset].into_iter().chain(base).collect()))
    }

    /// Returns the addresses of word `k` of an element for the active lanes, or `None` if the offset is not constant.
    /// Gives the group up if an address is out of bounds or misaligned.
    fn addresses(&mut self, at: &At, (width, k): (Width, i32), mask: u16) -> Option<Addresses> {
        let Value::Known(known) = at.offset else { return None };
        let words = self.graph.known(known);
        let (first, bytes) = match at.memory {
            Memory::Private => (self.source.private_start, self.source.private_bytes),
            _ => (0, self.source.shared_bytes),
        };
        let address = |lane: usize| {
            let start = i64::from(words[lane]) + i64::from(at.imm) - first;
            let is_right =
                start >= 0 && start + i64::from(width.bytes()) <= bytes.into() && start % i64::from(width.bytes()) == 0;
            is_right.then(|| (lane, start as u32 + 4 * k as u32))
        };
        let addresses = lanes_of(mask).map(address).collect();
        self.gives_up |= Option::is_none(&addresses);
        Some(addresses)
    }

    /// Returns the address in `Now::private` of an address in the private memory of a lane.
    fn of_lane(&self, lane: usize, address: u32) -> u32 {
        (lane as u32).wrapping_mul(self.source.private_bytes.next_multiple_of(8)).wrapping_add(address)
    }

    /// Loads the words of an access to private memory. Returns `None` if the loaded value is not known.
    fn load_private(
        &mut self,
        private: &KnownMemory,
        at: &At,
        (width, signed): (Width, bool),
        mask: u16,
    ) -> Option<SmallVec<[Value; 4]>> {
        let mut values = SmallVec::new();
        for k in 0..i32::from(width.registers()) {
            let Some(addresses) = self.addresses(at, (width, k), mask)? else { return Some(SmallVec::new()) };
            let mut value = Value::Known(ZEROS);
            let mut left = mask;
            for (lane, address) in &addresses {
                if left >> lane & 1 == 0 {
                    continue;
                }
                let found =
                    |lane: usize, address: u32| private.load(self.of_lane(lane, address), element(width).bytes());
                // Each lane has its own region, so the lane that stored the element is always this lane.
                let node = |found: Found| match found {
                    Found::Lane(node, _) => Some(Some(node)),
                    Found::Zero => Some(None),
                    Found::Unknown => None,
                };
                let from = node(found(*lane, *address))?;
                let is_it = |(lane, address): &&(usize, u32)| node(found(*lane, *address)) == Some(from);
                let same = addresses.iter().filter(is_it).fold(0, |same, (lane, _)| same | 1 << lane);
                left &= !same;
                let stored = from.map_or(Value::Known(ZEROS), |node| self.graph.value(node));
                value = self.graph.blend(same, stored, value);
            }
            values.push(self.graph.element(value, element(width), signed)?);
        }
        Some(values)
    }

    /// Returns the value last stored at these addresses, if at most two vectors contain all of its lanes.
    fn forwarded(
        &mut self,
        shared: &KnownMemory,
        addresses: &[(usize, u32)],
        (width, signed): (Width, bool),
    ) -> Option<Option<Value>> {
        let mut from: SmallVec<[Option<Node>; 2]> = SmallVec::new();
        let mut lanes: [u32; LANES] = std::array::from_fn(|lane| lane as u32);
        for &(lane, address) in addresses {
            let (node, of) = match shared.load(address, width.bytes()) {
                Found::Unknown => return None,
                Found::Zero => (None, lane as u8),
                Found::Lane(node, of) => (Some(node), of),
            };
            let place = match from.iter().position(|other| *other == node) {
                Some(place) => place,
                None if from.len() == 2 => return None,
                None => {
                    from.push(node);
                    from.len() - 1
                }
            };
            lanes[lane] = u32::from(of) + (LANES * place) as u32;
        }
        let mut value = |node: Option<Node>| {
            let value = node.map_or(Value::Known(ZEROS), |node| self.graph.value(node));
            self.graph.element(value, width, signed)
        };
        let values: Option<SmallVec<[Value; 2]>> = from.into_iter().map(&mut value).collect();
        let lanes = self.graph.words(lanes);
        Some(match *values?.as_slice() {
            [value] => {
                let node = self.graph.node(value);
                Some(self.graph.permuted(node, lanes))
            }
            [a, b] => {
                let nodes = [self.graph.node(a), self.graph.node(b)];
                Some(self.graph.permuted_of_two(nodes, Value::Known(lanes)))
            }
            _ => None,
        })
    }
}
