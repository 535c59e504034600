//! Kernels for tests: one with the example of an op, or one with an op on any of its types.

use halfbyte_ir::builder::Builder;
use halfbyte_ir::op::ArgType;
use halfbyte_ir::{
    AtomicAttr, Attr, AttrKind, Direction, FenceAttr, FloatCC, FloatFlags, IntCC, Kernel, MemAttr, Op, Scope, Type,
    Value,
};

/// Returns the valid types of operand `number` of `count` operands.
fn operand_types(op: Op, ty: Type, number: usize, count: usize) -> Vec<Type> {
    let row = op.row();
    match row.arg(number) {
        None => vec![Type::I8X4],
        Some(ArgType::Same) => vec![ty],
        Some(ArgType::Mask) => vec![ty.mask_type().unwrap()],
        Some(ArgType::Condition) => vec![Type::I1, ty.mask_type().unwrap()],
        Some(ArgType::Lane) => vec![ty.lane_type()],
        Some(ArgType::Exactly(ty)) => vec![ty],
        Some(ArgType::Converted) => {
            let convert = row.convert.unwrap();
            let fits =
                |from: &Type| convert(*from, ty) && (op != Op::Concat || from.bits() * count as u32 == ty.bits());
            Type::ALL.iter().copied().filter(fits).collect()
        }
    }
}

/// Returns the text of a kernel that contains the example of an op and defines its operands.
pub fn example_kernel(op: Op) -> String {
    let row = op.row();
    let (_, statement) = row.example.split_once("= ").unwrap_or(("", row.example));
    let (mnemonic, operands) = statement.split_once(' ').unwrap_or((statement, ""));
    assert!(mnemonic == row.name || mnemonic.starts_with(&format!("{}.", row.name)), "{}", row.example);
    let ty = mnemonic.split('.').find_map(Type::from_name).unwrap_or(Type::I32);

    let mut uses: Vec<&str> = Vec::new();
    let mut passed: Vec<&str> = Vec::new();
    let mut blocks: Vec<(&str, usize)> = Vec::new();
    let unquoted: String = operands.split('"').step_by(2).collect();
    let mut in_call = false;
    let mut rest = unquoted.as_str();
    while let Some(at) = rest.find(['%', '^', '(', ')']) {
        let (sigil, after) = rest[at..].split_at(1);
        let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
        match (sigil, in_call) {
            ("%", true) => {
                passed.push(&after[..end]);
                blocks.last_mut().unwrap().1 += 1;
            }
            ("%", false) => uses.push(&after[..end]),
            ("^", _) => blocks.push((&after[..end], 0)),
            _ => in_call = sigil == "(",
        }
        rest = after;
    }

    let mut params: Vec<(&str, Type)> = Vec::new();
    for (number, name) in uses.iter().enumerate() {
        let ty = operand_types(op, ty, number, uses.len()).into_iter().max_by_key(|ty| ty.bits()).unwrap();
        params.push((name, ty));
    }
    for name in passed {
        if !params.iter().any(|&(other, _)| other == name) {
            params.push((name, Type::I32));
        }
    }
    let params: Vec<String> = params
        .into_iter()
        .map(|(name, ty)| if ty == Type::PTR { format!("%{name}: inout i32") } else { format!("%{name}: {ty}") })
        .collect();
    let mut text = format!("kernel @k({}) {{\n^entry:\n  {}\n", params.join(", "), row.example);
    if !op.is_terminator() {
        text += "  ret\n";
    }
    for (name, count) in blocks {
        let params: Vec<String> = (0..count).map(|i| format!("%{name}_{i}: i32")).collect();
        let params = if count == 0 { String::new() } else { format!("({})", params.join(", ")) };
        text += &format!("^{name}{params}:\n  ret\n");
    }
    text + "}\n"
}

