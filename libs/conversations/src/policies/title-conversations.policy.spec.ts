import { Decisions, ERASED, type RecordedEvent, Unavailable } from '@app/kernel';
import type { ChatRequest, ModelDescription } from '@app/models';
import type { Metering } from '@app/spending';
import {
  endTurns,
  meta,
  question,
  says,
  scriptedTurns,
  unmetered,
  waiting,
} from '../../../../test/fixtures/scripted-turns';
import { Titler } from '../titling/titler';
import { TitleConversations } from './title-conversations.policy';

afterEach(endTurns);

interface Given {
  readonly titleModel?: string | null;
  readonly named?: Partial<ModelDescription>;
  readonly metering?: Metering;
}

/** A conversation with one answer, and the policy, as often as a test asks for it. */
const answered = async ({ titleModel, named, metering = unmetered }: Given = {}) => {
  const set = scriptedTurns();
  const { log, codec, history, chat, clock, models, turns } = set;
  const answering = { ...(models.catalogue.models.get('local-chat') as ModelDescription), provider: 'acme' };
  const known = [answering, ...(named === undefined ? [] : [{ ...answering, key: 'small', ...named }])];
  const catalogue = { ...models.catalogue, titleModel, models: new Map(known.map((model) => [model.key, model])) };
  const warnings: object[] = [];
  const titler = () =>
    new Titler(
      { ...models, catalogue },
      metering,
      { DEFAULT_CURRENCY: 'USD' },
      { warn: (facts) => void warnings.push(facts) },
    );
  /** The policy in a process of its own. */
  const policy = (asking = titler()) => new TitleConversations(new Decisions(log, codec), history, asking, clock);
  const turn = await turns.ask(question('When does the ferry leave?'), meta());
  await turn.finished;
  const titlings = (): readonly ChatRequest[] => chat.requests.filter(({ task }) => task === 'summary');
  chat.script = says('Ferries');
  const [stored] = log.events.filter(({ type }) => type === 'AssistantMessageAdded');
  const [event] = await codec.decode(stored === undefined ? [] : [stored]);
  const titles = () => set.types().filter((type) => type === 'ConversationTitled').length;
  return { ...set, policy, titler, titlings, titles, warnings, event: event as RecordedEvent };
};

it('titles once, however often and wherever an answer is reacted to', async () => {
  const { policy, event, titles, titlings } = await answered();
  await Promise.all([policy().react(event), policy().react(event)]);
  await policy().react(event);
  expect([titles(), titlings().length <= 2]).toEqual([1, true]);
});

it('calls no model for answers of long ago, or where none is to give titles', async () => {
  const { policy, event, clock, titlings } = await answered();
  const { recordedAt } = event.context;
  jest.spyOn(clock, 'now').mockReturnValue(new Date(Date.parse(recordedAt) + 11 * 60_000));
  await policy().react(event);
  const off = await answered({ titleModel: null });
  await off.policy().react(off.event);
  expect([titlings().length, off.titlings().length, off.titles()]).toEqual([0, 0, 0]);
});

it.each([
  ['failed', { status: 'failed' }],
  ['is erased', { parts: ERASED }],
  ['says nothing', { parts: [{ type: 'text', text: ' ' }] }],
])('calls no model for an answer that %s', async (_, data) => {
  const { policy, event, titlings, titles } = await answered();
  await policy().react({ ...event, data: { ...(event.data as object), ...data } });
  expect([titlings().length, titles()]).toEqual([0, 0]);
});

it('does not wait for the log once the process stops', async () => {
  const { policy, titler, event, log, titles } = await answered();
  const stopped = titler();
  jest.spyOn(log, 'append').mockImplementation(async () => {
    stopped.close();
    throw new Unavailable('log', 'it is away');
  });
  await expect(policy(stopped).react(event)).rejects.toThrow('the process stops');
  expect(titles()).toBe(0);
});

it.each([
  ['small', 'as trusted', 'secure'],
  ['local-chat', 'less trusted than the one that answered', 'us-cloud'],
] as const)('calls %s where the named model is %s', async (key, _, securityTier) => {
  const { policy, event, titlings } = await answered({ titleModel: 'small', named: { securityTier } });
  await policy().react(event);
  expect(titlings().map(({ model }) => model.key)).toEqual([key]);
});

it('sees the answer again after a stop in the middle, and then titles', async () => {
  const { policy, titler, event, chat, titles, titlings, warnings } = await answered();
  const { held, release } = waiting();
  const stopped = titler();
  chat.script = async function* (request) {
    release();
    await new Promise(() => undefined);
    yield* says('Never')(request);
  };
  const reacting = policy(stopped).react(event);
  await held;
  stopped.close();
  await expect(reacting).rejects.toMatchObject({ name: 'Unavailable' });
  await expect(policy(stopped).react(event)).rejects.toMatchObject({ name: 'Unavailable' });
  expect(titlings()).toHaveLength(1);
  chat.script = says('Ferries');
  await policy().react(event);
  expect([titles(), warnings]).toEqual([1, []]);
});

it('leaves the title where the model fails, tells it without content, and asks it nothing more for now', async () => {
  const { policy, event, chat, titles, titlings, warnings } = await answered();
  chat.script = () => {
    throw new Error('away');
  };
  const failing = policy();
  await failing.react(event);
  await failing.react(event);
  expect([titles(), titlings().length, warnings.length]).toEqual([0, 1, 1]);
  expect(JSON.stringify(warnings)).not.toContain('ferry');
});
