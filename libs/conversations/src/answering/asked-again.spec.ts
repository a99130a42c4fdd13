import { Unavailable } from '@app/kernel';
import { type ChatChunk, type ChatRequest, UpstreamFailure } from '@app/models';
import {
  endTurns,
  ids,
  meta,
  PARTICIPANTS,
  question,
  says,
  scriptedTurns,
  waiting,
} from '../../../../test/fixtures/scripted-turns';
import { until } from '../../../../test/fixtures/until';
import type { RetrievedPassage } from './retriever';

afterEach(endTurns);

const passage = (text: string): RetrievedPassage => {
  const chunk = { chunkId: ids.next(), text, start: 0, end: text.length };
  const document = { documentId: ids.next(), documentName: 'a.md', documentRevision: 3, mediaType: 'text/markdown' };
  return { ...document, ...chunk, headings: [], chunks: [chunk] };
};

/** Breaks off behind these words, then answers another way: as a provider does whose stream may be repeated. */
const breaksOff = (words: string, held: Promise<void>, then = says('All of it.')) =>
  async function* (request: ChatRequest): AsyncIterable<ChatChunk> {
    yield { type: 'text', text: words };
    await held;
    const failure = new UpstreamFailure('broken');
    if (request.mayRepeat?.() !== true) throw failure;
    yield { type: 'again' };
    yield* then(request);
  };

describe('an answer that breaks off in the middle', () => {
  it('begins anew, with its citations, where nobody heard of it', async () => {
    const { turns, chat } = scriptedTurns([passage('One.'), passage('Two.')]);
    chat.script = breaksOff('Half [2] of ', Promise.resolve(), says('It is one [1].'));
    const { answer } = await (await turns.ask(question('What?'), meta())).finished;
    expect(answer).toMatchObject({
      status: 'complete',
      parts: [{ text: 'It is one [1].' }, { type: 'source-document', quote: 'One.' }],
    });
  });

  it('fails where somebody follows it', async () => {
    const { turns, chat } = scriptedTurns();
    const { held, release } = waiting();
    chat.script = breaksOff('Half of ', held);
    const turn = await turns.ask(question('What?'), meta());
    await turn.follow().next();
    release();
    expect((await turn.finished).answer).toMatchObject({ status: 'failed', parts: [{ text: 'Half of ' }] });
  });

  it('is told as failed to whoever follows it by another process, which the one that makes it cannot know', async () => {
    const here = scriptedTurns();
    const { held, release } = waiting();
    here.chat.script = breaksOff('Half of ', held);
    const turn = await here.turns.ask(question('What?'), meta());
    const other = here.process();
    const saved = async () => (await other.saidMeanwhile(turn.conversationId)).get(turn.answerId)?.parts.length === 1;
    await until(saved, 'what was said is saved');
    const follow = () => other.resume(PARTICIPANTS, turn.conversationId, turn.answerId, meta());
    const [followed, joined] = [await follow(), await follow()];
    await followed.follow().next();
    release();
    await expect(followed.finished).rejects.toMatchObject({ code: 'upstream_error' });
    expect((await joined.finished).answer.parts).toEqual([{ type: 'text', text: 'All of it.' }]);
    expect((await turn.finished).answer.parts).toEqual([{ type: 'text', text: 'All of it.' }]);
  });
});

describe('an answer that another process makes', () => {
  it('is followed on while the store of claims does not answer', async () => {
    const { turns, process, store, chat } = scriptedTurns();
    const { promise: half, resolve: goOn } = Promise.withResolvers<void>();
    chat.script = async function* (request) {
      await half;
      yield* says('All of it.')(request);
    };
    const asked = await turns.ask(question('Why?'), meta());
    let failed = 0;
    const read = store.read.bind(store);
    store.read = async (key) => {
      if ((failed += 1) > 3) return read(key);
      throw new Unavailable('coordination', 'no answer');
    };
    const followed = await process().resume(PARTICIPANTS, asked.conversationId, asked.answerId, meta());
    const outcome = followed.finished.then(({ answer }) => answer.status);
    await until(() => failed > 3);
    goOn();
    expect([await outcome, (await asked.finished).answer.status]).toEqual(['complete', 'complete']);
  });
});

describe('an answer whose claim is not given back yet, since the store of claims is slow', () => {
  it('is given to whoever asked, and to repeats of the question in any process', async () => {
    const { turns, process, store, types } = scriptedTurns();
    const write = store.write.bind(store);
    store.write = (key, value, options) =>
      value === null ? new Promise<boolean>(() => undefined) : write(key, value, options);
    const command = { ...meta(), commandHash: 'why' };
    const first = await (await turns.ask(question('Why?'), command)).finished;
    expect(first.answer.status).toBe('complete');
    for (const again of [turns, process()]) {
      const turn = await again.ask(question('Why?'), command);
      expect(turn.askedAt).toBeDefined();
      expect((await turn.finished).answer).toEqual(first.answer);
      await expect(again.ask(question('Where?'), { ...command, commandHash: 'where' })).rejects.toThrow(
        'idempotency_key_reused',
      );
    }
    expect(types()).toHaveLength(3);
  });
});
