//! Code for groups of one size: a whole group at once, in vectors of 512 bits.
//!
//! Where the size of a group is known, so is where most of its items are at each step, which elements of shared memory they access, and
//! how often they go round a loop. The kernel is followed with that ([`walk`]): loops of known length are unrolled, barriers are nothing,
//! and what one item stores to shared memory and another loads is passed on in registers. The rest is code of vectors
//! ([`graph`], [`emit`], [`encode`]).
//!
//! Such code has no faults, no items that diverge by what they have loaded, and no end of a budget: where it comes to one, it gives the group
//! up. The group is then run again from its start by the code for rows, which finds memory as it was: the kernel loads nothing
//! that it stores to.

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

/// Bytes that each item declares of its own at most.
const MOST_PRIVATE: u32 = 1 << 20;

/// A function of a frame. It says what has become of the group: an [`answer`].
type Function = unsafe extern "C" fn(*mut u8) -> u32;

/// Code for groups of a size.
pub(super) struct GroupCode {
    function: Function,
    layout: Layout,
    /// Whether the memory of the group is to be zero at the start.
    reads_zeros: bool,
    shared_bytes: usize,
    translation: Translation,
    /// The registers that depend on the group, by number.
    of_group: Vec<SpecialReg>,
    _code: NativeCode,
    _called: Called,
}

/// What code is for.
#[derive(PartialEq)]
struct Size {
    /// Items of a group along each axis.
    block: [u32; 3],
    /// Bytes that they have together.
    shared_bytes: usize,
    /// What special registers grow by from an item to the next along each axis.
    steps: SmallVec<[[u32; 3]; 4]>,
}

impl Size {
    fn new(compiled: &Compiled<'_>, shape: &Shape) -> Size {
        let steps = |&(_, register): &(Cell, SpecialReg)| {
            let steps = Special::new(register, shape).local;
            // Of an axis with one item it does not matter.
            std::array::from_fn(|axis| if shape.block[axis] > 1 { steps[axis] } else { 0 })
        };
        let steps = compiled.specials.iter().map(steps).collect();
        Size { block: shape.block, shared_bytes: compiled.kernel.shared_bytes, steps }
    }
}

/// Sizes that there is code for at most.
const MOST_SIZES: usize = 4;

/// Groups of a kernel that are run before there is code for their size: it takes some thousand as long to make.
const WORTH: u64 = if cfg!(debug_assertions) { 1 } else { 1 << 10 };

/// A kernel's code for groups, by size.
#[derive(Default)]
pub(super) struct GroupCodes(Mutex<Sizes>);

#[derive(Default)]
struct Sizes {
    /// Groups that have been run.
    count: u64,
    /// None where there is no code for a size.
    made: SmallVec<[(Size, Option<Arc<GroupCode>>); 1]>,
}

/// A kernel that has been compiled for any groups.
pub(super) struct Compiled<'a> {
    pub kernel: &'a Kernel<'a>,
    pub blocks: &'a [Block],
    pub flow: &'a Flow,
    pub meetings: &'a BTreeMap<BlockId, meet::Place>,
    pub cells: &'a Cells,
    pub specials: &'a [(Cell, SpecialReg)],
}

impl GroupCodes {
    /// The code for a launch of so many groups, where it has run enough of them.
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
    /// What it took to make the code that is there.
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
        // Addresses are sums of what is the same for all and of what is not by what cells hold where all items are together; what that
        // is does not change what an item computes.
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
        // SAFETY: the code is a function of this signature.
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

/// Whether what a register holds depends on the group.
fn is_of_group(register: SpecialReg) -> bool {
    register.of != IndexKind::Thread
}

/// What special registers hold at the start: of a group's items what they do in the first group, and what the group adds.
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

/// Where the group after one is.
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

/// Words of items that are executed before it is asked whether it may go on: a millisecond's worth, or a few.
const WORK_OF_A_SLICE: u64 = if cfg!(debug_assertions) { 1 << 10 } else { 1 << 22 };

/// As often in a row as groups are given up before it is not tried any more.
const MOST_IN_VAIN: u32 = 8;

/// A thread's memory for code.
pub(super) struct Frame {
    sized: Arc<GroupCode>,
    memory: Option<Memory>,
    shared: Vec<u8>,
    /// Items of a group.
    items: u32,
    /// What the launch has for the group, by number.
    of_group: SmallVec<[Special; 4]>,
    /// The first item of the group that is likely to be next, and where it is.
    next: Option<(u32, [u32; 3])>,
    vain: u32,
}

// SAFETY: the frame owns its memory, and what that points to is shared as that of a context is.
unsafe impl Send for Frame {}

impl Frame {
    /// One for a launch; none where the code is not for its buffers: each must be one of its own, and those that are written apart from
    /// all others.
    pub fn new(sized: Arc<GroupCode>, shape: &Shape, items: u32, launch: &Shared) -> Option<Frame> {
        /// Bytes of a buffer at most: offsets in it are no more than an access is apart from 2^31.
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
        // SAFETY: the memory has as many bytes as the layout says, and this is one of its fields; any bytes are a number.
        unsafe { self.start().add(at as usize).cast::<u64>().write_unaligned(number) };
    }

    /// Reads a field by itself: two at once, which the code has just stored one by one, would wait for all stores before them to arrive.
    fn read(&self, at: i32) -> u64 {
        // SAFETY: likewise; fields are aligned as the start is.
        unsafe { self.start().add(at as usize).cast::<u64>().read_volatile() }
    }

    /// Runs the group with a first item, of which each may take so many backward branches; the words executed and the backward branches taken,
    /// or none where it is given up. Now and then it is asked whether it may go on, after so many words more.
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
            // SAFETY: the code was made for frames of this layout, whose fields are set. It accesses the buffers within the bounds that they
            // say, the memory of the group likewise, and the constants where the kernel was found to have some.
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
