//! A kernel's parameters in the terms of the machine.

use halfbyte_ir::{Direction, Elem, Kernel, ParamKind, Type};
use halfbyte_isa::abi;
use halfbyte_isa::target::Target;

use crate::Refusal;

fn elem_type(ty: Type) -> Option<abi::ElemType> {
    let lane = match ty.elem() {
        Elem::I1 => abi::Lane::I1,
        Elem::I8 => abi::Lane::I8,
        Elem::I16 => abi::Lane::I16,
        Elem::I32 => abi::Lane::I32,
        Elem::I64 => abi::Lane::I64,
        Elem::F16 => abi::Lane::F16,
        Elem::BF16 => abi::Lane::BF16,
        Elem::F32 => abi::Lane::F32,
        Elem::Ptr => abi::Lane::Ptr,
    };
    abi::ElemType::new(lane, ty.lanes() as u8)
}

fn param_kind(kind: ParamKind) -> Option<abi::ParamKind> {
    Some(match kind {
        ParamKind::Scalar(ty) => abi::ParamKind::Scalar(elem_type(ty)?),
        ParamKind::Buffer { direction, elem, align } => abi::ParamKind::Buffer {
            direction: match direction {
                Direction::In => abi::Direction::In,
                Direction::Out => abi::Direction::Out,
                Direction::InOut => abi::Direction::InOut,
            },
            elem: elem_type(elem)?,
            align,
        },
    })
}

/// A kernel's name and parameters as objects and launches know them: without streams.
///
/// # Errors
/// A parameter of a type wider than 128 bits, or more of them than the constant bank holds.
pub fn signature(kernel: &Kernel, target: Target) -> Result<abi::Signature, Refusal> {
    let refusal = |span, reason| Refusal { op: None, span, target: target.name(), reason: Some(reason) };
    let streams = kernel.packing.as_ref().map_or(0, |packing| packing.streams.len());
    let mut params = Vec::with_capacity(kernel.params.len());
    for param in kernel.params.iter().take(kernel.params.len().saturating_sub(streams)) {
        let Some(kind) = param_kind(param.kind) else {
            let reason = format!("parameter `%{}` has a type of more than 128 bits", param.name);
            return Err(refusal(param.span, reason));
        };
        params.push(abi::Param { name: param.name.clone(), kind });
    }
    let contents = kernel.launch_params().iter().filter_map(|param| param.contents.clone()).collect();
    let signature = abi::Signature::new(kernel.name.clone(), params);
    signature
        .and_then(|signature| signature.with_contents(contents))
        .map_err(|error| refusal(kernel.span, error.to_string()))
}
