import { failed, isTracing, type SpanAttributes, startSpan } from './traced';

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
