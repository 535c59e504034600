//! The environment in which a program finds halfbyte in place of the GPU.

use std::env;
use std::ffi::OsString;
use std::fs::{create_dir, read_dir};
use std::io;
use std::iter::once;
use std::path::{Path, PathBuf};

use crate::Failure;

/// File name of the driver library, by which programs load it.
const LIBRARY: &str = "libcuda.so.1";

/// Name of the folder of the driver library. The library has a folder of its own, so that programs only load it under
/// `exec`.
const FOLDER: &str = "halfbyte-cuda";

/// Variable with the folder of the driver library.
const DRIVER: &str = "HALFBYTE_DRIVER";

/// Other file names of the libraries, by which some programs load them.
const OTHER_NAMES: [(&str, &str); 2] = [("libcuda.so", LIBRARY), ("libnvJitLink.so.12", LINKER)];

/// Variables with the cache folders of frameworks, and the names of these folders. XDG_CACHE_HOME
/// stays unchanged, because its folder also contains downloads, such as models.
const CACHES: [(&str, &str); 4] = [
    ("PYCUDA_CACHE_DIR", "pycuda"),
    ("CUPY_CACHE_DIR", "cupy"),
    ("NUMBA_CACHE_DIR", "numba"),
    ("TRITON_CACHE_DIR", "triton"),
];

/// Python file in the folder of the driver library that loads the plug-ins for frameworks. Python imports a module of
/// this name when it starts.
const PLUG_INS: &str = "python/sitecustomize.py";

/// Headers by which a folder of CUDA headers is recognised. NVRTC needs the first one.
const HEADERS: [&str; 2] = ["cuda_fp16.h", "cuda.h"];

/// File name of the stand-in for nvJitLink, in the folder of the driver library.
const LINKER: &str = "libnvJitLink.so.13";

/// First part of the file names of nvJitLink.
const LINKERS: &str = "libnvJitLink.so.";

/// Variable with the path of NVIDIA's nvJitLink, which the stand-in uses.
const NVIDIA_LINKER: &str = "HALFBYTE_NVJITLINK";

/// Folders of programs if PATH is not set.
const DEFAULT_PATH: &str = "/usr/bin:/bin";

/// An environment variable.
type Variable = (&'static str, OsString);

/// Returns the folder of the driver library: the given folder, the folder in the environment variable, or the first
/// folder near this program that contains the library.
pub(super) fn driver_folder(given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(folder) = given {
        let missing = || Failure::Call(format!("--library {}: the folder has no {LIBRARY}", folder.display()));
        return with_library(folder).ok_or_else(missing);
    }
    if let Some(folder) = variable(DRIVER).filter(|folder| !folder.is_empty()).map(PathBuf::from) {
        let missing = || Failure::Call(format!("{DRIVER}={}: the folder has no {LIBRARY}", folder.display()));
        return with_library(&folder).ok_or_else(missing);
    }
    let unknown = |error: io::Error| Failure::Call(format!("cannot find the folder of this program: {error}"));
    let program = env::current_exe().map_err(unknown)?;
    let beside = program.parent().unwrap_or(Path::new("/"));
    let prefix = beside.parent().unwrap_or(beside);
    let folders = [beside.join("lib").join(FOLDER), prefix.join("lib").join(FOLDER), beside.join(FOLDER)];
    folders.iter().find_map(|folder| with_library(folder)).ok_or_else(|| {
        let folders = folders.map(|folder| folder.display().to_string()).join(", ");
        Failure::Call(format!(
            "the driver library {LIBRARY} is not installed; give its folder with --library DIR. Searched: {folders}"
        ))
    })
}

/// Returns the absolute path of a folder if it has the driver library.
fn with_library(folder: &Path) -> Option<PathBuf> {
    folder.canonicalize().ok().filter(|folder| folder.join(LIBRARY).is_file())
}

/// Creates a folder in `folder` with links to the libraries under their other names. Returns the
/// new folder, or `None` if the driver folder has all names. A Python wheel cannot contain links.
pub(super) fn other_names(driver: &Path, folder: &Path) -> io::Result<Option<PathBuf>> {
    let is_missing = |(name, library): &(&str, &str)| !driver.join(name).exists() && driver.join(library).is_file();
    let mut missing = OTHER_NAMES.into_iter().filter(is_missing).peekable();
    if missing.peek().is_none() {
        return Ok(None);
    }
    let links = folder.join("lib");
    create_dir(&links)?;
    for (name, library) in missing {
        link(&driver.join(library), &links.join(name))?;
    }
    Ok(Some(links))
}

/// Creates a symbolic link to a file.
#[cfg(unix)]
fn link(file: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(file, link)
}

/// Creates another name of a file.
#[cfg(not(unix))]
fn link(file: &Path, link: &Path) -> io::Result<()> {
    std::fs::hard_link(file, link)
}

/// Returns the variables by which a program finds the driver library, the stand-ins for tools, the plug-ins for Python,
/// and the libraries and headers of wheels. `names` is the folder with other names of the libraries, if any.
pub(super) fn search_paths(
    driver: &Path,
    names: Option<PathBuf>,
    wheels: &[PathBuf],
) -> Result<Vec<Variable>, Failure> {
    const LIBRARIES: &str = "LD_LIBRARY_PATH";
    let inherited = env::var_os(LIBRARIES).unwrap_or_default();
    let inherited = env::split_paths(&inherited).filter(|folder| !folder.as_os_str().is_empty());
    let folders = once(driver.to_owned()).chain(names).chain(folders_of(wheels, "lib")).chain(inherited);
    let mut variables = vec![(LIBRARIES, joined(LIBRARIES, folders)?), (DRIVER, driver.as_os_str().to_owned())];
    variables.extend(tools(driver, wheels, variable)?);
    variables.extend(plug_ins(driver, variable)?);
    variables.extend(linker(driver, wheels, variable));
    if let Some(headers) = with_headers(wheels) {
        let is_unset = |name: &&str| env::var_os(name).is_none_or(|value| value.is_empty());
        let unset = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter(is_unset);
        variables.extend(unset.map(|name| (name, headers.as_os_str().to_owned())));
    }
    Ok(variables)
}

/// Returns the value of a variable of this process.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name)
}

