// The labelling page. Text from data only ever goes into textContent, never into markup.

const $ = (id) => document.getElementById(id);
const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#B8A800", "#777777", "#9A5CC4", "#A0685B"];
const colour = (k) => COLOURS[k % COLOURS.length];
const GUARD_MS = 120; // nobody recognises two pictures faster: a second press is a slip

const state = {
  info: null, question: null, finished: false, shape: store("shape") === "strip" ? "strip" : "pair",
  annotator: store("annotator") || "", busy: false, shownAt: 0, view: "ask", look: "walls", asked: null,
};

function store(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(`superpac.${name}`);
    localStorage.setItem(`superpac.${name}`, value);
  } catch { /* private windows may refuse */ }
  return null;
}

function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "text") node.textContent = value;
    else if (name === "colour") node.style.background = value;
    else if (name === "width%") node.style.width = `${value}%`;
    else node.setAttribute(name === "cls" ? "class" : name, value === true ? "" : value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

const newKey = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
};
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// ---- talking to the server ----

class Refused extends Error {
  constructor(status, body) { super(body.detail || "Something went wrong."); this.status = status; this.body = body; }
}

async function call(path, body, signal) {
  const options = body === undefined ? { signal } : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  const answer = await fetch(path, { credentials: "same-origin", ...options });
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, found);
  return found;
}

// An act is sent again under the same key until it is known to be saved or refused.
async function act(path, body) {
  for (let n = 0; ; n += 1) {
    try {
      const found = await call(path, body);
      if (n > 0) hideBanner();
      return found;
    } catch (error) {
      const lost = !(error instanceof Refused);
      if (!lost && !error.body.retryable) throw error;
      const words = lost ? "The server does not answer; your answer is not saved yet." : error.message;
      banner(`${words} Trying again…`);
      await sleep(Math.min(400 * 2 ** Math.min(n, 4), 4000));
    }
  }
}

// ---- messages ----

function banner(words, { calm = false, buttons = [] } = {}) {
  const box = $("banner");
  box.className = calm ? "calm" : "";
  box.replaceChildren(h("span", { text: words }), ...buttons, h("button", { cls: "quiet", text: "✕", "aria-label": "Close", onclick: hideBanner }));
  box.hidden = false;
}
function hideBanner() { $("banner").hidden = true; }
function say(words) { $("live").textContent = words; }

function complain(error) {
  if (!(error instanceof Refused)) { banner("The server does not answer. Is it still running?"); return; }
  if (error.status === 401) {
    banner("This page's key has run out: the server was started anew. Open the address that the terminal printed."); return;
  }
  const buttons = (error.body.chain || []).map((seq) =>
    h("button", { text: `Take back #${seq}`, onclick: () => { hideBanner(); takeBack(seq); } }));
  banner(error.body.chain?.length ? `That contradicts earlier answers: ${error.message}.` : error.message, { buttons });
}

// ---- pictures ----

const pictures = new Map();
const pictureUrl = (item, size) => `/picture/${item}?size=${size}&v=${state.info.id.slice(0, 8)}`;
const bigSize = () => (state.info.crisp ? 320 : 960);

function preload(item) {
  let found = pictures.get(item);
  if (!found) {
    const img = new Image();
    img.decoding = "async";
    img.src = pictureUrl(item, bigSize());
    found = { img, ready: img.decode().then(() => true, () => false) };
    pictures.set(item, found);
    if (pictures.size > 300) pictures.delete(pictures.keys().next().value);
  } else { pictures.delete(item); pictures.set(item, found); }
  return found.ready;
}

function picture(card) {
  const img = new Image();
  img.alt = `Item ${card.id}`;
  img.draggable = false;
  img.src = pictureUrl(card.item, bigSize());
  img.addEventListener("error", () => img.replaceWith(h("p", { cls: "broken", text: "This picture cannot be shown. Set it aside with “Bad item”." })), { once: true });
  return img;
}

const thumb = (item, extra = {}) => h("img", { src: pictureUrl(item, 96), alt: "", loading: "lazy", draggable: "false", ...extra });

function rowsTable(card, others) {
  // rows in which the two differ most are tinted
  const numbers = card.rows.map(([, v], n) => [Number(v), ...others.map((o) => Number(o.rows[n]?.[1]))]);
  const gaps = numbers.map((all) => (all.every(Number.isFinite) && all.length > 1
    ? Math.abs(all[0] - all[1]) / (Math.abs(all[0]) + Math.abs(all[1]) + 1e-12) : 0));
  const limit = [...gaps].sort((a, b) => b - a)[Math.min(2, gaps.length - 1)] || Infinity;
  return h("div", { cls: "rows" }, h("table", {}, h("tbody", {}, ...card.rows.map(([name, value], n) =>
    h("tr", { cls: gaps[n] >= limit && gaps[n] > 0.25 ? "far" : null }, h("th", { scope: "row", text: name }), h("td", { text: value }))))));
}

