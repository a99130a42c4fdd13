export { Metrics } from './metrics';
export { isTracing, startRootSpan, traced, tracedIn, tracedStream, traceMethods, under } from './traced';
export { startTracing } from './tracing';
