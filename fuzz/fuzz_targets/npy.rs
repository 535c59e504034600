//! Every byte sequence is an `.npy` file for a type, or it is rejected. If the values of a file are
//! written and read again, they are the same.
#![no_main]

use halfbyte::args::npy::{read, write};
use halfbyte::ir::Type;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&number, file)) = data.split_last() else { return };
    let ty = Type::ALL[usize::from(number) % Type::ALL.len()];
    match read(file, ty) {
        Ok(bytes) => {
            assert_eq!(bytes.len() % ty.bytes() as usize, 0);
            assert_eq!(read(&write(&bytes, ty), ty).as_ref(), Ok(&bytes), "{ty}");
        }
        Err(error) => drop(error.to_string()),
    }
});
