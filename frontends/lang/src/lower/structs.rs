//! Layout of structures. As in C, a field is aligned to its own size, and a structure to the size of its largest field.

use halfbyte_abi::Type;
use halfbyte_ir::array::MAX_STATIC_BYTES;

use super::{Elem, Failed, Lower, Lowering};
use crate::ast::Ident;
use crate::symbols::Sym;

/// Field of a structure, with its offset in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldAt {
    pub name: Sym,
    pub ty: Type,
    /// Number of elements, if the field is an array.
    pub count: Option<u32>,
    pub offset: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub fields: Vec<FieldAt>,
    pub size: u32,
    pub align: u32,
}

impl Lower<'_> {
    /// Computes the field offsets and the size of every structure.
    pub(super) fn lay_out(&mut self) {
        let ast = self.ast;
        self.layouts = vec![None; ast.structs.len()];
        for (number, of) in ast.structs.iter().enumerate() {
            let mut layout = Layout { fields: Vec::new(), size: 0, align: 1 };
            let mut failed = false;
            for field in &of.fields {
                match self.field(field, &mut layout) {
                    Ok(()) => {}
                    Err(Failed) => failed = true,
                }
            }
            if of.fields.is_empty() {
                self.error(of.name.span, "the structure has no fields", "at least one, as in `{ d: f16, q: i8[32] }`");
                failed = true;
            }
            layout.size = layout.size.next_multiple_of(layout.align);
            if let Some(slot) = self.layouts.get_mut(number).filter(|_| !failed) {
                *slot = Some(layout);
            }
        }
    }

    fn field(&mut self, field: &crate::ast::Field, layout: &mut Layout) -> Lowering<()> {
        if layout.fields.iter().any(|other| other.name == field.name.sym) {
            let message = format!("`{}` is defined twice", self.symbols.text(field.name.sym));
            return Err(self.error(field.name.span, message, "a name that is not in use"));
        }
        let ty = self.ty(field.ty)?;
        if ty == Type::PTR {
            return Err(self.error(field.ty.span, "memory cannot hold an address", "a type other than `ptr`"));
        }
        let count = match field.count {
            None => None,
            Some(count) => Some((self.small(count, "a number of elements")?, self.ast.expr(count).span)),
        };
        let bytes = u64::from(ty.bytes()) * u64::from(count.map_or(1, |(count, _)| count));
        if bytes > u64::from(MAX_STATIC_BYTES) {
            let span = count.map_or(field.name.span, |(_, span)| span);
            return Err(self.error(span, format!("{bytes} bytes"), format!("at most {MAX_STATIC_BYTES}")));
        }
        let offset = layout.size.next_multiple_of(ty.bytes());
        layout.fields.push(FieldAt { name: field.name.sym, ty, count: count.map(|(count, _)| count), offset });
        layout.size = offset.saturating_add(bytes as u32);
        layout.align = layout.align.max(ty.bytes());
        Ok(())
    }

    pub(super) fn layout(&self, number: u32) -> Lowering<&Layout> {
        self.layouts.get(number as usize).and_then(Option::as_ref).ok_or(Failed)
    }

    /// Returns the distance in bytes between consecutive elements of an array.
    pub(super) fn size_of(&self, elem: Elem) -> Lowering<u32> {
        match elem {
            Elem::Type(ty) => Ok(ty.bytes()),
            Elem::Struct(number) => self.layout(number).map(|layout| layout.size),
        }
    }

    pub(super) fn alignment_of(&self, elem: Elem) -> u32 {
        match elem {
            Elem::Type(ty) => ty.bytes(),
            Elem::Struct(number) => self.layout(number).map_or(1, |layout| layout.align),
        }
    }

    /// Returns the field that has a name in the structure with index `number`.
    pub(super) fn field_of(&mut self, number: u32, name: Ident) -> Lowering<FieldAt> {
        let layout = self.layout(number)?;
        if let Some(&field) = layout.fields.iter().find(|field| field.name == name.sym) {
            return Ok(field);
        }
        let fields: Vec<&str> = layout.fields.iter().map(|field| self.symbols.text(field.name)).collect();
        let all = super::named(fields.iter().map(|name| (*name).to_owned()));
        let of = self.ast.structs.get(number as usize).map_or("", |of| self.symbols.text(of.name.sym));
        let written = self.symbols.text(name.sym);
        let near = halfbyte_ir::text::closest(written, fields.iter().copied());
        let expected = near.map_or(format!("a field: it has {all}"), |near| format!("a field; did you mean `{near}`?"));
        Err(self.error(name.span, format!("`{of}` has no field `{written}`"), expected))
    }
}
