//! The record of a kernel's tiles.
//!
//! The record has these fields in order. A number has 32 bits unless another size is given. An absent optional number
//! is encoded as `u32::MAX`.
//!
//! * Tiles: the number of items in a group; the optional address of the branch that ends a group; the size of the image
//!   and its bytes; the number of streams and the streams.
//! * Stream: the optional buffer; a byte of flags (bit 0 written, bit 1 uniform, the other bits 0 for elements, 4 for a
//!   whole buffer, 8 for offsets); for offsets the number of the window; the size of an access in bytes; the alignment;
//!   the scale and the index, which are affine sums; the offset; the optional guard; the address of the instruction
//!   word of the access; the number of loops and a step for each loop.
//! * Step: the loop's number; the trip count; the stride, which is an affine sum. The trip count is a byte and a value:
//!   0 and a constant, or 1 (unsigned) or 2 (signed), an affine sum and a lower bound.
//! * Affine sum: the constant; the number of terms and the terms. A term is a byte, which is 0 for a parameter and 1
//!   for the item count; the parameter's number if the byte is 0; and the multiplier.

use super::{Fields, RecordError, put_u32};
use crate::stream::{AccessSite, Affine, AffineVariable, Step, Stream, StreamContents, Tiles, TripCount};

/// Encoding of an absent optional number.
const ABSENT: u32 = u32::MAX;

const WRITTEN: u8 = 1;
const UNIFORM: u8 = 2;
const WINDOW: u8 = 4;
const OFFSETS: u8 = 8;
const LAST: u8 = OFFSETS | WRITTEN | UNIFORM;

const CONST: u8 = 0;
const UNSIGNED: u8 = 1;
const SIGNED: u8 = 2;

const PARAM: u8 = 0;
const ITEM_COUNT: u8 = 1;

pub(super) fn put(out: &mut Vec<u8>, tiles: &Tiles) {
    put_u32(out, tiles.items);
    put_u32(out, tiles.group_branch.unwrap_or(ABSENT));
    put_u32(out, tiles.image.len() as u32);
    out.extend(&tiles.image);
    put_u32(out, tiles.streams.len() as u32);
    for stream in &tiles.streams {
        put_u32(out, stream.buffer.unwrap_or(ABSENT));
        let (written, uniform) = (u8::from(stream.site.written) * WRITTEN, u8::from(stream.uniform) * UNIFORM);
        let (holds, window) = match stream.holds {
            StreamContents::Elements => (0, None),
            StreamContents::Buffer => (WINDOW, None),
            StreamContents::Offsets { window, .. } => (OFFSETS, Some(window)),
        };
        out.push(written | uniform | holds);
        window.into_iter().for_each(|window| put_u32(out, window));
        put_u32(out, stream.bytes);
        put_u32(out, stream.align);
        put_affine(out, &stream.scale);
        put_affine(out, &stream.index);
        put_u32(out, stream.offset as u32);
        put_u32(out, stream.guard.unwrap_or(ABSENT));
        put_u32(out, stream.site.word);
        put_u32(out, stream.steps.len() as u32);
        for step in &stream.steps {
            put_u32(out, step.loop_number);
            match &step.trips {
                TripCount::Const(trips) => {
                    out.push(CONST);
                    put_u32(out, *trips);
                }
                TripCount::Of { count, signed, at_least } => {
                    out.push(if *signed { SIGNED } else { UNSIGNED });
                    put_affine(out, count);
                    put_u32(out, *at_least);
                }
            }
            put_affine(out, &step.stride);
        }
    }
}

fn put_affine(out: &mut Vec<u8>, sum: &Affine) {
    put_u32(out, sum.constant);
    put_u32(out, sum.terms.len() as u32);
    for &(factor, multiplier) in &sum.terms {
        match factor {
            AffineVariable::Param(param) => {
                out.push(PARAM);
                put_u32(out, param);
            }
            AffineVariable::ItemCount => out.push(ITEM_COUNT),
        }
        put_u32(out, multiplier);
    }
}

