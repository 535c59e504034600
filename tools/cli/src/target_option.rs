//! The value of `compile --target`: a target, or the triple of a host machine.

use std::ffi::OsStr;

use clap::Arg;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use halfbyte::{TARGETS, Target};

use super::Named;
use super::native::{TRIPLES, meant};

/// The target of a compilation: a target of halfbyte, or a host machine.
#[derive(Clone)]
pub(super) enum TargetOption {
    /// A target of halfbyte.
    Target(Target),
    /// A host machine for native code, by its triple. [`THIS`] is this computer.
    Host(String),
}

/// Name of this computer, in place of a triple.
pub(super) const THIS: &str = "native";

/// Returns a parser of target names and triples.
pub(super) fn target_option_parser() -> impl TypedValueParser<Value = TargetOption> {
    let targets = TARGETS.defaults().map(|target| PossibleValue::new(target.name()).help(target.summary()));
    let this = PossibleValue::new(THIS).help("This machine: native code for C with --emit obj");
    let triples = TRIPLES.map(|triple| {
        PossibleValue::new(triple).help("Another machine: object files that C programs link, with --emit obj")
    });
    AimParser(Named(PossibleValuesParser::new(targets.chain([this]).chain(triples).collect::<Vec<_>>())))
}

#[derive(Clone)]
struct AimParser(Named);

impl TypedValueParser for AimParser {
    type Value = TargetOption;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<TargetOption, clap::Error> {
        match value.to_str() {
            Some(name) if is_host(name) => Ok(TargetOption::Host(name.to_owned())),
            _ => {
                let name = self.0.parse_ref(command, arg, value)?;
                let target = TARGETS.named(&name).map(TargetOption::Target);
                Ok(target.unwrap_or(TargetOption::Host(name)))
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// Returns `true` if a name is the triple of a host machine, or looks like one. NVIDIA's triples
/// are other names of PTX, so they do not count.
fn is_host(name: &str) -> bool {
    !name.starts_with("nvptx") && (name == THIS || name.contains('-') || meant(name).is_some())
}
