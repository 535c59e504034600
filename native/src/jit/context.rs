//! The memory that compiled code works on: one context for each thread of a launch.

use std::mem::offset_of;
use std::ops::Range;
use std::ptr::NonNull;

use smallvec::SmallVec;

use super::cells::Cell;
use super::pool::Memory;
use crate::host::{Found, HostMemory};
use halfbyte_isa::trap::{Access, Space, TrapKind};

/// What is at the start of a context. Compiled code reads and writes the fields that [`Field`] names.
#[repr(C)]
pub(super) struct Header {
    /// Constant bank 0.
    pub constants: *const u8,
    /// Where in a row loops end, in bytes: past those of [`Header::items`], at a multiple of [`CHUNK`] items.
    pub bytes: u64,
    /// Where in a row the loops of masked code begin, at such a multiple.
    pub begin: u64,
    /// Backward branches that all items may yet take.
    pub headroom: u64,
    /// Words executed by each item since the row began.
    pub issued: u64,
    /// The items of the row: those before the first that has faulted, while all are together.
    pub items: u32,
    /// The turn of the items of a group, or the least one: it ends where others run.
    pub round: u32,
    /// Not zero while no item of a group has faulted, and none waits for others or has arrived somewhere.
    pub at_rest: u32,
    /// By how much each item's turn is a later one; null while all have the same.
    pub rounds: *mut u32,
    /// The items that an access looks at, of those that are first in the row, where its guard holds for no others.
    pub first: u32,
    /// Not zero where it holds for all of these.
    pub first_all: u32,
    /// The first items of a row that are to be run as one of their own, where it is left to be run as two.
    pub cut: u32,
    /// Items of a group along x, and along y.
    pub across: u32,
    pub down: u32,
    /// What a group has together, and each of its items.
    pub own: Own,
    /// Rows that a store takes its words from.
    pub data: [*const u32; 8],
    /// Words that a load for all items found.
    pub loaded: [u32; 4],
    /// From an item's element to the next one's, of the access that was begun last.
    pub step: i64,
    /// What the launch has for all threads.
    pub shared: *const Shared,
    /// The fault of the item after the last.
    pub fault: Option<RowFault>,
    /// What this thread has found of the memory of the process.
    pub found: Found,
}

/// Memory that a group has together, and what each item declares of its own, one item's after another's.
#[derive(Clone, Copy)]
pub(super) struct Own {
    pub shared: *mut u8,
    pub shared_bytes: usize,
    pub scratch: *mut u8,
    /// Of one item.
    pub scratch_bytes: usize,
    /// The address of the first of them.
    pub scratch_start: u64,
}

/// A buffer, or none where the parameter is a scalar.
#[derive(Clone, Copy)]
pub(super) struct RawBuffer {
    pub start: *mut u8,
    pub bytes: usize,
    pub writable: bool,
    /// Whether it is at the addresses of constants, too.
    pub constant: bool,
}

/// Parts of constant bank 0.
pub type Parts = SmallVec<[[u64; 2]; 2]>;

/// What all threads of a launch have in common.
pub(super) struct Shared {
    /// By parameter.
    pub buffers: SmallVec<[RawBuffer; 8]>,
    /// The memory of the process, which outlives the launch: what no buffer has of global memory, where the launch is on that; else null.
    pub host: *const HostMemory<'static>,
    pub constants: Vec<u8>,
    /// From where to where parts of it lie of which an access stays within one, ascending.
    pub parts: Parts,
    /// Where the row [`MASK`](MASK) does.
    pub mask: usize,
    /// Whether other threads run other items of the launch.
    pub is_alone: bool,
}

// SAFETY: buffers are accessed by compiled code and [`access`](super::access) only, which do it through raw pointers. Items of a
// launch are independent of each other; where a program breaks that rule, what it finds in its own buffers is up to it. Which memory of
// the process there is may be asked by any thread.
unsafe impl Sync for Shared {}

/// Why an item of a row cannot go on.
#[derive(Clone, Debug)]
pub(super) struct RowFault {
    /// The item, by its place in the row.
    pub item: u32,
    /// Its turn.
    pub round: u32,
    /// The word.
    pub address: u32,
    pub kind: FaultKind,
}

#[derive(Clone, Debug)]
pub(crate) enum FaultKind {
    Known(TrapKind),
    /// An access that may not be made; why is found out later.
    Memory {
        access: Access,
        space: Space,
        address: u64,
        bytes: u32,
    },
}

