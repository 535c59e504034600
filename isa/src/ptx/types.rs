//! PTX types, modifiers, state spaces and special registers.

use std::fmt;

use halfbyte_abi::{Axis, Sm};

/// The kind of a type. An operand and a register may have types of different kinds only if one of
/// the types is an untyped `.bN`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeKind {
    /// The type of a predicate.
    Predicate,
    /// Untyped bits, such as `.b32`.
    Bits,
    /// An integer.
    Integer,
    /// A floating-point number, or a packed pair of them.
    Float,
    /// Packed values, or a value in a special format. Registers cannot be declared with such a type.
    Packed,
}

macro_rules! types {
    ($($name:ident $text:literal $bits:literal $kind:ident $signed:literal;)*) => {
        /// The type of a register or of an instruction's operand.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs)] // The variant names are the type names.
        pub enum Type { $($name,)* }

        impl Type {
            /// Every PTX type.
            pub const ALL: &'static [Type] = &[$(Type::$name,)*];

            /// Returns the name of the type without its dot.
            pub const fn name(self) -> &'static str {
                match self { $(Type::$name => $text,)* }
            }

            /// Returns the width of the type in bits. A predicate has 1 bit.
            pub const fn bits(self) -> u32 {
                match self { $(Type::$name => $bits,)* }
            }

            /// Returns the kind of the type.
            pub const fn kind(self) -> TypeKind {
                match self { $(Type::$name => TypeKind::$kind,)* }
            }

            /// Returns `true` if the type is a signed integer.
            pub const fn is_signed(self) -> bool {
                match self { $(Type::$name => $signed,)* }
            }

            /// Returns the type with this name, which has no dot.
            pub fn from_name(name: &str) -> Option<Type> {
                match name { $($text => Some(Type::$name),)* _ => None }
            }
        }
    };
}

types! {
    Pred "pred" 1 Predicate false;
    B8 "b8" 8 Bits false;
    B16 "b16" 16 Bits false;
    B32 "b32" 32 Bits false;
    B64 "b64" 64 Bits false;
    B128 "b128" 128 Bits false;
    U8 "u8" 8 Integer false;
    U16 "u16" 16 Integer false;
    U32 "u32" 32 Integer false;
    U64 "u64" 64 Integer false;
    S8 "s8" 8 Integer true;
    S16 "s16" 16 Integer true;
    S32 "s32" 32 Integer true;
    S64 "s64" 64 Integer true;
    F16 "f16" 16 Float false;
    F16x2 "f16x2" 32 Float false;
    Bf16 "bf16" 16 Float false;
    Bf16x2 "bf16x2" 32 Float false;
    F32 "f32" 32 Float false;
    F64 "f64" 64 Float false;
    B1 "b1" 1 Packed false;
    U2 "u2" 2 Packed false;
    S2 "s2" 2 Packed true;
    U4 "u4" 4 Packed false;
    S4 "s4" 4 Packed true;
    E4m3 "e4m3" 8 Packed false;
    E5m2 "e5m2" 8 Packed false;
    Tf32 "tf32" 32 Packed false;
    F32x2 "f32x2" 64 Packed false;
    E4m3x2 "e4m3x2" 16 Packed false;
    E5m2x2 "e5m2x2" 16 Packed false;
    E2m3x2 "e2m3x2" 16 Packed false;
    E3m2x2 "e3m2x2" 16 Packed false;
    E2m1x2 "e2m1x2" 8 Packed false;
    Ue8m0x2 "ue8m0x2" 16 Packed false;
    E4m3x4 "e4m3x4" 32 Packed false;
    E5m2x4 "e5m2x4" 32 Packed false;
    E2m3x4 "e2m3x4" 32 Packed false;
    E3m2x4 "e3m2x4" 32 Packed false;
    E2m1x4 "e2m1x4" 16 Packed false;
    U16x2 "u16x2" 32 Packed false;
    S16x2 "s16x2" 32 Packed true;
    U8x4 "u8x4" 32 Packed false;
    S8x4 "s8x4" 32 Packed true;
}

