//! Footprints of bundles: the registers and bytes that a bundle reads and writes. A footprint is the result of abstract
//! interpretation: the semantics of the bundle is evaluated in a [`Domain`] whose values record their uses.

use arrayvec::ArrayVec;

use super::concrete::Concrete;
use super::data_store::{DATA_STORE_BYTES, DataStore};
use super::domain::{Domain, Index, Logic, Next, Reader, Shape, Unknown, Write};
use super::meaning::meaning;
use super::{Bundle, Inst, Opcode, Unit, fields as f};
use crate::row::RegFile;

/// A set of locations in the register files. A location is one bit of a `$c` register, or one
/// register of any other file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Locations([u64; 4]);

/// The register files in the order of their locations. Each entry holds the file, the number of its
/// first location, and its number of locations.
const FILES: [(RegFile, u8, u8); 11] = [
    (RegFile::R, 0, 32),
    (RegFile::V, 32, 32),
    (RegFile::A, 64, 32),
    (RegFile::Vc, 96, 4),
    (RegFile::L, 100, 4),
    (RegFile::Va, 104, 1),
    (RegFile::Vx, 105, 1),
    (RegFile::Uc, 106, 1),
    (RegFile::X, 112, 16),
    (RegFile::C, 128, 64),
    (RegFile::M, 192, 64),
];

/// The number of the first location and the number of locations, indexed by register file. `$uc` is
/// the file with the highest index.
const FIRST_AND_COUNT: [(u8, u8); RegFile::Uc as usize + 1] = {
    let mut places = [(0, 0); RegFile::Uc as usize + 1];
    let mut k = 0;
    while k < FILES.len() {
        let (file, first, count) = FILES[k];
        places[file as usize] = (first, count);
        k += 1;
    }
    places
};

/// The number of bits in a `$c` register.
const C_BITS: u8 = 16;

/// The number of the data store's last row, which also serves as a mask.
const ROWS: u32 = DATA_STORE_BYTES as u32 / 16 - 1;

impl Locations {
    /// Exclusive upper bound of location numbers.
    pub const LOCATION_LIMIT: usize = 256;
    /// The empty set.
    pub const EMPTY: Locations = Locations([0; 4]);

    /// Returns the locations of a register: one location, or all bits of a `$c` register. No
    /// instruction writes the location of `$r31`. The location of `$uccfg` is that of `$uc0`.
    /// Registers that no semantics accesses have no location.
    pub fn register(file: RegFile, n: u8) -> Locations {
        match file {
            RegFile::C => Locations::flags(n, 0xffff),
            _ => Locations::place(file, n),
        }
    }

    /// Returns the locations of those bits of a `$c` register that are set in `bits`.
    pub fn flags(n: u8, bits: u32) -> Locations {
        Locations([0, 0, u64::from(bits & 0xffff) << (u32::from(n & 3) * u32::from(C_BITS)), 0])
    }

    fn place(file: RegFile, n: u8) -> Locations {
        let mut set = Locations::EMPTY;
        if let Some((first, _)) = FIRST_AND_COUNT.get(file as usize).filter(|(_, count)| n < *count) {
            set.insert(first + n);
        }
        set
    }

    /// Returns the location numbers in the set, all below the number of locations.
    pub fn numbers(self) -> impl Iterator<Item = u8> {
        [0u8, 64, 128, 192].into_iter().zip(self.0).flat_map(|(first, word)| {
            let next = |rest: &u64| Some(rest & rest.wrapping_sub(1)).filter(|&rest| rest != 0);
            std::iter::successors(Some(word).filter(|&word| word != 0), next)
                .map(move |rest| first + rest.trailing_zeros() as u8)
        })
    }

    fn insert(&mut self, place: u8) {
        if let Some(word) = self.0.get_mut(usize::from(place >> 6)) {
            *word |= 1 << (place & 63);
        }
    }

    /// Returns the locations of a register file.
    pub fn file(file: RegFile) -> Locations {
        let mut set = Locations::EMPTY;
        let of_file = FILES.iter().filter(|(of, ..)| *of == file);
        of_file.flat_map(|&(_, first, count)| first..=first + (count - 1)).for_each(|place| set.insert(place));
        set
    }