/// Returns the subfolders of wheels that have the given name, such as `lib`.
fn folders_of(wheels: &[PathBuf], name: &str) -> impl Iterator<Item = PathBuf> {
    wheels.iter().map(move |wheel| wheel.join(name)).filter(|folder| folder.is_dir())
}

/// Joins folders to the value of a variable.
fn joined(variable: &str, folders: impl Iterator<Item = PathBuf>) -> Result<OsString, Failure> {
    env::join_paths(folders).map_err(|error| Failure::Call(format!("{variable}: {error}")))
}

/// Returns the variables by which a program finds the stand-ins for tools that generate GPU machine code, such as
/// `nvcc` and `ptxas`. `inherited` returns a variable of this process.
fn tools(
    driver: &Path,
    wheels: &[PathBuf],
    inherited: impl Fn(&str) -> Option<OsString>,
) -> Result<Vec<Variable>, Failure> {
    const PATH: &str = "PATH";
    let folder = driver.join("bin");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let path = inherited(PATH).unwrap_or_else(|| DEFAULT_PATH.into());
    // The stand-in for nvcc runs the next nvcc in the search path, which may belong to a wheel.
    let folders = once(folder.clone()).chain(env::split_paths(&path)).chain(folders_of(wheels, "bin"));
    let mut variables = vec![(PATH, joined(PATH, folders)?)];
    // Triton does not search for its assembler in PATH.
    let assembler = folder.join("ptxas");
    if assembler.is_file() {
        let names = ["TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"];
        variables.extend(names.map(|name| (name, assembler.as_os_str().to_owned())));
    }
    Ok(variables)
}

/// Returns the variable by which Python finds the plug-ins for frameworks, if they are in the folder of the driver
/// library. `inherited` returns a variable of this process.
fn plug_ins(driver: &Path, inherited: impl Fn(&str) -> Option<OsString>) -> Result<Option<Variable>, Failure> {
    const MODULES: &str = "PYTHONPATH";
    let file = driver.join(PLUG_INS);
    let Some(folder) = file.parent().filter(|_| file.is_file()) else { return Ok(None) };
    let mut path = joined(MODULES, once(folder.to_owned()))?;
    // Python reads an empty folder in the value as the current folder, so the value stays as it is.
    if let Some(inherited) = inherited(MODULES).filter(|path| !path.is_empty()) {
        path.push(":");
        path.push(inherited);
    }
    Ok(Some((MODULES, path)))
}

/// Returns the variables by which a program uses the stand-in for nvJitLink in place of NVIDIA's
/// library. Returns no variables if the stand-in or NVIDIA's library is missing. `inherited`
/// returns a variable of this process.
fn linker(driver: &Path, wheels: &[PathBuf], inherited: impl Fn(&str) -> Option<OsString>) -> Vec<Variable> {
    const PRELOADED: &str = "LD_PRELOAD";
    let value = |name: &str| inherited(name).filter(|value| !value.is_empty());
    let stand_in = driver.join(LINKER);
    let nvidia = value(NVIDIA_LINKER).or_else(|| newest_linker(wheels).map(PathBuf::into_os_string));
    let (Some(nvidia), true) = (nvidia, stand_in.is_file()) else { return Vec::new() };
    // A program loads the library of a wheel by its path. The loader then returns a library of the
    // same name that is already loaded.
    let is_separator = |byte: &u8| matches!(byte, b' ' | b':');
    let stand_in = if stand_in.as_os_str().as_encoded_bytes().iter().any(is_separator) {
        // A path with a separator cannot be preloaded. The file name is found in LD_LIBRARY_PATH.
        OsString::from(LINKER)
    } else {
        stand_in.into_os_string()
    };
    let mut preloaded = value(PRELOADED).unwrap_or_default();
    let mut libraries = preloaded.as_encoded_bytes().split(is_separator);
    if !libraries.any(|library| library == stand_in.as_encoded_bytes()) {
        if !preloaded.is_empty() {
            preloaded.push(":");
        }
        preloaded.push(stand_in);
    }
    vec![(PRELOADED, preloaded), (NVIDIA_LINKER, nvidia)]
}

