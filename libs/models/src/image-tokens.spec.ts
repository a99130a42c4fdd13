import { messageTokens, requestTokens } from './chat-tokens';
import type { ModelDescription } from './catalogue';
import { imageSizeOf, imageTokens } from './image-tokens';
import { jpegOf, pngOf, webpOf } from '../../../test/fixtures/images';

describe('tokens of an image', () => {
  // As OpenAI's guide to vision counts them.
  it.each([
    [1_024, 1_024, 765],
    [2_048, 4_096, 1_105],
    [1, 1, 255],
    [512, 512, 255],
    [20_000, 10, 85 + 170 * 4],
    [65_535, 24_576, 1_445],
  ])('of %i × %i pixels are %i', (width, height, tokens) => expect(imageTokens({ width, height })).toBe(tokens));

  it('are as many as the largest has where it does not say its size', () => expect(imageTokens(undefined)).toBe(1_445));

  it.each([
    ['PNG', pngOf(640, 480)],
    ['JPEG', jpegOf(640, 480)],
    ['WebP', webpOf(640, 480)],
    ['GIF', Buffer.from('GIF89a\x80\x02\xe0\x01\0\0\0', 'latin1')],
  ])('are counted by the size that a %s says', (_, image) =>
    expect(imageSizeOf(new Uint8Array(image))).toEqual({ width: 640, height: 480 }),
  );

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a beginning alone', pngOf(640, 480).subarray(0, 18)],
    ['no size', Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(20 * 1024 ** 2)])],
    ['pixels nowhere', pngOf(0, 0)],
    ['something else', Buffer.from('# Words')],
  ])('read no size in %s, and soon', (_, image) => {
    // The least of three: others may run meanwhile.
    const took = [1, 2, 3].map(() => {
      const startedAt = performance.now();
      expect(imageSizeOf(image)).toBeUndefined();
      return performance.now() - startedAt;
    });
    expect(Math.min(...took)).toBeLessThan(1_000);
  });

  it('count in a message, and in a request to a model that sees', () => {
    const image = { type: 'file' as const, mediaType: 'image/png', data: pngOf(1_024, 1_024), filename: 'a.png' };
    const messages = [{ role: 'user' as const, content: [image] }];
    expect(messageTokens(messages[0] as (typeof messages)[number])).toEqual({ counted: 765, most: 765 });
    const tokens = (tags: readonly string[]) =>
      requestTokens({ system: '', messages, sources: [] }, { tags } as ModelDescription).counted;
    expect(tokens(['vision'])).toBe(765);
    expect(tokens([])).toBeLessThan(50);
  });
});
