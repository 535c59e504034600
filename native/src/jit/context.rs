//! Memory of compiled code: one context for each thread of a launch.

use std::mem::offset_of;
use std::ops::Range;
use std::ptr::NonNull;

use smallvec::SmallVec;

use super::cells::Cell;
use super::pool::Memory;
use crate::host::{Found, HostMemory};
use halfbyte_isa::trap::{Access, Space, TrapKind};

/// Header of a context. Compiled code accesses the fields that [`Field`] names.
#[repr(C)]
pub(super) struct Header {
    /// Constant bank 0.
    pub constants: *const u8,
    /// End of loops over a row, in bytes: a multiple of [`CHUNK`] items, at or after the end of [`Header::items`].
    pub bytes: u64,
    /// Start of the loops of masked code in a row, in bytes: a multiple of [`CHUNK`] items.
    pub begin: u64,
    /// Remaining backward branches of all items.
    pub headroom: u64,
    /// Instructions executed by each item since the row began.
    pub issued: u64,
    /// Number of items of the row. While the items are convergent, a fault removes the faulting item and all items
    /// after it.
    pub items: u32,
    /// Round of the items of a group, or the lowest round. A round ends at the points where other items run.
    pub round: u32,
    /// Nonzero while no item of a group has faulted, waits, or has arrived at a barrier.
    pub at_rest: u32,
    /// Round of each item relative to `round`; null while all items are in the same round.
    pub rounds: *mut u32,
    /// Number of items that an access with a guard must look at: the guard holds for no item after them.
    pub first: u32,
    /// Nonzero if the guard holds for all of these items.
    pub first_all: u32,
    /// Number of items that should become the first of two rows, if code leaves a row to be split.
    pub cut: u32,
    /// Items of a group along x and along y.
    pub across: u32,
    pub down: u32,
    /// Shared memory of the group and private memory of its items.
    pub own: Own,
    /// Rows with the words of a store.
    pub data: [*const u32; 8],
    /// Words that a uniform load has read.
    pub loaded: [u32; 4],
    /// Distance between the elements of consecutive items, for the access that was begun last.
    pub step: i64,
    /// State that all threads of the launch share.
    pub shared: *const Shared,
    /// Fault of the item after the last item of the row.
    pub fault: Option<RowFault>,
    /// Allocations of process memory that this thread found last.
    pub found: Found,
}

/// Shared memory of a group, and private memory of its items, one item after another.
#[derive(Clone, Copy)]
pub(super) struct Own {
    pub shared: *mut u8,
    pub shared_bytes: usize,
    pub scratch: *mut u8,
    /// Size of the private memory of an item.
    pub scratch_bytes: usize,
    /// Address of the private memory, as the kernel sees the address.
    pub scratch_start: u64,
}

/// Buffer of a launch, or an empty one if the parameter is a scalar.
#[derive(Clone, Copy)]
pub(super) struct RawBuffer {
    pub start: *mut u8,
    pub bytes: usize,
    pub writable: bool,
    /// `true` if the buffer is also at the addresses of constant memory.
    pub constant: bool,
}

/// Ranges of constant bank 0.
pub type Parts = SmallVec<[[u64; 2]; 2]>;

/// State that all threads of a launch share.
pub(super) struct Shared {
    /// Buffers by parameter.
    pub buffers: SmallVec<[RawBuffer; 8]>,
    /// Memory of the process, which outlives the launch. If it is not null, a global access outside all buffers
    /// accesses this memory.
    pub host: *const HostMemory<'static>,
    pub constants: Vec<u8>,
    /// Ranges of the constants, in ascending order. An access must stay within one range.
    pub parts: Parts,
    /// Offset of the row [`MASK`](MASK).
    pub mask: usize,
    /// `true` if no other thread runs items of the launch.
    pub is_alone: bool,
}

