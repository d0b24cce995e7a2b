// SPDX-License-Identifier: MIT
// Draws any JSON: lists of things as tables that can be sorted and searched, things as lists of
// their properties, stacks as stacks.
'use strict';

// element('a', {href: '/'}, 'text', child...)
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made && key !== 'class') made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const filters = {};        // The search texts, by the name of the table; they outlive a refresh.
const orders = {};         // {key, falls}, likewise.
const unfolded = new Set();  // The parts that the reader has unfolded.

function isFrames(value) {
  return Array.isArray(value) && value.length > 0 && value[0] !== null &&
      typeof value[0] === 'object' && 'function' in value[0];
}

function isTable(value) {
  return Array.isArray(value) && value.length > 0 && !isFrames(value) &&
      value.every(row => row !== null && typeof row === 'object' && !Array.isArray(row));
}

function isEmpty(value) {
  return value === null || value === undefined || value === '' ||
      (Array.isArray(value) && value.length === 0);
}

// --- Links

let nodeName = '';  // The node that serves the page.

// Whether the member is the id of a task of this node.
function isTask(key, row) {
  if (row[key] === null || row[key] === undefined) return false;
  if (key === 'id') return !('type' in row);
  // The tasks of other nodes have no page here.
  if (key === 'task_there') return row.node === nodeName;
  // A row with both shows the name of the task as `task`.
  if (key === 'task') return !('task_id' in row);
  return key === 'task_id' || key === 'longest_id';
}

// The address of the page about a row, if there is one.
function linkOf(key, row) {
  if (isTask(key, row)) return '/tasks/' + encodeURIComponent(row[key]);
  if (key === 'id' && 'type' in row) {
    return `/objects/${encodeURIComponent(row.type)}/${encodeURIComponent(row.id)}`;
  }
  if (key === 'object' && row.object && row.method) {
    const type = row.method.split('/')[0];
    return `/objects/${encodeURIComponent(type)}/${encodeURIComponent(row.object)}`;
  }
  if (key === 'type' && 'active' in row) return '/objects?type=' + encodeURIComponent(row.type);
  return null;
}

function linked(key, row, content) {
  const target = linkOf(key, row);
  return target === null ? content : element('a', {href: target}, content);
}

// --- Columns

// Whether numbers of that name only name something: they are neither added nor aligned as amounts.
function isName(key) {
  return /(^|_)(id|epoch|version|number|pid|port|shard|trace|incarnation|partition)$/.test(key) ||
      ['task', 'task_there', 'line'].includes(key);
}

function isTime(value) { return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value); }

const denseFrom = 12;  // Columns; a table with more has less room for each.
const foldedFrom = 5;  // Rows of zeros; fewer are shown.
const longText = 48;  // Letters; longer ones stand below their row.

// How a column is shown: as amounts, as names, or below the row.
function columnOf(key, rows) {
  // A column with "no" in each row says nothing.
  const values = rows.map(row => row[key]).filter(value => !isEmpty(value));
  const isNo = values.every(value => value === false);
  const isAmount = !isName(key) && (values.length > 0 || kindOfKey(key).kind !== null) &&
      values.every(value => typeof value === 'number');
  const isBelow = values.some(value =>
      isFrames(value) || (typeof value === 'object' && JSON.stringify(value).length > longText) ||
      (typeof value === 'string' && value.length > 2 * longText));
  const column = {key, isAmount, isBelow, isThere: !isNo, unit: ''};
  if (isAmount) Object.assign(column, columnFormat(key, values));
  return column;
}

// A long name may be broken behind these.
function breakable(text) {
  const parts = String(text).split(/(?<=[./:,_])/);
  return parts.flatMap((part, index) => index === 0 ? [part] : [element('wbr'), part]);
}

// The package stands back behind the name in it: "corolane.services.chess." behind "Chess/Move".
function named(text) {
  const [, inside, name] = /^((?:[a-z]\w*\.){2,})(\w+(?:\/\w+)?)$/.exec(text) ?? [null, '', text];
  if (inside === '') return breakable(text);
  return [element('small', {}, ...breakable(inside)), element('wbr'), name];
}

const badWords = new Set(['error', 'critical', 'fenced', 'hanging', 'failed']);

