// SPDX-License-Identifier: MIT
// The history of the node, and charts of it.
'use strict';

const ranges = {
  '2min': {text: '2 min', seconds: 120},
  '10min': {text: '10 min', seconds: 600},
  '2d': {text: '2 days', seconds: 2 * 24 * 60 * 60},
};

// --- The samples

// What the node has kept of a range: by the second, of which the newest are asked for, or by the
// minute.
class Past {
  constructor(range) {
    this.range = range;
    this.clear();
  }

  clear() {
    this.seconds = [];       // Of the node, rising.
    this.series = new Map();  // {unit, samples} by name; as many samples as seconds.
    this.start = null;        // When the seconds of the node begin, in seconds since 1970.
    this.step = 1;
  }

  get isByMinute() { return this.range.seconds > 600; }

  async fetch() {
    const {range} = this;
    const since = (performance.now() - (this.fetchedAt ?? 0)) / 1000;
    const isAll = this.isByMinute || this.seconds.length === 0 || since > this.range.seconds / 2;
    const asked = isAll ? this.range.seconds : Math.ceil(since) + 3;
    const told = await fetchJson(`/history?format=json&seconds=${asked}`);
    if (range !== this.range) return;  // Another one was chosen meanwhile.
    this.fetchedAt = performance.now();
    // The seconds of another process are others.
    const isAnother = this.start !== null && Math.abs(told.start - this.start) > 5;
    if (isAll || isAnother) this.clear();
    if (isAnother && !isAll) return this.fetch();
    this.start ??= told.start;
    this.step = told.step;
    this.add(told);
  }

  add(told) {
    const last = this.seconds.at(-1) ?? -1;
    const all = Array.from({length: told.count}, (_, index) => told.first + index * told.step);
    const from = all.findIndex(second => second > last);
    if (from < 0) return;
    this.seconds.push(...all.slice(from));
    for (const {name, unit, samples} of told.series) {
      if (!this.series.has(name)) this.series.set(name, {unit, samples: []});
      this.series.get(name).samples.push(...samples.slice(from));
    }
    const excess = this.isByMinute ? 0 : this.seconds.length - this.range.seconds;
    if (excess <= 0) return;
    this.seconds.splice(0, excess);
    for (const {samples} of this.series.values()) samples.splice(0, excess);
  }

  get times() { return this.seconds.map(second => this.start + second); }
  samples(name) { return this.series.get(name)?.samples ?? []; }
  last(name) { return this.samples(name).at(-1) ?? null; }
  // The names that begin so, such as those of all types of objects.
  below(prefix) { return [...this.series.keys()].filter(name => name.startsWith(prefix + '/')); }
}

// --- Colours

function colour(name) { return getComputedStyle(document.body).getPropertyValue(name).trim(); }

const lineColours = ['--s0', '--s1', '--s2', '--s3', '--s4', '--s5', '--s6', '--s7'];

// --- A chart

// Samples without a neighbour, which no line would show.
function lonely(samples) {
  const alone = [];
  samples.forEach((sample, index) => {
    const isAlone = sample !== null && (samples[index - 1] ?? null) === null &&
        (samples[index + 1] ?? null) === null;
    if (isAlone) alone.push(index);
  });
  return alone;
}

function clockText(time) { return new Date(time * 1000).toLocaleTimeString('en-GB'); }

// The least round number that is not below.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find(it => it * power >= value * 0.9999) * power;
}

// The marks of the time axis: few, at round times, with the day at midnight.
const timeSteps = [10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400];

function timeMarks(from, to, countMax) {
  const step = timeSteps.find(it => (to - from) / it <= countMax) ?? timeSteps.at(-1);
  const zone = new Date(from * 1000).getTimezoneOffset() * 60;
  const marks = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step) marks.push(at);
  // One at the very left would run into the amounts.
  return marks.filter(at => at - from > (to - from) * 0.06);
}

function timeMarkText(time, range) {
  const date = new Date(time * 1000);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  if (range > 86400 && isMidnight) {
    return date.toLocaleDateString('en', {month: 'short', day: 'numeric'});
  }
  return date.toLocaleTimeString(
      'en-GB', {hour: '2-digit', minute: '2-digit', ...(range < 200 ? {second: '2-digit'} : {})});
}