impl Fields<'_> {
    pub(super) fn tiles(&mut self) -> Result<Tiles, RecordError> {
        let items = self.u32()?;
        let group_branch = self.optional_u32()?;
        let image = self.u32()? as usize;
        let image = self.take(image)?.to_vec();
        Ok(Tiles { items, group_branch, image, streams: self.list(Self::stream)? })
    }

    fn stream(&mut self) -> Result<Stream, RecordError> {
        let buffer = self.optional_u32()?;
        let flags = self.tag(LAST)?;
        let stores = flags & WRITTEN != 0;
        let holds = match flags & !(WRITTEN | UNIFORM) {
            0 => StreamContents::Elements,
            WINDOW => StreamContents::Buffer,
            _ => StreamContents::Offsets { window: self.u32()?, stores },
        };
        Ok(Stream {
            buffer,
            holds,
            uniform: flags & UNIFORM != 0,
            bytes: self.u32()?,
            align: self.u32()?,
            scale: self.affine()?,
            index: self.affine()?,
            offset: self.u32()? as i32,
            guard: self.optional_u32()?,
            site: AccessSite { word: self.u32()?, written: stores },
            steps: self.list(Self::step)?,
        })
    }

    fn step(&mut self) -> Result<Step, RecordError> {
        let loop_number = self.u32()?;
        let trips = match self.tag(SIGNED)? {
            CONST => TripCount::Const(self.u32()?),
            kind => TripCount::Of { count: self.affine()?, signed: kind == SIGNED, at_least: self.u32()? },
        };
        Ok(Step { loop_number, trips, stride: self.affine()? })
    }

    fn affine(&mut self) -> Result<Affine, RecordError> {
        let constant = self.u32()?;
        let terms = self.list(|fields| {
            let factor = match fields.tag(ITEM_COUNT)? {
                PARAM => AffineVariable::Param(fields.u32()?),
                _ => AffineVariable::ItemCount,
            };
            Ok((factor, fields.u32()?))
        })?;
        Ok(Affine { constant, terms })
    }

    fn optional_u32(&mut self) -> Result<Option<u32>, RecordError> {
        self.u32().map(|number| Some(number).filter(|&number| number != ABSENT))
    }

    /// Decodes a list: the number of records, and the records. The list is not preallocated,
    /// because the count of a malformed record may exceed the bytes that follow.
    fn list<T>(&mut self, mut record: impl FnMut(&mut Self) -> Result<T, RecordError>) -> Result<Vec<T>, RecordError> {
        let count = self.u32()?;
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(record(self)?);
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::object::{KernelInfo, RecordError};
    use crate::stream::{
        AccessSite, Affine, AffineVariable, Step, Stream, StreamContents, StreamError, Tiles, TilesError, TripCount,
    };
    use crate::{halu, vp1};
    use halfbyte_abi::{Direction, Param, ParamKind, Signature, Type};

    fn read(info: &KernelInfo) -> Result<KernelInfo, RecordError> {
        KernelInfo::from_bytes(vp1::TARGET, &info.to_bytes(vp1::TARGET))
    }

    fn tiles(info: &mut KernelInfo) -> &mut Tiles {
        info.tiles.as_mut().unwrap()
    }

    /// Returns the description of a kernel with the parameters `n: i32, x: in i8x4, y: out i32, w:
    /// i8x16`, a loop, guards and a uniform stream.
    fn info() -> KernelInfo {
        let elem = |name| Type::from_name(name).unwrap();
        let param = |name: &str, kind| Param { name: name.into(), kind };
        let buffer = |direction, ty| ParamKind::Buffer { direction, elem: elem(ty), align: 4, may_alias: false };
        let params = vec![
            param("n", ParamKind::Scalar(elem("i32"))),
            param("x", buffer(Direction::In, "i8x4")),
            param("y", buffer(Direction::Out, "i32")),
            param("w", ParamKind::Scalar(elem("i8x16"))),
        ];
        let sum =
            Affine { constant: 3, terms: vec![(AffineVariable::Param(0), 4), (AffineVariable::ItemCount, u32::MAX)] };
        let trips = TripCount::Of { count: sum.clone(), signed: true, at_least: 1 };
        let outer = Step { loop_number: 5, trips, stride: sum.clone() };
        let inner = Step { loop_number: 7, trips: TripCount::Const(3), stride: Affine::default() };
        let read = Stream {
            buffer: Some(1),
            holds: StreamContents::Elements,
            bytes: 4,
            align: 4,
            uniform: false,
            scale: 4.into(),
            index: sum,
            offset: -8,
            steps: vec![outer.clone(), inner.clone()],
            guard: None,
            site: AccessSite { word: 2, written: false },
        };
        let guard = Stream {
            buffer: None,
            site: AccessSite { word: 2, written: true },
            scale: 0.into(),
            steps: vec![outer.clone()],
            offset: 0,
            ..read.clone()
        };
        let written = Stream { buffer: Some(2), guard: Some(1), steps: vec![outer], offset: 0, ..guard.clone() };
        let table = Stream { uniform: true, scale: 0.into(), steps: vec![], ..read.clone() };
        let image = (0..48).collect();
        let tiles = Tiles { items: 4, group_branch: Some(9), image, streams: vec![read, guard, written, table] };
        let signature = Signature::new("k", params).unwrap();
        KernelInfo {
            signature,
            local_bytes: 64,
            registers: 3,
            tiles: Some(tiles),
            max_items: u32::MAX,
            shared_bytes: None,
            scratch_bytes: 0,
            along_x: true,
        }
    }

    #[test]
    fn records_come_back() {
        let mut info = info();
        assert_eq!(read(&info), Ok(info.clone()));
        tiles(&mut info).group_branch = None;
        assert_eq!(read(&info), Ok(info));
    }

    #[test]
    fn a_record_is_its_targets() {
        let mut info = info();
        assert!(KernelInfo::from_bytes(halu::TARGET, &info.to_bytes(vp1::TARGET)).is_err());
        info.tiles = None;
        assert!(matches!(read(&info), Err(RecordError::Truncated(_))));
    }

    #[test]
    fn every_truncation_is_refused_and_any_bit_may_flip() {
        let bytes = info().to_bytes(vp1::TARGET);
        for length in 0..bytes.len() {
            assert_eq!(KernelInfo::from_bytes(vp1::TARGET, &bytes[..length]), Err(RecordError::Truncated(length)));
        }
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(info) = KernelInfo::from_bytes(vp1::TARGET, &bytes) {
                assert_eq!(info.to_bytes(vp1::TARGET), bytes);
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |change: &dyn Fn(&mut Tiles)| {
            let mut info = info();
            change(tiles(&mut info));
            read(&info).unwrap_err().to_string()
        };
        assert_eq!(refused(&|tiles| tiles.items = 2), "a group has 2 items; expected 1, 4 or 16");
        assert_eq!(
            refused(&|tiles| tiles.image = vec![0; 65]),
            "the image has 65 bytes but only 64 bytes precede the streams"
        );
        let streams = |tiles: &mut Tiles, count| tiles.streams = vec![tiles.streams[3].clone(); count];
        assert_eq!(refused(&|tiles| streams(tiles, 1025)), "there are 1025 streams; at most 1024 are possible");
        assert_eq!(
            refused(&|tiles| streams(tiles, 31)),
            "the streams need 31 regions of the data store; at most 30 are possible"
        );

        let stream = |change: &dyn Fn(&mut Stream)| refused(&|tiles| change(&mut tiles.streams[2]));
        assert_eq!(stream(&|s| s.buffer = Some(0)), "stream 2: parameter 0 is not a buffer");
        assert_eq!(stream(&|s| s.buffer = Some(4)), "stream 2: parameter 4 is not a buffer");
        assert_eq!(
            stream(&|s| s.buffer = None),
            "stream 2: a guard stream must be an output of the program, and must not have a guard itself"
        );
        let unwritten = refused(&|tiles| tiles.streams[1].site.written = false);
        assert_eq!(
            unwritten,
            "stream 1: a guard stream must be an output of the program, and must not have a guard itself"
        );
        for guard in [0, 2, 3, 4] {
            assert_eq!(
                stream(&|s| s.guard = Some(guard)),
                format!("stream 2: its guard, stream {guard}, is not a guard with the same loops")
            );
        }
        assert_eq!(stream(&|s| s.steps.clear()), "stream 2: its guard, stream 1, is not a guard with the same loops");
        assert_eq!(stream(&|s| s.uniform = true), "stream 2: its guard, stream 1, is not a guard with the same loops");
        assert_eq!(stream(&|s| s.bytes = 3), "stream 2: the access has 3 bytes; expected 1, 2, 4, 8 or 16");
        assert_eq!(stream(&|s| s.align = 0), "stream 2: alignment 0 is not a power of two");
        assert_eq!(
            refused(&|tiles| tiles.streams[3].scale = 4.into()),
            "stream 3: a uniform stream must not have a scale"
        );
        let per_item = refused(&|tiles| tiles.streams[2].scale.terms = vec![(AffineVariable::Param(1), 1)]);
        assert_eq!(per_item, "stream 2: parameter 1 is not a 32-bit scalar");
        let factor = |s: &mut Stream, param| s.index.terms = vec![(AffineVariable::Param(param), 1)];
        assert_eq!(stream(&|s| factor(s, 1)), "stream 2: parameter 1 is not a 32-bit scalar");
        assert_eq!(stream(&|s| factor(s, 3)), "stream 2: parameter 3 is not a 32-bit scalar");
        assert_eq!(stream(&|s| factor(s, 4)), "stream 2: parameter 4 is not a 32-bit scalar");
        let at_least = |s: &mut Stream| match &mut s.steps[0].trips {
            TripCount::Of { at_least, .. } => *at_least = 2,
            TripCount::Const(_) => {}
        };
        assert_eq!(stream(&at_least), "stream 2: the lower bound of a trip count is 2; expected 0 or 1");

        let first = |change: &dyn Fn(&mut Stream)| refused(&|tiles| change(&mut tiles.streams[0]));
        let deep = |s: &mut Stream| s.steps = vec![s.steps[1].clone(); 33];
        assert_eq!(first(&deep), "stream 0: 33 nested loops; the maximum is 32");
        assert_eq!(
            first(&|s| s.steps[1].loop_number = 5),
            "stream 0: loop 5 differs from its description in an earlier stream"
        );
        assert_eq!(
            first(&|s| s.steps.swap(0, 1)),
            "stream 1: loop 5 differs from its description in an earlier stream"
        );
        assert_eq!(
            first(&|s| s.steps[0].trips = TripCount::Const(1)),
            "stream 1: loop 5 differs from its description in an earlier stream"
        );
    }

    #[test]
    fn what_is_too_much_is_refused() {
        let mut large = info();
        large.local_bytes = 2049;
        let message = "the image and the spilled registers take 2049 bytes; at most 2048 are possible";
        assert_eq!(read(&large).unwrap_err().to_string(), message);

        let mut wide = info();
        let mut params = wide.signature.params().to_vec();
        params.extend(vec![params[3].clone(); 13]);
        wide.signature = Signature::new("k", params).unwrap();
        assert!(read(&wide).is_ok());
        let table = tiles(&mut wide).streams[3].clone();
        tiles(&mut wide).streams.push(table);
        assert_eq!(read(&wide), Err(RecordError::Tiles(TilesError::Regions { regions: 5, most: 4 })));
    }

    /// Returns `info()` with two more streams: a window over the first buffer, and loads at offsets in that window.
    fn with_window() -> KernelInfo {
        let mut info = info();
        let streams = &mut tiles(&mut info).streams;
        let window = Stream {
            buffer: Some(1),
            holds: StreamContents::Buffer,
            bytes: 1,
            align: 1,
            uniform: true,
            ..Stream::default()
        };
        let loads = Stream {
            holds: StreamContents::Offsets { window: 4, stores: false },
            bytes: 4,
            align: 4,
            uniform: false,
            ..window.clone()
        };
        streams.extend([window, loads]);
        info
    }

    #[test]
    fn rejects_a_window_over_another_buffer() {
        let info = with_window();
        assert_eq!(read(&info).as_ref(), Ok(&info));
        let refused = |change: &dyn Fn(&mut Stream), number: usize| {
            let mut info = with_window();
            change(&mut tiles(&mut info).streams[number]);
            read(&info).unwrap_err().to_string()
        };
        let window =
            "stream 4: a window must be a uniform stream of single bytes in a buffer, without loops, address or guard";
        assert_eq!(refused(&|s| s.uniform = false, 4), window);
        assert_eq!(refused(&|s| s.offset = 4, 4), window);
        let in_it = "stream 5: stream 4 is not a matching window";
        assert_eq!(refused(&|s| s.buffer = Some(2), 5), in_it);
        assert_eq!(refused(&|s| s.index = 4.into(), 5), in_it);
        // A store through a window needs a window that is written.
        assert_eq!(refused(&|s| s.site.written = true, 5), in_it);
    }

    #[test]
    fn rejects_tags_and_counts_out_of_range() {
        let (info, bytes) = (info(), info().to_bytes(vp1::TARGET));
        let at = bytes.len() - {
            let mut tiles = Vec::new();
            super::put(&mut tiles, info.tiles.as_ref().unwrap());
            tiles.len()
        };
        let with = |offset: usize, value: &[u8]| {
            let mut bytes = bytes.clone();
            bytes[at + offset..at + offset + value.len()].copy_from_slice(value);
            KernelInfo::from_bytes(vp1::TARGET, &bytes)
        };
        // Offsets in the record: 8 is the image size, 60 the number of streams, 64 the buffer of
        // the first stream, and 68 its flags.
        let huge = u32::MAX.to_le_bytes();
        assert_eq!(with(8, &huge), Err(RecordError::Truncated(bytes.len())));
        assert!(with(60, &huge).is_err());
        let guard = TilesError::Stream { stream: 0, error: StreamError::Guard };
        assert_eq!(with(64, &huge), Err(RecordError::Tiles(guard)));
        assert_eq!(with(68, &[12]), Err(RecordError::Tag { at: at + 68, found: 12, most: 11 }));
    }
}
