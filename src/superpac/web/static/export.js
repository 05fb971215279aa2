// The files in which clusters and answers can be taken along.

import { byId, make } from "./dom.js";
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

/** List the formats that this session can be exported to. */
export function showExport() {
  const { formats, kind } = session();
  const fitting = formats.filter((name) => name !== "coco" || kind === "image");
  const lines = fitting.map((name) => {
    const [title, words] = FORMATS[name] || [name, ""];
    const texts = [make("b", { text: title }), make("span", { cls: "muted", text: words })];
    return make("li", {}, make("a", { href: `/api/export/${name}`, download: true }, ...texts));
  });
  byId("formats").replaceChildren(...lines);
}
