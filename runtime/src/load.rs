//! Object loader. The input is untrusted, so the loader checks every count, offset and name. An instruction word that
//! is not a valid instruction loads without an error, and traps when it is executed.

use std::collections::HashMap;
use std::sync::Arc;

use halfbyte_abi::Target;
use halfbyte_isa::isa::SharedCode;
use halfbyte_isa::object::{
    E_FLAGS, E_MACHINE, HEADER_SECTION, Header, INFO_PREFIX, KernelInfo, LOC_PREFIX, Loc, PartialAccess, RecordError,
    TEXT_PREFIX,
};
use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, SectionHeader as _};
use thiserror::Error;

use crate::kernel::{Kernel, Machine, of_code};

/// The kernels of an object.
#[derive(Clone, Debug)]
pub struct Program {
    header: Header,
    kernels: Vec<Kernel>,
}

/// Reason why an object cannot be loaded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The bytes are not a well-formed little-endian 64-bit ELF file.
    #[error("not an object file: {0}")]
    Elf(String),
    /// The ELF machine number of the object is not that of halfbyte objects.
    #[error("the object is for ELF machine {0:#x}; expected {E_MACHINE:#x}")]
    Machine(u16),
    /// The layout version of the object is not supported.
    #[error("the object has layout version {0}; expected {E_FLAGS}")]
    Version(u32),
    /// The sections' total size exceeds the file's size.
    #[error("the object's sections have more bytes than the file")]
    Overlap,
    /// Two sections have the same name.
    #[error("duplicate section `{0}`")]
    Duplicate(String),
    /// A required section is missing.
    #[error("missing section `{0}`")]
    Missing(String),
    /// The record in a section is malformed.
    #[error("section `{section}`: {error}")]
    Record {
        /// Name of the section.
        section: String,
        /// Reason why the record is malformed.
        error: RecordError,
    },
    /// The size in bytes of a text section is not a positive multiple of the size of an instruction word.
    #[error("section `{section}` has {bytes} bytes; expected a positive multiple of {word_bytes}")]
    Text {
        /// Name of the section.
        section: String,
        /// Size of the section in bytes.
        bytes: usize,
        /// Size of an instruction word in bytes.
        word_bytes: usize,
    },
    /// A text section does not contain the PTX text of exactly one kernel for the object's target.
    #[error("section `{section}` is not the PTX text of one kernel for {target}")]
    Lines {
        /// Name of the section.
        section: String,
        /// The object's target.
        target: Target,
    },
    /// The code contradicts the kernel's record. For example, a PTX kernel has other parameters than its record.
    #[error("section `{section}`: {error}")]
    Unfit {
        /// Name of the section.
        section: String,
        /// Description of the contradiction.
        error: String,
    },
    /// A record refers to an instruction word that the kernel does not have.
    #[error("section `{section}` refers to instruction word {address}, but the kernel has {words} instruction words")]
    Address {
        /// Name of the section.
        section: String,
        /// Address of the instruction word.
        address: u32,
        /// Number of instruction words in the kernel.
        words: usize,
    },
    /// The size of a location section is wrong. The section holds one location for each instruction
    /// word, followed by the parts of merged accesses.
    #[error(
        "section `{section}` has {bytes} bytes; expected {expected}, plus {} for each access part",
        PartialAccess::BYTES
    )]
    Locations {
        /// Name of the section.
        section: String,
        /// Size of the section in bytes.
        bytes: usize,
        /// Expected size in bytes, without the parts of merged accesses.
        expected: usize,
    },
    /// The parts of merged accesses are not sorted by the address of their instruction word.
    #[error("section `{section}`: the parts of merged accesses are not sorted by instruction word, at word {word}")]
    Order {
        /// Name of the section.
        section: String,
        /// Address of the first instruction word that is out of order.
        word: u32,
    },
    /// The kernel name in a record differs from the kernel name in the section's name.
    #[error("section `{section}` describes another kernel, `{found}`")]
    Name {
        /// Name of the section.
        section: String,
        /// The kernel name in the record.
        found: String,
    },
}

impl From<object::read::Error> for LoadError {
    fn from(error: object::read::Error) -> LoadError {
        LoadError::Elf(error.to_string())
    }
}

