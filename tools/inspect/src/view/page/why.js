// The reasons for the instructions of an op: the changes by the passes, the rules that selected the
// instructions, and the rules that nearly matched.

const textOf = number => data.texts[number];

// Returns an element that shows a rule and its position in the compiler's source.
function ruleName(number) {
  const [name, file, line, priority, pattern] = data.rules[number];
  const made = element('span', '', 'rule');
  made.append(element('b', name), element('i', `${file}:${line}`));
  made.title = `${pattern}, priority ${priority}`;
  return made;
}

function sentence(parts, kind) {
  const made = element('p', '', kind);
  made.append(...parts);
  return made;
}

// Returns the IR instructions to describe: the one under the pointer, or all that belong to these
// source positions.
function stepsAt(from, origin) {
  const { steps } = dataOf(view);
  const [own] = keys(origin?.closest('li'), 's');
  return own ? [steps[own]].filter(Boolean) : steps.filter(step => from.includes(step.at));
}

function becauseOf(step) {
  const made = element('section', '');
  made.append(element('code', textOf(step.op), 'op'));
  if (step.by !== undefined) {
    const [, , , priority, pattern] = data.rules[step.by];
    made.append(sentence(['selected by ', ruleName(step.by)], 'made'));
    made.append(sentence([element('code', pattern), ` priority ${priority}`], 'pattern'));
  } else if (step.into) {
    const [more, merged] = step.into;
    for (const [into, rule] of merged) {
      const by = rule === null ? [] : [' by ', ruleName(rule)];
      made.append(sentence(['no instruction of its own, merged into ', element('code', textOf(into)), ...by], 'made'));
    }
    if (more > 0) made.append(element('p', `and in ${more} more`));
  } else {
    made.append(element('p', step.unneeded ? 'no instruction: its result is unused' : 'selected without a rule', 'made'));
  }
  for (const [operand, rule] of step.operands ?? []) {
    made.append(sentence([element('code', textOf(operand)), ' by ', ruleName(rule)], 'operand'));
  }
  for (const [by, name] of [['selection', 'selection'], ['canon', 'the pass canon']]) {
    if (!step[by]) continue;
    const [more, near] = step[by];
    made.append(element('p', `Not taken by ${name}`, 'title'));
    const list = element('ul', '', 'near');
    for (const [rule, wanted, line, found] of near) {
      const item = element('li', '');
      item.append(ruleName(rule));
      if (wanted === undefined) {
        item.append(element('p', 'matches, but a rule of higher priority is selected'));
      } else {
        const parts = [`line ${line}: expected `, element('code', textOf(wanted))];
        if (textOf(found)) parts.push(', found ', element('code', textOf(found).replaceAll('`', '')));
        item.append(sentence(parts));
      }
      list.append(item);
    }
    if (more > 0) list.append(element('li', `and ${more} more`));
    made.append(list);
  }
  return made;
}

function changeBy(change) {
  const made = element('section', '');
  const by = change.by === null ? [] : [' ', ruleName(change.by)];
  made.append(sentence([element('b', textOf(change.pass)), `: ${textOf(change.how)}`, ...by], 'made'));
  for (const [kind, texts] of [['gone', change.before], ['new', change.after]]) {
    for (const text of texts.slice(0, 4)) made.append(element('code', textOf(text), kind));
    if (texts.length > 4) made.append(element('p', `and ${texts.length - 4} more`));
  }
  for (const note of change.notes) made.append(element('p', textOf(note)));
  return made;
}

// Returns an element with all reasons for these source positions. The element may be empty.
function reasons(from, origin) {
  const made = element('div', '', 'why');
  const changes = from.flatMap(key => dataOf(view).changes[key] ?? []);
  const steps = stepsAt(from, origin);
  if (changes.length === 0 && steps.length === 0) return made;
  const most = (all, show, what) => {
    made.append(...all.slice(0, 6).map(show));
    if (all.length > 6) made.append(element('p', `and ${all.length - 6} more ${what}`));
  };
  most(changes, changeBy, 'changes');
  most(steps, becauseOf, 'instructions');
  if (!dataOf(view).told) made.append(element('p', 'The kernel is too large to show the changes of the passes.'));
  const ask = `halfbyte explain FILE --at ${from[0]} --target ${view.dataset.target} --kernel @${view.dataset.kernel} --all`;
  made.append(sentence(['More: ', element('code', ask)], 'ask'));
  return made;
}
