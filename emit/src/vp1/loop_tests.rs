//! Tests of software pipelining: a pipelined loop computes the same results as the sequential loop,
//! for every trip count.
#![allow(clippy::unwrap_used)]

use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::footprint::Locations;

use super::tests::{Random, block, interpret, op, random_end, random_op, run, state, words};
use super::*;

/// Returns a function with a loop, after a block that sets up the streams and before a block that exits.
fn around(body: &str) -> Vec<Vec<Op>> {
    let start = block("setlo $a0 0x400\nsetlo $a1 0xc00\nsetlo $a2 0x1400");
    let mut body = block(body);
    body.push(op("sub $r30 $c3 $r30 0x1"));
    body.push(op("bra not $c3 zf 0x0 -> 1"));
    vec![start, body, vec![op("exit 0x0")]]
}

/// Executes a function with each trip count, compares the results with those of its operations in
/// sequence, and returns the statistics of its loop.
fn check(blocks: &[Vec<Op>], trips: std::ops::RangeInclusive<u32>) -> BlockStats {
    let assembled = assemble("k", blocks.to_vec(), Some(31)).unwrap();
    let mut random = Random(3);
    for trips in trips {
        let mut expected = state(&mut random);
        expected.r[30] = trips;
        expected.a = [0; 32];
        let mut found = expected.clone();
        let backward = interpret(blocks, &mut expected);
        let (_, taken) = run(&words(&assembled), &mut found);
        assert_eq!(taken, backward, "{trips} trips");
        let text = || halfbyte_isa::vp1::disassemble(&words(&assembled));
        assert!(expected.data == found.data, "{trips} trips\n{}", text());
    }
    *assembled.stats.iter().find(|stats| stats.block == 1).unwrap_or(&BlockStats::default())
}

/// Loops: a name, the loop body without its counter, and the expected initiation interval.
const KERNELS: &[(&str, &str, u32)] = &[
    (
        "brighten",
        "ldavh $v0 $a0 0x10 @ 0
        vadd u $v1 $v0 0x10
        stavh $v1 $a1 0x10 @ 1",
        2,
    ),
    (
        "absdiff",
        "ldavh $v0 $a0 0x10 @ 0
        ldavh $v1 $a1 0x10 @ 1
        vsub u $v2 $v0 $v1
        vsub u $v3 $v1 $v0
        vor $v2 $v2 $v3
        stavh $v2 $a2 0x10 @ 2",
        3,
    ),
    (
        "average",
        "ldavh $v4 $a0 0x10 @ 0
        ldavh $v5 $a1 0x10 @ 1
        vlrp rn 0x0 $v6 $v4d $v9
        stavh $v6 $a2 0x10 @ 2",
        3,
    ),
    (
        "wrapping add",
        "ldavh $v4 $a0 0x10 @ 0
        ldavh $v5 $a1 0x10 @ 1
        vmul s rd int 0x0 hi # u $v4 u 0x4
        vmac u rd int -0x2 lo $v6 u $v5 u 0x4
        stavh $v6 $a2 0x10 @ 2",
        3,
    ),
    (
        "two wrapping adds in one register",
        "ldavh $v4 $a0 0x10 @ 0
        vmul s rd int 0x0 hi # u $v4 u 0x4
        vmac u rd int -0x2 lo $v4 u $v4 u 0x4
        vmul s rd int 0x0 hi # u $v4 u 0x4
        vmac u rd int -0x2 lo $v4 u $v9 u 0x4
        stavh $v4 $a1 0x10 @ 1",
        4,
    ),
    (
        "select",
        "ldavh $v4 $a0 0x10 @ 0
        ldavh $v5 $a1 0x10 @ 1
        vsub u $v8 $vc1 $v4 $v5
        bvec $r3 $vc1 sf 0x0; vmad2 u factor rd int -0x1 lo $v6 u $v4d u $v10
        stavh $v6 $a2 0x10 @ 2",
        3,
    ),
    (
        "scalars",
        "ldas $r1 $a0 0x4 @ 0
        add $r1 $r1 0x7
        mul $r1 $r1 $r1
        xor $r1 $r1 0x55
        stas $r1 $a1 0x4 @ 1",
        4,
    ),
    (
        "sum",
        "ldas $r1 $a0 0x4 @ 0
        add $r2 $r2 $r1
        stas $r2 $a1 0x4 @ 1",
        2,
    ),
    (
        "median of three",
        "ldavh $v0 $a0 0x10 @ 0
        ldavh $v1 $a1 0x10 @ 1
        vmin u $v2 $v0 $v1
        vmax u $v3 $v0 $v1
        vmin u $v3 $v3 $v9
        vmax u $v2 $v2 $v3
        stavh $v2 $a2 0x10 @ 2",
        4,
    ),
];

