//! Cache of compiled programs, keyed by their source.

use std::fmt::{self, Write};
use std::sync::Arc;

use halfbyte_abi::Watchdog;
use quick_cache::Weighter;
use quick_cache::sync::Cache as Programs;

use crate::error::{CompileError, ErrorLocation};
use crate::module::Module;
use crate::pipeline::Options;
use crate::program::Program;

/// A bounded cache of compiled programs, which compiles each module text once. It serves callers
/// that repeatedly receive the same kernels. Threads may share it.
///
/// If the cache is full, it evicts programs that have not been requested recently. An evicted
/// program lives as long as a caller holds it.
///
/// ```
/// use halfbyte::pipeline::Options;
/// use halfbyte::{Cache, HALU, Module};
/// let cache = Cache::new(Options::new(HALU), 64 << 20);
/// let module = Module::parse("kernel @k() {\n^entry:\n  ret\n}\n")?;
/// let (first, second) = (cache.program(&module)?, cache.program(&module)?);
/// assert_eq!((cache.len(), first.kernels().len(), second.kernels().len()), (1, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Cache {
    options: Options,
    programs: Programs<Arc<str>, Cached, Bytes>,
}

#[derive(Clone, Debug)]
struct Cached {
    program: Program,
    object_bytes: u64,
}

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<Arc<str>, Cached> for Bytes {
    fn weight(&self, key: &Arc<str>, cached: &Cached) -> u64 {
        key.len() as u64 + cached.object_bytes
    }
}

/// Typical size in bytes of a small kernel's object and cache key, from which the cache estimates
/// its number of entries.
const SMALL: u64 = 2 << 10;

impl Cache {
    /// Creates a cache of programs that are compiled with `options`. The objects and keys in the cache take at most
    /// `most_bytes` bytes. Native code, which is generated at the first launch, is not counted.
    pub fn new(options: Options, most_bytes: u64) -> Cache {
        let count = usize::try_from(most_bytes / SMALL).unwrap_or(usize::MAX);
        Cache { options, programs: Programs::with_weighter(count.clamp(16, 1 << 16), most_bytes, Bytes) }
    }

    /// Returns the program of a module's kernels, and compiles the program if it is not cached. If
    /// several threads request the same program, one of them compiles it. Errors are not cached:
    /// the next request compiles the module again.
    ///
    /// # Errors
    /// Returns the errors of [`Module::compile_with`].
    pub fn program(&self, module: &Module) -> Result<Program, CompileError> {
        self.find(module, &self.options)
    }

    /// Returns the program as [`Cache::program`] does, with a watchdog that may end the compilation
    /// early. If that happens, another thread that waits for the program compiles it itself.
    ///
    /// # Errors
    /// Returns the errors of [`Module::compile_with`].
    pub fn program_watched(&self, module: &Module, watchdog: &Watchdog) -> Result<Program, CompileError> {
        self.find(module, &Options { watchdog: Some(watchdog.clone()), ..self.options.clone() })
    }

    fn find(&self, module: &Module, options: &Options) -> Result<Program, CompileError> {
        let compile = || {
            let object = module.compile_with(options)?.object;
            let program = Program::load_with(self.options.targets, &object).map_err(|error| {
                let at = ErrorLocation { file: module.file().to_owned(), ..ErrorLocation::default() };
                CompileError::Internal { at, message: format!("the object cannot be loaded: {error}") }
            })?;
            Ok(Cached { program, object_bytes: object.len() as u64 })
        };
        Ok(self.programs.get_or_insert_with(&content(module), compile)?.program)
    }

    /// Returns the number of cached programs.
    pub fn len(&self) -> usize {
        self.programs.len()
    }

