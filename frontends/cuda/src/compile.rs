//! Requests for compilations, and their results.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::cache::Cache;
use crate::error::Error;
use crate::hash::Hasher;
use crate::include::Includes;
use crate::names::expression;
use crate::search::SearchPath;
use crate::tool::{Tool, stamp};

/// Compiler of CUDA C++.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompilerKind {
    /// NVIDIA's library for compilation at run time.
    Nvrtc,
    /// NVIDIA's compiler of a CUDA toolkit.
    Nvcc,
    /// Clang with the NVPTX target.
    Clang,
}

impl CompilerKind {
    /// All compilers in the order in which they are searched for.
    pub const ALL: [CompilerKind; 3] = [CompilerKind::Nvrtc, CompilerKind::Nvcc, CompilerKind::Clang];

    /// Returns the compiler with a name such as `nvrtc`, if any.
    pub fn from_name(name: &str) -> Option<CompilerKind> {
        CompilerKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the name, such as `nvrtc`.
    pub fn name(self) -> &'static str {
        match self {
            CompilerKind::Nvrtc => "nvrtc",
            CompilerKind::Nvcc => "nvcc",
            CompilerKind::Clang => "clang",
        }
    }

    /// Returns the command that installs the compiler.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            CompilerKind::Nvrtc => "`pip install nvidia-cuda-nvrtc` installs it",
            CompilerKind::Nvcc => {
                "`pip install nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime` installs it"
            }
            CompilerKind::Clang => "install the package clang of your system",
        }
    }
}

impl fmt::Display for CompilerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CompilerKind::Nvrtc => "NVRTC",
            CompilerKind::Nvcc => "nvcc",
            CompilerKind::Clang => "clang",
        })
    }
}

/// Source text of CUDA C++.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The text.
    pub text: &'a str,
    /// Name of the file in messages and line information. Quoted includes refer to its folder. A
    /// name such as `<cuda>` denotes no file, and quoted includes then refer to the current folder.
    pub file: &'a str,
    /// Number of the text's first line in the file, from 1.
    pub line: u32,
}

/// Request for a compilation.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The source text.
    pub source: Source<'a>,
    /// SM version, such as 80.
    pub sm: u16,
    /// Options of the compiler.
    pub options: &'a [String],
    /// Names of kernels that only the compiler can resolve, such as `a<float>`; see [`crate::is_expression`].
    pub names: &'a [String],
    /// The user's folders with headers.
    pub include: &'a [PathBuf],
    /// The compiler. `None` selects the first compiler of [`CompilerKind::ALL`] that is installed.
    pub compiler: Option<CompilerKind>,
    /// Folders in which the compiler and the CUDA headers are searched for.
    pub search: &'a SearchPath,
    /// Cache of results.
    pub cache: &'a Cache,
}

/// Result of a compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiled {
    /// The PTX text.
    pub ptx: String,
    /// The PTX names of the requested names, in the same order.
    pub names: Vec<String>,
    /// The log of the compiler, such as warnings.
    pub log: String,
    /// `true` if the result is from the cache.
    pub is_cached: bool,
}

/// Compiles CUDA C++ to PTX.
///
/// # Errors
/// Fails if no compiler is found, or if the compiler rejects the source text, an option, or a name.
pub fn compile(request: &Request<'_>) -> Result<Compiled, Error> {
    let tool = Tool::find(request.compiler, request.search)?;
    let job = Job::new(request, &tool);
    let key = job.key(&tool)?;
    if let Some(compiled) = key.as_ref().and_then(|key| request.cache.get(key)) {
        return Ok(compiled);
    }
    let mut compiled = tool.compile(&job)?;
    compiled.ptx = job.with_shown_file(&compiled.ptx);
    if let Some(key) = &key {
        request.cache.put(key, &compiled);
    }
    Ok(compiled)
}

/// Options that make a compiler read a file that [`Includes`] does not know.
const FILE_OPTIONS: [&str; 8] =
    ["-include", "--include", "--pre-include", "-imacros", "-optf", "--options-file", "-pch", "--use-pch"];

/// Options with a folder of headers.
const FOLDER_OPTIONS: [&str; 4] = ["-I", "--include-path", "-isystem", "-iquote"];

/// Environment variables that affect nvcc, its host compiler and clang.
const VARIABLES: [&str; 6] =
    ["NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "NVCC_CCBIN", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"];

/// Headers whose modification times identify the version of a folder with CUDA headers.
const MARKERS: [&str; 5] = ["cuda_fp16.h", "cuda_runtime.h", "cooperative_groups.h", "cub/version.cuh", "crt/mma.h"];

/// A request with everything that a compiler needs.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) sm: u16,
    pub(crate) options: &'a [String],
    /// C++ expressions of the requested names.
    pub(crate) names: Vec<String>,
    /// The file name for the compiler: absolute if the file exists.
    pub(crate) file: String,
    /// The folder of the file.
    pub(crate) folder: PathBuf,
    /// The user's folders with headers.
    pub(crate) include: Vec<PathBuf>,
    /// Folders with CUDA headers.
    pub(crate) headers: Vec<PathBuf>,
    pub(crate) includes: Includes,
    pub(crate) libdevice: Option<PathBuf>,
    pub(crate) toolkit: Option<PathBuf>,
    /// The compiler, for messages.
    pub(crate) compiler: CompilerKind,
    current: PathBuf,
}

