import { IngestionFailure } from './ingestion-failure';
import { readApart } from './read-apart';

const parser = { read: () => Promise.reject(new Error('plain text needs no parser')) };
const paragraphs = (count: number) => ({
  name: 'a.txt',
  mimeType: 'text/plain',
  body: Buffer.from('a\n\n'.repeat(count)),
});
const goesOn = (): AbortSignal => new AbortController().signal;

it('fails what takes more memory to cut than a thread may have, and cuts the next', async () => {
  await expect(readApart(parser, paragraphs(1_500_000), null, goesOn(), { memoryMb: 64 })).rejects.toEqual(
    new IngestionFailure('out_of_memory'),
  );
  expect((await readApart(parser, paragraphs(100_000), null, goesOn())).chunks).toHaveLength(1_000);
});

it('fails what takes longer to cut than a thread may take, and cuts the next', async () => {
  await expect(readApart(parser, paragraphs(1_500_000), null, goesOn(), { timeoutMs: 20 })).rejects.toEqual(
    new IngestionFailure('timed_out'),
  );
  expect((await readApart(parser, paragraphs(100_000), null, goesOn())).chunks).toHaveLength(1_000);
});

it('fails what has more passages than a document may have', async () => {
  const many = {
    ...paragraphs(0),
    name: 'a.md',
    mimeType: 'text/markdown',
    body: Buffer.from('# a\n\nb\n\n'.repeat(20_001)),
  };
  await expect(readApart(parser, many, null, goesOn())).rejects.toEqual(new IngestionFailure('too_many_passages'));
});

it('cuts two texts at a time, and none that nobody wants any more', async () => {
  const leaving = new AbortController();
  const readings = Array.from({ length: 5 }, () => readApart(parser, paragraphs(1_500_000), null, leaving.signal));
  const done = Promise.allSettled(readings);
  leaving.abort(new Error('deleted'));
  const took = ownTime();
  for (const ended of await done) expect(ended).toMatchObject({ status: 'rejected', reason: { message: 'deleted' } });
  // One of them alone takes longer.
  expect(took()).toBeLessThan(1_000);
});
import { ownTime } from '../../../../test/fixtures/own-time';
