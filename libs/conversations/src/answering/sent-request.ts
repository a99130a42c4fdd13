import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import type { ChatMessage } from '@app/models';
import { requestTemplate, type RequestTemplate } from '../conversation/provenance.schema';
import type { BranchContext } from './branch-context';
import { type HeldText, inJson, withoutHeld } from './held-texts';
import type { SaidMessage } from './said-message';

type Reference = Exclude<RequestTemplate[number], string>;

/** Most characters of a stored template together with its answer: a longer request is not stored. */
const MOST_CHARACTERS = 700_000;
/** In front of the last question, where it comes with sources. */
const FENCE = '</sources>\\n\\n';
const [deflated, inflated] = [promisify(deflate), promisify(inflate)];

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The texts of a message in a request, in their order; those of the `loaded` Skills are elsewhere. */
export const textsOf = (message: Pick<SaidMessage, 'shownWith'>, loaded: Iterable<string> = []): readonly string[] =>
  message.shownWith(undefined, new Map([...loaded].map((skillId) => [skillId, '']))).flatMap(textsIn);

const textsIn = ({ content }: ChatMessage): readonly string[] =>
  content.flatMap((part) => {
    if (part.type === 'text') return [part.text];
    if (part.type === 'tool-call') return [JSON.stringify(part.input ?? {})];
    return part.type === 'tool-result' ? [part.output] : [];
  });

const referencesIn = (
  { newestFirst, summary }: BranchContext,
  loaded: readonly string[],
): readonly { at: Reference; text: string }[] => [
  ...(summary === null ? [] : [{ at: { checkpointId: summary.checkpointId }, text: summary.text }]),
  ...newestFirst.toReversed().flatMap((message) =>
    textsOf(message, loaded).map((text, index) => ({
      at: { messageId: message.messageId, ...message.from, text: index },
      text,
    })),
  ),
];

/**
 * A request for storage: messages, memories and Skill texts are replaced by their places, so deleted content is in no
 * request. `loaded`: ids of the Skills whose instructions it holds; `beside`: bytes of the answer. Undefined if a text
 * is not found, or if it is too long.
 */
export const keptRequest = async (
  sent: string,
  context: BranchContext,
  held: readonly HeldText[],
  loaded: readonly string[] = [],
  beside = 0,
): Promise<{ readonly template: string; readonly hash: string } | undefined> => {
  const rest = withoutHeld(sent, held);
  if (rest === undefined) return undefined;
  const { body, fill } = rest;
  const template: (string | Reference)[] = [];
  let from = 0;
  const asked = context.newestFirst[0]?.messageId;
  for (const { at, text } of referencesIn(context, loaded)) {
    const written = inJson(text);
    // An earlier question may read as the last one begins, and has no sources any more.
    const isAsked = 'messageId' in at && at.messageId === asked;
    const fenced = isAsked ? body.indexOf(FENCE + written, from) : -1;
    const found = fenced < 0 ? body.indexOf(written, from) : fenced + FENCE.length;
    if (found < 0) return undefined;
    template.push(...fill(body.slice(from, found)), at);
    from = found + written.length;
  }
  template.push(...fill(body.slice(from)));
  const packed = (await deflated(JSON.stringify(template))).toString('base64');
  return packed.length + beside > MOST_CHARACTERS ? undefined : { template: packed, hash: hashOf(sent) };
};

/**
 * A stored request byte for byte; undefined if a part of it is gone. `textAt` reads the text at a place, and is called
 * for all of them.
 */
export const sentRequest = async (
  { template, hash }: { readonly template: string; readonly hash: string },
  textAt: (reference: Reference) => Promise<string | undefined>,
): Promise<string | undefined> => {
  const pieces: (string | undefined)[] = [];
  for (const piece of await templateIn(template)) {
    const text = typeof piece === 'string' ? piece : await textAt(piece);
    pieces.push(typeof piece === 'string' || text === undefined ? text : inJson(text));
  }
  const body = pieces.includes(undefined) ? undefined : pieces.join('');
  return body !== undefined && hashOf(body) === hash ? body : undefined;
};

/** The Skills that a kept request refers to, and of these the ones whose instructions it holds. */
export const skillsOf = async (template: string): Promise<Record<'all' | 'loaded', ReadonlySet<string>>> => {
  const places = (await templateIn(template)).flatMap((piece) =>
    typeof piece === 'object' && 'skillId' in piece ? [piece] : [],
  );
  return {
    all: new Set(places.map(({ skillId }) => skillId)),
    loaded: new Set(places.filter(({ of }) => of === 'loaded').map(({ skillId }) => skillId)),
  };
};

const templateIn = async (packed: string): Promise<RequestTemplate> =>
  requestTemplate.parse(JSON.parse((await inflated(Buffer.from(packed, 'base64'))).toString()));
