import { mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { integerBelow, pick, type Random } from '@bowline/machinery';
import { type LiveTree, readTree } from './live-tree.ts';

const UNMANAGED = [
  'projects/overview/gateway.txt',
  'projects/overview/views/main/thumbnail.png',
  'projects/line-1/project.json',
  'projects/own/project.json',
  'config/resources/core/ignition/system-properties/config.json',
  'config/resources/local/ignition/key.json',
  'config/resources/external/old.txt',
  'db/config.idb',
  'root.txt',
  'top/data.txt',
  'modules/gw-1/data.txt',
  'projects/overview/.resources/cache',
  '.resources/top',
  'projects/overview/views',
  'projects/line-1/nested',
];

/** actOnGateway changes the live files as a gateway and its users do. `outside` is a folder that links may point to. */
export function actOnGateway(random: Random, data: string, outside: string, hostility: number): void {
  const live = readTree(data, ['.ignition-sync']);
  for (const [path, entry] of live) {
    if (entry.kind !== 'file' || random.next() > 0.15) continue;
    const absolute = join(data, path);
    const chance = random.next();
    if (path.endsWith('resource.json') && chance < 0.6) rewriteResource(random, absolute);
    else if (chance < 0.3) writeFileSync(absolute, sameSize(random, entry.bytes));
    else if (chance < 0.5) writeFileSync(absolute, `changed on the gateway ${integerBelow(random, 1e6)}`);
    else if (chance < 0.65) rmSync(absolute);
    else if (chance < 0.8) {
      rmSync(absolute);
      writeFileSync(absolute, `replaced ${integerBelow(random, 1e6)}`);
    } else utimesSync(absolute, integerBelow(random, 1e9), integerBelow(random, 1e9));
    if (random.next() < hostility / 8) link(random, absolute, outside);
  }
  for (let count = integerBelow(random, 4); count > 0; count--) addFile(random, data, pick(random, UNMANAGED));
  if (random.next() < hostility / 3)
    link(random, join(data, pick(random, ['projects', 'projects/overview', 'config', 'top'])), outside);
}

function addFile(random: Random, data: string, path: string): void {
  const absolute = join(data, path);
  try {
    if (realParents(readTree(data, ['.ignition-sync']), path)) {
      mkdirSync(dirname(absolute), { recursive: true });
      writeFileSync(absolute, `unmanaged ${integerBelow(random, 1e6)}`, { flag: 'wx' });
    }
  } catch {
    // Something else is there.
  }
}

/** The gateway of a case writes nothing behind a link: what is there must not change at all. */
function realParents(live: LiveTree, path: string): boolean {
  const parts = path.split('/');
  return parts.every((_, index) => live.get(parts.slice(0, index + 1).join('/'))?.kind !== 'link');
}

function rewriteResource(random: Random, absolute: string): void {
  try {
    const value = JSON.parse(readFileSync(absolute, 'utf8')) as Record<string, object>;
    const lastModification = { actor: 'gateway', timestamp: String(integerBelow(random, 1e9)) };
    const attributes = { ...value.attributes, lastModification, lastModificationSignature: 'abc' };
    writeFileSync(absolute, JSON.stringify({ ...value, attributes }));
  } catch {
    // Not JSON.
  }
}

/** Changes content so that only a comparison of the content, or of the time, can find it. */
function sameSize(random: Random, bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  if (changed.length > 0) changed[integerBelow(random, changed.length)] = 0x7e;
  return changed;
}

function link(random: Random, absolute: string, outside: string): void {
  try {
    rmSync(absolute, { recursive: true, force: true });
    symlinkSync(pick(random, [outside, join(outside, 'file.txt'), join(outside, 'none')]), absolute);
  } catch {
    // Its folder does not exist.
  }
}
