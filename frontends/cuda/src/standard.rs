//! Headers that this crate passes to NVRTC, which has no standard library.

use std::fmt::Write;
use std::path::PathBuf;

use crate::include::Includes;

const BUILTIN: &str = include_str!("headers/builtin.h");
const CMATH: &str = include_str!("headers/cmath.h");
const FLOAT: &str = include_str!("headers/float.h");
const LIMITS: &str = include_str!("headers/limits.h");
const MATH: &str = include_str!("headers/math.h");
const STDINT: &str = include_str!("headers/stdint.h");

/// Headers of C, each with its name and its text.
const OF_C: [(&str, &str); 18] = [
    ("assert.h", BUILTIN),
    ("cassert", BUILTIN),
    ("cfloat", FLOAT),
    ("climits", LIMITS),
    ("cmath", CMATH),
    ("cstddef", BUILTIN),
    ("cstdint", STDINT),
    ("cstdio", BUILTIN),
    ("cstdlib", BUILTIN),
    ("cstring", BUILTIN),
    ("float.h", FLOAT),
    ("limits.h", LIMITS),
    ("math.h", MATH),
    ("stddef.h", BUILTIN),
    ("stdint.h", STDINT),
    ("stdio.h", BUILTIN),
    ("stdlib.h", BUILTIN),
    ("string.h", BUILTIN),
];

/// Headers of C++ that the package `nvidia-cuda-cccl` provides for GPUs in the folder `cuda/std`.
const OF_CPP: [&str; 15] = [
    "algorithm",
    "array",
    "atomic",
    "bit",
    "complex",
    "functional",
    "initializer_list",
    "iterator",
    "limits",
    "numeric",
    "optional",
    "span",
    "tuple",
    "type_traits",
    "utility",
];

/// Header of all parts of CUB, which NVRTC cannot compile.
const CUB: &str = "cub/cub.cuh";

/// Folders with the headers of CUB for kernels.
const CUB_FOLDERS: [&str; 4] = ["cub/block", "cub/warp", "cub/thread", "cub/iterator"];

/// Returns the names and texts of the headers that NVRTC gets. Standard headers are included only
/// if the source text needs one, because CUDA headers test for their presence.
pub(crate) fn headers(includes: &Includes, folders: &[PathBuf]) -> Vec<(String, String)> {
    let is_included = |name: &str| includes.others.contains(name);
    let mut headers = Vec::new();
    if OF_C.iter().any(|(name, _)| is_included(name)) || OF_CPP.iter().any(|name| is_included(name)) {
        headers.extend(OF_C.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
        headers.extend(OF_CPP.iter().map(|name| ((*name).to_owned(), of_cpp(name))));
    }
    if is_included(CUB)
        && let Some(folder) = folders.iter().find(|folder| folder.join(CUB).is_file())
    {
        headers.push((CUB.to_owned(), of_cub(folder)));
    }
    headers
}

/// Returns the text of a header of C++, which declares the names of `cuda::std` in `std`.
fn of_cpp(name: &str) -> String {
    format!("#pragma once\n#include <cuda/std/{name}>\nnamespace std {{ using namespace ::cuda::std; }}\n")
}

/// Returns a text that includes the headers of CUB for kernels.
fn of_cub(folder: &std::path::Path) -> String {
    let mut text = "#pragma once\n".to_owned();
    for part in CUB_FOLDERS {
        let entries = std::fs::read_dir(folder.join(part)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        for name in names.iter().filter(|name| name.ends_with(".cuh")) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "#include <{part}/{name}>");
        }
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::{create_dir_all, write};
    use std::path::Path;

    use super::*;

    fn names(text: &str, folders: &[PathBuf]) -> Vec<String> {
        let includes = Includes::of(text, Path::new("/nosuch"), &[]);
        headers(&includes, folders).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn only_texts_that_need_headers_get_them() {
        assert!(names("#include <cuda_fp16.h>\n", &[]).is_empty());
        for text in ["#include <stdint.h>\n", "#include <type_traits>\n"] {
            assert_eq!(names(text, &[]).len(), OF_C.len() + OF_CPP.len());
        }
    }

    #[test]
    fn the_header_of_cub_lists_the_headers_for_kernels() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for name in ["cub/cub.cuh", "cub/block/b.cuh", "cub/block/a.cuh", "cub/block/x/y.cuh", "cub/device/d.cuh"] {
            create_dir_all(path.join(name).parent().unwrap()).unwrap();
            write(path.join(name), "").unwrap();
        }
        assert_eq!(names("#include <cub/cub.cuh>\n", &[path.to_owned()]), ["cub/cub.cuh"]);
        assert!(names("#include <cub/cub.cuh>\n", &[]).is_empty());
        let expected = "#pragma once\n#include <cub/block/a.cuh>\n#include <cub/block/b.cuh>\n";
        assert_eq!(of_cub(path), expected);
    }
}
