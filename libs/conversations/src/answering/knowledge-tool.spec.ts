import { DomainError, Unavailable } from '@app/kernel';
import { knowledgeTool } from './knowledge-tool';
import type { RetrievedPassage, Retriever } from './retriever';

const passage: RetrievedPassage = {
  documentId: 'd',
  documentName: 'Ferries.md',
  documentRevision: 0,
  mediaType: 'text/markdown',
  chunkId: 'c',
  text: 'It leaves at nine.',
  headings: ['Times'],
  start: 0,
  end: 10,
  chunks: [],
};
const agent = { agentId: 'a', spaceId: 's' };
const requester = { userId: 'u', keyId: 'k' };
const signal = new AbortController().signal;
const toolOf = (retrieve: Retriever['retrieve']) => knowledgeTool({ retrieve }, agent, requester, 'never');
const run = (input: unknown, retrieve: Retriever['retrieve'] = async () => ({ passages: [passage], degraded: [] })) =>
  toolOf(retrieve).run(input, { signal, callId: 'c1' });

describe('the search in Knowledge as a tool', () => {
  it('asks what the model asks, as its user and by holds of its own, and what it finds may be cited', async () => {
    const asked: unknown[] = [];
    const outcome = await run({ query: 'When?' }, async (...given) => {
      asked.push(given);
      return { passages: [passage, passage], degraded: [] };
    });
    expect(asked).toEqual([[agent, 'When?', { ...requester, signal, holds: true }]]);
    expect(outcome.passages).toHaveLength(2);
    expect(JSON.parse(outcome.output)).toEqual({
      found: ['Ferries.md > Times', 'Ferries.md > Times'],
      note: 'These passages are now in the numbered sources.',
    });
    expect(await run({ query: 'When?' }, async () => ({ passages: [], degraded: [] }))).toEqual({
      output: '{"found":[]}',
      passages: [],
    });
  });

  it.each([
    ['{"query":'],
    [{}],
    [{ query: '' }],
    [{ query: ' ' }],
    [{ query: 7 }],
    [{ query: 'a'.repeat(1_001) }],
    [{ query: 'a', agentId: 'another' }],
    [null],
    [['a']],
  ])('searches nothing for %j', async (input) => {
    const outcome = await run(input, () => Promise.reject(new Error('it was asked')));
    expect(outcome).toEqual({ output: expect.stringContaining('The input must be'), isError: true });
  });

  it.each<[Error, string]>([
    [new DomainError('usage_limit_exceeded', { limitId: 'x' }), 'spend limit'],
    [new Unavailable('search', 'https://es.internal:9200 is away'), 'cannot be searched'],
  ])('tells the model of %s, without a word of it', async (error, said) => {
    const { output, isError } = await run({ query: 'When?' }, () => Promise.reject(error));
    expect([isError, output]).toEqual([true, expect.stringContaining(said)]);
    expect(output).not.toContain('internal');
  });

  it('ends with its caller, and hides no fault of the product', async () => {
    const left = AbortSignal.abort(new Error('left'));
    const fails = () => Promise.reject(new Unavailable('search', 'away'));
    await expect(toolOf(fails).run({ query: 'a' }, { signal: left, callId: 'c' })).rejects.toThrow('left');
    await expect(run({ query: 'a' }, () => Promise.reject(new TypeError('a bug')))).rejects.toThrow('a bug');
  });
});
