//! Declarations of the IR as ISLE terms, generated from the op table.
//!
//! Op `Fadd` becomes the extractor `(Fadd ty flags a b)` of an instruction: the controlling type, the op's attribute,
//! then its operands. An operand in a pattern matches the instruction that defines its value. [`Terms::Construct`] adds
//! the constructor `(new_Fadd ty flags a b)`, which creates an instruction and returns its result.

use std::fmt::Write;

use halfbyte_ir::op::AttrKind;
use halfbyte_ir::{FloatCC, IntCC, Op, Type};

/// The set of terms to declare.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// Extractors only.
    Match,
    /// Extractors, and constructors of pure ops.
    Construct,
}

/// The attribute of an op in ISLE terms: the kind of attribute, its ISLE type, and the Rust pattern
/// and expression of the attribute.
struct IsleAttribute {
    kind: &'static str,
    isle: Option<&'static str>,
    pattern: &'static str,
    make: &'static str,
}

fn carried(attr: AttrKind) -> Option<IsleAttribute> {
    let (kind, isle, pattern, make) = match attr {
        AttrKind::None => ("plain", None, "Attr::None", "Attr::None"),
        AttrKind::Float(_) => ("float", Some("FloatFlags"), "Attr::Float(x)", "Attr::Float(x)"),
        AttrKind::IntCC => ("intcc", Some("IntCC"), "Attr::IntCC(x)", "Attr::IntCC(*x)"),
        AttrKind::FloatCC => {
            ("floatcc", Some("FloatCond"), "Attr::FloatCC { cc, ftz }", "Attr::FloatCC { cc: x.0, ftz: x.1 }")
        }
        AttrKind::Lane => ("lane", Some("u8"), "Attr::Lane(x)", "Attr::Lane(x)"),
        AttrKind::Lanes => ("lanes", Some("LaneMap"), "Attr::Lanes(x)", "Attr::Lanes(x)"),
        AttrKind::Axis => ("axis", Some("AxisOf"), "Attr::None | Attr::Axis(_)", "x.map_or(Attr::None, Attr::Axis)"),
        AttrKind::Mem => ("mem", Some("MemAttr"), "Attr::Mem(x)", "Attr::Mem(x)"),
        AttrKind::Atomic => ("atomic", Some("AtomicAttr"), "Attr::Atomic(x)", ""),
        AttrKind::Fence => ("fence", Some("FenceAttr"), "Attr::Fence(x)", ""),
        AttrKind::Barrier => ("barrier", Some("Aligned"), "Attr::Aligned(x)", ""),
        AttrKind::Const => ("const", None, "Attr::Bits(_) | Attr::Wide(_)", ""),
        AttrKind::Targets | AttrKind::Intrinsic => return None,
    };
    Some(IsleAttribute { kind, isle, pattern, make })
}

/// Returns the terms of an op, each with its number of operands. Most ops have one term; memory
/// accesses, barriers and `concat` have several.
fn terms_of(op: Op) -> Vec<(String, usize)> {
    let row = op.row();
    let args = row.args.len();
    match op {
        Op::Load | Op::Store => vec![(row.ident.to_string(), args), (format!("{}Indexed", row.ident), args + 1)],
        _ if row.attr == AttrKind::Atomic => {
            vec![(row.ident.to_string(), args), (format!("{}Indexed", row.ident), args + 1)]
        }
        _ if row.optional > 0 => (row.arity())
            .zip(["", "Id", "IdCount"])
            .map(|(args, more)| (format!("{}{more}", row.ident), args))
            .collect(),
        Op::Concat => vec![("Concat2".to_string(), 2), ("Concat4".to_string(), 4)],
        _ => vec![(row.ident.to_string(), args)],
    }
}

/// Returns the attribute of an op, or `None` if `terms` includes no terms of the op.
/// [`Terms::Construct`] includes no terms of atomics, fences and barriers.
fn carried_by(op: Op, terms: Terms) -> Option<IsleAttribute> {
    let meets = matches!(op.row().attr, AttrKind::Atomic | AttrKind::Fence | AttrKind::Barrier);
    carried(op.row().attr).filter(|_| terms == Terms::Match || !meets)
}

fn shapes(terms: Terms) -> Vec<(AttrKind, usize)> {
    let mut shapes: Vec<(AttrKind, usize)> = Vec::new();
    for &op in Op::ALL {
        let attr = op.row().attr;
        let Some(c) = carried_by(op, terms) else { continue };
        for (_, args) in terms_of(op) {
            let known = shapes.iter().any(|&(a, n)| n == args && carried(a).is_some_and(|d| d.kind == c.kind));
            if !known {
                shapes.push((attr, args));
            }
        }
    }
    shapes
}

/// Names of the operands in generated terms.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn names(args: usize) -> String {
    NAMES[..args.min(NAMES.len())].join(" ")
}

/// Formats the types as a Rust tuple, or a single type without parentheses. ISLE generates the same form.
fn tuple<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let parts: Vec<&str> = parts.collect();
    match parts.as_slice() {
        [only] => (*only).to_string(),
        _ => format!("({})", parts.join(", ")),
    }
}

