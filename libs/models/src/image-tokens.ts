import { imageSize } from 'image-size';

/** Pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Where the size of an image stands, bytes: behind this no header is looked for. */
const HEAD_BYTES = 256 * 1024;
/** What images are scaled down to, how large their tiles are, pixels, and what each takes beside the first tokens. */
const LONGEST = 2_048;
const SHORTEST = 768;
const TILE = 512;
const TOKENS = { base: 85, tile: 170 };
/** Of an image whose size nobody knows: as many as the largest takes. */
const MOST_TOKENS = 1_445;

/**
 * Tokens that an image takes of a model's window, about, by the rule that OpenAI documents for high detail: it is scaled to within 2048×2048
 * pixels, then to 768 on its shorter side, and each tile of 512×512 takes 170 tokens beside 85 for the image. Other providers count about as
 * many (Anthropic: width × height / 750, at most some 1,600). What was used in the end the provider says.
 */
export const imageTokens = (size: ImageSize | undefined): number => {
  if (size === undefined) return MOST_TOKENS;
  const within = Math.min(1, LONGEST / Math.max(size.width, size.height));
  const [width, height] = [size.width * within, size.height * within];
  const scale = Math.min(1, SHORTEST / Math.min(width, height));
  return TOKENS.base + TOKENS.tile * tilesIn(width * scale) * tilesIn(height * scale);
};

const tilesIn = (pixels: number): number => Math.max(1, Math.ceil(Math.round(pixels) / TILE));

/** How large an image says that it is; undefined where it does not, or is damaged. */
export const imageSizeOf = (data: Uint8Array): ImageSize | undefined => {
  try {
    // A copy: the library reads behind the end of what is a part of a larger buffer.
    const { width, height } = imageSize(new Uint8Array(data.subarray(0, HEAD_BYTES)));
    return width > 0 && height > 0 ? { width, height } : undefined;
  } catch (error) {
    // Thrown for what is no image, and for what ends too early.
    if (error instanceof TypeError || error instanceof RangeError) return undefined;
    throw error;
  }
};