/// Returns kernels with one instruction of an op on a controlling type, one kernel per valid operand type.
pub fn op_kernels(op: Op, ty: Type) -> Vec<Kernel> {
    let row = op.row();
    let counts: Vec<usize> = match op {
        Op::Concat => vec![2, 4],
        Op::Intrinsic => vec![0, 3],
        _ => row.arity().collect(),
    };
    let mut kernels = Vec::new();
    for count in counts {
        let variants = (0..count).map(|number| operand_types(op, ty, number, count).len()).max().unwrap_or(1);
        for variant in 0..variants {
            let mut b = Builder::new("k");
            let args: Vec<Value> = (0..count)
                .map(|number| {
                    let types = operand_types(op, ty, number, count);
                    match types[variant % types.len()] {
                        Type::PTR if op == Op::Select || op == Op::Bitcast || op == Op::Concat || op == Op::Split => {
                            b.buffer(&format!("p{number}"), Direction::InOut, Type::I8)
                        }
                        Type::PTR => b.buffer_aligned(&format!("p{number}"), Direction::InOut, Type::I16, 4),
                        ty => b.scalar(&format!("a{number}"), ty),
                    }
                })
                .collect();
            b.begin("entry", &[]);
            let attr = match row.attr {
                AttrKind::None => Attr::None,
                AttrKind::Float(_) => Attr::Float(FloatFlags::default()),
                AttrKind::IntCC => Attr::IntCC(IntCC::GeU),
                AttrKind::FloatCC => Attr::FloatCC { cc: FloatCC::Nan, ftz: false },
                AttrKind::Lane => Attr::Lane(1),
                AttrKind::Axis => Attr::Axis(halfbyte_ir::Axis::Y),
                AttrKind::Lanes => Attr::Lanes(halfbyte_ir::LaneMap::new(&[1; 16])),
                AttrKind::Const => {
                    b.constant(ty, &(0..16).map(|lane| 0x7f01 * lane).collect::<Vec<u64>>());
                    b.constant(ty, &[1]);
                    b.ret();
                    kernels.push(b.finish());
                    continue;
                }
                AttrKind::Mem => {
                    let base = args[row.args.len() - 1];
                    let index = args.get(row.args.len()).copied();
                    for steps in [0, 3, -3] {
                        let index = halfbyte_ir::builder::Index { value: index, steps };
                        match op {
                            Op::Load => drop(b.load(ty, base, index)),
                            _ => drop(b.store(ty, args[0], base, index)),
                        }
                    }
                    b.ret();
                    kernels.push(b.finish());
                    continue;
                }
                AttrKind::Atomic => {
                    let mem = |b: &Builder| MemAttr {
                        align: ty.bytes(),
                        ..b.kernel().default_mem(args[row.args.len() - 1], ty)
                    };
                    for (&order, &scope) in op.orders().iter().zip(Scope::ALL.iter().cycle()) {
                        let mem = MemAttr { offset: 4 * ty.bytes() as i32, scale: ty.bytes(), ..mem(&b) };
                        let inst = b.inst(op, ty, Attr::Atomic(AtomicAttr { mem, order, scope }), &args);
                        if let Some(old) = b.kernel().result(inst) {
                            b.name(old, &format!("old_{order}"));
                        }
                    }
                    b.ret();
                    kernels.push(b.finish());
                    continue;
                }
                AttrKind::Fence => {
                    for (&order, &scope) in op.orders().iter().zip(Scope::ALL.iter().cycle()) {
                        b.inst(op, ty, Attr::Fence(FenceAttr { order, scope }), &args);
                    }
                    b.ret();
                    kernels.push(b.finish());
                    continue;
                }
                AttrKind::Barrier => {
                    b.inst(op, ty, Attr::Aligned(true), &args);
                    Attr::Aligned(false)
                }
                AttrKind::Intrinsic => {
                    b.intrinsic(ty, "halu", r#"a "quoted\" $0"#, &args);
                    b.ret();
                    kernels.push(b.finish());
                    continue;
                }
                AttrKind::Targets => {
                    let next = b.block("next", &[]);
                    match op {
                        Op::Br => b.br(next, &[]),
                        Op::BrIf => b.br_if(args[0], (next, &[]), (next, &[])),
                        _ => b.switch(args[0], (next, &[]), &[(7, next, &[]), (u32::MAX, next, &[])]),
                    };
                    b.go_to(next);
                    b.ret();
                    kernels.push(b.finish());
                    continue;
                }
            };
            b.inst(op, ty, attr, &args);
            if !op.is_terminator() {
                b.ret();
            }
            kernels.push(b.finish());
        }
    }
    kernels
}
