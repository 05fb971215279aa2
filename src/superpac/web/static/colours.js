// Colours of clusters, the same on the walls and on the map. The first ten are told apart with all common kinds of
// colour vision; further ones turn by the golden angle and change in lightness, so that neighbours in number never
// look alike. Names stand beside them everywhere, so colour is not the only mark.

const FIRST = [
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
const GOLDEN = 137.508;
const LIGHTNESS = [45, 62, 36, 54];

/**
 * @param {number} cluster
 * @returns {string}
 */
export function colour(cluster) {
  if (cluster < FIRST.length) return FIRST[Math.max(cluster, 0)];
  const hue = (cluster * GOLDEN) % 360;
  return `hsl(${hue.toFixed(1)} ${cluster % 2 ? 75 : 55}% ${LIGHTNESS[cluster % LIGHTNESS.length]}%)`;
}