impl Type {
    /// Returns `true` if an operand of this type may be a register of type `register`. Both types
    /// must have the same width. Their kinds must be equal, or one type must be untyped.
    pub fn accepts(self, register: Type) -> bool {
        self.bits() == register.bits() && self.is_compatible(register)
    }

    /// Returns `true` if an operand of this type may be a register of type `register`, which may be
    /// wider. Loads, stores and most conversions accept wider registers.
    pub fn fits_in(self, register: Type) -> bool {
        let is_of_class = match self.kind() {
            TypeKind::Float => register.kind() == TypeKind::Bits,
            TypeKind::Integer => matches!(register.kind(), TypeKind::Bits | TypeKind::Integer),
            TypeKind::Bits => register.kind() != TypeKind::Predicate,
            TypeKind::Predicate | TypeKind::Packed => false,
        };
        self.bits() < register.bits() && register != Type::B128 && is_of_class || self.accepts(register)
    }

    fn is_compatible(self, register: Type) -> bool {
        match (self.kind(), register.kind()) {
            (TypeKind::Predicate, other) | (other, TypeKind::Predicate) => other == TypeKind::Predicate,
            (TypeKind::Packed, other) | (other, TypeKind::Packed) => other == TypeKind::Bits,
            (TypeKind::Float, TypeKind::Float) => self == register,
            (a, b) => a == b || a == TypeKind::Bits || b == TypeKind::Bits,
        }
    }

    /// Returns `true` if the type is an integer, or several packed integers.
    pub fn holds_integers(self) -> bool {
        self.kind() == TypeKind::Integer || matches!(self, Type::U16x2 | Type::S16x2 | Type::U8x4 | Type::S8x4)
    }

    /// Returns `true` if an immediate can have this type.
    pub fn has_immediates(self) -> bool {
        !matches!(self, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2) && self.kind() != TypeKind::Packed
    }

    /// Returns `true` if a register can be declared with this type.
    pub fn is_of_registers(self) -> bool {
        self.kind() != TypeKind::Packed && !matches!(self, Type::Bf16 | Type::Bf16x2)
    }

    /// Returns the untyped type of the same width.
    pub fn untyped(self) -> Type {
        match self.bits() {
            ..=8 => Type::B8,
            16 => Type::B16,
            32 => Type::B32,
            64 => Type::B64,
            _ => Type::B128,
        }
    }

    /// Clears the bits of `value` beyond the width of the type.
    pub const fn truncate(self, value: u64) -> u64 {
        if self.bits() < 64 { value & (u64::MAX >> (64 - self.bits())) } else { value }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name())
    }
}

macro_rules! tokens {
    ($($name:ident $text:literal)*) => {
        /// A modifier: the text after a dot of an instruction, such as `rn` in `add.rn.f32`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs)] // The variant names are the modifier names; the rows describe their effects.
        pub enum Token { Type(Type), Warpgroup(WarpgroupShape), $($name,)* }

        impl Token {
            /// Returns the text of the modifier without the dot.
            pub const fn text(self) -> &'static str {
                match self {
                    Token::Type(ty) => ty.name(),
                    Token::Warpgroup(shape) => shape.name(),
                    $(Token::$name => $text,)*
                }
            }

            /// Returns the modifier with this text.
            pub fn from_text(text: &str) -> Option<Token> {
                match text {
                    $($text => Some(Token::$name),)*
                    _ => Type::from_name(text)
                        .map(Token::Type)
                        .or_else(|| WarpgroupShape::from_name(text).map(Token::Warpgroup)),
                }
            }
        }
    };
}

/// The shape of a `wgmma` product, such as `.m64n128k16`: 64 rows, a multiple of eight columns, and
/// the inner dimension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WarpgroupShape {
    columns: u16,
    inner: Inner,
}

/// The inner dimension of a `wgmma` product: the number of elements in 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Inner {
    K8,
    K16,
    K32,
    K256,
}

impl Inner {
    const ALL: [Inner; 4] = [Inner::K8, Inner::K16, Inner::K32, Inner::K256];
}

