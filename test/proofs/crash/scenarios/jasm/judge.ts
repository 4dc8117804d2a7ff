import { isDeepStrictEqual } from 'node:util';
import { keyOf, keyString, type Secret } from '@bowline/kubernetes';
import { MANAGED_BY, MANAGER, PREFIX } from './world.ts';

/** ExpectedSecret is the expected state of a Secret: it has the source's values, it is deleted, or it is unchanged. */
export type ExpectedSecret =
  | { readonly state: 'synced'; readonly values: Readonly<Record<string, string>> }
  | { readonly state: 'gone' }
  | { readonly state: 'foreign'; readonly before: Secret };

/** judge returns what is wrong. `wanted` is by `namespace/name`; `found` are all Secrets of the case. */
export function judge(found: readonly Secret[], wanted: ReadonlyMap<string, ExpectedSecret>): readonly string[] {
  const byKey = new Map(found.map((secret) => [keyString(keyOf(secret)), secret]));
  return [
    ...[...wanted].flatMap(([key, each]) => judgeOne(byKey.get(key), each).map((problem) => `${key}: ${problem}`)),
    ...[...byKey.keys()].filter((key) => !wanted.has(key)).map((key) => `${key}: it is unexpected`),
  ];
}

function judgeOne(secret: Secret | undefined, wanted: ExpectedSecret): readonly string[] {
  switch (wanted.state) {
    case 'gone':
      return secret ? ['it still exists'] : [];
    case 'foreign':
      return isDeepStrictEqual(secret, wanted.before) ? [] : ["another owner's Secret was changed"];
    case 'synced':
      return secret ? judgeSynced(secret, wanted.values) : ['it is missing'];
  }
}

function judgeSynced({ metadata, data }: Secret, values: Readonly<Record<string, string>>): readonly string[] {
  const wanted = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  const { labels = {}, annotations = {} } = metadata ?? {};
  const isMarked = labels[MANAGED_BY] === MANAGER && `${PREFIX}/data-hash` in annotations;
  return [
    ...(isDeepStrictEqual(data, wanted) ? [] : ['its content differs from the source']),
    ...(isMarked ? [] : ["it is not annotated as JASM's"]),
  ];
}
