import { messageTokens } from './chat-tokens';
import { fileTokens } from './file-tokens';

it.each([
  ['text/plain', 400_000, 100_000, 400_000],
  ['application/json', 400_000, 100_000, 400_000],
  ['application/ld+json', 400_000, 100_000, 400_000],
  ['audio/mpeg', 16_000_000, 32_000, 800_000],
  ['video/mp4', 16_000_000, 32_000, 800_000],
  ['application/pdf', 2_000_000, 20_000, 1_000_000],
  ['application/pdf', 10, 1_000, 1_000],
  ['', 10, 1_000, 1_000],
])('a file of the type %j with %d bytes takes about %d tokens, and at most %d', (mediaType, bytes, counted, most) =>
  expect(fileTokens(mediaType, bytes)).toEqual({ counted, most }),
);

it('a file in a message is counted by its size', () =>
  expect(
    messageTokens({
      role: 'user',
      content: [
        { type: 'text', text: 'four' },
        { type: 'file', mediaType: 'application/pdf', data: new Uint8Array(2_000_000) },
      ],
    }),
  ).toEqual({ counted: 20_001, most: 1_000_004 }));
