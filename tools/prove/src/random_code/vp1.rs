//! Random VP1 programs.

use halfbyte_abi::{Direction, Param, ParamKind, Type};
use halfbyte_isa::row::{InstClass, RegFile};
use halfbyte_isa::stream::{AccessSite, Affine, AffineVariable, Step, Stream, StreamContents, Tiles, TripCount};
use halfbyte_isa::vp1;
use halfbyte_isa::vp1::data_store::DATA_STORE_BYTES;
use halfbyte_isa::vp1::footprint::{Footprint, Locations};
use halfbyte_isa::vp1::{Bundle, Inst, Opcode, Unit, fields as f};

use super::{Argument, Case, Draws, info, param};

/// Number of scalar parameters. The registers from `$m0` on hold the scalars, followed by the addresses of the streams.
const SCALARS: usize = 2;
/// Indices of the streams: one that the program loads, one that it stores, and one to which it
/// copies registers at the end.
const READ_STREAM: usize = 0;
const WRITTEN_STREAM: usize = 1;
const DUMP_STREAM: usize = 2;
/// First of the four address registers that loops use most.
const FIRST_LOOP_ADDRESS: usize = 4;
const HOT_COUNT: usize = 4;
/// Address register that is always 0, as the base of loads from the start of the data store.
const ZERO: u64 = 31;
/// Scalar register of the loop counter.
const COUNTER: u64 = 1;
/// `$c` register for the flags of instructions that must not change the flags of other instructions.
const UNUSED_FLAGS: u64 = 7;
const ROW: usize = 16;
/// Number of bytes in the data store for the loaded and the stored stream.
const TILE_BYTES: usize = 1024;
/// Numbers of the bits `zf` and `aef` in a `$c` register.
const ZF: u64 = 1;
const AEF: u64 = 10;

struct Builder<'d, 'a> {
    draws: &'d mut Draws<'a>,
    words: Vec<u32>,
    image: usize,
}

/// Returns a random program with a launch.
pub(super) fn draw(draws: &mut Draws<'_>) -> Option<Case> {
    let items = draws.pick([1, 4, 5, 16, 33, 64, 200, 700]);
    let group = draws.pick([1, 4, 16]);
    let image = ROW * if draws.one_in(4) { 1 + draws.below(128) } else { 128 };
    let bytes = if group == 16 { draws.pick([1, 4, 16]) } else { draws.pick([4, 16]) };
    // The dump stream takes most of the data store that the image and the other streams leave free.
    let most = (DATA_STORE_BYTES - image - TILE_BYTES) / ROW;
    let dump = if draws.one_in(4) { 16 + draws.below(most - 16) } else { most };
    let image_bytes = draws.bytes(image);
    let mut b = Builder { draws, words: Vec::new(), image };
    b.begin();
    let again = b.words.len() as u64;
    for _ in 0..1 + b.draws.below(3) {
        match b.draws.below(4) {
            0 => {
                let lines = 1 + b.draws.below(6);
                b.straight(lines);
            }
            _ => b.counted_loop(),
        }
    }
    let group_branch = b.end(again, group as usize * bytes as usize);
    let Builder { draws, mut words, .. } = b;
    if draws.one_in(20) {
        for _ in 0..1 + draws.below(2) {
            let (at, word) = (draws.below(words.len()), draws.bits() as u32);
            words.iter_mut().skip(at).take(1).for_each(|place| *place = word);
        }
    }
    let stream = |buffer: u32, written: bool, site: u32| Stream {
        buffer: Some(buffer),
        holds: StreamContents::Elements,
        bytes,
        align: 1,
        uniform: false,
        scale: bytes.into(),
        index: Affine::default(),
        offset: 0,
        steps: Vec::new(),
        guard: None,
        site: AccessSite { word: site, written },
    };
    let steps = vec![Step {
        loop_number: 1,
        trips: TripCount::Const(dump as u32),
        stride: Affine { constant: ROW as u32, terms: Vec::new() },
    }];
    let read_index = if draws.one_in(4) {
        Affine { constant: 0, terms: vec![(AffineVariable::Param(0), bytes)] }
    } else {
        Affine::default()
    };
    let streams = vec![
        Stream { index: read_index, ..stream(2, false, 0) },
        stream(3, true, 0),
        Stream { bytes: ROW as u32, uniform: true, scale: 0.into(), steps, ..stream(4, true, 0) },
    ];
    let group_branch = if draws.one_in(8) { None } else { Some(group_branch) };
    let tiles = Tiles { items: group, group_branch, image: image_bytes, streams };
    let info = info(params(), image as u32, Some(tiles))?;
    let count = items as usize * bytes as usize;
    let short = if draws.one_in(10) { 4 * draws.below(count / 4 + 1) } else { 0 };
    let mut args = vec![
        Argument::Scalar(draws.below(3) as u128),
        Argument::Scalar(draws.word().into()),
        Argument::Buffer(draws.bytes(count + 4 * bytes as usize)),
        Argument::Buffer(draws.bytes(count.next_multiple_of(4) - short.min(count / 4 * 4))),
        Argument::Buffer(vec![0; dump * ROW]),
    ];
    if draws.one_in(20)
        && let Some(Argument::Buffer(bytes)) = args.get_mut(2)
    {
        bytes.truncate(draws.below(count));
    }
    let budget = if draws.one_in(6) { draws.below(40) } else { 300 } as u64;
    Some(Case { words: vp1::Vp1Code(words).into(), info, items, args, budget })
}

