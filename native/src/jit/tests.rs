//! The functions that compiled code calls for its accesses, on buffers that start at any address. With debug assertions an access
//! that is taken for aligned ends the test; Miri finds it too, and those outside a buffer.
#![allow(clippy::unwrap_used)]

use halfbyte_abi::buffer_base;
use halfbyte_isa::halu::domain::Width;

use super::access::{
    Kind, Site, Steps, load_affine, load_each, load_same, store_affine, store_affine_rows, store_each, store_row,
};
use super::context::{CHUNK, Context, MASK, Map, VectorId};
use super::context::{Parts, RawBuffer, Shared};
use super::dataflow::Scale;
use halfbyte_isa::trap::{Access, Space};

const ITEMS: u32 = 2 * CHUNK;
const WIDTHS: [(Width, bool); 7] = [
    (Width::B8, false),
    (Width::B8, true),
    (Width::B16, false),
    (Width::B16, true),
    (Width::B32, false),
    (Width::B64, false),
    (Width::B128, false),
];

/// A context, and two buffers with `start` bytes before them.
struct Setup {
    map: Map,
    context: Context,
    memory: [Vec<u8>; 2],
    start: usize,
    shared: Box<Shared>,
}

impl Setup {
    fn new(start: usize, items: u32) -> Setup {
        let mut map = Map::new(1, 1);
        map.reserve(16);
        let mut memory =
            [3, 5].map(|by: usize| (0..16 * 2 * ITEMS as usize + 64).map(|k| (k * by + k / 7) as u8).collect());
        // The first byte is at a multiple of 16, so that every alignment comes up.
        let buffers = memory.each_mut().map(|bytes: &mut Vec<u8>| {
            let first = bytes.as_ptr().align_offset(16) + start;
            let bytes = &mut bytes[first..first + 16 * ITEMS as usize];
            RawBuffer { start: bytes.as_mut_ptr(), bytes: bytes.len(), writable: true, constant: false }
        });
        let shared = Shared {
            buffers: buffers.into_iter().collect(),
            constants: Vec::new(),
            parts: Parts::new(),
            host: std::ptr::null(),
            mask: map.row(MASK) as usize,
            is_alone: true,
        };
        let shared = Box::new(shared);
        let mut context = Context::new(map).unwrap();
        context.header().shared = &raw const *shared;
        context.header().set_items(items);
        Setup { map, context, memory, start, shared }
    }

    fn bytes(&self, number: usize) -> &[u8] {
        let first = self.memory[number].as_ptr().align_offset(16) + self.start;
        &self.memory[number][first..first + 16 * ITEMS as usize]
    }

    fn row(&self, k: u32) -> VectorId {
        self.map.temporary(k)
    }

    fn site(&self, access: Access, (width, signed): (Width, bool), row: u32) -> Site {
        Site {
            address: 0,
            kind: Kind::Access(access),
            width,
            signed,
            space: Space::Global,
            flat: None,
            yields: false,
            change: None,
            imm: 0,
            stride: width.bytes(),
            step: width.bytes(),
            scale: Scale::BYTES,
            grid: [0; 2],
            of_first: false,
            read_first: false,
            in_place: true,
            row: self.map.row(self.row(row)) as usize,
            row_bytes: self.map.row_bytes() as usize,
            steps: Steps { offset: true, base: [false; 2], mask: false, data: [true; 8] },
        }
    }
}

/// The words that an item loads.
fn loaded(bytes: &[u8], item: u32, (width, signed): (Width, bool)) -> Vec<u32> {
    let size = width.bytes() as usize;
    let bytes = &bytes[item as usize * size..][..size];
    match (size, signed) {
        (1, false) => vec![bytes[0].into()],
        (1, true) => vec![bytes[0] as i8 as u32],
        (2, false) => vec![u16::from_le_bytes([bytes[0], bytes[1]]).into()],
        (2, true) => vec![i16::from_le_bytes([bytes[0], bytes[1]]) as u32],
        _ => bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect(),
    }
}

