// The files in which clusters and answers can be taken along.

import { byId, make } from "./dom.js";
import { complain, Refused } from "./errors.js";
import { say } from "./messages.js";
import { session } from "./state.js";

/** @type {Record<string, [string, string]>} */
const FORMATS = {
  csv: ["CSV", "Item, cluster, name; opens in any spreadsheet."],
  parquet: ["Parquet", "The same table with exact values."],
  jsonl: ["JSON lines", "The same table, one object per line."],
  answers: ["Answers", "Every standing answer with who, when and how long."],
  links: ["Must-link, cannot-link", "Pairs by item number, as JSON."],
  coco: ["COCO-style JSON", "Images, categories, annotations."],
  folders: ["One folder per cluster", "A zip with copies of the items."],
  archive: ["Session archive", "Everything; superpac import reads it elsewhere."],
};

const KEPT_MS = 60_000;
const LARGE = ["folders", "archive"]; // may be too large to be held here: the browser takes them by itself

/**
 * Fetch a file and hand it to the browser; the link is busy meanwhile and says so.
 *
 * @param {Event} event
 * @param {HTMLAnchorElement} link
 */
async function take(event, link) {
  event.preventDefault();
  if (link.getAttribute("aria-busy") === "true") return;
  const words = make("small", { cls: "muted", text: "Being written…" });
  link.setAttribute("aria-busy", "true");
  link.append(words);
  say("The file is being written.");
  try {
    const reply = await fetch(link.href, { credentials: "same-origin" });
    if (!reply.ok) throw new Refused(reply.status, await reply.json().catch(() => ({})));
    const name = /filename="([^"]+)"/.exec(reply.headers.get("content-disposition") ?? "")?.[1] ?? "clusters";
    const address = URL.createObjectURL(await reply.blob());
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
    say(`${name} is ready.`);
  } catch (error) {
    complain(error);
  } finally {
    link.removeAttribute("aria-busy");
    words.remove();
  }
}

/** List the formats that this session can be exported to. */
export function showExport() {
  const { formats, kind } = session();
  const fitting = formats.filter((name) => name !== "coco" || kind === "image");
  const lines = fitting.map((name) => {
    const [title, words] = FORMATS[name] || [name, ""];
    const texts = [make("b", { text: title }), make("span", { cls: "muted", text: words })];
    const link = make("a", { href: `/api/export/${name}`, download: true }, ...texts);
    if (!LARGE.includes(name)) link.addEventListener("click", (event) => take(event, link));
    return make("li", {}, link);
  });
  byId("formats").replaceChildren(...lines);
}
