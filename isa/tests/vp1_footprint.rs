//! Checks that the footprints of VP1 bundles match the semantics. A location that the footprint
//! does not read must not influence the bundle. A location that it does not write must not change.

use crate::random::Random;
use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::footprint::{Footprint, Locations, Profile};
use halfbyte_isa::vp1::state::State;
use halfbyte_isa::vp1::{Bundle, Inst, Opcode, Unit, read_word};

fn random_state(random: &mut Random) -> State {
    let mut state = State::default();
    state.r = state.r.map(|_| random.word(&[0, 1, 0x8000_0000]));
    state.v = state.v.map(|v| v.map(|_| random.next() as u8));
    state.vx = state.vx.map(|_| random.next() as u8);
    state.va = state.va.map(|_| (random.next() as i32) >> 4);
    state.vc = state.vc.map(|_| random.next() as u32);
    state.a = state.a.map(|_| random.next() as u32);
    state.c = state.c.map(|_| random.next() as u16 & 0x27ff | 0x8000);
    state.l = state.l.map(|_| random.next() as u16);
    state.m = state.m.map(|_| random.next() as u32);
    state.x = state.x.map(|_| random.next() as u32);
    state.uccfg = random.next() as u32 & 1;
    for byte in 0..8192 {
        state.data.set_byte(byte, random.next() as u8);
    }
    state
}

/// Returns `state`, in which the locations in `places` have the values of `other`.
fn mixed(mut state: State, other: &State, places: Locations) -> State {
    for (file, n) in places.registers() {
        let n = usize::from(n);
        match file {
            RegFile::R if n == 31 => {}
            RegFile::R => state.r[n] = other.r[n],
            RegFile::V => state.v[n] = other.v[n],
            RegFile::Vx => state.vx = other.vx,
            RegFile::Va => state.va = other.va,
            RegFile::Vc => state.vc[n] = other.vc[n],
            RegFile::A => state.a[n] = other.a[n],
            RegFile::L => state.l[n] = other.l[n],
            RegFile::M => state.m[n] = other.m[n],
            RegFile::X => state.x[n] = other.x[n],
            RegFile::Uc => state.uccfg = other.uccfg,
            RegFile::C => {
                let places = (0..16).filter(|&bit| places.intersects(Locations::flags(n as u8, 1 << bit)));
                let mask = places.fold(0, |mask, bit| mask | 1 << bit);
                state.c[n] = state.c[n] & !mask | other.c[n] & mask;
            }
            file => unreachable!("{file:?}"),
        }
    }
    state
}

/// Returns the set of all locations of the processor.
fn all() -> Locations {
    let files = [
        (RegFile::R, 32),
        (RegFile::V, 32),
        (RegFile::A, 32),
        (RegFile::Vc, 4),
        (RegFile::L, 4),
        (RegFile::Va, 1),
        (RegFile::Vx, 1),
        (RegFile::Uc, 1),
        (RegFile::X, 16),
        (RegFile::C, 4),
        (RegFile::M, 64),
    ];
    let registers = files.into_iter().flat_map(|(file, count)| (0..count).map(move |n| Locations::register(file, n)));
    registers.fold(Locations::EMPTY, Locations::union)
}

fn random_inst(unit: Unit, random: &mut Random) -> Inst {
    loop {
        let op = Opcode::ALL[random.next() as usize % Opcode::ALL.len()];
        if op.unit() == unit {
            return Inst::random(op, &mut || random.next());
        }
    }
}

fn random_bundle(random: &mut Random) -> Bundle {
    let mask = 1 + random.next() % 15;
    let words: Vec<u32> =
        Unit::ALL.into_iter().filter(|&u| mask >> u as u32 & 1 != 0).map(|u| random_inst(u, random).word()).collect();
    Bundle::new(&words).unwrap()
}