// SAFETY: only compiled code and [`access`](super::access) access buffers, through raw pointers. Items of a launch are
// independent of each other. A program that breaks this rule reads arbitrary values, but only in its own buffers. Any
// thread may query the memory of the process.
unsafe impl Sync for Shared {}

/// Fault of an item of a row.
#[derive(Clone, Debug)]
pub(super) struct RowFault {
    /// Item, relative to the row.
    pub item: u32,
    /// Round of the item.
    pub round: u32,
    /// Address of the instruction.
    pub address: u32,
    pub kind: FaultKind,
}

#[derive(Clone, Debug)]
pub(crate) enum FaultKind {
    Known(TrapKind),
    /// Invalid access, whose reason is found later.
    Memory {
        access: Access,
        space: Space,
        address: u64,
        bytes: u32,
    },
}

impl Header {
    pub fn shared(&self) -> &Shared {
        // SAFETY: `shared` is set before compiled code is called, and its target outlives the call.
        unsafe { &*self.shared }
    }

    /// Sets the number of items of the row.
    pub fn set_items(&mut self, items: u32) {
        self.items = items;
        self.bytes = 4 * u64::from(items.next_multiple_of(CHUNK).max(CHUNK));
    }

    /// Limits the loops of masked code to the chunks of a nonempty range of items.
    pub fn set_span(&mut self, items: Range<usize>) {
        self.begin = 4 * items.start as u64;
        self.bytes = 4 * items.end.next_multiple_of(CHUNK as usize) as u64;
    }

    /// Extends the loops to all items of the row.
    pub fn set_all(&mut self) {
        self.begin = 0;
        self.set_items(self.items);
    }
}

/// Zeroes the words of a row whose items the loops of masked code skip.
///
/// # Safety
/// `header` is the header of a context, and `row` is one of its rows.
pub(super) unsafe extern "C" fn clear_outside(header: *const Header, row: *mut u32) {
    // SAFETY: the caller guarantees this. A row has the words of all items, and nothing else refers to the row.
    unsafe {
        let items = (*header).items as usize;
        let row = std::slice::from_raw_parts_mut(row, items);
        let [begin, end] = [(*header).begin, (*header).bytes].map(|bytes| (bytes as usize / 4).min(items));
        row[..begin].fill(0);
        row[end..].fill(0);
    }
}

/// Fills the first `bytes` bytes of a row with `first`, `first + stride` and so on.
///
/// # Safety
/// `row` is a row of a context, and nothing else refers to the row. `bytes` is the size of whole chunks, and at most
/// the size of the row.
pub(super) unsafe extern "C" fn fill(row: *mut u32, bytes: u64, first: u32, stride: u32) {
    // SAFETY: the caller guarantees this.
    let row = unsafe { std::slice::from_raw_parts_mut(row, bytes as usize / 4) };
    for (word, number) in row.iter_mut().zip(0..) {
        *word = first.wrapping_add(stride.wrapping_mul(number));
    }
}

/// Items per iteration of a loop. The length of every row is a multiple of this number.
pub(super) const CHUNK: u32 = 16;

/// Header field, by its offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(super) enum Field {
    Constants = offset_of!(Header, constants) as u32,
    Bytes = offset_of!(Header, bytes) as u32,
    Begin = offset_of!(Header, begin) as u32,
    Headroom = offset_of!(Header, headroom) as u32,
    Issued = offset_of!(Header, issued) as u32,
    Round = offset_of!(Header, round) as u32,
    AtRest = offset_of!(Header, at_rest) as u32,
    Items = offset_of!(Header, items) as u32,
    First = offset_of!(Header, first) as u32,
    FirstAll = offset_of!(Header, first_all) as u32,
    Cut = offset_of!(Header, cut) as u32,
    Shared = offset_of!(Header, own.shared) as u32,
    SharedBytes = offset_of!(Header, own.shared_bytes) as u32,
    Data = offset_of!(Header, data) as u32,
    Step = offset_of!(Header, step) as u32,
}