    /// Returns the register file of a location.
    pub fn file_of(place: u8) -> Option<RegFile> {
        FILES.iter().find(|(_, first, count)| (*first..=*first + (*count - 1)).contains(&place)).map(|(file, ..)| *file)
    }

    /// Returns the location of the register whose number is greater by `registers`, in the same
    /// file. Returns `None` if the file has no such register.
    pub fn offset_by(place: u8, registers: i8) -> Option<u8> {
        let file = Locations::file_of(place)?;
        let step = if file == RegFile::C { i16::from(C_BITS) } else { 1 };
        let to = u8::try_from(i16::from(place) + i16::from(registers) * step).ok()?;
        (Locations::file_of(to) == Some(file)).then_some(to)
    }

    /// Returns `true` if the set contains a location.
    pub fn contains(self, place: u8) -> bool {
        self.0.get(usize::from(place >> 6)).is_some_and(|word| word >> (place & 63) & 1 != 0)
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(self) -> bool {
        self == Locations::EMPTY
    }

    /// Returns the union of two sets.
    #[must_use]
    pub fn union(self, other: Locations) -> Locations {
        self.zip(other, |a, b| a | b)
    }

    /// Returns the intersection of two sets.
    #[must_use]
    pub fn intersection(self, other: Locations) -> Locations {
        self.zip(other, |a, b| a & b)
    }

    /// Returns the difference of two sets.
    #[must_use]
    pub fn minus(self, other: Locations) -> Locations {
        self.zip(other, |a, b| a & !b)
    }

    /// Returns `true` if two sets have a common location.
    pub fn intersects(self, other: Locations) -> bool {
        !self.intersection(other).is_empty()
    }

    /// Returns `true` if `other` contains every location of this set.
    pub fn is_subset(self, other: Locations) -> bool {
        self.minus(other).is_empty()
    }

    /// Returns the registers that have a location in the set, each once, in the order of the register files.
    pub fn registers(self) -> impl Iterator<Item = (RegFile, u8)> {
        FILES.into_iter().flat_map(move |(file, _, count)| {
            let registers = if file == RegFile::C { count / C_BITS } else { count };
            (0..registers)
                .map(move |n| (file, n))
                .filter(move |&(file, n)| self.intersects(Locations::register(file, n)))
        })
    }

    /// Returns a hash of the set.
    fn checksum(self) -> u64 {
        // The rotation and the multiplier spread the bits of each 64-bit part of the set over the hash.
        self.0.iter().fold(0, |sum: u64, &word| (sum.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn zip(self, other: Locations, f: impl Fn(u64, u64) -> u64) -> Locations {
        let ([a, b, c, d], [w, x, y, z]) = (self.0, other.0);
        Locations([f(a, w), f(b, x), f(c, y), f(d, z)])
    }
}

/// An access to the data store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// `true` if the access is a store, `false` if it is a load.
    pub store: bool,
    cells: Option<Cells>,
}

/// The accessed bytes of the data store, if the address is a known constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cells {
    Vector(Shape, u32),
    Word(u32),
}

impl Access {
    /// Returns `true` if the addresses of the accessed bytes are known.
    pub fn is_known(self) -> bool {
        self.cells.is_some()
    }

    /// Returns `true` if two accesses may access the same byte and one of them is a store.
    pub fn conflicts(self, other: Access) -> bool {
        let overlap = || match (self.cells, other.cells) {
            (Some(a), Some(b)) => match (row(a), row(b)) {
                (Some(row), Some(other)) if row != other => false,
                _ => cells(a).any(|cell| cells(b).any(|other| other == cell)),
            },
            _ => true,
        };
        (self.store || other.store) && overlap()
    }
}

/// Returns the row of the data store that contains all bytes of an access, if there is one.
fn row(cells: Cells) -> Option<u32> {
    match cells {
        Cells::Vector(Shape::Vertical, _) => None,
        Cells::Vector(Shape::Horizontal | Shape::Banks, address) | Cells::Word(address) => Some(address >> 4 & ROWS),
    }
}

/// Returns the row and the bank of each byte of an access.
fn cells(cells: Cells) -> impl Iterator<Item = (u16, u8)> {
    let (vector, word) = match cells {
        Cells::Vector(shape, address) => (Some(DataStore::cells_of(shape, address)), None),
        Cells::Word(address) => (None, Some(DataStore::cells_of_word(address))),
    };
    vector.into_iter().flatten().chain(word.into_iter().flatten())
}

/// The registers and bytes that a bundle reads and writes. A read whose register depends on flags counts as a read of
/// all possible registers. A write that depends on flags counts as a read and a write.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Footprint {
    /// The locations that the bundle reads.
    pub reads: Locations,
    /// The locations that the bundle writes.
    pub writes: Locations,
    /// The access to the data store.
    pub access: Option<Access>,
    /// The control flow after the bundle.
    pub next: Next<()>,
    /// An order-independent hash of all reads. The hash of a bundle equals the sum of its
    /// instructions' hashes unless the instructions affect each other.
    reads_hash: u64,
}

impl Footprint {
    /// The footprint of a bundle without effects.
    pub const NONE: Footprint =
        Footprint { reads: Locations::EMPTY, writes: Locations::EMPTY, access: None, next: Next::Fall, reads_hash: 0 };

