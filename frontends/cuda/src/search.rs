//! Search for compilers, CUDA headers and libraries in NVIDIA's Python wheels and in CUDA toolkits.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::read_dir;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Environment variable with folders of Python modules, which are searched first.
const MODULES_VARIABLE: &str = "HALFBYTE_MODULES";

/// Environment variables with the folder of a CUDA toolkit.
const TOOLKIT_VARIABLES: [&str; 2] = ["CUDA_PATH", "CUDA_HOME"];

/// Default folder of a CUDA toolkit.
const DEFAULT_TOOLKIT: &str = "/usr/local/cuda";

/// Python code that prints the folders of modules, one per line.
const PRINT_FOLDERS: &str = "import sys; print('\\n'.join(sys.path))";

/// Folders with headers, relative to the folder of a wheel or a toolkit.
const HEADER_FOLDERS: [&str; 4] =
    ["include", "include/cccl", "targets/x86_64-linux/include", "targets/x86_64-linux/include/cccl"];

/// Folders with libraries, relative to the folder of a wheel or a toolkit.
const LIBRARY_FOLDERS: [&str; 4] = ["lib", "lib64", "bin", "bin/x64"];

/// Names under which the loader of the system finds NVRTC.
const NVRTC_NAMES: [&str; 3] = if cfg!(windows) {
    ["nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"]
} else if cfg!(target_os = "macos") {
    ["libnvrtc.dylib"; 3]
} else {
    ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
};

/// Prefix of the file names of NVRTC.
const NVRTC: &str = if cfg!(windows) { "nvrtc64_" } else { "libnvrtc.so" };

/// Prefix of the file names of the library that NVRTC loads.
const NVRTC_BUILTINS: &str = if cfg!(windows) { "nvrtc-builtins64_" } else { "libnvrtc-builtins.so" };

/// Names of clang.
const CLANGS: [&str; 8] = ["clang++", "clang", "clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17"];

/// Folders in which compilers and CUDA headers are searched for: those of wheels, then those of toolkits.
#[derive(Clone, Debug, Default)]
pub struct SearchPath {
    /// Folders of wheels and toolkits, each with subfolders such as `include` and `lib`.
    roots: Vec<PathBuf>,
    /// Folders of programs.
    programs: Vec<PathBuf>,
    /// `true` if the loader of the system may find NVRTC.
    uses_loader: bool,
}

/// The library of NVRTC.
#[derive(Clone, Debug)]
pub(crate) struct NvrtcLibrary {
    /// The path of the library, or a name for the loader.
    pub(crate) path: PathBuf,
    /// Libraries that must be loaded before NVRTC.
    pub(crate) before: Vec<PathBuf>,
}

impl SearchPath {
    /// Returns the search path of this computer: the wheels in folders of Python modules, the CUDA toolkits that
    /// `CUDA_PATH` and `CUDA_HOME` name, `/usr/local/cuda`, and the programs in `PATH`.
    pub fn of_computer(modules: &[PathBuf]) -> SearchPath {
        let named = env::var_os(MODULES_VARIABLE).unwrap_or_default();
        let named = env::split_paths(&named).filter(|folder| !folder.as_os_str().is_empty());
        let modules = named.chain(modules.iter().cloned());
        let toolkits = TOOLKIT_VARIABLES.iter().filter_map(env::var_os).map(PathBuf::from);
        let path = env::var_os("PATH").unwrap_or_default();
        SearchPath::new(
            modules.collect::<Vec<_>>(),
            toolkits.chain([PathBuf::from(DEFAULT_TOOLKIT)]),
            env::split_paths(&path),
            true,
        )
    }

