import { readdirSync } from 'node:fs';
import type { Metrics } from './metrics.ts';

/**
 * addProcessMetrics exports the resource usage of the process, measured only when the metrics are read. The names are
 * those of other Prometheus clients, so that existing dashboards work.
 */
export function addProcessMetrics(metrics: Metrics): Disposable {
  const cpu = metrics.counter({
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time spent, in seconds.',
  });
  const start = gauge('process_start_time_seconds', 'Start time of the process since the epoch, in seconds.');
  const resident = gauge('process_resident_memory_bytes', 'Resident memory size, in bytes.');
  const descriptors = gauge('process_open_fds', 'Number of open file descriptors (Linux only).');
  const heapTotal = gauge('nodejs_heap_size_total_bytes', 'Size of the JavaScript heap, in bytes.');
  const heapUsed = gauge('nodejs_heap_size_used_bytes', 'Used part of the JavaScript heap, in bytes.');
  const external = gauge(
    'nodejs_external_memory_bytes',
    'Memory held by JavaScript objects outside the heap, in bytes.',
  );
  const version = metrics.gauge({
    name: 'nodejs_version_info',
    help: 'The version of Node, as a label.',
    labels: ['version'],
  });
  version.set(1, { version: process.version });
  start.set(Math.round(performance.timeOrigin / 1000));

  let counted = 0;
  return metrics.collect(() => {
    const { user, system } = process.cpuUsage();
    const seconds = (user + system) / 1e6;
    cpu.add({}, Math.max(0, seconds - counted));
    counted = seconds;
    const memory = process.memoryUsage();
    resident.set(memory.rss);
    heapTotal.set(memory.heapTotal);
    heapUsed.set(memory.heapUsed);
    external.set(memory.external);
    const open = openDescriptors();
    if (open !== undefined) descriptors.set(open);
  });

  function gauge(name: string, help: string) {
    return metrics.gauge({ name, help });
  }
}

function openDescriptors(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    // Minus the descriptor used to read the directory.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}
