export { Metrics } from './metrics';
export {
  failed,
  isTracing,
  type SpanAttributes,
  startRootSpan,
  traced,
  tracedIn,
  tracedStream,
  traceMethods,
  under,
} from './traced';
export { startTracing, type Tracing } from './tracing';
