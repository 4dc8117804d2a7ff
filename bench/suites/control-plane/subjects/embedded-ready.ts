// A program that uses the embedded control plane in its own process: the time from its import to its first response.
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';

const { options } = subjectInput();
const start = performance.now();
const cpu = process.cpuUsage();
const { startInProcess } = await import('./start-in-process.ts');
const controlPlane = await startInProcess(options.parts === 'all');
const transport = await controlPlane.transport('admin');
const response = await transport.request({ method: 'GET', lane: 'call', path: '/api/v1/namespaces/default' });
await response.text();
const readyMs = performance.now() - start;
const { user, system } = process.cpuUsage(cpu);
if (response.status !== 200) throw new Error(`the first request returned ${response.status}`);
report({ readyMs, cpuMs: (user + system) / 1_000 });
await untilReleased();
await transport.close();
await controlPlane.stop();
