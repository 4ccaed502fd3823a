// All nodes and all transfers as tables, made when they are opened.
'use strict';

const mostRows = 500;  // at once; the search reaches all

function makeTables() {
  makeTable('nodes', ['node', 'operator', 'splits its', 'output as stored', 'moves'], plan.nodes.map((node, n) => n),
            (n) => [plan.nodes[n].name, plan.nodes[n].op, plan.nodes[n].cut,
                    plan.tensors[plan.nodes[n].writes] ? plan.tensors[plan.nodes[n].writes].text : '–',
                    bytesText(sum(movedBy[n]))], (n) => n);
  makeTable('moves', ['tensor', 'for', 'kind', 'as', 'over', 'bytes', 'because'],
            [...plan.moves].sort((a, b) => b.bytes - a.bytes),
            (move) => [plan.tensors[move.tensor].name, plan.nodes[move.node].name, kindNames[kinds[move.kind]],
                       move.as || 'exchange', move.over, bytesText(move.bytes), move.why], (move) => move.node);
}

function makeTable(id, heads, rows, cells, nodeOf) {
  const box = document.getElementById(id);
  box.querySelector('summary').textContent += ' (' + rows.length + ')';
  box.addEventListener('toggle', () => {
    if (!box.open || box.querySelector('table')) return;
    const find = element('input', {placeholder: 'rows that hold …'}, box), table = element('table', {}, box);
    const fill = () => {
      table.textContent = '';
      const line = element('tr', {}, table), words = find.value.toLowerCase();
      for (const head of heads) element('th', {text: head}, line);
      let shown = 0;
      for (const one of rows) {
        const texts = cells(one);
        if (words && !texts.join(' ').toLowerCase().includes(words)) continue;
        if (++shown > mostRows) break;
        const made = element('tr', {}, table);
        texts.forEach((text, i) => {
          const cell = element('td', {class: i < 4 ? 'code' : ''}, made);
          if (i > 0) { cell.textContent = cutText(text, 300); return; }
          cell.append(linkTo(cutText(text, 200), () => { chooseNode(nodeOf(one)); scrollTo(0, 0); }));
        });
      }
      if (shown > mostRows) element('td', {text: `and more: the first ${mostRows} are shown`}, element('tr', {}, table));
    };
    find.addEventListener('input', fill);
    fill();
  });
}