function figure(card, others = []) {
  const inside = card.rows.length ? rowsTable(card, others) : picture(card);
  return h("figure", { cls: "card" }, h("div", { cls: "frame" }, inside), h("figcaption", { text: card.id, title: card.id }));
}

// ---- the question ----

function key(name) { return h("kbd", { text: name, "aria-hidden": "true" }); }

async function show(question, finished, since) {
  state.question = question;
  state.finished = finished && !question;
  if (!question) { route(); figures(); return; }
  const cards = [question.item, ...question.others];
  if (state.info.kind !== "table") await Promise.race([Promise.all(cards.map((c) => preload(c.item))), sleep(1500)]);
  const stage = $("stage");
  stage.className = `${state.info.crisp ? "crisp" : ""} ${question.shape === "strip" ? "strip" : ""}`;
  if (question.shape === "strip") {
    stage.replaceChildren(figure(question.item), h("div", { cls: "options", "data-n": question.others.length }, ...question.others.map((card, n) =>
      h("button", { type: "button", cls: "option", "aria-label": `${n + 1}: like item ${card.id}`, onclick: () => choose(n) },
        key(String(n + 1)), h("div", { cls: "frame" }, card.rows.length ? rowsTable(card, [question.item]) : picture(card))))));
    $("answers").replaceChildren(
      h("button", { type: "button", cls: "different", onclick: () => choose(null) }, "None of these", key("0")),
      h("button", { type: "button", cls: "unsure", onclick: skip }, "Can’t tell", key("Space")));
    $("ask-title").textContent = "Which of these is it like?";
  } else {
    const other = question.others[0];
    stage.replaceChildren(figure(question.item, [other]), figure(other, [question.item]));
    $("answers").replaceChildren(
      h("button", { type: "button", cls: "different", onclick: () => answer("different") }, key("←"), "Different"),
      h("button", { type: "button", cls: "unsure", onclick: () => answer("unsure") }, "Can’t tell", key("↓")),
      h("button", { type: "button", cls: "same", onclick: () => answer("same") }, "Same", key("→")));
    $("ask-title").textContent = "Same or different?";
  }
  $("reason").textContent = question.reason;
  for (const button of document.querySelectorAll("[data-shape]")) button.setAttribute("aria-pressed", String(button.dataset.shape === state.shape));
  state.shownAt = performance.now();
  say(question.shape === "strip" ? `Item ${question.item.id}: which of ${question.others.length}?` : `Item ${question.item.id} and item ${question.others[0].id}: same or different?`);
  route();
  painted(since);
  setTimeout(() => { if (state.question === question) { figures(); lookAhead(question); } }, 30); // after the paint
}

function painted(since) {
  if (!since) return;
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => performance.measure("answer-to-paint", { start: since, end: performance.now() });
    channel.port2.postMessage(0);
  });
}

let looking = null; // a browser has six connections: one may wait, not more
async function lookAhead(question) {
  looking?.abort();
  const own = looking = new AbortController();
  for (let n = 0; n < 6 && state.question === question; n += 1) {
    try {
      const found = await call(`/api/ahead?annotator=${encodeURIComponent(state.annotator)}`, undefined, own.signal);
      if (state.info.kind !== "table") found.items.forEach(preload);
      if (found.ready) return;
    } catch { return; }
  }
}

async function ask(more = {}) {
  try {
    const found = await call("/api/question", { annotator: state.annotator, shape: state.shape, ...more });
    await show(found.question, found.finished);
  } catch (error) { complain(error); }
}

function ready() {
  return state.view === "ask" && state.question && !state.busy && performance.now() - state.shownAt > GUARD_MS;
}

async function send(path, body, said) {
  const since = performance.now();
  looking?.abort();
  state.busy = true;
  $("ask").classList.add("busy");
  if (said) $("stage").classList.add(`said-${said}`);
  $("zoom").close();
  try {
    const found = await act(path, { annotator: state.annotator, key: newKey(), shape: state.shape, ...body });
    hideBanner();
    if (found.message) banner(found.message, { calm: true });
    if (found.question || found.finished) await show(found.question, found.finished, since);
    else { state.info.usable = false; await prepare(); } // the server was started anew
  } catch (error) {
    $("stage").classList.remove("said-same", "said-different");
    if (error instanceof Refused && error.status === 409 && (error.body.question || error.body.finished)) {
      banner("Answered elsewhere in the meantime; here is the current question.", { calm: true });
      await show(error.body.question, error.body.finished);
    } else complain(error);
  } finally {
    state.busy = false;
    $("ask").classList.remove("busy");
  }
}

const took = () => Math.min(Math.round(performance.now() - state.shownAt), 86400000);

