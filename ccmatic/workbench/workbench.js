// The page of the workbench. trace.js, which is the script of a trace's page, has `at`, `all` and `follow`.
import { edit } from "/editor.js";

const TOKEN = "ccmatic token";

// Where the answer stands below the source instead of beside it, as in workbench.css.
const NARROW = "(max-width: 62rem)";

if (location.hash.length > 1) {
  sessionStorage.setItem(TOKEN, location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
}

// The question as it was asked, its answers, and the number of the one that is shown. `stop` ends what is being decided.
let asked = null, answers = [], current = null, stop = null, made = null, clean = "";

// The question of the example with which the page began, and the question about another controller in its place.
let example = null;

const editor = edit(at("editor"), { label: "Source of the controller", text: "", changed, submit: verify });

async function call(path, body, signal) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(TOKEN) ?? ""}` };
  if (body) headers["Content-Type"] = "application/json";
  try {
    return await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error("the server does not answer; is `ccmatic workbench` still running?");
  }
}

async function got(response) {
  const data = await response.json();
  if (!response.ok) throw Object.assign(new Error(data.message), data, { status: response.status });
  return data;
}

function complain(error) {
  const where = error.file ? `${error.file}${error.line ? `:${error.line}` : ""}: ` : "";
  const own = error.line && error.file === `${at("name").value}.py`;
  const place = at(own ? "wrong" : error.field ? "fault" : "problem");
  at("saved").textContent = "";
  place.textContent = `${where}${error.message}`;
  place.hidden = false;
  if (error.field) show(at(error.field), place);
  if (own) {
    editor.mark({ [error.line]: "wrong" });
    editor.show(error.line);
  }
}

// Place a message at the field that it is about. Two fields share the last row, so their message follows the second.
function show(field, message) {
  const place = field.closest(".field:not(.wide)") ? at("steps").parentNode : field.parentNode;
  place.after(message);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", message.id);
  field.focus();
}

function calm() {
  at("wrong").hidden = at("problem").hidden = true;
  satisfied();
}

function satisfied() {
  at("fault").hidden = true;
  for (const field of all("[aria-invalid]")) { field.removeAttribute("aria-invalid"); field.removeAttribute("aria-describedby"); }
}

// The question of the page, in the form of a shared file.
function question() {
  const steps = at("steps").value.trim();
  const expectations = at("expect").value.split("\n").map((line) => line.trim()).filter(Boolean);
  return {
    format: "ccmatic workbench 1", made_by: made, name: at("name").value.trim(), controller: editor.text(), on: at("on").value.trim(),
    start: at("start").value.trim() || "any", ...(steps ? { horizon: Number(steps) } : {}),
    questions: expectations.map((expect) => ({ expect })),
  };
}

function set(given) {
  at("name").value = given.name;
  at("on").value = given.on;
  at("start").value = given.start ?? "any";
  at("steps").value = given.horizon ?? "";
  at("expect").value = given.questions.map((each) => each.expect).join("\n");
  grow();
  replaceText(given.controller);
}

function replaceText(text) {
  editor.replace(text);
  clean = text;
  calm();
  at("saved").textContent = "";
  changed();
}

function same(a, b) { return JSON.stringify(a) === JSON.stringify(b); }

function changed() {
  const old = answers.length > 0 && !same(asked, question());
  at("stale").hidden = !old;
  at("answer").classList.toggle("old", old);
  at("wrong").hidden = true;
  if (editor.text() !== clean) at("saved").textContent = "";
  if (old) { editor.mark({}); at("legend").hidden = true; } else if (current !== null) mark();
}

async function verify() {
  await decide("/api/verify", question());
}

async function decide(path, what) {
  if (!at("question").reportValidity()) return;
  stop?.();
  calm();
  const ending = new AbortController(), begun = performance.now(), isLast = () => stop === end;
  const end = () => ending.abort();
  stop = end;
  asked = { ...what, questions: what.questions.map(({ expect }) => ({ expect })) };
  answers = []; current = null;
  for (const part of ["answers", "about", "slider", "view"]) at(part).replaceChildren();
  editor.mark({});
  at("legend").hidden = at("hints").hidden = true;
  changed();
  busy(true);
  let deciding = "…", ended = "";
  const tell = () => {
    const seconds = Math.floor((performance.now() - begun) / 1000);
    const place = asked.questions.length > 1 ? ` (${answers.length + 1} of ${asked.questions.length})` : "";
    at("status").textContent = `Deciding ${deciding}${place}${seconds ? `, ${seconds} s` : ""}`;
  };
  tell();
  try {
    const response = await call(path, what, ending.signal);
    if (!response.ok) await got(response);
    for await (const part of parts(response)) {
      if (!isLast()) return;
      if (part.deciding) deciding = part.deciding;
      if (part.answer) add(part.answer);
      if (part.refused) { complain(part.refused); ended = "Refused."; }
      if (part.ended) ended = "The process that decides has ended: it was killed, or had too little memory.";
      tell();
    }
    at("status").textContent = ended || summary();
    if (answers.length && matchMedia(NARROW).matches) at("answer").scrollIntoView({ block: "start" });
  } catch (error) {
    if (!isLast()) return;
    at("status").textContent = ending.signal.aborted ? "Stopped." : "Not answered.";
    if (!ending.signal.aborted) complain(error);
  } finally {
    if (isLast()) busy(false);
  }
}

function busy(now) {
  at("stop").hidden = !now;
  at("status").classList.toggle("busy", now);
  at("answer").setAttribute("aria-busy", String(now));
}

async function* parts(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const lines = text.split("\n");
    text = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}

const SIGNS = { holds: "✓ holds", violated: "✗ violated", unknown: "? unknown" };

function summary() {
  const count = (verdict) => answers.filter((each) => each.verdict === verdict).length;
  if (answers.length === 1) {
    return { holds: "No execution breaks it.", violated: "This execution breaks it. Step through it with the slider.",
      unknown: "Not decided in time." }[answers[0].verdict];
  }
  const counts = ["holds", "violated", "unknown"].filter(count).map((verdict) => `${count(verdict)} ${verdict}`).join(", ");
  return `${counts}. Choose one to see more.`;
}

function element(tag, text, attributes = {}) {
  return Object.assign(document.createElement(tag), { textContent: text }, attributes);
}

function add(answer) {
  const index = answers.push(answer) - 1;
  const row = element("button", "", { type: "button", className: answer.verdict, onclick: () => choose(index) });
  const measured = answer.measured ? `in this trace ${answer.measured}` : answer.seconds === undefined ? "" : `${answer.seconds} s`;
  row.append(element("b", SIGNS[answer.verdict]), element("code", answer.expect), element("em", measured));
  const item = document.createElement("li");
  item.append(row);
  at("answers").append(item);
  const better = answer.body && (current === null || !answers[current].body);
  if (current === null || better) choose(index);
}

function choose(index) {
  current = index;
  const answer = answers[index];
  all("#answers button").forEach((button, number) => button.setAttribute("aria-current", String(number === index)));
  const lines = [answer.where, ...answer.notes.map((note) => `Note: ${note}.`)];
  if (answer.left_out.length) lines.push(`Left out: ${answer.left_out.join("; ")}.`);
  lines.push(...answer.advice.map((advice) => `Try: ${advice}`));
  at("about").replaceChildren(...lines.map((line) => element("p", line[0].toUpperCase() + line.slice(1))));
  at("view").innerHTML = answer.body ?? "";
  editor.mark({});
  at("legend").hidden = !answer.body;
  at("slider").replaceChildren(...all(".step", at("view")));
  if (!answer.body) return;
  follow(answer.data, mark);
  move(answer.lines.findIndex((lines) => Object.keys(lines).length));
}

function move(step) {
  at("step").value = step;
  at("step").dispatchEvent(new Event("input"));
}

// Mark the lines that ran at the step of the slider.
function mark() {
  const answer = answers[current];
  if (!answer?.body || !at("stale").hidden) return;
  const ran = answer.lines[Number(at("step").value)];
  editor.mark(Object.fromEntries(Object.entries(ran).map(([line, held]) => [line, held ? "ran" : "failed"])));
  at("legend").hidden = false;
  if (!matchMedia(NARROW).matches) longest(Object.keys(ran).filter((line) => ran[line]).map(Number)).reverse().forEach(editor.show);
}

// The longest run of neighbours among ascending numbers.
function longest(numbers) {
  let best = [], run = [];
  for (const number of numbers) {
    run = run.at(-1) === number - 1 ? [...run, number] : [number];
    if (run.length > best.length) best = run;
  }
  return best;
}

async function save(replace = false) {
  calm();
  const name = `${at("name").value.trim()}.py`, controller = editor.text();
  try {
    const { path } = await got(await call("/api/save", { name, controller, replace }));
    clean = controller;
    at("saved").textContent = `Saved: ${path}`;
  } catch (error) {
    if (error.status === 409 && confirm(`Replace ${name} in the folder?`)) return save(true);
    if (error.status !== 409) complain(error);
  }
}

function share() {
  const what = question();
  if (same(what, asked)) {
    what.questions = what.questions.map((each, index) => answers[index]?.trace ? { ...each, trace: answers[index].trace } : each);
  }
  const link = element("a", "", { href: URL.createObjectURL(new Blob([JSON.stringify(what, null, 1)], { type: "application/json" })) });
  link.download = `${what.name || "controller"}.workbench.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function leave() { return editor.text() === clean || confirm("Leave the text as it is now? It is not saved."); }

