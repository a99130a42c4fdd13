import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { BodyGuard } from './body-guard';
import type { EdgeServices } from './edge-services';

/** A write without a body, by a key that was admitted and has been revoked since. */
const request = {
  method: 'DELETE',
  headers: { 'x-api-key': 'ap_revoked' },
  raw: { headers: { 'x-api-key': 'ap_revoked' }, rawHeaders: ['x-api-key', 'ap_revoked'] },
  routeOptions: { config: { route: { requires: 'agents:write' } } },
  caller: { actor: 'key:1' },
  isMultipart: () => false,
};

it('rejects a write without a body whose caller was revoked while it waited', async () => {
  const authenticator = { recognise: () => undefined, authenticate: async () => undefined };
  // The cast: only what is called is there.
  const guard = new BodyGuard({ authenticator, config: {} } as unknown as EdgeServices);
  await expect(async () => guard.canActivate(new ExecutionContextHost([request]))).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});
