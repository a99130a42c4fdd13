import { type CountedTokens, fileTokens } from '@app/models';
import { type Fields, isFields } from './checks';

/** Tokens of a picture, and of what a provider fetches, about. */
const PER_ATTACHMENT = 1_000;
const DATA_URL = /^data:([^;,]{0,100})([^,]{0,200}),/i;

/** What a part of a message takes: tokens of its files, and the bytes of its words. */
export interface PartSize extends CountedTokens {
  readonly bytes: number;
}

/** A text says what it says; of other parts, what is no file at any depth is words to some model. */
export const partSize = (part: Fields): PartSize => {
  const sum = { counted: 0, most: 0, bytes: 0 };
  const isText = part['type'] === 'text' || part['type'] === 'refusal';
  measure(part, (text, holder) => {
    const file = isText ? undefined : fileIn(text, holder);
    if (file === undefined) sum.bytes += Buffer.byteLength(text);
    else if (!file.type.startsWith('image/')) {
      const { counted, most } = fileTokens(file.type, file.bytes);
      sum.counted += counted;
      sum.most += most;
    }
  });
  return isText
    ? sum
    : { ...sum, counted: Math.max(PER_ATTACHMENT, sum.counted), most: Math.max(PER_ATTACHMENT, sum.most) };
};

/** Bodies are at most 64 levels deep. */
const measure = (value: unknown, see: (text: string, holder: Fields) => void, holder: Fields = {}): void => {
  if (typeof value === 'string') see(value, holder);
  else if (Array.isArray(value)) for (const one of value) measure(one, see, holder);
  else if (isFields(value))
    for (const name of Object.keys(value)) if (name !== 'type') measure(value[name], see, value);
};

/** A data URL, or what is said beside it to be base64 or the format of a sound. */
const fileIn = (text: string, holder: Fields): { readonly type: string; readonly bytes: number } | undefined => {
  const url = DATA_URL.exec(text);
  if (url !== null) {
    const [head, type = '', rest = ''] = url;
    return { type, bytes: bytesOf(text.length - head.length, /;base64$/i.test(rest)) };
  }
  if (text !== holder['data']) return undefined;
  if (typeof holder['format'] === 'string') return { type: `audio/${holder['format']}`, bytes: bytesOf(text.length) };
  if (holder['type'] !== 'base64') return undefined;
  return { type: String(holder['media_type'] ?? ''), bytes: bytesOf(text.length) };
};

const bytesOf = (length: number, isBase64 = true): number => (isBase64 ? Math.ceil((length * 3) / 4) : length);
