// A text as text, with the words marked that the one it is compared with does not have.

import { make } from "./dom.js";

/** @typedef {import("./state.js").Shown} Shown */
/** @typedef {{ text: string, word: string }} Piece a word, or what stands between words, whose `word` is empty */

const MOST = 250_000; // pairs of words that are compared in their order; longer texts without it
const ALIKE = 0.25; // share of the words from which on two texts are worth comparing word by word
const LONG = 240; // letters from which on they are smaller

// knows where words end in every script, spaces or not
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/**
 * @param {string} text
 * @returns {Piece[]}
 */
function pieces(text) {
  return Array.from(segmenter.segment(text), ({ segment, isWordLike }) => ({
    text: segment,
    word: isWordLike ? segment.toLocaleLowerCase() : "",
  }));
}

/**
 * Words of the first list that stand in the second in the same order, as many as there can be.
 *
 * @param {string[]} first
 * @param {string[]} second
 * @returns {Set<number>} their places in the first list
 */
function shared(first, second) {
  if (first.length * second.length > MOST) {
    const there = new Set(second);
    return new Set([...first.keys()].filter((n) => there.has(first[n])));
  }
  const width = second.length + 1;
  const longest = new Uint16Array((first.length + 1) * width); // from each pair of places to the ends
  for (let a = first.length - 1; a >= 0; a -= 1) {
    for (let b = second.length - 1; b >= 0; b -= 1) {
      const at = a * width + b;
      longest[at] =
        first[a] === second[b] ? longest[at + width + 1] + 1 : Math.max(longest[at + width], longest[at + 1]);
    }
  }
  const found = new Set();
  for (let a = 0, b = 0; a < first.length && b < second.length; ) {
    if (first[a] === second[b]) {
      found.add(a);
      a += 1;
      b += 1;
    } else if (longest[(a + 1) * width + b] >= longest[a * width + b + 1]) a += 1;
    else b += 1;
  }
  return found;
}

/**
 * Pieces of a text in runs, each of which is marked or not. Texts with hardly a common word are not marked at all:
 * nothing would stand out.
 *
 * @param {string} text
 * @param {string} other
 * @returns {{ text: string, marked: boolean }[]}
 */
function runs(text, other) {
  const own = pieces(text);
  const words = own.map((piece) => piece.word).filter(Boolean);
  const theirs = pieces(other).flatMap((piece) => piece.word || []);
  const common = shared(words, theirs);
  if (common.size < ALIKE * Math.min(words.length, theirs.length)) return [{ text, marked: false }];
  /** @type {{ text: string, marked: boolean }[]} */
  const found = [];
  let between = "";
  let n = 0;
  for (const piece of own) {
    if (!piece.word) {
      between += piece.text;
      continue;
    }
    const marked = !common.has(n);
    n += 1;
    const last = found.at(-1);
    if (last?.marked && marked) last.text += between + piece.text;
    else {
      if (between) found.push({ text: between, marked: false });
      found.push({ text: piece.text, marked });
    }
    between = "";
  }
  if (between) found.push({ text: between, marked: false });
  return found;
}

/**
 * Words of an item; those that the other does not have are underlined and tinted.
 *
 * @param {Shown} card
 * @param {Shown} [other]
 * @returns {HTMLElement}
 */
export function words(card, other) {
  const parts = other ? runs(card.text, other.text) : [{ text: card.text, marked: false }];
  const nodes = parts.map(({ text, marked }) => (marked ? make("mark", { text }) : text));
  const cls = `words${card.text.length > LONG ? " long" : ""}`;
  return make("div", { cls, dir: "auto" }, make("p", {}, ...nodes));
}
