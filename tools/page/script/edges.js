// The edges between views. An edge between nodes whose views lie in different clusters (views with
// views inside) is drawn in each cluster that it leaves or enters, to a port on the cluster's rim.
'use strict';

// Sets for each cluster `links`: [{from, to, bytes, list}], where `from` and `to` are views, pills
// or the cluster's own ports 'in' and 'out', and `list` has the edges that the link stands for. And
// `pills`: inputs, and what nothing reads. What else is stored, and moves, is a pill beside its
// reader: `stored` of a leaf, with the link between them as its `link`.
function makeLinks() {
  (function reset(view) {
    view.stored = null;
    if (!view.views) return;
    view.links = new Map();
    view.pills = new Map();
    view.views.forEach(reset);
  })(root);
  for (const edge of edges) {
    if (edge.from < 0) addStored(edge);
    else if (edge.to < 0) addOutput(edge);
    else addEdge(edge);
  }
}

function link(cluster, from, to, edge) {
  const key = (from.key || from) + '>' + (to.key || to);
  let made = cluster.links.get(key);
  if (!made) cluster.links.set(key, made = {from, to, bytes: noBytes(), list: []});
  addBytes(made.bytes, edge.bytes);
  made.list.push(edge);
}

function clusterOf(path) { return path.length > 1 ? path[path.length - 2] : root; }

function addStored(edge) {
  const path = pathOf[edge.to], leaf = path[path.length - 1], cluster = clusterOf(path);
  const isInput = plan.tensors[edge.tensor].kind === 'input';
  if (isInput) {
    link(cluster, pill(cluster, 'input', leaf, edge), leaf, edge);
  } else if (sum(edge.bytes) > 0) {
    if (!leaf.stored) {
      leaf.stored = newPill('stored', leaf);
      leaf.stored.link = {from: leaf.stored, to: leaf, bytes: noBytes(), list: []};
    }
    addToPill(leaf.stored, edge);
    addBytes(leaf.stored.link.bytes, edge.bytes);
    leaf.stored.link.list.push(edge);
  }
}

function addOutput(edge) {
  const path = pathOf[edge.from], leaf = path[path.length - 1], cluster = clusterOf(path);
  const tensor = plan.tensors[edge.tensor];
  if (!tensor || (tensor.kind === 'state' || tensor.kind === 'weight') && sum(edge.bytes) === 0) {
    return;  // an update in place
  }
  link(cluster, leaf, pill(cluster, 'output', leaf, edge), edge);
}

function pill(cluster, role, leaf, edge) {
  const key = role + leaf.key;
  if (!cluster.pills.has(key)) cluster.pills.set(key, newPill(role, leaf));
  addToPill(cluster.pills.get(key), edge);
  return cluster.pills.get(key);
}
function newPill(role, leaf) {
  return {key: role + leaf.key, kind: 'pill', role, leaf, tensors: new Set(), nodes: [], views: null,
          bytes: noBytes()};
}
function addToPill(made, edge) {
  made.tensors.add(edge.tensor);
  addBytes(made.bytes, edge.bytes);
}

// A pill's text: the tensor's name, or how many there are.
function pillLabel(made) {
  const names = [...made.tensors].map((t) => plan.tensors[t].name);
  const item = made.leaf.item && made.leaf.item.parent;
  const prefix = item ? item.prefix : '';
  if (names.length <= made.leaf.times) return nameWithin(names[0], prefix);
  const weights = [...made.tensors].every((t) => plan.tensors[t].kind === 'weight');
  const word = made.role !== 'stored' ? made.role : weights ? 'weight' : 'stored tensor';
  return counted(Math.round(names.length / made.leaf.times), word);
}

function addEdge(edge) {
  const a = pathOf[edge.from], b = pathOf[edge.to];
  let apart = 0;  // the first depth at which the paths differ
  while (apart < a.length && apart < b.length && a[apart] === b[apart]) ++apart;
  let run = -1;  // of which one block stands for all, where the edge goes from one to the next
  if (repetitionOf[edge.from] !== repetitionOf[edge.to]) {
    run = a.findIndex((view, d) => d < apart && view.kind === 'run' && view.mode === 'one');
  }
  if (run < 0) {
    if (apart === a.length || apart === b.length) return;  // within a leaf
    link(apart === 0 ? root : a[apart - 1], a[apart], b[apart], edge);
  }
  const outermost = run < 0 ? apart + 1 : run + 1;
  for (let k = a.length - 1; k >= outermost; --k) link(a[k - 1], a[k], 'out', edge);
  for (let k = b.length - 1; k >= outermost; --k) link(b[k - 1], 'in', b[k], edge);
}
