//! Launch arguments with Rust types.

use half::{bf16, f16};
use halfbyte_abi::Type;
use halfbyte_runtime as runtime;

use crate::data::{Data, bits, fits};

/// An argument of a launch, with the Rust type of its lanes if known.
#[derive(Debug)]
pub struct Arg<'a> {
    pub(crate) raw: runtime::Arg<'a>,
    /// The lane type, or `None` for untyped bytes.
    pub(crate) lanes: Option<Lanes>,
}

/// The Rust type of an argument's lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    pub fits: fn(Type) -> bool,
    pub name: &'static str,
    /// Size in bytes of one value of the Rust type, which may have several lanes.
    pub bytes: usize,
}

impl Lanes {
    fn of<T: Data>() -> Option<Lanes> {
        Some(Lanes { fits: fits::<T>, name: T::NAME, bytes: size_of::<T>() })
    }
}

impl<'a> Arg<'a> {
    /// Creates a scalar argument.
    pub fn scalar<T: Data>(value: T) -> Arg<'a> {
        Arg { raw: runtime::Arg::Scalar(bits(&value)), lanes: Lanes::of::<T>() }
    }

    /// Creates the argument for an `in` buffer.
    pub fn input<T: Data>(data: &'a [T]) -> Arg<'a> {
        Arg { raw: runtime::Arg::In(bytemuck::must_cast_slice(data)), lanes: Lanes::of::<T>() }
    }

    /// Creates the argument for a buffer of any direction. Use it also for an `in` buffer whose
    /// contents change between runs.
    pub fn buffer<T: Data>(data: &'a mut [T]) -> Arg<'a> {
        Arg { raw: runtime::Arg::Buffer(bytemuck::must_cast_slice_mut(data)), lanes: Lanes::of::<T>() }
    }
}

/// Creates an untyped argument, which fits a parameter of any type if the size is right.
impl<'a> From<runtime::Arg<'a>> for Arg<'a> {
    fn from(raw: runtime::Arg<'a>) -> Arg<'a> {
        Arg { raw, lanes: None }
    }
}

macro_rules! scalars {
    ($($ty:ident)*) => {
        $(impl From<$ty> for Arg<'_> {
            fn from(value: $ty) -> Self {
                Arg::scalar(value)
            }
        })*
    };
}

scalars! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 f16 bf16 f32 f64 }

impl<T: Data, const N: usize> From<[T; N]> for Arg<'_> {
    fn from(lanes: [T; N]) -> Self {
        Arg::scalar(lanes)
    }
}

impl<'a, T: Data> From<&'a [T]> for Arg<'a> {
    fn from(data: &'a [T]) -> Arg<'a> {
        Arg::input(data)
    }
}

impl<'a, T: Data, const N: usize> From<&'a [T; N]> for Arg<'a> {
    fn from(data: &'a [T; N]) -> Arg<'a> {
        Arg::input(data)
    }
}

impl<'a, T: Data> From<&'a Vec<T>> for Arg<'a> {
    fn from(data: &'a Vec<T>) -> Arg<'a> {
        Arg::input(data)
    }
}

impl<'a, T: Data> From<&'a mut [T]> for Arg<'a> {
    fn from(data: &'a mut [T]) -> Arg<'a> {
        Arg::buffer(data)
    }
}

impl<'a, T: Data, const N: usize> From<&'a mut [T; N]> for Arg<'a> {
    fn from(data: &'a mut [T; N]) -> Arg<'a> {
        Arg::buffer(data)
    }
}

impl<'a, T: Data> From<&'a mut Vec<T>> for Arg<'a> {
    fn from(data: &'a mut Vec<T>) -> Arg<'a> {
        Arg::buffer(data)
    }
}

/// The arguments of a launch, in the order of the parameters: a tuple of up to 16 entries, or an array or `Vec` of
/// [`Arg`].
///
/// In a tuple, a number is a scalar. An array of numbers is also a scalar, and its entries are the lanes. `&[T]`, `&[T;
/// N]` and `&Vec<T>` are `in` buffers. The corresponding `&mut` types are buffers of any direction.
pub trait Args<'a>: sealed::Sealed {
    /// Returns the arguments, in order.
    fn args(self) -> impl ExactSizeIterator<Item = Arg<'a>>;
}

mod sealed {
    pub trait Sealed {}
}

impl<'a, const N: usize> Args<'a> for [Arg<'a>; N] {
    fn args(self) -> impl ExactSizeIterator<Item = Arg<'a>> {
        self.into_iter()
    }
}

impl<const N: usize> sealed::Sealed for [Arg<'_>; N] {}

impl<'a> Args<'a> for Vec<Arg<'a>> {
    fn args(self) -> impl ExactSizeIterator<Item = Arg<'a>> {
        self.into_iter()
    }
}

impl sealed::Sealed for Vec<Arg<'_>> {}

macro_rules! tuples {
    () => {
        impl<'a> Args<'a> for () {
            fn args(self) -> impl ExactSizeIterator<Item = Arg<'a>> {
                [].into_iter()
            }
        }

        impl sealed::Sealed for () {}
    };
    ($first:ident $($rest:ident)*) => {
        impl<'a, $first: Into<Arg<'a>>, $($rest: Into<Arg<'a>>),*> Args<'a> for ($first, $($rest,)*) {
            #[allow(non_snake_case)]
            fn args(self) -> impl ExactSizeIterator<Item = Arg<'a>> {
                let ($first, $($rest,)*) = self;
                [$first.into(), $($rest.into()),*].into_iter()
            }
        }

        impl<$first, $($rest),*> sealed::Sealed for ($first, $($rest,)*) {}

        tuples! { $($rest)* }
    };
}

tuples! { A B C D E F G H I J K L M N O P }
