//! Random PTX kernels that access global, constant, shared and local memory and parameters, in
//! every width and as vectors. Addresses are uniform, affine, strided and random. Accesses are
//! loads, stores, asynchronous copies, atomic operations and matrix loads.
//!
//! No kernel races, and no result depends on the order of threads. A thread stores only to its own
//! bytes. A barrier separates the bytes that all threads read from their writers. Bytes that all
//! threads change are changed by a single commutative operation.

mod statements;

use std::fmt::Write;

use halfbyte_ir::witness::Random;

use halfbyte_testkit::harness::{Arg, Language, Request, Size};

/// Numbers of threads in a block. For each number, the list has shapes along several axes with that many threads.
const BLOCKS: [(u32, &[[u32; 3]]); 9] = [
    (1, &[]),
    (2, &[[1, 2, 1], [1, 1, 2]]),
    (3, &[[1, 3, 1]]),
    (8, &[[2, 2, 2], [4, 2, 1]]),
    (31, &[[1, 31, 1]]),
    (32, &[[8, 4, 1], [4, 4, 2]]),
    (33, &[[11, 3, 1], [3, 11, 1]]),
    (64, &[[16, 4, 1], [32, 2, 1]]),
    (1000, &[[10, 10, 10], [125, 8, 1]]),
];

/// Size in bytes of the table in constant memory.
const TABLE: u32 = 256;

/// Size in bytes of the local memory of a thread.
const LOCAL: u32 = 64;

/// Size in bytes of each memory area that all threads change by atomic operations.
const AREA: u32 = 64;

/// Number of bytes that each thread has in a plane of the buffer `y`.
const PLACE: u32 = 16;

/// Number of planes in the buffer `y`, each with bytes for all threads. The last plane receives the results.
const PLANES: u32 = 4;

/// Number of areas in the buffer `z` that all threads change by atomic operations.
const AREAS: u32 = 5;

/// Number of places of [`PLACE`] bytes after the areas of `z`. A single thread stores to each.
const SINGLES: u32 = 8;

/// Commutative atomic operations, with the number of bytes that each one changes.
const COMMUTING: [(&str, u32); 14] = [
    ("add.u32", 4),
    ("add.s32", 4),
    ("add.u64", 8),
    ("min.s32", 4),
    ("max.s32", 4),
    ("min.u32", 4),
    ("max.u64", 8),
    ("min.s64", 8),
    ("and.b32", 4),
    ("or.b32", 4),
    ("xor.b32", 4),
    ("and.b64", 8),
    ("xor.b64", 8),
    ("inc.u32", 4),
];

/// Atomic operations on the bytes of a single thread, which return the old value. The number is the size in bytes.
const OWN_ATOMICS: [(&str, u32); 17] = [
    ("add.u32", 4),
    ("add.u64", 8),
    ("min.s32", 4),
    ("max.u64", 8),
    ("and.b32", 4),
    ("or.b64", 8),
    ("xor.b32", 4),
    ("inc.u32", 4),
    ("dec.u32", 4),
    ("exch.b32", 4),
    ("exch.b64", 8),
    ("cas.b32", 4),
    ("cas.b64", 8),
    ("cas.b16", 2),
    ("add.f32", 4),
    ("add.noftz.f16x2", 4),
    ("add.noftz.bf16x2", 4),
];

/// Types of loads and stores: the PTX type, the size of an element in bits, and the kinds of
/// registers that can hold an element.
const TYPES: [(&str, u32, &str); 12] = [
    ("u8", 8, "hrd"),
    ("s8", 8, "hrd"),
    ("b8", 8, "hr"),
    ("u16", 16, "hrd"),
    ("s16", 16, "hrd"),
    ("b16", 16, "hr"),
    ("u32", 32, "rd"),
    ("s32", 32, "rd"),
    ("b32", 32, "r"),
    ("f32", 32, "f"),
    ("u64", 64, "d"),
    ("b64", 64, "d"),
];

