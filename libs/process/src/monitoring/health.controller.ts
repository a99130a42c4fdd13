import { Answers, Documented, Reads, Requires } from '@app/http';
import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { Health, type HealthReport } from './health';

const upOrDown = z.object({ status: z.enum(['up', 'down']).describe('`up` or `down`.') }).meta({ id: 'HealthStatus' });
const dependency = z.object({
  ok: z.boolean().describe('Whether it works.'),
  slow: z.boolean().optional().describe('Whether it responds slowly.'),
  reason: z.string().optional().describe('What is wrong with it.'),
});
const report = z
  .object({
    status: z.enum(['up', 'degraded', 'down']).describe('The overall state of the instance.'),
    version: z.string().describe('The version of the product.'),
    dependencies: z.record(z.string(), dependency).describe('The stores and services that it needs, by name.'),
    providers: z
      .array(
        z.object({
          name: z.string().describe('The name of the provider.'),
          circuit: z
            .enum(['closed', 'open', 'half-open'])
            .describe('The circuit breaker. `open`: it failed too often and is not called for a while.'),
        }),
      )
      .describe('The model providers.'),
    processes: z
      .array(
        z.object({
          id: z.string().describe('The id of the process.'),
          roles: z.array(z.string()).describe('Its roles.'),
          version: z.string().describe('The version of the product.'),
          startedAt: z.string().describe('When it started, ISO 8601 in UTC.'),
          beatAt: z.string().describe('Last heartbeat, ISO 8601 in UTC.'),
          alive: z.boolean().describe('Whether it is considered alive.'),
          holds: z.record(z.string(), z.array(z.number())).describe('The leases that it holds.'),
        }),
      )
      .describe('The processes of the instance.'),
    policies: z
      .array(
        z.looseObject({
          name: z.string().describe('The name of the policy.'),
          state: z.string().describe('Its state.'),
          lagEvents: z.number().nullable().describe('How many events it is behind; null if not known.'),
          lagSeconds: z.number().describe('How many seconds it is behind.'),
          deadLetters: z.number().describe('The number of events that it could not handle.'),
        }),
      )
      .describe('The policies, which react to events.'),
    projections: z
      .array(
        z.looseObject({
          name: z.string().describe('The name of the view.'),
          version: z.number().describe('The version that is served.'),
          state: z.string().describe('Its state.'),
          lagEvents: z.number().nullable().describe('How many events it is behind; null if not known.'),
          lagSeconds: z.number().nullable().describe('How many seconds it is behind; null if not known.'),
          deadLetters: z.number().describe('The number of events that it could not handle.'),
        }),
      )
      .describe('The views.'),
    foreignEvents: z
      .object({
        events: z.number().int().describe('The number of them.'),
        since: z
          .object({
            position: z.string().describe('The position of the first.'),
            at: z.string().describe('A time, ISO 8601 in UTC.'),
          })
          .nullable()
          .describe('Where they begin; null if there are none.'),
      })
      .optional()
      .describe('Events of other programs in the log.'),
    unprovenEvents: z
      .object({
        events: z.number().int().describe('The number of them.'),
        at: z.string().nullable().describe('When the first was found, or null.'),
      })
      .optional()
      .describe('Events with an invalid authentication code.'),
    reindex: z
      .object({
        due: z.boolean().describe('Whether there are documents with vectors of a model other than the configured one.'),
        jobs: z
          .object({
            running: z.number().int().describe('Running.'),
            paused: z.number().int().describe('Paused.'),
            ready: z.number().int().describe('Ready to be swapped.'),
            failed: z.number().int().describe('Failed.'),
          })
          .describe('The unfinished jobs, by state.'),
        open: z
          .array(
            z.object({
              scope: z.enum(['agent', 'space', 'instance']).describe('The scope of the job.'),
              id: z.string().nullable().describe('The id of the Agent or the Space; null for the instance.'),
              state: z.string().describe('Its state.'),
              startedAt: z.string().describe('When it was started, ISO 8601 in UTC.'),
              progress: z
                .object({
                  done: z.number().int().describe('Documents that are finished.'),
                  total: z.number().int().describe('All documents of the job.'),
                })
                .nullable()
                .describe('Its progress; null if it has not started.'),
            }),
          )
          .describe('The first of these jobs.'),
      })
      .optional()
      .describe('Re-indexes that are due or running.'),
  })
  .meta({ id: 'HealthReport' });

@Documented('Monitoring')
@Controller('health')
export class HealthController {
  constructor(private readonly health: Health) {}

  @Get('live')
  @Requires('public')
  @ApiOperation({ operationId: 'getLiveness', summary: 'Reads whether the process is alive.' })
  @Answers(200, upOrDown)
  @Reads()
  live(): { status: 'up' } {
    return { status: 'up' };
  }

  @Get('ready')
  @Requires('public')
  @ApiOperation({ operationId: 'getReadiness', summary: 'Reads whether the process accepts requests.' })
  @Answers(503, upOrDown)
  @Answers(200, upOrDown)
  @Reads()
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<{ status: 'up' | 'down' }> {
    if (await this.health.ready()) return { status: 'up' };
    reply.code(503).header('retry-after', '1');
    return { status: 'down' };
  }

  @Get()
  @Requires('monitoring')
  @ApiOperation({ operationId: 'getHealth', summary: 'Reads the state of each dependency, process, view and policy.' })
  @Answers(503, report)
  @Answers(200, report)
  @Reads()
  async all(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthReport> {
    const answer = await this.health.report();
    if (answer.status === 'down') reply.code(503);
    return answer;
  }
}