impl<'a> Job<'a> {
    fn new(request: &Request<'a>, tool: &Tool) -> Job<'a> {
        let Request { source, sm, options, names, include, search, .. } = *request;
        let current = env::current_dir().unwrap_or_default();
        let path = Path::new(source.file);
        let is_path = !source.file.starts_with('<');
        let file = match is_path && path.is_file() {
            true => current.join(path).to_string_lossy().into_owned(),
            false => source.file.to_owned(),
        };
        let folder = path.parent().filter(|_| is_path).map_or(current.clone(), |folder| current.join(folder));
        let include: Vec<PathBuf> = include.iter().map(|folder| current.join(folder)).collect();
        let own: Vec<PathBuf> =
            include.iter().cloned().chain(option_folders(options).map(|folder| current.join(folder))).collect();
        Job {
            source,
            sm,
            options,
            names: names.iter().map(|name| expression(name)).collect(),
            file,
            includes: Includes::of(source.text, &folder, &own),
            folder,
            include,
            headers: search.headers(tool.path()),
            libdevice: search.libdevice(),
            toolkit: search.toolkit().map(Path::to_owned),
            compiler: tool.kind(),
            current,
        }
    }

    /// Returns the source text with a directive that sets the number of its first line.
    pub(crate) fn text_with_line(&self) -> String {
        let Source { text, line, .. } = self.source;
        if line == 1 { text.to_owned() } else { format!("#line {line}\n{text}") }
    }

    /// Returns the key of the compilation in the cache. Returns `None` if some inputs of the
    /// compilation are unknown.
    fn key(&self, tool: &Tool) -> Result<Option<String>, Error> {
        let reads_files = |option: &String| {
            option.starts_with('@') || FILE_OPTIONS.iter().any(|name| option.starts_with(name) && !is_folder(option))
        };
        if self.includes.is_unknown || self.options.iter().any(reads_files) {
            return Ok(None);
        }
        let mut key = Hasher::default();
        key.add(env!("CARGO_PKG_VERSION"));
        key.add(tool.kind().name());
        key.add(tool.identity()?);
        key.add(self.sm.to_string());
        for list in [self.options, self.names.as_slice()] {
            key.add(list.len().to_string());
            list.iter().for_each(|text| key.add(text));
        }
        if !self.options.is_empty() {
            // Options may have relative paths.
            key.add(self.current.as_os_str().as_encoded_bytes());
        }
        key.add(&self.file);
        key.add(self.source.line.to_string());
        key.add(self.source.text);
        let folders = self.include.iter().chain(&self.headers).chain(&self.libdevice).chain(&self.toolkit);
        for folder in folders {
            key.add(stamp(folder));
            MARKERS.iter().for_each(|marker| key.add(stamp(&folder.join(marker))));
        }
        for (path, hash) in &self.includes.own {
            key.add(path.as_os_str().as_encoded_bytes());
            key.add(hash);
        }
        self.includes.others.iter().for_each(|name| key.add(name));
        if tool.kind() != CompilerKind::Nvrtc {
            for name in VARIABLES {
                key.add(env::var_os(name).unwrap_or_default().as_encoded_bytes());
            }
        }
        Ok(Some(key.digits()))
    }

    /// Returns a PTX text in which the file has the name of the request. The compilers put the current folder before
    /// a relative name.
    fn with_shown_file(&self, ptx: &str) -> String {
        let absolute = self.current.join(&self.file);
        if self.file == self.source.file && !Path::new(&self.file).is_absolute() {
            ptx.replace(&format!("\"{}\"", absolute.display()), &format!("\"{}\"", self.file))
        } else {
            ptx.to_owned()
        }
    }

    /// Returns a log in which the file has the name of the request.
    pub(crate) fn with_shown_names(&self, log: &str) -> String {
        if self.file == self.source.file { log.to_owned() } else { log.replace(&self.file, self.source.file) }
    }
}

/// Returns `true` for an option such as `--include-path`, which begins like an option with a file.
fn is_folder(option: &str) -> bool {
    FOLDER_OPTIONS.iter().any(|name| option.starts_with(name))
}

/// Returns the folders of headers in the options of a compiler: `-Ifolder`, `-I folder`, `--include-path=folder`.
fn option_folders(options: &[String]) -> impl Iterator<Item = &str> {
    let next = options.iter().skip(1).map(Some).chain([None]);
    options.iter().zip(next).filter_map(|(option, next)| {
        let rest = FOLDER_OPTIONS.iter().find_map(|name| option.strip_prefix(name))?;
        let folder = rest.strip_prefix('=').unwrap_or(rest);
        if folder.is_empty() { next.map(String::as_str) } else { Some(folder) }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::{create_dir_all, write};

    use super::*;

    /// A folder with an empty file in the place of NVRTC.
    struct Computer {
        folder: tempfile::TempDir,
        search: SearchPath,
    }

    impl Computer {
        fn new() -> Computer {
            let folder = tempfile::tempdir().unwrap();
            let wheel = folder.path().join("modules/nvidia/cu13");
            create_dir_all(wheel.join("include")).unwrap();
            create_dir_all(wheel.join("lib")).unwrap();
            let library = if cfg!(windows) { "nvrtc64_130_0.dll" } else { "libnvrtc.so.13" };
            write(wheel.join("lib").join(library), "no library").unwrap();
            let search = SearchPath::new([folder.path().join("modules")], [], [], false);
            Computer { folder, search }
        }

        fn key(&self, change: impl Fn(&mut Request<'_>)) -> Option<String> {
            let file = self.folder.path().join("k.cu").display().to_string();
            let source = Source { text: "#include \"own.h\"\n", file: &file, line: 1 };
            let (cache, search) = (Cache::off(), &self.search);
            let mut request = Request {
                source,
                sm: 80,
                options: &[],
                names: &[],
                include: &[],
                compiler: None,
                search,
                cache: &cache,
            };
            change(&mut request);
            let tool = Tool::find(request.compiler, search).unwrap();
            Job::new(&request, &tool).key(&tool).unwrap()
        }
    }

    #[test]
    #[cfg(any(target_os = "linux", windows))]
    fn the_key_has_all_inputs() {
        let computer = Computer::new();
        let first = computer.key(|_| {}).unwrap();
        assert_eq!(computer.key(|_| {}).unwrap(), first);
        let options = ["-DX".to_owned()];
        let names = ["a<int>".to_owned()];
        let mut keys = vec![
            first.clone(),
            computer.key(|request| request.sm = 90).unwrap(),
            computer.key(|request| request.source.line = 2).unwrap(),
            computer.key(|request| request.source.text = "").unwrap(),
            computer.key(|request| request.source.file = "<cuda>").unwrap(),
        ];
        // A request borrows its options and names.
        fn leaked(texts: &[String]) -> &'static [String] {
            Box::leak(texts.to_vec().into_boxed_slice())
        }
        keys.push(computer.key(|request| request.options = leaked(&options)).unwrap());
        keys.push(computer.key(|request| request.names = leaked(&names)).unwrap());
        write(computer.folder.path().join("own.h"), "int x;").unwrap();
        keys.push(computer.key(|_| {}).unwrap());
        write(computer.folder.path().join("own.h"), "int y;").unwrap();
        keys.push(computer.key(|_| {}).unwrap());
        let wheel = computer.folder.path().join("modules/nvidia/cu13");
        write(wheel.join("include/cuda_fp16.h"), "// new").unwrap();
        keys.push(computer.key(|_| {}).unwrap());
        let library = std::fs::read_dir(wheel.join("lib")).unwrap().next().unwrap().unwrap().path();
        write(library, "another library").unwrap();
        keys.push(computer.key(|_| {}).unwrap());
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
        for option in ["-include=x.h", "@options"] {
            let option = [option.to_owned()];
            assert_eq!(computer.key(|request| request.options = leaked(&option)), None);
        }
    }

    #[test]
    #[cfg(any(target_os = "linux", windows))]
    fn a_result_in_the_cache_needs_no_compiler() {
        let computer = Computer::new();
        let cache = Cache::in_folder(computer.folder.path().join("cache"));
        let file = computer.folder.path().join("k.cu").display().to_string();
        let source = Source { text: "#include \"own.h\"\n", file: &file, line: 1 };
        let request = Request {
            source,
            sm: 80,
            options: &[],
            names: &[],
            include: &[],
            compiler: Some(CompilerKind::Nvrtc),
            search: &computer.search,
            cache: &cache,
        };
        // The file in the place of NVRTC is no library.
        assert!(matches!(compile(&request), Err(Error::Load { .. })));
        let key = computer.key(|_| {}).unwrap();
        let stored = Compiled { ptx: "ptx".into(), names: Vec::new(), log: String::new(), is_cached: true };
        cache.put(&key, &stored);
        assert_eq!(compile(&request).unwrap(), stored);
    }

    #[test]
    fn a_missing_compiler_is_named() {
        let search = SearchPath::new([], [], [], false);
        for (compiler, package) in [
            (None, "pip install nvidia-cuda-nvrtc"),
            (Some(CompilerKind::Nvrtc), "pip install nvidia-cuda-nvrtc"),
            (Some(CompilerKind::Nvcc), "pip install nvidia-cuda-nvcc"),
            (Some(CompilerKind::Clang), "clang is not installed"),
        ] {
            let error = Tool::find(compiler, &search).unwrap_err();
            assert!(error.is_missing_compiler());
            assert!(error.to_string().contains(package), "{error}");
        }
    }

    #[test]
    fn options_name_folders() {
        let options = ["-Ia", "-DX", "-I", "b", "--include-path=c", "-isystem", "d"].map(str::to_owned);
        assert_eq!(option_folders(&options).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    }
}
