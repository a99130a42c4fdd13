import { Readable } from 'node:stream';
import type { Access } from '@app/access';
import { DomainError } from '@app/kernel';
import { type CallHandler, StreamableFile } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { EventEmitter } from 'node:events';
import { lastValueFrom, of, throwError } from 'rxjs';
import type { Acceptance, Idempotency } from './idempotency';
import { IdempotencyInterceptor } from './idempotency-interceptor';

const acceptance: Acceptance = {
  name: 'n',
  commandId: '01900000-0000-7000-8000-000000000001',
  hash: 'h',
  at: 0,
  again: false,
  answered: null,
};

/** A write under a key whose handler answers with a stream, and its connection. */
const streamed = async (connection: EventEmitter & { closed: boolean }) => {
  const released: Acceptance[] = [];
  const idempotency: Pick<Idempotency, 'accept' | 'release'> = {
    accept: async () => acceptance,
    release: (one) => void released.push(one),
  };
  const request = {
    headers: { 'idempotency-key': 'k' },
    caller: { actor: 'key:1' },
    method: 'POST',
    url: '/things',
    isMultipart: () => false,
    routeOptions: {},
  };
  const context = new ExecutionContextHost([request, { raw: connection }]);
  const next: CallHandler = { handle: () => of(new StreamableFile(Readable.from(['a piece']))) };
  // The casts: of both services only what is called is there.
  const interceptor = new IdempotencyInterceptor(idempotency as Idempotency, {} as Access);
  const answer = await lastValueFrom(await interceptor.intercept(context, next));
  return { answer, released };
};

const connection = (closed: boolean) => Object.assign(new EventEmitter(), { closed });

describe('a streamed answer under an Idempotency-Key', () => {
  it('lets a repeat run once its connection is over, and not before', async () => {
    const open = connection(false);
    const { answer, released } = await streamed(open);
    expect([answer instanceof StreamableFile, released]).toEqual([true, []]);
    open.emit('close');
    expect(released).toEqual([acceptance]);
  });

  it('lets a repeat run where its client has left before it began', async () => {
    expect((await streamed(connection(true))).released).toEqual([acceptance]);
  });
});

it('a deletion that is repeated is done where what it deletes is gone: the first one may have deleted it', async () => {
  const settled: number[] = [];
  const idempotency: Pick<Idempotency, 'accept' | 'settle'> = {
    accept: async () => ({ ...acceptance, again: true }),
    settle: async (_, { status }) => void settled.push(status),
  };
  const codes: number[] = [];
  const context = new ExecutionContextHost([
    {
      headers: { 'idempotency-key': 'k' },
      caller: { actor: 'key:1' },
      method: 'DELETE',
      url: '/things/1',
      isMultipart: () => false,
      routeOptions: {},
    },
    { code: (status: number) => void codes.push(status) },
  ]);
  const next: CallHandler = { handle: () => throwError(() => new DomainError('not_found')) };
  // The casts: of both services only what is called is there.
  const interceptor = new IdempotencyInterceptor(idempotency as Idempotency, {} as Access);
  expect(await lastValueFrom(await interceptor.intercept(context, next))).toBeUndefined();
  expect([settled, codes]).toEqual([[204], [204]]);
});
