import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCatalogue, type ModelDescription } from '../catalogue';
import { LocalEmbeddings } from './local-embeddings';

const model = readCatalogue(undefined, 'USD').models.get('local-embedding') as ModelDescription;
const folder = mkdtempSync(join(tmpdir(), 'embeddings-'));
const first = new LocalEmbeddings(folder);
afterAll(() => rmSync(folder, { recursive: true }));

const embed = async (embeddings: LocalEmbeddings, ...texts: string[]) =>
  (await embeddings.embed({ model, texts, purpose: 'passage', signal: new AbortController().signal })).vectors;
const cosine = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, index) => sum + value * (b[index] as number), 0);
/** Processes that this one waits for. */
const processes = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap').length;

describe('the local embeddings', () => {
  it('are unit vectors that put paraphrases nearer than other subjects', async () => {
    const [question, answer, other] = (await embed(
      first,
      'How do I sign in to my account?',
      'Logging into your profile needs a password.',
      'The soup is cooked with carrots.',
    )) as [Float32Array, Float32Array, Float32Array];
    expect(question).toHaveLength(512);
    expect(cosine(question, question)).toBeCloseTo(1, 4);
    expect(cosine(question, answer)).toBeGreaterThan(cosine(question, other) + 0.1);
  });

  it('take any text: empty, endless, in other scripts', async () => {
    for (const vector of await embed(first, '', 'x'.repeat(20_000), '日本語 🙂 עברית'))
      expect(cosine(vector, vector)).toBeCloseTo(1, 4);
  });

  it('are the same for the same text, whatever is embedded beside it, and after a damaged model file was repaired', async () => {
    const [alone] = await embed(first, 'Each thing has its own key.');
    await first.close();
    const file = join(folder, readdirSync(folder)[0] as string);
    const whole = readFileSync(file);
    const earlier = join(folder, 'use-lite-int8-1.onnx');
    for (const damaged of ['nonsense', whole.subarray(0, -4), Buffer.alloc(whole.length)]) {
      writeFileSync(file, damaged);
      writeFileSync(earlier, 'of an earlier release');
      const second = new LocalEmbeddings(folder);
      const [, among] = await embed(
        second,
        'Something else entirely, and a good deal longer than that.',
        'Each thing has its own key.',
      );
      expect(among).toEqual(alone);
      expect(readFileSync(file).equals(whole)).toBe(true);
      expect(existsSync(earlier)).toBe(false);
      await second.close();
    }
  });

  it('are the same to the bit where two processes share the texts of a long document, as they do on two cores', async () => {
    const texts = Array.from({ length: 16 }, (_, index) => `${index} ${'hello world '.repeat(4 * index)}`);
    const two = new LocalEmbeddings(folder, undefined, 2);
    const { signal } = new AbortController();
    const asDocument = { model, texts, purpose: 'passage', signal } as const;
    await two.embed({ ...asDocument, inDocument: 127 });
    const short = two.embed({ ...asDocument, inDocument: 127 });
    expect(processes()).toBe(1);
    const alone = (await short).vectors;
    const working = two.embed({ ...asDocument, inDocument: 128 });
    expect(processes()).toBe(2);
    expect((await working).vectors).toEqual(alone);
    await two.close();
  });

  it('are made by one process on one core', async () => {
    const one = new LocalEmbeddings(folder, undefined, 1);
    const { signal } = new AbortController();
    await one.embed({ model, texts: ['a'], inDocument: 128, purpose: 'passage', signal });
    const working = one.embed({ model, texts: ['a', 'b'], inDocument: 128, purpose: 'passage', signal });
    expect(processes()).toBe(1);
    await working;
    await one.close();
  });

  it('of questions are made by a process of their own, beside that of documents', async () => {
    const fifth = new LocalEmbeddings(folder, undefined, 1);
    const { signal } = new AbortController();
    const texts = Array.from({ length: 4 }, () => 'hello world '.repeat(60));
    const before = processes();
    const document = fifth.embed({ model, texts, inDocument: texts.length, purpose: 'passage', signal });
    const question = fifth.embed({ model, texts: texts.slice(0, 1), purpose: 'query', signal });
    expect(processes() - before).toBe(2);
    expect((await question).vectors[0]).toEqual((await document).vectors[0]);
    await fifth.close();
  });

  it('wait for no other caller, and cost nothing more once theirs has left', async () => {
    const fourth = new LocalEmbeddings(folder);
    const leaving = new AbortController();
    const texts = Array.from({ length: 2_048 }, (_, index) => `${index} ${'hello world '.repeat(60)}`);
    let isOver = false;
    const long = fourth.embed({ model, texts, purpose: 'passage', signal: leaving.signal });
    const settled = long.finally(() => (isOver = true)).catch((error: unknown) => error);
    expect(await embed(fourth, 'A short question.')).toHaveLength(1);
    expect(isOver).toBe(false);
    leaving.abort(new Error('left'));
    expect(await settled).toMatchObject({ message: 'left' });
    await fourth.close();
  });

  it('are there again once the model can be kept, after its folder could not be written', async () => {
    const third = new LocalEmbeddings(join(folder, 'taken'));
    writeFileSync(join(folder, 'taken'), 'a file where the folder should be');
    for (const time of [1, 2])
      await expect(embed(third, `Try ${time}.`)).rejects.toMatchObject({ name: 'Unavailable' });
    rmSync(join(folder, 'taken'));
    expect(await embed(third, 'Each thing has its own key.')).toHaveLength(1);
    await third.close();
  });
});
