//! Tests of native code for groups of a fixed size. The results, statistics and traps of the native
//! code must be those of the interpreter.

use std::time::{Duration, Instant};

use halfbyte::abi::{Exceeded, Limits, Sm, Watchdog};
use halfbyte::runtime::{Arg, Engine, Kernel, Launch, Stats};
use halfbyte::{Module, Shape, Target};

/// The direction in which a kernel uses a buffer.
#[derive(Clone, Copy)]
enum Use {
    In,
    Out,
}

/// A kernel and its launches.
struct Case {
    text: &'static str,
    scalars: &'static [u32],
    /// Direction and size in bytes of each buffer.
    buffers: &'static [(Use, usize)],
    shapes: &'static [([u32; 3], [u32; 3])],
    /// `true` if the native engine generates code for groups of the size in the last shape.
    is_made: bool,
}

use Use::{In, Out};

/// The statistics of a launch or the message of its trap, and the contents of the buffers.
type Outcome = (Result<Stats, String>, Vec<Vec<u8>>);

/// Returns `true` if this computer supports native code for groups of a fixed size.
fn is_supported() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::env::var_os("HALFBYTE_ROWS").is_none()
        && std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512vl");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Number of guard bytes before and after each buffer. The test asserts that the kernel does not change them.
const AROUND: usize = 40;

fn launch(kernel: &Kernel, case: &Case, shape: Shape, engine: Engine, start: usize, budget: u64) -> Outcome {
    let fill = |number: usize, bytes: usize| {
        let word = |k: usize| ((k + 31 * number) as u32).wrapping_mul(0x9E37_79B9).rotate_left(7) as u8;
        (0..AROUND + bytes + AROUND).map(word).collect::<Vec<u8>>()
    };
    let mut all: Vec<Vec<u8>> = case.buffers.iter().enumerate().map(|(k, &(_, bytes))| fill(k, bytes)).collect();
    let mut args: Vec<Arg<'_>> = case.scalars.iter().map(|&scalar| Arg::Scalar(scalar.into())).collect();
    for (buffer, &(of, bytes)) in all.iter_mut().zip(case.buffers) {
        let place = &mut buffer[start..start + bytes];
        args.push(match of {
            In => Arg::In(place),
            Out => Arg::Buffer(place),
        });
    }
    let done = kernel.launch(Launch { engine, budget, ..Launch::new(shape, &mut args) });
    let done = done.map_err(|error| error.to_string());
    // The contents of the buffers after a trap are undefined.
    let left = if done.is_ok() { all } else { Vec::new() };
    (done, left)
}

fn check(case: &Case) {
    for target in [halfbyte::HALU, halfbyte::ptx(Sm::DEFAULT)] {
        on(case, target);
    }
}

fn on(case: &Case, target: Target) {
    let module = Module::parse(case.text).unwrap();
    let binary = module.compile(target).unwrap();
    let program = halfbyte::TARGETS.load(&binary.object).unwrap();
    let kernel = &program.kernels()[0];
    let functions = |kernel: &Kernel| kernel.translation().map_or(0, |translation| translation.functions);
    for &shape in case.shapes {
        let shape = Shape::from(shape);
        for budget in [u64::MAX, 3] {
            for start in [0, 3, 8] {
                let expected = launch(kernel, case, shape, Engine::Interp, start, budget);
                for threads in [1, 4] {
                    let engine = Engine::Jit { threads: threads.try_into().unwrap() };
                    let found = launch(kernel, case, shape, engine, start, budget);
                    assert_eq!(found, expected, "{shape}, from byte {start} on, {threads} threads\n{}", case.text);
                }
            }
        }
    }
    // A build with debug assertions generates the code at the first launch, other builds at a later one.
    if cfg!(debug_assertions) && is_supported() {
        let fresh = halfbyte::TARGETS.load(&binary.object).unwrap();
        let kernel = &fresh.kernels()[0];
        let &last = case.shapes.last().unwrap();
        let _ = launch(kernel, case, Shape::from(last), Engine::JIT, 0, u64::MAX);
        let made = functions(kernel);
        let other = Shape::from(([1, 1, 1], [7, 1, 1]));
        let _ = launch(kernel, case, other, Engine::JIT, 0, u64::MAX);
        assert_eq!(functions(kernel) > made, case.is_made, "{}", case.text);
    }
}

const LINES: &[([u32; 3], [u32; 3])] = &[([1, 1, 1], [1, 1, 1]), ([2, 1, 1], [33, 1, 1]), ([5, 1, 1], [64, 1, 1])];

