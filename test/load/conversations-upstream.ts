import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';

/**
 * A provider in a process of its own, whose models answer at once (`instant`), with so much that saving it counts (`long`: pieces
 * for about a second), or every 20 ms with the time at which a piece was sent (`paced`).
 */
const LONG_PIECES = 250;
const LONG_MS = 4;
const PACED_PIECES = 1_000;
const PACED_MS = 20;

const head = { id: 'chatcmpl-1', created: 1_741_569_952, model: 'mock' };
const usage = { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 };
const event = (choices: readonly object[], rest: object): string =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, usage: null, ...rest })}\n\n`;
const delta = (content: string, finish: string | null = null): string =>
  event([{ index: 0, delta: finish === null ? { content } : {}, logprobs: null, finish_reason: finish }], {});

/** Resolves when the reader is gone or has room. */
const written = async (response: ServerResponse, text: string): Promise<void> => {
  if (!response.write(text) && !response.destroyed)
    await new Promise<void>((resolve) => response.once('drain', resolve).once('close', resolve));
};

const pieces: Readonly<Record<string, (response: ServerResponse) => Promise<void>>> = {
  instant: async (response) => {
    await written(response, delta('An answer that is there at once.'));
    await turn();
  },
  long: async (response) => {
    for (let sent = 0; sent < LONG_PIECES && !response.destroyed; sent += 1) {
      await written(response, delta(`piece ${sent} of what is said `));
      await pause(LONG_MS);
    }
  },
  paced: async (response) => {
    for (let sent = 0; sent < PACED_PIECES && !response.destroyed; sent += 1) {
      await written(response, delta(`${performance.timeOrigin + performance.now()} `));
      await pause(PACED_MS);
    }
  },
};

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const { model, stream } = JSON.parse(Buffer.concat(parts).toString()) as { model: string; stream?: boolean };
    if (stream !== true) {
      const message = { role: 'assistant', content: 'An answer that is there at once.', refusal: null };
      const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
      const body = JSON.stringify({ ...head, object: 'chat.completion', choices, usage });
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    void (pieces[model] ?? pieces['instant'])?.(response).then(() =>
      response.end(`${delta('', 'stop')}${event([], { usage })}data: [DONE]\n\n`),
    );
  });
});
process.on('SIGTERM', () => process.exit(0));
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
);
