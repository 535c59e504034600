//! Tests of the carry flag: random chains of additions, subtractions and multiplications, on every
//! route. The expected results are computed on wide integers.

use halfbyte::ir::witness::Random;
use halfbyte::isa::ptx::Inst;
use halfbyte::isa::ptx::module::{Body, Entry, Registers};
use halfbyte::isa::ptx::text::inst_text;
use halfbyte::isa::ptx::types::Type;
use halfbyte::launch::Engine;

use halfbyte_testkit::harness::{Arg, Execution, Language, LaunchOptions, Request, Size, launch};

/// Number of registers of each width that the chains use.
const COUNT: u32 = 4;
const ITEMS: u32 = 40;
/// Number of bytes for each item, which hold the registers of both widths.
const ITEM: usize = 64;

/// Model of the instructions on wide integers. `r` and `d` hold the registers `%r` and `%d`. The
/// predicate `%p0` is true for odd items, and `%p1` for no item.
struct Model {
    r: [u64; COUNT as usize],
    d: [u64; COUNT as usize],
    item: u32,
    carry: u128,
}

impl Model {
    fn place(&mut self, name: &str) -> &mut u64 {
        let number: usize = name[2..].parse().unwrap();
        if name.starts_with("%r") { &mut self.r[number] } else { &mut self.d[number] }
    }

    fn value(&mut self, operand: &str, bits: u32) -> u128 {
        let whole = if operand.starts_with('%') {
            u128::from(*self.place(operand))
        } else {
            match operand.strip_prefix("0x") {
                Some(digits) => u128::from_str_radix(digits, 16).unwrap(),
                None => operand.parse::<i128>().unwrap() as u128,
            }
        };
        whole & (u128::MAX >> (128 - bits))
    }

    fn step(&mut self, line: &str) {
        let line = line.trim().trim_end_matches(';');
        let (guard, rest) = match line.strip_prefix('@') {
            Some(guarded) => guarded.split_once(' ').map(|(guard, rest)| (Some(guard), rest)).unwrap(),
            None => (None, line),
        };
        let holds = |guard: &str| {
            let p = guard.trim_start_matches('!') == "%p0" && self.item % 2 == 1;
            p != guard.starts_with('!')
        };
        if !guard.is_none_or(holds) {
            return;
        }
        let (mnemonic, operands) = rest.split_once(' ').unwrap();
        let words: Vec<&str> = mnemonic.split('.').collect();
        let bits = if words.iter().any(|word| word.ends_with("64")) { 64 } else { 32 };
        let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
        let values: Vec<u128> = operands[1..].iter().map(|operand| self.value(operand, bits)).collect();
        let all = u128::MAX >> (128 - bits);
        let (first, second) = match words[0] {
            "mad" | "madc" => {
                let signed = words.iter().any(|word| word.starts_with('s'));
                // The operands are extended to 128 bits, so the product modulo 2^128 contains all bits of the result.
                let extended = |x: u128| if signed { ((x << (128 - bits)) as i128 >> (128 - bits)) as u128 } else { x };
                let product = extended(values[0]).wrapping_mul(extended(values[1]));
                let half = if words.contains(&"hi") { product >> bits } else { product };
                (half & all, values[2])
            }
            "sub" | "subc" => (values[0], !values[1] & all),
            _ => (values[0], values[1]),
        };
        let carry = match words[0] {
            "add" | "mad" => 0,
            "sub" => 1,
            _ => self.carry,
        };
        let sum = first + second + carry;
        *self.place(operands[0]) = (sum & all) as u64;
        if words.contains(&"cc") {
            self.carry = sum >> bits;
        }
    }
}

fn entry() -> Entry {
    let mut registers = Registers::default();
    for (name, ty, count) in [("%p", Type::Pred, 2), ("%r", Type::B32, COUNT), ("%d", Type::B64, COUNT)] {
        registers.declare(name, ty, Some(count)).unwrap();
    }
    Entry { body: Body { registers, ..Body::default() }, ..Entry::default() }
}

fn text(lines: &[String]) -> String {
    let mut text = String::from(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 y)\n{
.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .b32 %i<4>; .reg .b64 %a<3>;
mov.u32 %i0, %ctaid.x; mov.u32 %i1, %ntid.x; mov.u32 %i2, %tid.x; mad.lo.u32 %i3, %i0, %i1, %i2;
ld.param.u64 %a0, [y]; mul.wide.u32 %a1, %i3, 64; add.u64 %a2, %a0, %a1;
and.b32 %i0, %i3, 1; setp.ne.u32 %p0, %i0, 0; setp.ne.u32 %p1, %i3, %i3;\n",
    );
    for (n, at) in (0..COUNT).zip((0..).step_by(4)) {
        text += &format!("ld.global.b32 %r{n}, [%a2+{at}]; ld.global.b64 %d{n}, [%a2+{}];\n", 16 + 2 * at);
    }
    for line in lines {
        text += line;
        text += "\n";
    }
    for (n, at) in (0..COUNT).zip((0..).step_by(4)) {
        text += &format!("st.global.b32 [%a2+{at}], %r{n}; st.global.b64 [%a2+{}], %d{n};\n", 16 + 2 * at);
    }
    text + "ret;\n}\n"
}