function answer(said) {
  if (!ready()) return;
  const q = state.question;
  if (q.shape === "strip") return;
  send("/api/answers", { i: q.item.item, j: q.others[0].item, answer: said, seq: q.seq, elapsed_ms: took() }, said);
}

function choose(n) {
  if (!ready() || state.question.shape !== "strip") return;
  const q = state.question;
  if (n !== null && n >= q.others.length) return;
  send("/api/choices", {
    item: q.item.item, options: q.others.map((o) => o.item), choice: n === null ? null : q.others[n].item, seq: q.seq, elapsed_ms: took(),
  });
}

function skip() {
  if (!ready()) return;
  const q = state.question;
  send("/api/skips", { i: q.item.item, j: q.others[0].item, seq: q.seq });
}

function undo() { if (!state.busy) send("/api/undo", {}); }
function redo() { if (!state.busy) send("/api/redo", {}); }
function bad() { if (ready()) send("/api/aside", { item: state.question.item.item }); }

function zoom() {
  const box = $("zoom");
  if (box.open) { box.close(); return; }
  if (!state.question) return;
  const cards = state.question.shape === "strip" ? [state.question.item] : [state.question.item, ...state.question.others];
  box.className = state.info.crisp ? "crisp" : "";
  box.replaceChildren(...cards.map((card) => h("div", {}, card.rows.length ? rowsTable(card, []) : h("img", { src: pictureUrl(card.item, 960), alt: `Item ${card.id}` }))));
  box.showModal();
}

function setShape(shape) {
  if (state.busy || state.shape === shape) return;
  state.shape = shape;
  store("shape", shape);
  if (state.view === "ask") ask();
}

// ---- figures under the question ----

function number(value, words) { return h("div", { cls: "figure" }, h("b", { text: value }), h("span", { text: words })); }

// The goal: at most this share of the items in a wrong cluster.
const GOAL = 0.01;
const SLACK = 1e-9; // 0.7 may be stored as 0.7000000000000001 and must not become 0.8

function share(x, round = Math.round) {
  const steps = x < 0.1 ? 10 : 1; // one decimal below ten percent
  return `${round(100 * x * steps) / steps}%`;
}
const upper = (x) => share(x, (v) => Math.ceil(v - SLACK)); // "at most" must hold for the figure that is shown
const lower = (x) => share(x, (v) => Math.floor(v + SLACK));
const tiny = (x) => x < 0.0005; // 0% would sound surer than it is

function stopWords(left) {
  if (!left || left.high > GOAL) return "";
  const about = tiny(left.estimate) ? "Less than 0.1%" : `About ${share(left.estimate)}`;
  return `${about} in a wrong cluster, at most ${upper(left.high)}: you can stop.`;
}

async function figures() {
  try {
    const p = await call("/api/progress");
    const left = p.error_left;
    const stop = stopWords(left);
    const parts = [
      number(p.questions.toLocaleString(), p.questions === 1 ? "answer" : "answers"),
      number(p.implied.toLocaleString(), "pairs known for free"),
      p.clusters_sure === null || p.clusters_sure === undefined
        ? number(`${p.groups} of ${p.clusters}`, "groups met")
        : number(p.clusters, `groups found (${Math.round(100 * p.clusters_sure)} % sure)`),
      number(p.per_minute === null ? "–" : Math.round(p.per_minute), "answers per minute"),
    ];
    if (left && !stop) {
      const about = tiny(left.estimate) ? "< 0.1%" : `≈ ${share(left.estimate)}`;
      const words = `in a wrong cluster, between ${lower(left.low)} and ${upper(left.high)} (95% interval)`;
      parts.push(h("div", { cls: "figure wide" }, h("b", { text: about }), h("span", { text: words })));
    }
    $("figures").replaceChildren(...parts);
    if ($("goal").textContent !== stop) $("goal").textContent = stop; // so that screen readers say it once
    $("wrongs").hidden = !p.contradictions;
    $("wrongs").textContent = p.contradictions;
    $("wrongs").title = "Answers that contradict others";
  } catch { /* the next answer will say what is wrong */ }
}

// ---- clusters ----

function wallThumb(entry) {
  return h("button", { type: "button", cls: `thumb${entry.certain ? " certain" : ""}`, title: `${entry.certain ? "certain" : `sure: ${Math.round(100 * entry.sure)} %`}`, "aria-label": `Item ${entry.item}${entry.certain ? ", certain" : ""}`, onclick: () => openItem(entry.item) }, thumb(entry.item));
}

