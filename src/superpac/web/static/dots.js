// Squares drawn pixel by pixel, for a map of very many items: a canvas takes several times as long for as many calls.

/** Pixels of a canvas, and small squares in them. */
export class Dots {
  /**
   * @param {number} width of the canvas, in its own pixels
   * @param {number} height
   */
  constructor(width, height) {
    this.image = new ImageData(width, height);
    this.width = width;
    this.height = height;
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  /**
   * Draw a square; what is below it shows through a little, so that one sees where colours mix.
   *
   * @param {number} x of its middle
   * @param {number} y
   * @param {number} half of a side
   * @param {number} colour as `packed` gives it
   */
  square(x, y, half, colour) {
    const left = Math.max(0, Math.round(x - half));
    const right = Math.min(this.width, Math.round(x + half));
    const bottom = Math.min(this.height, Math.round(y + half));
    const fresh = ((colour >>> 1) & 0x7f7f7f7f) + ((colour >>> 2) & 0x3f3f3f3f); // three quarters of it
    for (let row = Math.max(0, Math.round(y - half)); row < bottom; row += 1) {
      const end = row * this.width + right;
      for (let at = row * this.width + left; at < end; at += 1) {
        const below = this.pixels[at];
        this.pixels[at] = below === 0 ? colour : (fresh + ((below >>> 2) & 0x3f3f3f3f)) | 0xff000000;
      }
    }
  }
}

/**
 * A colour as its bytes lie in an image: red, green, blue and how opaque it is.
 *
 * @param {CanvasRenderingContext2D} pen which reads colours as style sheets write them
 * @param {string} colour
 * @param {number} opaque from 0 to 1
 * @returns {number}
 */
export function packed(pen, colour, opaque) {
  pen.fillStyle = colour;
  const value = parseInt(String(pen.fillStyle).slice(1), 16); // such as #0072b2
  const bytes = new Uint8Array([value >> 16, (value >> 8) & 255, value & 255, Math.round(255 * opaque)]);
  return new Uint32Array(bytes.buffer)[0];
}
