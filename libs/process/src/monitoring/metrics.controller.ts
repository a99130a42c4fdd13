import { Answers, AnswersAs, Documented, Reads, Requires } from '@app/http';
import { Metrics } from '@app/telemetry';
import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';

@Documented('Monitoring')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @Requires('monitoring')
  @ApiOperation({ operationId: 'getMetrics', summary: 'Reads metrics in the Prometheus text format.' })
  @Answers(200)
  @AnswersAs('text/plain')
  @Reads()
  async read(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    reply.header('content-type', this.metrics.registry.contentType);
    return this.metrics.registry.metrics();
  }
}
