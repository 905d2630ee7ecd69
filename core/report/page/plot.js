// Plots: drawn to the width that there is, with points that a pointer or the arrow keys can ask.

// draw(width) -> {node, points: [{x, y, text}], stride}; stride: points of one row of a grid.
function plot(label, draw, minimum) {
  const holder = el("div", { class: "plot scroll" });
  let width = 0;
  const redraw = () => {
    const wanted = Math.max(minimum || 0, Math.floor(holder.clientWidth));
    if (wanted === width || wanted === 0) return;
    width = wanted;
    const drawn = draw(width);
    fill(drawn.node, { role: "img", tabindex: 0, "aria-label": label + " Arrow keys step through the values." }, []);
    makeAskable(drawn);
    holder.replaceChildren(drawn.node);
  };
  queueMicrotask(redraw);  // by then it stands in the page
  new ResizeObserver(() => requestAnimationFrame(redraw)).observe(holder);
  return holder;
}

function makeAskable({ node, points, stride }) {
  const cursor = svg("circle", { class: "cursor", r: 8, visibility: "hidden" });
  node.append(cursor);
  let at = -1;
  const go = (index, speak) => {
    at = index;
    const point = points[at];
    fill(cursor, { cx: point.x, cy: point.y, visibility: "visible" }, []);
    const box = node.getBoundingClientRect();
    const scale = box.width / node.viewBox.baseVal.width;
    showTip(point.text, box.left + point.x * scale, box.top + point.y * scale);
    if (speak) spoken.textContent = point.text;
  };
  const leave = () => { cursor.setAttribute("visibility", "hidden"); hideTip(); };
  node.addEventListener("pointermove", (event) => {
    const box = node.getBoundingClientRect();
    const scale = node.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    let best = -1, least = 28 * 28;
    points.forEach((point, index) => {
      const far = (point.x - x) ** 2 + (point.y - y) ** 2;
      if (far < least) { least = far; best = index; }
    });
    if (best >= 0) go(best); else leave();
  });
  node.addEventListener("pointerleave", leave);
  node.addEventListener("blur", leave);
  node.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: stride || 1, ArrowUp: -(stride || 1) }[event.key];
    if (event.key === "Escape") leave();
    if (!step || points.length === 0) return;
    event.preventDefault();
    go(Math.max(0, Math.min(points.length - 1, at < 0 ? 0 : at + step)), true);
  });
}

const canvas = (width, height) => svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height });

// ---- Scales

const linear = (from, to, low, high) => (value) => low + ((value - from) / (to - from || 1)) * (high - low);

// Not Math.min(...values): a page may hold more values than a call takes arguments.
function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
  return [low, high];
}

// Whole decades around the positive values, and a place below for zeros and above for what is not finite.
function decades(values) {
  const logs = values.filter((v) => v > 0 && Number.isFinite(v)).map(Math.log10);
  if (logs.length === 0) return { low: -1, high: 0 };
  const [least, most] = extent(logs);
  const low = Math.floor(least), high = Math.ceil(most);
  return { low: Math.max(low, high - 24), high: high > low ? high : low + 1 };
}
const power = (exponent) => (exponent === 0 ? "1" : exponent === -1 ? "0.1" : "1e" + exponent);

// A log axis from top to bottom; the lowest line is for zero.
function logAxis(node, { low, high }, x0, x1, top, bottom, zeroName) {
  const zero = bottom - 24;
  const y = (value) => {
    if (!Number.isFinite(value)) return top - 8;
    return value <= 0 ? bottom - 3 : linear(low, high, zero, top)(Math.max(low, Math.log10(value)));
  };
  const step = Math.ceil((high - low) / 8);
  for (let e = low; e <= high; e += step) {
    const at = linear(low, high, zero, top)(e);
    node.append(svg("line", { class: "grid", x1: x0, x2: x1, y1: at, y2: at }),
      svg("text", { x: x0 - 6, y: at + 4, "text-anchor": "end" }, power(e)));
  }
  node.append(svg("line", { class: "axis", x1: x0, x2: x1, y1: bottom, y2: bottom }),
    svg("text", { x: x0 - 6, y: bottom + 1, "text-anchor": "end" }, zeroName));
  return y;
}

function ticks(from, to, n) {
  const span = to - from || 1;
  const unit = 10 ** Math.floor(Math.log10(span / n));
  const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => span / s <= n);
  const found = [];
  for (let t = Math.ceil(from / step) * step; t <= to + step * 1e-9; t += step) found.push(Number(t.toPrecision(12)));
  return found;
}

const triangle = (x, y, r) => `M${x},${y - r}L${x + r},${y + r * 0.8}L${x - r},${y + r * 0.8}Z`;
const diamond = (x, y, r) => `M${x},${y - r}L${x + r},${y}L${x},${y + r}L${x - r},${y}Z`;

// [[sample shape, what it means]]
function key(...entries) {
  return el("div", { class: "key plot" }, entries.filter(Boolean).map(([shape, text]) =>
    el("span", {}, svg("svg", { width: 18, height: 14, viewBox: "0 0 18 14", "aria-hidden": "true" }, shape), text)));
}
