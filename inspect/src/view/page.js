// Lights what comes from the same places of the text. Lines, bars and words carry those places in `data-k`; values and
// registers carry in `data-d` the places that make them.
(() => {
  'use strict';

  const root = document.documentElement;
  const about = document.getElementById('about');
  const hint = [...about.childNodes];
  const docs = new Map([...document.querySelectorAll('#docs > [data-m]')].map(doc => [doc.dataset.m, doc]));
  const views = [...document.querySelectorAll('.view')];
  const graphs = new Map();
  let view = null;
  let pinned = null;
  let lit = [];

  const keys = (element, name) => (element?.dataset[name] ?? '').split(' ').filter(Boolean);

  const add = (map, key, value) => {
    if (!map.has(key)) map.set(key, new Set());
    map.get(key).add(value);
  };

  // What a view has at each place, and which places read the values of which.
  function graph(of) {
    if (graphs.has(of)) return graphs.get(of);
    const made = { at: new Map(), names: new Map(), users: new Map(), sources: new Map() };
    for (const element of of.querySelectorAll('[data-k]')) {
      for (const key of keys(element, 'k')) add(made.at, key, element);
    }
    for (const name of of.querySelectorAll('[data-d]')) {
      for (const def of keys(name, 'd')) {
        add(made.names, def, name);
        const stage = name.closest('.stage')?.dataset.stage;
        const [user] = keys(name.closest('li'), 'k');
        if (user && user !== def && (stage === 'text' || stage === 'lowered')) {
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

  // The lines of a stage that are shown.
  const linesAt = (stage, key) =>
    [...(graph(view).at.get(key) ?? [])].filter(element => element.parentElement.parentElement === stage && !element.parentElement.hidden);

  // Those that use a value first of all that have lines in a stage: where an op without lines of its own went.
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
    const inside = line => {
      const place = line.getBoundingClientRect();
      return place.top >= box.top + 30 && place.bottom <= box.bottom;
    };
    if (lines.length === 0 || lines.some(inside)) return;
    const place = lines[0].getBoundingClientRect();
    stage.scrollTop += place.top - box.top - (box.height - place.height) / 2;
  }

  function revealBar(chart) {
    const bar = chart.querySelector('.bar.on, .slot.on');
    if (!bar) return;
    const [box, place] = [chart.getBoundingClientRect(), bar.getBoundingClientRect()];
    // The names of the rows cover the left end.
    const left = chart.querySelector('ul').getBoundingClientRect().right;
    if (place.left < left || place.left > box.right - 20) chart.scrollLeft += place.left - (left + box.right) / 2;
  }

  function light(from, origin) {
    clear();
    if (from.length === 0) {
      about.replaceChildren(...hint);
      return;
    }
    root.dataset.lit = from.join(' ');
    const { at, names, users, sources } = graph(view);
    for (const key of from) {
      mark(at.get(key), 'on');
      // What several places make is only like what just these make.
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

  function element(name, text, kind) {
    const made = document.createElement(name);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  // Says at the foot of the page what is lit.
  function tell(from, fates, origin) {
    const text = view.querySelector('.stage[data-stage=text]');
    const where = element('div', '', 'where');
    for (const key of from.slice(0, 3)) {
      const [line] = linesAt(text, key);
      const row = element('p', '');
      const code = [...(line?.querySelector('code').childNodes ?? [])].filter(part => part.className !== 'c');
      row.append(element('i', key), element('code', code.map(part => part.textContent).join('').trim()));
      where.append(row);
    }
    const counts = element('p', '', 'fates');
    for (const [name, fate] of fates) {
      const part = element('span', `${name} `);
      part.append(element('b', fate));
      counts.append(part);
    }
    where.append(counts);
    const own = origin?.closest('li')?.querySelectorAll('[data-m]') ?? [];
    const all = own.length > 0 ? [...own] : fates[fates.length - 1][2].flatMap(line => [...line.querySelectorAll('[data-m]')]);
    const meanings = element('div', '', 'meanings');
    for (const name of new Set(all.map(op => op.dataset.m))) {
      const doc = docs.get(name);
      if (doc && meanings.childElementCount < 3) meanings.append(doc.cloneNode(true));
    }
    about.replaceChildren(where, meanings);
  }

  // What an event is about: a value or register, or else a line, bar or word.
  function meant(target) {
    const found = target.closest?.('.view [data-d], .view [data-k]');
    if (!found) return null;
    return { element: found, keys: found.dataset.d ? keys(found, 'd') : keys(found, 'k') };
  }

  const rest = () => (pinned ? light(pinned.keys, pinned.element) : light([], null));

  function pin(what) {
    const same = pinned && what && pinned.keys.join() === what.keys.join();
    pinned = same ? null : what;
    root.classList.toggle('pinned', pinned !== null);
    rest();
    remember();
  }

  function remember() {
    const state = new URLSearchParams({ kernel: view.dataset.kernel, target: view.dataset.target });
    if (pinned) state.set('at', pinned.keys[0]);
    try {
      history.replaceState(null, '', `#${state}`);
    } catch {
      // A page within another may have no address of its own.
    }
  }

  function choose(next) {
    if (!next) return;
    if (view && next !== view) {
      clear();
      const stage = view.querySelector('.strip').scrollLeft;
      view.hidden = true;
      next.hidden = false;
      next.querySelector('.strip').scrollLeft = stage;
    }
    view = next;
    for (const other of views) other.hidden = other !== view;
    for (const button of document.querySelectorAll('[data-choose]')) {
      button.setAttribute('aria-pressed', String(view.dataset[button.dataset.choose] === button.value));
    }
    if (pinned) pinned = { ...pinned, element: null };
    rest();
  }

  // The view of a kernel for a target, or for another where this one does not take it.
  const find = (kernel, target) =>
    views.find(of => of.dataset.kernel === kernel && of.dataset.target === target) ??
    views.find(of => of.dataset.kernel === kernel) ??
    views[0];

  // The places that `at` means: the name of a value, a line, or a line and column.
  function places(at) {
    const text = view.querySelector('.stage[data-stage=text]');
    const name = `%${at.replace(/^%/, '')}`;
    const def = [...text.querySelectorAll('.def')].find(found => found.textContent === name);
    if (def) return keys(def, 'd');
    return [...graph(view).at.keys()].filter(key => key === at || key.split(':')[0] === at);
  }

  function readHash() {
    const state = new URLSearchParams(location.hash.slice(1));
    choose(find(state.get('kernel') ?? view?.dataset.kernel ?? views[0].dataset.kernel, state.get('target') ?? view?.dataset.target));
    const found = state.has('at') ? places(state.get('at')) : [];
    pinned = found.length > 0 ? { keys: found, element: null } : null;
    root.classList.toggle('pinned', pinned !== null);
    rest();
  }

  document.addEventListener('pointerover', event => {
    if (event.pointerType === 'touch' || pinned) return;
    const what = meant(event.target);
    if (what) light(what.keys, what.element);
  });

  document.addEventListener('pointerover', event => {
    const op = event.target.closest?.('[data-m]');
    if (op && !op.title) op.title = docs.get(op.dataset.m)?.textContent ?? '';
  });

  document.addEventListener('click', event => {
    const button = event.target.closest('button');
    if (button?.dataset.choose) {
      const chosen = { kernel: view.dataset.kernel, target: view.dataset.target, [button.dataset.choose]: button.value };
      choose(find(chosen.kernel, chosen.target));
      remember();
    } else if (button) {
      const stage = view.querySelector(`.stage[data-stage=${button.value}]`);
      const strip = stage.parentElement;
      strip.scrollTo({ left: stage.offsetLeft - strip.offsetLeft, behavior: 'smooth' });
    } else if (!getSelection().toString()) {
      const what = meant(event.target);
      if (what) pin(what);
    }
  });

  document.addEventListener('change', event => {
    const stage = event.target.closest('.stage');
    for (const list of stage.querySelectorAll('ol')) list.hidden = list.dataset.pass !== event.target.value;
    tabStop(stage);
    rest();
  });

  // One line of each stage is reached by Tab, the others from there by arrow keys.
  const shownLines = stage => [...stage.querySelectorAll('ol:not([hidden]) > [data-k]')];

  function tabStop(stage) {
    shownLines(stage).forEach((line, number) => (line.tabIndex = number === 0 ? 0 : -1));
  }

  document.addEventListener('focusin', event => {
    const line = event.target.closest('.stage li');
    if (!line) return;
    for (const other of shownLines(line.closest('.stage'))) other.tabIndex = other === line ? 0 : -1;
    if (!pinned && line.matches(':focus-visible')) light(keys(line, 'k'), line);
  });

  document.addEventListener('keydown', event => {
    if (event.key === 'Escape' && pinned) {
      pin(null);
      return;
    }
    const line = event.target.closest?.('.stage li');
    if (!line || event.altKey || event.ctrlKey || event.metaKey) return;
    const stage = line.closest('.stage');
    const lines = shownLines(stage);
    const beside = other => (other ? shownLines(other).find(found => found.matches('.on, .heir')) ?? shownLines(other)[0] : null);
    const moves = {
      ArrowUp: () => lines[lines.indexOf(line) - 1],
      ArrowDown: () => lines[lines.indexOf(line) + 1],
      Home: () => lines[0],
      End: () => lines[lines.length - 1],
      ArrowLeft: () => beside(stage.previousElementSibling),
      ArrowRight: () => beside(stage.nextElementSibling),
    };
    if (event.key === 'Enter' || event.key === ' ') {
      pin({ keys: keys(line, 'k'), element: line });
    } else if (moves[event.key]) {
      moves[event.key]()?.focus();
    } else {
      return;
    }
    event.preventDefault();
  });

  root.classList.add('js');
  for (const stage of document.querySelectorAll('.stage')) tabStop(stage);
  addEventListener('hashchange', readHash);
  addEventListener('resize', () => pinned && rest());
  readHash();
})();
