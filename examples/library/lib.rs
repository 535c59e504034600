//! Programs that use halfbyte as a library, for example `cargo run -p halfbyte-examples --example
//! embed`. The pages of `docs/library/` explain them. This folder also contains two separate
//! packages: a custom target and a custom rule book.