/// The type of an access: PTX type, kind of register, number of elements, and total size in bytes.
#[derive(Clone, Copy)]
struct AccessForm {
    ty: &'static str,
    kind: char,
    elements: u32,
    bytes: u32,
}

/// The accesses that are allowed to a tile of shared memory between two barriers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Each thread accesses only its own bytes, which start at its number times `stride`.
    Own { stride: u32 },
    /// All threads read the whole tile.
    Read,
    /// No thread accesses the tile.
    Closed,
}

/// The memory that an access uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    /// Global memory. The 64-bit register with this number holds its address.
    Global(u32),
    /// The tile of shared memory with this index.
    Shared(u32),
    Local,
    Constant,
}

struct Writer {
    random: Random,
    /// The number of threads in a block.
    block: u32,
    grid: u32,
    /// The size of the buffer `x` in bytes, which is a power of two.
    x_bytes: u32,
    /// Statements at the start of the kernel, which initialise registers that a later statement may
    /// leave unwritten.
    first: String,
    body: String,
    /// The number of declared registers of each kind: `h`, `r`, `d`, `f` and `p`.
    taken: [u32; 5],
    /// The registers that hold data, by kind and number.
    values: Vec<(char, u32)>,
    /// The 32-bit registers whose value is the same in all threads of a block.
    uniform: Vec<u32>,
    predicates: Vec<u32>,
    tiles: [Mode; 2],
    /// `true` if the kernel uses shared memory and barriers.
    has_shared: bool,
    /// For each plane of `y`, the register with the address of the thread's own bytes, and the
    /// distance in bytes between threads.
    planes: Vec<(u32, u32)>,
    own_tiles: [u32; 2],
    /// The atomic operation for each area of `z` and for the area in shared memory, with its size in bytes.
    operations: Vec<(&'static str, u32)>,
    singles: u32,
    labels: u32,
    /// The number of branches and loops that enclose the next statement.
    depth: u32,
}

/// Number of the 32-bit register with the thread's number in its block.
const THREAD: u32 = 0;
/// Number of the 32-bit register with the thread's number in the grid.
const ITEM: u32 = 1;
/// Number of the 32-bit register with the block's number.
const BLOCK: u32 = 2;
/// Number of the 32-bit register with the parameter `n`.
const N: u32 = 3;
/// Number of the 32-bit register with the checksum of loaded values.
const SUM: u32 = 4;
/// Numbers of the 64-bit registers with the addresses of the buffers `x`, `y` and `z`.
const X: u32 = 0;
const Y: u32 = 1;
const Z: u32 = 2;
/// Number of the 64-bit register with the checksum of loaded values.
const WIDE_SUM: u32 = 3;

/// Returns the random kernel with this number and its launch.
pub fn draw(seed: u64, number: u64) -> Request {
    let mut random = Random(Random(Random(seed).bits() ^ number).bits());
    let (block, axes) = BLOCKS[random.below(BLOCKS.len())];
    let grid = 1 + random.below(if block > 100 { 2 } else { 4 }) as u32;
    let axes = if random.below(4) == 0 && !axes.is_empty() { axes[random.below(axes.len())] } else { [block, 1, 1] };
    let items = grid * block;
    let x_bytes = (32 * items).next_power_of_two().max(1024);
    let operations = (0..AREAS).map(|_| COMMUTING[random.below(COMMUTING.len())]).collect();
    let mut writer = Writer {
        random,
        block,
        grid,
        x_bytes,
        first: String::new(),
        body: String::new(),
        taken: [0, 5, 4, 0, 0],
        values: vec![('r', THREAD), ('r', ITEM), ('r', N)],
        uniform: vec![BLOCK, N],
        predicates: Vec::new(),
        tiles: [Mode::Closed; 2],
        has_shared: false,
        planes: Vec::new(),
        own_tiles: [0; 2],
        operations,
        singles: 0,
        labels: 0,
        depth: 0,
    };
    let text = writer.kernel(axes);
    let mut random = writer.random;
    let mut buffer = |bytes: u32| -> Vec<u8> {
        let word = |_| random.bits().to_le_bytes();
        (0..bytes.div_ceil(8)).flat_map(word).take(bytes as usize).collect()
    };
    let [mut x, y, z, n] =
        [buffer(x_bytes), buffer(PLANES * PLACE * items), buffer(AREAS * AREA + SINGLES * PLACE), buffer(4)];
    // One launch in sixteen has a shorter buffer, so that some accesses are out of bounds.
    if random.below(16) == 0 {
        x.truncate(x.len() / 32 * 16);
    }
    let memory = |bytes| Arg::Buffer { bytes, pointers: Vec::new() };
    let size = Size::Blocks { grid: [grid, 1, 1], block: axes };
    let file = format!("memory-{seed}-{number}.ptx");
    let args = vec![memory(x), memory(y), memory(z), Arg::Value(n)];
    Request { args, budget: 1 << 12, ..Request::new(Language::Ptx, file, text, size) }
}

impl Writer {
    fn one_in(&mut self, n: usize) -> bool {
        self.random.below(n) == 0
    }

