import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { threadEnds } from '.';

const threadOf = (code: string): Worker =>
  new Worker(`const { parentPort } = require('node:worker_threads'); ${code}`, { eval: true });

describe('a thread that was asked to end', () => {
  it('ends by itself, with what it still had to do', async () => {
    const said: unknown[] = [];
    const thread = threadOf(
      "parentPort.on('message', () => setTimeout(() => { parentPort.postMessage('closed'); parentPort.close(); }, 20));",
    );
    thread.on('message', (message) => said.push(message));
    const terminated = jest.spyOn(thread, 'terminate');
    thread.postMessage('close');
    await threadEnds(thread);
    expect(said).toEqual(['closed']);
    expect(terminated).not.toHaveBeenCalled();
  });

  it('has ended already', async () => {
    const thread = threadOf('');
    await once(thread, 'exit');
    await threadEnds(thread);
  });

  it('is cut off where it does not end', async () => {
    const thread = threadOf("parentPort.on('message', () => undefined);");
    await once(thread, 'online');
    await threadEnds(thread, 20);
    expect(thread.threadId).toBe(-1);
  });
});
