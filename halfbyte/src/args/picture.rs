//! Conversion between PNG files and buffers of bytes.
//!
//! A picture is an array of `uint8`. The shape is height × width for greyscale, height × width × 3 for RGB, and height
//! × width × 4 for RGBA. Rows run from the top, and each pixel has its channels in the order red, green, blue, alpha.
//! The bytes fill the lanes as those of an `.npy` file do. So an RGBA picture gives one `i8x4` for each pixel, with red
//! in lane 0. A greyscale picture gives one `i8x4` for each four pixels.

use std::io::Cursor;

use halfbyte_ir::{Elem, Type};
use png::{BitDepth, ColorType, Decoder, Encoder, Limits, Transformations};
use thiserror::Error;

use super::array::{Array, Dtype};

/// The reason why a PNG file cannot be read as a buffer, or a buffer cannot be written as a PNG file.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum PictureError {
    /// The file is damaged, or is not a PNG file.
    #[error("invalid PNG file: {0}")]
    Format(String),
    /// The picture has 16 bits per channel.
    #[error("the picture has 16 bits per channel; expected 8")]
    Deep,
    /// The picture is greyscale with alpha.
    #[error("the picture is grey with alpha; expected grey, RGB or RGBA")]
    GreyAlpha,
    /// The elements of the buffer are not bytes or vectors of bytes.
    #[error("a picture consists of bytes, but this is a buffer of {0}; expected elements i8, i8x4 or i8x16")]
    Type(Type),
    /// The decoded picture exceeds the size limit.
    #[error("the picture has {width} x {height} pixels, {bytes} bytes; the limit is {most} bytes")]
    Large {
        /// The width of the picture in pixels.
        width: u32,
        /// The height of the picture in pixels.
        height: u32,
        /// The size of the decoded picture in bytes.
        bytes: u64,
        /// The size limit in bytes.
        most: u64,
    },
    /// The bytes do not fill a whole number of elements.
    #[error("{width} x {height} pixels of {channels} bytes do not fill whole elements of {ty}")]
    Lanes {
        /// The width of the picture in pixels.
        width: u32,
        /// The height of the picture in pixels.
        height: u32,
        /// The number of bytes per pixel.
        channels: usize,
        /// The buffer's element type.
        ty: Type,
    },
    /// The width of the picture is not given.
    #[error("the width of the picture is not given; expected FILE.png:WIDTHxHEIGHT")]
    NoSize,
    /// The given size does not agree with the size of the buffer.
    #[error(
        "the buffer has {bytes} bytes, and {width} x {height} pixels have {} in grey, {} in RGB, {} in RGBA",
        pixels(*.width, *.height), pixels(*.width, *.height) * 3, pixels(*.width, *.height) * 4
    )]
    Size {
        /// The given width in pixels.
        width: u32,
        /// The given height in pixels.
        height: u32,
        /// The size of the buffer in bytes.
        bytes: usize,
    },
}

fn pixels(width: u32, height: u32) -> u64 {
    u64::from(width) * u64::from(height)
}

/// The memory limit of the decoder in bytes, in addition to the decoded picture. The decoder holds
/// a row, a palette and tables.
const SCRATCH: usize = 1 << 24;

/// Returns an error unless the lanes of the type are bytes.
fn bytes_only(ty: Type) -> Result<(), PictureError> {
    if ty.elem() == Elem::I8 { Ok(()) } else { Err(PictureError::Type(ty)) }
}

