//! Code for groups of one size, which executes a whole group in vectors of 512 bits.
//!
//! If the group size is known, the compiler knows most branches, most addresses of shared memory
//! and most trip counts. [`walk`] follows the kernel with this knowledge. Loops with a known trip
//! count are unrolled, and barriers need no code. A value that one item stores to shared memory and
//! another item loads is forwarded in a register. The rest is code on vectors ([`graph`], [`emit`],
//! [`encode`]).
//!
//! Such code does not handle faults, exhausted budgets or items that diverge on loaded values. In
//! these cases the code gives the group up. The code for rows then runs the group again from its
//! start. Memory is still as it was for that run, because the kernel loads no buffer that it stores
//! to.

mod access;
mod emit;
mod encode;
mod exchange;
mod graph;
mod memory;
mod walk;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use halfbyte_abi::{Exceeded, ItemPosition, Shape, buffer_of};
use halfbyte_isa::halu::domain::{IndexKind, SpecialReg};
use smallvec::SmallVec;

use super::cells::{Cell, Cells};
use super::context::Shared;
use super::flow::Flow;
use super::front::Kernel;
use super::graph::{Block, BlockId};
use super::meet;
use super::pool::Memory;
use super::unit::{Items, Unit};
use super::wide;
use crate::clif::{NativeBuilder, NativeCode, Translation};
use emit::{Called, Layout, Made, answer, at, emit};
use graph::{Graph, LANES, Value};
use halfbyte_isa::halu::special::Special;
use walk::{Paths, Source, Start, walk};

/// Maximum size of the private memory of an item, in bytes.
const MOST_PRIVATE: u32 = 1 << 20;

/// Compiled function, which takes a frame and returns an [`answer`].
type Function = unsafe extern "C" fn(*mut u8) -> u32;

/// Compiled code for groups of one size.
pub(super) struct GroupCode {
    function: Function,
    layout: Layout,
    /// `true` if the shared memory must be zeroed before each group.
    reads_zeros: bool,
    shared_bytes: usize,
    translation: Translation,
    /// Special registers that depend on the group, by number.
    of_group: Vec<SpecialReg>,
    _code: NativeCode,
    _called: Called,
}

/// Key of the code of a kernel: all properties of a launch that the code depends on.
#[derive(PartialEq)]
struct Size {
    /// Items of a group along each axis.
    block: [u32; 3],
    /// Size of the shared memory.
    shared_bytes: usize,
    /// Differences of special registers between consecutive items along each axis.
    steps: SmallVec<[[u32; 3]; 4]>,
}

impl Size {
    fn new(compiled: &Compiled<'_>, shape: &Shape) -> Size {
        let steps = |&(_, register): &(Cell, SpecialReg)| {
            let steps = Special::new(register, shape).local;
            // The step along an axis with one item has no effect.
            std::array::from_fn(|axis| if shape.block[axis] > 1 { steps[axis] } else { 0 })
        };
        let steps = compiled.specials.iter().map(steps).collect();
        Size { block: shape.block, shared_bytes: compiled.kernel.shared_bytes, steps }
    }
}

/// Maximum number of sizes per kernel.
const MOST_SIZES: usize = 4;

/// Number of groups that a kernel runs before its code is compiled: the compilation takes as long as some thousand
/// groups.
const WORTH: u64 = if cfg!(debug_assertions) { 1 } else { 1 << 10 };

/// Compiled code of a kernel, by size.
#[derive(Default)]
pub(super) struct GroupCodes(Mutex<Sizes>);

#[derive(Default)]
struct Sizes {
    /// Number of groups that have run.
    count: u64,
    /// `None` if compilation failed for the size.
    made: SmallVec<[(Size, Option<Arc<GroupCode>>); 1]>,
}

/// Kernel after the compilation for arbitrary group sizes.
pub(super) struct Compiled<'a> {
    pub kernel: &'a Kernel<'a>,
    pub blocks: &'a [Block],
    pub flow: &'a Flow,
    pub meetings: &'a BTreeMap<BlockId, meet::Place>,
    pub cells: &'a Cells,
    pub specials: &'a [(Cell, SpecialReg)],
}

impl GroupCodes {
    /// Returns the code for a launch of `groups` groups, if the kernel has run enough groups.
    pub fn get(&self, compiled: &Compiled<'_>, shape: &Shape, groups: u32) -> Option<Arc<GroupCode>> {
        if !wide::has_halves() || cfg!(windows) {
            return None;
        }
        let size = Size::new(compiled, shape);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sized)) = all.made.iter().find(|(other, _)| *other == size) {
            return sized.clone();
        }
        all.count += u64::from(groups);
        if all.count < WORTH || all.made.len() == MOST_SIZES {
            return None;
        }
        let sized = GroupCode::new(compiled, shape).map(Arc::new);
        all.made.push((size, sized.clone()));
        sized
    }
}

impl GroupCodes {
    /// Returns the compilation statistics of the existing code.
    pub fn translations(&self) -> SmallVec<[Translation; 1]> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.made.iter().filter_map(|(_, sized)| Some(sized.as_ref()?.translation)).collect()
    }
}