    /// Returns the footprint of a bundle. `zero` is the number of an `$a` register that is known to hold 0, if any.
    ///
    /// # Errors
    /// The effect of the bundle is unknown.
    pub fn of(bundle: &Bundle, zero: Option<u8>) -> Result<Footprint, Unknown> {
        let mut record = Record { reads: Locations::EMPTY, reading: 0, access: None };
        let effects = meaning(bundle, &mut record, &mut UnknownState { zero });
        let mut writes = Locations::EMPTY;
        for write in &effects.writes {
            writes = writes.union(record.written(write));
        }
        let next = match effects.next {
            Next::Fall => Next::Fall,
            Next::Jump { kind, taken, target } => {
                Next::Jump { kind, taken: taken.map(|taken| record.consume(taken)), target }
            }
            Next::Return => Next::Return,
            Next::Exit { code, interrupt } => Next::Exit { code, interrupt },
            Next::Trap(unknown) => return Err(unknown),
        };
        Ok(Footprint { reads: record.reads, writes, access: record.access, next, reads_hash: record.reading })
    }

    /// Returns `true` if two instructions in one bundle have no common write and at most one access
    /// to the data store. Two such instructions have the same effect as in separate bundles that
    /// read the same state, unless [`Profile::interacts`] returns `true`.
    pub fn is_disjoint(&self, other: &Footprint) -> bool {
        !self.writes.intersects(other.writes) && (self.access.is_none() || other.access.is_none())
    }
}

/// An instruction with its footprint and its interactions with other units of the bundle.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    inst: Inst,
    footprint: Footprint,
    uses_forwarded_factors: bool,
    uses_forwarded_flags: bool,
    forwards_values: bool,
}

impl Profile {
    /// Returns the profile of an instruction.
    ///
    /// # Errors
    /// The effect of the instruction is unknown.
    pub fn of(inst: Inst) -> Result<Profile, Unknown> {
        let reads = |insts: &[Inst]| footprint(insts).map(|footprint| footprint.reads);
        let mut profile = Profile {
            inst,
            footprint: footprint(&[inst])?,
            uses_forwarded_factors: false,
            uses_forwarded_flags: false,
            forwards_values: false,
        };
        if inst.unit() == Unit::Vector {
            // The test adds a move of a constant to the bundle. Such a move reads no `$r` register and forwards no
            // factors. An instruction that uses factors then reads intermediate values of the scalar unit, which adds
            // reads to the bundle.
            let leftover = reads(&[Inst::new(Opcode::MOV_I), inst])?;
            profile.uses_forwarded_factors = !leftover.is_subset(profile.footprint.reads);
            let forwarded = |vc| reads(&[Inst::new(Opcode::VEC).with(f::VCIDX, vc), inst]);
            profile.uses_forwarded_flags = forwarded(0)? != forwarded(2)?;
        }
        if inst.unit() == Unit::Scalar {
            // The test adds a vector instruction that uses flags to the bundle. If the scalar unit
            // forwards nothing, the vector instruction reads the `$vc` in its own field.
            let taken = |vc| reads(&[inst, Inst::new(Opcode::VCMPAD).with(f::CDST, vc)]);
            let own = |vc| Locations::register(RegFile::Vc, vc);
            profile.forwards_values = !own(0).is_subset(taken(0)?) || !own(2).is_subset(taken(2)?);
        }
        Ok(profile)
    }

