import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../servers/free-port';
import { isServerInstalled, serverScript } from '../../servers/server-script';

const SCRIPT = serverScript('kafka');

/** Whether `test/servers/kafka.sh install` was run here. */
export const isKafkaInstalled = (): boolean => isServerInstalled('kafka');

/** A real broker of its own, which can be killed, paused and started again over the same data. */
export class KafkaProcess {
  private readonly folder = mkdtempSync(join(tmpdir(), 'kafka-'));

  private constructor(
    readonly port: number,
    private readonly environment: Readonly<Record<string, string>>,
  ) {}

  /** Ready when this resolves. Clients are sent to `advertisedPort`, which may be a proxy's. */
  static async start(environment: Readonly<Record<string, string>> = {}, port?: number): Promise<KafkaProcess> {
    const kafka = new KafkaProcess(port ?? (await freePort()), environment);
    kafka.start();
    return kafka;
  }

  start(): void {
    execFileSync(SCRIPT, ['start', this.folder, String(this.port)], {
      stdio: 'pipe',
      env: { ...process.env, ...this.environment },
    });
  }

  /** Ends it at once, as a machine does that loses power; what it has not written is lost. */
  kill(): void {
    process.kill(this.pid, 'SIGKILL');
  }

  pause(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  goOn(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  remove(): void {
    execFileSync(SCRIPT, ['stop', this.folder], { stdio: 'pipe' });
    rmSync(this.folder, { recursive: true });
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  private get pid(): number {
    return Number(readFileSync(join(this.folder, 'pid'), 'utf8'));
  }
}
