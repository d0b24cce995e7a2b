// SPDX-License-Identifier: MIT
#include "framework/pages/detail/flame_script.h"

namespace corolane::framework::detail {

const std::string_view flame_controls = R"svg(<foreignObject x="830" y="4" width="366" height="28">
<div xmlns="http://www.w3.org/1999/xhtml" class="controls"><output></output>
<button type="button" hidden="">whole graph</button>
<input type="search" placeholder="find a function" aria-label="find a function"/></div>
</foreignObject>
)svg";

const std::string_view flame_script = R"svg(<script><![CDATA[
(() => {
  const svg = document.currentScript.closest('svg');
  const [field, told, whole] = ['input', 'output', 'button'].map(it => svg.querySelector(it));
  const width = svg.viewBox.baseVal.width;
  const letterWidth = 6.6;
  const boxes = [...svg.querySelectorAll('g.box')].map(g => {
    const title = g.querySelector('title').textContent;
    const rect = g.querySelector('rect');
    return {
      g, rect, text: g.querySelector('text'), name: title.slice(0, title.lastIndexOf(': ')),
      at: Number(g.dataset.at), weight: Number(g.dataset.weight),
      y: Number(rect.getAttribute('y')),
    };
  });
  const root = boxes[0];
  if (root === undefined) return;  // There was no sample.
  let shown = root;

  const end = box => box.at + box.weight;
  const covers = (outer, inner) => outer.at <= inner.at && end(outer) >= end(inner);

  function fitting(name, room) {
    const letters = Math.floor(room / letterWidth - 1);
    if (name.length <= letters) return name;
    return letters < 4 ? '' : name.slice(0, letters - 2) + '..';
  }

  // The box takes the whole width, above those that it stands on.
  function zoom(to) {
    shown = to;
    whole.hidden = to === root;
    for (const box of boxes) {
      const isBelow = box.y >= to.y;
      const isSeen = isBelow ? covers(box, to) : covers(to, box);
      box.g.style.display = isSeen ? '' : 'none';
      if (!isSeen) continue;
      const left = isBelow ? 0 : (box.at - to.at) / to.weight * width;
      const size = isBelow ? width : box.weight / to.weight * width;
      box.rect.setAttribute('x', left);
      box.rect.setAttribute('width', size);
      box.text.setAttribute('x', left + 3);
      box.text.textContent = fitting(box.name, size);
      box.g.classList.toggle('under', isBelow && box !== to);
    }
  }

  // Time is not counted twice when a function that was found calls another one.
  function find(text) {
    const wanted = text.toLowerCase();
    let weight = 0;
    let counted = null;
    for (const box of boxes) {
      const isFound = wanted !== '' && box !== root && box.name.toLowerCase().includes(wanted);
      box.g.classList.toggle('found', isFound);
      if (!isFound || (counted !== null && covers(counted, box))) continue;
      weight += box.weight;
      counted = box;
    }
    told.textContent = wanted === '' ? '' : (100 * weight / root.weight).toFixed(1) + ' %';
  }

  // Up to a callee, down to a caller, left and right among neighbours.
  function neighbour(box, key) {
    const seen = boxes.filter(it => it.g.style.display !== 'none');
    const level = key === 'ArrowUp' ? -1 : key === 'ArrowDown' ? 1 : 0;
    const heights = [...new Set(seen.map(it => it.y))].sort((a, b) => a - b);
    const y = heights[heights.indexOf(box.y) + level];
    const row = seen.filter(it => it.y === y);
    if (level < 0) return row.find(it => covers(box, it));
    if (level > 0) return row.find(it => covers(it, box));
    return row[row.indexOf(box) + (key === 'ArrowRight' ? 1 : -1)];
  }

  for (const box of boxes) {
    box.g.addEventListener('click', () => zoom(box === shown ? root : box));
    box.g.addEventListener('keydown', event => {
      if (event.key === 'Enter') zoom(box === shown ? root : box);
      if (!event.key.startsWith('Arrow')) return;
      event.preventDefault();
      neighbour(box, event.key)?.g.focus();
    });
  }
  root.g.setAttribute('tabindex', '0');
  svg.addEventListener('keydown', event => { if (event.key === 'Escape') zoom(root); });
  field.addEventListener('input', () => find(field.value));
  whole.addEventListener('click', () => zoom(root));
})();
]]></script>
)svg";

}  // namespace corolane::framework::detail
