//! Writes object files ([`halfbyte_isa::object`] has their layout).

use std::collections::HashSet;
use std::io::{self, Seek, SeekFrom, Write};

use halfbyte_abi::{Form, Target};
use halfbyte_isa::object::{
    E_FLAGS, E_MACHINE, HEADER_SECTION, Header, INFO_PREFIX, LOC_PREFIX, Loc, Part, TEXT_ALIGN, TEXT_PREFIX,
};
use object::write::elf::{Encoder, FileHeader, FileHeaderLayout, SectionHeader, Sym};
use object::{LittleEndian, elf};
use thiserror::Error;

use crate::emitter::Code;

/// Why kernels do not go into one object.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// Two kernels of one name.
    #[error("there are two kernels of the name `{0}`")]
    Duplicate(String),
    /// Words of one target in an object for another.
    #[error("kernel `{kernel}` has words of target {words}; the object is for {object}")]
    Target {
        /// The kernel.
        kernel: String,
        /// The target of its words.
        words: Target,
        /// The target of the object.
        object: Target,
    },
    /// A kernel for VP1 without tiles, or one for another target with them.
    #[error("kernel `{0}` says how it is run by tiles, or does not, unlike those of its target")]
    Tiles(String),
    /// The file would be larger than the format allows.
    #[error("the object cannot be written: {0}")]
    Format(String),
}

impl From<object::write::Error> for ObjectError {
    fn from(error: object::write::Error) -> ObjectError {
        ObjectError::Format(error.to_string())
    }
}

/// The bytes of an object with these kernels, in this order. The same arguments give the same bytes.
///
/// # Errors
/// Two kernels of one name; words or records of another target; more than the format can hold.
pub fn write_object(header: &Header, kernels: &[Code]) -> Result<Vec<u8>, ObjectError> {
    let places = |code: &Code| code.locs.len() * Loc::BYTES + code.parts.len() * Part::BYTES;
    let len = |code: &Code| code.words.len() * code.words.word_bytes() + places(code) + USUAL_RECORDS;
    let mut writer = ObjectWriter::new(header, kernels.iter().map(len).sum::<usize>() + USUAL_RECORDS)?;
    kernels.iter().try_for_each(|code| writer.add(code))?;
    writer.finish()
}

/// What a kernel takes besides words and places, unless its names are long or its parameters many.
const USUAL_RECORDS: usize = 512;

/// Writes an object kernel by kernel, none of which it keeps.
pub struct ObjectWriter {
    target: Target,
    file: File,
    symbols: Symbols,
}

impl ObjectWriter {
    /// An object without kernels so far, with room for so many bytes before it has to grow.
    ///
    /// # Errors
    /// More than the format can hold.
    pub fn new(header: &Header, capacity: usize) -> Result<ObjectWriter, ObjectError> {
        let mut file = File::with_capacity(capacity);
        file.section([HEADER_SECTION, ""], record(), |bytes| bytes.extend(header.to_bytes()))?;
        Ok(ObjectWriter { target: header.target, file, symbols: Symbols::new() })
    }

    /// Adds a kernel.
    ///
    /// # Errors
    /// Words or records of another target; more than the format can hold. The object is then of no use.
    pub fn add(&mut self, code: &Code) -> Result<(), ObjectError> {
        let ObjectWriter { target, file, symbols } = self;
        let (name, words) = (code.info.signature.name(), code.words.target());
        if words != *target {
            return Err(ObjectError::Target { kernel: name.to_owned(), words, object: *target });
        }
        if code.info.tiles.is_some() != (words.form() == Form::Tiles) {
            return Err(ObjectError::Tiles(name.to_owned()));
        }
        let text =
            SectionHeader { sh_flags: elf::SHF_ALLOC | elf::SHF_EXECINSTR, sh_addralign: TEXT_ALIGN, ..record() };
        let words = code.words.to_bytes();
        let section = file.section([TEXT_PREFIX, name], text, |bytes| bytes.extend_from_slice(&words))?;
        file.section([INFO_PREFIX, name], record(), |bytes| bytes.extend(code.info.to_bytes(*target)))?;
        file.section([LOC_PREFIX, name], record(), |bytes| {
            code.locs.iter().for_each(|loc| bytes.extend_from_slice(&loc.to_bytes()));
            code.parts.iter().for_each(|part| bytes.extend_from_slice(&part.to_bytes()));
        })?;
        symbols.add(name, section, words.len())
    }

