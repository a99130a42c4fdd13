import { sensitive, textSchema } from '@app/kernel';
import { z } from 'zod';
import { invocation } from './checkpoint.events';

const id = z.uuid();
const count = z.number().int().nonnegative();
const sampling = z.strictObject({
  temperature: z.number().exactOptional(),
  topP: z.number().exactOptional(),
  topK: z.number().exactOptional(),
});

/** What a document says, kept elsewhere: encrypted under the data key of the document, base64url. */
export const copiedText = z.strictObject({ documentId: id, copy: z.string() });
export type CopiedText = z.output<typeof copiedText>;

/**
 * The request to a provider, without what stands elsewhere: JSON of texts, of places of messages, summaries, memories and
 * Skills, and of copies of what documents say, in their order. So a deleted message, memory, Skill or document is in no request either.
 */
export const requestTemplate = z.array(
  z.union([
    z.string(),
    z.strictObject({ messageId: id, part: count, offset: count, text: count }),
    z.strictObject({ checkpointId: id }),
    z.strictObject({ memoryId: z.string() }),
    copiedText,
    z.strictObject({
      skillId: z.string(),
      versionId: z.string(),
      /** Its slug, its line in the catalogue, what `load_skill` gave, or what was read or found in its files. */
      of: z.union([
        z.enum(['name', 'line', 'loaded']),
        z.strictObject({ path: z.string() }),
        z.strictObject({ query: z.string() }),
      ]),
    }),
  ]),
);
export type RequestTemplate = z.output<typeof requestTemplate>;

/** A version of a Skill. */
const skillVersion = { skillId: z.string(), versionId: z.string(), contentHash: z.string() };
/** A memory as it was applied: its text stands with the memory alone. */
const memoryReference = z.strictObject({
  memoryId: z.string(),
  revision: count,
  kind: z.enum(['personal', 'shared']),
  rank: count,
  tokens: count,
});
const memoryState = z.enum(['applied', 'off', 'unavailable']);

/** The Skills and memories that a turn began with. */
export const turnBegun = z.strictObject({
  /** Absent where they could not be read. */
  skills: z.array(z.strictObject(skillVersion)).exactOptional(),
  memories: z.array(memoryReference),
  memoryState,
});
export type TurnBegun = z.output<typeof turnBegun>;
export type SkillVersion = NonNullable<TurnBegun['skills']>[number];
export type MemoryReference = z.output<typeof memoryReference>;

/** What an answer was made from, as it was then. Sampling controls are those that were on. */
export const provenance = z.strictObject({
  agentRevision: count,
  prompt: z.strictObject({ revision: count, hash: z.string() }),
  priceVersion: z.string().nullable(),
  sampling,
  /** The chunks that the model was given, best first. */
  chunks: z.array(
    z.strictObject({ documentId: id, documentRevision: count, chunkId: z.string(), hash: z.string(), rank: count }),
  ),
  checkpointId: id.nullable(),
  /** Earlier messages were left out that no summary holds. */
  isCut: z.literal(true).exactOptional(),
  invocations: z.array(invocation),
  /** Skills that were loaded, in this answer or before it, with the reference files that were read. Absent in earlier versions, and where Skills could not be read. */
  skills: z
    .array(
      z.strictObject({
        ...skillVersion,
        files: z.array(z.strictObject({ path: sensitive(textSchema(1_000)), sha256: z.string() })),
      }),
    )
    .exactOptional(),
  /** Memories that were applied. These two are absent in earlier versions, which had none. */
  memories: z.array(memoryReference).exactOptional(),
  memoryState: memoryState.exactOptional(),
  /** The last request of the answer: a `RequestTemplate` with zlib, base64; SHA-256 of its body, hex. */
  request: z.strictObject({ template: sensitive(textSchema(1_000_000)), hash: z.string() }).exactOptional(),
});
export type Provenance = z.output<typeof provenance>;

/** What an answer that waits was made from until then. */
export const provenanceUntilNow = provenance.omit({ request: true });
export type ProvenanceUntilNow = z.output<typeof provenanceUntilNow>;
