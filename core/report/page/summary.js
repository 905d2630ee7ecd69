// What a reader needs first: the verdict, where and why; then which prompts, and what was compared.

function whyPart(prompt) {
  const facts = [];
  const fact = (name, ...value) => facts.push(el("dt", {}, name), el("dd", {}, ...value));
  if (prompt.place) {
    const p = prompt.place;
    fact("Where", el("span", { class: "big" }, placeText(p)));
    if (p.seen_a !== "" || p.seen_b !== "") {
      fact("Seen", el("span", { class: "side-a" }), quoted(cut(p.seen_a, 400)), el("br"),
        el("span", { class: "side-b" }), quoted(cut(p.seen_b, 400)));
    }
  }
  for (const side of ["a", "b"]) {
    if (prompt["failure_" + side]) fact("Run " + side.toUpperCase() + " ended", quoted(prompt["failure_" + side]));
  }
  const cause = prompt.cause;
  if (cause && cause.signature) {
    fact("Why", el("span", { class: "big" }, seen(cause.statement)));
    fact("Proof", "With this hypothesis the op comes within ", el("b", {}, number(cause.reproduces_b)),
      " of B; as it is, it misses B by ", el("b", {}, number(cause.plain)), " (relative). Signature ",
      el("code", {}, seen(cause.signature)),
      cause.also.length ? ", which cannot be told from " + seen(cause.also.join(", ")) : "", ".",
      placeText(cause.place) === (prompt.place && placeText(prompt.place)) ? "" : " It explains " + placeText(cause.place) + ".");
  } else if (prompt.verdict === "UNEXPLAINED" || prompt.verdict === "WRONG") {
    fact("Why", cause && cause.statement ? seen(cause.statement) : "The place is known, the cause is not.");
  }
  if (prompt.notes.length) fact("Notes", seen(prompt.notes.join("; ")));
  if (prompt.hints.length) fact("Hints", seen(prompt.hints.join("; ")));
  return facts.length ? el("dl", { class: "facts" }, facts) : null;
}

function banner(report, worst) {
  const name = report.is_empty ? "NOTHING COMPARED" : report.verdict;
  const why = worst && whyPart(worst);
  return el("div", { class: "banner " + (report.is_empty ? "UNEXPLAINED" : report.verdict), role: "region", "aria-label": "Verdict" },
    el("span", { class: "sign", "aria-hidden": "true" }, report.is_empty ? "∅" : SIGN[report.verdict]),
    el("h1", {}, name),
    el("p", { class: "meaning" }, report.is_empty ? "No prompt, or no door, could be compared." : MEANING[report.verdict],
      worst && report.prompts.length > 1 && report.verdict !== "MATCH"
        ? " First seen with prompt " + worst.index.toLocaleString("en") + "." : ""),
    why && el("div", { class: "why" }, why));
}

function tiles(report) {
  const all = PAGE.summary;
  const tile = (value, what) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, what));
  const shown = [tile(count(report.prompts.length, "prompt"), ORDER.map((name) => {
    const n = report.prompts.filter((p) => p.verdict === name).length;
    return n ? n.toLocaleString("en") + " " + name : "";
  }).filter(Boolean).join(", "))];
  if (all.ops) shown.push(tile(Math.floor(100 * all.ops_equal / all.ops) + " %", "of " + count(all.ops, "op output") + " equal bit by bit"));
  if (all.is_budgeted) shown.push(tile(number(all.budget_used) + " ×", "of an op's budget is used, at most"));
  if (all.rows) {
    shown.push(tile(all.rows_same_first.toLocaleString("en") + " of " + all.rows.toLocaleString("en"), "rows of logits with the same first"));
    shown.push(tile(number(all.kl), "nats: the largest KL divergence of a row"));
  }
  return el("div", { class: "tiles" }, shown);
}

// The list of prompts; choose(index in report.prompts).
function promptList(report, choose) {
  const on = new Set(ORDER);
  const search = el("input", { type: "search", placeholder: "Find in prompts…", "aria-label": "Find in prompts" });
  const holder = el("div", { class: "tall" });
  const rows = report.prompts.map((prompt, at) => ({ prompt, at }));
  let current = -1;
  const draw = () => {
    const wanted = search.value.toLowerCase();
    const shown = rows.filter(({ prompt }) => on.has(prompt.verdict) &&
      (!wanted || prompt.prompt.toLowerCase().includes(wanted)));
    holder.replaceChildren(shown.length ? table([
      { name: "#", n: true, of: ({ prompt }) => prompt.index },
      { name: "Verdict", of: ({ prompt }) => verdict(prompt.verdict) },
      { name: "Prompt", text: true, of: ({ prompt, at }) => el("button", { onclick: () => choose(at), style: "text-align:left;border:0;padding:0;background:none;text-decoration:underline" }, quoted(cut(prompt.prompt, 90))) },
      { name: "Where", of: ({ prompt }) => (prompt.place ? placeText(prompt.place) : "") },
      { name: "Cause", of: ({ prompt }) => (prompt.cause ? seen(prompt.cause.signature) : "") },
    ], shown, "Prompts", ({ at }) => ({ class: "link", "aria-current": at === current && "true", onclick: () => choose(at) }))
      : el("p", { class: "soft" }, "No prompt is left."));
  };
  search.addEventListener("input", draw);
  const filters = ORDER.filter((name) => rows.some(({ prompt }) => prompt.verdict === name)).map((name) => {
    const button = el("button", { "aria-pressed": "true" }, verdict(name));
    button.addEventListener("click", () => {
      if (on.has(name)) on.delete(name); else on.add(name);
      button.setAttribute("aria-pressed", String(on.has(name)));
      draw();
    });
    return button;
  });
  draw();
  return {
    node: el("section", { id: "prompts" }, el("h2", {}, "Prompts"),
      el("div", { class: "controls" }, search, filters), holder),
    mark(at) { current = at; draw(); },
  };
}

function identity(report) {
  return el("section", { id: "sides" }, el("h2", {}, "What was compared"), sidesTable(report.a, report.b),
    el("dl", { class: "facts small", style: "margin-top:.8rem" },
      el("dt", {}, "Mode"), el("dd", {}, report.mode === "forced"
        ? "forced: at every door B gets A's input and A's state, so the first difference is its own"
        : "chained: each side lives on its own outputs"),
      el("dt", {}, "Pair class"), el("dd", {}, seen(report.pair_class || "–")),
      el("dt", {}, "Noise levels"), el("dd", {}, quoted(report.noise_source || "–")),
      report.differences.length ? [el("dt", {}, "Choices that differ"), el("dd", {}, report.differences.map((d) => el("div", {}, quoted(d))))] : null,
      report.notes.length ? [el("dt", {}, "Notes"), el("dd", {}, report.notes.map((n) => el("div", {}, seen(n))))] : null));
}
