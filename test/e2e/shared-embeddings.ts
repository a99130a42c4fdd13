import { join } from 'node:path';
import { Unavailable } from '@app/kernel';
import { LocalEmbeddings, type OpenedEmbeddings } from '@app/models';

const KEPT = Symbol.for('embeddings of the tests');
const kept = globalThis as { [KEPT]?: LocalEmbeddings };

/** Longer than a process of tests is without a platform that embeds. */
const KEPT_MS = 10 * 60_000;

/** Loading the model takes 0.8 s of processor time, so one process has it for all platforms that a process of tests starts. Its vectors depend on texts alone. */
const loaded = (): LocalEmbeddings => {
  if (kept[KEPT] !== undefined) return kept[KEPT];
  const embeddings = new LocalEmbeddings(join(__dirname, '..', '..', '.cache', 'models'), KEPT_MS);
  process.once('beforeExit', () => void embeddings.close());
  return (kept[KEPT] = embeddings);
};

/** What a platform has for its own: it is closed with it, and calls under way end then. */
export const sharedEmbeddings = (): OpenedEmbeddings => {
  const closing = new AbortController();
  return {
    // As questions, all in one process: each takes the time to load the model.
    embed: async (given) => {
      const { inDocument: _inDocument, ...request } = given;
      closing.signal.throwIfAborted();
      return loaded().embed({ ...request, signal: AbortSignal.any([request.signal, closing.signal]) });
    },
    close: async () => closing.abort(new Unavailable('local-embedding', 'it is shut down')),
  };
};
