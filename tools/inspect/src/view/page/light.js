// Highlighting of all elements that belong to the same source positions.

const graphs = new Map();

// Returns the elements of a view for each source position, and the def-use relation between source
// positions.
function graph(of) {
  if (graphs.has(of)) return graphs.get(of);
  const made = { at: new Map(), names: new Map(), users: new Map(), sources: new Map() };
  for (const element of of.querySelectorAll('[data-k]')) {
    for (const key of keys(element, 'k')) add(made.at, key, element);
  }
  for (const name of of.querySelectorAll('[data-d]')) {
    const line = name.closest('li');
    // A line that a comparison of passes shows as removed is not a user.
    if (line?.classList.contains('gone')) continue;
    const stage = name.closest('.stage')?.dataset.stage;
    for (const def of keys(name, 'd')) {
      add(made.names, def, name);
      const own = keys(line, 'k');
      // A line of the source that defines the value itself is not a user.
      if (own.includes(def) || (stage !== 'text' && stage !== 'lowered')) continue;
      for (const user of own) {
        add(made.users, def, user);
        add(made.sources, user, def);
      }
    }
  }
  graphs.set(of, made);
  return made;
}

function mark(elements, name) {
  for (const element of elements ?? []) {
    element.classList.add(name);
    lit.push([element, name]);
  }
}

function clear() {
  for (const [element, name] of lit) element.classList.remove(name);
  lit = [];
  for (const output of view.querySelectorAll('.stage output')) output.textContent = '';
  delete root.dataset.lit;
}

// Returns the visible lines of a stage that belong to a source position.
const linesAt = (stage, key) =>
  [...(graph(view).at.get(key) ?? [])].filter(element => element.parentElement.parentElement === stage);

// Returns the source positions of the nearest direct or indirect users that have lines in a stage.
// An op without lines of its own is merged into these users.
function heirs(stage, from) {
  const seen = new Set(from);
  let level = [...from];
  while (level.length > 0) {
    const next = new Set();
    for (const key of level) {
      for (const user of graph(view).users.get(key) ?? []) {
        if (!seen.has(user)) next.add(user);
        seen.add(user);
      }
    }
    level = [...next];
    const lines = level.flatMap(key => linesAt(stage, key));
    if (lines.length > 0) return lines;
  }
  return [];
}

function reveal(stage, lines) {
  const box = stage.getBoundingClientRect();
  const head = stage.querySelector('h3').offsetHeight;
  const inside = line => {
    const place = line.getBoundingClientRect();
    return place.top >= box.top + head && place.bottom <= box.bottom;
  };
  if (lines.length === 0 || lines.some(inside)) return;
  const place = lines[0].getBoundingClientRect();
  stage.scrollTop += place.top - box.top - (box.height + head - place.height) / 2;
}

function revealBar(chart) {
  const bar = chart.querySelector('.bar.on, .slot.on');
  if (!bar) return;
  const [box, place] = [chart.getBoundingClientRect(), bar.getBoundingClientRect()];
  // The names of the rows cover the left edge of a scrolled chart.
  const left = chart.querySelector('ul').getBoundingClientRect().right;
  if (place.left < left || place.left > box.right - 20) chart.scrollLeft += place.left - (left + box.right) / 2;
  if (place.top < box.top || place.bottom > box.bottom) chart.scrollTop += place.top - (box.top + box.bottom) / 2;
}

function light(from, origin) {
  clear();
  if (from.length === 0) {
    quiet();
    return;
  }
  root.dataset.lit = from.join(' ');
  const { at, names, users, sources } = graph(view);
  for (const key of from) {
    mark(at.get(key), 'on');
    // If several source positions are highlighted, a name is highlighted only if its definitions
    // have exactly these positions.
    mark([...(names.get(key) ?? [])].filter(name => from.length === 1 || name.dataset.d === from.join(' ')), 'hit');
  }
  const near = (map, name) => {
    const others = new Set(from.flatMap(key => [...(map.get(key) ?? [])]));
    for (const key of others) {
      if (!from.includes(key)) mark(at.get(key), name);
    }
  };
  near(sources, 'source');
  near(users, 'user');
  const fates = [];
  for (const stage of view.querySelectorAll('.stage')) {
    const own = from.flatMap(key => linesAt(stage, key));
    const lines = own.length > 0 ? own : heirs(stage, from);
    if (own.length === 0) mark(lines, 'heir');
    const fate = own.length > 0 ? String(own.length) : lines.length > 0 ? 'in its users' : 'nothing';
    stage.querySelector('output').textContent = fate;
    fates.push([stage.querySelector('h3').firstChild.textContent.trim(), fate, own]);
    if (stage !== origin?.closest('.stage')) reveal(stage, lines);
  }
  for (const chart of view.querySelectorAll('.chart')) {
    if (chart !== origin?.closest('.chart')) revealBar(chart);
  }
  tell(from, fates, origin);
}

const relight = () => (pinned ? light(pinned.keys, pinned.element) : light([], null));
