//! Detection of source text in the kernel language, as opposed to plain IR.
//!
//! Every text is tested before it is compiled, including long texts in plain IR. The test therefore makes no tokens:
//! inside the braces of a kernel, it scans 64 bytes at a time for the few bytes that can end the kernel.

use crate::lexer::{Tok, in_name, string};

/// Returns `true` if at least one item of a text is in the kernel language: a function, constant,
/// structure, `include`, or a kernel whose name has no `@`.
pub fn is_language(text: &str) -> bool {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text).as_bytes();
    let mut braces = 0u32;
    let mut fresh = true;
    loop {
        if fresh && braces == 0 {
            rest = after_blanks(rest);
            if begins_item(rest) {
                return true;
            }
        }
        let at = telling(rest, braces == 0);
        let Some(&byte) = rest.get(at) else { return false };
        fresh = byte == b'\n';
        match byte {
            b'{' => braces += 1,
            b'}' => braces = braces.saturating_sub(1),
            _ => {}
        }
        let len = match byte {
            b';' => rest.iter().skip(at).position(|&byte| byte == b'\n').unwrap_or(rest.len()),
            b'"' => string(rest.get(at..).unwrap_or_default()).1,
            _ => 1,
        };
        rest = rest.get(at + len..).unwrap_or_default();
    }
}

/// Returns the offset of the next brace, or of the next byte that begins a comment or string, in
/// which braces do not count. If `lines` is set, line breaks are found, too.
fn telling(rest: &[u8], lines: bool) -> usize {
    let line_break = if lines { b'\n' } else { b'{' };
    let tells = |byte: u8| (byte == b'{') | (byte == b'}') | (byte == b';') | (byte == b'"') | (byte == line_break);
    let far = plain::<64>(rest, tells);
    let near = far + plain::<16>(rest.get(far..).unwrap_or_default(), tells);
    let here = rest.iter().skip(near).position(|&byte| tells(byte));
    here.map_or(rest.len(), |at| near + at)
}

/// Returns the total length of the leading chunks that contain no byte for which `tells` returns
/// `true`. The loop tests every byte of a chunk, so that the compiler vectorises it.
fn plain<const AT_ONCE: usize>(rest: &[u8], tells: impl Fn(u8) -> bool) -> usize {
    let any_tells = |chunk: &[u8; AT_ONCE]| chunk.iter().fold(0, |any, &byte| any | u8::from(tells(byte))) != 0;
    let (chunks, _) = rest.as_chunks::<AT_ONCE>();
    AT_ONCE * chunks.iter().position(any_tells).unwrap_or(chunks.len())
}

fn after_blanks(rest: &[u8]) -> &[u8] {
    let blanks = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r')).unwrap_or(rest.len());
    rest.get(blanks..).unwrap_or_default()
}

/// Returns `true` if a line begins like an item of the kernel language, such as a function.
fn begins_item(line: &[u8]) -> bool {
    let len = line.iter().position(|&byte| !in_name(byte)).unwrap_or(line.len());
    let (word, rest) = line.split_at_checked(len).unwrap_or_default();
    let next = after_blanks(rest);
    let is_name = |byte: Option<&u8>| byte.is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'_');
    match word {
        b"kernel" | b"fn" | b"struct" | b"const" => {
            is_name(next.first()) || next.first() == Some(&b'%') && is_name(next.get(1))
        }
        b"include" => next.first() == Some(&b'"') && string(next).0 == Tok::Text,
        _ => false,
    }
}