    /// Writes what there is so far, once it is worth a call of the system: no more than that is ever kept.
    ///
    /// # Errors
    /// Those of `out`. The object is then of no use.
    pub fn hand_over(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.file.bytes.len() < ENOUGH {
            return Ok(());
        }
        out.write_all(&self.file.bytes)?;
        self.file.before += self.file.bytes.len();
        self.file.bytes.clear();
        Ok(())
    }

    /// The object's bytes, of which none were handed over.
    ///
    /// # Errors
    /// Two kernels of one name; more than the format can hold.
    pub fn finish(self) -> Result<Vec<u8>, ObjectError> {
        let Rest { start, mut bytes } = self.rest()?;
        bytes.splice(..start.len(), start);
        Ok(bytes)
    }

    /// Writes what was not handed over so far.
    ///
    /// # Errors
    /// As [`ObjectWriter::finish`]; those of `out`.
    pub fn finish_to(self, out: &mut (impl Write + Seek)) -> Result<io::Result<()>, ObjectError> {
        let Rest { start, bytes } = self.rest()?;
        let mut write = || {
            out.write_all(&bytes)?;
            out.seek(SeekFrom::Start(0))?;
            out.write_all(&start)
        };
        Ok(write())
    }

    fn rest(mut self) -> Result<Rest, ObjectError> {
        self.symbols.names.check()?;
        self.symbols.write(&mut self.file)?;
        self.file.finish()
    }
}

/// So many bytes are written at once: few enough that they are still in a cache of the processor, and that threads which have
/// kernels to add need not wait.
const ENOUGH: usize = 1 << 16;

/// The end of an object.
struct Rest {
    /// What the first bytes of the object are, which say where things are.
    start: Vec<u8>,
    /// All bytes that were not handed over.
    bytes: Vec<u8>,
}

/// The header of a section of records.
fn record() -> SectionHeader {
    SectionHeader { sh_type: elf::SHT_PROGBITS, sh_addralign: 4, ..SectionHeader::default() }
}

/// How records of the format are written.
fn encoder() -> Encoder<LittleEndian> {
    Encoder::new(LittleEndian, true, elf::Machine(E_MACHINE))
}

/// Texts, each of which is named by its place.
struct Strings(Vec<u8>);

impl Strings {
    /// At 0 is the empty one.
    fn new() -> Strings {
        Strings(vec![0])
    }

    /// Adds the text of these parts.
    fn add(&mut self, parts: [&str; 2]) -> Result<u32, ObjectError> {
        let place = u32::try_from(self.0.len());
        parts.iter().for_each(|part| self.0.extend_from_slice(part.as_bytes()));
        self.0.push(0);
        place.map_err(|_| ObjectError::Format("the names take 4 GiB or more".to_owned()))
    }

    /// Refuses one that is there twice.
    fn check(&self) -> Result<(), ObjectError> {
        let mut known = HashSet::new();
        match self.0.split(|&byte| byte == 0).skip(1).find(|name| !name.is_empty() && !known.insert(*name)) {
            Some(name) => Err(ObjectError::Duplicate(String::from_utf8_lossy(name).into_owned())),
            None => Ok(()),
        }
    }
}

/// A file being written, section after section.
struct File {
    bytes: Vec<u8>,
    /// How many bytes before these were handed over.
    before: usize,
    names: Strings,
    /// How many sections there are. For more than 32 bits can count there is no room in the names.
    sections: u32,
    /// The headers of all sections but the first.
    headers: Vec<u8>,
}

impl File {
    /// The name of the section of names, and its place among them.
    const NAMES: &str = ".shstrtab";
    const NAMES_NAME: u32 = 1;

    /// One that has room for its header, and its first section, which is none.
    fn with_capacity(capacity: usize) -> File {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.resize(encoder().file_header_size() as usize, 0);
        let names = Strings(["\0", File::NAMES, "\0"].concat().into_bytes());
        File { bytes, before: 0, names, sections: 1, headers: Vec::new() }
    }