/// Generates the ISLE declarations of the IR's types, ops and constants.
pub fn ir_declarations(terms: Terms) -> String {
    let mut out = String::new();
    let list = |names: &mut dyn Iterator<Item = String>| names.collect::<Vec<_>>().join(" ");
    let ops = list(&mut Op::ALL.iter().map(|op| op.row().ident.to_string()));
    let intccs = list(&mut IntCC::ALL.iter().map(|cc| format!("{cc:?}")));
    let floatccs = list(&mut FloatCC::ALL.iter().map(|cc| format!("{cc:?}")));
    let _ = write!(
        out,
        "(type Unit (primitive Unit))\n(type Type (primitive Type))\n(type Value (primitive Value))\n(type Inst (primitive Inst))\n\
         (type FloatFlags (primitive FloatFlags))\n(type LaneMap (primitive LaneMap))\n(type MemAttr (primitive MemAttr))\n\
         (type FloatCond (primitive FloatCond))\n(type AxisOf (primitive AxisOf))\n\
         (type AtomicAttr (primitive AtomicAttr))\n(type FenceAttr (primitive FenceAttr))\n(type Aligned (primitive Aligned))\n\
         (type Op extern (enum {ops}))\n(type IntCC extern (enum {intccs}))\n(type FloatCC extern (enum {floatccs}))\n\
         (decl fired (u32) Unit)\n(extern constructor fired fired)\n\
         (decl fired_inst (u32 Inst) Unit)\n(extern constructor fired_inst fired_inst)\n\
         (decl fired_value (u32 Value) Unit)\n(extern constructor fired_value fired_value)\n\
         (decl def_inst (Inst) Value)\n(extern extractor def_inst def_inst)\n(convert Inst Value def_inst)\n\
         (decl op_of (Op) Inst)\n(extern extractor infallible op_of op_of)\n"
    );
    for ty in Type::ALL {
        let _ = writeln!(out, "(extern const ${} Type)", ty.ident());
    }
    for (attr, args) in shapes(terms) {
        let Some(c) = carried(attr) else { continue };
        let carry = c.isle.unwrap_or("");
        let values = vec!["Value"; args].join(" ");
        let shape = format!("{}{args}", c.kind);
        let _ = writeln!(
            out,
            "(decl inst_{shape} (Type {carry} {values}) Inst)\n(extern extractor inst_{shape} inst_{shape})"
        );
        if terms == Terms::Construct && !c.make.is_empty() {
            let _ = writeln!(
                out,
                "(decl new_{shape} (Op Type {carry} {values}) Value)\n(extern constructor new_{shape} new_{shape})"
            );
        }
    }
    for &op in Op::ALL {
        let row = op.row();
        let Some(c) = carried_by(op, terms) else { continue };
        for (name, args) in terms_of(op) {
            let carry = c.isle.unwrap_or("");
            let x = c.isle.map_or("", |_| "x");
            let values = vec!["Value"; args].join(" ");
            let ident = row.ident;
            let shape = format!("{}{args}", c.kind);
            let vars = names(args);
            let _ = writeln!(
                out,
                "(decl {name} (Type {carry} {values}) Inst)\n(extractor ({name} ty {x} {vars}) (and (op_of (Op.{ident})) (inst_{shape} ty {x} {vars})))"
            );
            if terms == Terms::Construct && !c.make.is_empty() && op.is_pure() {
                let _ = writeln!(
                    out,
                    "(decl new_{name} (Type {carry} {values}) Value)\n(rule (new_{name} ty {x} {vars}) (new_{shape} (Op.{ident}) ty {x} {vars}))"
                );
            }
        }
    }
    out
}

/// Generates the Rust code that the declarations of the IR need: constants for the types, and the
/// methods of the generated `Context` as a macro `ir_methods!()`.
///
/// The methods use `self.kernel()`, which returns `&Kernel`. Constructors also use `self.make(op,
/// ty, attr, &[args]) -> Value`.
pub fn ir_methods(terms: Terms) -> String {
    let mut out = String::new();
    for ty in Type::ALL.iter().map(|ty| ty.ident()) {
        let _ = writeln!(out, "#[allow(dead_code)]\nconst {ty}: Type = Type::{ty};");
    }
    out.push_str("macro_rules! ir_methods { () => {\n");
    let _ = write!(
        out,
        "fn def_inst(&mut self, value: Value) -> Option<Inst> {{ self.kernel().def_inst(value) }}\n\
         fn op_of(&mut self, inst: Inst) -> Op {{ self.kernel().insts[inst].op }}\n"
    );
    for (attr, args) in shapes(terms) {
        let Some(c) = carried(attr) else { continue };
        let carried_value = match attr {
            AttrKind::FloatCC => "(cc, ftz)",
            AttrKind::Axis => "data.attr.axis()",
            _ => "x",
        };
        let vars = &NAMES[..args.min(NAMES.len())];
        let result = tuple(["Type"].into_iter().chain(c.isle).chain(vars.iter().map(|_| "Value")));
        let found = tuple(["data.ty"].into_iter().chain(c.isle.map(|_| carried_value)).chain(vars.iter().copied()));
        let vars = vars.join(", ");
        let _ = write!(
            out,
            "fn inst_{kind}{args}(&mut self, inst: Inst) -> Option<{result}> {{\n\
             let kernel = self.kernel();\nlet data = &kernel.insts[inst];\n\
             match (data.attr, kernel.args(inst)) {{ ({pattern}, &[{vars}]) => Some({found}), _ => None }}\n}}\n",
            kind = c.kind,
            pattern = c.pattern,
        );
        if terms == Terms::Construct && !c.make.is_empty() {
            let params: String = names(args).split_whitespace().map(|v| format!("{v}: Value, ")).collect();
            // ISLE passes enums by reference.
            let by_reference = if c.kind == "intcc" { "&" } else { "" };
            let carry = c.isle.map(|ty| format!("x: {by_reference}{ty}, ")).unwrap_or_default();
            let _ = writeln!(
                out,
                "fn new_{kind}{args}(&mut self, op: &Op, ty: Type, {carry}{params}) -> Value {{ self.make(*op, ty, {make}, &[{vars}]) }}",
                kind = c.kind,
                make = c.make,
            );
        }
    }
    out.push_str("} }\n");
    out
}
