import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';

/** Injection token of the map of requests in progress, which `OpenRequests` keeps. */
export const OPEN_ANSWERS = Symbol('OpenAnswers');

/** Requests in progress, by their answers. */
export type OpenAnswers = ReadonlyMap<ServerResponse, FastifyRequest>;
