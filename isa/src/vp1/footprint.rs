//! What a bundle reads and writes, read off its meaning: a [`Domain`] whose values are only what is known of them, and which
//! keeps a record.

use arrayvec::ArrayVec;

use super::concrete::Concrete;
use super::data_store::{DATA_STORE_BYTES, DataStore};
use super::domain::{Domain, Index, Logic, Next, Reader, Shape, Unknown, Write};
use super::meaning::meaning;
use super::{Bundle, Inst, Opcode, Unit, fields as f};
use crate::row::RegFile;

/// A set of places in the register files. Of `$c` a place is a bit, of all other files a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Locations([u64; 4]);

/// The files in the order of their places: the number of the first place, and how many there are.
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

/// The same by the number of the file, the last of which is that of `$uc`.
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

/// The bits of a `$c`.
const C_BITS: u8 = 16;

/// The number of the data store's last row, all of whose bits are set.
const ROWS: u32 = DATA_STORE_BYTES as u32 / 16 - 1;

impl Locations {
    /// More than the number of any place.
    pub const PLACES: usize = 256;
    /// No place.
    pub const EMPTY: Locations = Locations([0; 4]);

    /// One register; all bits of a `$c`. `$r31` is one that nothing writes, `$uccfg` is `$uc0`. Registers that no meaning touches
    /// are no place.
    pub fn register(file: RegFile, n: u8) -> Locations {
        match file {
            RegFile::C => Locations::flags(n, 0xffff),
            _ => Locations::place(file, n),
        }
    }

    /// Bits of a `$c`.
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

    /// The numbers of the places, below [`Locations::PLACES`]; each place has its own.
    pub fn places(self) -> impl Iterator<Item = u8> {
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

    /// The places of a file.
    pub fn file(file: RegFile) -> Locations {
        let mut set = Locations::EMPTY;
        let of_file = FILES.iter().filter(|(of, ..)| *of == file);
        of_file.flat_map(|&(_, first, count)| first..=first + (count - 1)).for_each(|place| set.insert(place));
        set
    }

    /// The file that a place is in.
    pub fn file_of(place: u8) -> Option<RegFile> {
        FILES.iter().find(|(_, first, count)| (*first..=*first + (*count - 1)).contains(&place)).map(|(file, ..)| *file)
    }

    /// The place that is so many registers further in the file of a place, if the file goes that far.
    pub fn moved(place: u8, registers: i8) -> Option<u8> {
        let file = Locations::file_of(place)?;
        let step = if file == RegFile::C { i16::from(C_BITS) } else { 1 };
        let to = u8::try_from(i16::from(place) + i16::from(registers) * step).ok()?;
        (Locations::file_of(to) == Some(file)).then_some(to)
    }

    /// Whether a place is in it.
    pub fn contains(self, place: u8) -> bool {
        self.0.get(usize::from(place >> 6)).is_some_and(|word| word >> (place & 63) & 1 != 0)
    }

    /// Whether there is no place in it.
    pub fn is_empty(self) -> bool {
        self == Locations::EMPTY
    }

    /// The places of either.
    #[must_use]
    pub fn union(self, other: Locations) -> Locations {
        self.zip(other, |a, b| a | b)
    }

    /// The places of both.
    #[must_use]
    pub fn intersection(self, other: Locations) -> Locations {
        self.zip(other, |a, b| a & b)
    }

    /// The places that are not in the other.
    #[must_use]
    pub fn minus(self, other: Locations) -> Locations {
        self.zip(other, |a, b| a & !b)
    }

    /// Whether they have a place in common.
    pub fn intersects(self, other: Locations) -> bool {
        !self.intersection(other).is_empty()
    }

    /// Whether all places are in the other too.
    pub fn is_subset(self, other: Locations) -> bool {
        self.minus(other).is_empty()
    }

    /// The registers with a place in the set, each once, in the order of the files.
    pub fn registers(self) -> impl Iterator<Item = (RegFile, u8)> {
        FILES.into_iter().flat_map(move |(file, _, count)| {
            let registers = if file == RegFile::C { count / C_BITS } else { count };
            (0..registers)
                .map(move |n| (file, n))
                .filter(move |&(file, n)| self.intersects(Locations::register(file, n)))
        })
    }

    /// A number that differs from set to set.
    fn checksum(self) -> u64 {
        // A multiplier and a rotation that spread the bits of each word.
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
    /// It writes.
    pub store: bool,
    cells: Option<Cells>,
}

/// Which bytes, if that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cells {
    Vector(Shape, u32),
    Word(u32),
}

impl Access {
    /// Whether it is known which bytes it touches.
    pub fn is_known(self) -> bool {
        self.cells.is_some()
    }

