//! Configuration of the devices by environment variables.

use std::fmt::Display;
use std::io::Write;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::OnceLock;

use crate::attributes::{MODELS, model_of};

/// Configuration of the devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Compute capability of all devices, such as 80 for 8.0.
    pub sm: u32,
    /// Number of multiprocessors of a device. The default is small because kernels often fill the whole device.
    pub multiprocessors: u32,
    /// Number of devices.
    pub devices: u32,
    /// Memory of a device in bytes. Allocations beyond it fail.
    pub memory: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { sm: 80, multiprocessors: 4, devices: 1, memory: 4 << 30 }
    }
}

/// Returns the configuration, which is read from the environment once.
pub fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let variable = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        Settings::read(variable, |warning| {
            // If standard error is closed, the warning is lost.
            let _ = writeln!(std::io::stderr(), "halfbyte: warning: {warning}");
        })
    })
}

impl Settings {
    /// Reads the configuration from variables. An invalid value is reported to `warn`, and the default stays.
    fn read(variable: impl Fn(&str) -> Option<String>, mut warn: impl FnMut(String)) -> Settings {
        let mut settings = Settings::default();
        let mut read = |name: &str, parsed: &mut dyn FnMut(&str) -> Result<(), String>| {
            let Some(value) = variable(name).filter(|value| !value.trim().is_empty()) else { return };
            if let Err(expected) = parsed(value.trim()) {
                warn(format!("`{name}={value}` is ignored\nhelp: set {name} to {expected}"));
            }
        };
        read("HALFBYTE_SM", &mut |value| capability(value).map(|sm| settings.sm = sm));
        read("HALFBYTE_SMS", &mut |value| number(value, 1..=1024).map(|count| settings.multiprocessors = count));
        read("HALFBYTE_DEVICES", &mut |value| number(value, 0..=64).map(|count| settings.devices = count));
        read("HALFBYTE_MAX_MEMORY", &mut |value| bytes(value).map(|bytes| settings.memory = bytes));
        settings
    }
}

/// Parses a compute capability, such as `80` or `sm_80`. The error says what is expected.
fn capability(value: &str) -> Result<u32, String> {
    let digits = value.strip_prefix("sm_").unwrap_or(value);
    digits.parse::<u32>().ok().filter(|sm| model_of(*sm).is_some()).ok_or_else(|| {
        let known: Vec<String> = MODELS.iter().map(|model| model.sm.to_string()).collect();
        format!("one of {}", known.join(", "))
    })
}

/// Parses a number in a range. The error says what is expected.
fn number<T: FromStr + PartialOrd + Display>(value: &str, range: RangeInclusive<T>) -> Result<T, String> {
    let parsed = value.parse::<T>().ok().filter(|number| range.contains(number));
    parsed.ok_or_else(|| format!("a number from {} to {}", range.start(), range.end()))
}

/// Parses a number of bytes, with an optional suffix K, M or G for a power of 1024. The error says what is expected.
fn bytes(value: &str) -> Result<u64, String> {
    let unit = match value.chars().next_back().map(|last| last.to_ascii_uppercase()) {
        Some('K') => 1 << 10,
        Some('M') => 1 << 20,
        Some('G') => 1 << 30,
        _ => 1,
    };
    let digits = value.strip_suffix(|_: char| unit > 1).unwrap_or(value);
    let parsed = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(unit));
    // Sizes and differences of addresses are at most `isize::MAX`.
    let limit = isize::MAX.unsigned_abs() as u64;
    let fits = parsed.filter(|bytes| (1..=limit).contains(bytes));
    fits.ok_or_else(|| "a number of bytes, such as 4294967296, 512M or 4G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the configuration and the warnings of variables.
    fn read(variables: &[(&str, &str)]) -> (Settings, Vec<String>) {
        let mut warnings = Vec::new();
        let variable =
            |name: &str| variables.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned());
        let settings = Settings::read(variable, |warning| warnings.push(warning));
        (settings, warnings)
    }

    #[test]
    fn the_default_is_one_small_device() {
        let (settings, warnings) = read(&[("HALFBYTE_SM", ""), ("HALFBYTE_TRACE", "1")]);
        assert_eq!(settings, Settings { sm: 80, multiprocessors: 4, devices: 1, memory: 4_294_967_296 });
        assert!(warnings.is_empty());
    }

    #[test]
    fn variables_replace_the_defaults() {
        let variables = [
            ("HALFBYTE_SM", "sm_90"),
            ("HALFBYTE_SMS", "132"),
            ("HALFBYTE_DEVICES", "2"),
            ("HALFBYTE_MAX_MEMORY", "1g"),
        ];
        let (settings, warnings) = read(&variables);
        assert_eq!(settings, Settings { sm: 90, multiprocessors: 132, devices: 2, memory: 1 << 30 });
        assert!(warnings.is_empty());
    }

    #[test]
    fn sizes_have_suffixes() {
        let sizes = [("1", 1), ("65536", 65536), ("3K", 3 << 10), ("512M", 512 << 20), ("4G", 4 << 30), ("2k", 2048)];
        for (value, wanted) in sizes {
            assert_eq!(bytes(value), Ok(wanted), "{value}");
        }
    }

    #[test]
    fn invalid_values_are_reported_and_the_defaults_stay() {
        let invalid = [
            ("HALFBYTE_SM", "70"),
            ("HALFBYTE_SM", "8.0"),
            ("HALFBYTE_SMS", "0"),
            ("HALFBYTE_SMS", "-1"),
            ("HALFBYTE_DEVICES", "65"),
            ("HALFBYTE_MAX_MEMORY", "0"),
            ("HALFBYTE_MAX_MEMORY", "G"),
            ("HALFBYTE_MAX_MEMORY", "4T"),
            ("HALFBYTE_MAX_MEMORY", "99999999999G"),
            ("HALFBYTE_MAX_MEMORY", "1é"),
        ];
        for (name, value) in invalid {
            let (settings, warnings) = read(&[(name, value)]);
            assert_eq!(settings, Settings::default(), "{name}={value}");
            assert!(warnings.iter().any(|warning| warning.contains(name)) && warnings.len() == 1, "{name}={value}");
        }
    }
}
