import { onBudget, RECALL_AFTER_MS, WaitBudget } from '@app/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { declarationOf, onlyReads } from './request';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null where the log is embedded: it keeps nobody waiting. */
    waitBudget: WaitBudget | null;
  }
}

/** Each request waits for a log on a server on a budget of its own. */
export const budgetWaits = (fastify: FastifyInstance): void => {
  fastify.decorateRequest('waitBudget', null);
  fastify.addHook('onRequest', (request, _reply, done) => {
    request.waitBudget = new WaitBudget(recallAfter(request));
    onBudget(request.waitBudget, done);
  });
};

/** Milliseconds after which whoever asks how the product is doing is taken for whom they were: the answer, that the log is slow, must not be slow itself. */
const MONITORING_MS = 100;

const recallAfter = (request: FastifyRequest): number | undefined => {
  if (!onlyReads(request)) return undefined;
  return declarationOf(request).requires === 'monitoring' ? MONITORING_MS : RECALL_AFTER_MS;
};
