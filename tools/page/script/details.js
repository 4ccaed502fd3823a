// The panel beside the graph: the plan, the chosen nodes, or tensors; and the figures at the top.
'use strict';

const panel = document.getElementById('details');

function showHead() {
  document.getElementById('facts').textContent =
    (plan.devices === 1 ? 'one device' : plan.devices + ' devices as mesh ' + plan.meshText) +
    (plan.stopped ? '; ' + plan.stopped : '');
  const head = document.getElementById('kinds'), total = element('span', {}, head);
  element('b', {text: bytesText(sum(plan.bytes))}, total);
  total.append(' moved ' + plan.span);
  kinds.forEach((kind, k) => {
    const legend = element('span', {}, head);
    element('span', {class: 'swatch k-' + kind}, legend);
    legend.append(kindNames[kind] + ' ');
    element('b', {style: 'font-size:13px', text: bytesText(plan.bytes[k])}, legend);
  });
  const quiet = element('span', {}, head);
  element('span', {class: 'swatch k-none'}, quiet);
  quiet.append('nothing moves');
}

function row(table, name, ...values) {
  const line = element('tr', {}, table);
  element('th', {text: name}, line);
  for (const value of values) {
    const cell = element('td', {}, line);
    if (typeof value === 'string') cell.textContent = value; else cell.append(value);
  }
  return line;
}
function codeText(text) { return element('span', {class: 'code', text}); }
function linkTo(text, act) {
  const link = element('a', {class: 'link code', text});
  link.addEventListener('click', act);
  return link;
}
const nodeLink = (n) => linkTo(cutText(plan.nodes[n].name, 120), () => chooseNode(n));
const tensorLink = (t) => linkTo(cutText(plan.tensors[t].name, 120), () => showTensors([t]));

function drawBar(bytes, parent) {
  const total = sum(bytes), bar = element('div', {class: 'bar'}, parent);
  if (total === 0) return;
  bytes.forEach((part, k) => element('span', {class: 'k-' + kinds[k], style: `width:${100 * part / total}%`}, bar));
}

function showPlan() {
  panel.textContent = '';
  element('h2', {text: 'The plan'}, panel);
  const table = element('table', {}, panel);
  row(table, 'moves', bytesText(sum(plan.bytes)) + ' ' + plan.span + ', into all devices together');
  if (plan.entries) row(table, 'entries', plan.entries);
  row(table, 'bound', plan.bound);
  row(table, 'space', plan.space);
  if (plan.memory.length) {
    const peaks = plan.memory.map(([peak]) => peak), most = Math.max(...peaks), d = peaks.indexOf(most);
    row(table, 'memory', `${bytesText(most)} on the fullest device (${d}) at its peak, in ` +
                         `${cutText(plan.memory[d][6], 80)}; each allocates ${bytesText(plan.memory[d][5])}`);
  }
  const whole = plan.tensors.filter((one) => one.kind !== 'copy' && one.kind !== 'partial' &&
    one.dims.reduce((product, factors) => product * dimParts(factors), 1) < plan.devices);
  row(table, 'replicated', whole.length === 0 ? 'no stored tensor'
      : counted(whole.length, 'tensor') + ' on several devices: ' +
        whole.slice(0, 6).map((one) => cutText(one.name, 40)).join(', ') + (whole.length > 6 ? ', …' : ''));
  element('h3', {text: 'largest transfers'}, panel);
  drawMoves(plan.moves, 8, true);
  element('h3', {text: 'how to read it'}, panel);
  element('p', {style: 'margin:2px 0', text: 'A box is a node of the model; × 12 is a block that is repeated, ' +
    'its bytes are those of all repetitions. An edge is as wide as the bytes that move along it; partial sums ' +
    'are on the edge behind the node that they are of. ∇ computes a gradient.'}, panel);
  element('p', {style: 'margin:2px 0', text: '“splits n/ab” says that a node\'s index n is cut over mesh axes a ' +
    'and b. [32/ab, 64] is a tensor whose first dimension, 32 long, is cut over a and b; the second is whole.'},
    panel);
}

