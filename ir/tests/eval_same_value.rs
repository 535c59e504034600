//! Tests of same-value races, in which work items store the same value by the same instruction. The
//! evaluator is compared with the definition of races on random kernels.

use halfbyte_abi::cooperative::RaceCheck;
use halfbyte_ir::eval::{Arg, Evaluated, Fault, Launch, Prepared};
use halfbyte_ir::witness::Random;
use halfbyte_ir::{Kernel, text};

const ITEMS: u32 = 4;

/// An access to the only word of a buffer, by the items in a mask.
#[derive(Clone, Copy, Debug)]
struct Access {
    items: u32,
    /// For a store, the items that store 1 instead of 0.
    ones: Option<u32>,
}

/// Returns a kernel that executes the accesses twice.
fn kernel(accesses: &[Access], is_cooperative: bool) -> Kernel {
    let mut source = String::from(
        "kernel @k(%y: inout i32) {\n^entry:\n  %i = item_id\n  %zero = const.i32 0\n  %one = const.i32 1\n  \
         %twice = const.i32 2\n  br ^loop(%zero)\n^loop(%n: i32):\n",
    );
    for (number, Access { items, ones }) in accesses.iter().enumerate() {
        let bit = |mask: u32, name: &str| {
            format!(
                "  %m{name} = const.i32 {mask}\n  %s{name} = shr_u.i32 %m{name}, %i\n  %{name} = and.i32 %s{name}, %one\n"
            )
        };
        let access = match ones {
            Some(ones) => {
                let name = format!("v{number}");
                format!("{}  store %{name}, %y[%zero]\n", bit(*ones, &name))
            }
            None => format!("  %l{number} = load %y[%zero]\n"),
        };
        let name = format!("a{number}");
        source += &bit(*items, &name);
        source +=
            &format!("  %p{number} = icmp.ne.i32 %{name}, %zero\n  br_if %p{number}, ^do{number}, ^next{number}\n");
        source += &format!("^do{number}:\n{access}  br ^next{number}\n^next{number}:\n");
    }
    source += "  %more = add.i32 %n, %one\n  %again = icmp.lt_u.i32 %more, %twice\n  br_if %again, ^loop(%more), ^end\n^end:\n";
    source += if is_cooperative { "  barrier\n  ret\n}\n" } else { "  ret\n}\n" };
    match text::read(&source) {
        Ok(mut module) => module.kernels.remove(0),
        Err(list) => panic!("{source}\n{list:?}"),
    }
}

/// Returns the races by their definition: whether there is an error, and whether there is a same-value race.
fn by_definition(accesses: &[Access]) -> (bool, bool) {
    let (mut error, mut same_value) = (false, false);
    let each = |access: &Access| {
        (0..ITEMS).filter({
            let items = access.items;
            move |item| items >> item & 1 != 0
        })
    };
    for (first, one) in accesses.iter().enumerate() {
        for (second, other) in accesses.iter().enumerate() {
            for (i, j) in each(one).flat_map(|i| each(other).map(move |j| (i, j))).filter(|(i, j)| i != j) {
                match (one.ones, other.ones) {
                    (None, None) => {}
                    (Some(a), Some(b)) if first == second && a >> i & 1 == b >> j & 1 => same_value = true,
                    _ => error = true,
                }
            }
        }
    }
    (error, same_value)
}

fn run(kernel: &Kernel, races: RaceCheck) -> Result<Evaluated, Fault> {
    let mut bytes = [0; 4];
    let launch = Launch { races, ..Launch::new((1, ITEMS)) };
    Prepared::new(kernel).run_watched(&launch, &mut [Arg::Buffer { base: 1 << 40, bytes: &mut bytes }])
}

#[test]
fn same_value_races_are_told_apart_from_errors() {
    let mut random = Random(11);
    let mut counts = [0; 3];
    for _ in 0..1500 {
        let access = |random: &mut Random| {
            let mut mask = || random.below(1 << ITEMS) as u32;
            let (items, some) = (mask(), mask());
            let ones = [0, u32::MAX, u32::MAX, some][random.below(4)];
            Access { items, ones: (random.below(5) != 0).then_some(ones) }
        };
        let length = 1 + random.below(3);
        let accesses: Vec<Access> = (0..length).map(|_| access(&mut random)).collect();
        let (error, same_value) = by_definition(&accesses);
        for is_cooperative in [false, true] {
            let kernel = kernel(&accesses, is_cooperative);
            let shown = format!("{accesses:?}, cooperative: {is_cooperative}");
            match run(&kernel, RaceCheck::On) {
                Ok(evaluated) => {
                    let found = evaluated.same_value_races();
                    assert_eq!((error, same_value), (false, !found.is_empty()), "{shown}");
                    assert!(found.iter().all(|race| race.is_same_value && race.first.item != race.second.item));
                }
                Err(Fault::Race(race)) => assert!(error && !race.is_same_value, "{shown}: {race}"),
                Err(fault) => panic!("{shown}: {fault}"),
            }
            match run(&kernel, RaceCheck::Strict) {
                Ok(evaluated) => {
                    assert!(!error && !same_value && evaluated.same_value_races().is_empty(), "{shown}");
                }
                Err(Fault::Race(race)) => assert!(error || race.is_same_value && same_value, "{shown}: {race}"),
                Err(fault) => panic!("{shown}: {fault}"),
            }
        }
        counts[if error { 2 } else { usize::from(same_value) }] += 1;
    }
    assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
}

#[test]
fn the_message_says_that_the_values_are_equal() {
    let all = Access { items: 3, ones: Some(0) };
    for is_cooperative in [false, true] {
        let kernel = kernel(&[all], is_cooperative);
        let found = run(&kernel, RaceCheck::On).unwrap();
        let text =
            "race: item 1 writes byte 0 of the buffer of parameter 0, which item 0 also writes with the same value";
        assert_eq!(found.same_value_races()[0].to_string(), text);
        assert_eq!(run(&kernel, RaceCheck::Strict).unwrap_err().to_string(), text);
    }
}