    /// Returns a search path with the wheels in folders of Python modules, with toolkits, and with folders of
    /// programs. If `uses_loader` is `true`, the loader of the system may find NVRTC.
    pub fn new(
        modules: impl IntoIterator<Item = PathBuf>,
        toolkits: impl IntoIterator<Item = PathBuf>,
        programs: impl IntoIterator<Item = PathBuf>,
        uses_loader: bool,
    ) -> SearchPath {
        let wheels = modules.into_iter().flat_map(|folder| wheels_in(&folder));
        let mut roots: Vec<PathBuf> = Vec::new();
        for root in wheels.chain(toolkits).filter(|root| root.is_dir()) {
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        SearchPath { roots, programs: programs.into_iter().collect(), uses_loader }
    }

    /// Returns the libraries of NVRTC in order of preference: the newest of each root, then names for the loader.
    pub(crate) fn nvrtc(&self) -> Vec<NvrtcLibrary> {
        let mut libraries: Vec<NvrtcLibrary> = Vec::new();
        for folder in self.subfolders(&LIBRARY_FOLDERS) {
            let files = files_in(&folder);
            let before: Vec<PathBuf> = files.iter().filter(|path| is_named(path, NVRTC_BUILTINS)).cloned().collect();
            // `.alt.` is a variant for other versions of the C++ library.
            let is_library = |path: &&PathBuf| is_named(path, NVRTC) && !path.to_string_lossy().contains(".alt.");
            let mut found: Vec<&PathBuf> = files.iter().filter(is_library).collect();
            found.sort_by_key(|path| std::cmp::Reverse(version_in(path)));
            libraries.extend(found.first().map(|path| NvrtcLibrary { path: (*path).clone(), before }));
        }
        if self.uses_loader {
            let named = |name: &str| NvrtcLibrary { path: PathBuf::from(name), before: Vec::new() };
            libraries.extend(NVRTC_NAMES.map(named));
        }
        libraries
    }

    /// Returns the path of the program nvcc, if any.
    pub(crate) fn nvcc(&self) -> Option<PathBuf> {
        self.subfolders(&["bin"]).chain(self.programs.iter().cloned()).find_map(|folder| program(&folder, "nvcc"))
    }

    /// Returns the path of the program clang, if any.
    pub(crate) fn clang(&self) -> Option<PathBuf> {
        CLANGS.iter().find_map(|name| self.programs.iter().find_map(|folder| program(folder, name)))
    }

    /// Returns the folders with CUDA headers. The folders of the compiler's own root come first,
    /// because the headers of another version may not suit the compiler.
    pub(crate) fn headers(&self, compiler: &Path) -> Vec<PathBuf> {
        let (own, others): (Vec<&PathBuf>, Vec<&PathBuf>) =
            self.roots.iter().partition(|root| compiler.starts_with(root));
        own.into_iter().chain(others).flat_map(|root| existing(root, &HEADER_FOLDERS)).collect()
    }

    /// Returns the path of the bitcode of NVIDIA's mathematical functions, if any.
    pub(crate) fn libdevice(&self) -> Option<PathBuf> {
        self.roots.iter().map(|root| root.join("nvvm/libdevice/libdevice.10.bc")).find(|path| path.is_file())
    }

    /// Returns the first root that has the headers and the programs of a toolkit, if any.
    pub(crate) fn toolkit(&self) -> Option<&Path> {
        let is_toolkit = |root: &&PathBuf| root.join("include/cuda.h").is_file() && root.join("bin").is_dir();
        self.roots.iter().find(is_toolkit).map(PathBuf::as_path)
    }

    fn subfolders<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = PathBuf> + 'a {
        self.roots.iter().flat_map(move |root| existing(root, names))
    }
}

/// Returns the folders in which the Python interpreter of `PATH` finds modules.
pub fn module_folders_of_path() -> Vec<PathBuf> {
    ["python3", "python"].iter().find_map(|name| module_folders(OsStr::new(name))).unwrap_or_default()
}

/// Returns the folders in which a Python interpreter finds modules. Returns `None` if the
/// interpreter cannot be run.
pub fn module_folders(python: &OsStr) -> Option<Vec<PathBuf>> {
    let mut command = Command::new(python);
    let output = command.args(["-c", PRINT_FOLDERS]).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Some(text.lines().map(PathBuf::from).filter(|folder| folder.is_absolute()).collect())
}

/// Returns the folders of NVIDIA's wheels in a folder of Python modules, such as `nvidia/cu13`. The newest CUDA
/// version comes first.
fn wheels_in(modules: &Path) -> Vec<PathBuf> {
    let entries = read_dir(modules.join("nvidia")).into_iter().flatten().flatten();
    let mut wheels: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    wheels.sort_by(|a, b| version_in(b).cmp(&version_in(a)).then_with(|| a.cmp(b)));
    wheels
}

