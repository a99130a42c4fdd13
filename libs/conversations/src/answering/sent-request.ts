import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import type { ChatMessage } from '@app/models';
import { requestTemplate, type RequestTemplate } from '../conversation/provenance.schema';
import type { BranchContext } from './branch-context';
import type { SaidMessage } from './said-message';
import type { TurnMemories } from './turn-memories';

type Reference = Exclude<RequestTemplate[number], string>;

/** Characters of a template as it is kept, at most: a longer request is not kept. */
const MOST_CHARACTERS = 700_000;
/** In front of a question that comes with sources. */
const FENCE = '</sources>\\n\\n';
const [deflated, inflated] = [promisify(deflate), promisify(inflate)];

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A text as it stands within JSON. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The texts that a message has in a request, in their order. */
export const textsOf = ({ shown }: Pick<SaidMessage, 'shown'>): readonly string[] => shown.flatMap(textsIn);

const textsIn = ({ content }: ChatMessage): readonly string[] =>
  content.flatMap((part) => {
    if (part.type === 'text') return [part.text];
    if (part.type === 'tool-call') return [JSON.stringify(part.input ?? {})];
    return part.type === 'tool-result' ? [part.output] : [];
  });

const referencesIn = ({ newestFirst, summary }: BranchContext): readonly { at: Reference; text: string }[] => [
  ...(summary === null ? [] : [{ at: { checkpointId: summary.checkpointId }, text: summary.text }]),
  ...newestFirst.toReversed().flatMap((message) =>
    textsOf(message).map((text, index) => ({
      at: { messageId: message.messageId, ...message.from, text: index },
      text,
    })),
  ),
];

/** Stands for the next memory: JSON writes this character in another way, so nothing that was said is found in it. */
const MARK = '\u0000';

/**
 * A request as it is kept: what was said and what is remembered stand in it by their places, so that what is deleted is in no request.
 * Undefined where some of it is not found, or it is too long.
 */
export const keptRequest = async (
  sent: string,
  context: BranchContext,
  memories: TurnMemories['lines'],
): Promise<{ readonly template: string; readonly hash: string } | undefined> => {
  const remembered = memories
    .map(({ memoryId, line }) => ({ memoryId, written: inJson(line) }))
    .map((each) => ({ ...each, at: sent.indexOf(each.written) }))
    .toSorted((one, other) => one.at - other.at);
  if (remembered.some(({ at }) => at < 0)) return undefined;
  let [body, end] = ['', 0];
  for (const { at, written } of remembered) {
    body += sent.slice(end, at) + MARK;
    end = at + written.length;
  }
  body += sent.slice(end);
  const ids = remembered.map(({ memoryId }) => memoryId).values();
  const withMemories = (text: string): (string | Reference)[] =>
    text
      .split(MARK)
      .flatMap((piece, index) => (index === 0 ? [piece] : [{ memoryId: ids.next().value as string }, piece]));
  const template: (string | Reference)[] = [];
  let from = 0;
  for (const { at, text } of referencesIn(context)) {
    const written = inJson(text);
    const fenced = body.indexOf(FENCE + written, from);
    const found = fenced < 0 ? body.indexOf(written, from) : fenced + FENCE.length;
    if (found < 0) return undefined;
    template.push(...withMemories(body.slice(from, found)), at);
    from = found + written.length;
  }
  template.push(...withMemories(body.slice(from)));
  const packed = (await deflated(JSON.stringify(template))).toString('base64');
  return packed.length > MOST_CHARACTERS ? undefined : { template: packed, hash: hashOf(sent) };
};

/** A kept request byte for byte; undefined where something that it refers to is gone. `textAt` reads what stands at a place. */
export const sentRequest = async (
  { template, hash }: { readonly template: string; readonly hash: string },
  textAt: (reference: Reference) => Promise<string | undefined>,
): Promise<string | undefined> => {
  const unpacked = (await inflated(Buffer.from(template, 'base64'))).toString();
  let body = '';
  for (const piece of requestTemplate.parse(JSON.parse(unpacked))) {
    const text = typeof piece === 'string' ? piece : await textAt(piece);
    if (text === undefined) return undefined;
    body += typeof piece === 'string' ? text : inJson(text);
  }
  return hashOf(body) === hash ? body : undefined;
};
