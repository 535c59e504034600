//! CUDA device runtime: the functions of the library `libcudadevrt` that a kernel calls to
//! synchronise the grid.

use std::sync::LazyLock;

use super::module::{Function, FunctionCode, Functions};
use super::text;

/// The functions of the device runtime, parsed from `device_runtime.ptx`.
static FUNCTIONS: LazyLock<Functions> = LazyLock::new(|| {
    let read = text::read(include_str!("device_runtime.ptx"));
    read.map(|file| file.module.functions).unwrap_or_default()
});

impl Function {
    /// Returns the code that a call executes. A function without code in the module has the code of
    /// the device runtime, if the device runtime defines the function.
    pub fn definition(&self) -> Option<&FunctionCode> {
        self.code.as_ref().or_else(|| code(self))
    }
}

/// Returns the code of a function that a module only declares, if the device runtime has a function
/// with this name and prototype.
fn code(declared: &Function) -> Option<&'static FunctionCode> {
    let name = match declared.name.as_str() {
        "cudaCGSynchronizeGrid" => "cudaCGSynchronize",
        name if name.starts_with("cudaCG") => name,
        _ => return None,
    };
    let found = FUNCTIONS.iter().find(|function| function.name == name)?;
    found.code.as_ref().filter(|_| found.prototype.is_compatible(&declared.prototype))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_functions_have_code() {
        let names: Vec<&str> = FUNCTIONS.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["cudaCGGetIntrinsicHandle", "cudaCGSynchronize"]);
        assert!(FUNCTIONS.iter().all(|function| function.code.is_some()));
    }
}
