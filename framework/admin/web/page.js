// SPDX-License-Identifier: MIT
// Draws any admin page from its JSON: lists of things as tables that can be sorted and searched,
// things as lists of their properties, stacks as stacks.
'use strict';

const refreshInterval = 2000;  // Milliseconds.

// --- Elements

// element('a', {href: '/'}, 'text', child...)
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made && key !== 'class') made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function words(key) { return key.replaceAll('_', ' '); }

function round(value) {
  if (Number.isInteger(value)) return value.toLocaleString('en');
  return Number(value.toPrecision(4)).toLocaleString('en', {maximumFractionDigits: 6});
}

// --- Tables

const filters = {};  // The search texts, by the name of the table; they outlive a refresh.
const orders = {};   // {key, falls}, likewise.

function isFrames(value) {
  return Array.isArray(value) && value.length > 0 && value[0] !== null &&
      typeof value[0] === 'object' && 'function' in value[0];
}

function isTable(value) {
  return Array.isArray(value) && value.length > 0 && !isFrames(value) &&
      value.every(row => row !== null && typeof row === 'object' && !Array.isArray(row));
}

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
    return `/objects/${encodeURIComponent(row.method.split('/')[0])}/${encodeURIComponent(row.object)}`;
  }
  if (key === 'type' && 'active' in row) return '/objects?type=' + encodeURIComponent(row.type);
  return null;
}

function cell(key, row) {
  const value = row[key];
  if (typeof value === 'number') return element('td', {class: 'number'}, linked(key, row, round(value)));
  if (isFrames(value)) return element('td', {}, foldedStack(value));
  const isLong = typeof value === 'object' || (typeof value === 'string' && value.length > 50);
  return element('td', isLong ? {class: 'long'} : {}, linked(key, row, shown(value)));
}

function linked(key, row, content) {
  const target = linkOf(key, row);
  return target === null ? content : element('a', {href: target}, content);
}

function compare(left, right) {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return String(left).localeCompare(String(right), 'en', {numeric: true});
}

function table(name, rows) {
  const keys = [...new Set(rows.flatMap(row => Object.keys(row)))];
  const body = element('tbody');
  const fill = () => {
    const filter = (filters[name] ?? '').toLowerCase();
    const order = orders[name];
    let visible = rows.filter(row => JSON.stringify(row).toLowerCase().includes(filter));
    if (order) {
      visible = visible.toSorted((left, right) => compare(left[order.key], right[order.key]));
      if (order.falls) visible.reverse();
    }
    body.replaceChildren(...visible.map(row => element('tr', {}, ...keys.map(key => cell(key, row)))));
  };
  const sortBy = key => {
    const falls = orders[name]?.key === key ? !orders[name].falls : typeof rows[0][key] === 'number';
    orders[name] = {key, falls};
    fill();
  };
  const heads = keys.map(key => element(
      'th', typeof rows[0][key] === 'number' ? {class: 'number'} : {},
      element('button', {onclick: () => sortBy(key)}, words(key))));
  const search = element('input', {
    type: 'search', placeholder: 'only rows with ...', value: filters[name] ?? '',
    ariaLabel: 'only rows with', oninput: event => { filters[name] = event.target.value; fill(); },
  });
  fill();
  const made = element('div', {class: 'table'}, element(
      'table', {}, element('thead', {}, element('tr', {}, ...heads)), body));
  return rows.length > 8 ? element('div', {}, search, made) : made;
}

// --- Anything

function shown(value, name = '') {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'number') return round(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value);
  if (isFrames(value)) return stack(value);
  if (isTable(value)) return table(name, value);
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(String).join(', ');
  return properties(value, name);
}

// In a row it shows the innermost frame; the others unfold.
function foldedStack(frames) {
  const {function: name, file, line} = frames[0];
  return element(
      'details', {}, element('summary', {}, name.split('(')[0], ' ',
                             element('small', {}, file ? `${file}:${line}` : '')),
      stack(frames));
}