async function showClusters() {
  try {
    const found = await call("/api/clusters?limit=48");
    $("clusters-words").textContent = `Surest first; ✓ marks what answers have settled. Click a picture that looks wrong.${found.fresh ? "" : " These follow your answers a moment ago."}`;
    const wide = state.info.kind === "image" ? "" : " wide";
    const crisp = state.info.crisp ? " crisp" : "";
    const sections = found.clusters.map((c) => {
      const wall = h("div", { cls: `wall${wide}${crisp}` });
      const fill = (entries, whole) => {
        const nodes = entries.map(wallThumb);
        if (!whole && c.size > entries.length) {
          const more = h("div", { cls: "gap" }, h("button", { type: "button", cls: "quiet", text: `${(c.size - entries.length).toLocaleString()} more, then the least sure`, onclick: async () => {
            fill(await call(`/api/clusters/${c.cluster}?limit=1000`), true);
          } }));
          nodes.splice(Math.ceil(entries.length / 2), 0, more);
        }
        wall.replaceChildren(...nodes);
      };
      fill(c.items, false);
      const input = h("input", { value: c.name, placeholder: `Cluster ${c.cluster + 1}`, maxlength: "80", "aria-label": `Name of cluster ${c.cluster + 1}`, autocomplete: "off", spellcheck: "false" });
      input.addEventListener("change", async () => {
        if (!input.value.trim()) return;
        try {
          await act("/api/names", { annotator: state.annotator, key: newKey(), item: c.items[0].item, name: input.value.trim() });
          say(`Named ${input.value}.`);
        } catch (error) { complain(error); }
      });
      return h("div", { cls: "cluster" }, h("div", { cls: "head" }, h("span", { cls: "dot", colour: colour(c.cluster) }), input,
        h("span", { cls: "muted", text: `${c.size.toLocaleString()} items, ${c.certain.toLocaleString()} certain` })), wall);
    });
    if (found.set_aside.length) {
      sections.push(h("div", { cls: "cluster" }, h("div", { cls: "head" }, h("strong", { text: "Set aside" })),
        h("div", { cls: `wall${wide}${crisp}` }, ...found.set_aside.map((item) => wallThumb({ item, certain: false, sure: 0 })))));
    }
    $("walls").replaceChildren(...sections);
  } catch (error) { complain(error); }
}

async function openItem(item) {
  const box = $("item");
  try {
    const v = await call(`/api/items/${item}`);
    const worst = Math.max(...v.rivals.map((r) => r.distance), 1e-9);
    const label = (r) => r.name || `Cluster ${r.cluster + 1}`;
    const rivals = v.rivals.map((r) => h("div", { cls: "rival" }, thumb(r.exemplar), h("span", {},
      h("b", { text: label(r) }), r.own ? " (its cluster)" : "",
      h("div", { cls: "bar", title: "how near" }, h("i", { "width%": Math.round(100 * (1 - r.distance / worst) + 4) })),
      r.known ? h("small", { cls: "muted", text: r.known === "same" ? "answers say same" : "answers say different" }) : null),
    r.askable && !v.set_aside ? h("button", { type: "button", text: "Ask this", onclick: () => askAbout(item, r.exemplar) }) : null));
    const openRivals = v.rivals.some((r) => r.askable);
    const answers = v.answers.map((e) => h("div", { cls: "rival" }, h("span", {}, h("b", { cls: `said ${e.answer}`, text: e.answer }), ` ${e.ids.join(" – ")} (#${e.seq})`),
      h("button", { type: "button", text: "Take back", onclick: () => { box.close(); takeBack(e.seq); } })));
    const card = { item, id: v.id, rows: v.rows };
    box.className = state.info.crisp ? "crisp" : "";
    box.replaceChildren(
      h("h2", { id: "item-title", text: `${v.id} in ${v.name || `cluster ${v.cluster + 1}`}` }),
      h("div", { cls: "detail" }, h("div", { cls: "big" }, v.rows.length ? rowsTable(card, []) : picture(card)),
        h("div", {}, h("p", { cls: "muted", text: v.certain ? "Answers have settled where it belongs." : `Not settled by answers; the clusters are ${Math.round(100 * v.sure)} % sure.` }),
          h("h2", { text: "Nearest groups" }), ...rivals, answers.length ? h("h2", { text: "Answers about it" }) : null, ...answers)),
      h("div", { cls: "row" },
        openRivals && !v.set_aside ? h("button", { type: "button", text: "Ask about it now", onclick: () => askAbout(item) }) : null,
        h("button", { type: "button", text: v.set_aside ? "Put it back" : "Bad item", onclick: () => setAside(item, v.set_aside) }),
        h("button", { type: "button", cls: "quiet", text: "Close", onclick: () => box.close() })));
    if (!box.open) box.showModal();
  } catch (error) { complain(error); }
}

async function askAbout(item, other) {
  $("item").close();
  try {
    const found = await call("/api/question", { annotator: state.annotator, shape: other === undefined ? state.shape : "pair", item, ...(other === undefined ? {} : { other }) });
    if (!found.question) { banner("Earlier answers leave nothing open about this item; take one back to ask again.", { calm: true }); return; }
    location.hash = "#ask";
    state.view = "ask";
    await show(found.question, found.finished);
  } catch (error) { complain(error); }
}

