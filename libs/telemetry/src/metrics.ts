import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The numbers of this process, for Prometheus. Labels are route patterns, methods, statuses and names of views: never ids or content. */
export class Metrics {
  readonly registry = new Registry();

  private readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of HTTP requests by method, route pattern and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [this.registry],
  });
  private readonly appends = new Histogram({
    name: 'log_append_duration_seconds',
    help: 'Duration of durable appends to the event log.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
    registers: [this.registry],
  });
  /** Label sets that were seen: looking them up is cheaper than making them again. */
  private readonly seen = new Map<string, { observe(seconds: number): void }>();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  request(method: string, route: string, status: number, seconds: number): void {
    const name = `${method} ${status} ${route}`;
    let series = this.seen.get(name);
    if (series === undefined) {
      series = this.requests.labels({ method, route, status });
      this.seen.set(name, series);
    }
    series.observe(seconds);
  }

  append(seconds: number): void {
    this.appends.observe(seconds);
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
