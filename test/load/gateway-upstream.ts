import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/**
 * A provider that answers at once, in a process of its own: 800 bytes of JSON, or 50 chunks, each its own write. `user: paced`
 * gets one chunk every 20 ms for four seconds, with the time it was sent.
 */
const CHUNKS = 50;
const PACE_MS = 20;
const PACED_CHUNKS = 200;

const head = { id: 'chatcmpl-1', created: 1_741_569_952, model: 'mock' };
const usage = {
  prompt_tokens: 125,
  completion_tokens: 200,
  total_tokens: 325,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};
const answer = JSON.stringify({
  ...head,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'word '.repeat(85), refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage,
});
const event = (choices: readonly object[], rest: object): string =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, usage: null, ...rest })}\n\n`;
const delta = (fields: object, finish: string | null = null): string =>
  event([{ index: 0, delta: fields, logprobs: null, finish_reason: finish }], {});
const chunks = [
  delta({ role: 'assistant', content: '' }),
  ...Array.from({ length: CHUNKS - 2 }, () => delta({ content: ' word' })),
  delta({}, 'stop'),
];
const last = `${event([], { usage })}data: [DONE]\n\n`;

/** What is written in one turn of the loop leaves as one: no provider sends an answer so. */
const burst = async (response: ServerResponse): Promise<void> => {
  for (const chunk of chunks) {
    response.write(chunk);
    await turn();
  }
  response.end(last);
};

const paced = async (response: ServerResponse): Promise<void> => {
  response.write(chunks[0]);
  for (let sent = 0; sent < PACED_CHUNKS; sent += 1) {
    response.write(delta({ content: String(performance.timeOrigin + performance.now()) }));
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  }
  response.write(chunks.at(-1));
  response.end(last);
};

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (piece: Buffer) => (body += piece.toString()));
  request.on('end', () => {
    if (!body.includes('"stream":true'))
      return void response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
        .end(answer);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (body.includes('"user":"paced"')) return void paced(response);
    void burst(response);
  });
});
process.on('SIGTERM', () => process.exit(0));
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
);
