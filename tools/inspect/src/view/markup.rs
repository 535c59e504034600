//! Writer of HTML. All text of a kernel file is written by [`Html::text`], which escapes it.

use std::fmt::{Display, Write};

use super::model::Origins;

/// An HTML page under construction.
#[derive(Default)]
pub(super) struct Html(String);

impl Html {
    /// Returns the finished page.
    pub(super) fn finish(self) -> String {
        self.0
    }

    /// Appends markup without escaping.
    pub(super) fn raw(&mut self, markup: impl Display) -> &mut Html {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{markup}");
        self
    }

    /// Appends escaped text, for an element or a double-quoted attribute. Invisible characters are
    /// shown as Unicode escapes.
    pub(super) fn text(&mut self, text: &str) -> &mut Html {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\t' => self.0.push(c),
                c if is_unseen(c) => self.0.extend(c.escape_unicode()),
                c => self.0.push(c),
            }
        }
        self
    }

    /// Appends an attribute with a list of source positions, unless the list is empty.
    pub(super) fn places(&mut self, name: &str, places: impl IntoIterator<Item = impl Display>) -> &mut Html {
        let mut places = places.into_iter().peekable();
        if places.peek().is_none() {
            return self;
        }
        let list = places.map(|place| place.to_string()).collect::<Vec<_>>().join(" ");
        self.raw(format_args!(" {name}=\"{list}\""))
    }
}

/// Returns a text with its invisible characters as Unicode escapes.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) && !matches!(c, '\t' | '\n') {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Returns `true` if a character is invisible or changes the direction of text.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Formats source positions for the reader.
pub(super) fn list_of(places: &Origins) -> String {
    places.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
