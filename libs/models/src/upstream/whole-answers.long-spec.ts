import { queryObjects } from 'node:v8';
import { begunExchange } from '../../../../test/fixtures/begun-exchange';

it('A whole answer that comes byte by byte is read, and takes no object for each byte', async () => {
  const { exchange, send, end } = begunExchange();
  const whole = exchange.whole();
  const bytes = Buffer.from('Grüße 🚢, '.repeat(4_000));
  const before = queryObjects(Buffer, { format: 'count' });
  for (const byte of bytes) send(Buffer.of(byte));
  expect(queryObjects(Buffer, { format: 'count' }) - before).toBeLessThan(bytes.length / 10);
  end();
  expect((await whole).equals(bytes)).toBe(true);
});
