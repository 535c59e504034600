//! Programs that use halfbyte as a library: `cargo run -p halfbyte-examples --example embed`. The
//! pages of `docs/library/` explain them. A custom target and a custom rule book are separate
//! packages in this folder.
