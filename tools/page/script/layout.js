// Where views and links lie. Each cluster is laid out by itself, by dagre, and is then one box of
// the cluster around it: a large graph is many small ones, and clusters that look alike, as the
// blocks of a run, are laid out once.
'use strict';

const leafHeight = 44, quietHeight = 24, pillHeight = 20, headerHeight = 26, padding = 12;
const pillGap = 26;  // between a leaf and the pill beside it
const mostLabel = 30;  // characters
const known = new Map();

const ruler = document.createElement('canvas').getContext('2d');
function textWidth(text, font) {
  ruler.font = (font || '600 12px') + ' system-ui, "DejaVu Sans", sans-serif';
  return ruler.measureText(text).width;
}

// The end of a name says most.
function shortened(text, most) {
  text = text.replace(/\s+/g, ' ');
  return text.length <= most ? text : '…' + text.slice(text.length - most + 1);
}
function cutText(text, most) { return text.length <= most ? text : text.slice(0, most - 1) + '…'; }

// What is written in a leaf: below its name what it is, and its bytes.
function subText(view) {
  if (view.kind === 'run') return '× ' + view.item.items.length + ', ' + nodesText(view);
  if (view.kind === 'block' || view.kind === 'part') return nodesText(view);
  const cuts = new Set(view.nodes.map((n) => plan.nodes[n].cut).filter((cut) => cut !== 'nothing'));
  const main = view.nodes.filter((n) => !isCopy(n));
  const cut = main.length === 0 ? 'nothing' : plan.nodes[main[main.length - 1]].cut;
  return cut === 'nothing' ? (cuts.size ? 'splits ' + [...cuts][0] : 'not split') : 'splits ' + cut;
}
function nodesText(view) {
  return counted(view.nodes.length, 'node');
}

function measure(view) {
  if (view.kind === 'pill') {
    view.text = shortened(pillLabel(view), 26);
    view.width = textWidth(view.text, '11px') + 16;
    view.height = pillHeight;
    return;
  }
  view.text = shortened(view.label, mostLabel);
  view.sub = cutText(subText(view), 26);
  const total = sum(view.bytes);
  view.amount = total > 0 ? bytesText(total) : '';
  const stack = view.kind === 'run' ? 8 : 0;
  view.width = stack + Math.max(110, 18 + textWidth(view.text) + (canOpen(view) ? 20 : 0),
                                26 + textWidth(view.sub, '11px') + textWidth(view.amount, '600 11px'));
  view.height = leafHeight + stack;
  if (total === 0 && (view.kind === 'unit' || view.kind === 'node')) {  // what moves nothing is small
    view.height = quietHeight;
    view.width = 18 + textWidth(view.text) + (canOpen(view) ? 22 : 0);
  }
  if (view.stored) measure(view.stored);
}

// What a view takes to its left, for the pill beside it.
function leftOf(view) { return view.stored && !view.views ? view.stored.width + pillGap : 0; }
const wide = (view) => view.width + leftOf(view);

// Sets width and height of a cluster, x and y (of the upper left corner, within it) of its views
// and pills, `ports` and the points of its links.
function layOut(cluster) {
  const boxes = [...cluster.views, ...cluster.pills.values()];
  for (const box of boxes) if (box.views) layOut(box); else measure(box);
  const links = withoutStubs(cluster);
  const ids = new Map(boxes.map((box, i) => [box, 'b' + i]));
  const idOf = (end) => ids.get(end) || end;
  const key = boxes.map((box) => Math.round(wide(box)) + ',' + Math.round(box.height)).join(' ') +
              links.map((one) => idOf(one.from) + '>' + idOf(one.to)).join(' ');
  if (!known.has(key)) known.set(key, dagreLayout(boxes, links, idOf));
  const found = known.get(key), top = cluster === root ? 0 : headerHeight;
  const title = cluster === root ? 0 : 110 + textWidth(shortened(cluster.label, 60));
  const width = Math.max(found.width, title), left = padding + (width - found.width) / 2;
  cluster.width = width + 2 * padding;
  cluster.height = found.height + 2 * padding + top;
  boxes.forEach((box, i) => {
    box.x = left + found.boxes[i].x - wide(box) / 2 + leftOf(box);
    box.y = top + padding + found.boxes[i].y - box.height / 2;
    if (leftOf(box)) {
      box.stored.x = box.x - leftOf(box);
      box.stored.y = box.y + (box.height - box.stored.height) / 2;
    }
  });
  cluster.ports = {in: found.in === null ? cluster.width / 2 : left + found.in,
                   out: found.out === null ? cluster.width / 2 : left + found.out};
  links.forEach((one, i) => {
    one.points = found.links[i].map((point) => ({x: left + point.x, y: top + padding + point.y}));
    fixEnds(cluster, one);
  });
}

// The links to lay out. What goes to or comes from outside and moves nothing is a stub at its box,
// if the box has other links on that side: `stubs` of the cluster. A training step has many.
function withoutStubs(cluster) {
  const links = [...cluster.links.values()];
  const above = new Set(links.filter((one) => one.from !== 'in').map((one) => one.to));
  const below = new Set(links.filter((one) => one.to !== 'out').map((one) => one.from));
  const isStub = (one) => sum(one.bytes) === 0 &&
    (one.from === 'in' && above.has(one.to) || one.to === 'out' && below.has(one.from));
  cluster.stubs = links.filter(isStub);
  return links.filter((one) => !isStub(one));
}

// Edges begin below their boxes and end above; at the port where a box is a cluster.
function fixEnds(cluster, one) {
  const points = one.points, last = points.length - 1;
  const within = (box, x) => Math.min(box.x + box.width - 10, Math.max(box.x + 10, x));
  points[0] = one.from === 'in' ? {x: cluster.ports.in, y: 0}
      : {x: one.from.views ? one.from.x + one.from.ports.out : within(one.from, points[1].x),
         y: one.from.y + one.from.height};
  points[last] = one.to === 'out' ? {x: cluster.ports.out, y: cluster.height}
      : {x: one.to.views ? one.to.x + one.to.ports.in : within(one.to, points[last - 1].x), y: one.to.y};
}

function dagreLayout(boxes, links, idOf) {
  const graph = new dagre.graphlib.Graph({multigraph: true});
  graph.setGraph({rankdir: 'TB', nodesep: 16, edgesep: 5, ranksep: 20, marginx: 0, marginy: 0,
                  ranker: boxes.length > 120 ? 'tight-tree' : 'network-simplex'});
  boxes.forEach((box, i) => graph.setNode('b' + i, {width: wide(box), height: box.height}));
  for (const end of ['in', 'out']) {
    if (links.some((one) => one.from === end || one.to === end)) {
      graph.setNode(end, {width: 2, height: 2});
    }
  }
  links.forEach((one, i) => {
    graph.setEdge(idOf(one.from), idOf(one.to), {weight: sum(one.bytes) > 0 ? 3 : 2}, 'e' + i);
  });
  dagre.layout(graph);
  const at = (id) => ({x: graph.node(id).x, y: graph.node(id).y});
  return {width: Math.max(0, graph.graph().width), height: Math.max(0, graph.graph().height),
          boxes: boxes.map((box, i) => at('b' + i)),
          in: graph.hasNode('in') ? at('in').x : null,
          out: graph.hasNode('out') ? at('out').x : null,
          links: links.map((one, i) =>
            graph.edge(idOf(one.from), idOf(one.to), 'e' + i).points.map(({x, y}) => ({x, y})))};
}
