// The page: what is said of all prompts, then one prompt at a time.

const DATA = JSON.parse(document.getElementById("report").textContent, revived);
const REPORT = DATA.report, PAGE = DATA.page;

// worst: what the banner tells of already.
function promptView(prompt, worst) {
  return [
    prompt !== worst && (prompt.place || prompt.failure_a || prompt.failure_b) && el("section", { id: "place" },
      el("h2", {}, verdict(prompt.verdict), " of prompt " + prompt.index), whyPart(prompt)),
    !PAGE.detailed.includes(REPORT.prompts.indexOf(prompt)) && el("p", { class: "soft" },
      "This page has the ops and the lists of logits of the " + PAGE.detailed.length + " worst prompts; those of the others are in the JSON report."),
    doorsSection(prompt), opsSection(prompt), heatSection(prompt.ops), logitsSection(prompt), stepsSection(prompt),
    tokensSection(prompt), textsSection(prompt),
  ];
}

function main() {
  const prompts = REPORT.prompts;
  const worst = prompts.find((p) => p.verdict === REPORT.verdict) || prompts[0];
  const view = el("div");
  const name = el("span", { class: "name" });
  const previous = el("button", { "aria-label": "Previous prompt" }, "←"), next = el("button", { "aria-label": "Next prompt" }, "→");
  let at = 0, list = null;
  const choose = (index) => {
    at = index;
    const prompt = prompts[at];
    name.replaceChildren(verdict(prompt.verdict), " prompt " + prompt.index + ": ", quoted(cut(prompt.prompt, 160)));
    previous.disabled = at === 0;
    next.disabled = at === prompts.length - 1;
    view.replaceChildren(...promptView(prompt, worst).filter(Boolean));
    if (list) list.mark(at);
    hideTip();
  };
  previous.addEventListener("click", () => choose(at - 1));
  next.addEventListener("click", () => choose(at + 1));
  const page = document.getElementById("page");
  fill(page, {}, [
    el("header", { class: "top" }, el("strong", {}, "plumb diff"),
      el("span", {}, el("span", { class: "side-a" }), quoted(REPORT.a.config || "?"), "  ", el("span", { class: "side-b" }), quoted(REPORT.b.config || "?")), themeButton()),
  ]);
  const body = el("main");
  page.append(body, tip, spoken);
  fill(body, {}, [banner(REPORT, worst), prompts.length && tiles(REPORT)]);
  if (prompts.length > 1) {
    list = promptList(REPORT, (index) => { choose(index); view.scrollIntoView({ block: "start" }); });
    body.append(list.node, el("div", { class: "bar" }, previous, next, name));
  }
  fill(body, {}, [view, identity(REPORT), el("footer", {},
    ORDER.map((n) => el("div", {}, verdict(n), " ", MEANING[n])), el("p", {}, "Made by plumb diff in " + number(REPORT.volatile.seconds) + " s. This page needs no network."))]);
  if (prompts.length) choose(prompts.indexOf(worst));
}
main();
