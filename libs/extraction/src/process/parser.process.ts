import { Console } from 'node:console';
import { writeSync } from 'node:fs';
import { extract } from '../extract';
import { ExtractionFailure, type ExtractionFailureCode, type ParserLimits, type SourceFile } from '../extraction';
import { bytesOf } from './bytes-of';
import { startWatch } from './watch';

/** What stands before the file on the input: its length in four bytes, then this as JSON. */
export interface ParserOrder extends Pick<SourceFile, 'name' | 'mimeType'> {
  readonly limits: ParserLimits;
  /** The process that asks. */
  readonly parent: number;
}

const STDERR = 2;

/** Reads the file on the input, and writes its extraction to the output as JSON, or why there is none to the errors. */
const main = async (): Promise<void> => {
  const input = await bytesOf(process.stdin);
  const length = input.readUInt32BE(0);
  const { limits, parent, ...file } = JSON.parse(input.subarray(4, 4 + length).toString('utf8')) as ParserOrder;
  const watch = startWatch({ ...limits, parent });
  try {
    const extraction = await extract({ ...file, body: input.subarray(4 + length) }, limits.inflatedBytes);
    process.stdout.write(JSON.stringify(extraction));
  } catch (error) {
    writeSync(STDERR, ` ${codeOf(error)}`);
    process.exitCode = 1;
  }
  await watch.terminate();
};

/** A parser that trips over a file finds it malformed. */
const codeOf = (error: unknown): ExtractionFailureCode => {
  if (error instanceof ExtractionFailure) return error.code;
  // A string or an array that is longer than any can be.
  return error instanceof RangeError && /string length|array length|buffer/i.test(error.message)
    ? 'out_of_memory'
    : 'malformed';
};

// The output is for the extraction alone.
globalThis.console = new Console(process.stderr);
// Parsers leave promises behind that reject later.
process.on('unhandledRejection', () => undefined);
void main();
