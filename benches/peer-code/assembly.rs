//! Programs that are assembled from assembly text and loaded through an object.

use halfbyte::Target;
use halfbyte::abi::{Direction, Param, ParamKind, Signature, Type};
use halfbyte::emit::{KernelCode, write_object};
use halfbyte::isa::isa::SharedCode;
use halfbyte::isa::object::{Header, KernelInfo, Loc};
use halfbyte::isa::stream::{AccessSite, Affine, Stream, StreamContents, Tiles};
use halfbyte::isa::{halu, vp1};

/// Returns a 32-bit scalar parameter.
pub fn scalar(name: &str) -> Result<Param, String> {
    Ok(Param { name: name.into(), kind: ParamKind::Scalar(elem("i32")?) })
}

/// Returns a buffer parameter with an element type such as `i8x16`.
pub fn buffer(name: &str, direction: Direction, ty: &str) -> Result<Param, String> {
    let elem = elem(ty)?;
    Ok(Param { name: name.into(), kind: ParamKind::Buffer { direction, elem, align: elem.bytes(), may_alias: false } })
}

fn elem(ty: &str) -> Result<Type, String> {
    Type::from_name(ty).ok_or_else(|| format!("there is no type `{ty}`"))
}

/// Assembles a HALU kernel and returns its object.
pub fn halu_object(params: Vec<Param>, text: &str) -> Result<Vec<u8>, String> {
    let program = halu::assemble(text).map_err(|errors| format!("{errors:?}"))?;
    object(halfbyte::HALU, params, halfbyte::isa::halu::HaluCode(program.words).into(), None)
}

/// Assembles a VP1 kernel and returns its object. The stream of each buffer has 16 bytes per item.
pub fn vp1_object(params: Vec<Param>, text: &str, group_branch: Option<u32>) -> Result<Vec<u8>, String> {
    let program = vp1::assemble(text).map_err(|errors| format!("{errors:?}"))?;
    let stream = |(buffer, param): (u32, &Param)| {
        let ParamKind::Buffer { direction, .. } = param.kind else { return None };
        Some(Stream {
            buffer: Some(buffer),
            holds: StreamContents::Elements,
            bytes: 16,
            align: 16,
            uniform: false,
            scale: 16.into(),
            index: Affine::default(),
            offset: 0,
            steps: Vec::new(),
            guard: None,
            site: AccessSite { word: 0, written: direction != Direction::In },
        })
    };
    let streams = (0..).zip(&params).filter_map(stream).collect();
    let tiles = Tiles { items: 1, group_branch, image: Vec::new(), streams };
    object(halfbyte::VP1, params, halfbyte::isa::vp1::Vp1Code(program.words).into(), Some(tiles))
}

fn object(target: Target, params: Vec<Param>, words: SharedCode, tiles: Option<Tiles>) -> Result<Vec<u8>, String> {
    let signature = Signature::new("k", params).map_err(|error| error.to_string())?;
    let code = KernelCode {
        info: KernelInfo {
            signature,
            local_bytes: 0,
            registers: 16,
            tiles,
            max_items: u32::MAX,
            shared_bytes: None,
            scratch_bytes: 0,
            along_x: true,
        },
        locs: vec![Loc::default(); words.len()],
        parts: Vec::new(),
        words,
        stats: Vec::new(),
    };
    let header = Header { target, source: "peers.s".into() };
    write_object(&header, &[code]).map_err(|error| error.to_string())
}
