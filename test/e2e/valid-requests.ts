const CORE = '/api/v1/core';
const usageLimit = { amount: '1', window: 'day', timeZone: 'UTC', action: 'warn' };
const limit = { ...usageLimit, includedAmount: '1' };
const chunking = { maxTokens: 100, overlapTokens: 10 };
const enabled = (value: number) => ({ enabled: true, value });
const sampling = { temperature: enabled(1), topP: enabled(1), topK: enabled(3) };
const embed = { enabled: false, allowedUrls: ['https://a.example'], sessionMinutes: 3, windowTitle: 'Guide' };
const paths = { '/x': { get: { operationId: 'x', responses: { 200: { description: 'Fine.' } } } } };
const document = { openapi: '3.0.0', info: { title: 'T', version: '1' }, paths };
const http = { baseUrl: 'https://example.com', document };
const tool = { id: 't', name: 't', kind: 'http', enabled: true, approval: 'never', http };
const key = {
  name: 'Key',
  agentIds: [':agentId'],
  allAgents: false,
  permissions: ['agents:read'],
  usageLimit,
  expiresAt: '2099-01-01T00:00:00Z',
};
const skill = { name: 'Skill $n', description: 'Starts it.', instructions: 'Turn the key.', frontmatter: { a: 'b' } };
const file = { type: 'file', fileId: ':fileId' };
const parts = [{ type: 'text', text: 'What is it?' }, file];
const knowledge = `${CORE}/knowledge/:agentId`;
const llm = `${CORE}/llm/:agentId`;
const conversation = `${llm}/conversation/:conversationId`;
const generation = {
  temperature: 1,
  topP: 1,
  maxOutputTokens: 3,
  stopSequences: ['end'],
  seed: 1,
  useKnowledge: false,
};

/**
 * Requests as they are taken, with bodies that name what they can: `:agentId` is the id that the world of a test has for
 * it, `$n` another number each time. Routes that take several kinds of body are there for each.
 */
