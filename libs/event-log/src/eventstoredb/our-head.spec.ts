import type { Position, StoredEvent } from '@app/kernel';
import type { PageSource } from './log-pages';
import { OurHead } from './our-head';
import { positionText } from './positions';

/** A server that counts what it hands over. */
class Server implements PageSource {
  handedOver = 0;
  readonly events: { readonly position: Position; readonly isForeign: boolean }[] = [];

  write(count: number, isForeign: boolean): void {
    for (let index = 0; index < count; index += 1)
      this.events.push({ position: positionText(String(this.events.length + 1)), isForeign });
  }

  async page(_direction: string, from: Position | null, limit: number) {
    const found = this.events
      .toReversed()
      .filter(({ position }) => from === null || position < from)
      .slice(0, limit);
    this.handedOver += found.length;
    const events = found.map(({ position }): StoredEvent => ({
      id: '',
      type: '',
      data: '',
      metadata: '',
      stream: '',
      revision: 0,
      position,
    }));
    return {
      events,
      foreign: new Map(events.filter((_, index) => found[index]?.isForeign).map((event) => [event, ''])),
      isWhole: true,
    };
  }
}

describe('the end of our events', () => {
  const shared = () => {
    const server = new Server();
    return { server, head: new OurHead(server) };
  };

  it('is none where there are none of ours', async () => {
    const { server, head } = shared();
    expect(await head.find()).toBeNull();
    server.write(300, true);
    expect(await head.find()).toBeNull();
  });

  it('costs one event where ours is the last', async () => {
    const { server, head } = shared();
    server.write(50, false);
    expect(await head.find()).toBe(positionText('50'));
    expect(server.handedOver).toBe(1);
  });

  it('is found once behind what others wrote, and then in what came since', async () => {
    const { server, head } = shared();
    server.write(10, false);
    server.write(5_000, true);
    expect(await head.find()).toBe(positionText('10'));
    expect(server.handedOver).toBeLessThan(6_200);

    server.handedOver = 0;
    for (let round = 0; round < 20; round += 1) {
      server.write(1, true);
      expect(await head.find()).toBe(positionText('10'));
    }
    // The newest, and where that is theirs a few more, down to what was known.
    expect(server.handedOver).toBeLessThanOrEqual(20 * 11);
    server.write(1, false);
    server.write(1, true);
    expect(await head.find()).toBe(positionText('5031'));
  });

  it('lets nobody read again what is known to be theirs', async () => {
    const { server, head } = shared();
    const at = (number: number): string => positionText(String(number));
    server.write(10, false);
    expect([head.pastForeign(null), await head.beforeForeign(null)]).toEqual([null, null]);
    await head.find();
    expect([head.pastForeign(at(10)), await head.beforeForeign(null)]).toEqual([at(10), null]);

    server.write(200, true);
    await head.find();
    expect([null, at(9), at(10), at(11), at(100), at(210)].map((position) => head.pastForeign(position))).toEqual([
      null,
      at(9),
      at(210),
      at(210),
      at(210),
      at(210),
    ]);
    expect(
      await Promise.all([null, at(210), at(12), at(11), at(5)].map((position) => head.beforeForeign(position))),
    ).toEqual([at(11), at(11), at(11), at(11), at(5)]);

    server.write(3, true);
    await head.find();
    expect([head.pastForeign(at(10)), await head.beforeForeign(at(213))]).toEqual([at(213), at(11)]);
    server.write(1, false);
    server.write(1, true);
    // Asked for the end, it looks at what came since.
    expect(await head.beforeForeign(null)).toBe(at(215));
    expect([head.pastForeign(at(10)), head.pastForeign(at(214)), await head.beforeForeign(at(300))]).toEqual([
      at(10),
      at(215),
      at(300),
    ]);
  });

  it('is that of the log that is there, though it was longer before', async () => {
    const { server, head } = shared();
    server.write(10, false);
    server.write(3, true);
    expect(await head.find()).toBe(positionText('10'));
    server.events.splice(4);
    server.write(2, true);
    expect(await head.find()).toBe(positionText('4'));
    server.events.splice(0);
    expect(await head.find()).toBeNull();
  });
});
