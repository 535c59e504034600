// The toggle buttons of the page, and the choice of the panel in the footer.

const toggles = new Map([...document.querySelectorAll('[data-toggle]')].map(button => [button.dataset.toggle, button]));
const atFirst = new Map([...toggles].map(([name, button]) => [name, button.getAttribute('aria-pressed') === 'true']));
const isOn = name => toggles.get(name).getAttribute('aria-pressed') === 'true';

function turn(name, on) {
  toggles.get(name).setAttribute('aria-pressed', String(on));
  root.classList.toggle(`no-${name}`, !on);
  if (name === 'colours' && on) colour();
}

// Consecutive hues differ by the golden angle, so that adjacent lines have clearly different
// colours.
function colour() {
  for (const line of view.querySelectorAll('.stage li[data-k]')) {
    const [key] = keys(line, 'k');
    line.style.setProperty('--hue', String(Math.round(Number(key.split(':')[0]) * 137.5) % 360));
  }
}

function showPanel(name) {
  const shown = name === 'none' || name === 'about' || view.querySelector(`figure[data-panel=${name}]`) ? name : 'about';
  root.dataset.panel = shown;
  for (const button of document.querySelectorAll('footer [data-panel]')) {
    const id = button.dataset.panel;
    button.hidden = id !== 'about' && !view.querySelector(`figure[data-panel=${id}]`);
    button.setAttribute('aria-pressed', String(id === shown));
  }
  for (const chart of view.querySelectorAll('.chart')) revealBar(chart);
}

// Returns the lines of a stage as the text of a file.
function linesToCopy(stage) {
  const lines = [...stage.querySelectorAll('ol > li:not(.gone)')].filter(isShown);
  const isTrimmed = line => line.matches('.inst:not(.source)') && stage.dataset.stage !== 'words';
  const indent = line => (isTrimmed(line) ? '  ' : '');
  return lines.map(line => `${indent(line)}${line.querySelector('code').textContent}`.trimEnd() + '\n').join('');
}

async function copy(button) {
  const text = linesToCopy(button.closest('.stage'));
  button.dataset.copied = text;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without permission for the clipboard API, the text is copied from a selection.
    const box = element('textarea', '');
    box.value = text;
    document.body.append(box);
    box.select();
    document.execCommand('copy');
    box.remove();
  }
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = 'Copy'), 1200);
}
