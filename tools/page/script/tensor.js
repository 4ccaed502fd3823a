// A tensor as a rectangle, cut into the pieces that devices hold.
'use strict';

const mostStripes = 6;  // of an outer factor that is not cut itself; more look alike

const partCount = (axes) => axes.reduce((parts, axis) => parts * plan.mesh[axis].size, 1);

// Which of the parts a device has: its coordinates on the axes, the first the outermost.
function partNumber(axes, device) {
  return axes.reduce((number, axis) => {
    let inner = 1;
    for (let a = axis + 1; a < plan.mesh.length; ++a) inner *= plan.mesh[a].size;
    const size = plan.mesh[axis].size;
    return number * size + Math.floor(device / inner) % size;
  }, 0);
}

// The intervals of one dimension, [{from, to, parts}]: shares of its length, and the part of each
// of its factors that is cut. `cutShort`: some of what repeats is left out.
function intervalsOf(factors) {
  const last = factors.reduce((found, [size, axes], i) => axes.length ? i : found, -1);
  let cutShort = false;
  const inside = (i) => {
    if (i > last) return [{from: 0, to: 1, parts: []}];
    const [size, axes] = factors[i], rest = inside(i + 1), result = [];
    const count = axes.length ? partCount(axes) : Math.min(size, mostStripes);
    if (!axes.length && size > mostStripes) cutShort = true;
    for (let p = 0; p < count; ++p) {
      const from = axes.length ? Math.floor(p * size / count) / size : p / count;
      const to = axes.length ? Math.floor((p + 1) * size / count) / size : (p + 1) / count;
      // Elements of a cut factor lie side by side; what is inside of each is drawn once for a part.
      for (const one of rest) {
        result.push({from: from + (to - from) * one.from, to: from + (to - from) * one.to,
                     parts: axes.length ? [p, ...one.parts] : one.parts});
      }
    }
    return result;
  };
  return {list: inside(0), cutShort};
}

const dimParts = (factors) => factors.reduce((parts, [size, axes]) => parts * partCount(axes), 1);
const dimSize = (factors) => factors.reduce((product, [size]) => product * size, 1);
const cutAxes = (factors) => factors.filter(([size, axes]) => axes.length).map(([size, axes]) => axes);

// The two dimensions that say most: those that are cut, else the longest.
function shownDims(tensor) {
  const order = tensor.dims.map((factors, d) => d).sort((a, b) =>
    dimParts(tensor.dims[b]) - dimParts(tensor.dims[a]) || dimSize(tensor.dims[b]) - dimSize(tensor.dims[a]));
  return order.slice(0, 2).sort((a, b) => a - b);
}

// "0–3, 6".
function rangesText(numbers) {
  const ranges = [];
  for (const number of numbers) {
    const last = ranges[ranges.length - 1];
    if (last && last[1] === number - 1) last[1] = number; else ranges.push([number, number]);
  }
  return ranges.map(([a, b]) => a === b ? '' + a : a + (b === a + 1 ? ', ' : '–') + b).join(', ');
}

function colour(device) {
  const hue = 360 * device / plan.devices + 200;
  return `hsl(${hue % 360},62%,${device % 2 ? 74 : 82}%)`;
}

// How a tensor is stored, in words.
function storedText(tensor) {
  const parts = tensor.dims.reduce((product, factors) => product * dimParts(factors), 1);
  const copies = plan.devices / parts;
  if (plan.devices === 1) return 'on the one device';
  if (tensor.kind === 'partial') {
    return copies > 1 ? `${counted(copies, 'partial')} of each element: sums that are not added up yet`
                      : `${counted(parts, 'shard')}, one on each device`;
  }
  if (copies === 1) return `${counted(parts, 'shard')}, one on each device`;
  return parts === 1 ? `whole on each of ${plan.devices} devices`
                     : `${counted(parts, 'shard')}, each on ${counted(copies, 'device')} (replicas)`;
}

function drawPieces(tensor, parent) {
  const dims = shownDims(tensor), factors = (i) => dims[i] === undefined ? [] : tensor.dims[dims[i]];
  const [rows, columns] = dims.length === 2 ? [factors(0), factors(1)] : [[], factors(0)];
  const across = intervalsOf(columns), down = intervalsOf(rows);
  const holders = new Map();
  const axes = [...cutAxes(rows), ...cutAxes(columns)];
  for (let device = 0; device < plan.devices; ++device) {
    const key = axes.map((list) => partNumber(list, device)).join();
    if (!holders.has(key)) holders.set(key, []);
    holders.get(key).push(device);
  }
  const width = 300, height = dims.length === 2 ? 150 : 44, left = 52, top = 18;
  const svg = svgElement('svg', {class: 'pieces', width: left + width + 6, height: top + height + 4}, parent);
  if (dims.length) svgElement('text', {class: 'axis', x: left + width / 2, y: 8,
                                       text: dimText(tensor, dims[dims.length - 1])}, svg);
  if (dims.length === 2) {
    ['dim ' + dims[0], dimSize(rows)].forEach((text, i) =>
      svgElement('text', {class: 'axis', x: left / 2 - 3, y: top + height / 2 - 7 + 14 * i, text}, svg));
  }
  for (const row of down.list) {
    for (const column of across.list) {
      const devices = holders.get([...row.parts, ...column.parts].join()) || [];
      drawPiece({x: left + column.from * width, y: top + row.from * height,
                 width: (column.to - column.from) * width, height: (row.to - row.from) * height},
                devices, svg);
    }
  }
  svgElement('rect', {class: 'frame', x: left, y: top, width, height}, svg);
  const others = tensor.dims.map((one, d) => d).filter((d) => !dims.includes(d) && dimParts(tensor.dims[d]) > 1);
  const notes = ['Numbers are devices.'];
  for (const d of others) {
    notes.push(`Dimension ${d} is cut into ${dimParts(tensor.dims[d])} as well: of the devices of a piece each ` +
               'holds its part of it.');
  }
  if (across.cutShort || down.cutShort) notes.push('What repeats is drawn a few times only.');
  element('div', {class: 'note', style: 'margin-left:0', text: notes.join(' ')}, parent);
}

function dimText(tensor, d) { return 'dim ' + d + ': ' + dimSize(tensor.dims[d]); }

// Stripes of the devices' colours where several hold the piece.
function drawPiece(box, devices, svg) {
  const group = svgElement('g', {}, svg), stripes = devices.slice(0, 8);
  stripes.forEach((device, i) => {
    svgElement('rect', {x: box.x + box.width * i / stripes.length, y: box.y, height: box.height,
                        width: box.width / stripes.length, style: `fill:${colour(device)}` +
                        (stripes.length > 1 ? ';stroke:none' : '')}, group);
  });
  svgElement('rect', {...box, style: 'fill:none'}, group);
  let text = rangesText(devices);
  const room = Math.max(box.width, 8) / 6.2;
  if (text.length > room) text = devices.length > 1 && room > 3 ? devices.length + '×' : '';
  if (box.height >= 10 && text) {
    svgElement('text', {x: box.x + box.width / 2, y: box.y + box.height / 2, text}, group);
  }
  group.addEventListener('mousemove', (event) =>
    showTip('on ' + (devices.length === 1 ? 'device ' : 'devices ') + rangesText(devices), event));
  group.addEventListener('mouseleave', hideTip);
}