#[test]
fn kernels_reach_their_bounds() {
    for (name, body, bundles) in KERNELS {
        let stats = check(&around(body), 1..=12);
        assert!(stats.pipelined, "{name}");
        assert_eq!((stats.bundles, stats.bound), (*bundles, *bundles), "{name}");
    }
}

/// Tests loops of random operations. The last block stores some of the registers, so that the
/// comparison of memory includes their values.
#[test]
fn pipelined_random_loops_match_sequential_execution() {
    let mut random = Random(4);
    let counter = Locations::register(RegFile::R, 30).union(Locations::flags(3, 0xff));
    let kept = counter.union(Locations::register(RegFile::A, 31));
    let (mut pipelined, mut least, mut taken) = (0, 0, 0);
    for _ in 0..4000 {
        let length = 1 + random.below(12);
        let wanted = |op: &Op| !op.footprint.writes.intersects(kept);
        let mut body: Vec<Op> = std::iter::repeat_with(|| random_op(&mut random)).filter(wanted).take(length).collect();
        body.insert(random.below(length + 1), op("sub $r30 $c3 $r30 0x1"));
        let mut latch = vec![op("bra 0x0 -> 1")];
        if random.below(3) == 0 {
            // Some operations of the body move to the latch.
            let at = random.below(body.len());
            latch = [body.split_off(at), latch].concat();
            if latch.iter().any(|op| op.footprint.writes.intersects(counter)) {
                body.push(op("sub $r30 $c3 $r30 0x1"));
                latch.retain(|op| !op.footprint.writes.intersects(counter));
            }
        }
        body.push(op("bra $c3 zf 0x0 -> 3"));
        let end: Vec<Op> =
            random_end(&mut random).into_iter().filter(|op| op.is_control() || random.below(4) == 0).collect();
        let stats = check(&[vec![], body, latch, end], 1..=6);
        if stats.pipelined {
            pipelined += 1;
            least += stats.bound;
            taken += stats.bundles;
        }
    }
    assert!(pipelined > 500, "{pipelined}");
    assert!(taken * 100 < least * 115, "{taken} bundles where {least} are the bound");
}

/// Returns a loop body of random vector operations. Each value is in the lowest free register.
fn dataflow(random: &mut Random, loads: usize, computed: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    // Operands of each value.
    let mut inputs: Vec<Vec<usize>> = vec![vec![]; loads];
    let mut unused: Vec<usize> = (0..loads).collect();
    for _ in 0..computed {
        let a = unused.remove(random.below(unused.len()));
        let b = random.below(inputs.len());
        unused.retain(|&value| value != b);
        unused.push(inputs.len());
        inputs.push(vec![a, b]);
    }
    let last_use = |value: usize| inputs.iter().rposition(|inputs| inputs.contains(&value)).unwrap_or(usize::MAX);
    let mut free: Vec<usize> = (0..32).rev().collect();
    let mut places = vec![0; inputs.len()];
    for (value, from) in inputs.iter().enumerate() {
        let sources: Vec<usize> = from.iter().map(|&value| places[value]).collect();
        for &source in from {
            if last_use(source) == value && !free.contains(&places[source]) {
                free.push(places[source]);
            }
        }
        free.sort_by_key(|&place| std::cmp::Reverse(place));
        places[value] = free.pop().unwrap();
        let place = places[value];
        let line = match sources[..] {
            [] => format!("ldavh $v{place} $a{} 0x10 @ {value}", value % 3),
            [a, b, ..] if random.below(6) == 0 => {
                lines.push(format!("vmul s rd int 0x0 hi # u $v{a} u 0x4"));
                format!("vmac u rd int -0x2 lo $v{place} u $v{b} u 0x4")
            }
            [a, b, ..] => {
                format!("{} $v{place} $v{a} $v{b}", ["vadd u", "vmin u", "vmax s", "vsub u"][random.below(4)])
            }
            [_] => unreachable!(),
        };
        lines.push(line);
        if value + 1 == inputs.len() {
            lines.push(format!("stavh $v{place} $a4 0x10 @ 99"));
        }
    }
    lines.join("\n")
}

#[test]
fn larger_kernels_come_near_their_bounds() {
    let mut random = Random(5);
    let (mut least, mut taken) = (0, 0);
    for _ in 0..60 {
        let loads = 1 + random.below(9);
        let computed = loads + random.below(24);
        let body = dataflow(&mut random, loads, computed);
        let stats = check(&around(&body), 1..=7);
        least += stats.bound;
        taken += stats.bundles;
    }
    assert!(taken * 100 <= least * 105, "{taken} bundles where {least} are the bound");
}