impl Header {
    pub fn shared(&self) -> &Shared {
        // SAFETY: set before compiled code is called, to what outlives the call.
        unsafe { &*self.shared }
    }

    /// Makes the row consist of so many items.
    pub fn set_items(&mut self, items: u32) {
        self.items = items;
        self.bytes = 4 * u64::from(items.next_multiple_of(CHUNK).max(CHUNK));
    }

    /// Has the loops of masked code go over the chunks of these items, of which there are some.
    pub fn set_span(&mut self, items: Range<usize>) {
        self.begin = 4 * items.start as u64;
        self.bytes = 4 * items.end.next_multiple_of(CHUNK as usize) as u64;
    }

    /// Has loops go over all items of the row again.
    pub fn set_all(&mut self) {
        self.begin = 0;
        self.set_items(self.items);
    }
}

/// Makes the words of a row zero of items that the loops of masked code leave out.
///
/// # Safety
/// The header is that of a context, and the row one of its rows.
pub(super) unsafe extern "C" fn clear_outside(header: *const Header, row: *mut u32) {
    // SAFETY: the caller's promise; a row has the words of all items, and nothing else refers to it.
    unsafe {
        let items = (*header).items as usize;
        let row = std::slice::from_raw_parts_mut(row, items);
        let [begin, end] = [(*header).begin, (*header).bytes].map(|bytes| (bytes as usize / 4).min(items));
        row[..begin].fill(0);
        row[end..].fill(0);
    }
}

/// Writes words to the first so many bytes of a row, each as much more than the one before.
///
/// # Safety
/// The row is one of a context, and not referred to by anything else; the bytes are those of chunks, and no more than it has.
pub(super) unsafe extern "C" fn fill(row: *mut u32, bytes: u64, first: u32, stride: u32) {
    // SAFETY: the caller's promise.
    let row = unsafe { std::slice::from_raw_parts_mut(row, bytes as usize / 4) };
    for (word, number) in row.iter_mut().zip(0..) {
        *word = first.wrapping_add(stride.wrapping_mul(number));
    }
}

/// Items that loops go over at a time, and that every row is a multiple of.
pub(super) const CHUNK: u32 = 16;

/// A field of the header by its offset.
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

/// A row by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct VectorId(pub u32);

/// The items that run a block: all ones or zero each. Set by the driver.
pub(super) const MASK: VectorId = VectorId(0);
/// The items for which the condition at the end of a block holds.
pub(super) const CONDITION: VectorId = VectorId(1);
/// Stands for rows that nothing reads or writes.
pub(super) const NO_ROW: VectorId = VectorId(2);
/// Where each item of a group is along x, and along y, where that is asked for.
pub(super) const ALONG: [VectorId; 2] = [VectorId(3), VectorId(4)];
const FIRST_CELL: u32 = 5;

/// Where everything is in a context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map {
    /// Items of a row at most.
    pub width: u32,
    cells: u32,
    rows: u32,
}

impl Map {
    /// Rows in the level one cache leave this much of it to what is streamed through.
    const CACHE_BYTES: u32 = 20 << 10;
    /// Bytes that the rows of a streaming kernel take: so much memory is kept from launch to launch, where more would be made zero in each.
    const STREAM_BYTES: u32 = 2 << 20;
    const STREAM_ITEMS: u32 = 32 << 10;
    /// The most that a group has.
    const GROUP_ITEMS: u32 = 1024;
    const ALIGN: usize = 64;

    /// For so many cells, of which so many are rows where all items run together.
    pub fn new(cells: usize, varying: usize) -> Map {
        let fits = Self::CACHE_BYTES / 4 / (varying as u32 + 4);
        let width = (1 << fits.max(1).ilog2()).clamp(64, 1024);
        Map { width, cells: cells as u32, rows: FIRST_CELL + cells as u32 }
    }

    /// For a kernel that hardly ever uses a row: the longer they are, the less there is to do between them.
    pub fn streaming(cells: usize) -> Map {
        let map = Map::new(cells, 0);
        let fits = Self::STREAM_BYTES / 4 / map.rows;
        Map { width: (1 << fits.max(1).ilog2()).clamp(map.width, Self::STREAM_ITEMS), ..map }
    }

    /// For rows that are groups.
    pub fn of_groups(cells: usize) -> Map {
        Map { width: Self::GROUP_ITEMS, ..Map::new(cells, 0) }
    }