fn params() -> Vec<Param> {
    let (word, byte) = (Type::I32, Type::I8);
    let buffer = |direction| ParamKind::Buffer { direction, elem: byte, align: 1, may_alias: false };
    let kinds = [
        ParamKind::Scalar(word),
        ParamKind::Scalar(word),
        buffer(Direction::In),
        buffer(Direction::InOut),
        buffer(Direction::Out),
    ];
    ["n", "m", "x", "y", "z"].into_iter().zip(kinds).map(|(name, kind)| param(name.to_owned(), kind)).collect()
}

/// Returns `true` if the effect of an instruction is documented. The instruction is alone in its bundle.
fn is_known(word: u32) -> bool {
    Bundle::new(&[word]).is_ok_and(|bundle| Footprint::of(&bundle, None).is_ok())
}

fn nop(unit: Unit) -> Inst {
    Inst::new(match unit {
        Unit::Address => Opcode::ANOP,
        Unit::Scalar => Opcode::SNOP,
        Unit::Vector => Opcode::VNOP,
        Unit::Branch => Opcode::BNOP,
    })
}

impl Builder<'_, '_> {
    /// Returns a random instruction for a unit. One instruction in a few thousand has an effect that is not documented.
    fn any(&mut self, unit: Unit) -> Inst {
        const TRIES: usize = 20;
        let opcodes: Vec<Opcode> = Opcode::ALL.iter().copied().filter(|opcode| opcode.unit() == unit).collect();
        for _ in 0..TRIES {
            let Some(&opcode) = opcodes.get(self.draws.below(opcodes.len())) else { break };
            let inst = Inst::random(opcode, &mut || self.draws.bits());
            if is_known(inst.word()) || self.draws.one_in(3000) {
                return inst;
            }
        }
        nop(unit)
    }

    /// Emits a bundle of the given instructions, at most one for each unit. Units without an instruction get a no-op.
    fn line(&mut self, insts: &[Inst]) {
        for unit in [Unit::Address, Unit::Scalar, Unit::Vector, Unit::Branch] {
            let inst = insts.iter().copied().find(|inst| inst.unit() == unit).unwrap_or_else(|| nop(unit));
            self.words.push(inst.word());
        }
    }

    /// Returns a random address in the data store, mostly a multiple of 16 bytes and often within
    /// the initialised image.
    fn place(&mut self) -> u64 {
        let row = match self.draws.below(3) {
            0 => self.draws.below(self.image / ROW) * ROW,
            _ => self.draws.below(DATA_STORE_BYTES / ROW) * ROW,
        };
        let within = match self.draws.below(24) {
            0..=19 => 0,
            20..=22 => 4 * self.draws.below(4),
            _ => self.draws.below(ROW),
        };
        (row + within) as u64
    }

