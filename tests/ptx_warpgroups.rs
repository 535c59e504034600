//! Tests of warpgroup products (`wgmma`) in direct execution of PTX: every memory layout and type,
//! with A in memory and in registers.

use serde_json::{Value, json};

use crate::ptx_matrices::{BF16, ENGINES, F16, F32, Of, S8, S32, TF32, U8, WATCHED, all_equal};

/// Numbers of warps and of threads in a warpgroup.
const WARPS: usize = 4;
const THREADS: usize = 32 * WARPS;

/// Offset of B in shared memory, and size of shared memory, in bytes.
const START_OF_B: usize = 8 << 10;
const SHARED: usize = 40 << 10;

/// Encodes an integer from -3 to 3 in an 8-bit float format with `fraction` bits of fraction.
fn byte(number: i32, fraction: u32, bias: u64) -> u64 {
    let sign = u64::from(number < 0) << 7;
    match number.unsigned_abs() {
        0 => 0,
        1 => sign | bias << fraction,
        2 => sign | (bias + 1) << fraction,
        _ => sign | (bias + 1) << fraction | 1 << (fraction - 1),
    }
}

const E4M3: Of = Of { name: "e4m3", bits: 8, of: |number| byte(number, 3, 7) };
const E5M2: Of = Of { name: "e5m2", bits: 8, of: |number| byte(number, 2, 15) };

/// Types, shape and memory layout of a warpgroup product.
#[derive(Clone, Copy)]
struct Product {
    types: [Of; 3],
    columns: usize,
    /// Number of 16-byte pieces in a row of the swizzle pattern; 1 if the layout is not swizzled.
    width: usize,
    transposed: [bool; 2],
    in_registers: bool,
    keeps: bool,
    signs: [i32; 2],
}

const PLAIN: Product = Product {
    types: [F32, F16, F16],
    columns: 16,
    width: 1,
    transposed: [false; 2],
    in_registers: false,
    keeps: true,
    signs: [1; 2],
};

impl Product {
    fn inner(&self) -> usize {
        256 / self.types[1].bits
    }

    fn a(&self, row: usize, k: usize) -> i32 {
        self.small(1, (row * 5 + k * 3) as i32 % 7 - 3)
    }

    fn b(&self, k: usize, column: usize) -> i32 {
        self.small(2, (k * 2 + column * 3) as i32 % 5 - 2)
    }

    fn small(&self, of: usize, number: i32) -> i32 {
        if self.types[of].name == "u8" { number.abs() } else { number }
    }

    fn c(row: usize, column: usize) -> i32 {
        (row * 3 + column) as i32 % 9 - 4
    }

    fn d(&self, row: usize, column: usize) -> i32 {
        let sum: i32 = (0..self.inner()).map(|k| self.a(row, k) * self.b(k, column)).sum();
        sum * self.signs[0] * self.signs[1] + if self.keeps { Product::c(row, column) } else { 0 }
    }

    /// Returns the leading-dimension byte offset and the stride-dimension byte offset of the matrix descriptor.
    fn strides(&self, transposed: bool, lines: usize) -> [usize; 2] {
        match (self.width, transposed) {
            // The 16-byte pieces of eight lines are contiguous. The pieces of the other half of the
            // inner dimension follow, and then the pieces of the next eight lines.
            (1, false) => [128 + 16, 2 * 128 + 32],
            (1, true) => [lines * 16, 128],
            (_, false) => [16, 8 * 16 * self.width],
            (width, true) => [2 * 8 * 16 * width, 8 * 16 * width],
        }
    }

    /// Returns the byte offset of an element, in memory that is aligned to 1,024 bytes. The offset is that of the
    /// canonical layout in the PTX manual, with address bits exchanged by the swizzle.
    fn place(&self, [line, k]: [usize; 2], transposed: bool, lines: usize) -> usize {
        let bytes = self.types[1].bits / 8;
        let each = 16 / bytes;
        let [leading, stride] = self.strides(transposed, lines);
        let wide = 16 * self.width;
        let address = match (self.width, transposed) {
            // Canonical layout: ((8, m), (T, 2)) : ((1 T, SBO), (1, LBO))
            (1, false) => line % 8 * 16 + line / 8 * stride + k % each * bytes + k / each * leading,
            // Canonical layout: ((8, m), (T, 2)) : ((w T, SBO), (1, T))
            (_, false) => line % 8 * wide + line / 8 * stride + k * bytes,
            // Canonical layout: ((T, 1, m), (8, k)) : ((1, T, SBO), (1 T, LBO))
            (1, true) => line % 8 * 2 + line / 8 * stride + k % 8 * 16 + k / 8 * leading,
            // Canonical layout: ((T, w, m), (8, k)) : ((1, T, LBO), (w T, SBO))
            (width, true) => {
                line % 8 * 2 + line / 8 % width * 16 + line / (8 * width) * leading + k % 8 * wide + k / 8 * stride
            }
        };
        let swapped = match self.width {
            8 => 0b111,
            4 => 0b011,
            2 => 0b001,
            _ => 0,
        };
        address ^ (address >> 7 & swapped) << 4
    }

