import pino from 'pino';
import { KEY, serveThings, set, state } from '../../../test/fixtures/edge-of-things';
import { until } from '../../../test/fixtures/until';
import { OpenAnswers } from './open-answers';

beforeEach(() => state.clear());

it.each([
  ['until it is answered', false],
  ['until its client has left', true],
])('a request is in progress %s', async (_, leaves) => {
  const open = new OpenAnswers();
  const things = await serveThings(pino({ level: 'silent' }), (builder) =>
    builder.overrideProvider(OpenAnswers).useValue(open),
  );
  const gate = Promise.withResolvers<void>();
  set.gate = gate.promise;
  const leaving = new AbortController();
  const answered = fetch(`http://127.0.0.1:${await things.port()}/things`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: '{"name":"a"}',
    signal: leaving.signal,
  }).then(
    (response) => response.text().then(() => response.status),
    (error: Error) => error.name,
  );
  await until(() => open.size === 1);
  expect([...open].map(({ request }) => request.url)).toEqual(['/things']);
  if (leaves) leaving.abort();
  else gate.resolve();
  expect(await answered).toBe(leaves ? 'AbortError' : 201);
  await until(() => open.size === 0);
  gate.resolve();
  await things.close();
});
