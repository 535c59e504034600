// Views of the kernel after any pass, and of the difference between two passes.

// For each view: the pass that is shown, the pass with which it is compared, and the lists of lines
// that have been created.
const shownPasses = new Map();

function passesOf(of) {
  if (!shownPasses.has(of)) {
    const list = stageOf(of, 'lowered').querySelector('ol');
    const last = Number(list.dataset.pass);
    shownPasses.set(of, { last, pass: last, base: null, lists: new Map([[last, list]]) });
  }
  return shownPasses.get(of);
}

function listAfter(of, pass) {
  const { lists } = passesOf(of);
  if (!lists.has(pass)) {
    const list = element('ol', '');
    list.dataset.pass = pass;
    list.innerHTML = dataOf(of).passes[pass].map(text => data.texts[text]).join('');
    lists.set(pass, list);
  }
  return lists.get(pass);
}

function showPass(of, pass, base) {
  const shown = passesOf(of);
  const stage = stageOf(of, 'lowered');
  const known = number => number === shown.last || dataOf(of).passes[number] !== undefined;
  shown.pass = known(pass) ? pass : shown.last;
  shown.base = base !== null && known(base) ? base : null;
  const list = shown.base === null ? listAfter(of, shown.pass) : difference(listAfter(of, shown.base), listAfter(of, shown.pass));
  list.dataset.pass = shown.pass;
  stage.querySelector('ol').replaceWith(list);
  stage.classList.toggle('comparing', shown.base !== null);
  const [pick, against] = [stage.querySelector('.pass'), stage.querySelector('.base')];
  if (pick) pick.value = String(shown.pass);
  if (against) against.value = shown.base === null ? '' : String(shown.base);
  graphs.delete(of);
  tabStop(stage);
}

// Merges two lists of lines into one list of removed, added and common lines.
function difference(before, after) {
  const lines = list => [...list.children];
  const text = line => line.querySelector('code').textContent.trim();
  const [a, b] = [lines(before), lines(after)];
  const made = element('ol', '', 'diff');
  const counts = { gone: 0, new: 0 };
  for (const [kind, number] of compare(a.map(text), b.map(text))) {
    const line = (kind === 'gone' ? a : b)[number].cloneNode(true);
    line.classList.remove('on', 'heir', 'source', 'user');
    if (kind !== 'same') {
      line.classList.add(kind);
      counts[kind] += 1;
    }
    made.append(line);
  }
  made.dataset.gone = counts.gone;
  made.dataset.new = counts.new;
  return made;
}

// Returns a short edit script from list `a` to list `b`. Each entry is a kind and the index of a
// line in its list.
function compare(a, b) {
  const steps = [];
  const range = (from, to) => Array.from({ length: to - from }, (_, number) => from + number);
  const between = (aFrom, aTo, bFrom, bTo) => {
    while (aFrom < aTo && bFrom < bTo && a[aFrom] === b[bFrom]) {
      steps.push(['same', bFrom++]);
      aFrom++;
    }
    const tail = [];
    while (aFrom < aTo && bFrom < bTo && a[aTo - 1] === b[bTo - 1]) {
      aTo--;
      tail.push(['same', --bTo]);
    }
    const size = (aTo - aFrom) * (bTo - bFrom);
    const anchors = size > 250000 ? uniqueInBoth(a, b, aFrom, aTo, bFrom, bTo) : [];
    if (anchors.length > 0) {
      let [left, right] = [aFrom, bFrom];
      for (const [x, y] of anchors) {
        between(left, x, right, y);
        steps.push(['same', y]);
        [left, right] = [x + 1, y + 1];
      }
      between(left, aTo, right, bTo);
    } else if (size > 0 && size <= 4000000) {
      steps.push(...longestCommon(a, b, aFrom, aTo, bFrom, bTo));
    } else {
      steps.push(...range(aFrom, aTo).map(number => ['gone', number]), ...range(bFrom, bTo).map(number => ['new', number]));
    }
    steps.push(...tail.reverse());
  };
  between(0, a.length, 0, b.length);
  return steps;
}

// Returns the longest sequence of lines that occur once in each list, and in the same order in both
// lists.
function uniqueInBoth(a, b, aFrom, aTo, bFrom, bTo) {
  const once = (lines, from, to) => {
    const at = new Map();
    for (let number = from; number < to; number++) at.set(lines[number], at.has(lines[number]) ? -1 : number);
    return at;
  };
  const [inA, inB] = [once(a, aFrom, aTo), once(b, bFrom, bTo)];
  const piles = [];
  for (const [line, x] of inA) {
    const y = inB.get(line) ?? -1;
    if (x < 0 || y < 0) continue;
    let [low, high] = [0, piles.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (piles[middle].y < y) low = middle + 1;
      else high = middle;
    }
    piles[low] = { x, y, before: piles[low - 1] ?? null };
  }
  const found = [];
  for (let last = piles[piles.length - 1]; last; last = last.before) found.push([last.x, last.y]);
  return found.reverse();
}

function longestCommon(a, b, aFrom, aTo, bFrom, bTo) {
  const width = bTo - bFrom + 1;
  const longest = new Uint16Array((aTo - aFrom + 1) * width);
  for (let x = aTo - 1; x >= aFrom; x--) {
    for (let y = bTo - 1; y >= bFrom; y--) {
      const at = (x - aFrom) * width + y - bFrom;
      longest[at] = a[x] === b[y] ? longest[at + width + 1] + 1 : Math.max(longest[at + width], longest[at + 1]);
    }
  }
  const steps = [];
  let [x, y] = [aFrom, bFrom];
  while (x < aTo || y < bTo) {
    const at = (x - aFrom) * width + y - bFrom;
    if (x < aTo && y < bTo && a[x] === b[y]) {
      steps.push(['same', y++]);
      x++;
    } else if (y >= bTo || (x < aTo && longest[at + width] >= longest[at + 1])) {
      steps.push(['gone', x++]);
    } else {
      steps.push(['new', y++]);
    }
  }
  return steps;
}
