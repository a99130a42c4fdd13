import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Faults } from '../../servers/eventstoredb/faults';

const MAIN = join(__dirname, '..', '..', 'servers', 'eventstoredb', 'main.ts');
const REGISTER = join(__dirname, '..', '..', 'register.cjs');

/** The double in a process of its own, which can be killed, paused and started again over the same log. */
export class ServerProcess {
  private child: ChildProcess | undefined;
  private listensOn = '0';

  private constructor(private readonly folder: string) {}

  static async start(): Promise<ServerProcess> {
    const server = new ServerProcess(mkdtempSync(join(tmpdir(), 'eventstore-')));
    await server.start();
    return server;
  }

  get port(): number {
    return Number(this.listensOn);
  }

  get url(): string {
    return `esdb://127.0.0.1:${this.listensOn}?tls=false`;
  }

  /** Starts it again; on the port that it had. */
  async start(): Promise<void> {
    const child = fork(MAIN, ['--port', this.listensOn, '--file', join(this.folder, 'log.jsonl')], {
      execArgv: ['--require', REGISTER],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    this.child = child;
    const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    this.listensOn = new URL(line.toString().trim()).port;
  }

  set(faults: Partial<Faults>): void {
    this.child?.send(faults);
  }

  /** Ends it at once, and waits for its end. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    this.child = undefined;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  pause(): void {
    this.child?.kill('SIGSTOP');
  }

  goOn(): void {
    this.child?.kill('SIGCONT');
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true });
  }
}
