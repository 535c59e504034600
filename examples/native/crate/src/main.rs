//! Calls kernels that the build script compiles to native functions.

mod kernels {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

fn main() -> Result<(), kernels::Error> {
    // Four pixels are one word, the first pixel in the lowest byte.
    let pixels = [[0, 100, 215, 216], [255; 4]].map(u32::from_le_bytes);
    let mut lighter = [0; 2];
    kernels::brighten(2, u32::from_le_bytes([40; 4]), &pixels, &mut lighter)?;
    println!("{:?}", lighter.map(u32::to_le_bytes));

    // Halves are passed as bits: 2.0 is 0x4000, -1.0 is 0xbc00, 1.0 is 0x3c00.
    let mut y = [0; 1];
    kernels::neuron(1, 0x4000_4000, 0xbc00_bc00, &[0x3c00_3400], &mut y)?;
    println!("{:#010x}", y[0]);

    // A buffer that is too small causes an error with the position of the access; no access exceeds a slice.
    let error = kernels::neuron(2, 0, 0, &[0], &mut y).err();
    println!("{}", error.map_or(String::new(), |error| error.to_string()));
    Ok(())
}
