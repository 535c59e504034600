//! Control flow instructions.

use super::*;

const INDEXED: Slot = Slot::one_of("how", words!(Indexed));
const UNIFORM: Slot = Slot::optional("uniformity", words!(Uni));

const CALLED: &str = "Calls a function, or the function whose address a register holds: values are passed in registers, as numbers, or in `.param` variables. What is \
    called by its address must be called as the prototype says, or be one of the functions listed. The carry flag is lost.";

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
    RET "ret" &[UNIFORM], &[], "Returns where the guard holds: of a function to behind its call; of a kernel it ends the work item.", "ret;";
    BRX "brx" &[INDEXED, UNIFORM], &[OperandRow::used("i", Shape::Register(U32)), OperandRow::used("targets", Shape::Table)],
        "Continues at one of the labels that `.branchtargets` lists, by its number from 0. A number past the last one is a trap.", "brx.idx %i, t0;";
    CALL "call" &[UNIFORM], &[OperandRow::used("f", Shape::Call), OperandRow::def("r", Shape::Results), OperandRow::used("a", Shape::Arguments)],
        CALLED, "call.uni (%d), f0, (%a);";
    CALL_INDIRECT "call" &[UNIFORM],
        &[OperandRow::used("f", Shape::Call), OperandRow::used("targets", Shape::Table), OperandRow::def("r", Shape::Results), OperandRow::used("a", Shape::Arguments)],
        CALLED, "call (%d), %f, (%a), t1;";
    EXIT "exit" &[], &[], "Ends the work item where the guard holds.", "@%p exit;";
    TRAP "trap" &[], &[], "Ends the launch as one that failed, where the guard holds.", "@%p trap;";
    BRKPT "brkpt" &[], &[], "Stops for a debugger. There is none, so that it is a `trap`.", "brkpt;";
}
