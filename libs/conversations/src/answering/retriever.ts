import type { Place } from '@app/kernel';

/** A piece of a document that a citation may name. */
interface RetrievedChunk {
  readonly chunkId: string;
  readonly text: string;
  /** Character offsets in the document's extracted text. */
  readonly start: number;
  readonly end: number;
}

/** A passage of a document that may answer, with its place in the file. */
export interface RetrievedPassage extends Place {
  readonly documentId: string;
  readonly documentName: string;
  readonly documentRevision: number;
  readonly mediaType: string;
  readonly chunkId: string;
  readonly text: string;
  /** Headings above it, outermost first. */
  readonly headings: readonly string[];
  /** Character offsets in the document's extracted text. */
  readonly start: number;
  readonly end: number;
  /** The chunks that it is made of, in order. */
  readonly chunks: readonly RetrievedChunk[];
}

/** Best first, and which models did not answer, so that it was searched without them. */
export interface Retrieved {
  readonly passages: readonly RetrievedPassage[];
  readonly degraded: readonly ('vector' | 'rerank')[];
}

/** The user and the key of an answer: they outlive the request of their caller. */
export interface Requester {
  readonly userId: string;
  /** The API key, if one was used. */
  readonly keyId?: string;
}

/** How an answer asks; `holds`: nothing is held for the answer, so its search must. */
export interface Asking extends Requester {
  readonly signal: AbortSignal;
  readonly holds: boolean;
}

/** Injection token of the `Retriever`. */
export const RETRIEVER = Symbol('Retriever');

/** Where an answering Agent finds what it knows. */
export interface Retriever {
  retrieve(
    agent: { readonly agentId: string; readonly spaceId: string },
    question: string,
    asking: Asking,
  ): Promise<Retrieved>;
}
