import { until } from '../fixtures/until';
import { ADMIN_KEY, startTestPlatform } from './harness';

export const HANDBOOK = `# Handbook

## Keys

Every document is encrypted under a data key of its own. The vault keeps each data key wrapped under VAULT_KEY.

## Backups

Backups are taken every night at two o'clock. They never contain the keys.
`;

export interface Document {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly revision: number;
  readonly indexedRevision: number | null;
  readonly chunkCount: number;
  readonly statusDetail?: { readonly code: string };
}
export interface SourcePart {
  readonly type: string;
  readonly text?: string;
  readonly documentId: string;
  readonly documentRevision: number;
  readonly title: string;
  readonly quote: string;
  readonly position: { readonly start: number; readonly end: number; readonly heading?: string };
}
export interface Turn {
  readonly conversationId: string;
  readonly message: { readonly id: string; readonly status: string; readonly parts: readonly SourcePart[] };
  readonly usage: { readonly totalTokens: number; readonly cost: string };
}

export const at = (path: string): string => `/api/v1/core${path}`;

export type Guide = Awaited<ReturnType<typeof startGuide>>;

/** The whole product with an Agent that knows the handbook once it is added. */
export const startGuide = async () => {
  const platform = await startTestPlatform({ listen: true });

  const newAgent = async (name: string, key = ADMIN_KEY): Promise<string> => {
    const space = await platform.call<{ id: string }>(at('/spaces'), {
      method: 'POST',
      key,
      body: { name: `Space of ${name}` },
    });
    return (
      await platform.call<{ id: string }>(at('/agents'), {
        method: 'POST',
        key,
        body: { spaceId: space.body.id, name, knowledgeEnabled: true },
      })
    ).body.id;
  };
  const agentId = await newAgent('Guide');
  const documentsPath = at(`/knowledge/${agentId}/documents`);

  /** Waits until a document can be searched or has failed. */
  const ready = async (documentId: string, agent = agentId): Promise<Document> => {
    let document: Document | undefined;
    await until(async () => {
      document = (await platform.call<Document>(at(`/knowledge/${agent}/documents/${documentId}`))).body;
      return document.status === 'Ready' || document.status === 'Failed';
    }, 'the end of ingestion');
    return document as Document;
  };

  const addHandbook = async (): Promise<Document> => {
    const added = await platform.call<Document>(documentsPath, {
      method: 'POST',
      body: { name: 'handbook.md', content: HANDBOOK, mimeType: 'text/markdown' },
    });
    expect(added.status).toBe(202);
    // The view may be ahead of the answer.
    expect(['Pending', 'Processing', 'Ready']).toContain(added.body.status);
    return ready(added.body.id);
  };

  const ask = (message: unknown, rest: object = {}, agent = agentId, key = ADMIN_KEY) =>
    platform.call<Turn>(at(`/llm/${agent}/conversation`), { method: 'POST', key, body: { message, ...rest } });

  return { platform, agentId, documentsPath, newAgent, ready, addHandbook, ask };
};
