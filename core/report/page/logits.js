// Doors 30 and 40: logits of one row against each other, and the steps one after the other.

const pieceOf = (logits, id) => {
  const found = logits && logits.top.find((top) => top.id === id);
  return found && found.piece !== "" ? "“" + spaced(cut(found.piece, 18)) + "”" : "id " + id;
};
const named = (top) => (top.piece !== "" ? "“" + spaced(cut(top.piece, 18)) + "”" : "id " + top.id);
const topText = (top) => named(top) + "  id " + top.id + "\nA: " + number(top.a) + ", rank " + (top.rank_a + 1) +
  "\nB: " + number(top.b) + ", rank " + (top.rank_b + 1);

function scatter(logits, isDifference) {
  const tops = logits.top.filter((top) => Number.isFinite(top.a) && Number.isFinite(top.b));
  if (tops.length === 0) return el("p", { class: "soft" }, "No logits are kept of this row.");
  return plot("Logits of A across, of B up.", (width) => {
    const w = Math.min(width, 520), height = Math.min(400, w * 0.82), left = 52, bottom = height - 36, top = 10, right = w - 14;
    const node = canvas(w, height);
    const yOf = (t) => (isDifference ? t.b - t.a : t.b);
    const xs = tops.map((t) => t.a), ys = tops.map(yOf);
    const pad = (low, high) => { const p = (high - low || Math.abs(high) || 1) * 0.08; return [low - p, high + p]; };
    let [x0, x1] = pad(...extent(xs)), [y0, y1] = pad(...extent(ys));
    if (!isDifference) { x0 = y0 = Math.min(x0, y0); x1 = y1 = Math.max(x1, y1); }
    const x = linear(x0, x1, left, right), y = linear(y0, y1, bottom, top);
    for (const t of ticks(x0, x1, 5)) node.append(svg("line", { class: "grid", x1: x(t), x2: x(t), y1: top, y2: bottom }), svg("text", { x: x(t), y: bottom + 16, "text-anchor": "middle" }, number(t)));
    for (const t of ticks(y0, y1, 5)) node.append(svg("line", { class: "grid", x1: left, x2: right, y1: y(t), y2: y(t) }), svg("text", { x: left - 6, y: y(t) + 4, "text-anchor": "end" }, number(t)));
    node.append(svg("text", { x: right, y: height - 3, "text-anchor": "end" }, "logit of A"), svg("text", { x: left + 4, y: top + 10 }, isDifference ? "B − A" : "logit of B"));
    const [from, to] = isDifference ? [[x0, 0], [x1, 0]] : [[x0, x0], [x1, x1]];
    if (!isDifference || (y0 < 0 && y1 > 0)) node.append(svg("line", { class: "kept", x1: x(from[0]), y1: y(from[1]), x2: x(to[0]), y2: y(to[1]), "stroke-dasharray": "4 4" }));
    const taken = tops.map((t) => ({ x0: x(t.a) - 5, x1: x(t.a) + 5, y0: y(yOf(t)) - 5, y1: y(yOf(t)) + 5 }));
    const points = tops.map((t) => ({ x: x(t.a), y: y(yOf(t)), text: topText(t) }));
    tops.forEach((t, i) => node.append(svg("circle", { class: t.rank_a === t.rank_b ? "within" : "hollow", cx: points[i].x, cy: points[i].y, r: 4.5 })));
    const byRank = tops.map((t, i) => [Math.min(t.rank_a, t.rank_b), i]).sort((p, q) => p[0] - q[0]);
    for (const [rank, i] of byRank) {
      if (rank >= 6) break;
      const text = named(tops[i]), size = text.length * 6.8, p = points[i];
      const places = [[p.x - 9, p.y + 4, "end"], [p.x + 9, p.y + 4, "start"], [p.x - 9, p.y - 9, "end"], [p.x + 9, p.y + 17, "start"]];
      for (const [tx, ty, anchor] of places) {
        const box = { x0: anchor === "end" ? tx - size : tx, x1: anchor === "end" ? tx : tx + size, y0: ty - 11, y1: ty + 3 };
        if (box.x0 < left || box.x1 > right || box.y0 < top || taken.some((o) => o.x0 < box.x1 && box.x0 < o.x1 && o.y0 < box.y1 && box.y0 < o.y1)) continue;
        taken.push(box);
        node.append(svg("text", { class: "strong", x: tx, y: ty, "text-anchor": anchor }, text));
        break;
      }
    }
    return { node, points };
  });
}

// The gaps of the first ids are within their noise, those of the rest of the row are not.
const restDecides = (l) => l.noise !== null && l.gap_change <= l.noise && l.row_noise !== null && !(l.row_change <= l.row_noise);
const restText = (l) => (restDecides(l) ? `those of the whole row by up to ${number(l.row_change)} σ, noise ${number(l.row_noise)} σ` : "");