    /// Returns the instruction.
    pub fn inst(&self) -> Inst {
        self.inst
    }

    /// Returns the footprint of a bundle that holds only this instruction.
    pub fn footprint(&self) -> &Footprint {
        &self.footprint
    }

    /// Returns `true` if the instruction uses factors that the scalar unit forwards.
    pub fn uses_forwarded_factors(&self) -> bool {
        self.uses_forwarded_factors
    }

    /// Returns `true` if the instruction uses flags that the scalar unit forwards.
    pub fn uses_forwarded_flags(&self) -> bool {
        self.uses_forwarded_flags
    }

    /// Returns `true` if the instruction forwards factors and flags to the vector unit.
    pub fn forwards_values(&self) -> bool {
        self.forwards_values
    }

    /// Returns `true` if two instructions in one bundle interact other than through their writes.
    /// Two instructions interact if they compete for a read port, or if the scalar unit forwards
    /// values that the vector unit uses. Two instructions of the same unit always interact.
    ///
    /// # Errors
    /// The effect of the instructions is unknown.
    pub fn interacts(&self, other: &Profile) -> Result<bool, Unknown> {
        let (first, second) = if self.inst.unit() <= other.inst.unit() { (self, other) } else { (other, self) };
        if first.inst.unit() == second.inst.unit() {
            return Ok(true);
        }
        if first.inst.unit() == Unit::Scalar
            && (second.uses_forwarded_factors || second.uses_forwarded_flags && first.forwards_values)
        {
            return Ok(true);
        }
        let (x, y) = (&first.footprint, &second.footprint);
        let apart = Footprint {
            reads: x.reads.union(y.reads),
            writes: x.writes.union(y.writes),
            access: x.access.or(y.access),
            next: if y.next == Next::Fall { x.next } else { y.next },
            reads_hash: x.reads_hash.wrapping_add(y.reads_hash),
        };
        Ok(footprint(&[first.inst, second.inst])? != apart)
    }
}

/// Returns the footprint of a bundle of instructions, which are given in bundle order.
fn footprint(insts: &[Inst]) -> Result<Footprint, Unknown> {
    let words: ArrayVec<u32, 4> = insts.iter().map(Inst::word).take(4).collect();
    match Bundle::new(&words) {
        Ok(bundle) => Footprint::of(&bundle, None),
        Err(_) => Ok(Footprint::NONE),
    }
}

/// The abstract value of a word.
#[derive(Clone, Copy)]
enum Word {
    /// A known constant.
    Known(u32),
    /// The value of `$c` register `n`, shifted right by `down` bits. A bit counts as read only when
    /// an operation uses the bit.
    Flags { n: u8, down: u32 },
    /// An unknown value.
    Other,
}

/// The reads, and the access to the data store, that an evaluation has recorded so far.
struct Record {
    reads: Locations,
    reading: u64,
    access: Option<Access>,
}

impl Record {
    fn read(&mut self, places: Locations) {
        self.reads = self.reads.union(places);
        self.reading = self.reading.wrapping_add(places.checksum());
    }

    fn read_register(&mut self, file: RegFile, n: u8) {
        self.read(Locations::register(file, n));
    }

    /// Records a read of every register that an index may select.
    fn read_indexed(&mut self, file: RegFile, n: Index<Word>) {
        let registers = self.registers(file, n);
        self.read(registers);
    }

    /// Records a use of a word in which every bit may affect the result.
    fn consume(&mut self, word: Word) {
        if let Word::Flags { n, down } = word {
            self.read(Locations::flags(n, 0xffff << (down & 31)));
        }
    }

    fn access(&mut self, store: bool, address: Word, cells: impl Fn(u32) -> Option<Cells>) {
        self.consume(address);
        let cells = match address {
            Word::Known(address) => cells(address),
            Word::Flags { .. } | Word::Other => None,
        };
        self.access = Some(Access { store, cells });
    }

