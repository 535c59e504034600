//! Replacement of `native.rs` in builds without the feature `aot`.

use std::path::{Path, PathBuf};

use super::Failure;

#[derive(clap::Args)]
pub(super) struct NativeArgs {}

pub(super) struct Made {
    pub object: Vec<u8>,
    pub header: Option<(PathBuf, String)>,
}

pub(super) const TRIPLES: [&str; 0] = [];

pub(super) fn meant(_: &str) -> Option<&'static str> {
    None
}

impl NativeArgs {
    pub(super) fn header(&self) -> Option<&Path> {
        None
    }

    pub(super) fn refuse_for(&self, _: &str) -> Result<(), Failure> {
        Ok(())
    }

    pub(super) fn check(&self, triple: &str, _: bool, _: bool) -> Result<(), Failure> {
        Err(Failure::Call(format!("--target {triple}: this `halfbyte` executable was built without the feature `aot`")))
    }

    pub(super) fn make(&self, triple: &str, _: &[u8], _: &str, _: &str) -> Result<Made, Failure> {
        self.check(triple, true, false).map(|()| Made { object: Vec::new(), header: None })
    }
}
