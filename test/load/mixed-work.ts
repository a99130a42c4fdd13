export const AGENTS = 12;
/** Documents that an Agent has at most: above that a client deletes one for each it adds. */
const MOST_DOCUMENTS = 40;
const WORDS =
  'ferry harbour backup key nightly passage invoice ledger winter timetable pilot engine crew cargo tide lantern signal permit quay crane'.split(
    ' ',
  );

let number = 0;
const word = (): string => WORDS[Math.floor(Math.random() * WORDS.length)] as string;
export const words = (count: number): string => Array.from({ length: count }, word).join(' ');
export const any = <T>(of: readonly T[]): T | undefined => of[Math.floor(Math.random() * of.length)];

export interface Known {
  readonly spaceId: string;
  readonly agentId: string;
  readonly conversations: string[];
  readonly documents: string[];
}

export type Call = (
  method: string,
  path: string,
  body?: object,
) => Promise<{ readonly status: number; readonly text: string }>;

/** One kind of work and how often it comes. */
interface Kind {
  readonly share: number;
  readonly run: (call: Call, known: Known) => Promise<void>;
}

export const CORE = '/api/v1/core';
const GATEWAY = '/api/compat/v1';
export const idOf = (text: string): string => (JSON.parse(text) as { id: string }).id;
const messages = (): object[] => [{ role: 'user', content: words(60) }];

/** Conversations that a client asks for at the moment, by id. */
const inUse = new Map<string, number>();

/** Asks for one of the conversations, if there is one; no other client deletes it meanwhile. */
const withConversation = async ({ conversations }: Known, work: (id: string) => Promise<unknown>): Promise<void> => {
  const id = any(conversations);
  if (id === undefined) return;
  inUse.set(id, (inUse.get(id) ?? 0) + 1);
  try {
    await work(id);
  } finally {
    const left = (inUse.get(id) ?? 1) - 1;
    if (left === 0) inUse.delete(id);
    else inUse.set(id, left);
  }
};

/** Takes a conversation that nobody asks for from those that are known, where there are enough. */
const takeIdleConversation = ({ conversations }: Known): string | undefined => {
  const index = conversations.length > 10 ? conversations.findIndex((id) => !inUse.has(id)) : -1;
  return index < 0 ? undefined : conversations.splice(index, 1)[0];
};

const ask = async (call: Call, known: Known, body: object): Promise<void> => {
  const { text } = await call('POST', `${CORE}/llm/${known.agentId}/conversation`, {
    message: `When does the ${word()} ${word()} leave ${++number}?`,
    ...body,
  });
  const id = /"conversationId":"([^"]+)"/.exec(text)?.[1];
  if (id !== undefined && !known.conversations.includes(id)) known.conversations.push(id);
};

const kinds: readonly Kind[] = [
  { share: 10, run: (call, known) => ask(call, known, {}) },
  {
    share: 8,
    run: (call, known) => withConversation(known, (conversationId) => ask(call, known, { conversationId })),
  },
  { share: 6, run: (call, known) => ask(call, known, { stream: true }) },
  {
    share: 8,
    run: async (call, { agentId }) =>
      void (await call('POST', `${CORE}/knowledge/${agentId}/search`, { query: words(4) })),
  },
  {
    share: 3,
    run: async (call, { agentId, documents }) => {
      documents.push(
        idOf(
          (
            await call('POST', `${CORE}/knowledge/${agentId}/documents`, {
              name: `notes-${++number}.md`,
              mimeType: 'text/markdown',
              content: `# ${words(3)}\n\n${Array.from({ length: 8 }, () => `${words(60)}.`).join('\n\n')}`,
            })
          ).text,
        ),
      );
      if (documents.length > MOST_DOCUMENTS)
        await call('DELETE', `${CORE}/knowledge/${agentId}/documents/${documents.shift()}`);
    },
  },
  {
    share: 5,
    run: async (call, { agentId }) => void (await call('GET', `${CORE}/knowledge/${agentId}/documents?limit=20`)),
  },
  {
    share: 6,
    run: async (call, { agentId }) => void (await call('GET', `${CORE}/llm/${agentId}/conversation?limit=20`)),
  },
  {
    share: 6,
    run: (call, known) =>
      withConversation(known, (id) => call('GET', `${CORE}/llm/${known.agentId}/conversation/${id}/messages?limit=50`)),
  },
  {
    share: 2,
    run: async (call, known) => {
      const id = takeIdleConversation(known);
      if (id !== undefined) await call('DELETE', `${CORE}/llm/${known.agentId}/conversation/${id}`);
    },
  },
  { share: 8, run: async (call, { agentId }) => void (await call('GET', `${CORE}/agents/${agentId}`)) },
  { share: 4, run: async (call) => void (await call('GET', `${CORE}/agents?limit=50`)) },
  {
    share: 2,
    run: async (call, { agentId }) => void (await call('PUT', `${CORE}/agents/${agentId}`, { description: words(30) })),
  },
  {
    share: 2,
    run: async (call, { spaceId }) =>
      void (await call('POST', `${CORE}/spaces/${spaceId}/prompts`, { title: `Prompt ${++number}`, text: words(80) })),
  },
  {
    share: 3,
    run: async (call, { spaceId }) => void (await call('GET', `${CORE}/spaces/${spaceId}/prompts?limit=20`)),
  },
  {
    share: 10,
    run: async (call) =>
      void (await call('POST', `${GATEWAY}/chat/completions`, { model: 'mock', messages: messages() })),
  },
  {
    share: 8,
    run: async (call) =>
      void (await call('POST', `${GATEWAY}/chat/completions`, { model: 'mock', stream: true, messages: messages() })),
  },
  {
    share: 3,
    run: async (call) =>
      void (await call('POST', `${GATEWAY}/embeddings`, { model: 'local-embedding', input: [words(20), words(20)] })),
  },
  { share: 2, run: async (call) => void (await call('GET', `${CORE}/usage?groupBy=model`)) },
  {
    share: 1,
    run: async (call, { agentId }) =>
      void (await call('GET', `/api/v1/audit/objects/agent/${agentId}/history?limit=20`)),
  },
  { share: 2, run: async (call) => void (await call('GET', '/health')) },
  { share: 1, run: async (call) => void (await call('GET', '/metrics')) },
];
const SHARES = kinds.reduce((sum, { share }) => sum + share, 0);

export const drawn = (): Kind => {
  let at = Math.random() * SHARES;
  return kinds.find(({ share }) => (at -= share) < 0) ?? (kinds[0] as Kind);
};
