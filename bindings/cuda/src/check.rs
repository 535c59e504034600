//! Checks of launches, configured by environment variables.

use std::num::NonZero;
use std::sync::OnceLock;

use halfbyte::Engine;
use halfbyte::abi::DEFAULT_BUDGET;
use halfbyte::launch::RaceCheck;

/// The checks of launches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks {
    pub engine: Engine,
    /// Maximum number of backward branches of a thread.
    pub budget: u64,
    pub races: RaceCheck,
    /// `true` if a load past the end of an allocation is an error. Otherwise, a load may reach the next multiple of 256
    /// bytes, as GPUs permit.
    pub is_strict: bool,
    /// `true` if an error of a kernel is reported, but does not make later calls fail.
    pub keeps_going: bool,
    /// `true` if a launch returns the error of its kernel. Otherwise, the next call returns the error.
    pub is_blocking: bool,
}

/// Returns the checks, which are read from the environment once: `HALFBYTE_RACES` (`on` or `strict`),
/// `HALFBYTE_STRICT`, `HALFBYTE_KEEP_GOING`, `HALFBYTE_BUDGET`, `HALFBYTE_THREADS`, and `CUDA_LAUNCH_BLOCKING`.
pub fn checks() -> &'static Checks {
    static CHECKS: OnceLock<Checks> = OnceLock::new();
    CHECKS.get_or_init(|| Checks::read(|name| std::env::var(name).ok()))
}

impl Checks {
    /// Reads the checks from variables. An unset variable, `0` and an empty value mean the default.
    fn read(variable: impl Fn(&str) -> Option<String>) -> Checks {
        let value = |name: &str| variable(name).filter(|value| !matches!(value.trim(), "" | "0"));
        let threads = value("HALFBYTE_THREADS").and_then(|value| value.trim().parse::<NonZero<u16>>().ok());
        let jit = threads.map_or(Engine::JIT, |threads| Engine::Jit { threads });
        Checks {
            engine: if cfg!(feature = "jit") { jit } else { Engine::Interp },
            budget: value("HALFBYTE_BUDGET").and_then(|value| value.trim().parse().ok()).unwrap_or(BUDGET),
            races: match value("HALFBYTE_RACES").as_deref() {
                None | Some("off") => RaceCheck::Off,
                Some("strict") => RaceCheck::Strict,
                Some(_) => RaceCheck::On,
            },
            is_strict: value("HALFBYTE_STRICT").is_some(),
            keeps_going: value("HALFBYTE_KEEP_GOING").is_some(),
            is_blocking: value("CUDA_LAUNCH_BLOCKING").is_some(),
        }
    }
}

/// Default budget. It is larger than that of other launches, because programs run loops as long as on a GPU.
const BUDGET: u64 = DEFAULT_BUDGET << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Checks {
        Checks::read(|name| variables.iter().find(|(of, _)| *of == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn nothing_is_checked_by_default() {
        let checks = read(&[("HALFBYTE_RACES", ""), ("HALFBYTE_STRICT", "0")]);
        assert_eq!((checks.races, checks.is_strict, checks.keeps_going), (RaceCheck::Off, false, false));
        assert_eq!((checks.is_blocking, checks.budget), (false, BUDGET));
    }

    #[test]
    fn variables_turn_checks_on() {
        assert_eq!(read(&[("HALFBYTE_RACES", "on")]).races, RaceCheck::On);
        assert_eq!(read(&[("HALFBYTE_RACES", "strict")]).races, RaceCheck::Strict);
        assert_eq!(read(&[("HALFBYTE_BUDGET", "77")]).budget, 77);
        assert!(read(&[("HALFBYTE_STRICT", "1")]).is_strict && read(&[("HALFBYTE_KEEP_GOING", "1")]).keeps_going);
        assert!(read(&[("CUDA_LAUNCH_BLOCKING", "1")]).is_blocking);
    }
}
