import { Readable } from 'node:stream';
import {
  ClusterRole,
  ConfigMap,
  DaemonSet,
  Deployment,
  Namespace,
  NetworkPolicy,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@bowline/kubernetes';
import {
  admit,
  allow,
  type CompanionContext,
  command,
  companion,
  controller,
  defineOperator,
  deny,
  type Operator,
  type Sample,
  validating,
} from '@bowline/runtime';
import type { DisplayedResource } from '@bowline/runtime/manager';
import { defineResource, s } from '@bowline/runtime/resource';
import type { Registry } from '../operators/registry.ts';
import { runProgram } from '../program.ts';
import { plain } from '../terminal/colors.ts';
import type { Io } from '../terminal/io.ts';
import { toolbox } from './toolbox.test-support.ts';

function defineText(kind: string) {
  return defineResource({
    group: 'cli.test.bowline.dev',
    version: 'v1',
    kind,
    scope: 'Namespaced',
    spec: s.object({ text: s.string() }),
    status: s.object({}),
  });
}

/** Badge holds a text that is kept in a ConfigMap until the Badge is deleted. */
export const Badge = defineText('Badge');

/** Medal is the same, for tests that must not disturb those of Badge. */
export const Medal = defineText('Medal');

/** The controller of both kinds: it writes a ConfigMap, and removes it when the object is deleted. */
function textController(kind: typeof Badge) {
  const labelsOf = (name: string) => ({ 'cli.test.bowline.dev/text': name });
  return controller(kind)
    .using<{ readonly shout: boolean }>()
    .watches(Namespace, { view: 'metadata', clusterWideOnly: true, map: () => [] })
    .applies(ConfigMap, { remove: true })
    .reconcile(async ({ object, key, apply, deps }) => {
      const text = deps.shout ? object.spec.text.toUpperCase() : object.spec.text;
      await apply(ConfigMap, { metadata: key, data: { text } }, { owner: null, labels: labelsOf(key.name) });
    })
    .cleanup(async ({ key, remove }) => {
      await remove(ConfigMap, key, { labels: labelsOf(key.name) });
    });
}

/**
 * badge has every part that an operator can have: a kind, a controller with a cleanup, a webhook, settings and a
 * command.
 */
export const badge = defineOperator({
  name: 'badge',
  domain: 'bowline.dev',
  resources: [Badge],
  config: s.object({
    shout: s.boolean().default(false).describe('Write in capitals.'),
    maxThings: s.integer().min(1).max(10).default(3).describe('How many things at once.'),
    places: s.array(s.dnsLabel()).optional(),
    deep: s.object({ er: s.string().default('x') }).default({}),
  }),
  setup: ({ config }) => ({ shout: config.shout }),
  controllers: [textController(Badge)],
  webhooks: [
    validating(Badge, { name: 'text', operations: ['CREATE', 'UPDATE'], failurePolicy: 'Fail' }).handle(({ object }) =>
      object.spec.text === 'rude' ? deny({ message: 'spec.text is rude' }) : admit(),
    ),
  ],
  commands: [
    command({
      name: 'print',
      summary: 'Prints a badge',
      options: s.object({ text: s.string().minLength(1), times: s.integer().min(1).max(3).default(1) }),
      run: async ({ options, log }) => {
        for (let i = 0; i < options.times; i += 1) log.info('badge', { text: options.text });
      },
    }),
    command({
      name: 'text set',
      summary: 'Puts words into a ConfigMap',
      args: {
        name: { summary: 'the ConfigMap' },
        words: { summary: 'what to put there', variadic: true },
      },
      options: s.object({ loud: s.boolean().default(false) }),
      cluster: true,
      run: async ({ args, options, cluster: { client, namespace }, print, signal }) => {
        const text = args.words.join(' ');
        const data = { text: options.loud ? text.toUpperCase() : text };
        await client.create(ConfigMap, { metadata: { namespace, name: args.name }, data }, { signal });
        print(`${namespace}/${args.name} has ${args.words.length} words`);
      },
    }),
    command({
      name: 'text show',
      summary: 'Shows how words are separated',
      args: { word: { summary: 'the first' }, other: { summary: 'the second', optional: true } },
      run: async ({ args, cluster, print }) => print(JSON.stringify({ ...args, cluster })),
    }),
  ],
});

/** medal is a third operator, for its kind alone. */
const medal = defineOperator({
  name: 'medal',
  domain: 'bowline.dev',
  resources: [Medal],
  setup: () => ({ shout: false }),
  controllers: [textController(Medal)],
  webhooks: [
    validating(Medal, { name: 'text', operations: ['CREATE', 'UPDATE'], failurePolicy: 'Fail' }).handle(() => admit()),
  ],
});

/**
 * sticker is a second operator, with a setting of the same name as one of badge's, permissions that depend on another,
 * and no kinds.
 */
export const sticker = defineOperator({
  name: 'sticker',
  domain: 'bowline.dev',
  config: s.object({ shout: s.boolean().default(false), glue: s.enum(['weak', 'strong']).default('weak') }),
  local: { config: { glue: 'strong' }, warning: 'glue is strong' },
  permissions: ({ glue }) => (glue === 'strong' ? [allow(['delete'], ConfigMap)] : []),
  setup: () => undefined,
  controllers: [
    controller(ConfigMap, { name: 'stickers', labelSelector: 'cli.test.bowline.dev/sticker' }).reconcile(() => {}),
  ],
});

const scanner = companion(ClusterRole, 'scanner').content(() => ({
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
}));
const reports = companion(ValidatingAdmissionPolicy, 'reports').content(({ config }: CompanionContext<ScansConfig>) =>
  config.guarded
    ? {
        spec: {
          matchConstraints: {
            objectSelector: { matchLabels: { 'cli.test.bowline.dev/report': 'any' } },
            resourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] },
            ],
          },
          validations: [{ expression: 'false', message: 'reports are refused' }],
        },
      }
    : undefined,
);

