import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider in a process of its own, whose embedding model gives each text one of many unit vectors at once, the same each time. */
const DIMENSIONS = 512;
const VECTORS = 4_096;

let seed = 7;
const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
const vectors = Array.from({ length: VECTORS }, () => {
  const values = Array.from({ length: DIMENSIONS }, () => random() - 0.5);
  const length = Math.hypot(...values);
  return JSON.stringify(values.map((value) => Number((value / length).toFixed(7))));
});
const hash = (text: string): number => {
  let sum = 7;
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
  return (sum >>> 0) % VECTORS;
};

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const { input } = JSON.parse(Buffer.concat(parts).toString()) as { input: string | readonly string[] };
    const data = [input]
      .flat()
      .map((text, index) => `{"index":${index},"object":"embedding","embedding":${vectors[hash(text)]}}`);
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(
        `{"object":"list","data":[${data.join()}],"usage":{"prompt_tokens":${data.length},"total_tokens":${data.length}}}`,
      );
  });
});
process.on('SIGTERM', () => process.exit(0));
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
);