macro_rules! warpgroup_shapes {
    ($($columns:literal)*) => {
        /// The names of the `wgmma` shapes, by inner dimension and number of columns.
        const WARPGROUP_SHAPES: [[&str; 32]; 4] = [
            [$(concat!("m64n", $columns, "k8")),*],
            [$(concat!("m64n", $columns, "k16")),*],
            [$(concat!("m64n", $columns, "k32")),*],
            [$(concat!("m64n", $columns, "k256")),*],
        ];
    };
}
warpgroup_shapes! {
    8 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128 136 144 152 160 168 176 184 192 200 208 216 224 232 240 248 256
}

impl WarpgroupShape {
    /// Creates the shape for elements of `bits` bits. `columns` must be a multiple of eight and at most 256.
    pub const fn new(columns: u16, bits: u32) -> WarpgroupShape {
        assert!(columns != 0 && columns <= 256 && columns.is_multiple_of(8), "there are no such columns");
        let inner = match bits {
            32 => Inner::K8,
            16 => Inner::K16,
            8 => Inner::K32,
            _ => Inner::K256,
        };
        WarpgroupShape { columns, inner }
    }

    /// Returns the number of columns of the matrices B, C and D.
    pub const fn columns(self) -> u32 {
        self.columns as u32
    }

    /// Returns the inner dimension: the number of columns of A, which is the number of rows of B.
    pub const fn inner(self) -> u32 {
        match self.inner {
            Inner::K8 => 8,
            Inner::K16 => 16,
            Inner::K32 => 32,
            Inner::K256 => 256,
        }
    }

    /// Returns the name of the shape, such as `m64n128k16`.
    pub const fn name(self) -> &'static str {
        WARPGROUP_SHAPES[self.inner as usize][self.columns as usize / 8 - 1]
    }

    /// Returns the shape with this name, if there is one.
    pub fn from_name(name: &str) -> Option<WarpgroupShape> {
        let of = |(inner, names): (Inner, &[&str; 32])| {
            let columns = (8..).step_by(8).zip(names).find(|(_, known)| **known == name)?.0;
            Some(WarpgroupShape { columns, inner })
        };
        Inner::ALL.into_iter().zip(&WARPGROUP_SHAPES).find_map(of)
    }
}

tokens! {
    Rn "rn" Rz "rz" Rm "rm" Rp "rp" Rni "rni" Rzi "rzi" Rmi "rmi" Rpi "rpi" Rna "rna" Rs "rs"
    Ftz "ftz" Sat "sat" Pack "pack" Relu "relu" Nan "NaN" Satfinite "satfinite" Approx "approx" Full "full" Xorsign "xorsign" Abs "abs"
    Finite "finite" Infinite "infinite" Number "number" NotANumber "notanumber" Normal "normal" Subnormal "subnormal"
    Lo "lo" Hi "hi" Wide "wide" Left "l" Right "r" Clamp "clamp" Wrap "wrap"
    Eq "eq" Ne "ne" Lt "lt" Le "le" Gt "gt" Ge "ge" Ls "ls" Hs "hs"
    Equ "equ" Neu "neu" Ltu "ltu" Leu "leu" Gtu "gtu" Geu "geu" Num "num" IsNan "nan"
    And "and" Or "or" Xor "xor" Add "add" Cc "cc" ShiftAmount "shiftamt"
    F4e "f4e" B4e "b4e" Rc8 "rc8" Ecl "ecl" Ecr "ecr" Rc16 "rc16"
    V2 "v2" V4 "v4" V8 "v8" Global "global" Const "const" Local "local" Param "param" Shared "shared" SharedCta "shared::cta" ReadOnly "nc" To "to" Uni "uni" Indexed "idx"
    Weak "weak" Volatile "volatile" Relaxed "relaxed" Acquire "acquire" Release "release" Mmio "mmio"
    Cta "cta" Cluster "cluster" Gpu "gpu" Sys "sys"
    CacheAll "ca" CacheGlobal "cg" Streaming "cs" LastUse "lu" DontCache "cv" WriteBack "wb" WriteThrough "wt"
    L1Normal "L1::evict_normal" L1Unchanged "L1::evict_unchanged" L1First "L1::evict_first" L1Last "L1::evict_last"
    L1NoAllocate "L1::no_allocate" L2Normal "L2::evict_normal" L2First "L2::evict_first" L2Last "L2::evict_last"
    CacheHint "L2::cache_hint" Prefetch64 "L2::64B" Prefetch128 "L2::128B" Prefetch256 "L2::256B"
    L1 "L1" L2 "L2" L2Unchanged "L2::evict_unchanged" Fractional "fractional" LaunchDependents "launch_dependents" Wait "wait"
    GlobalLevel "gl" Proxy "proxy" Alias "alias" Async "async" SequentiallyConsistent "sc" AcquireRelease "acq_rel"
    Mask "mask" Sync "sync" Arrive "arrive" Red "red" Aligned "aligned" Warp "warp" Popc "popc"
    Up "up" Down "down" Bfly "bfly" All "all" Any "any" Ballot "ballot" Min "min" Max "max" Inc "inc" Dec "dec" Exch "exch" Cas "cas" Noftz "noftz"
    M8n8 "m8n8" M8n8k4 "m8n8k4" M8n8k16 "m8n8k16" M8n8k32 "m8n8k32" M8n8k128 "m8n8k128"
    M16n8k4 "m16n8k4" M16n8k8 "m16n8k8" M16n8k16 "m16n8k16" M16n8k32 "m16n8k32" M16n8k64 "m16n8k64" M16n8k128 "m16n8k128" M16n8k256 "m16n8k256"
    M16n16k8 "m16n16k8" M16n16k16 "m16n16k16" M8n32k16 "m8n32k16" M32n8k16 "m32n8k16"
    Load "load" Store "store" Mma "mma" MatrixA "a" MatrixB "b" MatrixC "c" MatrixD "d"
    MmaAsync "mma_async" WarpgroupFence "fence" Row "row" Column "col" One "x1" Two "x2" Four "x4" Transposed "trans"
    PlusOne "po" ShiftRight7 "shr7" ShiftRight15 "shr15"
    CommitGroup "commit_group" WaitGroup "wait_group" WaitAll "wait_all"
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.text())
    }
}

