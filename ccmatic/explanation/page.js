"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const column = Object.fromEntries(data.columns.map((each) => [each.name, each]));
const last = data.steps - 1;

function make(tag, parent, text, kind) {
  const node = parent.appendChild(document.createElement(tag));
  if (text !== undefined) node.textContent = text;
  if (kind) node.className = kind;
  return node;
}

function shape(tag, parent, values, text) {
  const node = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries(values)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

function ticks(low, high) {
  const rough = (high - low) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let n = Math.ceil(low / step) * step; n <= high + step / 1e6; n += step) found.push(Number(n.toPrecision(6)));
  return found;
}

const WIDTH = 720, HEIGHT = 170, LEFT = 44, RIGHT = 12, TOP = 10, BOTTOM = 22;
const across = (t) => LEFT + (last ? t / last : 0.5) * (WIDTH - LEFT - RIGHT);

function chart(about) {
  const figure = make("figure", at("charts"));
  make("figcaption", figure, about.title);
  const key = make("div", figure, undefined, "key");
  const known = about.names.flatMap((name) => column[name].values);
  const reference = about.link ? [1] : [];
  const cut = about.link ? 10 : Infinity;
  const high = Math.max(1, ...reference, ...known.filter((value) => value <= cut)) * 1.08;
  const low = Math.min(0, ...known);
  const up = (value) => TOP + (1 - (Math.min(value, high) - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const says = about.names.map((name) => `${name}: ${column[name].says}`).join("; ");
  const svg = shape("svg", figure, { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${about.title}. ${says}` });
  for (const value of ticks(low, high)) {
    shape("line", svg, { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: up(value), y2: up(value) });
    shape("text", svg, { x: LEFT - 6, y: up(value) + 4, "text-anchor": "end" }, String(value));
  }
  for (let t = 0; t <= last; t += Math.ceil(data.steps / 16)) {
    shape("text", svg, { x: across(t), y: HEIGHT - 4, "text-anchor": "middle" }, String(t));
  }
  if (about.link) shape("line", svg, { class: "link", x1: LEFT, x2: WIDTH - RIGHT, y1: up(1), y2: up(1) });
  const now = shape("line", svg, { class: "now", y1: TOP, y2: HEIGHT - BOTTOM });
  const dots = about.names.map((name, index) => {
    const values = column[name].values;
    const points = values.map((value, t) => `${across(t)},${up(value)}`);
    const held = name === "r" || about.names !== undefined && !["A", "S", "L", "K"].includes(name);
    const path = !held ? points.join(" ") : name === "r"
      ? values.flatMap((value, t) => t ? [`${across(t - 1)},${up(value)}`, points[t]] : []).join(" ")
      : values.flatMap((value, t) => t ? [`${across(t)},${up(values[t - 1])}`, points[t]] : [points[t]]).join(" ");
    shape("polyline", svg, { class: `curve c${index % 6}`, points: path, "stroke-dasharray": index > 5 || name === "K" ? "5 3" : "none" });
    const entry = make("span", key);
    make("i", entry, undefined, `f${index % 6}`);
    const shown = make("b", entry);
    return { name, shown, values, dot: shape("circle", svg, { class: `f${index % 6}`, r: 4 }) };
  });
  if (about.link) make("span", key, "dashed: the link rate, C");
  return (t) => {
    now.setAttribute("x1", across(t));
    now.setAttribute("x2", across(t));
    for (const { name, shown, values, dot } of dots) {
      shown.textContent = `${name} = ${brief(name, t)}`;
      dot.setAttribute("cx", across(t));
      dot.setAttribute("cy", up(values[t]));
    }
  };
}

function brief(name, t) {
  const exact = column[name].exact[t];
  return exact.length <= 8 ? exact : `≈ ${Number(column[name].values[t].toPrecision(5))}`;
}

at("title").textContent = data.title;
at("verdict").textContent = data.verdict;
at("query").textContent = data.query;
if (data.objectives.some((each) => !each.met)) at("verdict").className = "bad";
for (const part of ["broken", "network", "sender"]) for (const text of data.sentences[part]) make("li", at("sentences"), text);
at("constants").textContent = data.constants.map(([name, value]) => `${name} = ${value}`).join(", ");

const draw = data.charts.map(chart);
const head = make("tr", document.querySelector("#all thead"));
for (const name of ["t", ...Object.keys(column)]) make("th", head, name);
const rows = Array.from({ length: data.steps }, (_, t) => {
  const row = make("tr", document.querySelector("#all tbody"));
  make("td", row, String(t));
  for (const each of data.columns) make("td", row, each.exact[t]);
  return row;
});
const cells = data.columns.map((each) => {
  const row = make("tr", document.querySelector("#now tbody"));
  make("td", row, each.name);
  const cell = make("td", row, "", "number");
  cell.dataset.column = each.name;
  make("td", row, each.says);
  return (t) => { cell.textContent = each.exact[t]; };
});
const objectives = data.objectives.map((each) => {
  const item = make("li", at("objectives"));
  const state = make("span", item, "", "state");
  make("span", item, each.name);
  const parts = make("ul", item);
  return (t) => {
    const reached = each.parts.filter((part) => part.step <= t);
    const ended = t === last;
    item.className = ended ? (each.met ? "met" : "broken") : "";
    state.textContent = ended ? (each.met ? "met" : "not met") : "open";
    parts.replaceChildren();
    for (const part of reached) if (!each.met || ended) make("li", parts, part.text);
  };
});
const lines = data.controller ? data.controller.lines.map((text) => make("span", at("controller"), text)) : [];
if (!data.controller) at("controller").textContent = "nobody's rates";
if (!data.laws.some((each) => each.length)) at("binds").hidden = true;

function show(t) {
  at("shown").textContent = `t = ${t} of ${last}`;
  at("step").setAttribute("aria-valuetext", `t = ${t}`);
  for (const update of [...draw, ...cells, ...objectives]) update(t);
  rows.forEach((row, index) => { row.className = index === t ? "here" : ""; });
  const taken = data.controller ? data.controller.taken[t] : {};
  lines.forEach((line, index) => { line.className = index in taken ? String(taken[index]) : ""; });
  at("by").textContent = !data.controller ? "" : t ? `It chose r at t = ${t} by what it believed at t = ${t - 1}${data.controller.allowed[t]}.`
    : "The rate at t = 0 was chosen before the trace begins.";
  at("laws").replaceChildren();
  for (const text of data.laws[t]) make("li", at("laws"), text);
  if (!data.laws[t].length) make("li", at("laws"), "none: the network could have done a little otherwise");
}

at("step").max = last;
at("step").addEventListener("input", (event) => show(Number(event.target.value)));
show(0);
