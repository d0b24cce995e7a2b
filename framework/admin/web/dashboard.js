// SPDX-License-Identifier: MIT
// The page "/": what the node does now, and has done in the last minutes or days. The history is
// the node's own, so the first look is full.
'use strict';

// --- The cards

const lineOf = (name, series, more = {}) => ({name, series, ...more});

const shortName = series => series.split('/').at(-1).split('.').at(-1);

function sumOf(past, names) {
  return names.reduce((sum, name) => sum + (past.last(name) ?? 0), 0);
}

const cards = [
  {
    title: 'errors', kind: '1/s', top: 2,
    lines: () => [
      lineOf('of the server', 'errors', {colour: '--bad'}),
      lineOf('turned away', 'turned_away', {colour: '--warn'}),
    ],
    now: past => figure(past.last('errors'), '1/s'),
    isBad: past => past.last('errors') > 0 || past.last('turned_away') > 0,
  },
  {
    title: 'refusals', kind: '1/s', top: 2,
    lines: () => [lineOf('calls that were answered with no', 'refusals')],
    now: past => figure(past.last('refusals'), '1/s'),
  },
  {
    title: 'calls', kind: '1/s', top: 2,
    lines: () => [lineOf('of clients and nodes', 'calls'), lineOf('of objects', 'object_calls')],
    now: past => figure(past.last('calls'), '1/s'),
  },
  {
    title: 'time of a call', kind: 's', top: 1e-6,
    lines: () => [
      lineOf('p50', 'call_time/p50'), lineOf('p99', 'call_time/p99'),
      lineOf('p99 until it begins', 'queue_time/p99'),
    ],
    now: past => 'p99 ' + figure(past.last('call_time/p99'), 's'),
  },
  {
    title: 'objects', kind: '', top: 2,
    lines: past => past.below('objects').slice(0, 8).map(name => lineOf(shortName(name), name)),
    now: past => figure(sumOf(past, past.below('objects')), ''),
  },
  {
    title: 'store', kind: 's', top: 1e-6,
    lines: () => [
      lineOf('write p50', 'store_write/p50'), lineOf('write p99', 'store_write/p99'),
      lineOf('read p99', 'store_read/p99'),
    ],
    now: past => past.last('store_errors') > 0 ?
        figure(past.last('store_errors'), '1/s') + ' errors' :
        figure(past.last('store_writes'), '1/s') + ' writes',
    isBad: past => past.last('store_errors') > 0,
  },
  {
    title: 'loops and ticks', kind: 's', top: 1e-6,
    lines: () => [
      lineOf('longest delay of a loop', 'loop_delay'),
      lineOf('tick too late, p99', 'tick_lateness/p99'),
    ],
    now: past => figure(past.last('loop_delay'), 's'),
    isBad: past => past.last('loop_delay') > 0.1,
  },
  {
    title: 'clients', kind: '', top: 10,
    lines: () => [
      lineOf('connections', 'connections'), lineOf('subscriptions', 'subscriptions'),
      lineOf('calls that run', 'running'),
    ],
    now: past => figure(past.last('connections'), ''),
  },
  {
    title: 'CPU', kind: 'cores', top: 0.02,
    lines: past => [
      ...past.below('cpu').filter(name => name !== 'cpu/control').slice(0, 7),
      'cpu/control',
    ].map(name => lineOf(name === 'cpu/control' ? 'control' : 'shard ' + name.split('/')[1], name)),
    now: past => figure(sumOf(past, past.below('cpu')), 'cores') + ' of a core',
  },
  {
    title: 'memory', kind: 'bytes', top: 1e6,
    lines: () => [lineOf('of the process', 'memory')],
    now: past => figure(past.last('memory'), 'bytes'),
  },
  {
    title: 'stack pool', kind: '', top: 10,
    lines: () => [
      lineOf('in use', 'stacks_in_use'), lineOf('idle, warm', 'stacks_idle'),
    ],
    now: past => `${figure(past.last('stacks_in_use'))} of ${figure(past.last('stacks_max'))}`,
    isBad: past => past.last('stacks_refused') > 0 ||
        past.last('stacks_in_use') > 0.9 * past.last('stacks_max'),
  },
  past => past.samples('fence').some(it => it !== null) ? {
    title: 'cluster', kind: 's', top: 5,
    lines: () => [lineOf('time to the fence', 'fence')],
    now: () => figure(past.last('members')) + ' members',
    facts: () => ({'partitions here': figure(past.last('partitions'))}),
    isBad: () => past.last('fence') !== null && past.last('fence') < 1.5,
  } : {
    title: 'cluster', kind: '', top: 2,
    lines: () => [lineOf('partitions here', 'partitions')],
    now: () => 'alone',
  },
  {
    title: 'cost of a switch and of a task', kind: 's', top: 1e-8,
    lines: () => [
      lineOf('switch, p50', 'switch/p50'), lineOf('new task, p50', 'creation/p50'),
    ],
    now: past => `${figure(past.last('switches'), '1/s')} switches, ` +
        `${figure(past.last('creations'), '1/s')} tasks`,
    note: 'Usual are 5 to 50 ns for a switch from one task to the next, and 30 to 300 ns for a ' +
        'new task. More says that caches are cold, since many tasks take turns, or that other ' +
        'processes take the core. The node measures a sample of them all the time.',
  },
];