#[test]
fn loads_and_stores_at_a_stride() {
    for start in 0..5 {
        for (width, signed) in WIDTHS {
            for items in [ITEMS, ITEMS - 3] {
                let mut place = Setup::new(start, items);
                let registers = u32::from(width.registers());
                let (load, store) =
                    (place.site(Access::Load, (width, signed), 0), place.site(Access::Store, (width, signed), 8));
                let expected: Vec<Vec<u32>> =
                    (0..items).map(|item| loaded(place.bytes(0), item, (width, signed))).collect();
                let header = place.context.as_ptr();
                // SAFETY: the header and the sites are of this context, and rows and buffers have as many items.
                unsafe {
                    let row = load_affine(header, &load, buffer_base(0), 0, std::ptr::null());
                    for (item, words) in expected.iter().enumerate() {
                        // Only one row can be in the buffer itself.
                        assert_eq!(row.add(item).read_unaligned(), words[0], "{width:?} at {start}");
                    }
                    for k in 0..registers as usize {
                        (*header).data[k] = row.byte_add(k * load.row_bytes);
                    }
                    store_affine_rows(header, &store, buffer_base(1), 0, std::ptr::null());
                }
                assert!(place.context.header().fault.is_none());
                let size = (items * width.bytes()) as usize;
                assert_eq!(place.bytes(1)[..size], place.bytes(0)[..size], "{width:?} at {start}");
                assert_eq!(place.shared.buffers.len(), 2);
            }
        }
    }
}

#[test]
fn words_stored_where_they_belong() {
    for start in 0..5 {
        for items in [ITEMS, ITEMS - 3] {
            let mut place = Setup::new(start, items);
            let site = place.site(Access::Store, (Width::B32, false), 0);
            let header = place.context.as_ptr();
            // SAFETY: as above.
            unsafe {
                let row = store_affine(header, &site, buffer_base(1), 0);
                (0..items).for_each(|item| row.add(item as usize).write_unaligned(item * 77));
                if row.cast() == header.byte_add(site.row) {
                    store_row(header, &site, buffer_base(1), 0);
                }
            }
            for item in 0..items {
                assert_eq!(loaded(place.bytes(1), item, (Width::B32, false)), [item * 77]);
            }
        }
    }
}

#[test]
fn loads_and_stores_anywhere() {
    for start in 0..5 {
        for (width, signed) in WIDTHS {
            let mut place = Setup::new(start, ITEMS);
            let (load, store) =
                (place.site(Access::Load, (width, signed), 0), place.site(Access::Store, (width, signed), 4));
            // Backwards, and the mask leaves out every third.
            let offset_row = place.row(8);
            let mask_row = place.row(9);
            for item in 0..ITEMS {
                place.context.row(offset_row)[item as usize] = (ITEMS - 1 - item) * width.bytes();
                place.context.row(mask_row)[item as usize] = if item % 3 == 0 { 0 } else { u32::MAX };
            }
            let [offsets, mask] = [offset_row, mask_row].map(|row| place.context.row(row).as_ptr());
            let words = |param| [buffer_base(param) as u32, (buffer_base(param) >> 32) as u32];
            let [from, to] = [words(0), words(1)];
            let before = place.bytes(1).to_vec();
            let (load, store) = (
                Site { steps: Steps { mask: true, ..load.steps }, ..load },
                Site { steps: Steps { mask: true, ..store.steps }, ..store },
            );
            let header = place.context.as_ptr();
            // SAFETY: as above; offsets and the mask are rows of the context, the halves of the base words.
            unsafe {
                load_each(header, &load, offsets, &from[0], &from[1], mask);
                for k in 0..usize::from(width.registers()) {
                    (*header).data[k] = header.byte_add(load.row + k * load.row_bytes).cast();
                }
                store_each(header, &store, offsets, &to[0], &to[1], mask);
            }
            let size = width.bytes() as usize;
            for item in 0..ITEMS as usize {
                let at = (ITEMS as usize - 1 - item) * size;
                let expected = if item % 3 == 0 { &before } else { place.bytes(0) };
                assert_eq!(place.bytes(1)[at..at + size], expected[at..at + size], "{width:?} at {start}");
            }
        }
    }
}

#[test]
fn one_place_for_all() {
    for start in 0..5 {
        for (width, signed) in WIDTHS {
            let mut place = Setup::new(start, ITEMS);
            let site = place.site(Access::Load, (width, signed), 0);
            let expected = loaded(place.bytes(0), 3, (width, signed));
            let header = place.context.as_ptr();
            // SAFETY: as above.
            let words: Vec<u32> = unsafe {
                let words = load_same(header, &site, buffer_base(0), 3 * width.bytes());
                (0..expected.len()).map(|k| words.add(k).read()).collect()
            };
            assert_eq!(words, expected, "{width:?} at {start}");
        }
    }
}
