//! Markup. Everything that comes from a text goes through [`Html::text`].

use std::fmt::{Display, Write};

use super::model::Origins;

/// A page that is being written.
#[derive(Default)]
pub(super) struct Html(String);

impl Html {
    /// The whole.
    pub fn finish(self) -> String {
        self.0
    }

    /// Adds markup as it is.
    pub fn raw(&mut self, markup: impl Display) -> &mut Html {
        // Writing to a string succeeds.
        let _ = write!(self.0, "{markup}");
        self
    }

    /// Adds text, in an element or in an attribute in double quotes. Characters that cannot be seen are shown by their numbers.
    pub fn text(&mut self, text: &str) -> &mut Html {
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

    /// Adds an attribute that names places, unless there are none.
    pub fn places(&mut self, name: &str, places: impl IntoIterator<Item = impl Display>) -> &mut Html {
        let mut places = places.into_iter().peekable();
        if places.peek().is_none() {
            return self;
        }
        let list = places.map(|place| place.to_string()).collect::<Vec<_>>().join(" ");
        self.raw(format_args!(" {name}=\"{list}\""))
    }
}

/// A text in which characters that cannot be seen are shown by their numbers.
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

/// Whether a character has no shape of its own, or changes the direction of others.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Origins as text, for people.
pub(super) fn list_of(places: &Origins) -> String {
    places.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
