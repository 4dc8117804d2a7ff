// Updates 100 objects of a control plane in this process repeatedly, and reports the resulting memory and folder size.
import { join } from 'node:path';
import { startControlPlane } from '@bowline/control-plane/start';
import type { TransportRequest } from '@bowline/runtime/client';
import { openJournal } from '../../../packages/control-plane/src/server/storage/journal.ts';
import { folderBytes } from './folder-bytes.ts';

/** EnduranceSettings configures how much is written, and where. */
export interface EnduranceSettings {
  readonly folder: string;
  readonly updates: number;
  /** Stop after this time, however much is left. */
  readonly seconds: number;
}

/** Endurance is the result of many updates. */
export interface Endurance {
  readonly updates: number;
  readonly perSecond: number;
  readonly rssAtFirst: number;
  readonly rss: number;
  /** The size of the data without the audit log. */
  readonly folderBytes: number;
  readonly largestFolderBytes: number;
  readonly liveBytes: number;
  /** The size of the audit log. */
  readonly largestAuditBytes: number;
}

const OBJECTS = 100;
const FIRST = 10_000;
const UPDATES_PER_CHECK = 5_000;
const MAPS = '/api/v1/namespaces/default/configmaps';

const { folder, updates, seconds } = JSON.parse(process.argv[2] ?? '{}') as EnduranceSettings;
const [data, audit] = [join(folder, 'data'), join(folder, 'audit')];
const controlPlane = await startControlPlane({
  kind: 'embedded',
  dataDir: folder,
  nodes: 0,
  scheduler: false,
  workloads: false,
  onError: (error) => {
    throw error;
  },
});
const transport = await controlPlane.transport({ user: 'prover', groups: ['system:masters'] });

async function write(method: TransportRequest['method'], path: string, name: string, index: number): Promise<void> {
  const response = await transport.request({
    method,
    path,
    headers: { 'content-type': 'application/json', 'user-agent': 'prover' },
    body: JSON.stringify({ metadata: { name }, data: { a: `${index}`.padEnd(600, 'x') } }),
    lane: 'call',
  });
  if (response.status >= 300) throw new Error(`${method} ${path} was rejected: ${await response.text()}`);
}

/** The memory that remains after garbage collection. */
function rssNow(): number {
  for (let pass = 0; pass < 3; pass++) globalThis.gc?.();
  return process.memoryUsage.rss();
}

for (let index = 0; index < OBJECTS; index++) await write('POST', MAPS, `c${index}`, index);
const startedAt = performance.now();
let rssAtFirst = 0;
let [largestFolderBytes, largestAuditBytes] = [0, 0];
let done = 0;
while (done < updates && performance.now() - startedAt < seconds * 1_000) {
  const name = `c${done % OBJECTS}`;
  await write('PUT', `${MAPS}/${name}`, name, done);
  done++;
  if (done === FIRST) rssAtFirst = rssNow();
  if (done % UPDATES_PER_CHECK > 0) continue;
  largestFolderBytes = Math.max(largestFolderBytes, folderBytes(data));
  largestAuditBytes = Math.max(largestAuditBytes, folderBytes(audit));
}
const elapsedMs = performance.now() - startedAt;
const rss = rssNow();
await controlPlane.stop();
let liveBytes = 0;
for (const [, { json }] of openJournal(data).restored?.objects ?? []) liveBytes += Buffer.byteLength(json);
const endurance: Endurance = {
  updates: done,
  perSecond: Math.round((done / elapsedMs) * 1_000),
  rssAtFirst,
  rss,
  folderBytes: folderBytes(data),
  largestFolderBytes,
  liveBytes,
  largestAuditBytes,
};
process.send?.(endurance);
process.disconnect();
