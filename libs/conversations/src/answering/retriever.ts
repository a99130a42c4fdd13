/** A passage of a document that may answer. */
export interface RetrievedPassage {
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
  readonly page?: number;
}

/** Where an answering Agent finds what it knows; implemented by the Knowledge context. */
export interface Retriever {
  retrieve(agent: { readonly agentId: string; readonly spaceId: string }, question: string, signal: AbortSignal): Promise<readonly RetrievedPassage[]>;
}