#[test]
fn elements_of_any_width_side_by_side() {
    for (ty, bytes) in [("i8", 1), ("i16", 2), ("i32", 4), ("i64", 8), ("i8x16", 16), ("f16x2", 4)] {
        let text = format!(
            "kernel copy(x: in {ty}, y: out {ty}) {{
               shared tile: {ty}[64]
               let (l, i) = (local_id(), item_id())
               tile[l] = x[i]
               barrier()
               y[i] = tile[group_size() - 1 - l]
             }}"
        );
        let buffers = vec![(In, 320 * bytes), (Out, 320 * bytes)];
        let (text, buffers) = (&*Box::leak(text.into()), &*Box::leak(buffers.into_boxed_slice()));
        check(&Case { text, scalars: &[], buffers, shapes: LINES, is_made: true });
    }
}

#[test]
fn loops_of_known_length_and_of_others() {
    check(&Case {
        text: "kernel sums(n: i32, x: in i32, y: out i32) {
                 shared tile: i32[64]
                 let (l, i) = (local_id(), item_id())
                 var (k, sum) = (0, 0)
                 while k <_u n {
                   tile[l] = x[i + k]
                   barrier()
                   var j = 0
                   do {
                     sum = sum * 3 + tile[(l + j) & 31]
                     j += 1
                   } while j <_u 4
                   barrier()
                   k += 1
                 }
                 y[i] = sum
               }",
        scalars: &[5],
        buffers: &[(In, 1600), (Out, 1280)],
        shapes: &[([1, 1, 1], [32, 1, 1]), ([5, 1, 1], [64, 1, 1])],
        is_made: true,
    });
}

#[test]
fn pointers_that_a_loop_moves_on() {
    check(&Case {
        text: "kernel rows(n: i32, x: in f32, y: out f32) {
                 shared tile: f32[256]
                 let (u, v) = (local_id.x(), local_id.y())
                 var (k, at, sum) = (0, v * n + u, 0f32)
                 do {
                   tile[v * 16 + u] = x[at]
                   barrier()
                   sum = ffma(tile[v * 16], tile[u], sum)
                   barrier()
                   k += 16
                   at += 16
                 } while k <_u n
                 y[item_id.y() * group_count.x() * 16 + item_id.x()] = sum
               }",
        scalars: &[48],
        buffers: &[(In, 4 * 48 * 16), (Out, 4 * 2048)],
        shapes: &[([1, 1, 1], [16, 2, 1]), ([2, 3, 1], [16, 16, 1])],
        is_made: true,
    });
}

/// With a fixed group size, the indices of a group along the axes still depend on the number of groups.
#[test]
fn one_size_in_grids_of_any() {
    check(&Case {
        text: "kernel place(y: out i32) {
                 shared tile: i32[16]
                 tile[local_id()] = item_id()
                 barrier()
                 y[item_id()] = tile[local_id() ^ 1] * 256 + group_id()
               }",
        scalars: &[],
        buffers: &[(Out, 4 * 64)],
        shapes: &[
            ([1, 1, 1], [4, 2, 1]),
            ([2, 1, 1], [4, 2, 1]),
            ([1, 2, 1], [4, 2, 1]),
            ([2, 2, 2], [4, 2, 1]),
            ([3, 1, 2], [4, 2, 1]),
        ],
        is_made: true,
    });
}

#[test]
fn items_that_diverge_by_where_they_are() {
    check(&Case {
        text: "kernel tree(x: in i32, y: out i32) {
                 shared tile: i32[64]
                 let l = local_id()
                 tile[l] = x[item_id()]
                 barrier()
                 var s = 32
                 while s != 0 {
                   if l <_u s && l + s <_u group_size() { tile[l] += tile[l + s] } else if (l & 1) != 0 { tile[l] ^= 5 }
                   barrier()
                   s = s >>_u 1
                 }
                 if l == 0 { y[group_id()] = tile[0] }
               }",
        scalars: &[],
        buffers: &[(In, 1280), (Out, 20)],
        shapes: LINES,
        is_made: true,
    });
}

#[test]
fn items_that_data_part() {
    check(&Case {
        text: "kernel some(x: in i32, y: out i32) {
                 shared tile: i32[64]
                 let (l, v) = (local_id(), x[item_id()])
                 tile[l] = v
                 barrier()
                 var r = tile[0]
                 if (v & 1) != 0 { r = r * 7 + 1 } else { r -= v }
                 y[item_id()] = r
               }",
        scalars: &[],
        buffers: &[(In, 1280), (Out, 1280)],
        shapes: LINES,
        is_made: true,
    });
}

#[test]
fn subgroups_and_what_they_say() {
    check(&Case {
        text: "kernel say(x: in i32, y: out i32) {
                 let v = x[item_id()]
                 let up = subgroup_shuffle_up(v, 3, 0, -1)
                 let by = subgroup_shuffle_xor(v, 1, 31, -1)
                 let odd = ballot((v & 1) != 0, -1)
                 let any = if vote_any(v == 7, -1) { 9 } else { 2 }
                 let least = subgroup_reduce_min_s(v, -1)
                 let sum = subgroup_reduce_add(v, -1)
                 y[item_id()] = up ^ by * 3 ^ odd ^ any ^ least * 5 ^ sum
               }",
        scalars: &[],
        buffers: &[(In, 1280), (Out, 1280)],
        shapes: &[([2, 1, 1], [32, 1, 1]), ([2, 1, 1], [96, 1, 1])],
        is_made: true,
    });
}