function cell(column, row) {
  const {key} = column;
  const value = row[key];
  const label = words(key) + (column.unit ? ` (${column.unit})` : '');
  if (isEmpty(value)) {
    const kind = column.isAmount ? 'number none' : 'none';
    return element('td', {class: kind, 'data-head': label}, '–');
  }
  if (column.isAmount) {
    const kind = value === 0 ? 'number none' : 'number';
    return element(
        'td', {class: kind, 'data-head': label}, linked(key, row, column.write(value)));
  }
  const isBad = key === 'level' && badWords.has(value);
  const isPlain = typeof value === 'object' || typeof value === 'boolean' || isName(key);
  const text = isPlain ? [brief(value, key)] : named(value);
  const target = linkOf(key, row);
  return element(
      'td', {'data-head': label, class: isBad ? 'bad' : isName(key) || isTime(value) ? 'id' : ''},
      ...(target === null ? text : [element('a', {href: target}, ...text)]));
}

// Things in a cell are texts: "zone eu, partitions 512".
function brief(value, key) {
  if (!isTable(value)) return shown(value, key);
  return value.map(thing => Object.entries(thing).filter(([, part]) => !isEmpty(part))
      .map(([name, part]) => `${words(name)} ${shown(part, name)}`).join(', ')).join('; ');
}

// Makes the part below a row, over the whole width; none when it has nothing to say.
function below(name, columns, row, width) {
  const parts = columns.filter(({key}) => !isEmpty(row[key])).map(({key}) => {
    const value = row[key];
    if (isFrames(value)) return foldedStack(value, `${name}/${key}/${idOf(row)}`);
    return element('div', {}, element('span', {class: 'faint'}, words(key) + ' '), shown(value));
  });
  if (parts.length === 0) return [];
  return [element('tr', {class: 'below'}, element('td', {colSpan: width}, ...parts))];
}

// Returns a name for a row, by which it is known again after a refresh.
function idOf(row) {
  return ['id', 'task_id', 'task', 'number', 'method', 'name', 'site'].map(key => row[key])
      .filter(value => typeof value === 'number' || typeof value === 'string').join(' ');
}

// --- Tables

function compare(left, right) {
  if (isEmpty(left) || isEmpty(right)) return Number(isEmpty(right)) - Number(isEmpty(left));
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return String(left).localeCompare(String(right), 'en', {numeric: true});
}

// The rows in the order that the reader has chosen, else those that amount to nothing apart.
function inOrder(name, rows, columns) {
  const order = orders[name];
  if (order) {
    const sorted = rows.toSorted((left, right) => compare(left[order.key], right[order.key]));
    return {rows: order.falls ? sorted.reverse() : sorted, nothings: []};
  }
  const amounts = columns.filter(column => column.isAmount);
  const isNothing = row => amounts.length > 0 && amounts.every(({key}) => !row[key]);
  return {rows: rows.filter(row => !isNothing(row)), nothings: rows.filter(isNothing)};
}

// A row that unfolds `count` further ones.
function unfoldingRow(count, width, unfold) {
  const button =
      element('button', {type: 'button', onclick: unfold}, `${count} more rows of zeros`);
  return element('tr', {class: 'more'}, element('td', {colSpan: width}, button));
}

function headCell(column, name, sortBy) {
  const order = orders[name];
  const isOrder = order?.key === column.key;
  const unit = column.unit ? [' ', element('small', {}, column.unit)] : [];
  return element(
      'th', {
        ...(column.isAmount ? {class: 'number'} : {}), scope: 'col',
        ...(isOrder ? {'aria-sort': order.falls ? 'descending' : 'ascending'} : {}),
      },
      element('button', {onclick: () => sortBy(column.key)}, words(column.key), ...unit));
}

