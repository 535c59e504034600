//! Arguments of kernel launches.

/// An argument of a launch. Slices may start at any address.
#[derive(Debug)]
pub enum Arg<'a> {
    /// The bits of a scalar. Bits beyond the parameter's type must be zero.
    Scalar(u128),
    /// An `in` buffer.
    In(&'a [u8]),
    /// A buffer of any direction. A launch starts by filling an `out` buffer with zeros.
    Buffer(&'a mut [u8]),
    /// An address in the buffer of another argument, so that two parameters share memory. The
    /// parameter needs `may_alias` if the kernel writes through it.
    Alias {
        /// Index of the parameter whose argument is the shared buffer.
        of: usize,
        /// Offset of the address in bytes from the start of the shared buffer.
        offset: u64,
    },
}

impl Arg<'_> {
    /// Reborrows the argument for a shorter lifetime.
    pub fn reborrow(&mut self) -> Arg<'_> {
        match self {
            Arg::Scalar(bits) => Arg::Scalar(*bits),
            Arg::In(bytes) => Arg::In(bytes),
            Arg::Buffer(bytes) => Arg::Buffer(bytes),
            &mut Arg::Alias { of, offset } => Arg::Alias { of, offset },
        }
    }

    /// Returns the kind of the argument as error messages name it.
    pub const fn name(&self) -> &'static str {
        match self {
            Arg::Scalar(_) => "a scalar",
            Arg::In(_) => "a read-only buffer",
            Arg::Buffer(_) => "a buffer",
            Arg::Alias { .. } => "an address in a buffer",
        }
    }
}