/// The suffix of a target name. A feature of a family is present in each architecture of the family.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Suffix {
    /// The suffix `f`, for features of an architecture's family.
    Family,
    /// The suffix `a`, for features of a single architecture.
    Architecture,
}

impl Suffix {
    /// Returns the letter of the suffix: `f` or `a`.
    pub const fn letter(self) -> &'static str {
        match self {
            Suffix::Family => "f",
            Suffix::Architecture => "a",
        }
    }
}

/// Target requirements: the PTX version and the SM version that an instruction or modifier needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Requirements {
    /// The minimum PTX version, major and minor.
    pub version: (u8, u8),
    /// The minimum SM version.
    pub sm: u16,
    /// The suffix that the target name needs, if any. For example, a feature may need `sm_120f` or
    /// `sm_120a` and not just `sm_120`.
    pub suffix: Option<Suffix>,
    /// `true` if only SMs of the same family as `sm` have the feature.
    pub one_family: bool,
    /// A PTX version lower than `version` that suffices for targets of at least the given SM version.
    pub earlier: Option<((u8, u8), u16)>,
    /// The last PTX version with the feature, if a later version removed it for targets from `sm_70` on.
    pub until: Option<(u8, u8)>,
    /// The last SM version with the feature, if later SMs lack it.
    pub last_sm: Option<u16>,
}

impl Requirements {
    /// Requirements that every supported target meets.
    pub const ALWAYS: Requirements = Requirements::new(6, 3, 75);

    /// Creates requirements of the PTX version `major.minor` and an SM version.
    pub const fn new(major: u8, minor: u8, sm: u16) -> Requirements {
        Requirements {
            version: (major, minor),
            sm,
            suffix: None,
            one_family: false,
            earlier: None,
            until: None,
            last_sm: None,
        }
    }

    /// Returns the requirements of a target name alone: the first PTX version that has this SM version.
    pub const fn first(sm: Sm) -> Requirements {
        Requirements::new(sm.ptx_version().0, sm.ptx_version().1, sm.number())
    }

