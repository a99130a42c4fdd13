import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startTestGateway } from '../../e2e/gateway';
import { ADMIN_KEY } from '../../e2e/harness';

/**
 * Runs the Python clients against the product with a provider double behind it. Once:
 * `python3 -m venv venv && venv/bin/pip install -r test/clients/python/requirements.txt`, then
 * `PYTHON=venv/bin/python npm exec -- node --require ./test/register.cjs test/clients/python/run.ts`
 */
const main = async (): Promise<void> => {
  const gateway = await startTestGateway();
  try {
    const environment = { GATEWAY_URL: gateway.baseUrl, GATEWAY_KEY: ADMIN_KEY };
    const child = spawn(process.env['PYTHON'] ?? 'python3', [join(__dirname, 'clients.py')], {
      env: { ...process.env, ...environment },
      stdio: 'inherit',
    });
    [process.exitCode] = (await once(child, 'exit')) as [number | undefined];
  } finally {
    await gateway.stop();
  }
};

void main();