    /// Emits the prologue, which initialises the registers.
    fn begin(&mut self) {
        let read = |n: u64, m: usize| Inst::new(Opcode::MOV_R_M).with(f::DST, n).with(f::SRC1, m as u64);
        let address = |n: u64, r: u64| Inst::new(Opcode::MOV_A_R).with(f::DST, n).with(f::SRC1, r);
        for stream in [READ_STREAM, WRITTEN_STREAM, DUMP_STREAM] {
            self.line(&[read(2, SCALARS + stream)]);
            self.line(&[address(stream as u64, 2)]);
        }
        for k in 0..HOT_COUNT + 2 {
            let register = (FIRST_LOOP_ADDRESS + k) as u64;
            let low = self.place();
            // The stride code of an address register is mostly 0.
            let stride = if self.draws.one_in(12) { self.draws.below(4) } else { 0 } as u64;
            let limit = if self.draws.one_in(8) {
                self.draws.below(0x4000) as u64
            } else {
                (low + self.draws.below(40) as u64 * ROW as u64).min(0x3fff)
            };
            self.line(&[Inst::new(Opcode::SETLO_A).with(f::DST, register).with(f::IMM16, low)]);
            let high = stride << 14 | limit;
            self.line(&[Inst::new(Opcode::SETHI_A).with(f::DST, register).with(f::IMM16, high)]);
        }
        let rows = self.image / ROW;
        for k in 0..32 {
            let at = (self.draws.below(rows) * ROW) as u64;
            let load = Inst::new(Opcode::LDVH)
                .with(f::DST, k)
                .with(f::SRC1, ZERO)
                .with(f::IMM, at)
                .with(f::CDST, UNUSED_FLAGS);
            self.line(&[load]);
        }
        for k in 0..8 {
            let at = 4 * self.draws.below(self.image / 4) as u64;
            let load =
                Inst::new(Opcode::LDS).with(f::DST, k).with(f::SRC1, ZERO).with(f::IMM, at).with(f::CDST, UNUSED_FLAGS);
            self.line(&[load]);
        }
        for (k, n) in [3, 4].into_iter().zip([0, 1]) {
            self.line(&[read(k, n)]);
        }
    }

    /// Returns a load or store of any width, through one of the four address registers that loops
    /// use. The access may increment the address register. If `steps` is given, the access
    /// increments each register only by that register's step.
    fn access(&mut self, c: u64, steps: Option<&[i64; HOT_COUNT]>) -> Inst {
        use Opcode::*;
        let number = self.draws.below(HOT_COUNT);
        let step = steps.and_then(|steps| steps.get(number).copied());
        let stays = self.draws.pick([LDVH, LDVH, LDVH, STVH, STVH, STVH, LDS, STS, LDVV, STVV]);
        let opcode = match (step, self.draws.below(4)) {
            (Some(0), _) | (_, 0) | (Some(_), 1) => stays,
            (Some(step), _) if step % 16 == 0 => self.draws.pick([LDAVH_I, STAVH_I]),
            (Some(_), _) => self.draws.pick([LDAS_I, STAS_I]),
            (None, 1) => self.draws.pick([LDAVH_R, STAVH_R, LDAS_R, STAS_R, LDAVV_R, STAVV_R, LDAXH, LDR, STAR, AADD]),
            _ => {
                self.draws.pick([LDAVH_I, LDAVH_I, STAVH_I, STAVH_I, LDAS_I, LDAS_I, STAS_I, STAS_I, LDAVV_I, STAVV_I])
            }
        };
        let inst = Inst::random(opcode, &mut || self.draws.bits());
        let hot = (FIRST_LOOP_ADDRESS + number) as u64;
        let inst = match opcode {
            LDVH | LDS | LDVV | LDAVH_R | LDAS_R | LDAVV_R | LDAXH | LDR | LDAVH_I | LDAS_I | LDAVV_I => {
                inst.with(f::SRC1, hot)
            }
            _ => inst.with(f::DST, hot),
        };
        let inst = if matches!(opcode, LDR | STAR) { inst } else { inst.with(f::CDST, c) };
        match opcode {
            LDVH | STVH | LDS | STS | LDVV | STVV => {
                let offset = self.draws.pick([0, 0, 0, 4, 16, 0x20]);
                if self.draws.one_in(8) { inst } else { inst.with(f::IMM, offset) }
            }
            LDAVH_I | STAVH_I | LDAS_I | STAS_I | LDAVV_I | STAVV_I => {
                let any = self.draws.pick([0, 4, 4, 16, 16, 16, 32, 48, -4, -16, 8, 1]);
                inst.with(f::IMM, step.unwrap_or(any) as u64)
            }
            _ => inst,
        }
    }

