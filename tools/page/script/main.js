// Starts the page, and what the mouse and the keys do.
'use strict';

// Chooses the view with that key: the panel beside the graph is of it then.
function choose(key) {
  chosen = key;
  const place = key ? placeOf(key) : null;
  markChosen();
  if (place) showNodes(place.view); else showPlan();
  markMoves(place ? place.view.nodes : []);
}

function chooseNode(node) {
  reveal(node);
  redraw();
  const path = pathOf[node], key = path[path.length - 1].key;
  showView(key);
  choose(key);
}

(function mouse() {
  let held = null;
  canvas.addEventListener('mousedown', (event) => {
    held = {x: event.clientX, y: event.clientY, moved: false};
  });
  window.addEventListener('mousemove', (event) => {
    if (!held) return;
    const x = event.clientX - held.x, y = event.clientY - held.y;
    if (!held.moved && Math.abs(x) + Math.abs(y) < 4) return;
    held = {x: event.clientX, y: event.clientY, moved: true};
    canvas.classList.add('moving');
    camera.x += x;
    camera.y += y;
    moveCamera();
  });
  window.addEventListener('mouseup', () => {
    setTimeout(() => { held = null; }, 0);
    canvas.classList.remove('moving');
  });
  canvas.addEventListener('click', (event) => {
    if (held && held.moved) return;
    const button = event.target.closest('.button');
    if (button) { hideTip(); button.act(); return; }
    const group = event.target.closest('[data-key]');
    if (group && group.view && group.view.kind === 'pill') {
      choose(null);
      showTensors([...group.view.tensors]);
    } else {
      choose(group ? group.dataset.key : null);
    }
  });
  canvas.addEventListener('dblclick', (event) => {
    const group = event.target.closest('[data-key]'), place = group && placeOf(group.dataset.key);
    if (!place || event.target.closest('.button')) return;
    if (place.view.views) fold(place.view);
    else if (canOpen(place.view)) open(place.view);
    else return;
    redraw(place.view.key);
    choose(place.view.key);
  });
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const scale = Math.min(4, Math.max(0.01, camera.scale * Math.exp(-event.deltaY * 0.0015)));
    camera.x = x - (x - camera.x) * scale / camera.scale;
    camera.y = y - (y - camera.y) * scale / camera.scale;
    camera.scale = scale;
    moveCamera();
  }, {passive: false});
  canvas.addEventListener('mousemove', (event) => {
    if (held && held.moved) return;
    const target = event.target, group = target.closest('.view, .button');
    if (target.link) showTip(linkText(target.link), event);
    else if (group && group.dataset.tip) showTip(group.dataset.tip, event);
    else if (group && group.view) showTip(viewText(group.view), event);
    else hideTip();
  });
  canvas.addEventListener('mouseleave', hideTip);
})();

document.getElementById('fold').addEventListener('click', () => { foldAll(); redraw(); fit(true); });
document.getElementById('open').addEventListener('click', () => { openAll(); redraw(); fit(false); });
document.getElementById('fit').addEventListener('click', () => fit(true));

document.getElementById('find').addEventListener('input', (event) => {
  const words = event.target.value.toLowerCase(), list = document.getElementById('found');
  list.textContent = '';
  if (words === '') return;
  const add = (text, act) => {
    const row = element('li', {text: cutText(text, 90)}, list);
    row.addEventListener('mousedown', () => { list.textContent = ''; act(); });
  };
  const within = (name) => name.toLowerCase().includes(words);
  plan.nodes.map((node, n) => n).filter((n) => within(plan.nodes[n].name)).slice(0, 12)
      .forEach((n) => add(plan.nodes[n].name + '  (node)', () => chooseNode(n)));
  plan.tensors.map((tensor, t) => t)
      .filter((t) => plan.tensors[t].kind !== 'copy' && within(plan.tensors[t].name)).slice(0, 12)
      .forEach((t) => add(plan.tensors[t].name + '  (' + plan.tensors[t].kind + ')',
                          () => showTensors([t])));
});
document.getElementById('find').addEventListener('blur', () => {
  document.getElementById('found').textContent = '';
});

showHead();
openSome();
redraw();
fit(false);
drawTimeline();
showPlan();
makeTables();
