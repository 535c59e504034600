//! Rows of control flow instructions.

use super::*;

const INDEXED: ModifierSlot = ModifierSlot::one_of("operation", words!(Indexed));
const UNIFORM: ModifierSlot = ModifierSlot::optional("uniformity", words!(Uni));

const CALLED: &str = "Calls a function, directly or by its address in a register. Arguments and results are passed in \
    registers, as immediates, or in `.param` variables. A function that is called by its address must match the \
    prototype or be one of the listed functions. The carry flag is not preserved.";

macro_rules! control {
    ($($name:ident $mnemonic:literal $slots:expr, $operands:expr, $doc:expr, $($example:literal)*;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            operands: $operands,
            class: InstClass::Control,
            doc: $doc,
            examples: &[$($example),*],
            ..PTX
        };
    )* };
}

control! {
    BRA "bra" &[UNIFORM], &[OperandRow::used("target", OperandKind::Label)],
        "Branches to a label if the guard is true. `.uni` asserts that all threads take the branch, or none.", "bra.uni done;" "@!%p bra loop;";
    RET "ret" &[UNIFORM], &[], "Returns if the guard is true: a function returns to its caller, and a kernel ends the work item.", "ret;";
    BRX "brx" &[INDEXED, UNIFORM], &[OperandRow::used("i", OperandKind::Register(U32)), OperandRow::used("targets", OperandKind::Table)],
        "Branches to one of the labels of a `.branchtargets` list, by its index from 0. An index beyond the list \
         traps.", "brx.idx %i, t0;";
    CALL "call" &[UNIFORM], &[OperandRow::used("f", OperandKind::Call), OperandRow::def("r", OperandKind::Results), OperandRow::used("a", OperandKind::Arguments)],
        CALLED, "call.uni (%d), f0, (%a);";
    CALL_INDIRECT "call" &[UNIFORM],
        &[OperandRow::used("f", OperandKind::Call), OperandRow::used("targets", OperandKind::Table), OperandRow::def("r", OperandKind::Results), OperandRow::used("a", OperandKind::Arguments)],
        CALLED, "call (%d), %f, (%a), t1;";
    EXIT "exit" &[], &[], "Ends the work item if the guard is true.", "@%p exit;";
    TRAP "trap" &[], &[], "Aborts the launch with an error if the guard is true.", "@%p trap;";
    BRKPT "brkpt" &[], &[], "Breakpoint of a debugger. halfbyte has no debugger interface, so this is a `trap`.", "brkpt;";
}
