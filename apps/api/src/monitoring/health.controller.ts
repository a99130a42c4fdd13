import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { Answers, Requires, Summary } from '../http';
import { Health, type HealthReport } from './health';

const upOrDown = z.object({ status: z.enum(['up', 'down']) });
const dependency = z.object({ ok: z.boolean(), slow: z.boolean().optional(), reason: z.string().optional() });
const report = z.object({
  status: z.enum(['up', 'degraded', 'down']),
  version: z.string(),
  dependencies: z.record(z.string(), dependency),
  providers: z.array(z.object({ name: z.string(), circuit: z.enum(['closed', 'open', 'half-open']) })),
  processes: z.array(
    z.object({
      id: z.string(),
      roles: z.array(z.string()),
      version: z.string(),
      startedAt: z.string(),
      beatAt: z.string(),
      alive: z.boolean(),
      holds: z.record(z.string(), z.array(z.number())),
    }),
  ),
  policies: z.array(
    z.looseObject({
      name: z.string(),
      state: z.string(),
      lagEvents: z.number().nullable(),
      lagSeconds: z.number(),
      deadLetters: z.number(),
    }),
  ),
  projections: z.array(
    z.looseObject({
      name: z.string(),
      version: z.number(),
      state: z.string(),
      lagEvents: z.number().nullable(),
      lagSeconds: z.number().nullable(),
      deadLetters: z.number(),
    }),
  ),
  foreignEvents: z
    .object({ events: z.number().int(), since: z.object({ position: z.string(), at: z.string() }).nullable() })
    .optional(),
  unprovenEvents: z.object({ events: z.number().int(), at: z.string().nullable() }).optional(),
});

@Controller('health')
export class HealthController {
  constructor(private readonly health: Health) {}

  @Get('live')
  @Requires('public')
  @Summary('Whether the process is alive.')
  @Answers(200, upOrDown)
  live(): { status: 'up' } {
    return { status: 'up' };
  }

  @Get('ready')
  @Requires('public')
  @Summary('Whether the process takes requests.')
  @Answers(503, upOrDown)
  @Answers(200, upOrDown)
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<{ status: 'up' | 'down' }> {
    if (await this.health.ready()) return { status: 'up' };
    reply.code(503).header('retry-after', '1');
    return { status: 'down' };
  }

  @Get()
  @Requires('monitoring')
  @Summary('How each dependency, process, projection and policy is doing.')
  @Answers(503, report)
  @Answers(200, report)
  async all(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthReport> {
    const answer = await this.health.report();
    if (answer.status === 'down') reply.code(503);
    return answer;
  }
}
