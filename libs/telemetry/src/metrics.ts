import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Durations } from './durations';

let ofProcess: Registry | undefined;
/** Memory, garbage collections, delays of the event loop. They are watched until the process ends, so once for all that starts and stops in it. */
const processMetrics = (): Registry => {
  if (ofProcess === undefined) collectDefaultMetrics({ register: (ofProcess = new Registry()) });
  return ofProcess;
};

/** The numbers of this process, for Prometheus. Labels are route patterns, methods, statuses and names of views: never ids or content. */
export class Metrics {
  readonly registry = Registry.merge([processMetrics()]);

  private readonly requests = new Durations(
    this.registry,
    'http_request_duration_seconds',
    'Duration of HTTP requests by method, route pattern and status.',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  );
  private readonly appends = new Durations(
    this.registry,
    'log_append_duration_seconds',
    'Duration of durable appends to the event log.',
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
  );

  request(method: string, route: string, status: number, seconds: number): void {
    this.requests.observe(`${method}${status}${route}`, () => ({ method, route, status }), seconds);
  }

  append(seconds: number): void {
    this.appends.observe('', () => ({}), seconds);
  }

  /** A number, or one for each value of a label, read when metrics are asked for. */
  gauge(name: string, help: string, label: string | null, read: () => Promise<ReadonlyMap<string, number>>): void {
    new Gauge({
      name,
      help,
      labelNames: label === null ? [] : [label],
      registers: [this.registry],
      async collect() {
        for (const [value, number] of await read()) this.set(label === null ? {} : { [label]: value }, number);
      },
    });
  }
}