function stack(frames) {
  return element('ol', {class: 'stack'}, ...frames.map(frame => element(
      'li', {}, frame.function, ' ',
      element('small', {}, frame.file ? `${frame.file}:${frame.line}` : ''))));
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

// Shows the simple properties of a page first, then a section for each of the others.
function sections(json) {
  if (Array.isArray(json)) return [shown(json, location.pathname)];
  const simple = {};
  const parts = [];
  for (const [key, value] of Object.entries(json)) {
    if (key === 'silent_shards') continue;
    if (value !== null && typeof value === 'object') {
      parts.push(element('h2', {}, words(key)), shown(value, key));
    } else {
      simple[key] = value;
    }
  }
  return [...silentShards(json), properties(simple, ''), ...parts];
}

// --- Drawings, which the node makes itself

// Pages that have a drawing: the query for it, and whether there is JSON to show below.
const drawings = {
  '/profile': {query: {format: 'svg'}, hasTables: false},
  '/waits': {query: {format: 'svg'}, hasTables: true},
};

async function drawing(query) {
  const asked = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(query)) asked.set(key, value);
  const text = await fetchText(`${location.pathname}?${asked}`);
  const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
  return element('div', {class: 'drawing'}, document.importNode(parsed.documentElement, true));
}

// Results that are too large to show, offered as a file.
const files = {
  '/trace': {query: 'format=json', name: 'corolane-trace.json', what: 'for ui.perfetto.dev'},
};

function fileLink({query, name, what}) {
  const target = `${location.pathname}?${query}`;
  return element('p', {}, element('a', {href: target, download: name}, name), ` ${what}`);
}

// --- The page

function say(text, isBad = false) {
  const state = document.getElementById('state');
  state.textContent = text;
  state.className = isBad ? 'bad' : '';
}

async function fetchAnswer(target) {
  const response = await fetch(target, {headers: {Accept: 'application/json'}});
  const text = await response.text();
  if (!response.ok) throw new Error(`${target}: ${response.status} ${text.trim()}`);
  return {text, isJson: (response.headers.get('content-type') ?? '').includes('json')};
}

async function fetchText(target) { return (await fetchAnswer(target)).text; }

async function fetchJson(target) {
  const {text, isJson} = await fetchAnswer(target);
  return isJson ? JSON.parse(text) : text;
}

function ownTarget(format = 'json') {
  const query = new URLSearchParams(location.search);
  query.set('format', format);
  return `${location.pathname}?${query}`;
}

async function partsOfPage() {
  const drawn = drawings[location.pathname];
  const parts = drawn ? [await drawing(drawn.query)] : [];
  if (drawn && !drawn.hasTables) return parts;
  const file = files[location.pathname];
  if (file) parts.push(fileLink(file));
  const content = await fetchJson(ownTarget(file ? 'text' : 'json'));
  return parts.concat(
      typeof content === 'string' ? [element('pre', {}, content)] : sections(content));
}

async function drawPage() {
  const parts = await partsOfPage();
  const typing = document.activeElement?.type === 'search';
  const scroll = window.scrollY;
  document.getElementById('main').replaceChildren(...parts);
  window.scrollTo(0, scroll);
  if (typing) document.querySelector('input[type="search"]')?.focus();
}

async function drawHead() {
  const {node, pages} = await fetchJson('/?format=json');
  nodeName = node.name;
  document.title = `${node.name} ${location.pathname === '/' ? '' : location.pathname} - corolane`;
  document.getElementById('node').textContent = `${node.name}, ${node.version}`;
  document.getElementById('pages').replaceChildren(
      ...pages.filter(page => page.is_shown).map(page => element(
          'a', {
            href: page.path, title: page.summary,
            ...(page.path === location.pathname ? {'aria-current': 'page'} : {}),
          }, page.path === '/' ? 'dashboard' : page.path.slice(1))));
}

async function attempt(work) {
  try {
    await work();
    say('');
  } catch (error) {
    say(String(error.message ?? error), true);
  }
}

function start() {
  const live = document.getElementById('live');
  const isDashboard = location.pathname === '/';
  document.getElementById('as-json').href = isDashboard ? '/stats?format=json' : ownTarget();
  const draw = isDashboard ? dashboard() : drawPage;
  live.checked = isDashboard;
  attempt(async () => { await drawHead(); await draw(); });
  const interval = isDashboard ? dashboardInterval : refreshInterval;
  let isBusy = false;
  setInterval(async () => {
    if (!live.checked || isBusy || document.hidden) return;
    isBusy = true;
    await attempt(draw);
    isBusy = false;
  }, interval);
}