// --- The state over time

const states = ['serving', 'draining', 'store full', 'fenced', 'hanging'];

// Runs of equal samples: [{state, from, count}].
function runsOf(samples) {
  const runs = [];
  samples.forEach((state, index) => {
    if (runs.at(-1)?.state === state) ++runs.at(-1).count;
    else runs.push({state, from: index, count: 1});
  });
  return runs;
}

// "serving all the time", or what else there was.
function stateWords(runs, step) {
  const sums = new Map();
  for (const {state, count} of runs) sums.set(state, (sums.get(state) ?? 0) + count * step);
  const bad = [...sums].filter(([state]) => state !== 0);
  if (bad.length === 0) return 'serving all the time';
  return bad.map(([state, seconds]) => {
    const name = state === null ? 'not known' : states[Math.round(state)];
    return `${name} for ${age(seconds)}`;
  }).join(', ') + (sums.has(0) ? ', else serving' : '');
}

function drawStrip(strip, told, past) {
  const runs = runsOf(past.samples('state'));
  const times = past.times;
  strip.replaceChildren(...runs.map(({state, from, count}) => {
    const name = state === null ? 'not known' : states[Math.round(state)];
    const part = element('i', {
      title: `${name} from ${clockText(times[from])} to ` +
          clockText(times[from] + count * past.step),
      class: 'state-' + name.replace(' ', '-'),
    });
    part.style.flexGrow = count;
    return part;
  }));
  told.textContent = stateWords(runs, past.step);
}

// --- Shards and methods

// The quantile of the values recorded between two readings of a histogram's buckets.
function quantileBetween(before, after, share) {
  const counts = new Map(after.buckets);
  for (const [bound, count] of before?.buckets ?? []) {
    counts.set(bound, (counts.get(bound) ?? 0) - count);
  }
  const bounds = [...counts.keys()].sort((left, right) => left - right);
  const total = bounds.reduce((sum, bound) => sum + counts.get(bound), 0);
  let left = Math.ceil(total * share);
  for (const bound of bounds) {
    left -= counts.get(bound);
    if (left <= 0 && counts.get(bound) > 0) return bound;
  }
  return null;  // Nothing was recorded.
}

function methodRows(before, after) {
  const seconds = after.node.uptime_seconds - before.node.uptime_seconds;
  const rows = Object.entries(after.rpc.methods).map(([method, now]) => {
    const then = before.rpc.methods[method];
    return {
      method,
      'calls per second': Math.max(0, now.calls - (then?.calls ?? 0)) / seconds,
      p50_us: quantileBetween(then?.latency_us, now.latency_us, 0.5),
      p99_us: quantileBetween(then?.latency_us, now.latency_us, 0.99),
      running: now.running, errors: now.faults, refusals: now.errors - now.faults,
      'turned away': now.refused,
    };
  });
  const rate = row => row['calls per second'];
  return rows.sort((left, right) => rate(right) - rate(left));
}

// Methods that were never called are a number below the table.
function methodTable(before, after) {
  const rows = methodRows(before, after);
  const called = rows.filter(({method}) => {
    const {calls, refused} = after.rpc.methods[method];
    return calls + refused > 0;
  });
  const others = rows.length - called.length;
  const note = others > 0 ? [element('p', {class: 'note'}, `${others} more were not called`)] : [];
  const rest = called.length > 0 ? [table('methods', called, {isSteady: true})] : [];
  return element('div', {}, ...rest, ...note);
}

