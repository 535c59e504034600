//! Output of the buffers after a launch: printed, or written to files.

use std::path::Path;

use halfbyte::abi::{Elem, Param};
use halfbyte::args::array::Array;
use halfbyte::args::bind::Bound;
use halfbyte::args::print::{Sign, values};
use halfbyte::args::{list, npy, picture, unread_format};
use serde_json::{Value, json};

use crate::io::{print, to_stdout, write};
use crate::numbers::buffer;
use crate::output::refuse_terminal;
use crate::{Done, Failure};

/// The format in which buffers are printed.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum PrintFormat {
    /// Value of each lane
    Values,
    /// Bits of each element, with all digits
    Bits,
    /// Values on one line and bits on another
    Both,
}

/// An output file and its buffer.
pub(super) struct Out<'s> {
    pub(super) name: &'s str,
    pub(super) path: &'s Path,
    kind: FileFormat,
}

enum FileFormat {
    Bytes,
    Npy,
    /// A picture, with its width and height in pixels if the command line specifies them.
    Picture(Option<(u32, u32)>),
}

/// The inputs from which an output file takes its dtype, shape or picture size.
struct InputFormats<'a> {
    /// The input array of the buffer itself, or another input array of the same element type.
    like: Option<&'a Array>,
    /// The input picture and its parameter, if there is a picture.
    picture: Option<(&'a Param, &'a Array)>,
}

impl<'a> InputFormats<'a> {
    fn new(params: &'a [Param], bound: &'a Bound, number: usize) -> InputFormats<'a> {
        InputFormats { like: bound.output_array(params, number), picture: bound.picture(params) }
    }

    /// Returns the reason why the size of the input picture does not fit a buffer of `bytes` bytes.
    /// Returns `None` if there is no picture or its size fits.
    fn other(&self, param: &Param, bytes: usize) -> Option<String> {
        let (of, array) = self.picture?;
        let (width, height) = picture::size_of(array)?;
        let (name, takes) = (&of.name, array.bytes());
        (param.ty().elem() == Elem::I8 && takes != bytes as u128).then(|| {
            format!(
                "the input picture `{name}` of {width} x {height} pixels has {takes} bytes, but `{}` has {bytes}",
                param.name
            )
        })
    }
}

impl<'s> Out<'s> {
    /// Parses `NAME=FILE`. `:WIDTHxHEIGHT` may follow the name of a picture.
    pub(super) fn parse(text: &'s str) -> Result<Out<'s>, Failure> {
        let Some((name, file)) = text.split_once('=') else {
            return Err(Failure::Call(format!("--out {text}: expected NAME=FILE")));
        };
        let is = |file: &str, extension: &str| {
            Path::new(file).extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
        };
        let sized = file.rsplit_once(':').filter(|(file, _)| is(file, "png"));
        let (file, kind) = match sized {
            Some((file, size)) => {
                let numbers = size.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
                let wrong = || Failure::Call(format!("--out {text}: `{size}` is not a size; expected WIDTHxHEIGHT"));
                (file, FileFormat::Picture(Some(numbers.ok_or_else(wrong)?)))
            }
            None if is(file, "png") => (file, FileFormat::Picture(None)),
            None if is(file, "npy") => (file, FileFormat::Npy),
            None => {
                if let Some(format) = unread_format(file) {
                    let wrong = "is not written; .npy, .png, or a buffer's bytes as FILE.bin";
                    return Err(Failure::Call(format!("--out {text}: {format} {wrong}")));
                }
                (file, FileFormat::Bytes)
            }
        };
        Ok(Out { name, path: Path::new(file), kind })
    }

    fn write(&self, param: &Param, bytes: &[u8], came: InputFormats<'_>, sign: Sign) -> Done {
        let like = came.like;
        if to_stdout(Some(self.path)) {
            refuse_terminal("a buffer", &format!("name a file with --out {}=FILE", self.name))?;
        }
        let written = match &self.kind {
            FileFormat::Bytes => return write(Some(self.path), bytes),
            FileFormat::Npy => npy::write_array(bytes, &Array::of(param.ty(), bytes.len(), like, sign)),
            FileFormat::Picture(size) => {
                let same = like.filter(|like| like.bytes() == bytes.len() as u128).and_then(picture::size_of);
                let size = size.or(same);
                if let (None, Some(other)) = (size, came.other(param, bytes.len())) {
                    let asked = format!("--out {}={}", self.name, self.path.display());
                    return Err(Failure::Call(format!("{asked}: {other}; use {asked}:WIDTHxHEIGHT")));
                }
                let size = size.ok_or(picture::PictureError::NoSize);
                let written = size.and_then(|size| picture::write(bytes, param.ty(), size));
                written
                    .map_err(|error| Failure::Call(format!("--out {}={}: {error}", self.name, self.path.display())))?
            }
        };
        write(Some(self.path), &written)
    }
}

/// Writes the buffers with an output file to their files, and prints all other buffers.
pub(super) fn write_results(
    params: &[Param],
    bound: &Bound,
    outs: &[Out<'_>],
    form: PrintFormat,
    sign: Option<Sign>,
) -> Done {
    for (number, (param, bytes)) in
        params.iter().zip(&bound.args).enumerate().filter(|(_, (param, _))| param.is_result())
    {
        let sign = sign.unwrap_or_else(|| bound.sign(param));
        if let Some(out) = outs.iter().find(|out| out.name == param.name) {
            out.write(param, bytes, InputFormats::new(params, bound, number), sign)?;
            continue;
        }
        let mut text = String::new();
        if form != PrintFormat::Bits {
            text += &format!("{}={}\n", param.name, values(param.ty(), bytes, sign));
        }
        if form != PrintFormat::Values {
            text += &format!("{}={}\n", param.name, list(param.ty(), bytes));
        }
        print(text.as_bytes())?;
    }
    Ok(())
}

/// Writes the buffers with an output file to their files. Returns all other buffers as JSON, with values and bits.
pub(super) fn results_json(
    params: &[Param],
    bound: &Bound,
    outs: &[Out<'_>],
    sign: Option<Sign>,
) -> Result<Vec<Value>, Failure> {
    let mut buffers = Vec::new();
    for (number, (param, bytes)) in
        params.iter().zip(&bound.args).enumerate().filter(|(_, (param, _))| param.is_result())
    {
        let (ty, sign) = (param.ty(), sign.unwrap_or_else(|| bound.sign(param)));
        let elements = bytes.len() / ty.bytes() as usize;
        let mut object = json!({ "name": param.name, "type": ty.name(), "elements": elements });
        if let Some(out) = outs.iter().find(|out| out.name == param.name) {
            if to_stdout(Some(out.path)) {
                let wrong = format!("--json and `--out {}=-` both write to standard output; name a file", out.name);
                return Err(Failure::Call(wrong));
            }
            out.write(param, bytes, InputFormats::new(params, bound, number), sign)?;
            object["file"] = out.path.display().to_string().into();
        } else {
            (object["values"], object["bits"]) = buffer(ty, bytes, sign);
        }
        buffers.push(object);
    }
    Ok(buffers)
}