/// Converts the contents of a PNG file to the bytes of a buffer, at most `most` bytes. Also returns
/// the dtype and shape.
///
/// # Errors
/// Fails if the file is not a PNG file, or if the picture does not fit the type.
pub fn read(file: &[u8], ty: Type, most: u64) -> Result<(Vec<u8>, Array), PictureError> {
    bytes_only(ty)?;
    let format = |error: png::DecodingError| PictureError::Format(error.to_string());
    let mut decoder = Decoder::new_with_limits(Cursor::new(file), Limits { bytes: SCRATCH });
    // The decoder expands palettes and depths below 8 bits to bytes, and ignores metadata.
    decoder.set_transformations(Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info().map_err(format)?;
    let channels = match reader.output_color_type() {
        (_, BitDepth::Sixteen) => return Err(PictureError::Deep),
        (ColorType::Grayscale, _) => 1,
        (ColorType::Rgb, _) => 3,
        (ColorType::Rgba, _) => 4,
        _ => return Err(PictureError::GreyAlpha),
    };
    let (width, height) = reader.info().size();
    let size = pixels(width, height).saturating_mul(channels as u64);
    if size > most {
        return Err(PictureError::Large { width, height, bytes: size, most });
    }
    if !size.is_multiple_of(ty.bytes().into()) {
        return Err(PictureError::Lanes { width, height, channels, ty });
    }
    let mut bytes = vec![0; size as usize];
    if reader.output_buffer_size() != Some(bytes.len()) {
        return Err(PictureError::Format("its rows are not of its width".into()));
    }
    reader.next_frame(&mut bytes).map_err(format)?;
    let mut shape = vec![height.into(), width.into()];
    if channels > 1 {
        shape.push(channels as u64);
    }
    Ok((bytes, Array { dtype: Dtype::BYTES, shape }))
}

/// Returns the width and height in pixels if an array is a picture, otherwise `None`.
pub fn size_of(array: &Array) -> Option<(u32, u32)> {
    match array.shape[..] {
        [height, width] | [height, width, 1 | 3 | 4] if array.dtype.size == 1 => {
            Some((width.try_into().ok()?, height.try_into().ok()?))
        }
        _ => None,
    }
}

/// Returns the contents of a PNG file with the bytes of a buffer. The picture is greyscale, RGB or RGBA, depending on
/// the number of bytes per pixel.
///
/// # Errors
/// Fails if the buffer does not consist of bytes, or if its size does not agree with the width and height.
pub fn write(bytes: &[u8], ty: Type, (width, height): (u32, u32)) -> Result<Vec<u8>, PictureError> {
    bytes_only(ty)?;
    let pixels = pixels(width, height);
    let colour = match (bytes.len() as u64).checked_div(pixels) {
        Some(channels) if channels.checked_mul(pixels) == Some(bytes.len() as u64) => match channels {
            1 => Some(ColorType::Grayscale),
            3 => Some(ColorType::Rgb),
            4 => Some(ColorType::Rgba),
            _ => None,
        },
        _ => None,
    };
    let colour = colour.ok_or(PictureError::Size { width, height, bytes: bytes.len() })?;
    let format = |error: png::EncodingError| PictureError::Format(error.to_string());
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(colour);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(format)?;
    writer.write_image_data(bytes).map_err(format)?;
    writer.finish().map_err(format)?;
    Ok(file)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const MOST: u64 = 1 << 20;

    fn file(colour: ColorType, depth: BitDepth, (width, height): (u32, u32), data: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, width, height);
        encoder.set_color(colour);
        encoder.set_depth(depth);
        if colour == ColorType::Indexed {
            encoder.set_palette(vec![10, 20, 30, 40, 50, 60]);
        }
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(data).unwrap();
        writer.finish().unwrap();
        file
    }

    #[test]
    fn what_is_written_reads_back() {
        let bytes: Vec<u8> = (0..48).collect();
        for (ty, (width, height), shape) in [
            (Type::I8, (16, 3), vec![3, 16]),
            (Type::I8X4, (12, 4), vec![4, 12]),
            (Type::I8X16, (8, 2), vec![2, 8, 3]),
            (Type::I8, (4, 4), vec![4, 4, 3]),
            (Type::I8X4, (6, 2), vec![2, 6, 4]),
        ] {
            let file = write(&bytes, ty, (width, height)).unwrap();
            let (read, array) = read(&file, ty, MOST).unwrap();
            assert_eq!((read, array.shape.clone()), (bytes.clone(), shape), "{ty}");
            assert_eq!(size_of(&array), Some((width, height)));
        }
    }

    #[test]
    fn palettes_and_few_bits_become_bytes() {
        let (bytes, _) =
            read(&file(ColorType::Indexed, BitDepth::One, (2, 1), &[0b0100_0000]), Type::I8, MOST).unwrap();
        assert_eq!(bytes, [10, 20, 30, 40, 50, 60]);
        let (bytes, _) = read(&file(ColorType::Grayscale, BitDepth::Four, (2, 1), &[0x0f]), Type::I8, MOST).unwrap();
        assert_eq!(bytes, [0, 255]);
    }

    #[test]
    fn each_misfit_has_its_error() {
        let grey = file(ColorType::Grayscale, BitDepth::Eight, (3, 1), &[1, 2, 3]);
        let error = |file: &[u8], ty, most| read(file, ty, most).unwrap_err().to_string();
        assert_eq!(error(&grey, Type::I8X4, MOST), "3 x 1 pixels of 1 bytes do not fill whole elements of i8x4");
        assert_eq!(error(&grey, Type::I8, 2), "the picture has 3 x 1 pixels, 3 bytes; the limit is 2 bytes");
        assert_eq!(
            error(&grey, Type::F16X2, MOST),
            "a picture consists of bytes, but this is a buffer of f16x2; expected elements i8, i8x4 or i8x16"
        );
        let deep = file(ColorType::Grayscale, BitDepth::Sixteen, (1, 1), &[1, 2]);
        assert_eq!(error(&deep, Type::I8, MOST), "the picture has 16 bits per channel; expected 8");
        let alpha = file(ColorType::GrayscaleAlpha, BitDepth::Eight, (1, 1), &[1, 2]);
        assert_eq!(error(&alpha, Type::I8, MOST), "the picture is grey with alpha; expected grey, RGB or RGBA");
        assert!(error(b"GIF89a", Type::I8, MOST).starts_with("invalid PNG file: "));
        for length in 0..grey.len() - 12 {
            assert!(read(&grey[..length], Type::I8, MOST).is_err(), "{length}");
        }
        assert_eq!(
            write(&[0; 7], Type::I8, (2, 3)).unwrap_err().to_string(),
            "the buffer has 7 bytes, and 2 x 3 pixels have 6 in grey, 18 in RGB, 24 in RGBA"
        );
        assert!(write(&[], Type::I8, (0, 3)).is_err());
        assert!(write(&[0; 4], Type::I32, (1, 1)).is_err());
    }

    /// The decoder allocates memory for the size in the header only after checking that size.
    #[test]
    fn a_claim_costs_nothing() {
        let mut large = file(ColorType::Rgba, BitDepth::Eight, (1, 1), &[1, 2, 3, 4]);
        large[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        let crc = crc(&large[12..29]);
        large[29..33].copy_from_slice(&crc.to_be_bytes());
        let error = read(&large, Type::I8X4, MOST).unwrap_err();
        assert!(!matches!(&error, PictureError::Lanes { .. }), "{error}");
    }

    /// Reading a damaged file gives a picture of the size in its header, or an error.
    #[test]
    fn damage_is_an_error_or_another_picture() {
        let whole = write(&(0..64).collect::<Vec<u8>>(), Type::I8X4, (4, 4)).unwrap();
        for place in 0..whole.len() {
            for change in [1, 0x10, 0x80, 0xff] {
                let mut file = whole.clone();
                file[place] ^= change;
                if let Ok((bytes, array)) = read(&file, Type::I8X4, MOST) {
                    assert_eq!(array.bytes(), bytes.len() as u128, "{place}");
                }
            }
        }
    }

    fn crc(bytes: &[u8]) -> u32 {
        let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
    }
}
