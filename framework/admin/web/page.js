// SPDX-License-Identifier: MIT
// Draws an admin page from its JSON: the head with the state of the node and all pages, then what
// the page has.
'use strict';

const refreshInterval = 2000;  // Milliseconds.
const stateInterval = 500;

// --- What the node answers

// A node that answers these later than that hangs. Others take as long as they were asked to.
const patience = 3000;
const quickPages = /^\/(history|stats)?(\?|$)/;

async function fetchAnswer(target) {
  const response = await fetch(target, {
    headers: {Accept: 'application/json'},
    signal: quickPages.test(target) ? AbortSignal.timeout(patience) : undefined,
  });
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

// --- Drawings, which the node makes itself

// Pages that have a drawing: the query for it, and whether there is JSON to show below.
const drawings = {
  '/profile': {query: {format: 'svg'}, hasTables: false},
  '/waits': {query: {format: 'svg'}, hasTables: true},
};

// A script that came with a document does not run in another one, but a new one with its text does.
function runScripts(drawn) {
  for (const script of drawn.querySelectorAll('script')) {
    const fresh = document.createElementNS('http://www.w3.org/2000/svg', 'script');
    fresh.textContent = script.textContent;
    script.replaceWith(fresh);
  }
}

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

// Pages whose text says more than their JSON.
const texts = new Set(['/trace', '/history']);

function fileLink({query, name, what}) {
  const target = `${location.pathname}?${query}`;
  return element('p', {}, element('a', {href: target, download: name}, name), ` ${what}`);
}

// --- The page

function say(text, isBad = false) {
  const told = document.getElementById('told');
  told.textContent = text;
  told.className = isBad ? 'bad' : '';
}

async function partsOfPage() {
  const drawn = drawings[location.pathname];
  const parts = drawn ? [await drawing(drawn.query)] : [];
  if (drawn && !drawn.hasTables) return parts;
  const file = files[location.pathname];
  if (file) parts.push(fileLink(file));
  const content = await fetchJson(ownTarget(texts.has(location.pathname) ? 'text' : 'json'));
  return parts.concat(
      typeof content === 'string' ? [element('pre', {}, content)] : sections(content));
}

async function drawPage() {
  const parts = await partsOfPage();
  const typing = document.activeElement?.type === 'search';
  const scroll = window.scrollY;
  const main = document.getElementById('main');
  main.replaceChildren(...parts);
  runScripts(main);
  window.scrollTo(0, scroll);
  if (typing) document.querySelector('input[type="search"]')?.focus();
}

// --- The head

// "2d 3h", "4min 10s".
function age(seconds) {
  const parts = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]];
  const first = parts.findIndex(([, size]) => seconds >= size);
  if (first < 0) return '0s';
  return parts.slice(first, first + 2).map(([name, size], index) => {
    const whole = index === 0 ? seconds / size : seconds % parts[first][1] / size;
    return {whole: Math.floor(whole), name};
  }).filter(({whole}) => whole > 0).map(({whole, name}) => whole + name).join(' ');
}

function drawPages(pages) {
  const groups = Map.groupBy(pages.filter(page => page.is_shown), page => page.group);
  document.getElementById('pages').replaceChildren(...[...groups].map(([name, shown]) => element(
      'div', {role: 'group', 'aria-label': name}, element('span', {class: 'faint'}, name),
      ...shown.map(page => element(
          'a', {
            href: page.path, title: page.summary,
            ...(page.path === location.pathname ? {'aria-current': 'page'} : {}),
          }, page.path === '/' ? 'dashboard' : page.path.split('/').at(-1))))));
}

// Called with each state, for parts of a page that show it.
let onState = () => {};

function drawState(root) {
  const {node, state} = root;
  nodeName = node.name;
  document.title = (state.level === 'bad' ? '⚠ ' : '') +
      `${node.name} ${location.pathname === '/' ? '' : location.pathname} - corolane`;
  document.getElementById('node').textContent = node.name;
  document.getElementById('version').textContent =
      `${node.version}, up ${age(node.uptime_seconds)}`;
  const shown = document.getElementById('state');
  // A text that is written again would be read out again.
  if (shown.textContent !== state.text) shown.textContent = state.text;
  document.body.dataset.level = state.level;
  onState(root);
}

function drawUnreachable() {
  document.getElementById('state').textContent = 'the node does not answer';
  document.body.dataset.level = 'bad';
}

async function drawHead() {
  const root = await fetchJson('/?format=json');
  drawPages(root.pages);
  drawState(root);
}

// --- From time to time

async function attempt(work) {
  try {
    await work();
    say('');
  } catch (error) {
    say(String(error.message ?? error), true);
  }
}

// Runs `work` again and again, never twice at the same time, and not for a page that nobody sees.
function repeat(interval, work, isWanted = () => true) {
  let isBusy = false;
  setInterval(async () => {
    if (isBusy || document.hidden || !isWanted()) return;
    isBusy = true;
    await work();
    isBusy = false;
  }, interval);
}

function start() {
  const live = document.getElementById('live');
  const isDashboard = location.pathname === '/';
  document.getElementById('as-json').href = isDashboard ? '/history?format=json' : ownTarget();
  live.checked = isDashboard;
  const isLive = () => live.checked;
  repeat(stateInterval, async () => {
    try {
      drawState(await fetchJson('/?format=json'));
    } catch {
      drawUnreachable();
    }
  });
  if (isDashboard) {
    attempt(drawHead);
    for (const {interval, draw} of dashboard()) {
      attempt(draw);
      repeat(interval, () => attempt(draw), isLive);
    }
    return;
  }
  attempt(async () => { await drawHead(); await drawPage(); });
  repeat(refreshInterval, () => attempt(drawPage), isLive);
}
