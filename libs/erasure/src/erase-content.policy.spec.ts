import { aggregates } from '@app/hosting';
import {
  Decisions,
  EventCodec,
  type KeySelector,
  type Keyring,
  type RecordedEvent,
  type StreamLog,
  TimeOrderedIds,
} from '@app/kernel';
import { FixedClock } from '../../../test/fixtures/fixed-clock';
import { LaggingLogs } from '../../../test/fixtures/lagging-logs';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { destroyKeys } from './destroy-keys.policy';
import { destroyOnce } from './destroy-once';
import { eraseContent, type EraseContentParts } from './erase-content.policy';

const noKeys: Keyring = { ensureKey: async () => Buffer.alloc(32), keys: async () => new Map() };
const ids = new TimeOrderedIds();

const deletion = (type: string, stream: string, position = '0007'): RecordedEvent => ({
  type,
  data: {},
  context: {
    id: ids.next(),
    stream,
    revision: 3,
    position,
    recordedAt: '2026-01-01T00:00:00.000Z',
    actor: 'user:u1',
    commandId: ids.next(),
    correlationId: ids.next(),
  },
});

/** Stands for the stores: writes down what is done to them, and dies at the step named in `dieAt`, once. */
const setUp = (dieAt?: string, heldBack: () => readonly string[] = () => [], held?: string) => {
  const log = new MemoryLog();
  return { log, ...setUpOver(log, dieAt, heldBack, held) };
};

const setUpOver = (log: StreamLog, dieAt?: string, heldBack: () => readonly string[] = () => [], held = 'agent-1') => {
  const [steps, told]: [string[], string[]] = [[], []];
  let death = dieAt;
  const step = async (name: string): Promise<void> => {
    if (death === name) {
      death = undefined;
      throw new Error(`died at ${name}`);
    }
    steps.push(name);
  };
  const parts: EraseContentParts = {
    decisions: new Decisions(
      {
        append: async (...given) => {
          await step('receipt');
          return log.append(...given);
        },
        readStream: (...given) => log.readStream(...given),
      },
      new EventCodec(aggregates.catalogue, noKeys),
    ),
    clock: new FixedClock(),
    aggregates,
    destroy: destroyOnce({
      destroy: async (selector: KeySelector) => {
        await step(`destroy ${Object.values(selector).join()}`);
        return ['document-1', 'agent-1'];
      },
    }),
    blobs: { remove: (names) => step(`remove ${names.join()}`) },
    blobsOf: async (stream) => (stream === 'document-1' ? [`file-of-${stream}`, `text-of-${stream}`] : []),
    viewsReached: (position) => step(`reached ${position}`),
    heldBack: async (streams) => (streams.includes(held) ? heldBack() : []),
    stores: [
      { name: 'views', purge: () => step('purge views') },
      { name: 'search', purge: () => step('purge search') },
    ],
    onReceipt: async (stream) => void told.push(stream),
    memories: [{ name: 'decisions', forget: (streams) => void steps.push(`forget ${streams.join()}`) }],
  };
  return { steps, told, policy: eraseContent(parts), first: destroyKeys(parts) };
};

const FORGET = 'forget document-1,agent-1';
const BLOBS = 'remove file-of-document-1,text-of-document-1';

