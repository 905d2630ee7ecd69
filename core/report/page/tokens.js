// The exact doors: which of them are equal, the ids beside each other, and the texts.

function doorsSection(prompt) {
  const rows = prompt.exact.map((d) => ({ door: d.door, verdict: d.is_compared ? d.verdict : null,
    a: d.size_a.toLocaleString("en"), b: d.size_b.toLocaleString("en"),
    what: d.is_compared ? (d.place ? placeText(d.place) : "equal") : "not compared: " + seen(d.why_not), place: d.place }));
  const numeric = (door, parts, word) => {
    if (parts.length === 0) return;
    const worst = parts.reduce((w, p) => (ORDER.indexOf(p.verdict) > ORDER.indexOf(w) ? p.verdict : w), "MATCH");
    const counts = ORDER.map((name) => [parts.filter((p) => p.verdict === name).length, name]).filter(([n]) => n);
    // Chained picks have a row: the stages at the step where they part are no second finding.
    const whole = rows.find((r) => r.door === door && r.verdict !== null);
    if (whole) { if (ORDER.indexOf(worst) > ORDER.indexOf(whole.verdict)) whole.verdict = worst; return; }
    const n = parts.length.toLocaleString("en");
    rows.push({ door, verdict: worst, a: n, b: n, what: count(parts.length, word) + ": " + counts.map(([k, name]) => k + " " + name).join(", ") });
  };
  numeric("20 ops", prompt.ops, "op");
  numeric("30 logits", prompt.logits, "row");
  numeric("40 pick", prompt.picks, "pick");
  rows.sort((p, q) => (p.door < q.door ? -1 : 1));
  return el("section", { id: "doors" }, el("h2", {}, "Doors"),
    table([
      { name: "Door", of: (r) => r.door }, { name: "Verdict", of: (r) => (r.verdict ? verdict(r.verdict) : el("span", { class: "soft" }, "–")) },
      { name: "Size A", n: true, wide: true, of: (r) => r.a }, { name: "Size B", n: true, wide: true, of: (r) => r.b },
      { name: "", text: true, of: (r) => [r.what, r.place && (r.place.seen_a || r.place.seen_b) && el("div", { class: "small" },
        el("span", { class: "side-a" }), quoted(cut(r.place.seen_a, 120)), " ", el("span", { class: "side-b" }), quoted(cut(r.place.seen_b, 120)))] },
    ], rows, "Doors"),
    prompt.bits_per_byte_a !== null && el("p", { class: "small soft" }, "Bits per byte of the prompt: A " + number(prompt.bits_per_byte_a) + ", B " + optional(prompt.bits_per_byte_b) + "."));
}

// Pairs of equal ids kept together, by the longest common subsequence; long lists are compared in place.
function align(a, b) {
  const start = a.findIndex((id, i) => id !== b[i]);
  const from = start < 0 ? Math.min(a.length, b.length) : start;
  const rows = a.slice(0, from).map((_, i) => [i, i]);
  let endA = a.length, endB = b.length;
  while (endA > from && endB > from && a[endA - 1] === b[endB - 1]) { --endA; --endB; }
  const n = endA - from, m = endB - from;
  if (n * m > 250000) {
    for (let i = 0; i < Math.max(n, m); ++i) rows.push([i < n ? from + i : null, i < m ? from + i : null]);
  } else {
    const best = Array.from({ length: n + 1 }, () => new Int32Array(m + 1));
    for (let i = n - 1; i >= 0; --i)
      for (let j = m - 1; j >= 0; --j)
        best[i][j] = a[from + i] === b[from + j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    // What was replaced stands opposite what replaced it.
    let goneA = [], goneB = [];
    const flush = () => {
      for (let k = 0; k < Math.max(goneA.length, goneB.length); ++k) rows.push([goneA[k] ?? null, goneB[k] ?? null]);
      goneA = []; goneB = [];
    };
    for (let i = 0, j = 0; i < n || j < m;) {
      if (i < n && j < m && a[from + i] === b[from + j]) { flush(); rows.push([from + i++, from + j++]); }
      else if (j >= m || (i < n && best[i + 1][j] >= best[i][j + 1])) goneA.push(from + i++);
      else goneB.push(from + j++);
    }
    flush();
  }
  for (let i = 0; endA + i < a.length; ++i) rows.push([endA + i, endB + i]);
  return rows;
}

const TOKENS_SHOWN = 400;
function tokensSection(prompt) {
  if (prompt.ids_a.length === 0 && prompt.ids_b.length === 0) return null;
  const rows = align(prompt.ids_a, prompt.ids_b);
  const differs = ([i, j]) => i === null || j === null || prompt.ids_a[i] !== prompt.ids_b[j];
  const first = rows.findIndex(differs);
  const from = Math.max(0, Math.min(first - 40, rows.length - TOKENS_SHOWN));
  const part = (side, at) => {
    if (at === null) return el("span", { class: "row soft side-" + side }, "–");
    const id = prompt["ids_" + side][at], pieces = prompt["pieces_" + side];
    return el("span", { class: "row side-" + side }, pieces[at] !== undefined && quoted(spaced(pieces[at])), " ", el("span", { class: "id" }, id));
  };
  const chip = (row, index) => {
    if (!differs(row)) {
      const pieces = prompt.pieces_a, at = row[0];
      return el("li", {}, pieces[at] !== undefined && el("span", { class: "row" }, quoted(spaced(pieces[at]))), el("span", { class: "id" }, prompt.ids_a[at]));
    }
    return el("li", { class: "differs" + (index === first ? " first" : ""), title: index === first && "the first difference" }, part("a", row[0]), part("b", row[1]));
  };
  const shown = rows.slice(from, from + TOKENS_SHOWN);
  return el("section", { id: "tokens" }, el("h2", {}, "Ids of the prompt"),
    el("p", { class: "lead" }, first < 0 ? count(rows.length, "id") + ", the same for A and B."
      : `${prompt.ids_a.length.toLocaleString("en")} ids of A, ${prompt.ids_b.length.toLocaleString("en")} of B; the first difference is at index ${rows[first][0] ?? rows[first][1]}.`,
      shown.length < rows.length ? ` Shown are ${shown.length} of ${rows.length.toLocaleString("en")}, from ${from} on.` : ""),
    el("ol", { class: "tokens" }, shown.map((row, i) => chip(row, from + i))));
}

function textsSection(prompt) {
  if (prompt.text_a === "" && prompt.text_b === "") return null;
  const a = [...prompt.text_a], b = [...prompt.text_b];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) ++same;
  const isEqual = same === a.length && same === b.length;
  const box = (side, text) => el("div", {}, el("h3", { class: "side-" + side }, ""),
    el("div", { class: "text-box", dir: "auto" }, seenText(text.slice(0, same).join("")), same < text.length && el("mark", {}, seenText(text.slice(same).join("")))));
  return el("section", { id: "texts" }, el("h2", {}, "Texts"),
    el("p", { class: "lead" }, isEqual ? "The same." : "Equal for " + count(same, "character") + "; what follows is marked."),
    el("div", { class: "two" }, box("a", a), box("b", b)));
}
// As seen, but lines stay lines.
const seenText = (text) => text.split("\n").map(seen).join("\n");