interface ScansConfig {
  readonly guarded: boolean;
}

/** scans is an operator with companions, one of them of a kind that no install has otherwise, and with workloads. */
const scans = defineOperator({
  name: 'scans',
  domain: 'bowline.dev',
  config: s.object({ guarded: s.boolean().default(true) }),
  setup: () => undefined,
  controllers: [
    controller(ConfigMap, { name: 'scans', labelSelector: 'cli.test.bowline.dev/scan' }).reconcile(() => {}),
  ],
  companions: [
    scanner,
    companion(NetworkPolicy, 'agents').content(() => ({ spec: { podSelector: {}, policyTypes: ['Egress'] } })),
    reports,
    companion(ValidatingAdmissionPolicyBinding, 'reports').content(({ nameOf }) => ({
      spec: { policyName: nameOf(reports), validationActions: ['Deny'] },
    })),
  ],
  createdWorkloads: [DaemonSet, Deployment].map((resource) => ({
    resource,
    labelSelector: 'app.kubernetes.io/managed-by=bowline-scans',
  })),
  permissions: [allow(['bind'], ClusterRole, { names: [scanner.name] })],
});

const Ghost = defineResource({
  group: 'cli.test.bowline.dev',
  version: 'v1',
  kind: 'Ghost',
  scope: 'Namespaced',
  spec: s.object({}),
});

/** ghost is an operator whose kind exists in no cluster. */
const ghost = defineOperator({
  name: 'ghost',
  domain: 'bowline.dev',
  resources: [Ghost],
  controllers: [controller(Ghost).reconcile(() => {})],
});

/** Shelf is a kind without a status. */
export const Shelf = defineResource({
  group: 'cli.test.bowline.dev',
  version: 'v1',
  kind: 'Shelf',
  scope: 'Namespaced',
  spec: s.object({ boards: s.integer() }),
});

/** shelfWith returns an operator whose kind has no status, with samples and what is displayed of them. */
export function shelfWith(samples: readonly Sample[], displayedResources: readonly DisplayedResource[]): Operator {
  return defineOperator({
    name: 'shelf',
    domain: 'bowline.dev',
    resources: [Shelf],
    controllers: [controller(Shelf).reconcile(() => {})],
    samples,
    local: { displayedResources },
  });
}

/** testOperators is a registry of all test operators. */
export const testOperators: Registry = {
  badge: { summary: 'Badge: keeps texts in ConfigMaps', load: () => Promise.resolve(badge) },
  sticker: { summary: 'looks after stickers', load: () => Promise.resolve(sticker) },
  medal: { summary: 'Medal: keeps texts in ConfigMaps', load: () => Promise.resolve(medal) },
  scans: { summary: 'has companions and workloads', load: () => Promise.resolve(scans) },
  ghost: { summary: 'is never there', load: () => Promise.resolve(ghost) },
  toolbox: { summary: 'has many commands', kubectlPlugin: 'tool-box', load: () => Promise.resolve(toolbox) },
};

/** CommandResult reports how a command line ended. */
export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** bowline runs a command line in this process, by default with the test operators. */
export async function bowline(
  args: readonly string[],
  given: Partial<Io> & { readonly registry?: Registry; readonly invokedBy?: string } = {},
): Promise<CommandResult> {
  const { registry = testOperators, invokedBy, ...others } = given;
  let out = '';
  let err = '';
  const io: Io = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    ask: () => Promise.resolve(undefined),
    askHidden: () => Promise.resolve('no-terminal'),
    stdin: () => Readable.from([]),
    env: {},
    colors: { out: plain, err: plain },
    ...others,
  };
  const code = await runProgram(args, registry, io, invokedBy);
  return { code, out, err };
}
