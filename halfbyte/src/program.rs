//! Programs on typed slices.

use crate::targets::TARGETS;
#[cfg(feature = "half")]
use half::{bf16, f16};
use halfbyte_abi::{DEFAULT_BUDGET, Elem, ParamKind, Type};
use halfbyte_runtime::{Arg, Engine, LaunchError, LoadError, Stats};
use thiserror::Error;

/// A number, or an array of numbers as the lanes of one element.
///
/// An argument fits a parameter if it has its lanes' type and either all lanes of an element or one, or if it is one
/// integer as wide as a whole element, which then is the element's bits.
pub trait Data: Copy {
    /// The type of the lanes, in Rust's names.
    const NAME: &'static str;
    /// The number of lanes.
    const LANES: usize;
    /// The bytes of one.
    const BYTES: usize;

    /// Appends the bytes, lowest first.
    fn put(self, bytes: &mut Vec<u8>);
    /// From as many bytes, lowest first.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! data {
    ($($ty:ident)*) => {
        $(impl Data for $ty {
            const NAME: &'static str = stringify!($ty);
            const LANES: usize = 1;
            const BYTES: usize = size_of::<$ty>();

            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }

            fn get(bytes: &[u8]) -> $ty {
                let mut array = [0; size_of::<$ty>()];
                array.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                <$ty>::from_le_bytes(array)
            }
        })*
    };
}

data! { u8 i8 u16 i16 u32 i32 u64 i64 u128 f32 }
#[cfg(feature = "half")]
data! { f16 bf16 }

impl<T: Data, const N: usize> Data for [T; N] {
    const NAME: &'static str = T::NAME;
    const LANES: usize = N * T::LANES;
    const BYTES: usize = N * T::BYTES;

    fn put(self, bytes: &mut Vec<u8>) {
        self.into_iter().for_each(|lane| lane.put(bytes));
    }

    fn get(bytes: &[u8]) -> [T; N] {
        std::array::from_fn(|n| T::get(bytes.get(n * T::BYTES..).unwrap_or_default()))
    }
}

fn fits<T: Data>(ty: Type) -> bool {
    let lane = match ty.elem() {
        Elem::I8 => ["u8", "i8"].as_slice(),
        Elem::I16 => &["u16", "i16"],
        Elem::I32 => &["u32", "i32"],
        Elem::I64 => &["u64", "i64"],
        Elem::F16 => &["f16"],
        Elem::BF16 => &["bf16"],
        Elem::F32 => &["f32"],
        Elem::I1 | Elem::Ptr => &[],
    };
    let is_integer = T::NAME.starts_with(['u', 'i']);
    let whole = T::LANES == 1 && is_integer && T::BYTES == ty.bytes() as usize;
    whole || lane.contains(&T::NAME) && (T::LANES == 1 || T::LANES == ty.lanes())
}

/// Loaded kernels.
#[derive(Clone, Debug)]
pub struct Program(halfbyte_runtime::Program);

/// Why a launch gave no result.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum CallError {
    /// The program has no kernel of that name.
    #[error("there is no kernel `@{name}`; there are {}", known.join(", "))]
    NoKernel {
        /// What was asked for.
        name: String,
        /// The kernels that there are.
        known: Vec<String>,
    },
    /// An argument's type does not fit the parameter.
    #[error("parameter `{param}` is {expected}; an argument of {found} does not fit")]
    Type {
        /// The parameter.
        param: String,
        /// Its type.
        expected: Type,
        /// The argument's lanes.
        found: &'static str,
    },
    /// The launch failed: arguments of another number or kind, or a trap.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

impl Program {
    /// Reads an object.
    ///
    /// # Errors
    /// Bytes that are no object for a target that runs here.
    pub fn load(object: &[u8]) -> Result<Program, LoadError> {
        TARGETS.load(object).map(Program)
    }

    /// The kernels with their signatures.
    pub fn kernels(&self) -> &[halfbyte_runtime::Kernel] {
        self.0.kernels()
    }

    /// A launch of a kernel, whose arguments follow in the order of its parameters; those with contents take none.
    pub fn launch<'a>(&'a self, kernel: &'a str) -> Launch<'a> {
        Launch { program: self, kernel, args: Vec::new(), budget: DEFAULT_BUDGET, engine: Engine::default() }
    }
}

/// A launch that is being put together.
pub struct Launch<'a> {
    program: &'a Program,
    kernel: &'a str,
    args: Vec<Given<'a>>,
    budget: u64,
    engine: Engine,
}

struct Given<'a> {
    fits: fn(Type) -> bool,
    name: &'static str,
    bytes: Vec<u8>,
    kind: Kind<'a>,
}

type WriteBack<'a> = Box<dyn FnOnce(&[u8]) + 'a>;