    fn below(&mut self, n: u32) -> u32 {
        self.random.below(n as usize) as u32
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.random.below(all.len())]
    }

    fn line(&mut self, line: &str) {
        self.body.push_str("    ");
        self.body.push_str(line);
        self.body.push('\n');
    }

    fn register(&mut self, kind: char) -> u32 {
        let taken = &mut self.taken[kind_index(kind)];
        *taken += 1;
        *taken - 1
    }

    /// Returns a new register for a value. If a branch or a guard may skip the write, the register
    /// is initialised at the start of the kernel.
    fn value(&mut self, kind: char, guarded: bool) -> u32 {
        let register = self.register(kind);
        if guarded || self.depth > 0 {
            let bits = self.random.bits();
            let _ = match kind {
                'h' => writeln!(self.first, "    mov.b16 %h{register}, {};", bits as u16),
                'd' => writeln!(self.first, "    mov.b64 %d{register}, {};", bits >> 1),
                'f' => writeln!(self.first, "    mov.b32 %f{register}, {};", bits as u32),
                _ => writeln!(self.first, "    mov.b32 %r{register}, {};", bits as u32),
            };
        }
        register
    }

    fn kernel(&mut self, axes: [u32; 3]) -> String {
        let (block, items) = (self.block, self.block * self.grid);
        if axes == [block, 1, 1] {
            self.line("mov.u32 %r0, %tid.x;");
        } else {
            let [x, y, _] = axes;
            let [a, b] = [self.register('r'), self.register('r')];
            self.line(&format!("mov.u32 %r{a}, %tid.z; mov.u32 %r{b}, %tid.y; mad.lo.u32 %r{a}, %r{a}, {y}, %r{b};"));
            self.line(&format!("mov.u32 %r{b}, %tid.x; mad.lo.u32 %r0, %r{a}, {x}, %r{b};"));
        }
        self.line(&format!("mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, {block}, %r0; ld.param.u32 %r3, [n];"));
        self.line("ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; ld.param.u64 %d2, [z];");
        self.line("mov.u32 %r4, 1; mov.u64 %d3, 1;");
        for _ in 0..3 {
            self.predicate();
        }
        for plane in 0..PLANES {
            let stride = if plane == PLANES - 1 { PLACE } else { self.one_of(&[1, 2, 4, 4, 8, 16, 16]) };
            let item = self.own_item(ITEM, items);
            let at = self.register('d');
            self.line(&format!("mad.wide.u32 %d{at}, %r{item}, {stride}, %d{Y};"));
            let start = plane * PLACE * items;
            if start > 0 {
                self.line(&format!("add.s64 %d{at}, %d{at}, {start};"));
            }
            self.planes.push((at, stride));
        }
        // Some kernels have no barriers, because native objects do not support barriers.
        self.has_shared = !self.one_in(3);
        if self.has_shared {
            self.fill();
        }
        for _ in 0..4 + self.random.below(14) {
            self.statement();
        }
        if self.has_shared {
            self.line("cp.async.wait_all; bar.sync 0;");
            let [at, value] = [self.register('r'), self.register('r')];
            self.line(&format!("and.b32 %r{at}, %r0, 15; shl.b32 %r{at}, %r{at}, 2; mov.u32 %r{value}, sums;"));
            self.line(&format!("add.u32 %r{at}, %r{at}, %r{value}; ld.shared.u32 %r{value}, [%r{at}];"));
            self.sum(&[('r', value)]);
        }
        let (out, _) = self.planes[PLANES as usize - 1];
        self.line(&format!("st.global.u32 [%d{out}], %r{SUM}; st.global.u64 [%d{out}+8], %d{WIDE_SUM};"));
        self.line("ret;");
        self.finish()
    }

