// What a quantisation costs over a text: perplexities, divergence, changes of probability, agreement.

const REPORT = JSON.parse(document.getElementById("report").textContent);

// Six digits, as the uncertainty often begins behind the third.
const exact = (value) => (value === null ? "not known" : String(Number(value.toPrecision(6))));
const scaled = (estimate, unit) => ({ value: estimate.value * unit, error: estimate.error === null ? null : estimate.error * unit });
// "12.35 ± 0.12": no digit behind the second of the error.
function withError(value, error) {
  if (error === null) return exact(value);
  const digits = error > 0 ? Math.max(0, Math.min(20, 1 - Math.floor(Math.log10(error)))) : 6;
  return digits > 7 ? value.toExponential(2) + " ± " + error.toExponential(1) : value.toFixed(digits) + " ± " + error.toFixed(digits);
}
function estimated(estimate, unit) {
  const { value, error } = scaled(estimate, unit || 1);
  return withError(value, error);
}

function answer() {
  const pair = Boolean(REPORT.b);
  return el("div", { class: "banner", role: "region", "aria-label": "Perplexity" },
    el("span", { class: "sign", "aria-hidden": "true" }, pair ? "×" : "P"),
    el("h1", {}, pair ? "Perplexity × " + estimated(REPORT.ratio) : "Perplexity " + estimated(REPORT.a.perplexity)),
    el("p", { class: "meaning" }, pair ? "of B against A: " + exact(REPORT.a.perplexity.value) + " becomes " + exact(REPORT.b.perplexity.value) + ". " : "",
      count(REPORT.n_ids, "id") + " scored in " + count(REPORT.n_chunks, "chunk") + " of " + REPORT.context.toLocaleString("en") + " of ", quoted(cut(REPORT.text, 120)), "."));
}

function figures() {
  const tile = (value, what) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, what));
  if (!REPORT.b) return el("div", { class: "tiles" }, tile(exact(REPORT.a.bits_per_byte), "bits a byte"), tile(estimated(REPORT.a.nll), "nats an id"));
  return el("div", { class: "tiles" },
    tile(estimated(REPORT.kl), "nats: the mean KL divergence of a row"),
    tile(estimated(REPORT.same_top, 100) + " %", "of rows have the same first id"),
    tile(estimated(REPORT.delta_p_rms, 100) + " %", "delta-p, root mean square"),
    tile(exact(REPORT.a.bits_per_byte) + " → " + exact(REPORT.b.bits_per_byte), "bits a byte"));
}

// Values with a bar of one standard error to each side, one below the other.
function intervals(label, rows, range) {
  const step = 44, top = 8, left = 34, height = top + rows.length * step + 26;
  return plot(label, (width) => {
    const node = canvas(width, height), right = width - 16, bottom = top + rows.length * step;
    const ends = rows.flatMap(({ value, error }) => [value - (error || 0), value + (error || 0)]);
    let [low, high] = range || extent(ends);
    const pad = range ? 0 : (high - low || Math.abs(high) || 1) * 0.15;
    [low, high] = [low - pad, high + pad];
    const x = linear(low, high, left, right);
    for (const t of ticks(low, high, Math.max(2, Math.floor(width / 110))))
      node.append(svg("line", { class: "grid", x1: x(t), x2: x(t), y1: top, y2: bottom }), svg("text", { x: x(t), y: bottom + 18, "text-anchor": "middle" }, exact(t)));
    const points = rows.map(({ name, value, error }, i) => {
      const y = top + (i + 0.5) * step;
      node.append(svg("text", { class: "strong", x: left - 12, y: y + 4, "text-anchor": "end" }, name));
      if (error) {
        node.append(svg("line", { class: "interval", x1: x(value - error), x2: x(value + error), y1: y, y2: y }));
        for (const end of [value - error, value + error]) node.append(svg("line", { class: "interval", x1: x(end), x2: x(end), y1: y - 7, y2: y + 7 }));
      }
      node.append(svg("circle", { class: "within", cx: x(value), cy: y, r: 5 }));
      return { x: x(value), y, text: name + ": " + withError(value, error) };
    });
    return { node, points, stride: 1 };
  }, 280);
}

const shareName = (share) => ({ 0: "min", 0.5: "median", 1: "max" }[share] || Number((100 * share).toPrecision(3)) + " %");