fn expected(lines: &[String], bytes: &[u8]) -> Vec<u8> {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    let item = |(item, bytes): (u32, &[u8])| {
        let r = [0, 1, 2, 3].map(|n| number(&bytes[4 * n..][..4]));
        let d = [0, 1, 2, 3].map(|n| number(&bytes[16 + 8 * n..][..8]));
        let mut model = Model { r, d, item, carry: 0 };
        lines.iter().for_each(|line| model.step(line));
        let r = model.r.iter().flat_map(|r| (*r as u32).to_le_bytes());
        let d = model.d.iter().flat_map(|d| d.to_le_bytes());
        r.chain(d).chain(bytes[48..].iter().copied()).collect::<Vec<u8>>()
    };
    (0..).zip(bytes.chunks(ITEM)).flat_map(item).collect()
}

/// All routes by which halfbyte executes a PTX text.
const ROUTES: [(Execution, Option<Engine>); 7] = [
    (Execution::Ptx, Some(Engine::Interp)),
    (Execution::Ptx, Some(Engine::JIT)),
    (Execution::Ir, None),
    (Execution::Halu, Some(Engine::Interp)),
    (Execution::Halu, Some(Engine::JIT)),
    (Execution::Object, None),
    (Execution::Recompiled, None),
];

fn check(lines: &[String], seed: u64) {
    let mut random = Random(seed);
    let edge = [0u64, 1, u64::MAX, 1 << 31, 1 << 63, 0x7FFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF];
    let mut bytes = Vec::new();
    for _ in 0..ITEMS as usize * ITEM / 8 {
        let bits = random.bits();
        let word = if bits.is_multiple_of(2) { edge[bits as usize / 2 % edge.len()] } else { random.bits() };
        bytes.extend(word.to_le_bytes());
    }
    let (text, expected) = (text(lines), expected(lines, &bytes));
    for (via, engine) in ROUTES {
        let size = Size::Blocks { grid: [2, 1, 1], block: [ITEMS / 2, 1, 1] };
        let mut request = Request::new(Language::Ptx, "k.ptx", text.as_str(), size);
        request.args = vec![Arg::Buffer { bytes: bytes.clone(), pointers: Vec::new() }];
        let how = LaunchOptions { engine, via: Some(via), ..LaunchOptions::default() };
        let found = launch(request, &how).unwrap_or_else(|failure| panic!("{failure}\n{text}"));
        let place = found[0].iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(place.map(|at| (at / ITEM, at % ITEM)), None, "via {} {engine:?}, seed {seed}\n{text}", via.name());
    }
}

/// `HALFBYTE_CHAINS=100000 cargo test ptx_carry::` sets the number of chains.
#[test]
fn random_chains_agree_with_wide_integers_on_every_route() {
    let count = std::env::var("HALFBYTE_CHAINS").ok().and_then(|count| count.parse().ok()).unwrap_or(60);
    let entry = entry();
    let mut mixed = 0;
    for seed in 0..count {
        let mut random = Random(seed);
        let mut lines = Vec::new();
        for _ in 0..3 {
            let length = 2 + random.bits() as usize % 5;
            let chain: Vec<Inst> = Inst::random_carry_chain(length, &entry, &mut || random.bits()).unwrap();
            let is_difference = |inst: &Inst| inst.row().mnemonic.starts_with("sub");
            mixed += u64::from(chain.windows(2).any(|pair| is_difference(&pair[0]) != is_difference(&pair[1])));
            lines.extend(chain.iter().map(|inst| inst_text(inst, &entry)));
        }
        check(&lines, seed);
    }
    assert!(mixed > count, "{mixed} of {} chains are mixed", 3 * count);
}

#[test]
fn a_flag_that_nothing_has_set_is_clear_on_every_route() {
    let lines = |text: &str| text.split(';').map(|line| format!("{line};")).collect::<Vec<_>>();
    check(&lines("addc.cc.u32 %r0, %r1, %r2;subc.u64 %d0, %d1, %d2"), 1);
    check(&lines("subc.cc.u32 %r0, %r1, %r1;madc.lo.s64 %d0, %d1, %d2, %d3"), 2);
}