describe('erasing content', () => {
  it('destroys the keys first and writes the receipt last', async () => {
    const { steps, log, policy } = setUp();
    const event = deletion('SpaceDeleted', 'space-s1');
    await policy.react(event);
    expect(steps).toEqual([
      'destroy s1',
      FORGET,
      'reached 0007',
      BLOBS,
      'remove ',
      'purge views',
      'purge search',
      FORGET,
      'receipt',
    ]);
    const receipts = await log.readStream(`erasure-${event.context.id}`);
    expect(receipts.map(({ data }) => JSON.parse(data) as unknown)).toEqual([
      {
        eventId: event.context.id,
        eventType: 'SpaceDeleted',
        stream: 'space-s1',
        things: ['document-1', 'agent-1'],
        thingsInAll: 2,
        blobs: 2,
        purged: ['views', 'search', 'decisions'],
      },
    ]);
  });

  it('tells of a receipt before it is written, also of one that is cut short', async () => {
    const { told, policy } = setUp('receipt');
    const event = deletion('SpaceDeleted', 'space-s1');
    await expect(policy.react(event)).rejects.toThrow('died at receipt');
    expect(told).toEqual([`erasure-${event.context.id}`]);
  });

  it('destroys keys once for both policies, and anew after a failure', async () => {
    const destroys = (steps: readonly string[]) => steps.filter((step) => step.startsWith('destroy')).length;
    const { steps, policy, first } = setUp();
    const event = deletion('SpaceDeleted', 'space-s1');
    await Promise.all([first.react(event), policy.react(event)]);
    expect(destroys(steps)).toBe(1);
    const failing = setUp('destroy s1');
    const both = [failing.first, failing.policy];
    await Promise.all(both.map((each) => expect(each.react(event)).rejects.toThrow('died')));
    await Promise.all(both.map((each) => each.react(event)));
    expect(destroys(failing.steps)).toBe(1);
  });

  it('destroys keys and removes blobs beside that, waiting for no store', async () => {
    const { steps, policy, first } = setUp();
    const event = deletion('SpaceDeleted', 'space-s1');
    await first.react(event);
    expect(steps).toEqual(['destroy s1', FORGET, BLOBS, 'remove ']);
    await policy.react(event);
    steps.length = 0;
    await first.react(event);
    expect(steps).toEqual([]);
  });

  it.each([
    ['of what was deleted', 'space-s1'],
    ['of what belonged to that', 'agent-1'],
  ])('gives no receipt while a view waits behind a dead letter %s, and one after that', async (_, held) => {
    let views = ['agents'];
    const { steps, log, policy } = setUp(undefined, () => views, held);
    const event = deletion('SpaceDeleted', 'space-s1');
    await expect(policy.react(event)).rejects.toThrow('in agents');
    expect(steps).toEqual(['destroy s1', FORGET, 'reached 0007']);
    views = [];
    await policy.react(event);
    expect(await log.readStream(`erasure-${event.context.id}`)).toHaveLength(1);
  });

  it('does nothing for what has its receipt', async () => {
    const { steps, policy } = setUp();
    const event = deletion('DocumentDeleted', 'document-1');
    await policy.react(event);
    steps.length = 0;
    await policy.react(event);
    expect(steps).toEqual([]);
  });

  it.each(['destroy document-1', 'reached 0007', BLOBS, 'purge views', 'purge search', 'receipt'])(
    'ends with one receipt although it died at: %s',
    async (dieAt) => {
      const { steps, log, policy } = setUp(dieAt);
      const event = deletion('DocumentDeleted', 'document-1');
      await expect(policy.react(event)).rejects.toThrow('died');
      expect(await log.readStream(`erasure-${event.context.id}`)).toEqual([]);
      await policy.react(event);
      expect(steps.slice(-9)).toEqual([
        'destroy document-1',
        FORGET,
        'reached 0007',
        BLOBS,
        'remove ',
        'purge views',
        'purge search',
        FORGET,
        'receipt',
      ]);
      expect(await log.readStream(`erasure-${event.context.id}`)).toHaveLength(1);
    },
  );

  it("ends with one receipt where two processes erase the same on EventStoreDB, of which each may find the other's only later", async () => {
    const both = await LaggingLogs.open();
    const policies = both.logs.map((log) => setUpOver(log).policy);
    const deletions = Array.from({ length: 10 }, (_, index) => deletion('DocumentDeleted', `document-${index}`));
    await Promise.all(deletions.flatMap((event) => policies.map((policy) => policy.react(event))));
    for (const { context } of deletions)
      expect(await both.logs[0]?.readStream(`erasure-${context.id}`)).toHaveLength(1);
    await both.close();
  });

  it('looks at the views and purges once for deletions that come together', async () => {
    const { steps, policy } = setUp();
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => policy.react(deletion('ConversationDeleted', `conversation-${index}`))),
    );
    expect(steps.filter((step) => step === 'receipt')).toHaveLength(20);
    expect(steps.filter((step) => step === 'purge views').length).toBeLessThanOrEqual(3);
    expect(steps.filter((step) => step.startsWith('reached')).length).toBeLessThanOrEqual(3);
  });

  it.each([
    ['first', ['0008', '0007']],
    ['last', ['0007', '0008']],
  ])('waits for the views to show the latest of deletions that come together: the %s', async (_, positions) => {
    const { steps, policy } = setUp();
    await Promise.all(
      positions.map((position) => policy.react(deletion('PromptDeleted', `prompt-${position}`, position))),
    );
    const receipts = steps.filter((step) => step === 'receipt');
    expect(receipts).toHaveLength(2);
    expect(steps.indexOf('reached 0008')).toBeGreaterThanOrEqual(0);
    expect(steps.indexOf('reached 0008')).toBeLessThan(steps.indexOf('receipt'));
  });

  it('lets others that wait for the event loop go on between many deletions', async () => {
    const { steps, policy } = setUp();
    let receiptsAtOnce = 0;
    let before = 0;
    const count = (): void => {
      const now = steps.filter((step) => step === 'receipt').length;
      receiptsAtOnce = Math.max(receiptsAtOnce, now - before);
      before = now;
      if (now < 40) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => policy.react(deletion('ConversationDeleted', `conversation-${index}`))),
    );
    expect(receiptsAtOnce).toBeGreaterThan(0);
    expect(receiptsAtOnce).toBeLessThanOrEqual(8);
  });

  it.each([
    ['TagDeleted', 'tags-s1', 'withSpace'],
    ['ApiKeyRevoked', 'apiKey-k1', 'withUser'],
  ])('erases with %s what was made when that to which it belongs was gone, and nothing else', (type, stream, mark) => {
    const event = deletion(type, stream);
    expect(aggregates.erasedBy(event)).toBeUndefined();
    expect(aggregates.erasedBy({ ...event, data: { [mark]: true } })).toEqual({ stream });
  });

  it.each([
    ['UserDeleted', 'user-u1', { userId: 'u1' }],
    ['SpaceDeleted', 'space-s1', { spaceId: 's1' }],
    ['AgentDeleted', 'agent-1', { stream: 'agent-1' }],
    ['PromptDeleted', 'prompt-1', { stream: 'prompt-1' }],
    ['DocumentDeleted', 'document-1', { stream: 'document-1' }],
    ['ConversationDeleted', 'conversation-1', { stream: 'conversation-1' }],
  ])('erases with %s what belonged to it', (type, stream, selector) => {
    expect(aggregates.erasedBy(deletion(type, stream))).toEqual(selector);
  });
});
