//! Every sequence of builder calls creates a kernel, or an error. The text of a valid kernel parses to the same kernel.
//! The kernel compiles to code with the evaluator's results, or the compiler rejects it.
#![no_main]

use halfbyte::Module;
use halfbyte::ir::builder::{Builder, Index};
use halfbyte::ir::{
    Attr, AttrKind, Block, Direction, FlagKind, FloatCC, FloatFlags, IntCC, LaneMap, Op, Type, Value, text, verify,
};
use halfbyte_fuzz::kernels::agree;
use libfuzzer_sys::fuzz_target;

/// Maximum number of builder calls.
const MOST: usize = 40;

/// The input bytes, which determine the choices of the test. After the end of the input, every byte is 0.
struct Bytes<'d>(&'d [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first.into()
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        let at = self.next();
        all.get(at % all.len().max(1)).copied()
    }

    fn types(&mut self, most: usize) -> Vec<Type> {
        (0..self.next() % (most + 1)).filter_map(|_| self.of(Type::ALL)).collect()
    }
}

/// Returns a value of the type `ty`, or `None` if there is no such value. Occasionally returns a
/// value of any type.
fn value(bytes: &mut Bytes<'_>, b: &Builder, values: &[Value], ty: Option<Type>) -> Option<Value> {
    let at = bytes.next();
    let fitting: Vec<Value> = values.iter().copied().filter(|&v| ty.is_none_or(|ty| b.kernel().ty(v) == ty)).collect();
    match at {
        _ if fitting.is_empty() => bytes.of(values),
        250.. => bytes.of(values),
        at => fitting.iter().rev().nth(at % fitting.len()).copied(),
    }
}