// The largest of the transfers; those whose names differ in numbers only are one.
function drawMoves(moves, count, withNode) {
  const groups = new Map(), pattern = (name) => name.replace(/\d+/g, '*');
  for (const move of moves) {
    const key = pattern(plan.tensors[move.tensor].name) + '\n' + pattern(plan.nodes[move.node].name) +
                '\n' + [move.kind, move.reduces, move.as, move.over].join();
    if (!groups.has(key)) groups.set(key, {move, bytes: 0, times: 0});
    groups.get(key).bytes += move.bytes;
    ++groups.get(key).times;
  }
  const list = [...groups.values()].sort((a, b) => b.bytes - a.bytes), table = element('table', {}, panel);
  for (const group of list.slice(0, count)) drawMove(group, withNode, table);
  if (list.length > count) {
    element('div', {class: 'note', style: 'margin:0', text: `and ${list.length - count} smaller ones`}, panel);
  }
}

function drawMove({move, bytes, times}, withNode, table) {
  const line = element('tr', {}, table), what = element('td', {}, line);
  element('span', {class: 'swatch k-' + kinds[move.kind], title: kindNames[kinds[move.kind]]}, what);
  if (times > 1) element('b', {text: times + ' × '}, what);
  what.append(move.reduces ? 'reduces ' : 'gathers ', tensorLink(move.tensor));
  if (withNode && plan.tensors[move.tensor].name !== plan.nodes[move.node].name) {
    what.append(' for ', nodeLink(move.node));
  }
  element('div', {class: 'note', style: 'margin:0', text: (move.as || 'exchange') +
    (move.over ? ' over ' + move.over : '') + ': ' + cutText(move.why, 200)}, what);
  element('td', {class: 'n', text: bytesText(bytes)}, line);
}

// "[32/abc, 64]  11 of 12": different texts, the most frequent first.
function spread(texts) {
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) || 0) + 1);
  const list = [...counts].sort((a, b) => b[1] - a[1]), cell = element('span', {});
  list.slice(0, 4).forEach(([text, count]) => {
    const line = element('div', {}, cell);
    line.append(codeText(text));
    if (list.length > 1) line.append('  ' + count + ' of ' + texts.length);
  });
  if (list.length > 4) element('div', {text: '…'}, cell);
  return cell;
}

function showNodes(view) {
  panel.textContent = '';
  const nodes = view.nodes, item = view.item;
  const single = view.kind === 'node' || view.kind === 'unit' && item.nodes.length === 1;
  element('h2', {text: cutText(single ? plan.nodes[nodes[0]].name : item ? item.name : view.label, 400)}, panel);
  const main = nodes.filter((n) => !isCopy(n));
  const operators = new Set((main.length ? main : nodes).map((n) => plan.nodes[n].op));
  element('div', {class: 'note', style: 'margin:0', text:
    (view.times > 1 ? `${view.times} alike: ` : '') + counted(nodes.length, 'node') + ', ' +
    cutText([...operators].join(', '), 120)}, panel);
  const total = sum(view.bytes);
  element('h3', {text: total === 0 ? 'moves nothing' : 'moves ' + bytesText(total) + ' ' + plan.span}, panel);
  if (total > 0) {
    drawBar(view.bytes, panel);
    element('div', {text: bytesLines(view.bytes).join(' · ')}, panel);
  }
  if (view.kind === 'unit' || view.kind === 'node') drawCuts(nodes, view);
  const moves = nodes.flatMap((n) => movesOf[n]);
  if (moves.length) {
    element('h3', {text: 'transfers'}, panel);
    drawMoves(moves, 10, nodes.length > 1);
  }
}

