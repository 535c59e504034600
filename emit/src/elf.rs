//! Writer of object files. [`halfbyte_isa::object`] describes their layout.

use std::collections::HashSet;
use std::io::{self, Seek, SeekFrom, Write};

use halfbyte_abi::{KernelFormat, Target};
use halfbyte_isa::object::{
    E_FLAGS, E_MACHINE, HEADER_SECTION, Header, INFO_PREFIX, LOC_PREFIX, Loc, PartialAccess, TEXT_ALIGN, TEXT_PREFIX,
};
use object::write::elf::{Encoder, FileHeader, FileHeaderLayout, SectionHeader, Sym};
use object::{LittleEndian, elf};
use thiserror::Error;

use crate::emitter::KernelCode;

/// Error of writing an object.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// Two kernels have the same name.
    #[error("two kernels have the name `{0}`")]
    Duplicate(String),
    /// The target of a kernel differs from the target of the object.
    #[error("kernel `{kernel}` is for target {words}, but the object is for {object}")]
    Target {
        /// Name of the kernel.
        kernel: String,
        /// Target of the kernel's machine code.
        words: Target,
        /// Target of the object.
        object: Target,
    },
    /// A VP1 kernel has no tiles, or a kernel for another target has tiles.
    #[error("kernel `{0}` has tile information that does not match its target")]
    Tiles(String),
    /// The object exceeds the limits of its file format.
    #[error("the object cannot be written: {0}")]
    Format(String),
}

impl From<object::write::Error> for ObjectError {
    fn from(error: object::write::Error) -> ObjectError {
        ObjectError::Format(error.to_string())
    }
}

/// Returns the bytes of an object with these kernels, in this order. The output is deterministic.
///
/// # Errors
/// Two kernels have the same name, a kernel is for another target, or the object exceeds the limits of the format.
pub fn write_object(header: &Header, kernels: &[KernelCode]) -> Result<Vec<u8>, ObjectError> {
    let places = |code: &KernelCode| code.locs.len() * Loc::BYTES + code.parts.len() * PartialAccess::BYTES;
    let len = |code: &KernelCode| code.words.len() * code.words.word_bytes() + places(code) + USUAL_RECORDS;
    let mut writer = ObjectWriter::new(header, kernels.iter().map(len).sum::<usize>() + USUAL_RECORDS)?;
    kernels.iter().try_for_each(|code| writer.add(code))?;
    writer.finish()
}

/// Estimated size in bytes of a kernel's sections, apart from its machine code and source
/// locations, for usual names and numbers of parameters.
const USUAL_RECORDS: usize = 512;

/// Writer that creates an object kernel by kernel, without keeping the kernels.
pub struct ObjectWriter {
    target: Target,
    file: File,
    symbols: Symbols,
}

impl ObjectWriter {
    /// Creates an object that contains no kernels yet, in a buffer with a capacity of `capacity`
    /// bytes.
    ///
    /// # Errors
    /// The object exceeds the limits of the format.
    pub fn new(header: &Header, capacity: usize) -> Result<ObjectWriter, ObjectError> {
        let mut file = File::with_capacity(capacity);
        file.section([HEADER_SECTION, ""], record(), |bytes| bytes.extend(header.to_bytes()))?;
        Ok(ObjectWriter { target: header.target, file, symbols: Symbols::new() })
    }

