"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const palette = {}; // of the theme; drawings ask for it when they draw, so that a new theme needs no new drawings
  function mix() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["paper", "ink", "soft", "line", "chosen", "random", "best", "warm", "cold", "zero"]) palette[name] = style.getPropertyValue("--" + name).trim();
  }
  const paint = (name) => () => palette[name];
  const percent = (value) => (value >= 10 ? value.toFixed(1) : value.toPrecision(3)) + "%";
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const name = (j) => data.names[j];
  const tip = find("tip");

  function tell(event, text) {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = Math.max(4, event.clientY - box.height - 12) + "px";
  }
  const hush = () => { tip.hidden = true; };

  // Tables: a click on a heading sorts, a word filters, and long ones are shown a part at a time.
  const PART = 50, PRINTED = 300;
  function sortable(table) {
    const body = table.tBodies[0], rows = [...body.rows];
    let word = "", first = 0, most = "parts" in table.dataset ? PART : Infinity;
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    const own = { rows, tell: () => {} };
    const show = (start) => { // only what is seen is in the document, which keeps long tables quick
      const fitting = word ? rows.filter((row) => texts.get(row).includes(word)) : rows;
      first = Math.max(0, Math.min(start, fitting.length - 1));
      body.replaceChildren(...fitting.slice(first, first + most));
      own.tell(first, Math.min(first + most, fitting.length), fitting.length);
    };
    const usual = most;
    addEventListener("beforeprint", () => { most = Math.max(usual, PRINTED); show(0); });
    addEventListener("afterprint", () => { most = usual; show(0); });
    const value = (row, column, numeric) => {
      const cell = row.cells[column];
      return numeric ? Number(cell.dataset.value ?? cell.textContent) : cell.textContent.trim().toLowerCase();
    };
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (head.dataset.kind === "plain") return;
      const numeric = head.dataset.kind === "number", button = document.createElement("button");
      button.type = "button";
      button.textContent = head.dataset.title = head.textContent; // on paper a head without a button is repeated
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const rising = head.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", rising ? "ascending" : "descending");
        const keys = new Map(rows.map((row) => [row, value(row, column, numeric)]));
        const sign = rising ? 1 : -1;
        rows.sort((a, b) => { const x = keys.get(a), y = keys.get(b); return sign * (x < y ? -1 : x > y ? 1 : 0); });
        show(0);
      });
    });
    show(0);
    return Object.assign(own, { filter: (text) => { word = text; show(0); }, move: (parts) => show(first + parts * PART) });
  }
  const tables = new Map([...document.querySelectorAll("table.sortable")].map((table) => [table.id, sortable(table)]));
  const dropped = tables.get("dropped-table");
  if (dropped) {
    const earlier = find("earlier"), later = find("later");
    dropped.tell = (from, to, fitting) => {
      earlier.hidden = from === 0;
      later.hidden = to === fitting;
      find("count").textContent = fitting === 0 ? "none" : to - from === fitting ? `${fitting} in all` : `${from + 1} to ${to} of ${fitting}`;
    };
    dropped.filter("");
    earlier.addEventListener("click", () => dropped.move(-1));
    later.addEventListener("click", () => dropped.move(1));
    find("filter").addEventListener("input", (event) => dropped.filter(event.target.value.trim().toLowerCase()));
  }

  // Charts, drawn by uPlot.
  function axis(label, extra) {
    const line = { stroke: paint("line"), width: 1 };
    return { stroke: paint("soft"), grid: line, ticks: { ...line, size: 4 }, label, labelSize: 24, labelFont: "13px system-ui", font: "12px system-ui", ...extra };
  }
  function size(element) { return { width: element.clientWidth, height: element.clientHeight }; }
  function legend(element, entries) {
    const box = document.createElement("div");
    box.className = "legend";
    for (const [kind, text] of entries) {
      const entry = document.createElement("span");
      entry.className = kind;
      entry.append(document.createElement("i"), text);
      box.append(entry);
    }
    element.after(box);
  }
  const charts = [];
  function put(element, options, values) {
    const chart = new uPlot({ ...size(element), ...options }, values, element);
    charts.push([element, chart]);
    return chart;
  }

  function drawCurve() {
    if (!data.curve) return;
    const element = find("curve-chart"), { k, greedy, best, chosen } = data.curve;
    const mark = k.map((value) => (value === chosen[0] ? chosen[1] : null));
    const points = { show: true, size: 5, fill: paint("chosen"), stroke: paint("chosen") };
    put(element, {
      scales: { x: { time: false }, y: { range: (u, low, high) => [0, high * 1.05 || 1] } },
      axes: [axis(`${data.noun}s chosen`, { size: 30, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500] }), axis("lost, % of the total", { size: 52 })],
      series: [{}, { stroke: paint("chosen"), width: 2, points }, { stroke: paint("best"), width: 2, dash: [6, 5], points: { show: false } },
        { stroke: paint("warm"), width: 0, points: { show: true, size: 11, fill: paint("warm"), stroke: paint("paper"), width: 2 } }],
      cursor: { drag: { x: false, y: false }, y: false },
      hooks: { setCursor: [(u) => {
        const i = u.cursor.idx;
        if (i == null || u.cursor.left < 0) return hush();
        const box = u.over.getBoundingClientRect(), here = k[i] === chosen[0] ? `, this choice ${percent(chosen[1])}` : "";
        tell({ clientX: box.left + u.cursor.left, clientY: box.top + u.cursor.top }, `${k[i]} ${data.noun}s: lost ${percent(greedy[i])} by greedy choice${here}${best ? `; at least ${percent(best[i])}` : ""}`);
      }] },
    }, [k, greedy, best ?? k.map(() => null), mark]);
    const bound = best ? [["best", "the best directions: no choice can be below"]] : [];
    legend(element, [["chosen", "greedy choice of each size"], ...bound, ["point", "this choice"]]);
  }

  function drawPath() {
    const element = find("path-chart");
    if (!element || !data.path) return;
    const { step, column, chosen } = data.path, levels = bytes(data.path.t), steps = step.length;
    const values = [step];
    for (let j = 0; j < column.length; j++) values.push(Array.from(levels.subarray(j * steps, (j + 1) * steps), (level) => level / 255));
    const series = column.map((j, place) => ({ stroke: paint(chosen[place] ? "chosen" : "random"), width: chosen[place] ? 1.6 : 0.8, points: { show: false } }));
    put(element, {
      scales: { x: { time: false }, y: { range: [-0.02, 1.02] } },
      axes: [axis("step", { size: 30 }), axis("weight", { size: 46 })],
      series: [{}, ...series],
      focus: { alpha: 0.18 },
      cursor: { drag: { x: false, y: false }, y: false, x: false, points: { show: false }, focus: { prox: 24 } },
      hooks: {
        setSeries: [(u, place) => { u.near = place; }],
        setCursor: [(u) => {
          if (!u.near || u.cursor.left < 0) return hush();
          const box = u.over.getBoundingClientRect(), j = column[u.near - 1];
          tell({ clientX: box.left + u.cursor.left, clientY: box.top + u.cursor.top }, name(j) + (chosen[u.near - 1] ? `, chosen as number ${data.order.indexOf(j) + 1}` : ""));
        }],
      },
    }, values);
    legend(element, [["chosen", "chosen"], ["grey", `not chosen (${column.length - chosen.filter(Boolean).length} shown)`]]);
  }

  // Maps: a colour per pair of columns, a cell per pixel.
  const channels = (text) => [1, 3, 5].map((place) => parseInt(text.slice(place, place + 2), 16));
  function shades() { // a colour for each level from -127 to 127
    const [cold, zero, warm] = ["cold", "zero", "warm"].map((name) => channels(palette[name]));
    return Array.from({ length: 255 }, (_, i) => {
      const part = (i - 127) / 127, end = part < 0 ? warm : cold;
      return [...zero.map((from, c) => Math.round(from + Math.abs(part) * (end[c] - from))), 255];
    });
  }
  const heat = data.heat && { ...data.heat, levels: new Int8Array(bytes(data.heat.levels).buffer) };
  function drawHeat() {
    const canvas = find("heat-map");
    if (!canvas || !heat) return;
    const { chosen, other, levels } = heat, shade = shades(), context = canvas.getContext("2d");
    canvas.width = other.length;
    canvas.height = chosen.length;
    canvas.style.height = Math.max(60, Math.min(440, chosen.length * 22)) + "px";
    const listed = (columns, most) => (columns.length > most ? [] : columns).map((j) => { // more would not be legible
      const item = document.createElement("li");
      item.textContent = name(j);
      return item;
    });
    find("heat-names").replaceChildren(...listed(chosen, 20));
    find("heat-others").replaceChildren(...listed(other, 40));
    const image = context.createImageData(other.length, chosen.length);
    for (let i = 0; i < levels.length; i++) image.data.set(shade[levels[i] + 127], 4 * i);
    context.putImageData(image, 0, 0);
    const scale = find("heat-scale"), ramp = scale.getContext("2d").createImageData(scale.width, 1);
    shade.forEach((rgba, i) => ramp.data.set(rgba, 4 * i));
    scale.getContext("2d").putImageData(ramp, 0, 0);
    canvas.onpointermove = (event) => {
      const i = Math.floor((event.offsetY / canvas.clientHeight) * chosen.length), j = Math.floor((event.offsetX / canvas.clientWidth) * other.length);
      if (!(i >= 0 && i < chosen.length && j >= 0 && j < other.length)) return hush();
      tell(event, `${name(chosen[i])} and ${name(other[j])}: ${(levels[i * other.length + j] / 127).toFixed(2)}`);
    };
    canvas.onpointerleave = hush;
  }
  function drawPixels() {
    const canvas = find("pixel-map");
    if (!canvas) return;
    const [height, width] = data.image, side = Math.max(6, Math.min(52, Math.floor(800 / width))), context = canvas.getContext("2d");
    const lost = new Map((dropped?.rows ?? []).map((row) => [Number(row.dataset.index), 1 - Number(row.cells[1].dataset.value)]));
    canvas.width = width * side;
    canvas.height = height * side;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = `600 ${Math.round(side * 0.42)}px system-ui`;
    const zero = channels(palette.zero), ink = channels(palette.ink);
    for (let j = 0; j < width * height; j++) {
      const x = (j % width) * side, y = Math.floor(j / width) * side, place = data.order.indexOf(j), a = 0.6 * (lost.get(j) ?? 0);
      context.fillStyle = place >= 0 ? palette.chosen : `rgb(${zero.map((from, i) => Math.round(from + a * (ink[i] - from))).join(" ")})`;
      context.fillRect(x + 0.5, y + 0.5, side - 1, side - 1);
      if (place >= 0 && side >= 14) { context.fillStyle = palette.paper; context.fillText(place + 1, x + side / 2, y + side / 2 + 1); }
    }
    canvas.onpointermove = (event) => {
      const j = Math.floor((event.offsetY / canvas.clientHeight) * height) * width + Math.floor((event.offsetX / canvas.clientWidth) * width);
      if (!(j >= 0 && j < width * height)) return hush();
      const place = data.order.indexOf(j);
      tell(event, `${name(j)}: ${place >= 0 ? `chosen as number ${place + 1}` : lost.has(j) ? `${percent(100 * (1 - lost.get(j)))} rebuilt` : "rebuilt"}`);
    };
    canvas.onpointerleave = hush;
  }

  const copy = find("copy");
  copy.hidden = !navigator.clipboard;
  copy.addEventListener("click", () => navigator.clipboard.writeText(data.order.map(name).join("\n")).then(() => { copy.textContent = "copied"; }));

  function wear(theme) {
    document.documentElement.dataset.theme = theme;
    mix();
    for (const [, chart] of charts) chart.redraw(false);
    drawHeat();
    drawPixels();
  }
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  wear(preferred.matches ? "dark" : "light");
  drawCurve();
  drawPath();
  preferred.addEventListener("change", (event) => wear(event.matches ? "dark" : "light"));
  find("theme").addEventListener("click", () => wear(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  document.addEventListener("scroll", hush, { passive: true });
  for (const element of document.querySelectorAll(".chart")) element.addEventListener("mouseleave", hush);
  let frame = 0;
  addEventListener("resize", () => { cancelAnimationFrame(frame); frame = requestAnimationFrame(() => charts.forEach(([element, chart]) => chart.setSize(size(element)))); });
})();
