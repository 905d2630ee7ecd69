// Door 20: what each op adds to the error, and at which position.

const plainName = (op) => (op.layer < 0 ? op.op : op.op.slice(op.op.indexOf(".") + 1));
const isOver = (op, value) => op.budget !== null && !(value <= op.budget);

// Beyond its budget, or judged without one.
const isBad = (op) => op.verdict === "UNEXPLAINED" || op.verdict === "WRONG";

function opText(op) {
  const lines = [seen(op.op) + "  " + op.verdict,
    "introduced, worst row: " + number(op.introduced_worst) + " at position " + op.worst_position,
    "introduced, all rows: " + number(op.introduced),
    op.budget === null ? "no budget is known" : "budget: " + (op.budget === 0 ? "equal bits" : number(op.budget))];
  if (op.total !== null) lines.push("total: " + number(op.total) + ", inherited: " + optional(op.inherited));
  lines.push(op.n_bits_differ.toLocaleString("en") + " of " + op.n_values.toLocaleString("en") + " values differ in bits");
  const e = op.example;
  if (e) {
    lines.push("e.g. position " + e.position + (e.held_at_a === null
      ? ", channel " + e.channel + ": " + number(e.a) + " against " + number(e.b)
      : ": a row for position " + e.held_at_a + " against one for " + e.held_at_b));
  }
  return lines.join("\n");
}

function errorPlot(ops) {
  const height = 330, top = 22, bottom = height - 34, left = 58;
  return plot("Introduced error of each op against its budget, on a logarithmic scale.", (width) => {
    const node = canvas(width, height), right = width - 8;
    const x = (index) => left + 8 + (index + 0.5) * ((right - left - 8) / ops.length);
    const range = decades(ops.flatMap((op) => [op.introduced_worst, op.budget, op.total]));
    let band = null, bandStart = 0;
    const layers = [];
    ops.forEach((op, index) => {
      if (op.layer !== band) { if (band !== null) layers.push([band, bandStart, index]); band = op.layer; bandStart = index; }
    });
    layers.push([band, bandStart, ops.length]);
    const labelEvery = Math.ceil(layers.length / Math.max(2, Math.floor((right - left) / 34)));
    layers.forEach(([layer, from, to]) => {
      const x0 = x(from - 0.5), x1 = x(to - 0.5);
      if (layer >= 0 && layer % 2 === 0) node.append(svg("rect", { class: "band", x: x0, width: x1 - x0, y: top, height: bottom - top }));
      if (layer >= 0 && layer % labelEvery === 0)
        node.append(svg("text", { x: (x0 + x1) / 2, y: bottom + 16, "text-anchor": "middle" }, layer));
    });
    node.append(svg("text", { x: (left + right) / 2, y: height - 2, "text-anchor": "middle" }, "layer"));
    const y = logAxis(node, range, left, right, top, bottom, "0");
    const total = ops.map((op, i) => (op.total === null ? "" : (i && ops[i - 1].total !== null ? "L" : "M") + x(i) + "," + y(op.total))).join("");
    if (total) node.append(svg("path", { class: "total", d: total }));
    const half = (right - left) / ops.length / 2;
    const budget = ops.map((op, i) => (op.budget > 0 ? `M${x(i) - half},${y(op.budget)}H${x(i) + half}` : "")).join("");
    node.append(svg("path", { class: "budget", d: budget }));
    const points = ops.map((op, i) => ({ x: x(i), y: y(op.introduced_worst), text: opText(op) }));
    const size = Math.max(2.2, Math.min(4.5, half * 1.6));
    ops.forEach((op, i) => {
      const p = points[i];
      if (op.n_bits_differ === 0) node.append(svg("line", { class: "equal", x1: p.x, x2: p.x, y1: bottom - 7, y2: bottom }));
      else if (isBad(op)) node.append(svg("path", { class: "over", d: triangle(p.x, p.y, size + 2) }));
      else node.append(svg("circle", { class: "within", cx: p.x, cy: p.y, r: size }));
    });
    return { node, points };
  }, 300);
}

// ---- Heat map: layers down, positions across

function heatRows(ops, name, field) {
  const rows = new Map();
  let isBehind = false;
  for (const op of ops) {
    if (op.layer >= 0) isBehind = true;
    if (name !== "" && plainName(op) !== name) continue;
    const label = op.layer >= 0 ? String(op.layer) : isBehind ? "head" : "embed";
    if (!rows.has(label)) rows.set(label, []);
    rows.get(label).push(op);
  }
  return [...rows].map(([label, members]) => {
    const cells = new Map();
    for (const op of members) {
      op[field].forEach((value, j) => {
        const column = Math.floor(op.first_position / PAGE.rows_per_column) + j;
        const over = field === "introduced_by_row" && isOver(op, value);
        const old = cells.get(column);
        const isLarger = !old || (over && !old.over) || (over === old.over && value > old.value);
        if (isLarger) cells.set(column, { value, over, op });
      });
    }
    return { label, cells };
  });
}

