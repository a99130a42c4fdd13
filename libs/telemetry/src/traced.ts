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

/** Whether traces are sent. */
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

/** Reads a stream in a span that ends with it, also when its reader leaves. Without an exporter it is the stream. */
export const tracedStream = <T>(
  name: string,
  attributes: SpanAttributes,
  stream: AsyncIterable<T>,
): AsyncIterable<T> => (isTracing() ? inSpan(name, attributes, stream) : stream);

async function* inSpan<T>(name: string, attributes: SpanAttributes, stream: AsyncIterable<T>): AsyncGenerator<T> {
  const span = startSpan(name, attributes);
  try {
    yield* stream;
  } catch (error) {
    failed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

type Method = (...args: never[]) => Promise<unknown>;
type MethodsOf<T> = { [K in keyof T]: T[K] extends Method ? K : never }[keyof T];

/**
 * Puts a span around each call of some methods of an object, in place. `describe` names what a span says of the call:
 * ids and counts. Does nothing unless traces are sent.
 */
export const traceMethods = <T extends object, K extends MethodsOf<T>>(
  object: T,
  prefix: string,
  methods: Readonly<Record<K, (args: Parameters<Extract<T[K], Method>>) => SpanAttributes>>,
): T => {
  if (!isTracing()) return object;
  for (const name of Object.keys(methods) as K[]) {
    const method = object[name] as Method;
    const inSpan = (...args: never[]): Promise<unknown> =>
      traced(`${prefix}.${String(name)}`, methods[name](args as Parameters<Extract<T[K], Method>>), () =>
        method.apply(object, args),
      );
    Object.defineProperty(object, name, { value: inSpan, configurable: true, writable: true });
  }
  return object;
};
