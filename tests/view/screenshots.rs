//! Tests of the screenshots in `docs/view.md`, which the script `docs/screenshots` creates.

use std::fs;

use crate::common::root;

/// Maximum size of a screenshot in bytes, because a browser loads all of them with the page.
const MOST_BYTES: usize = 250_000;

#[test]
fn the_pictures_are_small() {
    for picture in ["docs/view.png", "docs/view-dark.png"] {
        let png = fs::read(root().join(picture)).unwrap();
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "{picture}");
        let width = u32::from_be_bytes(png[16..20].try_into().unwrap());
        assert_eq!(width, 1280, "{picture}");
        assert!(png.len() <= MOST_BYTES, "{picture} has {} bytes", png.len());
    }
}
