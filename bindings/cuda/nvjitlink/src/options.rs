//! Options of a link step.

use std::ffi::{CStr, CString};

use crate::error::Error;

/// Names of the options that NVIDIA's library accepts.
const NAMES: &[&str] = &[
    "arch",
    "maxrregcount",
    "time",
    "verbose",
    "lto",
    "dlto",
    "ptx",
    "O0",
    "O1",
    "O2",
    "O3",
    "g",
    "lineinfo",
    "ftz",
    "prec-div",
    "prec-sqrt",
    "fma",
    "kernels-used",
    "variables-used",
    "optimize-unused-variables",
    "Xptxas",
    "Xfinalizer",
    "split-compile",
    "split-compile-extended",
    "jump-table-density",
    "no-cache",
    "nvvm-latest",
    "no-opt",
    "fast-compile",
    "Ofast-compile",
    "Ofc",
    "device-stack-protector",
    "r",
    "rdc",
];

/// Names of the options that NVIDIA's library does not accept together with `-ptx`, or replaces.
const WITHOUT_PTX: &[&str] = &["r", "rdc", "split-compile-extended"];

/// Options of a link step.
#[derive(Default, Debug)]
pub struct Options {
    all: Vec<CString>,
    /// Architecture, without its kind: `80` or `90a`.
    arch: String,
    /// `true` if LTO-IR inputs are permitted.
    pub lto: bool,
}

/// Splits an option into its name and its value.
fn split(option: &str) -> Option<(&str, &str)> {
    let option = option.strip_prefix('-')?;
    let option = option.strip_prefix('-').unwrap_or(option);
    Some(option.split_once('=').unwrap_or((option, "")))
}

/// Returns the architecture without its kind.
fn arch(value: &str) -> Option<&str> {
    let number = ["sm_", "compute_", "lto_"].iter().find_map(|kind| value.strip_prefix(kind))?;
    let digits = number.strip_suffix(['a', 'f']).unwrap_or(number);
    let is_number = digits.chars().all(|digit| digit.is_ascii_digit()) && matches!(digits.len(), 2 | 3);
    is_number.then_some(number)
}

impl Options {
    /// Parses options.
    pub fn parse(all: Vec<CString>) -> Result<Options, Error> {
        let mut options = Options::default();
        let mut ptx = false;
        for option in &all {
            let text = option.to_string_lossy();
            let known = split(&text).filter(|(name, _)| NAMES.contains(name));
            let (name, value) = known.ok_or_else(|| Error::Option((*text).to_owned()))?;
            match name {
                "arch" => arch(value).ok_or_else(|| Error::Arch(value.to_owned()))?.clone_into(&mut options.arch),
                "lto" | "dlto" => options.lto = true,
                "ptx" => ptx = true,
                _ => {}
            }
        }
        if options.arch.is_empty() {
            return Err(Error::MissingArch);
        }
        if ptx && !options.lto {
            return Err(Error::PtxWithoutLto);
        }
        options.all = all;
        Ok(options)
    }

    /// Returns the options with which NVIDIA's library links LTO-IR to PTX.
    pub fn to_ptx(&self) -> Vec<CString> {
        let permitted = |option: &&CString| {
            let option = option.to_string_lossy();
            split(&option).is_none_or(|(name, _)| name != "ptx" && !WITHOUT_PTX.contains(&name))
        };
        let without_lto_arch = |option: &CString| match option.to_bytes().strip_prefix(b"-arch=lto_") {
            // The bytes are a part of a C string.
            Some(number) => CString::new([b"-arch=compute_".as_slice(), number].concat()).unwrap_or_default(),
            None => option.clone(),
        };
        let permitted = self.all.iter().filter(permitted).map(without_lto_arch);
        permitted.chain([CStr::to_owned(c"-ptx")]).collect()
    }

    /// Returns PTX without functions and variables.
    pub fn empty_ptx(&self) -> String {
        format!(".version 9.0\n.target sm_{}\n.address_size 64\n", self.arch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(options: &[&CStr]) -> Result<Options, Error> {
        Options::parse(options.iter().map(|option| CStr::to_owned(option)).collect())
    }

    fn to_ptx(options: &[&CStr]) -> Vec<String> {
        let options = parse(options).unwrap_or_default().to_ptx();
        options.iter().map(|option| option.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn architectures_have_a_kind_and_a_number() {
        for (value, number) in [("sm_80", "80"), ("compute_75", "75"), ("sm_100f", "100f"), ("lto_90a", "90a")] {
            assert_eq!(arch(value), Some(number));
        }
        for value in ["", "80", "sm_", "sm_8", "sm_8x", "sm_80b", "sm_1000", "ptx_80"] {
            assert_eq!(arch(value), None, "{value}");
        }
    }

    #[test]
    fn unknown_options_are_errors() {
        assert!(parse(&[c"-arch=sm_80", c"--no-cache", c"-O3", c"-maxrregcount=32"]).is_ok());
        for option in [c"-fictitious", c"arch=sm_80", c"", c"-"] {
            assert!(matches!(parse(&[c"-arch=sm_80", option]), Err(Error::Option(_))), "{option:?}");
        }
        assert!(matches!(parse(&[c"-lto"]), Err(Error::MissingArch)));
        assert!(matches!(parse(&[c"-arch=sm_8x"]), Err(Error::Arch(_))));
        assert!(matches!(parse(&[c"-arch=sm_80", c"-ptx"]), Err(Error::PtxWithoutLto)));
    }

    #[test]
    fn options_for_ptx_end_with_ptx() {
        assert_eq!(
            to_ptx(&[c"-ptx", c"-arch=sm_80", c"-lto", c"-r", c"-split-compile-extended=2", c"-lineinfo"]),
            ["-arch=sm_80", "-lto", "-lineinfo", "-ptx"]
        );
        assert_eq!(to_ptx(&[c"-arch=lto_90a", c"-lto"]), ["-arch=compute_90a", "-lto", "-ptx"]);
    }
}