    /// Writes a section, whose header lacks its name and its place, and gives its number.
    fn section(
        &mut self,
        name: [&str; 2],
        header: SectionHeader,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<u32, ObjectError> {
        let sh_name = self.names.add(name)?;
        Ok(self.named_section(SectionHeader { sh_name, ..header }, write))
    }

    fn named_section(&mut self, header: SectionHeader, write: impl FnOnce(&mut Vec<u8>)) -> u32 {
        self.align(header.sh_addralign);
        let start = self.len();
        write(&mut self.bytes);
        let (sh_offset, sh_size) = (start as u64, (self.len() - start) as u64);
        encoder().section_header(&mut self.headers, &SectionHeader { sh_offset, sh_size, ..header });
        self.sections += 1;
        self.sections - 1
    }

    /// With what was handed over.
    fn len(&self) -> usize {
        self.before + self.bytes.len()
    }

    fn align(&mut self, to: u64) {
        let len = self.len().next_multiple_of(to.max(1) as usize);
        self.bytes.resize(len - self.before, 0);
    }

    /// Writes the names and the headers of sections; at the start is said where they are.
    fn finish(mut self) -> Result<Rest, ObjectError> {
        let encoder = encoder();
        let names = std::mem::take(&mut self.names.0);
        let header = SectionHeader { sh_name: File::NAMES_NAME, ..encoder.strtab_section_header() };
        let shstrtab_index = self.named_section(header, |bytes| bytes.extend(names));

        self.align(encoder.address_size());
        let (e_shoff, section_num) = (self.len() as u64, self.sections);
        let layout = FileHeaderLayout { e_shoff, section_num, shstrtab_index, ..FileHeaderLayout::default() };
        encoder.null_section_header(&mut self.bytes, &layout);
        self.bytes.append(&mut self.headers);

        let header = FileHeader {
            e_type: elf::ET_REL,
            e_machine: elf::Machine(E_MACHINE),
            e_flags: elf::FileFlags(E_FLAGS),
            ..FileHeader::default()
        };
        let mut start = Vec::new();
        encoder.file_header(&mut start, &header, &layout)?;
        Ok(Rest { start, bytes: self.bytes })
    }
}

/// The functions of an object.
struct Symbols {
    bytes: Vec<u8>,
    names: Strings,
    /// The section of each, where a symbol has no room for one of them.
    sections: Vec<u8>,
    is_too_large: bool,
}

impl Symbols {
    /// The first is none.
    fn new() -> Symbols {
        let mut bytes = Vec::new();
        encoder().null_symbol(&mut bytes);
        Symbols { bytes, names: Strings::new(), sections: vec![0; 4], is_too_large: false }
    }

    fn add(&mut self, name: &str, section: u32, len: usize) -> Result<(), ObjectError> {
        let symbol = Sym {
            section: Some(section),
            st_name: self.names.add([name, ""])?,
            st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, elf::STT_FUNC),
            st_other: elf::SymbolOther(0),
            st_shndx: elf::SymbolSection(0),
            st_value: 0,
            st_size: len as u64,
        };
        let too_large = encoder().symbol(&mut self.bytes, &symbol);
        self.is_too_large |= too_large.is_some();
        self.sections.extend(too_large.unwrap_or(0).to_le_bytes());
        Ok(())
    }

    fn write(self, file: &mut File) -> Result<(), ObjectError> {
        let encoder = encoder();
        let symtab = file.sections;
        let strtab = symtab + 1 + u32::from(self.is_too_large);
        // All but the first are global.
        file.section([".symtab", ""], encoder.symtab_section_header(strtab, 1), |bytes| bytes.extend(self.bytes))?;
        if self.is_too_large {
            let header = encoder.symtab_shndx_section_header(symtab);
            file.section([".symtab_shndx", ""], header, |bytes| bytes.extend(self.sections))?;
        }
        file.section([".strtab", ""], encoder.strtab_section_header(), |bytes| bytes.extend(self.names.0))?;
        Ok(())
    }
}