    /// Returns `true` if an SM meets the requirements. The target name is assumed to have the required suffix.
    pub fn is_supported_by(self, sm: Sm) -> bool {
        let (least, number) = (self.sm, sm.number());
        number >= least
            && self.until.is_none_or(|until| sm.ptx_version() <= until)
            && self.last_sm.is_none_or(|last| number <= last)
            && (!self.one_family || number / 10 == least / 10)
    }

    /// Returns `true` if the requirements exceed [`ALWAYS`](Requirements::ALWAYS).
    pub const fn is_more(self) -> bool {
        let Requirements { version: (major, minor), sm, suffix, .. } = self;
        let Requirements { version: (least_major, least_minor), sm: least_sm, .. } = Requirements::ALWAYS;
        major > least_major || major == least_major && minor > least_minor || sm > least_sm || suffix.is_some()
    }

    /// Returns a lower PTX version and an SM version that are enough for both requirements, with
    /// `self.earlier` in place of `self.version`. Returns `None` if that PTX version is not lower
    /// than the `version` that both requirements need.
    fn earlier_with(self, other: Requirements) -> Option<((u8, u8), u16)> {
        let (version, sm) = self.earlier?;
        let (of_other, sm_of_other) = other.earlier.unwrap_or((other.version, other.sm));
        let both = (version.max(of_other), sm.max(sm_of_other));
        (both.0 < self.version.max(other.version)).then_some(both)
    }

    /// Returns the requirements that are met if both `self` and `other` are met.
    #[must_use]
    pub fn and(self, other: Requirements) -> Requirements {
        Requirements {
            version: self.version.max(other.version),
            sm: self.sm.max(other.sm),
            suffix: self.suffix.max(other.suffix),
            one_family: self.one_family || other.one_family,
            earlier: self.earlier_with(other).or_else(|| other.earlier_with(self)),
            until: self.until.into_iter().chain(other.until).min(),
            last_sm: self.last_sm.into_iter().chain(other.last_sm).min(),
        }
    }
}

impl fmt::Display for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((major, minor)) = self.until {
            return write!(f, "PTX {major}.{minor} at most");
        }
        let (major, minor) = self.version;
        match self.last_sm {
            Some(last) if last == self.sm => {
                let suffix = self.suffix.map_or("", Suffix::letter);
                return write!(f, "PTX {major}.{minor} and sm_{last}{suffix} alone");
            }
            Some(last) => return write!(f, "PTX {major}.{minor} and sm_{} to sm_{last}", self.sm),
            None => {}
        }
        write!(f, "PTX {major}.{minor} and sm_{}", self.sm)?;
        self.suffix.map_or(Ok(()), |suffix| f.write_str(suffix.letter()))
    }
}

/// A special register, which the hardware sets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Special {
    /// The special register without its component.
    pub group: SpecialGroup,
    /// The component. A register without components has `x`.
    pub axis: Axis,
}

/// The class of a special register. The class determines the number of components, their width, and
/// whether the value depends on the work item's position or on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SpecialClass {
    /// Three 32-bit components that depend on the work item's position in the launch.
    Axes,
    /// One 32-bit value that depends on the work item's position in the launch.
    Place,
    /// One 32-bit value that depends on the machine.
    Machine,
    /// One 64-bit value that depends on the machine.
    Wide,
}

macro_rules! special_groups {
    (
        single { $($variant:ident $name:literal $sort:ident $doc:literal;)* }
        numbered { $($family:ident $prefix:literal $suffix:literal $count:literal $family_sort:ident $family_doc:literal;)* }
    ) => {
        /// The special registers, without their components.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum SpecialGroup {
            $(#[doc = concat!("`", $name, "`: ", $doc)] $variant,)*
            $(
                #[doc = concat!("`", $prefix, "0", $suffix, "` and the registers with the next numbers, ", $count, " in all: ", $family_doc)]
                $family(u8),
            )*
        }

        impl SpecialGroup {
            /// Returns all special registers, in the order of their declaration.
            pub fn all() -> impl Iterator<Item = SpecialGroup> {
                [$(SpecialGroup::$variant,)*].into_iter()$(.chain((0..$count).map(SpecialGroup::$family)))*
            }

            const fn sort(self) -> SpecialClass {
                match self {
                    $(SpecialGroup::$variant => SpecialClass::$sort,)*
                    $(SpecialGroup::$family(_) => SpecialClass::$family_sort,)*
                }
            }

            /// Returns the special register with this name, which begins with `%`.
            fn from_name(name: &str) -> Option<SpecialGroup> {
                match name {
                    $($name => Some(SpecialGroup::$variant),)*
                    _ => None$(.or_else(|| Some(SpecialGroup::$family(number_in(name, [$prefix, $suffix], $count)?))))*,
                }
            }
        }

        impl fmt::Display for SpecialGroup {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(SpecialGroup::$variant => f.write_str($name),)*
                    $(SpecialGroup::$family(number) => write!(f, "{}{number}{}", $prefix, $suffix),)*
                }
            }
        }
    };
}