// A row for each shard; one that hangs says in what, whether or not it answers.
class ShardTable {
  constructor(past) {
    this.past = past;
    this.box = element('div');
    this.reasons = new Map();  // Why a shard is silent, by its number.
    this.facts = [];           // From /stats.
  }

  hear({state}) {
    this.reasons = new Map(
        state.silent_shards.map((shard, index) => [shard, state.reasons[index]]));
    this.draw();
  }

  draw() {
    const count = this.past.below('cpu').length - 1;
    const rows = Array.from({length: Math.max(count, 0)}, (_, shard) => {
      const reason = this.reasons.get(shard);
      const facts = this.facts.find(it => it.shard === shard);
      return {
        shard,
        state: reason ? reason.replace(/^shard \d+ /, '') : 'turns',
        CPU_percent: this.past.last('cpu/' + shard) === null ? null :
            100 * this.past.last('cpu/' + shard),
        tasks: facts?.tasks, 'running calls': facts?.running_calls,
        connections: facts?.connections, objects: facts?.active_objects,
      };
    });
    if (rows.length === 0) return;
    this.box.replaceChildren(
        table('shards', rows, {
          isSteady: true, classOf: row => row.state === 'turns' ? '' : 'alarm',
        }));
  }
}

// --- The page

let range = ranges[location.hash.slice(1)] ?? ranges['10min'];

// The buttons for the time that is shown, which `choose` is told.
function rangeButtons(choose) {
  const buttons = Object.entries(ranges).map(([key, value]) => {
    const button = element('button', {type: 'button'}, value.text);
    button.setAttribute('aria-pressed', value === range);
    button.addEventListener('click', () => {
      range = value;
      history.replaceState(null, '', '#' + key);
      for (const other of buttons) other.setAttribute('aria-pressed', other === button);
      choose();
    });
    return button;
  });
  return element('div', {role: 'group', class: 'ranges', 'aria-label': 'time shown'}, ...buttons);
}

// Returns what is to be drawn, and how often in milliseconds.
function dashboard() {
  const past = new Past(range);
  const grid = element('div', {class: 'cards'});
  const strip = element('div', {class: 'strip', 'aria-hidden': 'true'});
  const told = element('span', {class: 'faint'});
  const shards = new ShardTable(past);
  const methods = element('div');
  let charts = [];

  const drawCharts = async () => {
    await past.fetch();
    if (past.seconds.length === 0) return;
    if (charts.length === 0) {
      charts = cards.map(card => new Chart(card, past)).filter(chart => chart.lines.length > 0);
      grid.replaceChildren(...charts.map(chart => chart.box));
      for (const chart of charts) chart.make();
    }
    for (const chart of charts) chart.draw();
    drawStrip(strip, told, past);
    shards.draw();
  };
  const buttons = rangeButtons(() => {
    past.range = range;
    past.clear();
    attempt(drawCharts);
  });
  document.getElementById('main').replaceChildren(
      element('div', {class: 'bar'}, buttons, told), strip, grid,
      element('h2', {}, 'shards'), shards.box, element('h2', {}, 'methods'), methods);
  onState = root => shards.hear(root);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const chart of charts) chart.make();
    for (const chart of charts) chart.draw();
  });
  new ResizeObserver(() => { for (const chart of charts) chart.resize(); }).observe(grid);

  let before = null;
  const drawTables = async () => {
    const after = await fetchJson('/stats?format=json&buckets=yes');
    shards.facts = after.shards;
    // Sums without one shard cannot be compared with sums of all of them, nor the counters of two
    // processes.
    const isSame = before !== null && !after.silent_shards && before.node.pid === after.node.pid &&
        after.node.uptime_seconds > before.node.uptime_seconds;
    if (isSame) methods.replaceChildren(methodTable(before, after));
    before = after.silent_shards ? null : after;
  };
  // Minutes change once a minute.
  let turns = 0;
  const drawChartsInTime = () =>
      past.isByMinute && past.seconds.length > 0 && ++turns % 20 !== 0 ? undefined : drawCharts();
  return [{interval: 1000, draw: drawChartsInTime}, {interval: 2000, draw: drawTables}];
}