enum Kind<'a> {
    Scalar,
    In,
    /// Writes the result back.
    Buffer(WriteBack<'a>),
}

impl<'a> Launch<'a> {
    fn give<T: Data>(mut self, data: &[T], kind: Kind<'a>) -> Launch<'a> {
        let mut bytes = Vec::with_capacity(size_of_val(data));
        data.iter().for_each(|data| data.put(&mut bytes));
        self.args.push(Given { fits: fits::<T>, name: T::NAME, bytes, kind });
        self
    }

    /// The next argument: a scalar.
    #[must_use]
    pub fn arg<T: Data>(self, value: T) -> Launch<'a> {
        self.give(&[value], Kind::Scalar)
    }

    /// The next argument: an `in` buffer.
    #[must_use]
    pub fn input<T: Data>(self, data: &[T]) -> Launch<'a> {
        self.give(data, Kind::In)
    }

    /// The next argument: a buffer that the kernel may write. An `out` buffer's contents are passed over.
    #[must_use]
    pub fn buffer<T: Data>(self, data: &'a mut [T]) -> Launch<'a> {
        let before: Vec<T> = data.to_vec();
        let write = |bytes: &[u8]| {
            if let Some(chunks) = (T::BYTES > 0).then(|| bytes.chunks_exact(T::BYTES)) {
                data.iter_mut().zip(chunks).for_each(|(to, from)| *to = T::get(from));
            }
        };
        self.give(&before, Kind::Buffer(Box::new(write)))
    }

    /// Backward branches that an item may take, in place of 2^20.
    #[must_use]
    pub fn budget(mut self, branches: u64) -> Launch<'a> {
        self.budget = branches;
        self
    }

    /// What executes the words, in place of the interpreter.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Launch<'a> {
        self.engine = engine;
        self
    }

    /// Runs so many work items.
    ///
    /// # Errors
    /// Arguments that do not fit; a trap. Then no buffer is changed.
    pub fn run(mut self, items: u32) -> Result<Stats, CallError> {
        let Some(kernel) = self.program.0.kernel(self.kernel) else {
            let known = self.program.kernels().iter().map(|kernel| format!("@{}", kernel.signature().name()));
            return Err(CallError::NoKernel { name: self.kernel.to_owned(), known: known.collect() });
        };
        for (param, given) in kernel.signature().given().iter().zip(&self.args) {
            let (ParamKind::Scalar(ty) | ParamKind::Buffer { elem: ty, .. }) = param.kind;
            if !(given.fits)(ty) {
                return Err(CallError::Type { param: param.name.clone(), expected: ty, found: given.name });
            }
        }
        let mut args: Vec<Arg<'_>> = (self.args.iter_mut())
            .map(|given| match given.kind {
                Kind::Scalar => {
                    Arg::Scalar(given.bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte)))
                }
                Kind::In => Arg::In(&given.bytes),
                Kind::Buffer(_) => Arg::Buffer(&mut given.bytes),
            })
            .collect();
        let stats = kernel.launch(halfbyte_runtime::Launch {
            engine: self.engine,
            budget: self.budget,
            ..halfbyte_runtime::Launch::new(items, &mut args)
        })?;
        for given in self.args {
            if let Kind::Buffer(write) = given.kind {
                write(&given.bytes);
            }
        }
        Ok(stats)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn data_come_back() {
        fn check<T: Data + PartialEq + std::fmt::Debug>(value: T) {
            let mut bytes = Vec::new();
            value.put(&mut bytes);
            assert_eq!(bytes.len(), T::BYTES);
            assert_eq!(T::get(&bytes), value);
        }
        check(0x0102_0304_u32);
        check(-2_i8);
        check([f16::from_f32(1.5), f16::NEG_ZERO]);
        check([1_u8, 2, 3, 4]);
        let mut bytes = Vec::new();
        [f16::ONE, f16::NEG_ONE].put(&mut bytes);
        assert_eq!(bytes, [0x00, 0x3c, 0x00, 0xbc]);
    }

    #[test]
    fn lanes_whole_elements_and_bits_fit() {
        let ty = |name| Type::from_name(name).unwrap();
        assert!(fits::<f16>(ty("f16x2")) && fits::<[f16; 2]>(ty("f16x2")) && fits::<u32>(ty("f16x2")));
        assert!(fits::<[i8; 16]>(ty("i8x16")) && fits::<u128>(ty("i8x16")) && fits::<u8>(ty("i1x4")));
        assert!(!fits::<bf16>(ty("f16x2")) && !fits::<u16>(ty("f16x2")) && !fits::<[f16; 4]>(ty("f16x2")));
        assert!(!fits::<f32>(ty("i32")) && !fits::<[u8; 4]>(ty("f16x2")));
    }
}