async function open(file) {
  if (!file || !leave()) return;
  calm();
  const text = await file.text();
  if (!file.name.endsWith(".json")) return other(file.name.replace(/\.py$/, ""), text);
  try {
    await take(JSON.parse(text));
  } catch (error) {
    complain(new Error(`${file.name}: no file that the workbench shared: ${error.message}`));
  }
}

// Begin with another controller. The question stays, unless it is the one of the example.
function other(name, controller) {
  if (example && same({ ...question(), name: "", controller: "" }, example.question)) return set({ ...example.other, name, controller });
  at("name").value = name;
  replaceText(controller);
}

async function take(given) {
  if (given.format !== "ccmatic workbench 1") throw new Error('its format is not "ccmatic workbench 1"');
  set(given);
  if (given.questions.some((each) => each.trace)) await decide("/api/reopen", { ...question(), questions: given.questions });
}

function grow() {
  at("expect").style.height = "auto";
  at("expect").style.height = `${at("expect").scrollHeight + 2}px`;
}

at("question").addEventListener("submit", (event) => { event.preventDefault(); verify(); });
at("question").addEventListener("input", () => { grow(); satisfied(); changed(); });
at("name").addEventListener("input", () => { at("saved").textContent = ""; satisfied(); changed(); });
at("stop").addEventListener("click", () => stop?.());
at("save").addEventListener("click", () => save());
at("share").addEventListener("click", share);
at("open").addEventListener("click", () => at("file").click());
at("file").addEventListener("change", (event) => { open(event.target.files[0]); event.target.value = ""; });
at("example").addEventListener("change", async (event) => {
  const name = event.target.value;
  event.target.value = "";
  if (!name || !leave()) return;
  try {
    const { controller } = await got(await call(`/api/controllers/${encodeURIComponent(name)}`));
    other(name, controller);
  } catch (error) { complain(error); }
});
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    if (!event.defaultPrevented) { event.preventDefault(); verify(); }
  } else if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    save();
  } else if (["ArrowLeft", "ArrowRight"].includes(event.key) && (event.target === document.body || at("answers").contains(event.target)) && at("step")) {
    event.preventDefault();
    move(Number(at("step").value) + (event.key === "ArrowLeft" ? -1 : 1));
  }
});
addEventListener("beforeunload", (event) => { if (editor.text() !== clean) event.preventDefault(); });

try {
  const beginning = await got(await call("/api/begin"));
  made = beginning.made_by;
  at("save").title = `Save in ${beginning.folder}`;
  for (const { name, says } of beginning.controllers) at("example").append(element("option", name, { value: name, title: says }));
  await take(beginning.question);
  if (beginning.other) example = { question: { ...question(), name: "", controller: "" }, other: beginning.other };
} catch (error) {
  complain(error);
}
