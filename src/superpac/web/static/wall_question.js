// A wall: items that are believed to be one group, beside one that stands for it; mark those that are not.

import { drawSheet } from "./sheet.js";

/** @typedef {import("./state.js").Question} Question */

/** @param {Question} question */
export function drawWall(question) {
  drawSheet(question, {
    title: "Which of these do not belong?",
    face: "The group is",
    like: "item",
    none: "All belong",
    some: "Take out",
  });
}

/**
 * What a screen reader says of a wall.
 *
 * @param {string} face name of the item that stands for the group
 * @param {number} count
 * @returns {string}
 */
export function spokenWall(face, count) {
  return `${count} items that are believed to be like ${face}: mark those that are not, then press Enter`;
}