impl GroupCode {
    fn new(compiled: &Compiled<'_>, shape: &Shape) -> Option<GroupCode> {
        let begun = Instant::now();
        let Compiled { kernel, blocks, flow, meetings, specials, .. } = *compiled;
        let mut cells = compiled.cells.clone();
        // The split of an address into uniform and varying terms depends on the uniform cells of the flow. The split
        // does not change the results of an item.
        let unit =
            |(id, block): (u32, &Block)| kernel.front.unit(block, &mut cells, Items::All(flow.before(BlockId(id))));
        let units: Vec<Unit> = (0..).zip(blocks).map(unit).collect();
        let shared_bytes = kernel.shared_bytes;
        let source = Source {
            blocks,
            units: &units,
            flow,
            meetings,
            known: kernel.sizes,
            shared_bytes: u32::try_from(shared_bytes).ok().filter(|&bytes| bytes <= i32::MAX.cast_unsigned())?,
            private_bytes: u32::try_from(kernel.scratch_bytes).ok().filter(|&bytes| bytes <= MOST_PRIVATE)?,
            private_start: kernel.scratch_start.try_into().ok()?,
            items: kernel.groups?,
            cells: cells.len(),
        };
        let of_group: Vec<SpecialReg> =
            specials.iter().map(|&(_, register)| register).filter(|&register| is_of_group(register)).collect();
        let Paths { graph, segments, reads_zeros } = walk(&source, || start(specials, shape, source.items))?;
        let Made { code, layout, reads_shared, called } = emit(&graph, &segments, source.shared_bytes, of_group.len())?;
        let mut native = NativeBuilder::new().ok()?;
        let id = native.define_code(&code).ok()?;
        let code = native.finish().ok()?;
        let address = code.address(id)?;
        // SAFETY: the emitted code is a function of this signature.
        let function = unsafe { std::mem::transmute::<*const u8, Function>(address) };
        let reads_zeros = reads_shared && reads_zeros;
        let translation = Translation { time: begun.elapsed(), functions: code.functions(), bytes: code.bytes };
        Some(GroupCode {
            function,
            layout,
            reads_zeros,
            shared_bytes,
            translation,
            of_group,
            _code: code,
            _called: called,
        })
    }
}

/// Returns `true` if a special register depends on the group.
fn is_of_group(register: SpecialReg) -> bool {
    register.of != IndexKind::Thread
}

/// Returns the initial values of special registers: their values in the first group, plus a word of the group.
fn start(specials: &[(Cell, SpecialReg)], shape: &Shape, items: u32) -> Start {
    let mut graph = Graph::new();
    let mut number = 0;
    let mut cells = Vec::with_capacity(specials.len());
    for &(cell, register) in specials {
        let special = Special::new(register, shape);
        let node = is_of_group(register).then(|| {
            number += 1;
            graph.of_group(number - 1)
        });
        let values = (0..items).step_by(LANES).map(|first| {
            let word = |lane: usize| {
                let item = first + lane as u32;
                let place = ItemPosition { group: [0; 3], ..shape.place(item) };
                if item < items { special.at(&place) } else { 0 }
            };
            let known = graph.words(std::array::from_fn(word));
            node.map_or(Value::Known(known), |node| Value::Offset(node, known))
        });
        cells.push((cell, values.collect()));
    }
    (graph, cells)
}

/// Returns the position of the next group in the grid.
fn after(group: [u32; 3], grid: [u32; 3]) -> [u32; 3] {
    let mut next = group;
    for (place, count) in next.iter_mut().zip(grid) {
        *place += 1;
        if *place < count {
            break;
        }
        *place = 0;
    }
    next
}

/// Number of instructions, summed over all items, between two calls of `may_go_on`: one or a few milliseconds of work.
const WORK_OF_A_SLICE: u64 = if cfg!(debug_assertions) { 1 << 10 } else { 1 << 22 };

/// Number of consecutive groups that are given up before the frame stops trying.
const MOST_IN_VAIN: u32 = 8;

/// Memory of a thread for executing the code.
pub(super) struct Frame {
    sized: Arc<GroupCode>,
    memory: Option<Memory>,
    shared: Vec<u8>,
    /// Items per group.
    items: u32,
    /// Special registers that depend on the group, by number.
    of_group: SmallVec<[Special; 4]>,
    /// Predicted next group: its first item and its position in the grid.
    next: Option<(u32, [u32; 3])>,
    vain: u32,
}

// SAFETY: the frame owns its memory. The memory that its pointers refer to is shared as the memory of a context is
// shared.
unsafe impl Send for Frame {}

