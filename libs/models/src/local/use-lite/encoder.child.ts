import { serveEncoder } from '../../encoder-child';
import { Encoder } from './encoder';

const [, , folder, priority] = process.argv;
/** So that a vector depends on its text alone. */
const ONE_AT_A_TIME = 1;
const load = async (from: string) => {
  const encoder = await Encoder.load(from);
  return { encode: async ([text = '']: readonly string[]) => [encoder.encode(text)] };
};

if (process.send !== undefined && folder !== undefined)
  serveEncoder(() => load(folder), ONE_AT_A_TIME, Number(priority));