    /// Appends statements that fill shared memory, and the first barrier.
    fn fill(&mut self) {
        for tile in 0..2 {
            let [at, value] = [self.register('r'), self.register('r')];
            self.line(&format!("mov.u32 %r{at}, tile{tile}; mad.lo.u32 %r{at}, %r0, {PLACE}, %r{at};"));
            let factor = self.random.bits() as u32 | 1;
            self.line(&format!("mul.lo.u32 %r{value}, %r1, {factor};"));
            self.line(&format!("st.shared.v4.b32 [%r{at}], {{%r{value}, %r1, %r{value}, %r3}};"));
        }
        self.line("setp.ne.u32 %p0, %r0, 0; @%p0 bra READY;");
        for k in 0..AREA / 16 {
            self.line(&format!("st.shared.v4.b32 [sums+{}], {{%r3, %r4, %r3, %r4}};", 16 * k));
        }
        self.body.push_str("READY:\n");
        self.phase();
    }

    fn finish(&mut self) -> String {
        let table: Vec<String> = (0..TABLE).map(|_| (self.random.bits() as u8).to_string()).collect();
        let [h, r, d, f, p] = self.taken.map(|taken| taken.max(1));
        let bytes = PLACE * self.block.max(8);
        let shared = match self.has_shared {
            true => format!(
                ".shared .align 16 .b8 tile0[{bytes}]; .shared .align 16 .b8 tile1[{bytes}]; .shared .align 16 .b8 sums[{AREA}];"
            ),
            false => String::new(),
        };
        format!(
            ".version 8.3\n.target sm_90\n.address_size 64\n.const .align 16 .b8 table[{TABLE}] = {{{}}};\n\
             .visible .entry k(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n)\n{{\n    \
             .reg .pred %p<{p}>; .reg .b16 %h<{h}>; .reg .b32 %r<{r}>; .reg .f32 %f<{f}>; .reg .b64 %d<{d}>;\n    \
             .local .align 16 .b8 own[{LOCAL}]; {shared}\n{}{}}}\n",
            table.join(", "),
            self.first,
            self.body
        )
    }

    /// Returns a register with a number below `count` that is different for each item. `item` is
    /// the register with the item's number.
    fn own_item(&mut self, item: u32, count: u32) -> u32 {
        let own = self.register('r');
        match self.below(4) {
            0 => self.line(&format!("sub.u32 %r{own}, {}, %r{item};", count - 1)),
            1 => {
                let (by, p) = (self.below(count), self.register('p'));
                let over = self.register('r');
                self.line(&format!("add.u32 %r{own}, %r{item}, {by}; sub.u32 %r{over}, %r{own}, {count};"));
                self.line(&format!("setp.ge.u32 %p{p}, %r{own}, {count}; selp.b32 %r{own}, %r{over}, %r{own}, %p{p};"));
            }
            2 if count.is_multiple_of(2) => self.line(&format!("xor.b32 %r{own}, %r{item}, 1;")),
            _ => self.line(&format!("mov.b32 %r{own}, %r{item};")),
        }
        own
    }

