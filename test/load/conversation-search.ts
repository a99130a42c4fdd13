import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conversationScope } from '@app/conversations';
import { openSqliteReadStore } from '@app/read-store';
import { openSearchIndex, type SearchOperation } from '@app/search-index';
import {
  type ConversationFilter,
  type ConversationRow,
  conversations,
  ListConversations,
  ListConversationsHandler,
} from '@projections/conversations';
import { searchedMessages } from '@projections/searched-messages';

/**
 * `q` over 10,000 messages of one user in 500 conversations, beside as many of four others, while a message is added between the pages;
 * embedded, or with `ELASTICSEARCH_URL` there. Prints latencies beside those of a page without a filter.
 */

const CONVERSATIONS = Number(process.env['CONVERSATIONS'] ?? 500);
const MESSAGES = Number(process.env['MESSAGES'] ?? 20);
const USERS = Number(process.env['USERS'] ?? 5);
const PAGES = Number(process.env['PAGES'] ?? 60);
const LIMIT = 50;
/** Conversations that are put in one commit. */
const AT_ONCE = 10;
const AGENT = '0199a000-0000-7000-8000-000000000001';
const [userId, spaceId] = ['user-0', '0199a000-0000-7000-8000-000000000002'];
const VOCABULARY = Array.from({ length: 5_000 }, (_, n) => `wort${n.toString(36)}`);

let seed = 1;
const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
/** A message of some 80 words; frequent words are frequent, one message in 1,000 has a rare one. */
const text = (n: number): string => {
  const words = Array.from({ length: 80 }, () => VOCABULARY[Math.min(random(5_000), random(5_000), random(5_000))]);
  return `${words.join(' ')} common${n % 1_000 === 7 ? ' lighthouses' : ''}`;
};

const FILTERS: Readonly<Record<string, ConversationFilter>> = {
  'no filter': { archived: false },
  'a word of all': { archived: false, q: 'common' },
  'a frequent word': { archived: false, q: 'wort1' },
  'a rare word': { archived: false, q: 'lighthouse' },
  'two words': { archived: false, q: 'lighthouse common' },
  'a word of none': { archived: false, q: 'zanthoquill' },
};

const row = (user: number, c: number): ConversationRow => {
  const at = new Date(Date.UTC(2026, 0, 1) + c * 1_000).toISOString();
  const of = { id: `c${user}-${c}`, agentId: AGENT, spaceId, userId: `user-${user}`, titleOf: null };
  const rest = { kind: 'normal' as const, archived: false, messageCount: MESSAGES, revision: MESSAGES };
  return { ...of, title: `Conversation ${c}`, ...rest, createdAt: at, updatedAt: at };
};

const main = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const store = await openSqliteReadStore({ folder: join(folder, 'views') });
  const url = process.env['ELASTICSEARCH_URL'];
  const index = await openSearchIndex({ DATA_DIR: folder, ELASTICSEARCH_URL: url });
  await store.prepare({ name: conversations.name, version: 1, indexes: conversations.indexes ?? [] });
  await store.swap(conversations.name, undefined, 1);
  await index.prepare(searchedMessages.name, 1);
  await index.swap(searchedMessages.name, await index.live(searchedMessages.name), 1);
  const position = (n: number): string => String(n).padStart(12, '0');
  let [rowsPut, messagesPut] = [0, 0];
  const putRows = async (rows: readonly ConversationRow[]): Promise<void> => {
    const operations = rows.map((each) => ({ op: 'put' as const, key: each.id, row: each }));
    const to = { position: position(rowsPut + 1), handled: rowsPut + 1 };
    const changes = [{ position: to.position, operations }];
    const from = rowsPut === 0 ? null : position(rowsPut);
    await store.commit({ view: conversations.name, version: 1, from, to, fence: 1, changes });
    rowsPut += 1;
  };
  const putMessages = async (operations: readonly SearchOperation[]): Promise<void> => {
    const to = { position: position(messagesPut + 1), handled: messagesPut + 1 };
    const changes = [{ position: to.position, operations }];
    const from = messagesPut === 0 ? null : position(messagesPut);
    await index.apply({ index: searchedMessages.name, version: 1, from, to, fence: 1, changes });
    messagesPut += 1;
  };
  const message = (conversationId: string, n: number): SearchOperation => {
    const said = text(n);
    const passage = {
      chunkId: `m${n}`,
      ordinal: 0,
      text: said,
      headings: [],
      start: 0,
      end: said.length,
      enabled: true,
    };
    const of = { documentId: `m${n}`, name: '', scope: conversationScope(conversationId), tagIds: [], revision: n };
    return { op: 'putDocument', document: { ...of, embeddingModel: null, passages: [passage] } };
  };
  let said = 0;
  const filling = performance.now();
  for (let user = 0; user < USERS; user += 1)
    for (let first = 0; first < CONVERSATIONS; first += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, CONVERSATIONS - first) }, (_, n) => first + n);
      await putRows(numbers.map((c) => row(user, c)));
      const ids = numbers.flatMap((c) => Array.from({ length: MESSAGES }, () => `c${user}-${c}`));
      await putMessages(ids.map((id) => message(id, (said += 1))));
    }
  const rate = said / ((performance.now() - filling) / 1_000);
  console.log(
    `${said} messages, put at ${Math.round(rate).toLocaleString('en')}/s; ${CONVERSATIONS * MESSAGES} are the user's`,
  );
  const list = new ListConversationsHandler(store, index);
  for (const [name, filter] of Object.entries(FILTERS)) {
    const took: number[] = [];
    let found = 0;
    for (let page = 0; page < PAGES; page += 1) {
      await putMessages([message(`c0-${page}`, (said += 1))]);
      const started = performance.now();
      found = (await list.execute(new ListConversations(userId, AGENT, filter, { limit: LIMIT }))).rows.length;
      took.push(performance.now() - started);
    }
    const at = (share: number): string =>
      (took.toSorted((a, b) => a - b)[Math.floor(PAGES * share)] as number).toFixed(1).padStart(7);
    console.log(
      `  ${name.padEnd(16)} first ${(took[0] as number).toFixed(1).padStart(7)} ms, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, ${found} found`,
    );
  }
  // What is left behind is of this run alone.
  if (url !== undefined) await index.drop(searchedMessages.name, 1).catch(() => undefined);
  await index.close();
  await store.close();
  rmSync(folder, { recursive: true });
};

void main();
