// Draws what is in flight and the window, summed over all shards, below the table of the tab. The page around it is Locust's
// and drawn by React: this has an element of its own after it, and touches nothing else.
"use strict";
(() => {
  const NAMESPACE = "http://www.w3.org/2000/svg";
  const WIDTH = 1100, HEIGHT = 260, LEFT = 60, BOTTOM = 30, TOP = 30;
  const LINES = [
    { key: "in_flight", title: "in flight", colour: "#4e9a06", dash: "" },
    { key: "window", title: "window", colour: "#c4a000", dash: "6 3" },
  ];
  const base = new URL(".", document.currentScript.src);

  const make = (name, attributes, text) => {
    const element = document.createElementNS(NAMESPACE, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const draw = (series) => {
    const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: "100%", role: "img", id: "tailback-plot" });
    const values = series.flatMap((point) => LINES.map(({ key }) => point[key] ?? 0));
    const most = Math.max(1, ...values) * 1.1;
    const last = Math.max(1, ...series.map((point) => point.t_s));
    const x = (t) => LEFT + (t / last) * (WIDTH - LEFT - 10);
    const y = (value) => HEIGHT - BOTTOM - (value / most) * (HEIGHT - BOTTOM - TOP);
    for (const share of [0, 0.5, 1]) {
      const value = most * share;
      svg.append(make("line", { x1: LEFT, x2: WIDTH - 10, y1: y(value), y2: y(value), stroke: "#8884" }));
      svg.append(make("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end", fill: "currentColor", "font-size": 12 }, value.toFixed(0)));
      svg.append(make("text", { x: x(last * share), y: HEIGHT - 8, "text-anchor": "middle", fill: "currentColor", "font-size": 12 }, `${(last * share).toFixed(last < 10 ? 1 : 0)} s`));
    }
    LINES.forEach(({ key, title, colour, dash }, place) => {
      const points = series.filter((point) => point[key] !== null).map((point) => `${x(point.t_s).toFixed(1)},${y(point[key]).toFixed(1)}`);
      const style = { fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash };
      svg.append(make("polyline", { ...style, points: points.join(" "), "data-line": key }));
      svg.append(make("line", { ...style, x1: LEFT + place * 140, x2: LEFT + 30 + place * 140, y1: 12, y2: 12 }));
      svg.append(make("text", { x: LEFT + 36 + place * 140, y: 16, fill: "currentColor", "font-size": 13 }, title));
    });
    return svg;
  };

  const look = async () => {
    const box = document.getElementById("tailback");
    const isOpen = new URLSearchParams(window.location.search).get("tab") === "tailback";
    box.hidden = !isOpen;
    if (!isOpen) return;
    const answer = await fetch(new URL("gauges", base));
    const view = answer.ok ? await answer.json() : null;
    if (view === null) return;
    const words = document.createElement("pre");
    words.textContent = view.message;
    const heading = document.createElement("h3");
    heading.textContent = `${view.strategy}: in flight and window, all shards`;
    box.replaceChildren(heading, draw(view.series), words);
    // Locust's page is as high as the window, however little is in it.
    const table = document.querySelector("#root table");
    if (table) box.style.top = `${table.getBoundingClientRect().bottom + window.scrollY + 20}px`;
  };

  const box = document.createElement("div");
  box.id = "tailback";
  box.hidden = true;
  box.style.cssText = "position: absolute; left: 0; right: 0; max-width: 1150px; margin: 0 auto; padding-bottom: 60px; font-family: sans-serif; color: #888; overflow-x: auto";
  document.body.append(box);
  // Locust tells nobody that another tab is open.
  window.setInterval(() => look().catch(() => undefined), 1000);
})();
