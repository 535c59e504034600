// Handlers of mouse and keyboard events.

// Returns the element to which an event refers: a value or register if possible, otherwise a line,
// bar or instruction.
function meant(target) {
  const found = target.closest?.('.view [data-d], .view [data-k]');
  if (!found) return null;
  return { element: found, keys: found.dataset.d ? keys(found, 'd') : keys(found, 'k') };
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
  if (button) {
    press(button);
  } else if (!event.target.closest('select, input, a') && !getSelection().toString()) {
    const what = meant(event.target);
    if (what) pin(what);
  }
});

function press(button) {
  const { choose, toggle, find, panel } = button.dataset;
  if (choose) {
    chooseBy(choose, button.value);
  } else if (toggle) {
    turn(toggle, !isOn(toggle));
    search();
    remember();
  } else if (find) {
    goTo(find === 'next' ? 1 : -1);
  } else if (panel) {
    showPanel(root.dataset.panel === panel ? 'none' : panel);
    remember();
  } else if (button.classList.contains('copy')) {
    copy(button);
  } else {
    const stage = stageOf(view, button.value);
    const strip = stage.parentElement;
    strip.scrollTo({ left: stage.offsetLeft - strip.offsetLeft, behavior: 'smooth' });
  }
}

document.addEventListener('change', event => {
  const { target } = event;
  if (target.dataset.choose) {
    chooseBy(target.dataset.choose, target.value);
  } else if (target.closest('.stage')) {
    const stage = target.closest('.stage');
    const base = stage.querySelector('.base').value;
    showPass(view, Number(stage.querySelector('.pass').value), base === '' ? null : Number(base));
    if (isOn('colours')) colour();
    relight();
    search();
    remember();
  }
});

// Tab moves the focus to one line of each stage. The arrow keys move the focus from line to line.
const shownLines = stage => [...stage.querySelectorAll('ol > [data-k]')].filter(isShown);

function tabStop(stage) {
  [...stage.querySelectorAll('ol > [data-k]')].forEach((line, number) => (line.tabIndex = number === 0 ? 0 : -1));
}

document.addEventListener('focusin', event => {
  const line = event.target.closest('.stage li');
  if (!line) return;
  for (const other of line.parentElement.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
  line.tabIndex = 0;
  if (!pinned && line.matches(':focus-visible')) light(keys(line, 'k'), line);
});

document.addEventListener('keydown', event => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === 'Escape' && pinned) {
    pin(null);
    return;
  }
  if (event.key === '/' && !event.target.closest?.('input, select')) {
    event.preventDefault();
    searchBox.focus();
    searchBox.select();
    return;
  }
  const line = event.target.closest?.('.stage li');
  if (!line) return;
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
addEventListener('resize', () => pinned && relight());
readHash();
