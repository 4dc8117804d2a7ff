// Updates 100 objects of a server in this process again and again, and tells what that leaves in memory and in the folder.
import { createKeyPair, systemClock, systemRandom } from '@bowline/machinery';
import { assembleServer } from '../../../packages/control-plane/src/server/assemble-server.ts';
import { openJournal } from '../../../packages/control-plane/src/server/storage/journal.ts';
import { Storage } from '../../../packages/control-plane/src/server/storage/storage.ts';
import { folderBytes } from './folder-bytes.ts';

/** EnduranceSettings says how much is written, and where. */
export interface EnduranceSettings {
  readonly folder: string;
  readonly updates: number;
  /** Stop after this time, however much is left. */
  readonly seconds: number;
}

/** Endurance is what many updates left. */
export interface Endurance {
  readonly updates: number;
  readonly perSecond: number;
  readonly rssAtFirst: number;
  readonly rss: number;
  readonly folderBytes: number;
  readonly largestFolderBytes: number;
  readonly liveBytes: number;
}

const OBJECTS = 100;
const FIRST = 10_000;
const BETWEEN_LOOKS = 5_000;
const MAPS = '/api/v1/namespaces/default/configmaps';

const { folder, updates, seconds } = JSON.parse(process.argv[2] ?? '{}') as EnduranceSettings;
const kept = openJournal(folder);
const storage = new Storage({ clock: systemClock, journal: kept.journal, restored: kept.restored });
const server = await assembleServer({
  storage,
  clock: systemClock,
  random: systemRandom,
  tokenKey: (await createKeyPair()).privateKeyPem,
  tokens: [],
  url: () => 'https://kubernetes.default.svc',
  onError: (error) => {
    throw error;
  },
});

async function write(method: string, path: string, name: string, index: number): Promise<void> {
  const { status, body } = await server.handle({
    method,
    url: path,
    headers: { 'content-type': 'application/json', 'user-agent': 'prover' },
    body: () =>
      Promise.resolve(Buffer.from(JSON.stringify({ metadata: { name }, data: { a: `${index}`.padEnd(600, 'x') } }))),
    signal: new AbortController().signal,
    connection: {
      remoteAddress: '127.0.0.1',
      isSecure: true,
      certificate: { commonName: 'prover', organizations: ['system:masters'] },
    },
  });
  if (status >= 300) throw new Error(`${method} ${path} was refused: ${String(body)}`);
}

/** The memory that is left once nothing more can be freed. */
function rssNow(): number {
  for (let pass = 0; pass < 3; pass++) globalThis.gc?.();
  return process.memoryUsage.rss();
}

for (let index = 0; index < OBJECTS; index++) await write('POST', MAPS, `c${index}`, index);
const startedAt = performance.now();
let rssAtFirst = 0;
let largestFolderBytes = 0;
let done = 0;
while (done < updates && performance.now() - startedAt < seconds * 1_000) {
  const name = `c${done % OBJECTS}`;
  await write('PUT', `${MAPS}/${name}`, name, done);
  done++;
  if (done === FIRST) rssAtFirst = rssNow();
  if (done % BETWEEN_LOOKS === 0) largestFolderBytes = Math.max(largestFolderBytes, folderBytes(folder));
}
const elapsedMs = performance.now() - startedAt;
const rss = rssNow();
kept.close();
let liveBytes = 0;
for (const [, { json }] of openJournal(folder).restored?.objects ?? []) liveBytes += Buffer.byteLength(json);
const endurance: Endurance = {
  updates: done,
  perSecond: Math.round((done / elapsedMs) * 1_000),
  rssAtFirst,
  rss,
  folderBytes: folderBytes(folder),
  largestFolderBytes,
  liveBytes,
};
process.send?.(endurance);
process.disconnect();
