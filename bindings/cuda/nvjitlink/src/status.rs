//! Result codes of the library.

/// Result code of a function, an `nvJitLinkResult`.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status(pub u32);

impl Status {
    pub const SUCCESS: Status = Status(0);
    pub const UNRECOGNIZED_OPTION: Status = Status(1);
    pub const MISSING_ARCH: Status = Status(2);
    pub const INVALID_INPUT: Status = Status(3);
    pub const PTX_COMPILE: Status = Status(4);
    pub const NVVM_COMPILE: Status = Status(5);
    pub const INTERNAL: Status = Status(6);
    pub const NULL_INPUT: Status = Status(10);
    pub const INCOMPATIBLE_OPTIONS: Status = Status(11);
    pub const INCORRECT_INPUT_TYPE: Status = Status(12);
    pub const UNRECOGNIZED_ARCH: Status = Status(16);
    pub const LTO_NOT_ENABLED: Status = Status(18);
}
