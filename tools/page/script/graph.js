// The graph as it is drawn, moved, zoomed and unfolded.
'use strict';

const canvas = document.getElementById('canvas');
const camera = {x: 0, y: 0, scale: 1};
let scene = null;     // the group that the camera moves
let chosen = null;    // the key of the view that is chosen
let widest = 1;       // bytes of the widest edge that is seen
const widestPixels = 20, leastPixels = 1.6;

// Views again from what is open, and all anew. `keep`: a view that stays where it is on the screen.
function redraw(keep) {
  const before = keep ? placeOf(keep) : null;
  makeViews();
  makeLinks();
  layOut(root);
  widest = 1;
  (function walk(cluster) {
    for (const one of cluster.links.values()) widest = Math.max(widest, sum(one.bytes));
    for (const view of cluster.views) {
      if (view.views) walk(view);
      else if (view.stored) widest = Math.max(widest, sum(view.stored.bytes));
    }
  })(root);
  if (scene) scene.remove();
  scene = svgElement('g', {}, canvas);
  drawInside(root, scene);
  const after = keep ? placeOf(keep) : null;
  if (before && after) {
    camera.x += (before.x - after.x) * camera.scale;
    camera.y += (before.y - after.y) * camera.scale;
  }
  moveCamera();
  showScale();
}

// Where the view with that key lies in the scene; null where there is none.
function placeOf(key) {
  let place = null;
  (function walk(cluster, x, y) {
    for (const view of cluster.views || []) {
      if (place) return;
      if (view.key === key) place = {x: x + view.x, y: y + view.y, view};
      else if (view.views && view.x !== undefined) walk(view, x + view.x, y + view.y);
    }
  })(root, 0, 0);
  return place && place.x === place.x ? place : null;
}

function drawInside(cluster, group) {
  const views = [...cluster.views, ...cluster.pills.values()];
  for (const view of views) if (view.views) drawCluster(view, group);
  for (const one of cluster.links.values()) if (!cluster.stubs.includes(one)) drawLink(one, group);
  for (const one of cluster.stubs) drawStub(one, group);
  for (const view of views) {
    if (view.views) continue;
    if (view.stored) drawStored(view, group);
    drawLeaf(view, group);
  }
}

function drawStub(one, group) {
  const box = one.from === 'in' ? one.to : one.from, x = box.x + box.width - 14;
  const d = one.from === 'in' ? `M${x} ${box.y - 8}V${box.y}` : `M${x} ${box.y + box.height}v8`;
  svgElement('path', {class: 'edge k-none stub', d}, group);
  svgElement('path', {class: 'hit', d}, group).link = one;
}

// The pill beside a leaf, and what comes from it.
function drawStored(view, group) {
  const pill = view.stored, one = pill.link, kind = mainKind(one.bytes), width = pixelsOf(sum(one.bytes));
  const y = pill.y + pill.height / 2, end = view.x, half = Math.max(3.5, width / 2 + 2);
  drawLeaf(pill, group);
  const line = svgElement('path', {class: 'edge k-' + kind, 'stroke-width': width,
                                   d: `M${pill.x + pill.width} ${y}H${end - 6}`}, group);
  const hit = svgElement('path', {class: 'hit', d: `M${pill.x + pill.width} ${y}H${end}`}, group);
  line.link = hit.link = one;
  svgElement('path', {class: 'head k-' + kind, d: `M${end - 7} ${y - half}v${2 * half}L${end} ${y}z`}, group);
}

function drawCluster(view, parent) {
  const group = svgElement('g', {class: 'cluster', 'data-key': view.key,
                                 transform: `translate(${view.x},${view.y})`}, parent);
  svgElement('rect', {class: 'frame', width: view.width, height: view.height, rx: 8}, group);
  drawInside(view, group);
  const isRun = view.kind === 'run';
  drawButton(group, 6, 5, 18, '–', () => { fold(view); redraw(view.key); }, 'fold');
  let x = 30;
  if (isRun) {
    const count = view.item.items.length, one = view.mode === 'one';
    const text = one ? '× ' + count : 'all ' + count, width = textWidth(text, '11px') + 14;
    drawButton(group, x, 5, width, text, () => {
      opened.set(view.item.id, one ? 'all' : 'one');
      redraw(view.key);
    }, one ? 'one block stands for all ' + count + ', bytes are of all; show all blocks'
           : 'show one block for all');
    x += width + 6;
  }
  svgElement('text', {class: 'title', x, y: 18, text: shortened(view.label, 60)}, group);
  const total = sum(view.bytes);
  svgElement('text', {class: 'bytes', x: view.width - 8, y: 18,
                      text: total > 0 ? bytesText(total) : ''}, group);
  if (view.key === chosen) group.classList.add('chosen');
}

function drawButton(group, x, y, width, text, act, tip) {
  const button = svgElement('g', {class: 'button', 'data-tip': tip}, group);
  svgElement('rect', {x, y, width, height: 17, rx: 4}, button);
  svgElement('text', {x: x + width / 2, y: y + 12.5, text}, button);
  button.act = act;
}

