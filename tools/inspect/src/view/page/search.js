// Text search in all visible stages.

const searchBox = document.getElementById('search');
const foundCount = document.getElementById('found');
// Browsers without the CSS Custom Highlight API mark whole lines.
const highlights = typeof Highlight === 'function' ? CSS.highlights : null;
let matches = [];
let current = -1;

const isShown = element => element.offsetParent !== null;

function search() {
  const sought = searchBox.value.toLowerCase();
  for (const { line } of matches) line.classList.remove('found', 'now');
  matches = [];
  current = -1;
  for (const line of sought ? view.querySelectorAll('.stage li') : []) {
    if (!line.textContent.toLowerCase().includes(sought) || !isShown(line)) continue;
    for (const part of line.children) {
      if (!isShown(part)) continue;
      const text = part.textContent.toLowerCase();
      for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + sought.length)) {
        matches.push({ line, range: rangeOf(part, at, at + sought.length) });
      }
    }
  }
  for (const { line } of matches) line.classList.add('found');
  highlights?.set('found', new Highlight(...matches.map(match => match.range)));
  highlights?.delete('now');
  count();
}

// Returns a DOM range for a range of characters in an element's text.
function rangeOf(part, start, end) {
  const range = document.createRange();
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(), before = 0; node; node = walker.nextNode()) {
    const after = before + node.data.length;
    if (start >= before && start < after) range.setStart(node, start - before);
    if (end > before && end <= after) range.setEnd(node, end - before);
    before = after;
  }
  return range;
}

function count() {
  const of = current < 0 ? `${matches.length}` : `${current + 1} of ${matches.length}`;
  foundCount.textContent = searchBox.value ? of : '';
}

function goTo(step) {
  if (matches.length === 0) return;
  matches[current]?.line.classList.remove('now');
  current = current < 0 && step < 0 ? matches.length - 1 : (current + step + matches.length) % matches.length;
  const { line, range } = matches[current];
  line.classList.add('now');
  highlights?.set('now', new Highlight(range));
  const stage = line.closest('.stage');
  reveal(stage, [line]);
  const strip = stage.parentElement;
  const [box, place] = [strip.getBoundingClientRect(), stage.getBoundingClientRect()];
  if (place.left < box.left || place.right > box.right) strip.scrollLeft = stage.offsetLeft - strip.offsetLeft;
  count();
}

searchBox.addEventListener('input', () => {
  search();
  goTo(1);
});

searchBox.addEventListener('keydown', event => {
  if (event.key === 'Enter') {
    goTo(event.shiftKey ? -1 : 1);
  } else if (event.key === 'Escape') {
    searchBox.value = '';
    search();
    searchBox.blur();
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
});