/// Returns the number between a prefix and a suffix of a name, if it is less than `count` and has no leading zero.
fn number_in(name: &str, [prefix, suffix]: [&str; 2], count: u8) -> Option<u8> {
    let digits = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
    let is_canonical = digits == "0" || digits.starts_with(|first| matches!(first, '1'..='9'));
    digits.parse().ok().filter(|&number| is_canonical && number < count)
}

special_groups! {
    single {
        Thread "%tid" Axes "the index of the thread in its block.";
        BlockSize "%ntid" Axes "the number of threads per block.";
        Block "%ctaid" Axes "the index of the block.";
        GridSize "%nctaid" Axes "the number of blocks in the launch.";
        Lane "%laneid" Place "the index of the thread in its warp. A warp has 32 threads of a block; x varies fastest, then y, then z.";
        Warp "%warpid" Place "the index of the warp in its block.";
        Warps "%nwarpid" Place "the number of warps per block.";
        LanesEqual "%lanemask_eq" Place "the bit of the thread's lane.";
        LanesBelow "%lanemask_lt" Place "the bits of the lanes below the thread's lane.";
        LanesUpTo "%lanemask_le" Place "the bits of the thread's lane and of the lanes below it.";
        LanesAbove "%lanemask_gt" Place "the bits of the lanes above the thread's lane.";
        LanesFrom "%lanemask_ge" Place "the bits of the thread's lane and of the lanes above it.";
        Multiprocessor "%smid" Machine "the index of the multiprocessor: 0.";
        Multiprocessors "%nsmid" Machine "the number of multiprocessors: 1.";
        Clock "%clock" Machine "the number of instructions that the work item has executed.";
        ClockHigh "%clock_hi" Machine "the upper half of `%clock64`.";
        TimeLow "%globaltimer_lo" Machine "the lower half of `%clock64`.";
        TimeHigh "%globaltimer_hi" Machine "the upper half of `%clock64`.";
        SharedSize "%total_smem_size" Machine "the number of bytes of shared memory per block, rounded up to a multiple of 128.";
        DynamicSharedSize "%dynamic_smem_size" Machine "the number of bytes of dynamic shared memory that the launch requests.";
        Grid "%gridid" Wide "the index of the launch: 0.";
        Clock64 "%clock64" Wide "the number of instructions that the work item has executed.";
        Time "%globaltimer" Wide "the same value as `%clock64`.";
        ReservedSharedStart "%reserved_smem_offset_begin" Machine "the start of the reserved shared memory.";
        ReservedSharedEnd "%reserved_smem_offset_end" Machine "the end of the reserved shared memory.";
        ReservedSharedSize "%reserved_smem_offset_cap" Machine "the size of the reserved shared memory in bytes: 1024.";
    }
    numbered {
        Environment "%envreg" "" 32 Machine "an environment register, which the driver sets at a launch. Registers 1 and 2 hold the upper and the lower half of the address of the grid workspace in a cooperative launch. The other registers are 0.";
        ReservedShared "%reserved_smem_offset_" "" 2 Machine "the start of a part of the reserved shared memory. Part 0 is for the system, and part 1 for cooperative groups.";
        Monitor "%pm" "" 8 Machine "a counter of the performance monitor, which counts nothing: 0.";
        WideMonitor "%pm" "_64" 8 Wide "a counter of the performance monitor with 64 bits: 0.";
    }
}

