//! Who uses a value.

use halfbyte_ir::{Inst, Kernel, Value};

/// The instructions with words of their own that use a value, by way of others that have none.
pub(super) fn emitted_users(kernel: &Kernel, value: Value, has_words: &dyn Fn(Inst) -> bool) -> Vec<Inst> {
    let mut users = Vec::new();
    let mut seen = vec![value];
    let mut next = 0;
    while let Some(&value) = seen.get(next) {
        next += 1;
        for user in users_of(kernel, value) {
            match kernel.result(user).filter(|_| !has_words(user)) {
                Some(result) if !seen.contains(&result) => seen.push(result),
                Some(_) => {}
                None if !users.contains(&user) => users.push(user),
                None => {}
            }
        }
    }
    users
}

fn users_of(kernel: &Kernel, value: Value) -> impl Iterator<Item = Inst> + '_ {
    let insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts).copied();
    insts.filter(move |&inst| {
        let passed = kernel.targets(inst).iter().any(|call| kernel.call_args(call).contains(&value));
        passed || kernel.args(inst).contains(&value)
    })
}
