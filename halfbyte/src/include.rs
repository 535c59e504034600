//! Files that a text in the language includes: those that lie beside it.

use std::path::{Component, Path};

use halfbyte_lang::{Included, Includes};

#[cfg(feature = "import-ptx")]
use crate::import_ptx;
use crate::{Module, Report};

/// Files by their path from the folder of the file that names them, and in no folder above it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside;

/// An included file has no more bytes than that.
const MOST: u64 = 16 << 20;

impl Includes for Beside {
    fn open(&self, path: &str, from: &str) -> Result<Included, String> {
        let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !plain {
            return Err("a path from the folder of this file, without `..`".into());
        }
        let file = Path::new(from).parent().unwrap_or(Path::new("")).join(path);
        let size = std::fs::metadata(&file).map_err(|error| format!("a file that can be read: {error}"))?.len();
        if size > MOST {
            return Err(format!("a file of at most {MOST} bytes"));
        }
        let text = std::fs::read_to_string(&file).map_err(|error| format!("a file that can be read: {error}"))?;
        Ok(Included { name: file.display().to_string(), text })
    }
}

/// Reads the text of a file in plain IR or in the language, which may include those beside it.
///
/// # Errors
/// All that is wrong with it.
pub fn named(file: &str, text: impl Into<String>) -> Result<Module, Report> {
    Module::including(file, text, &Beside)
}

/// The same of a file that may be in PTX, as [`Module::open_each`].
///
/// # Errors
/// As there.
#[cfg(feature = "import-ptx")]
pub fn open_each(
    file: &str,
    text: impl Into<String>,
    options: impl Into<import_ptx::Options>,
) -> Result<Module, Report> {
    if import_ptx::is_ptx(file) { Module::open_each(file, text, options) } else { named(file, text) }
}
