import { setImmediate as tick } from 'node:timers/promises';
import { type ChatChunk, type ChatRequest, usageOf } from '@app/models';
import type { Metering } from '@app/spending';
import { endTurns, ids, meta, PARTICIPANTS, question, scriptedTurns } from '../../../../test/fixtures/scripted-turns';
import { rounds, seed, seededNumbers } from '../../../../test/faults/log/rounds';

afterEach(endTurns);

const number = seededNumbers();
/** Ends by itself after some moments. */
const ends = (moments: number) =>
  async function* ({ model }: ChatRequest): AsyncIterable<ChatChunk> {
    for (let moment = 0; moment < moments; moment += 1) {
      yield { type: 'text', text: `${moment} ` };
      await tick();
    }
    const usage = usageOf({ input: 3, output: moments });
    yield { type: 'finish', model, finishReason: 'stop', usage, usageSource: 'upstream' };
  };
/** Counts how often each call is settled. */
const counting = () => {
  const settled: string[] = [];
  const metering: Metering = {
    begin: async () => {
      const invocationId = ids.next();
      const settle = async () => void settled.push(invocationId);
      return { invocationId, isHeld: true, isIncludedUsage: false, cancel: () => undefined, settle };
    },
  };
  return { metering, settled };
};

describe.each(['this process', 'another process'])(
  `a stop in %s against the end of an answer (SEED=${seed})`,
  (where) => {
    it('leaves one outcome, billed once, the same for all who ask', async () => {
      const outcomes = new Set<string>();
      const { metering, settled } = counting();
      const here = scriptedTurns([], metering);
      const [other, moments] = [here.process(), 12];
      const stopping = where === 'this process' ? here.turns : other;
      for (let round = 0; round < rounds(40); round += 1) {
        here.chat.script = ends(number(moments));
        const turn = await here.turns.ask(question('What?'), meta());
        const { conversationId, answerId } = turn;
        const stop = async (): Promise<boolean> => {
          for (let left = number(2 * moments); left > 0; left -= 1) await tick();
          return stopping.stop(PARTICIPANTS, conversationId, answerId, meta());
        };
        // Two tabs, and a third that only watches.
        const [first, second, watched] = await Promise.all([
          stop(),
          stop(),
          other.resume(PARTICIPANTS, conversationId, answerId, meta()).then(({ finished }) => finished),
        ]);
        const { answer } = await turn.finished;
        expect([answer.status, answer.parts]).toEqual([watched.answer.status, watched.answer.parts]);
        expect(['complete', 'stopped']).toContain(answer.status);
        if (answer.status === 'stopped') expect(first || second).toBe(true);
        expect(here.types(conversationId).filter((type) => type === 'AssistantMessageAdded')).toHaveLength(1);
        expect([settled.length, new Set(settled).size]).toEqual([here.chat.requests.length, here.chat.requests.length]);
        // What has ended stays as it ended.
        expect(await stopping.stop(PARTICIPANTS, conversationId, answerId, meta())).toBe(false);
        outcomes.add(answer.status);
      }
      if (rounds(40) >= 40 && where === 'this process')
        expect([...outcomes].toSorted()).toEqual(['complete', 'stopped']);
    });
  },
);
