import { BowlineError, command } from '@bowline/runtime';
import type { Command } from '@bowline/runtime/manager';
import { s } from '@bowline/runtime/resource';
import { POD_ANNOTATIONS } from '../api/names.ts';
import { type MockEntries, readMockValues, withMockValue } from '../providers/mock/mock-values.ts';
import { changeStored, readStored } from './stored-values.ts';

const path = { summary: 'the path by which pods request the secret', example: '/shop/database' };

const set = command({
  name: 'mock set',
  summary: 'Creates or replaces the secret of the mock at a path.',
  args: {
    path,
    values: { summary: 'its values, each as KEY=VALUE', example: 'username=shop password=secret', variadic: true },
  },
  cluster: true,
  run: async ({ args, cluster, print, signal }) => {
    const entries = entriesOf(args.values);
    await changeStored(cluster, (stored) => withMockValue(readMockValues(stored), args.path, entries), signal);
    print(`${args.path} has the keys ${Object.keys(entries).sort().join(', ')}`);
    print(
      `New pods receive it. To update a Secret that exists, change the annotation ${POD_ANNOTATIONS.forceSync} of its pod.`,
    );
  },
});

/** StoredSecret is a secret of the mock as `mock get` prints it. */
interface StoredSecret {
  readonly path: string;
  /** Undefined for a single value without keys. */
  readonly keys: readonly string[] | undefined;
  /** Only on request. */
  readonly value: MockEntries | undefined;
}

const get = command({
  name: 'mock get',
  summary: 'Lists the secrets of the mock by path, with the names of their keys.',
  args: { path: { ...path, summary: 'the path of one secret (default: all)', optional: true } },
  options: s.object({ showValues: s.boolean().default(false).describe('Also show the values.') }),
  output: {
    columns: [
      { name: 'Path', value: (secret: StoredSecret) => secret.path },
      { name: 'Keys', value: ({ keys }) => keys?.join(', ') ?? '(a single value)' },
      { name: 'Value', value: ({ value }) => (typeof value === 'object' ? JSON.stringify(value) : value) },
    ],
    empty: 'The mock has no secrets.',
  },
  cluster: true,
  run: async ({ args, options, cluster, signal }) => {
    const values = await readStored(cluster, signal);
    const wanted = [...values].filter(([each]) => args.path === undefined || each === args.path);
    if (args.path !== undefined && wanted.length === 0) throw notFoundError(args.path);
    return wanted.map(([each, entries]) => ({
      path: each,
      keys: keyNames(entries),
      value: options.showValues ? entries : undefined,
    }));
  },
});

const clear = command({
  name: 'mock clear',
  summary: 'Removes secrets from the mock. Secrets that were already delivered to pods are not changed.',
  args: { path: { ...path, summary: 'the path of one secret (default: all)', optional: true } },
  cluster: true,
  run: async ({ args, cluster, print, signal }) => {
    const onlyPath = args.path;
    if (onlyPath === undefined) {
      // Whatever is stored: this is also how to remove values that cannot be parsed.
      await changeStored(cluster, () => new Map(), signal);
      print('All secrets were removed from the mock.');
      return;
    }
    await changeStored(
      cluster,
      (stored) => {
        const values = readMockValues(stored);
        if (!values.has(onlyPath)) throw notFoundError(onlyPath);
        return withMockValue(values, onlyPath, undefined);
      },
      signal,
    );
    print(`${onlyPath} was removed from the mock.`);
  },
});

/** mockCommands change the secrets of the provider mock: `bowline jasm mock set|get|clear`. */
export const mockCommands: readonly Command[] = [set, get, clear];

/** entriesOf parses KEY=VALUE arguments. An invalid argument is reported by its position, because it may be a value. */
function entriesOf(words: readonly string[]): Readonly<Record<string, string>> {
  const entries = words.map((word, index) => {
    const at = word.indexOf('=');
    if (at < 1) {
      throw new BowlineError(
        'BOWLINE_ARGUMENT_INVALID',
        `cannot set values in the mock: value ${index + 1} of ${words.length} has no key; write KEY=VALUE`,
      );
    }
    return [word.slice(0, at), word.slice(at + 1)] as const;
  });
  return Object.fromEntries(entries);
}

function keyNames(entries: MockEntries): readonly string[] | undefined {
  return typeof entries === 'string' ? undefined : Object.keys(entries).sort();
}

function notFoundError(path: string): BowlineError {
  return new BowlineError(
    'BOWLINE_JASM_MOCK_ABSENT',
    `the mock has no secret at ${path}; list its secrets with \`bowline jasm mock get\``,
  );
}