// A card with lines over time. `card` has: title; kind, that of all its figures; lines, [{name,
// series, colour}] of a Past; now, the text that is shown large, from the same; facts, further
// texts {name: text}; isBad, whether the card is red; note, a sentence below.
class Chart {
  constructor(card, past) {
    this.past = past;
    // Whether a node is alone, for example, decides what there is to see.
    this.card = typeof card === 'function' ? card(past) : card;
    this.lines = this.card.lines(past);
    const {title, note} = this.card;
    this.now = element('span', {class: 'now'});
    this.plot = element(
        'div', {class: 'plot', role: 'img', 'aria-label': title + ' over time'});
    this.legend = element('div', {class: 'legend'});
    this.box = element(
        'section', {class: note ? 'card wide' : 'card', 'aria-label': title},
        element('div', {class: 'top'}, element('h2', {}, title), this.now), this.plot,
        this.legend, ...(note ? [element('p', {class: 'note'}, note)] : []));
    this.box.dataset.chart = title;
    this.box.chart = this;  // For the console of a browser.
    this.values = this.lines.map(({name, colour: shade}, index) => {
      const value = element('b');
      const mark = element('i', {style: `background: var(${shade ?? lineColours[index % 8]})`});
      this.legend.append(element('span', {}, mark, name, ' ', value));
      return value;
    });
    this.facts = element('span');
    this.legend.append(this.facts);
  }

  // Call it when the box is in the document, and again when the colours change.
  make() {
    this.chart?.destroy();
    this.chart = new uPlot(this.options(), this.data(), this.plot);
  }

  data() {
    const length = this.past.seconds.length;
    const padded = name => {
      const samples = this.past.samples(name);
      return samples.length === length ? samples : Array(length).fill(null);
    };
    return [this.past.times, ...this.lines.map(({series}) => padded(series))];
  }

  options() {
    const faint = colour('--faint');
    const grid = {stroke: colour('--line'), width: 1};
    const font = '11px system-ui, sans-serif';
    const axis = {stroke: faint, grid, font, ticks: {show: false}};
    return {
      width: Math.max(this.plot.clientWidth, 100),
      height: 118,
      padding: [8, 22, 0, 0],
      legend: {show: false},
      cursor: {sync: {key: 'time'}, drag: {x: false, y: false}, y: false},
      scales: {
        x: {time: true, range: (_, least, most) => [Math.min(least, most - 30), most]},
        y: {range: (_, least, most) => [0, this.top(most ?? 0)]},
      },
      axes: [
        {
          ...axis, size: 20, gap: 3,
          splits: (chart, at, from, to) => timeMarks(from, to, chart.width / 90),
          values: (chart, splits) => splits.map(
              time => timeMarkText(time, chart.scales.x.max - chart.scales.x.min)),
        },
        {
          ...axis, size: 52, gap: 4, splits: (chart, at, from, to) => [0, to / 2, to],
          values: (chart, splits) => this.axisTexts(splits),
        },
      ],
      series: [{}, ...this.lines.map(({colour: shade}, index) => ({
        stroke: colour(shade ?? lineColours[index % 8]), width: 1.5,
        ...(this.lines.length === 1 ? {fill: colour('--fill')} : {}),
        points: {size: 4, filter: (chart, at) => lonely(chart.data[at])},
      }))],
      hooks: {setCursor: [chart => this.tell(chart.cursor.idx)]},
    };
  }

  // Half of it is a round number, too.
  top(most) {
    const {kind} = this.card;
    const half = Math.max(most * 1.02, this.card.top) / 2;
    const {size} = unitFor(half * 2, kind);
    return 2 * roundUp(half / size) * size;
  }

  // One unit for all marks of an axis.
  axisTexts(splits) {
    const {kind} = this.card;
    const unit = unitFor(Math.max(...splits), kind);
    const gap = ['', '%', '/s'].includes(unit.text) ? '' : '\u202f';
    return splits.map(split => split === 0 ? '0' : digits(split / unit.size) + gap + unit.text);
  }

  // The figures of the sample under the cursor, else of the last one.
  tell(index) {
    this.lines.forEach(({series, kind}, at) => {
      const samples = this.past.samples(series);
      const value = samples[index ?? samples.length - 1];
      this.values[at].textContent = figure(value, kind ?? this.card.kind);
    });
  }

  draw() {
    this.chart.setData(this.data());
    this.now.textContent = this.card.now(this.past);
    this.facts.replaceChildren(...Object.entries(this.card.facts?.(this.past) ?? {}).flatMap(
        ([name, text]) => [name + ' ', element('b', {}, text), '  ']));
    this.box.classList.toggle('alarm', this.card.isBad?.(this.past) ?? false);
    this.tell(this.chart.cursor.idx);
  }

  resize() {
    const width = this.plot.clientWidth;
    if (width > 0) this.chart.setSize({width, height: this.chart.height});
  }
}