    /// Whether the two may touch the same byte, and one of them writes it.
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

/// The row that all bytes of an access are in, if that is sure.
fn row(cells: Cells) -> Option<u32> {
    match cells {
        Cells::Vector(Shape::Vertical, _) => None,
        Cells::Vector(Shape::Horizontal | Shape::Banks, address) | Cells::Word(address) => Some(address >> 4 & ROWS),
    }
}

/// The rows and banks of an access.
fn cells(cells: Cells) -> impl Iterator<Item = (u16, u8)> {
    let (vector, word) = match cells {
        Cells::Vector(shape, address) => (Some(DataStore::cells_of(shape, address)), None),
        Cells::Word(address) => (None, Some(DataStore::cells_of_word(address))),
    };
    vector.into_iter().flatten().chain(word.into_iter().flatten())
}

/// What a bundle reads and writes. What it may read depending on flags counts as read; what it may or may not write counts as
/// read and written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Footprint {
    /// What it reads.
    pub reads: Locations,
    /// What it writes.
    pub writes: Locations,
    /// What it does with the data store.
    pub access: Option<Access>,
    /// Where control goes.
    pub next: Next<()>,
    /// A checksum of how often it reads each place: the sum of those of its instructions, unless they affect each other.
    reading: u64,
}

impl Footprint {
    /// That of what does nothing.
    pub const NONE: Footprint =
        Footprint { reads: Locations::EMPTY, writes: Locations::EMPTY, access: None, next: Next::Fall, reading: 0 };

    /// The footprint of a bundle. `zero` is an `$a` that is known to hold 0.
    ///
    /// # Errors
    /// A bundle whose effect is not known.
    pub fn of(bundle: &Bundle, zero: Option<u8>) -> Result<Footprint, Unknown> {
        let mut record = Record { reads: Locations::EMPTY, reading: 0, access: None };
        let effects = meaning(bundle, &mut record, &mut Anything { zero });
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
        Ok(Footprint { reads: record.reads, writes, access: record.access, next, reading: record.reading })
    }

    /// Whether the two, in one bundle, would do what they do in bundles of their own that read the same state: neither writes
    /// what the other writes, and at most one accesses the data store. Whether they interact in another way is for
    /// [`Profile::interacts`] to say.
    pub fn is_disjoint(&self, other: &Footprint) -> bool {
        !self.writes.intersects(other.writes) && (self.access.is_none() || other.access.is_none())
    }
}

/// An instruction, its footprint, and what else matters of it to those of other units in one bundle.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    inst: Inst,
    footprint: Footprint,
    hears_factors: bool,
    hears_flags: bool,
    hands_over: bool,
}