export const VALID_REQUESTS: readonly (readonly [route: string, body?: object])[] = [
  [`POST ${CORE}/spaces`, { name: 'Space $n', slug: 'space-$n', description: 'd', color: '#112233', chunking }],
  [`PUT ${CORE}/spaces/:spaceId`, { description: 'd', color: '#112233', chunking }],
  [`PUT ${CORE}/spaces/:spaceId/members/:userId`, { role: 'viewer' }],
  [`POST ${CORE}/spaces/:spaceId/prompts`, { title: 'T', text: 'x', tags: ['a'] }],
  [`PUT ${CORE}/spaces/:spaceId/prompts/:promptId`, { title: 'T', text: 'x', tags: ['a'] }],
  [`PUT ${CORE}/users/me`, { name: 'N', language: 'de' }],
  [
    `POST ${CORE}/agents`,
    { spaceId: ':spaceId', name: 'N', model: 'local-chat', sampling, tools: [tool], chunking, public: embed },
  ],
  [`PUT ${CORE}/agents/:agentId`, { name: 'N', allowedModels: ['local-chat'], sampling, public: embed }],
  [`PUT ${CORE}/agents/:agentId/prompt`, { systemPrompt: 'Be brief.' }],
  [`POST ${CORE}/agents/:agentId/versions/0/restore`],
  [`POST ${CORE}/api-keys`, key],
  [`POST ${CORE}/api-keys`, { ...key, userId: ':ownUserId' }],
  [`PUT ${CORE}/api-keys/:keyId`, key],
  [`POST ${CORE}/cost-control`, { scope: { type: 'agent', id: ':agentId' }, ...limit }],
  [`POST ${CORE}/cost-control`, { scope: { type: 'space', id: ':spaceId' }, ...limit }],
  [`POST ${CORE}/cost-control`, { scope: { type: 'apiKey', id: ':limitedKeyId' }, ...limit }],
  [`PUT ${CORE}/cost-control/:limitId`, { id: ':limitId', ...limit }],
  [`PUT ${CORE}/cost-control`, { id: ':limitId', ...limit }],
  [`DELETE ${CORE}/cost-control`, { id: ':limitId' }],
  [`POST ${CORE}/skills`, { scope: 'space', spaceId: ':spaceId', ...skill }],
  [`POST ${CORE}/skills`, { scope: 'agent', agentId: ':agentId', ...skill }],
  [`PUT ${CORE}/skills/:skillId`, skill],
  [`POST ${CORE}/skills/:skillId/publish`],
  [`POST ${CORE}/skills/:skillId/activate`, { versionId: ':versionId' }],
  [`POST ${CORE}/marketplace/skills`, { skillId: ':skillId', acceptFindings: true }],
  [`POST ${CORE}/marketplace/skills/:entryId/installations`, { scope: 'agent', agentId: ':agentId' }],
  [
    `POST ${CORE}/marketplace/skills/:entryId/installations`,
    { scope: 'space', spaceId: ':spaceId', versionId: ':entryVersionId' },
  ],
  [`POST ${knowledge}/tags`, { name: 'Tag $n', color: '#112233' }],
  [`PUT ${knowledge}/tags/:tagId`, { name: 'Tag $n', color: '#112233' }],
  [
    `POST ${knowledge}/documents`,
    { name: 'a.md', content: 'x', mimeType: 'text/plain', scope: 'agent', tagIds: [':tagId'] },
  ],
  [`PUT ${knowledge}/documents/:documentId`, { name: 'b.md', enabled: true, tagIds: [':tagId'] }],
  [`PUT ${knowledge}/documents/:documentId/chunks/:chunkId`, { text: 'Turn it.', enabled: true }],
  [`POST ${knowledge}/documents/:documentId/reprocess`, { force: false }],
  [`POST ${knowledge}/documents/:documentId/tags/:tagId`],
  [`POST ${knowledge}/documents/bulk`, { operation: 'addTag', documentIds: [':documentId'], tagId: ':tagId' }],
  [`POST ${knowledge}/documents/download`, { documentIds: [':documentId'] }],
  [`POST ${knowledge}/search`, { query: 'key', tagIds: [':tagId'], topK: 3, mode: 'text', rerank: false }],
  [`POST ${knowledge}/sources/:sourceId/sync`, { files: [{ path: 'a.md', contentHash: 'a'.repeat(64) }] }],
  [`POST ${knowledge}/summary-index`, { mode: 'build' }],
  [`POST ${knowledge}/reindex`, { scope: 'agent', dryRun: true }],
  [`POST ${llm}/conversation`, { message: 'How?', conversationId: ':conversationId', parentId: ':messageId' }],
  [`POST ${llm}/conversation`, { message: { parts }, kind: 'private' }],
  [`PUT ${conversation}`, { title: 'T', archived: false }],
  [`POST ${conversation}/messages/:messageId/feedback`, { rating: 'up', comment: 'Good.' }],
  [`POST ${conversation}/messages/:messageId/regenerate`, { model: 'local-chat', stream: false }],
  [`POST ${conversation}/messages/:messageId/tools/:callId`, { approved: true }],
  [`POST ${conversation}/stop`],
  [`POST ${conversation}/compact`],
  [`POST ${llm}/generateText`, { prompt: 'How?', conversationId: ':conversationId', ...generation }],
  [`POST ${llm}/generateText`, { messages: [{ role: 'user', content: [{ type: 'text', text: 'How?' }] }] }],
  [`POST ${llm}/generateText`, { messages: [{ role: 'user', content: parts }] }],
  [`POST ${llm}/generateObject`, { schema: {}, messages: [{ role: 'user', content: parts }] }],
  [`POST ${llm}/generateObject`, { prompt: 'How?', schema: {}, conversationId: ':conversationId', ...generation }],
  [`POST ${llm}/generateImage`, { prompt: 'A key', imageConfig: { aspectRatio: '1:1', resolution: '1K' }, n: 1 }],
  [`POST ${llm}/generateSpeech`, { text: 'Hello.', speakers: [{ name: 'a', voiceName: 'alloy' }] }],
  [`POST ${llm}/transcribe`, { audioBase64: 'AAAA', mimeType: 'audio/wav', prompt: 'x' }],
  [`POST ${CORE}/memory/:agentId/memories`, { text: 'Ada has the key.', kind: 'shared', replaces: ':memoryId' }],
  [`PUT ${CORE}/memory/:agentId/memories/:memoryId`, { text: 'Ada has the keys.' }],
  [`POST ${CORE}/memory/:agentId/memories/:memoryId/confirm`],
  [`POST ${CORE}/memory/:agentId/memories/:memoryId/save-for-me`],
  [`POST ${CORE}/memory/:agentId/memories/:memoryId/discard`],
  [`DELETE ${CORE}/memory/:agentId/memories`],
  [`DELETE ${CORE}/users/me/memories`],
];