/// Index of a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct VectorId(pub u32);

/// Row of the mask of masked code: all ones for active items, zero for others. The runner sets this row.
pub(super) const MASK: VectorId = VectorId(0);
/// Row of the condition at the end of a block.
pub(super) const CONDITION: VectorId = VectorId(1);
/// Placeholder for a row that nothing reads or writes.
pub(super) const NO_ROW: VectorId = VectorId(2);
/// Rows of the items' positions in a group along x and y, if the layout needs these rows.
pub(super) const ALONG: [VectorId; 2] = [VectorId(3), VectorId(4)];
const FIRST_CELL: u32 = 5;

/// Layout of a context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map {
    /// Maximum number of items of a row.
    pub width: u32,
    cells: u32,
    rows: u32,
}

impl Map {
    /// Part of the level 1 cache for the rows. The rest is left to streamed data.
    const CACHE_BYTES: u32 = 20 << 10;
    /// Size of the rows of a streaming kernel. Memory of this size is kept between launches; larger memory would be
    /// zeroed for each launch.
    const STREAM_BYTES: u32 = 2 << 20;
    const STREAM_ITEMS: u32 = 32 << 10;
    /// Maximum number of items of a group.
    const GROUP_ITEMS: u32 = 1024;
    const ALIGN: usize = 64;

    /// Returns the map for `cells` cells, `varying` of which are rows in convergent code.
    pub fn new(cells: usize, varying: usize) -> Map {
        let fits = Self::CACHE_BYTES / 4 / (varying as u32 + 4);
        let width = (1 << fits.max(1).ilog2()).clamp(64, 1024);
        Map { width, cells: cells as u32, rows: FIRST_CELL + cells as u32 }
    }

    /// Returns the map for a kernel that rarely uses a row. Longer rows have less overhead per item.
    pub fn streaming(cells: usize) -> Map {
        let map = Map::new(cells, 0);
        let fits = Self::STREAM_BYTES / 4 / map.rows;
        Map { width: (1 << fits.max(1).ilog2()).clamp(map.width, Self::STREAM_ITEMS), ..map }
    }

    /// Returns the map for rows that are groups.
    pub fn of_groups(cells: usize) -> Map {
        Map { width: Self::GROUP_ITEMS, ..Map::new(cells, 0) }
    }

    /// Returns the row of a cell.
    pub fn cell(&self, cell: Cell) -> VectorId {
        VectorId(FIRST_CELL + cell.0)
    }

    /// Reserves `temporaries` temporary rows.
    pub fn reserve(&mut self, temporaries: u32) {
        self.rows = self.rows.max(FIRST_CELL + self.cells + temporaries);
    }

    /// Returns a reserved temporary row.
    pub fn temporary(&self, number: u32) -> VectorId {
        debug_assert!(FIRST_CELL + self.cells + number < self.rows);
        VectorId(FIRST_CELL + self.cells + number)
    }

    /// Returns the offset of the word of a uniform or affine cell: its value in the first item.
    pub fn slot(&self, cell: Cell) -> i32 {
        (size_of::<Header>() + 4 * cell.index()) as i32
    }

    /// Returns the distance of two rows in bytes. The padding of one cache line keeps the starts of rows from sharing
    /// one cache set.
    pub fn row_bytes(&self) -> u32 {
        4 * self.width + Self::ALIGN as u32
    }

    pub fn row(&self, row: VectorId) -> i32 {
        (self.rows_start() + row.0 as usize * self.row_bytes() as usize) as i32
    }

    fn rows_start(&self) -> usize {
        (size_of::<Header>() + 4 * self.cells as usize).next_multiple_of(Self::ALIGN)
    }

    /// Returns the size of a context, or `None` if offsets would not fit 32 bits.
    pub fn bytes(&self) -> Option<usize> {
        let bytes = self.rows_start() + self.rows as usize * self.row_bytes() as usize;
        i32::try_from(bytes).is_ok().then_some(bytes)
    }
}

