//! Tests of layout, listings and objects.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod layout;
mod vp1_layout;
mod vp1_listing;
