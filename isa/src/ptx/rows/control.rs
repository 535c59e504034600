//! Control.

use super::*;

const UNIFORM: Slot = Slot::optional("uniformity", words!(Uni));

macro_rules! control {
    ($($name:ident $mnemonic:literal $slots:expr, $operands:expr, $doc:expr, $($example:literal)*;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            operands: $operands,
            class: Class::Control,
            doc: $doc,
            examples: &[$($example),*],
            ..PTX
        };
    )* };
}

control! {
    BRA "bra" &[UNIFORM], &[OperandRow::used("target", Shape::Label)],
        "Continues at a label where the guard holds. `.uni` promises that it does for all threads or none.", "bra.uni done;" "@!%p bra loop;";
    RET "ret" &[UNIFORM], &[], "Ends the work item where the guard holds.", "ret;";
    EXIT "exit" &[], &[], "Ends the work item where the guard holds.", "@%p exit;";
    TRAP "trap" &[], &[], "Ends the launch as one that failed, where the guard holds.", "@%p trap;";
    BRKPT "brkpt" &[], &[], "Stops for a debugger. There is none, so that it is a `trap`.", "brkpt;";
}