// The value below which each share of the rows lies; the shares stand side by side, whatever lies between them.
function quantiles(label, percentiles, unit, isLogarithmic) {
  const rows = [...percentiles].sort((p, q) => p.share - q.share).map(({ share, value }) => ({ share, value: value * unit }));
  const height = 280, top = 22, bottom = height - 40, left = 62;
  return plot(label, (width) => {
    const node = canvas(width, height), right = width - 12;
    const pitch = (right - left) / rows.length, x = (i) => left + (i + 0.5) * pitch;
    const values = rows.map((row) => row.value);
    let y;
    if (isLogarithmic) {
      y = logAxis(node, decades(values), left, right, top, bottom, "0");
    } else {
      const low = Math.min(0, ...values), high = Math.max(0, ...values), pad = (high - low || 1) * 0.06;
      y = linear(low - pad, high + pad, bottom, top);
      for (const t of ticks(low - pad, high + pad, 6))
        node.append(svg("line", { class: t === 0 ? "axis" : "grid", x1: left, x2: right, y1: y(t), y2: y(t) }), svg("text", { x: left - 6, y: y(t) + 4, "text-anchor": "end" }, exact(t)));
    }
    const every = Math.ceil(46 / pitch);
    const points = rows.map(({ share, value }, i) => ({ x: x(i), y: y(value), text: shareName(share) + ": " + number(value) }));
    node.append(svg("path", { class: "quantiles", d: points.map((p, i) => (i ? "L" : "M") + p.x + "," + p.y).join("") }));
    const middle = rows.findIndex((row) => row.share === 0.5);
    points.forEach((p, i) => {
      node.append(svg("circle", { class: "within", cx: p.x, cy: p.y, r: 4 }));
      if ((i - middle) % every === 0) node.append(svg("text", { x: p.x, y: bottom + 18, "text-anchor": "middle" }, shareName(rows[i].share)));
    });
    node.append(svg("text", { x: (left + right) / 2, y: height - 4, "text-anchor": "middle" }, "share of rows below"));
    return { node, points };
  }, 300);
}

function quantileTable(percentiles, unit, name) {
  return tableBehind("As a table", () => table([
    { name: "Share of rows below", of: (row) => shareName(row.share) }, { name, n: true, of: (row) => number(row.value * unit) }], percentiles, name));
}

function errorsTable(rows) {
  return tableBehind("With both standard errors", () => table([
    { name: "", of: (row) => row[0] }, { name: "Value", n: true, of: (row) => exact(row[1].value) },
    { name: "± by chunk", n: true, of: (row) => optional(row[1].error) }, { name: "± by id", n: true, of: (row) => optional(row[1].error_of_ids) },
  ], rows, "Estimates"));
}

function sections() {
  const sides = [["A", REPORT.a], ["B", REPORT.b]].filter(([, side]) => side);
  const perplexities = el("section", { id: "perplexity" }, el("h2", {}, "Perplexity"),
    el("p", { class: "lead" }, "e to the mean of -ln p(next id). Bars: one standard error; chunks count as independent, ids inside one do not." +
      (REPORT.b ? " Both sides read the same text, so their ratio, " + estimated(REPORT.ratio) + ", is surer than either: they are alike where it is within a few of its errors of 1." : "")),
    intervals("Perplexity of each side, with its standard error.", sides.map(([name, side]) => ({ name, ...scaled(side.perplexity, 1) }))),
    errorsTable([...sides.map(([name, side]) => ["Perplexity of " + name, side.perplexity]), ...sides.map(([name, side]) => ["Nats an id, " + name, side.nll]),
      ...(REPORT.b ? [["Ratio B / A", REPORT.ratio], ["Difference B − A", REPORT.difference]] : [])]));
  if (!REPORT.b) return [perplexities];
  return [perplexities,
    el("section", { id: "kl" }, el("h2", {}, "KL divergence"),
      el("p", { class: "lead" }, "KL(A || B) of each row, in nats: 0 where both predict the same. Mean " + estimated(REPORT.kl) + "; over the ids that A finds likely " + estimated(REPORT.kl_likely) + "."),
      quantiles("KL divergence by share of rows, on a logarithmic scale.", REPORT.kl_percentiles, 1, true), quantileTable(REPORT.kl_percentiles, 1, "KL, nats")),
    el("section", { id: "delta-p" }, el("h2", {}, "Change of the right id's probability"),
      el("p", { class: "lead" }, "Delta-p = p of B − p of A for the id that came next, in percent. Mean " + estimated(REPORT.delta_p, 100) + ", root mean square " + estimated(REPORT.delta_p_rms, 100) + ". Noise is even about 0; a loss leans below it."),
      quantiles("Delta-p in percent by share of rows.", REPORT.delta_p_percentiles, 100, false), quantileTable(REPORT.delta_p_percentiles, 100, "Delta-p, %")),
    el("section", { id: "agreement" }, el("h2", {}, "The same first id"),
      el("p", { class: "lead" }, "Share of rows, in percent, whose most likely id is the same. Correlation of the two sides' losses: " + exact(REPORT.correlation === null ? null : 100 * REPORT.correlation) + " %."),
      intervals("Share of rows with the same first id, in percent.", [{ name: "=", ...scaled(REPORT.same_top, 100) }], [0, 100]))];
}

function main() {
  const page = document.getElementById("page");
  const names = [["a", REPORT.side_a], ["b", REPORT.side_b]].filter(([, side]) => side)
    .map(([name, side]) => [el("span", { class: "side-" + name }), quoted(side.config || "?"), "  "]);
  fill(page, {}, [el("header", { class: "top" }, el("strong", {}, "plumb perplexity"), el("span", {}, names), themeButton()),
    el("main", {}, answer(), figures(), sections(), el("section", { id: "sides" }, el("h2", {}, REPORT.side_b ? "What was compared" : "What was measured"),
      sidesTable(REPORT.side_a, REPORT.side_b)), el("footer", {}, el("p", {}, "Made by plumb perplexity. This page needs no network."))), tip, spoken]);
}
main();
