import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../servers/free-port';
import { isServerInstalled, serverScript } from '../../servers/server-script';

const SCRIPT = serverScript('mongodb');
const run = promisify(execFile);

/** Whether `test/servers/mongodb.sh install` was run on this machine. */
export const isInstalled = (): boolean => isServerInstalled('mongodb');

/** A MongoDB of the tests' own, which can be killed, paused and started again over the same data. */
export class MongoProcess {
  private constructor(
    private readonly folder: string,
    readonly port: number,
    private readonly standalone: boolean,
  ) {}

  static async start({ standalone = false } = {}): Promise<MongoProcess> {
    const server = new MongoProcess(mkdtempSync(join(tmpdir(), 'mongo-')), await freePort(), standalone);
    await server.start();
    return server;
  }

  get url(): string {
    return `mongodb://127.0.0.1:${this.port}/platform`;
  }

  /** Starts it again, on the port that it had. */
  async start(): Promise<void> {
    await run(SCRIPT, ['start', this.folder, String(this.port)], {
      env: { ...process.env, ...(this.standalone ? { MONGODB_STANDALONE: '1' } : {}) },
    });
  }

  /** Ends it at once, and waits for its end. */
  async kill(): Promise<void> {
    const pid = this.signal('SIGKILL');
    while (existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`).length > 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** Ends when all its threads stand still: one may still be answering when the signal was sent. */
  pause(): void {
    const threads = `/proc/${this.signal('SIGSTOP')}/task`;
    while (
      !readdirSync(threads).every((thread) =>
        readFileSync(join(threads, thread, 'status'), 'utf8').includes('State:\tT'),
      )
    )
      continue;
  }

  goOn(): void {
    this.signal('SIGCONT');
  }

  async remove(): Promise<void> {
    await run(SCRIPT, ['stop', this.folder]);
    rmSync(this.folder, { recursive: true });
  }

  private signal(signal: NodeJS.Signals): number {
    const pid = Number(readFileSync(join(this.folder, 'pid'), 'utf8'));
    process.kill(pid, signal);
    return pid;
  }
}
