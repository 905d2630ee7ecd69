"use strict";
// What every part of the page is made with. Text from the report goes into text nodes only.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// ---- Numbers and words

const SIGN = { MATCH: "=", DRIFT: "≈", TIE_FLIP: "⇄", UNEXPLAINED: "?", WRONG: "≠" };
const MEANING = {
  MATCH: "Nothing differs.",
  DRIFT: "Numbers differ, within the budget of this pair.",
  TIE_FLIP: "Within budget; a pick differs where the two best were as near to each other as noise.",
  UNEXPLAINED: "Beyond the budget of this pair and no cause was proved, or not all that differs could be compared.",
  WRONG: "A cause was proved, an exact door differs, or bits differ that must not.",
};
const ORDER = Object.keys(SIGN);

function verdict(name) {
  return el("span", { class: "verdict " + name },
    el("span", { class: "sign", "aria-hidden": "true" }, SIGN[name] || "?"), " ", name);
}

// The report writes numbers that are not finite as texts: under these keys, alone or in lists.
const NUMBERS = new Set(["introduced", "introduced_worst", "inherited", "total", "gain", "budget", "weights", "activations", "arithmetic", "weights_bound", "arithmetic_bound", "row_change", "row_noise",
  "activations_bound", "a", "b", "introduced_by_row", "total_by_row", "cosine", "mean_absolute", "mean_absolute_by_sigma",
  "largest_absolute", "kl", "gap_a", "gap_change", "noise", "coin", "total_variation", "flip_probability", "reproduces_b", "plain",
  "bits_per_byte_a", "bits_per_byte_b", "budget_used"]);
const NOT_FINITE = { inf: Infinity, "-inf": -Infinity, nan: NaN };
const finite = (value) => (Object.hasOwn(NOT_FINITE, value) ? NOT_FINITE[value] : value);
const revived = (key, value) => (!NUMBERS.has(key) ? value : Array.isArray(value) ? value.map(finite) : finite(value));

function number(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "no number" : value < 0 ? "−∞" : "∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) return value.toExponential(1).replace("e+", "e");
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}
const optional = (value) => (value === null || value === undefined ? "–" : number(value));
const count = (n, one, many) => n.toLocaleString("en") + " " + (n === 1 ? one : many || one + "s");
const cut = (text, n) => (text.length > n ? text.slice(0, n - 1) + "…" : text);

// Controls, and characters that turn or hide others, become signs one can see.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
function seen(text) {
  return String(text).replace(HIDDEN, (c) => {
    if (c === "\n") return "⏎";
    if (c === "\t") return "⇥";
    const code = c.codePointAt(0);
    return code < 0x20 ? String.fromCodePoint(0x2400 + code)
      : "⟨U+" + code.toString(16).toUpperCase().padStart(4, "0") + "⟩";
  });
}
// Isolated, so that text of the other direction turns nothing around it.
const quoted = (text, attributes) => el("bdi", { class: "mono", ...attributes }, seen(text));
const spaced = (text) => seen(text).replace(/^ | $/g, "␣").replace(/ {2,}/g, (s) => "␣".repeat(s.length));

function placeText(place) {
  const parts = ["door " + place.door];
  if (place.op) parts.push("op " + place.op);
  const what = { 0: "byte ", 1: "index ", 5: "byte ", 6: "byte " }[place.door[0]] || "position ";
  parts.push(what + place.at.toLocaleString("en"));
  if (place.step > 0) parts.push("after " + count(place.step, "generated token"));
  return seen(parts.join(" · "));
}

// ---- Tables

// columns: [{name, n: right-aligned, text: may be long, wide: not on narrow screens, of: row -> text or node}]
const classOf = (column) => ["n", "text", "wide"].filter((name) => column[name]).join(" ") || null;
function table(columns, rows, caption, rowAttributes) {
  return el("div", { class: "scroll" }, el("table", {},
    caption && el("caption", { class: "only-read" }, caption),
    el("thead", {}, el("tr", {}, columns.map((c) => el("th", { class: classOf(c), scope: "col" }, c.name)))),
    el("tbody", {}, rows.map((row) => el("tr", rowAttributes ? rowAttributes(row) : {},
      columns.map((c) => el("td", { class: classOf(c) }, c.of(row))))))));
}
// What one side was, or two beside each other.
const SIDE_FIELDS = { config: "Config", backend: "Backend", variant: "Variant", numerics: "Numerics", activations: "Activations",
  kv: "KV cache", weights: "Weights", model_sha256: "Model SHA-256", tokenizer: "Tokenizer", chat_template_sha256: "Template SHA-256" };
function sidesTable(a, b) {
  const rows = Object.entries(SIDE_FIELDS).map(([field, name]) => [name, a[field], b && b[field]]);
  for (const kind of new Set([...Object.keys(a.plugins), ...Object.keys(b ? b.plugins : {})]))
    rows.push(["Plugin: " + seen(kind), a.plugins[kind] || "", (b && b.plugins[kind]) || ""]);
  return table([
    { name: "", of: ([name]) => name },
    { name: b ? "A" : "", text: true, of: (row) => quoted(row[1] || "–") },
    ...(b ? [{ name: "B", text: true, of: (row) => quoted(row[2] || "–") },
      { name: "", of: (row) => (row[1] === row[2] ? "" : el("b", {}, "differs")) }] : []),
  ], rows.filter((row) => row[1] || row[2]), b ? "Both sides" : "The side");
}

function tableBehind(title, make) {
  const details = el("details", {}, el("summary", {}, title));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(el("div", { class: "tall" }, make()));
  });
  return details;
}

// ---- The tip beside what is pointed at or stepped to by keys

const tip = el("div", { id: "tip", hidden: true });
const spoken = el("div", { class: "only-read", "aria-live": "polite" });
function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = (y + box.height + 22 > innerHeight ? y - box.height - 12 : y + 16) + "px";
}
const hideTip = () => { tip.hidden = true; };

function themeButton() {
  const themes = ["", "light", "dark"], names = { "": "as the system", light: "light", dark: "dark" };
  const button = el("button", {}, "Colours: as the system");
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme || "") + 1) % themes.length];
    if (next) document.documentElement.dataset.theme = next; else delete document.documentElement.dataset.theme;
    button.textContent = "Colours: " + names[next];
  });
  return button;
}
