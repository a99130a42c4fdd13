import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const CONSUMER = join(__dirname, '..', '..', '..', 'docs', 'integration-events', 'consumer.mjs');

export interface Counted {
  readonly documents: number;
  readonly ready: number;
  readonly tokens: number;
}

/** The documented example of a consumer in a process of its own, with what it has counted so far. */
export class Consumer {
  private child: ChildProcess | undefined;

  constructor(
    private readonly environment: {
      readonly KAFKA_BROKERS: string;
      readonly KAFKA_TOPIC_PREFIX: string;
      readonly KAFKA_GROUP: string;
      readonly STATE_FILE: string;
    },
  ) {
    this.start();
  }

  get counted(): Counted {
    const { STATE_FILE } = this.environment;
    return existsSync(STATE_FILE)
      ? (JSON.parse(readFileSync(STATE_FILE, 'utf8')) as Counted)
      : { documents: 0, ready: 0, tokens: 0 };
  }

  start(): void {
    this.child = spawn(process.execPath, [CONSUMER], { env: { ...process.env, ...this.environment }, stdio: 'ignore' });
  }

  /** Ends it, at once by default, and waits for its end. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}