function drawLeaf(view, parent) {
  const isPill = view.kind === 'pill';
  const group = svgElement('g', {class: 'view ' + (isPill ? 'pill ' + view.role : view.kind),
                                 'data-key': view.key,
                                 transform: `translate(${view.x},${view.y})`}, parent);
  group.view = view;
  if (isPill) {
    svgElement('rect', {class: 'box', width: view.width, height: view.height, rx: 10}, group);
    svgElement('text', {class: 'sub', x: 8, y: 14, text: view.text}, group);
    return;
  }
  const stack = view.kind === 'run' ? 8 : 0, width = view.width - stack, height = view.height - stack;
  const quiet = height === quietHeight;
  for (let shift = stack; shift >= 0; shift -= 4) {
    svgElement('rect', {class: 'box', x: shift, y: shift, width, height, rx: 6}, group);
    if (stack === 0) break;
  }
  svgElement('text', {class: 'title', x: 9, y: quiet ? 16 : 17, text: view.text}, group);
  if (!quiet) svgElement('text', {class: 'sub', x: 9, y: 32, text: view.sub}, group);
  svgElement('text', {class: 'bytes', x: width - 8, y: 32, text: view.amount}, group);
  if (canOpen(view)) {
    drawButton(group, width - 22, quiet ? 3.5 : 4, 18, '+', () => { open(view); redraw(view.key); }, 'unfold');
  }
  drawShares(view, group, width, height);
  if (view.key === chosen) group.classList.add('chosen');
}

// Along the lower rim what a view moves, by kind; the longest bar is of the plan's bytes.
function drawShares(view, group, width, height) {
  const total = sum(view.bytes);
  if (total === 0) return;
  let x = 4;
  view.bytes.forEach((bytes, k) => {
    if (bytes === 0) return;
    const share = (width - 8) * bytes / total;
    svgElement('rect', {class: 'share k-' + kinds[k], x, y: height - 6, width: share, height: 3}, group);
    x += share;
  });
}

function pixelsOf(bytes) {
  return bytes === 0 ? 1 : Math.max(leastPixels, widestPixels * bytes / widest);
}

// A smooth line through the points; it leaves downwards, and comes in from above.
function drawLink(one, parent) {
  const points = one.points, total = sum(one.bytes), kind = mainKind(one.bytes);
  const end = points[points.length - 1], width = pixelsOf(total), head = one.to === 'out' ? 0 : 5;
  let path = `M${points[0].x} ${points[0].y}`, before = points[0];
  points.slice(1).forEach((point, i) => {
    const y = i + 2 === points.length ? point.y - head : point.y, middle = (before.y + y) / 2;
    path += `C${before.x} ${middle} ${point.x} ${middle} ${point.x} ${y}`;
    before = point;
  });
  const line = svgElement('path', {class: 'edge k-' + kind, d: path, 'stroke-width': width}, parent);
  const hit = width < 9 ? svgElement('path', {class: 'hit', d: path}, parent) : line;
  line.link = hit.link = one;
  if (head > 0) {
    const half = Math.max(3.5, width / 2 + 2);
    svgElement('path', {class: 'head k-' + kind,
                        d: `M${end.x - half} ${end.y - 6}h${2 * half}L${end.x} ${end.y}z`}, parent);
  }
}

function linkText(one) {
  const name = (end) => end === 'in' ? 'from outside' : end === 'out' ? 'to outside'
                        : end.kind === 'pill' ? pillLabel(end) : end.label;
  const tensors = new Set(one.list.map((edge) => plan.tensors[edge.tensor].name));
  const lines = bytesLines(one.bytes);
  return [name(one.from) + '  →  ' + name(one.to),
          tensors.size === 1 ? cutText([...tensors][0], 200) : counted(tensors.size, 'tensor'),
          ...(lines.length ? lines : ['nothing moves'])].join('\n');
}

function viewText(view) {
  if (view.kind === 'pill') {
    const names = [...view.tensors].map((t) => plan.tensors[t].name + '  ' + plan.tensors[t].text);
    return [...names.slice(0, 6).map((name) => cutText(name, 160)),
            ...(names.length > 6 ? ['and ' + (names.length - 6) + ' more'] : []),
            ...bytesLines(view.bytes)].join('\n');
  }
  const lines = bytesLines(view.bytes);
  return [cutText(view.item ? view.item.name : view.label, 300), 'sub' in view ? view.sub : '',
          ...(lines.length ? lines : ['moves nothing'])].filter((line) => line).join('\n');
}

// The camera.

function moveCamera() {
  scene.setAttribute('transform', `translate(${camera.x},${camera.y}) scale(${camera.scale})`);
}

// The whole graph; or if that is too small to read and `whole` is not asked for, its upper part.
function fit(whole) {
  const {width, height} = canvas.getBoundingClientRect(), top = 42, legible = 0.52;
  const across = (width - 24) / root.width;
  camera.scale = Math.min(across, (height - top - 14) / root.height, 1.1);
  camera.scale = Math.max(camera.scale, 0.06);
  if (!whole && camera.scale < legible) camera.scale = Math.max(legible, Math.min(across, 0.8));
  camera.x = (width - root.width * camera.scale) / 2;
  camera.y = Math.max(top, (height + top - 14 - root.height * camera.scale) / 2);
  moveCamera();
}

function showView(key) {
  const place = placeOf(key), size = canvas.getBoundingClientRect();
  if (!place) return;
  camera.scale = Math.max(camera.scale, 0.7);
  camera.x = size.width / 2 - (place.x + place.view.width / 2) * camera.scale;
  camera.y = size.height / 2 - (place.y + Math.min(place.view.height, 200) / 2) * camera.scale;
  moveCamera();
}

function markChosen() {
  for (const one of scene.querySelectorAll('.chosen')) one.classList.remove('chosen');
  const found = [...scene.querySelectorAll('[data-key]')].find((one) => one.dataset.key === chosen);
  if (found) found.classList.add('chosen');
}

function showScale() {
  const scale = document.getElementById('scale');
  scale.textContent = '';
  const line = element('span', {style: `display:inline-block;width:26px;height:${widestPixels / 1.5}px;` +
                                       'background:#7b8794'}, scale);
  line.title = 'the widest edge';
  element('span', {text: '= ' + bytesText(widest === 1 ? 0 : widest) + ' along an edge'}, scale);
}