fn arguments(bytes: &mut Bytes<'_>, b: &Builder, values: &[Value], block: Block) -> Vec<Value> {
    let types: Vec<Type> = b.params(block).iter().map(|&param| b.kernel().ty(param)).collect();
    types.into_iter().filter_map(|ty| value(bytes, b, values, Some(ty))).collect()
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Bytes(data);
    let mut b = Builder::new("k");
    let mut values = Vec::new();
    for number in 0..1 + bytes.next() % 4 {
        let ty = bytes.of(Type::ALL).unwrap_or(Type::I32);
        let direction = [Direction::In, Direction::Out, Direction::InOut][bytes.next() % 3];
        values.push(match bytes.next() % 3 {
            0 => b.scalar(&format!("s{number}"), ty),
            _ => b.buffer(&format!("b{number}"), direction, ty),
        });
        if bytes.next() % 4 == 0 {
            b.may_alias();
        }
    }
    let entry = b.block("entry", &[]);
    let mut blocks = vec![entry];
    for number in 0..bytes.next() % 4 {
        let types = bytes.types(2);
        blocks.push(b.block(&format!("b{number}"), &types));
    }
    b.go_to(entry);
    values.push(b.here(Op::ItemId));
    for _ in 0..MOST {
        if bytes.0.is_empty() {
            break;
        }
        let (Some(ty), Some(block)) = (bytes.of(Type::ALL), bytes.of(&blocks)) else { break };
        match bytes.next() % 16 {
            0 => {
                b.go_to(block);
                values.extend_from_slice(b.params(block));
            }
            1 => {
                let args = arguments(&mut bytes, &b, &values, block);
                b.br(block, &args);
            }
            2 => {
                let args = arguments(&mut bytes, &b, &values, block);
                let Some(other) = bytes.of(&blocks) else { break };
                let others = arguments(&mut bytes, &b, &values, other);
                let Some(condition) = value(&mut bytes, &b, &values, Some(Type::I1)) else { break };
                b.br_if(condition, (block, &args), (other, &others));
            }
            3 => {
                let args = arguments(&mut bytes, &b, &values, block);
                let Some(on) = value(&mut bytes, &b, &values, Some(Type::I32)) else { break };
                b.switch(on, (block, &args), &[(bytes.next() as u32, block, &args)]);
            }
            4 => _ = b.ret(),
            5 | 6 => {
                let lanes: Vec<u64> = (0..1 + bytes.next() % 17).map(|_| bytes.next() as u64 * 0x101).collect();
                values.push(b.constant(ty, &lanes));
            }
            7 | 8 => {
                let Some(base) = value(&mut bytes, &b, &values, Some(Type::PTR)) else { break };
                let index = value(&mut bytes, &b, &values, Some(Type::I32)).filter(|_| bytes.next() % 4 != 0);
                let index = Index { value: index, steps: bytes.next() as i32 - 128 };
                values.push(b.load(ty, base, index));
            }
            9 | 10 => {
                let Some(base) = value(&mut bytes, &b, &values, Some(Type::PTR)) else { break };
                let Some(stored) = value(&mut bytes, &b, &values, None) else { break };
                let Some(item) = value(&mut bytes, &b, &values, Some(Type::I32)) else { break };
                b.store(b.kernel().ty(stored), stored, base, item);
            }
            _ => {
                let Some(op) = bytes.of(Op::ALL) else { break };
                let row = op.row();
                if op.is_terminator() {
                    continue;
                }
                let types: Vec<Type> =
                    Type::ALL.iter().copied().filter(|&ty| row.types.is_none_or(|set| set.contains(ty))).collect();
                let ty = bytes.of(&types).unwrap_or(ty);
                let args: Vec<Value> = (0..row.args.len())
                    .filter_map(|number| {
                        let of = match row.arg(number) {
                            Some(halfbyte::ir::op::ArgType::Same) => Some(ty),
                            Some(halfbyte::ir::op::ArgType::Mask) => ty.mask_type(),
                            Some(halfbyte::ir::op::ArgType::Lane) => Some(ty.lane_type()),
                            Some(halfbyte::ir::op::ArgType::Exactly(ty)) => Some(ty),
                            _ => None,
                        };
                        value(&mut bytes, &b, &values, of)
                    })
                    .collect();
                let attr = match row.attr {
                    AttrKind::Float(_) => {
                        let mut flags = FloatFlags::default();
                        for kind in FlagKind::ALL {
                            if bytes.next() % 4 == 0
                                && row.flags(ty).contains(kind)
                                && let Some(word) = bytes.of(kind.words())
                            {
                                flags.set(word);
                            }
                        }
                        Attr::Float(flags)
                    }
                    AttrKind::IntCC => Attr::IntCC(bytes.of(IntCC::ALL).unwrap_or(IntCC::Eq)),
                    AttrKind::FloatCC => {
                        Attr::FloatCC { cc: bytes.of(FloatCC::ALL).unwrap_or(FloatCC::Nan), ftz: bytes.next() % 2 == 0 }
                    }
                    AttrKind::Lane => Attr::Lane(bytes.next() as u8 % 17),
                    AttrKind::Lanes => {
                        let lanes: Vec<u8> = (0..ty.lanes()).map(|_| bytes.next() as u8 % 33).collect();
                        Attr::Lanes(LaneMap::new(&lanes))
                    }
                    AttrKind::None => Attr::None,
                    _ => continue,
                };
                let inst = b.inst(op, ty, attr, &args);
                values.extend(b.kernel().result(inst));
            }
        }
    }
    b.ret();
    let kernel = b.finish();
    if verify(&kernel).is_ok() {
        let printed = kernel.to_string();
        let module = match text::read(&printed) {
            Ok(module) => module,
            // The verifier accepts a store to an `in` buffer, because passes may create the store.
            // The parser rejects the store.
            Err(errors) if errors.iter().all(|error| error.message.starts_with("cannot store into")) => return,
            Err(errors) => panic!("{errors:?}\n{printed}"),
        };
        assert_eq!(text::print(&module), printed);
        if let Ok(module) = Module::parse(&printed) {
            agree(&module);
        }
    }
});
