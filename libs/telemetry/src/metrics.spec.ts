import { PerformanceObserver } from 'node:perf_hooks';
import { Metrics } from './metrics';

test('durations read as a Prometheus histogram: cumulative buckets, sum and count by label', async () => {
  const metrics = new Metrics();
  metrics.request('GET', '/things/:id', 200, 0.000625);
  metrics.request('GET', '/things/:id', 200, 0.004);
  metrics.request('GET', '/things/:id', 404, 60);
  const text = await metrics.registry.metrics();
  const labels = 'method="GET",route="/things/:id",status="200"';
  for (const line of [
    '# TYPE http_request_duration_seconds histogram',
    `http_request_duration_seconds_bucket{${labels},le="0.001"} 1`,
    `http_request_duration_seconds_bucket{${labels},le="0.005"} 2`,
    `http_request_duration_seconds_bucket{${labels},le="+Inf"} 2`,
    `http_request_duration_seconds_sum{${labels}} 0.004625`,
    `http_request_duration_seconds_count{${labels}} 2`,
    'http_request_duration_seconds_bucket{method="GET",route="/things/:id",status="404",le="10"} 0',
    'http_request_duration_seconds_bucket{method="GET",route="/things/:id",status="404",le="+Inf"} 1',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
});

test('a gauge is read when it is asked for', async () => {
  const metrics = new Metrics();
  let lag = 1;
  metrics.gauge('lag', 'How late.', 'view', async () => new Map([['agents', lag]]));
  lag = 7;
  expect(await metrics.registry.metrics()).toContain('lag{view="agents"} 7');
});

test('the process is watched once, however often its numbers are begun anew', async () => {
  const first = new Metrics();
  const watched = jest.spyOn(PerformanceObserver.prototype, 'observe');
  const second = new Metrics();
  expect(watched).not.toHaveBeenCalled();
  for (const { registry } of [first, second])
    expect(await registry.metrics()).toContain('nodejs_eventloop_lag_seconds');
});
