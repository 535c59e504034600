//! The arguments of launches.

/// An argument of a launch. Slices may start at any address.
#[derive(Debug)]
pub enum Arg<'a> {
    /// A scalar, by its bits; those beyond its type are zero.
    Scalar(u128),
    /// An `in` buffer.
    In(&'a [u8]),
    /// A buffer of any direction. A launch starts by making an `out` buffer all zero.
    Buffer(&'a mut [u8]),
    /// An address in the buffer of another argument: both parameters have the same memory. A parameter that writes its buffer says
    /// `may_alias` for that.
    Alias {
        /// The parameter whose argument is the buffer, by number.
        of: usize,
        /// Bytes from the buffer's start.
        offset: u64,
    },
}

impl Arg<'_> {
    /// The same for a shorter time.
    pub fn reborrow(&mut self) -> Arg<'_> {
        match self {
            Arg::Scalar(bits) => Arg::Scalar(*bits),
            Arg::In(bytes) => Arg::In(bytes),
            Arg::Buffer(bytes) => Arg::Buffer(bytes),
            &mut Arg::Alias { of, offset } => Arg::Alias { of, offset },
        }
    }

    /// Its name in messages.
    pub const fn name(&self) -> &'static str {
        match self {
            Arg::Scalar(_) => "a scalar",
            Arg::In(_) => "a read-only buffer",
            Arg::Buffer(_) => "a buffer",
            Arg::Alias { .. } => "an address in a buffer",
        }
    }
}
