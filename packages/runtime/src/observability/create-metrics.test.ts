import { describe, expect, it } from 'vitest';
import { createMetrics } from './create-metrics.ts';

describe('createMetrics', () => {
  it('writes counters, gauges and histograms in the text format', async () => {
    const metrics = createMetrics({ process: false });
    metrics.counter({ name: 'a_total', help: 'A.', labels: ['kind'] }).add({ kind: 'x' }, 2);
    metrics.gauge({ name: 'b', help: 'B.' }).set(3);
    const histogram = metrics.histogram({ name: 'c_seconds', help: 'C.', labels: ['k'], buckets: [1, 2] });
    histogram.observe(1.5, { k: 'v' });
    const text = await metrics.render();
    expect(metrics.contentType).toContain('text/plain');
    expect(text).toContain('# TYPE a_total counter\na_total{kind="x"} 2');
    expect(text).toContain('# TYPE b gauge\nb 3');
    expect(text).toContain('c_seconds_bucket{le="1",k="v"} 0\nc_seconds_bucket{le="2",k="v"} 1');
  });

  it('exports a series at zero once it is created', async () => {
    const metrics = createMetrics({ process: false });
    metrics.counter({ name: 'plain_total', help: 'P.' });
    metrics.counter({ name: 'named_total', help: 'N.', labels: ['r'] }).add({ r: 'success' }, 0);
    const text = await metrics.render();
    expect(text).toContain('plain_total 0');
    expect(text).toContain('named_total{r="success"} 0');
  });

  it('returns the same metric for the same name, and rejects one with another definition', async () => {
    const metrics = createMetrics({ process: false });
    const options = { name: 'same_total', help: 'S.', labels: ['a'] };
    metrics.counter(options).add({ a: '1' });
    metrics.counter({ ...options }).add({ a: '1' });
    expect(await metrics.render()).toContain('same_total{a="1"} 2');
    expect(() => metrics.gauge(options)).toThrow(expect.objectContaining({ code: 'BOWLINE_METRIC_CONFLICT' }));
    expect(() => metrics.counter({ ...options, labels: ['b'] })).toThrow('same_total');
  });

  it('runs collect callbacks before each render, until they are disposed', async () => {
    const metrics = createMetrics({ process: false });
    const gauge = metrics.gauge({ name: 'g', help: 'G.', labels: ['x'] });
    let value = 0;
    const collecting = metrics.collect(() => gauge.set(++value, { x: 'y' }));
    expect(await metrics.render()).toContain('g{x="y"} 1');
    expect(await metrics.render()).toContain('g{x="y"} 2');
    collecting[Symbol.dispose]();
    expect(await metrics.render()).toContain('g{x="y"} 2');
    gauge.remove({ x: 'y' });
    expect(await metrics.render()).not.toContain('g{x="y"}');
  });

  it('removes single series of counters and histograms', async () => {
    const metrics = createMetrics({ process: false });
    const counter = metrics.counter({ name: 'a_total', help: 'A.', labels: ['name'] });
    const histogram = metrics.histogram({ name: 'b_seconds', help: 'B.', labels: ['name'], buckets: [1] });
    for (const name of ['kept', 'gone']) {
      counter.add({ name });
      histogram.observe(1, { name });
    }
    counter.remove?.({ name: 'gone' });
    histogram.remove?.({ name: 'gone' });
    const text = await metrics.render();
    expect(text).toContain('a_total{name="kept"} 1');
    expect(text).toContain('b_seconds_count{name="kept"} 1');
    expect(text).not.toContain('gone');
  });

  it('exports process metrics', async () => {
    const text = await createMetrics().render();
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_start_time_seconds',
      'nodejs_heap_size_used_bytes',
    ]) {
      expect(text).toMatch(new RegExp(`^${name} [0-9.]*[1-9]`, 'm'));
    }
    expect(text).toContain(`nodejs_version_info{version="${process.version}"} 1`);
  });
});
