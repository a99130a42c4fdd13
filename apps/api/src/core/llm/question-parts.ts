import type { GivenPart, TextPart } from '@app/conversations';
import { reject } from '@app/kernel';
import type { z } from 'zod';
import { fileIdIn, type newTurn } from './conversations-schemas';
import { dataOf, invalidField } from './generation-request';

type Message = z.output<typeof newTurn>['message'];
type SentPart = Extract<Message, object>['parts'][number];

/** What a data URL says that it is. */
const DECLARED = /^data:([^,]{0,200});base64,/i;

/** The parts of a question as they were sent, with the bytes of data URLs. */
export const givenParts = (message: Message): readonly GivenPart[] =>
  typeof message === 'string'
    ? [{ type: 'text', text: message }]
    : message.parts.map((part, index) => (part.type === 'text' ? part : fileOf(part, `message.parts[${index}]`)));

/** Of a question that stays in memory: a file would be stored. Rejects `unsupported_parameter`. */
export const textsAlone = (given: readonly GivenPart[]): readonly TextPart[] =>
  given.map((part) =>
    part.type === 'text' ? part : reject('unsupported_parameter', { path: part.path, reason: 'incognito_file' }),
  );

const fileOf = (
  { fileId, url, mediaType, filename }: Extract<SentPart, { type: 'file' }>,
  path: string,
): Exclude<GivenPart, TextPart> => {
  const named = url === undefined ? fileId : fileIdIn(url);
  if (named !== undefined && (fileId ?? named) === named) return { type: 'file', path, fileId: named };
  if (fileId !== undefined || url === undefined) throw invalidField(path, 'Must have either fileId or url.');
  if (mediaType === undefined) throw invalidField(`${path}.mediaType`, 'Must say what the file is.');
  // Browsers give no type to files that they do not know; the URL may still name one.
  const body = dataOf(url, mediaType === '' ? (DECLARED.exec(url)?.[1] ?? '') : mediaType);
  if (body === undefined) throw invalidField(`${path}.url`, `Must be a data URL such as data:${mediaType};base64,…`);
  return { type: 'file', path, mediaType, filename: filename ?? 'attachment', body };
};
