//! Conversion of a kernel's parameters to the signature that objects and launches use.

use halfbyte_abi::{Param, Signature};
use halfbyte_ir::{Kernel, Reason};

use crate::Refusal;

/// Returns the name and the parameters of a kernel as objects and launches use them. The streams of a packed kernel are
/// not parameters.
///
/// # Errors
/// Fails if a parameter's type is wider than 128 bits, or if the parameters do not fit the constant bank.
pub fn signature(kernel: &Kernel, target: &'static str) -> Result<Signature, Refusal> {
    let refusal = |span, reason: Reason| Refusal { op: None, span, target, reason: Some(reason) };
    let streams = kernel.packing.as_ref().map_or(0, |packing| packing.streams.len());
    let mut params = Vec::with_capacity(kernel.params.len());
    for param in kernel.params.iter().take(kernel.params.len().saturating_sub(streams)) {
        if param.kind.ty().bits() > 128 {
            let reason = format!("parameter `%{}` has a type of more than 128 bits", param.name);
            let reason = Reason::from(reason).help("pass it in parts, or in an `in` buffer of one element");
            return Err(refusal(param.span, reason));
        }
        params.push(Param { name: param.name.clone(), kind: param.kind });
    }
    let contents = kernel.launch_params().iter().filter_map(|param| param.contents.clone()).collect();
    let signature = Signature::new(kernel.name.clone(), params);
    signature.and_then(|signature| signature.with_contents(contents)).map_err(|error| {
        refusal(kernel.span, {
            Reason::from(error.to_string()).help("pass fewer parameters, or several of them in one `in` buffer")
        })
    })
}