const RANKS = 10;
function bump(logits) {
  const tops = logits.top.filter((t) => t.rank_a < RANKS || t.rank_b < RANKS);
  if (tops.length === 0) return null;
  return plot("Ranks of the ten first in A, left, and in B, right.", (width) => {
    const w = Math.min(width, 520), step = 26, top = 26, height = top + (RANKS + 1.6) * step;
    const node = canvas(w, height), side = Math.min(190, w * 0.36), left = side, right = w - side;
    const y = (rank) => top + (rank < RANKS ? rank + 0.5 : RANKS + 0.9) * step;
    node.append(svg("text", { class: "strong", x: left, y: 14, "text-anchor": "end" }, "A"), svg("text", { class: "strong", x: right, y: 14 }, "B"),
      svg("line", { class: "axis", x1: 0, x2: w, y1: top + (RANKS + 0.2) * step, y2: top + (RANKS + 0.2) * step }));
    const points = [];
    const room = Math.max(5, Math.floor((side - 34) / 7));
    for (const t of tops) {
      const moved = t.rank_a !== t.rank_b;
      const ya = y(t.rank_a), yb = y(t.rank_b), half = (left + right) / 2;
      node.append(svg("path", { class: moved ? "moved" : "kept", d: `M${left + 6},${ya}C${half},${ya} ${half},${yb} ${right - 6},${yb}` }));
      points.push({ x: left + 6, y: ya, text: topText(t) }, { x: right - 6, y: yb, text: topText(t) });
      const label = cut(named(t), room);
      if (t.rank_a < RANKS) node.append(svg("text", { class: moved ? "strong" : null, x: left - 2, y: ya + 4, "text-anchor": "end" }, label + "  " + (t.rank_a + 1)));
      if (t.rank_b < RANKS) node.append(svg("text", { class: moved ? "strong" : null, x: right + 2, y: yb + 4 }, (t.rank_b + 1) + "  " + label));
    }
    const below = (rank, name) => { const n = tops.filter((t) => t[name] >= RANKS).length; return n ? count(n, "id") + " behind rank " + rank : ""; };
    node.append(svg("text", { x: left - 2, y: y(RANKS) + 4, "text-anchor": "end" }, below(RANKS, "rank_a")), svg("text", { x: right + 2, y: y(RANKS) + 4 }, below(RANKS, "rank_b")));
    return { node, points };
  });
}

function logitsSection(prompt) {
  if (prompt.logits.length === 0) return null;
  const worst = prompt.logits.reduce((at, l, i) => {
    const old = prompt.logits[at];
    return ORDER.indexOf(l.verdict) > ORDER.indexOf(old.verdict) ? i : at;
  }, 0);
  const select = el("select", { "aria-label": "Row of logits" }, prompt.logits.map((l, i) =>
    el("option", { value: i, selected: i === worst }, "step " + l.step + ", position " + l.position + "  " + SIGN[l.verdict] + " " + l.verdict)));
  const difference = el("input", { type: "checkbox" });
  const holder = el("div");
  const draw = () => {
    const l = prompt.logits[Number(select.value)];
    holder.replaceChildren(
      el("p", { class: "small soft" }, l.n_bits_differ === 0 ? "Equal bit by bit. " : "",
        `KL ${number(l.kl)} nats, cosine ${Number.isFinite(l.cosine) ? l.cosine.toPrecision(9) : number(l.cosine)}, mean difference ${number(l.mean_absolute)} (${number(l.mean_absolute_by_sigma)} σ), largest ${number(l.largest_absolute)}; ${l.top_k_agree} of the ten first at the same rank; gaps of the first change by up to ${number(l.gap_change)} σ` +
        (l.noise === null ? "." : l.noise === 0 ? ", and equal bits are demanded." : `, against a noise of ${number(l.noise)} σ.`),
        restDecides(l) ? " Beyond it: " + restText(l) + "." : ""),
      el("div", { class: "two" },
        el("div", {}, el("h3", {}, "A against B"), scatter(l, difference.checked),
          key([svg("circle", { class: "within", cx: 9, cy: 7, r: 4.5 }), "same rank"], [svg("circle", { class: "hollow", cx: 9, cy: 7, r: 4.5 }), "other rank"])),
        el("div", {}, el("h3", {}, "Ranks"), bump(l))),
      tableBehind("The largest logits as a table", () => table([
        { name: "Piece", of: (t) => quoted(spaced(t.piece)) }, { name: "Id", n: true, of: (t) => t.id },
        { name: "A", n: true, of: (t) => number(t.a) }, { name: "B", n: true, of: (t) => number(t.b) },
        { name: "Rank in A", n: true, of: (t) => t.rank_a + 1 }, { name: "Rank in B", n: true, of: (t) => t.rank_b + 1 },
      ], [...l.top].sort((p, q) => p.rank_a - q.rank_a), "Logits")));
  };
  select.addEventListener("change", draw);
  difference.addEventListener("change", draw);
  draw();
  return el("section", { id: "logits" }, el("h2", {}, "Logits"),
    el("div", { class: "controls" }, el("label", {}, "Row: ", select), el("label", {}, difference, " differences up")), holder);
}