    fn image(&self) -> Vec<u8> {
        let mut image = vec![0xA5; SHARED];
        let mut put = |start: usize, place: usize, of: &Of, number: i32| {
            let bytes = of.bits / 8;
            image[start + place..][..bytes].copy_from_slice(&(of.of)(number).to_le_bytes()[..bytes]);
        };
        for k in 0..self.inner() {
            for row in 0..64 {
                put(0, self.place([row, k], self.transposed[0], 64), &self.types[1], self.a(row, k));
            }
            for column in 0..self.columns {
                let place = self.place([column, k], self.transposed[1], self.columns);
                put(START_OF_B, place, &self.types[2], self.b(k, column));
            }
        }
        image
    }

    /// Returns the bytes of the fragments of D, thread by thread.
    fn fragment(&self, at: impl Fn(usize, usize) -> i32) -> Vec<u8> {
        let of = self.types[0];
        let each = 32 / of.bits;
        let mut words = Vec::new();
        for thread in 0..THREADS {
            let (warp, lane) = (thread / 32, thread % 32);
            for register in 0..self.columns / 2 / each {
                let element = |i: usize| {
                    let place = register * each + i;
                    let row = 16 * warp + lane / 4 + 8 * (place / 2 % 2);
                    (of.of)(at(row, 8 * (place / 4) + lane % 4 * 2 + place % 2)) << (i * of.bits)
                };
                words.extend(((0..each).map(element).sum::<u64>() as u32).to_le_bytes());
            }
        }
        words
    }

    /// Returns the bytes of the fragments of A, with four 32-bit words for each thread.
    fn fragment_of_a(&self) -> Vec<u8> {
        let of = self.types[1];
        let each = 32 / of.bits;
        let mut words = Vec::new();
        for (thread, register) in (0..THREADS).flat_map(|thread| (0..4).map(move |register| (thread, register))) {
            let (warp, lane) = (thread / 32, thread % 32);
            let row = 16 * warp + lane / 4 + 8 * (register % 2);
            let element = |i: usize| (of.of)(self.a(row, (lane % 4 + register / 2 * 4) * each + i)) << (i * of.bits);
            words.extend(((0..each).map(element).sum::<u64>() as u32).to_le_bytes());
        }
        words
    }

