import { ConfigMap, Secret } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { controller } from '../controller/builder.ts';
import { allow } from '../permissions/permission.ts';
import { defineResource } from '../resource/define-resource.ts';
import { type CommandArguments, type CommandCluster, command } from './command.ts';
import { defineOperator } from './operator.ts';
import { readConfig } from './operator-config.ts';

const plain = controller(ConfigMap).reconcile(() => {});
const needy = controller(Secret)
  .using<{ greet(): string }>()
  .reconcile(({ deps }) => void deps.greet());

const Site = defineResource({
  group: 'example.dev',
  version: 'v1',
  kind: 'Site',
  scope: 'Namespaced',
  spec: s.object({ size: s.integer().min(1).default(1) }),
  status: s.object({}),
});
const ready = controller(Site, { name: 'ready' }).reconcile(() => {});
const other = controller(Site, { name: 'other' }).reconcile(() => {});
const held = controller(Site, { name: 'held', finalizer: 'example.dev/x' }).reconcile(() => {});
const cleaner = (name: string) =>
  controller(Site, { name, summarize: false })
    .reconcile(() => {})
    .cleanup(() => {});
const sample = { apiVersion: 'example.dev/v1', kind: 'Site', metadata: { name: 'a' }, spec: {} };

describe('defineOperator', () => {
  it('accepts kinds, samples, commands, permissions and a schema of its configuration', () => {
    const agent = command({
      name: 'agent',
      summary: 'Run beside the gateway',
      options: s.object({ port: s.integer().default(8080) }),
      run: async ({ options }) => {
        expectTypeOf(options.port).toEqualTypeOf<number>();
      },
    });
    const operator = defineOperator({
      name: 'whole',
      domain: 'bowline.dev',
      resources: [Site],
      controllers: [ready, controller(Site, { name: 'quiet', summarize: false }).reconcile(() => {})],
      commands: [agent],
      permissions: [allow(['get'], Secret)],
      config: s.object({ url: s.string(), depth: s.integer().default(3) }),
      setup: ({ config }) => {
        expectTypeOf(config).toEqualTypeOf<{ readonly url: string; readonly depth: number }>();
        return undefined;
      },
      samples: [sample],
    });
    expect(operator).toMatchObject({ samples: [sample], commands: [{ name: 'agent' }] });
  });

  it('passes commands their declared options, arguments and cluster', () => {
    command({
      name: 'mock set',
      summary: 'Puts a value',
      args: { path: { summary: 'where' }, why: { summary: 'what for', optional: true } },
      cluster: true,
      run: async ({ args, cluster }) => {
        expectTypeOf(args).toEqualTypeOf<{ readonly path: string; readonly why: string | undefined }>();
        expectTypeOf(cluster).toEqualTypeOf<CommandCluster>();
      },
    });
    command({
      name: 'all',
      summary: 'Takes any number of words',
      args: { words: { summary: 'words', variadic: true } },
      run: async ({ args, cluster }) => {
        expectTypeOf(args.words).toEqualTypeOf<readonly string[]>();
        expectTypeOf(cluster).toEqualTypeOf<undefined>();
      },
    });
  });

  it.each([
    [undefined, /\burl: Required value/],
    [{ url: 1 }, /url: Invalid value: "integer"/],
    [{ url: 'x', dept: 1 }, /dept: unknown setting/],
  ])('refuses the configuration %j', async (section, text) => {
    const schema = s.object({ url: s.string(), depth: s.integer().default(3) });
    await expect(readConfig('whole', schema, section)).rejects.toMatchObject({
      code: 'BOWLINE_CONFIG_INVALID',
      message: expect.stringMatching(text),
    });
    expect(await readConfig('whole', schema, { url: 'x' })).toEqual({ url: 'x', depth: 3 });
  });

  it('requires a setup that returns the dependencies of its controllers', () => {
    defineOperator({ name: 'plain', domain: 'bowline.dev', controllers: [plain] });
    defineOperator({
      name: 'both',
      domain: 'bowline.dev',
      controllers: [plain, needy],
      setup: () => ({ greet: () => 'hello', more: 1 }),
    });
    defineOperator({
      name: 'later',
      domain: 'bowline.dev',
      controllers: [needy],
      setup: async () => ({ greet: () => 'hello' }),
    });
    // @ts-expect-error the controller needs a greeter
    defineOperator({ name: 'none', domain: 'bowline.dev', controllers: [plain, needy] });
    // @ts-expect-error that is not a greeter
    defineOperator({ name: 'wrong', domain: 'bowline.dev', controllers: [needy], setup: () => ({ greet: 1 }) });
  });

  it('passes the parsed configuration to setup, and the result of setup to services', () => {
    defineOperator({
      name: 'configured',
      domain: 'bowline.dev',
      config: { parse: (section: unknown) => ({ url: String(section) }) },
      setup: ({ config }) => {
        expectTypeOf(config).toEqualTypeOf<{ url: string }>();
        return { greet: () => config.url };
      },
      controllers: [needy],
      services: [{ name: 'receiver', run: async (_, deps) => void deps.greet() }],
    });
  });

  it('types services by setup when there are no controllers', () => {
    defineOperator({
      name: 'services',
      domain: 'bowline.dev',
      setup: () => ({ port: 80 }),
      services: [
        {
          name: 'receiver',
          run: async (_, deps) => {
            expectTypeOf(deps).toEqualTypeOf<{ port: number }>();
          },
        },
      ],
    });
  });

  it.each([
    [{ name: 'Not A Label', controllers: [plain] }, /DNS label/],
    [{ name: 'x'.repeat(56), controllers: [plain] }, /at most 55 characters/],
    [
      { name: 'homeless', domain: 'example', controllers: [plain] },
      /domain must be a DNS name that you own.* such as example.com/,
    ],
    [{ name: 'shouting', domain: 'Example.com', controllers: [plain] }, /domain must be a DNS name/],
    [{ name: 'empty' }, /neither controllers nor services nor webhooks/],
    [{ name: 'kinds', controllers: [plain], resources: [Site, Site] }, /kind name "Site.v1.example.dev" is used twice/],
    [
      { name: 'rivals', controllers: [ready, other] },
      /controllers ready and other both write the Ready condition of Site/,
    ],
    [{ name: 'held', controllers: [held] }, /controller held sets the finalizer example.dev\/x but has no cleanup/],
    [
      { name: 'sample', controllers: [plain], resources: [Site], samples: [{ ...sample, spec: { size: 0 } }] },
      /sample Site a is not valid: spec.size: Invalid value: 0: .*greater than or equal to 1/,
    ],
    [
      { name: 'typo', controllers: [plain], resources: [Site], samples: [{ ...sample, spec: { sise: 2 } }] },
      /sample Site a is not valid: spec.sise: unknown field/,
    ],
    [
      {
        name: 'version',
        controllers: [plain],
        resources: [Site],
        samples: [{ ...sample, apiVersion: 'example.dev/v2' }],
      },
      /sample Site a is in example.dev\/v2, which the operator does not define; use example.dev\/v1/,
    ],
    [
      { name: 'cleaners', controllers: [cleaner('a'), cleaner('b')] },
      /controllers a and b both clean up Site under the finalizer example.dev\/finalizer.*set another/,
    ],
    [{ name: 'service', services: [{ name: 'My Service', run: async () => {} }] }, /service name "My Service" must be/],
    [
      { name: 'command', controllers: [plain], commands: [command({ name: '--x', summary: '', run: async () => {} })] },
      /command name "--x" must consist of DNS labels/,
    ],
    [{ name: 'twice', controllers: [plain, plain] }, /controller name "configmap" is used twice/],
  ])('refuses %j', (options, text) => {
    const define = () => defineOperator({ domain: 'bowline.dev', ...options });
    expect(define).toThrow(text);
    expect(define).toThrow(expect.objectContaining({ code: 'BOWLINE_OPERATOR_INVALID' }));
  });

  it('allows only shorter names with a longer domain', () => {
    const define = (domain: string, length: number) => () =>
      defineOperator({ name: 'x'.repeat(length), domain, controllers: [plain] });
    expect(define('platform.example.com', 46)).not.toThrow();
    expect(define('platform.example.com', 47)).toThrow(/at most 46 characters/);
  });

  it.each<[readonly [string, CommandArguments][], RegExp]>([
    [[['mock  set', {}]], /command name "mock {2}set" must consist of DNS labels/],
    [
      [
        ['a', {}],
        ['a b', {}],
      ],
      /command name "a" is also the group of "a b"/,
    ],
    [[['a', { 'The Path': { summary: '' } }]], /argument "The Path" of the command "a" must be a DNS label/],
    [
      [['a', { x: { summary: '', optional: true }, y: { summary: '' } }]],
      /argument "y" of the command "a" follows an optional one/,
    ],
    [
      [['a', { x: { summary: '', variadic: true }, y: { summary: '' } }]],
      /argument "x" of the command "a" takes all remaining words, so it must be the last/,
    ],
  ])('refuses the commands %j', (given, text) => {
    const commands = given.map(([name, args]) => command({ name, summary: '', args, run: async () => {} }));
    expect(() => defineOperator({ name: 'commands', domain: 'bowline.dev', controllers: [plain], commands })).toThrow(
      text,
    );
  });
});
