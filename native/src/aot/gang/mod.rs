//! Gangs: functions that run eight items side by side in vectors. A gang is given up if an access
//! fails or a budget may be spent. Then the items of the gang run one after another from their
//! start. The repeated work has the same effects (`stored.rs`).

mod function;
mod stored;

pub(super) use function::{call, code};
pub(super) use stored::stored;