    fn launch(&self) -> Value {
        let [d, a, b] = self.types;
        let shape = format!("m64n{}k{}", self.columns, self.inner());
        let registers = self.columns / 2 * d.bits / 32;
        let list = |name: &str, count: usize| {
            let all: Vec<String> = (0..count).map(|k| format!("%{name}{k}")).collect();
            format!("{{{}}}", all.join(", "))
        };
        let mode = match self.width {
            8 => 1u64,
            4 => 2,
            2 => 3,
            _ => 0,
        };
        let descriptor = |transposed: bool, lines: usize| {
            let [leading, stride] = self.strides(transposed, lines).map(|bytes| bytes as u64 / 16);
            leading << 16 | stride << 32 | mode << 62
        };
        let moves = |what: &str| -> String {
            let one = |k: usize| match what {
                "ld" => format!("ld.global.b32 %d{k}, [%q1+{}];\n", 4 * k),
                _ => format!("st.global.b32 [%q2+{}], %d{k};\n", 4 * k),
            };
            (0..registers).map(one).collect()
        };
        let of_a = if self.in_registers { list("a", 4) } else { "%q5".to_owned() };
        let mut more = String::new();
        if !matches!(a.name, "s8" | "u8") {
            more.push_str(&format!(", {}, {}", self.signs[0], self.signs[1]));
        }
        if a.bits == 16 {
            if !self.in_registers {
                more.push_str(&format!(", {}", u8::from(self.transposed[0])));
            }
            more.push_str(&format!(", {}", u8::from(self.transposed[1])));
        }
        let text = format!(
            ".version 8.4\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 tile[{SHARED}];\n\
             .visible .entry k(.param .u64 image, .param .u64 c, .param .u64 d, .param .u64 a)\n{{\n\
             .reg .b32 %r<8>, %a<4>, %d<128>, %t, %s;\n.reg .pred %p<4>;\n.reg .b64 %q<10>;\n\
             ld.param.u64 %q0, [image]; ld.param.u64 %q1, [c]; ld.param.u64 %q2, [d]; ld.param.u64 %q3, [a];\n\
             mov.u32 %t, %tid.x; mov.u32 %s, tile;\n\
             mul.wide.u32 %q4, %t, 16; add.u64 %q3, %q3, %q4; ld.global.v4.b32 {}, [%q3];\n\
             mul.wide.u32 %q4, %t, {}; add.u64 %q1, %q1, %q4; add.u64 %q2, %q2, %q4;\n{}\
             shl.b32 %r0, %t, 4;\n\
             COPY:\n\
             cvt.u64.u32 %q4, %r0; add.u64 %q4, %q0, %q4; add.u32 %r1, %s, %r0;\n\
             ld.global.v4.b32 {{%r4, %r5, %r6, %r7}}, [%q4]; st.shared.v4.b32 [%r1], {{%r4, %r5, %r6, %r7}};\n\
             add.u32 %r0, %r0, {}; setp.lt.u32 %p0, %r0, {SHARED}; @%p0 bra COPY;\n\
             fence.proxy.async.shared::cta; bar.sync 0;\n\
             shr.u32 %r2, %s, 4; cvt.u64.u32 %q4, %r2; or.b64 %q5, %q4, {:#x};\n\
             add.u64 %q4, %q4, {}; or.b64 %q6, %q4, {:#x};\n\
             setp.eq.u32 %p1, %r0, %r0;\n\
             wgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sync.aligned.{shape}.{}.{}.{} {}, {of_a}, %q6, {}%p1{more};\n\
             wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n{}ret;\n}}\n",
            list("a", 4),
            4 * registers,
            moves("ld"),
            16 * THREADS,
            descriptor(self.transposed[0], 64),
            START_OF_B / 16,
            descriptor(self.transposed[1], self.columns),
            d.name,
            a.name,
            b.name,
            list("d", registers),
            if self.keeps { "" } else { "!" },
            moves("st"),
        );
        let hex = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (image, c, of_a) = (hex(self.image()), hex(self.fragment(Product::c)), hex(self.fragment_of_a()));
        let result = hex(self.fragment(|row, column| self.d(row, column)));
        json!({
            "kernel": format!("{shape} {} {} {} width {} {:?} {}", d.name, a.name, b.name, self.width, self.transposed, self.in_registers),
            "ptx": text, "entry": "k", "grid": [1, 1, 1], "block": [THREADS, 1, 1],
            "args": [{ "buffer": &image }, { "buffer": &c }, { "zeros": result.len() / 2 }, { "buffer": &of_a }],
            "expect": [null, null, result, null],
        })
    }
}

#[test]
fn matrices_are_read_from_every_layout() {
    let mut products = Vec::new();
    for (width, layout) in [1, 2, 4, 8].into_iter().flat_map(|width| (0..8).map(move |layout| (width, layout))) {
        products.push(Product {
            width,
            transposed: [layout & 1 != 0, layout & 2 != 0],
            in_registers: layout & 4 != 0,
            // A transposed matrix has as many columns as a row of the swizzle pattern holds.
            columns: if layout & 2 != 0 { 128 } else { 24 },
            types: if layout & 1 != 0 { [F32, BF16, BF16] } else { PLAIN.types },
            keeps: width != 4,
            signs: [if width == 2 { -1 } else { 1 }, if layout == 3 { -1 } else { 1 }],
        });
    }
    let lines: Vec<Value> = products.iter().map(Product::launch).collect();
    all_equal(&lines, &[ENGINES[0], ENGINES[1], WATCHED]);
}

#[test]
fn products_are_of_every_type_and_size() {
    let mut products = Vec::new();
    for in_registers in [false, true] {
        let plain = Product { in_registers, ..PLAIN };
        for types in [
            [F32, F16, F16],
            [F16, F16, F16],
            [F32, BF16, BF16],
            [F32, TF32, TF32],
            [F32, E4M3, E5M2],
            [F16, E5M2, E4M3],
            [S32, S8, U8],
            [S32, U8, U8],
        ] {
            for (columns, width) in [(8, 1), (64, 8), (256, 2)] {
                products.push(Product { types, columns, width, ..plain });
            }
        }
    }
    let lines: Vec<Value> = products.iter().map(Product::launch).collect();
    all_equal(&lines, &ENGINES);
}
