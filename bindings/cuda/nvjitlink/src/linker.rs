//! Link steps.

use std::ffi::{CStr, CString};

use halfbyte_isa::ptx::text::link;

use crate::error::Error;
use crate::input::Input;
use crate::nvidia::LtoLink;
use crate::options::Options;

/// The state of a link step.
#[derive(Default)]
pub struct Linker {
    options: Options,
    /// The PTX inputs, each with its name.
    texts: Vec<(String, String)>,
    /// The link step of the LTO-IR inputs, if there are any.
    lto: Option<LtoLink>,
    linked: Option<CString>,
    pub error_log: String,
    pub info_log: String,
}

impl Linker {
    pub fn new(options: Options) -> Linker {
        Linker { options, ..Linker::default() }
    }

    /// Adds an input. `kind` is its type, an `nvJitLinkInputType`.
    pub fn add(&mut self, kind: u32, bytes: &[u8], name: &CStr) -> Result<(), Error> {
        let shown = name.to_string_lossy();
        match Input::new(kind, bytes, &shown)? {
            Input::Ptx(text) => self.texts.push((shown.into_owned(), text)),
            Input::LtoIr(_) if !self.options.lto => return Err(Error::WithoutLto(shown.into_owned())),
            Input::LtoIr(bytes) => {
                let lto = match &mut self.lto {
                    Some(lto) => lto,
                    none => none.insert(LtoLink::new(&self.options.to_ptx())?),
                };
                lto.add(bytes, name)?;
            }
            Input::Library => {
                self.inform(&format!("library `{shown}` is ignored; halfbyte has its own device runtime"));
            }
        }
        Ok(())
    }

    /// Links the inputs.
    pub fn complete(&mut self) -> Result<(), Error> {
        let mut texts: Vec<(String, String)> = Vec::new();
        if let Some(lto) = &self.lto {
            let compiled = lto.complete();
            let log = lto.info_log();
            if !log.is_empty() {
                self.inform(log.trim_end());
            }
            texts.push(("LTO-IR".to_owned(), compiled?));
            if !self.texts.is_empty() {
                self.inform(
                    "functions of the LTO-IR that only the PTX inputs call are removed; if such a function is \
                     undefined, compile the PTX inputs to LTO-IR, too",
                );
            }
        }
        texts.extend(self.texts.iter().cloned());
        let linked = if texts.is_empty() {
            self.options.empty_ptx()
        } else {
            let inputs: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
            link(&inputs).map_err(|error| Error::Link { inputs: listed(&texts), error })?
        };
        // The inputs contain no NUL.
        self.linked = CString::new(linked).ok();
        Ok(())
    }

    /// Returns the linked PTX.
    pub fn linked(&self) -> Result<&CStr, Error> {
        self.linked.as_deref().ok_or(Error::NotLinked)
    }

    /// Appends a line to the information log.
    fn inform(&mut self, line: &str) {
        self.info_log.push_str(line);
        self.info_log.push('\n');
    }

    /// Appends an error to the error log.
    pub fn log(&mut self, error: &Error) {
        self.error_log.push_str(&format!("error: {error}\n"));
    }
}

/// Returns the names of texts with their numbers: `a` (text 1), `b` (text 2).
fn listed(texts: &[(String, String)]) -> String {
    let names = (1..).zip(texts).map(|(number, (name, _))| format!("`{name}` (text {number})"));
    names.collect::<Vec<_>>().join(", ")
}
