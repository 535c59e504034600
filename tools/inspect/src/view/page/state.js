// State that all parts of the script share. Lines, bars and instructions have their source
// positions in `data-k`. Values and registers have the source positions of their definitions in
// `data-d`.

const root = document.documentElement;
const about = document.getElementById('about');
const hint = [...about.childNodes];
const docs = new Map([...document.querySelectorAll('#docs > [data-m]')].map(doc => [doc.dataset.m, doc]));
const views = [...document.querySelectorAll('.view')];
const data = JSON.parse(document.getElementById('data').textContent);

// The visible view, the pinned op, and the highlighted elements with their CSS classes.
let view = null;
let pinned = null;
let lit = [];

const keys = (element, name) => (element?.dataset[name] ?? '').split(' ').filter(Boolean);
const dataOf = of => data.views[views.indexOf(of)];
const stageOf = (of, name) => of.querySelector(`.stage[data-stage=${name}]`);

function element(name, text, kind) {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function add(map, key, value) {
  if (!map.has(key)) map.set(key, new Set());
  map.get(key).add(value);
}
