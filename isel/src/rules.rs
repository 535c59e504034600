//! Tables of selection rules, which the build script generates from the rule files. A rule of the term `lower` selects
//! instructions for an op. Rules of other terms select operands, or emit sequences that several rules share.

pub use halfbyte_ir::Rule;

#[allow(unreachable_pub)]
mod halu {
    use super::Rule;
    use halfbyte_ir::{Op, Type};
    include!(concat!(env!("OUT_DIR"), "/halu_rules.rs"));
}

#[allow(unreachable_pub)]
mod ptx {
    use super::Rule;
    use halfbyte_ir::{Op, Type};
    include!(concat!(env!("OUT_DIR"), "/ptx_rules.rs"));
}

#[allow(unreachable_pub)]
mod vp1 {
    use super::Rule;
    use halfbyte_ir::{Op, Type};
    include!(concat!(env!("OUT_DIR"), "/vp1_rules.rs"));
}

pub(crate) use halu::NATIVE as HALU_NATIVE;
pub(crate) use halu::RULES as HALU_RULES;
pub(crate) use ptx::NATIVE as PTX_NATIVE;
pub(crate) use ptx::RULES as PTX_RULES;
pub(crate) use vp1::NATIVE as VP1_NATIVE;
pub(crate) use vp1::RULES as VP1_RULES;
