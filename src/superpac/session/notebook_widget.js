// The question of a session in a notebook: two items, four answers, one undo. The module has the form that anywidget
// asks for: render({model, el}), where model sends messages to Python and hears its replies.

/**
 * @typedef {{item: number, name: string, kind: string, text?: string, rows?: string[][], picture?: number}} Card
 * @typedef {{i: number, j: number, seq: number, question: string, reason: string, cards: Card[]}} Question
 * @typedef {{kind: string, question: Question | null, progress: string, error: string, undoable: boolean}} Reply
 * @typedef {{send: (message: object) => void, on: (event: string, heard: (reply: any, buffers: DataView[]) => void) => void,
 *   off: (event: string, heard: (reply: any, buffers: DataView[]) => void) => void}} Model
 */

const ANSWERS = [
  { answer: "same", text: "Same (S)", key: "s" },
  { answer: "different", text: "Different (D)", key: "d" },
  { answer: "unsure", text: "Not sure (U)", key: "u" },
];

/**
 * @param {string} tag
 * @param {string} cls
 * @param {string} [text]
 */
function make(tag, cls, text = "") {
  const made = document.createElement(tag);
  made.className = cls;
  made.textContent = text; // always as text: names and cells are people's
  return made;
}

/**
 * @param {Card} card
 * @param {DataView[]} buffers
 * @param {string[]} addresses
 */
function draw(card, buffers, addresses) {
  const box = make("figure", "superpac-card");
  const { picture, rows } = card;
  if (picture !== undefined && buffers[picture]) {
    const bytes = /** @type {ArrayBufferView<ArrayBuffer>} */ (buffers[picture]);
    const address = URL.createObjectURL(new Blob([bytes], { type: "image/png" }));
    addresses.push(address);
    const image = document.createElement("img");
    image.src = address;
    image.alt = card.name;
    box.append(image);
  } else if (rows) {
    const table = make("table", "superpac-rows");
    for (const [column, value] of rows) {
      const line = make("tr", "");
      const head = make("th", "", column);
      head.setAttribute("scope", "row");
      line.append(head, make("td", "", value));
      table.append(line);
    }
    box.append(table);
  } else {
    box.append(make("p", "superpac-text", card.text ?? ""));
  }
  box.append(make("figcaption", "", card.name));
  return box;
}

/** @param {{model: Model, el: HTMLElement}} given */
function render({ model, el }) {
  const root = make("section", "superpac-question");
  root.tabIndex = 0;
  root.setAttribute("aria-label", "Question");
  const words = make("h3", "superpac-words", "Preparing…");
  words.setAttribute("aria-live", "polite");
  const cards = make("div", "superpac-cards");
  const acts = make("div", "superpac-acts");
  const told = make("p", "superpac-progress");
  told.setAttribute("role", "status");
  root.append(words, cards, acts, told);
  el.append(root);

  /** @type {Question | null} */
  let question = null;
  let shownAt = 0;
  let waiting = false;
  /** @type {string[]} */
  let addresses = [];
  /** @type {HTMLButtonElement[]} */
  const buttons = [];

  /** @param {object} message */
  function send(message) {
    if (waiting) return;
    waiting = true;
    // a notebook on another machine may come over plain HTTP, where there is no randomUUID
    const drawn = [...crypto.getRandomValues(new Uint32Array(4))];
    model.send({ ...message, key: drawn.map((n) => n.toString(16).padStart(8, "0")).join("") });
  }

  /** @param {string} answer */
  function say(answer) {
    if (!question) return;
    const { i, j, seq } = question;
    send({ kind: "answer", i, j, seq, answer, elapsed_ms: Math.round(performance.now() - shownAt) });
  }

  /** @param {string} text @param {() => void} act */
  function button(text, act) {
    const made = /** @type {HTMLButtonElement} */ (make("button", "superpac-act", text));
    made.type = "button";
    made.addEventListener("click", act);
    buttons.push(made);
    acts.append(made);
  }

  for (const { answer, text } of ANSWERS) button(text, () => say(answer));
  button("Skip (K)", () => question && send({ kind: "skip", i: question.i, j: question.j }));
  button("Undo (Z)", () => send({ kind: "undo" }));

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const key = event.key.toLowerCase();
    const found = ANSWERS.find((one) => one.key === key);
    if (found) say(found.answer);
    else if (key === "k" && question) send({ kind: "skip", i: question.i, j: question.j });
    else if (key === "z") send({ kind: "undo" });
    else return;
    event.preventDefault();
    event.stopPropagation(); // a notebook has keys of its own: D deletes a cell
  }
  root.addEventListener("keydown", pressed);

  /** @param {Reply} reply @param {DataView[]} buffers */
  function heard(reply, buffers) {
    if (reply.kind !== "question") return;
    waiting = false;
    question = reply.question;
    shownAt = performance.now();
    for (const address of addresses) URL.revokeObjectURL(address);
    addresses = [];
    words.textContent = question ? question.question : "Everything is settled.";
    words.title = question ? question.reason : "";
    cards.replaceChildren(...(question ? question.cards.map((card) => draw(card, buffers, addresses)) : []));
    told.textContent = [reply.error, reply.progress].filter(Boolean).join(" ");
    for (const made of buttons) made.disabled = !question && made.textContent !== "Undo (Z)";
    buttons[buttons.length - 1].disabled = !reply.undoable;
  }
  model.on("msg:custom", heard);
  send({ kind: "ask" });
  return () => {
    model.off("msg:custom", heard);
    for (const address of addresses) URL.revokeObjectURL(address);
  };
}

export default { render };
