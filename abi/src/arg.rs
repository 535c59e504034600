//! Arguments of launches.

/// An argument of a launch. Slices may start at any address.
#[derive(Debug)]
pub enum Arg<'a> {
    /// The bits of a scalar. Bits beyond the parameter's type must be zero.
    Scalar(u128),
    /// An `in` buffer.
    In(&'a [u8]),
    /// A buffer of any direction. A launch starts by filling an `out` buffer with zeros.
    Buffer(&'a mut [u8]),
    /// An address in the buffer of another argument, so that both parameters share memory. The
    /// parameter needs `may_alias` if the kernel writes through it.
    Alias {
        /// Index of the parameter whose argument is the buffer.
        of: usize,
        /// Offset in bytes from the buffer's start.
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

    /// Returns the kind of argument, as messages call it.
    pub const fn name(&self) -> &'static str {
        match self {
            Arg::Scalar(_) => "a scalar",
            Arg::In(_) => "a read-only buffer",
            Arg::Buffer(_) => "a buffer",
            Arg::Alias { .. } => "an address in a buffer",
        }
    }
}
