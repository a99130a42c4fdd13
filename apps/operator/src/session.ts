import { type Command, Option } from 'commander';
import { EXIT, type ExitCode, Failure } from './exit-codes';
import { type Output, outputTo, type Streams } from './output';
import { PlatformClient } from './platform-client';

const DEFAULT_URL = 'http://127.0.0.1:3000';

interface GlobalOptions {
  readonly json?: boolean;
  readonly url?: string;
  readonly apiKey?: string;
}

/** The session of a command. */
export interface Session {
  readonly api: PlatformClient;
  readonly output: Output;
  /** The server that was named, and whether on the command line or by `PLATFORM_URL`; undefined when none is. */
  readonly server: { readonly url: string; readonly isOption: boolean } | undefined;
}

/** A command: does its work and returns its exit code, `EXIT.done` by default. */
export type Verb<Args extends readonly unknown[]> = (session: Session, ...args: Args) => Promise<ExitCode | void>;

/** Makes the action of a command from a verb. */
export type Run = <Args extends readonly unknown[]>(
  verb: Verb<Args>,
) => (...given: [...Args, Command]) => Promise<void>;

export const addGlobalOptions = (program: Command): Command =>
  program
    .option('--json', 'print results as JSON, one document a line')
    .addOption(new Option('--url <url>', `address of the server (default: ${DEFAULT_URL})`).env('PLATFORM_URL'))
    .addOption(
      new Option('--api-key <key>', 'API key with the permissions that the command needs').env('PLATFORM_API_KEY'),
    );

/** Runs commands in a session made from the global options. Calls `ended` with each exit code. */
export const runner =
  (streams: Streams, ended: (code: ExitCode) => void): Run =>
  <Args extends readonly unknown[]>(verb: Verb<Args>) =>
  async (...given: [...Args, Command]) => {
    const command = given.at(-1) as Command;
    const session = sessionOf(
      streams,
      command.optsWithGlobals(),
      command.getOptionValueSourceWithGlobals('url') === 'cli',
    );
    try {
      // Commander gives the arguments, then the options, then the command: the type of a slice does not say which are left.
      const code = await verb(session, ...(given.slice(0, -1) as unknown as Args));
      ended(code ?? EXIT.done);
    } finally {
      // What went wrong is said on a line of its own.
      session.output.progressDone();
    }
  };

/** Empty variables count as unset. */
const sessionOf = (streams: Streams, { json = false, url, apiKey }: GlobalOptions, isOption: boolean): Session => ({
  api: new PlatformClient(addressOf(url || DEFAULT_URL), apiKey || undefined),
  output: outputTo(streams, json),
  server: url ? { url, isOption } : undefined,
});

const addressOf = (url: string): string => {
  if (!URL.canParse(url)) throw new Failure(`${url} is not an address. Use --url http://HOST:PORT.`, EXIT.wrongUsage);
  return url.replace(/\/+$/, '');
};
