// The plan, as the page's data has it, and what all parts of the page look up in it.
'use strict';

const plan = JSON.parse(document.getElementById('plan').textContent);
const kinds = plan.kinds;
const kindNames = {weight: 'weights gathered', activation: 'activations gathered',
                   partial: 'partial sums combined', halo: 'halos gathered'};
const svgNamespace = document.getElementById('canvas').namespaceURI;

// "14.2 MB", as the terminal prints it.
function bytesText(bytes) {
  if (bytes < 1e3) return bytes + ' B';
  if (bytes < 1e6) return (bytes / 1e3).toFixed(1) + ' kB';
  if (bytes < 1e10) return (bytes / 1e6).toFixed(1) + ' MB';
  return (bytes / 1e9).toFixed(1) + ' GB';
}

function counted(count, word) { return count + ' ' + word + (count === 1 ? '' : 's'); }

function element(name, attributes, parent) {
  const made = document.createElement(name);
  setAll(made, attributes);
  if (parent) parent.appendChild(made);
  return made;
}
function svgElement(name, attributes, parent) {
  const made = document.createElementNS(svgNamespace, name);
  setAll(made, attributes);
  if (parent) parent.appendChild(made);
  return made;
}
// Names come from files: text is only ever set as text.
function setAll(made, attributes) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'text') made.textContent = value;
    else made.setAttribute(key, value);
  }
}

// The box beside the mouse.
function showTip(text, event) {
  const tip = document.getElementById('tip');
  tip.textContent = text;
  tip.style.display = 'block';
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + 'px';
  tip.style.top = Math.max(4, Math.min(event.clientY + 16, innerHeight - box.height - 8)) + 'px';
}
function hideTip() { document.getElementById('tip').style.display = 'none'; }

const noBytes = () => kinds.map(() => 0);
const sum = (bytes) => bytes.reduce((a, b) => a + b, 0);
function addBytes(to, bytes) { for (let k = 0; k < kinds.length; ++k) to[k] += bytes[k]; }
// The kind of most bytes, "none" where there are none.
function mainKind(bytes) {
  let best = 0;
  for (let k = 1; k < bytes.length; ++k) if (bytes[k] > bytes[best]) best = k;
  return bytes[best] > 0 ? kinds[best] : 'none';
}
// One line for each kind that has bytes.
function bytesLines(bytes) {
  return kinds.map((kind, k) => bytes[k] > 0 ? kindNames[kind] + ' ' + bytesText(bytes[k]) : '')
      .filter((line) => line !== '');
}

// Whether a node makes a copy for those that read it, and computes nothing.
const isCopy = (n) => plan.nodes[n].writes >= 0 && plan.tensors[plan.nodes[n].writes].kind === 'copy';

// [node] what it moves: its rows of plan.moves, and their bytes by kind.
const movesOf = plan.nodes.map(() => []);
const movedBy = plan.nodes.map(noBytes);
for (const move of plan.moves) {
  movesOf[move.node].push(move);
  movedBy[move.node][move.kind] += move.bytes;
}

// The edges: {from, to, tensor, bytes}. `from` is -1 for what is stored, `to` for what nothing
// reads. Bytes of a gather are on the edge to its reader; those of a sum on the first edge
// behind its node.
const edges = (() => {
  const result = [], maker = new Map(), first = new Map();
  plan.nodes.forEach((node, n) => {
    const seen = new Set();
    for (const tensor of node.reads) {
      if (seen.has(tensor)) continue;
      seen.add(tensor);
      const bytes = noBytes();
      for (const move of movesOf[n]) {
        if (!move.reduces && move.tensor === tensor) bytes[move.kind] += move.bytes;
      }
      const from = maker.has(tensor) ? maker.get(tensor) : -1;
      const edge = {from, to: n, tensor, bytes};
      if (from >= 0 && !first.has(from)) first.set(from, edge);
      result.push(edge);
    }
    if (node.writes >= 0) maker.set(node.writes, n);
  });
  plan.nodes.forEach((node, n) => {
    const reduced = noBytes();
    for (const move of movesOf[n]) if (move.reduces) reduced[move.kind] += move.bytes;
    if (!first.has(n)) result.push({from: n, to: -1, tensor: node.writes, bytes: reduced});
    else addBytes(first.get(n).bytes, reduced);
  });
  return result;
})();

// The tree of plan.tree: each item gets a number, its parent, its nodes; each node of a run the
// number of its repetition, or -1.
const items = [];
const repetitionOf = plan.nodes.map(() => -1), unitOf = plan.nodes.map(() => null);
(function number(list, parent, repetition) {
  for (const item of list) {
    item.id = items.push(item) - 1;
    item.parent = parent;
    if (item.items) {
      item.items.forEach((child, i) => number([child], item, item.kind === 'run' ? i : repetition));
      item.nodes = item.items.flatMap((child) => child.nodes);
    } else {
      for (const n of item.nodes) repetitionOf[n] = repetition, unitOf[n] = item;
    }
  }
})(plan.tree, null, -1);
