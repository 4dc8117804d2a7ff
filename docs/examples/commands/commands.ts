import { once } from 'node:events';
import { keyOf, Secret } from '@bowline/kubernetes';
import { command } from '@bowline/runtime';
import { s } from '@bowline/runtime/resource';

/** LABEL marks the Secrets that are lockers. */
export const LABEL = 'example.com/locker';

/** Locker is what `list` returns for each Secret. */
interface Locker {
  readonly name: string;
  readonly keys: readonly string[];
}

/** list returns data; the program prints it as a table, as JSON or as YAML. */
export const list = command({
  name: 'list',
  summary: 'Lists the lockers of a namespace.',
  cluster: true,
  namespace: 'objects',
  output: {
    columns: [
      { name: 'Name', value: (locker: Locker) => locker.name },
      { name: 'Keys', value: ({ keys }) => keys.join(', ') },
    ],
    empty: 'There are no lockers.',
  },
  run: async ({ cluster: { client, namespace }, signal }) => {
    const { items } = await client.list(Secret, { namespace, labelSelector: LABEL, signal });
    return items.map((secret) => ({ name: keyOf(secret).name, keys: Object.keys(secret.data ?? {}).sort() }));
  },
});

/** put reads the contents of files and standard input, and a PIN that is never an argument. */
export const put = command({
  name: 'put',
  summary: 'Puts files into a new locker.',
  args: { name: { summary: 'the locker', example: 'papers' } },
  inputs: {
    from: { summary: 'what to put there', maxBytes: 512 * 1024, keyed: true },
    pin: { summary: 'the PIN of the locker', maxBytes: 64, prompt: 'PIN' },
  },
  cluster: true,
  namespace: 'objects',
  run: async ({ args: { name }, inputs, cluster: { client, namespace }, print, signal }) => {
    const contents = [...inputs.from, { key: 'pin', content: inputs.pin }];
    const data = Object.fromEntries(contents.map(({ key, content }) => [key, content.toString('base64')]));
    await client.create(Secret, { metadata: { namespace, name, labels: { [LABEL]: '' } }, data }, { signal });
    print(`${namespace}/${name} has ${inputs.from.length} files`);
  },
});

/** guard runs until SIGTERM or SIGINT, like the container of a DaemonSet. */
export const guard = command({
  name: 'guard',
  summary: 'Guards the lockers of a node.',
  options: s.object({
    nodeName: s.string().minLength(1).describe('The node.'),
    door: s.array(s.string()).default(['front']).describe('A door to watch.'),
    trace: s.boolean().default(false).describe('Log every step.'),
  }),
  flags: { nodeName: { env: 'NODE_NAME' }, door: { repeatable: true }, trace: { hidden: true } },
  longRunning: true,
  run: async ({ options, log, signal }) => {
    log.info('guarding', { node: options.nodeName, doors: options.door });
    await once(signal, 'abort');
    log.info('going home');
  },
});

/** worker is started by other commands; no user needs to know it. */
export const worker = command({
  name: 'internal worker',
  summary: 'Opens a locker.',
  hidden: true,
  run: async ({ print }) => print('open'),
});