    /// Returns the registers that an index may select.
    fn registers(&mut self, file: RegFile, index: Index<Word>) -> Locations {
        match index {
            Index::Fixed(n) => Locations::register(file, n),
            Index::InQuad { first, element } => {
                self.consume(element);
                let quad = (0..4).map(|k| Locations::register(file, first & !3 | k));
                quad.fold(Locations::EMPTY, Locations::union)
            }
        }
    }

    /// Returns the locations that a write modifies. Also records the reads that a conditional write implies.
    fn written(&mut self, write: &Write<Record>) -> Locations {
        let (file, n, word) = match *write {
            Write::R(n, word) => (RegFile::R, n, word),
            Write::A(n, word) => (RegFile::A, n, word),
            Write::L(n, word) => (RegFile::L, n & 3, word),
            Write::M(n, word) => (RegFile::M, n, word),
            Write::X(n, word) => (RegFile::X, n, word),
            Write::Uccfg(word) => (RegFile::Uc, 0, word),
            Write::V(n, ()) => return Locations::register(RegFile::V, n),
            Write::Vx(()) => return Locations::register(RegFile::Vx, 0),
            Write::Va(()) => return Locations::register(RegFile::Va, 0),
            Write::Vc(n, _) => return Locations::register(RegFile::Vc, n),
            Write::C { n, group, bits } => {
                self.consume(bits);
                return Locations::flags(n, group);
            }
            Write::ConditionalV { when, index, value: () } => {
                if let Word::Known(0) = when {
                    return Locations::EMPTY;
                }
                self.consume(when);
                let may = self.registers(RegFile::V, index);
                self.read(may);
                return may;
            }
            Write::Store(shape, address, ()) => {
                self.access(true, address, |address| Some(Cells::Vector(shape, address)));
                return Locations::EMPTY;
            }
            Write::StoreWord(address, word) => {
                self.consume(word);
                self.access(true, address, |address| Some(Cells::Word(address)));
                return Locations::EMPTY;
            }
        };
        self.consume(word);
        Locations::register(file, n)
    }

    /// Evaluates an operation on words. The result is known if both operands are known.
    fn pure(&mut self, a: Word, b: Word, f: impl FnOnce(&mut Concrete, u32, u32) -> u32) -> Word {
        if let (Word::Known(a), Word::Known(b)) = (a, b) {
            return Word::Known(f(&mut Concrete, a, b));
        }
        self.consume(a);
        self.consume(b);
        Word::Other
    }
}

#[rustfmt::skip]
impl Domain for Record {
    type Word = Word;
    type Bytes = ();
    type Wide = ();
    type Mask = ();

    fn word(&mut self, value: u32) -> Word { Word::Known(value) }
    fn logic(&mut self, table: Logic, a: Word, b: Word) -> Word {
        match (a, b) {
            // Only the flags that are set in the mask are read.
            (Word::Flags { n, down }, Word::Known(mask)) if table == Logic::AND => {
                self.read(Locations::flags(n, mask << (down & 31)));
                Word::Other
            }
            _ => self.pure(a, b, |d, a, b| d.logic(table, a, b)),
        }
    }
    fn shl(&mut self, a: Word, count: Word) -> Word { self.pure(a, count, Concrete::shl) }
    fn shr(&mut self, a: Word, count: Word) -> Word {
        match (a, count) {
            (Word::Flags { n, down: 0 }, Word::Known(count)) => Word::Flags { n, down: count },
            _ => self.pure(a, count, Concrete::shr),
        }
    }
    fn sar(&mut self, a: Word, count: Word) -> Word { self.pure(a, count, Concrete::sar) }
    fn add(&mut self, a: Word, b: Word) -> Word { self.pure(a, b, Concrete::add) }
    fn sub(&mut self, a: Word, b: Word) -> Word { self.pure(a, b, Concrete::sub) }
    fn mul(&mut self, a: Word, b: Word) -> Word { self.pure(a, b, Concrete::mul) }
    fn equal(&mut self, a: Word, b: Word) -> Word { self.pure(a, b, Concrete::equal) }
    fn less(&mut self, signed: bool, a: Word, b: Word) -> Word { self.pure(a, b, |d, a, b| d.less(signed, a, b)) }
    fn select(&mut self, p: Word, a: Word, b: Word) -> Word {
        self.consume(p);
        self.pure(a, b, |_, _, _| 0);
        Word::Other
    }

