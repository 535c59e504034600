//! Control flow instructions.

use super::*;

const INDEXED: ModifierSlot = ModifierSlot::one_of("how", words!(Indexed));
const UNIFORM: ModifierSlot = ModifierSlot::optional("uniformity", words!(Uni));

const CALLED: &str = "Calls a function, or the function whose address a register holds: values are passed in registers, as numbers, or in `.param` variables. What is \
    called by its address must be called as the prototype says, or be one of the functions listed. The carry flag is lost.";

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
        "Continues at a label where the guard holds. `.uni` promises that it does for all threads or none.", "bra.uni done;" "@!%p bra loop;";
    RET "ret" &[UNIFORM], &[], "Returns where the guard holds: of a function to behind its call; of a kernel it ends the work item.", "ret;";
    BRX "brx" &[INDEXED, UNIFORM], &[OperandRow::used("i", OperandKind::Register(U32)), OperandRow::used("targets", OperandKind::Table)],
        "Continues at one of the labels that `.branchtargets` lists, by its number from 0. A number past the last one is a trap.", "brx.idx %i, t0;";
    CALL "call" &[UNIFORM], &[OperandRow::used("f", OperandKind::Call), OperandRow::def("r", OperandKind::Results), OperandRow::used("a", OperandKind::Arguments)],
        CALLED, "call.uni (%d), f0, (%a);";
    CALL_INDIRECT "call" &[UNIFORM],
        &[OperandRow::used("f", OperandKind::Call), OperandRow::used("targets", OperandKind::Table), OperandRow::def("r", OperandKind::Results), OperandRow::used("a", OperandKind::Arguments)],
        CALLED, "call (%d), %f, (%a), t1;";
    EXIT "exit" &[], &[], "Ends the work item where the guard holds.", "@%p exit;";
    TRAP "trap" &[], &[], "Ends the launch as one that failed, where the guard holds.", "@%p trap;";
    BRKPT "brkpt" &[], &[], "Stops for a debugger. There is none, so that it is a `trap`.", "brkpt;";
}
