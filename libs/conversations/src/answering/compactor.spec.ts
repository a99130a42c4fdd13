import { Decisions, isErased } from '@app/kernel';
import { type ChatRequest, textOfMessage } from '@app/models';
import {
  endTurns,
  meta,
  PARTICIPANTS,
  question,
  says,
  saysHalf,
  scriptedTurns,
  unmetered,
  waiting,
} from '../../../../test/fixtures/scripted-turns';
import { until } from '../../../../test/fixtures/until';
import { conversationDecider } from '../conversation/conversation.decider';

const BUDGET = 600;
const words = (what: string, count = 60): string => `${what} `.repeat(count).trim();
const shown = ({ messages }: ChatRequest): readonly string[] => messages.map(textOfMessage);

afterEach(endTurns);

/** A conversation of a few long exchanges, whose model summarises with the number of the summary. */
const long = async (exchanges: number, beside: Parameters<typeof scriptedTurns>[4] = {}) => {
  const set = scriptedTurns([], unmetered, [], BUDGET, beside);
  let summaries = 0;
  set.chat.script = (request) =>
    says(request.task === 'summary' ? `Summary ${(summaries += 1)}.` : words('answer'))(request);
  let conversationId: string | undefined;
  const answerIds: string[] = [];
  const ask = async (text: string, given: { readonly parentId?: string } = {}) => {
    const turn = await set.turns.ask(
      question(text, { ...(conversationId === undefined ? {} : { conversationId }), ...given }),
      meta(),
    );
    ({ conversationId } = turn);
    const { answer } = await turn.finished;
    answerIds.push(answer.answerId);
    return answer;
  };
  for (let index = 0; index < exchanges; index += 1) await ask(words(`question${index}`));
  const answers = () => set.chat.requests.filter(({ task }) => task === undefined);
  const summarised = () => set.chat.requests.filter(({ task }) => task === 'summary');
  return { ...set, ask, answers, summarised, answerIds, conversationId: conversationId as string };
};

