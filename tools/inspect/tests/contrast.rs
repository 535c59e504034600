//! Tests of the page's colours. The contrast between each text and its background must be at least
//! 4.5:1, as WCAG 2 requires.

use std::collections::HashMap;

const STYLE: &str = include_str!("../src/view/page/base.css");

type Colours = HashMap<String, String>;

/// Returns the colour variables of the style sheet, for the light and the dark theme.
fn colours() -> [Colours; 2] {
    let (light, dark) = STYLE.split_once("@media (prefers-color-scheme: dark)").unwrap();
    let (dark, _) = dark.split_once("\n}\n").unwrap();
    [light, dark].map(|part| {
        let variables =
            part.lines().filter_map(|line| line.trim().strip_prefix("--")?.strip_suffix(';')?.split_once(": "));
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    })
}

fn of_hex(hex: &str) -> [f64; 3] {
    [1, 3, 5].map(|at| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0)
}

/// Converts a hue and a text of saturation and lightness, such as `60% 94%`, to RGB.
fn of_tint(hue: f64, tint: &str) -> [f64; 3] {
    let (saturation, lightness) = tint.split_once(' ').unwrap();
    let percent = |text: &str| text.trim_end_matches('%').parse::<f64>().unwrap() / 100.0;
    let (saturation, lightness) = (percent(saturation), percent(lightness));
    [0.0, 8.0, 4.0].map(|n| {
        let k = (n + hue / 30.0) % 12.0;
        lightness - saturation * lightness.min(1.0 - lightness) * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0)
    })
}

fn luminance(colour: [f64; 3]) -> f64 {
    let [r, g, b] = colour.map(|c| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn all_text_has_contrast() {
    assert!((contrast(of_hex("#ffffff"), of_hex("#767676")) - 4.54).abs() < 0.01);
    assert!((of_tint(210.0, "50% 40%")[2] - 0.6).abs() < 0.01);
    for colours in colours() {
        let on: [&[&str]; 3] = [
            &["page", "pane", "on", "heir", "gone", "new", "found", "now"],
            &["page", "pane", "on", "heir", "gone", "new"],
            &["page", "pane", "on", "heir", "gone", "new"],
        ];
        for (text, on) in ["ink", "quiet", "op"].into_iter().zip(on) {
            let ink = of_hex(&colours[text]);
            for name in on {
                let found = contrast(ink, of_hex(&colours[*name]));
                assert!(found >= 4.5, "--{text} on --{name}: {found:.2}");
            }
            for hue in 0..360 {
                let found = contrast(ink, of_tint(f64::from(hue), &colours["tint"]));
                assert!(found >= 4.5, "--{text} on hue {hue}: {found:.2}");
            }
        }
    }
}