#[test]
fn the_places_of_all_files_are_distinct() {
    let all = all();
    let registers: Vec<_> = all.registers().collect();
    assert_eq!(registers.len(), 32 + 32 + 32 + 4 + 4 + 1 + 1 + 1 + 16 + 4 + 64);
    for (i, &(file, n)) in registers.iter().enumerate() {
        let own = Locations::register(file, n);
        assert_eq!(own.registers().collect::<Vec<_>>(), [(file, n)]);
        assert!(registers[..i].iter().all(|&(file, n)| !Locations::register(file, n).intersects(own)));
    }
    assert!(Locations::register(RegFile::D, 0).is_empty());
    let places: Vec<u8> = all.numbers().collect();
    assert_eq!(places.len(), 32 + 32 + 32 + 4 + 4 + 1 + 1 + 1 + 16 + 4 * 16 + 64);
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(Locations::EMPTY.numbers().count(), 0);
}

#[test]
fn footprints_contain_all_reads_and_writes() {
    let mut random = Random(11);
    let everything = all();
    for _ in 0..40_000 {
        let bundle = random_bundle(&mut random);
        let Ok(footprint) = Footprint::of(&bundle, None) else { continue };
        let (before, other) = (random_state(&mut random), random_state(&mut random));
        let mut after = before.clone();
        let next = after.step(&bundle, |_| {});
        // A location outside the footprint's writes must keep its value. Only a store may change the data store.
        let kept = mixed(before.clone(), &after, footprint.writes);
        let stores = footprint.access.is_some_and(|access| access.store);
        assert!(stores || after.data == before.data, "{bundle:x?}");
        assert!(State { data: after.data.clone(), ..kept } == after, "{bundle:x?}");
        // A location outside the footprint's reads must not influence the values that the bundle writes.
        let start = mixed(before.clone(), &other, everything.minus(footprint.reads));
        let mut end = start.clone();
        assert_eq!(end.step(&bundle, |_| {}), next, "{bundle:x?}");
        let expected = mixed(start, &after, footprint.writes);
        assert!(State { data: after.data, ..expected } == end, "{bundle:x?}");
    }
}

#[test]
fn independent_instructions_can_share_a_bundle() {
    let mut random = Random(12);
    let mut together = 0;
    for round in 0..60_000 {
        let [i, j] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]][round % 6];
        let [a, b] = [i, j].map(|unit| random_inst(Unit::ALL[unit], &mut random));
        let [one, two] = [a, b].map(|inst| Bundle::new(&[inst.word()]).unwrap());
        let both = Bundle::new(&[a.word(), b.word()]).unwrap();
        let (Ok(x), Ok(y)) = (Footprint::of(&one, None), Footprint::of(&two, None)) else { continue };
        if interact(&a, &b) || !x.is_disjoint(&y) {
            continue;
        }
        // The bundle must give the same state as the two instructions in sequence. An order is
        // excluded if its first instruction writes a location that the second one reads.
        let orders = [(one, two, x.writes.intersects(y.reads)), (two, one, y.writes.intersects(x.reads))];
        for (first, second, disturbed) in orders {
            if disturbed {
                continue;
            }
            together += 1;
            let mut state = random_state(&mut random);
            let mut apart = state.clone();
            apart.step(&first, |_| {});
            apart.step(&second, |_| {});
            state.step(&both, |_| {});
            assert!(state == apart, "{a}, {b}");
        }
    }
    assert!(together > 50_000);
}

fn interact(a: &Inst, b: &Inst) -> bool {
    Profile::of(*a).unwrap().interacts(&Profile::of(*b).unwrap()).unwrap()
}

fn inst(text: &str) -> Inst {
    Inst::decode(read_word(text, 0).unwrap()).unwrap()
}

