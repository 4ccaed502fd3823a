// What is seen of the tree: views. A view stands for one or many nodes, and either is a leaf or
// has views inside. A run is seen folded, as one block that stands for all ("one"), or with all its
// blocks ("all").
'use strict';

const mostViews = 48;           // side by side; more are put into parts
const opened = new Map();       // id of an item -> 'one' (of a run), 'all' (all others); absent: folded
const openedParts = new Set();  // keys of parts that only views know

function isOpen(item) { return opened.has(item.id); }

// A name without what all names around it begin with.
function nameWithin(name, prefix) {
  if (!prefix) return name;
  const at = name.indexOf(prefix);
  return at < 0 || at + prefix.length >= name.length ? name
                                                     : name.slice(0, at) + name.slice(at + prefix.length);
}

function labelOf(item, prefix) {
  return (item.gradient ? '∇ ' : '') + nameWithin(item.name, prefix);
}

// A view of several items that stand for each other; one item is the usual case.
function viewOf(list, prefix, rolled) {
  const item = list[0];
  const view = {key: (rolled ? 'r' : 'i') + item.id, item, kind: item.kind, times: list.length,
                nodes: list.length === 1 ? item.nodes : list.flatMap((one) => one.nodes),
                label: labelOf(item, prefix), views: null, mode: 'folded'};
  const inner = item.prefix || prefix;
  if (!isOpen(item)) return view;
  view.mode = opened.get(item.id);
  if (item.kind === 'unit') {
    if (item.nodes.length === 1) return view;
    view.views = inParts(item.nodes.map((n, i) => {
      const nodes = list.map((one) => one.nodes[i]).filter((one) => one !== undefined);
      return {key: view.key + 'n' + i, item, kind: 'node', times: nodes.length, nodes, views: null,
              label: nameWithin(plan.nodes[n].name, prefix), mode: 'folded'};
    }), view.key);
  } else if (item.kind === 'run' && view.mode === 'one') {
    const block = item.items[0];
    view.views = block.items.map((child, i) =>
      viewOf(item.items.map((one) => one.items[i]), block.prefix || inner, true));
  } else if (list.length > 1) {  // a part within a run that is seen as one block
    view.views = item.items.map((child, i) =>
      viewOf(list.map((one) => one.items[i]), inner, true));
  } else {
    view.views = inParts(item.items.map((child) => viewOf([child], inner, false)), view.key);
  }
  return view;
}

// The views, or parts of them where they are too many to stand side by side.
function inParts(views, key) {
  if (views.length <= mostViews) return views;
  const parts = Math.ceil(views.length / mostViews), result = [];
  for (let p = 0; p < parts; ++p) {
    const inside = views.slice(Math.floor(views.length * p / parts),
                               Math.floor(views.length * (p + 1) / parts));
    const part = {key: key + 'p' + p, item: null, kind: 'part', times: 1,
                  nodes: inside.flatMap((view) => view.nodes), views: null, mode: 'folded',
                  label: inside[0].label + ' … ' + inside[inside.length - 1].label};
    if (openedParts.has(part.key)) part.views = inside, part.mode = 'all';
    result.push(part);
  }
  return inParts(result, key + 'p');
}

// The whole as one view. [node] -> its views from the outermost to the leaf: pathOf.
let root = null, pathOf = [];
function makeViews() {
  root = {key: 'root', item: null, kind: 'root', times: 1, label: '', mode: 'all',
          nodes: plan.nodes.map((node, n) => n),
          views: plan.tree.map((item) => viewOf([item], '', false))};
  pathOf = new Array(plan.nodes.length);
  (function walk(view, path) {
    const here = view === root ? path : path.concat([view]);
    view.bytes = noBytes();
    for (const n of view.nodes) addBytes(view.bytes, movedBy[n]);
    if (view.views) for (const inside of view.views) walk(inside, here);
    else for (const n of view.nodes) pathOf[n] = here;
  })(root, []);
}

function canOpen(view) {
  return view.kind !== 'node' && !(view.kind === 'unit' && view.item.nodes.length === 1);
}
function open(view) {
  if (!view.item || view.kind === 'part' && view.item.kind !== 'part') openedParts.add(view.key);
  else opened.set(view.item.id, view.kind === 'run' ? 'one' : 'all');
}
function fold(view) {
  openedParts.delete(view.key);
  if (view.item) opened.delete(view.item.id);
}
function foldAll() { opened.clear(); openedParts.clear(); }

// Down to the units: all blocks of all runs.
function openAll() {
  for (const item of items) if (item.kind !== 'unit') opened.set(item.id, 'all');
  for (let before = -1; before !== openedParts.size;) {
    before = openedParts.size;
    makeViews();
    (function walk(view) {
      if (view.kind === 'part' && !view.item) openedParts.add(view.key);
      if (view.views) view.views.forEach(walk);
    })(root);
  }
}

// What can be looked at at once: one block of the run that moves most, if there is little else.
function openSome() {
  const most = 30, moved = (item) => item.nodes.reduce((total, n) => total + sum(movedBy[n]), 0);
  const runs = plan.tree.filter((item) => item.kind === 'run').sort((a, b) => moved(b) - moved(a));
  if (runs.length && plan.tree.length <= 10 && plan.tree.length + runs[0].items[0].items.length <= most) opened.set(runs[0].id, 'one');
}

// Unfolds what is around a node, so that it has a view of its own.
function reveal(node) {
  for (let item = unitOf[node].parent; item; item = item.parent) opened.set(item.id, 'all');
  for (let i = 0; i < 4; ++i) {
    makeViews();
    const leaf = pathOf[node][pathOf[node].length - 1];
    if (leaf.kind === 'part') open(leaf); else break;
  }
}
