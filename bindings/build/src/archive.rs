//! Static libraries that contain a single object, for the linkers of systems with `ar`.

/// Returns the bytes of a static library with one object, and with an index of its symbols.
///
/// The index has GNU's format: a member `/` with the number of symbols, the file offset of the
/// member that defines each symbol, and the names of the symbols. Numbers have four bytes in
/// big-endian order, and each name ends with a zero byte.
pub(crate) fn archive<'s>(object: &[u8], symbols: impl ExactSizeIterator<Item = &'s str> + Clone) -> Vec<u8> {
    let names: usize = symbols.clone().map(|symbol| symbol.len() + 1).sum();
    let index = 4 + 4 * symbols.len() + names;
    let start = (MAGIC.len() + HEADER + index.next_multiple_of(2)) as u32;
    let mut out = MAGIC.to_vec();
    out.extend(header("/", index));
    out.extend((symbols.len() as u32).to_be_bytes());
    symbols.clone().for_each(|_| out.extend(start.to_be_bytes()));
    for symbol in symbols {
        out.extend(symbol.bytes().chain([0]));
    }
    if !index.is_multiple_of(2) {
        out.push(b'\n');
    }
    out.extend(header("kernels.o/", object.len()));
    out.extend(object);
    if !object.len().is_multiple_of(2) {
        out.push(b'\n');
    }
    out
}

const MAGIC: &[u8] = b"!<arch>\n";
/// Size in bytes of the header of an archive member.
const HEADER: usize = 60;

/// Returns the header of an archive member with `bytes` bytes. Time, owner and group are zero, so
/// that the output is reproducible.
fn header(name: &str, bytes: usize) -> Vec<u8> {
    format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{bytes:<10}`\n", 0, 0, 0, 644).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_begin_at_even_places() {
        let made = archive(b"12345", ["a", "bc"].into_iter());
        let index = MAGIC.len() + HEADER;
        assert_eq!(made.get(index..index + 12), Some([0, 0, 0, 2, 0, 0, 0, 86, 0, 0, 0, 86].as_slice()));
        assert_eq!(made.get(index + 12..index + 18), Some(b"a\0bc\0\n".as_slice()));
        assert_eq!(made.get(86..96), Some(b"kernels.o/".as_slice()));
        assert_eq!(made.get(86 + HEADER..), Some(b"12345\n".as_slice()));
        assert_eq!(made.get(86 + 58..86 + 60), Some(b"`\n".as_slice()));
    }
}