impl Frame {
    /// Creates a frame for a launch. Returns `None` if the code does not fit the buffers of the launch. Each buffer
    /// must be a distinct argument, and a written buffer must not overlap another buffer.
    pub fn new(sized: Arc<GroupCode>, shape: &Shape, items: u32, launch: &Shared) -> Option<Frame> {
        /// Maximum size of a buffer, in bytes: an offset plus the distance of an access stays below 2^31.
        const MOST: usize = 1 << 30;
        if !launch.host.is_null() {
            return None;
        }
        let layout = &sized.layout;
        let mut buffers: SmallVec<[(usize, *mut u8, usize, bool); 8]> = SmallVec::new();
        for &offset in &layout.buffers {
            let bytes = launch.constants.get(usize::from(offset)..)?.first_chunk()?;
            let (param, 0) = buffer_of(u64::from_le_bytes(*bytes))? else { return None };
            let buffer = launch.buffers.get(param)?;
            let is_stored = layout.stored.contains(&offset);
            if buffer.start.is_null() || is_stored && !buffer.writable || buffer.bytes > MOST {
                return None;
            }
            buffers.push((param, buffer.start, buffer.bytes, is_stored));
        }
        let overlap = |a: &(usize, *mut u8, usize, bool), b: &(usize, *mut u8, usize, bool)| {
            let (start, other) = (a.1.addr(), b.1.addr());
            a.0 == b.0 || start < other + b.2 && other < start + a.2
        };
        for (number, buffer) in buffers.iter().enumerate() {
            if buffers.iter().skip(number + 1).any(|other| (buffer.3 || other.3) && overlap(buffer, other)) {
                return None;
            }
        }
        let memory = Memory::take(layout.bytes)?;
        let of_group = sized.of_group.iter().map(|&register| Special::new(register, shape)).collect();
        let shared = vec![0; sized.shared_bytes];
        let mut frame = Frame { shared, memory: Some(memory), items, of_group, next: None, vain: 0, sized };
        frame.write(at::CONSTANTS, launch.constants.as_ptr().addr() as u64);
        let shared = frame.shared.as_mut_ptr().addr() as u64;
        frame.write(at::SHARED, shared);
        for (number, (_, start, bytes, _)) in (0..).zip(buffers) {
            frame.write(at::BUFFERS + 16 * number, start.addr() as u64);
            frame.write(at::BUFFERS + 16 * number + 8, bytes as u64);
        }
        Some(frame)
    }

    fn start(&self) -> *mut u8 {
        self.memory.as_ref().map_or(std::ptr::null_mut(), |memory| memory.start().as_ptr())
    }

    fn write(&mut self, at: i32, number: u64) {
        // SAFETY: the memory has the size of the layout, and `at` is the offset of a field. Every bit pattern is a
        // valid number.
        unsafe { self.start().add(at as usize).cast::<u64>().write_unaligned(number) };
    }

    /// Reads one field. The code stores fields one by one, so a wider load would miss store forwarding and wait for all
    /// earlier stores.
    fn read(&self, at: i32) -> u64 {
        // SAFETY: as in `write`; fields are aligned because the start is aligned.
        unsafe { self.start().add(at as usize).cast::<u64>().read_volatile() }
    }

    /// Runs the group with this first item. `budget` is the maximum number of backward branches of each item. Returns
    /// the executed instructions and the backward branches, or `None` if the code gave the group up. Calls `may_go_on`
    /// from time to time with the number of instructions since the last call.
    pub fn run(
        &mut self,
        shape: &Shape,
        first: u32,
        budget: u64,
        mut may_go_on: impl FnMut(u64) -> Result<(), Exceeded>,
    ) -> Result<Option<(u64, u64)>, Exceeded> {
        if self.vain == MOST_IN_VAIN {
            return Ok(None);
        }
        let group = match self.next {
            Some((next, group)) if next == first => group,
            _ => shape.place(first).group,
        };
        self.next = Some((first.wrapping_add(self.items), after(group, shape.grid)));
        self.write(at::LEFT, budget);
        self.write(at::ISSUED, 0);
        self.write(at::BACKWARD, 0);
        self.write(at::RESUME, 0);
        for (number, special) in (0..).zip(&self.of_group) {
            let word = (0..3).map(|axis| special.group[axis].wrapping_mul(group[axis])).fold(0, u32::wrapping_add);
            let at = self.sized.layout.of_group as usize + 4 * number;
            // SAFETY: as in `write`.
            unsafe { self.start().add(at).cast::<u32>().write(word) };
        }
        if self.sized.reads_zeros {
            self.shared.fill(0);
        }
        let mut issued = 0;
        loop {
            self.write(at::LIMIT, issued + WORK_OF_A_SLICE);
            // SAFETY: the code was compiled for frames of this layout, and all fields are set. The code accesses
            // buffers and shared memory only within the bounds in the frame. The code accesses constants only in the
            // constants that the kernel was found to have.
            match unsafe { (self.sized.function)(self.start()) } {
                answer::DONE => {
                    self.vain = 0;
                    return Ok(Some((self.read(at::ISSUED), self.read(at::BACKWARD))));
                }
                answer::LEFT => {
                    let before = std::mem::replace(&mut issued, self.read(at::ISSUED));
                    may_go_on(issued.saturating_sub(before))?;
                }
                _ => {
                    self.vain += 1;
                    return Ok(None);
                }
            }
        }
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        self.memory.take().into_iter().for_each(Memory::give_back);
    }
}
