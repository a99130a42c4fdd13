import { EventEmitter } from 'node:events';
import { countParts } from './part-count';

const part = 'content-disposition: form-data; name="x"\r\n\r\n-- B \r\n-- \r\n--';

/** Counts the parts of a body that arrives in pieces of a size. */
const counted = (type: string, body: string, size: number): number => {
  const raw = new EventEmitter();
  const count = countParts({ raw, headers: { 'content-type': type } });
  for (let at = 0; at < body.length; at += size) raw.emit('data', Buffer.from(body.slice(at, at + size)));
  return count();
};

test.each([
  ['multipart/form-data; boundary=-B-', `---B-\r\n${part}\r\n---B-\r\n${part}\r\n---B---\r\n`],
  ['multipart/form-data; charset=utf-8; boundary="B B"', `preamble\r\n--B B\r\n${part}\r\n--B B\r\n${part}\r\n--B B--`],
])('the parts of a body are counted wherever it is divided: %s', (type, body) => {
  for (let size = 1; size <= body.length; size += 1) expect([size, counted(type, body, size)]).toEqual([size, 2]);
});