// ---- The steps in time

// picks: both sides' stages on A's logits; parting: what each picked where a chained run's picks part.
function stepsOf(prompt) {
  const door = prompt.exact.find((d) => d.door === "40 pick" && d.place);
  return prompt.logits.map((logits) => {
    const picks = prompt.picks.find((p) => p.step === logits.step);
    const isLast = prompt.logits.filter((l) => l.step === logits.step).at(-1) === logits;
    const parting = door && isLast && door.place.step === logits.step ? door.place : undefined;
    return { logits, picks: isLast ? picks : undefined, parting };
  });
}
const flips = ({ logits, picks, parting }) => logits.top_a !== logits.top_b || parting || (picks && picks.id_a !== picks.id_b);

function stepText({ logits: l, picks: p, parting }) {
  const lines = ["step " + l.step + ", position " + l.position + "  " + l.verdict,
    "first of A: " + pieceOf(l, l.top_a) + ", of B: " + pieceOf(l, l.top_b),
    "gap between them in A: " + number(l.gap_a) + " σ",
    "gaps change by up to " + number(l.gap_change) + " σ; noise: " + (l.noise === null ? "not known" : number(l.noise) + " σ"),
    restText(l), "KL " + number(l.kl) + " nats"].filter((line) => line !== "");
  if (parting) lines.push("A picks " + cut(spaced(parting.seen_a), 40) + ", B " + cut(spaced(parting.seen_b), 40));
  else if (p) lines.push("picked: " + pieceOf(l, p.id_a) + " and " + pieceOf(l, p.id_b) + (p.coin === null ? "" : " under the coin " + number(p.coin)),
    "flip probability " + number(p.flip_probability) + ", total variation " + number(p.total_variation));
  return lines.join("\n");
}

function timeline(steps) {
  const height = 270, top = 40, bottom = height - 60, left = 58;
  return plot("How far the gaps between the best logits change at each step, against noise.", (width) => {
    const node = canvas(width, height), right = width - 10;
    const pitch = (right - left) / steps.length;
    const x = (i) => left + (i + 0.5) * pitch;
    const range = decades(steps.flatMap(({ logits }) => [logits.gap_change, logits.noise]));
    const y = logAxis(node, range, left, right, top, bottom, "0");
    node.append(svg("path", { class: "budget", d: steps.map(({ logits: l }, i) => (l.noise > 0 ? `M${x(i) - pitch / 2},${y(l.noise)}H${x(i) + pitch / 2}` : "")).join("") }));
    const every = Math.ceil(steps.length / Math.max(2, Math.floor((right - left) / 46)));
    const showPicks = pitch >= 52 && steps.some(({ picks }) => picks);
    const points = steps.map((step, i) => ({ x: x(i), y: y(step.logits.gap_change), text: stepText(step) }));
    steps.forEach((step, i) => {
      const { logits: l, picks: p, parting } = step, at = points[i];
      const over = l.verdict === "UNEXPLAINED" || l.verdict === "WRONG";
      if (flips(step)) node.append(svg("line", { class: "total", x1: at.x, x2: at.x, y1: top - 12, y2: bottom, "stroke-dasharray": "3 3" }), svg("path", { class: over ? "over" : "hollow", d: diamond(at.x, top - 18, 7) }));
      if (over) node.append(svg("path", { class: "over", d: triangle(at.x, at.y, 6.5) }));
      else node.append(svg("circle", { class: "within", cx: at.x, cy: at.y, r: Math.min(4.5, pitch / 2) }));
      if (i % every === 0) node.append(svg("text", { x: at.x, y: bottom + 16, "text-anchor": "middle" }, l.step));
      if (showPicks && p) {
        const room = Math.max(3, Math.floor(pitch / 7.4));
        const pick = (id, seen) => cut(parting ? spaced(seen) : pieceOf(l, id).replace(/[“”]/g, ""), room);
        node.append(svg("text", { class: "strong", x: at.x, y: bottom + 33, "text-anchor": "middle" }, pick(p.id_a, parting && parting.seen_a)));
        if (p.id_b !== p.id_a || parting) node.append(svg("text", { class: "of-b", x: at.x, y: bottom + 49, "text-anchor": "middle" }, pick(p.id_b, parting && parting.seen_b)));
      }
    });
    fill(node, {}, [svg("text", { x: left - 6, y: bottom + 16, "text-anchor": "end" }, "step"),
      showPicks && [svg("text", { x: left - 6, y: bottom + 33, "text-anchor": "end" }, "A picks"), svg("text", { class: "of-b", x: left - 6, y: bottom + 49, "text-anchor": "end" }, "B")], svg("text", { x: left, y: 12 }, "change of gaps, σ")]);
    return { node, points };
  }, 300);
}

