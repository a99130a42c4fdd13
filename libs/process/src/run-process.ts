import { makeLogger } from '@app/http';
import { assertRuntime, type Environment, productVersion, readConfig, readEnvironment, sentenceIn } from '@app/kernel';
import { listenSentence } from './listen-faults';
import { type Program, startProgram } from './start';
import { logDestination } from './terminal/log-destination';
import { keyNotice, startNotice } from './terminal/notices';

/** One Ctrl-C arrives twice: the terminal sends it to npm and to this process, and npm hands its own on. */
const SAME_SIGNAL_MS = 1_000;

/** Runs a program from the environment; without `ROLES` it runs all that it can. What is wrong with it ends the process with a sentence. */
export const runProcess = (program: Program): void => {
  run(program, { ROLES: program.roles.join(','), ...readEnvironment() }).catch(fail);
};

const run = async (program: Program, environment: Environment): Promise<void> => {
  assertRuntime();
  const config = readConfig(environment);
  const logger = makeLogger(config.LOG_LEVEL, logDestination(process.stdout));
  // A fault nobody waited for concerns one piece of work, not those of everybody else.
  process.on('unhandledRejection', (error) => logger.error({ error }, 'Unhandled rejection.'));
  const platform = await startProgram(program, config, environment, logger, {
    listen: async (app) => void (await app.listen({ host: config.HOST, port: config.PORT })),
    madeKey: (secret) => void process.stdout.write(keyNotice(secret, process.stdout.isTTY)),
  });
  const url = await platform.app.getUrl();
  const runs = config.ROLES.includes('api') ? undefined : config.ROLES.join(' and ');
  process.stdout.write(
    startNotice(
      { version: productVersion, url: config.BASE_URL ?? url, runs, dataDir: config.DATA_DIR },
      process.stdout.isTTY,
    ),
  );

  let stoppingSince: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    logger.info({ signal }, 'Stopping.');
    platform.stop().then(
      () => logger.flush(() => process.exit(0)),
      (error: unknown) => fail(error),
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
};

const fail = (error: unknown): void => {
  process.stderr.write(`${sentenceOf(error)}\n`);
  process.exit(1);
};

const sentenceOf = (error: unknown): string =>
  listenSentence(error) ??
  sentenceIn(error) ??
  (error instanceof Error ? (error.stack ?? error.message) : String(error));
