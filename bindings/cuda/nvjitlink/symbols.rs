//! The exported symbols of the library. The build script and the tests include this file.

/// Functions of the library's interface.
pub(crate) const FUNCTIONS: [&str; 16] = [
    "nvJitLinkAddData",
    "nvJitLinkAddFile",
    "nvJitLinkComplete",
    "nvJitLinkCreate",
    "nvJitLinkDestroy",
    "nvJitLinkGetErrorLog",
    "nvJitLinkGetErrorLogSize",
    "nvJitLinkGetInfoLog",
    "nvJitLinkGetInfoLogSize",
    "nvJitLinkGetLinkedCubin",
    "nvJitLinkGetLinkedCubinSize",
    "nvJitLinkGetLinkedLTOIR",
    "nvJitLinkGetLinkedLTOIRSize",
    "nvJitLinkGetLinkedPtx",
    "nvJitLinkGetLinkedPtxSize",
    UNVERSIONED,
];

/// The only function that has no versioned symbols.
const UNVERSIONED: &str = "nvJitLinkVersion";

/// Major versions of the interface, with their newest minor versions.
const VERSIONS: [(u32, u32); 2] = [(12, 9), (13, 5)];

/// Returns the versioned symbols, such as `__nvJitLinkCreate_13_5`, each with the name of its function. Compiled
/// programs use these symbols.
pub(crate) fn versioned() -> impl Iterator<Item = (String, &'static str)> {
    let versions = VERSIONS.into_iter().flat_map(|(major, newest)| (0..=newest).map(move |minor| (major, minor)));
    versions.flat_map(|(major, minor)| {
        let functions = FUNCTIONS.into_iter().filter(|function| *function != UNVERSIONED);
        functions.map(move |function| (format!("__{function}_{major}_{minor}"), function))
    })
}
