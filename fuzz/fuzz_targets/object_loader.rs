//! Every byte sequence is a valid object, or it is rejected. The kernels of a loaded object end or trap.
#![no_main]

use halfbyte::abi::ParamKind;
use halfbyte::runtime::{Arg, Launch};
use libfuzzer_sys::fuzz_target;

const ITEMS: u32 = 3;
const ELEMENTS: usize = 8;
const BUDGET: u64 = 16;

fuzz_target!(|data: &[u8]| {
    let Ok(program) = halfbyte::TARGETS.load(data) else { return };
    for kernel in program.kernels() {
        let params = kernel.signature().given();
        let mut buffers: Vec<Vec<u8>> = params
            .iter()
            .map(|param| match param.kind {
                ParamKind::Scalar(_) => Vec::new(),
                ParamKind::Buffer { elem, .. } => vec![0x80; ELEMENTS * elem.bytes() as usize],
            })
            .collect();
        let mut args: Vec<Arg<'_>> = params
            .iter()
            .zip(&mut buffers)
            .map(|(param, bytes)| match param.kind {
                ParamKind::Scalar(_) => Arg::Scalar(1),
                ParamKind::Buffer { .. } => Arg::Buffer(bytes),
            })
            .collect();
        if let Err(error) = kernel.launch(Launch { budget: BUDGET, ..Launch::new(ITEMS, &mut args) }) {
            let _ = error.to_string();
        }
    }
});
