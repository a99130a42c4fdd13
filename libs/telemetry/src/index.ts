export { Metrics } from './metrics';
export { failed, isTracing, type SpanAttributes, startRootSpan, traced, tracedIn, under } from './traced';
export { traceMethods } from './traced-methods';
export { tracedStream } from './traced-stream';
export { startTracing, type Tracing } from './tracing';