    fn bytes(&mut self, _: [u8; 16]) {}
    fn bytes_of_words(&mut self, words: [Word; 4]) { words.into_iter().for_each(|word| self.consume(word)); }
    fn word_of(&mut self, (): (), _: u8) -> Word { Word::Other }
    fn with_word(&mut self, (): (), _: u8, word: Word) { self.consume(word); }
    fn bytes_logic(&mut self, _: Logic, (): (), (): ()) {}
    fn swizzle(&mut self, (): (), (): (), (): ()) {}
    fn narrow(&mut self, (): ()) {}

    fn splat(&mut self, a: Word) { self.consume(a); }
    fn widen(&mut self, _: bool, (): ()) {}
    fn wide_add(&mut self, (): (), (): ()) {}
    fn wide_sub(&mut self, (): (), (): ()) {}
    fn wide_mul(&mut self, (): (), (): ()) {}
    fn wide_shl(&mut self, (): (), _: u32) {}
    fn wide_sar(&mut self, (): (), _: u32) {}
    fn wide_sar_each(&mut self, (): (), (): ()) {}
    fn wide_min(&mut self, (): (), (): ()) {}
    fn wide_max(&mut self, (): (), (): ()) {}
    fn wide_select(&mut self, (): (), (): (), (): ()) {}

    fn wide_equal(&mut self, (): (), (): ()) {}
    fn wide_less(&mut self, (): (), (): ()) {}
    fn mask_logic(&mut self, _: Logic, (): (), (): ()) {}
    fn mask_shuffle(&mut self, (): (), (): (), _: &[u8; 16]) {}
    fn mask(&mut self, bits: Word) { self.consume(bits); }
    fn mask_bits(&mut self, (): ()) -> Word { Word::Other }
}

/// A state of the processor in which all values are unknown, except that one `$a` register may be known to hold 0.
struct UnknownState {
    zero: Option<u8>,
}

#[rustfmt::skip]
impl Reader<Record> for UnknownState {
    fn r(&mut self, d: &mut Record, n: Index<Word>) -> Word {
        d.read_indexed(RegFile::R, n);
        Word::Other
    }
    fn v(&mut self, d: &mut Record, n: Index<Word>) { d.read_indexed(RegFile::V, n); }
    fn vx(&mut self, d: &mut Record) { d.read_register(RegFile::Vx, 0); }
    fn va(&mut self, d: &mut Record) { d.read_register(RegFile::Va, 0); }
    fn vc(&mut self, d: &mut Record, n: u8) -> [(); 2] { d.read_register(RegFile::Vc, n & 3); [(); 2] }
    fn a(&mut self, d: &mut Record, n: Index<Word>) -> Word {
        d.read_indexed(RegFile::A, n);
        match n {
            Index::Fixed(n) if self.zero == Some(n) => Word::Known(0),
            _ => Word::Other,
        }
    }
    fn c(&mut self, _: &mut Record, n: u8) -> Word { Word::Flags { n: n & 3, down: 0 } }
    fn l(&mut self, d: &mut Record, n: u8) -> Word { d.read_register(RegFile::L, n & 3); Word::Other }
    fn m(&mut self, d: &mut Record, n: u8) -> Word { d.read_register(RegFile::M, n & 63); Word::Other }
    fn x(&mut self, d: &mut Record, n: u8) -> Word { d.read_register(RegFile::X, n & 15); Word::Other }
    fn uccfg(&mut self, d: &mut Record) -> Word { d.read_register(RegFile::Uc, 0); Word::Other }
    fn load(&mut self, d: &mut Record, shape: Shape, address: Word) {
        d.access(false, address, |address| Some(Cells::Vector(shape, address)));
    }
    fn load_word(&mut self, d: &mut Record, address: Word) -> Word {
        d.access(false, address, |address| Some(Cells::Word(address)));
        Word::Other
    }
    fn gather(&mut self, d: &mut Record, address: Word, (): ()) { d.access(false, address, |_| None); }
}
