//! The environment in which a program finds halfbyte in place of the GPU.

use std::env;
use std::ffi::OsString;
use std::fs::create_dir;
use std::io;
use std::path::{Path, PathBuf};

use crate::Failure;

/// File name of the driver library, by which programs load it.
const LIBRARY: &str = "libcuda.so.1";

/// Name of the folder of the driver library. The library has a folder of its own, so that programs only load it under
/// `exec`.
const FOLDER: &str = "halfbyte-cuda";

/// Variables with the cache folders of frameworks, and the names of these folders.
const CACHES: [(&str, &str); 5] = [
    ("PYCUDA_CACHE_DIR", "pycuda"),
    ("CUPY_CACHE_DIR", "cupy"),
    ("NUMBA_CACHE_DIR", "numba"),
    ("TRITON_CACHE_DIR", "triton"),
    ("XDG_CACHE_HOME", "cache"),
];

/// Headers by which a folder of CUDA headers is recognised. NVRTC needs the first one.
const HEADERS: [&str; 2] = ["cuda_fp16.h", "cuda.h"];

/// An environment variable.
type Variable = (&'static str, OsString);

/// Returns the folder of the driver library: the given folder, or the first folder near this program that has the
/// library.
pub(super) fn driver_folder(given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(folder) = given {
        let missing = || Failure::Call(format!("--library {}: the folder has no {LIBRARY}", folder.display()));
        return with_library(folder).ok_or_else(missing);
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

/// Returns the variables by which a program finds the driver library, and the libraries and headers of wheels.
pub(super) fn search_paths(driver: &Path, wheels: &[PathBuf]) -> Result<Vec<Variable>, Failure> {
    const LIBRARIES: &str = "LD_LIBRARY_PATH";
    let inherited = env::var_os(LIBRARIES).unwrap_or_default();
    let inherited = env::split_paths(&inherited).filter(|folder| !folder.as_os_str().is_empty());
    let of_wheels = wheels.iter().map(|wheel| wheel.join("lib")).filter(|folder| folder.is_dir());
    let folders = [driver.to_owned()].into_iter().chain(of_wheels).chain(inherited);
    let joined = env::join_paths(folders).map_err(|error| Failure::Call(format!("{LIBRARIES}: {error}")))?;
    let mut variables = vec![(LIBRARIES, joined)];
    if let Some(headers) = with_headers(wheels) {
        let is_unset = |name: &&str| env::var_os(name).is_none_or(|value| value.is_empty());
        let unset = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter(is_unset);
        variables.extend(unset.map(|name| (name, headers.as_os_str().to_owned())));
    }
    Ok(variables)
}

/// Returns the wheel that has the CUDA headers, if any.
fn with_headers(wheels: &[PathBuf]) -> Option<&PathBuf> {
    let has = |wheel: &Path, header: &str| wheel.join("include").join(header).is_file();
    HEADERS.iter().find_map(|header| wheels.iter().find(|wheel| has(wheel, header)))
}

/// Creates cache folders below a folder, and returns their variables. A framework would otherwise take a compiled
/// kernel from its cache, and this kernel may be machine code of a GPU.
pub(super) fn caches(folder: &Path) -> io::Result<Vec<Variable>> {
    // The cache of tinygrad is a file.
    let mut variables = vec![("CACHEDB", folder.join("tinygrad.db").into_os_string())];
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

    #[test]
    fn cache_folders_exist() {
        let folder = tempfile::tempdir().unwrap();
        let variables = caches(folder.path()).unwrap();
        assert_eq!(variables.len(), CACHES.len() + 1);
        assert!(variables.iter().all(|(name, path)| *name == "CACHEDB" || Path::new(path).is_dir()));
    }
}