// The columns that rows of the map have. Without a gap there are no more of them than cells; a
// stranger's report may claim one.
function columnsOf(rows) {
  const held = rows.flatMap((row) => [...row.cells.keys()]);
  const [first, last] = extent(held);
  return { first, n: Math.min(last - first + 1, held.length) };
}

function heatMap(ops, name, field) {
  const rows = heatRows(ops, name, field);
  const values = rows.flatMap((row) => [...row.cells.values()].map((cell) => cell.value));
  const range = decades(values);
  const { first, n: columns } = columnsOf(rows);
  const cellHeight = rows.length > 40 ? 9 : rows.length > 20 ? 13 : 18;
  const left = 58, top = 6;
  const height = top + rows.length * cellHeight + 40;
  const strength = (value) => (value <= 0 ? 0
    : 0.12 + 0.88 * Math.max(0, Math.min(1, (Math.log10(value) - range.low) / (range.high - range.low))));
  return plot("Error by layer and position.", (width) => {
    const node = canvas(width, height);
    const w = Math.min(64, (width - left - 8) / columns);
    const points = [];
    rows.forEach((row, r) => {
      const y0 = top + r * cellHeight;
      if (cellHeight >= 13 || r % 2 === 0)
        node.append(svg("text", { x: left - 8, y: y0 + cellHeight / 2 + 4, "text-anchor": "end" }, row.label));
      node.append(svg("rect", { class: "band", x: left, y: y0 + 0.5, width: columns * w - 1, height: cellHeight - 1 }));
      for (let c = 0; c < columns; ++c) {
        const cell = row.cells.get(first + c);
        const at = { x: left + c * w + w / 2, y: y0 + cellHeight / 2 };
        const position = (first + c) * PAGE.rows_per_column;
        const where = "layer " + row.label + ", position " + position +
          (PAGE.rows_per_column > 1 ? " to " + (position + PAGE.rows_per_column - 1) : "");
        points.push({ ...at, text: where + "\n" + (cell ? seen(cell.op.op) + ": " + number(cell.value) +
          (cell.over ? "\nbeyond its budget of " + number(cell.op.budget) : "") : "no row here") });
        if (!cell || cell.value === 0) continue;
        node.append(svg("rect", { class: "cell" + (cell.over ? " over" : ""), x: left + c * w + 0.5, y: y0 + 0.5,
          width: Math.max(0.5, w - 1), height: cellHeight - 1, "fill-opacity": strength(cell.value).toFixed(3) }));
        if (cell.over) node.append(svg("circle", { class: "mark", cx: at.x, cy: at.y, r: Math.min(2.2, w / 4) }));
      }
    });
    const axis = top + rows.length * cellHeight + 14;
    for (const t of ticks(first * PAGE.rows_per_column, (first + columns) * PAGE.rows_per_column, Math.max(2, Math.floor(columns * w / 60)))) {
      const c = t / PAGE.rows_per_column - first;
      if (Number.isInteger(t) && c < columns) node.append(svg("text", { x: left + c * w + w / 2, y: axis, "text-anchor": "middle" }, t));
    }
    node.append(svg("text", { x: left, y: axis + 18 }, "position"));
    return { node, points, stride: columns };
  }, 280);
}

function heatKey(ops, field) {
  const range = decades(ops.flatMap((op) => op[field]));
  const sample = (className, opacity) => svg("rect", { class: className, x: 1, y: 1, width: 16, height: 12, "fill-opacity": opacity });
  return key([svg("rect", { class: "band", x: 1, y: 1, width: 16, height: 12 }), "0"],
    [sample("cell", 0.12), power(range.low)], [sample("cell", 0.56), power(Math.round((range.low + range.high) / 2))], [sample("cell", 1), power(range.high)],
    field === "introduced_by_row" && ops.some((op) => op[field].some((value) => isOver(op, value))) && [[sample("cell over", 1), svg("circle", { class: "mark", cx: 9, cy: 7, r: 2.2 })], "beyond its budget"]);
}