describe('a conversation above its budget', () => {
  it('is summarised up to a boundary, and goes on with the summary and what stands behind it', async () => {
    const { answers, summarised, types, ask } = await long(5);
    expect(types().filter((type) => type === 'ConversationCompacted')).toHaveLength(1);
    const [summary] = summarised();
    expect(summary?.sources.map(({ text }) => text).join()).toContain('User: question0');
    const last = shown(answers().at(-1) as ChatRequest);
    expect(last[0]).toContain('Summary 1.');
    expect(last.join()).not.toContain('question0');
    expect(last.at(-1)).toContain('question4');
    await ask('Short?');
    expect(summarised()).toHaveLength(1);
    expect(shown(answers().at(-1) as ChatRequest)[0]).toContain('Summary 1.');
  });

  it('is summarised again from the summary before and what came since', async () => {
    const { summarised, types } = await long(10);
    expect(types().filter((type) => type === 'ConversationCompacted').length).toBeGreaterThan(1);
    const again = summarised()[1] as ChatRequest;
    expect(again.sources[0]?.text).toBe('Summary 1.');
    expect(again.sources.map(({ text }) => text).join()).not.toContain('question0');
  });

  it('leaves branches alone that part before the boundary', async () => {
    const { ask, answers, answerIds, types } = await long(6);
    const before = types().filter((type) => type === 'ConversationCompacted').length;
    await ask('Instead?', { parentId: answerIds[0] as string });
    const last = shown(answers().at(-1) as ChatRequest);
    expect(last).toEqual([words('question0'), words('answer'), 'Instead?']);
    expect(types().filter((type) => type === 'ConversationCompacted')).toHaveLength(before);
  });

  it('goes on with what fits where the summary fails, and is not asked for it again at once', async () => {
    const set = await long(3);
    const { chat, ask, answers, summarised, types } = set;
    const before = types().length;
    chat.script = (request) => {
      if (request.task === 'summary') throw new Error('the model is away');
      return says(words('answer'))(request);
    };
    for (const text of ['question3', 'question4', 'question5'])
      expect(await ask(words(text))).toMatchObject({ status: 'complete' });
    expect(types().slice(before)).not.toContain('ConversationCompacted');
    expect(summarised()).toHaveLength(1);
    const last = shown(answers().at(-1) as ChatRequest);
    expect(last.at(-1)).toContain('question5');
    expect(last.join()).not.toContain('question0');
  });

  it('goes on as it was where the summary takes too long', async () => {
    const { chat, ask, answers, summarised, types, compactor, conversationId } = await long(3, {
      summaryTimeouts: { meanwhile: 10, byHand: 20 },
    });
    chat.script = (request) => (request.task === 'summary' ? saysHalf() : says(words('answer'))(request));
    const before = types().length;
    expect(await ask(words('question3'))).toMatchObject({ status: 'complete' });
    expect(shown(answers().at(-1) as ChatRequest).at(-1)).toContain('question3');
    expect(summarised().at(-1)?.signal.aborted).toBe(true);
    const { agent, userId } = question('');
    const { signal } = new AbortController();
    const byHand = compactor.byHand({ conversationId, agent, requester: { userId }, signal }, meta());
    await expect(byHand).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(types().slice(before)).not.toContain('ConversationCompacted');
  });

  it.each([
    ['what is summarised', 0],
    ['what is kept', 3],
  ])('is shown without a message of %s that is deleted while the summary is made', async (_what, index) => {
    const { chat, ask, answers, summarised, answerIds, types, codec, log, conversationId } = await long(2);
    chat.script = says('Noted.');
    await ask(words('question2'));
    chat.script = says('The last one said.');
    await ask('So?');
    const { held, release } = waiting();
    chat.script = async function* (request) {
      if (request.task === 'summary') await held;
      yield* says(request.task === 'summary' ? 'Summary.' : 'Done.')(request);
    };
    const asked = ask(words('why', 125));
    await until(() => summarised().length === 1);
    const messageId = answerIds[index] as string;
    const deletion = { type: 'DeleteMessage' as const, ...PARTICIPANTS, messageId };
    await new Decisions(log, codec).transact(conversationDecider, conversationId, deletion, meta());
    release();
    await asked;
    const last = shown(answers().at(-1) as ChatRequest);
    expect(last.at(-1)).toBe(words('why', 125));
    const said = index === 0 ? words('answer') : 'The last one said.';
    // The second answer has the words of the first.
    expect(last.filter((text) => text === said)).toHaveLength(index === 0 ? 1 : 0);
    expect(types().filter((type) => type === 'ConversationCompacted')).toHaveLength(index === 0 ? 0 : 1);
  });

  it('keeps its summary under a key of its own', async () => {
    const { log, history, types } = await long(5);
    const index = types().indexOf('ConversationCompacted');
    const event = log.events[index];
    expect(event?.data).not.toContain('Summary 1.');
    const [checkpoint] = await history.checkpoints(event?.stream.slice('conversation-'.length) ?? '', [index]);
    expect(checkpoint?.data).toMatchObject({ previousId: null, summary: 'Summary 1.' });
    expect(isErased(checkpoint?.data.summary)).toBe(false);
  });
});

describe('a summary that is asked for', () => {
  const opened = async () => {
    const set = await long(2);
    const { held, release } = waiting();
    set.chat.script = async function* (request) {
      await held;
      yield* says('Summary.')(request);
    };
    const compact = (signal = new AbortController().signal, compactor = set.compactor) =>
      compactor.byHand(
        {
          conversationId: set.conversationId,
          agent: question('').agent,
          requester: { userId: question('').userId },
          signal,
        },
        meta(),
      );
    const made = () => set.types().filter((type) => type === 'ConversationCompacted').length;
    return { ...set, compact, release, made };
  };

  it('is made once for all who ask meanwhile, and is what those get who ask when nothing was said since', async () => {
    const { compact, release, made, summarised } = await opened();
    const all = Promise.all([compact(), compact(), compact()]);
    await until(() => summarised().length > 0);
    release();
    const [first] = await all;
    expect(new Set(await all).size).toBe(1);
    expect(await compact()).toBe(first);
    expect([made(), summarised().length]).toEqual([1, 1]);
  });

  it('is recorded once for those who ask several processes meanwhile', async () => {
    const { compact, release, made, summarised, otherCompactor } = await opened();
    const both = Promise.all([compact(), compact(undefined, otherCompactor())]);
    await until(() => summarised().length === 2);
    release();
    expect(new Set(await both).size).toBe(1);
    expect(made()).toBe(1);
  });

  it('is made until the last of them has left', async () => {
    const { compact, release, made, summarised } = await opened();
    const [first, second] = [new AbortController(), new AbortController()];
    const both = Promise.allSettled([compact(first.signal), compact(second.signal)]);
    await until(() => summarised().length > 0);
    first.abort();
    expect(summarised()[0]?.signal.aborted).toBe(false);
    second.abort();
    expect(await both).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect([made(), summarised()[0]?.signal.aborted]).toEqual([0, true]);
    release();
    await compact();
    expect(made()).toBe(1);
  });
});