    /// Returns random instructions for the address, scalar and vector unit of a bundle. If `steps` is given, the
    /// instructions do not write the counter, the flags and the addresses that control loops.
    fn work(&mut self, c: u64, steps: Option<&[i64; HOT_COUNT]>) -> Vec<Inst> {
        let mut insts = vec![match self.draws.below(8) {
            0 => self.any(Unit::Address),
            1 => nop(Unit::Address),
            _ => self.access(c, steps),
        }];
        insts.push(if self.draws.one_in(3) { self.any(Unit::Scalar) } else { nop(Unit::Scalar) });
        insts.push(if self.draws.one_in(4) { nop(Unit::Vector) } else { self.any(Unit::Vector) });
        if steps.is_some() {
            let counted = Locations::flags(0, u32::MAX)
                .union(Locations::flags(1, u32::MAX))
                .union(Locations::register(RegFile::R, COUNTER as u8));
            let hot = (0..HOT_COUNT)
                .fold(counted, |all, k| all.union(Locations::register(RegFile::A, (FIRST_LOOP_ADDRESS + k) as u8)));
            let writes = |inst: &Inst, what: Locations| {
                let bundle = Bundle::new(&[inst.word()]).ok();
                bundle.and_then(|bundle| Footprint::of(&bundle, None).ok()).is_none_or(|f| f.writes.intersects(what))
            };
            let moves = |inst: &Inst| inst.opcode().row().class == InstClass::Memory;
            for inst in &mut insts {
                if writes(inst, counted) || !moves(inst) && writes(inst, hot) {
                    *inst = nop(inst.unit());
                }
            }
        }
        insts
    }

    /// Emits random bundles. Some of them contain a branch to a nearby bundle.
    fn straight(&mut self, lines: usize) {
        use Opcode::*;
        for line in 0..lines {
            let mut insts = self.work(UNUSED_FLAGS, None);
            if self.draws.one_in(4) {
                let opcode =
                    self.draws.pick([BRA, BRA, BRA, BRA_LOOP, BRA_NOT, BRA_NOT, BRA_NOT, BRA_LOOP_NOT, CALL, CALL_NOT]);
                let inst = Inst::random(opcode, &mut || self.draws.bits());
                let to = if self.draws.one_in(4) {
                    self.draws.below(line + 1)
                } else {
                    line + 1 + self.draws.below(lines - line)
                };
                let to = to as i64 - line as i64;
                insts.push(inst.with(f::BTARG, to as u64));
            } else if self.draws.one_in(20) {
                insts.push(self.any(Unit::Branch));
            }
            self.line(&insts);
        }
    }