fn existing(root: &Path, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| root.join(name)).filter(|folder| folder.is_dir()).collect()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn is_named(path: &Path, start: &str) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(start.as_bytes()))
}

/// Returns the numbers in a file name, by which versions are compared.
fn version_in(path: &Path) -> Vec<u32> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

fn program(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut file = OsString::from(name);
    file.push(env::consts::EXE_SUFFIX);
    let path = folder.join(file);
    path.is_file().then_some(path)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::{create_dir_all, write};

    use super::*;

    fn file(path: PathBuf) -> PathBuf {
        create_dir_all(path.parent().unwrap()).unwrap();
        write(&path, "").unwrap();
        path
    }

    fn search_path(modules: &Path, toolkit: &Path, programs: &Path) -> SearchPath {
        SearchPath::new([modules.to_owned()], [toolkit.to_owned()], [programs.to_owned()], false)
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn finds_the_newest_nvrtc_of_the_wheels_first() {
        let folder = tempfile::tempdir().unwrap();
        let [modules, toolkit] = ["modules", "toolkit"].map(|name| folder.path().join(name));
        assert!(search_path(&modules, &toolkit, folder.path()).nvrtc().is_empty());
        let of_toolkit = file(toolkit.join("lib64/libnvrtc.so.12"));
        let old = file(modules.join("nvidia/cuda_nvrtc/lib/libnvrtc.so.12"));
        let new = file(modules.join("nvidia/cu13/lib/libnvrtc.so.13"));
        let builtins = file(modules.join("nvidia/cu13/lib/libnvrtc-builtins.so.13.5"));
        file(modules.join("nvidia/cu13/lib/libnvrtc.alt.so.13"));
        let found = search_path(&modules, &toolkit, folder.path()).nvrtc();
        let paths: Vec<&PathBuf> = found.iter().map(|library| &library.path).collect();
        assert_eq!(paths, [&new, &old, &of_toolkit]);
        assert_eq!(found[0].before, [builtins]);
        let mut search = search_path(&modules, &toolkit, folder.path());
        search.uses_loader = true;
        assert_eq!(search.nvrtc().len(), 3 + NVRTC_NAMES.len());
    }

    #[test]
    fn headers_of_the_root_of_the_compiler_are_first() {
        let folder = tempfile::tempdir().unwrap();
        let [modules, toolkit] = ["modules", "toolkit"].map(|name| folder.path().join(name));
        let wheel = modules.join("nvidia/cu13");
        for path in [wheel.join("include/cccl"), toolkit.join("include"), wheel.join("lib")] {
            create_dir_all(path).unwrap();
        }
        let search = search_path(&modules, &toolkit, folder.path());
        let (of_wheel, of_toolkit) = ([wheel.join("include"), wheel.join("include/cccl")], [toolkit.join("include")]);
        let wheel_first = search.headers(&wheel.join("lib/libnvrtc.so.13"));
        assert_eq!(wheel_first, [&of_wheel[..], &of_toolkit[..]].concat());
        let toolkit_first = search.headers(&toolkit.join("bin/nvcc"));
        assert_eq!(toolkit_first, [&of_toolkit[..], &of_wheel[..]].concat());
    }

    #[test]
    #[cfg(unix)]
    fn finds_programs() {
        let folder = tempfile::tempdir().unwrap();
        let [modules, toolkit, programs] = ["modules", "toolkit", "programs"].map(|name| folder.path().join(name));
        let nvcc = file(programs.join("nvcc"));
        let clang = file(programs.join("clang-19"));
        let search = search_path(&modules, &toolkit, &programs);
        assert_eq!((search.nvcc(), search.clang()), (Some(nvcc), Some(clang)));
        let of_wheel = file(modules.join("nvidia/cu13/bin/nvcc"));
        file(modules.join("nvidia/cu13/include/cuda.h"));
        let libdevice = file(modules.join("nvidia/cu13/nvvm/libdevice/libdevice.10.bc"));
        let search = search_path(&modules, &toolkit, &programs);
        assert_eq!((search.nvcc(), search.libdevice()), (Some(of_wheel), Some(libdevice)));
        assert_eq!(search.toolkit(), Some(modules.join("nvidia/cu13").as_path()));
    }
}
