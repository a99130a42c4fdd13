import { enableTracing, takeTraceId } from './traced';

export interface Tracing {
  /** Sends what is left. */
  stop(): Promise<void>;
}

/** Sends traces over OTLP/HTTP to `endpoint` (`OTEL_EXPORTER_OTLP_ENDPOINT`). The libraries are loaded only when it is set. */
export const startTracing = async (endpoint: string | undefined, serviceName: string): Promise<Tracing> => {
  if (endpoint === undefined) return { stop: async () => undefined };
  const { NodeTracerProvider, BatchSpanProcessor, RandomIdGenerator } = await import('@opentelemetry/sdk-trace-node');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const random = new RandomIdGenerator();
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    spanProcessors: [
      new BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` })),
    ],
    idGenerator: {
      generateTraceId: () => takeTraceId() ?? random.generateTraceId(),
      generateSpanId: () => random.generateSpanId(),
    },
  });
  provider.register();
  enableTracing();
  return { stop: () => provider.shutdown() };
};