function heatSection(ops) {
  const rowed = ops.filter((op) => op.introduced_by_row.length || op.total_by_row.length);
  if (rowed.length === 0) return null;
  const names = [...new Set(rowed.map(plainName))];
  const select = el("select", { "aria-label": "Op" }, el("option", { value: "" }, "the largest of each layer's ops"),
    names.map((name) => el("option", { value: name }, seen(name))));
  const hasTotal = rowed.some((op) => op.total_by_row.length);
  const radio = (value, text, checked) => el("label", {}, el("input", { type: "radio", name: "error", value, checked }), " ", text);
  const choice = el("fieldset", {}, el("legend", {}, "Error:"), radio("introduced_by_row", "introduced", true), radio("total_by_row", "total"));
  const holder = el("div");
  const draw = () => {
    const field = (choice.querySelector("input:checked") || {}).value || "introduced_by_row";
    const hasError = rowed.some((op) => op[field].some((value) => value !== 0));
    if (hasError) holder.replaceChildren(heatMap(rowed, select.value, field), heatKey(rowed, field));
    else holder.replaceChildren(el("p", {}, "No row has any error."));
  };
  select.addEventListener("change", draw);
  choice.addEventListener("change", draw);
  draw();
  return el("section", { id: "heat" }, el("h2", {}, "Layers and positions"),
    el("p", { class: "lead" }, "Root mean square of a row's error, relative to A's row" +
      (PAGE.rows_per_column > 1 ? "; a cell is the largest of " + PAGE.rows_per_column + " positions." : ".")),
    el("div", { class: "controls" }, el("label", {}, "Op: ", select), hasTotal && choice), holder,
    tableBehind("The map as a table", () => {
      const field = (choice.querySelector("input:checked") || {}).value || "introduced_by_row";
      const rows = heatRows(rowed, select.value, field);
      const { first, n } = columnsOf(rows);
      return table([{ name: "Layer", of: (row) => row.label }, ...Array.from({ length: n }, (_, i) => first + i).map((c) => ({
        name: c * PAGE.rows_per_column, n: true, of: (row) => (row.cells.has(c) ? number(row.cells.get(c).value) : "") }))], rows, "Errors");
    }));
}

function opsSection(prompt) {
  const ops = prompt.ops;
  if (ops.length === 0) return null;
  const hasTotal = ops.some((op) => op.total !== null);
  const hasSplit = ops.some((op) => op.split);
  const skipped = [[prompt.n_ops_only_a, "A"], [prompt.n_ops_only_b, "B"]].filter(([n]) => n)
    .map(([n, side]) => count(n, "op") + " of " + side + " alone");
  if (prompt.n_rows_not_compared) skipped.push(count(prompt.n_rows_not_compared, "row") + " that one side lacks");
  const columns = [
    { name: "Op", of: (op) => seen(op.op) }, { name: "Kind", of: (op) => seen(op.kind) },
    { name: "Verdict", of: (op) => verdict(op.verdict) },
    { name: "Bits differ", n: true, of: (op) => op.n_bits_differ.toLocaleString("en") + " / " + op.n_values.toLocaleString("en") },
    { name: "Introduced", n: true, of: (op) => number(op.introduced) },
    { name: "Worst row", n: true, of: (op) => number(op.introduced_worst) },
    { name: "at", n: true, of: (op) => op.worst_position },
    { name: "Budget", n: true, of: (op) => (op.budget === null ? "–" : op.budget === 0 ? "equal bits" : number(op.budget)) },
    { name: "Inherited", n: true, of: (op) => optional(op.inherited) }, { name: "Total", n: true, of: (op) => optional(op.total) },
    { name: "Gain", n: true, of: (op) => optional(op.gain) },
  ];
  if (hasSplit) {
    for (const part of ["weights", "activations", "arithmetic"])
      columns.push({ name: "of it " + part, n: true, of: (op) => (op.split ? number(op.split[part]) : "–") });
  }
  return el("section", { id: "ops" }, el("h2", {}, "What each op adds"),
    el("p", { class: "lead" }, "Introduced: B's op on A's input, minus A's output; the worst row's root mean square, relative to A's row." +
      (skipped.length ? " Not compared: " + skipped.join(", ") + "." : "")),
    ops.every((op) => op.n_bits_differ === 0 && !op.total) ? el("p", {}, "Every op of B gives A's bits.") : [errorPlot(ops), opsKey(hasTotal)],
    tableBehind("All " + count(ops.length, "op") + " as a table", () =>
      table(columns, ops, "Ops", (op) => ({ class: isBad(op) && "over" }))));
}

function opsKey(hasTotal) {
  return key([svg("circle", { class: "within", cx: 9, cy: 7, r: 4 }), "within budget"],
    [svg("path", { class: "over", d: triangle(9, 7, 6) }), "beyond budget, or none is known"],
    [svg("line", { class: "equal", x1: 9, x2: 9, y1: 3, y2: 11 }), "equal bits"],
    [svg("path", { class: "budget", d: "M1,7H17" }), "budget"],
    hasTotal && [svg("path", { class: "total", d: "M1,9L9,4L17,8" }), "total: inherited and introduced"]);
}