// `classOf` may give a row a class. A steady table keeps its columns and the order of its rows,
// though some have no value just now.
function table(name, rows, {classOf = () => '', isSteady = false} = {}) {
  const keys = [...new Set(rows.flatMap(row => Object.keys(row)))];
  const all = keys.map(key => columnOf(key, rows)).filter(column => column.isThere || isSteady);
  const hidden = all.filter(column => column.isBelow);
  const wide = all.filter(column => !column.isBelow);
  // Many columns have to be narrow, and those without a figure are named below.
  const isDense = wide.length > denseFrom;
  const isZero = column => column.isAmount && rows.every(row => !row[column.key]);
  const zeros = isDense ? wide.filter(isZero) : [];
  const columns = wide.filter(column => !zeros.includes(column));
  const head = element('tr');
  const body = element('tbody');
  const fill = () => {
    head.replaceChildren(...columns.map(column => headCell(column, name, sortBy)));
    const filter = (filters[name] ?? '').toLowerCase();
    const wanted = rows.filter(row => JSON.stringify(row).toLowerCase().includes(filter));
    const ordered = isSteady && !orders[name] ? {rows: wanted, nothings: []} :
                                                inOrder(name, wanted, columns);
    const folds = filter === '' && ordered.nothings.length >= foldedFrom &&
        ordered.rows.length > 0 && !unfolded.has(name + '/zeros');
    const visible = folds ? ordered.rows : [...ordered.rows, ...ordered.nothings];
    body.replaceChildren(...visible.flatMap(row => [
      element('tr', {class: classOf(row)}, ...columns.map(column => cell(column, row))),
      ...below(name, hidden, row, columns.length),
    ]), ...(folds ? [unfoldingRow(ordered.nothings.length, columns.length, () => {
      unfolded.add(name + '/zeros');
      fill();
    })] : []));
  };
  const sortBy = key => {
    const isAmount = columns.find(column => column.key === key).isAmount;
    const falls = orders[name]?.key === key ? !orders[name].falls : isAmount;
    orders[name] = {key, falls};
    fill();
  };
  const search = element('input', {
    type: 'search', placeholder: 'only rows with …', value: filters[name] ?? '',
    ariaLabel: 'only rows with', oninput: event => { filters[name] = event.target.value; fill(); },
  });
  fill();
  const note = zeros.length === 0 ? [] : [element(
      'p', {class: 'note'}, '0 in each row: ' + zeros.map(({key}) => words(key)).join(', '))];
  const made = element(
      'div', {class: isDense ? 'table dense' : 'table'},
      element('table', {}, element('thead', {}, head), body), ...note);
  return rows.length > 8 ? element('div', {}, search, made) : made;
}

// --- Anything

function shown(value, name = '') {
  if (isEmpty(value)) return Array.isArray(value) ? 'none' : '–';
  if (typeof value === 'number') return amount(name, value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value);
  if (isFrames(value)) return stack(value);
  if (isTable(value)) return table(name, value);
  if (Array.isArray(value)) return value.map(String).join(', ');
  if (isHistogram(value)) return histogramText(value, name);
  if (isByName(value)) return tableByName(value, name);
  return properties(value, name);
}

// A number that stands alone has its own unit.
function amount(name, value) {
  const key = name.split('/').at(-1);
  if (isName(key)) return String(value);
  const {kind, factor} = kindOfKey(key);
  if (kind !== null) return figure(value * factor, kind);
  return Number.isInteger(value) ? value.toLocaleString('en') : digits(value);
}

// Files of the system and of generated code: what a reader looks for is elsewhere.
const notOfProgram = /^(\/usr\/|\.\.\/)|\.corolane\./;

// Shows the innermost frame of the program, else the innermost one; all of them unfold.
function foldedStack(frames, name) {
  const {function: called, file, line} =
      frames.find(frame => frame.file && !notOfProgram.test(frame.file) &&
                           !ofRuntime.test(frame.function)) ??
      frames[0];
  const title = called.replaceAll('(anonymous namespace)::', '').split('(')[0];
  const made = element(
      'details', {}, element('summary', {}, title, ' ',
                             element('small', {}, file ? `${file}:${line}` : ''),
                             element('small', {}, ` · ${frames.length} frames`)),
      stack(frames));
  made.open = unfolded.has(name);
  made.addEventListener('toggle', () => unfolded[made.open ? 'add' : 'delete'](name));
  return made;
}

// The rule is that of coroutine/inspect/folded_frames.h, but the reader can unfold the runs.
const ofRuntime =
    /^corolane::(?:(?:coroutine|net|rpc|framework|config|detail)::|[A-Z]|\w*(?![\w:]))/;

