// Colours of clusters, the same on the walls and on the map; told apart with all common kinds of colour vision.

const COLOURS = [
  "#0072B2",
  "#E69F00",
  "#009E73",
  "#D55E00",
  "#CC79A7",
  "#56B4E9",
  "#B8A800",
  "#777777",
  "#9A5CC4",
  "#A0685B",
];

/**
 * @param {number} cluster
 * @returns {string}
 */
export function colour(cluster) {
  return COLOURS[cluster % COLOURS.length];
}
