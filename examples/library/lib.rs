//! Programs that use halfbyte as a library: `cargo run -p halfbyte-examples --example embed`. The pages of `docs/library/` explain
//! them; a target and a rule book of one's own are packages of their own beside them.
