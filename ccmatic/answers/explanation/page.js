"use strict";
const at = (id) => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// Let the slider lead through the trace that is in the document. data: of its page. moved: is called with each step.
function follow(data, moved = () => {}) {
  const last = data.steps - 1;

  const charts = all("figure").map((figure, index) => {
    const lines = data.charts[index];
    const now = figure.querySelector(".now"), dots = all(".dot", figure), values = all("b[data-line]", figure);
    return (t) => {
      const left = `${last ? (100 * t) / last : 50}%`;
      now.style.left = left;
      dots.forEach((dot, line) => { dot.style.left = left; dot.style.top = `${lines[line].y[t]}px`; });
      for (const value of values) value.textContent = lines[Number(value.dataset.line)].text[t];
    };
  });

  const cells = all("#now [data-column]").map((cell) => (t) => { cell.textContent = data.columns[cell.dataset.column][t]; });

  const objectives = all("#objectives > li").map((item) => {
    const state = item.querySelector(".state"), parts = all("li", item);
    return (t) => {
      const decided = t >= Number(item.dataset.decided);
      item.className = decided ? item.dataset.kind : "";
      state.textContent = decided ? state.dataset.state : "open";
      for (const part of parts) part.hidden = t < Number(part.dataset.step) || (item.dataset.kind === "met" && !decided);
    };
  });

  const rows = all("#all tbody tr");
  const lines = all("#controller span");

  function show(t) {
    at("shown").textContent = `t = ${t} of ${last}`;
    at("step").setAttribute("aria-valuetext", `t = ${t}`);
    for (const update of [...charts, ...cells, ...objectives]) update(t);
    rows.forEach((row, index) => { row.className = index === t ? "here" : ""; });
    const chosen = data.controller;
    if (chosen) {
      lines.forEach((line, index) => { line.className = index in chosen.taken[t] ? String(chosen.taken[t][index]) : ""; });
      at("by").textContent = t ? `It chose r at t = ${t} by what it believed at t = ${t - 1}${chosen.allowed[t]}.`
        : "The rate at t = 0 was chosen before the trace begins.";
    }
    moved(t);
    at("laws").replaceChildren(...(data.laws[t].length ? data.laws[t] : ["none: the network could have done a little otherwise"])
      .map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  }

  document.querySelector(".step").hidden = at("stepwise").hidden = false;
  at("binds").hidden = !data.laws.some((each) => each.length);
  at("step").addEventListener("input", (event) => show(Number(event.target.value)));
  show(0);
}