    /// Appends a statement that sets a predicate, which is uniform or depends on the thread or on data.
    fn predicate(&mut self) {
        let p = self.register('p');
        if self.depth > 0 {
            let _ = writeln!(self.first, "    mov.pred %p{p}, {};", self.random.below(2));
        }
        let r = self.register('r');
        let word = match self.below(6) {
            0 => format!("and.b32 %r{r}, %r0, 1; setp.eq.u32 %p{p}, %r{r}, 0;"),
            1 => format!("setp.lt.u32 %p{p}, %r0, {};", self.below(self.block + 1)),
            2 => format!("setp.eq.u32 %p{p}, %r0, {};", self.below(self.block)),
            3 => {
                let uniform = self.uniform[self.random.below(self.uniform.len())];
                format!("and.b32 %r{r}, %r{uniform}, 1; setp.ne.u32 %p{p}, %r{r}, 0;")
            }
            4 => format!("setp.ge.u32 %p{p}, %r1, {};", self.below(self.block * self.grid + 1)),
            _ => {
                let value = self.word();
                format!("and.b32 %r{r}, %r{value}, 4; setp.ne.u32 %p{p}, %r{r}, 0;")
            }
        };
        self.line(&word);
        self.predicates.push(p);
    }

    /// Returns a guard such as `@%p0` for one access in three, otherwise an empty text.
    fn guard(&mut self) -> String {
        if !self.one_in(3) {
            return String::new();
        }
        let p = self.predicates[self.random.below(self.predicates.len())];
        if self.one_in(2) { format!("@%p{p} ") } else { format!("@!%p{p} ") }
    }

    /// Returns a 32-bit register that holds data.
    fn word(&mut self) -> u32 {
        self.of_kind('r')
    }

    /// Returns a register of the given kind that holds data.
    fn of_kind(&mut self, kind: char) -> u32 {
        let held: Vec<u32> = self.values.iter().filter(|(of, _)| *of == kind).map(|(_, register)| *register).collect();
        if !held.is_empty() && !self.one_in(6) {
            return self.one_of(&held);
        }
        let register = self.register(kind);
        let bits = self.random.bits();
        let source = self.one_of(&[THREAD, ITEM, N, SUM]);
        let line = match kind {
            'h' => format!("cvt.u16.u32 %h{register}, %r{source};"),
            'd' => format!("cvt.u64.u32 %d{register}, %r{source}; add.s64 %d{register}, %d{register}, {};", bits >> 1),
            'f' => format!("mov.b32 %f{register}, {};", bits as u32),
            _ => format!("xor.b32 %r{register}, %r{source}, {};", bits as u32),
        };
        self.line(&line);
        register
    }

    /// Appends statements that add registers to the checksums.
    fn sum(&mut self, values: &[(char, u32)]) {
        for &(kind, register) in values {
            let line = match kind {
                'h' => {
                    let wide = self.register('r');
                    format!("cvt.u32.u16 %r{wide}, %h{register}; mad.lo.u32 %r{SUM}, %r{SUM}, 33, %r{wide};")
                }
                'd' => format!("mad.lo.s64 %d{WIDE_SUM}, %d{WIDE_SUM}, 31, %d{register};"),
                'f' => {
                    let word = self.register('r');
                    format!("mov.b32 %r{word}, %f{register}; mad.lo.u32 %r{SUM}, %r{SUM}, 33, %r{word};")
                }
                _ => format!("mad.lo.u32 %r{SUM}, %r{SUM}, 33, %r{register};"),
            };
            self.line(&line);
        }
    }

