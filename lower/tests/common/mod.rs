//! What the tests of lowering share: running kernels, and targets made up for a test.

pub mod pack;

use halfbyte_ir::eval::{self, Arg, Prepared};
use halfbyte_ir::text::read;
use halfbyte_ir::witness::{Launch, Source, Witness};
use halfbyte_ir::{Kernel, Type};

/// The one kernel of a text.
pub fn kernel(text: &str) -> Kernel {
    match read(text) {
        Ok(mut module) if module.kernels.len() == 1 => module.kernels.remove(0),
        Ok(_) => panic!("one kernel is wanted:\n{text}"),
        Err(errors) => panic!("{}\n{text}", errors.first().map_or(String::new(), |e| e.message.clone())),
    }
}

/// What a witness kernel writes to its output.
pub fn output(kernel: &Kernel, witness: &Witness, launch: &Launch) -> Vec<u8> {
    let mut buffers = launch.args.clone();
    let mut args: Vec<Arg<'_>> = Vec::new();
    let mut base = 0x1000;
    for (bytes, param) in buffers.iter_mut().zip(&witness.params) {
        if param.source == Source::Scalar {
            let mut words = [0; 8];
            for (i, &byte) in bytes.iter().enumerate() {
                words[i / 8] |= u64::from(byte) << (8 * (i % 8));
            }
            args.push(Arg::Scalar(words));
        } else {
            args.push(Arg::Buffer { base, bytes });
            base += 0x1000_0000;
        }
    }
    if let Err(fault) = Prepared::new(kernel).run(&eval::Launch::new(launch.items), &mut args) {
        panic!("{fault}\n{kernel}");
    }
    drop(args);
    buffers.swap_remove(witness.output)
}

/// Demands the same output of both kernels, and shows the first item that differs.
pub fn same_output(before: &Kernel, after: &Kernel, witness: &Witness, launch: &Launch) {
    let expected = output(before, witness, launch);
    let found = output(after, witness, launch);
    if let Some(at) = expected.iter().zip(&found).position(|(a, b)| a != b) {
        let size = |ty: Type| ty.bytes() as usize;
        let item = at / size(witness.params[witness.output].ty);
        let of = |bytes: &[u8], ty: Type| format!("{:02x?}", &bytes[item * size(ty)..][..size(ty)]);
        let inputs: Vec<String> = (witness.params.iter().zip(&launch.args))
            .filter(|(param, _)| matches!(param.source, Source::Loaded | Source::Buffer))
            .map(|(param, bytes)| of(bytes, param.ty))
            .collect();
        let ty = witness.params[witness.output].ty;
        panic!(
            "item {item} on {}: {} before, {} after\n{before}\n{after}",
            inputs.join(", "),
            of(&expected, ty),
            of(&found, ty)
        );
    }
}