    /// Adds a kernel.
    ///
    /// # Errors
    /// The kernel is for another target, or the object exceeds the limits of the format. The object
    /// is unusable after an error.
    pub fn add(&mut self, code: &KernelCode) -> Result<(), ObjectError> {
        let ObjectWriter { target, file, symbols } = self;
        let (name, words) = (code.info.signature.name(), code.words.target());
        if words != *target {
            return Err(ObjectError::Target { kernel: name.to_owned(), words, object: *target });
        }
        if code.info.tiles.is_some() != (words.form() == KernelFormat::Tiles) {
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

    /// Writes the buffer to `out` and empties it, if it holds at least 64 KiB. This bounds the memory use.
    ///
    /// # Errors
    /// Returns the errors of `out`. The object is unusable after an error.
    pub fn flush_if_full(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.file.bytes.len() < FLUSH_BYTES {
            return Ok(());
        }
        out.write_all(&self.file.bytes)?;
        self.file.before += self.file.bytes.len();
        self.file.bytes.clear();
        Ok(())
    }

    /// Returns the bytes of the object. Nothing may have been flushed before.
    ///
    /// # Errors
    /// Two kernels have the same name, or the object exceeds the limits of the format.
    pub fn finish(self) -> Result<Vec<u8>, ObjectError> {
        let Tail { start, mut bytes } = self.rest()?;
        bytes.splice(..start.len(), start);
        Ok(bytes)
    }

    /// Writes the bytes of the object that have not been flushed to `out`, then overwrites the
    /// start of `out` with the file header.
    ///
    /// # Errors
    /// Returns the errors of [`ObjectWriter::finish`] and of `out`.
    pub fn finish_to(self, out: &mut (impl Write + Seek)) -> Result<io::Result<()>, ObjectError> {
        let Tail { start, bytes } = self.rest()?;
        let mut write = || {
            out.write_all(&bytes)?;
            out.seek(SeekFrom::Start(0))?;
            out.write_all(&start)
        };
        Ok(write())
    }

    fn rest(mut self) -> Result<Tail, ObjectError> {
        self.symbols.names.check()?;
        self.symbols.write(&mut self.file)?;
        self.file.finish()
    }
}

/// Number of buffered bytes at which the buffer is flushed. The number is small enough that the bytes are still in a
/// processor cache, and that other threads that add kernels wait only briefly.
const FLUSH_BYTES: usize = 1 << 16;

/// End of an object, and its file header.
struct Tail {
    /// File header, which replaces the first bytes of the object.
    start: Vec<u8>,
    /// All bytes that have not been flushed.
    bytes: Vec<u8>,
}

/// Returns the section header of a section with records of halfbyte.
fn record() -> SectionHeader {
    SectionHeader { sh_type: elf::SHT_PROGBITS, sh_addralign: 4, ..SectionHeader::default() }
}

/// Returns the encoder of ELF headers and symbols.
fn encoder() -> Encoder<LittleEndian> {
    Encoder::new(LittleEndian, true, elf::Machine(E_MACHINE))
}

/// String table. A string is identified by its offset.
struct Strings(Vec<u8>);

impl Strings {
    /// Creates a table with the empty string at offset 0.
    fn new() -> Strings {
        Strings(vec![0])
    }

    /// Appends the concatenation of `parts` and returns its offset.
    fn add(&mut self, parts: [&str; 2]) -> Result<u32, ObjectError> {
        let place = u32::try_from(self.0.len());
        parts.iter().for_each(|part| self.0.extend_from_slice(part.as_bytes()));
        self.0.push(0);
        place.map_err(|_| ObjectError::Format("the string table exceeds 4 GiB".to_owned()))
    }

    /// Returns an error if a string occurs twice in the table.
    fn check(&self) -> Result<(), ObjectError> {
        let mut known = HashSet::new();
        match self.0.split(|&byte| byte == 0).skip(1).find(|name| !name.is_empty() && !known.insert(*name)) {
            Some(name) => Err(ObjectError::Duplicate(String::from_utf8_lossy(name).into_owned())),
            None => Ok(()),
        }
    }
}

/// Object file under construction, written section by section.
struct File {
    bytes: Vec<u8>,
    /// Number of bytes that have been flushed, which precede `bytes`.
    before: usize,
    names: Strings,
    /// Number of sections. It cannot overflow, because the string table of section names reaches its limit first.
    sections: u32,
    /// Encoded headers of all sections except the null section.
    headers: Vec<u8>,
}

impl File {
    /// Name of the section that contains the section names.
    const NAMES: &str = ".shstrtab";
    /// Offset of the name [`File::NAMES`] in the section that contains the section names.
    const NAMES_NAME: u32 = 1;

    /// Creates a file with space for the file header, and with the null section.
    fn with_capacity(capacity: usize) -> File {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.resize(encoder().file_header_size() as usize, 0);
        let names = Strings(["\0", File::NAMES, "\0"].concat().into_bytes());
        File { bytes, before: 0, names, sections: 1, headers: Vec::new() }
    }

    /// Writes a section and returns its index. The function sets the name, the offset and the size in `header`.
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

    /// Returns the length of the file in bytes, including the flushed bytes.
    fn len(&self) -> usize {
        self.before + self.bytes.len()
    }

    fn align(&mut self, to: u64) {
        let len = self.len().next_multiple_of(to.max(1) as usize);
        self.bytes.resize(len - self.before, 0);
    }

    /// Writes the section names and the section headers. Returns the end of the file, and the file
    /// header that refers to these sections.
    fn finish(mut self) -> Result<Tail, ObjectError> {
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
        Ok(Tail { start, bytes: self.bytes })
    }
}

/// Symbol table of an object, with one symbol for each kernel.
struct Symbols {
    bytes: Vec<u8>,
    names: Strings,
    /// Extended section index of each symbol (`SHT_SYMTAB_SHNDX`); 0 if the index fits in the symbol.
    sections: Vec<u8>,
    is_too_large: bool,
}

impl Symbols {
    /// Creates a table with the null symbol.
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
        // All symbols except the null symbol are global.
        file.section([".symtab", ""], encoder.symtab_section_header(strtab, 1), |bytes| bytes.extend(self.bytes))?;
        if self.is_too_large {
            let header = encoder.symtab_shndx_section_header(symtab);
            file.section([".symtab_shndx", ""], header, |bytes| bytes.extend(self.sections))?;
        }
        file.section([".strtab", ""], encoder.strtab_section_header(), |bytes| bytes.extend(self.names.0))?;
        Ok(())
    }
}
