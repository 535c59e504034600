//! Head of a VP1 kernel's listing: parameters, streams and the memory image.

use std::fmt::{self, Write};

use halfbyte_abi::Signature;
use halfbyte_isa::object::KernelInfo;
use halfbyte_isa::stream::{Affine, AffineVariable, Stream, StreamContents, TripCount, m_words, regions_of};

/// Number of bytes of the memory image in one line.
const IMAGE_LINE: usize = 16;

pub(super) fn write(out: &mut String, info: &KernelInfo) -> fmt::Result {
    let (signature, tiles) = (&info.signature, info.tiles.clone().unwrap_or_default());
    let (items, frame) = (tiles.items, info.local_bytes);
    writeln!(out, ", {items} items a group, {frame} bytes before the streams")?;
    if let Some(branch) = tiles.group_branch {
        writeln!(out, "// next group: {branch:#06x}")?;
    }
    let mut m = 0;
    for param in signature.params() {
        match m_words(param.kind) {
            0 => {}
            1 => writeln!(out, "// $m{m} {}: {}", param.name, param.kind)?,
            words => writeln!(out, "// $m{m}..$m{} {}: {}", m + words - 1, param.name, param.kind)?,
        }
        m += m_words(param.kind);
    }
    let regions = regions_of(&tiles.streams, signature);
    for ((number, stream), region) in tiles.streams.iter().enumerate().zip(regions) {
        write!(out, "// $m{} stream {number}: ", m + region as usize)?;
        write_stream(out, signature, stream)?;
        out.push('\n');
    }
    for (line, bytes) in tiles.image.chunks(IMAGE_LINE).enumerate() {
        write!(out, "// image {:#06x}:", line * IMAGE_LINE)?;
        bytes.iter().try_for_each(|byte| write!(out, " {byte:02x}"))?;
        out.push('\n');
    }
    Ok(())
}

/// Writes the description of a stream, such as `reads 4 bytes of x at 4*item + 8*k0 - 4; k0 below n; if stream 2`.
fn write_stream(out: &mut String, signature: &Signature, stream: &Stream) -> fmt::Result {
    match stream.buffer {
        Some(buffer) => {
            let verb = if stream.site.written { "writes" } else { "reads" };
            if stream.holds == StreamContents::Buffer {
                return write!(
                    out,
                    "all of {}{}",
                    name(signature, buffer),
                    if stream.site.written { ", written" } else { "" }
                );
            }
            if let Some(window) = stream.window() {
                let name = name(signature, buffer);
                write!(out, "where stream {window} {verb} {} bytes of {name}, offset {}", stream.bytes, stream.offset)?;
                return write_conditions(out, signature, stream);
            }
            write!(out, "{verb} {} bytes of {} at ", stream.bytes, name(signature, buffer))?;
            let mut sum = Sum { out, empty: true };
            sum.add_product(signature, &stream.scale, "item")?;
            sum.add_affine(signature, &stream.index)?;
            for step in &stream.steps {
                let k = format!("k{}", step.loop_number);
                sum.add_product(signature, &step.stride, &k)?;
            }
            sum.add(stream.offset as u32, "")?;
            sum.finish()?;
            if stream.align != stream.bytes {
                write!(out, "; aligned to {}", stream.align)?;
            }
        }
        None => write!(out, "{} guard bytes", stream.bytes)?,
    }
    write_conditions(out, signature, stream)
}

/// Writes the loops that contain the accesses of a stream, and the guard of the stream.
fn write_conditions(out: &mut String, signature: &Signature, stream: &Stream) -> fmt::Result {
    if stream.uniform {
        out.push_str("; once for all items");
    }
    for step in &stream.steps {
        write!(out, "; k{} below ", step.loop_number)?;
        match &step.trips {
            TripCount::Const(trips) => write!(out, "{trips}")?,
            TripCount::Of { count, signed, at_least } => {
                write!(out, "{}", text(signature, count))?;
                out.push_str(if *signed { " (signed)" } else { "" });
                out.push_str(if *at_least != 0 { ", at least once" } else { "" });
            }
        }
    }
    match stream.guard {
        Some(guard) => write!(out, "; if stream {guard}"),
        None => Ok(()),
    }
}

fn name(signature: &Signature, param: u32) -> &str {
    signature.params().get(param as usize).map_or("?", |param| param.name.as_str())
}

fn text(signature: &Signature, affine: &Affine) -> String {
    let mut out = String::new();
    let mut sum = Sum { out: &mut out, empty: true };
    // Formatting into a string cannot fail.
    let _ = sum.add_affine(signature, affine).and_then(|()| sum.finish());
    out
}

/// Formats a sum of products. Coefficients are numbers modulo 2^32, which are formatted as signed numbers.
struct Sum<'a> {
    out: &'a mut String,
    empty: bool,
}

impl Sum<'_> {
    fn add_affine(&mut self, signature: &Signature, affine: &Affine) -> fmt::Result {
        for &(factor, multiplier) in &affine.terms {
            match factor {
                AffineVariable::Param(param) => self.add(multiplier, name(signature, param))?,
                AffineVariable::ItemCount => self.add(multiplier, "item_count")?,
            }
        }
        self.add(affine.constant, "")
    }

    /// Adds the product of `times` and `factor`.
    fn add_product(&mut self, signature: &Signature, times: &Affine, factor: &str) -> fmt::Result {
        match times.terms.is_empty() {
            true => self.add(times.constant, factor),
            false => self.add(1, &format!("({})*{factor}", text(signature, times))),
        }
    }

    /// Adds the product of `multiplier` and `factor`, or only `multiplier` if `factor` is empty.
    fn add(&mut self, multiplier: u32, factor: &str) -> fmt::Result {
        let multiplier = multiplier as i32;
        if multiplier == 0 {
            return Ok(());
        }
        self.out.push_str(match (self.empty, multiplier < 0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        });
        self.empty = false;
        match (multiplier.unsigned_abs(), factor) {
            (number, "") => write!(self.out, "{number}"),
            (1, factor) => self.out.write_str(factor),
            (number, factor) => write!(self.out, "{number}*{factor}"),
        }
    }

    fn finish(&mut self) -> fmt::Result {
        if self.empty { self.out.write_str("0") } else { Ok(()) }
    }
}
