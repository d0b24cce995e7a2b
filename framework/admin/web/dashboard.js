// SPDX-License-Identifier: MIT
// The page "/": the current activity of the node, as charts of the last two minutes, from /stats.
'use strict';

const dashboardInterval = 1000;  // Milliseconds.
const pointCount = 120;

// --- Figures of one interval, from two readings of counters

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

function addedUp(histograms) {
  const counts = new Map();
  for (const {buckets} of histograms) {
    for (const [bound, count] of buckets) counts.set(bound, (counts.get(bound) ?? 0) + count);
  }
  return {buckets: [...counts]};
}

class Interval {
  constructor(before, after) {
    this.before = before;
    this.after = after;
    this.seconds = after.node.uptime_seconds - before.node.uptime_seconds;
  }
  // The rate per second of the counter that `look` finds in a reading.
  rate(look) {
    return Math.max(0, (look(this.after) - (look(this.before) ?? 0)) / this.seconds);
  }
  quantile(look, share) { return quantileBetween(look(this.before), look(this.after), share); }
}

const latencies = stats => addedUp(Object.values(stats.rpc.methods).map(it => it.latency_us));
const queueDelays = stats => addedUp(Object.values(stats.rpc.queue_delay_us));
const callCount = stats => Object.values(stats.rpc.methods).reduce((sum, it) => sum + it.calls, 0);

// The rate of each method in an interval: {name, rate}, the busiest first.
function methodRates(interval) {
  return Object.keys(interval.after.rpc.methods)
      .map(name => ({name, rate: interval.rate(stats => stats.rpc.methods[name]?.calls)}))
      .sort((left, right) => right.rate - left.rate);
}

// --- Charts

function metric(value) {
  if (value === null || Number.isNaN(value)) return '-';
  const scale = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']].find(([size]) => Math.abs(value) >= size);
  if (!scale) return value.toLocaleString('en', {maximumFractionDigits: value < 10 ? 2 : 0});
  return (value / scale[0]).toLocaleString('en', {maximumFractionDigits: 1}) + scale[1];
}

// Lines over time in one box. `read` makes {line: value} of an interval; the first value is shown
// large.
class Chart {
  constructor(title, unit, read) {
    this.unit = unit;
    this.read = read;
    this.lines = new Map();  // The last values of each line, the newest at the end.
    this.now = element('span', {class: 'now'}, '-');
    this.svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    this.svg.setAttribute('viewBox', `0 0 ${pointCount - 1} 100`);
    this.svg.setAttribute('preserveAspectRatio', 'none');
    this.svg.setAttribute('role', 'img');
    this.svg.setAttribute('aria-label', title);
    this.legend = element('div', {class: 'legend'});
    this.box = element(
        'section', {class: 'card'}, element('h3', {}, title), this.now, ' ',
        element('span', {class: 'unit'}, unit), this.svg, this.legend);
    this.box.dataset.chart = title;
  }

  add(interval) {
    const values = this.read(interval);
    for (const name of Object.keys(values)) {
      if (!this.lines.has(name)) this.lines.set(name, Array(pointCount).fill(null));
    }
    for (const [name, points] of this.lines) {
      points.shift();
      points.push(values[name] ?? null);
      if (points.every(point => point === null)) this.lines.delete(name);
    }
    this.draw();
  }

  draw() {
    const top = Math.max(1e-9, ...[...this.lines.values()].flat().filter(it => it !== null)) * 1.1;
    const names = [...this.lines.keys()];
    this.svg.replaceChildren(...names.map((name, index) => {
      const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
      path.setAttribute('stroke', `var(--s${index % 6})`);
      path.setAttribute('d', this.lines.get(name).map((value, x, all) => {
        if (value === null) return '';
        const begins = x === 0 || all[x - 1] === null;
        return `${begins ? 'M' : 'L'}${x} ${(98 - 96 * value / top).toFixed(2)}`;
      }).join(''));
      return path;
    }));
    const last = name => this.lines.get(name).at(-1);
    this.now.textContent = names.length === 0 ? '-' : metric(last(names[0]));
    this.legend.replaceChildren(...names.map((name, index) => element(
        'span', {}, element('i', {style: `background: var(--s${index % 6})`}),
        `${name} ${metric(last(name))}`)));
  }
}

