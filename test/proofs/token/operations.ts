import { integerBelow, pick, type Random } from '@bowline/machinery';
import { parseLabel } from '../../../operators/hsm-secrets/src/token/layout/label.ts';
import type { SecretData, WriteOptions } from '../../../operators/hsm-secrets/src/token/token-service.ts';
import type { Content } from './content.ts';

/** PATHS are close to each other: one is a prefix of another, or equal to the label of another one's key. */
export const PATHS = ['db', 'db-prod', 'db/a', 'db/a/data', 'team', 'team/a', 'team/a/b'];
const KEYS = ['a', 'b', 'data', 'prod'];
/** Few values, so that writes often repeat one. */
const VALUES = ['', 'x', 'y', '{"a": 1}', '\u0000\u0001', 'long '.repeat(80)];

/** Operation is one change of the contents of a token. */
export type Operation =
  | { readonly kind: 'write'; readonly path: string; readonly data: SecretData; readonly options: WriteOptions }
  | { readonly kind: 'remove'; readonly path: string; readonly options: WriteOptions }
  | { readonly kind: 'remove key'; readonly path: string; readonly key: string; readonly options: WriteOptions }
  | { readonly kind: 'purge'; readonly path: string; readonly version: number };

/** randomOperation returns a change of a path, mostly one that can succeed. */
export function randomOperation(random: Random, content: Content, path: string): Operation {
  const { version = 0, isDeleted = false } = content.get(path) ?? {};
  const options = randomOptions(random, version);
  const share = random.next();
  if (isDeleted && share < 0.4) return { kind: 'purge', path, version };
  if (share < 0.6) return { kind: 'write', path, data: randomData(random), options };
  if (share < 0.75) return { kind: 'remove key', path, key: pick(random, KEYS), options };
  if (share < 0.95) return { kind: 'remove', path, options };
  return { kind: 'purge', path, version: random.next() < 0.5 ? version : version + 1 };
}

/** Mirroring chooses versions, which may be lower than that of the content that is replaced. */
function randomOptions(random: Random, version: number): WriteOptions {
  const replaces = random.next() < 0.4 ? (random.next() < 0.9 ? version : version + 1) : undefined;
  if (random.next() < 0.6) return { replaces };
  const day = String(1 + integerBelow(random, 28)).padStart(2, '0');
  return {
    replaces,
    version: Math.max(1, version - 2 + integerBelow(random, 5)),
    timestamp: `2025-06-${day}T00:00:00Z`,
  };
}

function randomData(random: Random): SecretData {
  const keys = KEYS.filter(() => random.next() < 0.55);
  return Object.fromEntries(keys.map((key) => [key, Buffer.from(pick(random, VALUES))]));
}

/** randomOlderObjects returns objects of the older system, by label: no two of its secrets use the same label. */
export function randomOlderObjects(random: Random): readonly (readonly [string, string])[] {
  const objects: (readonly [string, string])[] = [];
  for (const path of PATHS) {
    if (random.next() < 0.6) continue;
    // Without metadata, a path of two parts could also be a key.
    const isAmbiguous = parseLabel(path)?.entry !== undefined;
    const metadata = pick(random, ['{}', '{"labels":{"sync.version":"3"}}', '{"description":', '']);
    if (metadata !== '' || isAmbiguous) objects.push([`${path}/_metadata`, metadata || '{}']);
    for (const key of KEYS) {
      // This label would be the `data` of another path.
      if (random.next() < 0.5 || PATHS.includes(`${path}/${key}`)) continue;
      objects.push([key === 'data' ? path : `${path}/${key}`, pick(random, VALUES)]);
    }
  }
  return objects;
}