async function setAside(item, back) {
  $("item").close();
  try {
    const found = await act("/api/aside", { annotator: state.annotator, key: newKey(), item, back });
    state.question = found.question;
    showClusters();
  } catch (error) { complain(error); }
}

// ---- map ----

let mapped = null;
async function showMap() {
  try {
    mapped = await call("/api/map");
    const counts = new Map();
    mapped.cluster.forEach((c) => counts.set(c, (counts.get(c) || 0) + 1));
    $("legend").replaceChildren(...[...counts].sort((a, b) => b[1] - a[1]).map(([c]) =>
      h("li", {}, h("span", { cls: "dot", colour: colour(c) }), mapped.names[c] || `Cluster ${c + 1}`)));
    $("clusters-words").textContent = "Items that resemble each other lie together; ringed ones are settled by answers. Click one to see it.";
    drawMap();
  } catch (error) { complain(error); }
}

function place(n, width, height) {
  const pad = 18;
  return [pad + (mapped.x[n] / 1000) * (width - 2 * pad), height - pad - (mapped.y[n] / 1000) * (height - 2 * pad)];
}

function drawMap() {
  if (!mapped) return;
  const canvas = $("canvas");
  const scale = window.devicePixelRatio || 1;
  const { width, height } = canvas.getBoundingClientRect();
  if (!width) return;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const size = mapped.x.length > 5000 ? 1.6 : 2.6;
  const ink = getComputedStyle(document.body).color;
  for (const certain of [0, 1]) {
    mapped.x.forEach((_, n) => {
      if (mapped.certain[n] !== certain) return;
      const [x, y] = place(n, width, height);
      pen.globalAlpha = certain ? 1 : 0.7;
      pen.fillStyle = colour(mapped.cluster[n]);
      pen.beginPath();
      pen.arc(x, y, certain ? size + 1.6 : size, 0, 7);
      pen.fill();
      if (certain) { pen.strokeStyle = ink; pen.lineWidth = 1.2; pen.stroke(); }
    });
  }
}

function nearest(event) {
  if (!mapped) return null;
  const { left, top, width, height } = $("canvas").getBoundingClientRect();
  let best = null;
  let least = 14 ** 2;
  mapped.x.forEach((_, n) => {
    const [x, y] = place(n, width, height);
    const gap = (x - event.clientX + left) ** 2 + (y - event.clientY + top) ** 2;
    if (gap < least) { least = gap; best = mapped.items[n]; }
  });
  return best;
}

// ---- history ----

const KINDS = { answer: "", second: "second opinion", withdrawn: "opinion taken back", retract: "taken back", restore: "put back", skip: "skipped", bad: "set aside", good: "put back in", name: "named", stop: "stopped", note: "note" };
let oldest = null;

function eventLine(e) {
  const words = e.kind === "answer" || e.kind === "second" ? e.answer : KINDS[e.kind] || e.kind;
  const facts = [
    e.kind === "second" ? `second opinion on #${e.of}` : null,
    (e.kind === "retract" || e.kind === "restore" || e.kind === "withdrawn") && e.of ? `#${e.of}` : null,
    e.name, e.ids.join(" – "), e.annotator || null, new Date(e.at).toLocaleString(),
    e.elapsed_ms === null ? null : `${(e.elapsed_ms / 1000).toFixed(1)} s`,
    e.expected && e.answer !== "unsure" && e.expected !== e.answer ? `the clusters said ${e.expected}` : null,
  ].filter(Boolean);
  return h("div", { cls: `event${e.taken_back ? " gone" : ""}` }, h("span", { cls: "num", text: `#${e.seq}` }),
    h("span", { cls: `pics${state.info.crisp ? " crisp" : ""}` }, ...e.items.slice(0, 2).map((item) => thumb(item))),
    h("span", {}, h("span", { cls: `said ${e.answer || ""}`, text: words }), h("small", { text: facts.join(" · ") })),
    e.undoable ? h("button", { type: "button", text: "Take back", "aria-label": `Take back #${e.seq}`, onclick: () => takeBack(e.seq) }) : null);
}

async function showHistory(older = false) {
  try {
    const found = await call(`/api/history?limit=60${older && oldest ? `&before=${oldest}` : ""}`);
    const lines = found.events.map(eventLine);
    if (older) $("events").append(...lines);
    else $("events").replaceChildren(...(lines.length ? lines : [h("p", { cls: "muted", text: "Nothing yet." })]));
    oldest = found.events.length ? found.events[found.events.length - 1].seq : null;
    $("older").hidden = !found.more;
    if (!older) await Promise.all([showSuspects(), showAgreement()]);
  } catch (error) { complain(error); }
}

