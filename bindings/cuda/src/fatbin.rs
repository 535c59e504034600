//! Fatbin containers: the choice of a PTX text among the entries, and its decompression.

use std::borrow::Cow;
use std::io::Read;

use ruzstd::decoding::StreamingDecoder;

use crate::image::ImageError;
use crate::status::Status;

/// First bytes of a container.
pub const MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
/// Number of bytes of a container's header.
pub const HEADER: usize = 16;
/// Least number of bytes of an entry's header.
const ENTRY_HEADER: usize = 64;
/// Largest PTX text that is decompressed.
const MAX_TEXT: usize = 1 << 30;

/// Kinds of entries.
mod kind {
    pub(super) const PTX: u16 = 1;
    pub(super) const CUBIN: u16 = 2;
    pub(super) const LTO_IR: u16 = 8;
    /// Several entries that are compressed together.
    pub(super) const CONCATENATED: u16 = 256;
}

/// Flags of entries.
mod flag {
    pub(super) const LZ4: u64 = 0x2000;
    pub(super) const ZSTD: u64 = 0x8000;
    /// The code is for exactly one compute capability, such as `compute_90a`.
    pub(super) const ARCH_SPECIFIC: u64 = 0x10_0000;
    /// The code is for one family of compute capabilities, such as `compute_100f`.
    pub(super) const FAMILY_SPECIFIC: u64 = 0x20_0000;
}

/// Entry of a container.
struct Entry<'a> {
    kind: u16,
    sm: u32,
    flags: u64,
    /// Bytes after the header, including padding.
    payload: &'a [u8],
    /// Number of compressed bytes, or 0 if the payload is not compressed.
    compressed: u32,
    /// Number of bytes after decompression.
    decompressed: u64,
}

/// Reads `N` bytes at an offset.
fn at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

/// Returns the number of bytes of a container, which its header declares.
pub fn size(header: &[u8; HEADER]) -> Result<usize, ImageError> {
    let entries = || {
        let [version, header_size] = [at(header, 4)?, at(header, 6)?].map(u16::from_le_bytes);
        let entries = usize::try_from(u64::from_le_bytes(at(header, 8)?)).ok()?;
        (version == 1 && usize::from(header_size) == HEADER).then_some(entries)
    };
    let size = entries().and_then(|entries| entries.checked_add(HEADER));
    size.filter(|size| isize::try_from(*size).is_ok()).ok_or_else(|| broken("its header is invalid"))
}

/// Returns the PTX text of a container for the highest compute capability that `sm` includes.
pub fn ptx(container: &[u8], sm: u32) -> Result<Cow<'_, [u8]>, ImageError> {
    let header = container.first_chunk().ok_or_else(|| broken("its header is incomplete"))?;
    let entries = container.get(HEADER..size(header)?).ok_or_else(|| broken("it is shorter than it declares"))?;
    let entries = entries_of(entries)?;
    if entries.is_empty() {
        return Err(broken("it has no entries"));
    }
    let entries = &entries;
    let texts = move || entries.iter().filter(|entry| entry.kind == kind::PTX);
    match texts().filter(|entry| entry.suits(sm)).max_by_key(|entry| (entry.sm, !entry.is_specific())) {
        Some(entry) => entry.contents(),
        None if texts().next().is_some() => {
            let message = format!(
                "the fatbin has PTX for {}, but the device is sm_{sm}\nhelp: compile with `-gencode \
                 arch=compute_{sm},code=compute_{sm}`, or set HALFBYTE_SM to a compute capability of the fatbin",
                list(texts())
            );
            Err(ImageError::new(Status::NO_BINARY_FOR_GPU, message))
        }
        None => Err(ImageError::without_ptx(format!("the fatbin has only {}, no PTX", list(entries.iter())), sm)),
    }
}

/// Splits the bytes after a container's header into entries.
fn entries_of(mut bytes: &[u8]) -> Result<Vec<Entry<'_>>, ImageError> {
    let mut entries = Vec::new();
    while bytes.iter().any(|byte| *byte != 0) {
        let (entry, rest) = Entry::split(bytes).ok_or_else(|| broken("an entry is incomplete"))?;
        entries.push(entry);
        bytes = rest;
    }
    Ok(entries)
}

/// Returns a list of entries for a message.
fn list<'e, 'a: 'e>(entries: impl Iterator<Item = &'e Entry<'a>>) -> String {
    let names: Vec<String> = entries.map(|entry| entry.name()).collect();
    names.join(", ")
}