// The cut of each definition, its output and its weight; and the largest tensor as a drawing.
function drawCuts(nodes, view) {
  const count = view.kind === 'unit' ? view.item.nodes.length : 1, table = element('table', {}, panel);
  for (let i = 0; i < count && i < 16; ++i) {
    const alike = nodes.filter((n, at) => at % count === i), node = plan.nodes[alike[0]];
    if (count > 1 && isCopy(alike[0])) continue;
    if (count > 1) row(table, 'node', alike.length > 1 ? codeText(node.name) : nodeLink(alike[0]));
    row(table, 'splits its', spread(alike.map((n) => plan.nodes[n].cut)));
    const tensor = (n) => plan.tensors[plan.nodes[n].writes];
    if (tensor(alike[0])) row(table, 'output as stored', spread(alike.map((n) => tensor(n) ? tensor(n).text : '–')));
    const weights = alike.map((n) => plan.nodes[n].reads.map((t) => weightOf(t)).find((t) => t >= 0));
    if (weights[0] !== undefined) {
      row(table, 'weight as stored', spread(weights.map((t) => t === undefined ? '–' : plan.tensors[t].text)));
    }
    if (node.kernel && node.kernel !== 'none') row(table, 'kernel', cutText(node.kernel, 120));
  }
  const last = nodes.slice(0, count).reverse().find((n) => !isCopy(n));
  const first = nodes.flatMap((n) => plan.nodes[n].reads.map((t) => weightOf(t))).find((t) => t >= 0);
  if (first !== undefined) drawTensor(first, 'weight');
  const output = plan.nodes[last === undefined ? nodes[0] : last].writes;
  if (output >= 0) drawTensor(output, 'output');
  const reads = [...new Set(nodes.slice(0, count).flatMap((n) => plan.nodes[n].reads))];
  if (reads.length) {
    element('h3', {text: 'reads'}, panel);
    drawTensorTable(reads);
  }
}

// The weight that a tensor is, or that it is a copy of; -1 where it is none.
const copyOf = new Map(plan.nodes.filter((node, n) => isCopy(n) && node.reads.length === 1)
                           .map((node) => [node.writes, node.reads[0]]));
function weightOf(tensor) {
  const source = copyOf.has(tensor) ? copyOf.get(tensor) : tensor;
  return plan.tensors[source].kind === 'weight' ? source : -1;
}

function drawTensor(t, what) {
  const tensor = plan.tensors[t];
  const head = element('h3', {text: what ? what + '  ' : ''}, panel);
  head.append(tensorLink(t));
  const line = element('div', {}, panel);
  line.append(codeText(tensor.type + ' ' + tensor.text), '  ' + storedText(tensor));
  drawPieces(tensor, panel);
}

function drawTensorTable(list) {
  const table = element('table', {}, panel);
  for (const t of list.slice(0, 40)) {
    const line = element('tr', {}, table), tensor = plan.tensors[t];
    element('td', {}, line).append(tensorLink(t));
    element('td', {class: 'code', text: tensor.text}, line);
    element('td', {class: 'n', text: bytesText(tensor.bytes)}, line);
  }
}

// One tensor with its pieces and who uses it, or a list to choose from.
function showTensors(list) {
  panel.textContent = '';
  if (list.length > 1) {
    element('h2', {text: counted(list.length, 'tensor')}, panel);
    drawTensorTable(list);
    drawTensor(list[0], '');
    return;
  }
  const t = list[0], tensor = plan.tensors[t];
  element('h2', {text: cutText(tensor.name, 400)}, panel);
  const table = element('table', {}, panel);
  row(table, 'what', tensor.kind + ' ' + tensor.type);
  row(table, 'stored', codeText(tensor.text));
  row(table, '', storedText(tensor));
  row(table, 'bytes', bytesText(tensor.bytes) + ', at most ' + bytesText(tensor.shard) + ' on a device');
  drawPieces(tensor, panel);
  const users = (title, nodes) => {
    if (nodes.length === 0) return;
    element('h3', {text: title}, panel);
    const rows = element('table', {}, panel);
    for (const n of nodes.slice(0, 30)) row(rows, plan.nodes[n].op, nodeLink(n), codeText(plan.nodes[n].cut));
  };
  const numbers = plan.nodes.map((node, n) => n);
  users('made by', numbers.filter((n) => plan.nodes[n].writes === t));
  users('read by', numbers.filter((n) => plan.nodes[n].reads.includes(t)));
  const moves = plan.moves.filter((move) => move.tensor === t);
  if (moves.length) {
    element('h3', {text: 'transfers'}, panel);
    drawMoves(moves, 20, true);
  }
}
