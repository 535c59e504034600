//! Tests of the text of stream declarations in packed kernels.

use halfbyte_ir::builder::Builder;
use halfbyte_ir::{
    Affine, AffineVariable, Diagnostics, Direction, Kernel, Module, Op, Packing, ParamKind, Span, Step, Stream,
    TripCount, Type, text, verify,
};
use proptest::prelude::*;

fn read(source: &str) -> Kernel {
    match text::read(source) {
        Ok(mut module) => module.kernels.remove(0),
        Err(list) => panic!("{}", Diagnostics { file: "text", source, list: &list }),
    }
}

const ALL: &str = "\
kernel @all(%x: in i8x4, %w: i32, %h: i32, %y: inout i8x4) groups 4 {
  stream %a: in i8x16 of %x, 4 bytes at 4 * item - 4 * %w + 8 * item_count - 16 offset -8
  stream %b: in i8x4 of %x, 4 bytes align 1 at 4 * item, loop 0 trips signed -1 * %h - 1 at_least 1 by 4 * %w - 4
  stream %c: in i32 of %x, 1 byte at 0, loop 0 trips signed -1 * %h - 1 at_least 1, loop 7 trips 4294967295 by -4, guard %m
  stream %d: uniform in i8 of %x, 1 byte at 12
  stream %m: out i32, 4 bytes, loop 0 trips signed -1 * %h - 1 at_least 1, loop 7 trips 4294967295
  stream %e: out i8x16 of %y, 16 bytes align 4 at -16 * item, loop 3 trips unsigned 0
^entry:
  %i = load %a
  %j = load %b
  %k = load %c
  %l = load %d
  store %k, %m
  store %i, %e
  ret
}
";

#[test]
fn every_part_of_a_stream() {
    let kernel = read(ALL);
    assert_eq!(text::print(&Module { kernels: vec![kernel.clone()] }), ALL);
    let Some(Packing { items: 4, streams }) = &kernel.packing else { panic!() };
    let lines: Vec<&str> = ALL.lines().filter(|line| line.starts_with("  stream")).collect();
    for (stream, line) in streams.iter().zip(lines) {
        assert_eq!(&ALL[stream.site.start as usize..stream.site.end as usize], line.trim());
    }
    let nowhere = Span::default();
    let minus = |number: u32| number.wrapping_neg();
    let index = Affine {
        constant: minus(16),
        terms: vec![(AffineVariable::Param(1), minus(4)), (AffineVariable::ItemCount, 8)],
    };
    let (bytes, align, buffer) = (4, 4, Some(0));
    let a = Stream { buffer, bytes, align, scale: 4.into(), index, offset: -8, ..Stream::default() };
    assert_eq!(Stream { site: nowhere, ..streams[0].clone() }, a);
    let count = Affine { constant: minus(1), terms: vec![(AffineVariable::Param(2), minus(1))] };
    let stride = Affine { constant: minus(4), terms: vec![(AffineVariable::Param(1), 4)] };
    let steps = vec![Step { loop_number: 0, trips: TripCount::Of { count, signed: true, at_least: 1 }, stride }];
    let b = Stream { buffer, bytes, align: 1, scale: 4.into(), steps, ..Stream::default() };
    assert_eq!(Stream { site: nowhere, ..streams[1].clone() }, b);
    assert_eq!((streams[2].guard, streams[2].steps[1].trips.clone()), (Some(4), TripCount::Const(u32::MAX)));
    assert_eq!((streams[4].buffer, streams[4].align, streams[4].steps.len()), (None, 1, 2));
    assert_eq!(kernel.launch_params().len(), 4);
    let numbers: Vec<_> = kernel.params.iter().map(|param| kernel.stream(param.value)).collect();
    assert_eq!(numbers[3..], [None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(5)]);
    let kind = ParamKind::Buffer { direction: Direction::Out, elem: Type::I32, align: 16, may_alias: false };
    assert_eq!(kernel.params[8].kind, kind);
}

#[test]
fn parses_equivalent_stream_declarations() {
    let other = ALL
        .replace("4 * item - 4 * %w + 8 * item_count - 16", "8 * item_count + 0xfffffffc * %w + 4 * item + 0xfffffff0")
        .replace("-1 * %h - 1", "-%h - 0x1")
        .replace("1 byte at", "1 bytes align 1 at")
        .replace("align 1 at", "align 0x1 at");
    let mut canonical = read(&other);
    canonical.packing.as_mut().unwrap().streams[0].index.terms.reverse();
    assert_eq!(canonical.to_string(), ALL);
}