impl Special {
    /// Returns every component of every special register.
    pub fn all() -> impl Iterator<Item = Special> {
        let of = |group: SpecialGroup| {
            let axes = if group.sort() == SpecialClass::Axes { &Axis::ALL[..] } else { &Axis::ALL[..1] };
            axes.iter().map(move |&axis| Special { group, axis })
        };
        SpecialGroup::all().flat_map(of)
    }

    /// Returns the width of the special register in bits.
    pub fn bits(self) -> u32 {
        if self.group.sort() == SpecialClass::Wide { 64 } else { 32 }
    }

    /// Returns the target requirements of the special register.
    pub const fn since(self) -> Requirements {
        if self.is_of_reserved_memory() { Requirements::new(7, 6, 80) } else { Requirements::ALWAYS }
    }

    /// Returns `true` if the value is an address or size of reserved shared memory.
    pub const fn is_of_reserved_memory(self) -> bool {
        matches!(
            self.group,
            SpecialGroup::ReservedSharedStart
                | SpecialGroup::ReservedSharedEnd
                | SpecialGroup::ReservedSharedSize
                | SpecialGroup::ReservedShared(_)
        )
    }

    /// Returns `true` if the register has a component for each axis.
    pub fn is_along_axes(self) -> bool {
        self.group.sort() == SpecialClass::Axes
    }

    /// Returns `true` if the value depends on the work item's position in the launch.
    pub fn depends_on_position(self) -> bool {
        matches!(self.group.sort(), SpecialClass::Axes | SpecialClass::Place)
    }

    /// Returns the components x, y and z of the special register with this name, such as `%tid`, or `None` if it has only
    /// one component.
    pub fn axes(name: &str) -> Option<[Special; 3]> {
        let group = SpecialGroup::from_name(name).filter(|group| group.sort() == SpecialClass::Axes)?;
        Some(Axis::ALL.map(|axis| Special { group, axis }))
    }

    /// Returns the special register with this name, such as `%tid.x` or `%laneid`.
    pub fn from_name(name: &str) -> Option<Special> {
        let (group, axis) = name.split_once('.').map_or((name, None), |(group, axis)| (group, Some(axis)));
        let group = SpecialGroup::from_name(group)?;
        let axis = match (group.sort(), axis) {
            (SpecialClass::Axes, Some("r")) => Axis::X,
            (SpecialClass::Axes, Some("g")) => Axis::Y,
            (SpecialClass::Axes, Some("b")) => Axis::Z,
            (SpecialClass::Axes, Some(axis)) => Axis::from_name(axis)?,
            (SpecialClass::Axes, None) | (_, Some(_)) => return None,
            (_, None) => Axis::X,
        };
        Some(Special { group, axis })
    }
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.group.fmt(f)?;
        if self.group.sort() == SpecialClass::Axes { write!(f, ".{}", self.axis) } else { Ok(()) }
    }
}

/// Maximum size of a work item's local memory in bytes.
pub const MAX_LOCAL: u32 = 1 << 19;

/// A state space of PTX.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    /// `.global`: memory that all work items share.
    Global,
    /// `.const`: read-only memory that all work items share.
    Const,
    /// `.local`: private to each work item.
    Local,
    /// `.param`: kernel parameters, and variables that pass arguments and results of calls.
    Param,
    /// `.shared`: memory that the work items of a block share.
    Shared,
}

impl Space {
    /// All state spaces.
    pub const ALL: [Space; 5] = [Space::Global, Space::Const, Space::Local, Space::Param, Space::Shared];

    /// Returns the name of the state space without its dot.
    pub const fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Const => "const",
            Space::Local => "local",
            Space::Param => "param",
            Space::Shared => "shared",
        }
    }

    /// Returns the maximum total size in bytes of the variables in the state space, in a file or
    /// for a call. For constants and local memory this is the limit of the hardware.
    pub const fn most_bytes(self) -> u32 {
        match self {
            Space::Global => 1 << 20,
            Space::Const => 1 << 16,
            Space::Local | Space::Param => MAX_LOCAL,
            Space::Shared => 48 << 10,
        }
    }
}
