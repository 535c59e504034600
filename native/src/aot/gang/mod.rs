//! Gangs: functions that run eight items side by side in vectors. A gang is given up if an access
//! fails or a budget may be spent. Then its items run one after another from their start, which
//! does the same again (`stored.rs`).

mod function;
mod stored;

pub(super) use function::{call, code};
pub(super) use stored::stored;