impl<'a> Entry<'a> {
    /// Splits the first entry off.
    fn split(bytes: &'a [u8]) -> Option<(Entry<'a>, &'a [u8])> {
        let header_size = usize::try_from(u32::from_le_bytes(at(bytes, 4)?)).ok()?;
        let payload_size = usize::try_from(u64::from_le_bytes(at(bytes, 8)?)).ok()?;
        let (header, rest) = bytes.split_at_checked(header_size)?;
        let (payload, rest) = rest.split_at_checked(payload_size)?;
        if header.len() < ENTRY_HEADER {
            return None;
        }
        let entry = Entry {
            kind: u16::from_le_bytes(at(header, 0)?),
            sm: u32::from_le_bytes(at(header, 28)?),
            flags: u64::from_le_bytes(at(header, 40)?),
            payload,
            compressed: u32::from_le_bytes(at(header, 16)?),
            decompressed: u64::from_le_bytes(at(header, 56)?),
        };
        Some((entry, rest))
    }

    /// Returns `true` if all the given flags are set.
    fn has(&self, flags: u64) -> bool {
        self.flags & flags == flags
    }

    /// Returns `true` if the code is only for one compute capability or one family.
    fn is_specific(&self) -> bool {
        self.has(flag::ARCH_SPECIFIC) || self.has(flag::FAMILY_SPECIFIC)
    }

    /// Returns `true` if a device of compute capability `sm` can execute the code.
    fn suits(&self, sm: u32) -> bool {
        match self.sm {
            own if self.has(flag::ARCH_SPECIFIC) => own == sm,
            own if self.has(flag::FAMILY_SPECIFIC) => own <= sm && own / 10 == sm / 10,
            own => own <= sm,
        }
    }

    /// Returns the kind and the compute capability for a message.
    fn name(&self) -> String {
        let suffix = match self {
            _ if self.has(flag::ARCH_SPECIFIC) => "a",
            _ if self.has(flag::FAMILY_SPECIFIC) => "f",
            _ => "",
        };
        let sm = self.sm;
        match self.kind {
            kind::PTX => format!("compute_{sm}{suffix}"),
            kind::CUBIN => format!("machine code for sm_{sm}{suffix}"),
            kind::LTO_IR => format!("LTO-IR for lto_{sm}{suffix}"),
            kind::CONCATENATED => "entries that `fatbinary -concat` compressed together".to_owned(),
            other => format!("an entry of kind {other}"),
        }
    }

    /// Returns the contents after decompression.
    fn contents(&self) -> Result<Cow<'a, [u8]>, ImageError> {
        if self.compressed == 0 && !self.has(flag::LZ4) && !self.has(flag::ZSTD) {
            return Ok(Cow::Borrowed(self.payload));
        }
        let compressed = usize::try_from(self.compressed).ok().and_then(|size| self.payload.get(..size));
        let compressed = compressed.ok_or_else(|| broken("compressed PTX is incomplete"))?;
        let size = usize::try_from(self.decompressed).ok().filter(|size| *size <= MAX_TEXT);
        let size = size.ok_or_else(|| broken("compressed PTX is too large"))?;
        let contents = if self.has(flag::ZSTD) {
            zstd(compressed, size)
        } else if self.has(flag::LZ4) {
            lz4(compressed, size)
        } else {
            let message = format!(
                "the PTX of the fatbin is compressed by an unknown method (flags {:#x})\nhelp: compile with \
                 `nvcc -no-compress`",
                self.flags
            );
            return Err(ImageError::new(Status::NO_BINARY_FOR_GPU, message));
        };
        let complete = contents.filter(|contents| contents.len() == size);
        complete.map(Cow::Owned).ok_or_else(|| broken("compressed PTX cannot be decompressed"))
    }
}

/// Decompresses a Zstandard frame. A result of more than `size` bytes is truncated to `size + 1` bytes.
fn zstd(compressed: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut contents = Vec::new();
    let limit = u64::try_from(size).ok()?.checked_add(1)?;
    StreamingDecoder::new(compressed).ok()?.take(limit).read_to_end(&mut contents).ok()?;
    Some(contents)
}

/// Decompresses an LZ4 block of at most `size` bytes.
fn lz4(compressed: &[u8], size: usize) -> Option<Vec<u8>> {
    // One compressed byte expands to at most 255 bytes. The check keeps an invalid size from allocating much memory.
    if size > compressed.len().saturating_mul(255) {
        return None;
    }
    let mut contents = vec![0; size];
    let written = lz4_flex::block::decompress_into(compressed, &mut contents).ok()?;
    contents.truncate(written);
    Some(contents)
}