/// Memory of compiled code. Slots and rows are initially arbitrary.
pub(super) struct Context {
    start: NonNull<u8>,
    /// `None` after the memory was given back.
    memory: Option<Memory>,
    map: Map,
}

// SAFETY: the context owns its memory, and the targets of its header are shared by reference.
unsafe impl Send for Context {}

impl Context {
    /// Allocates a context. Returns `None` if the context would be too large.
    pub fn new(map: Map) -> Option<Context> {
        let memory = Memory::take(map.bytes()?)?;
        let start = memory.start();
        // Debug builds expose code that relies on zeroed memory.
        if cfg!(debug_assertions) {
            // SAFETY: the memory is owned and has this size.
            unsafe { start.write_bytes(0xA5, map.bytes()?) };
        }
        // SAFETY: the header is at the start, aligned and owned. The write drops nothing.
        unsafe { start.cast::<Header>().write(Header::default()) };
        Some(Context { start, memory: Some(memory), map })
    }

    /// Enlarges the context for a map that extends the current one.
    pub fn grow(&mut self, map: Map) -> Option<()> {
        if map.rows > self.map.rows {
            let grown = Context::new(map)?;
            let bytes = self.map.bytes()?;
            // SAFETY: the maps have the same cells and width, so all offsets are equal. The new header takes over what
            // the old header owns.
            unsafe {
                grown.start.copy_from_nonoverlapping(self.start, bytes);
                self.start.cast::<Header>().write(Header::default());
            }
            *self = grown;
        }
        Some(())
    }

    pub fn header(&mut self) -> &mut Header {
        // SAFETY: `new` wrote the header, and the borrow of `self` makes the access exclusive.
        unsafe { self.start.cast().as_mut() }
    }

    pub fn as_ptr(&mut self) -> *mut Header {
        self.start.as_ptr().cast()
    }

    /// Returns the words of a row.
    pub fn row(&mut self, row: VectorId) -> &mut [u32] {
        debug_assert!(row.0 < self.map.rows);
        // SAFETY: rows lie within the context, are disjoint and aligned, and every bit pattern is a valid word.
        unsafe {
            let start = self.start.as_ptr().add(self.map.row(row) as usize).cast();
            std::slice::from_raw_parts_mut(start, self.map.width as usize)
        }
    }

    pub fn slot(&mut self, cell: Cell) -> &mut u32 {
        debug_assert!(cell.0 < self.map.cells);
        // SAFETY: slots lie within the context, after the header, and every bit pattern is a valid word.
        unsafe { self.start.add(self.map.slot(cell) as usize).cast().as_mut() }
    }

    /// Zeroes all slots.
    pub fn clear_slots(&mut self) {
        // SAFETY: slots are consecutive words after the header.
        unsafe {
            let start = self.start.as_ptr().add(size_of::<Header>()).cast::<u32>();
            start.write_bytes(0, self.map.cells as usize);
        }
    }
}

impl Default for Header {
    fn default() -> Header {
        Header {
            constants: std::ptr::null(),
            bytes: 0,
            begin: 0,
            headroom: 0,
            issued: 0,
            items: 0,
            round: 0,
            at_rest: 0,
            first: 0,
            first_all: 0,
            cut: 0,
            across: 1,
            down: 1,
            rounds: std::ptr::null_mut(),
            own: Own {
                shared: std::ptr::null_mut(),
                shared_bytes: 0,
                scratch: std::ptr::null_mut(),
                scratch_bytes: 0,
                scratch_start: 0,
            },
            data: [std::ptr::null(); 8],
            loaded: [0; 4],
            step: 0,
            shared: std::ptr::null(),
            fault: None,
            found: Found::default(),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the header is dropped once, before its memory is released.
        unsafe { self.start.cast::<Header>().drop_in_place() };
        if let Some(memory) = self.memory.take() {
            memory.give_back();
        }
    }
}
