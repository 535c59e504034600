// The panel in the footer that describes the highlighted op and the reasons for its instructions.

const fatesLine = document.getElementById('fates');

// Shows a hint in the panel while nothing is highlighted.
function quiet() {
  about.replaceChildren(...hint);
  fatesLine.replaceChildren();
}

function tell(from, fates, origin) {
  const text = stageOf(view, 'text');
  const where = element('div', '', 'where');
  for (const key of from.slice(0, 3)) {
    const [line] = linesAt(text, key);
    const row = element('p', '');
    const code = [...(line?.querySelector('code').childNodes ?? [])].filter(part => part.className !== 'c');
    row.append(element('i', key), element('code', code.map(part => part.textContent).join('').trim()));
    where.append(row);
  }
  fatesLine.replaceChildren();
  for (const [name, fate] of fates) {
    const part = element('span', `${name} `);
    part.append(element('b', fate));
    fatesLine.append(part);
  }
  const own = origin?.closest('li')?.querySelectorAll('[data-m]') ?? [];
  const all = own.length > 0 ? [...own] : fates[fates.length - 1][2].flatMap(line => [...line.querySelectorAll('[data-m]')]);
  for (const name of [...new Set(all.map(op => op.dataset.m))].slice(0, 3)) {
    const doc = docs.get(name);
    if (doc) where.append(doc.cloneNode(true));
  }
  about.replaceChildren(where, reasons(from, origin));
  about.scrollTop = 0;
}
