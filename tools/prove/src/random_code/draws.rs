//! Random choices for the generation of programs.

use halfbyte_ir::witness::Random;

/// A source of choices: random numbers from a seed, or numbers from the bytes of a fuzzer. After
/// the last byte, every number is 0.
#[derive(Debug)]
pub struct Draws<'a> {
    from: From<'a>,
}

#[derive(Debug)]
enum From<'a> {
    Seed(Random),
    Bytes(&'a [u8]),
}

impl Draws<'static> {
    /// Creates the random choices for program `number`, from a seed.
    pub fn of_seed(seed: u64, number: u64) -> Draws<'static> {
        let mut of_seed = Random(seed);
        let mut of_number = Random(of_seed.bits() ^ number);
        Draws { from: From::Seed(Random(of_number.bits())) }
    }
}

impl<'a> Draws<'a> {
    /// Creates choices from the bytes of a fuzzer. Each number consumes as few bytes as possible.
    pub fn of_bytes(bytes: &'a [u8]) -> Draws<'a> {
        Draws { from: From::Bytes(bytes) }
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.take(8)
    }

    /// Returns a number below `n`, or 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        match &mut self.from {
            From::Seed(random) => random.below(n),
            From::Bytes(_) => {
                let bytes = match n {
                    0 | 1 => return 0,
                    2..=0x100 => 1,
                    0x101..=0x1_0000 => 2,
                    _ => 8,
                };
                (self.take(bytes) % n as u64) as usize
            }
        }
    }

    /// Returns `true` with a probability of 1 in `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        // After the last byte, `below` returns 0, so that rare events do not occur.
        self.below(n) == n.saturating_sub(1)
    }

    /// Returns a random element of an array.
    pub fn pick<T: Copy, const N: usize>(&mut self, all: [T; N]) -> T {
        all[self.below(N)]
    }

    /// Returns a random 32-bit word, often a special value.
    pub fn word(&mut self) -> u32 {
        match self.below(8) {
            0 => self.pick([0, 1, 2, u32::MAX, 0x8000_0000, 0x7fff_ffff, 0x80, 0x7f80_ff01, 0x3c00_bc00, 0x7fff_fc00]),
            1 => 1 << self.below(32),
            2 => self.below(0x100) as u32,
            _ => self.bits() as u32,
        }
    }

    /// Returns `count` random bytes, some of them special values.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 3);
        if self.one_in(4) {
            let word = self.word().to_le_bytes();
            bytes.extend(word.into_iter().cycle().take(count));
        }
        while bytes.len() < count {
            bytes.extend(self.word().to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }

    fn take(&mut self, count: usize) -> u64 {
        match &mut self.from {
            From::Seed(random) => random.bits(),
            From::Bytes(bytes) => {
                let (taken, rest) = bytes.split_at(count.min(bytes.len()));
                *bytes = rest;
                taken.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
            }
        }
    }
}
