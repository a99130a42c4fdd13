import type { Metric, Registry } from 'prom-client';

interface Series {
  readonly labels: Readonly<Record<string, string | number>>;
  /** How many durations fell into each bucket, the last one being beyond all. */
  readonly counts: number[];
  sum: number;
}

/** A histogram of durations that costs little to feed: the form that Prometheus reads is made when it asks. */
export class Durations {
  private readonly series = new Map<string, Series>();

  constructor(
    registry: Registry,
    private readonly name: string,
    private readonly help: string,
    /** Upper bounds in seconds, ascending. */
    private readonly buckets: readonly number[],
  ) {
    // What the registry asks of a metric; its type is a class that nothing else can be.
    registry.registerMetric({
      name,
      help,
      type: 'histogram',
      get: async () => this.read(),
      reset: () => this.series.clear(),
    } as unknown as Metric);
  }

  /** `key` stands for the labels, which are made at its first use. */
  observe(key: string, labels: () => Series['labels'], seconds: number): void {
    let series = this.series.get(key);
    if (series === undefined) {
      series = { labels: labels(), counts: Array.from({ length: this.buckets.length + 1 }, () => 0), sum: 0 };
      this.series.set(key, series);
    }
    let bucket = 0;
    while (bucket < this.buckets.length && seconds > (this.buckets[bucket] as number)) bucket += 1;
    (series.counts[bucket] as number) += 1;
    series.sum += seconds;
  }

  private read(): object {
    return {
      name: this.name,
      help: this.help,
      type: 'histogram',
      aggregator: 'sum',
      values: [...this.series.values()].flatMap((series) => this.values(series)),
    };
  }

  private values({ labels, counts, sum }: Series): object[] {
    let seen = 0;
    const bounds = counts.map((count, index) => {
      seen += count;
      return {
        metricName: `${this.name}_bucket`,
        labels: { ...labels, le: this.buckets[index] ?? '+Inf' },
        value: seen,
      };
    });
    return [
      ...bounds,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: seen },
    ];
  }
}
