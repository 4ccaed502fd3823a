// The transfers in the order of the program: a bar for each, as high as its bytes.
'use strict';

const time = document.getElementById('time');
let bars = [];  // {x, width, move, rect}, from left to right

function drawTimeline() {
  time.textContent = '';
  bars = [];
  const width = time.getBoundingClientRect().width, height = 128, left = 66, right = 10, top = 12, bottom = 20;
  const moves = [...plan.moves].map((move, i) => [move, i])
      .sort(([a, i], [b, j]) => a.node - b.node || (a.reduces ? 1 : 0) - (b.reduces ? 1 : 0) || i - j)
      .map(([move]) => move);
  const most = moves.reduce((m, move) => Math.max(m, move.bytes), 1), count = Math.max(1, plan.nodes.length);
  const step = (width - left - right) / count, tall = height - top - bottom;
  const x = (node) => left + node * step;
  drawSpans(x, step, top, tall);
  for (const share of [0, 0.5, 1]) {
    const y = top + tall * (1 - share);
    svgElement('line', {x1: left, x2: width - right, y1: y, y2: y}, time);
    svgElement('text', {x: left - 6, y: y + 4, 'text-anchor': 'end', text: bytesText(Math.round(most * share))}, time);
  }
  const at = new Map();  // of a node, how many transfers it has so far
  for (const move of moves) {
    const number = at.get(move.node) || 0, inNode = movesOf[move.node].length;
    at.set(move.node, number + 1);
    const wide = Math.max(1.2, Math.min(9, 0.9 * step / inNode));
    const place = x(move.node) + step * number / inNode, tallness = Math.max(1, tall * move.bytes / most);
    const rect = svgElement('rect', {class: 'move k-' + kinds[move.kind], x: place, y: top + tall - tallness,
                                     width: wide, height: tallness}, time);
    bars.push({x: place + wide / 2, move, rect});
  }
  if (bars.length === 0) svgElement('text', {x: left + 10, y: height / 2, text: 'nothing moves'}, time);
}

// What the outermost items are, along the axis.
function drawSpans(x, step, top, tall) {
  let taken = 0;
  plan.tree.forEach((item, i) => {
    const first = Math.min(...ends(item.nodes)), last = Math.max(...ends(item.nodes));
    const from = x(first), to = x(last + 1);
    if (i % 2 === 0) svgElement('rect', {class: 'span', x: from, y: top, width: to - from, height: tall}, time);
    const room = Math.floor((to - from) / 6.2);
    if (room < 6 || from < taken) return;
    taken = to;
    svgElement('text', {x: from + 2, y: top + tall + 14, text: cutText(labelOf(item, ''), room)}, time);
  });
}
const ends = (nodes) => nodes.length < 3 ? nodes : [nodes[0], nodes[nodes.length - 1]];

function nearest(event) {
  const x = event.clientX - time.getBoundingClientRect().left;
  let best = null;
  for (const bar of bars) {
    const off = Math.abs(bar.x - x) - (event.target === bar.rect ? 1e6 : 0);
    if (off < 12 && (!best || off < best.off)) best = {off, bar};
  }
  return best && best.bar;
}

time.addEventListener('mousemove', (event) => {
  const bar = nearest(event);
  if (!bar) { hideTip(); return; }
  const move = bar.move;
  showTip([cutText(plan.nodes[move.node].name, 120),
           (move.reduces ? 'reduces ' : 'gathers ') + cutText(plan.tensors[move.tensor].name, 120),
           kindNames[kinds[move.kind]] + ', ' + bytesText(move.bytes),
           (move.as || 'exchange') + (move.over ? ' over mesh axes ' + move.over : ''),
           cutText(move.why, 200)].join('\n'), event);
});
time.addEventListener('mouseleave', hideTip);
time.addEventListener('click', (event) => {
  const bar = nearest(event);
  if (bar) chooseNode(bar.move.node);
});

// The transfers of these nodes stand out; of no nodes, or all: none does.
function markMoves(nodes) {
  const marked = new Set(nodes), some = marked.size > 0 && marked.size < plan.nodes.length;
  for (const bar of bars) bar.rect.classList.toggle('dim', some && !marked.has(bar.move.node));
}

let waiting = 0;
window.addEventListener('resize', () => {
  clearTimeout(waiting);
  waiting = setTimeout(drawTimeline, 150);
});