#[test]
fn detects_shared_ports_and_forwarded_operands() {
    let interacting = [
        // In each of these four pairs, both instructions need the same read port.
        ("mov $r1 $v3 0x0", "stvh $v5 $a1 0x0"),
        ("mov $m1 $r2", "sts $r3 $a1 0x0"),
        ("bvecmad $r0 $r0q $c0 false $vc0 sf 0x4", "sts $r5 $a1 0x0"),
        ("mov $r1 $l0", "exit 0x0"),
        // The vector instruction uses factors or flags of the scalar unit. `add` forwards no
        // factors, but `vmad2` reads intermediate values of `add` as factors.
        ("vec 0x1 0x2 $vc1 sf 0x0", "vmad2 s factor rd int 0x0 hi $v27 u $v18d u $v27"),
        ("add $r1 $r2 $r3", "vmad2 s mask rd int 0x0 hi $v27 u $v18d u $v27"),
        ("vec 0x1 0x2 $vc1 sf 0x0", "vcmpad 0x1 $vc0 $v15d $v31"),
        ("vec 0x1 0x2 $vc0 sf 0x1", "vcmpad 0x1 $vc0 $v15d $v31"),
    ];
    for (a, b) in interacting {
        assert!(interact(&inst(a), &inst(b)), "{a}, {b}");
        assert!(interact(&inst(b), &inst(a)), "{b}, {a}");
    }
    let apart = [
        ("mov $r1 $v5 0x0", "stvh $v5 $a1 0x0"),
        ("mov $r1 $l0", "bra 0x0"),
        ("add $r1 $r2 $r3", "vcmpad 0x1 $vc0 $v15d $v31"),
        ("ldavh $v1 $a1 0x10", "vmad2 s factor rd int 0x0 hi $v27 u $v18d u $v27"),
        ("vec 0x1 0x2 $vc1 sf 0x0", "vadd u $v1 $v2 $v3"),
    ];
    for (a, b) in apart {
        assert!(!interact(&inst(a), &inst(b)), "{a}, {b}");
    }
}

fn footprint(text: &str) -> Footprint {
    Footprint::of(&Bundle::new(&[inst(text).word()]).unwrap(), Some(31)).unwrap()
}

#[test]
fn some_footprints() {
    let set = |registers: &[(RegFile, u8)]| {
        registers.iter().fold(Locations::EMPTY, |set, &(file, n)| set.union(Locations::register(file, n)))
    };
    use RegFile::{A, R, V, Va};
    let post = footprint("ldavh $v4 $a7 0x10");
    assert_eq!((post.reads, post.writes), (set(&[(A, 7)]), set(&[(A, 7), (V, 4)])));
    let add = footprint("add $r4 $c2 $r5 (slct $c1 b19 $r6d)");
    // If a flag selects a register, the register can be any of the four registers of its quad.
    assert_eq!(add.reads, set(&[(R, 4), (R, 5), (R, 6), (R, 7)]).union(Locations::flags(1, 1 << 2)));
    assert_eq!(add.writes, set(&[(R, 4)]).union(Locations::flags(2, 0xff)));
    let extra = footprint("ldaxh $v7q $a10 (slct $c3 b19a $a12d)");
    assert!(set(&[(V, 4), (V, 5), (V, 6), (V, 7)]).is_subset(extra.reads.intersection(extra.writes)));
    let macc = footprint("vmac s rd int 0x2 hi # s $v16 s $v29");
    assert_eq!((macc.reads, macc.writes), (set(&[(V, 16), (V, 29), (Va, 0)]), set(&[(Va, 0)])));
    assert_eq!(footprint("bra $c2 lzf 0x0").reads, Locations::flags(2, 1 << 13));
    assert_eq!(footprint("mov $r1 $c2").reads, Locations::flags(2, 0xffff));
    assert_eq!(footprint("mov $r1 0x5").reads, Locations::EMPTY);
    assert_eq!(footprint("xor $r31 $r1 0x0").writes, Locations::EMPTY);
    // Two accesses conflict if one of them is a store and both may access the same byte. Addresses
    // relative to `$a31`, which holds 0, are known; all other addresses are unknown.
    let conflict = |a: &str, b: &str| footprint(a).access.unwrap().conflicts(footprint(b).access.unwrap());
    assert!(conflict("stvh $v1 $a31 0x10", "lds $r1 $a31 0x14"));
    assert!(!conflict("stvh $v1 $a31 0x10", "lds $r1 $a31 0x24"));
    assert!(!conflict("ldvh $v1 $a31 0x10", "lds $r1 $a31 0x14"));
    assert!(conflict("stavh $v1 $a1 0x10", "lds $r1 $a31 0x14"));
}