    /// The row of a cell.
    pub fn cell(&self, cell: Cell) -> VectorId {
        VectorId(FIRST_CELL + cell.0)
    }

    /// Makes room for so many rows of no cell.
    pub fn reserve(&mut self, temporaries: u32) {
        self.rows = self.rows.max(FIRST_CELL + self.cells + temporaries);
    }

    /// A row of no cell, of those reserved.
    pub fn temporary(&self, number: u32) -> VectorId {
        debug_assert!(FIRST_CELL + self.cells + number < self.rows);
        VectorId(FIRST_CELL + self.cells + number)
    }

    /// The offset of the word where a cell is held that has the same value, or the same but for a stride, in all items.
    pub fn slot(&self, cell: Cell) -> i32 {
        (size_of::<Header>() + 4 * cell.index()) as i32
    }

    /// Bytes from a row to the next: with a line between them, lest all their starts fall into one set of a cache.
    pub fn row_bytes(&self) -> u32 {
        4 * self.width + Self::ALIGN as u32
    }

    pub fn row(&self, row: VectorId) -> i32 {
        (self.rows_start() + row.0 as usize * self.row_bytes() as usize) as i32
    }

    fn rows_start(&self) -> usize {
        (size_of::<Header>() + 4 * self.cells as usize).next_multiple_of(Self::ALIGN)
    }

    /// Bytes of a context, where they can be addressed.
    pub fn bytes(&self) -> Option<usize> {
        let bytes = self.rows_start() + self.rows as usize * self.row_bytes() as usize;
        i32::try_from(bytes).is_ok().then_some(bytes)
    }
}

/// A context. What its slots and rows hold at first is anything.
pub(super) struct Context {
    start: NonNull<u8>,
    /// None once it is given back.
    memory: Option<Memory>,
    map: Map,
}

// SAFETY: the context owns its memory, and what its header points to is shared by reference.
unsafe impl Send for Context {}

impl Context {
    /// A context; none where the map takes more than can be addressed.
    pub fn new(map: Map) -> Option<Context> {
        let memory = Memory::take(map.bytes()?)?;
        let start = memory.start();
        // Who relies on zeros shall not find them.
        if cfg!(debug_assertions) {
            // SAFETY: the memory has so many bytes, and is owned.
            unsafe { start.write_bytes(0xA5, map.bytes()?) };
        }
        // SAFETY: the header is at the start, aligned and owned; nothing is dropped by the write.
        unsafe { start.cast::<Header>().write(Header::default()) };
        Some(Context { start, memory: Some(memory), map })
    }

    /// Makes room for the rows of another map that has at least the same.
    pub fn grow(&mut self, map: Map) -> Option<()> {
        if map.rows > self.map.rows {
            let grown = Context::new(map)?;
            let bytes = self.map.bytes()?;
            // SAFETY: the maps have the same cells and width, so that everything stays where it is; what the old header owns
            // is left to the new one.
            unsafe {
                grown.start.copy_from_nonoverlapping(self.start, bytes);
                self.start.cast::<Header>().write(Header::default());
            }
            *self = grown;
        }
        Some(())
    }

    pub fn header(&mut self) -> &mut Header {
        // SAFETY: the header was written when the context was made, and the borrow of `self` keeps it alone.
        unsafe { self.start.cast().as_mut() }
    }

    pub fn as_ptr(&mut self) -> *mut Header {
        self.start.as_ptr().cast()
    }

    /// The words of a row.
    pub fn row(&mut self, row: VectorId) -> &mut [u32] {
        debug_assert!(row.0 < self.map.rows);
        // SAFETY: rows lie within the context, apart from each other, aligned, and any bits are words.
        unsafe {
            let start = self.start.as_ptr().add(self.map.row(row) as usize).cast();
            std::slice::from_raw_parts_mut(start, self.map.width as usize)
        }
    }

    pub fn slot(&mut self, cell: Cell) -> &mut u32 {
        debug_assert!(cell.0 < self.map.cells);
        // SAFETY: slots lie within the context, after the header, and any bits are a word.
        unsafe { self.start.add(self.map.slot(cell) as usize).cast().as_mut() }
    }

    /// Makes all slots zero.
    pub fn clear_slots(&mut self) {
        // SAFETY: slots are words that lie together after the header.
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
        // SAFETY: the header is dropped once, before its memory goes.
        unsafe { self.start.cast::<Header>().drop_in_place() };
        if let Some(memory) = self.memory.take() {
            memory.give_back();
        }
    }
}