impl Profile {
    /// The profile of an instruction.
    ///
    /// # Errors
    /// An instruction whose effect is not known.
    pub fn of(inst: Inst) -> Result<Profile, Unknown> {
        let reads = |insts: &[Inst]| footprint(insts).map(|footprint| footprint.reads);
        let mut profile = Profile {
            inst,
            footprint: footprint(&[inst])?,
            hears_factors: false,
            hears_flags: false,
            hands_over: false,
        };
        if inst.unit() == Unit::Vector {
            // A move of a constant reads no `$r`, but leaves something of one where factors are looked for.
            let leftover = reads(&[Inst::new(Opcode::MOV_I), inst])?;
            profile.hears_factors = !leftover.is_subset(profile.footprint.reads);
            let handed = |vc| reads(&[Inst::new(Opcode::VEC).with(f::VCIDX, vc), inst]);
            profile.hears_flags = handed(0)? != handed(2)?;
        }
        if inst.unit() == Unit::Scalar {
            // Whoever listens takes the flags that it is handed, else its own.
            let taken = |vc| reads(&[inst, Inst::new(Opcode::VCMPAD).with(f::CDST, vc)]);
            let own = |vc| Locations::register(RegFile::Vc, vc);
            profile.hands_over = !own(0).is_subset(taken(0)?) || !own(2).is_subset(taken(2)?);
        }
        Ok(profile)
    }

    /// The instruction.
    pub fn inst(&self) -> Inst {
        self.inst
    }

    /// Its footprint in a bundle of its own.
    pub fn footprint(&self) -> &Footprint {
        &self.footprint
    }

    /// Whether it computes with factors that the scalar unit hands over.
    pub fn hears_factors(&self) -> bool {
        self.hears_factors
    }

    /// Whether it computes with flags that the scalar unit hands over.
    pub fn hears_flags(&self) -> bool {
        self.hears_flags
    }

    /// Whether it hands factors and flags over.
    pub fn hands_over(&self) -> bool {
        self.hands_over
    }

    /// Whether two instructions affect each other in one bundle, but for what they write: by a port that
    /// only one of them gets, or by what the scalar unit hands over. Two of one unit always do.
    ///
    /// # Errors
    /// Instructions whose effect is not known.
    pub fn interacts(&self, other: &Profile) -> Result<bool, Unknown> {
        let (first, second) = if self.inst.unit() <= other.inst.unit() { (self, other) } else { (other, self) };
        if first.inst.unit() == second.inst.unit() {
            return Ok(true);
        }
        if first.inst.unit() == Unit::Scalar && (second.hears_factors || second.hears_flags && first.hands_over) {
            return Ok(true);
        }
        let (x, y) = (&first.footprint, &second.footprint);
        let apart = Footprint {
            reads: x.reads.union(y.reads),
            writes: x.writes.union(y.writes),
            access: x.access.or(y.access),
            next: if y.next == Next::Fall { x.next } else { y.next },
            reading: x.reading.wrapping_add(y.reading),
        };
        Ok(footprint(&[first.inst, second.inst])? != apart)
    }
}

/// The footprint of instructions in the order of a bundle.
fn footprint(insts: &[Inst]) -> Result<Footprint, Unknown> {
    let words: ArrayVec<u32, 4> = insts.iter().map(Inst::word).take(4).collect();
    match Bundle::new(&words) {
        Ok(bundle) => Footprint::of(&bundle, None),
        Err(_) => Ok(Footprint::NONE),
    }
}

/// What is known of a word.
#[derive(Clone, Copy)]
enum Word {
    /// Its value.
    Known(u32),
    /// It is a `$c`, shifted right; which of its bits count is not known yet.
    Flags { n: u8, down: u32 },
    /// Nothing.
    Other,
}

/// What was read and accessed.
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

    /// Reads the registers that an index may mean.
    fn read_indexed(&mut self, file: RegFile, n: Index<Word>) {
        let registers = self.registers(file, n);
        self.read(registers);
    }

    /// The word is used for something that all of its bits may count for.
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

    /// The registers that an index may mean.
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

    /// What a write writes, after a record of what it reads.
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
            Write::VWhere { when, index, value: () } => {
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

    /// The result of an operation on words: its value where theirs are known.
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
            // Of the flags only those under the mask count.
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

/// A state of which nothing is known, but that one `$a` may be 0.
struct Anything {
    zero: Option<u8>,
}

#[rustfmt::skip]
impl Reader<Record> for Anything {
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
