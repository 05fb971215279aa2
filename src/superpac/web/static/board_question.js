// A board: groups that may be one with the first; mark those that are.

import { drawSheet } from "./sheet.js";

/** @typedef {import("./state.js").Question} Question */

/** @param {Question} question */
export function drawBoard(question) {
  drawSheet(question, {
    title: "Which of these are the same as the first?",
    face: "The first group",
    like: "group of item",
    none: "None is the same",
    some: "The same:",
  });
}

/**
 * What a screen reader says of a board.
 *
 * @param {string} face name of the item that stands for the first group
 * @param {number} count
 * @returns {string}
 */
export function spokenBoard(face, count) {
  return `${count} groups that may be one with that of ${face}: mark those that are, then press Enter`;
}
