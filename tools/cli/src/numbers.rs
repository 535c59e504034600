//! Conversion of lanes and buffers to JSON.

use halfbyte::abi::{Elem, Type};
use halfbyte::args::element_bits;
use halfbyte::args::print::{Sign, lane_value, lanes};
use halfbyte_testkit::compare::{Difference, Lane, ulps};
use serde_json::{Value, json};

use super::json::Members;

/// Converts a lane to a JSON number. A value that JSON cannot represent becomes a string: `"inf"`,
/// `"-inf"`, `"nan"`, or an address.
fn number(elem: Elem, bits: u64, sign: Sign) -> Value {
    let text = lane_value(elem, bits, sign);
    let read = if elem == Elem::Ptr { None } else { serde_json::from_str::<Value>(&text).ok() };
    match read {
        Some(value) if value.is_number() => value,
        // `lane_value` formats a NaN with a payload as bits, such as `0x7e01`.
        _ if elem != Elem::Ptr && text.starts_with("0x") => "nan".into(),
        _ => text.into(),
    }
}

/// Formats the bits of a lane in hexadecimal, with leading zeros.
fn bits(elem: Elem, bits: u64) -> String {
    format!("{bits:#0width$x}", width = 2 + elem.bits().div_ceil(4) as usize)
}

/// Converts a buffer to two JSON arrays: the values of its elements, and their bits. An element of
/// a vector type is an array of lanes.
pub(super) fn buffer(ty: Type, bytes: &[u8], sign: Sign) -> (Value, Value) {
    let value = |element: &[u8]| {
        let mut numbers: Vec<Value> = lanes(ty, element).map(|lane| number(ty.elem(), lane, sign)).collect();
        if ty.is_scalar() { numbers.pop().unwrap_or_default() } else { numbers.into() }
    };
    let elements = || bytes.chunks_exact(ty.bytes() as usize);
    (elements().map(value).collect(), elements().map(|element| Value::from(element_bits(ty, element))).collect())
}

/// Converts the difference between two contents of a buffer to JSON, with the first differing lanes.
pub(super) fn mismatch(found: &Difference) -> Value {
    let elem = found.ty.elem();
    let both = |lane: u64| json!({ "value": number(elem, lane, found.sign), "bits": bits(elem, lane) });
    let lane = |lane: &Lane| {
        let mut object = Members::new();
        object.insert("element".into(), lane.element.into());
        object.insert("lane".into(), lane.lane.into());
        object.extend(lane.item.map(|item| ("item".to_owned(), item.into())));
        object.insert("expected".into(), both(lane.expected));
        object.insert("found".into(), both(lane.found));
        let apart = ulps(elem, lane.expected, lane.found);
        object.extend(apart.map(|ulps| ("ulps".to_owned(), ulps.into())));
        object.extend(found.distance(lane).map(|distance| ("distance".to_owned(), distance.into())));
        Value::Object(object)
    };
    let mut object = json!({
        "buffer": found.buffer,
        "type": found.ty.name(),
        "expected_by": found.expected_of,
        "found_on": found.found_of,
        "elements": found.elements,
        "differing": found.differing,
        "lanes": std::iter::once(&found.first).chain(&found.next).map(lane).collect::<Vec<_>>(),
    });
    if let Some(near) = &found.near {
        object["margin"] = near.description.as_str().into();
    }
    object
}