#[test]
fn a_kernel_of_no_stream() {
    for items in [1, 4, 16] {
        let source = format!("kernel @k(%a: i32) groups {items} {{\n^e:\n  ret\n}}\n");
        let kernel = read(&source);
        assert_eq!(kernel.packing, Some(Packing { items, streams: Vec::new() }));
        assert_eq!(kernel.to_string(), source);
    }
}

fn affine() -> impl Strategy<Value = Affine> {
    let number = prop_oneof![any::<u32>(), 0..9u32, (0..9u32).prop_map(u32::wrapping_neg)];
    let factors = prop::sample::subsequence(
        vec![AffineVariable::Param(1), AffineVariable::Param(2), AffineVariable::ItemCount],
        0..=3,
    );
    let terms = factors.prop_shuffle().prop_flat_map(|factors| {
        let by = prop::collection::vec(prop_oneof![1..=u32::MAX, 1..9u32], factors.len());
        by.prop_map(move |by| factors.iter().copied().zip(by).collect())
    });
    (number, terms).prop_map(|(constant, terms)| Affine { constant, terms })
}

fn step() -> impl Strategy<Value = Step> {
    let trips = prop_oneof![
        any::<u32>().prop_map(TripCount::Const),
        (affine(), any::<bool>(), 0..2u32).prop_map(|(count, signed, at_least)| TripCount::Of {
            count,
            signed,
            at_least
        }),
    ];
    (trips, affine()).prop_map(|(trips, stride)| Step { loop_number: 0, trips, stride })
}

/// Returns a strategy for streams of a buffer. Each stream has its own loops.
fn stream() -> impl Strategy<Value = Stream> {
    let size = prop::sample::select(vec![1, 2, 4, 8, 16]);
    let align = prop::sample::select(vec![1, 2, 4, 16, 4096]);
    let place = (affine(), affine(), any::<i32>(), prop::collection::vec(step(), 0..3));
    (size, align, any::<bool>(), place, prop::sample::select(vec![0, 3])).prop_map(
        |(bytes, align, uniform, (scale, index, offset, steps), buffer)| {
            let scale = if uniform { Affine::default() } else { scale };
            Stream { buffer: Some(buffer), bytes, align, uniform, scale, index, offset, steps, ..Stream::default() }
        },
    )
}

/// Builds a kernel that accesses the given streams. Each guarded stream has its own guard.
fn kernel(items: u32, streams: Vec<(Stream, bool, bool)>) -> Kernel {
    let mut b = Builder::new("k");
    b.buffer("x", Direction::In, Type::I8);
    b.scalar("w", Type::I32);
    b.scalar("h", Type::I32);
    b.buffer("y", Direction::InOut, Type::I8);
    let mut packing = Packing { items, streams: Vec::new() };
    let mut accesses = Vec::new();
    let mut add = |b: &mut Builder, stream: Stream, written| {
        let direction = if written { Direction::Out } else { Direction::In };
        let name = format!("s{}", packing.streams.len());
        accesses.push((b.buffer_aligned(&name, direction, Type::I8, 16), written));
        packing.streams.push(stream);
        packing.streams.len() as u32
    };
    for (number, (mut stream, written, guarded)) in streams.into_iter().enumerate() {
        for (depth, step) in stream.steps.iter_mut().enumerate() {
            step.loop_number = 3 * number as u32 + depth as u32;
        }
        if guarded {
            let steps = stream.steps.iter().map(|step| Step { stride: Affine::default(), ..step.clone() }).collect();
            let guard = Stream { bytes: 4, align: 1, uniform: stream.uniform, steps, ..Stream::default() };
            stream.guard = Some(add(&mut b, guard, true) - 1);
        }
        add(&mut b, stream, written);
    }
    b.begin("entry", &[]);
    let value = b.int(Type::I8, 1);
    for (stream, written) in accesses {
        if written {
            b.store(Type::I8, value, stream, 0);
        } else {
            b.load(Type::I8, stream, 0);
        }
    }
    b.here(Op::ItemCount);
    b.ret();
    let mut kernel = b.finish();
    kernel.packing = Some(packing);
    kernel
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(
        items in prop::sample::select(vec![1, 4, 16]),
        streams in prop::collection::vec((stream(), any::<bool>(), any::<bool>()), 0..6),
    ) {
        let built = kernel(items, streams);
        prop_assert!(verify(&built).is_ok(), "{built}{:?}", verify(&built));
        let printed = built.to_string();
        let mut again = read(&printed);
        prop_assert_eq!(again.to_string(), printed);
        again.packing.as_mut().unwrap().streams.iter_mut().for_each(|stream| stream.site = Span::default());
        prop_assert_eq!(&again.packing, &built.packing);
        let kinds = |kernel: &Kernel| kernel.params.iter().map(|param| param.kind).collect::<Vec<_>>();
        prop_assert_eq!(kinds(&again), kinds(&built));
    }
}