// Runs of frames of the runtime, with those of the standard library among them, and single others.
function runsOf(frames) {
  const runs = [];
  for (let at = 0; at < frames.length;) {
    let end = at;
    for (let i = at; i < frames.length; ++i) {
      if (ofRuntime.test(frames[i].function)) {
        end = i + 1;
      } else if (!frames[i].function.startsWith('std::')) {
        break;
      }
    }
    // The last one of the innermost run is what the program has called.
    if (at === 0 && end > 0 && end < frames.length) end = Math.max(end - 1, 1);
    end = Math.max(end, at + 1);
    runs.push(frames.slice(at, end));
    at = end;
  }
  return runs;
}

function frameItem(frame) {
  return element('li', {}, frame.function, ' ',
                 element('small', {}, frame.file ? `${frame.file}:${frame.line}` : ''));
}

function stack(frames) {
  const isOwn = frame => frame.file && !ofRuntime.test(frame.function);
  if (!frames.some(isOwn)) return element('ol', {class: 'stack'}, ...frames.map(frameItem));
  return element('ol', {class: 'stack'}, ...runsOf(frames).flatMap(run => {
    if (run.length < 2) return run.map(frameItem);
    const note = element('summary', {}, `${run.length} frames of corolane`);
    return [element('li', {}, element('details', {}, note,
                                      element('ol', {class: 'stack'}, ...run.map(frameItem))))];
  }));
}

// --- Histograms, and things by name

function isThing(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function isHistogram(value) { return isThing(value) && 'p50' in value && 'p99' in value; }

// "p50 39 ns, p99 191 ns, max 249 ns, 170 of them".
function histogramText(value, name) {
  if (value.count === 0) return 'none yet';
  const {kind, factor} = kindOfKey(name.split('/').at(-1));
  const parts = ['p50', 'p99', 'max'].map(
      key => `${key} ${figure(value[key] * factor, kind ?? '')}`);
  return `${parts.join(', ')}, ${value.count.toLocaleString('en')} of them`;
}

// Things that have the same members, by their names: a table.
function isByName(value) {
  const things = isThing(value) ? Object.values(value) : [];
  return things.length > 1 && things.every(isThing) &&
      things.every(it => Object.keys(it).join() === Object.keys(things[0]).join());
}

// The members of a row; a histogram is several. `key` has its unit.
function flattened(value, key) {
  if (isHistogram(value)) {
    const unit = unitOfKey.exec(key)?.[0] ?? '';
    return Object.fromEntries(
        ['count', 'p50', 'p99', 'max'].map(it => [it === 'count' ? it : it + unit, value[it]]));
  }
  return Object.fromEntries(Object.entries(value).flatMap(([name, part]) => {
    if (!isHistogram(part)) return [[name, part]];
    return Object.entries(flattened(part, name)).filter(([it]) => it !== 'count');
  }));
}

function tableByName(value, name) {
  const key = name.split('/').at(-1);
  return table(
      name, Object.entries(value).map(([it, row]) => ({name: it, ...flattened(row, key)})));
}

function properties(object, name) {
  return element('dl', {}, ...Object.entries(object).flatMap(([key, value]) => [
    element('dt', {}, words(key)), element('dd', {}, shown(value, name + '/' + key)),
  ]));
}

// The shards that hang, without which the page is.
function silentShards(json) {
  return (json.silent_shards ?? []).map(shard => element('p', {class: 'bad'}, shard.text));
}

// A page about one object or task begins with its verdict.
function verdict(json) {
  if (isEmpty(json.verdict)) return [];
  return [element('p', {class: 'verdict'}, shown(json.verdict))];
}

// Shows the verdict and the simple properties of a page first, then a section for each of the
// others.
function sections(json) {
  if (Array.isArray(json)) return [shown(json, location.pathname)];
  const simple = {};
  const parts = [];
  for (const [key, value] of Object.entries(json)) {
    if (key === 'silent_shards' || key === 'verdict') continue;
    if (value !== null && typeof value === 'object') {
      const content = shown(value, key);
      const part = element('section', {class: 'part'}, element('h2', {}, words(key)), content);
      // A list of properties leaves room for others beside it.
      part.classList.toggle('wide', part.querySelector('table, ol') !== null);
      parts.push(part);
    } else {
      simple[key] = value;
    }
  }
  return [
    ...verdict(json), ...silentShards(json),
    ...(Object.keys(simple).length > 0 ? [properties(simple, '')] : []),
    element('div', {class: 'parts'}, ...parts),
  ];
}
