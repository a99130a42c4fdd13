import { serverSentEvents } from './server-sent-events';

const bytes = async function* (...chunks: readonly string[]) {
  for (const chunk of chunks) yield new TextEncoder().encode(chunk);
};

const read = async (...chunks: readonly string[]) => {
  const events = [];
  for await (const event of serverSentEvents(bytes(...chunks))) events.push(event);
  return events;
};

describe('serverSentEvents', () => {
  it('reads events however they are cut into chunks', async () => {
    const whole = ': hello\n\nid: 7\nevent: event\ndata: {"a":\ndata: 1}\n\n';
    expect(await read(...whole)).toEqual([{ id: '7', event: 'event', data: '{"a":\n1}' }]);
  });

  it('passes over heartbeats and an event that did not end', async () => {
    expect(await read(':\r\n\r\ndata: x\r\n\r\ndata: lost')).toEqual([{ id: '', event: 'message', data: 'x' }]);
  });
});