#[test]
fn what_lies_outside_is_the_trap_of_its_item() {
    let text = "kernel out_of(n: i32, x: in i32, y: out i32) {
                  shared tile: i32[64]
                  let (l, i) = (local_id(), item_id())
                  tile[l] = i
                  barrier()
                  let j = tile[(l + 1) & 31]
                  y[i] = x[j * n]
                }";
    for n in [1, 2, 3, u32::MAX] {
        let scalars = &*Box::leak(vec![n].into_boxed_slice());
        check(&Case { text, scalars, buffers: &[(In, 640), (Out, 640)], shapes: LINES, is_made: true });
    }
    check(&Case {
        text: "kernel beyond(n: i32, y: out i32) {
                 shared tile: i32[40]
                 tile[local_id() + n] = 1
                 barrier()
                 y[item_id()] = tile[local_id()]
               }",
        scalars: &[6],
        buffers: &[(Out, 1280)],
        shapes: LINES,
        is_made: true,
    });
}

/// A load traps even if its result is unused, and a store traps even if its value is never loaded.
#[test]
fn unused_loads_and_stores_trap() {
    for n in [1, 2, 9] {
        let scalars = &*Box::leak(vec![n].into_boxed_slice());
        for text in [
            "kernel unused(n: i32, x: in i32, y: out i32) {
               barrier()
               let _ = x[item_id() * n]
               y[item_id()] = 1
             }",
            "kernel unread(n: i32, x: in i32, y: out i32) {
               shared tile: i32[128]
               barrier()
               tile[local_id() * n] = 1
               let _ = tile[n * 64]
               y[item_id()] = x[0]
             }",
        ] {
            check(&Case { text, scalars, buffers: &[(In, 1280), (Out, 1280)], shapes: LINES, is_made: true });
        }
    }
}

/// A group in a long loop polls the limits at intervals.
#[test]
fn long_loops_heed_limits() {
    let text = "kernel spin(n: i32, y: out i32) {
                  shared tile: i32[32]
                  let l = local_id()
                  var (k, s) = (0, 0)
                  while k <_u n {
                    tile[l] = s + k
                    barrier()
                    s += tile[l ^ 1]
                    barrier()
                    k += 1
                  }
                  y[item_id()] = s
                }";
    check(&Case { text, scalars: &[1000], buffers: &[(Out, 1280)], shapes: &[([2, 1, 1], [32, 1, 1])], is_made: true });
    let module = Module::parse(text).unwrap();
    let program = halfbyte::TARGETS.load(&module.compile(halfbyte::HALU).unwrap().object).unwrap();
    let work = Limits { work: 10_000_000, ..Limits::NONE };
    let time = Limits { time: Some(Duration::from_millis(30)), ..Limits::NONE };
    for (limits, expected) in
        [(work, Exceeded::Work { limit: 10_000_000 }), (time, Exceeded::Time { limit: Duration::from_millis(30) })]
    {
        let watchdog = Watchdog::new(limits);
        let mut y = vec![0; 256];
        let mut args = [Arg::Scalar(u32::MAX.into()), Arg::Buffer(&mut y)];
        let watched = Launch { engine: Engine::JIT, watchdog: Some(&watchdog), ..Launch::new(64, &mut args) };
        let shape = Shape::from(([2, 1, 1], [32, 1, 1]));
        let begun = Instant::now();
        let error = program.kernels()[0].launch(Launch { shape, budget: u64::MAX, ..watched }).unwrap_err();
        assert!(error.to_string().contains(&expected.to_string()), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
}

/// The engine may execute a group again after a part of its code, so this code must not load memory
/// that it has already stored to.
#[test]
fn buffers_that_are_read_and_written() {
    check(&Case {
        text: "kernel both(x: inout i32) {
                 shared tile: i32[64]
                 let (l, i) = (local_id(), item_id())
                 tile[l] = x[i]
                 barrier()
                 x[i] = tile[l ^ 1] + 1
               }",
        scalars: &[],
        buffers: &[(Out, 1280)],
        shapes: &[([5, 1, 1], [64, 1, 1])],
        is_made: false,
    });
}

#[test]
fn arithmetic_that_functions_do() {
    check(&Case {
        text: "kernel halves(x: in f16x2, y: out f16x2) {
                 shared tile: f16x2[64]
                 let (l, i) = (local_id(), item_id())
                 tile[l] = x[i]
                 barrier()
                 let (a, b) = (tile[l], tile[(l + 5) & 31])
                 y[i] = ffma(a, b, a) + a * b
               }",
        scalars: &[],
        buffers: &[(In, 1280), (Out, 1280)],
        shapes: LINES,
        is_made: true,
    });
}
