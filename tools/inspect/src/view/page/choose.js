// The choice of kernel, target and passes, and the pinned op. The address of the page encodes all
// of them.

function remember() {
  const state = new URLSearchParams({ kernel: view.dataset.kernel, target: view.dataset.target });
  if (pinned) state.set('at', placeOf(pinned.keys));
  const { last, pass, base } = passesOf(view);
  if (pass !== last) state.set('pass', pass);
  if (base !== null) state.set('with', base);
  const changed = [...toggles.keys()].filter(name => isOn(name) !== atFirst.get(name));
  const hidden = changed.filter(name => atFirst.get(name));
  const shown = changed.filter(name => !atFirst.get(name));
  if (hidden.length > 0) state.set('hide', hidden.join());
  if (shown.length > 0) state.set('show', shown.join());
  if (root.dataset.panel !== 'about') state.set('panel', root.dataset.panel);
  try {
    history.replaceState(null, '', `#${state}`);
  } catch {
    // The browser may forbid an embedded page to change its address.
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
  for (const button of document.querySelectorAll('button[data-choose]')) {
    button.setAttribute('aria-pressed', String(view.dataset[button.dataset.choose] === button.value));
  }
  for (const list of document.querySelectorAll('select[data-choose]')) list.value = view.dataset[list.dataset.choose];
  for (const refused of document.querySelectorAll('.refused')) refused.hidden = refused.dataset.kernel !== view.dataset.kernel;
  if (pinned) pinned = { ...pinned, element: null };
  if (isOn('colours')) colour();
  showPanel(root.dataset.panel ?? 'about');
  relight();
  search();
}

// Returns the view of a kernel for a target. If that target refuses the kernel, returns the view
// for another target.
const find = (kernel, target) =>
  views.find(of => of.dataset.kernel === kernel && of.dataset.target === target) ??
  views.find(of => of.dataset.kernel === kernel) ??
  views[0];

function chooseBy(name, value) {
  const chosen = { kernel: view.dataset.kernel, target: view.dataset.target, [name]: value };
  choose(find(chosen.kernel, chosen.target));
  remember();
}

// Returns the value of `at` in the page's address for a list of source positions. The value is the
// line number if all positions are on one line, otherwise the first position.
function placeOf([first, ...others]) {
  const line = first.split(':')[0];
  return others.length > 0 && others.every(key => key.split(':')[0] === line) ? line : first;
}

// Returns the source positions to which `at` refers. `at` is the name of a value, a line, or a line
// and column.
function places(at) {
  const text = stageOf(view, 'text');
  const plain = name => name.replace(/^%/, '');
  const def = [...text.querySelectorAll('.def')].find(found => plain(found.textContent) === plain(at));
  if (def) return def.dataset.d ? keys(def, 'd') : keys(def.closest('li'), 'k');
  return [...graph(view).at.keys()].filter(key => key === at || key.split(':')[0] === at);
}

function pin(what) {
  const same = pinned && what && pinned.keys.join() === what.keys.join();
  pinned = same ? null : what;
  root.classList.toggle('pinned', pinned !== null);
  relight();
  remember();
}

function readHash() {
  const state = new URLSearchParams(location.hash.slice(1));
  const [hidden, shown] = ['hide', 'show'].map(name => (state.get(name) ?? '').split(','));
  // An address without `kernel` is a link within the page, which changes only the pinned op.
  const isWhole = state.has('kernel') || view === null;
  if (isWhole) root.dataset.panel = state.get('panel') ?? 'about';
  choose(find(state.get('kernel') ?? view?.dataset.kernel ?? views[0].dataset.kernel, state.get('target') ?? view?.dataset.target));
  if (isWhole) {
    for (const name of toggles.keys()) turn(name, !hidden.includes(name) && (atFirst.get(name) || shown.includes(name)));
    const number = name => (state.has(name) ? Number(state.get(name)) : null);
    const { last, pass, base } = passesOf(view);
    const [wanted, against] = [number('pass') ?? last, number('with')];
    if (wanted !== pass || against !== base) showPass(view, wanted, against);
  }
  const found = state.has('at') ? places(state.get('at')) : [];
  pinned = found.length > 0 ? { keys: found, element: null } : null;
  root.classList.toggle('pinned', pinned !== null);
  relight();
}
