//! Tests of the layout of the page in windows of all sizes.

use super::browser::browse_frames;
use super::page_of;

/// Window sizes in pixels of a phone, a tablet, a laptop and a desktop screen.
const SIZES: [(u32, u32); 4] = [(390, 844), (768, 1024), (1280, 900), (1920, 1080)];

/// A script that returns faults of the layout: overlapping parts, parts outside of the window, and unused space.
const FAULTS: &str = "
    const faults = [];
    const shown = selector => [...page.querySelectorAll(selector)].filter(part => part.getClientRects().length > 0);
    const look = when => {
      const parts = shown('header, .counts, .jumps, .strip, figure, #about, .refused, footer');
      const name = part => part.id || part.className || part.localName;
      const box = part => part.getBoundingClientRect();
      const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
      const apart = parts => parts.forEach((a, n) => parts.slice(n + 1).forEach(b => {
        if (over(box(a), box(b))) faults.push(`${when}: ${name(a)} and ${name(b)} overlap`);
      }));
      apart(parts);
      apart(shown('.stage'));
      apart(shown('header button, header input, header select, header h1'));
      const root = page.documentElement;
      if (root.scrollWidth > frame.innerWidth) faults.push(`${when}: the page is ${root.scrollWidth} wide`);
      if (root.scrollHeight > frame.innerHeight) faults.push(`${when}: the page is ${root.scrollHeight} high`);
      const [strip] = shown('.strip');
      const bottom = box(strip).bottom;
      const next = parts.map(part => box(part).top).filter(top => top >= bottom - 1).sort((a, b) => a - b)[0];
      if (!(next - bottom <= 12)) faults.push(`${when}: ${next - bottom} below the panes are empty`);
      if (frame.innerHeight - Math.max(...parts.map(part => box(part).bottom)) > 12) faults.push(`${when}: the foot is not at the bottom`);
      for (const stage of shown('.stage')) {
        if (Math.abs(box(stage).bottom - bottom) > 12) faults.push(`${when}: ${stage.dataset.stage} does not reach the bottom`);
        if (stage.scrollWidth > stage.clientWidth) faults.push(`${when}: ${stage.dataset.stage} is wider than its pane`);
      }
      if (box(strip).height < 0.3 * frame.innerHeight) faults.push(`${when}: the panes have ${box(strip).height}`);
      for (const label of shown('.stage .label:not(.on)')) {
        const lines = box(label).height / parseFloat(frame.getComputedStyle(label).lineHeight);
        if (lines > 1.5) faults.push(`${when}: ${label.closest('.stage').dataset.stage} wraps ${label.textContent.slice(0, 12)}`);
      }
    };
";

/// In every state of the page, no parts overlap, and the panes fill the remaining space.
#[test]
fn nothing_slides_under_anything() {
    let script = format!(
        "{FAULTS}
        for (const target of shown('[data-choose=target]')) {{
          target.click();
          for (const panel of shown('footer [data-panel]')) {{
            if (panel.getAttribute('aria-pressed') === 'false') panel.click();
            look(target.value + ' ' + panel.dataset.panel);
          }}
          page.querySelector('footer [data-panel=about]').click();
          const line = [...page.querySelectorAll('.view:not([hidden]) [data-stage=selected] li[data-s]')].pop();
          line.click();
          look('held');
          line.click();
          page.querySelector('footer [data-panel=about]').click();
          look('no panel');
          page.querySelector('footer [data-panel=about]').click();
        }}
        for (const refused of shown('.refused')) {{
          if (refused.open) faults.push('refusals are open');
          refused.open = true;
          look('refusals');
        }}
        for (const toggle of shown('[data-toggle]')) toggle.click();
        look('all toggled');
        return faults.join(', ') || 'all well'"
    );
    let (median, axpy) = (page_of("median"), page_of("axpy"));
    let Some(seen) = browse_frames(&[&median, &axpy], &SIZES, &script) else { return };
    assert_eq!(seen, vec!["all well"; 2 * SIZES.len()].join("\n"));
}

/// On a narrow screen, a stage takes most of the width, and the next stage is partly visible. A
/// button leads to each stage.
#[test]
fn stages_are_swiped_on_a_phone() {
    let script = "const strip = page.querySelector('.view:not([hidden]) .strip'); \
        const [first, second] = strip.children; const width = first.offsetWidth / frame.innerWidth; \
        const looks_in = second.getBoundingClientRect().left < frame.innerWidth; \
        strip.scrollTo({ left: second.offsetLeft - strip.offsetLeft, behavior: 'instant' }); \
        return [width > 0.8 && width < 1, looks_in, frame.getComputedStyle(strip).scrollSnapType, strip.scrollLeft > 300, \
        page.querySelectorAll('.view:not([hidden]) .jumps button').length].join(' ')";
    let Some(seen) = browse_frames(&[&page_of("median")], &[(390, 844)], script) else { return };
    assert_eq!(seen, "true true x mandatory true 5");
}