impl Program {
    /// Loads an object for one of the given machines.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an object of this layout version, or if no machine supports its target.
    pub fn load(bytes: &[u8], machines: &[&'static dyn Machine]) -> Result<Program, LoadError> {
        let Sections { by_name, texts } = sections(bytes)?;
        let find = |name: String| match by_name.get(name.as_str()) {
            Some(data) => Ok((name, *data)),
            None => Err(LoadError::Missing(name)),
        };

        let (section, data) = find(HEADER_SECTION.to_owned())?;
        let code = Header::code_of(data).map_err(|error| LoadError::Record { section: section.clone(), error })?;
        let unknown = || LoadError::Record { section: section.clone(), error: RecordError::Target(code.0, code.1) };
        let (machine, target) = of_code(machines, code).ok_or_else(unknown)?;
        let header = Header::from_bytes(data, &[target]).map_err(|error| LoadError::Record { section, error })?;

        let source: Arc<str> = header.source.as_str().into();
        let kernel = |name: &str| {
            let (section, data) = find(format!("{INFO_PREFIX}{name}"))?;
            let info = match KernelInfo::from_bytes(header.target, data) {
                Ok(info) if info.signature.name() == name => info,
                Ok(info) => {
                    return Err(LoadError::Name { section, found: info.signature.name().to_owned() });
                }
                Err(error) => return Err(LoadError::Record { section, error }),
            };
            let (section, text) = find(format!("{TEXT_PREFIX}{name}"))?;
            let words = words(machine, target, section, text)?;
            let (section, data) = find(format!("{LOC_PREFIX}{name}"))?;
            let (locs, parts) = locations(section, data, words.len())?;
            let tiles = info.tiles.iter();
            let mut addresses =
                tiles.flat_map(|tiles| tiles.streams.iter().map(|s| s.site.word).chain(tiles.group_branch));
            if let Some(address) = addresses.find(|&address| address as usize >= words.len()) {
                let section = format!("{INFO_PREFIX}{name}");
                return Err(LoadError::Address { section, address, words: words.len() });
            }
            let code = machine.prepare(&info, &words, &locs);
            let code = code.map_err(|error| LoadError::Unfit { section: format!("{TEXT_PREFIX}{name}"), error })?;
            Ok(Kernel { info, source: source.clone(), words, locs, parts, code, machine })
        };
        let kernels = texts.into_iter().map(kernel).collect::<Result<_, _>>()?;
        Ok(Program { header, kernels })
    }

    /// Returns the object's header, which contains the target and the name of the source file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the kernels, in the order of the object.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Returns the kernel with the given name, if any.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.signature().name() == name)
    }
}

/// Reads the instruction words of a kernel from its text section. An empty section is an error.
fn words(machine: &dyn Machine, target: Target, section: String, text: &[u8]) -> Result<SharedCode, LoadError> {
    match machine.isa().machine_code(target, text) {
        Some(words) if !words.is_empty() && u32::try_from(words.len()).is_ok() => Ok(words),
        _ => Err(match machine.isa().machine_code(target, &[]) {
            Some(none) => LoadError::Text { section, bytes: text.len(), word_bytes: none.word_bytes() },
            None => LoadError::Lines { section, target },
        }),
    }
}

/// Reads the source locations of the instruction words, and the parts of merged accesses.
fn locations(section: String, data: &[u8], words: usize) -> Result<(Vec<Loc>, Vec<PartialAccess>), LoadError> {
    let expected = words * Loc::BYTES;
    let wrong_size = |section| LoadError::Locations { section, bytes: data.len(), expected };
    let Some((locs, parts)) = data.split_at_checked(expected) else { return Err(wrong_size(section)) };
    let (parts, []) = parts.as_chunks() else { return Err(wrong_size(section)) };
    let locs = locs.as_chunks().0.iter().copied().map(Loc::from_bytes).collect();
    let parts: Vec<PartialAccess> = match parts.iter().copied().map(PartialAccess::from_bytes).collect() {
        Ok(parts) => parts,
        Err(error) => return Err(LoadError::Record { section, error }),
    };
    if let Some(part) = parts.iter().find(|part| part.word as usize >= words) {
        return Err(LoadError::Address { section, address: part.word, words });
    }
    match parts.array_windows().find(|[before, after]| after.word < before.word) {
        Some([_, part]) => Err(LoadError::Order { section, word: part.word }),
        None => Ok((locs, parts)),
    }
}

/// The sections of an object that the loader reads.
struct Sections<'a> {
    by_name: HashMap<&'a str, &'a [u8]>,
    /// Names of the kernels, in the order of their text sections.
    texts: Vec<&'a str>,
}

fn sections(bytes: &[u8]) -> Result<Sections<'_>, LoadError> {
    let header = FileHeader64::<LittleEndian>::parse(bytes)?;
    if !header.is_little_endian() {
        return Err(LoadError::Elf("big-endian".to_owned()));
    }
    let endian = LittleEndian;
    if header.e_machine(endian).0 != E_MACHINE {
        return Err(LoadError::Machine(header.e_machine(endian).0));
    }
    if header.e_flags(endian).0 != E_FLAGS {
        return Err(LoadError::Version(header.e_flags(endian).0));
    }
    let table = header.sections(endian, bytes)?;
    let mut found = Sections { by_name: HashMap::new(), texts: Vec::new() };
    // Several section headers may refer to the same bytes. The loader therefore limits the total
    // size of the sections to the file size, so that a small hostile file cannot cause much work.
    let mut left = bytes.len();
    let mut charge = |count| {
        left = left.checked_sub(count).ok_or(LoadError::Overlap)?;
        Ok::<(), LoadError>(())
    };
    for section in table.iter() {
        let name = table.section_name(endian, section)?;
        charge(name.len())?;
        let Ok(name) = str::from_utf8(name) else {
            continue;
        };
        let text = name.strip_prefix(TEXT_PREFIX);
        if text.is_none() && name != HEADER_SECTION && !name.starts_with(INFO_PREFIX) && !name.starts_with(LOC_PREFIX) {
            continue;
        }
        let data = section.data(endian, bytes)?;
        charge(data.len())?;
        if found.by_name.insert(name, data).is_some() {
            return Err(LoadError::Duplicate(name.to_owned()));
        }
        found.texts.extend(text);
    }
    Ok(found)
}
