import { ConfigMap, type KubernetesObject } from '@bowline/kubernetes';
import { command, controller, defineOperator } from '@bowline/runtime';
import { s } from '@bowline/runtime/resource';

interface Tool {
  readonly name: string;
  readonly weight?: number;
  readonly parts: readonly string[];
}

const tools: readonly Tool[] = [
  { name: 'hammer', weight: 3, parts: ['head', 'handle'] },
  { name: 'awl', parts: [] },
];

const columns = [
  { name: 'Name', value: ({ name }: Tool) => name },
  { name: 'Weight', value: ({ weight }: Tool) => weight },
];

const list = command({
  name: 'list',
  summary: 'Lists tools',
  args: { prefix: { summary: 'how their names start', optional: true } },
  output: { columns, empty: 'There are no such tools.' },
  run: async ({ args, print, log }) => {
    print('looking for tools');
    log.warn('the box is open');
    return tools.filter(({ name }) => name.startsWith(args.prefix ?? ''));
  },
});

const show = command({
  name: 'show',
  summary: 'Shows a tool',
  args: { name: { summary: 'the tool' } },
  output: { columns },
  run: async ({ args }) => {
    const found = tools.find(({ name }) => name === args.name);
    if (!found) throw new Error(`no tool ${args.name}`);
    return found;
  },
});

const place = command({
  name: 'place',
  summary: 'Shows where it runs',
  options: s.object({
    nodeName: s.string().minLength(1).describe('The node.'),
    port: s.integer().min(1).default(8093),
    labels: s.array(s.string()).optional(),
    trace: s.boolean().default(false),
  }),
  flags: {
    nodeName: { env: 'NODE_NAME' },
    port: { env: 'TOOL_PORT' },
    labels: { repeatable: true },
    trace: { hidden: true },
  },
  run: async ({ options, print }) => print(JSON.stringify(options)),
});

const open = command({
  name: 'lock open',
  summary: 'Opens the box',
  inputs: {
    pin: { summary: 'the PIN', prompt: 'PIN', maxBytes: 8 },
    note: { summary: 'a note', maxBytes: 4, optional: true },
  },
  run: async ({ inputs, print }) => print(`${inputs.pin.toString('hex')} ${inputs.note?.toString('hex') ?? 'no note'}`),
});

const fill = command({
  name: 'fill',
  summary: 'Puts files into the box',
  inputs: { from: { summary: 'what to put there', maxBytes: 8, keyed: true } },
  run: async ({ inputs, print }) => {
    for (const { key, content } of inputs.from) print(`${key} ${content.toString('hex')}`);
  },
});

const label = command({
  name: 'label',
  summary: 'Sets the label of the box',
  inputs: { text: { summary: 'the label', maxBytes: 64 } },
  run: async ({ inputs, print }) => print(inputs.text.toString()),
});

const erase = command({
  name: 'erase',
  summary: 'Empties the box',
  run: async ({ terminal, print }) => {
    const answer = await terminal.ask('Empty the box? ', { alternative: 'pass --yes' });
    const pin = await terminal.askSecret('PIN: ', { alternative: 'pass --pin-file' });
    print(`${answer} ${pin.toString()}`);
  },
});

const worker = command({
  name: 'internal worker',
  summary: 'Does what agents ask for',
  hidden: true,
  run: async ({ print }) => print('working'),
});

/** Both wait for the signal as functions of Node do, with an error of their own. */
const waitForever = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const timer = setInterval(() => {}, 60_000);
    signal.addEventListener('abort', () => {
      clearInterval(timer);
      reject(new DOMException('This operation was aborted', 'AbortError'));
    });
  });

const agent = command({
  name: 'agent',
  summary: 'Looks after the box',
  longRunning: true,
  run: async ({ log, signal }) => {
    log.info('agent started');
    await waitForever(signal).finally(() => log.info('agent stopped'));
  },
});

const sort = command({
  name: 'sort',
  summary: 'Sorts the tools',
  run: async ({ print, signal }) => {
    print('sorting');
    await waitForever(signal);
  },
});

const count = command({
  name: 'count',
  summary: 'Counts ConfigMaps',
  cluster: true,
  namespace: 'objects',
  output: {
    columns: [
      { name: 'Namespace', value: (found: { namespace: string; manager: string; count: number }) => found.namespace },
      { name: 'Manager', value: ({ manager }) => manager },
      { name: 'Count', value: ({ count }) => count },
    ],
  },
  run: async ({ cluster: { client, namespace, managerNamespace: manager }, signal }) => {
    const { items } = await client.list(ConfigMap, {
      namespace,
      labelSelector: 'cli.test.bowline.dev/counted',
      signal,
    });
    return { namespace, manager, count: items.length };
  },
});

const inventory = command({
  name: 'inventory',
  summary: 'Prints the objects of manifests that have a spec',
  inputs: { objects: { summary: 'the objects', maxBytes: 1024, manifests: true } },
  output: {
    columns: [{ name: 'Name', value: ({ metadata }: KubernetesObject) => metadata?.name }],
    manifests: true,
    failure: (objects) => (objects.length > 2 ? new Error('too many objects') : undefined),
  },
  run: async ({ inputs, printTable }) => {
    printTable(inputs.objects, [
      { name: 'Place', value: ({ file, lineOf }) => `${file.split('/').at(-1)}:${lineOf()}` },
      { name: 'Size', value: ({ lineOf }) => lineOf('spec.sizes[1]') },
    ]);
    return inputs.objects.flatMap(({ object }): readonly KubernetesObject[] => ('spec' in object ? [object] : []));
  },
});

/** toolbox is an operator for its commands: they have every part that a command can have. */
export const toolbox = defineOperator({
  name: 'toolbox',
  domain: 'bowline.dev',
  kubectlPlugin: 'tool-box',
  controllers: [
    controller(ConfigMap, { name: 'boxes', labelSelector: 'cli.test.bowline.dev/box' }).reconcile(() => {}),
  ],
  commands: [list, show, place, open, fill, label, erase, worker, agent, sort, count, inventory],
});
