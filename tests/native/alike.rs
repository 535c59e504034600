//! Comparison of launches on the interpreter, in native code, and in a native object's function.

use halfbyte::import_ptx;
use halfbyte::native::{self, Loaded, Options};
use halfbyte::runtime::{Arg, Engine, Launch, LaunchError};
use halfbyte::{HALU, Program, Shape, include};

/// Compiles a kernel in the kernel language; `rest` is its text from the parameters on.
pub fn program(name: &str, rest: &str) -> Program {
    let text = format!("kernel {name}({rest}\n");
    let module = include::open_each("k.hb", text, import_ptx::Options::default());
    let module = module.unwrap_or_else(|report| panic!("{name}: {report}"));
    let binary = module.compile(HALU).unwrap_or_else(|error| panic!("{name}: {}", module.report(error)));
    Program::load(&binary.object).unwrap()
}

/// A kernel under comparison.
pub struct Alike {
    name: &'static str,
    program: Program,
    pub function: Loaded,
    /// The number of backward branches that an item may take.
    budget: u64,
}

/// An argument before a launch.
#[derive(Clone)]
pub enum Given {
    Word(u32),
    Bytes(Vec<u8>),
    /// An alias: the number of another argument and the offset in its buffer.
    Alias(usize, u64),
}

impl Alike {
    pub fn new(name: &'static str, rest: &str) -> Alike {
        Alike::with_budget(name, rest, Options::default().budget)
    }

    pub fn with_budget(name: &'static str, rest: &str, budget: u64) -> Alike {
        let program = program(name, rest);
        let mut options = Options::default();
        options.budget = budget;
        let function = native::load(&[(name, program.kernels().next().unwrap())], &options).unwrap();
        Alike { name, program, function, budget }
    }

    /// Returns the trapping item, or the buffers after the launch if no item traps.
    fn left(given: &[Given], run: impl FnOnce(&mut [Arg<'_>]) -> Result<(), u32>) -> Result<Vec<Vec<u8>>, u32> {
        let mut given = given.to_vec();
        let mut args: Vec<Arg<'_>> = given
            .iter_mut()
            .map(|given| match given {
                Given::Word(word) => Arg::Scalar((*word).into()),
                Given::Bytes(bytes) => Arg::Buffer(bytes),
                Given::Alias(of, offset) => Arg::Alias { of: *of, offset: *offset },
            })
            .collect();
        run(&mut args)?;
        drop(args);
        let bytes = given.into_iter().filter_map(|given| match given {
            Given::Bytes(bytes) => Some(bytes),
            _ => None,
        });
        Ok(bytes.collect())
    }

    /// Compares the interpreter, native code in memory, and the native object's function. Returns
    /// an error with the number of the trapping item if an item traps.
    pub fn check(&self, shape: impl Into<Shape>, given: &[Given]) -> Result<(), u32> {
        let shape = shape.into();
        let expected = self.run(shape, Engine::Interp, given);
        assert!(self.run(shape, Engine::JIT, given) == expected, "{}, {shape:?}, in memory", self.name);
        self.check_function(shape, given)
    }

    /// Compares the native object's function with the interpreter. An item may read bytes that
    /// another item writes, because the interpreter and the function run the items in the same
    /// order. Returns an error with the number of the trapping item if an item traps.
    pub fn check_function(&self, shape: impl Into<Shape>, given: &[Given]) -> Result<(), u32> {
        let shape = shape.into();
        let expected = self.run(shape, Engine::Interp, given);
        let found = Alike::left(given, |args| self.function.call(0, &shape, args).map_err(|trapped| trapped.item));
        let sizes = || given.iter().map(|given| if let Given::Bytes(bytes) = given { bytes.len() } else { 0 });
        assert!(found == expected, "{}, {shape:?}, {:?}", self.name, sizes().collect::<Vec<_>>());
        expected.map(drop)
    }

    fn run(&self, shape: Shape, engine: Engine, given: &[Given]) -> Result<Vec<Vec<u8>>, u32> {
        let kernel = self.program.kernels().next().unwrap();
        Alike::left(given, |args| {
            let launch = Launch { engine, budget: self.budget, ..Launch::new(shape, args) };
            match kernel.raw().launch(launch) {
                Ok(_) => Ok(()),
                Err(LaunchError::Trap(trap)) => Err(trap.item),
                Err(error) => panic!("{}: {error}", self.name),
            }
        })
    }
}