// Both lists of sampler stages at the first step whose pick is not the same, else at the first.
function stagesTable(prompt) {
  const pick = prompt.picks.find((p) => p.verdict !== "MATCH") ?? prompt.picks[0];
  if (pick === undefined || pick.stages.length === 0) return null;
  const ids = (first, n) => first.join(" ") + (n > first.length ? " …" : "");
  const shown = (stage) => el("bdi", {}, stage === "" ? "none" : stage);
  return [el("h3", {}, "Sampler stages at step " + pick.step), table([
    { name: "Stage of A", of: (s) => shown(s.a) }, { name: "of B", of: (s) => shown(s.b) },
    { name: "Left in A", n: true, of: (s) => s.n_kept_a }, { name: "in B", n: true, of: (s) => s.n_kept_b },
    { name: "Only in A", of: (s) => ids(s.only_a, s.n_only_a) }, { name: "Only in B", of: (s) => ids(s.only_b, s.n_only_b) },
    { name: "Logits", of: (s) => (s.differs ? "differ" : "equal") },
  ], pick.stages, "Sampler stages", (s) => ({ class: s.differs && "over" })),
  el("p", { class: "small soft" }, "Picked: id " + pick.id_a + " and id " + pick.id_b +
    (pick.coin === null ? "" : ", with the coins " + number(pick.coin) + " and " + optional(pick.coin_b)) + ".")];
}

function stepsSection(prompt) {
  const steps = stepsOf(prompt);
  if (steps.length === 0) return null;
  const n = steps.filter(flips).length;
  return el("section", { id: "steps" }, el("h2", {}, "Step by step"),
    el("p", { class: "lead" }, n === 0 ? "At every step A and B have the same first and pick the same." : count(n, "step") + " with another first or another pick."),
    steps.some((step) => step.logits.gap_change !== 0 || flips(step)) && [timeline(steps), key(
      [svg("circle", { class: "within", cx: 9, cy: 7, r: 4.5 }), "within noise"], [svg("path", { class: "over", d: triangle(9, 7, 6) }), "beyond it"],
      [svg("path", { class: "budget", d: "M1,7H17" }), "noise of this pair"], [svg("path", { class: "hollow", d: diamond(9, 7, 6) }), "the first or the pick flips"])],
    stagesTable(prompt),
    tableBehind("Steps as a table", () => table([
      { name: "Step", n: true, of: ({ logits: l }) => l.step }, { name: "Position", n: true, of: ({ logits: l }) => l.position },
      { name: "Verdict", of: ({ logits: l }) => verdict(l.verdict) },
      { name: "First of A", of: ({ logits: l }) => el("bdi", {}, pieceOf(l, l.top_a)) }, { name: "of B", of: ({ logits: l }) => el("bdi", {}, pieceOf(l, l.top_b)) },
      { name: "Gap, σ", n: true, of: ({ logits: l }) => number(l.gap_a) }, { name: "Change, σ", n: true, of: ({ logits: l }) => number(l.gap_change) },
      { name: "Noise, σ", n: true, of: ({ logits: l }) => optional(l.noise) }, { name: "KL", n: true, of: ({ logits: l }) => number(l.kl) },
      { name: "Pick A", of: ({ logits: l, picks: p, parting }) => (parting ? quoted(cut(parting.seen_a, 40)) : p ? el("bdi", {}, pieceOf(l, p.id_a)) : "") },
      { name: "B", of: ({ logits: l, picks: p, parting }) => (parting ? quoted(cut(parting.seen_b, 40)) : p ? el("bdi", {}, pieceOf(l, p.id_b)) : "") },
      { name: "Kept A/B/both", n: true, of: ({ picks: p }) => (p ? `${p.n_kept_a}/${p.n_kept_b}/${p.n_kept_both}` : "") },
      { name: "Flip prob.", n: true, of: ({ picks: p }) => (p ? number(p.flip_probability) : "") }, { name: "Coin", n: true, of: ({ picks: p }) => (p && p.coin !== null ? number(p.coin) : "") },
      { name: "First stage", of: ({ picks: p }) => (p ? seen(p.first_stage) : "") },
    ], steps, "Steps", (step) => ({ class: flips(step) && "over" }))));
}