    /// Returns `true` if the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty()
    }

    /// Returns the size in bytes of all cached objects and keys.
    pub fn bytes(&self) -> u64 {
        self.programs.weight()
    }

    /// Removes all programs from the cache.
    pub fn clear(&self) {
        self.programs.clear();
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("programs", &self.len()).field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

/// Returns the cache key of a module. The key contains everything that the object depends on: the
/// file name, the kernels and their source locations.
fn content(module: &Module) -> Arc<str> {
    let mut content = format!("{}\n", module.file());
    let locator = module.source().locator();
    for kernel in &module.ir().kernels {
        // Writing to a string cannot fail.
        let _ = write!(content, "{kernel}");
        let insts = kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)).flat_map(|block| &block.insts);
        let mut line = 0;
        for inst in insts.filter_map(|&inst| kernel.insts.get(inst)) {
            let loc = locator.locate(inst.span, line);
            let _ = write!(content, "{}:{} ", loc.line.wrapping_sub(line), loc.column);
            line = loc.line;
        }
        content.push('\n');
    }
    content.into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use halfbyte_abi::Limits;
    use halfbyte_ir::builder::Builder;
    use halfbyte_ir::{Direction, Op, Type};

    use super::*;

    const TEXT: &str = "kernel @k(%y: out i32) {\n^entry:\n  %i = item_id\n  store %i, %y[%i]\n  ret\n}\n";

    fn cache(most_bytes: u64) -> Cache {
        Cache::new(Options::new(crate::HALU), most_bytes)
    }

    #[test]
    fn what_an_object_depends_on_is_told_apart() {
        let cache = cache(1 << 20);
        let named = |file: &str, text: &str| cache.program(&Module::named(file, text).unwrap()).unwrap();
        named("a.hb", TEXT);
        named("a.hb", TEXT);
        assert_eq!(cache.len(), 1);
        // The next modules differ in the file name, in a source location, and in a constant.
        named("b.hb", TEXT);
        named("a.hb", &format!("\n{TEXT}"));
        named("a.hb", &TEXT.replace("store %i", "%c = const.i32 1\n  store %c"));
        assert_eq!(cache.len(), 4);
        assert!(cache.bytes() > 0);
        cache.clear();
        assert!(cache.is_empty());
    }

    #[test]
    fn it_has_a_bound_and_gives_what_it_no_longer_holds() {
        let cache = cache(64 << 10);
        for number in 0..1000 {
            let text = TEXT.replace("store %i", &format!("%c = const.i32 {number}\n  store %c"));
            let program = cache.program(&Module::parse(&text).unwrap()).unwrap();
            let mut y = [0_u32];
            program.kernel("k").unwrap().bind((&mut y,)).unwrap().run(1).unwrap();
            assert_eq!(y, [number]);
        }
        assert!(cache.len() < 1000 && cache.bytes() <= 64 << 10, "{cache:?}");
    }

    #[test]
    fn errors_are_not_kept() {
        let cache = cache(1 << 20);
        let module = Module::parse(TEXT).unwrap();
        let small = Watchdog::new(Limits { ops: 1, ..Limits::NONE });
        assert!(matches!(cache.program_watched(&module, &small), Err(CompileError::TooLarge(_))));
        assert!(cache.is_empty());
        cache.program(&module).unwrap();
        assert_eq!(cache.len(), 1);
    }

    #[test]
    fn kernels_of_foreign_values_are_an_error() {
        let mut other = Builder::new("other");
        other.begin("entry", &[]);
        let foreign = (0..9).map(|_| other.here(Op::ItemId)).last().unwrap();
        let mut b = Builder::new("k");
        let y = b.buffer("y", Direction::Out, Type::I32);
        b.begin("entry", &[]);
        b.store(Type::I32, foreign, y, foreign);
        b.ret();
        let module = Module::from_kernels([b.finish()]);
        assert!(matches!(cache(1 << 20).program(&module), Err(CompileError::Invalid(_))));
    }

    #[test]
    fn threads_share_it() {
        let cache = cache(1 << 20);
        let module = Module::parse(TEXT).unwrap();
        std::thread::scope(|scope| {
            let threads = [(); 8].map(|()| scope.spawn(|| cache.program(&module).unwrap().kernels().len()));
            assert_eq!(threads.map(|thread| thread.join().unwrap()), [1; 8]);
        });
        assert_eq!(cache.len(), 1);
    }
}