    /// Emits a loop of random bundles. The loop ends when a counter reaches 0, or when an address
    /// register reaches its limit.
    fn counted_loop(&mut self) {
        let lines = 1 + self.draws.below(5);
        let (c, by_register) = (self.draws.below(2) as u64, self.draws.one_in(2));
        let counts = self.draws.below(lines + 1);
        let jump = lines - 1;
        let most = self.draws.pick([6, 12, 12, 40]);
        let trips = 1 + self.draws.below(most) as u64;
        let steps = [(); HOT_COUNT].map(|()| self.draws.pick([0, 4, 4, 16, 16, 32, 8, 12]));
        let steps = (!self.draws.one_in(3)).then_some(&steps);
        self.line(&[Inst::new(Opcode::MOV_I).with(f::DST, COUNTER).with(f::IMM19, trips)]);
        for line in 0..=lines {
            let other = if steps.is_none() && self.draws.one_in(8) { c } else { UNUSED_FLAGS };
            let mut insts = self.work(other, steps);
            if line == counts {
                if by_register {
                    let down = Inst::new(Opcode::SUB_RI).with(f::DST, COUNTER).with(f::SRC1, COUNTER);
                    insts.retain(|inst| inst.unit() != Unit::Scalar);
                    insts.push(down.with(f::IMM, 1).with(f::CDST, c));
                } else {
                    use Opcode::*;
                    let number = self.draws.below(HOT_COUNT);
                    let any = self.draws.pick([4, 16, 16, 32]);
                    let step =
                        steps.and_then(|steps| steps.get(number).copied()).filter(|&step| step != 0).unwrap_or(any);
                    let rows = self.draws.pick([LDAVH_I, STAVH_I]);
                    let opcode = if step % 16 == 0 { rows } else { self.draws.pick([LDAS_I, STAS_I]) };
                    let inst = Inst::random(opcode, &mut || self.draws.bits());
                    let field = if matches!(opcode, LDAVH_I | LDAS_I) { f::SRC1 } else { f::DST };
                    let (hot, step) = ((FIRST_LOOP_ADDRESS + number) as u64, step as u64);
                    insts.retain(|inst| inst.unit() != Unit::Address);
                    insts.push(inst.with(field, hot).with(f::IMM, step).with(f::CDST, c));
                }
            }
            if line == jump {
                let slct = if by_register { ZF } else { AEF };
                let back = (line as i64).wrapping_neg() as u64;
                let bra = Inst::new(Opcode::BRA_NOT).with(f::COND, c).with(f::SLCT, slct).with(f::BTARG, back);
                insts.push(bra);
            }
            self.line(&insts);
        }
    }

    /// Emits the epilogue: stores of registers, a branch back to bundle address `again` for the
    /// next group, and the exit. Returns the word address of that branch.
    fn end(&mut self, again: u64, group_bytes: usize) -> u32 {
        let number = |n: usize, draws: &mut Draws<'_>| draws.below(n) as u64;
        self.line(&[Inst::new(Opcode::MOV_R_M).with(f::DST, 30).with(f::SRC1, (SCALARS + DUMP_STREAM) as u64)]);
        self.line(&[Inst::new(Opcode::MOV_A_R).with(f::DST, DUMP_STREAM as u64).with(f::SRC1, 30)]);
        let all = self.draws.one_in(6);
        for k in 0..if all { 62 } else { 4 + self.draws.below(14) } {
            let k = if all { k } else { self.draws.below(62) };
            let (opcode, step, from) = if k < 32 { (Opcode::STAVH_I, 16, k) } else { (Opcode::STAS_I, 4, k - 32) };
            let store =
                Inst::new(opcode).with(f::DST, DUMP_STREAM as u64).with(f::IMM, step).with(f::CDST, UNUSED_FLAGS);
            self.line(&[store.with(f::SRC1, from as u64)]);
        }
        // The following stores cover the bytes of one group in the stored stream. The last store
        // sets the flag that ends the loop over the groups.
        let stores = group_bytes.div_ceil(ROW);
        for k in 0..stores {
            let c = if k + 1 == stores { 0 } else { UNUSED_FLAGS };
            let store = Inst::new(Opcode::STAVH_I)
                .with(f::DST, WRITTEN_STREAM as u64)
                .with(f::IMM, group_bytes.min(ROW) as u64);
            let from = number(32, self.draws);
            self.line(&[store.with(f::SRC1, from).with(f::CDST, c)]);
        }
        let branch = self.words.len() as u32 + 3;
        let back = (again as i64 - i64::from(branch / 4 * 4)) / 4;
        let bra = Inst::new(Opcode::BRA_NOT).with(f::COND, 0).with(f::SLCT, AEF).with(f::BTARG, back as u64);
        let load = Inst::new(Opcode::LDAVH_I).with(f::DST, number(32, self.draws)).with(f::SRC1, READ_STREAM as u64);
        self.line(&[load.with(f::IMM, 16).with(f::CDST, UNUSED_FLAGS), bra]);
        self.line(&[]);
        self.line(&[Inst::new(Opcode::EXIT)]);
        branch
    }
}
