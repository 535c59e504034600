//! Writes object files ([`halfbyte_isa::object`] has their layout).

use std::borrow::Cow;

use halfbyte_isa::object::{
    E_FLAGS, E_MACHINE, HEADER_SECTION, Header, INFO_PREFIX, LOC_PREFIX, Loc, Part, TEXT_ALIGN, TEXT_PREFIX, Words,
};
use halfbyte_isa::target::Target;
use object::elf;
use object::write::elf::{FileHeader, SectionHeader, SectionIndex, Sym, Writer};
use thiserror::Error;

use crate::layout::Code;

/// Why kernels do not go into one object.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
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

/// A section to be.
struct Section<'a> {
    name: String,
    contents: Contents<'a>,
    flags: elf::SectionFlags,
    align: u64,
}

/// What is in a section. Words and places become bytes when they are written, so that they are there once.
enum Contents<'a> {
    Words(&'a Words),
    Locs(&'a [Loc], &'a [Part]),
    Record(Vec<u8>),
}

impl Contents<'_> {
    fn len(&self) -> usize {
        match self {
            Contents::Words(words) => words.len() * words.word_bytes(),
            Contents::Locs(locs, parts) => locs.len() * Loc::BYTES + parts.len() * Part::BYTES,
            Contents::Record(bytes) => bytes.len(),
        }
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Contents::Words(words) => words.to_bytes().into(),
            Contents::Locs(locs, parts) => {
                let mut bytes = Vec::with_capacity(self.len());
                locs.iter().for_each(|loc| bytes.extend_from_slice(&loc.to_bytes()));
                parts.iter().for_each(|part| bytes.extend_from_slice(&part.to_bytes()));
                bytes.into()
            }
            Contents::Record(bytes) => bytes.into(),
        }
    }
}

impl<'a> Section<'a> {
    fn text(code: &'a Code) -> Section<'a> {
        Section {
            name: [TEXT_PREFIX, code.info.signature.name()].concat(),
            contents: match &code.words {
                Words::Ptx(_) => Contents::Record(code.words.to_bytes()),
                words => Contents::Words(words),
            },
            flags: elf::SHF_ALLOC | elf::SHF_EXECINSTR,
            align: TEXT_ALIGN,
        }
    }

    fn record(name: String, contents: Contents<'a>) -> Section<'a> {
        Section { name, contents, flags: elf::SectionFlags(0), align: 4 }
    }
}

/// The bytes of an object with these kernels, in this order. The same arguments give the same bytes.
///
/// # Errors
/// Two kernels of one name; words or records of another target; more than the format can hold.
pub fn write_object(header: &Header, kernels: &[Code]) -> Result<Vec<u8>, ObjectError> {
    let mut names: Vec<&str> = kernels.iter().map(|code| code.info.signature.name()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(ObjectError::Duplicate(pair[0].to_owned()));
    }

    for code in kernels {
        let (words, kernel) = (code.words.target(), || code.info.signature.name().to_owned());
        if words != header.target {
            return Err(ObjectError::Target { kernel: kernel(), words, object: header.target });
        }
        if code.info.tiles.is_some() != (words == Target::Vp1) {
            return Err(ObjectError::Tiles(kernel()));
        }
    }

    let mut sections = vec![Section::record(HEADER_SECTION.to_owned(), Contents::Record(header.to_bytes()))];
    for code in kernels {
        let name = code.info.signature.name();
        sections.push(Section::text(code));
        sections
            .push(Section::record([INFO_PREFIX, name].concat(), Contents::Record(code.info.to_bytes(header.target))));
        sections.push(Section::record([LOC_PREFIX, name].concat(), Contents::Locs(&code.locs, &code.parts)));
    }

    let mut bytes = Vec::new();
    let mut writer = Writer::new(object::Endianness::Little, true, &mut bytes);

    // Everything is given its place first.
    writer.reserve_null_section_index();
    let section_names: Vec<_> =
        sections.iter().map(|section| writer.add_section_name(section.name.as_bytes())).collect();
    let indices: Vec<SectionIndex> = sections.iter().map(|_| writer.reserve_section_index()).collect();
    // The kernel's text is the first of its three sections, after the header's.
    let texts = || sections.iter().zip(&indices).skip(1).step_by(3);
    writer.reserve_null_symbol_index();
    let symbols: Vec<_> = kernels
        .iter()
        .zip(texts())
        .map(|(code, (text, &index))| {
            writer.reserve_symbol_index(Some(index));
            let name = writer.add_string(code.info.signature.name().as_bytes());
            (name, index, text.contents.len() as u64)
        })
        .collect();
    writer.reserve_symtab_section_index();
    if writer.symtab_shndx_needed() {
        writer.reserve_symtab_shndx_section_index();
    }
    writer.reserve_strtab_section_index();
    writer.reserve_shstrtab_section_index();

    writer.reserve_file_header();
    let offsets: Vec<u64> =
        sections.iter().map(|section| writer.reserve(section.contents.len() as u64, section.align)).collect();
    writer.reserve_symtab();
    writer.reserve_symtab_shndx();
    writer.reserve_strtab()?;
    writer.reserve_shstrtab()?;
    writer.reserve_section_headers();

    writer.write_file_header(&FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_REL,
        e_machine: elf::Machine(E_MACHINE),
        e_entry: 0,
        e_flags: elf::FileFlags(E_FLAGS),
    })?;
    for section in &sections {
        writer.write_align(section.align);
        writer.write(&section.contents.bytes());
    }
    writer.write_null_symbol();
    for (name, index, st_size) in symbols {
        let st_name = writer.string_offset(Some(name));
        writer.write_symbol(&Sym {
            section: Some(index.0),
            st_name,
            st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, elf::STT_FUNC),
            st_other: elf::SymbolOther(0),
            st_shndx: elf::SymbolSection(0),
            st_value: 0,
            st_size,
        });
    }
    writer.write_symtab_shndx();
    writer.write_strtab();
    writer.write_shstrtab();
    writer.write_null_section_header();
    for ((section, name), sh_offset) in sections.iter().zip(section_names).zip(offsets) {
        let sh_name = writer.section_name_offset(Some(name));
        writer.write_section_header(&SectionHeader {
            sh_name,
            sh_type: elf::SHT_PROGBITS,
            sh_flags: section.flags,
            sh_addr: 0,
            sh_offset,
            sh_size: section.contents.len() as u64,
            sh_link: 0,
            sh_info: 0,
            sh_addralign: section.align,
            sh_entsize: 0,
        });
    }
    // All symbols but the null one are global.
    writer.write_symtab_section_header(1);
    writer.write_symtab_shndx_section_header();
    writer.write_strtab_section_header();
    writer.write_shstrtab_section_header();
    Ok(bytes)
}
