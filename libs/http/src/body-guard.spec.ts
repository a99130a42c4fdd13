import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { Authenticator } from '@app/access';
import { CONFIG, readConfig } from '@app/kernel';
import { Test } from '@nestjs/testing';
import { Admission } from './admission';
import { BodyGuard } from './body-guard';

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
  const testing = await Test.createTestingModule({
    providers: [
      BodyGuard,
      Admission,
      { provide: CONFIG, useValue: readConfig({}) },
      { provide: Authenticator, useValue: authenticator },
    ],
  })
    .useMocker(() => ({}))
    .compile();
  const guard = testing.get(BodyGuard);
  await expect(async () => guard.canActivate(new ExecutionContextHost([request]))).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});