    /// Returns a random type of access of at most `most` bytes.
    fn form(&mut self, most: u32) -> AccessForm {
        loop {
            let (ty, bits, kinds) = self.one_of(&TYPES);
            let kinds: Vec<char> = kinds.chars().collect();
            let kind = self.one_of(&kinds);
            let elements = self.one_of(&[1, 1, 2, 4]);
            let bytes = elements * bits / 8;
            if bytes <= most.min(PLACE) {
                return AccessForm { ty, kind, elements, bytes };
            }
        }
    }

    /// Returns `.volatile` for a few accesses, otherwise an empty text. Volatile vectors are rare,
    /// because import supports few of them.
    fn volatile(&mut self, form: AccessForm) -> &'static str {
        if self.one_in(if form.elements == 1 { 5 } else { 60 }) { ".volatile" } else { "" }
    }

    fn operands(&self, kind: char, registers: &[u32]) -> String {
        let all: Vec<String> = registers.iter().map(|register| format!("%{kind}{register}")).collect();
        if let [one] = all.as_slice() { one.clone() } else { format!("{{{}}}", all.join(", ")) }
    }

    fn typed(form: AccessForm) -> String {
        match form.elements {
            1 => format!(".{}", form.ty),
            count => format!(".v{count}.{}", form.ty),
        }
    }

    /// Returns an element index below `count`, as a constant or a 32-bit register. The index is
    /// uniform, affine, strided, random or read from data.
    fn index(&mut self, count: u32) -> String {
        // The mask keeps the index below the largest power of two that is at most `count`.
        let mask = (1 << count.ilog2()) - 1;
        let items = self.block * self.grid;
        let r = self.register('r');
        let line = match self.below(10) {
            0 | 1 => return self.below(count).to_string(),
            2 => format!("and.b32 %r{r}, %r{N}, {mask};"),
            3 => {
                let uniform = self.uniform[self.random.below(self.uniform.len())];
                format!("and.b32 %r{r}, %r{uniform}, {mask};")
            }
            4 if items <= count => {
                let most = (count / items).min(5);
                let factor = 1 + self.below(most);
                if factor == 1 {
                    format!("mov.b32 %r{r}, %r{ITEM};")
                } else {
                    format!("mul.lo.u32 %r{r}, %r{ITEM}, {factor};")
                }
            }
            5 if self.block <= count => format!("sub.u32 %r{r}, {}, %r{THREAD};", self.block - 1),
            6 if self.block <= count => match self.below(3) {
                0 => format!("mov.b32 %r{r}, %r{THREAD};"),
                by => format!("shr.u32 %r{r}, %r{THREAD}, {by};"),
            },
            7 => {
                let factor = self.random.bits() as u32 | 1;
                format!("mul.lo.u32 %r{r}, %r{ITEM}, {factor}; shr.u32 %r{r}, %r{r}, 7; and.b32 %r{r}, %r{r}, {mask};")
            }
            8 => {
                let value = self.word();
                format!("and.b32 %r{r}, %r{value}, {mask};")
            }
            _ => format!("and.b32 %r{r}, %r{THREAD}, {};", self.below(4).min(mask)),
        };
        self.line(&line);
        format!("%r{r}")
    }

    /// Returns the operand and the state space of an access at a random address. The address is a
    /// multiple of `form_bytes` in a memory of `extent` bytes.
    fn any_place(&mut self, space: Space, extent: u32, form_bytes: u32) -> (String, String) {
        let index = self.index(extent / form_bytes);
        self.place(space, &index, form_bytes)
    }

    fn place(&mut self, space: Space, index: &str, scale: u32) -> (String, String) {
        // In one access of three, the constant offset in the instruction is a part of the address.
        let by = if self.one_in(3) { scale * (1 + self.below(5)) } else { 0 };
        let imm = if by == 0 { String::new() } else { format!("+{by}") };
        if let Ok(number) = index.parse::<u32>() {
            let offset = scale * number;
            return match space {
                Space::Global(base) if self.one_in(2) => (format!("[%d{base}+{offset}]"), ".global".to_owned()),
                Space::Global(base) => {
                    let at = self.register('d');
                    self.line(&format!("add.s64 %d{at}, %d{base}, {};", i64::from(offset) - i64::from(by)));
                    (format!("[%d{at}{imm}]"), ".global".to_owned())
                }
                Space::Shared(tile) => (format!("[tile{tile}+{offset}]"), ".shared".to_owned()),
                Space::Local => (format!("[own+{offset}]"), ".local".to_owned()),
                Space::Constant => (format!("[table+{offset}]"), ".const".to_owned()),
            };
        }
        match space {
            Space::Global(base) => {
                let at = self.register('d');
                match self.below(3) {
                    0 => self.line(&format!("mad.wide.u32 %d{at}, {index}, {scale}, %d{base};")),
                    1 => {
                        let far = self.register('r');
                        self.line(&format!("mul.lo.u32 %r{far}, {index}, {scale}; cvt.u64.u32 %d{at}, %r{far};"));
                        self.line(&format!("add.s64 %d{at}, %d{base}, %d{at};"));
                    }
                    _ => {
                        self.line(&format!("mul.wide.u32 %d{at}, {index}, {scale}; add.s64 %d{at}, %d{base}, %d{at};"));
                    }
                }
                if by > 0 {
                    self.line(&format!("sub.s64 %d{at}, %d{at}, {by};"));
                }
                let word = if self.one_in(6) { "" } else { ".global" };
                (format!("[%d{at}{imm}]"), word.to_owned())
            }
            Space::Shared(_) | Space::Local | Space::Constant => {
                let (name, word) = match space {
                    Space::Shared(tile) => (format!("tile{tile}"), ".shared"),
                    Space::Local => ("own".to_owned(), ".local"),
                    _ => ("table".to_owned(), ".const"),
                };
                if self.one_in(6) {
                    let [at, far] = [self.register('d'), self.register('d')];
                    self.line(&format!("mov.u64 %d{at}, {name}; cvta{word}.u64 %d{at}, %d{at};"));
                    self.line(&format!("mul.wide.u32 %d{far}, {index}, {scale}; add.s64 %d{at}, %d{at}, %d{far};"));
                    return (format!("[%d{at}]"), String::new());
                }
                if word == ".shared" {
                    let [at, start] = [self.register('r'), self.register('r')];
                    self.line(&format!("mov.u32 %r{start}, {name}; mad.lo.u32 %r{at}, {index}, {scale}, %r{start};"));
                    if by > 0 {
                        self.line(&format!("sub.u32 %r{at}, %r{at}, {by};"));
                    }
                    return (format!("[%r{at}{imm}]"), word.to_owned());
                }
                let [at, start] = [self.register('d'), self.register('d')];
                self.line(&format!("mov.u64 %d{start}, {name}; mad.wide.u32 %d{at}, {index}, {scale}, %d{start};"));
                (format!("[%d{at}]"), word.to_owned())
            }
        }
    }

    /// Returns an address in the thread's own bytes: the operand, the state space, and the number of bytes.
    fn own_place(&mut self) -> (String, &'static str, u32) {
        let tiles: Vec<(u32, u32)> = (0..2)
            .filter_map(|tile| match self.tiles[tile as usize] {
                Mode::Own { stride } => Some((tile, stride)),
                Mode::Read | Mode::Closed => None,
            })
            .collect();
        if !tiles.is_empty() && self.one_in(2) {
            let (tile, stride) = self.one_of(&tiles);
            return (format!("%r{}", self.own_tiles[tile as usize]), ".shared", stride);
        }
        let plane = self.random.below(PLANES as usize - 1);
        let (at, stride) = self.planes[plane];
        (format!("%d{at}"), ".global", stride)
    }
}

fn kind_index(kind: char) -> usize {
    match kind {
        'h' => 0,
        'd' => 2,
        'f' => 3,
        'p' => 4,
        _ => 1,
    }
}
