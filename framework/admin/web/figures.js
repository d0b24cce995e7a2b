// SPDX-License-Identifier: MIT
// Numbers as people read them: "2.9 ms", "12.3 kB", "1.2 k/s". A column or an axis has one unit for
// all of its numbers.
'use strict';

// The units of each kind of figure, the smallest first: [size, text, from which figure on].
const unitsOf = {
  s: [
    [1e-9, 'ns'], [1e-6, 'µs'], [1e-3, 'ms'], [1, 's'], [60, 'min', 1000], [3600, 'h', 36000],
    [86400, 'd', 360000],
  ],
  bytes: [[1, 'B'], [1e3, 'kB'], [1e6, 'MB'], [1e9, 'GB'], [1e12, 'TB']],
  '1/s': [[1, '/s'], [1e3, 'k/s'], [1e6, 'M/s'], [1e9, 'G/s']],
  cores: [[0.01, '%']],
  '': [[1, ''], [1e3, 'k', 10000], [1e6, 'M'], [1e9, 'G']],
};

// The unit that suits a number of that size: {size, text}.
function unitFor(largest, kind) {
  const units = unitsOf[kind] ?? unitsOf[''];
  const size = Math.abs(largest);
  const fits = units.filter(
      ([unit, , from], index) => index === 0 || size >= (from ?? unit) * 0.9995);
  const [unit, text] = fits.at(-1);
  return {size: unit, text};
}

// Three digits that count, without zeros that do not.
function digits(value) {
  const size = Math.abs(value);
  const places = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en', {maximumFractionDigits: places});
}

// "2.9 ms"; "–" for what is not known.
function figure(value, kind = '') {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (value === 0 && kind === 's') return '0';
  const unit = unitFor(value, kind);
  const number = digits(value / unit.size);
  const gap = unit.text === '' || unit.text === '%' || unit.text === '/s' ? '' : '\u202f';
  return number + gap + unit.text;
}

// The kind of figure that a member of that name has, and its factor: latency_us is a time.
const unitOfKey = /(^|_)(seconds|us|ns|bytes|percent)(_max|_min)?$/;
const kindOfUnit = {
  seconds: {kind: 's', factor: 1}, us: {kind: 's', factor: 1e-6}, ns: {kind: 's', factor: 1e-9},
  bytes: {kind: 'bytes', factor: 1}, percent: {kind: 'cores', factor: 0.01},
};

function kindOfKey(key) {
  return kindOfUnit[unitOfKey.exec(key)?.[2]] ?? {kind: null, factor: 1};
}

// The name without the unit, which the values have.
function words(key) {
  return (key.replace(unitOfKey, '$3') || 'time').replaceAll('_', ' ');
}

// Returns how to write all numbers of a column, and the unit for its head.
function columnFormat(key, values) {
  const numbers = values.filter(it => typeof it === 'number');
  const largest = Math.max(0, ...numbers.map(Math.abs));
  const {kind, factor} = kindOfKey(key);
  if (kind === null) {
    const isWhole = numbers.every(Number.isInteger);
    const places = isWhole || largest >= 100 ? 0 : largest >= 10 ? 1 : 2;
    return {unit: '', write: value => fixed(value, places)};
  }
  if (numbers.length === 0) return {unit: '', write: String};
  const unit = unitFor(largest * factor, kind);
  const top = largest * factor / unit.size;
  const places = top >= 100 || (kind === 'bytes' && unit.size === 1) ? 0 : top >= 10 ? 1 : 2;
  return {unit: unit.text, write: value => fixed(value * factor / unit.size, places)};
}

// With that many places, so that points stand below one another; a zero is only a zero.
function fixed(value, places) {
  if (value === 0) return '0';
  const least = 10 ** -places;
  if (places > 0 && Math.abs(value) < least / 2) return '<' + least;
  return value.toLocaleString(
      'en', {minimumFractionDigits: places, maximumFractionDigits: places});
}