/// Returns the path of the newest nvJitLink in the wheels, if any.
fn newest_linker(wheels: &[PathBuf]) -> Option<PathBuf> {
    let files = folders_of(wheels, "lib").filter_map(|folder| read_dir(folder).ok()).flatten().flatten();
    let is_linker = |name: &OsString| name.as_encoded_bytes().starts_with(LINKERS.as_bytes());
    let linkers = files.map(|file| (file.file_name(), file.path())).filter(|(name, _)| is_linker(name));
    linkers.max().map(|(_, path)| path)
}

/// Returns the wheel that has the CUDA headers, if any.
fn with_headers(wheels: &[PathBuf]) -> Option<&PathBuf> {
    let has = |wheel: &Path, header: &str| wheel.join("include").join(header).is_file();
    HEADERS.iter().find_map(|header| wheels.iter().find(|wheel| has(wheel, header)))
}

/// Creates cache folders below a folder, and returns their variables. A framework would otherwise take a compiled
/// kernel from its cache, and this kernel may be machine code of a GPU.
pub(super) fn caches(folder: &Path) -> io::Result<Vec<Variable>> {
    // CACHEDB names a file, the cache of tinygrad. Without HALFBYTE_OWN_CACHES, the Python package
    // would create cache folders of its own.
    let mut variables = vec![
        ("CACHEDB", folder.join("tinygrad.db").into_os_string()),
        ("HALFBYTE_OWN_CACHES", folder.as_os_str().to_owned()),
    ];
    for (variable, name) in CACHES {
        let path = folder.join(name);
        // PyCUDA does not create its folder.
        create_dir(&path)?;
        variables.push((variable, path.into_os_string()));
    }
    Ok(variables)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::{create_dir_all, write};

    use super::*;

    #[test]
    fn prefers_the_wheel_with_the_headers_of_nvrtc() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| folder.path().join(name));
        for (wheel, header) in [(&b, "cuda.h"), (&c, "cuda_fp16.h")] {
            create_dir_all(wheel.join("include")).unwrap();
            write(wheel.join("include").join(header), "").unwrap();
        }
        assert_eq!(with_headers(&[a.clone(), b.clone(), c.clone()]), Some(&c));
        assert_eq!(with_headers(&[a.clone(), b.clone()]), Some(&b));
        assert_eq!(with_headers(&[a]), None);
    }

    /// Returns the values of variables as text.
    fn texts(variables: Vec<Variable>) -> Vec<(&'static str, String)> {
        variables.into_iter().map(|(name, value)| (name, value.into_string().unwrap())).collect()
    }

    #[test]
    #[cfg(unix)]
    fn stand_ins_for_tools_are_first_in_path() {
        let folder = tempfile::tempdir().unwrap();
        let [driver, wheel, other] = ["driver", "wheel", "other"].map(|name| folder.path().join(name));
        create_dir_all(wheel.join("bin")).unwrap();
        let wheels = [other, wheel.clone()];
        assert!(tools(&driver, &wheels, |_| Some("/a".into())).ok().unwrap().is_empty());
        create_dir_all(driver.join("bin")).unwrap();
        let (bin, of_wheel) = (driver.join("bin").display().to_string(), wheel.join("bin").display().to_string());
        let path = |inherited: Option<&str>| texts(tools(&driver, &wheels, |_| Some(inherited?.into())).ok().unwrap());
        assert_eq!(path(Some("/a:/b")), [("PATH", format!("{bin}:/a:/b:{of_wheel}"))]);
        assert_eq!(path(None), [("PATH", format!("{bin}:/usr/bin:/bin:{of_wheel}"))]);
        write(driver.join("bin/ptxas"), "").unwrap();
        let assembler = format!("{bin}/ptxas");
        let triton = [("TRITON_PTXAS_PATH", assembler.clone()), ("TRITON_PTXAS_BLACKWELL_PATH", assembler)];
        assert_eq!(path(Some("/a"))[1..], triton);
    }

    #[test]
    #[cfg(unix)]
    fn the_stand_in_for_nvjitlink_is_preloaded() {
        let folder = tempfile::tempdir().unwrap();
        let [driver, wheel, older] = ["driver", "wheel", "older"].map(|name| folder.path().join(name));
        for folder in [&driver, &wheel.join("lib"), &older.join("lib")] {
            create_dir_all(folder).unwrap();
        }
        let wheels = [wheel.clone(), older.clone()];
        let set = |driver: &Path, inherited: &[(&str, &str)]| {
            let value =
                |name: &str| inherited.iter().find(|(set, _)| *set == name).map(|(_, value)| OsString::from(value));
            texts(linker(driver, &wheels, value))
        };
        // Both libraries are necessary.
        write(older.join("lib/libnvJitLink.so.12"), "").unwrap();
        write(older.join("lib/libnvrtc.so.13"), "").unwrap();
        assert!(set(&driver, &[]).is_empty());
        write(driver.join(LINKER), "").unwrap();
        let stand_in = driver.join(LINKER).display().to_string();
        let expected = |preloaded: &str, nvidia: &Path| {
            [("LD_PRELOAD", preloaded.to_owned()), (NVIDIA_LINKER, nvidia.display().to_string())]
        };
        assert_eq!(set(&driver, &[]), expected(&stand_in, &older.join("lib/libnvJitLink.so.12")));
        write(wheel.join("lib/libnvJitLink.so.13"), "").unwrap();
        let newest = wheel.join("lib/libnvJitLink.so.13");
        assert_eq!(set(&driver, &[]), expected(&stand_in, &newest));
        assert_eq!(set(&driver, &[("LD_PRELOAD", "/a.so")]), expected(&format!("/a.so:{stand_in}"), &newest));
        assert_eq!(set(&driver, &[("LD_PRELOAD", stand_in.as_str())]), expected(&stand_in, &newest));
        assert_eq!(set(&driver, &[(NVIDIA_LINKER, "/own.so")]), expected(&stand_in, Path::new("/own.so")));
        // Spaces separate the libraries of LD_PRELOAD.
        let spaced = folder.path().join("a b");
        create_dir_all(&spaced).unwrap();
        write(spaced.join(LINKER), "").unwrap();
        assert_eq!(set(&spaced, &[]), expected(LINKER, &newest));
    }

    #[test]
    #[cfg(unix)]
    fn plug_ins_are_first_among_python_modules() {
        let folder = tempfile::tempdir().unwrap();
        let driver = folder.path();
        let set = |inherited: Option<&str>| {
            let variable = plug_ins(driver, |_| Some(inherited?.into())).ok().unwrap();
            variable.map(|(name, value)| (name, value.into_string().unwrap()))
        };
        assert_eq!(set(Some("/a")), None);
        create_dir_all(driver.join("python")).unwrap();
        write(driver.join(PLUG_INS), "").unwrap();
        let own = driver.join("python").display().to_string();
        for (inherited, expected) in
            [(None, own.clone()), (Some(""), own.clone()), (Some("/a::/b"), format!("{own}:/a::/b"))]
        {
            assert_eq!(set(inherited), Some(("PYTHONPATH", expected)));
        }
    }

    #[test]
    #[cfg(unix)]
    fn missing_names_of_the_libraries_become_links() {
        let folder = tempfile::tempdir().unwrap();
        let driver = folder.path().join("driver");
        create_dir_all(&driver).unwrap();
        let names = || {
            let temporary = tempfile::tempdir_in(folder.path()).unwrap();
            let links = other_names(&driver, temporary.path()).unwrap()?;
            let mut names: Vec<_> = read_dir(links).unwrap().map(|link| link.unwrap()).collect();
            names.sort_by_key(std::fs::DirEntry::file_name);
            let read = |link: &std::fs::DirEntry| (link.file_name(), std::fs::read_link(link.path()).unwrap());
            Some(names.iter().map(read).collect::<Vec<_>>())
        };
        write(driver.join(LIBRARY), "").unwrap();
        let cuda = (OsString::from("libcuda.so"), driver.join(LIBRARY));
        assert_eq!(names(), Some(vec![cuda.clone()]));
        write(driver.join(LINKER), "").unwrap();
        let linker = (OsString::from("libnvJitLink.so.12"), driver.join(LINKER));
        assert_eq!(names(), Some(vec![cuda, linker.clone()]));
        write(driver.join("libcuda.so"), "").unwrap();
        assert_eq!(names(), Some(vec![linker]));
        write(driver.join("libnvJitLink.so.12"), "").unwrap();
        assert_eq!(names(), None);
    }

    #[test]
    fn cache_folders_exist() {
        let folder = tempfile::tempdir().unwrap();
        let variables = caches(folder.path()).unwrap();
        assert_eq!(variables.len(), CACHES.len() + 2);
        assert!(variables.iter().all(|(name, path)| *name == "CACHEDB" || Path::new(path).is_dir()));
    }
}
