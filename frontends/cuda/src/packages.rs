//! The Python packages that contain CUDA headers and libraries.

use crate::CompilerKind;

/// Prefixes of header names, each with the package that contains these headers. The first row that matches applies.
const PACKAGES: [(&str, &str); 16] = [
    ("crt/", "nvidia-cuda-crt"),
    ("cub/", "nvidia-cuda-cccl"),
    ("thrust/", "nvidia-cuda-cccl"),
    ("cuda/", "nvidia-cuda-cccl"),
    ("nv/", "nvidia-cuda-cccl"),
    ("curand", "nvidia-curand"),
    ("cublas", "nvidia-cublas"),
    ("cufft", "nvidia-cufft"),
    ("cusparse", "nvidia-cusparse"),
    ("cusolver", "nvidia-cusolver"),
    ("cutlass/", "nvidia-cutlass"),
    ("cute/", "nvidia-cutlass"),
    ("cooperative_groups", "nvidia-cuda-runtime"),
    ("cuda", "nvidia-cuda-runtime"),
    ("sm_", "nvidia-cuda-runtime"),
    ("device_", "nvidia-cuda-runtime"),
];

/// Headers of the package `nvidia-cuda-runtime` that no row of `PACKAGES` matches.
const RUNTIME_HEADERS: [&str; 6] =
    ["mma.h", "vector_types.h", "vector_functions.h", "math_constants.h", "driver_types.h", "builtin_types.h"];

/// Headers of C that NVRTC and this crate lack.
const HEADERS_OF_C: [&str; 9] =
    ["complex.h", "ctype.h", "errno.h", "locale.h", "setjmp.h", "signal.h", "stdarg.h", "time.h", "wchar.h"];

/// Returns the advice for a header that is not found, if any.
pub(crate) fn advice(header: &str, compiler: CompilerKind) -> Option<String> {
    let is_cuda = PACKAGES.iter().any(|(start, _)| header.starts_with(start)) || RUNTIME_HEADERS.contains(&header);
    let of_runtime = || RUNTIME_HEADERS.contains(&header).then_some("nvidia-cuda-runtime");
    if compiler == CompilerKind::Clang && is_cuda {
        return Some(format!(
            "clang needs a CUDA toolkit that it supports for {header}; `pip install nvidia-cuda-nvrtc` installs NVRTC, \
             which finds the headers by itself"
        ));
    }
    let package = PACKAGES.iter().find(|(start, _)| header.starts_with(start)).map(|(_, package)| *package);
    if let Some(package) = package.or_else(of_runtime) {
        return Some(format!("`pip install {package}` installs {header}"));
    }
    let is_standard = !header.contains(['.', '/']) || HEADERS_OF_C.contains(&header);
    (is_standard && compiler == CompilerKind::Nvrtc).then(|| {
        format!(
            "NVRTC has no standard library, and so no {header}; include a header in <cuda/std/..>, or use the compiler nvcc"
        )
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_the_package_of_a_header() {
        let advice = |header| advice(header, CompilerKind::Nvrtc);
        for (header, package) in [
            ("cuda_fp16.h", "nvidia-cuda-runtime"),
            ("cooperative_groups.h", "nvidia-cuda-runtime"),
            ("mma.h", "nvidia-cuda-runtime"),
            ("crt/mma.h", "nvidia-cuda-crt"),
            ("cub/block/block_reduce.cuh", "nvidia-cuda-cccl"),
            ("cuda/std/atomic", "nvidia-cuda-cccl"),
            ("nv/target", "nvidia-cuda-cccl"),
            ("curand_kernel.h", "nvidia-curand"),
        ] {
            assert_eq!(advice(header), Some(format!("`pip install {package}` installs {header}")));
        }
        assert!(advice("vector").unwrap().contains("cuda/std"));
        assert!(advice("time.h").unwrap().contains("nvcc"));
        for own in ["own.h", "my/own", "my/own.h"] {
            assert_eq!(advice(own), None);
        }
        assert_eq!(super::advice("vector", CompilerKind::Nvcc), None);
        assert!(super::advice("cuda_fp16.h", CompilerKind::Clang).unwrap().contains("NVRTC"));
    }
}
