import { serveEncoder } from '../../encoder-child';
import { Encoder } from './encoder';

const [, , folder] = process.argv;
// One text at a time, so that a vector depends on its text alone.
if (process.send !== undefined && folder !== undefined)
  serveEncoder(async () => {
    const encoder = await Encoder.load(folder);
    return { encode: async ([text = '']) => [encoder.encode(text)] };
  }, 1);
