import { until } from '../fixtures/until';
import {
  agentId,
  BOUNDARY,
  CORE,
  events,
  items,
  later,
  made,
  name,
  platform,
  type Prepared,
} from './several-appends-world';

const addingDocument = async (): Promise<Prepared> => {
  const document = `${name('document')}.md`;
  const times = async () =>
    (await items(`${CORE}/knowledge/${agentId}/documents?limit=100`)).filter((one) => one.name === document).length;
  return {
    sent: {
      path: `${CORE}/knowledge/${agentId}/documents`,
      body: { name: document, content: '# A guide', mimeType: 'text/markdown' },
    },
    times,
    isConsistent: async () => true,
  };
};
const uploadingDocuments = async (): Promise<Prepared> => {
  const document = name('document');
  const part = (number: number): string =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${document}-${number}.md"\r\ncontent-type: text/markdown\r\n\r\n# A guide\r\n`;
  const found = async () =>
    (await items(`${CORE}/knowledge/${agentId}/documents?limit=100`)).filter((one) =>
      one.name.startsWith(`${document}-`),
    ).length;
  const isConsistent = async (): Promise<boolean> => {
    await later(() => platform.platform.host.unfinished.finishAll());
    return [0, 2].includes(await found());
  };
  return {
    sent: { path: `${CORE}/knowledge/${agentId}/documents`, payload: `${part(1)}${part(2)}--${BOUNDARY}--\r\n` },
    times: async () => Math.ceil((await found()) / 2),
    isConsistent,
  };
};
const deletingDocuments = async (): Promise<Prepared> => {
  const path = `/knowledge/${agentId}/documents`;
  const documentIds: string[] = [];
  for (const n of [1, 2]) {
    const body = { name: name(`document-${n}`), content: '# A guide', mimeType: 'text/markdown' };
    documentIds.push((await platform.call<{ id: string }>(`${CORE}${path}`, { method: 'POST', body })).body.id);
  }
  const left = async () =>
    (await Promise.all(documentIds.map((id) => platform.call(`${CORE}${path}/${id}`)))).filter(
      ({ status }) => status === 200,
    ).length;
  return {
    sent: { path: `${CORE}${path}/bulk`, body: { operation: 'delete', documentIds } },
    times: async () => ((await left()) === 0 ? 1 : 0),
    // Each is deleted by itself.
    isConsistent: async () => true,
  };
};
const editingChunk = async (): Promise<Prepared> => {
  const path = `${CORE}/knowledge/${agentId}/documents`;
  const body = { name: name('document'), content: '# A guide\n\nTurn the key.', mimeType: 'text/markdown' };
  const { id } = (await platform.call<{ id: string }>(path, { method: 'POST', body })).body;
  const document = async () => (await platform.call<{ status: string }>(`${path}/${id}`)).body;
  await until(async () => (await document()).status === 'Ready', 'the end of ingestion');
  const chunks = async () => items<{ id: string; text: string }>(`${path}/${id}/chunks`);
  const [chunk] = await chunks();
  const text = name('Turn it again');
  return {
    sent: { method: 'PUT', path: `${path}/${id}/chunks/${chunk?.id}`, body: { text } },
    times: () => events('DocumentChunkEdited', id),
    isConsistent: async () => (await events('DocumentChunkEdited', id)) === Number((await chunks())[0]?.text === text),
  };
};
const syncing = async (): Promise<Prepared> => {
  const source = name('source');
  const path = `${CORE}/knowledge/${agentId}/sources/${source}`;
  for (const file of ['a.md', 'b.md']) {
    const payload = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="path"\r\n\r\n${file}\r\n--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${file}"\r\n\r\n# A guide\r\n--${BOUNDARY}--\r\n`;
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
    await platform.call(`${path}/files`, { method: 'POST', payload, headers });
  }
  const left = async () =>
    (
      await items<{ provider: string; name: string; id: string }>(`${CORE}/knowledge/${agentId}/documents?limit=100`)
    ).filter(({ provider }) => provider === `sync:${source}`).length;
  return {
    sent: { path: `${path}/sync`, body: { files: [] } },
    times: async () => ((await left()) === 0 ? 1 : 0),
    // Each is deleted by itself, and what is left by the next sync.
    isConsistent: async () => true,
    forgotten: { vanished: [] },
  };
};
const sendingFile = async (): Promise<Prepared> => {
  const source = name('source');
  const payload = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="path"\r\n\r\na.md\r\n--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n\r\n# A guide\r\n--${BOUNDARY}--\r\n`;
  const times = async () =>
    (
      await items<{ provider: string; name: string; id: string }>(`${CORE}/knowledge/${agentId}/documents?limit=100`)
    ).filter(({ provider }) => provider === `sync:${source}`).length;
  return {
    sent: { path: `${CORE}/knowledge/${agentId}/sources/${source}/files`, payload },
    times,
    isConsistent: async () => true,
  };
};

const attachingFile = async (): Promise<Prepared> => {
  const filename = `${name('attached')}.md`;
  const { key, keyId } = await platform.newCaller();
  const own = await made('/agents', { name: 'Guide', knowledgeEnabled: false }, key);
  const payload = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${filename}"\r\n\r\n# A guide\r\n--${BOUNDARY}--\r\n`;
  return {
    sent: { path: `${CORE}/llm/${own}/files`, payload, key },
    times: () => events('AttachmentAdded', `key:${keyId}`),
    isConsistent: async () => true,
  };
};

/** Those of Knowledge, and of attached files, that append more than once, or write what has to be there first. */
export const KNOWLEDGE_REQUESTS: readonly (readonly [
  route: string,
  title: string,
  appends: number,
  prepare: () => Promise<Prepared>,
])[] = [
  [`POST ${CORE}/knowledge/:agentId/documents`, 'POST /documents', 1, addingDocument],
  [`POST ${CORE}/knowledge/:agentId/documents`, 'POST /documents of several files', 2, uploadingDocuments],
  [`POST ${CORE}/knowledge/:agentId/documents/bulk`, 'POST /documents/bulk', 2, deletingDocuments],
  [
    `PUT ${CORE}/knowledge/:agentId/documents/:documentId/chunks/:chunkId`,
    'PUT /documents/{id}/chunks/{id}',
    1,
    editingChunk,
  ],
  [`POST ${CORE}/knowledge/:agentId/sources/:sourceId/sync`, 'POST /sync', 2, syncing],
  [`POST ${CORE}/knowledge/:agentId/sources/:sourceId/files`, 'POST /files of a source', 1, sendingFile],
  [`POST ${CORE}/llm/:agentId/files`, 'POST /files of an Agent', 1, attachingFile],
];
