import { context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';

/** Ids, codes and numbers; never content, names or secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

const tracer = trace.getTracer('agent-platform');
let enabled = false;
let nextTraceId: string | undefined;

/** Switched on once by `startTracing`. */
export const enableTracing = (): void => {
  enabled = true;
};

export const isTracing = (): boolean => enabled;

/** The trace id for a root span that is being started; the id generator asks for it. */
export const takeTraceId = (): string | undefined => {
  const id = nextTraceId;
  nextTraceId = undefined;
  return id;
};

/** Runs work in a span of its own under the current one; without an exporter it only runs the work. */
export const traced = async <T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> => {
  if (!enabled) return work();
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work();
    } catch (error) {
      failed(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
};

/** Starts the first span of what a correlation id holds together: the id, without dashes, is the trace's id. */
export const startRootSpan = (name: string, correlationId: string, attributes: SpanAttributes): Span => {
  nextTraceId = correlationId.replaceAll('-', '');
  return tracer.startSpan(name, { attributes, root: true });
};

/** A span under the current one, for work that ends elsewhere. */
export const startSpan = (name: string, attributes: SpanAttributes): Span => tracer.startSpan(name, { attributes });

/** Runs work so that spans started in it, also later, belong under `span`. */
export const under = <T>(span: Span, work: () => T): T => context.with(trace.setSpan(context.active(), span), work);

/** Marks a span as failed, with the kind of the error and not its message. */
export const failed = (span: Span, error: unknown): void => {
  span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'error' });
};

/** Runs pure work in a span of the trace that a correlation id names, for what follows from a request without being called by it. */
export const tracedIn = <T>(correlationId: string, name: string, attributes: SpanAttributes, work: () => T): T => {
  if (!enabled) return work();
  const span = startRootSpan(name, correlationId, attributes);
  try {
    return under(span, work);
  } finally {
    span.end();
  }
};