// ---- answers to check ----

const who = (name) => name || "no name";
const percent = (share) => (share < 0.0095 ? `${(100 * share).toFixed(1)}%` : `${Math.round(100 * share)}%`);

function step(link, culprits) {
  const bad = culprits.has(link.seq);
  return h("span", { cls: `step ${link.answer}${bad ? " culprit" : ""}` }, h("b", { text: link.answer === "same" ? "=" : "≠" }), h("small", { text: `#${link.seq}${link.annotator ? ` ${link.annotator}` : ""}` }));
}

function piece(item, id) {
  return h("span", { cls: `piece${state.info.crisp ? " crisp" : ""}` }, state.info.kind === "table" ? null : thumb(item), h("small", { text: id, title: id }));
}

function remedy(links, lead) {
  const first = links[0];
  const names = links.map((l) => `#${l.seq}`).join(", ");
  return h("div", { cls: "remedy" }, h("span", { text: lead }),
    h("button", { type: "button", cls: "warm", text: `Take back ${names}`, onclick: () => takeBackAll(links.map((l) => l.seq)) }),
    h("button", { type: "button", text: "Ask me again", "aria-label": `Ask me again about ${first.ids.join(" and ")}`, onclick: () => askAbout(first.i, first.j) }));
}

function contradiction(c) {
  const culprits = new Set(c.cut.map((l) => l.seq));
  const row = c.chain.flatMap((l, n) => [...(n ? [] : [piece(l.i, l.ids[0])]), step(l, culprits), piece(l.j, l.ids[1])]);
  const ends = [c.chain[0].ids[0], c.chain[c.chain.length - 1].ids[1]];
  const names = [...new Set(c.cut.map((l) => who(l.annotator)))].join(" and ");
  const also = c.resolves.length ? ` It settles ${c.resolves.length} more like this.` : "";
  return h("li", { cls: "suspect" }, h("p", { cls: "hidden", text: `${c.words}.` }),
    h("div", { cls: "chain", "aria-hidden": "true" }, ...row),
    h("p", { cls: "but", "aria-hidden": "true" }, `So ${ends[0]} and ${ends[1]} would be the same, but ${c.answer.annotator || "somebody"} said `,
      h("span", { cls: culprits.has(c.answer.seq) ? "culprit" : null }, h("span", { cls: "said different", text: "different" }), ` (#${c.answer.seq})`), "."),
    remedy(c.cut, `Likeliest wrong: what ${names} said in ${c.cut.map((l) => `#${l.seq}`).join(", ")}.${also}`));
}

function doubt(d) {
  const l = d.answer;
  return h("li", { cls: "suspect" }, h("p", { cls: "hidden", text: `${d.words}.` }),
    h("div", { cls: "chain", "aria-hidden": "true" }, piece(l.i, l.ids[0]), step(l, new Set([l.seq])), piece(l.j, l.ids[1])),
    remedy([l], `${l.annotator || "Somebody"} said ${l.answer}; the clusters speak against it (${percent(d.chance)} likely wrong).`));
}

async function showSuspects() {
  const s = await call("/api/suspects");
  const all = [...s.contradictions.map(contradiction), ...s.doubts.map(doubt)];
  if (!all.length) { $("suspects").replaceChildren(); return; }
  const people = s.people.map((p) => `${who(p.name)} about ${percent(p.wrong)}`).join(", ");
  const words = s.contradictions.length ? "Not all of these answers can be right. The one marked is the likeliest slip; look, and take it back if it is." : "These answers do not fit what the others say. Look, and take back what is wrong.";
  const rest = all.slice(5);
  const list = h("ul", {}, ...all.slice(0, 5));
  const more = rest.length ? h("button", { type: "button", cls: "quiet", text: `Show ${rest.length} more`, onclick: () => { list.append(...rest); more.remove(); } }) : null;
  $("suspects").replaceChildren(h("section", { cls: "note warn", "aria-labelledby": "suspects-title" },
    h("h2", { id: "suspects-title", text: all.length === 1 ? "Check this" : `Check these ${all.length}` }), h("p", { cls: "muted", text: words }), list, more,
    h("p", { cls: "muted small", text: `Estimated share of wrong answers: ${people}.` })));
}

async function takeBackAll(seqs) {
  try {
    for (const seq of seqs) await act("/api/undo", { annotator: state.annotator, key: newKey(), shape: state.shape, seq });
    banner(`Took back #${seqs.join(", #")}.`, { calm: true });
    state.question = null;
    state.finished = false;
    figures();
  } catch (error) { complain(error); }
  showHistory();
}

async function showAgreement() {
  const a = await call("/api/agreement");
  const parts = [];
  if (a.people.length > 1 || a.judged > 0) {
    const words = a.people.map((p) => `${who(p.name)} ${p.answers}`).join(", ");
    const how = a.judged ? `Two people judged ${a.judged} pairs and agreed on ${a.agreed}; Cohen’s kappa ${a.kappa.toFixed(2)}.` : "No pair has been judged by two people yet.";
    parts.push(h("div", { cls: "note" }, h("p", { text: `${words}. ${how}` }), ...a.disagreements.map((d) => h("div", { cls: "rival" }, thumb(d.i), thumb(d.j),
      h("span", { text: `${who(d.first_by)}: ${d.first_answer}. ${who(d.second_by)}: ${d.second_answer}.${d.decided ? ` Decided: ${d.decided === "first" ? d.first_answer : d.second_answer}.` : ""}` }),
      ...(d.decided ? [] : [["first", d.first_answer], ["second", d.second_answer]].map(([keep, said]) =>
        h("button", { type: "button", text: said, "aria-label": `Decide: ${said}`, onclick: () => decide(d.second, keep) })))))));
  }
  $("agreement").replaceChildren(...parts);
}

async function decide(second, keep) {
  try {
    await act("/api/decisions", { annotator: state.annotator, key: newKey(), second, keep });
    showHistory();
  } catch (error) { complain(error); }
}

async function takeBack(seq) {
  try {
    const found = await act("/api/undo", { annotator: state.annotator, key: newKey(), shape: state.shape, seq });
    if (found.message) banner(found.message, { calm: true });
    if (found.question) { state.question = found.question; state.finished = false; }
    if (state.view === "ask") await show(found.question, found.finished);
    if (state.view === "history") showHistory();
    if (state.view === "clusters") showClusters();
  } catch (error) { complain(error); }
}

// ---- export ----

const FORMATS = {
  csv: ["CSV", "Item, cluster, name; opens in any spreadsheet."],
  parquet: ["Parquet", "The same table with exact values."],
  jsonl: ["JSON lines", "The same table, one object a line."],
  answers: ["Answers", "Every standing answer with who, when and how long."],
  links: ["Must-link, cannot-link", "Pairs by item number, as JSON."],
  coco: ["COCO-style JSON", "Images, categories, annotations."],
  folders: ["A folder a cluster", "A zip with copies of the items."],
  archive: ["Session archive", "Everything; superpac import reads it elsewhere."],
};

function showExport() {
  $("formats").replaceChildren(...state.info.formats.filter((f) => f !== "coco" || state.info.kind === "image").map((form) => {
    const [title, words] = FORMATS[form] || [form, ""];
    return h("li", {}, h("a", { href: `/api/export/${form}`, download: true }, h("b", { text: title }), h("span", { cls: "muted", text: words })));
  }));
}

// ---- views ----

function route() {
  const wanted = location.hash.slice(1);
  const view = ["ask", "clusters", "history", "export"].includes(wanted) ? wanted : "ask";
  const usable = state.info?.usable;
  const shown = !usable ? "preparing" : view === "ask" && state.finished ? "done" : view;
  for (const id of ["preparing", "ask", "done", "clusters", "history", "export"]) $(id).hidden = id !== shown;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  state.view = view;
}

function enter() {
  hideBanner();
  route();
  if (!state.info?.usable) return;
  if (state.view === "ask") { if (state.question) ask(); else if (!state.finished) ask(); }
  if (state.view === "clusters") { if (state.look === "map") showMap(); else showClusters(); }
  if (state.view === "history") showHistory();
  if (state.view === "export") showExport();
}

// ---- getting ready ----

const STAGES = [["affinity", "Finding which items resemble each other"], ["clustering", "First clustering"], ["map", "Drawing the map"]];

async function prepare() {
  for (;;) {
    try { state.info = await call("/api/session"); } catch (error) { complain(error); await sleep(2000); continue; }
    const s = state.info;
    if (s.usable) break;
    route();
    const now = STAGES.findIndex(([name]) => name === s.stage);
    const over = s.phase === "ready" ? STAGES.length : now;
    $("stages").replaceChildren(...STAGES.map(([, words], n) => h("li", { cls: n < over ? "over" : n === now && s.phase === "preparing" ? "now" : "", text: words })));
    const bar = $("bar");
    bar.hidden = s.phase !== "preparing" && s.phase !== "ready";
    if (s.total > 0 && s.stage === "affinity") bar.value = s.done / s.total; else bar.removeAttribute("value");
    const stopped = s.phase === "cancelled" || s.phase === "failed";
    $("preparing-title").textContent = stopped ? "Stopped" : "Getting ready";
    $("preparing-words").textContent = stopped ? s.message : `${s.items.toLocaleString()} items, ${s.spec.n_clusters === "auto" ? "as many clusters as there are" : `${s.spec.n_clusters} clusters`}, ${s.spec.affinity}.`;
    $("cancel").textContent = stopped ? "Start again" : "Cancel";
    await sleep(250);
  }
  enter();
}

// ---- keys, swipes, buttons ----

const KEYS = {
  s: () => answer("same"), arrowright: () => answer("same"), d: () => answer("different"), arrowleft: () => answer("different"),
  u: () => answer("unsure"), arrowdown: () => (state.question?.shape === "strip" ? skip() : answer("unsure")), " ": skip, backspace: undo, z: zoom, b: bad,
  p: () => setShape(state.shape === "pair" ? "strip" : "pair"),
};

document.addEventListener("keydown", (event) => {
  if (event.target.closest?.("input, textarea, select")) return;
  const name = event.key.toLowerCase();
  const open = document.querySelector("dialog[open]");
  if (event.key === "?") { event.preventDefault(); if (open === $("help")) open.close(); else if (!open) $("help").showModal(); return; }
  if (open && open !== $("zoom")) return;
  if (event.ctrlKey || event.metaKey) {
    if (name === "z" && !event.shiftKey) { event.preventDefault(); undo(); }
    if (name === "y" || (name === "z" && event.shiftKey)) { event.preventDefault(); redo(); }
    return;
  }
  if (event.altKey || event.repeat || state.view !== "ask" || !state.info?.usable) return;
  // Space and Enter on a focused button belong to the button.
  if ((name === " " || name === "enter") && event.target.closest?.("button, a")) return;
  if (/^[0-9]$/.test(name)) { choose(name === "0" ? null : Number(name) - 1); return; }
  if (KEYS[name]) { event.preventDefault(); KEYS[name](); }
});

let touch = null;
$("stage").addEventListener("touchstart", (event) => { touch = event.touches.length === 1 ? { x: event.touches[0].clientX, y: event.touches[0].clientY } : null; }, { passive: true });
$("stage").addEventListener("touchmove", (event) => {
  if (!touch || state.question?.shape === "strip") return;
  const dx = event.touches[0].clientX - touch.x;
  if (Math.abs(dx) > 24 && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
    for (const card of document.querySelectorAll("#stage .card")) card.style.transform = `translateX(${dx / 3}px)`;
  }
  $("stage").classList.toggle("said-same", dx > 70);
  $("stage").classList.toggle("said-different", dx < -70);
}, { passive: true });
$("stage").addEventListener("touchend", (event) => {
  for (const card of document.querySelectorAll("#stage .card")) card.style.transform = "";
  $("stage").classList.remove("said-same", "said-different");
  if (!touch) return;
  const dx = event.changedTouches[0].clientX - touch.x;
  const dy = event.changedTouches[0].clientY - touch.y;
  touch = null;
  if (Math.abs(dx) > 70 && Math.abs(dy) < 60) answer(dx > 0 ? "same" : "different");
});

const ACTS = { skip, undo, redo, zoom, bad };
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-act], [data-shape], [data-look]");
  if (!button) return;
  if (button.dataset.act) ACTS[button.dataset.act]();
  if (button.dataset.shape) setShape(button.dataset.shape);
  if (button.dataset.look) {
    state.look = button.dataset.look;
    for (const other of document.querySelectorAll("[data-look]")) other.setAttribute("aria-pressed", String(other === button));
    $("walls").hidden = state.look === "map";
    $("map").hidden = state.look !== "map";
    enter();
  }
});
$("zoom").addEventListener("click", () => $("zoom").close());
$("help-button").addEventListener("click", () => $("help").showModal());
$("older").addEventListener("click", () => showHistory(true));
$("cancel").addEventListener("click", async () => {
  const stopped = ["cancelled", "failed"].includes(state.info?.phase);
  try { state.info = await call(stopped ? "/api/again" : "/api/cancel", {}); } catch (error) { complain(error); }
});
$("canvas").addEventListener("click", (event) => { const item = nearest(event); if (item !== null) openItem(item); });
$("canvas").addEventListener("pointermove", (event) => { const item = nearest(event); $("hover").replaceChildren(...(item === null ? [] : [thumb(item, { width: 48, height: 48 })])); });
window.addEventListener("resize", () => { if (state.view === "clusters" && state.look === "map") drawMap(); });

function showWho() { $("who").textContent = state.annotator || "Who are you?"; }
$("who").addEventListener("click", () => { $("name-input").value = state.annotator; $("name").showModal(); });
$("name").addEventListener("close", () => {
  if ($("name").returnValue !== "save") return;
  const was = state.annotator;
  state.annotator = $("name-input").value.trim().slice(0, 80);
  store("annotator", state.annotator);
  showWho();
  $("main").focus({ preventScroll: true });
  if (state.info?.usable) ask({ was });
});

window.addEventListener("hashchange", () => { enter(); $("main").focus({ preventScroll: true }); });
showWho();
prepare();
