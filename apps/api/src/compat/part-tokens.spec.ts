import { partSize } from './part-tokens';

const base64 = (bytes: number): string => 'A'.repeat((bytes * 4) / 3);
const file = (data: string): object => ({ type: 'file', file: { filename: 'f', file_data: data } });

it.each<[string, object, ReturnType<typeof partSize>]>([
  ['text', { type: 'text', text: 'four' }, { counted: 0, most: 0, bytes: 4 }],
  [
    'text that looks like a file',
    { type: 'text', text: `data:image/png;base64,${base64(3_000)}` },
    { counted: 0, most: 0, bytes: 4_022 },
  ],
  [
    'a picture',
    { type: 'image_url', image_url: { url: `data:image/png;base64,${base64(3_000_000)}` } },
    { counted: 1_000, most: 1_000, bytes: 0 },
  ],
  [
    'a picture of another form',
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64(3_000_000) } },
    { counted: 1_000, most: 1_000, bytes: 9 },
  ],
  [
    'a picture elsewhere',
    { type: 'image_url', image_url: { url: 'https://example.com/' } },
    { counted: 1_000, most: 1_000, bytes: 20 },
  ],
  ['a file', file(`data:application/pdf;base64,${base64(3_000_000)}`), { counted: 30_000, most: 1_500_000, bytes: 1 }],
  ['a small file', file('data:application/pdf;base64,AAAA'), { counted: 1_000, most: 1_000, bytes: 1 }],
  ['a file of words', file(`data:text/plain;base64,${base64(30_000)}`), { counted: 7_500, most: 30_000, bytes: 1 }],
  ['words in an address', file(`data:text/plain,${'x'.repeat(30_000)}`), { counted: 7_500, most: 30_000, bytes: 1 }],
  [
    'sound',
    { type: 'input_audio', input_audio: { format: 'wav', data: base64(3_000_000) } },
    { counted: 6_000, most: 150_000, bytes: 3 },
  ],
  [
    'words at some depth',
    { type: 'tool_result', content: [{ type: 'text', text: 'x'.repeat(8_000) }] },
    { counted: 1_000, most: 1_000, bytes: 8_000 },
  ],
  [
    'words where a file might be',
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x'.repeat(8_000) } },
    { counted: 1_000, most: 1_000, bytes: 8_010 },
  ],
])('%s is measured by what it holds', (_, part, size) => expect(partSize({ ...part })).toEqual(size));