function allCharts() {
  const quantiles = look => interval =>
      ({p50: interval.quantile(look, 0.5), p99: interval.quantile(look, 0.99)});
  return [
    new Chart('loop utilisation', '% of a core, each shard', interval => Object.fromEntries(
        interval.after.shards.map(({shard}) =>
            ['shard ' + shard,
             100 * interval.rate(stats =>
                 stats.shards.find(it => it.shard === shard)?.thread_cpu_seconds)]))),
    new Chart('tasks', 'now', ({after}) =>
        ({suspended: after.coroutine.tasks - after.coroutine.ready, ready: after.coroutine.ready})),
    new Chart('switches', 'a second',
        interval => ({switches: interval.rate(stats => stats.coroutine.switches)})),
    new Chart('cost of a switch', 'ns, sampled', quantiles(stats => stats.coroutine.switch_ns)),
    new Chart('creations', 'a second',
        interval => ({
          creations: interval.rate(stats => stats.coroutine.created),
          'from the pool': interval.rate(stats => stats.stack_pool.hits),
        })),
    new Chart('cost of a creation', 'ns, sampled', quantiles(stats => stats.coroutine.create_ns)),
    new Chart('stack memory', 'MB', ({after}) => ({
      committed: after.stack_pool.committed_bytes / 1e6,
      'in use': after.stack_pool.committed_bytes / 1e6 * after.stack_pool.in_use /
          Math.max(1, after.stack_pool.in_use + after.stack_pool.idle),
    })),
    new Chart('calls', 'a second', interval => Object.fromEntries(
        [['all', interval.rate(callCount)],
         ...methodRates(interval).slice(0, 4).filter(({rate}) => rate > 0)
             .map(({name, rate}) => [name.split('.').at(-1), rate])])),
    new Chart('time of a call', 'us', quantiles(latencies)),
    new Chart('queue delay', 'us', quantiles(queueDelays)),
    new Chart('stalls', 'so far', ({after}) => ({stalls: after.stalls.count})),
    new Chart('objects', 'active', ({after}) => ({active: after.objects.active})),
    new Chart('connections', 'open', ({after}) => ({connections: after.rpc.connections})),
  ];
}

function methodTable(interval) {
  const rows = methodRates(interval).map(({name, rate}) => {
    const look = stats => stats.rpc.methods[name]?.latency_us ?? {buckets: []};
    const {running, errors, refused} = interval.after.rpc.methods[name];
    return {
      method: name, 'calls/s': rate, 'p50 us': interval.quantile(look, 0.5),
      'p99 us': interval.quantile(look, 0.99), running, errors, refused,
    };
  });
  return rows.length === 0 ? element('p', {class: 'note'}, 'no methods') : table('methods', rows);
}

// Returns a function to be called in each interval.
function dashboard() {
  const charts = allCharts();
  const methods = element('div');
  const silent = element('div');
  document.getElementById('main').replaceChildren(
      silent, element('div', {class: 'cards'}, ...charts.map(chart => chart.box)),
      element('h2', {}, 'methods, in the last second'), methods);
  let before = null;
  return async () => {
    const after = await fetchJson('/stats?format=json&buckets=yes');
    silent.replaceChildren(...silentShards(after));
    // Sums without one shard cannot be compared with sums of all of them.
    if (after.silent_shards) {
      before = null;
      return;
    }
    // Neither can the counters of another process.
    if (before !== null && before.node.pid === after.node.pid &&
        after.node.uptime_seconds > before.node.uptime_seconds) {
      const interval = new Interval(before, after);
      for (const chart of charts) chart.add(interval);
      methods.replaceChildren(methodTable(interval));
    }
    before = after;
  };
}