fn broken(why: &str) -> ImageError {
    ImageError::new(Status::INVALID_IMAGE, format!("the fatbin is invalid: {why}"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Text that [`ZSTD`] and [`LZ4`] contain.
    const TEXT: &[u8] = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry one() { ret; }\n\
        .visible .entry two() { ret; }\n.visible .entry three() { ret; }\n\0";

    /// Compressed text as `fatbinary --compress-mode=size` writes it.
    const ZSTD: &[u8] =
        b"(\xb5/\xfd \x8c\xb5\x02\0\x12\x05\x12\x18\x80\xab\x0e@\x10)\x12\xa9=iD&\x09#\xa9\xe7w\xf3'\xa0\xb9 \
        \x17\x03\xc0\x17\x81K?Y\xf47\x9d\x14\x82?\x98\xcc\xf6\xbb\xe6\x13\xc3\xb1\x8b\x8a\x06\"\xdf8^\xcc\
        \xdf\xd6\x98\xa2\xa4\x96\xc2\xd9?\x96\xb5\xa2\xa4*\x1ft\xbc\x8f\x1a\x03\0C8\x06\xb8G\x11\xb32\x03";

    /// Compressed text as `fatbinary --compress-mode=speed` writes it.
    const LZ4: &[u8] =
        b"\xfd;.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry one() { ret; }\x1f\0?two\x1f\0\n\
        5hre@\0P; }\n\0";

    /// Entry of a container that a test builds.
    #[derive(Clone)]
    pub(crate) struct Entry<'a> {
        kind: u16,
        header: u32,
        sm: u32,
        flags: u64,
        payload: &'a [u8],
        compressed: usize,
        decompressed: usize,
    }

    impl<'a> Entry<'a> {
        /// Returns an entry with a PTX text that is not compressed.
        pub(crate) fn ptx(sm: u32, payload: &'a [u8]) -> Entry<'a> {
            Entry { kind: 1, header: 0x50, sm, flags: 0x11, payload, compressed: 0, decompressed: 0 }
        }

        fn compressed(flags: u64, payload: &'a [u8]) -> Entry<'a> {
            let (compressed, decompressed) = (payload.len(), TEXT.len());
            Entry { flags, compressed, decompressed, ..Entry::ptx(80, payload) }
        }
    }

    /// Returns a container with entries.
    pub(crate) fn container(entries: &[Entry<'_>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for entry in entries {
            let payload_size = entry.payload.len().next_multiple_of(8);
            let mut header = vec![0; entry.header as usize];
            let mut put = |offset: usize, field: &[u8]| header[offset..offset + field.len()].copy_from_slice(field);
            put(0, &entry.kind.to_le_bytes());
            put(4, &entry.header.to_le_bytes());
            put(8, &(payload_size as u64).to_le_bytes());
            put(16, &(entry.compressed as u32).to_le_bytes());
            put(28, &entry.sm.to_le_bytes());
            put(40, &entry.flags.to_le_bytes());
            put(56, &(entry.decompressed as u64).to_le_bytes());
            bytes.extend(header);
            bytes.extend(entry.payload);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        let mut container = MAGIC.to_vec();
        container.extend([1, 0, 16, 0]);
        container.extend((bytes.len() as u64).to_le_bytes());
        container.extend(bytes);
        container
    }

    /// Returns the chosen text without padding, or the status of the error.
    fn chosen(container: &[u8], sm: u32) -> Result<String, Status> {
        let text = ptx(container, sm).map_err(|error| error.status)?;
        Ok(String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned())
    }

    #[test]
    fn the_highest_suitable_text_is_chosen() {
        let specific = |sm, flags, text: &'static [u8]| Entry { flags, ..Entry::ptx(sm, text) };
        let fatbin = container(&[
            Entry::ptx(70, b"70"),
            Entry { kind: 2, header: 0x40, ..Entry::ptx(80, b"cubin") },
            Entry::ptx(90, b"90"),
            specific(90, 0x10_0011, b"90a"),
            Entry::ptx(80, b"80"),
            specific(100, 0x20_0011, b"100f"),
            specific(120, 0x10_0011, b"120a"),
        ]);
        let expected = [(75, "70"), (80, "80"), (89, "80"), (90, "90"), (100, "100f"), (103, "100f"), (120, "120a")];
        for (sm, text) in expected {
            assert_eq!(chosen(&fatbin, sm).as_deref(), Ok(text), "sm_{sm}");
        }
        assert_eq!(chosen(&fatbin, 121).as_deref(), Ok("90"));
    }

    #[test]
    fn texts_are_decompressed() {
        let text = String::from_utf8_lossy(TEXT);
        for (flags, payload) in [(0x8011, ZSTD), (0x2011, LZ4), (0x11, TEXT)] {
            let entry = match flags {
                0x11 => Entry::ptx(80, payload),
                _ => Entry::compressed(flags, payload),
            };
            let found = chosen(&container(&[entry]), 80);
            assert_eq!(found.as_deref(), Ok(text.trim_end_matches('\0')), "flags {flags:#x}");
        }
    }

    #[test]
    fn invalid_compressed_texts_are_errors() {
        for (flags, payload) in [(0x8011, ZSTD), (0x2011, LZ4)] {
            let entry = Entry::compressed(flags, payload);
            let invalid = [
                Entry { decompressed: TEXT.len() - 1, ..entry.clone() },
                Entry { decompressed: TEXT.len() + 1, ..entry.clone() },
                Entry { decompressed: 0, ..entry.clone() },
                Entry { decompressed: MAX_TEXT, ..entry.clone() },
                Entry { decompressed: usize::MAX, ..entry.clone() },
                Entry { compressed: 0, ..entry.clone() },
                Entry { compressed: payload.len() - 20, ..entry.clone() },
                Entry { compressed: payload.len() + 8, ..entry.clone() },
                Entry { payload: b"neither", compressed: 7, ..entry.clone() },
            ];
            for (number, entry) in invalid.into_iter().enumerate() {
                let found = chosen(&container(&[entry]), 80);
                assert_eq!(found, Err(Status::INVALID_IMAGE), "flags {flags:#x}, case {number}");
            }
        }
        let unknown = container(&[Entry::compressed(0x4011, ZSTD)]);
        assert_eq!(chosen(&unknown, 80), Err(Status::NO_BINARY_FOR_GPU));
    }

    #[test]
    fn containers_without_suitable_text_are_refused_with_their_contents() {
        let refused = [
            (container(&[Entry { kind: 2, ..Entry::ptx(86, b"") }]), "machine code for sm_86"),
            (container(&[Entry { kind: 8, ..Entry::ptx(80, b"") }]), "LTO-IR for lto_80"),
            (container(&[Entry { kind: 256, ..Entry::ptx(0, b"") }]), "-concat"),
            (container(&[Entry { kind: 9, ..Entry::ptx(80, b"") }]), "kind 9"),
            (container(&[Entry::ptx(90, b""), Entry::ptx(100, b"")]), "compute_90, compute_100"),
            (container(&[Entry { flags: 0x10_0011, ..Entry::ptx(75, b"") }]), "compute_75a"),
        ];
        for (fatbin, part) in refused {
            let error = ptx(&fatbin, 80).err().unwrap_or_else(|| broken("accepted"));
            assert_eq!(error.status, Status::NO_BINARY_FOR_GPU, "{part}");
            assert!(error.message.contains(part), "{error}");
        }
    }

    #[test]
    fn truncated_and_inconsistent_containers_are_errors() {
        let fatbin = container(&[Entry::ptx(80, TEXT), Entry::compressed(0x8011, ZSTD)]);
        for length in 0..fatbin.len() {
            assert_eq!(chosen(&fatbin[..length], 80), Err(Status::INVALID_IMAGE), "{length} bytes");
        }
        // The declared size is shorter than the entries.
        for size in (1..fatbin.len() - HEADER).filter(|size| *size != 0x50 + TEXT.len().next_multiple_of(8)) {
            let mut shorter = fatbin.clone();
            shorter[8..16].copy_from_slice(&(size as u64).to_le_bytes());
            assert_eq!(chosen(&shorter, 80), Err(Status::INVALID_IMAGE), "size {size}");
        }
        assert_eq!(chosen(&container(&[]), 80), Err(Status::INVALID_IMAGE));
        for header in [0, 0x3f, 0x1000, u32::MAX] {
            let mut wrong = fatbin.clone();
            wrong[20..24].copy_from_slice(&header.to_le_bytes());
            assert_eq!(chosen(&wrong, 80), Err(Status::INVALID_IMAGE), "entry header of {header} bytes");
        }
        for (offset, byte) in [(4, 2), (6, 8), (15, 0xff), (14, 0x7f), (24, 0x70), (31, 0xff)] {
            let mut wrong = fatbin.clone();
            wrong[offset] = byte;
            assert_eq!(chosen(&wrong, 80), Err(Status::INVALID_IMAGE), "byte {offset}");
        }
    }

    #[test]
    fn sizes_beyond_memory_are_errors() {
        let header = |size: u64| {
            let mut header = [0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            header[8..].copy_from_slice(&size.to_le_bytes());
            header
        };
        assert_eq!(size(&header(0)), Ok(16));
        assert_eq!(size(&header(0x1234)), Ok(0x1244));
        for beyond in [u64::MAX, u64::MAX - 15, i64::MAX.unsigned_abs()] {
            assert_eq!(size(&header(beyond)).map_err(|error| error.status), Err(Status::INVALID_IMAGE));
        }
    }
}
