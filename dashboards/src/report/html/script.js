'use strict';
// Makes the pictures better; without it they are complete. Values are read back from the places of the lines.
const label = group => group.querySelector('title').textContent;

// A name in a legend shows or hides its lines in all pictures that the legend belongs to, and its own picture of several.
for (const name of document.querySelectorAll('.legend li')) {
  const scope = name.closest('figure, .multiples, .pictures');
  const own = name.textContent.trim();
  const toggle = () => {
    const off = name.classList.toggle('off');
    name.setAttribute('aria-pressed', String(!off));
    const lines = [...scope.querySelectorAll('.plot .series')].filter(group => label(group) === own);
    const pictures = [...scope.querySelectorAll('figure')].filter(figure => figure.dataset.strategy === own);
    for (const shown of [...lines, ...pictures]) shown.classList.toggle('off', off);
  };
  name.setAttribute('role', 'button');
  name.setAttribute('aria-pressed', 'true');
  name.tabIndex = 0;
  name.title = 'show or hide';
  name.addEventListener('click', toggle);
  name.addEventListener('keydown', event => {
    if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); toggle(); }
  });
}

for (const figure of document.querySelectorAll('figure')) {
  const plot = figure.querySelector('.plot');
  const groups = [...plot.querySelectorAll('.series')];
  const names = groups.map(label);

  const axis = text => {
    const [side, end, from, to, scale] = text.split(' ').map((part, index) => index < 4 ? Number(part) : part);
    return place => {
      const share = (place - side) / (end - side);
      if (scale === 'log') return from * Math.pow(to / from, share);
      if (scale === 'nines') return 100 * (1 - Math.pow(1 - to, share));
      return from + share * (to - from);
    };
  };
  const [x, y] = [axis(plot.dataset.x), axis(plot.dataset.y)];
  const nines = plot.dataset.x.endsWith('nines');
  const told = value => value >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
  const lines = groups.map(group => {
    const line = group.querySelector('.line, .events');
    const places = line ? [...line.getAttribute('d').matchAll(/[ML]([\d.]+) ([\d.]+)/g)] : [];
    return places.map(place => [Number(place[1]), Number(place[2])]);
  });
  const events = groups.map(group => group.querySelector('.events') !== null);
  if (!lines.some(line => line.length > 0)) continue;

  const [left, right] = plot.dataset.x.split(' ').slice(0, 2).map(Number);
  const [bottom, top] = plot.dataset.y.split(' ').slice(0, 2).map(Number);
  const cursor = document.createElementNS(plot.namespaceURI, 'path');
  cursor.setAttribute('class', 'cursor');
  const tip = document.createElement('div');
  tip.className = 'tip';
  const hide = () => { cursor.remove(); tip.remove(); };
  plot.addEventListener('pointerleave', hide);
  plot.addEventListener('pointermove', event => {
    const box = plot.getBoundingClientRect();
    const at = (event.clientX - box.left) / box.width * plot.viewBox.baseVal.width;
    if (at < left || at > right) return hide();
    let shared = null;
    tip.replaceChildren();
    lines.forEach((line, index) => {
      if (line.length === 0 || groups[index].classList.contains('off')) return;
      if (at < line[0][0] - 8 || at > line[line.length - 1][0] + 8) return;
      const row = document.createElement('div');
      tip.append(row);
      if (events[index]) {
        // So many strokes stand for nothing alone: how many are near tells of clusters.
        if (shared === null) shared = at;
        const count = line.filter(place => Math.abs(place[0] - at) <= 3).length;
        row.textContent = `${count} strokes within ${told(Math.abs(x(at + 3) - x(at)))} ${plot.dataset.unit}  ${names[index]}`;
        return;
      }
      const near = line.reduce((best, place) => Math.abs(place[0] - at) < Math.abs(best[0] - at) ? place : best);
      if (shared === null || Math.abs(near[0] - at) < Math.abs(shared - at)) shared = near[0];
      row.textContent = `${told(y(near[1]))}  ${names[index]}`;
    });
    if (shared === null) return hide();
    const head = document.createElement('div');
    const value = x(shared);
    head.textContent = nines ? `${Number(value.toPrecision(5))} %` : `${told(value)} ${plot.dataset.unit}`;
    tip.prepend(head);
    cursor.setAttribute('d', `M${shared} ${bottom}V${top}`);
    plot.append(cursor);
    figure.append(tip);
    const around = figure.getBoundingClientRect();
    const offset = event.clientX - around.left;
    const room = figure.clientWidth - tip.offsetWidth - 6;
    tip.style.left = `${Math.max(6, Math.min(room, offset > room ? offset - tip.offsetWidth - 14 : offset + 14))}px`;
    tip.style.top = `${box.top - around.top + 26}px`;
  });
}
